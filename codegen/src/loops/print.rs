//! Loops as text.

use std::fmt::{self, Write};

use super::{Const, Func, Op, Program, Reg};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, func) in self.funcs.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { "\n" })?;
            write!(f, "{func}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let typed = |reg: &Reg| format!("{reg}: {:?}", self.regs[reg.0 as usize]).to_lowercase();
        let params: Vec<String> = self.params.iter().map(typed).collect();
        writeln!(f, "func {}({}) -> {} {{", self.name, params.join(", "), list(&self.results))?;
        write_ops(f, &self.body, 1)?;
        writeln!(f, "}}")
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Const::F64(x) => f.write_str(&adl_core::show::float(*x)),
            Const::F32(x) => write!(f, "{}f32", adl_core::show::float32(*x)),
            Const::I64(k) => write!(f, "{k}"),
            Const::I8(b) => write!(f, "{b}"),
        }
    }
}

fn list(regs: &[Reg]) -> String {
    let regs: Vec<String> = regs.iter().map(Reg::to_string).collect();
    format!("({})", regs.join(", "))
}

fn write_ops(f: &mut fmt::Formatter<'_>, ops: &[Op], depth: usize) -> fmt::Result {
    ops.iter().try_for_each(|op| write_op(f, op, depth))
}

fn indent(f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    (0..depth).try_for_each(|_| f.write_str("  "))
}

fn write_op(f: &mut fmt::Formatter<'_>, op: &Op, depth: usize) -> fmt::Result {
    indent(f, depth)?;
    match op {
        Op::Const { dst, value } => writeln!(f, "{dst} = {value}"),
        Op::Move { dst, src } => writeln!(f, "{dst} = {src}"),
        Op::Inst { dst, inst, of, args, .. } => {
            writeln!(f, "{dst} = {}{}", format!("{inst:?}.{of:?}").to_lowercase(), list(args))
        }
        Op::Kernel { dst, name, args, .. } => writeln!(f, "{dst} = {name}{}", list(args)),
        Op::Load { dst, base, index } => writeln!(f, "{dst} = {base}[{index}]"),
        Op::Store { src, base, index } => writeln!(f, "{base}[{index}] = {src}"),
        Op::Offset { dst, base, index, bytes } => writeln!(f, "{dst} = {base} + {index} * {bytes}"),
        Op::If { cond, then, orelse } => {
            writeln!(f, "if {cond} {{")?;
            write_ops(f, then, depth + 1)?;
            if !orelse.is_empty() {
                indent(f, depth)?;
                writeln!(f, "}} else {{")?;
                write_ops(f, orelse, depth + 1)?;
            }
            close(f, depth)
        }
        Op::For { var, n, reverse, body } => {
            writeln!(f, "for {var} < {n}{} {{", if *reverse { " reverse" } else { "" })?;
            write_ops(f, body, depth + 1)?;
            close(f, depth)
        }
        Op::While { cond, test, body } => {
            writeln!(f, "while {{")?;
            write_ops(f, cond, depth + 1)?;
            indent(f, depth)?;
            writeln!(f, "}} {test} {{")?;
            write_ops(f, body, depth + 1)?;
            close(f, depth)
        }
        Op::Call { func, args, dsts, .. } => writeln!(f, "{} = call f{func}{}", list(dsts), list(args)),
        Op::Retain { ptr } => writeln!(f, "retain {ptr}"),
        Op::Release { ptr } => writeln!(f, "release {ptr}"),
        Op::Unique { dst, ptr } => writeln!(f, "{dst} = unique {ptr}"),
        Op::Alloc { dst, dims, elem, zero, .. } => {
            let elem = format!("{elem:?}").to_lowercase();
            writeln!(f, "{dst} = alloc {elem}{}{}", list(dims), if *zero { " zero" } else { "" })
        }
        Op::AllocCell { dst, refs, words, .. } => writeln!(f, "{dst} = alloc cell({refs} of {words})"),
        Op::Copy { dst, src, n, bytes, .. } => writeln!(f, "copy {dst} <- {src}, {n} * {bytes}"),
        Op::Clear { dst, n, bytes } => writeln!(f, "clear {dst}, {n} * {bytes}"),
        Op::FoldNew { fold } => writeln!(f, "fold{} new", fold.0),
        Op::FoldPush { fold, src } => writeln!(f, "fold{} push {src}", fold.0),
        Op::FoldEnd { dst, fold } => writeln!(f, "{dst} = fold{} end", fold.0),
        Op::Service { service, args, dsts, .. } => {
            writeln!(f, "{} = service {service}{}", list(dsts), list(args))
        }
        Op::Fail { fail, args, .. } => {
            writeln!(f, "fail {}{}", format!("{fail:?}").to_lowercase(), list(args))
        }
    }
}

fn close(f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    indent(f, depth)?;
    f.write_char('}')?;
    f.write_char('\n')
}
