//! Declarations of types: structs, enums, aliases.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use std::{collections::HashMap, sync::Arc};

use adl_diag::Span;
use adl_syntax::ast::{Ctor, Field, Item, ItemKind, Name, Type, TypeKind, TypeParam};

use crate::{
    checker::{AliasDecl, Checker, TypeName},
    data::{Body, CtorRef, Data},
    errors,
    signature::{Mode, Signature},
    types::{Class, Con, DataId, Ty, V, VKind},
};

/// A declaration in the source: its name, parameters and the types in it.
struct Decl<'a> {
    name: &'a Name,
    params: &'a [TypeParam],
    types: Vec<&'a Type>,
}

fn declaration(item: &Item) -> Option<Decl<'_>> {
    let (name, params, types) = match &item.kind {
        ItemKind::Struct(s) => (&s.name, &s.type_params, s.fields.iter().map(|f| &f.ty).collect()),
        ItemKind::Enum(e) => (&e.name, &e.type_params, e.ctors.iter().flat_map(|c| &c.payload).collect()),
        ItemKind::Alias(a) => (&a.name, &a.type_params, vec![&a.ty]),
        ItemKind::Def(_)
        | ItemKind::Let(_)
        | ItemKind::Import(_)
        | ItemKind::Param(_)
        | ItemKind::Test(_)
        | ItemKind::Derivative(_)
        | ItemKind::Instance(_)
        | ItemKind::Expr(_)
        | ItemKind::Broken(_) => return None,
    };
    Some(Decl { name, params, types })
}

impl Checker {
    /// Declares all types of a module.
    pub(crate) fn declare_types(&mut self, items: &[Item]) {
        let decls: Vec<Decl> = items.iter().filter_map(declaration).collect();
        let sets = index_set_params(&decls, self);
        let first = self.arena.data.len();
        let mut seen: HashMap<&str, Span> = HashMap::new();
        let mut made: Vec<Option<(DataId, Vec<V>)>> = vec![];
        let mut made_params: Vec<Vec<V>> = vec![];
        for (k, decl) in decls.iter().enumerate() {
            if let Some(first) = seen.insert(&decl.name.text, decl.name.span) {
                self.report(errors::defined_twice(decl.name.span, &decl.name.text, first));
            }
            made_params.push(self.params(decl, &sets[k]));
        }
        let with_decl = items.iter().filter(|item| declaration(item).is_some());
        for ((item, decl), params) in with_decl.clone().zip(&decls).zip(&made_params) {
            let is_struct = match &item.kind {
                ItemKind::Struct(_) => true,
                ItemKind::Enum(_) => false,
                _ => {
                    made.push(None);
                    continue;
                }
            };
            let id = DataId(u32::try_from(self.arena.data.len()).expect("fewer than 2^32 types"));
            let body = if is_struct { Body::Struct(vec![]) } else { Body::Enum(vec![]) };
            let name: Arc<str> = Arc::from(decl.name.text.as_str());
            let (span, params) = (decl.name.span, params.clone());
            let data = Data { name, span, params: params.clone(), body, derives: vec![], recursive: false };
            self.arena.data.push(data);
            self.type_names.insert(decl.name.text.clone(), TypeName::Data(id));
            made.push(Some((id, params)));
        }
        // Aliases first: fields may use them.
        for ((item, decl), params) in with_decl.clone().zip(&decls).zip(&made_params) {
            if let ItemKind::Alias(a) = &item.kind {
                let mut sig = closed(decl, params);
                let ty = self.type_of(&a.ty, &mut sig);
                let alias = AliasDecl { params: params.clone(), ty };
                self.type_names.insert(decl.name.text.clone(), TypeName::Alias(alias));
            }
        }
        for ((item, decl), made) in with_decl.zip(&decls).zip(&made) {
            let Some((id, params)) = made else { continue };
            let mut sig = closed(decl, params);
            match &item.kind {
                ItemKind::Struct(s) => self.struct_body(*id, &s.fields, &s.derives, &mut sig),
                ItemKind::Enum(e) => self.enum_body(*id, &e.ctors, &e.derives, &mut sig),
                _ => {}
            }
        }
        for (id, _) in made.into_iter().flatten() {
            if self.reaches(id, id, &mut vec![]) {
                self.arena.data[id.0 as usize].recursive = true;
            }
        }
        self.refuse_endless_types(first);
    }

    /// Derived classes have to hold. (The instances of the module are known.)
    pub(crate) fn check_derives(&mut self, items: &[Item]) {
        for item in items {
            match &item.kind {
                ItemKind::Struct(s) => self.check_derived(&s.name, &s.derives),
                ItemKind::Enum(e) => self.check_derived(&e.name, &e.derives),
                _ => {}
            }
        }
    }

