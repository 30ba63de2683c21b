//! How deep machine code may go: it compares the stack pointer with a limit.

use std::cell::Cell;
use std::thread;

/// Kept free for what machine code calls.
const MARGIN: usize = 256 << 10;

/// What is assumed to be left on threads that were not started here.
const UNKNOWN: usize = 1 << 20;

thread_local! {
    /// The lowest address of this thread's stack, where it is known.
    static LOWEST: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Runs `work` on a thread with a stack of this many bytes. Memory is taken as it is used.
///
/// # Errors
///
/// If the system refuses the thread.
///
/// # Panics
///
/// If `work` does.
pub fn on_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    thread::scope(|scope| {
        let run = move || {
            let top = here();
            // The thread's own start-up has used a little of the stack, well below the margin.
            LOWEST.set(Some(top.saturating_sub(bytes)));
            work()
        };
        let handle = thread::Builder::new().stack_size(bytes + MARGIN).spawn_scoped(scope, run)?;
        match handle.join() {
            Ok(value) => Ok(value),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The address below which the stack may not grow.
pub(crate) fn limit() -> u64 {
    let lowest = LOWEST.get().unwrap_or_else(|| here().saturating_sub(UNKNOWN));
    (lowest + MARGIN) as u64
}

/// Has the stack grown below an address?
pub(crate) fn is_below(limit: u64) -> bool {
    (here() as u64) < limit
}

/// An address in the frame of the caller.
#[inline(never)]
fn here() -> usize {
    let local = 0_u8;
    std::ptr::from_ref(&local).addr()
}
