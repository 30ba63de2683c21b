//! Joins: one shape for the values of several branches, and the code that brings each value to it.
//!
//! Where two sets of lambdas meet, both are injected into their union, so values made before keep
//! their layout.

use adl_core::ir::{Arm, Atom, Block, Effect, Expr, Lit, Var};
use adl_core::ty::{INT, Ty};

use super::packed::is_unknown;
use super::shape::{Closure, Code as FunCode, IxShape, Packed, Shape, Val, abstract_shape};
use super::{Result, Scope, Spec};

/// A branch that has been built: its block is open again while it is finished.
pub(crate) struct Branch {
    params: Vec<Var>,
    scope: Scope,
    val: Val,
}

impl Spec<'_> {
    /// Takes the innermost block away, to be finished later.
    pub(crate) fn suspend(&mut self, params: Vec<Var>, val: Val) -> Branch {
        let scope = self.scopes.pop().expect("a block is open");
        Branch { params, scope, val }
    }

    /// `case scrut` with these branches: one value.
    pub(crate) fn case_of(&mut self, scrut: Atom, branches: Vec<Branch>) -> Result<Val> {
        let mut shape = branches[0].val.shape.clone();
        for b in &branches[1..] {
            shape = self.join(&shape, &b.val.shape)?;
        }
        // Sizes that are made inside branches become results of the case, and so do sizes with other atoms in
        // other branches: packs and what functions captured may differ. (Others are equal, and are given twice.)
        let depth = self.depth();
        let mut sizes = vec![];
        shape.sizes(&mut sizes);
        let column = |b: &Branch| -> Vec<Option<Atom>> {
            aligned(&shape, &b.val.shape).into_iter().map(|a| a.filter(|a| !is_unknown(a))).collect()
        };
        let columns: Vec<Vec<Option<Atom>>> = branches.iter().map(column).collect();
        let row = |k: usize| -> Vec<&Option<Atom>> { columns.iter().map(|c| &c[k]).collect() };
        let differs = |k: usize| {
            let mut known = columns.iter().filter_map(|c| c[k].as_ref());
            let first = known.next();
            known.any(|a| Some(a) != first)
        };
        let mut local: Vec<usize> = vec![];
        let mut result_of: Vec<Option<usize>> = vec![];
        for (k, size) in sizes.iter().enumerate() {
            let needed = !self.in_scope(size, depth) || differs(k);
            let known = local.iter().position(|l| row(*l) == row(k));
            result_of.push(needed.then(|| known.unwrap_or(local.len())));
            if needed && known.is_none() {
                local.push(k);
            }
        }
        let mut arms = vec![];
        for (branch, column) in branches.into_iter().zip(&columns) {
            self.scopes.push(branch.scope);
            // A size of a function that cannot come from this branch is never read.
            let any = |k: usize| {
                let known = sizes[k].var().is_none() || result_of[k].is_none();
                if known { sizes[k].clone() } else { Atom::int(0) }
            };
            let size = |k: &usize| column[*k].clone().unwrap_or_else(|| any(*k));
            let mut results: Vec<Atom> = local.iter().map(size).collect();
            // In types, too, each branch has its own sizes.
            let at = std::cell::Cell::new(0);
            let own = abstract_shape(&shape, &|_| size(&at.replace(at.get() + 1)));
            results.extend(self.coerce(&branch.val, &own)?);
            arms.push(Arm { params: branch.params, body: self.close(results) });
        }
        let mut vars: Vec<Var> = local.iter().map(|_| Var::named("n", INT)).collect();
        let at = std::cell::Cell::new(0);
        let shape = abstract_shape(&shape, &|a| {
            let k = at.replace(at.get() + 1);
            result_of[k].map_or_else(|| a.clone(), |r| Atom::from(&vars[r]))
        });
        let n_sizes = vars.len();
        // The sizes are in scope from this statement on.
        for v in &vars {
            self.home.insert(v.clone(), depth);
        }
        let tys = self.leaf_tys(&shape);
        vars.extend(tys.into_iter().map(Var::new));
        // A leaf that is a size in every branch (of a pack) stays that size.
        let same = |l: usize, k: usize| arms.iter().all(|arm| arm.body.results[l] == arm.body.results[k]);
        let size_of = |l: usize| (0..n_sizes).find(|k| vars[l].ty() == &INT && same(l, *k)).unwrap_or(l);
        let leaves = (n_sizes..vars.len()).map(|l| Atom::from(&vars[size_of(l)])).collect();
        self.emit(vars, Expr::Case { scrut, arms });
        Ok(Val { shape, leaves })
    }

    /// The least shape that both have. Of two equal sizes the one that is in scope here is kept.
    pub(crate) fn join(&self, a: &Shape, b: &Shape) -> Result<Shape> {
        if a == b {
            return Ok(a.clone());
        }
        let list = |xs: &[Shape], ys: &[Shape]| -> Result<Vec<Shape>> {
            xs.iter().zip(ys).map(|(x, y)| self.join(x, y)).collect()
        };
        let alts = |xs: &[Vec<Shape>], ys: &[Vec<Shape>]| -> Result<Vec<Vec<Shape>>> {
            xs.iter().zip(ys).map(|(x, y)| list(x, y)).collect()
        };
        Ok(match (a, b) {
            (Shape::Index(x), Shape::Index(y)) => Shape::Index(self.join_ix(x, y)),
            (Shape::Tuple(xs), Shape::Tuple(ys)) if xs.len() == ys.len() => Shape::Tuple(list(xs, ys)?),
            (Shape::Struct(id, xs), Shape::Struct(_, ys)) => Shape::Struct(*id, list(xs, ys)?),
            (Shape::Enum(id, xs), Shape::Enum(_, ys)) => Shape::Enum(*id, alts(xs, ys)?),
            (Shape::Tangent(id, xs), Shape::Tangent(_, ys)) => Shape::Tangent(*id, alts(xs, ys)?),
            (Shape::Table(i, x), Shape::Table(j, y)) => {
                Shape::Table(self.join_ix(i, j), Box::new(self.join(x, y)?))
            }
            (Shape::Acc(x), Shape::Acc(y)) => Shape::Acc(Box::new(self.join(x, y)?)),
            (Shape::Raw(x), Shape::Raw(_)) => Shape::Raw(x.clone()),
            (Shape::Rec(j, xs), Shape::Rec(k, ys)) if j == k => {
                let here = |(x, y): (&Atom, &Atom)| {
                    if self.in_scope(x, self.depth()) { x.clone() } else { y.clone() }
                };
                Shape::Rec(*j, xs.iter().zip(ys).map(here).collect())
            }
            (Shape::Fun(xs), Shape::Fun(ys)) => Shape::Fun(self.join_closures(xs, ys)?),
            (Shape::Packed(x), Shape::Packed(y)) => {
                let shape = self.join(&x.shape, &y.shape)?.without_sizes();
                Shape::Packed(Box::new(x.both(y, shape)))
            }
            (Shape::Packed(x), other) | (other, Shape::Packed(x)) => {
                let shape = self.join(&x.shape, other)?.without_sizes();
                let links = if shape.n_leaves() == x.links.len() { x.links.clone() } else { vec![] };
                let none = vec![None; shape.n_leaves()];
                Shape::Packed(Box::new(Packed { links: if links.is_empty() { none } else { links }, shape }))
            }
            (Shape::Arrow(_), known @ (Shape::Fun(_) | Shape::Arrow(_)))
            | (known @ Shape::Fun(_), Shape::Arrow(_)) => known.clone(),
            _ => panic!("values of one type have shapes of one form: {a:?} and {b:?}"),
        })
    }

    fn join_ix(&self, a: &IxShape, b: &IxShape) -> IxShape {
        match (a, b) {
            (IxShape::Fin(x), IxShape::Fin(_)) if is_unknown(x) => b.clone(),
            (IxShape::Fin(_), IxShape::Fin(y)) if is_unknown(y) => a.clone(),
            (IxShape::Fin(x), IxShape::Fin(_)) if self.in_scope(x, self.depth()) => a.clone(),
            (IxShape::Fin(_), IxShape::Fin(_)) => b.clone(),
            // Of a pack only the size is known outside.
            _ if !a.same_form(b) => IxShape::Fin(a.size()),
            (IxShape::Tuple(xs, n), IxShape::Tuple(ys, m)) => {
                let total = if self.in_scope(n, self.depth()) { n } else { m };
                IxShape::Tuple(xs.iter().zip(ys).map(|(x, y)| self.join_ix(x, y)).collect(), total.clone())
            }
            _ => a.clone(),
        }
    }

    fn join_closures(&self, xs: &[Closure], ys: &[Closure]) -> Result<Vec<Closure>> {
        let mut out = xs.to_vec();
        for y in ys {
            match out.iter_mut().find(|x| x.same_code(y)) {
                Some(x) => {
                    for ((_, s), (_, t)) in x.captured.iter_mut().zip(&y.captured) {
                        *s = self.join(s, t)?;
                    }
                }
                None => out.push(y.clone()),
            }
        }
        Ok(out)
    }

    /// The leaves of a value in the layout of a shape that was joined from its own.
    pub(crate) fn coerce(&mut self, val: &Val, to: &Shape) -> Result<Vec<Atom>> {
        if same_layout(&val.shape, to) {
            return Ok(val.leaves.clone());
        }
        if let Shape::Packed(packed) = to {
            return Ok(self.packed(val, packed)?.leaves);
        }
        // A function with sizes of its own becomes a cell.
        if let Shape::Packed(_) = val.shape {
            let open = self.unpacked(val);
            return self.coerce(&open, to);
        }
        match (&val.shape, to) {
            (Shape::Tuple(_) | Shape::Struct(..), Shape::Tuple(ts) | Shape::Struct(_, ts)) => {
                let mut leaves = vec![];
                for (part, t) in val.parts().iter().zip(ts) {
                    leaves.extend(self.coerce(part, t)?);
                }
                Ok(leaves)
            }
            (Shape::Enum(_, from), Shape::Enum(_, alts))
            | (Shape::Tangent(_, from), Shape::Tangent(_, alts)) => {
                let tags = (0..from.len()).collect::<Vec<_>>();
                self.reinject(&val.leaves[0], from, alts, &tags, to)
            }
            (Shape::Table(ix, elem), Shape::Table(_, elem_to)) => {
                let n = ix.size();
                let i = Var::named("i", INT);
                self.open_with(std::slice::from_ref(&i));
                let leaves =
                    val.leaves.iter().map(|l| self.index(l, &[Atom::Var(i.clone())], false)).collect();
                let part = Val { shape: (**elem).clone(), leaves };
                let leaves = self.coerce(&part, elem_to)?;
                let body = self.close(leaves);
                let tys = self.leaf_tys(to);
                Ok(self.bind_all(tys, Expr::For { ix: adl_core::ty::Ix::Fin(n), var: i, body }))
            }
            (Shape::Arrow(_), Shape::Fun(closures)) => self.coerce_fun(val, &[], closures, to),
            (Shape::Fun(from), Shape::Fun(closures)) => self.coerce_fun(val, from, closures, to),
            (from, to) => panic!("no way from {from:?} to {to:?}"),
        }
    }

    fn coerce_fun(
        &mut self,
        val: &Val,
        from: &[Closure],
        to: &[Closure],
        shape: &Shape,
    ) -> Result<Vec<Atom>> {
        if let [Closure { code: FunCode::Cell(k), .. }] = to {
            return Ok(self.cell_of(val, *k)?.leaves);
        }
        let captures = |cs: &[Closure]| -> Vec<Vec<Shape>> {
            cs.iter().map(|c| c.captured.iter().map(|(_, s)| s.clone()).collect()).collect()
        };
        let tags: Vec<usize> = from
            .iter()
            .map(|c| to.iter().position(|t| t.same_code(c)).expect("the joined set has every lambda"))
            .collect();
        let (from_alts, to_alts) = (captures(from), captures(to));
        match (from.len(), to.len()) {
            (0, _) => {
                // No lambda can be here: the value is never used.
                let message = Atom::Lit(Lit::Str("a function that does not exist was needed".into()));
                let tys = self.leaf_tys(shape);
                Ok(self.bind_all(tys, Expr::Effect(Effect::Error(message))))
            }
            (1, 1) => {
                let parts = Val::split(&from_alts[0], &val.leaves);
                let mut leaves = vec![];
                for (p, t) in parts.iter().zip(&to_alts[0]) {
                    leaves.extend(self.coerce(p, t)?);
                }
                Ok(leaves)
            }
            (1, _) => {
                let parts = Val::split(&from_alts[0], &val.leaves);
                let mut leaves = vec![];
                for (p, t) in parts.iter().zip(&to_alts[tags[0]]) {
                    leaves.extend(self.coerce(p, t)?);
                }
                Ok(vec![self.inject(shape, tags[0], leaves)])
            }
            _ => self.reinject(&val.leaves[0], &from_alts, &to_alts, &tags, shape),
        }
    }

    /// Alternative `tag` of a shape whose single leaf is a sum, or an ordinal without payloads.
    pub(crate) fn inject(&mut self, shape: &Shape, tag: usize, args: Vec<Atom>) -> Atom {
        let ty = self.leaf_tys(shape).swap_remove(0);
        if ty == INT {
            return Atom::int(i64::try_from(tag).expect("few alternatives"));
        }
        let tag = u32::try_from(tag).expect("few alternatives");
        self.bind(ty.clone(), Expr::Inject { ty, tag, args })
    }

    /// Takes a sum apart and builds it again in another layout.
    fn reinject(
        &mut self,
        leaf: &Atom,
        from: &[Vec<Shape>],
        to: &[Vec<Shape>],
        tags: &[usize],
        shape: &Shape,
    ) -> Result<Vec<Atom>> {
        let mut arms = vec![];
        for (alt, tag) in from.iter().zip(tags) {
            let tys: Vec<Ty> = alt.iter().flat_map(|s| self.leaf_tys(s)).collect();
            let params: Vec<Var> = tys.into_iter().map(Var::new).collect();
            self.open_with(&params);
            let leaves: Vec<Atom> = params.iter().map(Atom::from).collect();
            let mut args = vec![];
            for (part, t) in Val::split(alt, &leaves).iter().zip(&to[*tag]) {
                args.extend(self.coerce(part, t)?);
            }
            let made = self.inject(shape, *tag, args);
            let body: Block = self.close(vec![made]);
            arms.push(Arm { params, body });
        }
        let tys = self.leaf_tys(shape);
        Ok(self.bind_all(tys, Expr::Case { scrut: leaf.clone(), arms }))
    }
}

