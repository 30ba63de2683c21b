//! Shapes: what `specialise` knows of a value without running the program.
//!
//! A value of higher-order Core becomes a shape and a list of first-order atoms, its leaves. Shapes hold
//! lambda sets: for a function, which lambdas it can be and what each has captured (Brandon et al.,
//! "Better Defunctionalization through Lambda Set Specialization", PLDI 2023, found here by
//! following the values instead of unifying types). Sizes in shapes are first-order atoms.

use std::collections::HashMap;
use std::sync::Arc;

use adl_core::ir::{Atom, Deriv, FuncId, Lambda, Var};
use adl_core::ty::{BoxTy, INT, Scalar, Ty, TyVar, TypeId};
use adl_core::walk::{self, Subst};

/// An index set whose sizes are known atoms.
#[derive(Clone, Debug, PartialEq)]
pub enum IxShape {
    /// `0 .. size - 1`.
    Fin(Atom),
    /// `()`.
    Unit,
    /// `false, true`.
    Bool,
    /// A payload-free enum with so many constructors.
    Enum(TypeId, i64),
    /// Tuples, row-major, and how many there are.
    Tuple(Vec<IxShape>, Atom),
}

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// One scalar leaf.
    Scalar(Scalar),
    /// An index of a `Fin` set; one Int leaf.
    Index(IxShape),
    /// The leaves of the components.
    Tuple(Vec<Shape>),
    /// The leaves of the fields.
    Struct(TypeId, Vec<Shape>),
    /// One leaf: an Int without payloads, else a sum.
    Enum(TypeId, Vec<Vec<Shape>>),
    /// The tangent of an enum: `zero`, then the constructors with tangents inside; one sum leaf.
    Tangent(TypeId, Vec<Vec<Shape>>),
    /// For each leaf of the element a table.
    Table(IxShape, Box<Shape>),
    /// A function: with one lambda the leaves of its captures, with more one sum leaf.
    Fun(Vec<Closure>),
    /// A function of which only the type is known (argument, result, without sizes): as yet no lambda can be
    /// here.
    Arrow(Box<(Shape, Shape)>),
    /// For each leaf an accumulator.
    Acc(Box<Shape>),
    /// A value of a recursive type: one leaf, a cell, with the sizes in its type. `recursive.rs` knows what the
    /// cell holds.
    Rec(BoxTy, Vec<Atom>),
    /// A value with its own sizes; one leaf, a pack of them and its leaves (`packed.rs`).
    Packed(Box<Packed>),
    /// One leaf of this first-order type (residuals inside linear maps).
    Raw(Ty),
}

/// What is in a pack.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed {
    /// The shape without sizes.
    pub shape: Shape,
    /// For each of its leaves the number of the size that it is, if it is one.
    pub links: Vec<Option<usize>>,
}

/// A lambda and the shapes of what it captured.
#[derive(Clone, Debug, PartialEq)]
pub struct Closure {
    /// The code.
    pub code: Code,
    /// What stands for the type parameters in scope.
    pub tys: Vec<(TyVar, TyVal)>,
    /// Captured variables, each with its shape.
    pub captured: Vec<(Var, Shape)>,
}

/// What a function value runs.
#[derive(Clone, Debug)]
pub enum Code {
    /// A lambda.
    Lambda(Arc<Lambda>),
    /// A top-level function.
    Func(FuncId),
    /// A derivative operator, applied to a function (its only capture).
    Deriv(Deriv),
    /// A linear map that `expand` made.
    Linear(Arc<LinearMap>),
    /// One of the functions of a family: its only capture is a cell, which says which (`family.rs`).
    Cell(u32),
}

impl PartialEq for Code {
    fn eq(&self, other: &Code) -> bool {
        match (self, other) {
            (Code::Lambda(a), Code::Lambda(b)) => Arc::ptr_eq(a, b),
            (Code::Func(a), Code::Func(b)) => a == b,
            (Code::Deriv(a), Code::Deriv(b)) => a == b,
            (Code::Linear(a), Code::Linear(b)) => a.func == b.func && a.backward == b.backward,
            (Code::Cell(a), Code::Cell(b)) => a == b,
            (Code::Lambda(_) | Code::Func(_) | Code::Deriv(_) | Code::Linear(_) | Code::Cell(_), _) => false,
        }
    }
}

