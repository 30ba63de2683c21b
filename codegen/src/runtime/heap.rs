//! Counted buffers from a pool. What is freed is kept for the next of its size class, so that a repeated
//! call asks the system for nothing.
#![expect(unsafe_code, reason = "buffers are raw memory that machine code reads and writes")]

use std::alloc::{Layout, alloc, dealloc};
use std::ptr;
use std::sync::Arc;

use adl_core::account::{Account, OutOfMemory};

/// Stands before the elements of each buffer. Machine code reads and writes `count` only.
#[repr(C, align(64))]
struct Header {
    /// Holders.
    count: u64,
    /// Bytes asked for, which the account is charged with.
    bytes: u64,
    /// How many of the first words are counted pointers.
    refs: u64,
    /// Neighbours in the list of live buffers.
    prev: *mut Header,
    next: *mut Header,
    /// The buffer takes `64 << class` bytes with its header.
    class: u64,
}

/// How far `count` lies before the first element.
pub(crate) const COUNT_OFFSET: i32 = -(size_of::<Header>() as i32);

const CLASSES: usize = 48;

/// The most bytes that are kept for later calls.
const KEPT: usize = 1 << 30;

/// A pool of buffers, and those alive.
pub(crate) struct Heap {
    account: Arc<Account>,
    live: *mut Header,
    n_live: usize,
    free: Vec<Vec<*mut Header>>,
    kept: usize,
    /// Freed buffers whose contents wait to be given up.
    todo: Vec<*mut u8>,
}

// SAFETY: a heap owns all its buffers, and nothing in it belongs to a thread.
unsafe impl Send for Heap {}

impl Heap {
    /// A heap with nothing in it.
    pub(crate) fn new() -> Heap {
        Heap {
            account: Account::new(0),
            live: ptr::null_mut(),
            n_live: 0,
            free: (0..CLASSES).map(|_| vec![]).collect(),
            kept: 0,
            todo: vec![],
        }
    }

    /// From now on buffers are charged to this account.
    pub(crate) fn charge_to(&mut self, account: &Arc<Account>) {
        self.account = Arc::clone(account);
    }

    /// The account.
    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// How many buffers are alive.
    pub(crate) fn n_live(&self) -> usize {
        self.n_live
    }

    /// A buffer with one holder; the first `refs` words are null, all is if `zero`.
    pub(crate) fn alloc(&mut self, bytes: u64, refs: u64, zero: bool) -> Result<*mut u8, OutOfMemory> {
        self.account.take(bytes)?;
        let whole = (bytes + size_of::<Header>() as u64).next_power_of_two();
        let class = whole.trailing_zeros() as usize - 6;
        let header = match self.free.get_mut(class).and_then(Vec::pop) {
            Some(header) => {
                self.kept -= 64 << class;
                header
            }
            None => self.fresh(class, bytes)?,
        };
        // SAFETY: the header and `bytes` after it lie in a block of `64 << class` bytes that is ours.
        unsafe {
            header.write(Header {
                count: 1,
                bytes,
                refs,
                prev: ptr::null_mut(),
                next: self.live,
                class: class as u64,
            });
            if let Some(next) = self.live.as_mut() {
                next.prev = header;
            }
            let data = header.add(1).cast::<u8>();
            data.write_bytes(0, if zero { bytes } else { refs * 8 } as usize);
            self.live = header;
            self.n_live += 1;
            Ok(data)
        }
    }

    fn fresh(&mut self, class: usize, bytes: u64) -> Result<*mut Header, OutOfMemory> {
        let refused = |heap: &Heap| {
            heap.account.give(bytes);
            OutOfMemory { asked: bytes, held: heap.account.held(), limit: heap.account.limit() }
        };
        let Some(layout) = layout(class) else { return Err(refused(self)) };
        // SAFETY: the layout has a size above zero.
        let block = unsafe { alloc(layout) }.cast::<Header>();
        if block.is_null() { Err(refused(self)) } else { Ok(block) }
    }

    /// One holder more.
    ///
    /// # Safety
    ///
    /// `data` is null or a live buffer that the caller holds.
    pub(crate) unsafe fn retain(data: *mut u8) {
        // SAFETY: as above.
        if let Some(header) = unsafe { header_of(data) } {
            header.count += 1;
        }
    }

