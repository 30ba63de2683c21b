//! Types as written: names, kinds, sizes, holes.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use std::{collections::BTreeMap, sync::Arc};

use adl_diag::{Code, Span};
use adl_syntax::ast::{BinOp, Expr, ExprKind, Lit, Type, TypeKind};

use crate::{
    arena::{Sub, Subst},
    checker::{Checker, SizeDef, Target, TypeName},
    errors,
    imports::Found,
    types::{Atom, Con, Exists, Poly, Ty, V, VKind, con, fun, int, lin, table, tuple},
};

/// What a lower-case name that is new means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is quantified: the signature of a `def`.
    Quantify,
    /// It is opened or checked: an annotation.
    Annotation,
    /// It has to be a parameter: a declaration.
    Closed,
}

/// The names of one signature.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) names: BTreeMap<String, Ty>,
    pub(crate) mode: Mode,
    /// The variables that were made, in order.
    pub(crate) made: Vec<V>,
}

impl Signature {
    pub(crate) fn new(mode: Mode) -> Signature {
        Signature { names: BTreeMap::new(), mode, made: vec![] }
    }
}

/// What a place in a type asks of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Type,
    Set,
}

impl Checker {
    /// An annotation in an expression.
    pub(crate) fn annotation(&mut self, t: &Type) -> Ty {
        self.type_of(t, &mut Signature::new(Mode::Annotation))
    }

    /// An annotation that is an index set.
    pub(crate) fn set_annotation(&mut self, t: &Type) -> Ty {
        let mut sig = Signature::new(Mode::Annotation);
        let ty = self.type_at(t, &mut sig, Place::Set);
        // A new name is the set of a table that the body indexes.
        for v in sig.made {
            self.for_sets.push((Ty::Var(v), t.span, String::new()));
        }
        self.check_set(&ty, t.span)
    }

    fn check_set(&mut self, ty: &Ty, span: Span) -> Ty {
        match self.arena.need_ix(ty) {
            Ok(()) => ty.clone(),
            Err(fail) => {
                self.report_at(fail, span, "an index set stands here");
                Ty::Error
            }
        }
    }

    pub(crate) fn type_of(&mut self, t: &Type, sig: &mut Signature) -> Ty {
        self.type_at(t, sig, Place::Type)
    }

    fn type_at(&mut self, t: &Type, sig: &mut Signature, place: Place) -> Ty {
        match &t.kind {
            TypeKind::Var(name) => self.type_name(name, t.span, sig, place),
            TypeKind::Hole => match place {
                Place::Type => self.meta(),
                Place::Set => self.meta_ix(),
            },
            TypeKind::Tuple(ts) => tuple(ts.iter().map(|t| self.type_at(t, sig, place)).collect()),
            TypeKind::Table(ix, elem) => {
                let set = self.type_at(ix, sig, Place::Set);
                let set = self.check_set(&set, ix.span);
                table(set, self.type_of(elem, sig))
            }
            TypeKind::Fun(a, b) => {
                let a = self.type_of(a, sig);
                fun(a, self.type_of(b, sig))
            }
            TypeKind::Linear(a, b) => {
                let a = self.type_of(a, sig);
                lin(a, self.type_of(b, sig))
            }
            TypeKind::Fin(e) => self.size_expr(e, sig).map_or(Ty::Error, Ty::Fin),
            TypeKind::Exists(names, body) => {
                let before = sig.names.clone();
                let mut vars = vec![];
                for name in names {
                    let v = self.rigid(&name.text, VKind::Type, true);
                    sig.names.insert(name.text.clone(), Ty::Var(v));
                    vars.push(v);
                }
                let body = self.type_of(body, sig);
                let inner = std::mem::replace(&mut sig.names, before);
                for (name, ty) in inner {
                    if !names.iter().any(|n| n.text == name) {
                        sig.names.entry(name).or_insert(ty);
                    }
                }
                Ty::Exists(Arc::new(Exists { vars, body }))
            }
            TypeKind::Con(name, args) => self.type_con(&name.text, name.span, args, sig),
        }
    }

