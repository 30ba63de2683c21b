//! Recursive types: a value is a cell on the heap, so that it has one leaf however much it holds.
//!
//! What a cell holds is read from the declaration where it is needed, under the sizes at hand. A cell keeps
//! its own sizes: what it holds is a pack of them and the leaves.

use std::cell::RefCell;
use std::sync::Arc;

use adl_core::ir::{Arm, Atom, Block, Expr, Func, FuncId, Lit, TypeBody, Var};
use adl_core::ty::{BOOL, BoxTy, INT, PackTy, Ty, TyArg, TyVar, TypeId};
use adl_core::walk::Subst;
use adl_diag::Code as DiagCode;

use super::family::Family;
use super::packed::is_unknown;
use super::shape::{Abstraction, Closure, Code, Packed, Shape, TyVal, Val, abstract_shape};
use super::{Result, Spec, Specialiser};

/// How deep a recursive type may contain itself at other types.
const MAX_TYPES: usize = 64;

/// What is in a kind of cells; its number is that in `Program::boxes`.
pub(crate) enum Rec {
    /// A value of a recursive type.
    Type(RecDef),
    /// A function of a family.
    Functions(Family),
    /// What a function that calls itself keeps for its backward pass.
    Residuals,
}

/// A recursive type at given arguments.
pub(crate) struct RecDef {
    id: TypeId,
    /// The arguments with numbered sizes.
    key: Shape,
    /// The arguments over `params`.
    args: Vec<(TyVar, TyVal)>,
    params: Vec<Var>,
    /// Has the type a tangent?
    has_floats: bool,
    /// What a cell holds where sizes occur in it.
    pack: Option<Arc<PackTy>>,
    /// The function that compares two values, once it is needed.
    equal: Option<FuncId>,
}

impl Specialiser {
    /// The recursive type of this number.
    fn def(&mut self, k: u32) -> &mut RecDef {
        match &mut self.recs[k as usize] {
            Rec::Type(def) => def,
            Rec::Functions(_) | Rec::Residuals => panic!("cell {k} is of no type"),
        }
    }

    /// The kind of the cells of the recursive type of this number.
    fn cell_ty(&mut self, k: u32) -> BoxTy {
        BoxTy { has_floats: self.def(k).has_floats, ..BoxTy::new(k) }
    }

    /// The kinds of cells that derivatives made get their numbers.
    pub(crate) fn number_residuals(&mut self) {
        self.recs.resize_with(self.target.boxes.len(), || Rec::Residuals);
    }

    /// Is the recursive type of this number a struct, and do its cells hold packs?
    pub(super) fn is_struct_in_pack(&self, k: u32) -> (bool, bool) {
        let Rec::Type(def) = &self.recs[k as usize] else { return (false, false) };
        let is_struct = matches!(self.source.types[def.id.0 as usize].body, TypeBody::Struct(_));
        (is_struct, def.pack.is_some())
    }

    /// Has a type a tangent that is not `()`? As the checker says it: a struct always has one.
    fn has_tangent(&self, ty: &Ty, env: &[(TyVar, bool)], inside: &mut Vec<TypeId>) -> bool {
        match ty {
            Ty::Scalar(s) => s.is_float(),
            Ty::Index(_) => false,
            Ty::Table(_, t) | Ty::Acc(t) | Ty::Tangent(t) => self.has_tangent(t, env, inside),
            Ty::Tuple(ts) => ts.iter().any(|t| self.has_tangent(t, env, inside)),
            Ty::Sum(alts) => alts.iter().flatten().any(|t| self.has_tangent(t, env, inside)),
            Ty::Pack(p) => p.items.iter().any(|t| self.has_tangent(t, env, inside)),
            Ty::Fn(..) | Ty::Lin(..) => true,
            Ty::Box(cell) => cell.has_floats,
            Ty::Var(v) => env.iter().any(|(w, has)| w == v && *has),
            Ty::Named(id, args) => {
                let decl = &self.source.types[id.0 as usize];
                let alts = match &decl.body {
                    TypeBody::Struct(_) => return true,
                    TypeBody::Enum(alts) => alts,
                };
                if inside.contains(id) {
                    return false;
                }
                let mut inner = vec![];
                for (v, arg) in decl.tparams.iter().zip(args) {
                    if let TyArg::Ty(t) = arg {
                        inner.push((v.clone(), self.has_tangent(t, env, inside)));
                    }
                }
                inside.push(*id);
                let has = alts.iter().flat_map(|(_, p)| p).any(|t| self.has_tangent(t, &inner, inside));
                inside.pop();
                has
            }
        }
    }

