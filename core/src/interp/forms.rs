//! The forms without blocks: each takes its operands and gives its results at once.

use std::sync::Arc;

use adl_diag::{Code, Span};

use super::acc::{AccRef, Accs};
use super::code::{Form, Item, Op};
use super::data::Maker;
use super::machine::{Machine, into_value};
use super::table::Builder;
use crate::prim::{Inst, Kernel, Prim, PrimError, S};
use crate::run::{RuntimeError, fail};
use crate::ty::Ty;
use crate::value::{Bundle, Table, Tagged, Value};
use crate::{npy, show};

impl Machine<'_> {
    /// Runs a statement that has no blocks.
    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    pub(super) fn simple(&mut self, op: &Op) -> Result<Vec<Item>, RuntimeError> {
        let span = op.span;
        let mut items = self.operands(op);
        let one = |value: Value| Ok(vec![Item::Value(value)]);
        match &op.form {
            Form::Copy | Form::Drop => Ok(items),
            Form::Dup => {
                items.extend_from_within(..1);
                Ok(items)
            }
            Form::Prim(prim) => {
                self.ops += u64::from(prim.0.cost);
                one(apply(*prim, items, span)?)
            }
            Form::Inject(tag) => one(Value::Sum(Arc::new(Tagged { tag: *tag, payload: values(items) }))),
            Form::Index { check } => {
                let (table, index) = table_and_index(items, *check, span)?;
                let value = table.at(&index);
                self.ops += 1;
                one(value)
            }
            Form::Update { check } => {
                let value = into_value(items.pop().expect("an update has a value"));
                let (table, index) = table_and_index(items, *check, span)?;
                self.ops += value.weight();
                let (table, copied) =
                    table.updated(&index, &value, self.account).map_err(|error| error.at(span))?;
                self.copied += copied;
                one(Value::Table(table))
            }
            Form::TableLit => {
                let Ty::Table(_, elem) = &op.outs[0].ty else { panic!("not a table: {:?}", op.outs[0].ty) };
                let mut table = Builder::new(elem.dims().1, self.dims(elem), items.len(), self.account)
                    .map_err(|error| error.at(span))?;
                for value in values(items) {
                    self.ops += value.weight();
                    table.push(&value).map_err(|error| error.at(span))?;
                }
                one(table.finish())
            }
            Form::Contract(spec) => {
                let (x, y) = two(items);
                let (value, touched) = self.made(span, |maker| maker.contract(spec, &x, &y))?;
                self.ops += touched;
                one(value)
            }
            Form::Bulk(row) => {
                let args = values(items);
                let (results, touched) = self.made(span, |maker| maker.bulk(*row, &args))?;
                self.ops += touched;
                Ok(results.into_iter().map(Item::Value).collect())
            }
            Form::Pack { n_sizes } => {
                let rest = items.split_off(*n_sizes);
                let sizes = items.iter().map(as_int).collect();
                one(Value::Pack(Arc::new(Bundle { sizes, items: values(rest) })))
            }
            Form::Open => {
                let Value::Pack(pack) = into_value(items.remove(0)) else { panic!("not a bundle") };
                let sizes = pack.sizes.iter().map(|n| Item::Value(Value::Int(*n)));
                Ok(sizes.chain(pack.items.iter().cloned().map(Item::Value)).collect())
            }
            Form::BoxNew => one(Value::cell(values(items), self.account).map_err(|error| error.at(span))?),
            Form::Unbox => {
                let Value::Box(cell) = into_value(items.remove(0)) else { panic!("not a box") };
                Ok(cell.items().iter().cloned().map(Item::Value).collect())
            }
            Form::Zero(ty) => {
                let mut maker = Maker { account: self.account, span, touched: 0 };
                let value = maker.zero(ty, &|ty| self.dims(ty))?;
                self.ops += maker.touched;
                one(value)
            }
            Form::AddCt => {
                let (x, y) = two(items);
                let (value, touched) = self.made(span, |maker| maker.add(&x, &y))?;
                self.ops += touched.max(1);
                one(value)
            }
            Form::Error => Err(fail::error(span, &text(&items[0]))),
            Form::Assert => match into_value(items.remove(0)).as_bool() {
                Some(true) => Ok(vec![]),
                Some(false) | None => Err(fail::assertion(span, &text(&items[0]))),
            },
            Form::CheckSize(what) => {
                let (left, right) = (as_int(&items[0]), as_int(&items[1]));
                if left == right { Ok(vec![]) } else { Err(fail::sizes_differ(span, what, left, right)) }
            }
            Form::CheckNonNegative => {
                let n = as_int(&items[0]);
                if n < 0 { Err(fail::negative_size(span, n)) } else { Ok(vec![]) }
            }
            Form::Trace => {
                self.host.trace(&text(&items[0]));
                Ok(vec![])
            }
            Form::Print => {
                let write = |why: String| RuntimeError::new(Code::E0801, span, format!("no output: {why}"));
                self.host.emit(&text(&items[0])).map_err(write)?;
                Ok(vec![])
            }
            Form::LoadNpy { rank, elem } => {
                let path = text(&items[0]);
                let array = self.load(&path, *rank as usize, *elem, span)?;
                let sizes = array.dims.iter().map(|n| Item::Value(Value::Int(*n as i64)));
                let mut results: Vec<Item> = sizes.collect();
                self.ops += array.leaves.len() as u64;
                results.push(Item::Value(self.made(span, |m| m.table(&array.dims, array.leaves))?.0));
                Ok(results)
            }
            Form::Show(fmt) => {
                let leaves = values(items);
                self.ops += leaves.iter().map(Value::weight).sum::<u64>();
                one(Value::Str(show::show(fmt, &leaves).into()))
            }
            Form::AccNew(ty) => {
                let acc = self.new_acc(ty, span)?;
                Ok(vec![Item::Acc(acc)])
            }
            Form::AccView { check } => {
                let acc = acc_of(items.remove(0));
                let index = checked(&items, acc.dims(), *check, span)?;
                Ok(vec![Item::Acc(Accs::view(&acc, &index))])
            }
            Form::AccAdd { check } => {
                let value = into_value(items.pop().expect("an addition has a value"));
                let acc = acc_of(items.remove(0));
                let index = checked(&items, acc.dims(), *check, span)?;
                self.ops += value.weight();
                self.accs.add(&Accs::view(&acc, &index), &value, self.account, span)?;
                Ok(vec![])
            }
            Form::AccFrom => {
                let value = into_value(items.remove(0));
                // A table that nobody else holds is taken over, not copied.
                let taken = value.as_table().is_some_and(|table| !table.is_shared());
                self.ops += if taken { 1 } else { value.weight() };
                Ok(vec![Item::Acc(self.accs.starting_at(value, self.account, span)?)])
            }
            Form::AccFreeze => {
                let acc = acc_of(items.remove(0));
                one(self.accs.freeze(&acc, &op.outs[0].ty))
            }
            Form::AccInj { tag } => {
                let accs = items.into_iter().map(acc_of).collect();
                Ok(vec![Item::Acc(self.accs.inject(*tag, accs))])
            }
            Form::AccPayload { tag } => {
                let acc = acc_of(items.remove(0));
                Ok(self.payload(&acc, *tag, op)?.into_iter().map(Item::Acc).collect())
            }
            Form::Case(_)
            | Form::For { .. }
            | Form::Reduce { .. }
            | Form::LoopFor { .. }
            | Form::LoopWhile { .. }
            | Form::Call(_) => unreachable!("forms with blocks are steps of the machine"),
        }
    }

    fn made<T>(
        &self,
        span: Span,
        make: impl FnOnce(&mut Maker<'_>) -> Result<T, RuntimeError>,
    ) -> Result<(T, u64), RuntimeError> {
        let mut maker = Maker { account: self.account, span, touched: 0 };
        let made = make(&mut maker)?;
        Ok((made, maker.touched))
    }

    fn load(
        &mut self,
        path: &str,
        rank: usize,
        elem: crate::ty::Scalar,
        span: Span,
    ) -> Result<npy::Array, RuntimeError> {
        let bytes = self.host.read_file(path).map_err(|why| {
            RuntimeError::new(Code::E0801, span, format!("cannot read {}: {why}", show::quoted(path)))
        })?;
        npy::read(&bytes, path, rank, elem, span)
    }

    fn new_acc(&mut self, ty: &Ty, span: Span) -> Result<AccRef, RuntimeError> {
        let dims = self.dims(ty);
        self.ops += dims.iter().product::<usize>() as u64;
        self.accs.new_acc(ty.dims().1, &dims, self.account, span)
    }

    fn payload(&mut self, acc: &AccRef, tag: u32, op: &Op) -> Result<Vec<AccRef>, RuntimeError> {
        let shapes: Vec<(Ty, Vec<usize>)> = op
            .outs
            .iter()
            .map(|out| {
                let Ty::Acc(ty) = &out.ty else { panic!("not an accumulator: {:?}", out.ty) };
                (ty.dims().1.clone(), self.dims(ty))
            })
            .collect();
        let (account, span) = (self.account, op.span);
        self.accs.payload(acc, tag, span, |accs| {
            shapes.iter().map(|(leaf, dims)| accs.new_acc(leaf, dims, account, span)).collect()
        })
    }
}

