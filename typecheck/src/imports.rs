//! Modules: imports, what they bring into scope, and names with a module before a dot.

use std::collections::{BTreeMap, BTreeSet};

use adl_diag::{Diagnostic, FileId, Span, nearest};
use adl_syntax::ast::{Expr, ExprKind, Import, Item, ItemKind, Module, Name};

use crate::{
    checker::{Checker, Entry, Frame, Scheme, Target, TypeName},
    data::CtorRef,
    errors,
    module::{Output, TItem},
    resolve::pattern_names,
    tree::{Tp, TpKind},
    types::{DataId, Ty},
};

/// Where modules come from. Whoever runs the checker decides.
pub trait Loader {
    /// The module `path.to.m` as the file `from` sees it; the same module has the same file each time.
    fn load(&mut self, path: &[String], from: FileId) -> Option<Source>;

    /// Names of modules that could be meant where one is not found.
    fn known(&mut self) -> Vec<String>;
}

/// The text of a module.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its file.
    pub file: FileId,
    /// What stands there.
    pub text: String,
}

/// A place without modules.
#[derive(Clone, Copy, Debug)]
pub struct NoModules;

impl Loader for NoModules {
    fn load(&mut self, _path: &[String], _from: FileId) -> Option<Source> {
        None
    }

    fn known(&mut self) -> Vec<String> {
        vec![]
    }
}

/// A module that was checked, by its place in the session's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModuleId(usize);

/// What a module defines.
#[derive(Clone, Debug)]
pub(crate) struct Imported {
    name: String,
    file: FileId,
    values: BTreeMap<String, Entry>,
    types: BTreeMap<String, TypeName>,
    ctors: BTreeMap<String, CtorRef>,
    docs: BTreeMap<String, String>,
    /// It has errors, which were reported: what it lacks is their consequence.
    wrong: bool,
}

/// What was found under a name.
#[derive(Clone, Debug)]
pub(crate) enum Found<T> {
    Known(T),
    /// Wrong, and reported.
    Wrong,
    Unknown,
}

impl<T> Found<T> {
    fn of(found: Option<T>) -> Found<T> {
        found.map_or(Found::Unknown, Found::Known)
    }
}

/// What imports need while they are followed.
pub(crate) struct Imports<'a> {
    pub(crate) loader: &'a mut dyn Loader,
    /// The modules that are being imported, from the outside in.
    chain: Vec<(FileId, String)>,
}

impl<'a> Imports<'a> {
    pub(crate) fn new(loader: &'a mut dyn Loader) -> Imports<'a> {
        Imports { loader, chain: vec![] }
    }
}

/// The kinds of names; each has a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Space {
    Value,
    Type,
    Ctor,
}

/// Names that imports bring into the scope of a module, with their places.
#[derive(Debug, Default)]
pub(crate) struct Brought(BTreeMap<(Space, String), Span>);

impl Checker {
    /// Follows the imports of a module: what they define runs before it.
    pub(crate) fn imports(
        &mut self,
        items: &[Item],
        from: &mut Imports,
        funcs: &mut usize,
        out: &mut Vec<Output>,
    ) -> Brought {
        let mut brought = Brought::default();
        for item in items {
            let ItemKind::Import(import) = &item.kind else { continue };
            let module = self.import(import, item.span, from, funcs, out);
            self.bind_import(import, module, &mut brought);
        }
        self.refuse_defined(items, &brought);
        brought
    }

    /// The module of an import; `None` where it cannot be had, which is reported.
    fn import(
        &mut self,
        import: &Import,
        span: Span,
        from: &mut Imports,
        funcs: &mut usize,
        out: &mut Vec<Output>,
    ) -> Option<ModuleId> {
        let path: Vec<String> = import.path.iter().map(|n| n.text.clone()).collect();
        let name = path.join(".");
        let place = import.path.iter().map(|n| n.span).reduce(Span::to).unwrap_or(span);
        let Some(source) = from.loader.load(&path, span.file) else {
            let known = from.loader.known();
            let near = nearest(&name, known.iter().map(String::as_str));
            self.report(errors::unknown_module(place, &name, near));
            return None;
        };
        if let Some(start) = from.chain.iter().position(|(file, _)| *file == source.file) {
            let chain: Vec<&str> =
                from.chain[start..].iter().map(|(_, n)| n.as_str()).chain([&*name]).collect();
            self.report(errors::import_cycle(place, &chain));
            return None;
        }
        if let Some(known) = self.modules.iter().position(|m| m.file == source.file) {
            return Some(ModuleId(known));
        }
        from.chain.push((source.file, name.clone()));
        let id = self.load_module(&name, &source, from, funcs, out);
        from.chain.pop();
        Some(id)
    }

