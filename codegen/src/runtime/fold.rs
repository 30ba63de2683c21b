//! Reductions in the fixed order, as machine code keeps them: it adds to the lanes, and asks here at the
//! end of each block and at the end.
#![expect(unsafe_code, reason = "the state lies in the frame of machine code")]

use std::mem::MaybeUninit;

use adl_math::order::{Element, Op, combine_lanes};

use crate::loops::FoldOp;
use crate::repr::Kind;

/// The state of a reduction. Machine code sets the lanes to the unit and `blocks` to 0.
#[repr(C)]
pub(crate) struct FoldState {
    /// The lanes, from the first byte on.
    lanes: [u64; 8],
    /// Whole blocks so far.
    blocks: u64,
    /// As many partial results as `blocks` has binary ones.
    partials: [MaybeUninit<u64>; 64],
}

/// Bytes of the state.
pub(crate) const STATE_BYTES: u32 = size_of::<FoldState>() as u32;
/// Where `blocks` lies.
pub(crate) const BLOCKS_OFFSET: i32 = 64;

/// The number of lanes for elements of this kind.
pub(crate) fn lanes(kind: Kind) -> u32 {
    match kind {
        Kind::F32 => f32::LANES as u32,
        Kind::F64 | Kind::I64 | Kind::I8 => f64::LANES as u32,
    }
}

/// The number by which machine code names the element type and operation.
pub(crate) fn code(kind: Kind, op: FoldOp) -> i64 {
    let kind = match kind {
        Kind::F64 => 0,
        Kind::F32 => 1,
        Kind::I64 | Kind::I8 => 2,
    };
    2 * kind + i64::from(op == FoldOp::Prod)
}

/// An element in a word.
trait Word: Element {
    fn from_word(word: u64) -> Self;
    fn to_word(self) -> u64;
    /// Lane `k`.
    fn lane(lanes: &[u64; 8], k: usize) -> Self {
        Self::from_word(lanes[k])
    }
    /// All lanes at the unit.
    fn units(op: Op) -> [u64; 8] {
        [op.unit::<Self>().to_word(); 8]
    }
}

impl Word for f64 {
    fn from_word(word: u64) -> f64 {
        f64::from_bits(word)
    }
    fn to_word(self) -> u64 {
        self.to_bits()
    }
}

impl Word for i64 {
    fn from_word(word: u64) -> i64 {
        word as i64
    }
    fn to_word(self) -> u64 {
        self as u64
    }
}

impl Word for f32 {
    fn from_word(word: u64) -> f32 {
        f32::from_bits(word as u32)
    }
    fn to_word(self) -> u64 {
        u64::from(self.to_bits())
    }
    fn lane(lanes: &[u64; 8], k: usize) -> f32 {
        let bytes = lanes[k / 2].to_ne_bytes();
        let (halves, _) = bytes.as_chunks::<4>();
        f32::from_ne_bytes(halves[k % 2])
    }
    fn units(op: Op) -> [u64; 8] {
        let bits = op.unit::<f32>().to_word();
        [bits << 32 | bits; 8]
    }
}

impl FoldState {
    fn sum_of_lanes<E: Word>(&mut self, op: Op) -> E {
        let mut lanes = [op.unit::<E>(); 16];
        for (k, lane) in lanes.iter_mut().enumerate().take(E::LANES) {
            *lane = E::lane(&self.lanes, k);
        }
        self.lanes = E::units(op);
        combine_lanes(op, &mut lanes[..E::LANES])
    }

    fn partial<E: Word>(&self, i: usize) -> E {
        // SAFETY: the first `blocks.count_ones()` partial results have been written.
        E::from_word(unsafe { self.partials[i].assume_init() })
    }

    fn end_block<E: Word>(&mut self, op: Op) {
        let mut sum = self.sum_of_lanes::<E>(op);
        let mut held = self.blocks.count_ones() as usize;
        for _ in 0..self.blocks.trailing_ones() {
            held -= 1;
            sum = op.apply(self.partial(held), sum);
        }
        self.partials[held].write(sum.to_word());
        self.blocks += 1;
    }

    fn end<E: Word>(&mut self, op: Op, filled: bool) -> u64 {
        let mut parts = self.blocks.count_ones() as usize;
        let mut right: E = if filled || parts == 0 {
            self.sum_of_lanes(op)
        } else {
            parts -= 1;
            self.partial(parts)
        };
        while 0 < parts {
            parts -= 1;
            right = op.apply(self.partial(parts), right);
        }
        right.to_word()
    }
}

fn op_of(code: i64) -> Op {
    if code % 2 == 0 { Op::Sum } else { Op::Prod }
}

/// Machine code has filled a block.
///
/// # Safety
///
/// The state is one that machine code has begun.
pub(crate) unsafe extern "C" fn end_block(state: *mut FoldState, code: i64) {
    // SAFETY: by the contract above.
    let Some(state) = (unsafe { state.as_mut() }) else { return };
    match code / 2 {
        0 => state.end_block::<f64>(op_of(code)),
        1 => state.end_block::<f32>(op_of(code)),
        _ => state.end_block::<i64>(op_of(code)),
    }
}

/// The result, as a word. `filled`: elements in the last block.
///
/// # Safety
///
/// The state is one that machine code has begun.
pub(crate) unsafe extern "C" fn end(state: *mut FoldState, code: i64, filled: i64) -> u64 {
    // SAFETY: by the contract above.
    let Some(state) = (unsafe { state.as_mut() }) else { return 0 };
    match code / 2 {
        0 => state.end::<f64>(op_of(code), filled != 0),
        1 => state.end::<f32>(op_of(code), filled != 0),
        _ => state.end::<i64>(op_of(code), filled != 0),
    }
}
