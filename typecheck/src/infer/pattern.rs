//! Patterns: what they bind, and the types they ask for.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use adl_diag::Span;
use adl_syntax::ast::{Lit, Pat, PatKind};

use crate::{
    arena::{Sub, Subst},
    checker::{Checker, TypeName},
    data::{Body, CtorRef},
    errors,
    imports::Found,
    tree::{Tp, TpKind},
    types::{Con, LitKind, Ty, boolean, string, tuple},
};

impl Checker {
    /// Binds the names of a pattern that takes values of type `ty`.
    pub(crate) fn pattern(&mut self, p: &Pat, ty: &Ty) -> Tp {
        let mut bound = vec![];
        self.pattern_in(p, ty, &mut bound)
    }

    /// [`Checker::pattern`] for a pattern that has to match always.
    pub(crate) fn binder(&mut self, p: &Pat, ty: &Ty) -> Tp {
        let pat = self.pattern(p, ty);
        self.solve(p.span);
        if let Some(example) = self.missing_example(&[&pat], ty) {
            self.report(errors::refutable(p.span, &example));
        }
        pat
    }

    fn pattern_in(&mut self, p: &Pat, ty: &Ty, bound: &mut Vec<String>) -> Tp {
        let kind = match &p.kind {
            PatKind::Wild => TpKind::Wild,
            PatKind::Var(name) => {
                if bound.contains(name) {
                    self.report(errors::bound_twice(p.span, name));
                }
                bound.push(name.clone());
                TpKind::Var(self.bind_mono(name, ty))
            }
            PatKind::Lit(lit) => {
                self.literal_pattern(lit, ty, p.span);
                TpKind::Lit(lit.clone())
            }
            PatKind::Typed(inner, t) => {
                let wanted = self.annotation(t);
                self.unify_at(ty, &wanted, t.span);
                return self.pattern_in(inner, &wanted, bound);
            }
            PatKind::Tuple(ps) => TpKind::Tuple(self.tuple_pattern(ps, ty, p.span, bound)),
            PatKind::Ctor(name, ps) => match self.ctor_of(&name.text, name.span, ty) {
                Found::Known(ctor) => self.ctor_pattern(ctor, &name.text, ps, ty, p.span, bound),
                found => {
                    if matches!(found, Found::Unknown) && self.peek_type(&name.text).is_none() {
                        self.unknown_ctor(&name.text, name.span);
                    }
                    ps.iter().for_each(|p| {
                        self.pattern_in(p, &Ty::Error, bound);
                    });
                    return Tp { ty: Ty::Error, span: p.span, kind: TpKind::Wild };
                }
            },
            PatKind::Struct(name, fields) => self.struct_pattern(&name.text, name.span, fields, ty, bound),
        };
        Tp { ty: ty.clone(), span: p.span, kind }
    }

    fn literal_pattern(&mut self, lit: &Lit, ty: &Ty, span: Span) {
        let wanted = match lit {
            Lit::Bool(_) => boolean(),
            Lit::Str(_) => string(),
            Lit::Int(_) | Lit::Float(_) => {
                let v = self.fresh();
                let kind = if matches!(lit, Lit::Int(_)) { LitKind::Int } else { LitKind::Dec };
                self.arena.var_mut(v).lit = Some(kind);
                Ty::Var(v)
            }
        };
        self.unify_at(&wanted, ty, span);
    }

    fn tuple_pattern(&mut self, ps: &[Pat], ty: &Ty, span: Span, bound: &mut Vec<String>) -> Vec<Tp> {
        let head = self.arena.head(ty);
        let parts = match &head {
            Ty::Con(Con::Tuple, args) if args.len() == ps.len() => args.to_vec(),
            Ty::Con(Con::Tuple, _) => {
                self.report(errors::tuple_arity(span, ps.len(), &self.arena.show(&head)));
                vec![Ty::Error; ps.len()]
            }
            _ => {
                let parts: Vec<Ty> = ps.iter().map(|_| self.meta()).collect();
                self.unify_at(ty, &tuple(parts.clone()), span);
                parts
            }
        };
        ps.iter().zip(&parts).map(|(p, t)| self.pattern_in(p, t, bound)).collect()
    }

    fn ctor_pattern(
        &mut self,
        ctor: CtorRef,
        name: &str,
        ps: &[Pat],
        ty: &Ty,
        span: Span,
        bound: &mut Vec<String>,
    ) -> TpKind {
        let payload = match self.tangent_ctor(name, ty) {
            Some((_, payload)) => payload,
            None => {
                let (whole, payload) = self.ctor_types(ctor);
                self.unify_at(ty, &whole, span);
                payload
            }
        };
        if payload.len() != ps.len() {
            self.report(errors::ctor_arity(span, name, payload.len(), ps.len()));
            ps.iter().for_each(|p| {
                self.pattern_in(p, &Ty::Error, bound);
            });
            let parts = payload.iter().map(|t| Tp { ty: t.clone(), span, kind: TpKind::Wild }).collect();
            return TpKind::Ctor(ctor, parts);
        }
        TpKind::Ctor(ctor, ps.iter().zip(&payload).map(|(p, t)| self.pattern_in(p, t, bound)).collect())
    }

