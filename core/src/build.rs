//! The builder: writes first-order Core statement by statement, with exact constant folding on the way.

use adl_diag::Span;

use crate::ir::{Arm, Atom, Block, Expr, Func, FuncId, Lit, RedOp, Stmt, Var};
use crate::prim::{self, Inst, Kernel, Prim, PrimDef, S};
use crate::ty::{Ix, Scalar, Ty};
use crate::walk::{Subst, subst_atom, subst_ty};

/// Collects the statements of one block.
#[derive(Debug, Default)]
pub struct Builder {
    /// Written so far.
    pub stmts: Vec<Stmt>,
    /// Given to the statements that follow.
    pub span: Span,
}

impl Builder {
    /// An empty block, its statements at `span`.
    pub fn new(span: Span) -> Builder {
        Builder { stmts: vec![], span }
    }

    /// `let vars = expr`.
    pub fn emit(&mut self, vars: Vec<Var>, expr: Expr) {
        self.stmts.push(Stmt { vars, expr, span: self.span, dies: vec![] });
    }

    /// `let v: ty = expr`, and `v`.
    pub fn bind(&mut self, ty: Ty, expr: Expr) -> Atom {
        let v = Var::new(ty);
        self.emit(vec![v.clone()], expr);
        Atom::Var(v)
    }

    /// Ends the block.
    pub fn finish(self, results: Vec<Atom>) -> Block {
        Block { stmts: self.stmts, results }
    }

    /// A nested block.
    pub fn block(&self, body: impl FnOnce(&mut Builder) -> Vec<Atom>) -> Block {
        let mut b = Builder::new(self.span);
        let results = body(&mut b);
        b.finish(results)
    }

    /// A primitive applied to scalars; constants fold, and exact identities are used.
    pub fn prim(&mut self, def: &'static PrimDef, args: &[Atom]) -> Atom {
        if let Some(folded) = fold(def, args) {
            return folded;
        }
        let ty = Prim(def).result_ty(args);
        self.bind(ty, Expr::Prim(Prim(def), args.to_vec()))
    }

    /// A Bool or Int as a float of the type `s`.
    pub fn float_of(&mut self, a: Atom, s: Scalar) -> Atom {
        self.prim(if s == Scalar::F32 { &prim::TO_F32 } else { &prim::TO_F64 }, &[a])
    }

    /// `if cond then a else b`, both computed already.
    pub fn select(&mut self, cond: Atom, a: Atom, b: Atom) -> Atom {
        if let Atom::Lit(Lit::Bool(c)) = cond {
            return if c { a } else { b };
        }
        let ty = a.ty();
        let arm = |x: Atom| Arm { params: vec![], body: Block { stmts: vec![], results: vec![x] } };
        self.bind(ty, Expr::Case { scrut: cond, arms: vec![arm(b), arm(a)] })
    }

    /// `if cond then … else …`, with results of these types.
    pub fn branch(
        &mut self,
        cond: Atom,
        tys: &[Ty],
        then: impl FnOnce(&mut Builder) -> Vec<Atom>,
        orelse: impl FnOnce(&mut Builder) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let arms = vec![
            Arm { params: vec![], body: self.block(orelse) },
            Arm { params: vec![], body: self.block(then) },
        ];
        self.bind_all(tys, Expr::Case { scrut: cond, arms })
    }

    /// Binds one variable a type.
    pub fn bind_all(&mut self, tys: &[Ty], expr: Expr) -> Vec<Atom> {
        let vars: Vec<Var> = tys.iter().cloned().map(Var::new).collect();
        self.emit(vars.clone(), expr);
        vars.into_iter().map(Atom::Var).collect()
    }

    /// An element or sub-table.
    pub fn index(&mut self, table: &Atom, index: &[Atom], check: bool) -> Atom {
        if index.is_empty() {
            return table.clone();
        }
        let mut ty = table.ty();
        for _ in index {
            let Ty::Table(_, elem) = ty else { panic!("index of a value that is no table: {ty:?}") };
            ty = *elem;
        }
        self.bind(ty, Expr::Index { table: table.clone(), index: index.to_vec(), check })
    }

    /// Tables of what `body` gives for each index below `size`.
    pub fn build(&mut self, size: &Atom, body: impl FnOnce(&mut Builder, Atom) -> Vec<Atom>) -> Vec<Atom> {
        let var = Var::named("i", crate::ty::INT);
        let body = self.block(|b| body(b, Atom::Var(var.clone())));
        let tys: Vec<Ty> = body.results.iter().map(|r| Ty::table(size.clone(), r.ty())).collect();
        self.bind_all(&tys, Expr::For { ix: Ix::Fin(size.clone()), var, body })
    }