/// For each size in a joined shape what it is in one of the shapes that were joined; nothing in functions that
/// are not there.
pub(super) fn aligned(joined: &Shape, own: &Shape) -> Vec<Option<Atom>> {
    fn go(joined: &Shape, own: &Shape, out: &mut Vec<Option<Atom>>) {
        let mut list = |xs: &[Shape], ys: &[Shape]| xs.iter().zip(ys).for_each(|(x, y)| go(x, y, out));
        match (joined, own) {
            (Shape::Tuple(xs), Shape::Tuple(ys)) | (Shape::Struct(_, xs), Shape::Struct(_, ys)) => {
                list(xs, ys)
            }
            (Shape::Enum(_, xs), Shape::Enum(_, ys)) | (Shape::Tangent(_, xs), Shape::Tangent(_, ys)) => {
                xs.iter().zip(ys).for_each(|(x, y)| list(x, y));
            }
            (Shape::Table(set, x), Shape::Table(ix, y)) => {
                let mut sizes = vec![];
                match set {
                    IxShape::Fin(_) => sizes.push(ix.size()),
                    _ => ix.sizes(&mut sizes),
                }
                out.extend(sizes.into_iter().map(Some));
                go(x, y, out);
            }
            (Shape::Acc(x), Shape::Acc(y)) => go(x, y, out),
            (Shape::Fun(xs), Shape::Fun(_) | Shape::Arrow(_)) => {
                let ys = if let Shape::Fun(ys) = own { ys.as_slice() } else { &[] };
                for x in xs {
                    let Some(y) = ys.iter().find(|y| x.same_code(y)) else {
                        let mut sizes = vec![];
                        Shape::Fun(vec![x.clone()]).sizes(&mut sizes);
                        out.extend(sizes.into_iter().map(|_| None));
                        continue;
                    };
                    let mut sizes = vec![];
                    let bare = Closure { captured: vec![], ..y.clone() };
                    Shape::Fun(vec![bare]).sizes(&mut sizes);
                    out.extend(sizes.into_iter().map(Some));
                    x.captured.iter().zip(&y.captured).for_each(|((_, x), (_, y))| go(x, y, out));
                }
            }
            (_, own) => {
                let mut sizes = vec![];
                own.sizes(&mut sizes);
                out.extend(sizes.into_iter().map(Some));
            }
        }
    }
    let mut out = vec![];
    go(joined, own, &mut out);
    out
}