    /// The constructor that a name stands for where a type is expected.
    fn ctor_of(&mut self, name: &str, span: Span, ty: &Ty) -> Found<CtorRef> {
        match self.tangent_ctor(name, ty) {
            Some((ctor, _)) => Found::Known(ctor),
            None => self.ctor_named(name, span),
        }
    }

    /// The constructor with this name of the tangent of an enum, and what it holds. A constructor of the enum
    /// itself comes before `Zero`.
    pub(crate) fn tangent_ctor(&self, name: &str, ty: &Ty) -> Option<(CtorRef, Vec<Ty>)> {
        if !self.arena.is_tangent_of_data(ty) {
            return None;
        }
        let data = self.arena.declared(ty)?;
        let name = name.rsplit('.').next()?;
        let all = (0..).zip(self.arena.alternatives(ty));
        let (tag, (_, payload)) = all.filter(|(_, (n, _))| **n == *name).last()?;
        Some((CtorRef { data, tag }, payload))
    }

    /// Reports a constructor that is not there.
    pub(crate) fn unknown_ctor(&mut self, name: &str, span: Span) {
        let near = self.near_ctor(name);
        self.report(errors::unknown_ctor(span, name, near));
    }

    /// The enum of a constructor at fresh parameters, and what the constructor holds.
    pub(crate) fn ctor_types(&mut self, ctor: CtorRef) -> (Ty, Vec<Ty>) {
        let whole = self.data_at_fresh(ctor.data);
        let payload = match self.arena.payloads(&whole) {
            Body::Enum(ctors) => ctors[ctor.tag as usize].1.clone(),
            Body::Struct(_) => vec![],
        };
        (whole, payload)
    }

    /// A declared type at fresh parameters.
    pub(crate) fn data_at_fresh(&mut self, id: crate::types::DataId) -> Ty {
        let params = self.arena.decl(id).params.clone();
        let args: Vec<Ty> = params
            .iter()
            .map(|p| {
                let (kind, ix) = (self.arena.var(*p).kind, self.arena.var(*p).ix);
                let v = self.fresh();
                let data = self.arena.var_mut(v);
                (data.kind, data.ix) = (kind, ix);
                Ty::Var(v)
            })
            .collect();
        let map: Subst = params.iter().copied().zip(args.iter().cloned().map(Sub::Ty)).collect();
        debug_assert_eq!(map.len(), params.len());
        Ty::Con(Con::Data(id), args.into())
    }

    fn struct_pattern(
        &mut self,
        name: &str,
        span: Span,
        fields: &[(adl_syntax::ast::Name, Pat)],
        ty: &Ty,
        bound: &mut Vec<String>,
    ) -> TpKind {
        let id = match self.type_named(name, span) {
            Found::Known(TypeName::Data(id)) if self.arena.decl(id).is_struct() => id,
            found => {
                if !matches!(found, Found::Wrong | Found::Known(TypeName::Poison)) {
                    let near = self.near_type(name);
                    self.report(errors::unknown_type(span, name, near));
                }
                fields.iter().for_each(|(_, p)| {
                    self.pattern_in(p, &Ty::Error, bound);
                });
                return TpKind::Wild;
            }
        };
        let tangent = self.arena.is_tangent_of_data(ty) && self.arena.declared(ty) == Some(id);
        let whole = if tangent { ty.clone() } else { self.data_at_fresh(id) };
        self.unify_at(ty, &whole, span);
        let Some(types) = self.arena.fields(&whole) else { return TpKind::Wild };
        let mut parts: Vec<(usize, Tp)> = vec![];
        for (field, p) in fields {
            let found = types.iter().position(|(n, _)| **n == *field.text);
            if let Some(k) = found
                && parts.iter().any(|(old, _)| *old == k)
            {
                self.report(errors::field_twice(field.span, &field.text));
            }
            let wanted = match found {
                Some(k) => types[k].1.clone(),
                None => {
                    let names = types.iter().map(|(n, _)| &**n);
                    let near = adl_diag::nearest(&field.text, names);
                    self.report(errors::no_field(field.span, name, &field.text, near));
                    Ty::Error
                }
            };
            let part = self.pattern_in(p, &wanted, bound);
            parts.extend(found.map(|k| (k, part)));
        }
        TpKind::Struct(id, parts)
    }
}
