//! The memory of the machine.
#![expect(unsafe_code, reason = "addresses that machine code hands over are read and written")]

use std::borrow::Cow;
use std::slice;

use adl_core::account::OutOfMemory;

use super::heap::Heap;
use super::memory::Memory;

impl Memory for Heap {
    fn alloc(&mut self, bytes: u64, refs: u64) -> Result<u64, OutOfMemory> {
        Heap::alloc(self, bytes, refs, false).map(|data| data as u64)
    }

    fn read(&self, at: u64, bytes: usize) -> Cow<'_, [u8]> {
        if bytes == 0 {
            return Cow::Borrowed(&[]);
        }
        // SAFETY: machine code hands over addresses of live buffers with sizes that lie in them.
        Cow::Borrowed(unsafe { slice::from_raw_parts(at as *const u8, bytes) })
    }

    fn write(&mut self, at: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            // SAFETY: as for reading; the bytes come from elsewhere.
            unsafe { (at as *mut u8).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
    }

    fn floats(&self, at: u64, n: usize) -> Cow<'_, [f64]> {
        if n == 0 {
            return Cow::Borrowed(&[]);
        }
        // SAFETY: as for reading; buffers of floats are aligned.
        Cow::Borrowed(unsafe { slice::from_raw_parts(at as *const f64, n) })
    }

    fn write_floats(&mut self, at: u64, xs: &[f64]) {
        if !xs.is_empty() {
            // SAFETY: as for writing bytes; buffers of floats are aligned.
            unsafe { (at as *mut f64).copy_from_nonoverlapping(xs.as_ptr(), xs.len()) };
        }
    }

    fn retain(&mut self, at: u64) {
        // SAFETY: the caller holds the buffer.
        unsafe { Heap::retain(at as *mut u8) };
    }

    fn release(&mut self, at: u64) {
        // SAFETY: the caller holds the buffer.
        unsafe { Heap::release(self, at as *mut u8) };
    }
}
