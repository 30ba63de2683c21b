//! The one order in which sums and products are formed, whatever runs them.
//!
//! The elements are cut into blocks of [`BLOCK`]. In a block element `k` goes to lane `k mod L`,
//! in order; lanes start at the unit (`+0.0` or `1.0`) and combine pairwise by halves (0 with
//! L/2, 1 with L/2 + 1, …). Blocks combine by a binary tree whose left part is the largest power
//! of two below the number of blocks. So the result does not depend on threads or vector width.

/// The number of elements in a block.
pub const BLOCK: usize = 4096;

/// The number of partial results a tree over `usize::MAX` blocks can hold at once.
const LEVELS: usize = 64;

/// The number of lanes of the widest element.
const MAX_LANES: usize = 16;

/// What can be summed: the number of lanes and the two operations with their units.
pub trait Element: Copy {
    /// Lanes in a block: 8 for eight bytes, 16 for four.
    const LANES: usize;
    /// The unit of addition.
    const ZERO: Self;
    /// The unit of multiplication.
    const ONE: Self;
    /// `self + other`; whole numbers wrap.
    #[must_use]
    fn add(self, other: Self) -> Self;
    /// `self * other`; whole numbers wrap.
    #[must_use]
    fn mul(self, other: Self) -> Self;
}

impl Element for f64 {
    const LANES: usize = 8;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    fn add(self, other: f64) -> f64 {
        self + other
    }
    fn mul(self, other: f64) -> f64 {
        self * other
    }
}

impl Element for f32 {
    const LANES: usize = 16;
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    fn add(self, other: f32) -> f32 {
        self + other
    }
    fn mul(self, other: f32) -> f32 {
        self * other
    }
}

impl Element for i64 {
    const LANES: usize = 8;
    const ZERO: i64 = 0;
    const ONE: i64 = 1;
    fn add(self, other: i64) -> i64 {
        self.wrapping_add(other)
    }
    fn mul(self, other: i64) -> i64 {
        self.wrapping_mul(other)
    }
}

/// Which operation a [`Fold`] forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A sum.
    Sum,
    /// A product.
    Prod,
}

impl Op {
    /// The result over no elements.
    #[must_use]
    pub fn unit<E: Element>(self) -> E {
        match self {
            Op::Sum => E::ZERO,
            Op::Prod => E::ONE,
        }
    }

    /// The operation itself.
    #[must_use]
    pub fn apply<E: Element>(self, x: E, y: E) -> E {
        match self {
            Op::Sum => x.add(y),
            Op::Prod => x.mul(y),
        }
    }
}

/// A reduction that takes its elements one by one, and gives the result of the fixed order.
#[derive(Clone, Debug)]
pub struct Fold<E> {
    op: Op,
    lanes: [E; MAX_LANES],
    /// Elements in the block under way.
    filled: usize,
    /// Whole blocks so far. Its binary digits are the partial results held: a digit of weight
    /// `w` stands for one over `w` blocks, the heaviest first.
    blocks: usize,
    partials: [E; LEVELS],
}

impl<E: Element> Fold<E> {
    /// A reduction over no elements yet.
    #[must_use]
    pub fn new(op: Op) -> Fold<E> {
        Fold { op, lanes: [op.unit(); MAX_LANES], filled: 0, blocks: 0, partials: [op.unit(); LEVELS] }
    }

    /// Takes the next element.
    #[inline]
    pub fn push(&mut self, x: E) {
        let lane = &mut self.lanes[self.filled % E::LANES];
        *lane = self.op.apply(*lane, x);
        self.filled += 1;
        if self.filled == BLOCK {
            self.end_block();
        }
    }

    /// Takes a whole block whose lanes were combined elsewhere. The block under way must be empty.
    pub fn push_block(&mut self, mut sum: E) {
        let mut held = self.blocks.count_ones() as usize;
        // Adding 1 to the number of blocks: each carry joins two equal parts, the earlier one left.
        for _ in 0..self.blocks.trailing_ones() {
            held -= 1;
            sum = self.op.apply(self.partials[held], sum);
        }
        self.partials[held] = sum;
        self.blocks += 1;
    }

    /// The result.
    #[must_use]
    pub fn finish(mut self) -> E {
        let mut parts = self.blocks.count_ones() as usize;
        let mut right = if 0 < self.filled || parts == 0 {
            combine_lanes(self.op, &mut self.lanes[..E::LANES])
        } else {
            parts -= 1;
            self.partials[parts]
        };
        while 0 < parts {
            parts -= 1;
            right = self.op.apply(self.partials[parts], right);
        }
        right
    }

