//! The forms: one statement each.

use adl_core::bulk::Bulk;
use adl_core::ir::{Atom, Effect, Expr, Stmt, Var};
use adl_core::prim::{Inst, Kernel, Prim};
use adl_core::ty::{Scalar, Ty};

use super::accum::elem_of;
use super::element::Target;
use super::{Lower, split};
use crate::loops::{Fail, Op, Reg, Service};
use crate::repr::{self, Elem, Kind, Part};

impl Lower<'_> {
    /// Lowers a statement; gives the variables it binds that own what they hold. It may take owners off
    /// `dying`, the list of those whose last use this is.
    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    pub(super) fn stmt(&mut self, stmt: &Stmt, dying: &mut Vec<Var>) -> Vec<Var> {
        let vars = stmt.vars.as_slice();
        match &stmt.expr {
            Expr::Atom(a) => {
                let regs = self.atom(a);
                self.bind(vars, regs);
                vec![]
            }
            Expr::Prim(prim, args) => {
                let dst = self.prim(*prim, args);
                self.bind(vars, vec![dst]);
                vec![]
            }
            Expr::Inject { ty, tag, args } => self.inject(vars, ty, *tag, args, dying),
            Expr::Case { scrut, arms } => self.case(vars, scrut, arms, dying),
            Expr::For { ix, var, body } => self.build(vars, ix, var, body),
            Expr::Index { table, index, check } => {
                let (sizes, _) = repr::dims(&table.ty());
                let linear = self.linear(&sizes, index, *check);
                let (parts, regs) = (repr::parts(&table.ty()), self.atom(table));
                let regs = self.read(&parts, &regs, index.len(), linear, vars[0].ty());
                self.bind(vars, regs);
                // Noted as borrowed when the block began, where the table is a variable.
                vec![]
            }
            Expr::Reduce { op, ix, var, body } => self.reduce(vars, op, ix, var, body),
            Expr::Prefix { op, ix, var, body } => self.prefix(vars, op, ix, var, body),
            Expr::Contract { a, b, spec } => self.contract(vars, a, b, spec),
            Expr::Bulk(row, args) => self.bulk(vars, *row, args),
            Expr::Loop { kind, state, init, body, .. } => {
                self.looping(vars, kind, (state, init, body), dying)
            }
            Expr::Update { table, index, value, check } => {
                self.update(vars, table, (index, *check), value, dying)
            }
            Expr::TableLit { elem, items } => self.table_lit(vars, elem, items),
            Expr::Pack { sizes, items, .. } => {
                let mut regs: Vec<Reg> = sizes.iter().map(|size| self.scalar(size)).collect();
                for item in items {
                    regs.extend(self.consume(item, dying));
                }
                self.bind(vars, regs);
                counted(vars)
            }
            Expr::Open(pack) => self.open(vars, pack, dying),
            Expr::BoxNew { args, .. } => self.box_new(vars, args),
            Expr::Unbox(cell) => self.unbox(vars, cell),
            Expr::Call { func, args, .. } => {
                let args: Vec<Reg> = args.iter().flat_map(|arg| self.consume(arg, dying)).collect();
                let results: Vec<Part> = vars.iter().flat_map(|var| repr::parts(var.ty())).collect();
                let dsts = self.fresh(&results);
                self.bind(vars, dsts.clone());
                let site = self.site;
                self.emit(Op::Call { func: func.0, args, dsts, site });
                counted(vars)
            }
            Expr::Zero(ty) => self.zero_of(vars, ty),
            Expr::AddCt(x, y) => self.add_ct(vars, x, y),
            Expr::Dup(a) => {
                let regs = self.atom(a);
                self.retain_for(&a.ty(), &regs);
                self.retain_for(&a.ty(), &regs);
                let twice = [regs.clone(), regs].concat();
                self.bind(vars, twice);
                counted(vars)
            }
            Expr::Drop(_) => vec![],
            Expr::Effect(effect) => self.effect(vars, effect),
            Expr::Show { fmt, args } => {
                let tys = args.iter().map(Atom::ty).collect();
                let words = args.iter().flat_map(|arg| self.words(arg)).collect();
                let text = self.service(Service::Show(fmt.clone(), tys), words, &[Kind::I64]);
                self.bind(vars, text);
                vec![]
            }
            Expr::AccNew(ty) => self.acc_new(vars, ty),
            Expr::AccFrom(value) => self.acc_from(vars, value, dying),
            Expr::AccView { acc, index, check } => {
                let regs = self.acc_view(acc, index, *check, vars[0].ty());
                self.bind(vars, regs);
                vec![]
            }
            Expr::AccAdd { acc, index, value, check } => {
                let ty = value.ty();
                let regs = self.acc_view(acc, index, *check, &Ty::Acc(Box::new(ty.clone())));
                let value = self.atom(value);
                self.acc_add(&ty, &regs, &value);
                vec![]
            }
            Expr::AccFreeze(acc) => self.acc_freeze(vars, acc),
            Expr::AccInj { ty, tag, accs } => self.acc_inj(vars, ty, *tag, accs),
            Expr::AccPayload { acc, tag } => self.acc_payload(vars, acc, *tag),
            Expr::Tuple(_)
            | Expr::Record { .. }
            | Expr::Proj(..)
            | Expr::Lambda(_)
            | Expr::Apply { .. }
            | Expr::FuncRef { .. }
            | Expr::Method { .. }
            | Expr::SizeOf(_)
            | Expr::SizeVal(_)
            | Expr::Deriv { .. } => unreachable!("lint: no higher-order form is left (C6)"),
        }
    }

    /// Binds variables to the registers, in order.
    pub(super) fn bind(&mut self, vars: &[Var], regs: Vec<Reg>) {
        let mut rest = regs.into_iter();
        for var in vars {
            let width = repr::width(&repr::parts(var.ty()));
            let own = rest.by_ref().take(width).collect();
            self.env.insert(var.clone(), own);
        }
    }

    fn retain_for(&mut self, ty: &Ty, regs: &[Reg]) {
        if repr::is_counted(ty) {
            self.retain(&repr::parts(ty), regs);
        }
    }

    fn prim(&mut self, prim: Prim, args: &[Atom]) -> Reg {
        let of = args[0].ty().scalar().expect("operands of a primitive are scalars");
        let regs: Vec<Reg> = args.iter().map(|arg| self.scalar(arg)).collect();
        match prim.0.kernel {
            Kernel::Inst(inst @ (Inst::Eq | Inst::Ne | Inst::Lt | Inst::Le)) if of == Scalar::Str => {
                let order = self.service(Service::StrCompare, regs, &[Kind::I64])[0];
                let zero = self.int(0);
                self.int_inst(inst, order, zero)
            }
            Kernel::Inst(inst) => self.inst(inst, of, &regs),
            Kernel::StrCat => self.service(Service::StrCat, regs, &[Kind::I64])[0],
            Kernel::F1(..)
            | Kernel::F2(..)
            | Kernel::FInt(..)
            | Kernel::I1(_)
            | Kernel::I2(_)
            | Kernel::I3(_)
            | Kernel::I2F(_) => {
                let scalars: Vec<Scalar> = args.iter().filter_map(|arg| arg.ty().scalar()).collect();
                let result = prim.0.result(&scalars).expect("lint: operands fit their primitive");
                self.kernel(prim.0, Kind::of(result), regs)
            }
        }
    }

    fn inject(&mut self, vars: &[Var], ty: &Ty, tag: u32, args: &[Atom], dying: &mut Vec<Var>) -> Vec<Var> {
        let Ty::Sum(alts) = ty else { unreachable!("lint: an alternative of a sum") };
        let (start, own) = repr::alternative(alts, tag);
        let parts = repr::parts(ty);
        let mut payload =
            args.iter().flat_map(|arg| self.consume(arg, dying)).collect::<Vec<_>>().into_iter();
        let mut regs = vec![self.int(i64::from(tag))];
        for (i, part) in parts.iter().enumerate().skip(1) {
            for kind in part.kinds() {
                let chosen = start <= i && i < start + own.len();
                let reg = if chosen { payload.next() } else { None };
                regs.push(match reg {
                    Some(reg) => reg,
                    None => self.zero(*kind),
                });
            }
        }
        self.bind(vars, regs);
        counted(vars)
    }

    fn contract(&mut self, vars: &[Var], a: &Atom, b: &Atom, spec: &adl_core::ir::Axes) -> Vec<Var> {
        let (_, leaf) = repr::dims(vars[0].ty());
        let kind = Kind::of(leaf.scalar().expect("a contraction is of floats"));
        // A result that is one number is a table without sizes to the runtime.
        let ty = Ty::Acc(Box::new(vars[0].ty().clone()));
        let dest = self.dest.remove(&vars[0]);
        let is_placed = dest.is_some();
        let out = match dest {
            Some(regs) => regs,
            None => self.alloc(&ty, false),
        };
        let mut words = vec![];
        for operand in [a, b] {
            if operand.ty().is_table() {
                words.extend(self.words(operand));
            } else {
                let cell = self.alloc(&Ty::Acc(Box::new(operand.ty())), false);
                let (zero, value) = (self.int(0), self.scalar(operand));
                self.emit(Op::Store { src: value, base: cell[1], index: zero });
                words.push(cell[1]);
            }
        }
        words.push(out[1]);
        self.service(Service::Contract(spec.clone(), kind), words.clone(), &[]);
        for (operand, word) in [a, b].iter().zip([words[0], words[words.len() - 2]]) {
            if !operand.ty().is_table() {
                self.emit(Op::Release { ptr: word });
            }
        }
        if !vars[0].ty().is_table() {
            let zero = self.int(0);
            let value = self.load(Elem::Kind(kind), out[1], zero);
            self.emit(Op::Release { ptr: out[0] });
            self.bind(vars, vec![value]);
            return vec![];
        }
        self.bind(vars, out);
        self.owned_unless_placed(vars, is_placed)
    }

    fn bulk(&mut self, vars: &[Var], row: Bulk, args: &[Atom]) -> Vec<Var> {
        let tables = &args[row.0.ints..];
        let ranks = tables.iter().map(|a| repr::dims(&a.ty()).0.len()).collect();
        let ty = tables[0].ty();
        let leaf = repr::dims(&ty).1.scalar().expect("a bulk primitive takes floats");
        let kind = Kind::of(leaf);
        let mut words: Vec<Reg> = args.iter().flat_map(|a| self.words(a)).collect();
        let outs: Vec<Vec<Reg>> = vars.iter().map(|v| self.alloc(v.ty(), false)).collect();
        words.extend(outs.iter().map(|regs| regs[1]));
        self.service(Service::Bulk(row, kind, ranks), words, &[]);
        self.bind(vars, outs.concat());
        counted(vars)
    }

    pub(super) fn owned_unless_placed(&mut self, vars: &[Var], is_placed: bool) -> Vec<Var> {
        if is_placed {
            self.placed.extend(vars.iter().cloned());
            return vec![];
        }
        counted(vars)
    }

    fn update(
        &mut self,
        vars: &[Var],
        table: &Atom,
        (index, check): (&[Atom], bool),
        value: &Atom,
        dying: &mut Vec<Var>,
    ) -> Vec<Var> {
        let ty = table.ty();
        let (sizes, _) = repr::dims(&ty);
        let linear = self.linear(&sizes, index, check);
        let parts = repr::parts(&ty);
        let regs = self.atom(table);
        let is_owned = table.var().is_some_and(|var| self.dies(var, dying));
        let mut out = vec![];
        for (part, regs) in split(&parts, &regs) {
            let part = part.clone();
            if !is_owned {
                out.extend(self.copied(&part, regs, true));
                continue;
            }
            let kept = [self.reg(Kind::I64), self.reg(Kind::I64)];
            let unique = self.reg(Kind::I8);
            self.emit(Op::Unique { dst: unique, ptr: regs[0] });
            let keep = |this: &mut Self, from: &[Reg]| {
                this.emit(Op::Move { dst: kept[0], src: from[0] });
                this.emit(Op::Move { dst: kept[1], src: from[1] });
            };
            self.branch(
                unique,
                |this| keep(this, regs),
                |this| {
                    let copy = this.copied(&part, regs, true);
                    this.emit(Op::Release { ptr: regs[0] });
                    keep(this, &copy);
                },
            );
            out.extend(kept);
        }
        let element = self.atom(value);
        let target = Target { parts, regs: out.clone(), rank: index.len() };
        self.write(&target, linear, &value.ty(), &element, true);
        self.bind(vars, out);
        counted(vars)
    }

    fn table_lit(&mut self, vars: &[Var], elem: &Ty, items: &[Atom]) -> Vec<Var> {
        let regs = self.alloc(vars[0].ty(), false);
        let target = Target { parts: repr::parts(vars[0].ty()), regs: regs.clone(), rank: 1 };
        for (i, item) in items.iter().enumerate() {
            let (linear, value) = (self.int(i as i64), self.atom(item));
            let ty = if matches!(elem, Ty::Scalar(_)) { elem.clone() } else { item.ty() };
            self.write(&target, linear, &ty, &value, false);
        }
        self.bind(vars, regs);
        counted(vars)
    }

    fn open(&mut self, vars: &[Var], pack: &Atom, dying: &mut Vec<Var>) -> Vec<Var> {
        let regs = self.atom(pack);
        self.bind(vars, regs);
        let Some(var) = pack.var() else { return vec![] };
        let holders = self.holders(var);
        if self.dies(var, dying) {
            return counted(vars);
        }
        for var in vars.iter().filter(|var| repr::is_counted(var.ty())) {
            self.roots.insert(var.clone(), holders.clone());
        }
        vec![]
    }

    /// Where the parts of a cell lie: counted pointers first. Gives the word of each part.
    fn cell_layout(parts: &[Part]) -> (Vec<u32>, u32) {
        let refs = parts.iter().filter(|part| part.is_counted()).count() as u32;
        let (mut next_ref, mut next) = (0, refs);
        let words = parts.iter().map(|part| {
            let slot = if part.is_counted() { &mut next_ref } else { &mut next };
            *slot += 1;
            *slot - 1
        });
        (words.collect(), refs)
    }

    fn box_new(&mut self, vars: &[Var], args: &[Atom]) -> Vec<Var> {
        let parts: Vec<Part> = args.iter().flat_map(|arg| repr::parts(&arg.ty())).collect();
        let (words, refs) = Self::cell_layout(&parts);
        let (dst, site) = (self.reg(Kind::I64), self.site);
        self.emit(Op::AllocCell { dst, refs, words: parts.len() as u32, site });
        let mut regs = vec![];
        for arg in args {
            let own = self.atom(arg);
            self.bind_sizes(&arg.ty(), &own);
            let own_parts = repr::parts(&arg.ty());
            for (part, own) in split(&own_parts, &own) {
                regs.push(if part.is_counted() { self.stored_pointer(part, own) } else { own[0] });
            }
        }
        for (word, reg) in words.iter().zip(regs) {
            let index = self.word_index(*word, self.kind(reg));
            self.emit(Op::Store { src: reg, base: dst, index });
        }
        self.bind(vars, vec![dst]);
        counted(vars)
    }

    /// The index of a word of eight bytes, in elements of this kind.
    fn word_index(&mut self, word: u32, kind: Kind) -> Reg {
        self.int(i64::from(word * 8 / kind.bytes()))
    }

    /// What is in a cell may outlive it, so it is counted once more.
    fn unbox(&mut self, vars: &[Var], cell: &Atom) -> Vec<Var> {
        let cell = self.scalar(cell);
        let parts: Vec<Part> = vars.iter().flat_map(|var| repr::parts(var.ty())).collect();
        let (words, _) = Self::cell_layout(&parts);
        let mut regs = vec![];
        for (part, word) in parts.iter().zip(words) {
            let elem = elem_of(part);
            let index = self.word_index(word, elem.kind());
            let loaded = self.load(elem, cell, index);
            regs.extend(part.kinds().iter().map(|_| loaded));
        }
        self.retain(&parts, &regs);
        self.bind(vars, regs);
        counted(vars)
    }

    /// A value as words for the runtime: a table is its first element and its sizes.
    pub(super) fn words(&mut self, atom: &Atom) -> Vec<Reg> {
        let regs = self.atom(atom);
        self.bind_sizes(&atom.ty(), &regs);
        let parts = repr::parts(&atom.ty());
        let mut words = vec![];
        for (part, regs) in split(&parts, &regs) {
            match part {
                Part::Scalar(_) | Part::Cell => words.push(regs[0]),
                Part::Table { dims, .. } => {
                    words.push(regs[1]);
                    words.extend(self.sizes(dims));
                }
            }
        }
        words
    }

    fn effect(&mut self, vars: &[Var], effect: &Effect) -> Vec<Var> {
        let site = self.site;
        match effect {
            Effect::Error(message) => {
                let message = self.scalar(message);
                self.emit(Op::Fail { fail: Fail::Error, args: vec![message], site });
                // What it binds is never read, but is written all the same (L1).
                let parts: Vec<Part> = vars.iter().flat_map(|var| repr::parts(var.ty())).collect();
                let regs = parts.iter().flat_map(Part::kinds).map(|kind| self.zero(*kind)).collect();
                self.bind(vars, regs);
                return counted(vars);
            }
            Effect::Assert { cond, msg } => {
                let (cond, message) = (self.scalar(cond), self.scalar(msg));
                let fails = self.inst(Inst::Not, Scalar::Bool, &[cond]);
                self.fail_if(fails, Fail::Assertion, &[message]);
            }
            Effect::CheckSize { left, right, what } => {
                let (left, right) = (self.scalar(left), self.scalar(right));
                let differ = self.int_inst(Inst::Ne, left, right);
                let number = self.out.whats.len() as u32;
                self.out.whats.push(what.clone());
                self.fail_if(differ, Fail::SizesDiffer(number), &[left, right]);
            }
            Effect::CheckNonNegative(size) => {
                let size = self.scalar(size);
                self.check_size(size);
            }
            Effect::Trace(text) => {
                let text = self.scalar(text);
                self.service(Service::Trace, vec![text], &[]);
            }
            Effect::Print(text) => {
                let text = self.scalar(text);
                self.service(Service::Print, vec![text], &[]);
            }
            Effect::LoadNpy { path, rank, elem } => {
                let path = self.scalar(path);
                let kinds = vec![Kind::I64; *rank as usize + 1];
                let mut regs = self.service(Service::LoadNpy(*rank, *elem), vec![path], &kinds);
                let buffer = regs[*rank as usize];
                regs.push(buffer);
                self.bind(vars, regs);
                return counted(vars);
            }
        }
        vec![]
    }

    /// Fails on a negative size.
    pub(super) fn check_size(&mut self, size: Reg) {
        let zero = self.int(0);
        let negative = self.int_inst(Inst::Lt, size, zero);
        self.fail_if(negative, Fail::NegativeSize, &[size]);
    }
}

/// Those of the variables that hold counted values.
pub(super) fn counted(vars: &[Var]) -> Vec<Var> {
    vars.iter().filter(|var| repr::is_counted(var.ty())).cloned().collect()
}
