//! Accumulators: buffers of floats, and sums whose alternative the first addition chooses.

use std::sync::Arc;

use adl_diag::Span;

use super::data::{Maker, ZERO_TAG};
use crate::account::{Account, Charge};
use crate::run::{RuntimeError, fail};
use crate::ty::{BoxTy, PackTy, Scalar, Ty};
use crate::value::{Bundle, Leaves, Table, Tagged, Value};

/// An accumulator, or the part of one that belongs to a sub-table.
#[derive(Clone, Debug)]
pub(super) struct AccRef {
    node: usize,
    offset: usize,
    dims: Arc<[usize]>,
    skip: usize,
}

impl AccRef {
    /// Sizes from the outside in; none for an accumulator of one leaf.
    pub(super) fn dims(&self) -> &[usize] {
        &self.dims[self.skip..]
    }

    fn len(&self) -> usize {
        self.dims().iter().product()
    }
}

/// The leaves of an accumulator.
#[derive(Debug)]
enum Node {
    F64(Vec<f64>, Charge),
    F32(Vec<f32>, Charge),
    Int(Vec<i64>, Charge),
    Sums(Vec<SumNode>),
    /// Packs: unknown until the first addition tells the sizes.
    Packs(Vec<Option<PackNode>>),
    /// Cells: unknown until the first addition; then what they sum to.
    Cells(Vec<Option<Value>>),
    /// A leaf without a tangent, or an accumulator that has been frozen.
    Nothing,
}

/// The accumulator of a sum: zero until an alternative is known.
#[derive(Clone, Debug, Default)]
struct SumNode {
    alternative: Option<(u32, Vec<AccRef>)>,
}

/// The accumulator of a pack: its sizes, and one accumulator an item.
#[derive(Clone, Debug)]
struct PackNode {
    sizes: Vec<i64>,
    items: Vec<AccRef>,
}

/// All accumulators of a run.
#[derive(Debug, Default)]
pub(super) struct Accs {
    nodes: Vec<Node>,
    free: Vec<usize>,
}