    /// One holder less; the last frees the buffer, and gives up what it points to.
    ///
    /// # Safety
    ///
    /// `data` is null or a live buffer of this heap that the caller holds.
    pub(crate) unsafe fn release(&mut self, data: *mut u8) {
        // SAFETY: as above.
        let Some(header) = (unsafe { header_of(data) }) else { return };
        header.count -= 1;
        if header.count == 0 {
            // SAFETY: nobody holds it.
            unsafe { self.free_chain(data) };
        }
    }

    /// Frees a buffer that nobody holds, and by a list instead of the stack what only it held.
    ///
    /// # Safety
    ///
    /// `data` is a live buffer of this heap with no holders.
    pub(crate) unsafe fn free_chain(&mut self, data: *mut u8) {
        let mut todo = std::mem::take(&mut self.todo);
        todo.push(data);
        while let Some(data) = todo.pop() {
            // SAFETY: only live buffers without holders are on the list.
            let Some(header) = (unsafe { header_of(data) }) else { continue };
            for i in 0..header.refs as usize {
                // SAFETY: the first `refs` words of a buffer are null or live buffers it holds.
                unsafe {
                    let child = data.cast::<*mut u8>().add(i).read();
                    if let Some(child_header) = header_of(child) {
                        child_header.count -= 1;
                        if child_header.count == 0 {
                            todo.push(child);
                        }
                    }
                }
            }
            // SAFETY: nobody holds it and its pointers are given up.
            unsafe { self.put_away(ptr::from_mut(header)) };
        }
        self.todo = todo;
    }

    /// Frees all live buffers, whoever holds them: the run is over.
    pub(crate) fn free_all(&mut self) {
        while !self.live.is_null() {
            // SAFETY: the list holds live buffers of this heap only.
            unsafe { self.put_away(self.live) };
        }
    }

    /// Takes a buffer off the list of live ones and keeps it for later.
    ///
    /// # Safety
    ///
    /// The header is that of a live buffer of this heap.
    unsafe fn put_away(&mut self, header: *mut Header) {
        // SAFETY: neighbours in the list are live buffers.
        unsafe {
            let Header { bytes, prev, next, class, .. } = header.read();
            match prev.as_mut() {
                Some(prev) => prev.next = next,
                None => self.live = next,
            }
            if let Some(next) = next.as_mut() {
                next.prev = prev;
            }
            self.n_live -= 1;
            self.account.give(bytes);
            let whole = 64_usize << class;
            if self.kept + whole <= KEPT {
                self.kept += whole;
                self.free[class as usize].push(header);
            } else if let Some(layout) = layout(class as usize) {
                dealloc(header.cast(), layout);
            }
        }
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        self.free_all();
        for (class, blocks) in self.free.iter().enumerate() {
            for block in blocks {
                if let Some(layout) = layout(class) {
                    // SAFETY: blocks of a class were made with its layout, and nobody holds them.
                    unsafe { dealloc(block.cast(), layout) };
                }
            }
        }
    }
}

fn layout(class: usize) -> Option<Layout> {
    if CLASSES <= class {
        return None;
    }
    Layout::from_size_align(64 << class, 64).ok()
}

/// The header of a buffer; none for null.
///
/// # Safety
///
/// `data` is null or a live buffer.
unsafe fn header_of<'h>(data: *mut u8) -> Option<&'h mut Header> {
    if data.is_null() {
        return None;
    }
    // SAFETY: a header stands before each live buffer.
    unsafe { data.cast::<Header>().sub(1).as_mut() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_freed_and_its_blocks_are_used_again() {
        let account = Account::new(u64::MAX / 2);
        let mut heap = Heap::new();
        heap.charge_to(&account);
        let mut last = ptr::null_mut();
        for _ in 0..100_000 {
            let cell = heap.alloc(16, 1, false).unwrap();
            // SAFETY: the first word of the cell is its pointer.
            unsafe { cell.cast::<*mut u8>().write(last) };
            last = cell;
        }
        assert_eq!((heap.n_live(), account.held()), (100_000, 1_600_000));
        // SAFETY: the last cell is held once, by us.
        unsafe { heap.release(last) };
        assert_eq!((heap.n_live(), account.held()), (0, 0));
        assert_eq!(heap.kept, 100_000 * 128);
        heap.alloc(10, 0, true).unwrap();
        assert_eq!(heap.kept, 99_999 * 128);
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        let mut heap = Heap::new();
        heap.charge_to(&Account::new(u64::MAX / 2));
        assert!(heap.alloc(1 << 60, 0, false).is_err());
        assert_eq!(heap.account().held(), 0);
    }
}
