//! Expressions: leaves, operators, tables, structs.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use adl_core::{
    ir::{Atom, Expr, Lit as CoreLit, Method},
    prim::{self, Prim},
    ty::{BOOL, INT, Ty as CoreTy},
};
use adl_syntax::ast::{BinOp, Lit};

use super::Ctx;
use crate::{
    data::Body,
    tree::{TLink, TUpdate, Tk, Tx},
    types::{Con, Ty, fun},
};

impl Ctx<'_> {
    /// Writes an expression; its value.
    pub(crate) fn expr(&mut self, e: &Tx) -> Atom {
        let outer = std::mem::replace(&mut self.span, e.span);
        let value = self.form(e);
        self.span = outer;
        value
    }

    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    fn form(&mut self, e: &Tx) -> Atom {
        match &e.kind {
            Tk::Error => Atom::Lit(CoreLit::Unit),
            Tk::Lit(lit) => self.literal(lit, &e.ty),
            Tk::Local(id, inst) => {
                let atom = self.e.locals.get(id).cloned().unwrap_or(Atom::Lit(CoreLit::Unit));
                if inst.is_empty() { atom } else { self.eta(&e.ty, e) }
            }
            Tk::Func(k, inst) => {
                let func = self.e.func_ids[k];
                let tys = self.func_args(*k, inst);
                let ty = self.ty(&e.ty);
                self.bind(ty, Expr::FuncRef { func, tys })
            }
            Tk::Builtin(k) => self.builtin_value(*k, e),
            Tk::Ctor(ctor) => match self.c.arena.head(&e.ty) {
                Ty::Con(Con::Fun, _) => self.eta(&e.ty, e),
                _ => {
                    let ty = self.ty(&e.ty);
                    self.bind(ty.clone(), Expr::Inject { ty, tag: ctor.tag, args: vec![] })
                }
            },
            Tk::SizeOf(set) => {
                let ix = self.ix(set);
                self.bind(INT, Expr::SizeOf(ix))
            }
            Tk::SizeVal(p) => self.size_value(p),
            Tk::Tuple(es) if es.is_empty() => Atom::Lit(CoreLit::Unit),
            Tk::Tuple(es) => {
                let parts = es.iter().map(|e| self.expr(e)).collect();
                let ty = self.ty(&e.ty);
                self.bind(ty, Expr::Tuple(parts))
            }
            Tk::List(es) => {
                let items = es.iter().map(|e| self.expr(e)).collect();
                let ty = self.ty(&e.ty);
                let elem = match &ty {
                    CoreTy::Table(_, elem) => (**elem).clone(),
                    other => other.clone(),
                };
                self.bind(ty, Expr::TableLit { elem, items })
            }
            Tk::Chain(first, links) => self.chain(first, links),
            Tk::Neg(inner) => {
                let value = self.expr(inner);
                let value = self.ordinal_if_index(value, &inner.ty);
                self.method(Method::Neg, &e.ty, vec![value])
            }
            Tk::Not(inner) => {
                let value = self.expr(inner);
                self.prim(&prim::NOT, BOOL, vec![value])
            }
            Tk::Call(f, arg) => self.call(e, f, arg),
            Tk::Index(table, indices) => {
                let value = self.expr(table);
                let (index, check) = self.indices(&table.ty, indices);
                let ty = self.ty(&e.ty);
                self.bind(ty, Expr::Index { table: value, index, check })
            }
            Tk::Field(value, name) => {
                let atom = self.expr(value);
                let (k, _) = self.field_number(&value.ty, name);
                let ty = self.ty(&e.ty);
                self.bind(ty, Expr::Proj(atom, k))
            }
            Tk::With(value, updates) => self.with(value, updates),
            Tk::Build(id, fields) => {
                let mut values: Vec<(usize, Atom)> = fields.iter().map(|(k, e)| (*k, self.expr(e))).collect();
                values.sort_by_key(|(k, _)| *k);
                let ty = self.ty(&e.ty);
                debug_assert!(self.c.arena.declared(&e.ty) == Some(*id));
                self.bind(
                    ty.clone(),
                    Expr::Record { ty, fields: values.into_iter().map(|(_, a)| a).collect() },
                )
            }
            Tk::Lambda(..)
            | Tk::For(..)
            | Tk::If(..)
            | Tk::When(..)
            | Tk::Loop(_)
            | Tk::Accum(..)
            | Tk::PlusAssign(..)
            | Tk::Block(..)
            | Tk::Case(..)
            | Tk::Pack(..)
            | Tk::Open(..)
            | Tk::CheckSizes(..)
            | Tk::WithSizes(..) => self.control(e),
        }
    }

    fn literal(&mut self, lit: &Lit, ty: &Ty) -> Atom {
        #[expect(clippy::cast_precision_loss, reason = "a literal at a float type is rounded")]
        let (int, float) = match lit {
            Lit::Bool(b) => return Atom::Lit(CoreLit::Bool(*b)),
            Lit::Str(s) => return Atom::Lit(CoreLit::Str(s.as_str().into())),
            Lit::Int(k) => (Some(*k), *k as f64),
            Lit::Float(x) => (None, *x),
        };
        let core = self.ty(ty);
        #[expect(clippy::cast_possible_truncation, reason = "rounding to F32 is what the type asks for")]
        match (self.c.arena.head(ty), int) {
            (Ty::Con(Con::Float, _), _) => Atom::f64(float),
            (Ty::Con(Con::F32, _), _) => Atom::Lit(CoreLit::F32(float as f32)),
            (Ty::Con(Con::Int, _), Some(k)) => Atom::int(k),
            (_, int) => {
                let number = int.map_or(Atom::f64(float), Atom::int);
                self.bind(core.clone(), Expr::Method { method: Method::Lit, ty: core, args: vec![number] })
            }
        }
    }

    pub(crate) fn size_value(&mut self, p: &crate::types::Poly) -> Atom {
        let p = self.poly(p);
        match p.0.as_slice() {
            [] => Atom::int(0),
            [m] if m.atoms.is_empty() => Atom::int(m.coef),
            _ => self.bind(INT, Expr::SizeVal(p)),
        }
    }

    pub(crate) fn method(&mut self, method: Method, ty: &Ty, args: Vec<Atom>) -> Atom {
        let ty = self.ty(ty);
        self.bind(ty.clone(), Expr::Method { method, ty, args })
    }

    pub(crate) fn prim(&mut self, def: &'static prim::PrimDef, ty: CoreTy, args: Vec<Atom>) -> Atom {
        self.bind(ty, Expr::Prim(Prim(def), args))
    }

    // ---- operators ----------------------------------------------------------------------------------

    fn chain(&mut self, first: &Tx, links: &[TLink]) -> Atom {
        let mut left = self.expr(first);
        let mut left_ty = first.ty.clone();
        for link in links {
            let outer = std::mem::replace(&mut self.span, link.span);
            left = match link.op {
                BinOp::And | BinOp::Or => self.short_circuit(link, left),
                _ => {
                    let right = self.expr(&link.right);
                    self.operator(link, (left, &left_ty), (right, &link.right.ty))
                }
            };
            self.span = outer;
            left_ty = link.result.clone();
        }
        left
    }

    fn short_circuit(&mut self, link: &TLink, left: Atom) -> Atom {
        let right = self.block(|this| this.expr(&link.right));
        let constant =
            |b: bool| adl_core::ir::Block { stmts: vec![], results: vec![Atom::Lit(CoreLit::Bool(b))] };
        let (no, yes) =
            if link.op == BinOp::And { (constant(false), right) } else { (right, constant(true)) };
        let arms = [no, yes].map(|body| adl_core::ir::Arm { params: vec![], body }).to_vec();
        self.bind(BOOL, Expr::Case { scrut: left, arms })
    }

    fn operator(&mut self, link: &TLink, left: (Atom, &Ty), right: (Atom, &Ty)) -> Atom {
        let indices = self.is_index(left.1) && self.is_index(right.1);
        let compares =
            matches!(link.op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
        let (l, r) = if compares && indices {
            (left.0, right.0)
        } else {
            (self.ordinal_if_index(left.0, left.1), self.ordinal_if_index(right.0, right.1))
        };
        let compare =
            |this: &mut Self, method, args| this.bind(BOOL, Expr::Method { method, ty: BOOL, args });
        let method = match link.op {
            BinOp::Eq => return compare(self, Method::Eq, vec![l, r]),
            BinOp::Ne => {
                let equal = compare(self, Method::Eq, vec![l, r]);
                return self.prim(&prim::NOT, BOOL, vec![equal]);
            }
            BinOp::Lt => return compare(self, Method::Lt, vec![l, r]),
            BinOp::Le => return compare(self, Method::Le, vec![l, r]),
            BinOp::Gt => return compare(self, Method::Lt, vec![r, l]),
            BinOp::Ge => return compare(self, Method::Le, vec![r, l]),
            BinOp::Concat => Method::Concat,
            BinOp::Add => Method::Add,
            BinOp::Sub => Method::Sub,
            BinOp::Mul => Method::Mul,
            BinOp::Div => Method::Div,
            BinOp::Rem => Method::Rem,
            BinOp::MatMul => Method::MatMul,
            BinOp::Pow if self.c.is_int(right.1) => Method::PowInt,
            BinOp::Pow => Method::Pow,
            BinOp::And | BinOp::Or => unreachable!("written by `short_circuit`"),
        };
        self.method(method, &link.result, vec![l, r])
    }

    /// Whether values of the type are indices that arithmetic takes as Ints.
    pub(crate) fn is_index(&self, t: &Ty) -> bool {
        self.c.shape(t).is_index()
    }

    /// An index as its ordinal, anything else as it is.
    pub(crate) fn ordinal_if_index(&mut self, value: Atom, t: &Ty) -> Atom {
        if self.is_index(t) { self.ordinal(value, t) } else { value }
    }

    /// The ordinal of an index of any set.
    pub(crate) fn ordinal(&mut self, value: Atom, t: &Ty) -> Atom {
        let Ty::Con(Con::Tuple, parts) = self.c.arena.head(t) else {
            // The form carries the set: in generic code it may be one of tuples.
            let set = CoreTy::Index(self.ix(t));
            return self.bind(INT, Expr::Method { method: Method::Ordinal, ty: set, args: vec![value] });
        };
        let mut total = Atom::int(0);
        for (k, part) in (0u32..).zip(parts.iter()) {
            let ty = self.ty(part);
            let index = self.bind(ty, Expr::Proj(value.clone(), k));
            let own = self.ordinal(index, part);
            let ix = self.ix(part);
            let size = self.bind(INT, Expr::SizeOf(ix));
            let scaled = self.prim(&prim::MUL, INT, vec![total, size]);
            total = self.prim(&prim::ADD, INT, vec![scaled, own]);
        }
        total
    }

    // ---- tables, structs ------------------------------------------------------------------------------

    /// Indices into a table, and whether any of them has to be checked.
    pub(crate) fn indices(&mut self, table: &Ty, indices: &[Tx]) -> (Vec<Atom>, bool) {
        let mut ty = self.c.arena.head(table);
        let mut atoms = vec![];
        let mut check = false;
        for index in indices {
            check |= self.c.is_int(&index.ty);
            let Ty::Con(Con::Table, args) = &ty else { break };
            atoms.push(self.index_in(index, &args[0]));
            ty = self.c.arena.head(&args[1]);
        }
        (atoms, check)
    }

    /// An index of the set, or an Int. Ints inside a tuple become indices here.
    fn index_in(&mut self, index: &Tx, set: &Ty) -> Atom {
        let Ty::Con(Con::Tuple, sets) = self.c.arena.head(set) else { return self.expr(index) };
        let Tk::Tuple(parts) = &index.kind else {
            let atom = self.expr(index);
            return self.tuple_index(atom, &index.ty, set);
        };
        let mut atoms = vec![];
        for (part, set) in parts.iter().zip(sets.iter()) {
            let atom = self.index_in(part, set);
            atoms.push(if self.c.is_int(&part.ty) {
                self.method(Method::FromOrdinal, set, vec![atom])
            } else {
                atom
            });
        }
        let ty = self.ty(set);
        if atoms.is_empty() { Atom::Lit(CoreLit::Unit) } else { self.bind(ty, Expr::Tuple(atoms)) }
    }

    /// The value of a tuple as an index of the set: its Ints become indices.
    fn tuple_index(&mut self, index: Atom, ty: &Ty, set: &Ty) -> Atom {
        let (Ty::Con(Con::Tuple, parts), Ty::Con(Con::Tuple, sets)) =
            (self.c.arena.head(ty), self.c.arena.head(set))
        else {
            let int = self.c.is_int(ty);
            return if int { self.method(Method::FromOrdinal, set, vec![index]) } else { index };
        };
        if !self.has_int(ty) {
            return index;
        }
        let mut atoms = vec![];
        for (k, (part, set)) in (0u32..).zip(parts.iter().zip(sets.iter())) {
            let core = self.ty(part);
            let component = self.bind(core, Expr::Proj(index.clone(), k));
            atoms.push(self.tuple_index(component, part, set));
        }
        let core = self.ty(set);
        self.bind(core, Expr::Tuple(atoms))
    }

    fn has_int(&self, t: &Ty) -> bool {
        match self.c.arena.head(t) {
            Ty::Con(Con::Tuple, parts) => parts.iter().any(|p| self.has_int(p)),
            t => self.c.is_int(&t),
        }
    }

    fn with(&mut self, value: &Tx, updates: &[TUpdate]) -> Atom {
        let mut atom = self.expr(value);
        let core = self.ty(&value.ty);
        for update in updates {
            atom = match update {
                TUpdate::Index(indices, e) => {
                    let (index, check) = self.indices(&value.ty, indices);
                    let new = self.expr(e);
                    self.bind(core.clone(), Expr::Update { table: atom, index, value: new, check })
                }
                TUpdate::Field(name, e) => {
                    let new = self.expr(e);
                    let (k, _) = self.field_number(&value.ty, name);
                    self.replace_part(atom, &value.ty, k, new)
                }
            };
        }
        atom
    }

    /// A struct or tuple with one part replaced.
    fn replace_part(&mut self, whole: Atom, ty: &Ty, k: u32, new: Atom) -> Atom {
        let head = self.c.arena.head(ty);
        let core = self.ty(&head);
        let parts: Vec<Ty> = match &head {
            Ty::Con(Con::Tuple, args) => args.to_vec(),
            Ty::Con(Con::Data(_), _) => match self.c.arena.payloads(&head) {
                Body::Struct(fields) => fields.into_iter().map(|(_, t)| t).collect(),
                Body::Enum(_) => vec![],
            },
            _ => vec![],
        };
        let mut fields = vec![];
        for (at, part) in (0u32..).zip(&parts) {
            if at == k {
                fields.push(new.clone());
            } else {
                let ty = self.ty(part);
                fields.push(self.bind(ty, Expr::Proj(whole.clone(), at)));
            }
        }
        let expr = match &head {
            Ty::Con(Con::Tuple, _) => Expr::Tuple(fields),
            _ => Expr::Record { ty: core.clone(), fields },
        };
        self.bind(core, expr)
    }

    // ---- calls ----------------------------------------------------------------------------------------

    fn call(&mut self, e: &Tx, f: &Tx, arg: &Tx) -> Atom {
        match &f.kind {
            Tk::Builtin(k) => {
                let args = Arg::Written(arg);
                self.builtin_call(*k, &f.ty, &args, &e.ty)
            }
            Tk::Ctor(ctor) => {
                let args = self.parts(&Arg::Written(arg), self.payload_count(*ctor, &e.ty));
                let ty = self.ty(&e.ty);
                self.bind(ty.clone(), Expr::Inject { ty, tag: ctor.tag, args })
            }
            _ => {
                let value = Arg::Written(arg);
                self.apply(f, &value, &e.ty)
            }
        }
    }

    fn payload_count(&self, ctor: crate::data::CtorRef, of: &Ty) -> usize {
        self.c.arena.alternatives(of).get(ctor.tag as usize).map_or(0, |(_, payload)| payload.len())
    }

    fn apply(&mut self, f: &Tx, arg: &Arg, result: &Ty) -> Atom {
        let expr = match &f.kind {
            Tk::Func(k, inst) => {
                let func = self.e.func_ids[k];
                let arg = self.whole(arg);
                let tys = self.func_args(*k, inst);
                Expr::Call { func, tys, args: vec![arg], checkpoint: false }
            }
            Tk::Local(id, inst) if !inst.is_empty() => {
                let f = self.e.locals.get(id).cloned().unwrap_or(Atom::Lit(CoreLit::Unit));
                let arg = self.whole(arg);
                let tys = self.type_args(inst);
                Expr::Apply { f, tys, arg }
            }
            _ => {
                let f = self.expr(f);
                let arg = self.whole(arg);
                Expr::Apply { f, tys: vec![], arg }
            }
        };
        let ty = self.ty(result);
        self.bind(ty, expr)
    }

    /// A function that is no value of Core by itself, as a lambda that calls it.
    pub(crate) fn eta(&mut self, ty: &Ty, f: &Tx) -> Atom {
        let Ty::Con(Con::Fun | Con::Lin, sides) = self.c.arena.head(ty) else {
            return Atom::Lit(CoreLit::Unit);
        };
        let param_ty = self.ty(&sides[0]);
        let param = adl_core::ir::Var::named("x", param_ty);
        let atom = Atom::Var(param.clone());
        let body = self.block(|this| {
            let arg = Arg::Value(atom, sides[0].clone());
            match &f.kind {
                Tk::Builtin(k) => this.builtin_call(*k, &f.ty, &arg, &sides[1]),
                Tk::Ctor(ctor) => {
                    let args = this.parts(&arg, this.payload_count(*ctor, &sides[1]));
                    let ty = this.ty(&sides[1]);
                    this.bind(ty.clone(), Expr::Inject { ty, tag: ctor.tag, args })
                }
                _ => this.apply(f, &arg, &sides[1]),
            }
        });
        let lambda = adl_core::ir::Lambda { tparams: vec![], param, body, span: self.span };
        let core = self.ty(&fun(sides[0].clone(), sides[1].clone()));
        self.bind(core, Expr::Lambda(std::sync::Arc::new(lambda)))
    }

    /// The argument as one value.
    pub(crate) fn whole(&mut self, arg: &Arg) -> Atom {
        match arg {
            Arg::Written(e) => self.expr(e),
            Arg::Value(atom, _) => atom.clone(),
        }
    }

    /// The argument as `count` values.
    pub(crate) fn parts(&mut self, arg: &Arg, count: usize) -> Vec<Atom> {
        if count == 1 {
            return vec![self.whole(arg)];
        }
        if let Arg::Written(Tx { kind: Tk::Tuple(es), .. }) = arg
            && es.len() == count
        {
            return es.iter().map(|e| self.expr(e)).collect();
        }
        let whole = self.whole(arg);
        let types = self.part_types(arg, count);
        (0u32..)
            .zip(types)
            .map(|(k, t)| {
                let ty = self.ty(&t);
                self.bind(ty, Expr::Proj(whole.clone(), k))
            })
            .collect()
    }

    pub(crate) fn part_types(&self, arg: &Arg, count: usize) -> Vec<Ty> {
        let ty = match arg {
            Arg::Written(e) => &e.ty,
            Arg::Value(_, ty) => ty,
        };
        match self.c.arena.head(ty) {
            Ty::Con(Con::Tuple, args) if args.len() == count => args.to_vec(),
            one if count == 1 => vec![one],
            _ => vec![Ty::Error; count],
        }
    }
}

/// The argument of a call: as it is written, or a value that is there already.
pub(crate) enum Arg<'a> {
    Written(&'a Tx),
    Value(Atom, Ty),
}