    fn end_block(&mut self) {
        let sum = combine_lanes(self.op, &mut self.lanes[..E::LANES]);
        self.lanes = [self.op.unit(); MAX_LANES];
        self.filled = 0;
        self.push_block(sum);
    }
}

/// Combines a power of two of lanes by halves, in place, and gives the result.
pub fn combine_lanes<E: Element>(op: Op, lanes: &mut [E]) -> E {
    let mut width = lanes.len() / 2;
    while 0 < width {
        for k in 0..width {
            lanes[k] = op.apply(lanes[k], lanes[k + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// Reduces `at(0), …, at(n - 1)`; `at` is called in order.
pub fn reduce_with<E: Element>(op: Op, n: usize, mut at: impl FnMut(usize) -> E) -> E {
    let mut fold = Fold::new(op);
    for i in 0..n {
        fold.push(at(i));
    }
    fold.finish()
}

/// The sum of a slice.
#[must_use]
pub fn sum<E: Element>(xs: &[E]) -> E {
    reduce_with(Op::Sum, xs.len(), |i| xs[i])
}

/// The product of a slice.
#[must_use]
pub fn prod<E: Element>(xs: &[E]) -> E {
    reduce_with(Op::Prod, xs.len(), |i| xs[i])
}

/// The number of chunks an accumulation over `n` iterations is split into.
#[must_use]
pub fn accum_chunks(n: usize) -> usize {
    n.div_ceil(BLOCK).clamp(1, 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order written as the definition reads, to compare with.
    fn model<E: Element>(op: Op, xs: &[E]) -> E {
        fn tree<E: Element>(op: Op, parts: &[E]) -> E {
            if parts.len() == 1 {
                return parts[0];
            }
            let left = parts.len().next_power_of_two() / 2;
            op.apply(tree(op, &parts[..left]), tree(op, &parts[left..]))
        }
        let block = |xs: &[E]| {
            let lane =
                |l: usize| xs.iter().skip(l).step_by(E::LANES).fold(op.unit(), |acc, x| op.apply(acc, *x));
            let mut lanes: Vec<E> = (0..E::LANES).map(lane).collect();
            while 1 < lanes.len() {
                let (low, high) = lanes.split_at(lanes.len() / 2);
                lanes = low.iter().zip(high).map(|(x, y)| op.apply(*x, *y)).collect();
            }
            lanes[0]
        };
        let parts: Vec<E> = xs.chunks(BLOCK).map(block).collect();
        if parts.is_empty() { op.unit() } else { tree(op, &parts) }
    }

    /// Numbers of mixed size and sign, so that every other order shows.
    fn noise(n: usize) -> Vec<f64> {
        let mut state = 7_u64;
        let step = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / 1e15 - 4.0
        };
        (0..n).map(step).collect()
    }

    #[test]
    fn streaming_equals_the_definition() {
        for n in [0, 1, 7, 8, 9, 4095, 4096, 4097, 8192, 12288, 12289, 28672, 30000, 40960] {
            let xs = noise(n);
            let singles: Vec<f32> = xs.iter().map(|x| *x as f32).collect();
            let near_one: Vec<f64> = xs.iter().map(|x| 1.0 + x / 1e5).collect();
            assert_eq!(sum(&xs).to_bits(), model(Op::Sum, &xs).to_bits(), "n = {n}");
            assert_eq!(sum(&singles).to_bits(), model(Op::Sum, &singles).to_bits(), "n = {n}");
            assert_eq!(prod(&near_one).to_bits(), model(Op::Prod, &near_one).to_bits(), "n = {n}");
        }
    }

    #[test]
    fn whole_numbers_are_exact_and_wrap() {
        let xs: Vec<i64> = (0..10_000).collect();
        assert_eq!(sum(&xs), 49_995_000);
        assert_eq!(sum(&[i64::MAX, 1]), i64::MIN);
        assert_eq!(prod(&[2_i64, 3, 7]), 42);
    }

    #[test]
    fn empty_results_and_lone_zeros() {
        assert_eq!((sum::<f64>(&[]), prod::<f64>(&[])), (0.0, 1.0));
        assert!(sum(&[-0.0_f64]).is_sign_positive());
    }

    #[test]
    fn lanes_combine_by_halves() {
        // Eight elements are one per lane: ((0+4)+(2+6)) + ((1+5)+(3+7)).
        let big = 1e16;
        let xs = [big, 1.0, 0.0, 0.0, -big, 1.0, 0.0, 0.0];
        assert_eq!(sum(&xs), 2.0);
        assert_eq!(xs.iter().sum::<f64>(), 1.0);
    }

    #[test]
    fn chunks_depend_on_the_trip_count_alone() {
        assert_eq!([0, 1, 4096, 4097, 1 << 30].map(accum_chunks), [1, 1, 1, 2, 64]);
    }
}