    fn type_name(&mut self, name: &str, span: Span, sig: &mut Signature, place: Place) -> Ty {
        let ty = match sig.names.get(name).cloned().or_else(|| self.lookup_type_var(name)) {
            Some(ty) => ty,
            None if place == Place::Type && type_of_another_language(name).is_some() => {
                let near = type_of_another_language(name).map(str::to_string);
                self.report(errors::unknown_type(span, name, near));
                Ty::Error
            }
            None if place == Place::Set && sig.mode == Mode::Annotation && self.names_an_int(name) => {
                self.report(errors::size_not_set(span, name));
                Ty::Error
            }
            None => match self.new_name(name, span, sig, VKind::Type, place == Place::Set) {
                Some(v) => Ty::Var(v),
                None => return Ty::Error,
            },
        };
        sig.names.insert(name.to_string(), ty.clone());
        if let Ty::Var(v) = self.arena.prune(&ty) {
            if self.arena.var(v).kind == VKind::Size {
                self.report(errors::size_not_set(span, name));
                return Ty::Error;
            }
            // In its own signature a name left of `=>` is an index set, wherever that is.
            if place == Place::Set && sig.made.contains(&v) {
                self.arena.var_mut(v).ix = true;
            }
        }
        ty
    }

    /// Is it the name of an Int?
    fn names_an_int(&self, name: &str) -> bool {
        self.lookup(name).is_some_and(|e| {
            is_value(e.target) && matches!(self.arena.head(&e.scheme.ty), Ty::Con(Con::Int, _))
        })
    }

    fn new_name(&mut self, name: &str, span: Span, sig: &mut Signature, kind: VKind, ix: bool) -> Option<V> {
        let v = match sig.mode {
            Mode::Closed => {
                self.report(
                    errors::unknown_name(span, name, None)
                        .help("list it as a parameter: `struct S[n] { … }`"),
                );
                return None;
            }
            Mode::Quantify => {
                let v = self.rigid(name, kind, ix);
                self.arena.var_mut(v).origin = Some(span);
                v
            }
            Mode::Annotation => {
                let v = self.fresh();
                let data = self.arena.var_mut(v);
                (data.name, data.kind, data.ix) = (Some(Arc::from(name)), kind, ix);
                self.frame().types.insert(name.to_string(), Ty::Var(v));
                v
            }
        };
        sig.made.push(v);
        sig.names.insert(name.to_string(), Ty::Var(v));
        Some(v)
    }

    fn type_con(&mut self, name: &str, span: Span, args: &[Type], sig: &mut Signature) -> Ty {
        let scalar = match name {
            "Float" | "F64" => Some(Con::Float),
            "F32" => Some(Con::F32),
            "Int" => Some(Con::Int),
            "Bool" => Some(Con::Bool),
            "String" => Some(Con::Str),
            "Key" => Some(Con::Key),
            _ => None,
        };
        if let Some(scalar) = scalar {
            if !args.is_empty() {
                self.report(errors::type_params(span, name, 0, args.len()));
            }
            return con(scalar);
        }
        if matches!(name, "Tangent" | "T") && args.len() == 1 && !self.type_names.contains_key(name) {
            let inner = self.type_of(&args[0], sig);
            return self.arena.tangent(&inner);
        }
        let found = match self.type_named(name, span) {
            Found::Known(found) => Some(found),
            Found::Wrong => return Ty::Error,
            Found::Unknown => None,
        };
        let params = match &found {
            Some(TypeName::Data(id)) => self.arena.decl(*id).params.clone(),
            Some(TypeName::Alias(alias)) => alias.params.clone(),
            Some(TypeName::Poison) => return Ty::Error,
            None if name == "Fin" => {
                self.report(errors::type_params(span, "Fin", 1, 0).help("write `Fin(10)`"));
                return Ty::Error;
            }
            None => {
                let near = self.near_type(name);
                self.report(errors::unknown_type(span, name, near));
                return Ty::Error;
            }
        };
        if params.len() != args.len() {
            self.report(errors::type_params(span, name, params.len(), args.len()));
            return Ty::Error;
        }
        let args: Vec<Ty> = args
            .iter()
            .zip(&params)
            .map(|(arg, param)| {
                let set = self.arena.var(*param).ix;
                let ty = self.type_at(arg, sig, if set { Place::Set } else { Place::Type });
                if set { self.check_set(&ty, arg.span) } else { ty }
            })
            .collect();
        match found {
            Some(TypeName::Data(id)) => Ty::Con(Con::Data(id), args.into()),
            Some(TypeName::Alias(alias)) => {
                let map: Subst = alias.params.iter().copied().zip(args.into_iter().map(Sub::Ty)).collect();
                self.arena.subst(&alias.ty, &map)
            }
            Some(TypeName::Poison) | None => Ty::Error,
        }
    }