    /// Checks a module in a scope of its own.
    fn load_module(
        &mut self,
        name: &str,
        source: &Source,
        from: &mut Imports,
        funcs: &mut usize,
        out: &mut Vec<Output>,
    ) -> ModuleId {
        let (module, mut found) = adl_syntax::parse(source.file, &source.text);
        let parsed = !found.iter().any(Diagnostic::is_error);
        let prelude = self.env.first().cloned().unwrap_or_default();
        let outer_env = std::mem::replace(&mut self.env, vec![prelude, Frame::default()]);
        let (types, ctors) = (self.prelude_types.clone(), self.prelude_ctors.clone());
        let outer_types = std::mem::replace(&mut self.type_names, types);
        let outer_ctors = std::mem::replace(&mut self.ctors, ctors);
        let outer_docs = std::mem::take(&mut self.docs);
        let outer_diagnostics = std::mem::take(&mut self.diagnostics);
        // What does not parse defines nothing.
        let module = if parsed { module } else { Module::default() };
        let mut outputs = vec![];
        let brought = self.module(&module, from, funcs, out, &mut outputs);
        let own = self.env.pop().unwrap_or_default();
        self.env = outer_env;
        let types = std::mem::replace(&mut self.type_names, outer_types);
        let ctors = std::mem::replace(&mut self.ctors, outer_ctors);
        let docs = std::mem::replace(&mut self.docs, outer_docs);
        // Warnings of a module are shown when it is checked by itself.
        found.append(&mut self.diagnostics);
        found.retain(Diagnostic::is_error);
        found.sort_by_key(|d| d.span().start);
        let wrong = !found.is_empty();
        self.diagnostics = outer_diagnostics;
        self.diagnostics.append(&mut found);
        let here = |space: Space, name: &str| !brought.0.contains_key(&(space, name.to_string()));
        let values = own.values.into_iter().filter(|(n, _)| here(Space::Value, n)).collect();
        let types = types.into_iter().filter(|(n, _)| here(Space::Type, n)).collect();
        let ctors = ctors.into_iter().filter(|(n, _)| here(Space::Ctor, n)).collect();
        let imported =
            Imported { name: name.to_string(), file: source.file, values, types, ctors, docs, wrong };
        self.modules.push(imported);
        out.extend(outputs.into_iter().filter_map(of_import));
        ModuleId(self.modules.len() - 1)
    }

    /// Brings the names of an import into scope.
    fn bind_import(&mut self, import: &Import, module: Option<ModuleId>, brought: &mut Brought) {
        let Some(names) = &import.names else {
            let Some(name) = import.alias.as_ref().or(import.path.last()) else { return };
            self.bring(Space::Value, name, brought);
            let target = module.map_or(Target::Poison, Target::Module);
            self.bind_name(&name.text, target, Scheme::mono(Ty::Error));
            return;
        };
        for name in names {
            match module {
                Some(id) => self.bind_member(id, name, brought),
                None => self.bind_poison(name),
            }
        }
    }

    fn bind_poison(&mut self, name: &Name) {
        if name.text.starts_with(char::is_uppercase) {
            self.type_names.insert(name.text.clone(), TypeName::Poison);
        } else {
            self.bind_name(&name.text, Target::Poison, Scheme::mono(Ty::Error));
        }
    }

