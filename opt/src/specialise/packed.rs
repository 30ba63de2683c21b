//! Values with their own sizes: elements of a ragged table, the state of a loop that grows.
//!
//! Most values have sizes that the code around them knows. Where values of one place differ in size, each is
//! packed with all its sizes, and opened where it is taken apart. A pack of the surface is a tuple of its
//! sizes and its item; its sizes are the opened ones again.

use std::cell::RefCell;
use std::sync::Arc;

use adl_core::ir::{Atom, Expr, Var};
use adl_core::ty::{INT, PackTy, Scalar, Ty, UNKNOWN_SIZE, unknown_size};
use adl_core::walk::{self, Subst};

use super::shape::{Closure, Packed, Shape, Val, abstract_shape};
use super::{Result, Spec};

impl Packed {
    /// The pack of a value.
    pub(super) fn of(val: &Val) -> Packed {
        let mut sizes = vec![];
        val.shape.sizes(&mut sizes);
        let mut links = vec![];
        link(&val.shape, &val.leaves, &sizes, &mut links);
        Packed { shape: val.shape.without_sizes(), links }
    }

    /// Any value of this shape.
    pub(super) fn any(shape: &Shape) -> Packed {
        let mut links = vec![None; shape.n_leaves()];
        let mut sizes = vec![];
        shape.sizes(&mut sizes);
        // What a pack of the surface binds is known by its number.
        if let Shape::Tuple(parts) = shape {
            let is_int = |s: &&Shape| **s == Shape::Scalar(Scalar::Int);
            for (k, link) in links.iter_mut().enumerate().take(parts.iter().take_while(is_int).count()) {
                *link = sizes.iter().position(|s| *s == Atom::int(unknown_size(k)));
            }
        }
        Packed { links, shape: shape.without_sizes() }
    }

    /// A pack for both.
    pub(super) fn both(&self, other: &Packed, shape: Shape) -> Packed {
        let same = self.links.len() == other.links.len() && self.links.len() == shape.n_leaves();
        let links = self.links.iter().zip(&other.links).map(|(a, b)| a.filter(|_| a == b));
        Packed { links: if same { links.collect() } else { vec![None; shape.n_leaves()] }, shape }
    }

    /// The shape over these sizes, one for each place.
    fn over(&self, sizes: &[Atom]) -> Shape {
        let at = std::cell::Cell::new(0);
        abstract_shape(&self.shape, &|_| sizes[at.replace(at.get() + 1)].clone())
    }

    /// Its type in first-order Core.
    pub fn ty(&self) -> Arc<PackTy> {
        let names = RefCell::new(vec![]);
        let shape = abstract_shape(&self.shape, &|_| {
            let n = Var::named("n", INT);
            names.borrow_mut().push(n.clone());
            Atom::Var(n)
        });
        let tys = shape.leaf_tys().into_iter().zip(&self.links);
        let items = tys.filter(|(_, link)| link.is_none()).map(|(t, _)| t).collect();
        Arc::new(PackTy { sizes: names.into_inner(), items })
    }
}

/// Packs of the surface are tuples of sizes and an item: such leaves are the sizes themselves.
fn link(shape: &Shape, leaves: &[Atom], sizes: &[Atom], links: &mut Vec<Option<usize>>) {
    let (Shape::Tuple(parts) | Shape::Struct(_, parts)) = shape else {
        links.extend(leaves.iter().map(|_| None));
        return;
    };
    let n = parts.len().saturating_sub(1);
    let is_int = |s: &Shape| *s == Shape::Scalar(Scalar::Int);
    let mut item = vec![];
    parts.iter().skip(n).for_each(|s| s.sizes(&mut item));
    let is_pack = n > 0
        && matches!(shape, Shape::Tuple(_))
        && parts[..n].iter().all(is_int)
        && leaves[..n].iter().all(|a| item.contains(a));
    let mut at = 0;
    for (k, part) in parts.iter().enumerate() {
        let own = &leaves[at..at + part.n_leaves()];
        at += own.len();
        if is_pack && k < n {
            links.push(sizes.iter().position(|s| *s == own[0]));
        } else {
            link(part, own, sizes, links);
        }
    }
}

