//! Values as words, and back: the way in and out of machine code, and what services read.

use std::collections::HashMap;
use std::sync::Arc;

use adl_core::account::{Account, OutOfMemory};
use adl_core::ir::{Atom, Var};
use adl_core::ty::{Scalar, Ty};
use adl_core::value::{Bundle, Leaves, Table, Tagged, Value};

use super::cells::{Cells, first_words};
use super::memory::Memory;
use crate::repr::{self, Elem, Kind, Part};

/// What reading and writing values needs beside the memory.
pub(crate) struct Context<'a> {
    pub(crate) boxes: &'a [Vec<Ty>],
    pub(crate) texts: &'a mut Vec<Arc<str>>,
    /// Sizes that types mention.
    pub(crate) sizes: HashMap<Var, i64>,
    /// Values read are charged to this.
    pub(crate) account: &'a Arc<Account>,
    /// Cells that have been read or written.
    pub(crate) cells: Cells,
}

/// One buffer of a table: its first element and its sizes.
#[derive(Clone)]
struct Buffer {
    elem: Elem,
    data: u64,
    dims: Vec<usize>,
}

type Words<'w> = std::slice::Iter<'w, u64>;

impl Context<'_> {
    fn size(&self, atom: &Atom) -> usize {
        let size = match atom {
            Atom::Var(var) => self.sizes.get(var).copied(),
            Atom::Lit(_) => repr::constant(atom),
        };
        size.and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
    }

    fn dims(&self, dims: &[Atom]) -> Vec<usize> {
        dims.iter().map(|dim| self.size(dim)).collect()
    }

    fn text(&self, handle: u64) -> Arc<str> {
        self.texts.get(handle as usize).cloned().unwrap_or_else(|| "".into())
    }

    fn scalar(&self, scalar: Scalar, word: u64) -> Value {
        match scalar {
            Scalar::F64 => Value::F64(f64::from_bits(word)),
            Scalar::F32 => Value::F32(f32::from_bits(word as u32)),
            Scalar::Int => Value::Int(word as i64),
            Scalar::Bool => Value::Bool(word & 0xFF != 0),
            Scalar::Key => Value::Key(word),
            Scalar::Str => Value::Str(self.text(word)),
        }
    }

    // ---- out ----------------------------------------------------------------------------------------

    /// Reads a value of a type from words in the order of [`crate::loops::Service`].
    pub(crate) fn decode(
        &mut self,
        memory: &impl Memory,
        ty: &Ty,
        words: &mut Words<'_>,
    ) -> Result<Value, OutOfMemory> {
        let mut next = || words.next().copied().unwrap_or(0);
        match ty {
            Ty::Scalar(scalar) => Ok(self.scalar(*scalar, next())),
            Ty::Table(..) => {
                let mut buffers = vec![];
                for part in repr::parts(ty) {
                    let Part::Table { elem, dims, .. } = part else {
                        unreachable!("a table has tables as parts")
                    };
                    let data = next();
                    buffers.push(Buffer { elem, data, dims: dims.iter().map(|_| next() as usize).collect() });
                }
                self.table(memory, ty, &buffers)
            }
            Ty::Sum(alts) => {
                let tag = next();
                let mut payload = vec![];
                for (k, alt) in alts.iter().enumerate() {
                    for ty in alt {
                        if k as u64 == tag {
                            payload.push(self.decode(memory, ty, words)?);
                        } else {
                            skip(ty, words);
                        }
                    }
                }
                Ok(Value::Sum(Arc::new(Tagged { tag: tag as u32, payload })))
            }
            Ty::Pack(pack) => {
                let sizes: Vec<i64> = pack.sizes.iter().map(|_| next() as i64).collect();
                let items: Result<Vec<Value>, OutOfMemory> =
                    pack.items.iter().map(|ty| self.decode(memory, ty, words)).collect();
                Ok(Value::Pack(Arc::new(Bundle { sizes, items: items? })))
            }
            Ty::Box(id) => self.read_cell(memory, *id, next()),
            Ty::Acc(_)
            | Ty::Tuple(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => {
                unreachable!("lint: {ty:?} is no type of a first-order value")
            }
        }
    }

    fn table(&mut self, memory: &impl Memory, ty: &Ty, buffers: &[Buffer]) -> Result<Value, OutOfMemory> {
        let (outer, leaf) = repr::dims(ty);
        let dims: Vec<usize> = buffers.first().map_or(vec![], |b| b.dims[..outer.len()].to_vec());
        let n: usize = dims.iter().product();
        let empty = Leaves::with_capacity(leaf, 0).unwrap_or(Leaves::Value(vec![]));
        let charge = self.account.charge((n * empty.leaf_bytes()) as u64)?;
        let leaves = match (leaf.scalar(), buffers.first()) {
            (Some(scalar), Some(buffer)) if scalar != Scalar::Str => {
                read_leaves(memory, scalar, buffer.data, n)
            }
            _ => {
                let values: Result<Vec<Value>, OutOfMemory> =
                    (0..n).map(|i| self.element(memory, leaf, &mut buffers.iter(), outer.len(), i)).collect();
                Leaves::Value(values?)
            }
        };
        Ok(Value::Table(Table::charged(&dims, leaves, charge)))
    }

    /// Element `i` of a table, from one buffer a part.
    fn element(
        &mut self,
        memory: &impl Memory,
        leaf: &Ty,
        buffers: &mut std::slice::Iter<'_, Buffer>,
        rank: usize,
        i: usize,
    ) -> Result<Value, OutOfMemory> {
        match leaf {
            Ty::Sum(alts) => {
                let tag = buffers.next().map_or(0, |b| load(memory, b.elem, b.data, i));
                let mut payload = vec![];
                for (k, alt) in alts.iter().enumerate() {
                    for ty in alt {
                        let count = repr::parts(ty).len();
                        if k as u64 == tag {
                            payload.push(self.element(memory, ty, buffers, rank, i)?);
                        } else {
                            buffers.by_ref().take(count).for_each(drop);
                        }
                    }
                }
                Ok(Value::Sum(Arc::new(Tagged { tag: tag as u32, payload })))
            }
            Ty::Table(..) => {
                let count = repr::parts(leaf).len();
                let slices: Vec<Buffer> = buffers
                    .by_ref()
                    .take(count)
                    .map(|b| {
                        let dims = b.dims[rank..].to_vec();
                        let skip = i * dims.iter().product::<usize>() * b.elem.bytes() as usize;
                        Buffer { elem: b.elem, data: b.data + skip as u64, dims }
                    })
                    .collect();
                self.table(memory, leaf, &slices)
            }
            Ty::Pack(pack) => {
                let mut sizes = vec![];
                for var in &pack.sizes {
                    let size = buffers.next().map_or(0, |b| load(memory, b.elem, b.data, i)) as i64;
                    self.sizes.insert(var.clone(), size);
                    sizes.push(size);
                }
                let mut items = vec![];
                for ty in &pack.items {
                    let mut words = vec![];
                    for part in repr::parts(ty) {
                        words.push(buffers.next().map_or(0, |b| load(memory, b.elem, b.data, i)));
                        self.push_dims(&part, &mut words);
                    }
                    items.push(self.decode(memory, ty, &mut words.iter())?);
                }
                Ok(Value::Pack(Arc::new(Bundle { sizes, items })))
            }
            Ty::Scalar(_)
            | Ty::Box(_)
            | Ty::Acc(_)
            | Ty::Tuple(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => {
                let word = buffers.next().map_or(0, |b| load(memory, b.elem, b.data, i));
                self.decode(memory, leaf, &mut [word].iter())
            }
        }
    }

    pub(super) fn push_dims(&self, part: &Part, words: &mut Vec<u64>) {
        if let Part::Table { dims, .. } = part {
            words.extend(self.dims(dims).into_iter().map(|n| n as u64));
        }
    }

    /// Notes the sizes that bundles bring along; one word a part.
    pub(super) fn learn_sizes(&mut self, ty: &Ty, words: &[u64]) {
        match ty {
            Ty::Pack(pack) => {
                for (var, word) in pack.sizes.iter().zip(words) {
                    self.sizes.insert(var.clone(), *word as i64);
                }
                let mut at = pack.sizes.len();
                for item in &pack.items {
                    let count = repr::parts(item).len();
                    self.learn_sizes(item, &words[at..at + count]);
                    at += count;
                }
            }
            Ty::Sum(alts) => {
                let mut at = 1;
                for (k, alt) in alts.iter().enumerate() {
                    for ty in alt {
                        let count = repr::parts(ty).len();
                        if words.first() == Some(&(k as u64)) {
                            self.learn_sizes(ty, &words[at..at + count]);
                        }
                        at += count;
                    }
                }
            }
            Ty::Scalar(_)
            | Ty::Table(..)
            | Ty::Box(_)
            | Ty::Acc(_)
            | Ty::Tuple(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => {}
        }
    }

    /// Reads the results of a function: registers in order, sizes by the types.
    pub(crate) fn results(
        &mut self,
        memory: &impl Memory,
        atoms: &[Atom],
        regs: &[u64],
    ) -> Result<Vec<Value>, OutOfMemory> {
        // Sizes may be results themselves, in any order.
        let mut at = 0;
        for atom in atoms {
            let ty = atom.ty();
            if let (Atom::Var(var), Some(Scalar::Int)) = (atom, ty.scalar()) {
                self.sizes.insert(var.clone(), regs[at] as i64);
            }
            at += repr::width(&repr::parts(&ty));
        }
        let mut at = 0;
        let mut values = vec![];
        for atom in atoms {
            let ty = atom.ty();
            let parts = repr::parts(&ty);
            let own = &regs[at..at + repr::width(&parts)];
            at += own.len();
            let raw = first_words(&parts, own);
            self.learn_sizes(&ty, &raw);
            let mut words = vec![];
            for (part, raw) in parts.iter().zip(raw) {
                words.push(raw);
                self.push_dims(part, &mut words);
            }
            values.push(self.decode(memory, &ty, &mut words.iter())?);
        }
        Ok(values)
    }

    // ---- in -----------------------------------------------------------------------------------------

    /// Writes a value of a type: the registers of its parts, held once.
    pub(crate) fn encode(
        &mut self,
        memory: &mut impl Memory,
        ty: &Ty,
        value: &Value,
        regs: &mut Vec<u64>,
    ) -> Result<(), OutOfMemory> {
        match (ty, value) {
            (Ty::Sum(alts), Value::Sum(sum)) => {
                regs.push(u64::from(sum.tag));
                for (k, alt) in alts.iter().enumerate() {
                    for (j, ty) in alt.iter().enumerate() {
                        match sum.payload.get(j).filter(|_| k == sum.tag as usize) {
                            Some(value) => self.encode(memory, ty, value, regs)?,
                            None => regs.extend(vec![0; repr::width(&repr::parts(ty))]),
                        }
                    }
                }
            }
            (Ty::Pack(pack), Value::Pack(bundle)) => {
                for (var, size) in pack.sizes.iter().zip(&bundle.sizes) {
                    self.sizes.insert(var.clone(), *size);
                    regs.push(*size as u64);
                }
                for (ty, item) in pack.items.iter().zip(&bundle.items) {
                    self.encode(memory, ty, item, regs)?;
                }
            }
            (Ty::Box(id), Value::Box(cell)) => regs.push(self.write_cell(memory, *id, cell)?),
            (Ty::Table(..), Value::Table(table)) => self.encode_table(memory, ty, table, regs)?,
            (_, value) => {
                let word = self.scalar_word(value);
                regs.push(word);
            }
        }
        Ok(())
    }

    fn scalar_word(&mut self, value: &Value) -> u64 {
        match value {
            Value::F64(x) => x.to_bits(),
            Value::F32(x) => u64::from(x.to_bits()),
            Value::Int(k) => *k as u64,
            Value::Bool(b) => u64::from(*b),
            Value::Key(bits) => *bits,
            Value::Str(text) => {
                self.texts.push(text.clone());
                self.texts.len() as u64 - 1
            }
            Value::Table(_) | Value::Sum(_) | Value::Pack(_) | Value::Box(_) => 0,
        }
    }

    fn encode_table(
        &mut self,
        memory: &mut impl Memory,
        ty: &Ty,
        table: &Table,
        regs: &mut Vec<u64>,
    ) -> Result<(), OutOfMemory> {
        let (outer, leaf) = repr::dims(ty);
        let n = table.len();
        let mut buffers = vec![];
        for part in repr::parts(ty) {
            let Part::Table { elem, dims, .. } = part else { unreachable!("a table has tables as parts") };
            let inner = self.dims(&dims[outer.len()..]);
            let count = (n * inner.iter().product::<usize>()) as u64;
            let refs = if elem == Elem::Ref { count } else { 0 };
            let data = memory.alloc(count * u64::from(elem.bytes()), refs)?;
            regs.extend([data, data]);
            buffers.push(Buffer { elem, data, dims: inner });
        }
        if leaf.scalar().is_some_and(|scalar| scalar != Scalar::Str) {
            match (table.f64s(), table.buffer()) {
                (Some(xs), _) => memory.write_floats(buffers[0].data, xs),
                (None, (leaves, from)) => memory.write(buffers[0].data, &leaf_bytes(leaves, from, n)),
            }
            return Ok(());
        }
        for i in 0..n {
            self.store_element(memory, leaf, &table.leaf(i), &mut buffers.iter(), i)?;
        }
        Ok(())
    }

    fn store_element(
        &mut self,
        memory: &mut impl Memory,
        ty: &Ty,
        value: &Value,
        buffers: &mut std::slice::Iter<'_, Buffer>,
        i: usize,
    ) -> Result<(), OutOfMemory> {
        match (ty, value) {
            (Ty::Sum(alts), Value::Sum(sum)) => {
                if let Some(b) = buffers.next() {
                    store(memory, b.elem, b.data, i, u64::from(sum.tag));
                }
                for (k, alt) in alts.iter().enumerate() {
                    for (j, ty) in alt.iter().enumerate() {
                        match sum.payload.get(j).filter(|_| k == sum.tag as usize) {
                            Some(value) => self.store_element(memory, ty, value, buffers, i)?,
                            None => buffers.by_ref().take(repr::parts(ty).len()).for_each(drop),
                        }
                    }
                }
            }
            (Ty::Table(..), Value::Table(table)) => {
                // Dense in the buffers of the outer table.
                let mut regs = vec![];
                self.encode_table(memory, ty, table, &mut regs)?;
                for pair in regs.chunks(2) {
                    if let Some(b) = buffers.next() {
                        let bytes = b.dims.iter().product::<usize>() * b.elem.bytes() as usize;
                        let own = memory.read(pair[0], bytes.min(table_bytes(table, b.elem))).into_owned();
                        memory.write(b.data + (i * bytes) as u64, &own);
                        // Pointers have moved with the bytes, so the copy gives up none.
                        memory.write(pair[0], &vec![0; own.len()]);
                    }
                    memory.release(pair[0]);
                }
            }
            (ty, value) => {
                let mut regs = vec![];
                self.encode(memory, ty, value, &mut regs)?;
                let parts = repr::parts(ty);
                for word in first_words(&parts, &regs) {
                    if let Some(b) = buffers.next() {
                        store(memory, b.elem, b.data, i, word);
                    }
                }
            }
        }
        Ok(())
    }
}

fn table_bytes(table: &Table, elem: Elem) -> usize {
    table.len() * elem.bytes() as usize
}

/// Passes over the words of a value.
fn skip(ty: &Ty, words: &mut Words<'_>) {
    let width = |part: &Part| match part {
        Part::Scalar(_) | Part::Cell => 1,
        Part::Table { dims, .. } => 1 + dims.len(),
    };
    let n: usize = repr::parts(ty).iter().map(width).sum();
    words.by_ref().take(n).for_each(drop);
}

fn load(memory: &impl Memory, elem: Elem, data: u64, i: usize) -> u64 {
    let bytes = elem.bytes() as usize;
    let mut word = [0; 8];
    word[..bytes].copy_from_slice(&memory.read(data + (i * bytes) as u64, bytes));
    u64::from_le_bytes(word)
}

fn store(memory: &mut impl Memory, elem: Elem, data: u64, i: usize, word: u64) {
    let bytes = elem.bytes() as usize;
    memory.write(data + (i * bytes) as u64, &word.to_le_bytes()[..bytes]);
}

/// Elements of memory as leaves.
pub(crate) fn read_leaves(memory: &impl Memory, scalar: Scalar, data: u64, n: usize) -> Leaves {
    let bytes = memory.read(data, n * Kind::of(scalar).bytes() as usize);
    let words = || bytes.as_chunks::<8>().0.iter().copied();
    match scalar {
        Scalar::F64 => Leaves::F64(memory.floats(data, n).into_owned()),
        Scalar::F32 => {
            Leaves::F32(bytes.as_chunks::<4>().0.iter().copied().map(f32::from_ne_bytes).collect())
        }
        Scalar::Int => Leaves::Int(words().map(i64::from_ne_bytes).collect()),
        Scalar::Key | Scalar::Str => Leaves::Key(words().map(u64::from_ne_bytes).collect()),
        Scalar::Bool => Leaves::Bool(bytes.iter().map(|b| *b != 0).collect()),
    }
}

/// Leaves that are scalars, as they lie in memory.
pub(crate) fn leaf_bytes(leaves: &Leaves, from: usize, n: usize) -> Vec<u8> {
    match leaves {
        Leaves::F64(v) => v[from..from + n].iter().flat_map(|x| x.to_ne_bytes()).collect(),
        Leaves::F32(v) => v[from..from + n].iter().flat_map(|x| x.to_ne_bytes()).collect(),
        Leaves::Int(v) => v[from..from + n].iter().flat_map(|x| x.to_ne_bytes()).collect(),
        Leaves::Key(v) => v[from..from + n].iter().flat_map(|x| x.to_ne_bytes()).collect(),
        Leaves::Bool(v) => v[from..from + n].iter().map(|b| u8::from(*b)).collect(),
        Leaves::Value(_) => vec![],
    }
}