/// A pullback or pushforward at a point: the function to call, and the shapes at its border. Sizes in the
/// shapes are captured variables.
#[derive(Clone, Debug)]
pub struct LinearMap {
    /// The first-order function.
    pub func: FuncId,
    /// Pullback (cotangents of results to cotangents of arguments) or pushforward?
    pub backward: bool,
    /// The shape of the argument of the primal.
    pub arg: Shape,
    /// The shape of its result.
    pub result: Shape,
    /// Which leaves of the result depend on the argument.
    pub active: Vec<bool>,
    /// Variables for the residuals (or the primal's arguments), in order.
    pub residuals: Vec<Var>,
    /// Variables for the sizes in the shapes, which are captured after the residuals.
    pub sizes: Vec<Var>,
}

/// What stands for a type parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum TyVal {
    /// A type.
    Ty(Shape),
    /// An index set.
    Ix(IxShape),
    /// A size.
    Size(Atom),
}

impl TyVal {
    /// Applies a map to the sizes.
    pub fn subst(&self, map: &Subst) -> TyVal {
        match self {
            TyVal::Ty(s) => TyVal::Ty(s.subst(map)),
            TyVal::Ix(ix) => TyVal::Ix(ix.subst(map)),
            TyVal::Size(a) => TyVal::Size(walk::subst_atom(a, map)),
        }
    }

    /// The same without sizes and functions.
    pub(super) fn skeleton(&self) -> TyVal {
        match self {
            TyVal::Ty(s) => TyVal::Ty(s.skeleton()),
            TyVal::Ix(ix) => match abstract_shape(&Shape::Index(ix.clone()), &|_| Atom::int(0)) {
                Shape::Index(ix) => TyVal::Ix(ix),
                other => TyVal::Ty(other),
            },
            TyVal::Size(_) => TyVal::Size(Atom::int(0)),
        }
    }
}

/// A value: its shape and its leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Val {
    /// What is known of it.
    pub shape: Shape,
    /// Its first-order atoms, in the order of [`Shape::leaf_tys`].
    pub leaves: Vec<Atom>,
}

impl Val {
    /// `()`.
    pub fn unit() -> Val {
        Val { shape: Shape::Tuple(vec![]), leaves: vec![] }
    }

    /// A scalar.
    pub fn scalar(a: Atom) -> Val {
        let s = a.ty().scalar().expect("a scalar atom");
        Val { shape: Shape::Scalar(s), leaves: vec![a] }
    }

    /// A tuple of values.
    pub fn tuple(vals: Vec<Val>) -> Val {
        let (shapes, leaves) = unzip(vals);
        Val { shape: Shape::Tuple(shapes), leaves }
    }

    /// The leaves shared out to these shapes.
    pub fn split(shapes: &[Shape], leaves: &[Atom]) -> Vec<Val> {
        let mut at = 0;
        shapes
            .iter()
            .map(|s| {
                let n = s.n_leaves();
                at += n;
                Val { shape: s.clone(), leaves: leaves[at - n..at].to_vec() }
            })
            .collect()
    }

    /// The components of a tuple or struct.
    pub fn parts(&self) -> Vec<Val> {
        match &self.shape {
            Shape::Tuple(shapes) | Shape::Struct(_, shapes) => Val::split(shapes, &self.leaves),
            other => panic!("no components: {other:?}"),
        }
    }
}

/// Shapes and all leaves.
pub fn unzip(vals: Vec<Val>) -> (Vec<Shape>, Vec<Atom>) {
    let mut leaves = vec![];
    let mut shapes = vec![];
    for v in vals {
        leaves.extend(v.leaves);
        shapes.push(v.shape);
    }
    (shapes, leaves)
}

impl IxShape {
    /// The number of indices.
    pub fn size(&self) -> Atom {
        match self {
            IxShape::Fin(a) | IxShape::Tuple(_, a) => a.clone(),
            IxShape::Unit => Atom::int(1),
            IxShape::Bool => Atom::int(2),
            IxShape::Enum(_, k) => Atom::int(*k),
        }
    }

    /// Applies a map to the sizes.
    pub fn subst(&self, map: &Subst) -> IxShape {
        match self {
            IxShape::Fin(a) => IxShape::Fin(walk::subst_atom(a, map)),
            IxShape::Tuple(xs, n) => {
                IxShape::Tuple(xs.iter().map(|x| x.subst(map)).collect(), walk::subst_atom(n, map))
            }
            IxShape::Unit | IxShape::Bool | IxShape::Enum(..) => self.clone(),
        }
    }

