//! From first-order Core to loops.
//!
//! Each counted value (a table, a cell, or what contains one) that a block binds is *owned* by its
//! variable or *borrowed* from others. The owner gives it up at its last use: to an operation that takes
//! it over (an update in place, the state of a loop, an argument), or by a release. What is borrowed (an
//! element of a table, the payload of a sum that lives on) keeps its owners alive until its own last use.

mod accum;
mod build;
mod control;
mod element;
mod forms;
mod own;
mod reduce;
mod sums;

use std::collections::{HashMap, HashSet};

use adl_core::ir::{self, Atom, Lit, Var};
use adl_core::prim::{Inst, Kernel, PrimDef};
use adl_core::ty::{BoxTy, Scalar, Ty};
use adl_diag::Span;

use crate::loops::{Const, Fail, Func, Op, Program, Reg, Service, Site};
use crate::repr::{self, Kind, Part};

/// What the machine cannot do yet; the reference interpreter runs such programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// In words.
    pub what: &'static str,
    /// Where.
    pub span: Span,
}

/// Lowers a program.
///
/// # Errors
///
/// If a form or type has no lowering.
///
/// # Panics
///
/// On forms of higher-order Core, which is a mistake of the compiler.
pub fn lower(core: &ir::Program) -> Result<Program, Unsupported> {
    let mut out = Program { boxes: core.boxes.clone(), ..Program::default() };
    let first_adder = core.funcs.len() as u32;
    let mut adders = vec![];
    for func in &core.funcs {
        let lowered = Lower::new(&mut out, first_adder, &mut adders).func(func)?;
        out.funcs.push(lowered);
    }
    // The sum of cells may need that of cells of another kind.
    while let Some(cell) = adders.get(out.funcs.len() - core.funcs.len()).copied() {
        let adder = sums::adder(core, cell);
        let lowered = Lower::new(&mut out, first_adder, &mut adders).func(&adder)?;
        out.funcs.push(lowered);
    }
    Ok(out)
}

/// The lowering of one function.
struct Lower<'p> {
    out: &'p mut Program,
    /// The kinds of cells that are added, and the number of the first function that adds some.
    adders: &'p mut Vec<BoxTy>,
    first_adder: u32,
    func: Func,
    /// Code under construction, the innermost block last.
    code: Vec<Vec<Op>>,
    env: HashMap<Var, Vec<Reg>>,
    /// What a counted variable is another name of.
    canon: HashMap<Var, Var>,
    /// From which owners a borrowed variable is.
    roots: HashMap<Var, Vec<Var>>,
    /// Where a table that is about to be made shall lie: owner and first element a part.
    dest: HashMap<Var, Vec<Reg>>,
    /// Tables that were made where they shall lie.
    placed: HashSet<Var>,
    /// Cells that are given up at the end of their block.
    scratch: Vec<Reg>,
    span: Span,
    site: Site,
    unsupported: Option<Unsupported>,
}

/// A result of a block: does whoever takes it own it?
struct Given {
    atom: Atom,
    regs: Vec<Reg>,
    owned: bool,
}

