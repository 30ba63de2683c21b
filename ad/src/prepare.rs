//! Puts a function into the form that the transformations expect: products and extrema read their
//! elements from a table, and general reductions and prefixes are loops. Values do not change.

use adl_core::build::Builder;
use adl_core::ir::{Atom, Block, Expr, Func, Keep, LoopKind, RedOp, Stmt, Var};
use adl_core::prim;
use adl_core::ty::{INT, Ix, Ty};
use adl_core::walk::{self, Rebuild, Subst};

/// The function in prepared form.
pub(crate) fn prepare(func: &Func) -> Func {
    let body = Prepare.block(&func.body);
    Func { body, ..func.clone() }
}

struct Prepare;

impl Rebuild for Prepare {
    fn atom(&mut self, atom: &Atom) -> Atom {
        atom.clone()
    }
    fn bind(&mut self, var: &Var) -> Var {
        var.clone()
    }
    fn block(&mut self, block: &Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for stmt in &block.stmts {
            let expr = walk::rebuild(&stmt.expr, self);
            // Marks of last uses do not hold any more: backward code uses values again.
            split(Stmt { expr, dies: vec![], ..stmt.clone() }, &mut stmts);
        }
        Block { stmts, results: block.results.clone() }
    }
}

fn split(stmt: Stmt, out: &mut Vec<Stmt>) {
    let active = stmt.vars.iter().any(|v| v.ty().is_active());
    match stmt.expr {
        Expr::Reduce { op: op @ (RedOp::Prod | RedOp::Min | RedOp::Max), ix, var, body } if active => {
            elements_first(op, ix, var, body, stmt.vars, stmt.span, out);
        }
        Expr::Reduce { op: RedOp::Custom { unit, left, right, body: combine }, ix, var, body } if active => {
            let combined = combine_loop(&ix, var, &body, (unit, left, right, combine), false);
            out.push(Stmt { expr: combined, vars: stmt.vars, span: stmt.span, dies: vec![] });
        }
        Expr::Prefix { op, ix, var, body } if active => {
            prefix_loop(op, ix, var, body, stmt.vars, stmt.span, out)
        }
        expr => out.push(Stmt { expr, ..stmt }),
    }
}

/// `xs = for i {body}; y = reduce op i {xs[i]}`.
fn elements_first(
    op: RedOp,
    ix: Ix,
    var: Var,
    body: Block,
    vars: Vec<Var>,
    span: adl_diag::Span,
    out: &mut Vec<Stmt>,
) {
    let Ix::Fin(size) = ix else { unreachable!("first-order index sets are sizes") };
    let mut b = Builder::new(span);
    let tys: Vec<Ty> = body.results.iter().map(|r| Ty::table(size.clone(), r.ty())).collect();
    let tables = b.bind_all(&tys, Expr::For { ix: Ix::Fin(size.clone()), var, body });
    let i = Var::named("i", INT);
    let body = b.block(|b| tables.iter().map(|xs| b.index(xs, &[Atom::Var(i.clone())], false)).collect());
    b.emit(vars, Expr::Reduce { op, ix: Ix::Fin(size), var: i, body });
    out.extend(b.stmts);
}

/// A loop that combines the elements in order, and collects the combinations if asked.
fn combine_loop(
    ix: &Ix,
    var: Var,
    body: &Block,
    (unit, left, right, combine): (Vec<Atom>, Vec<Var>, Vec<Var>, Block),
    collect: bool,
) -> Expr {
    let mut map: Subst = right.into_iter().zip(body.results.iter().cloned()).collect();
    let combine = walk::rename_block(&combine, &mut map);
    let mut stmts = body.stmts.clone();
    stmts.extend(combine.stmts);
    let mut results = combine.results.clone();
    if collect {
        results.extend(combine.results);
    }
    let kind = LoopKind::For { ix: ix.clone(), var, reverse: false };
    Expr::Loop { kind, state: left, init: unit, body: Block { stmts, results }, keep: Keep::All }
}

fn prefix_loop(
    op: RedOp,
    ix: Ix,
    var: Var,
    body: Block,
    vars: Vec<Var>,
    span: adl_diag::Span,
    out: &mut Vec<Stmt>,
) {
    let tys: Vec<Ty> = body.results.iter().map(Atom::ty).collect();
    let parts = match op {
        RedOp::Custom { unit, left, right, body } => (unit, left, right, body),
        RedOp::Sum | RedOp::Prod | RedOp::Min | RedOp::Max | RedOp::And | RedOp::Or => simple(&op, &tys),
    };
    let last: Vec<Var> = tys.iter().cloned().map(Var::new).collect();
    let expr = combine_loop(&ix, var, &body, parts, true);
    out.push(Stmt { vars: last.into_iter().chain(vars).collect(), expr, span, dies: vec![] });
}

/// A simple operation on floats as a general one.
fn simple(op: &RedOp, tys: &[Ty]) -> (Vec<Atom>, Vec<Var>, Vec<Var>, Block) {
    let (row, unit) = match op {
        RedOp::Sum => (&prim::ADD, 0.0),
        RedOp::Prod => (&prim::MUL, 1.0),
        RedOp::Min => (&prim::MIN, f64::INFINITY),
        RedOp::Max => (&prim::MAX, f64::NEG_INFINITY),
        RedOp::And | RedOp::Or | RedOp::Custom { .. } => unreachable!("not a prefix of floats"),
    };
    let var = |t: &Ty| Var::new(t.clone());
    let (left, right): (Vec<Var>, Vec<Var>) = tys.iter().map(|t| (var(t), var(t))).unzip();
    let unit = tys.iter().map(|t| Atom::float(t.scalar().expect("elements are scalars"), unit)).collect();
    let mut b = Builder::default();
    let results = left.iter().zip(&right).map(|(l, r)| b.prim(row, &[l.into(), r.into()])).collect();
    (unit, left, right, b.finish(results))
}
