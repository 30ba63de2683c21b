//! The machine: frames on the heap, one step at a time.

use std::sync::Arc;

use adl_diag::Span;

use super::acc::Accs;
use super::code::{Block, Code, Combine, Form, Item, Op, Slot, Src};
use super::frame::{Folding, Frame, Kind, Looping, Reduction, Start, Then};
use super::table::Builder;
use crate::account::Account;
use crate::host::Host;
use crate::ir::{Atom, FuncId, Lit};
use crate::run::{Limits, RuntimeError, fail};
use crate::ty::{Ix, Ty};
use crate::value::Value;

/// A run.
pub(super) struct Machine<'c> {
    codes: &'c [Code],
    pub(super) account: &'c Arc<Account>,
    pub(super) host: &'c mut dyn Host,
    limits: &'c Limits,
    frames: Vec<Frame<'c>>,
    calls: Vec<Activation<'c>>,
    pub(super) accs: Accs,
    pub(super) ops: u64,
    pub(super) copied: u64,
}

/// A call under way: what its slots hold.
struct Activation<'c> {
    code: &'c Code,
    slots: Vec<Item>,
}

impl<'c> Machine<'c> {
    pub(super) fn new(
        codes: &'c [Code],
        account: &'c Arc<Account>,
        host: &'c mut dyn Host,
        limits: &'c Limits,
    ) -> Machine<'c> {
        let accs = Accs::default();
        Machine { codes, account, host, limits, frames: vec![], calls: vec![], accs, ops: 0, copied: 0 }
    }

    /// Operations so far, and bytes copied by updates.
    pub(super) fn counted(&self) -> (u64, u64) {
        (self.ops, self.copied)
    }

    /// Runs a function to its end.
    pub(super) fn call(&mut self, func: FuncId, args: Vec<Value>) -> Result<Vec<Value>, RuntimeError> {
        self.enter(func, args.into_iter().map(Item::Value).collect(), Span::default())?;
        loop {
            let frame = self.frames.last().expect("a frame until the function returns");
            let block = frame.block;
            if let Some(op) = block.ops.get(frame.pc) {
                self.step(op)?;
                continue;
            }
            let results = block.results.iter().map(|src| self.read(src)).collect();
            if let Some(values) = self.block_ends(results)? {
                return Ok(values);
            }
        }
    }

    fn enter(&mut self, func: FuncId, args: Vec<Item>, span: Span) -> Result<(), RuntimeError> {
        let code = &self.codes[func.0 as usize];
        if self.limits.depth <= self.calls.len() as u64 {
            return Err(fail::too_deep(if span.is_dummy() { code.span } else { span }, self.limits.depth));
        }
        self.check_cancelled(span)?;
        let mut slots = Vec::with_capacity(code.n_slots);
        slots.resize_with(code.n_slots, || Item::Empty);
        self.calls.push(Activation { code, slots });
        self.bind(&code.params, args);
        self.frames.push(Frame { block: &code.body, pc: 0, then: Then::Return });
        Ok(())
    }

    fn check_cancelled(&self, span: Span) -> Result<(), RuntimeError> {
        if self.limits.cancelled() { Err(fail::cancelled(span)) } else { Ok(()) }
    }

    fn slots(&mut self) -> &mut Vec<Item> {
        &mut self.calls.last_mut().expect("a call is under way").slots
    }

    fn read(&mut self, src: &Src) -> Item {
        match src {
            Src::Slot(slot) => self.slots()[*slot].clone(),
            Src::Take(slot) => std::mem::replace(&mut self.slots()[*slot], Item::Empty),
            Src::Const(value) => Item::Value(value.clone()),
        }
    }

    fn value(&mut self, src: &Src) -> Value {
        match self.read(src) {
            Item::Value(value) => value,
            item @ (Item::Empty | Item::Acc(_)) => panic!("{item:?} is read as a value"),
        }
    }

    fn size(&mut self, src: &Src) -> i64 {
        self.value(src).as_int().expect("a size is an Int")
    }

    fn bind(&mut self, slots: &[Slot], items: Vec<Item>) {
        let held = self.slots();
        for (slot, item) in slots.iter().zip(items) {
            held[*slot] = item;
        }
    }

    /// The sizes of the outer tables of a type, as the variables in it say now.
    pub(super) fn dims(&self, ty: &Ty) -> Vec<usize> {
        let call = self.calls.last().expect("a call is under way");
        let (mut dims, mut ty) = (vec![], ty);
        while let Ty::Table(Ix::Fin(atom), elem) = ty {
            let size = match atom {
                Atom::Lit(Lit::Int(k)) => Some(*k),
                Atom::Lit(_) => None,
                Atom::Var(var) => match call.code.slots.get(var).map(|slot| &call.slots[*slot]) {
                    Some(Item::Value(value)) => value.as_int(),
                    Some(Item::Empty | Item::Acc(_)) | None => None,
                },
            };
            dims.push(size.and_then(|n| usize::try_from(n).ok()).unwrap_or(0));
            ty = elem;
        }
        dims
    }

    /// Ends a statement: binds its results and forgets what is dead.
    fn finish(&mut self, op: &Op, results: Vec<Item>) {
        let held = self.slots();
        for (out, item) in op.outs.iter().zip(results) {
            held[out.slot] = item;
        }
        for slot in &op.clear {
            held[*slot] = Item::Empty;
        }
        self.frames.last_mut().expect("a frame is under way").pc += 1;
    }

    /// The statement that the frame below the top one is at.
    fn current_op(&self) -> &'c Op {
        let frame = self.frames.last().expect("a frame is under way");
        &frame.block.ops[frame.pc]
    }

    fn push(&mut self, block: &'c Block, then: Then<'c>) {
        self.frames.push(Frame { block, pc: 0, then });
    }

    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    fn step(&mut self, op: &'c Op) -> Result<(), RuntimeError> {
        match &op.form {
            Form::Call(func) => {
                self.ops += 1;
                let args = op.args.iter().map(|src| self.read(src)).collect();
                self.enter(*func, args, op.span)
            }
            Form::Case(arms) => {
                self.ops += 1;
                let (arm, payload) = match self.value(&op.args[0]) {
                    Value::Bool(b) => (usize::from(b), vec![]),
                    Value::Int(k) => (usize::try_from(k).unwrap_or(usize::MAX), vec![]),
                    Value::Sum(sum) => (sum.tag as usize, payload_of(sum)),
                    value @ (Value::F64(_)
                    | Value::F32(_)
                    | Value::Str(_)
                    | Value::Key(_)
                    | Value::Table(_)
                    | Value::Pack(_)
                    | Value::Box(_)) => panic!("no case on {value:?}"),
                };
                let (params, block) = &arms[arm];
                self.bind(params, payload.into_iter().map(Item::Value).collect());
                self.push(block, Then::Arm);
                Ok(())
            }
            Form::For { var, body } => {
                let n = self.checked_size(&op.args[0], op.span)?;
                let tables = self.builders(op, 0, n)?;
                if n == 0 {
                    self.finish(op, tables.into_iter().map(|t| Item::Value(t.finish())).collect());
                    return Ok(());
                }
                self.slots()[*var] = Item::Value(Value::Int(0));
                self.push(body, Then::For { i: 0, n, var: *var, tables });
                Ok(())
            }
            Form::Reduce { op: kind, var, body, prefix } => {
                let n = self.checked_size(&op.args[0], op.span)?;
                let custom = op.args[1..].iter().map(|src| self.read(src)).collect();
                let start = start_of(kind);
                let folds = op.outs.iter().filter_map(|_| start.map(Folding::Start)).collect();
                let prefixes = if *prefix { Some(self.builders(op, 0, n)?) } else { None };
                let combining = false;
                let state =
                    Reduction { i: 0, n, var: *var, body, op: kind, folds, custom, combining, prefixes };
                if n == 0 {
                    return self.reduced(op, state);
                }
                self.slots()[*var] = Item::Value(Value::Int(0));
                self.push(body, Then::Reduce(Box::new(state)));
                Ok(())
            }
            Form::LoopFor { var, reverse, state, body } => {
                let n = self.checked_size(&op.args[0], op.span)?;
                let init = op.args[1..].iter().map(|src| self.read(src)).collect();
                let tables = self.builders(op, state.len(), n)?;
                let kind = Kind::For { var: *var, n, reverse: *reverse };
                let looping = Looping { state, body, tables, rounds: 0, kind };
                self.next_round(op, looping, init)
            }
            Form::LoopWhile { params, cond, state, body } => {
                let init = op.args.iter().map(|src| self.read(src)).collect();
                let tables = self.builders(op, state.len() + 1, 0)?;
                let kind = Kind::While { params, cond, testing: false };
                let looping = Looping { state, body, tables, rounds: 0, kind };
                self.next_round(op, looping, init)
            }
            Form::Copy
            | Form::Prim(_)
            | Form::Inject(_)
            | Form::Index { .. }
            | Form::Contract(_)
            | Form::Bulk(_)
            | Form::Update { .. }
            | Form::TableLit
            | Form::Pack { .. }
            | Form::Open
            | Form::BoxNew
            | Form::Unbox
            | Form::Zero(_)
            | Form::AddCt
            | Form::Dup
            | Form::Drop
            | Form::Error
            | Form::Assert
            | Form::CheckSize(_)
            | Form::CheckNonNegative
            | Form::Trace
            | Form::Print
            | Form::LoadNpy { .. }
            | Form::Show(_)
            | Form::AccNew(_)
            | Form::AccFrom
            | Form::AccView { .. }
            | Form::AccAdd { .. }
            | Form::AccFreeze
            | Form::AccInj { .. }
            | Form::AccPayload { .. } => {
                let results = self.simple(op)?;
                self.finish(op, results);
                Ok(())
            }
        }
    }

    fn checked_size(&mut self, src: &Src, span: Span) -> Result<i64, RuntimeError> {
        let n = self.size(src);
        if n < 0 { Err(fail::negative_size(span, n)) } else { Ok(n) }
    }

    /// Builders for the results of a statement from number `skip` on, which are tables.
    fn builders(&self, op: &Op, skip: usize, n: i64) -> Result<Vec<Builder>, RuntimeError> {
        let tables = op.outs.get(skip..).unwrap_or(&[]).iter().map(|out| {
            let Ty::Table(_, elem) = &out.ty else { panic!("not a table: {:?}", out.ty) };
            let n = usize::try_from(n).unwrap_or(usize::MAX);
            Builder::new(elem.dims().1, self.dims(elem), n, self.account).map_err(|error| error.at(op.span))
        });
        tables.collect()
    }

    /// Takes the results of the top frame's block; the results of the run at its end.
    fn block_ends(&mut self, results: Vec<Item>) -> Result<Option<Vec<Value>>, RuntimeError> {
        let frame = self.frames.pop().expect("a frame is under way");
        match frame.then {
            Then::Return => {
                self.calls.pop();
                if self.frames.is_empty() {
                    return Ok(Some(results.into_iter().map(into_value).collect()));
                }
                self.finish(self.current_op(), results);
            }
            Then::Arm => self.finish(self.current_op(), results),
            Then::For { i, n, var, mut tables } => {
                let op = self.current_op();
                self.collect(&mut tables, results, op.span)?;
                if i + 1 == n {
                    self.finish(op, tables.into_iter().map(|t| Item::Value(t.finish())).collect());
                } else {
                    self.check_cancelled(op.span)?;
                    self.slots()[var] = Item::Value(Value::Int(i + 1));
                    self.push(frame.block, Then::For { i: i + 1, n, var, tables });
                }
            }
            Then::Reduce(state) => self.element(*state, results)?,
            Then::Loop(state) => self.round_ends(*state, results)?,
        }
        Ok(None)
    }

    /// Puts an element each into tables. Scalars and what is copied out of shared tables count.
    fn collect(&mut self, tables: &mut [Builder], items: Vec<Item>, span: Span) -> Result<(), RuntimeError> {
        for (table, item) in tables.iter_mut().zip(items) {
            let value = into_value(item);
            self.ops +=
                if value.as_table().is_none_or(crate::value::Table::is_shared) { value.weight() } else { 0 };
            table.push(&value).map_err(|error| error.at(span))?;
        }
        Ok(())
    }

    /// Takes the results of a reduction's body, or of the block that combines.
    fn element(&mut self, mut state: Reduction<'c>, results: Vec<Item>) -> Result<(), RuntimeError> {
        let op = self.current_op();
        if state.combining {
            state.custom = results;
            state.combining = false;
        } else {
            self.ops += results.len() as u64;
            if let Combine::Custom { left, right, body } = state.op {
                let acc = std::mem::take(&mut state.custom);
                self.bind(left, acc);
                self.bind(right, results);
                state.combining = true;
                self.push(body, Then::Reduce(Box::new(state)));
                return Ok(());
            }
            for (fold, x) in state.folds.iter_mut().zip(results) {
                let x = into_value(x);
                if state.prefixes.is_some() { fold.run_on(&x) } else { fold.push(&x) }
            }
        }
        if let Some(tables) = &mut state.prefixes {
            let so_far = state.folds.iter().filter_map(Folding::so_far).map(Item::Value);
            let items = state.custom.iter().cloned().chain(so_far).collect();
            self.collect(tables, items, op.span)?;
        }
        state.i += 1;
        if state.i == state.n {
            return self.reduced(op, state);
        }
        self.check_cancelled(op.span)?;
        self.slots()[state.var] = Item::Value(Value::Int(state.i));
        self.push(state.body, Then::Reduce(Box::new(state)));
        Ok(())
    }

    /// Ends a reduction.
    fn reduced(&mut self, op: &Op, state: Reduction<'c>) -> Result<(), RuntimeError> {
        if let Some(tables) = state.prefixes {
            self.finish(op, tables.into_iter().map(|t| Item::Value(t.finish())).collect());
            return Ok(());
        }
        let mut results = state.custom;
        for (fold, out) in state.folds.into_iter().zip(&op.outs) {
            results.push(Item::Value(fold.finish(&out.ty, op.span)?));
        }
        self.finish(op, results);
        Ok(())
    }

    /// Starts the next round of a loop, or its test, or ends it.
    fn next_round(
        &mut self,
        op: &Op,
        mut looping: Looping<'c>,
        state: Vec<Item>,
    ) -> Result<(), RuntimeError> {
        match &mut looping.kind {
            Kind::For { var, n, reverse } => {
                if looping.rounds == *n {
                    return self.looped(op, looping, state);
                }
                let i = if *reverse { *n - 1 - looping.rounds } else { looping.rounds };
                self.slots()[*var] = Item::Value(Value::Int(i));
                self.bind(looping.state, state);
                self.push(looping.body, Then::Loop(Box::new(looping)));
            }
            Kind::While { params, cond, testing } => {
                *testing = true;
                let (params, cond) = (*params, *cond);
                self.bind(params, state.clone());
                self.bind(looping.state, state);
                self.push(cond, Then::Loop(Box::new(looping)));
            }
        }
        Ok(())
    }

    /// Takes the results of a loop's body or condition.
    fn round_ends(&mut self, mut looping: Looping<'c>, mut results: Vec<Item>) -> Result<(), RuntimeError> {
        let op = self.current_op();
        if let Kind::While { params, testing, .. } = &mut looping.kind
            && *testing
        {
            *testing = false;
            let go_on =
                results.pop().map(into_value).and_then(|v| v.as_bool()).expect("a condition is a Bool");
            let params = *params;
            // The parameters of the condition are done, so that the state is held once.
            self.bind(params, params.iter().map(|_| Item::Empty).collect());
            if go_on {
                self.push(looping.body, Then::Loop(Box::new(looping)));
                return Ok(());
            }
            let state = looping.state.iter().map(|slot| self.read(&Src::Take(*slot))).collect();
            return self.looped(op, looping, state);
        }
        let collected = results.split_off(looping.state.len());
        self.collect(&mut looping.tables, collected, op.span)?;
        looping.rounds += 1;
        self.check_cancelled(op.span)?;
        self.next_round(op, looping, results)
    }

    /// Ends a loop.
    fn looped(&mut self, op: &Op, looping: Looping<'c>, state: Vec<Item>) -> Result<(), RuntimeError> {
        let mut results = state;
        if let Kind::While { .. } = looping.kind {
            results.push(Item::Value(Value::Int(looping.rounds)));
        }
        // What is collected stands at its index, also when the loop runs downwards.
        let downwards = matches!(looping.kind, Kind::For { reverse: true, .. });
        let table = |t: super::table::Builder| if downwards { t.finish_reversed() } else { t.finish() };
        results.extend(looping.tables.into_iter().map(|t| Item::Value(table(t))));
        self.finish(op, results);
        Ok(())
    }

    /// The operands of a statement.
    pub(super) fn operands(&mut self, op: &Op) -> Vec<Item> {
        op.args.iter().map(|src| self.read(src)).collect()
    }
}

/// The value an item holds.
pub(super) fn into_value(item: Item) -> Value {
    match item {
        Item::Value(value) => value,
        Item::Empty | Item::Acc(_) => panic!("{item:?} is no value"),
    }
}

fn payload_of(sum: Arc<crate::value::Tagged>) -> Vec<Value> {
    match Arc::try_unwrap(sum) {
        Ok(sum) => sum.payload,
        Err(shared) => shared.payload.clone(),
    }
}

fn start_of(op: &Combine) -> Option<Start> {
    match op {
        Combine::Sum => Some(Start::Sum),
        Combine::Prod => Some(Start::Prod),
        Combine::Min => Some(Start::Min),
        Combine::Max => Some(Start::Max),
        Combine::And => Some(Start::And),
        Combine::Or => Some(Start::Or),
        Combine::Custom { .. } => None,
    }
}
