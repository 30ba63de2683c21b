//! The public face: checks modules one after the other, each in the scope of those before.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use adl_core::ir::Program;
use adl_diag::Diagnostic;
use adl_syntax::ast::{Expr, Module};

use crate::{
    ask::deep,
    builtins::TABLE,
    checker::{Checker, Frame, Scheme, Target},
    elaborate::Elaborator,
    imports::{Imports, Loader, NoModules},
    module::Output,
    signature::{Mode, Signature},
    types::{Ty, V},
};

/// What a check is done with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Solves constraints in a random order, which changes no result: for tests.
    pub shuffle: Option<u64>,
}

/// Names in scope and what they stand for. Grows with each module that is checked.
#[derive(Clone, Debug)]
pub struct Session {
    checker: Checker,
    funcs: usize,
    elaborator: Elaborator,
}

/// What checking a module gives.
#[derive(Clone, Debug)]
pub struct Checked {
    /// All types and functions of the session, and the items of this module. Without those that are wrong.
    pub program: Program,
    /// Errors and warnings, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// The names that the module defines, with their types in the words of the language.
    pub names: Vec<(String, String)>,
}

impl Checked {
    /// Whether the program may run.
    pub fn is_ok(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

impl Session {
    /// A session that knows the built-ins only.
    pub fn new(options: Options) -> Session {
        let shuffle = options.shuffle.map(|seed| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut checker = Checker { shuffle, ..Checker::default() };
        checker.env.push(Frame::default());
        for (k, builtin) in TABLE.iter().enumerate() {
            let scheme = scheme_of(&mut checker, builtin.signature);
            checker.bind_name(builtin.name, Target::Builtin(k), scheme);
        }
        Session { checker, funcs: 0, elaborator: Elaborator::default() }
    }

    /// A session with a prelude, whose names the modules after it may shadow.
    pub fn with_prelude(options: Options, prelude: &Module) -> (Session, Checked) {
        let mut session = Session::new(options);
        let checked = session.check(prelude, &mut NoModules);
        session.checker.env.push(Frame::default());
        session.checker.prelude_types = session.checker.type_names.clone();
        session.checker.prelude_ctors = session.checker.ctors.clone();
        (session, checked)
    }

    /// Checks a module in the scope of those before. What it defines stays in scope, also where it shadows; a
    /// module with errors leaves nothing behind. What the modules that it imports define is part of the program;
    /// a module that was imported before is not checked, nor run, again.
    pub fn check(&mut self, module: &Module, loader: &mut dyn Loader) -> Checked {
        deep(loader, |loader| self.check_module(module, loader))
    }

    fn check_module(&mut self, module: &Module, loader: &mut dyn Loader) -> Checked {
        let before = (self.checker.clone(), self.funcs);
        let (mut imported, mut outputs) = (vec![], vec![]);
        let mut imports = Imports::new(loader);
        self.checker.module(module, &mut imports, &mut self.funcs, &mut imported, &mut outputs);
        let mut diagnostics = std::mem::take(&mut self.checker.diagnostics);
        // What is wrong in an imported module comes first, as it may be the reason of the rest.
        let own = module.items.first().map(|item| item.span.file);
        diagnostics.sort_by_key(|d| (Some(d.span().file) == own, d.span().file, d.span().start));
        let wrong = diagnostics.iter().any(Diagnostic::is_error);
        let names = self.names(&outputs);
        imported.append(&mut outputs);
        let items = if wrong { vec![] } else { self.elaborator.outputs(&mut self.checker, imported) };
        let program = Program { items, ..self.elaborator.program() };
        if wrong {
            (self.checker, self.funcs) = before;
        }
        Checked { program, diagnostics, names }
    }

    /// The type of an expression, as `:type` shows it.
    ///
    /// # Errors
    ///
    /// What is wrong with the expression.
    pub fn type_of(&self, e: &Expr) -> Result<String, Vec<Diagnostic>> {
        let mut session = self.clone();
        deep(&mut NoModules, move |_| {
            let checker = &mut session.checker;
            let (mark, level) = (checker.active.len(), checker.level);
            checker.level = level + 1;
            let value = checker.infer(e);
            checker.level = level;
            let vars = checker.generalise(&value.ty, mark, true, &[], e.span);
            let wrong: Vec<Diagnostic> = checker.diagnostics.drain(..).filter(Diagnostic::is_error).collect();
            if !wrong.is_empty() {
                return Err(wrong);
            }
            Ok(checker.show_scheme(&Scheme { vars, ty: value.ty, dep: vec![] }))
        })
    }

    /// The type of a name in scope, in the words of the language.
    pub fn type_of_name(&self, name: &str) -> Option<String> {
        let entry = self.checker.lookup(name)?;
        if matches!(entry.target, Target::Module(_) | Target::Poison) {
            return None;
        }
        Some(self.checker.show_scheme(&entry.scheme))
    }

    /// The documentation of a name in scope, in Markdown.
    pub fn doc_of(&self, name: &str) -> Option<&str> {
        let written = self.checker.docs.get(name).map(String::as_str);
        if let Some(docs) = written.or_else(|| self.checker.qualified_docs(name)) {
            return Some(docs).filter(|docs| !docs.is_empty());
        }
        let Target::Builtin(k) = self.checker.lookup(name)?.target else { return None };
        TABLE[k].doc()
    }

    /// All names in scope, sorted: for completion.
    pub fn names_in_scope(&self) -> Vec<String> {
        let values = self.checker.env.iter().flat_map(|frame| frame.values.keys());
        let mut names: Vec<String> =
            values.chain(self.checker.type_names.keys()).chain(self.checker.ctors.keys()).cloned().collect();
        names.extend(self.checker.qualified_names());
        names.sort_unstable();
        names.dedup();
        names
    }

    fn names(&self, outputs: &[Output]) -> Vec<(String, String)> {
        let mut names = vec![];
        for output in outputs {
            let bound: Vec<String> = match output {
                // Operations of instances and derivatives have no name of their own.
                Output::Func(_, func) if func.name.contains('.') => vec![],
                Output::Func(_, func) => vec![func.name.clone()],
                Output::Item(_, item) => item.names(&self.checker),
                Output::Operation(..) | Output::Rule { .. } => vec![],
            };
            for name in bound {
                let ty = self.type_of_name(&name).unwrap_or_default();
                names.push((name, ty));
            }
        }
        names
    }
}

impl crate::module::TItem {
    /// The names that the item binds; a bare expression is `_`.
    fn names(&self, checker: &Checker) -> Vec<String> {
        use crate::module::TItem;
        match self {
            TItem::Let(pat, _) => {
                pat.locals().iter().map(|id| checker.locals[id.0 as usize].name.to_string()).collect()
            }
            TItem::Param(name, ..) => vec![name.clone()],
            TItem::Show(_) | TItem::Test(..) => vec![],
        }
    }
}

/// The scheme of a built-in, from its signature in the words of the language.
fn scheme_of(checker: &mut Checker, signature: &str) -> Scheme {
    if signature.is_empty() {
        return Scheme::mono(Ty::Error);
    }
    let (ty, constraints) = signature.split_once(" where ").unwrap_or((signature, ""));
    let constraints = if constraints.is_empty() { String::new() } else { format!(" where {constraints}") };
    let text = format!("def f(x: {ty}){constraints} = x");
    let (module, _) = adl_syntax::parse(adl_diag::FileId::default(), &text);
    let Some(adl_syntax::ast::ItemKind::Def(def)) = module.items.first().map(|item| &item.kind) else {
        return Scheme::mono(Ty::Error);
    };
    let mut sig = Signature::new(Mode::Quantify);
    checker.level = 1;
    checker.env.push(Frame::default());
    let ty = match &def.params[0].kind {
        adl_syntax::ast::PatKind::Typed(_, t) => checker.type_of(t, &mut sig),
        _ => Ty::Error,
    };
    checker.constraints_of(def, &mut sig);
    checker.env.pop();
    checker.level = 0;
    let vars: Vec<V> = sig.made;
    Scheme { vars, ty, dep: vec![] }
}

impl Checker {
    /// A scheme as a signature: its type, and the classes of its variables.
    pub(crate) fn show_scheme(&self, scheme: &Scheme) -> String {
        let mut classes = vec![];
        for v in &scheme.vars {
            let closure = self.closure_without_supers(*v);
            let name = self.arena.show(&Ty::Var(*v));
            classes.extend(closure.into_iter().map(|c| format!("{}({name})", c.name())));
        }
        let ty = self.show_dependent(scheme);
        if classes.is_empty() { ty } else { format!("{ty} where {}", classes.join(", ")) }
    }

    fn closure_without_supers(&self, v: V) -> Vec<crate::types::Class> {
        let all = self.arena.closure(v);
        all.iter().copied().filter(|c| !all.iter().any(|d| d.supers().contains(c))).collect()
    }

    /// `(n: Int) -> Fin(n)=>Float` where the size of the result is an argument.
    fn show_dependent(&self, scheme: &Scheme) -> String {
        let shown = self.arena.show(&scheme.ty);
        let Ty::Con(crate::types::Con::Fun, sides) = self.arena.head(&scheme.ty) else { return shown };
        if scheme.dep.is_empty() {
            return shown;
        }
        let params = match self.arena.head(&sides[0]) {
            Ty::Con(crate::types::Con::Tuple, parts) => parts.to_vec(),
            one => vec![one],
        };
        let named = |(k, t): (usize, &Ty)| match scheme.dep.iter().find(|(at, _)| *at == k) {
            Some((_, v)) => format!("{}: Int", self.arena.show(&Ty::Var(*v))),
            None => self.arena.show(t),
        };
        let params: Vec<String> = params.iter().enumerate().map(named).collect();
        format!("({}) -> {}", params.join(", "), self.arena.show(&sides[1]))
    }
}

#[cfg(test)]
impl Session {
    /// The functions of the prelude with their types.
    pub(crate) fn prelude_names(&self) -> Vec<(String, String)> {
        let mut names: Vec<String> = self.checker.env[0].values.keys().cloned().collect();
        names.sort_unstable();
        let public = names.into_iter().filter(|n| !n.starts_with('_'));
        public.filter_map(|n| self.type_of_name(&n).map(|t| (n, t))).collect()
    }

    /// Another random order of solving.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.checker.shuffle = Some(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1);
    }
}
