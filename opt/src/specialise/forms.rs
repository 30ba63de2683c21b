//! The forms of higher-order Core, one by one.

use adl_core::ir::{Arm, Atom, Block, Expr, Stmt, TypeBody, Var};
use adl_core::prim;
use adl_core::ty::{INT, Ix, Scalar, Ty};
use adl_core::walk::Subst;
use adl_diag::Code;

use super::family::Place;
use super::join::{aligned, captured_sizes};
use super::packed::is_unknown;
use super::recursive::cell_in;
use super::shape::{Closure, Code as FunCode, IxShape, Packed, Shape, Val};
use super::{Env, Result, Spec};

impl Spec<'_> {
    /// The values of the results of a block.
    pub(crate) fn block(&mut self, block: &Block, env: &Env) -> Result<Vec<Val>> {
        let mut env = env.clone();
        for stmt in &block.stmts {
            let outer = self.span;
            // What fails in the library fails where the program calls it.
            if !self.s.is_library(stmt.span) || self.s.is_library(outer) {
                self.span = stmt.span;
            }
            let vals = self.stmt(stmt, &env)?;
            self.span = outer;
            for (v, val) in stmt.vars.iter().zip(vals) {
                env.set(v, val);
            }
        }
        self.atoms(&block.results, &env)
    }

    /// The value of a block with one result.
    pub(crate) fn block1(&mut self, block: &Block, env: &Env) -> Result<Val> {
        Ok(self.block(block, env)?.swap_remove(0))
    }

    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    fn stmt(&mut self, stmt: &Stmt, env: &Env) -> Result<Vec<Val>> {
        if let [v] = stmt.vars.as_slice() {
            self.declared = Some((v.ty().clone(), env.clone()));
        }
        let one = match &stmt.expr {
            Expr::Atom(a) | Expr::Dup(a) => self.atom(a, env)?,
            Expr::Prim(p, args) => {
                let args = self.atoms(args, env)?;
                self.scalar_prim(p.0, &args)?
            }
            Expr::Tuple(args) => Val::tuple(self.atoms(args, env)?),
            Expr::Record { ty, fields } => {
                let id = match ty {
                    Ty::Named(id, _) => id,
                    Ty::Tangent(of) if let Ty::Named(id, _) = &**of => id,
                    _ => panic!("a record of a named type"),
                };
                let (shapes, leaves) = super::shape::unzip(self.atoms(fields, env)?);
                let whole = Val { shape: Shape::Struct(*id, shapes), leaves };
                if self.s.is_recursive_type(*id) {
                    let shape = self.ty_shape(ty, env)?;
                    self.boxed(&shape, &whole)?
                } else {
                    whole
                }
            }
            Expr::Proj(a, k) => {
                let whole = self.atom(a, env)?;
                self.unboxed(&whole)?.parts().swap_remove(*k as usize)
            }
            Expr::Inject { ty, tag, args } => self.construct(ty, *tag, args, env)?,
            Expr::Case { scrut, arms } => self.case(scrut, arms, env)?,
            Expr::For { ix, var, body } => self.for_(stmt, ix, var, body, env)?,
            Expr::Index { table, index, check } => {
                let table = self.atom(table, env)?;
                let table = self.unpacked(&table);
                let index = self.atoms(index, env)?;
                self.index_val(&table, &index, *check)?
            }
            Expr::Loop { kind, state, init, body, keep } => {
                self.loop_(kind, &state[0], &init[0], body, *keep, env)?
            }
            Expr::Update { table, index, value, check } => {
                let table = self.atom(table, env)?;
                let table = self.unpacked(&table);
                let index = self.atoms(index, env)?;
                let value = self.atom(value, env)?;
                self.update(&table, &index, &value, *check)?
            }
            Expr::TableLit { elem, items } => self.table_lit(elem, items, env)?,
            Expr::Call { func, tys, args, checkpoint } => {
                let tys = self.ty_args(tys, env)?;
                let arg = self.atom(&args[0], env)?;
                let closure = self.top_closure(*func, tys)?;
                self.apply_closure(&closure, arg, *checkpoint)?
            }
            Expr::FuncRef { func, tys } => {
                let tys = self.ty_args(tys, env)?;
                self.top_closure(*func, tys)?
            }
            Expr::Lambda(lambda) => {
                let mut captured = vec![];
                for v in self.s.free_globals_of_lambda(lambda) {
                    if let Some(val) = env.vars.get(&v).or_else(|| self.globals.get(&v)) {
                        captured.push((v, val.clone()));
                    }
                }
                self.closure(FunCode::Lambda(lambda.clone()), env, captured)
            }
            Expr::Apply { f, tys, arg } => {
                let mut f = self.atom(f, env)?;
                if !tys.is_empty() {
                    let tys = self.ty_args(tys, env)?;
                    let Shape::Fun(closures) = &mut f.shape else { panic!("application of no function") };
                    for c in closures {
                        if let FunCode::Lambda(l) = &c.code {
                            c.tys.retain(|(v, _)| !l.tparams.contains(v));
                            c.tys.extend(l.tparams.iter().cloned().zip(tys.iter().cloned()));
                        }
                    }
                }
                let arg = self.atom(arg, env)?;
                self.apply(&f, arg)?
            }
            Expr::Deriv { kind, f } => {
                let f = self.atom(f, env)?;
                let captured = vec![(Var::named("f", INT), f)];
                self.closure(FunCode::Deriv(*kind), env, captured)
            }
            Expr::Method { method, ty, args } => {
                let mut args = self.atoms(args, env)?;
                if *method != adl_core::ir::Method::Show {
                    args = args.iter().map(|a| self.unpacked(a)).collect();
                }
                self.method(*method, ty, args, env)?
            }
            Expr::SizeOf(ix) => {
                let ix = self.ix(ix, env)?;
                Val::scalar(ix.size())
            }
            Expr::SizeVal(p) => Val::scalar(self.poly(p, env)?),
            Expr::Zero(ty) => {
                let shape = self.ty_shape(ty, env)?;
                self.zero(&shape)?
            }
            Expr::AddCt(a, b) => {
                let (a, b) = (self.atom(a, env)?, self.atom(b, env)?);
                self.arith(adl_core::ir::Method::Add, &a, &b)?
            }
            Expr::AccNew(ty) => {
                let shape = self.ty_shape(ty, env)?;
                let leaves = self
                    .leaf_tys(&shape)
                    .into_iter()
                    .map(|t| self.bind(Ty::Acc(Box::new(t.clone())), Expr::AccNew(t)))
                    .collect();
                Val { shape: Shape::Acc(Box::new(shape)), leaves }
            }
            Expr::AccAdd { acc, index, value, check } => {
                let acc = self.atom(acc, env)?;
                let index = self.atoms(index, env)?;
                let value = self.atom(value, env)?;
                self.acc_add(&acc, &index, &value, *check)?;
                Val::unit()
            }
            Expr::AccFreeze(a) => {
                let acc = self.atom(a, env)?;
                let Shape::Acc(shape) = acc.shape else { panic!("an accumulator") };
                let tys = self.leaf_tys(&shape);
                let leaves = acc
                    .leaves
                    .iter()
                    .zip(tys)
                    .map(|(a, t)| self.bind(t, Expr::AccFreeze(a.clone())))
                    .collect();
                Val { shape: *shape, leaves }
            }
            Expr::Effect(effect) => return self.effect(effect, stmt, env),
            Expr::Reduce { .. } | Expr::Prefix { .. } | Expr::Contract { .. } | Expr::Bulk(..) => {
                panic!("elaboration gives no {:?}", stmt.expr)
            }
            Expr::Drop(_) => Val::unit(),
            Expr::Pack { .. } | Expr::Open(_) | Expr::BoxNew { .. } | Expr::Unbox(_) => {
                return self.error(Code::E0399, "packs of this kind are not supported yet", None);
            }
            Expr::Show { .. }
            | Expr::AccFrom(_)
            | Expr::AccView { .. }
            | Expr::AccInj { .. }
            | Expr::AccPayload { .. } => panic!("not in higher-order Core: {:?}", stmt.expr),
        };
        Ok(vec![one])
    }

    /// A function value that captured these.
    pub(crate) fn closure(&self, code: FunCode, env: &Env, captured: Vec<(Var, Val)>) -> Val {
        let mut shapes = vec![];
        let mut leaves = vec![];
        for (v, val) in captured {
            shapes.push((v, val.shape));
            leaves.extend(val.leaves);
        }
        let tys = match &code {
            FunCode::Lambda(_) => (*env.tys).clone(),
            FunCode::Func(_) | FunCode::Deriv(_) | FunCode::Linear(_) | FunCode::Cell(_) => vec![],
        };
        Val { shape: Shape::Fun(vec![Closure { code, tys, captured: shapes }]), leaves }
    }

    fn construct(&mut self, ty: &Ty, tag: u32, args: &[Atom], env: &Env) -> Result<Val> {
        let args = self.atoms(args, env)?;
        let declared = self.ty_shape(ty, env)?;
        // The tangent of an enum whose parameters hold no floats here.
        if declared == Shape::Tuple(vec![]) {
            return Ok(Val::unit());
        }
        let mut shape = self.content(&declared)?;
        // Payloads bring their own functions and sizes.
        let tag = tag as usize;
        let mut leaves = vec![];
        if let Shape::Enum(_, alts) | Shape::Tangent(_, alts) = &mut shape {
            if cell_in(&declared).is_some() {
                for (a, to) in args.iter().zip(&alts[tag]) {
                    leaves.extend(self.coerce(a, to)?);
                }
            } else {
                alts[tag] = args.iter().map(|a| a.shape.clone()).collect();
                leaves = args.into_iter().flat_map(|a| a.leaves).collect();
            }
        }
        let leaf = self.inject(&shape, tag, leaves);
        let whole = Val { shape, leaves: vec![leaf] };
        if cell_in(&declared).is_some() { self.boxed(&declared, &whole) } else { Ok(whole) }
    }

    fn case(&mut self, scrut: &Atom, arms: &[Arm], env: &Env) -> Result<Val> {
        let scrut = self.atom(scrut, env)?;
        let scrut = self.unboxed(&scrut)?;
        let payloads: Vec<Vec<Shape>> = match &scrut.shape {
            Shape::Enum(_, alts) | Shape::Tangent(_, alts) => alts.clone(),
            _ => vec![vec![]; arms.len()],
        };
        // The tangent of an enum whose parameters hold no floats here is always `Zero`.
        let tag = if scrut.leaves.is_empty() { Some(0) } else { constant_tag(&scrut.leaves[0]) };
        if let Some(tag) = tag {
            return self.block1(&arms[tag].body, env);
        }
        let mut branches = vec![];
        for (arm, payload) in arms.iter().zip(payloads) {
            let tys: Vec<Ty> = payload.iter().flat_map(|s| self.leaf_tys(s)).collect();
            let params: Vec<Var> = tys.into_iter().map(Var::new).collect();
            let leaves: Vec<Atom> = params.iter().map(Atom::from).collect();
            self.open_with(&params);
            let mut env = env.clone();
            for (p, val) in arm.params.iter().zip(Val::split(&payload, &leaves)) {
                env.set(p, val);
            }
            let val = self.block1(&arm.body, &env)?;
            branches.push(self.suspend(params, val));
        }
        self.case_of(scrut.leaves[0].clone(), branches)
    }

    /// A table of what `body` gives; sizes that the body makes are taken from the declared type.
    fn for_(&mut self, stmt: &Stmt, ix: &Ix, var: &Var, body: &Block, env: &Env) -> Result<Val> {
        let ix = self.ix(ix, env)?;
        let n = ix.size();
        let i = Var::named(var.name(), INT);
        self.open_with(std::slice::from_ref(&i));
        let mut inner = env.clone();
        let index = self.index_of(&ix, Atom::Var(i.clone()));
        inner.set(var, index);
        let val = self.block1(body, &inner)?;
        let place = Place::Body(var.clone(), val.shape.skeleton());
        let val = self.fitted(&place, val)?;
        let depth = self.depth() - 1;
        if let Some(at) = self.local_functions(&val.shape, depth) {
            return self.start_family(place, at);
        }
        let Ty::Table(_, elem) = stmt.vars[0].ty() else { panic!("a `for` gives a table") };
        let (val, map) = self.element(val, elem, env, depth)?;
        let body = self.close(val.leaves);
        let shape = val.shape.subst(&map);
        let shape = Shape::Table(ix, Box::new(shape));
        let tys = self.leaf_tys(&shape);
        let leaves = self.bind_all(tys, Expr::For { ix: Ix::Fin(n), var: i, body });
        Ok(Val { shape, leaves })
    }

    /// An element of a table, and what its sizes are outside: those of the declared type, or a pack has them.
    fn element(&mut self, val: Val, declared: &Ty, env: &Env, depth: usize) -> Result<(Val, Subst)> {
        let mut sizes = vec![];
        val.shape.sizes(&mut sizes);
        if sizes.iter().all(|s| self.in_scope(s, depth)) {
            return Ok((val, Subst::new()));
        }
        // A size that is part of the element itself differs from element to element.
        let own = sizes.iter().any(|s| !self.in_scope(s, depth) && val.leaves.contains(s));
        let declared = self.ty_shape(declared, env)?;
        let mut outer = vec![];
        declared.sizes(&mut outer);
        if own || outer.len() != sizes.len() || outer.iter().any(is_unknown) {
            let packed = Packed::of(&val);
            return Ok((self.packed(&val, &packed)?, Subst::new()));
        }
        let pairs = sizes.iter().zip(outer).filter_map(|(s, o)| Some((s.var()?.clone(), o)));
        Ok((val, pairs.collect()))
    }

    /// The index value with this ordinal.
    pub(crate) fn index_of(&mut self, ix: &IxShape, ordinal: Atom) -> Val {
        let shape = self.index_shape(ix);
        let leaf = match ix {
            IxShape::Unit => return Val::unit(),
            IxShape::Fin(_) | IxShape::Enum(..) => ordinal,
            IxShape::Bool => self.prim(&prim::EQ, &[ordinal, Atom::int(1)]),
            IxShape::Tuple(xs, _) => {
                let mut parts = vec![];
                let mut rest = ordinal;
                for (k, x) in xs.iter().enumerate().rev() {
                    let n = x.size();
                    let own = if k == 0 {
                        rest.clone()
                    } else {
                        self.prim(&prim::INT_MOD, &[rest.clone(), n.clone()])
                    };
                    if k > 0 {
                        rest = self.prim(&prim::INT_DIV, &[rest, n]);
                    }
                    parts.push(self.index_of(x, own));
                }
                parts.reverse();
                return Val::tuple(parts);
            }
        };
        Val { shape, leaves: vec![leaf] }
    }

    /// The ordinal of an index value of the set (an Int is its own).
    pub(crate) fn ordinal(&mut self, index: &Val) -> Atom {
        match &index.shape {
            Shape::Scalar(Scalar::Bool) => self.prim(&prim::TO_INT, &[index.leaves[0].clone()]),
            Shape::Tuple(parts) if parts.is_empty() => Atom::int(0),
            Shape::Tuple(_) => panic!("the ordinal of a tuple needs its set"),
            _ => index.leaves[0].clone(),
        }
    }

    /// The ordinal of an index value in this set.
    pub(crate) fn ordinal_in(&mut self, index: &Val, ix: &IxShape) -> Atom {
        match (ix, &index.shape) {
            (IxShape::Tuple(xs, _), Shape::Tuple(_)) => {
                let mut total = Atom::int(0);
                for (x, part) in xs.iter().zip(index.parts()) {
                    let n = x.size();
                    let own = self.ordinal_in(&part, x);
                    let scaled = self.prim(&prim::MUL, &[total, n]);
                    total = self.prim(&prim::ADD, &[scaled, own]);
                }
                total
            }
            _ => self.ordinal(index),
        }
    }

    pub(crate) fn index_val(&mut self, table: &Val, index: &[Val], check: bool) -> Result<Val> {
        let mut shape = table.shape.clone();
        let mut ordinals = vec![];
        for i in index {
            let Shape::Table(ix, elem) = shape else { panic!("index of no table: {shape:?}") };
            ordinals.push(self.ordinal_in(i, &ix));
            shape = *elem;
        }
        let leaves = table.leaves.iter().map(|l| self.index(l, &ordinals, check)).collect();
        Ok(Val { shape, leaves })
    }

    fn update(&mut self, table: &Val, index: &[Val], value: &Val, check: bool) -> Result<Val> {
        let mut shape = table.shape.clone();
        let mut ordinals = vec![];
        for i in index {
            let Shape::Table(ix, elem) = shape else { panic!("update of no table") };
            ordinals.push(self.ordinal_in(i, &ix));
            shape = *elem;
        }
        // A table of functions takes a new one by joining the sets of lambdas.
        if own_sizes_differ((&shape, &[]), value) {
            // Where one element gets a size of its own, all have theirs.
            let packed = Shape::Packed(Box::new(Packed::any(&shape)));
            let whole = with_element(&table.shape, index.len(), &packed);
            let leaves = self.coerce(table, &whole)?;
            return self.update(&Val { shape: whole, leaves }, index, value, check);
        }
        let joined = self.join(&shape, &value.shape)?;
        let whole = with_element(&table.shape, index.len(), &joined);
        let (tables, values) = (self.coerce(table, &whole)?, self.coerce(value, &joined)?);
        let mut leaves = vec![];
        for (t, v) in tables.iter().zip(&values) {
            let expr = Expr::Update { table: t.clone(), index: ordinals.clone(), value: v.clone(), check };
            leaves.push(self.bind(t.ty(), expr));
        }
        Ok(Val { shape: whole, leaves })
    }

    fn acc_add(&mut self, acc: &Val, index: &[Val], value: &Val, check: bool) -> Result<()> {
        let Shape::Acc(shape) = &acc.shape else { panic!("an accumulator") };
        let mut shape = (**shape).clone();
        let mut ordinals = vec![];
        for i in index {
            let Shape::Table(ix, elem) = shape else { panic!("an accumulator of a table") };
            ordinals.push(self.ordinal_in(i, &ix));
            shape = *elem;
        }
        for (a, v) in acc.leaves.iter().zip(&value.leaves) {
            let expr = Expr::AccAdd { acc: a.clone(), index: ordinals.clone(), value: v.clone(), check };
            self.emit(vec![], expr);
        }
        Ok(())
    }

    fn table_lit(&mut self, elem: &Ty, items: &[Atom], env: &Env) -> Result<Val> {
        let mut vals = self.atoms(items, env)?;
        let n = Atom::int(i64::try_from(vals.len()).expect("few items"));
        let Some(first) = vals.first() else {
            let mut elem = self.ty_shape(elem, env)?;
            let mut sizes = vec![];
            elem.sizes(&mut sizes);
            if sizes.iter().any(is_unknown) {
                elem = Shape::Packed(Box::new(Packed::any(&elem)));
            }
            let shape = Shape::Table(IxShape::Fin(n), Box::new(elem));
            let tys = self.leaf_tys(&shape);
            let mut leaves = vec![];
            for t in tys {
                let Ty::Table(_, elem) = t.clone() else { panic!("leaves of a table are tables") };
                leaves.push(self.bind(t, Expr::TableLit { elem: *elem, items: vec![] }));
            }
            return Ok(Val { shape, leaves });
        };
        if vals[1..].iter().any(|v| own_sizes_differ((&first.shape, &first.leaves), v)) {
            for v in &mut vals {
                let packed = Packed::of(v);
                *v = self.packed(v, &packed)?;
            }
        }
        let mut shape = vals[0].shape.clone();
        for v in &vals[1..] {
            shape = self.join(&shape, &v.shape)?;
        }
        let mut columns: Vec<Vec<Atom>> = vec![vec![]; shape.n_leaves()];
        for v in &vals {
            for (column, leaf) in columns.iter_mut().zip(self.coerce(v, &shape)?) {
                column.push(leaf);
            }
        }
        let tys = self.leaf_tys(&shape);
        let mut leaves = vec![];
        for (elem, items) in tys.into_iter().zip(columns) {
            let ty = Ty::table(n.clone(), elem.clone());
            leaves.push(self.bind(ty, Expr::TableLit { elem, items }));
        }
        Ok(Val { shape: Shape::Table(IxShape::Fin(n), Box::new(shape)), leaves })
    }

    /// Fields of a struct by name, for printing.
    pub(crate) fn field_names(&self, id: adl_core::ty::TypeId) -> Vec<String> {
        match &self.s.source.types[id.0 as usize].body {
            TypeBody::Struct(fields) => fields.iter().map(|(n, _)| n.clone()).collect(),
            TypeBody::Enum(cs) => cs.iter().map(|(n, _)| n.clone()).collect(),
        }
    }
}