    /// The size in `Fin(e)`; `None` where it is wrong.
    fn size_expr(&mut self, e: &Expr, sig: &mut Signature) -> Option<Poly> {
        match &e.kind {
            ExprKind::Paren(inner) => self.size_expr(inner, sig),
            ExprKind::Lit(Lit::Int(k)) => Some(Poly::constant(*k)),
            ExprKind::Chain(first, links) if links.iter().all(|l| is_ring(l.op)) => {
                let mut p = self.size_expr(first, sig)?;
                for link in links {
                    let q = self.size_expr(&link.right, sig)?;
                    p = combine(link.op, &p, &q);
                }
                Some(p)
            }
            ExprKind::Call(f, args) if is_var(f, "size") => match args.as_slice() {
                [Expr { kind: ExprKind::Var(n), span, .. }] => {
                    let set = self.type_name(n, *span, sig, Place::Set);
                    let set = self.check_set(&set, *span);
                    if self.arena.is_error(&set) { None } else { Some(self.size_or_report(&set, *span)) }
                }
                _ => self.size_of_value(e),
            },
            ExprKind::Var(name) => self.size_name(e, name, sig),
            _ => self.size_of_value(e),
        }
    }

    /// A name that stands bare in `Fin(…)`.
    fn size_name(&mut self, e: &Expr, name: &str, sig: &mut Signature) -> Option<Poly> {
        let known = sig.names.get(name).cloned().or_else(|| self.lookup_type_var(name));
        match known.map(|t| self.arena.prune(&t)) {
            Some(Ty::Var(v)) if self.arena.var(v).kind == VKind::Size => Some(Poly::atom(Atom::Size(v))),
            Some(Ty::Error) => None,
            Some(_) if self.lookup(name).is_none() => {
                self.report(errors::set_not_size(e.span, name));
                None
            }
            _ if self.lookup(name).is_some_and(|e| is_value(e.target)) => self.size_of_value(e),
            _ if sig.mode == Mode::Quantify => {
                let v = self.new_name(name, e.span, sig, VKind::Size, false)?;
                Some(Poly::atom(Atom::Size(v)))
            }
            _ => self.size_of_value(e),
        }
    }

    pub(crate) fn size_or_report(&mut self, set: &Ty, span: Span) -> Poly {
        match self.arena.size_of(set) {
            Ok(p) => p,
            Err(fail) => {
                self.report_at(fail, span, "here");
                Poly::constant(0)
            }
        }
    }

    /// The size that an Int expression gives: a polynomial, or the value of the expression at run time.
    fn size_of_value(&mut self, e: &Expr) -> Option<Poly> {
        if let Some(p) = self.poly(e) {
            return Some(p);
        }
        let before = self.errors();
        let value = self.infer(e);
        self.unify_at(&value.ty, &int(), e.span);
        self.solve(e.span);
        if self.errors() > before || self.arena.is_error(&value.ty) {
            return None;
        }
        let v = self.rigid("_", VKind::Size, false);
        self.value_sizes.push((v, value));
        Some(Poly::atom(Atom::Size(v)))
    }

    /// The polynomial of an Int expression over known Ints, if it is one.
    pub(crate) fn poly(&mut self, e: &Expr) -> Option<Poly> {
        match &e.kind {
            ExprKind::Paren(inner) => self.poly(inner),
            ExprKind::Lit(Lit::Int(k)) => Some(Poly::constant(*k)),
            ExprKind::Chain(first, links) if links.iter().all(|l| is_ring(l.op)) => {
                let mut p = self.poly(first)?;
                for link in links {
                    let q = self.poly(&link.right)?;
                    p = combine(link.op, &p, &q);
                }
                Some(p)
            }
            ExprKind::Call(f, args) if is_var(f, "size") && self.is_builtin("size") => {
                match args.as_slice() {
                    [Expr { kind: ExprKind::Var(n), .. }] => {
                        let set = self.lookup_type_var(n)?;
                        self.arena.size_of(&set).ok()
                    }
                    _ => None,
                }
            }
            ExprKind::Var(_) | ExprKind::Field(..) => self.path_poly(e),
            _ => None,
        }
    }

