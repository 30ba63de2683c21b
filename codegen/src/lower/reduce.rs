//! Reductions and prefixes.

use adl_core::ir::{Atom, Block, RedOp, Var};
use adl_core::prim::{self, Inst, PrimDef};
use adl_core::ty::{Ix, Scalar, Ty};

use super::element::Target;
use super::{Given, Lower, row_of};
use crate::loops::{Const, Fail, FoldId, FoldOp, Op, Reg, Service};
use crate::repr::{self, Kind, Part};

/// An operation that takes one element after the other.
struct Plain {
    /// What an empty reduction gives; `None` if it fails.
    unit: Option<Const>,
    combine: Combine,
    fail: Fail,
}

enum Combine {
    Inst(Inst, Scalar),
    Row(&'static PrimDef),
    /// The lesser (`IntMin`) or greater of two texts.
    Text(Inst),
}

impl Lower<'_> {
    pub(super) fn reduce(&mut self, vars: &[Var], op: &RedOp, ix: &Ix, var: &Var, body: &Block) -> Vec<Var> {
        match op {
            RedOp::Sum => self.fold(vars, FoldOp::Sum, ix, var, body),
            RedOp::Prod => self.fold(vars, FoldOp::Prod, ix, var, body),
            RedOp::Custom { .. } | RedOp::Min | RedOp::Max | RedOp::And | RedOp::Or => {
                let accs = self.run_on(op, ix, var, body, None);
                self.bind(vars, accs);
            }
        }
        super::forms::counted(vars)
    }

    pub(super) fn prefix(&mut self, vars: &[Var], op: &RedOp, ix: &Ix, var: &Var, body: &Block) -> Vec<Var> {
        let targets: Vec<Target> = vars.iter().map(|var| self.new_target(var)).collect();
        let regs = targets.iter().flat_map(|target| target.regs.clone()).collect();
        let accs = self.run_on(op, ix, var, body, Some(&targets));
        let parts: Vec<Part> = self.elements(op, body).iter().flat_map(repr::parts).collect();
        self.release_parts(&parts, &accs);
        self.bind(vars, regs);
        super::forms::counted(vars)
    }

    /// A sum or product in the fixed order.
    fn fold(&mut self, vars: &[Var], op: FoldOp, ix: &Ix, var: &Var, body: &Block) {
        let n = self.checked_size(ix);
        let mut folds = vec![];
        for var in vars {
            let scalar = var.ty().scalar();
            let fold = FoldId(self.func.folds.len() as u32);
            self.func.folds.push((scalar.map_or(Kind::I64, Kind::of), op));
            self.emit(Op::FoldNew { fold });
            folds.push(fold);
            if !matches!(scalar, Some(Scalar::F64 | Scalar::F32 | Scalar::Int)) {
                self.unsupported("a sum of what is no number");
            }
        }
        let i = self.reg(Kind::I64);
        self.env.insert(var.clone(), vec![i]);
        let code = self.scoped(|this| {
            this.block(body, vec![], |this, results| {
                for (fold, given) in folds.iter().zip(results) {
                    this.emit(Op::FoldPush { fold: *fold, src: given.regs[0] });
                }
            });
        });
        self.emit(Op::For { var: i, n, reverse: false, body: code });
        for (var, fold) in vars.iter().zip(folds) {
            let dst = self.reg(self.func.folds[fold.0 as usize].0);
            self.emit(Op::FoldEnd { dst, fold });
            self.env.insert(var.clone(), vec![dst]);
        }
    }

    /// One element after the other; what is reached each time goes into the targets, if there are any.
    fn run_on(
        &mut self,
        op: &RedOp,
        ix: &Ix,
        var: &Var,
        body: &Block,
        targets: Option<&[Target]>,
    ) -> Vec<Reg> {
        let n = self.checked_size(ix);
        let i = self.reg(Kind::I64);
        self.env.insert(var.clone(), vec![i]);
        let plain: Vec<Plain> = match op {
            RedOp::Custom { .. } => vec![],
            RedOp::Sum | RedOp::Prod | RedOp::Min | RedOp::Max | RedOp::And | RedOp::Or => {
                body.results.iter().map(|x| self.plain(op, x.ty().scalar())).collect()
            }
        };
        let accs = self.start(op, &plain, body, n, targets.is_some());
        let tys = self.elements(op, body);
        let code = self.scoped(|this| {
            this.block(body, vec![], |this, results| {
                if let RedOp::Custom { left, right, body: combine, .. } = op {
                    this.combine_custom(left, right, combine, &accs, results);
                } else {
                    this.combine_plain(&plain, &accs, i, &results);
                }
                let mut at = 0;
                for (target, ty) in targets.unwrap_or(&[]).iter().zip(&tys) {
                    let end = at + repr::width(&repr::parts(ty));
                    this.write(target, i, ty, &accs[at..end], false);
                    at = end;
                }
            });
        });
        self.emit(Op::For { var: i, n, reverse: false, body: code });
        accs
    }