    /// Brings one name of a module into scope: a value, or a type or constructor or both.
    fn bind_member(&mut self, id: ModuleId, name: &Name, brought: &mut Brought) {
        let module = &self.modules[id.0];
        let text = name.text.as_str();
        let private = text.starts_with('_');
        let value = module.values.get(text).filter(|_| !private).cloned();
        let (ty, ctor) = (module.types.get(text).cloned(), module.ctors.get(text).copied());
        if value.is_none() && ty.is_none() && ctor.is_none() {
            self.no_member(id, text, name.span);
            self.bind_poison(name);
            return;
        }
        if let Some(entry) = value {
            self.bring(Space::Value, name, brought);
            self.frame().values.insert(text.to_string(), entry);
        }
        if let Some(ty) = ty {
            self.bring(Space::Type, name, brought);
            self.type_names.insert(text.to_string(), ty);
        }
        if let Some(ctor) = ctor {
            self.bring(Space::Ctor, name, brought);
            self.ctors.insert(text.to_string(), ctor);
        }
    }

    fn bring(&mut self, space: Space, name: &Name, brought: &mut Brought) {
        let key = (space, name.text.clone());
        match brought.0.get(&key) {
            Some(first) => self.report(errors::imported_twice(name.span, &name.text, *first)),
            None => {
                brought.0.insert(key, name.span);
            }
        }
    }

    /// A name that is imported may not be defined too.
    fn refuse_defined(&mut self, items: &[Item], brought: &Brought) {
        for item in items {
            for (space, name, span) in defined(item) {
                if let Some(import) = brought.0.get(&(space, name.clone())) {
                    self.report(errors::imported_and_defined(span, &name, *import));
                }
            }
        }
    }

    /// Whether a type belongs to a module that was imported.
    pub(crate) fn is_foreign(&self, id: DataId) -> bool {
        let is = |t: &TypeName| matches!(t, TypeName::Data(own) if *own == id);
        self.modules.iter().any(|m| m.types.values().any(is))
    }

    // ---- names with a module before a dot ---------------------------------------------------------------

    /// The module that a name stands for.
    fn module_named(&self, name: &str) -> Found<ModuleId> {
        match self.env.iter().rev().find_map(|frame| frame.values.get(name)).map(|e| e.target) {
            Some(Target::Module(id)) if self.modules[id.0].wrong => Found::Wrong,
            Some(Target::Module(id)) => Found::Known(id),
            Some(Target::Poison) => Found::Wrong,
            Some(_) | None => Found::Unknown,
        }
    }

    /// The value `m.x`, where `m` is a module in scope.
    pub(crate) fn qualified_entry(&self, name: &str) -> Option<&Entry> {
        let (module, name) = name.split_once('.')?;
        let Found::Known(id) = self.module_named(module) else { return None };
        self.modules[id.0].values.get(name).filter(|_| !name.starts_with('_'))
    }

    pub(crate) fn qualified_entry_mut(&mut self, name: &str) -> Option<&mut Entry> {
        let (module, name) = name.split_once('.')?;
        let Found::Known(id) = self.module_named(module) else { return None };
        self.modules[id.0].values.get_mut(name)
    }

    /// `m.x` as one name, where `m` is a module in scope.
    pub(crate) fn qualified_name(&self, value: &Expr, field: &Name) -> Option<String> {
        let ExprKind::Var(module) = &value.kind else { return None };
        let is_module = self.lookup(module).is_some_and(|e| matches!(e.target, Target::Module(_)));
        is_module.then(|| format!("{module}.{}", field.text))
    }

    /// Reports that a module has no such value. Nothing where it is wrong itself.
    pub(crate) fn no_value_in(&mut self, name: &str, span: Span) {
        let Some((module, name)) = name.split_once('.') else { return };
        if let Found::Known(id) = self.module_named(module) {
            self.no_member(id, name, span);
        }
    }

    fn no_member(&mut self, id: ModuleId, name: &str, span: Span) {
        let module = &self.modules[id.0];
        if module.wrong {
            return;
        }
        let known = module.values.keys().chain(module.types.keys()).chain(module.ctors.keys());
        let near = nearest(name, known.map(String::as_str));
        let d = if name.starts_with('_') && module.values.contains_key(name) {
            errors::private_name(span, &module.name, name)
        } else {
            errors::unknown_member(span, &module.name, name, near)
        };
        self.report(d);
    }

    /// The type under a name, qualified or not. Where its module is known and has none, that is reported.
    pub(crate) fn type_named(&mut self, name: &str, span: Span) -> Found<TypeName> {
        let found = self.peek_type(name);
        self.found_in(name, span, found)
    }