    /// Does a declaration reach itself?
    pub(crate) fn is_recursive_type(&mut self, id: TypeId) -> bool {
        let known = self.recursive_types.len();
        let types = &self.source.types;
        for k in known..types.len() {
            let mut seen = vec![];
            let mut todo = vec![TypeId(u32::try_from(k).expect("fewer than 2^32 types"))];
            let start = todo[0];
            let mut found = false;
            while let Some(next) = todo.pop().filter(|_| !found) {
                let mut named = vec![];
                match &types[next.0 as usize].body {
                    TypeBody::Struct(fields) => fields.iter().for_each(|(_, t)| named_in(t, &mut named)),
                    TypeBody::Enum(cs) => {
                        cs.iter().flat_map(|(_, p)| p).for_each(|t| named_in(t, &mut named))
                    }
                }
                found |= named.contains(&start);
                named.retain(|t| !seen.contains(t));
                seen.extend(named.iter().copied());
                todo.extend(named);
            }
            self.recursive_types.push(found);
        }
        self.recursive_types[id.0 as usize]
    }
}

/// The declared types that a type mentions.
fn named_in(ty: &Ty, out: &mut Vec<TypeId>) {
    match ty {
        Ty::Named(id, args) => {
            out.push(*id);
            for a in args {
                match a {
                    TyArg::Ty(t) => named_in(t, out),
                    TyArg::Ix(_) | TyArg::Size(_) => {}
                }
            }
        }
        Ty::Table(_, t) | Ty::Acc(t) | Ty::Tangent(t) => named_in(t, out),
        Ty::Tuple(ts) => ts.iter().for_each(|t| named_in(t, out)),
        Ty::Sum(alts) => alts.iter().flatten().for_each(|t| named_in(t, out)),
        Ty::Fn(a, b) | Ty::Lin(a, b) => {
            named_in(a, out);
            named_in(b, out);
        }
        Ty::Pack(p) => p.items.iter().for_each(|t| named_in(t, out)),
        Ty::Scalar(_) | Ty::Box(_) | Ty::Index(_) | Ty::Var(_) => {}
    }
}