    /// The size that a variable, or a field of one, is.
    fn path_poly(&mut self, e: &Expr) -> Option<Poly> {
        let (mut path, mut root) = (vec![], e);
        while let ExprKind::Field(inner, name) = &root.kind {
            path.insert(0, name.text.clone());
            root = inner;
        }
        let ExprKind::Var(name) = &root.kind else { return None };
        let mut name = name.clone();
        if matches!(self.lookup(&name)?.target, Target::Module(_)) && !path.is_empty() {
            name = format!("{name}.{}", path.remove(0));
        }
        let entry = self.lookup(&name)?.clone();
        let local = match entry.target {
            Target::Local(local) if entry.scheme.vars.is_empty() => local,
            Target::Size(v) if path.is_empty() => return Some(Poly::atom(Atom::Size(v))),
            _ => return None,
        };
        let mut ty = entry.scheme.ty.clone();
        for field in &path {
            ty = self.field_type(&self.arena.head(&ty), field).ok()??;
        }
        self.arena.unify(&ty, &int()).ok()?;
        if path.is_empty()
            && let Some(p) = entry.poly
        {
            return Some(p);
        }
        let key = path.join(".");
        if let Some(v) = entry.atoms.get(&key) {
            return Some(Poly::atom(Atom::Size(*v)));
        }
        let shown = [vec![name.clone()], path.clone()].concat().join(".");
        let v = self.rigid(&shown, VKind::Size, false);
        self.arena.var_mut(v).level = entry.level;
        self.size_defs.insert(v, SizeDef { local, path });
        if let Some(entry) = self.lookup_mut(&name) {
            entry.atoms.insert(key, v);
        }
        Some(Poly::atom(Atom::Size(v)))
    }

    /// The index set that a name in `size(n)` names.
    pub(crate) fn named_set(&mut self, name: &str, span: Span) -> Ty {
        match self.lookup_type_var(name) {
            Some(ty) => {
                if let Ty::Var(v) = self.arena.prune(&ty)
                    && self.arena.var(v).kind == VKind::Size
                {
                    self.report(errors::misplaced(
                        span,
                        Code::E0218,
                        &format!("`{name}` is a size already"),
                        &format!("write `{name}`"),
                    ));
                    return Ty::Error;
                }
                self.check_set(&ty, span)
            }
            None => {
                self.report(errors::no_named_set(span, name));
                Ty::Error
            }
        }
    }

    pub(crate) fn is_builtin(&self, name: &str) -> bool {
        matches!(self.lookup(name).map(|e| e.target), Some(Target::Builtin(_)))
    }
}

/// What adl calls a type that other languages write with a small letter.
fn type_of_another_language(name: &str) -> Option<&'static str> {
    match name {
        "float" | "double" | "f64" | "float64" | "real" => Some("Float"),
        "f32" | "float32" => Some("F32"),
        "int" | "i64" | "int64" | "integer" => Some("Int"),
        "bool" | "boolean" => Some("Bool"),
        "string" | "str" => Some("String"),
        _ => None,
    }
}

fn is_value(target: Target) -> bool {
    match target {
        Target::Local(_) | Target::Size(_) | Target::Later(_) => true,
        Target::Accumulator(_)
        | Target::Func(_)
        | Target::Builtin(_)
        | Target::Module(_)
        | Target::Poison => false,
    }
}

fn is_ring(op: BinOp) -> bool {
    matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul)
}

fn combine(op: BinOp, p: &Poly, q: &Poly) -> Poly {
    match op {
        BinOp::Mul => p.mul(q),
        BinOp::Sub => p.sub(q),
        _ => p.add(q),
    }
}

pub(crate) fn is_var(e: &Expr, name: &str) -> bool {
    matches!(&e.kind, ExprKind::Var(x) if x == name)
}