/// Is the tuple with these leaves a pack of the surface?
pub(super) fn is_pack(parts: &[Shape], links: &[Option<usize>]) -> bool {
    let n = parts.len().saturating_sub(1);
    let is_int = |s: &Shape| *s == Shape::Scalar(Scalar::Int);
    n > 0 && parts[..n].iter().all(is_int) && links[..n].iter().all(Option::is_some)
}

impl Shape {
    /// Have tables in the same places index sets of the same form? (Those of packs may differ.)
    pub(super) fn same_sets(&self, other: &Shape) -> bool {
        let list = |xs: &[Shape], ys: &[Shape]| xs.iter().zip(ys).all(|(x, y)| x.same_sets(y));
        match (self, other) {
            (Shape::Tuple(xs), Shape::Tuple(ys)) | (Shape::Struct(_, xs), Shape::Struct(_, ys)) => {
                list(xs, ys)
            }
            (Shape::Enum(_, xs), Shape::Enum(_, ys)) | (Shape::Tangent(_, xs), Shape::Tangent(_, ys)) => {
                xs.iter().zip(ys).all(|(x, y)| list(x, y))
            }
            (Shape::Table(i, x), Shape::Table(j, y)) => i.same_form(j) && x.same_sets(y),
            (Shape::Fun(xs), Shape::Fun(ys)) => xs.iter().all(|x| {
                let same = ys.iter().find(|y| x.same_code(y));
                let captured =
                    |y: &Closure| x.captured.iter().zip(&y.captured).all(|((_, a), (_, b))| a.same_sets(b));
                same.is_none_or(captured)
            }),
            _ => true,
        }
    }

    /// The shape with zeros for its sizes.
    pub(super) fn without_sizes(&self) -> Shape {
        abstract_shape(self, &|_| Atom::int(0))
    }
}

/// Is the size one that only a value knows?
pub(super) fn is_unknown(size: &Atom) -> bool {
    size.as_int().is_some_and(|k| k < UNKNOWN_SIZE / 2)
}

impl Spec<'_> {
    /// The value as a pack of this kind. It has the layout of what is inside.
    pub(super) fn packed(&mut self, val: &Val, to: &Packed) -> Result<Val> {
        let shape = Shape::Packed(Box::new(to.clone()));
        if val.shape == shape {
            return Ok(val.clone());
        }
        let val = self.unpacked(val);
        let sizes = super::join::aligned(&to.shape, &val.shape);
        let sizes: Vec<Atom> = sizes.into_iter().map(|s| s.unwrap_or(Atom::int(0))).collect();
        let leaves = self.coerce(&val, &to.over(&sizes))?;
        let items = leaves.into_iter().zip(&to.links);
        let items = items.filter(|(_, link)| link.is_none()).map(|(leaf, _)| leaf).collect();
        let ty = to.ty();
        let leaf = self.bind(Ty::Pack(ty.clone()), Expr::Pack { ty, sizes, items });
        Ok(Val { shape, leaves: vec![leaf] })
    }

    /// What is in a pack; any other value itself.
    pub(super) fn unpacked(&mut self, val: &Val) -> Val {
        let Shape::Packed(packed) = &val.shape else { return val.clone() };
        let ty = packed.ty();
        let names: Vec<Var> = ty.sizes.iter().map(|n| Var::named(n.name(), INT)).collect();
        let map: Subst = ty.sizes.iter().cloned().zip(names.iter().map(Atom::from)).collect();
        let items: Vec<Var> = ty.items.iter().map(|t| Var::new(walk::subst_ty(t, &map))).collect();
        self.emit(names.iter().chain(&items).cloned().collect(), Expr::Open(val.leaves[0].clone()));
        let mut items = items.iter();
        let leaf = |link: &Option<usize>| match link {
            Some(k) => Atom::from(&names[*k]),
            None => Atom::from(items.next().expect("an item for each leaf that is no size")),
        };
        let leaves = packed.links.iter().map(leaf).collect();
        let sizes: Vec<Atom> = names.iter().map(Atom::from).collect();
        Val { shape: packed.over(&sizes), leaves }
    }
}
