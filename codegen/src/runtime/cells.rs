//! Cells of recursive data on the way in and out. Chains of them may be a million deep, and parts may be
//! shared, so they are followed with a list instead of the stack, and each once.

use std::collections::HashMap;
use std::sync::Arc;

use adl_core::account::OutOfMemory;
use adl_core::ty::{BoxTy, Ty};
use adl_core::value::{Cell, Value};

use super::memory::{Memory, word};
use super::words::Context;
use crate::repr::{self, Part};

/// Cells met so far.
#[derive(Default)]
pub(crate) struct Cells {
    /// By address, those that have been read.
    read: HashMap<u64, Value>,
    /// Is a cell being read? Then cells in it that are new are noted here, and read first.
    inside: bool,
    missing: Vec<(BoxTy, u64)>,
    /// By their place, those that have been written, and whether anything holds them yet.
    written: HashMap<*const Cell, (u64, bool)>,
}

impl Context<'_> {
    /// The cell at an address.
    pub(super) fn read_cell(
        &mut self,
        memory: &impl Memory,
        id: BoxTy,
        at: u64,
    ) -> Result<Value, OutOfMemory> {
        if let Some(known) = self.cells.read.get(&at) {
            return Ok(known.clone());
        }
        if self.cells.inside {
            self.cells.missing.push((id, at));
            return Ok(Value::Int(0)); // The cell around it is read again when this one is known.
        }
        self.cells.inside = true;
        let mut todo = vec![(id, at)];
        while let Some((id, at)) = todo.last().copied() {
            if self.cells.read.contains_key(&at) {
                todo.pop();
                continue;
            }
            let value = self.one_cell(memory, id, at)?;
            if self.cells.missing.is_empty() {
                self.cells.read.insert(at, value);
                todo.pop();
            } else {
                todo.append(&mut self.cells.missing);
            }
        }
        self.cells.inside = false;
        Ok(self.cells.read[&at].clone())
    }

    fn one_cell(&mut self, memory: &impl Memory, id: BoxTy, at: u64) -> Result<Value, OutOfMemory> {
        let tys = id.content(self.boxes);
        let parts: Vec<Part> = tys.iter().flat_map(repr::parts).collect();
        let mut places = places(&parts).into_iter();
        let mut items = vec![];
        for ty in &tys {
            let mut words = vec![];
            let own: Vec<Part> = repr::parts(ty);
            let raw: Vec<u64> =
                own.iter().map(|_| word(memory, at + 8 * places.next().unwrap_or(0))).collect();
            self.learn_sizes(ty, &raw);
            for (part, raw) in own.iter().zip(raw) {
                words.push(raw);
                self.push_dims(part, &mut words);
            }
            items.push(self.decode(memory, ty, &mut words.iter())?);
        }
        Value::cell(items, self.account)
    }

    /// Writes a cell; its address, held once more.
    pub(super) fn write_cell(
        &mut self,
        memory: &mut impl Memory,
        id: BoxTy,
        cell: &Arc<Cell>,
    ) -> Result<u64, OutOfMemory> {
        let mut todo = vec![(id, cell.clone())];
        while let Some((id, next)) = todo.last().cloned() {
            let place = Arc::as_ptr(&next);
            if self.cells.written.contains_key(&place) {
                todo.pop();
                continue;
            }
            let mut inside = vec![];
            for (ty, item) in id.content(self.boxes).iter().zip(next.items()) {
                cells_in(ty, item, &mut inside);
            }
            inside.retain(|(_, cell)| !self.cells.written.contains_key(&Arc::as_ptr(cell)));
            if inside.is_empty() {
                let at = self.new_cell(memory, id, &next)?;
                self.cells.written.insert(place, (at, false));
                todo.pop();
            } else {
                todo.append(&mut inside);
            }
        }
        Ok(self.hold(memory, Arc::as_ptr(cell)))
    }

    /// The first holder takes a new cell over.
    fn hold(&mut self, memory: &mut impl Memory, place: *const Cell) -> u64 {
        let Some((at, is_held)) = self.cells.written.get_mut(&place) else { return 0 };
        if std::mem::replace(is_held, true) {
            memory.retain(*at);
        }
        *at
    }

    fn new_cell(&mut self, memory: &mut impl Memory, id: BoxTy, cell: &Cell) -> Result<u64, OutOfMemory> {
        let tys = id.content(self.boxes);
        let parts: Vec<Part> = tys.iter().flat_map(repr::parts).collect();
        let mut own = vec![];
        for (ty, item) in tys.iter().zip(cell.items()) {
            self.encode(memory, ty, item, &mut own)?;
        }
        let refs = parts.iter().filter(|part| part.is_counted()).count() as u64;
        let at = memory.alloc(8 * parts.len() as u64, refs)?;
        for (place, word) in places(&parts).into_iter().zip(first_words(&parts, &own)) {
            memory.write(at + 8 * place, &word.to_ne_bytes());
        }
        Ok(at)
    }
}

/// The cells that a value holds, without those inside them.
fn cells_in(ty: &Ty, value: &Value, out: &mut Vec<(BoxTy, Arc<Cell>)>) {
    match (ty, value) {
        (Ty::Box(id), Value::Box(cell)) => out.push((*id, cell.clone())),
        (Ty::Sum(alts), Value::Sum(sum)) => {
            for (ty, item) in alts[sum.tag as usize].iter().zip(&sum.payload) {
                cells_in(ty, item, out);
            }
        }
        (Ty::Pack(pack), Value::Pack(bundle)) => {
            for (ty, item) in pack.items.iter().zip(&bundle.items) {
                cells_in(ty, item, out);
            }
        }
        (Ty::Table(..), Value::Table(table)) => {
            let (_, leaf) = repr::dims(ty);
            if leaf.scalar().is_none() {
                (0..table.len()).for_each(|i| cells_in(leaf, &table.leaf(i), out));
            }
        }
        _ => {}
    }
}

/// The first register of each part.
pub(super) fn first_words(parts: &[Part], regs: &[u64]) -> Vec<u64> {
    let mut at = 0;
    let first = |part: &Part| {
        at += part.kinds().len();
        // Owner and first element of a table that came from outside or leaves are read by the latter.
        regs[at - 1]
    };
    parts.iter().map(first).collect()
}

/// The word of each part in a cell: counted pointers first.
fn places(parts: &[Part]) -> Vec<u64> {
    let (mut next_ref, mut next) = (0, parts.iter().filter(|part| part.is_counted()).count() as u64);
    let place = |part: &Part| {
        let slot = if part.is_counted() { &mut next_ref } else { &mut next };
        *slot += 1;
        *slot - 1
    };
    parts.iter().map(place).collect()
}
