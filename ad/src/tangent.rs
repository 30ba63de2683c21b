//! The one family of tangent types, `T[a]`, on first-order types.

use std::sync::Arc;

use adl_core::build::Builder;
use adl_core::ir::{Atom, Expr};
use adl_core::ty::{PackTy, Ty};

/// The type of tangents and cotangents of `ty`; `None` where there are none.
///
/// A sum with floats in it becomes `zero | T payload …`, with the alternatives of the primal shifted by
/// one. Payload components without floats are left out. A pack becomes `zero | pack of tangents`: only a
/// value knows its sizes, so its zero cannot be made from the type.
pub fn tangent_ty(ty: &Ty) -> Option<Ty> {
    if !ty.is_active() {
        return None;
    }
    Some(match ty {
        Ty::Scalar(_) => ty.clone(),
        Ty::Table(ix, elem) => Ty::Table(ix.clone(), Box::new(tangent_ty(elem)?)),
        Ty::Sum(alts) => {
            let payloads = alts.iter().map(|alt| alt.iter().filter_map(tangent_ty).collect());
            Ty::Sum(std::iter::once(vec![]).chain(payloads).collect())
        }
        Ty::Pack(p) => Ty::Sum(vec![vec![], vec![Ty::Pack(tangent_pack(p))]]),
        Ty::Acc(t) => Ty::Acc(Box::new(tangent_ty(t)?)),
        Ty::Box(_)
        | Ty::Tuple(_)
        | Ty::Named(..)
        | Ty::Index(_)
        | Ty::Fn(..)
        | Ty::Lin(..)
        | Ty::Tangent(_)
        | Ty::Var(_) => unreachable!("recursive and higher-order types do not reach derivatives: {ty:?}"),
    })
}

/// The pack of the tangents of the items with floats, with the same sizes.
pub(crate) fn tangent_pack(p: &PackTy) -> Arc<PackTy> {
    let items = p.items.iter().filter_map(tangent_ty).collect();
    Arc::new(PackTy { sizes: p.sizes.clone(), items })
}

/// The tangent type of a variable that is known to have one.
pub(crate) fn tangent_of(ty: &Ty) -> Ty {
    tangent_ty(ty).expect("only active variables have tangents")
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
