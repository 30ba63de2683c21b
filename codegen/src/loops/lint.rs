//! The invariants of loops, checked after lowering.

use std::collections::HashSet;

use adl_core::prim::Inst;
use adl_core::ty::Scalar;

use super::{Func, Op, Program, Reg};
use crate::repr::{Elem, Kind};

/// Checks a program.
///
/// # Errors
///
/// The invariant that is broken, and where.
pub fn check(program: &Program) -> Result<(), String> {
    program.funcs.iter().try_for_each(|func| {
        let mut lint = Lint { program, func, written: func.params.iter().copied().collect() };
        lint.ops(&func.body)?;
        func.results.iter().try_for_each(|reg| lint.read(*reg)).map_err(|why| format!("{}: {why}", func.name))
    })
}

struct Lint<'p> {
    program: &'p Program,
    func: &'p Func,
    /// Registers written on every path to here.
    written: HashSet<Reg>,
}

impl Lint<'_> {
    fn kind(&self, reg: Reg) -> Kind {
        self.func.regs[reg.0 as usize]
    }

    fn read(&self, reg: Reg) -> Result<(), String> {
        if self.written.contains(&reg) {
            Ok(())
        } else {
            Err(format!("L1: {reg} is read before it is written"))
        }
    }

    fn read_as(&self, reg: Reg, kind: Kind) -> Result<(), String> {
        self.read(reg)?;
        self.is(reg, kind)
    }

    fn is(&self, reg: Reg, kind: Kind) -> Result<(), String> {
        let found = self.kind(reg);
        if found == kind { Ok(()) } else { Err(format!("L2: {reg} is {found:?}, not {kind:?}")) }
    }

    fn write(&mut self, reg: Reg, kind: Kind) -> Result<(), String> {
        self.is(reg, kind)?;
        self.written.insert(reg);
        Ok(())
    }

    fn pointers(&self, regs: &[Reg]) -> Result<(), String> {
        regs.iter().try_for_each(|reg| self.read_as(*reg, Kind::I64))
    }

    fn ops(&mut self, ops: &[Op]) -> Result<(), String> {
        ops.iter().try_for_each(|op| self.op(op).map_err(|why| format!("{}: {why}", self.func.name)))
    }

    /// Checks code that may not run: what it writes is not written afterwards.
    fn perhaps(&mut self, ops: &[Op]) -> Result<HashSet<Reg>, String> {
        let before = self.written.clone();
        self.ops(ops)?;
        Ok(std::mem::replace(&mut self.written, before))
    }

    #[expect(clippy::too_many_lines, reason = "one arm an operation")]
    fn op(&mut self, op: &Op) -> Result<(), String> {
        match op {
            Op::Const { dst, value } => self.write(*dst, value.kind()),
            Op::Move { dst, src } => {
                self.read(*src)?;
                self.write(*dst, self.kind(*src))
            }
            Op::Inst { dst, inst, of, args, .. } => {
                let operand = Kind::of(*of);
                args.iter().try_for_each(|arg| self.read_as(*arg, operand))?;
                self.write(*dst, result_of(*inst, *of))
            }
            Op::Kernel { dst, args, .. } => {
                args.iter().try_for_each(|arg| self.read(*arg))?;
                self.write(*dst, self.kind(*dst))
            }
            Op::Load { dst, base, index } => {
                self.pointers(&[*base, *index])?;
                self.write(*dst, self.kind(*dst))
            }
            Op::Store { src, base, index } => {
                self.pointers(&[*base, *index])?;
                self.read(*src)
            }
            Op::Offset { dst, base, index, .. } => {
                self.pointers(&[*base, *index])?;
                self.write(*dst, Kind::I64)
            }
            Op::If { cond, then, orelse } => {
                self.read_as(*cond, Kind::I8)?;
                let (one, other) = (self.perhaps(then)?, self.perhaps(orelse)?);
                // A way that fails does not come back.
                let both: HashSet<Reg> = match (ends(then), ends(orelse)) {
                    (true, _) => other,
                    (false, true) => one,
                    (false, false) => one.intersection(&other).copied().collect(),
                };
                self.written = both;
                Ok(())
            }
            Op::For { var, n, body, .. } => {
                self.read_as(*n, Kind::I64)?;
                self.is(*var, Kind::I64)?;
                let before = self.written.clone();
                self.written.insert(*var);
                self.ops(body)?;
                self.written = before;
                Ok(())
            }
            Op::While { cond, test, body } => {
                self.ops(cond)?;
                self.read_as(*test, Kind::I8)?;
                self.perhaps(body).map(drop)
            }
            Op::Call { func, args, dsts, .. } => self.call(*func, args, dsts),
            Op::Retain { ptr } | Op::Release { ptr } => self.pointers(&[*ptr]),
            Op::Unique { dst, ptr } => {
                self.pointers(&[*ptr])?;
                self.write(*dst, Kind::I8)
            }
            Op::Alloc { dst, dims, .. } => {
                self.pointers(dims)?;
                self.write(*dst, Kind::I64)
            }
            Op::AllocCell { dst, .. } => self.write(*dst, Kind::I64),
            Op::Copy { dst, src, n, .. } => self.pointers(&[*dst, *src, *n]),
            Op::Clear { dst, n, .. } => self.pointers(&[*dst, *n]),
            Op::FoldNew { .. } => Ok(()),
            Op::FoldPush { fold, src } => self.read_as(*src, self.func.folds[fold.0 as usize].0),
            Op::FoldEnd { dst, fold } => self.write(*dst, self.func.folds[fold.0 as usize].0),
            Op::Service { args, dsts, .. } => {
                args.iter().try_for_each(|arg| self.read(*arg))?;
                dsts.iter().try_for_each(|dst| self.write(*dst, self.kind(*dst)))
            }
            Op::Fail { args, .. } => args.iter().try_for_each(|arg| self.read(*arg)),
        }
    }

    fn call(&mut self, func: u32, args: &[Reg], dsts: &[Reg]) -> Result<(), String> {
        // A function that is lowered later cannot be checked here; its own callers come after it.
        let Some(callee) = self.program.funcs.get(func as usize) else {
            return Err(format!("L3: there is no function {func}"));
        };
        if callee.params.len() != args.len() || callee.results.len() != dsts.len() {
            return Err(format!("L3: a call of {} passes or takes another number of registers", callee.name));
        }
        for (arg, param) in args.iter().zip(&callee.params) {
            self.read_as(*arg, callee.regs[param.0 as usize])?;
        }
        for (dst, result) in dsts.iter().zip(&callee.results) {
            self.write(*dst, callee.regs[result.0 as usize])?;
        }
        Ok(())
    }
}

/// Does this code always fail?
fn ends(ops: &[Op]) -> bool {
    ops.iter().any(|op| matches!(op, Op::Fail { .. }))
}

fn result_of(inst: Inst, of: Scalar) -> Kind {
    match inst {
        Inst::Eq | Inst::Ne | Inst::Lt | Inst::Le | Inst::IsNan | Inst::IsFinite => Kind::I8,
        Inst::ToF64 => Kind::F64,
        Inst::ToF32 => Kind::F32,
        Inst::ToInt => Kind::I64,
        Inst::Add
        | Inst::Sub
        | Inst::Mul
        | Inst::Div
        | Inst::Neg
        | Inst::Abs
        | Inst::Sqrt
        | Inst::IntDiv
        | Inst::IntMod
        | Inst::IntQuot
        | Inst::IntRem
        | Inst::IntPow
        | Inst::IntMin
        | Inst::IntMax
        | Inst::IntSign
        | Inst::And
        | Inst::Or
        | Inst::Xor
        | Inst::Not
        | Inst::Copy
        | Inst::Shl
        | Inst::Shr => Elem::Kind(Kind::of(of)).kind(),
    }
}
