//! Families: where functions would nest without end, or have sizes of their own, a function value is a cell.
//!
//! Most function values are the leaves of what they captured. That cannot be where a function captures one
//! that was made by the same code in the round before: in an argument that grows from call to call
//! (continuations), in the state of a loop, in recursive data. There the value is a cell that says which
//! lambda it is and holds what that captured: a recursive lambda set (Brandon et al., PLDI 2023, section 4).
//! A family is the set of lambdas of such a place. It only ever grows at its end, so values that were made
//! before stay as they are. When it grows, the code of the item is made again.

use std::cell::{Cell, RefCell};

use adl_core::ir::{Atom, Expr, Var};
use adl_core::ty::{BoxTy, INT, PackTy, Ty};
use adl_core::walk::Subst;
use adl_diag::Code as DiagCode;

use super::apply::only;
use super::recursive::Rec;
use super::shape::{Abstraction, Closure, Code, Shape, Val, map_functions};
use super::{Result, Spec, Specialiser};

/// The lambdas that a cell can be.
pub(crate) struct Family {
    /// What stands for the cell in the closures that hold it.
    var: Var,
    members: Vec<Member>,
}

/// One lambda with what it captured. A lambda that captured values of other shapes is another member.
struct Member {
    /// With numbered sizes, for comparison.
    key: Shape,
    /// Over `sizes`, which the cell brings along.
    closure: Closure,
    sizes: Vec<Var>,
}

/// Where function values become cells. The shapes tell the types of a polymorphic place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    /// In the argument of a function.
    Arg(Shape, Shape),
    /// In its result.
    Result(Shape, Shape),
    /// In the state of the loop with this variable, or in the elements of the table with this index.
    Body(Var, Shape),
    /// In a recursive type.
    Type(u32),
}

impl Member {
    /// What a cell holds of it.
    fn payload(&self) -> Vec<Ty> {
        let leaves = Shape::Fun(vec![self.closure.clone()]).leaf_tys();
        match self.pack() {
            Some(pack) => vec![Ty::Pack(pack)],
            None => leaves,
        }
    }

    fn pack(&self) -> Option<std::sync::Arc<PackTy>> {
        let items = Shape::Fun(vec![self.closure.clone()]).leaf_tys();
        let sizes = self.sizes.clone();
        (!sizes.is_empty()).then(|| std::sync::Arc::new(PackTy { sizes, items }))
    }
}

impl Family {
    fn new() -> Family {
        Family { var: Var::named("cell", INT), members: vec![] }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    pub(super) fn truncate(&mut self, n: usize) {
        self.members.truncate(n);
    }

    /// What a cell holds: a sum with an alternative for each member. The first has an Int as well, so that
    /// the sum is one from the start.
    pub(super) fn content(&self) -> Vec<Ty> {
        if self.members.is_empty() {
            return vec![INT];
        }
        let mut alts: Vec<Vec<Ty>> = self.members.iter().map(Member::payload).collect();
        alts[0].insert(0, INT);
        vec![Ty::Sum(alts)]
    }
}

impl Specialiser {
    fn family(&self, k: u32) -> &Family {
        match &self.recs[k as usize] {
            Rec::Functions(family) => family,
            Rec::Type(_) | Rec::Residuals => panic!("a family of functions"),
        }
    }

    /// The shape of a function value of the family.
    fn family_shape(&self, k: u32) -> Shape {
        let captured = vec![(self.family(k).var.clone(), Shape::Raw(Ty::Box(BoxTy::new(k))))];
        Shape::Fun(vec![Closure { code: Code::Cell(k), tys: vec![], captured }])
    }

    fn family_at(&self, place: &Place, at: usize) -> Option<u32> {
        self.places.iter().find(|(p, k, _)| p == place && *k == at).map(|(_, _, family)| *family)
    }

