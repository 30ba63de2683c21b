//! What machine code calls: memory, reductions, services, and the way in and out.

pub(crate) mod cells;
pub(crate) mod fold;
pub(crate) mod heap;
pub(crate) mod memory;
pub(crate) mod native;
pub(crate) mod service;
pub(crate) mod words;
