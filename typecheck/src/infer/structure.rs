//! Tables and structs: indices, fields, updates, building.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use adl_diag::Span;
use adl_syntax::ast::{Expr, ExprKind, Name, Update};

use crate::{
    checker::{Checker, TypeName},
    constraint::{IndexSyntax, Kind},
    errors,
    imports::Found,
    tree::{TUpdate, Tk, Tx},
    types::{Con, DataId, Ty, fun, table, tuple, unit},
};

impl Checker {
    pub(crate) fn index(&mut self, a: &Expr, indices: &[Expr], span: Span) -> Tx {
        let value = self.used(a);
        let (ty, indices) = self.index_into(&value.ty, indices, value.span);
        Tx::new(span, ty, Tk::Index(Box::new(value), indices))
    }

    /// The element of a table at these indices.
    pub(crate) fn index_into(&mut self, of: &Ty, indices: &[Expr], span: Span) -> (Ty, Vec<Tx>) {
        let mut ty = of.clone();
        let mut typed = vec![];
        for e in indices {
            let head = self.arena.head(&ty);
            let is_table = match &head {
                Ty::Con(con, _) => *con == Con::Table,
                Ty::Var(v) => self.arena.is_open(*v),
                Ty::Error => true,
                Ty::Fin(_) | Ty::Exists(_) => false,
            };
            if !is_table {
                self.report(errors::not_a_table(span, &self.arena.show(&head)));
                ty = Ty::Error;
            }
            if is_negative_literal(e) {
                self.report(errors::negative_index(e.span));
                return (Ty::Error, typed);
            }
            // The element of a known table may be a pack, which no variable stands for.
            let (set, elem) = if let Ty::Con(Con::Table, args) = &head {
                (args[0].clone(), args[1].clone())
            } else {
                let (set, elem) = (self.meta_ix(), self.meta());
                self.unify_at(&ty, &table(set.clone(), elem.clone()), span);
                (set, elem)
            };
            typed.push(self.index_of(e, &set));
            self.solve(e.span);
            ty = elem;
        }
        (ty, typed)
    }

    /// An index of this set, or an Int. A tuple is one for a set of tuples, component by component.
    fn index_of(&mut self, e: &Expr, set: &Ty) -> Tx {
        let tuple_set = match self.arena.head(set) {
            Ty::Con(Con::Tuple, sets) => Some(sets.to_vec()),
            _ => None,
        };
        match (&e.kind, tuple_set) {
            (ExprKind::Paren(inner), _) => self.index_of(inner, set),
            (ExprKind::Tuple(es), Some(sets)) if es.len() == sets.len() => {
                let parts: Vec<Tx> = es.iter().zip(&sets).map(|(e, s)| self.index_of(e, s)).collect();
                Tx::new(e.span, tuple(parts.iter().map(|p| p.ty.clone()).collect()), Tk::Tuple(parts))
            }
            _ if is_negative_literal(e) => {
                self.report(errors::negative_index(e.span));
                Tx::error(e.span)
            }
            _ => {
                let index = self.used(e);
                let kind = Kind::Index { set: set.clone(), index: index.ty.clone(), syntax: syntax_of(e) };
                self.emit(kind, e.span, None);
                index
            }
        }
    }

    pub(crate) fn field(&mut self, value: &Expr, name: &Name, span: Span) -> Tx {
        if let Some(name) = self.qualified_name(value, name) {
            return match self.lookup(&name).cloned() {
                Some(entry) => self.entry_value(entry, &name, span),
                None => {
                    self.no_value_in(&name, span);
                    Tx::error(span)
                }
            };
        }
        if let ExprKind::Var(module) = &value.kind
            && self.lookup(module).is_none()
            && self.lookup_type_var(module).is_none()
        {
            let near = self.near_value(module);
            let d = errors::unknown_name(value.span, module, near.clone());
            let help = format!("a module is imported first: `import {module}`");
            self.report(if near.is_none() { d.help(help) } else { d });
            return Tx::error(span);
        }
        let value = self.used(value);
        let ty = self.field_of(&value.ty, &name.text, name.span);
        Tx::new(span, ty, Tk::Field(Box::new(value), name.text.clone()))
    }

    fn field_of(&mut self, ty: &Ty, name: &str, span: Span) -> Ty {
        let head = self.arena.head(ty);
        if self.arena.is_error(&head) {
            return Ty::Error;
        }
        let (inner, tangent) = match &head {
            Ty::Con(Con::Tangent, args) => (self.arena.head(&args[0]), true),
            _ => (head, false),
        };
        match self.field_type(&inner, name) {
            Ok(Some(found)) => {
                if tangent {
                    self.arena.tangent(&found)
                } else {
                    found
                }
            }
            Ok(None) => {
                let result = self.meta();
                let kind = Kind::Field { value: ty.clone(), name: name.to_string(), result: result.clone() };
                self.emit(kind, span, None);
                self.solve(span);
                result
            }
            Err(fail) => {
                self.report_at(fail, span, "here");
                Ty::Error
            }
        }
    }

    pub(crate) fn with(&mut self, value: &Expr, updates: &[Update], span: Span) -> Tx {
        let value = self.used(value);
        let ty = value.ty.clone();
        let typed = updates
            .iter()
            .map(|update| match update {
                Update::Field(name, e) => {
                    let wanted = self.field_of(&ty, &name.text, name.span);
                    TUpdate::Field(name.text.clone(), self.check(e, &wanted))
                }
                Update::Index(place, indices, e) => {
                    let (wanted, indices) = self.index_into(&ty, indices, *place);
                    TUpdate::Index(indices, self.check(e, &wanted))
                }
            })
            .collect();
        Tx::new(span, ty, Tk::With(Box::new(value), typed))
    }