fn values(items: Vec<Item>) -> Vec<Value> {
    items.into_iter().map(into_value).collect()
}

fn two(items: Vec<Item>) -> (Value, Value) {
    let mut values = values(items).into_iter();
    let mut next = || values.next().expect("two operands");
    (next(), next())
}

fn as_int(item: &Item) -> i64 {
    match item {
        Item::Value(value) => value.as_int().expect("an Int"),
        Item::Empty | Item::Acc(_) => panic!("{item:?} is no Int"),
    }
}

fn text(item: &Item) -> String {
    match item {
        Item::Value(Value::Str(text)) => text.to_string(),
        Item::Value(value) => show::plain(value),
        Item::Empty | Item::Acc(_) => panic!("{item:?} is no text"),
    }
}

fn acc_of(item: Item) -> AccRef {
    match item {
        Item::Acc(acc) => acc,
        Item::Empty | Item::Value(_) => panic!("{item:?} is no accumulator"),
    }
}

fn table_and_index(
    mut items: Vec<Item>,
    check: bool,
    span: Span,
) -> Result<(Table, Vec<usize>), RuntimeError> {
    let index = items.split_off(1);
    let Value::Table(table) = into_value(items.remove(0)) else { panic!("an index of what is no table") };
    let index = checked(&index, table.dims(), check, span)?;
    Ok((table, index))
}