    /// The constructor under a name, qualified or not.
    pub(crate) fn ctor_named(&mut self, name: &str, span: Span) -> Found<CtorRef> {
        let found = match name.split_once('.') {
            None => self.ctors.get(name).copied(),
            Some((module, name)) => match self.module_named(module) {
                Found::Known(id) => self.modules[id.0].ctors.get(name).copied(),
                Found::Wrong | Found::Unknown => None,
            },
        };
        self.found_in(name, span, found)
    }

    fn found_in<T>(&mut self, name: &str, span: Span, found: Option<T>) -> Found<T> {
        let Some((module, member)) = name.split_once('.').filter(|_| found.is_none()) else {
            return Found::of(found);
        };
        match self.module_named(module) {
            Found::Wrong => {}
            Found::Known(id) => self.no_member(id, member, span),
            Found::Unknown => {
                let names = self.env.iter().flat_map(|frame| &frame.values);
                let modules =
                    names.filter(|(_, e)| matches!(e.target, Target::Module(_))).map(|(n, _)| n.as_str());
                let near = nearest(module, modules);
                self.report(errors::module_not_imported(span, module, near));
            }
        }
        Found::Wrong
    }

    /// The type under a name, qualified or not, without a word where there is none.
    pub(crate) fn peek_type(&self, name: &str) -> Option<TypeName> {
        let Some((module, name)) = name.split_once('.') else { return self.type_names.get(name).cloned() };
        match self.module_named(module) {
            Found::Known(id) => self.modules[id.0].types.get(name).cloned(),
            Found::Wrong => Some(TypeName::Poison),
            Found::Unknown => None,
        }
    }

    /// The names `m.x` of all modules in scope.
    pub(crate) fn qualified_names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (module, entry) in self.env.iter().flat_map(|frame| &frame.values) {
            let Target::Module(id) = entry.target else { continue };
            let imported = &self.modules[id.0];
            let own = imported.values.keys().chain(imported.types.keys()).chain(imported.ctors.keys());
            names.extend(own.filter(|n| !n.starts_with('_')).map(|n| format!("{module}.{n}")));
        }
        names
    }

    /// The documentation of `m.x`.
    pub(crate) fn qualified_docs(&self, name: &str) -> Option<&str> {
        let (module, name) = name.split_once('.')?;
        let Found::Known(id) = self.module_named(module) else { return None };
        self.modules[id.0].docs.get(name).map(String::as_str)
    }
}

/// What an item of an imported module gives: functions and values, but nothing that prints or is tested. A `param`
/// belongs to the program that is run; in a module it has its default.
fn of_import(output: Output) -> Option<Output> {
    match output {
        Output::Item(span, TItem::Param(_, local, value)) => {
            let pat = Tp { ty: value.ty.clone(), span, kind: TpKind::Var(local) };
            Some(Output::Item(span, TItem::Let(pat, value)))
        }
        Output::Item(_, TItem::Show(_) | TItem::Test(..)) => None,
        Output::Item(_, TItem::Let(..)) | Output::Func(..) | Output::Operation(..) | Output::Rule { .. } => {
            Some(output)
        }
    }
}

/// The names that an item defines.
fn defined(item: &Item) -> Vec<(Space, String, Span)> {
    let one = |space: Space, name: &Name| (space, name.text.clone(), name.span);
    match &item.kind {
        ItemKind::Def(d) => vec![one(Space::Value, &d.name)],
        ItemKind::Let(l) => {
            pattern_names(&l.pat).into_iter().map(|(name, span)| (Space::Value, name, span)).collect()
        }
        ItemKind::Param(p) => vec![one(Space::Value, &p.name)],
        ItemKind::Struct(s) => vec![one(Space::Type, &s.name)],
        ItemKind::Enum(e) => {
            let ctors = e.ctors.iter().map(|c| one(Space::Ctor, &c.name));
            ctors.chain([one(Space::Type, &e.name)]).collect()
        }
        ItemKind::Alias(a) => vec![one(Space::Type, &a.name)],
        ItemKind::Import(_)
        | ItemKind::Test(_)
        | ItemKind::Derivative(_)
        | ItemKind::Instance(_)
        | ItemKind::Expr(_)
        | ItemKind::Broken(_) => vec![],
    }
}
