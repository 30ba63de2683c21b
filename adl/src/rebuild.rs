//! Redefinition: functions that mention a name are built again, from their source, when it is defined again.
//! Values keep what they are: to compute them again may be long, and is for the user to ask.

use adl_core::host::Host;
use adl_core::ir::{Block, Func, FuncId, Item, ItemKind, Program, Var};
use adl_core::reach;
use adl_core::ty::TypeId;
use adl_core::walk;
use adl_diag::{Diagnostic, FileId};

use crate::session::Session;

/// What a redefinition did to earlier definitions that mention the name, directly or through others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rebuilt {
    /// Functions that use the new definition now.
    pub functions: Vec<String>,
    /// Functions that still use the old one: with the new one they do not check.
    pub kept: Vec<String>,
    /// Values that the old definition gave.
    pub values: Vec<String>,
    /// Why functions were not built again.
    pub errors: Vec<Diagnostic>,
}

/// What the texts before have defined.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defined {
    /// Functions and types of the library come first.
    library: (usize, usize),
    pub(crate) funcs: usize,
    pub(crate) types: usize,
    /// The code of each `let` and `param`, and what it bound.
    values: Vec<(Vec<Var>, Block)>,
    /// The texts; what modules define is not defined again here.
    texts: Vec<FileId>,
}

impl Defined {
    pub(crate) fn library(p: &Program) -> Defined {
        let (funcs, types) = (p.funcs.len(), p.types.len());
        Defined { library: (funcs, types), funcs, types, ..Defined::default() }
    }

    fn add(&mut self, p: &Program, items: &[Item], text: FileId) {
        (self.funcs, self.types) = (p.funcs.len(), p.types.len());
        self.texts.push(text);
        let own = items.iter().filter(|item| item.span.file == text);
        self.values.extend(own.filter_map(|item| Some((bound(item)?, item.body.clone()))));
    }
}

fn bound(item: &Item) -> Option<Vec<Var>> {
    match &item.kind {
        ItemKind::Let(vars) => Some(vars.clone()),
        ItemKind::Param(_, v) => Some(vec![v.clone()]),
        ItemKind::Show | ItemKind::Test(_) => None,
    }
}

/// What is out of date.
struct Old<'a> {
    funcs: Vec<FuncId>,
    types: Vec<TypeId>,
    vars: Vec<&'a Var>,
}

impl Old<'_> {
    fn is_in(&self, code: &Block, params: &[Var]) -> bool {
        reach::mentioned(code).iter().any(|f| self.funcs.contains(f))
            || walk::free_vars(code).iter().any(|v| self.vars.contains(&v))
            || reach::types_mentioned(code, params).iter().any(|t| self.types.contains(t))
    }
}

impl Session {
    /// After a text has run: brings up to date what mentions the names that it has defined again.
    pub(crate) fn rebuild(&mut self, program: &Program, text: FileId, host: &mut dyn Host) -> Rebuilt {
        let before = self.defined.clone();
        self.defined.add(program, &program.items, text);
        let mut rebuilt = Rebuilt::default();
        let outdated = outdated(program, text, &before, &mut rebuilt);
        if outdated.is_empty() {
            return rebuilt;
        }
        // Operations of instances stand inside their instance: they are not built again.
        let (operations, functions): (Vec<&Func>, Vec<&Func>) =
            outdated.into_iter().filter(|f| !f.is_local()).partition(|f| f.name.contains('.'));
        let names = |funcs: &[&Func]| funcs.iter().map(|f| f.name.clone()).collect::<Vec<String>>();
        rebuilt.kept = names(&operations);
        let text: String = functions.iter().map(|f| self.source(f)).collect();
        let (checked, outcome) = self.check_text("<again>", &text, host);
        match checked {
            Some(checked) => {
                rebuilt.functions = names(&functions);
                self.defined.add(&checked.program, &[], outcome.file);
                self.specialiser.source = Program { items: vec![], ..checked.program };
            }
            None => {
                rebuilt.kept.extend(names(&functions));
                rebuilt.errors = outcome.diagnostics;
            }
        }
        rebuilt
    }
}

impl Session {
    /// The source of a function, with its documentation.
    fn source(&self, f: &Func) -> String {
        let docs = self.checker.doc_of(&f.name).unwrap_or_default().lines();
        let docs: String = docs.map(|line| format!("/// {line}\n")).collect();
        format!("{docs}{}\n", self.sources.snippet(f.span))
    }
}

/// The functions that mention something old, in the order in which they were defined; notes the values.
fn outdated<'a>(
    program: &'a Program,
    text: FileId,
    before: &Defined,
    rebuilt: &mut Rebuilt,
) -> Vec<&'a Func> {
    let id = |k: usize| u32::try_from(k).expect("fewer than 2^32 definitions");
    let defined = program.funcs[before.funcs..].iter().filter(|f| f.span.file == text);
    let mut new: Vec<&str> = defined.map(|f| f.name.as_str()).collect();
    new.extend(program.types[before.types..].iter().map(|t| t.name.as_str()));
    let own_items = program.items.iter().filter(|item| item.span.file == text);
    let vars = own_items.filter_map(bound).flatten().collect::<Vec<Var>>();
    new.extend(vars.iter().map(Var::name));

    let is_own = |k: &usize| before.texts.contains(&program.funcs[*k].span.file);
    let own: Vec<usize> = (before.library.0..before.funcs).filter(is_own).collect();
    let is_new = |name: &str| new.contains(&name);
    let mut old = Old {
        funcs: own.iter().filter(|k| is_new(&program.funcs[**k].name)).map(|k| FuncId(id(*k))).collect(),
        types: (before.library.1..before.types)
            .filter(|k| is_new(&program.types[*k].name))
            .map(|k| TypeId(id(k)))
            .collect(),
        vars: before.values.iter().flat_map(|(vars, _)| vars).filter(|v| is_new(v.name())).collect(),
    };
    if old.funcs.is_empty() && old.types.is_empty() && old.vars.is_empty() {
        return vec![];
    }
    let name = |k: usize| program.funcs[k].name.as_str();
    let is_live = |k: &usize| !is_new(name(*k)) && !own.iter().any(|j| k < j && name(*j) == name(*k));
    let live: Vec<usize> = own.iter().copied().filter(is_live).collect();
    let mut found: Vec<usize> = vec![];
    loop {
        let is_old = |k: &&usize| {
            let f = &program.funcs[**k];
            !found.contains(k) && old.is_in(&f.body, &f.params)
        };
        let Some(k) = live.iter().find(is_old).copied() else { break };
        found.push(k);
        old.funcs.push(FuncId(id(k)));
    }
    for (vars, code) in &before.values {
        if old.is_in(code, vars) {
            let names = vars.iter().map(|v| v.name().to_string()).filter(|n| !n.is_empty() && !is_new(n));
            rebuilt.values.extend(names);
        }
    }
    found.sort_unstable();
    found.into_iter().map(|k| &program.funcs[k]).collect()
}