    /// Are both built alike, sizes apart?
    pub fn same_form(&self, other: &IxShape) -> bool {
        match (self, other) {
            (IxShape::Fin(_), IxShape::Fin(_)) => true,
            (IxShape::Tuple(xs, _), IxShape::Tuple(ys, _)) => {
                xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| x.same_form(y))
            }
            (a, b) => a == b,
        }
    }

    /// All size atoms.
    pub fn sizes(&self, out: &mut Vec<Atom>) {
        match self {
            IxShape::Fin(a) => out.push(a.clone()),
            IxShape::Tuple(xs, n) => {
                xs.iter().for_each(|x| x.sizes(out));
                out.push(n.clone());
            }
            IxShape::Unit | IxShape::Bool | IxShape::Enum(..) => {}
        }
    }
}

impl Shape {
    /// How many leaves there are.
    pub fn n_leaves(&self) -> usize {
        match self {
            Shape::Scalar(_)
            | Shape::Index(_)
            | Shape::Enum(..)
            | Shape::Tangent(..)
            | Shape::Rec(..)
            | Shape::Packed(_)
            | Shape::Raw(_) => 1,
            Shape::Tuple(ss) | Shape::Struct(_, ss) => ss.iter().map(Shape::n_leaves).sum(),
            Shape::Table(_, s) | Shape::Acc(s) => s.n_leaves(),
            Shape::Arrow(_) => 0,
            Shape::Fun(cs) => match cs.as_slice() {
                [] => 0,
                [c] => c.captured.iter().map(|(_, s)| s.n_leaves()).sum(),
                _ => 1,
            },
        }
    }

    /// The first-order types of the leaves.
    pub fn leaf_tys(&self) -> Vec<Ty> {
        match self {
            Shape::Scalar(s) => vec![Ty::Scalar(*s)],
            Shape::Index(_) => vec![INT],
            Shape::Tuple(ss) | Shape::Struct(_, ss) => ss.iter().flat_map(|s| s.leaf_tys()).collect(),
            Shape::Enum(_, alts) if alts.iter().all(Vec::is_empty) => vec![INT],
            Shape::Enum(_, alts) | Shape::Tangent(_, alts) => vec![sum_ty(alts)],
            Shape::Table(ix, elem) => {
                let n = ix.size();
                elem.leaf_tys().into_iter().map(|t| Ty::table(n.clone(), t)).collect()
            }
            Shape::Fun(cs) => match cs.as_slice() {
                [] => vec![],
                [c] => c.captured.iter().flat_map(|(_, s)| s.leaf_tys()).collect(),
                _ => {
                    let alts: Vec<Vec<Shape>> =
                        cs.iter().map(|c| c.captured.iter().map(|(_, s)| s.clone()).collect()).collect();
                    if alts.iter().flatten().all(|s| s.n_leaves() == 0) {
                        vec![INT]
                    } else {
                        vec![sum_ty(&alts)]
                    }
                }
            },
            Shape::Acc(s) => s.leaf_tys().into_iter().map(|t| Ty::Acc(Box::new(t))).collect(),
            Shape::Rec(k, _) => vec![Ty::Box(*k)],
            Shape::Arrow(_) => vec![],
            Shape::Packed(p) => vec![Ty::Pack(p.ty())],
            Shape::Raw(t) => vec![t.clone()],
        }
    }

    /// Applies a map to the sizes.
    pub fn subst(&self, map: &Subst) -> Shape {
        let list = |ss: &[Shape]| -> Vec<Shape> { ss.iter().map(|s| s.subst(map)).collect() };
        match self {
            Shape::Scalar(_) | Shape::Arrow(_) | Shape::Packed(_) => self.clone(),
            Shape::Index(ix) => Shape::Index(ix.subst(map)),
            Shape::Tuple(ss) => Shape::Tuple(list(ss)),
            Shape::Struct(id, ss) => Shape::Struct(*id, list(ss)),
            Shape::Enum(id, alts) => Shape::Enum(*id, alts.iter().map(|a| list(a)).collect()),
            Shape::Tangent(id, alts) => Shape::Tangent(*id, alts.iter().map(|a| list(a)).collect()),
            Shape::Table(ix, s) => Shape::Table(ix.subst(map), Box::new(s.subst(map))),
            Shape::Fun(cs) => Shape::Fun(cs.iter().map(|c| c.subst(map)).collect()),
            Shape::Acc(s) => Shape::Acc(Box::new(s.subst(map))),
            Shape::Rec(k, sizes) => Shape::Rec(*k, sizes.iter().map(|a| walk::subst_atom(a, map)).collect()),
            Shape::Raw(t) => Shape::Raw(walk::subst_ty(t, map)),
        }
    }

