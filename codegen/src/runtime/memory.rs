//! Memory as services and the way in and out see it: that of the machine, or a model of it.

use std::borrow::Cow;

use adl_core::account::OutOfMemory;

/// Buffers by their addresses; null is 0.
pub(crate) trait Memory {
    /// A buffer with one holder, whose first `refs` words are null.
    fn alloc(&mut self, bytes: u64, refs: u64) -> Result<u64, OutOfMemory>;
    /// The bytes from an address on.
    fn read(&self, at: u64, bytes: usize) -> Cow<'_, [u8]>;
    /// Overwrites the bytes from an address on.
    fn write(&mut self, at: u64, bytes: &[u8]);
    /// 64-bit floats from an address on.
    fn floats(&self, at: u64, n: usize) -> Cow<'_, [f64]> {
        let bytes = self.read(at, 8 * n);
        Cow::Owned(bytes.as_chunks().0.iter().map(|word| f64::from_ne_bytes(*word)).collect())
    }
    /// Overwrites 64-bit floats from an address on.
    fn write_floats(&mut self, at: u64, xs: &[f64]) {
        let mut bytes = vec![0; 8 * xs.len()];
        for (word, x) in bytes.as_chunks_mut().0.iter_mut().zip(xs) {
            *word = x.to_ne_bytes();
        }
        self.write(at, &bytes);
    }
    /// One holder more.
    fn retain(&mut self, at: u64);
    /// One holder less.
    fn release(&mut self, at: u64);
}

/// A word of memory.
pub(crate) fn word(memory: &impl Memory, at: u64) -> u64 {
    memory.read(at, 8).first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}
