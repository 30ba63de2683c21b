//! A module: which item is checked when, and what each gives.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use std::collections::{BTreeSet, HashMap};

use adl_core::{ir::Method, rule::RuleKind};
use adl_diag::Span;
use adl_syntax::ast::{Def, Expr, Item, ItemKind, Let, Module, Param, PatKind};

use crate::{
    checker::{Checker, Scheme, Target},
    errors,
    imports::{Brought, Imports},
    infer::Checked,
    resolve::{components, free_in, free_in_def, pattern_names},
    tree::{LocalId, TStmt, Tk, Tp, TpKind, Tx},
    types::{Con, DataId, Ty, V},
};

/// A top-level function that was checked.
#[derive(Clone, Debug)]
pub(crate) struct TFunc {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) vars: Vec<V>,
    pub(crate) param: Tp,
    pub(crate) body: Tx,
}

/// A top-level item that runs.
#[derive(Clone, Debug)]
pub(crate) enum TItem {
    Let(Tp, Tx),
    Show(Tx),
    Test(String, Tx),
    Param(String, LocalId, Tx),
}

/// What the items of a module give, in the order in which they were checked.
#[derive(Clone, Debug)]
pub(crate) enum Output {
    Func(usize, TFunc),
    Item(Span, TItem),
    /// A function is an operation of a type.
    Operation(DataId, Method, usize),
    /// A function is the derivative of another.
    Rule {
        of: usize,
        func: usize,
        kind: RuleKind,
    },
}

/// The definitions of a module while it is checked.
struct Defs<'a> {
    defs: Vec<(&'a Def, Span)>,
    /// The groups in an order in which each uses only earlier ones.
    groups: Vec<Vec<usize>>,
    group_of: Vec<usize>,
    uses: Vec<Vec<usize>>,
    by_name: HashMap<&'a str, usize>,
    checked: Vec<bool>,
}

impl Checker {
    /// Checks a module in the outermost scope. `funcs` counts the functions of the session; `before` takes what the
    /// modules give that it imports, `out` what it gives itself. What it imports by name.
    pub(crate) fn module(
        &mut self,
        module: &Module,
        from: &mut Imports,
        funcs: &mut usize,
        before: &mut Vec<Output>,
        out: &mut Vec<Output>,
    ) -> Brought {
        let brought = self.imports(&module.items, from, funcs, before);
        self.poison_broken(&module.items);
        self.collect_docs(&module.items);
        self.declare_types(&module.items);
        let instances = self.declare_instances(&module.items);
        self.check_derives(&module.items);
        let mut defs = self.collect_defs(&module.items);
        self.announce(&module.items);
        for instance in instances {
            let names = instance.names();
            self.check_defs(&mut defs, &names, funcs, out);
            self.instance(&instance, funcs, out);
        }
        for item in &module.items {
            let names = mentioned(item);
            self.check_defs(&mut defs, &names, funcs, out);
            self.item(item, funcs, out);
        }
        let all: BTreeSet<String> = defs.defs.iter().map(|(d, _)| d.name.text.clone()).collect();
        self.check_defs(&mut defs, &all, funcs, out);
        for rule in self.rules(&module.items) {
            self.rule(&rule, funcs, out);
        }
        brought
    }

    fn collect_docs(&mut self, items: &[Item]) {
        for item in items {
            let names = match &item.kind {
                ItemKind::Def(d) => vec![d.name.text.clone()],
                ItemKind::Let(l) => pattern_names(&l.pat).into_iter().map(|(name, _)| name).collect(),
                ItemKind::Struct(s) => vec![s.name.text.clone()],
                ItemKind::Enum(e) => vec![e.name.text.clone()],
                ItemKind::Alias(a) => vec![a.name.text.clone()],
                ItemKind::Param(p) => vec![p.name.text.clone()],
                ItemKind::Import(_)
                | ItemKind::Test(_)
                | ItemKind::Derivative(_)
                | ItemKind::Instance(_)
                | ItemKind::Expr(_)
                | ItemKind::Broken(_) => continue,
            };
            for name in names {
                // A new definition without documentation does not have that of the old one.
                self.docs.insert(name, item.docs.clone().unwrap_or_default());
            }
        }
    }