    /// All size atoms, in order, with repetitions.
    pub fn sizes(&self, out: &mut Vec<Atom>) {
        match self {
            Shape::Scalar(_) | Shape::Arrow(_) | Shape::Packed(_) => {}
            Shape::Index(ix) => ix.sizes(out),
            Shape::Tuple(ss) | Shape::Struct(_, ss) => ss.iter().for_each(|s| s.sizes(out)),
            Shape::Enum(_, alts) | Shape::Tangent(_, alts) => {
                alts.iter().flatten().for_each(|s| s.sizes(out))
            }
            Shape::Table(ix, s) => {
                ix.sizes(out);
                s.sizes(out);
            }
            Shape::Fun(cs) => cs.iter().for_each(|c| c.sizes(out)),
            Shape::Acc(s) => s.sizes(out),
            Shape::Rec(_, sizes) => out.extend(sizes.iter().cloned()),
            Shape::Raw(t) => out.extend(walk::ty_vars(t).into_iter().map(Atom::Var)),
        }
    }

    /// The shape of tangents. Leaves of the primal that have a tangent and leaves of this agree in order.
    pub fn tangent(&self) -> Shape {
        let list = |ss: &[Shape]| -> Vec<Shape> { ss.iter().map(Shape::tangent).collect() };
        match self {
            Shape::Scalar(s) if s.is_float() => self.clone(),
            Shape::Scalar(_) | Shape::Index(_) => Shape::Tuple(vec![]),
            Shape::Tuple(ss) => Shape::Tuple(list(ss)),
            Shape::Struct(id, ss) => Shape::Struct(*id, list(ss)),
            Shape::Enum(id, alts) | Shape::Tangent(id, alts) => {
                if !self.is_active() {
                    return Shape::Tuple(vec![]);
                }
                let payloads = alts.iter().map(|a| list(a));
                Shape::Tangent(*id, std::iter::once(vec![]).chain(payloads).collect())
            }
            Shape::Table(ix, s) => Shape::Table(ix.clone(), Box::new(s.tangent())),
            Shape::Packed(p) => Ty::Pack(p.ty()).tangent().map_or(Shape::Tuple(vec![]), Shape::Raw),
            Shape::Fun(cs) => match cs.as_slice() {
                [] => Shape::Tuple(vec![]),
                [c] => Shape::Tuple(c.captured.iter().map(|(_, s)| s.tangent()).collect()),
                _ if !self.is_active() => Shape::Tuple(vec![]),
                _ => {
                    let payloads = cs.iter().map(|c| c.captured.iter().map(|(_, s)| s.tangent()).collect());
                    Shape::Tangent(TypeId(u32::MAX), std::iter::once(vec![]).chain(payloads).collect())
                }
            },
            Shape::Acc(_) | Shape::Arrow(_) => Shape::Tuple(vec![]),
            Shape::Rec(..) => super::recursive::tangent(self),
            Shape::Raw(t) => t.tangent().map_or(Shape::Tuple(vec![]), Shape::Raw),
        }
    }

    /// Does it hold cells whose tangents are of no type of the surface?
    pub fn has_cells(&self) -> bool {
        match self {
            Shape::Rec(cell, _) => cell.has_floats && 0 < cell.order,
            Shape::Raw(Ty::Box(cell)) => cell.has_floats,
            Shape::Packed(p) => p.shape.has_cells(),
            Shape::Scalar(_) | Shape::Index(_) | Shape::Arrow(_) | Shape::Raw(_) => false,
            Shape::Tuple(ss) | Shape::Struct(_, ss) => ss.iter().any(Shape::has_cells),
            Shape::Enum(_, alts) | Shape::Tangent(_, alts) => alts.iter().flatten().any(Shape::has_cells),
            Shape::Table(_, s) | Shape::Acc(s) => s.has_cells(),
            Shape::Fun(cs) => cs.iter().flat_map(|c| &c.captured).any(|(_, s)| s.has_cells()),
        }
    }