/// For each size in a shape whether it belongs to what a function captured.
pub(super) fn captured_sizes(shape: &Shape) -> Vec<bool> {
    let marked = super::shape::map_functions(shape, &|set| {
        abstract_shape(&Shape::Fun(set.to_vec()), &|_| Atom::Lit(Lit::Bool(true)))
    });
    let mut sizes = vec![];
    marked.sizes(&mut sizes);
    sizes.iter().map(|a| *a == Atom::Lit(Lit::Bool(true))).collect()
}

/// Do the leaves of both mean the same, sizes apart?
pub(crate) fn same_layout(a: &Shape, b: &Shape) -> bool {
    let list = |xs: &[Shape], ys: &[Shape]| {
        xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| same_layout(x, y))
    };
    match (a, b) {
        (Shape::Scalar(x), Shape::Scalar(y)) => x == y,
        (Shape::Tuple(xs), Shape::Tuple(ys)) | (Shape::Struct(_, xs), Shape::Struct(_, ys)) => list(xs, ys),
        (Shape::Enum(_, xs), Shape::Enum(_, ys)) | (Shape::Tangent(_, xs), Shape::Tangent(_, ys)) => {
            xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| list(x, y))
        }
        (Shape::Table(_, x), Shape::Table(_, y)) | (Shape::Acc(x), Shape::Acc(y)) => same_layout(x, y),
        (Shape::Fun(xs), Shape::Fun(ys)) => {
            xs.len() == ys.len()
                && xs.iter().zip(ys).all(|(x, y)| {
                    x.same_code(y)
                        && x.captured.iter().zip(&y.captured).all(|((_, s), (_, t))| same_layout(s, t))
                })
        }
        (Shape::Index(_), Shape::Index(_)) | (Shape::Raw(_), Shape::Raw(_)) => true,
        (Shape::Rec(j, _), Shape::Rec(k, _)) => j == k,
        (Shape::Packed(x), Shape::Packed(y)) => {
            x.links == y.links && x.shape.same_sets(&y.shape) && same_layout(&x.shape, &y.shape)
        }
        (Shape::Arrow(x), Shape::Arrow(y)) => x == y,
        (Shape::Arrow(_), Shape::Fun(set)) | (Shape::Fun(set), Shape::Arrow(_)) => set.is_empty(),
        _ => false,
    }
}