    /// Names of items that could not be read are known, so that their uses are not reported.
    fn poison_broken(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::Broken(names) = &item.kind else { continue };
            for name in names {
                if name.text.chars().next().is_some_and(char::is_uppercase) {
                    self.type_names.insert(name.text.clone(), crate::checker::TypeName::Poison);
                } else {
                    self.bind_name(&name.text, Target::Poison, Scheme::mono(Ty::Error));
                }
            }
        }
    }

    fn collect_defs<'a>(&mut self, items: &'a [Item]) -> Defs<'a> {
        let mut seen: HashMap<String, Span> = HashMap::new();
        let mut defs = vec![];
        for item in items {
            let names = match &item.kind {
                ItemKind::Def(d) => {
                    let span = d.name.span;
                    if !seen.contains_key(&d.name.text) {
                        defs.push((d, item.span));
                    }
                    vec![(d.name.text.clone(), span)]
                }
                ItemKind::Let(l) => pattern_names(&l.pat),
                ItemKind::Param(p) => vec![(p.name.text.clone(), p.name.span)],
                ItemKind::Struct(_)
                | ItemKind::Enum(_)
                | ItemKind::Alias(_)
                | ItemKind::Import(_)
                | ItemKind::Test(_)
                | ItemKind::Derivative(_)
                | ItemKind::Instance(_)
                | ItemKind::Expr(_)
                | ItemKind::Broken(_) => vec![],
            };
            for (name, span) in names {
                if self.env.len() > 1 && self.env[0].values.contains_key(&name) {
                    self.report(errors::hides_prelude(span, &name));
                }
                if let Some(first) = seen.insert(name.clone(), span) {
                    self.report(errors::defined_twice(span, &name, first));
                    seen.insert(name, first);
                }
            }
        }
        let by_name: HashMap<&str, usize> =
            defs.iter().enumerate().map(|(k, (d, _))| (d.name.text.as_str(), k)).collect();
        let uses: Vec<Vec<usize>> = defs
            .iter()
            .map(|(d, _)| free_in_def(d).iter().filter_map(|n| by_name.get(n.as_str()).copied()).collect())
            .collect();
        let groups = components(&uses);
        let mut group_of = vec![0; defs.len()];
        for (k, group) in groups.iter().enumerate() {
            group.iter().for_each(|d| group_of[*d] = k);
        }
        let checked = vec![false; groups.len()];
        Defs { defs, groups, group_of, uses, by_name, checked }
    }

    /// A `let` further down is known, so that its use above it is reported as that.
    fn announce(&mut self, items: &[Item]) {
        for item in items {
            let names = match &item.kind {
                ItemKind::Let(l) => pattern_names(&l.pat),
                ItemKind::Param(p) => vec![(p.name.text.clone(), p.name.span)],
                ItemKind::Def(_)
                | ItemKind::Struct(_)
                | ItemKind::Enum(_)
                | ItemKind::Alias(_)
                | ItemKind::Import(_)
                | ItemKind::Test(_)
                | ItemKind::Derivative(_)
                | ItemKind::Instance(_)
                | ItemKind::Expr(_)
                | ItemKind::Broken(_) => continue,
            };
            for (name, span) in names {
                if self.lookup(&name).is_none() {
                    self.bind_name(&name, Target::Later(span), Scheme::mono(Ty::Error));
                }
            }
        }
    }

    /// Checks the definitions that these names reach, and that are not checked yet.
    fn check_defs(
        &mut self,
        defs: &mut Defs,
        names: &BTreeSet<String>,
        funcs: &mut usize,
        out: &mut Vec<Output>,
    ) {
        let mut wanted: Vec<usize> =
            names.iter().filter_map(|n| defs.by_name.get(n.as_str()).copied()).collect();
        let mut reached = BTreeSet::new();
        while let Some(k) = wanted.pop() {
            if reached.insert(defs.group_of[k]) {
                for member in &defs.groups[defs.group_of[k]] {
                    wanted.extend(&defs.uses[*member]);
                }
            }
        }
        for group in reached {
            if std::mem::replace(&mut defs.checked[group], true) {
                continue;
            }
            let members = defs.groups[group].clone();
            let list: Vec<(&Def, Span)> = members.iter().map(|k| defs.defs[*k]).collect();
            self.group(&list, funcs, out);
        }
    }

    pub(crate) fn group(&mut self, list: &[(&Def, Span)], funcs: &mut usize, out: &mut Vec<Output>) {
        self.errors_before = self.errors();
        self.opened.clear();
        let first = *funcs;
        let targets: Vec<usize> = (0..list.len()).map(|k| first + k).collect();
        *funcs += list.len();
        let group: Vec<&Def> = list.iter().map(|(d, _)| *d).collect();
        let checked = self.defs(&group, true, &targets);
        for ((def, target), (_, span)) in checked.into_iter().zip(targets).zip(list) {
            let Checked { name, scheme, param, body, .. } = def;
            if self.item_is_wrong() && !is_annotated(group[target - first]) {
                self.bind_name(&name, Target::Poison, Scheme::mono(Ty::Error));
            } else {
                self.bind_name(&name, Target::Func(target), scheme.clone());
            }
            out.push(Output::Func(target, TFunc { name, span: *span, vars: scheme.vars, param, body }));
        }
        self.finish();
    }

    fn item(&mut self, item: &Item, funcs: &mut usize, out: &mut Vec<Output>) {
        self.errors_before = self.errors();
        self.opened.clear();
        match &item.kind {
            ItemKind::Let(l) => self.top_let(l, item.span, funcs, out),
            ItemKind::Param(p) => out.extend(self.param(p, item.span)),
            ItemKind::Test(t) => {
                let value = self.running(&t.body);
                let is_unit =
                    matches!(self.arena.head(&value.ty), Ty::Con(Con::Tuple, parts) if parts.is_empty());
                if !is_unit && !self.item_is_wrong() {
                    let shown = self.arena.show(&value.ty);
                    self.report(errors::value_of_test(crate::checker::last_span(&value), &shown));
                }
                out.push(Output::Item(item.span, TItem::Test(t.name.clone(), value)));
            }
            ItemKind::Expr(e) => {
                let value = self.running(e);
                self.need_at(crate::types::Class::Show, &value.ty, "as its value is printed", e.span);
                out.push(Output::Item(item.span, TItem::Show(value)));
            }
            ItemKind::Def(_)
            | ItemKind::Struct(_)
            | ItemKind::Enum(_)
            | ItemKind::Alias(_)
            | ItemKind::Import(_)
            | ItemKind::Derivative(_)
            | ItemKind::Instance(_)
            | ItemKind::Broken(_) => {}
        }
        self.finish();
    }

    fn top_let(&mut self, l: &Let, span: Span, funcs: &mut usize, out: &mut Vec<Output>) {
        let (inner, typed) = match &l.pat.kind {
            PatKind::Typed(p, _) => (&**p, true),
            _ => (&l.pat, false),
        };
        if matches!(inner.kind, PatKind::Var(_)) && !typed && self.generalises(&l.value) {
            if let TStmt::Poly(id, vars, value) = self.let_(l, true) {
                self.top_function(id, vars, value, span, funcs, out);
            }
            return;
        }
        let (mark, sets) = (self.active.len(), self.for_sets.len());
        self.level = 1;
        let stmt = self.let_(l, true);
        self.level = 0;
        let TStmt::Let(pat, value) = stmt else { return };
        self.close(&value.ty, mark, l.span);
        self.check_for_sets(sets);
        if self.item_is_wrong() && !typed {
            for (name, _) in pattern_names(&l.pat) {
                self.bind_name(&name, Target::Poison, Scheme::mono(Ty::Error));
            }
        }
        out.push(Output::Item(span, TItem::Let(pat, value)));
    }

    /// An expression that runs at its place.
    fn running(&mut self, e: &Expr) -> Tx {
        let (mark, sets) = (self.active.len(), self.for_sets.len());
        self.level = 1;
        let value = self.used(e);
        self.level = 0;
        self.close_unused(&value.ty, mark, e.span);
        self.check_for_sets(sets);
        value
    }

    fn param(&mut self, p: &Param, span: Span) -> Option<Output> {
        let mark = self.active.len();
        let ty = self.annotation(&p.ty);
        if !matches!(
            self.arena.head(&ty),
            Ty::Con(Con::Int | Con::Float | Con::Bool | Con::Str, _) | Ty::Error
        ) {
            let help = "the types of parameters are Int, Float, Bool and String";
            self.report(errors::misplaced(
                p.ty.span,
                adl_diag::Code::E0201,
                "a `param` cannot have this type",
                help,
            ));
        }
        self.level = 1;
        let value = self.check(&p.default, &ty);
        let id = self.bind_mono(&p.name.text, &ty);
        self.level = 0;
        self.close(&ty, mark, span);
        Some(Output::Item(span, TItem::Param(p.name.text.clone(), id, value)))
    }

    /// A `let` of a function at the top level is a function of the program.
    fn top_function(
        &mut self,
        id: LocalId,
        vars: Vec<V>,
        value: Tx,
        span: Span,
        funcs: &mut usize,
        out: &mut Vec<Output>,
    ) {
        let name = self.locals[id.0 as usize].name.to_string();
        let ty = value.ty.clone();
        let target = *funcs;
        *funcs += 1;
        self.bind_name(
            &name,
            Target::Func(target),
            Scheme { vars: vars.clone(), ty: ty.clone(), dep: vec![] },
        );
        let (param, body) = match value.kind {
            Tk::Lambda(param, body) => (*param, *body),
            _ => {
                // Another name for a function: apply it.
                let Ty::Con(Con::Fun | Con::Lin, sides) = self.arena.head(&ty) else { return };
                let local = self.new_local("x", &sides[0]);
                let param = Tp { ty: sides[0].clone(), span: value.span, kind: TpKind::Var(local) };
                let arg = Tx::new(value.span, sides[0].clone(), Tk::Local(local, vec![]));
                let body = Tx::new(value.span, sides[1].clone(), Tk::Call(Box::new(value), Box::new(arg)));
                (param, body)
            }
        };
        out.push(Output::Func(target, TFunc { name, span, vars, param, body }));
    }

    /// Lambdas that were checked against `-o` are looked at once their types are final.
    pub(crate) fn finish(&mut self) {
        self.arena.compress();
        for lambda in std::mem::take(&mut self.linear) {
            self.check_linear(&lambda);
        }
    }
}

/// Whether the types of all parameters and of the result are written.
fn is_annotated(d: &Def) -> bool {
    d.result.is_some() && d.params.iter().all(|p| matches!(p.kind, PatKind::Typed(..)))
}

/// The free names of an item that runs.
fn mentioned(item: &Item) -> BTreeSet<String> {
    match &item.kind {
        ItemKind::Let(l) => free_in(&l.value),
        ItemKind::Param(p) => free_in(&p.default),
        ItemKind::Test(t) => free_in(&t.body),
        ItemKind::Expr(e) => free_in(e),
        ItemKind::Def(_)
        | ItemKind::Struct(_)
        | ItemKind::Enum(_)
        | ItemKind::Alias(_)
        | ItemKind::Import(_)
        | ItemKind::Derivative(_)
        | ItemKind::Instance(_)
        | ItemKind::Broken(_) => BTreeSet::new(),
    }
}