    /// Does it hold floats?
    pub fn is_active(&self) -> bool {
        match self {
            Shape::Scalar(s) => s.is_float(),
            Shape::Index(_) | Shape::Arrow(_) => false,
            Shape::Tuple(ss) | Shape::Struct(_, ss) => ss.iter().any(Shape::is_active),
            Shape::Enum(_, alts) | Shape::Tangent(_, alts) => alts.iter().flatten().any(Shape::is_active),
            Shape::Table(_, s) | Shape::Acc(s) => s.is_active(),
            Shape::Packed(p) => p.shape.is_active(),
            Shape::Fun(cs) => cs.iter().flat_map(|c| &c.captured).any(|(_, s)| s.is_active()),
            Shape::Rec(cell, _) => cell.has_floats,
            Shape::Raw(t) => t.is_active(),
        }
    }
}

impl Closure {
    fn subst(&self, map: &Subst) -> Closure {
        Closure {
            code: self.code.clone(),
            tys: self.tys.iter().map(|(v, t)| (v.clone(), t.subst(map))).collect(),
            captured: self.captured.iter().map(|(v, s)| (v.clone(), s.subst(map))).collect(),
        }
    }

    fn sizes(&self, out: &mut Vec<Atom>) {
        for (_, t) in &self.tys {
            match t {
                TyVal::Ty(s) => s.sizes(out),
                TyVal::Ix(ix) => ix.sizes(out),
                TyVal::Size(a) => out.push(a.clone()),
            }
        }
        self.captured.iter().for_each(|(_, s)| s.sizes(out));
    }

    /// Is it the same code with captures that can be joined?
    pub fn same_code(&self, other: &Closure) -> bool {
        let same_ty = |a: &TyVal, b: &TyVal| match (a, b) {
            (TyVal::Ty(x), TyVal::Ty(y)) => super::join::same_layout(x, y),
            (TyVal::Ix(x), TyVal::Ix(y)) => x.same_form(y),
            (TyVal::Size(_), TyVal::Size(_)) => true,
            (TyVal::Ty(_) | TyVal::Ix(_) | TyVal::Size(_), _) => false,
        };
        self.code == other.code
            && self.tys.len() == other.tys.len()
            && self.tys.iter().zip(&other.tys).all(|((v, a), (w, b))| v == w && same_ty(a, b))
    }
}

/// The sum type of these payloads.
fn sum_ty(alts: &[Vec<Shape>]) -> Ty {
    Ty::Sum(alts.iter().map(|a| a.iter().flat_map(|s| s.leaf_tys()).collect()).collect())
}

/// Sizes numbered in order of first occurrence, so that shapes that differ in sizes only compare equal.
#[derive(Debug, Default)]
pub struct Abstraction {
    /// The atoms, by number.
    pub sizes: Vec<Atom>,
    /// The variables that stand for them.
    pub params: Vec<Var>,
}

impl Abstraction {
    /// Notes the sizes of a shape: each atom that is new gets a parameter.
    pub fn note(&mut self, shape: &Shape) {
        let mut all = vec![];
        shape.sizes(&mut all);
        self.note_atoms(all);
    }

    /// Notes these sizes.
    pub fn note_atoms(&mut self, atoms: Vec<Atom>) {
        for a in atoms {
            if !self.sizes.contains(&a) {
                self.sizes.push(a);
                self.params.push(Var::named("n", INT));
            }
        }
    }

    /// From atoms to parameters. (Constants are abstracted by [`Abstraction::apply`] only.)
    pub fn apply(&self, shape: &Shape) -> Shape {
        // Constants cannot be keys of a substitution: go through fresh variables.
        abstract_shape(shape, &|a| self.param_of(a))
    }

    /// The shape with numbers for its sizes, for comparison with others.
    ///
    /// # Panics
    ///
    /// If a size of the shape was not noted.
    pub fn numbered(&self, shape: &Shape) -> Shape {
        abstract_shape(shape, &|a| {
            let k = self.sizes.iter().position(|s| s == a).expect("its sizes were noted");
            Atom::int(-1 - i64::try_from(k).expect("few sizes"))
        })
    }