    /// A type each of whose values would hold another one has no values.
    fn refuse_endless_types(&mut self, first: usize) {
        let mut finite = vec![false; self.arena.data.len()];
        finite[..first].fill(true);
        let fits = |finite: &[bool], ts: &[Ty]| ts.iter().all(|t| self.has_values(t, finite));
        loop {
            let found = (first..finite.len()).filter(|k| {
                !finite[*k]
                    && match &self.arena.data[*k].body {
                        Body::Struct(fields) => fields.iter().all(|(_, t)| self.has_values(t, &finite)),
                        Body::Enum(ctors) => ctors.is_empty() || ctors.iter().any(|(_, p)| fits(&finite, p)),
                    }
            });
            let found: Vec<usize> = found.collect();
            if found.is_empty() {
                break;
            }
            found.into_iter().for_each(|k| finite[k] = true);
        }
        for (k, finite) in finite.into_iter().enumerate() {
            if !finite {
                let (span, name) = (self.arena.data[k].span, self.arena.data[k].name.clone());
                self.report(errors::endless_type(span, &name));
            }
        }
    }

    /// Derived classes have to hold, whatever the parameters are.
    fn check_derived(&mut self, of: &Name, derives: &[Name]) {
        let Some(TypeName::Data(id)) = self.type_names.get(&of.text) else { return };
        let whole = self.data_at_fresh(*id);
        for name in derives {
            let Some(class) = Class::from_name(&name.text) else { continue };
            let why = format!("as `{}` derives it", of.text);
            self.need_at(class, &whole, &why, name.span);
        }
    }

    /// Whether values of a type can be made, given which declared types have values.
    fn has_values(&self, t: &Ty, finite: &[bool]) -> bool {
        match t {
            Ty::Con(Con::Data(id), _) => finite[id.0 as usize],
            Ty::Con(Con::Tuple, args) => args.iter().all(|a| self.has_values(a, finite)),
            // A table may be empty, and a function may not return.
            Ty::Con(..) | Ty::Var(_) | Ty::Fin(_) | Ty::Error => true,
            Ty::Exists(e) => self.has_values(&e.body, finite),
        }
    }

    fn params(&mut self, decl: &Decl, sets: &[bool]) -> Vec<V> {
        decl.params
            .iter()
            .zip(sets)
            .map(|(p, set)| {
                let v = self.rigid(&p.name.text, VKind::Type, *set);
                self.arena.var_mut(v).level = 0;
                v
            })
            .collect()
    }

    fn struct_body(&mut self, id: DataId, fields: &[Field], derives: &[Name], sig: &mut Signature) {
        let mut body: Vec<(Arc<str>, Ty)> = vec![];
        for field in fields {
            if body.iter().any(|(n, _)| **n == *field.name.text) {
                self.report(errors::field_twice(field.name.span, &field.name.text));
                continue;
            }
            let ty = self.type_of(&field.ty, sig);
            body.push((Arc::from(field.name.text.as_str()), ty));
        }
        self.arena.data[id.0 as usize].body = Body::Struct(body);
        self.derive(id, derives);
    }

    fn enum_body(&mut self, id: DataId, ctors: &[Ctor], derives: &[Name], sig: &mut Signature) {
        let mut body: Vec<(Arc<str>, Vec<Ty>)> = vec![];
        for ctor in ctors {
            if body.iter().any(|(n, _)| **n == *ctor.name.text) {
                self.report(errors::field_twice(ctor.name.span, &ctor.name.text));
                continue;
            }
            let clash = self.ctors.get(&ctor.name.text).map(|old| self.arena.decl(old.data).span);
            if let Some(first) = clash.filter(|first| first.file == ctor.name.span.file) {
                self.report(errors::defined_twice(ctor.name.span, &ctor.name.text, first));
            }
            let tag = u32::try_from(body.len()).expect("fewer than 2^32 constructors");
            let payload = ctor.payload.iter().map(|t| self.type_of(t, sig)).collect();
            body.push((Arc::from(ctor.name.text.as_str()), payload));
            self.ctors.insert(ctor.name.text.clone(), CtorRef { data: id, tag });
        }
        self.arena.data[id.0 as usize].body = Body::Enum(body);
        self.derive(id, derives);
    }

    fn derive(&mut self, id: DataId, derives: &[Name]) {
        for name in derives {
            match Class::from_name(&name.text) {
                Some(class @ (Class::Eq | Class::Ord | Class::Show | Class::Vector)) => {
                    self.arena.data[id.0 as usize].derives.push(class);
                }
                Some(_) => {
                    let help = "the classes that can be derived are Eq Ord Show Vector";
                    let message = format!("`{}` cannot be derived", name.text);
                    self.report(errors::misplaced(name.span, adl_diag::Code::E0308, &message, help));
                }
                None => self.report(errors::unknown_class(name.span, &name.text)),
            }
        }
    }

