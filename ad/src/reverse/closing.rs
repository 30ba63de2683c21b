//! Splits a transformed body into forward and backward function: what the backward code names of the forward code
//! becomes residuals.

use adl_core::build::Builder;
use adl_core::ir::{Atom, Block, Expr, Func, Stmt, Var};
use adl_core::ty::{BoxTy, INT, Ty};
use adl_core::walk::{self, FreeVars, Subst, Visit as _};

use super::Signature;
use super::control::pack_of;

/// What the backward code names of the forward code.
fn residuals(bwd: &Block, tail: &[Var]) -> Vec<Var> {
    let mut free = FreeVars::default();
    tail.iter().for_each(|p| free.bind(p));
    free.block(bwd);
    free.vars
}

/// Sizes in the types of these variables.
fn sizes_of(vars: &[Var]) -> Vec<Var> {
    let mut sizes: Vec<Var> = vec![];
    for size in vars.iter().flat_map(|v| walk::ty_vars(v.ty())) {
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    sizes
}

fn forward(func: &Func, fwd: Vec<Stmt>, residuals: Vec<Atom>) -> Func {
    let mut results = func.body.results.clone();
    results.extend(residuals);
    let mut map = Subst::new();
    let params = func.params.iter().map(|p| walk::rename_var(p, &mut map)).collect();
    let body = walk::rename_block(&Block { stmts: fwd, results }, &mut map);
    Func { name: format!("{}_fwd", func.name), tparams: vec![], params, body, span: func.span }
}

fn backward(func: &Func, params: Vec<Var>, body: Block) -> Func {
    Func { name: format!("{}_bwd", func.name), tparams: vec![], params, body, span: func.span }
}

/// Both functions and the number of residuals, sizes first.
pub(super) fn function(func: &Func, fwd: Vec<Stmt>, bwd: &Block, tail: &[Var]) -> (Func, Func, usize) {
    let mut residuals = residuals(bwd, tail);
    // Sizes in the types of residuals are residuals too.
    for size in sizes_of(&residuals) {
        if !residuals.contains(&size) {
            residuals.push(size);
        }
    }
    residuals.sort_by_key(|v| *v.ty() != INT);
    let n_residuals = residuals.len();
    let forward = forward(func, fwd, residuals.iter().map(Atom::from).collect());
    let mut map = Subst::new();
    let params = residuals.iter().chain(tail).map(|p| walk::rename_var(p, &mut map)).collect();
    (forward, backward(func, params, walk::rename_block(bwd, &mut map)), n_residuals)
}

/// The functions of one that calls itself.
pub(super) struct Recursive {
    pub(super) fwd: Func,
    pub(super) bwd: Func,
    /// What the cell of its residuals holds.
    pub(super) content: Vec<Ty>,
}

/// All residuals are in one cell, with the sizes in their types; beside it are the sizes that the signature of the
/// backward function mentions.
pub(super) fn recursive(
    func: &Func,
    mut fwd: Vec<Stmt>,
    bwd: &Block,
    signature: &Signature,
    cell: BoxTy,
) -> Recursive {
    let mut items = residuals(bwd, &signature.tail);
    let sizes = sizes_of(&items);
    items.retain(|v| !sizes.contains(v) && !signature.sizes.contains(v));
    let mut args = items.clone();
    if !sizes.is_empty() {
        let (pack, stmt) = pack_of(&sizes, &items, func.span);
        fwd.push(stmt);
        args = vec![pack];
    }
    let held = Var::named("residuals", Ty::Box(cell));
    let expr = Expr::BoxNew { ty: cell, args: args.iter().map(Atom::from).collect() };
    fwd.push(Stmt { vars: vec![held.clone()], expr, span: func.span, dies: vec![] });
    let given = signature.sizes.iter().map(Atom::from).chain([Atom::from(&held)]).collect();
    let forward = forward(func, fwd, given);

    let mut map = Subst::new();
    let taken = signature.sizes.iter().chain([&held]).chain(&signature.tail);
    let params: Vec<Var> = taken.map(|p| walk::rename_var(p, &mut map)).collect();
    let mut head = Builder::new(func.span);
    let unbox = Expr::Unbox(walk::subst_atom(&held.into(), &map));
    if sizes.is_empty() {
        head.emit(items.iter().map(|v| walk::rename_var(v, &mut map)).collect(), unbox);
    } else {
        let pack = Var::named("pack", args[0].ty().clone());
        head.emit(vec![pack.clone()], unbox);
        // The sizes of the items are those in the pack, also where the signature has them too.
        let mut inner = Subst::new();
        let mut vars: Vec<Var> = sizes.iter().map(|s| walk::rename_var(s, &mut inner)).collect();
        for item in &items {
            vars.push(item.with_ty(walk::subst_ty(item.ty(), &inner)));
            map.insert(item.clone(), Atom::from(&vars[vars.len() - 1]));
        }
        for (size, own) in sizes.iter().zip(&vars) {
            map.entry(size.clone()).or_insert_with(|| own.into());
        }
        head.emit(vars, Expr::Open(pack.into()));
    }
    let mut body = walk::rename_block(bwd, &mut map);
    body.stmts.splice(0..0, head.stmts);
    let content = args.iter().map(|v| v.ty().clone()).collect();
    Recursive { fwd: forward, bwd: backward(func, params, body), content }
}