    /// The parameter of a size atom.
    pub fn param_of(&self, a: &Atom) -> Atom {
        match self.sizes.iter().position(|s| s == a) {
            Some(k) => Atom::Var(self.params[k].clone()),
            None => a.clone(),
        }
    }
}

/// Replaces the sets of lambdas in a shape, in order; what lambdas captured is not looked into.
pub(super) fn map_functions(shape: &Shape, f: &dyn Fn(&[Closure]) -> Shape) -> Shape {
    let list = |ss: &[Shape]| -> Vec<Shape> { ss.iter().map(|s| map_functions(s, f)).collect() };
    match shape {
        Shape::Fun(closures) => f(closures),
        Shape::Arrow(_) => match f(&[]) {
            Shape::Fun(set) if set.is_empty() => shape.clone(),
            known => known,
        },
        Shape::Scalar(_) | Shape::Index(_) | Shape::Rec(..) | Shape::Packed(_) | Shape::Raw(_) => {
            shape.clone()
        }
        Shape::Tuple(ss) => Shape::Tuple(list(ss)),
        Shape::Struct(id, ss) => Shape::Struct(*id, list(ss)),
        Shape::Enum(id, alts) => Shape::Enum(*id, alts.iter().map(|a| list(a)).collect()),
        Shape::Tangent(id, alts) => Shape::Tangent(*id, alts.iter().map(|a| list(a)).collect()),
        Shape::Table(ix, s) => Shape::Table(ix.clone(), Box::new(map_functions(s, f))),
        Shape::Acc(s) => Shape::Acc(Box::new(map_functions(s, f))),
    }
}

/// Rewrites every size atom of a shape, constants too (except inside raw types, which keep constants).
pub fn abstract_shape(shape: &Shape, f: &dyn Fn(&Atom) -> Atom) -> Shape {
    fn ix(i: &IxShape, f: &dyn Fn(&Atom) -> Atom) -> IxShape {
        match i {
            IxShape::Fin(a) => IxShape::Fin(f(a)),
            IxShape::Tuple(xs, n) => IxShape::Tuple(xs.iter().map(|x| ix(x, f)).collect(), f(n)),
            IxShape::Unit | IxShape::Bool | IxShape::Enum(..) => i.clone(),
        }
    }
    let list = |ss: &[Shape]| -> Vec<Shape> { ss.iter().map(|s| abstract_shape(s, f)).collect() };
    match shape {
        Shape::Scalar(_) | Shape::Arrow(_) | Shape::Packed(_) => shape.clone(),
        Shape::Index(i) => Shape::Index(ix(i, f)),
        Shape::Tuple(ss) => Shape::Tuple(list(ss)),
        Shape::Struct(id, ss) => Shape::Struct(*id, list(ss)),
        Shape::Enum(id, alts) => Shape::Enum(*id, alts.iter().map(|a| list(a)).collect()),
        Shape::Tangent(id, alts) => Shape::Tangent(*id, alts.iter().map(|a| list(a)).collect()),
        Shape::Table(i, s) => Shape::Table(ix(i, f), Box::new(abstract_shape(s, f))),
        Shape::Acc(s) => Shape::Acc(Box::new(abstract_shape(s, f))),
        Shape::Rec(k, sizes) => Shape::Rec(*k, sizes.iter().map(f).collect()),
        Shape::Fun(cs) => Shape::Fun(
            cs.iter()
                .map(|c| Closure {
                    code: c.code.clone(),
                    tys: c
                        .tys
                        .iter()
                        .map(|(v, t)| {
                            let t = match t {
                                TyVal::Ty(s) => TyVal::Ty(abstract_shape(s, f)),
                                TyVal::Ix(i) => TyVal::Ix(ix(i, f)),
                                TyVal::Size(a) => TyVal::Size(f(a)),
                            };
                            (v.clone(), t)
                        })
                        .collect(),
                    captured: c.captured.iter().map(|(v, s)| (v.clone(), abstract_shape(s, f))).collect(),
                })
                .collect(),
        ),
        Shape::Raw(t) => {
            let map: HashMap<Var, Atom> =
                walk::ty_vars(t).into_iter().map(|v| (v.clone(), f(&Atom::Var(v)))).collect();
            Shape::Raw(walk::subst_ty(t, &map))
        }
    }
}