    /// A reduction of the scalars that `body` gives.
    pub fn reduce(&mut self, op: RedOp, size: &Atom, body: impl FnOnce(&mut Builder, Atom) -> Atom) -> Atom {
        let var = Var::named("i", crate::ty::INT);
        let body = self.block(|b| vec![body(b, Atom::Var(var.clone()))]);
        let ty = body.results[0].ty();
        self.bind(ty, Expr::Reduce { op, ix: Ix::Fin(size.clone()), var, body })
    }

    /// A call of a first-order function; the types of its results are those of `func` with its
    /// parameters and own results replaced.
    pub fn call(&mut self, id: FuncId, func: &Func, args: Vec<Atom>) -> Vec<Atom> {
        let mut map: Subst = func.params.iter().cloned().zip(args.iter().cloned()).collect();
        let mut vars = vec![];
        for result in &func.body.results {
            let v = Var::new(subst_ty(&result.ty(), &map));
            if let Atom::Var(r) = result
                && !map.contains_key(r)
            {
                map.insert(r.clone(), Atom::Var(v.clone()));
            }
            vars.push(v);
        }
        self.emit(vars.clone(), Expr::Call { func: id, tys: vec![], args, checkpoint: false });
        vars.into_iter().map(Atom::Var).collect()
    }

    /// Writes the statements of `block` (already a fresh copy) and gives its results under `map`.
    pub fn splice(&mut self, block: Block, map: &Subst) -> Vec<Atom> {
        self.stmts.extend(block.stmts);
        block.results.iter().map(|a| subst_atom(a, map)).collect()
    }
}

/// The value of a primitive on constants, or by an identity that is exact for all IEEE values.
#[expect(clippy::wildcard_enum_match_arm, reason = "few instructions have identities")]
pub fn fold(def: &'static PrimDef, args: &[Atom]) -> Option<Atom> {
    let lits: Option<Vec<S>> = args.iter().map(scalar_of).collect();
    if let Some(lits) = lits
        && let Ok(value) = def.apply(&lits)
    {
        return atom_of(value);
    }
    let is_float = |a: &Atom, x: f64| match a {
        Atom::Lit(Lit::F64(y)) => x.to_bits() == y.to_bits(),
        Atom::Lit(Lit::F32(y)) => x.to_bits() == f64::from(*y).to_bits(),
        Atom::Lit(_) | Atom::Var(_) => false,
    };
    let Kernel::Inst(inst) = def.kernel else { return None };
    let int = |k: usize| args[k].as_int();
    match inst {
        Inst::Mul if is_float(&args[0], 1.0) || int(0) == Some(1) => Some(args[1].clone()),
        Inst::Mul | Inst::Div if is_float(&args[1], 1.0) || int(1) == Some(1) => Some(args[0].clone()),
        Inst::Mul if int(0) == Some(0) || int(1) == Some(0) => Some(Atom::int(0)),
        // x + (-0.0) and x - 0.0 are x for every x; x + 0.0 is not (for -0.0).
        Inst::Add if is_float(&args[0], -0.0) || int(0) == Some(0) => Some(args[1].clone()),
        Inst::Add if is_float(&args[1], -0.0) || int(1) == Some(0) => Some(args[0].clone()),
        Inst::Sub if is_float(&args[1], 0.0) || int(1) == Some(0) => Some(args[0].clone()),
        Inst::And | Inst::Or => {
            let bool_of = |a: &Atom| if let Atom::Lit(Lit::Bool(b)) = a { Some(*b) } else { None };
            let unit = inst == Inst::And;
            match (bool_of(&args[0]), bool_of(&args[1])) {
                (Some(x), _) => Some(if x == unit { args[1].clone() } else { args[0].clone() }),
                (_, Some(x)) => Some(if x == unit { args[0].clone() } else { args[1].clone() }),
                (None, None) => None,
            }
        }
        _ => None,
    }
}

/// The constant as a scalar value.
pub fn scalar_of(a: &Atom) -> Option<S> {
    match a {
        Atom::Lit(Lit::F64(x)) => Some(S::F64(*x)),
        Atom::Lit(Lit::F32(x)) => Some(S::F32(*x)),
        Atom::Lit(Lit::Int(x)) => Some(S::Int(*x)),
        Atom::Lit(Lit::Bool(x)) => Some(S::Bool(*x)),
        Atom::Lit(Lit::Str(x)) => Some(S::Str(x.clone())),
        Atom::Lit(Lit::Unit) | Atom::Var(_) => None,
    }
}

/// The scalar value as a constant; keys have none.
fn atom_of(s: S) -> Option<Atom> {
    Some(Atom::Lit(match s {
        S::F64(x) => Lit::F64(x),
        S::F32(x) => Lit::F32(x),
        S::Int(x) => Lit::Int(x),
        S::Bool(x) => Lit::Bool(x),
        S::Str(x) => Lit::Str(x),
        S::Key(_) => return None,
    }))
}