impl<'p> Lower<'p> {
    fn new(out: &'p mut Program, first_adder: u32, adders: &'p mut Vec<BoxTy>) -> Lower<'p> {
        let func = Func {
            name: String::new(),
            regs: vec![],
            params: vec![],
            results: vec![],
            folds: vec![],
            body: vec![],
        };
        Lower {
            out,
            adders,
            first_adder,
            func,
            code: vec![],
            env: HashMap::new(),
            canon: HashMap::new(),
            roots: HashMap::new(),
            dest: HashMap::new(),
            placed: HashSet::new(),
            scratch: vec![],
            span: Span::default(),
            site: Site(0),
            unsupported: None,
        }
    }

    fn func(mut self, func: &ir::Func) -> Result<Func, Unsupported> {
        self.func.name.clone_from(&func.name);
        self.at(func.span);
        for param in &func.params {
            let regs = self.fresh(&repr::parts(param.ty()));
            self.func.params.extend(&regs);
            self.env.insert(param.clone(), regs);
        }
        let owned = func.params.iter().filter(|p| repr::is_counted(p.ty())).cloned().collect();
        let body = self.scoped(|this| {
            this.block(&func.body, owned, |this, results| {
                let taken: Vec<Reg> = results.into_iter().flat_map(|given| this.take(given)).collect();
                for reg in taken {
                    let dst = this.reg(this.kind(reg));
                    this.emit(Op::Move { dst, src: reg });
                    this.func.results.push(dst);
                }
            });
        });
        self.func.body = body;
        match self.unsupported {
            Some(unsupported) => Err(unsupported),
            None => Ok(self.func),
        }
    }

    fn unsupported(&mut self, what: &'static str) {
        let span = self.span;
        self.unsupported.get_or_insert(Unsupported { what, span });
    }

    /// What follows comes from this place.
    fn at(&mut self, span: Span) {
        self.span = span;
        self.site = Site(self.out.sites.len() as u32);
        if self.out.sites.last() == Some(&span) {
            self.site.0 -= 1;
        } else {
            self.out.sites.push(span);
        }
    }

    // ---- registers and operations -------------------------------------------------------------------

    fn reg(&mut self, kind: Kind) -> Reg {
        self.func.regs.push(kind);
        Reg(self.func.regs.len() as u32 - 1)
    }

    fn kind(&self, reg: Reg) -> Kind {
        self.func.regs[reg.0 as usize]
    }

    fn fresh(&mut self, parts: &[Part]) -> Vec<Reg> {
        parts.iter().flat_map(Part::kinds).map(|kind| self.reg(*kind)).collect()
    }

    fn emit(&mut self, op: Op) {
        self.code.last_mut().expect("a block is under construction").push(op);
    }

    fn scoped(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Op> {
        self.code.push(vec![]);
        write(self);
        self.code.pop().expect("the block pushed above")
    }

    fn constant(&mut self, value: Const) -> Reg {
        let dst = self.reg(value.kind());
        self.emit(Op::Const { dst, value });
        dst
    }

    fn int(&mut self, k: i64) -> Reg {
        self.constant(Const::I64(k))
    }

    fn zero(&mut self, kind: Kind) -> Reg {
        self.constant(match kind {
            Kind::F64 => Const::F64(0.0),
            Kind::F32 => Const::F32(0.0),
            Kind::I64 => Const::I64(0),
            Kind::I8 => Const::I8(false),
        })
    }

    fn text(&mut self, text: &std::sync::Arc<str>) -> i64 {
        let known = self.out.texts.iter().position(|t| t == text);
        known.unwrap_or_else(|| {
            self.out.texts.push(text.clone());
            self.out.texts.len() - 1
        }) as i64
    }

    fn atom(&mut self, atom: &Atom) -> Vec<Reg> {
        let value = match atom {
            Atom::Var(var) => return self.env.get(var).expect("lint: bound before use (C2)").clone(),
            Atom::Lit(Lit::F64(x)) => Const::F64(*x),
            Atom::Lit(Lit::F32(x)) => Const::F32(*x),
            Atom::Lit(Lit::Int(k)) => Const::I64(*k),
            Atom::Lit(Lit::Bool(b)) => Const::I8(*b),
            Atom::Lit(Lit::Str(text)) => Const::I64(self.text(text)),
            Atom::Lit(Lit::Unit) => unreachable!("lint: no unit in first-order Core (C6)"),
        };
        vec![self.constant(value)]
    }

    fn scalar(&mut self, atom: &Atom) -> Reg {
        self.atom(atom)[0]
    }

    fn inst(&mut self, inst: Inst, of: Scalar, args: &[Reg]) -> Reg {
        let kind = match inst {
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
            | Inst::Shr => Kind::of(of),
        };
        let dst = self.reg(kind);
        let site = self.site;
        self.emit(Op::Inst { dst, inst, of, args: args.to_vec(), site });
        dst
    }

    fn int_inst(&mut self, inst: Inst, x: Reg, y: Reg) -> Reg {
        self.inst(inst, Scalar::Int, &[x, y])
    }

    fn equals(&mut self, x: Reg, k: i64) -> Reg {
        let k = self.int(k);
        self.int_inst(Inst::Eq, x, k)
    }

    fn branch(&mut self, cond: Reg, then: impl FnOnce(&mut Self), orelse: impl FnOnce(&mut Self)) {
        let then = self.scoped(then);
        let orelse = self.scoped(orelse);
        self.emit(Op::If { cond, then, orelse });
    }

    fn when(&mut self, cond: Reg, then: impl FnOnce(&mut Self)) {
        self.branch(cond, then, |_| {});
    }

    /// For each number below `n`.
    fn each(&mut self, n: Reg, body: impl FnOnce(&mut Self, Reg)) {
        let var = self.reg(Kind::I64);
        let body = self.scoped(|this| body(this, var));
        self.emit(Op::For { var, n, reverse: false, body });
    }

    fn fail_if(&mut self, cond: Reg, fail: Fail, args: &[Reg]) {
        let (args, site) = (args.to_vec(), self.site);
        self.when(cond, |this| this.emit(Op::Fail { fail, args, site }));
    }

    fn kernel(&mut self, def: &PrimDef, kind: Kind, args: Vec<Reg>) -> Reg {
        let dst = self.reg(kind);
        self.emit(Op::Kernel { dst, kernel: def.kernel, name: def.name, args });
        dst
    }

    fn service(&mut self, service: Service, args: Vec<Reg>, results: &[Kind]) -> Vec<Reg> {
        let dsts: Vec<Reg> = results.iter().map(|kind| self.reg(*kind)).collect();
        let site = self.site;
        let number = self.out.services.len() as u32;
        self.out.services.push(service);
        self.emit(Op::Service { service: number, args, dsts: dsts.clone(), site });
        dsts
    }

    /// The product of sizes.
    fn product(&mut self, sizes: &[Atom]) -> Reg {
        let known: i64 = sizes.iter().filter_map(repr::constant).fold(1, i64::wrapping_mul);
        let mut total = None;
        for size in sizes.iter().filter(|size| repr::constant(size).is_none()) {
            let size = self.scalar(size);
            total = Some(match total {
                Some(total) => self.int_inst(Inst::Mul, total, size),
                None => size,
            });
        }
        match total {
            Some(total) if known == 1 => total,
            Some(total) => {
                let known = self.int(known);
                self.int_inst(Inst::Mul, total, known)
            }
            None => self.int(known),
        }
    }

    fn sizes(&mut self, sizes: &[Atom]) -> Vec<Reg> {
        sizes.iter().map(|size| self.scalar(size)).collect()
    }

    /// Binds the sizes that a value brings along, so that the types of its items mean this value.
    fn bind_sizes(&mut self, ty: &Ty, regs: &[Reg]) {
        match ty {
            Ty::Pack(pack) => {
                for (size, reg) in pack.sizes.iter().zip(regs) {
                    self.env.insert(size.clone(), vec![*reg]);
                }
                self.bind_all_sizes(pack.items.iter(), &regs[pack.sizes.len()..]);
            }
            Ty::Sum(alts) => self.bind_all_sizes(alts.iter().flatten(), &regs[1..]),
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

    fn bind_all_sizes<'t>(&mut self, tys: impl Iterator<Item = &'t Ty>, mut regs: &[Reg]) {
        for ty in tys {
            let (own, rest) = regs.split_at(repr::width(&repr::parts(ty)));
            self.bind_sizes(ty, own);
            regs = rest;
        }
    }
}

/// The rows that reductions use.
fn row_of(kernel: Kernel) -> Option<Inst> {
    match kernel {
        Kernel::Inst(inst) => Some(inst),
        Kernel::F1(..)
        | Kernel::F2(..)
        | Kernel::FInt(..)
        | Kernel::I1(_)
        | Kernel::I2(_)
        | Kernel::I3(_)
        | Kernel::I2F(_)
        | Kernel::StrCat => None,
    }
}

/// Registers part by part.
fn split<'r>(parts: &'r [Part], regs: &'r [Reg]) -> impl Iterator<Item = (&'r Part, &'r [Reg])> {
    let mut at = 0;
    parts.iter().map(move |part| {
        let from = at;
        at += part.kinds().len();
        (part, &regs[from..at])
    })
}