/// The shape of a table with the element below `depth` indices replaced.
fn with_element(table: &Shape, depth: usize, elem: &Shape) -> Shape {
    match table {
        Shape::Table(ix, inner) if 0 < depth => {
            Shape::Table(ix.clone(), Box::new(with_element(inner, depth - 1, elem)))
        }
        _ => elem.clone(),
    }
}

/// The alternative that a constant scrutinee chooses.
fn constant_tag(a: &Atom) -> Option<usize> {
    match a {
        Atom::Lit(adl_core::ir::Lit::Bool(b)) => Some(usize::from(*b)),
        Atom::Lit(adl_core::ir::Lit::Int(k)) => usize::try_from(*k).ok(),
        Atom::Lit(_) | Atom::Var(_) => None,
    }
}

/// Does a value have a size of its own, where a value of this shape has another? Sizes of what functions captured
/// are their own; others are equal by their types, unless they are leaves or constants.
pub(super) fn own_sizes_differ((shape, leaves): (&Shape, &[Atom]), other: &Val) -> bool {
    if !shape.same_sets(&other.shape) {
        return true;
    }
    let mut known = vec![];
    shape.sizes(&mut known);
    let inside = captured_sizes(shape);
    let new = aligned(shape, &other.shape);
    known.iter().zip(&new).zip(inside).any(|((a, b), inside)| {
        let Some(b) = b else { return false };
        let constants = a.as_int().is_some() && b.as_int().is_some();
        a != b && (inside || constants || leaves.contains(a) || other.leaves.contains(b))
    })
}