impl Spec<'_> {
    /// The shape of values of a recursive type.
    pub(super) fn recursive(&mut self, id: TypeId, args: Vec<(TyVar, TyVal)>) -> Result<Shape> {
        // A function value is the shape that carries type arguments.
        let whole = Shape::Fun(vec![Closure { code: Code::Func(FuncId(id.0)), tys: args, captured: vec![] }]);
        let mut sizes = Abstraction::default();
        sizes.note(&whole);
        let key = sizes.numbered(&whole);
        let is_it = |r: &Rec| matches!(r, Rec::Type(def) if def.id == id && def.key == key);
        let known = self.s.recs.iter().position(is_it);
        if let Some(k) = known {
            return Ok(Shape::Rec(self.s.cell_ty(number(k)), sizes.sizes));
        }
        let at = self.s.recs.len();
        if MAX_TYPES < self.s.open_recs {
            let name = self.s.source.types[id.0 as usize].name.clone();
            let message = format!("`{name}` contains itself at ever larger types");
            return self.error(
                DiagCode::E0399,
                message,
                Some("give it the same type arguments inside itself"),
            );
        }
        let Shape::Fun(closures) = sizes.apply(&whole) else { unreachable!("a function value stays one") };
        let args: Vec<(TyVar, TyVal)> = closures.into_iter().flat_map(|c| c.tys).collect();
        let params = sizes.params.clone();
        let env = args.iter().filter_map(|(v, arg)| match arg {
            TyVal::Ty(shape) => Some((v.clone(), shape.has_tangent())),
            TyVal::Ix(_) | TyVal::Size(_) => None,
        });
        let env: Vec<(TyVar, bool)> = env.collect();
        let applied = args.iter().map(|(v, _)| TyArg::Ty(Ty::Var(v.clone()))).collect();
        let has_floats = self.s.has_tangent(&Ty::Named(id, applied), &env, &mut vec![]);
        let def = RecDef { id, key, args, params, has_floats, pack: None, equal: None };
        self.s.recs.push(Rec::Type(def));
        self.s.target.boxes.push(vec![]);
        let shape = Shape::Rec(self.s.cell_ty(number(at)), sizes.sizes);
        self.s.open_recs += 1;
        let content = self.content(&shape);
        self.s.open_recs -= 1;
        let content = content?;
        let mut inside = vec![];
        content.sizes(&mut inside);
        self.s.target.boxes[at] = if inside.is_empty() {
            content.leaf_tys()
        } else {
            let binders = RefCell::new(vec![]);
            let bound = abstract_shape(&content, &|_| {
                let n = Var::named("n", INT);
                binders.borrow_mut().push(n.clone());
                Atom::Var(n)
            });
            let pack = Arc::new(PackTy { sizes: binders.into_inner(), items: bound.leaf_tys() });
            self.s.def(number(at)).pack = Some(pack.clone());
            vec![Ty::Pack(pack)]
        };
        Ok(shape)
    }

    /// What a cell of the shape holds, over the sizes at hand; any other shape itself.
    pub(super) fn content(&mut self, shape: &Shape) -> Result<Shape> {
        let Some((k, sizes)) = cell_in(shape) else { return Ok(shape.clone()) };
        let def = self.s.def(k.id);
        let map: Subst = def.params.iter().cloned().zip(sizes.iter().cloned()).collect();
        let id = def.id;
        let args = def.args.iter().map(|(t, a)| (t.clone(), a.subst(&map))).collect();
        let shape = with_packs(self.body_shape(id, args)?);
        let shape = self.all_families(k.id, &shape);
        Ok((0..k.order).fold(shape, |shape, _| shape.tangent()))
    }

    /// A new cell, or the tangent with one in it.
    pub(super) fn boxed(&mut self, shape: &Shape, whole: &Val) -> Result<Val> {
        let Some((cell, _)) = cell_in(shape) else { panic!("a cell has a recursive type") };
        let content = self.content(shape)?;
        let mut args = self.coerce(whole, &content)?;
        if let Some(pack) = self.s.def(cell.id).pack.clone() {
            let sizes = self.pack_sizes(shape)?;
            let ty = if cell.order == 0 { pack } else { pack.tangent() };
            let expr = Expr::Pack { ty: ty.clone(), sizes, items: args };
            args = vec![self.bind(Ty::Pack(ty), expr)];
            if 0 < cell.order {
                let ty = cell.content(&self.s.target.boxes).swap_remove(0);
                args = vec![self.bind(ty.clone(), Expr::Inject { ty, tag: 1, args })];
            }
        }
        let mut leaf = self.bind(Ty::Box(cell), Expr::BoxNew { ty: cell, args });
        if 0 < cell.order {
            leaf = self.inject(shape, 1, vec![leaf]);
        }
        Ok(Val { shape: shape.clone(), leaves: vec![leaf] })
    }

    /// The sizes in a cell of the shape, over those at hand.
    fn pack_sizes(&mut self, shape: &Shape) -> Result<Vec<Atom>> {
        let Some((cell, sizes)) = cell_in(shape) else { panic!("a cell has a recursive type") };
        let content = self.content(&Shape::Rec(BoxTy { order: 0, ..cell }, sizes.to_vec()))?;
        let mut inside = vec![];
        content.sizes(&mut inside);
        Ok(inside)
    }

    /// What is in a cell or a pack; any other value itself. The tangent of a cell may be `zero`: then it holds zeros.
    pub(super) fn unboxed(&mut self, val: &Val) -> Result<Val> {
        let Some((cell, _)) = cell_in(&val.shape) else { return Ok(self.unpacked(val)) };
        let content = self.content(&val.shape)?;
        if cell.order == 0 {
            let leaves = self.unboxed_leaves(cell, val.leaves[0].clone(), &content.leaf_tys());
            return Ok(Val { shape: content, leaves });
        }
        let whole = Var::new(Ty::Box(cell));
        let leaves = self.unless_zero(&val.leaves[0], whole.clone(), &content.leaf_tys(), |spec, tys| {
            spec.unboxed_leaves(cell, (&whole).into(), tys)
        });
        Ok(Val { shape: content, leaves })
    }

    /// What `inside` makes of what is in a tangent `zero | …`; zeros where it is `zero`.
    fn unless_zero(
        &mut self,
        tangent: &Atom,
        whole: Var,
        tys: &[Ty],
        inside: impl FnOnce(&mut Self, &[Ty]) -> Vec<Atom>,
    ) -> Vec<Atom> {
        self.open();
        let zeros = tys.iter().map(|t| self.with_builder(|b| adl_ad::zero(b, t))).collect();
        let nothing = self.close(zeros);
        self.open_with(std::slice::from_ref(&whole));
        let parts = inside(self, tys);
        let body = self.close(parts);
        let arms = vec![Arm { params: vec![], body: nothing }, Arm { params: vec![whole], body }];
        self.bind_all(tys.to_vec(), Expr::Case { scrut: tangent.clone(), arms })
    }

    /// The leaves in a cell, which may lie in a pack there.
    fn unboxed_leaves(&mut self, cell: BoxTy, leaf: Atom, tys: &[Ty]) -> Vec<Atom> {
        let held = cell.content(&self.s.target.boxes);
        let mut leaves = self.bind_all(held, Expr::Unbox(leaf));
        let Some(pack) = self.s.def(cell.id).pack.clone() else { return leaves };
        let pack_leaf = leaves.swap_remove(0);
        if cell.order == 0 {
            return self.open_pack(&pack, pack_leaf);
        }
        let pack = pack.tangent();
        let whole = Var::new(Ty::Pack(pack.clone()));
        self.unless_zero(&pack_leaf, whole.clone(), tys, |spec, _| spec.open_pack(&pack, (&whole).into()))
    }

    fn open_pack(&mut self, pack: &PackTy, leaf: Atom) -> Vec<Atom> {
        let names: Vec<Var> = pack.sizes.iter().map(|n| Var::named(n.name(), INT)).collect();
        let map: Subst = pack.sizes.iter().cloned().zip(names.iter().map(Atom::from)).collect();
        let items = pack.items.iter().map(|t| Var::new(adl_core::walk::subst_ty(t, &map)));
        let vars: Vec<Var> = names.iter().cloned().chain(items).collect();
        self.emit(vars.clone(), Expr::Open(leaf));
        vars[names.len()..].iter().map(Atom::from).collect()
    }

    /// `==` on values of a recursive type: a call of a function that is made once.
    pub(super) fn equal_cells(&mut self, a: &Val, b: &Val) -> Result<Atom> {
        let Shape::Rec(k, sizes) = &a.shape else { panic!("two cells") };
        let func = match self.s.def(k.id).equal {
            Some(func) => func,
            None => self.equal_function(k.id)?,
        };
        let args = sizes.iter().cloned().chain([a.leaves[0].clone(), b.leaves[0].clone()]).collect();
        Ok(self.bind(BOOL, Expr::Call { func, tys: vec![], args, checkpoint: false }))
    }

    fn equal_function(&mut self, k: u32) -> Result<FuncId> {
        let def = self.s.def(k);
        let sizes: Vec<Var> = def.params.iter().map(|p| Var::named(p.name(), INT)).collect();
        let id = def.id;
        let type_name = self.s.source.types[id.0 as usize].name.clone();
        let cell = self.s.cell_ty(k);
        let (a, b) = (Var::named("a", Ty::Box(cell)), Var::named("b", Ty::Box(cell)));
        let params: Vec<Var> = sizes.iter().chain([&a, &b]).cloned().collect();
        let span = self.span;
        // A call of itself needs to know the type of the result only.
        let body = Block { stmts: vec![], results: vec![Atom::Lit(Lit::Bool(true))] };
        let name = format!("equal.{type_name}.{}", self.s.target.funcs.len());
        let func = self.s.push(Func { name, tparams: vec![], params: params.clone(), body, span });
        self.s.def(k).equal = Some(func);
        let mut sub = Spec::new(self.s, &params, std::collections::HashMap::new(), span);
        sub.open();
        let shape = Shape::Rec(cell, sizes.iter().map(Atom::from).collect());
        let val = |v: &Var| Val { shape: shape.clone(), leaves: vec![v.into()] };
        let (x, y) = (sub.unboxed(&val(&a))?, sub.unboxed(&val(&b))?);
        let same = sub.equal(&x, &y)?;
        let body = sub.close(vec![same]);
        self.s.target.funcs[func.0 as usize].body = body;
        Ok(func)
    }

    /// Where values of the surface would have tangents that it has no type for, their derivatives are refused.
    pub(crate) fn no_recursive_tangent(&self, shape: &Shape) -> Result<()> {
        if shape.has_cells() {
            let message = "the tangents of functions in recursive data, and of tangents of recursive data, are not supported yet";
            let help = "differentiate by the floats in them";
            return self.error(DiagCode::E0501, message, Some(help));
        }
        Ok(())
    }
}

