//! Values of the one family of tangent types, `T[a]` ([`Ty::tangent`]).

use adl_core::build::Builder;
use adl_core::ir::{Atom, Expr, Var};
use adl_core::ty::Ty;
use adl_core::walk::{self, Subst};

/// The tangent type of a variable that is known to have one.
pub(crate) fn tangent_of(ty: &Ty) -> Ty {
    ty.tangent().expect("only active variables have tangents")
}

/// Is the type in accumulator mode: does it hold floats, and contain a table?
pub fn acc_mode(ty: &Ty) -> bool {
    ty.is_active() && ty.has_table()
}

/// The zero of a tangent type.
pub fn zero(b: &mut Builder, ty: &Ty) -> Atom {
    match ty {
        Ty::Scalar(s) if s.is_float() => Atom::float(*s, 0.0),
        Ty::Sum(_) => b.bind(ty.clone(), Expr::Inject { ty: ty.clone(), tag: 0, args: vec![] }),
        Ty::Scalar(_)
        | Ty::Table(..)
        | Ty::Pack(_)
        | Ty::Box(_)
        | Ty::Acc(_)
        | Ty::Tuple(_)
        | Ty::Named(..)
        | Ty::Index(_)
        | Ty::Fn(..)
        | Ty::Lin(..)
        | Ty::Tangent(_)
        | Ty::Var(_) => b.bind(ty.clone(), Expr::Zero(ty.clone())),
    }
}

/// The sum of two tangents.
pub fn add(b: &mut Builder, x: Atom, y: Atom) -> Atom {
    let ty = x.ty();
    if ty.scalar().is_some() { b.prim(&adl_core::prim::ADD, &[x, y]) } else { b.bind(ty, Expr::AddCt(x, y)) }
}

/// The pack or cell of tangents in the tangent `zero | …` of a pack or cell.
pub(crate) fn whole_ty(tangent: &Ty) -> Ty {
    let Ty::Sum(alts) = tangent else { unreachable!("the tangent of a pack or cell is a sum") };
    alts[1][0].clone()
}

/// What is in a pack, or in a cell that holds these types.
pub(crate) fn take_apart(b: &mut Builder, whole: &Atom, tys: &[Ty]) -> Vec<Atom> {
    let Ty::Pack(ty) = whole.ty() else { return b.bind_all(tys, Expr::Unbox(whole.clone())) };
    let mut map = Subst::new();
    let sizes: Vec<Var> = ty.sizes.iter().map(|s| walk::rename_var(s, &mut map)).collect();
    let items: Vec<Var> = ty.items.iter().map(|t| Var::new(walk::subst_ty(t, &map))).collect();
    b.emit(sizes.into_iter().chain(items.iter().cloned()).collect(), Expr::Open(whole.clone()));
    items.into_iter().map(Atom::Var).collect()
}