    /// The types of what is combined.
    fn elements(&self, op: &RedOp, body: &Block) -> Vec<Ty> {
        let atoms = if let RedOp::Custom { unit, .. } = op { unit } else { &body.results };
        atoms.iter().map(Atom::ty).collect()
    }

    /// The accumulators with their starting values; fails if there is nothing and that has no value.
    fn start(&mut self, op: &RedOp, plain: &[Plain], body: &Block, n: Reg, prefix: bool) -> Vec<Reg> {
        let mut accs = vec![];
        if let RedOp::Custom { unit, .. } = op {
            for atom in unit {
                for src in self.consume(atom, &mut vec![]) {
                    let dst = self.reg(self.kind(src));
                    self.emit(Op::Move { dst, src });
                    accs.push(dst);
                }
            }
            return accs;
        }
        for (plain, result) in plain.iter().zip(&body.results) {
            let kind = result.ty().scalar().map_or(Kind::I64, Kind::of);
            let dst = self.reg(kind);
            let src = match plain.unit {
                Some(unit) => self.constant(unit),
                None => self.zero(kind),
            };
            self.emit(Op::Move { dst, src });
            if plain.unit.is_none() && !prefix {
                let empty = self.equals(n, 0);
                self.fail_if(empty, plain.fail, &[]);
            }
            accs.push(dst);
        }
        accs
    }

    fn combine_plain(&mut self, plain: &[Plain], accs: &[Reg], i: Reg, results: &[Given]) {
        for ((plain, acc), given) in plain.iter().zip(accs).zip(results) {
            let (acc, x) = (*acc, given.regs[0]);
            let kind = self.kind(acc);
            let step = |this: &mut Self| {
                let next = match plain.combine {
                    Combine::Inst(inst, of) => this.inst(inst, of, &[acc, x]),
                    Combine::Row(row) => this.kernel(row, kind, vec![acc, x]),
                    Combine::Text(extremum) => {
                        let pair = if extremum == Inst::IntMin { vec![x, acc] } else { vec![acc, x] };
                        let order = this.service(Service::StrCompare, pair, &[Kind::I64])[0];
                        let zero = this.int(0);
                        let is_better = this.int_inst(Inst::Lt, order, zero);
                        this.when(is_better, |this| this.emit(Op::Move { dst: acc, src: x }));
                        return;
                    }
                };
                this.emit(Op::Move { dst: acc, src: next });
            };
            if plain.unit.is_some() {
                step(self);
            } else {
                let first = self.equals(i, 0);
                self.branch(first, |this| this.emit(Op::Move { dst: acc, src: x }), step);
            }
        }
    }

    fn combine_custom(
        &mut self,
        left: &[Var],
        right: &[Var],
        combine: &Block,
        accs: &[Reg],
        results: Vec<Given>,
    ) {
        let so_far = self.copies(accs);
        self.bind(left, so_far);
        let elements = results.into_iter().flat_map(|given| self.take(given)).collect();
        self.bind(right, elements);
        let owned = super::forms::counted(left).into_iter().chain(super::forms::counted(right)).collect();
        self.block(combine, owned, |this, next| {
            let next: Vec<Reg> = next.into_iter().flat_map(|given| this.take(given)).collect();
            let next = this.copies(&next);
            for (dst, src) in accs.iter().zip(next) {
                this.emit(Op::Move { dst: *dst, src });
            }
        });
    }

    /// How an operation that is not custom combines scalars of this type.
    fn plain(&mut self, op: &RedOp, scalar: Option<Scalar>) -> Plain {
        let of = scalar.unwrap_or(Scalar::Int);
        let number = |k: i64| match of {
            Scalar::F64 => Const::F64(k as f64),
            Scalar::F32 => Const::F32(k as f32),
            Scalar::Bool => Const::I8(k != 0),
            Scalar::Int | Scalar::Str | Scalar::Key => Const::I64(k),
        };
        let extremum = |int: Inst, bool: Inst, row: &'static PrimDef| match of {
            Scalar::Str => Combine::Text(int),
            Scalar::F64 | Scalar::F32 => match row_of(row.kernel) {
                Some(inst) => Combine::Inst(inst, of),
                None => Combine::Row(row),
            },
            Scalar::Bool => Combine::Inst(bool, of),
            Scalar::Int | Scalar::Key => Combine::Inst(int, Scalar::Int),
        };
        let (unit, combine) = match op {
            RedOp::Sum => (Some(number(0)), Combine::Inst(Inst::Add, of)),
            RedOp::Prod => (Some(number(1)), Combine::Inst(Inst::Mul, of)),
            RedOp::And => (Some(number(1)), Combine::Inst(Inst::And, of)),
            RedOp::Or => (Some(number(0)), Combine::Inst(Inst::Or, of)),
            RedOp::Min => (None, extremum(Inst::IntMin, Inst::And, &prim::MIN)),
            RedOp::Max => (None, extremum(Inst::IntMax, Inst::Or, &prim::MAX)),
            RedOp::Custom { .. } => unreachable!("a custom operation has its own block"),
        };
        let fail = if matches!(op, RedOp::Min) { Fail::EmptyMinimum } else { Fail::EmptyMaximum };
        Plain { unit, combine, fail }
    }
}