impl Shape {
    /// Has its type a tangent that is not `()`? As the checker says it: a struct always has one.
    pub(super) fn has_tangent(&self) -> bool {
        match self {
            Shape::Scalar(s) => s.is_float(),
            Shape::Index(_) => false,
            Shape::Tuple(ss) => ss.iter().any(Shape::has_tangent),
            Shape::Enum(_, alts) => alts.iter().flatten().any(Shape::has_tangent),
            Shape::Table(_, s) | Shape::Acc(s) => s.has_tangent(),
            Shape::Rec(cell, _) => cell.has_floats,
            Shape::Raw(t) => t.is_active(),
            Shape::Packed(p) => p.shape.has_tangent(),
            Shape::Struct(..) | Shape::Tangent(..) | Shape::Fun(_) | Shape::Arrow(_) => true,
        }
    }
}

/// The kind of cell that a value of a recursive type is, or that the tangent of one may hold, and the sizes in its type.
pub(super) fn cell_in(shape: &Shape) -> Option<(BoxTy, &[Atom])> {
    match shape {
        Shape::Rec(cell, sizes) => Some((*cell, sizes)),
        Shape::Tangent(_, alts) => match alts.as_slice() {
            [zero, whole] if zero.is_empty() => match whole.as_slice() {
                [Shape::Rec(cell, sizes)] if 0 < cell.order => Some((*cell, sizes)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The tangent of a value of a recursive type: `zero`, or a cell.
pub(super) fn tangent(shape: &Shape) -> Shape {
    let Shape::Rec(cell, sizes) = shape else { panic!("a value of a recursive type") };
    if !cell.has_floats {
        return Shape::Tuple(vec![]);
    }
    let of_tangents = BoxTy { order: cell.order + 1, ..*cell };
    Shape::Tangent(TypeId(u32::MAX), vec![vec![], vec![Shape::Rec(of_tangents, sizes.clone())]])
}

fn number(k: usize) -> u32 {
    u32::try_from(k).expect("fewer than 2^32 recursive types")
}

/// Parts with sizes that only a value knows bring them along.
fn with_packs(body: Shape) -> Shape {
    let part = |s: Shape| {
        let mut sizes = vec![];
        s.sizes(&mut sizes);
        if sizes.iter().any(is_unknown) { Shape::Packed(Box::new(Packed::any(&s))) } else { s }
    };
    match body {
        Shape::Struct(id, parts) => Shape::Struct(id, parts.into_iter().map(part).collect()),
        Shape::Enum(id, alts) => {
            Shape::Enum(id, alts.into_iter().map(|alt| alt.into_iter().map(part).collect()).collect())
        }
        other => other,
    }
}
