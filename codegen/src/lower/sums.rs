//! Tangents as wholes: zeros and sums.

use adl_core::build::Builder;
use adl_core::ir::{self, Atom, Var};
use adl_core::prim::Inst;
use adl_core::ty::{BoxTy, PackTy, Scalar, Ty};
use adl_diag::Span;

use super::element::Target;
use super::{Lower, split};
use crate::loops::{Const, Fail, Op, Reg};
use crate::repr::{self, Kind, Part};

/// The function that adds two cells of a kind.
pub(super) fn adder(core: &ir::Program, cell: BoxTy) -> ir::Func {
    let (x, y) = (Var::named("x", Ty::Box(cell)), Var::named("y", Ty::Box(cell)));
    let content = cell.content(&core.boxes);
    let mut b = Builder::new(Span::default());
    let xs = b.bind_all(&content, ir::Expr::Unbox((&x).into()));
    let ys = b.bind_all(&content, ir::Expr::Unbox((&y).into()));
    let sums = content.iter().zip(xs.into_iter().zip(ys));
    let args = sums.map(|(ty, (x, y))| b.bind(ty.clone(), ir::Expr::AddCt(x, y))).collect();
    let sum = b.bind(Ty::Box(cell), ir::Expr::BoxNew { ty: cell, args });
    let name = format!("add.cells.{}.{}", cell.id, cell.order);
    let body = b.finish(vec![sum]);
    ir::Func { name, tparams: vec![], params: vec![x, y], body, span: Span::default() }
}

/// The alternative of a tangent sum that stands for zero.
pub(super) const ZERO_TAG: i64 = 0;