/// The index as positions in bounds. What the checker has proved is asserted only.
fn checked(index: &[Item], dims: &[usize], check: bool, span: Span) -> Result<Vec<usize>, RuntimeError> {
    let position = |(item, n): (&Item, &usize)| {
        let i = as_int(item);
        let fits = usize::try_from(i).ok().filter(|at| at < n);
        assert!(check || fits.is_some(), "index {i} of size {n} was proved to be in bounds");
        fits.ok_or_else(|| fail::out_of_bounds(span, i, *n as i64))
    };
    index.iter().zip(dims).map(position).collect()
}

/// Applies a primitive.
fn apply(prim: Prim, mut items: Vec<Item>, span: Span) -> Result<Value, RuntimeError> {
    if let (Kernel::Inst(inst), [Item::Value(Value::F64(x)), Item::Value(Value::F64(y))]) =
        (prim.0.kernel, items.as_slice())
    {
        // The commonest four without the detour; the row says the same.
        for (commonest, value) in
            [(Inst::Add, x + y), (Inst::Sub, x - y), (Inst::Mul, x * y), (Inst::Div, x / y)]
        {
            if inst == commonest {
                return Ok(Value::F64(value));
            }
        }
    }
    if let (Kernel::Inst(Inst::Copy), 1) = (prim.0.kernel, items.len()) {
        return Ok(into_value(items.remove(0)));
    }
    let args: Vec<S> = items.into_iter().map(scalar).collect();
    match prim.0.apply(&args) {
        Ok(S::F64(x)) => Ok(Value::F64(x)),
        Ok(S::F32(x)) => Ok(Value::F32(x)),
        Ok(S::Int(k)) => Ok(Value::Int(k)),
        Ok(S::Bool(b)) => Ok(Value::Bool(b)),
        Ok(S::Str(text)) => Ok(Value::Str(text)),
        Ok(S::Key(bits)) => Ok(Value::Key(bits)),
        Err(PrimError::DivZero) => Err(fail::division_by_zero(span)),
        Err(PrimError::IntRange) => Err(fail::conversion(span, args.first().map_or(f64::NAN, float))),
    }
}

fn float(x: &S) -> f64 {
    match x {
        S::F64(x) => *x,
        S::F32(x) => f64::from(*x),
        S::Int(k) => *k as f64,
        S::Bool(_) | S::Str(_) | S::Key(_) => f64::NAN,
    }
}

fn scalar(item: Item) -> S {
    match into_value(item) {
        Value::F64(x) => S::F64(x),
        Value::F32(x) => S::F32(x),
        Value::Int(k) => S::Int(k),
        Value::Bool(b) => S::Bool(b),
        Value::Str(text) => S::Str(text),
        Value::Key(bits) => S::Key(bits),
        value @ (Value::Table(_) | Value::Sum(_) | Value::Pack(_) | Value::Box(_)) => {
            panic!("{value:?} is no scalar")
        }
    }
}