    pub(crate) fn build(&mut self, name: &Name, fields: &[(Name, Expr)], span: Span) -> Tx {
        let id = match self.type_named(&name.text, name.span) {
            Found::Known(TypeName::Data(id)) if self.arena.decl(id).is_struct() => id,
            found => {
                if !matches!(found, Found::Wrong | Found::Known(TypeName::Poison)) {
                    let near = self.near_type(&name.text);
                    self.report(errors::unknown_type(name.span, &name.text, near));
                }
                fields.iter().for_each(|(_, e)| drop(self.infer(e)));
                return Tx::error(span);
            }
        };
        let whole = self.data_at_fresh(id);
        self.fill(id, whole, name, fields, span)
    }

    /// A struct, or the tangent of one, from values for its fields.
    fn fill(&mut self, id: DataId, whole: Ty, name: &Name, fields: &[(Name, Expr)], span: Span) -> Tx {
        let Some(types) = self.arena.fields(&whole) else { return Tx::error(span) };
        let mut typed: Vec<(usize, Tx)> = vec![];
        let mut unknown = vec![];
        for (field, e) in fields {
            let Some(k) = types.iter().position(|(n, _)| **n == *field.text) else {
                unknown.push(field.text.clone());
                self.infer(e);
                continue;
            };
            if typed.iter().any(|(old, _)| *old == k) {
                self.report(errors::field_twice(field.span, &field.text));
            }
            typed.push((k, self.check(e, &types[k].1)));
            self.solve(e.span);
        }
        let names: Vec<String> = types.iter().map(|(n, _)| n.to_string()).collect();
        let missing: Vec<String> = (0..types.len())
            .filter(|k| !typed.iter().any(|(t, _)| t == k))
            .map(|k| names[k].clone())
            .collect();
        if !missing.is_empty() || !unknown.is_empty() {
            self.report(errors::build_fields(name.span, &name.text, &missing, &unknown, &names));
        }
        Tx::new(span, whole, Tk::Build(id, typed))
    }

    /// A constructor, list or struct where the tangent of an enum or struct is expected: names mean what they
    /// mean in the tangent. `None` for other expressions.
    pub(crate) fn check_tangent(&mut self, e: &Expr, want: &Ty) -> Option<Tx> {
        if let (ExprKind::List(es), Ty::Con(Con::Table, args)) = (&e.kind, want) {
            let elem = args[1].clone();
            return self.holds_tangent(&elem).then(|| self.list_of(es, elem, e.span));
        }
        if !self.arena.is_tangent_of_data(want) {
            return None;
        }
        match &e.kind {
            ExprKind::Ctor(name) => {
                let (ctor, payload) = self.tangent_ctor(name, want)?;
                if !payload.is_empty() {
                    self.report(errors::ctor_arity(e.span, name, payload.len(), 0));
                    return Some(Tx::error(e.span));
                }
                Some(Tx::new(e.span, want.clone(), Tk::Ctor(ctor)))
            }
            ExprKind::Call(f, args) => {
                let ExprKind::Ctor(name) = &f.kind else { return None };
                let (ctor, payload) = self.tangent_ctor(name, want)?;
                let callee = Tx::new(f.span, fun(tuple(payload), want.clone()), Tk::Ctor(ctor));
                Some(self.apply(callee, name, args, e.span))
            }
            ExprKind::Build(name, fields) => {
                let id = self.arena.declared(want)?;
                let named = matches!(self.peek_type(&name.text), Some(TypeName::Data(own)) if own == id);
                named.then(|| self.fill(id, want.clone(), name, fields, e.span))
            }
            _ => None,
        }
    }

    /// Whether tables of tangents of structs or enums end in this element.
    fn holds_tangent(&self, t: &Ty) -> bool {
        match self.arena.head(t) {
            Ty::Con(Con::Table, args) => self.holds_tangent(&args[1]),
            t => self.arena.is_tangent_of_data(&t),
        }
    }

    /// Whether a value of the type carries nothing, so that throwing it away is no loss.
    pub(crate) fn is_unit_like(&self, t: &Ty) -> bool {
        match self.arena.head(t) {
            Ty::Error => true,
            Ty::Con(Con::Tuple, args) => args.iter().all(|a| self.is_unit_like(a)),
            Ty::Con(Con::Table, args) => self.is_unit_like(&args[1]),
            Ty::Con(..) | Ty::Var(_) | Ty::Fin(_) | Ty::Exists(_) => false,
        }
    }

    /// Asks that a value carries nothing.
    pub(crate) fn want_unit(&mut self, value: &Tx) {
        let mut t = self.arena.head(&value.ty);
        while let Ty::Con(Con::Table, args) = &t {
            t = self.arena.head(&args[1]);
        }
        if !self.is_unit_like(&t) {
            self.unify_at(&t, &unit(), value.span);
        }
    }
}

fn is_negative_literal(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Neg(inner) => matches!(inner.kind, ExprKind::Lit(_)),
        ExprKind::Paren(inner) => is_negative_literal(inner),
        _ => false,
    }
}

fn syntax_of(e: &Expr) -> IndexSyntax {
    match &e.kind {
        ExprKind::Paren(inner) => syntax_of(inner),
        ExprKind::Chain(..) | ExprKind::Neg(_) | ExprKind::Lit(_) => IndexSyntax::Arithmetic,
        _ => IndexSyntax::Other,
    }
}
