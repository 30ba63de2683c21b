//! The border between machine code and Rust: what is passed in, and the functions that are called back.
//!
//! Machine code gets a pointer to [`Ctx`] and returns 0, or 1 after a failure that the run has noted. No
//! unwinding crosses it.
#![expect(unsafe_code, reason = "machine code passes raw pointers")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use adl_core::account::OutOfMemory;
use adl_core::run::{RuntimeError, fail};

use crate::loops::{Fail, Site};
use crate::runtime::heap::Heap;
use crate::runtime::service::Run;

/// What machine code has at hand. It reads and writes the first three fields.
#[repr(C)]
pub(crate) struct Ctx<'r> {
    /// The stack may not grow below this address.
    pub(crate) stack_limit: u64,
    /// Set from outside to end the run.
    pub(crate) cancel: *const AtomicBool,
    /// Bytes copied by updates.
    pub(crate) copied: u64,
    pub(crate) heap: &'r mut Heap,
    pub(crate) run: Run<'r>,
    /// A panic of the host, to be continued outside.
    pub(crate) panic: Option<Box<dyn Any + Send>>,
}

/// Where the fields that machine code uses lie.
pub(crate) const STACK_LIMIT: i32 = 0;
pub(crate) const CANCEL: i32 = 8;
pub(crate) const COPIED: i32 = 16;

/// The way in to a function: context, argument words, result words.
pub(crate) type Entry = unsafe extern "C" fn(*mut Ctx<'_>, *const u64, *mut u64) -> i64;

/// Element size, and whether elements are pointers or all zero, in one word.
pub(crate) fn alloc_flags(bytes: u32, is_ref: bool, zero: bool) -> i64 {
    i64::from(bytes) | i64::from(is_ref) << 8 | i64::from(zero) << 9
}

impl Fail {
    /// The word that names the failure.
    pub(crate) fn to_word(self) -> i64 {
        match self {
            Fail::OutOfBounds => 0,
            Fail::SizesDiffer(what) => 1 | i64::from(what) << 8,
            Fail::DivisionByZero => 2,
            Fail::Error => 3,
            Fail::Assertion => 4,
            Fail::EmptyMinimum => 5,
            Fail::EmptyMaximum => 6,
            Fail::Conversion => 7,
            Fail::NegativeSize => 8,
            Fail::Constructors => 9,
        }
    }

    fn from_word(word: i64) -> Fail {
        match word & 0xFF {
            0 => Fail::OutOfBounds,
            1 => Fail::SizesDiffer((word >> 8) as u32),
            2 => Fail::DivisionByZero,
            3 => Fail::Error,
            4 => Fail::Assertion,
            5 => Fail::EmptyMinimum,
            6 => Fail::EmptyMaximum,
            7 => Fail::Conversion,
            8 => Fail::NegativeSize,
            _ => Fail::Constructors,
        }
    }
}

fn note(ctx: &mut Ctx<'_>, error: RuntimeError) -> i64 {
    ctx.run.error.get_or_insert(error);
    1
}

/// The number of elements of these sizes: an error if one is negative, or if it does not fit.
pub(crate) fn elements(dims: &[i64]) -> Result<u64, Option<i64>> {
    if dims.contains(&0) {
        return Ok(0);
    }
    if let Some(negative) = dims.iter().find(|n| **n < 0) {
        return Err(Some(*negative));
    }
    dims.iter().try_fold(1_u64, |n, d| n.checked_mul(d.unsigned_abs())).ok_or(None)
}

/// A new buffer; null after a failure.
///
/// # Safety
///
/// `dims` points to `n_dims` sizes.
pub(crate) unsafe extern "C" fn alloc(
    ctx: *mut Ctx<'_>,
    dims: *const i64,
    n_dims: i64,
    flags: i64,
    site: i64,
) -> *mut u8 {
    // SAFETY: machine code passes the context it was given, and its own stack.
    let (ctx, dims) = unsafe { (&mut *ctx, std::slice::from_raw_parts(dims, n_dims as usize)) };
    let site = Site(site as u32);
    let (bytes, is_ref, zero) = (flags as u64 & 0xFF, flags & 0x100 != 0, flags & 0x200 != 0);
    let refused = |asked: u64, heap: &Heap| OutOfMemory {
        asked,
        held: heap.account().held(),
        limit: heap.account().limit(),
    };
    let made = match elements(dims) {
        Ok(n) => match n.checked_mul(bytes) {
            Some(total) => ctx.heap.alloc(total, if is_ref { n } else { 0 }, zero),
            None => Err(refused(u64::MAX, ctx.heap)),
        },
        Err(Some(negative)) => {
            let error = fail::negative_size(ctx.run.span(site), negative);
            note(ctx, error);
            return std::ptr::null_mut();
        }
        Err(None) => Err(refused(u64::MAX, ctx.heap)),
    };
    match made {
        Ok(data) => data,
        Err(error) => {
            let error = error.at(ctx.run.span(site));
            note(ctx, error);
            std::ptr::null_mut()
        }
    }
}

/// A new cell; null after a failure.
///
/// # Safety
///
/// Called by machine code only.
pub(crate) unsafe extern "C" fn alloc_cell(ctx: *mut Ctx<'_>, refs: i64, words: i64, site: i64) -> *mut u8 {
    // SAFETY: machine code passes the context it was given.
    let ctx = unsafe { &mut *ctx };
    match ctx.heap.alloc(8 * words as u64, refs as u64, false) {
        Ok(data) => data,
        Err(error) => {
            let error = error.at(ctx.run.span(Site(site as u32)));
            note(ctx, error);
            std::ptr::null_mut()
        }
    }
}

/// Frees a buffer whose last holder has let go.
///
/// # Safety
///
/// `data` is a live buffer without holders.
pub(crate) unsafe extern "C" fn free(ctx: *mut Ctx<'_>, data: *mut u8) {
    // SAFETY: by the contract above.
    unsafe { (*ctx).heap.free_chain(data) };
}

/// Copies bytes; the ranges may overlap.
///
/// # Safety
///
/// Both ranges lie in live buffers.
pub(crate) unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, bytes: i64) {
    // SAFETY: by the contract above.
    unsafe { dst.copy_from(src, bytes as usize) };
}