    fn new_family(&mut self, place: Place, at: usize) -> u32 {
        let k = u32::try_from(self.recs.len()).expect("fewer than 2^32 recursive types");
        self.recs.push(Rec::Functions(Family::new()));
        self.target.boxes.push(vec![INT]);
        self.places.push((place, at, k));
        k
    }
}

impl Spec<'_> {
    /// The shape with cells for the functions at the positions of this place that have families.
    pub(super) fn with_families(&self, place: &Place, shape: &Shape) -> Shape {
        let at = Cell::new(0);
        map_functions(shape, &|functions| {
            at.set(at.get() + 1);
            match self.s.family_at(place, at.get() - 1) {
                Some(k) => self.s.family_shape(k),
                None => Shape::Fun(functions.to_vec()),
            }
        })
    }

    /// The shape of what is in a recursive type: all functions in it are cells.
    pub(super) fn all_families(&mut self, k: u32, shape: &Shape) -> Shape {
        let n = shape.functions().len();
        for at in 0..n {
            if self.s.family_at(&Place::Type(k), at).is_none() {
                self.s.new_family(Place::Type(k), at);
            }
        }
        self.with_families(&Place::Type(k), shape)
    }

    /// The value with cells where the place has them.
    pub(super) fn fitted(&mut self, place: &Place, val: Val) -> Result<Val> {
        let shape = self.with_families(place, &val.shape);
        let leaves = self.coerce(&val, &shape)?;
        Ok(Val { shape, leaves })
    }

    /// From now on, the functions at this position are cells; the item is made again.
    pub(super) fn start_family<T>(&mut self, place: Place, at: usize) -> Result<T> {
        self.s.new_family(place, at);
        self.again()
    }

    fn again<T>(&mut self) -> Result<T> {
        self.s.restart = true;
        self.error(DiagCode::E0399, "a set of functions grew", None)
    }

    /// The first position of functions that nest: one captures another that the same code made.
    pub(super) fn nested_functions(&self, shape: &Shape) -> Option<usize> {
        shape.functions().iter().position(|set| set.iter().any(holds_itself))
    }

    /// The first position of functions with sizes that are not in scope at this depth.
    pub(super) fn local_functions(&self, shape: &Shape, depth: usize) -> Option<usize> {
        let is_local = |set: &Vec<Closure>| {
            let mut sizes = vec![];
            Shape::Fun(set.clone()).sizes(&mut sizes);
            sizes.iter().any(|a| !self.in_scope(a, depth))
        };
        shape.functions().iter().position(is_local)
    }

    /// Which member of the family a lambda is, and the sizes it brings along.
    fn member(&mut self, k: u32, closure: &Closure) -> Result<(usize, Vec<Atom>)> {
        let whole = Shape::Fun(vec![closure.clone()]);
        let mut sizes = Abstraction::default();
        sizes.note(&whole);
        let key = sizes.numbered(&whole);
        if let Some(at) = self.s.family(k).members.iter().position(|m| m.key == key) {
            return Ok((at, sizes.sizes));
        }
        let Shape::Fun(mut closures) = sizes.apply(&whole) else { panic!("a function value stays one") };
        let member = Member { key, closure: closures.swap_remove(0), sizes: sizes.params };
        let Rec::Functions(family) = &mut self.s.recs[k as usize] else { panic!("a family of functions") };
        family.members.push(member);
        self.s.target.boxes[k as usize] = family.content();
        self.again()
    }

    /// A function value as a cell of the family.
    pub(super) fn cell_of(&mut self, val: &Val, k: u32) -> Result<Val> {
        self.each_lambda(val, |spec, f| {
            let closure = only(f).clone();
            if closure.code == Code::Cell(k) {
                return Ok(f.clone());
            }
            let (at, sizes) = spec.member(k, &closure)?;
            let mut args = f.leaves.clone();
            if let Some(ty) = spec.s.family(k).members[at].pack() {
                let expr = Expr::Pack { ty: ty.clone(), sizes, items: args };
                args = vec![spec.bind(Ty::Pack(ty), expr)];
            }
            if at == 0 {
                args.insert(0, Atom::int(0));
            }
            let ty = spec.s.target.boxes[k as usize][0].clone();
            let tag = u32::try_from(at).expect("few functions");
            let sum = spec.bind(ty.clone(), Expr::Inject { ty, tag, args });
            let cell = spec.bind(Ty::Box(BoxTy::new(k)), Expr::BoxNew { ty: BoxTy::new(k), args: vec![sum] });
            Ok(Val { shape: spec.s.family_shape(k), leaves: vec![cell] })
        })
    }