    /// Whether a declaration reaches `to` through its fields.
    fn reaches(&self, from: DataId, to: DataId, seen: &mut Vec<DataId>) -> bool {
        if seen.contains(&from) {
            return false;
        }
        seen.push(from);
        let types: Vec<Ty> = match &self.arena.decl(from).body {
            Body::Struct(fields) => fields.iter().map(|(_, t)| t.clone()).collect(),
            Body::Enum(ctors) => ctors.iter().flat_map(|(_, p)| p.iter().cloned()).collect(),
        };
        types.iter().any(|t| self.type_reaches(t, to, seen))
    }

    fn type_reaches(&self, t: &Ty, to: DataId, seen: &mut Vec<DataId>) -> bool {
        match t {
            Ty::Con(Con::Data(id), args) => {
                *id == to
                    || args.iter().any(|a| self.type_reaches(a, to, seen))
                    || self.reaches(*id, to, seen)
            }
            Ty::Con(_, args) => args.iter().any(|a| self.type_reaches(a, to, seen)),
            Ty::Exists(e) => self.type_reaches(&e.body, to, seen),
            Ty::Var(_) | Ty::Fin(_) | Ty::Error => false,
        }
    }
}

fn closed(decl: &Decl, params: &[V]) -> Signature {
    let mut sig = Signature::new(Mode::Closed);
    for (p, v) in decl.params.iter().zip(params) {
        sig.names.insert(p.name.text.clone(), Ty::Var(*v));
        sig.made.push(*v);
    }
    sig
}

/// For each declaration, which of its parameters are index sets: those left of `=>`, inside `size(…)`, or given
/// to such a parameter of another type.
fn index_set_params(decls: &[Decl], checker: &Checker) -> Vec<Vec<bool>> {
    let mut sets: Vec<Vec<bool>> = decls
        .iter()
        .map(|d| {
            let is_ix = |p: &TypeParam| {
                matches!(p.kind.as_ref().map(|t| &t.kind), Some(TypeKind::Con(name, _)) if name.text == "Ix")
            };
            d.params.iter().map(is_ix).collect()
        })
        .collect();
    loop {
        let mut changed = false;
        for k in 0..decls.len() {
            let mut found = vec![];
            for t in &decls[k].types {
                sets_in(t, false, decls, &sets, checker, &mut found);
            }
            for (p, set) in decls[k].params.iter().zip(&mut sets[k]) {
                if !*set && found.contains(&p.name.text) {
                    *set = true;
                    changed = true;
                }
            }
        }
        if !changed {
            return sets;
        }
    }
}

fn sets_in(
    t: &Type,
    set: bool,
    decls: &[Decl],
    sets: &[Vec<bool>],
    checker: &Checker,
    found: &mut Vec<String>,
) {
    let mut go = |t: &Type, set: bool| sets_in(t, set, decls, sets, checker, found);
    match &t.kind {
        TypeKind::Var(name) => {
            if set {
                found.push(name.clone());
            }
        }
        TypeKind::Hole => {}
        TypeKind::Fin(e) => found.extend(sized_names(e)),
        TypeKind::Tuple(ts) => ts.iter().for_each(|t| go(t, set)),
        TypeKind::Table(a, b) => {
            go(a, true);
            go(b, false);
        }
        TypeKind::Fun(a, b) | TypeKind::Linear(a, b) => {
            go(a, false);
            go(b, false);
        }
        TypeKind::Exists(_, t) => go(t, false),
        TypeKind::Con(name, args) => {
            let own = decls.iter().position(|d| d.name.text == name.text).map(|k| sets[k].clone());
            let known = match checker.peek_type(&name.text) {
                Some(TypeName::Data(id)) => Some(checker.arena.decl(id).params.clone()),
                Some(TypeName::Alias(a)) => Some(a.params),
                Some(TypeName::Poison) | None => None,
            };
            let known = known.map(|ps| ps.iter().map(|p| checker.arena.var(*p).ix).collect::<Vec<bool>>());
            let is_set = own.or(known).unwrap_or_default();
            for (k, arg) in args.iter().enumerate() {
                go(arg, is_set.get(k).copied().unwrap_or(false));
            }
        }
    }
}

/// The names `n` of `size(n)` in a size.
fn sized_names(e: &adl_syntax::ast::Expr) -> Vec<String> {
    use adl_syntax::ast::ExprKind;
    match &e.kind {
        ExprKind::Paren(e) => sized_names(e),
        ExprKind::Chain(first, links) => {
            links.iter().flat_map(|l| sized_names(&l.right)).chain(sized_names(first)).collect()
        }
        ExprKind::Call(f, args) if crate::signature::is_var(f, "size") => args
            .iter()
            .filter_map(|a| if let ExprKind::Var(name) = &a.kind { Some(name.clone()) } else { None })
            .collect(),
        _ => vec![],
    }
}