impl Accs {
    fn add_node(&mut self, node: Node) -> usize {
        if let Some(id) = self.free.pop() {
            self.nodes[id] = node;
            return id;
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// A new accumulator, all zero, for leaves of type `leaf` in tables of these sizes.
    pub(super) fn new_acc(
        &mut self,
        leaf: &Ty,
        dims: &[usize],
        account: &Arc<Account>,
        span: Span,
    ) -> Result<AccRef, RuntimeError> {
        let n: usize = dims.iter().product();
        let charge = |bytes: usize| account.charge(bytes as u64).map_err(|error| error.at(span));
        let node = match leaf {
            Ty::Scalar(Scalar::F64) => Node::F64(vec![0.0; n], charge(8 * n)?),
            Ty::Scalar(Scalar::F32) => Node::F32(vec![0.0; n], charge(4 * n)?),
            Ty::Scalar(Scalar::Int) => Node::Int(vec![0; n], charge(8 * n)?),
            Ty::Sum(_) => Node::Sums(vec![SumNode::default(); n]),
            Ty::Pack(_) => Node::Packs(vec![None; n]),
            Ty::Box(_) => Node::Cells(vec![None; n]),
            Ty::Scalar(_)
            | Ty::Table(..)
            | Ty::Acc(_)
            | Ty::Tuple(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => Node::Nothing,
        };
        Ok(AccRef { node: self.add_node(node), offset: 0, dims: dims.into(), skip: 0 })
    }

    /// A new accumulator that starts as a value.
    pub(super) fn starting_at(
        &mut self,
        value: Value,
        account: &Arc<Account>,
        span: Span,
    ) -> Result<AccRef, RuntimeError> {
        let charge = |bytes: usize| account.charge(bytes as u64).map_err(|error| error.at(span));
        let (dims, leaves) = match value {
            Value::Table(table) => (table.dims().to_vec(), table.into_leaves()),
            Value::F64(x) => (vec![], Leaves::F64(vec![x])),
            Value::F32(x) => (vec![], Leaves::F32(vec![x])),
            value @ (Value::Sum(_) | Value::Pack(_) | Value::Box(_)) => (vec![], Leaves::Value(vec![value])),
            Value::Int(x) => (vec![], Leaves::Int(vec![x])),
            Value::Bool(_) | Value::Str(_) | Value::Key(_) => (vec![], Leaves::Bool(vec![false])),
        };
        let node = match leaves {
            Leaves::F64(cells) => {
                let charge = charge(8 * cells.len())?;
                Node::F64(cells, charge)
            }
            Leaves::F32(cells) => {
                let charge = charge(4 * cells.len())?;
                Node::F32(cells, charge)
            }
            Leaves::Value(values) if matches!(values.first(), Some(Value::Pack(_))) => {
                let cells: Result<Vec<Option<PackNode>>, RuntimeError> =
                    values.iter().map(|value| self.pack_from(value, account, span)).collect();
                Node::Packs(cells?)
            }
            Leaves::Value(values) if matches!(values.first(), Some(Value::Box(_))) => {
                Node::Cells(values.into_iter().map(Some).collect())
            }
            Leaves::Value(values) => {
                let cells: Result<Vec<SumNode>, RuntimeError> =
                    values.iter().map(|value| self.sum_from(value, account, span)).collect();
                Node::Sums(cells?)
            }
            Leaves::Int(cells) => {
                let charge = charge(8 * cells.len())?;
                Node::Int(cells, charge)
            }
            Leaves::Bool(_) | Leaves::Key(_) => Node::Nothing,
        };
        Ok(AccRef { node: self.add_node(node), offset: 0, dims: dims.into(), skip: 0 })
    }

    fn pack_from(
        &mut self,
        value: &Value,
        account: &Arc<Account>,
        span: Span,
    ) -> Result<Option<PackNode>, RuntimeError> {
        let Value::Pack(pack) = value else { return Ok(None) };
        let items: Result<Vec<AccRef>, RuntimeError> =
            pack.items.iter().map(|value| self.starting_at(value.clone(), account, span)).collect();
        Ok(Some(PackNode { sizes: pack.sizes.clone(), items: items? }))
    }

    fn sum_from(
        &mut self,
        value: &Value,
        account: &Arc<Account>,
        span: Span,
    ) -> Result<SumNode, RuntimeError> {
        let Value::Sum(sum) = value else { return Ok(SumNode::default()) };
        if sum.tag == ZERO_TAG {
            return Ok(SumNode::default());
        }
        let accs: Result<Vec<AccRef>, RuntimeError> =
            sum.payload.iter().map(|value| self.starting_at(value.clone(), account, span)).collect();
        Ok(SumNode { alternative: Some((sum.tag, accs?)) })
    }

    /// The accumulator of the sub-table at an index in bounds.
    pub(super) fn view(acc: &AccRef, index: &[usize]) -> AccRef {
        let dims = acc.dims();
        let at = index.iter().zip(dims).fold(0, |at, (i, n)| at * n + i);
        let rest: usize = dims[index.len()..].iter().product();
        AccRef { offset: acc.offset + at * rest, skip: acc.skip + index.len(), ..acc.clone() }
    }

    /// Adds a value of the accumulator's type.
    pub(super) fn add(
        &mut self,
        acc: &AccRef,
        value: &Value,
        account: &Arc<Account>,
        span: Span,
    ) -> Result<(), RuntimeError> {
        for k in 0..acc.len() {
            let at = acc.offset + k;
            let leaf = if let Value::Table(table) = value { table.leaf(k) } else { value.clone() };
            match (&mut self.nodes[acc.node], &leaf) {
                (Node::F64(cells, _), Value::F64(x)) => cells[at] += x,
                (Node::F32(cells, _), Value::F32(x)) => cells[at] += x,
                (Node::Int(cells, _), Value::Int(x)) => cells[at] = cells[at].wrapping_add(*x),
                (Node::Sums(cells), Value::Sum(sum)) => {
                    let cell = cells[at].clone();
                    let cell = self.add_sum(cell, sum, account, span)?;
                    if let Node::Sums(cells) = &mut self.nodes[acc.node] {
                        cells[at] = cell;
                    }
                }
                // The zero of any size, which does not tell the sizes.
                (Node::Packs(_), Value::Pack(pack))
                    if !pack.sizes.is_empty() && pack.sizes.iter().all(|n| *n == 0) => {}
                (Node::Packs(cells), Value::Pack(pack)) => {
                    let cell = cells[at].clone();
                    let cell = self.add_pack(cell, pack, account, span)?;
                    if let Node::Packs(cells) = &mut self.nodes[acc.node] {
                        cells[at] = Some(cell);
                    }
                }
                (Node::Cells(cells), Value::Box(_)) => {
                    let sum = match cells[at].take() {
                        Some(old) => Maker { account, span, touched: 0 }.add(&old, &leaf)?,
                        None => leaf,
                    };
                    cells[at] = Some(sum);
                }
                (Node::Nothing, _) => {}
                (
                    Node::F64(..)
                    | Node::F32(..)
                    | Node::Int(..)
                    | Node::Sums(_)
                    | Node::Packs(_)
                    | Node::Cells(_),
                    value,
                ) => {
                    panic!("{value:?} does not fit its accumulator")
                }
            }
        }
        Ok(())
    }

    fn add_pack(
        &mut self,
        cell: Option<PackNode>,
        pack: &Bundle,
        account: &Arc<Account>,
        span: Span,
    ) -> Result<PackNode, RuntimeError> {
        let cell = match cell {
            Some(cell) => cell,
            None => {
                let items: Result<Vec<AccRef>, RuntimeError> =
                    pack.items.iter().map(|value| self.zero_like(value, account, span)).collect();
                PackNode { sizes: pack.sizes.clone(), items: items? }
            }
        };
        for (acc, value) in cell.items.iter().zip(&pack.items) {
            self.add(acc, value, account, span)?;
        }
        Ok(cell)
    }

    fn add_sum(
        &mut self,
        cell: SumNode,
        sum: &Tagged,
        account: &Arc<Account>,
        span: Span,
    ) -> Result<SumNode, RuntimeError> {
        if sum.tag == ZERO_TAG {
            return Ok(cell);
        }
        let (tag, accs) = match cell.alternative {
            Some(alternative) => alternative,
            None => {
                let accs: Result<Vec<AccRef>, RuntimeError> =
                    sum.payload.iter().map(|value| self.zero_like(value, account, span)).collect();
                (sum.tag, accs?)
            }
        };
        if tag != sum.tag {
            return Err(fail::constructors_differ(span));
        }
        for (acc, value) in accs.iter().zip(&sum.payload) {
            self.add(acc, value, account, span)?;
        }
        Ok(SumNode { alternative: Some((tag, accs)) })
    }

    fn zero_like(
        &mut self,
        value: &Value,
        account: &Arc<Account>,
        span: Span,
    ) -> Result<AccRef, RuntimeError> {
        let (dims, leaf) = match value {
            Value::Table(table) => (table.dims().to_vec(), (!table.is_empty()).then(|| table.leaf(0))),
            Value::F64(_)
            | Value::F32(_)
            | Value::Int(_)
            | Value::Bool(_)
            | Value::Str(_)
            | Value::Key(_)
            | Value::Sum(_)
            | Value::Pack(_)
            | Value::Box(_) => (vec![], Some(value.clone())),
        };
        let ty = match leaf {
            Some(Value::F32(_)) => crate::ty::F32,
            Some(Value::Int(_)) => crate::ty::INT,
            Some(Value::Sum(_)) => Ty::Sum(vec![]),
            Some(Value::Pack(_)) => Ty::Pack(Arc::new(PackTy { sizes: vec![], items: vec![] })),
            Some(Value::Box(_)) => Ty::Box(BoxTy::new(0)),
            _ => crate::ty::F64,
        };
        self.new_acc(&ty, &dims, account, span)
    }

    /// The accumulator of an alternative, made of those of its payload.
    pub(super) fn inject(&mut self, tag: u32, accs: Vec<AccRef>) -> AccRef {
        let node = self.add_node(Node::Sums(vec![SumNode { alternative: Some((tag, accs)) }]));
        AccRef { node, offset: 0, dims: Arc::new([]), skip: 0 }
    }

    /// The accumulators of the payload of an alternative; `make` gives them where there are none yet.
    pub(super) fn payload(
        &mut self,
        acc: &AccRef,
        tag: u32,
        span: Span,
        make: impl FnOnce(&mut Accs) -> Result<Vec<AccRef>, RuntimeError>,
    ) -> Result<Vec<AccRef>, RuntimeError> {
        let Node::Sums(cells) = &self.nodes[acc.node] else { return Ok(vec![]) };
        match &cells[acc.offset].alternative {
            Some((known, accs)) if *known == tag => return Ok(accs.clone()),
            Some(_) => return Err(fail::constructors_differ(span)),
            None => {}
        }
        let accs = make(self)?;
        if let Node::Sums(cells) = &mut self.nodes[acc.node] {
            cells[acc.offset].alternative = Some((tag, accs.clone()));
        }
        Ok(accs)
    }

    /// The final value, of type `ty`.
    pub(super) fn freeze(&mut self, acc: &AccRef, ty: &Ty) -> Value {
        let node = std::mem::replace(&mut self.nodes[acc.node], Node::Nothing);
        self.free.push(acc.node);
        let (_, leaf) = ty.dims();
        let table = |leaves: Leaves, charge: Charge| {
            if acc.dims().is_empty() {
                return leaves.get(0);
            }
            Value::Table(Table::charged(acc.dims(), leaves, charge))
        };
        match node {
            Node::F64(cells, charge) => table(Leaves::F64(cells), charge),
            Node::F32(cells, charge) => table(Leaves::F32(cells), charge),
            Node::Int(cells, charge) => table(Leaves::Int(cells), charge),
            Node::Sums(cells) => {
                let values = cells.into_iter().map(|cell| self.freeze_sum(cell, leaf)).collect();
                table(Leaves::Value(values), Charge::default())
            }
            Node::Packs(cells) => {
                let values = cells.into_iter().map(|cell| self.freeze_pack(cell, leaf)).collect();
                table(Leaves::Value(values), Charge::default())
            }
            Node::Cells(cells) => {
                let values = cells.into_iter().map(|cell| cell.unwrap_or_else(|| nothing(leaf))).collect();
                table(Leaves::Value(values), Charge::default())
            }
            Node::Nothing => nothing(leaf),
        }
    }

    fn freeze_pack(&mut self, cell: Option<PackNode>, ty: &Ty) -> Value {
        let (Some(cell), Ty::Pack(pack)) = (cell, ty) else { return nothing(ty) };
        let items = cell.items.iter().zip(&pack.items).map(|(acc, ty)| self.freeze(acc, ty)).collect();
        Value::Pack(Arc::new(Bundle { sizes: cell.sizes, items }))
    }

    fn freeze_sum(&mut self, cell: SumNode, ty: &Ty) -> Value {
        let (Some((tag, accs)), Ty::Sum(alts)) = (cell.alternative, ty) else { return nothing(ty) };
        let payload = accs.iter().zip(&alts[tag as usize]).map(|(acc, ty)| self.freeze(acc, ty)).collect();
        Value::Sum(Arc::new(Tagged { tag, payload }))
    }
}

/// The zero of a type where nothing was added: of a bundle the one without elements.
fn nothing(ty: &Ty) -> Value {
    match ty {
        Ty::Scalar(Scalar::F32) => Value::F32(0.0),
        Ty::Scalar(Scalar::Int) => Value::Int(0),
        Ty::Table(..) => {
            let (dims, leaf) = ty.dims();
            let leaves = Leaves::with_capacity(leaf, 0).unwrap_or(Leaves::F64(vec![]));
            Value::Table(Table::new(&vec![0; dims.len()], leaves))
        }
        Ty::Pack(pack) => {
            let items = pack.items.iter().map(nothing).collect();
            Value::Pack(Arc::new(Bundle { sizes: vec![0; pack.sizes.len()], items }))
        }
        Ty::Sum(_) => Value::Sum(Arc::new(Tagged { tag: ZERO_TAG, payload: vec![] })),
        Ty::Scalar(_)
        | Ty::Box(_)
        | Ty::Acc(_)
        | Ty::Tuple(_)
        | Ty::Named(..)
        | Ty::Index(_)
        | Ty::Fn(..)
        | Ty::Lin(..)
        | Ty::Tangent(_)
        | Ty::Var(_) => Value::F64(0.0),
    }
}