impl Lower<'_> {
    pub(super) fn zero_of(&mut self, vars: &[Var], ty: &Ty) -> Vec<Var> {
        let dest = self.dest.remove(&vars[0]);
        let is_placed = dest.is_some();
        let regs = match (ty, dest) {
            (Ty::Table(..), Some(regs)) => {
                let parts = repr::parts(ty);
                for (part, regs) in split(&parts, &regs) {
                    let Part::Table { elem, dims, .. } = part else {
                        unreachable!("a table has tables as parts")
                    };
                    let n = self.product(dims);
                    self.emit(Op::Clear { dst: regs[1], n, bytes: elem.bytes() });
                }
                regs
            }
            (Ty::Table(..), None) => self.alloc(ty, true),
            _ => {
                // A sum is zero by its tag; the zero of a bundle has no elements.
                let parts = repr::parts(ty);
                let kinds: Vec<Kind> = parts.iter().flat_map(Part::kinds).copied().collect();
                kinds.into_iter().map(|kind| self.zero(kind)).collect()
            }
        };
        self.bind(vars, regs);
        self.owned_unless_placed(vars, is_placed)
    }

    pub(super) fn add_ct(&mut self, vars: &[Var], x: &Atom, y: &Atom) -> Vec<Var> {
        let (ty, x, y) = (vars[0].ty().clone(), self.atom(x), self.atom(y));
        let sum = self.sum_of(&ty, &x, &y);
        self.bind(vars, sum);
        super::forms::counted(vars)
    }

    /// The sum of two values of a type, owned.
    fn sum_of(&mut self, ty: &Ty, x: &[Reg], y: &[Reg]) -> Vec<Reg> {
        match ty {
            Ty::Scalar(scalar) if scalar.is_number() => vec![self.inst(Inst::Add, *scalar, &[x[0], y[0]])],
            Ty::Scalar(_) => x.to_vec(),
            Ty::Table(_, elem) => self.sum_of_tables(ty, elem, x, y),
            Ty::Sum(alts) => self.sum_of_sums(ty, alts, x, y),
            Ty::Pack(pack) => self.sum_of_packs(ty, pack, x, y),
            Ty::Box(cell) => {
                self.emit(Op::Retain { ptr: x[0] });
                self.emit(Op::Retain { ptr: y[0] });
                vec![self.sum_of_cells(*cell, x[0], y[0])]
            }
            Ty::Acc(_)
            | Ty::Tuple(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => {
                unreachable!("lint: no sum of {ty:?} (C3)")
            }
        }
    }

    /// The sum of two cells, which are taken over: a call, since there is no end to what they hold.
    pub(super) fn sum_of_cells(&mut self, cell: BoxTy, x: Reg, y: Reg) -> Reg {
        let known = self.adders.iter().position(|c| *c == cell);
        let number = known.unwrap_or_else(|| {
            self.adders.push(cell);
            self.adders.len() - 1
        });
        let (dst, site) = (self.reg(Kind::I64), self.site);
        let func = self.first_adder + number as u32;
        self.emit(Op::Call { func, args: vec![x, y], dsts: vec![dst], site });
        dst
    }

    fn sum_of_tables(&mut self, ty: &Ty, elem: &Ty, x: &[Reg], y: &[Reg]) -> Vec<Reg> {
        let out = self.alloc(ty, false);
        let (sizes, leaf) = repr::dims(ty);
        if let Ty::Scalar(scalar) = leaf {
            let n = self.product(&sizes);
            let (scalar, kind) = (*scalar, repr::Elem::Kind(Kind::of(*scalar)));
            self.each(n, |this, k| {
                let (a, b) = (this.load(kind, x[1], k), this.load(kind, y[1], k));
                let sum = if scalar.is_number() { this.inst(Inst::Add, scalar, &[a, b]) } else { a };
                this.emit(Op::Store { src: sum, base: out[1], index: k });
            });
            return out;
        }
        let n = self.scalar(&sizes[0]);
        let parts = repr::parts(ty);
        let target = Target { parts: parts.clone(), regs: out.clone(), rank: 1 };
        self.each(n, |this, k| {
            let a = this.read(&parts, x, 1, k, elem);
            let b = this.read(&parts, y, 1, k, elem);
            let sum = this.sum_of(elem, &a, &b);
            this.write(&target, k, elem, &sum, false);
            if repr::is_counted(elem) {
                this.release_parts(&repr::parts(elem), &sum);
            }
        });
        out
    }

    fn sum_of_sums(&mut self, ty: &Ty, alts: &[Vec<Ty>], x: &[Reg], y: &[Reg]) -> Vec<Reg> {
        let parts = repr::parts(ty);
        let out = self.fresh(&parts);
        let whole = |this: &mut Self, from: &[Reg]| {
            for (dst, src) in out.iter().zip(from) {
                this.emit(Op::Move { dst: *dst, src: *src });
            }
        };
        let counted = repr::is_counted(ty);
        let copy = |this: &mut Self, from: &[Reg]| {
            if counted {
                this.retain(&parts, from);
            }
            whole(this, from);
        };
        let (x_zero, y_zero) = (self.equals(x[0], ZERO_TAG), self.equals(y[0], ZERO_TAG));
        self.branch(
            x_zero,
            |this| copy(this, y),
            |this| {
                this.branch(
                    y_zero,
                    |this| copy(this, x),
                    |this| {
                        let differ = this.int_inst(Inst::Ne, x[0], y[0]);
                        this.fail_if(differ, Fail::Constructors, &[]);
                        let kinds: Vec<Kind> = parts.iter().flat_map(Part::kinds).copied().collect();
                        let nothing: Vec<Reg> = kinds.into_iter().map(|kind| this.zero(kind)).collect();
                        whole(this, &nothing);
                        this.emit(Op::Move { dst: out[0], src: x[0] });
                        this.add_payloads(ty, alts, &out, x, y);
                    },
                );
            },
        );
        out
    }

    /// Where the sizes differ, one is the zero that has none.
    pub(super) fn sum_of_packs(&mut self, ty: &Ty, pack: &PackTy, x: &[Reg], y: &[Reg]) -> Vec<Reg> {
        let parts = repr::parts(ty);
        let out = self.fresh(&parts);
        let n = pack.sizes.len();
        let (same, empty) = (self.reg(Kind::I8), self.reg(Kind::I8));
        for dst in [same, empty] {
            self.emit(Op::Const { dst, value: Const::I8(true) });
        }
        for (x, y) in x[..n].iter().zip(&y[..n]) {
            let equal = self.int_inst(Inst::Eq, *x, *y);
            let none = self.equals(*x, 0);
            for (dst, test) in [(same, equal), (empty, none)] {
                let src = self.inst(Inst::And, Scalar::Bool, &[dst, test]);
                self.emit(Op::Move { dst, src });
            }
        }
        let give = |this: &mut Self, from: &[Reg]| {
            for (dst, src) in out.iter().zip(from) {
                this.emit(Op::Move { dst: *dst, src: *src });
            }
        };
        let share = |this: &mut Self, from: &[Reg]| {
            this.retain(&parts, from);
            give(this, from);
        };
        self.branch(
            same,
            |this| {
                this.bind_sizes(ty, x);
                let (mut sum, mut at) = (x[..n].to_vec(), n);
                for item in &pack.items {
                    let end = at + repr::width(&repr::parts(item));
                    sum.extend(this.sum_of(item, &x[at..end], &y[at..end]));
                    at = end;
                }
                give(this, &sum);
            },
            |this| this.branch(empty, |this| share(this, y), |this| share(this, x)),
        );
        out
    }

    fn add_payloads(&mut self, ty: &Ty, alts: &[Vec<Ty>], out: &[Reg], x: &[Reg], y: &[Reg]) {
        for (tag, alt) in alts.iter().enumerate().skip(1) {
            let is_it = self.equals(x[0], tag as i64);
            let (start, _) = repr::alternative(alts, tag as u32);
            let mut at = repr::width(&repr::parts(ty)[..start]);
            self.when(is_it, |this| {
                for component in alt {
                    let end = at + repr::width(&repr::parts(component));
                    let sum = this.sum_of(component, &x[at..end], &y[at..end]);
                    for (dst, src) in out[at..end].iter().zip(sum) {
                        this.emit(Op::Move { dst: *dst, src });
                    }
                    at = end;
                }
            });
        }
    }
}