    /// `f(arg)` for a cell `f` of the family.
    pub(super) fn apply_cell(&mut self, k: u32, cell: &Atom, arg: &Val) -> Result<Val> {
        let content = self.s.target.boxes[k as usize][0].clone();
        let sum = self.bind(content.clone(), Expr::Unbox(cell.clone()));
        let Ty::Sum(alts) = content else { return self.bottom() };
        let mut branches = vec![];
        for (at, payload) in alts.into_iter().enumerate() {
            let params: Vec<Var> = payload.into_iter().map(Var::new).collect();
            self.open_with(&params);
            let held: Vec<Atom> = params.iter().skip(usize::from(at == 0)).map(Atom::from).collect();
            let f = self.opened(k, at, held);
            let val = self.apply_closure(&f, arg.clone(), false)?;
            branches.push(self.suspend(params, val));
        }
        self.case_of(sum, branches)
    }

    /// A member of the family from what its cell holds.
    fn opened(&mut self, k: u32, at: usize, mut held: Vec<Atom>) -> Val {
        let member = &self.s.family(k).members[at];
        let (closure, pack) = (Shape::Fun(vec![member.closure.clone()]), member.pack());
        let Some(pack) = pack else { return Val { shape: closure, leaves: held } };
        let names: Vec<Var> = pack.sizes.iter().map(|n| Var::named(n.name(), INT)).collect();
        let map: Subst = pack.sizes.iter().cloned().zip(names.iter().map(Atom::from)).collect();
        let items = pack.items.iter().map(|t| Var::new(adl_core::walk::subst_ty(t, &map)));
        let vars: Vec<Var> = names.iter().cloned().chain(items).collect();
        self.emit(vars.clone(), Expr::Open(held.swap_remove(0)));
        Val { shape: closure.subst(&map), leaves: vars[names.len()..].iter().map(Atom::from).collect() }
    }
}

impl Shape {
    /// The sets of lambdas in it, in order; not those that lambdas captured.
    pub(super) fn functions(&self) -> Vec<Vec<Closure>> {
        let found = RefCell::new(vec![]);
        map_functions(self, &|functions| {
            found.borrow_mut().push(functions.to_vec());
            Shape::Fun(vec![])
        });
        found.into_inner()
    }

    /// The shape without sizes and functions: what tells the types of a place.
    pub(super) fn skeleton(&self) -> Shape {
        let bare = map_functions(self, &|_| Shape::Fun(vec![]));
        super::shape::abstract_shape(&bare, &|_| Atom::int(0))
    }
}

/// The types that a closure is at, as a shape.
pub(super) fn code_shape(closure: &Closure) -> Shape {
    let tys = closure.tys.iter().map(|(v, t)| (v.clone(), t.skeleton())).collect();
    Shape::Fun(vec![Closure { code: closure.code.clone(), tys, captured: vec![] }])
}

/// Did a lambda capture one that the same code made?
fn holds_itself(closure: &Closure) -> bool {
    matches!(closure.code, Code::Lambda(_) | Code::Func(_))
        && closure.captured.iter().any(|(_, s)| holds(s, &closure.code))
}

fn holds(shape: &Shape, code: &Code) -> bool {
    shape
        .functions()
        .iter()
        .flatten()
        .any(|c| c.code == *code || c.captured.iter().any(|(_, s)| holds(s, code)))
}