/// Sets bytes to zero.
///
/// # Safety
///
/// The range lies in a live buffer.
pub(crate) unsafe extern "C" fn clear(dst: *mut u8, bytes: i64) {
    // SAFETY: by the contract above.
    unsafe { dst.write_bytes(0, bytes as usize) };
}

/// Notes a failure.
///
/// # Safety
///
/// Called by machine code only.
pub(crate) unsafe extern "C" fn failure(ctx: *mut Ctx<'_>, word: i64, x: i64, y: i64, site: i64) {
    // SAFETY: machine code passes the context it was given.
    let ctx = unsafe { &mut *ctx };
    let error = ctx.run.failure(Fail::from_word(word), &[x as u64, y as u64], Site(site as u32));
    note(ctx, error);
}

/// Notes that the stack is used up.
///
/// # Safety
///
/// Called by machine code only.
pub(crate) unsafe extern "C" fn too_deep(ctx: *mut Ctx<'_>, site: i64) {
    // SAFETY: machine code passes the context it was given.
    let ctx = unsafe { &mut *ctx };
    let error = fail::too_deep(ctx.run.span(Site(site as u32)), ctx.run.depth);
    note(ctx, error);
}

/// Notes that the run was stopped from outside.
///
/// # Safety
///
/// Called by machine code only.
pub(crate) unsafe extern "C" fn cancelled(ctx: *mut Ctx<'_>) {
    // SAFETY: machine code passes the context it was given.
    let ctx = unsafe { &mut *ctx };
    note(ctx, fail::cancelled(adl_diag::Span::default()));
}

/// Serves; 1 after a failure.
///
/// # Safety
///
/// `args` and `out` point to as many words as the service takes and gives.
pub(crate) unsafe extern "C" fn serve(
    ctx: *mut Ctx<'_>,
    number: i64,
    args: *const u64,
    n_args: i64,
    out: *mut u64,
    n_out: i64,
    site: i64,
) -> i64 {
    // SAFETY: machine code passes the context it was given, and its own stack.
    let (ctx, args, out) = unsafe {
        (
            &mut *ctx,
            std::slice::from_raw_parts(args, n_args as usize),
            std::slice::from_raw_parts_mut(out, n_out as usize),
        )
    };
    let program = ctx.run.program;
    let Some(service) = program.services.get(number as usize) else { return 1 };
    let account = std::sync::Arc::clone(ctx.heap.account());
    let (run, heap) = (&mut ctx.run, &mut *ctx.heap);
    let served =
        catch_unwind(AssertUnwindSafe(|| run.serve(heap, &account, service, args, out, Site(site as u32))));
    match served {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => note(ctx, error),
        Err(panic) => {
            ctx.panic = Some(panic);
            1
        }
    }
}

/// Integer powers; machine code has checked that there is one.
pub(crate) extern "C" fn int_pow(x: i64, k: i64) -> i64 {
    adl_math::int::powi(x, k).unwrap_or(0)
}
