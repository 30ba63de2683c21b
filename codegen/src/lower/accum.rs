//! Accumulators: buffers that additions go into.

use adl_core::ir::{Atom, Var};
use adl_core::prim::Inst;
use adl_core::ty::{BoxTy, PackTy, Ty};

use super::sums::ZERO_TAG;
use super::{Lower, split};
use crate::loops::{Fail, Op, Reg};
use crate::repr::{self, Elem, Kind, Part};

impl Lower<'_> {
    pub(super) fn acc_new(&mut self, vars: &[Var], ty: &Ty) -> Vec<Var> {
        let regs = self.alloc(&Ty::Acc(Box::new(ty.clone())), true);
        self.bind(vars, regs);
        vec![]
    }

    pub(super) fn acc_from(&mut self, vars: &[Var], value: &Atom, dying: &mut Vec<Var>) -> Vec<Var> {
        let (ty, regs) = (value.ty(), self.atom(value));
        let (_, leaf) = repr::dims(&ty);
        if !ty.is_table() || leaf.scalar().is_none() {
            self.acc_new(vars, &ty);
            let acc = self.env[&vars[0]].clone();
            self.acc_add(&ty, &acc, &regs);
            return vec![];
        }
        let part = repr::parts(&ty).remove(0);
        if !value.var().is_some_and(|var| self.dies(var, dying)) {
            let copy = self.copied(&part, &regs, true);
            self.bind(vars, copy);
            return vec![];
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
            |this| keep(this, &regs),
            |this| {
                let copy = this.copied(&part, &regs, true);
                this.emit(Op::Release { ptr: regs[0] });
                keep(this, &copy);
            },
        );
        self.bind(vars, kept.to_vec());
        vec![]
    }

    /// The part of an accumulator at an index, as an accumulator of type `ty`.
    pub(super) fn acc_view(&mut self, acc: &Atom, index: &[Atom], check: bool, ty: &Ty) -> Vec<Reg> {
        let regs = self.atom(acc);
        if index.is_empty() {
            return regs;
        }
        let Ty::Acc(of) = acc.ty() else { unreachable!("lint: an accumulator") };
        let (sizes, _) = repr::dims(&of);
        let linear = self.linear(&sizes, index, check);
        self.read(&repr::parts(&acc.ty()), &regs, index.len(), linear, ty)
    }

    /// Adds a value of type `ty` to an accumulator of that type.
    pub(super) fn acc_add(&mut self, ty: &Ty, acc: &[Reg], value: &[Reg]) {
        match ty {
            Ty::Scalar(scalar) if scalar.is_number() => {
                let zero = self.int(0);
                let old = self.load(Elem::Kind(Kind::of(*scalar)), acc[1], zero);
                let sum = self.inst(Inst::Add, *scalar, &[old, value[0]]);
                self.emit(Op::Store { src: sum, base: acc[1], index: zero });
            }
            Ty::Scalar(_) => {}
            Ty::Table(_, elem) => self.acc_add_table(ty, elem, acc, value),
            Ty::Sum(alts) => self.acc_add_sum(ty, alts, acc, value),
            Ty::Pack(pack) => self.acc_add_pack(ty, pack, acc, value),
            Ty::Box(cell) => self.acc_add_cell(*cell, acc, value[0]),
            Ty::Acc(_)
            | Ty::Tuple(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => unreachable!("lint: no accumulator of {ty:?} (C6)"),
        }
    }

    /// Nothing is known of the sum before the first addition.
    fn acc_add_cell(&mut self, cell: BoxTy, acc: &[Reg], value: Reg) {
        let zero = self.int(0);
        let old = self.load(Elem::Ref, acc[1], zero);
        let unset = self.equals(old, 0);
        self.emit(Op::Retain { ptr: value });
        self.branch(
            unset,
            |this| this.emit(Op::Store { src: value, base: acc[1], index: zero }),
            |this| {
                // The sum takes the old one over.
                this.emit(Op::Store { src: zero, base: acc[1], index: zero });
                let sum = this.sum_of_cells(cell, old, value);
                this.emit(Op::Store { src: sum, base: acc[1], index: zero });
            },
        );
    }

    /// The first bundle with something in it tells the sizes.
    fn acc_add_pack(&mut self, ty: &Ty, pack: &PackTy, acc: &[Reg], value: &[Reg]) {
        self.bind_sizes(ty, value);
        let n = pack.sizes.len();
        let zero = self.int(0);
        if pack.items.iter().any(|item| !matches!(item, Ty::Table(..))) {
            return self.acc_add_bundle(ty, pack, acc, value);
        }
        let (mut at, mut from) = (2 * n, n);
        for item in &pack.items {
            let parts = repr::parts(item);
            let (cells, regs) = (&acc[at..at + 2 * parts.len()], &value[from..from + repr::width(&parts)]);
            (at, from) = (at + cells.len(), from + regs.len());
            let nothing = self.equals(regs[1], 0);
            self.branch(
                nothing,
                |_| {},
                |this| {
                    let old = this.load(Elem::Ref, cells[1], zero);
                    let unset = this.equals(old, 0);
                    this.when(unset, |this| {
                        for (size, cell) in value[..n].iter().zip(acc.chunks(2)) {
                            this.emit(Op::Store { src: *size, base: cell[1], index: zero });
                        }
                        for (part, cell) in parts.iter().zip(cells.chunks(2)) {
                            let fresh = this.alloc_part(part, true);
                            this.emit(Op::Store { src: fresh[0], base: cell[1], index: zero });
                        }
                    });
                    let mut inner = vec![];
                    for cell in cells.chunks(2) {
                        let buffer = this.load(Elem::Ref, cell[1], zero);
                        inner.extend([buffer, buffer]);
                    }
                    this.acc_add(item, &inner, regs);
                },
            );
        }
    }

    /// Adds a bundle of anything as a whole: the sum takes the place of the old one.
    fn acc_add_bundle(&mut self, ty: &Ty, pack: &PackTy, acc: &[Reg], value: &[Reg]) {
        let parts = repr::parts(ty);
        // A table that is always there tells the zero of a bundle, which has no elements, from others.
        let is_sure = |part: &Part| matches!(part, Part::Table { maybe: false, .. });
        let Some(sure) = parts.iter().position(is_sure) else {
            return self.acc_replace(ty, pack, acc, value);
        };
        let owner = value[repr::width(&parts[..sure])];
        let nothing = self.equals(owner, 0);
        self.branch(
            nothing,
            |_| {},
            |this| {
                let zero = this.int(0);
                let old = this.load(Elem::Ref, acc[2 * sure + 1], zero);
                let unset = this.equals(old, 0);
                this.branch(
                    unset,
                    |this| this.acc_store(ty, acc, value),
                    |this| this.acc_replace(ty, pack, acc, value),
                );
            },
        );
    }

    fn acc_replace(&mut self, ty: &Ty, pack: &PackTy, acc: &[Reg], value: &[Reg]) {
        let parts = repr::parts(ty);
        let zero = self.int(0);
        let mut old = vec![];
        for (part, cell) in parts.iter().zip(acc.chunks(2)) {
            let held = self.load(elem_of(part), cell[1], zero);
            old.extend(part.kinds().iter().map(|_| held));
        }
        let sum = self.sum_of_packs(ty, pack, &old, value);
        self.bind_sizes(ty, &sum);
        self.acc_store(ty, acc, &sum);
        self.release_parts(&parts, &sum);
        self.release_parts(&parts, &old);
    }

    /// Puts a value into the cells of a bundle's accumulator; what they held is not given up.
    fn acc_store(&mut self, ty: &Ty, acc: &[Reg], value: &[Reg]) {
        let parts = repr::parts(ty);
        let zero = self.int(0);
        for ((part, own), cell) in split(&parts, value).zip(acc.chunks(2)) {
            let src = if part.is_counted() { self.stored_pointer(part, own) } else { own[0] };
            self.emit(Op::Store { src, base: cell[1], index: zero });
        }
    }

    fn acc_add_table(&mut self, ty: &Ty, elem: &Ty, acc: &[Reg], value: &[Reg]) {
        let (sizes, leaf) = repr::dims(ty);
        if let Ty::Scalar(scalar) = leaf {
            if !scalar.is_number() {
                return;
            }
            let n = self.product(&sizes);
            let (scalar, kind) = (*scalar, Elem::Kind(Kind::of(*scalar)));
            self.each(n, |this, k| {
                let (old, x) = (this.load(kind, acc[1], k), this.load(kind, value[1], k));
                let sum = this.inst(Inst::Add, scalar, &[old, x]);
                this.emit(Op::Store { src: sum, base: acc[1], index: k });
            });
            return;
        }
        let n = self.scalar(&sizes[0]);
        let parts = repr::parts(ty);
        let inner = Ty::Acc(Box::new(elem.clone()));
        self.each(n, |this, k| {
            let acc = this.read(&parts, acc, 1, k, &inner);
            let x = this.read(&parts, value, 1, k, elem);
            this.acc_add(elem, &acc, &x);
        });
    }

    fn acc_add_sum(&mut self, ty: &Ty, alts: &[Vec<Ty>], acc: &[Reg], value: &[Reg]) {
        let tag = value[0];
        let something = self.int(ZERO_TAG);
        let something = self.int_inst(Inst::Ne, tag, something);
        self.when(something, |this| {
            this.choose_alternative(acc, tag);
            for (number, alt) in alts.iter().enumerate().skip(1) {
                let is_it = this.equals(tag, number as i64);
                this.when(is_it, |this| {
                    let (start, _) = repr::alternative(alts, number as u32);
                    let mut from = repr::width(&repr::parts(ty)[..start]);
                    let mut at = 2 * start;
                    for component in alt {
                        let parts = repr::parts(component);
                        let (to, end) = (at + 2 * parts.len(), from + repr::width(&parts));
                        this.acc_add(component, &acc[at..to], &value[from..end]);
                        (at, from) = (to, end);
                    }
                });
            }
        });
    }

    /// Makes a sum's accumulator one of this alternative, if it is not yet one.
    fn choose_alternative(&mut self, acc: &[Reg], tag: Reg) {
        let zero = self.int(0);
        let old = self.load(Elem::Kind(Kind::I64), acc[1], zero);
        let unset = self.equals(old, ZERO_TAG);
        self.branch(
            unset,
            |this| this.emit(Op::Store { src: tag, base: acc[1], index: zero }),
            |this| {
                let differ = this.int_inst(Inst::Ne, old, tag);
                this.fail_if(differ, Fail::Constructors, &[]);
            },
        );
    }

    pub(super) fn acc_freeze(&mut self, vars: &[Var], acc: &Atom) -> Vec<Var> {
        let regs = self.atom(acc);
        let ty = vars[0].ty().clone();
        let value = self.frozen(&ty, &regs);
        self.bind(vars, value);
        super::forms::counted(vars)
    }

    /// The value in an accumulator, which gives up its buffers.
    fn frozen(&mut self, ty: &Ty, acc: &[Reg]) -> Vec<Reg> {
        match ty {
            Ty::Table(..) => acc.to_vec(),
            Ty::Sum(alts) => {
                let mut out = self.out_of_cell(Elem::Kind(Kind::I64), &acc[..2]);
                let mut at = 2;
                for component in alts.iter().flatten() {
                    let end = at + 2 * repr::parts(component).len();
                    let own = self.frozen(component, &acc[at..end]);
                    // Written again below where the sum is another alternative.
                    for src in own {
                        let dst = self.reg(self.kind(src));
                        self.emit(Op::Move { dst, src });
                        out.push(dst);
                    }
                    at = end;
                }
                self.forget_others(alts, &repr::parts(ty), &out);
                out
            }
            Ty::Pack(_) => {
                let mut out = vec![];
                for (part, cell) in repr::parts(ty).iter().zip(acc.chunks(2)) {
                    let held = self.out_of_cell(elem_of(part), cell)[0];
                    out.extend(part.kinds().iter().map(|_| held));
                }
                out
            }
            Ty::Scalar(scalar) => self.out_of_cell(Elem::Kind(Kind::of(*scalar)), acc),
            Ty::Box(_) => self.out_of_cell(Elem::Ref, acc),
            Ty::Acc(_)
            | Ty::Tuple(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => unreachable!("lint: no accumulator of {ty:?} (C6)"),
        }
    }

    /// What a cell holds; the cell is given up, but not what it points to.
    fn out_of_cell(&mut self, elem: Elem, cell: &[Reg]) -> Vec<Reg> {
        let zero = self.int(0);
        let held = self.load(elem, cell[1], zero);
        if elem == Elem::Ref {
            self.emit(Op::Store { src: zero, base: cell[1], index: zero });
        }
        self.emit(Op::Release { ptr: cell[0] });
        vec![held]
    }

    /// Gives up the tables of the alternatives that a sum is not.
    fn forget_others(&mut self, alts: &[Vec<Ty>], parts: &[Part], regs: &[Reg]) {
        let mut at = 1;
        for (tag, alt) in alts.iter().enumerate() {
            let count: usize = alt.iter().map(|ty| repr::parts(ty).len()).sum();
            let own = &parts[at..at + count];
            let from = repr::width(&parts[..at]);
            let own_regs: Vec<Reg> = regs[from..from + repr::width(own)].to_vec();
            at += count;
            if !own.iter().any(Part::is_counted) {
                continue;
            }
            let is_it = self.equals(regs[0], tag as i64);
            self.branch(
                is_it,
                |_| {},
                |this| {
                    this.release_parts(own, &own_regs);
                    for (part, regs) in split(own, &own_regs) {
                        if part.is_counted() {
                            for dst in regs {
                                let src = this.int(0);
                                this.emit(Op::Move { dst: *dst, src });
                            }
                        }
                    }
                },
            );
        }
    }

    /// The accumulator of an alternative, made of those of its payload. Its tag is a cell that is not
    /// frozen but given up at the end of the block.
    pub(super) fn acc_inj(&mut self, vars: &[Var], ty: &Ty, tag: u32, accs: &[Atom]) -> Vec<Var> {
        let sum = if let Ty::Acc(of) = ty { (**of).clone() } else { ty.clone() };
        let Ty::Sum(alts) = &sum else { unreachable!("lint: an alternative of a sum") };
        let (start, own) = repr::alternative(alts, tag);
        let cell = self.alloc(&Ty::Acc(Box::new(adl_core::ty::INT)), false);
        self.scratch.push(cell[0]);
        let (zero, number) = (self.int(0), self.int(i64::from(tag)));
        self.emit(Op::Store { src: number, base: cell[1], index: zero });
        let payload: Vec<Reg> = accs.iter().flat_map(|acc| self.atom(acc)).collect();
        let mut regs = cell;
        for i in 1..repr::parts(&sum).len() {
            if start <= i && i < start + own.len() {
                regs.extend_from_slice(&payload[2 * (i - start)..2 * (i - start) + 2]);
            } else {
                regs.extend([zero, zero]);
            }
        }
        self.bind(vars, regs);
        vec![]
    }

    pub(super) fn acc_payload(&mut self, vars: &[Var], acc: &Atom, tag: u32) -> Vec<Var> {
        let regs = self.atom(acc);
        let Ty::Acc(of) = acc.ty() else { unreachable!("lint: an accumulator") };
        let Ty::Sum(alts) = &*of else { unreachable!("lint: the accumulator of a sum") };
        let number = self.int(i64::from(tag));
        self.choose_alternative(&regs, number);
        let (start, own) = repr::alternative(alts, tag);
        self.bind(vars, regs[2 * start..2 * (start + own.len())].to_vec());
        vec![]
    }
}

/// How a cell holds a part: a table by its buffer.
pub(super) fn elem_of(part: &Part) -> Elem {
    match part {
        Part::Scalar(kind) => Elem::Kind(*kind),
        Part::Table { .. } | Part::Cell => Elem::Ref,
    }
}
