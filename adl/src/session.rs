//! A session: what has been defined, and the values of top-level names.
//!
//! Items are specialised, optimised, compiled and run one after the other. The leaves of a top-level value are
//! kept; a later item takes those it reads as arguments, and sees their sizes as constants.

use std::collections::HashMap;
use std::sync::Arc;

use adl_codegen::{CompileError, compile, interpret};
use adl_core::account::Account;
use adl_core::host::Host;
use adl_core::interp::Interp;
use adl_core::ir::{Atom, FuncId, Item, ItemKind, Lit, Program, Var};
use adl_core::run::RuntimeError;
use adl_core::value::Value;
use adl_core::walk::Subst;
use adl_diag::{Code, Diagnostic, FileId, SourceMap};
use adl_opt::link::link;
use adl_opt::pipeline::PIPELINE;
use adl_opt::specialise::shape::Shape;
use adl_opt::specialise::{ItemCode, Mark, SpecError, Specialiser};
use adl_typecheck::Checked;

use crate::config::{Backend, Config};
use crate::modules::{Finder, Modules};
use crate::params;
use crate::rebuild::{Defined, Rebuilt};
use crate::timing::{Timing, timed};

/// A growing program and its values.
pub struct Session {
    pub(crate) config: Config,
    /// All texts seen, for rendering diagnostics.
    pub sources: SourceMap,
    pub(crate) checker: adl_typecheck::Session,
    modules: Modules,
    pub(crate) specialiser: Specialiser,
    shapes: HashMap<Var, Shape>,
    values: HashMap<Var, Vec<Value>>,
    /// Values from the command line for parameters that have not run.
    given: HashMap<Var, Value>,
    pub(crate) defined: Defined,
    account: Arc<Account>,
    /// Time by stage.
    pub timing: Timing,
    /// Items that ran as machine code, and items that did not.
    pub executed: (usize, usize),
}

/// What running a text did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The text, in the session's sources.
    pub file: FileId,
    /// Errors and warnings of the check, then the error that ended the run.
    pub diagnostics: Vec<Diagnostic>,
    /// Did the check find errors, so that nothing ran?
    pub rejected: bool,
    /// Did the run end with an error?
    pub failed: bool,
    /// Names that the text defined, with their types.
    pub names: Vec<(String, String)>,
    /// What became of earlier definitions, where names were defined again.
    pub rebuilt: Rebuilt,
    /// Where the expressions stand that were evaluated for printing, in order.
    pub shown: Vec<adl_diag::Span>,
}

impl Session {
    /// A session that knows the prelude.
    ///
    /// # Panics
    ///
    /// If the prelude does not check, which is a mistake of the library.
    pub fn new(config: Config) -> Session {
        let mut sources = SourceMap::new();
        let mut timing = Timing::default();
        let file = sources.add("prelude.adl", adl_stdlib::PRELUDE);
        let (module, errors) = timed(&mut timing.parse, || adl_syntax::parse(file, adl_stdlib::PRELUDE));
        assert!(errors.is_empty(), "the prelude does not parse: {errors:?}");
        let (checker, checked) = timed(&mut timing.check, || {
            adl_typecheck::Session::with_prelude(adl_typecheck::Options::default(), &module)
        });
        assert!(checked.is_ok(), "the prelude does not check: {:?}", checked.diagnostics);
        let account = Account::new(config.limits.memory);
        let defined = Defined::library(&checked.program);
        let mut specialiser = Specialiser::new(checked.program);
        specialiser.library.push(file);
        Session {
            config,
            sources,
            checker,
            modules: Modules::default(),
            specialiser,
            shapes: HashMap::new(),
            values: HashMap::new(),
            given: HashMap::new(),
            defined,
            account,
            timing,
            executed: (0, 0),
        }
    }

    /// Checks a text and runs its items in order.
    pub fn run(&mut self, name: &str, text: &str, host: &mut dyn Host) -> Outcome {
        let before = self.checker.clone();
        let (checked, mut outcome) = self.check_text(name, text, host);
        if outcome.rejected {
            return outcome;
        }
        let Some(checked) = checked else { return outcome };
        match params::given(&self.config.params, &checked.program) {
            Ok(given) => self.given = given,
            Err(wrong) => {
                outcome.diagnostics.extend(wrong);
                outcome.rejected = true;
                self.checker = before;
                return outcome;
            }
        }
        let known = self.specialiser.mark();
        self.specialiser.source = Program { items: vec![], ..checked.program.clone() };
        for (k, item) in checked.program.items.iter().enumerate().filter(|(_, item)| !is_test(item)) {
            if let Err(diagnostic) = self.run_item(item, k, host) {
                outcome.diagnostics.push(diagnostic);
                outcome.failed = true;
                // What failed defines nothing: names keep their values.
                self.go_back(before, &known);
                outcome.names.clear();
                return outcome;
            }
            if item.kind == ItemKind::Show {
                outcome.shown.push(item.span);
            }
        }
        outcome.rebuilt = self.rebuild(&checked.program, outcome.file, host);
        outcome
    }

    /// Forgets what was checked since; the numbers of functions will be given again.
    pub(crate) fn go_back(&mut self, before: adl_typecheck::Session, known: &Mark) {
        self.checker = before;
        self.specialiser.forget(known);
    }

    /// Checks a text without running it; what it defines is forgotten.
    pub fn check(&mut self, name: &str, text: &str, host: &mut dyn Host) -> Outcome {
        let before = self.checker.clone();
        let (_, outcome) = self.check_text(name, text, host);
        self.checker = before;
        outcome
    }

    pub(crate) fn check_text(
        &mut self,
        name: &str,
        text: &str,
        host: &mut dyn Host,
    ) -> (Option<Checked>, Outcome) {
        let file = self.sources.add(name, text);
        let (module, mut diagnostics) = timed(&mut self.timing.parse, || adl_syntax::parse(file, text));
        if diagnostics.iter().any(Diagnostic::is_error) {
            // What does not parse defines nothing, and its absence is no mistake of the rest.
            let diagnostics = first_errors(diagnostics);
            return (None, Outcome { file, diagnostics, rejected: true, ..Outcome::default() });
        }
        let mut finder = Finder {
            modules: &mut self.modules,
            sources: &mut self.sources,
            host,
            path: &self.config.module_path,
            program: name.to_string(),
        };
        let checked = timed(&mut self.timing.check, || self.checker.check(&module, &mut finder));
        for file in &self.modules.library {
            if !self.specialiser.library.contains(file) {
                self.specialiser.library.push(*file);
            }
        }
        diagnostics.extend(checked.diagnostics.iter().cloned());
        let rejected = !checked.is_ok();
        let names = if rejected { vec![] } else { checked.names.clone() };
        let diagnostics = first_errors(diagnostics);
        let outcome = Outcome { file, diagnostics, rejected, names, ..Outcome::default() };
        ((!rejected).then_some(checked), outcome)
    }

    /// The type of an expression.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn type_of(&mut self, text: &str) -> Result<String, Vec<Diagnostic>> {
        let file = self.sources.add("<type>", text);
        let (module, diagnostics) = adl_syntax::parse(file, text);
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(diagnostics);
        }
        if let [item] = module.items.as_slice()
            && let adl_syntax::ast::ItemKind::Expr(e) = &item.kind
        {
            return self.checker.type_of(e);
        }
        Err(vec![not_an_expression(file, text)])
    }

    /// The type of a name in scope, where it is a value, and its documentation.
    ///
    /// # Errors
    ///
    /// There is no such name; a help names the one that looks most like it.
    pub fn doc(&self, name: &str) -> Result<(Option<String>, Option<String>), Diagnostic> {
        let (ty, docs) = (self.checker.type_of_name(name), self.checker.doc_of(name).map(str::to_string));
        let names = self.names();
        if ty.is_some() || docs.is_some() || names.iter().any(|n| n == name) {
            return Ok((ty, docs));
        }
        let d = Diagnostic::error(Code::E0301, format!("there is no `{name}`"));
        Err(match adl_diag::nearest(name, names.iter().map(String::as_str)) {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => d.help("`:names` shows the names in scope"),
        })
    }

    /// Names in scope, for completion.
    pub fn names(&self) -> Vec<String> {
        self.checker.names_in_scope()
    }

    /// Runs one item by its number.
    pub(crate) fn run_item(&mut self, item: &Item, k: usize, host: &mut dyn Host) -> Result<(), Diagnostic> {
        if let ItemKind::Param(_, var) = &item.kind
            && let Some(value) = self.given.remove(var)
        {
            let scalar = var.ty().scalar().expect("parameters are scalars");
            self.shapes.insert(var.clone(), Shape::Scalar(scalar));
            self.values.insert(var.clone(), vec![value]);
            return Ok(());
        }
        let code = self.specialise(item, &format!("item.{k}"))?;
        let (values, args) = self.execute(&code, host)?;
        self.keep(item, &code, values, &args);
        Ok(())
    }

    pub(crate) fn specialise(&mut self, item: &Item, name: &str) -> Result<ItemCode, Diagnostic> {
        let (specialiser, shapes) = (&mut self.specialiser, &self.shapes);
        let before = specialiser.expanding;
        let code = timed(&mut self.timing.specialise, || specialiser.item(item, shapes, name));
        let expanding = self.specialiser.expanding - before;
        self.timing.expand += expanding;
        self.timing.specialise = self.timing.specialise.saturating_sub(expanding);
        code.map_err(spec_error)
    }

    /// The item's program after all passes, and its function there.
    pub(crate) fn optimise(&mut self, code: &ItemCode) -> (Program, FuncId) {
        let target = &self.specialiser.target;
        timed(&mut self.timing.optimise, || link(target, code.func, PIPELINE))
    }

    /// The leaves of top-level values that the code of an item takes.
    pub(crate) fn arguments(&self, code: &ItemCode) -> Vec<Value> {
        code.inputs.iter().map(|(v, k)| self.values[v][*k].clone()).collect()
    }

    fn execute(
        &mut self,
        code: &ItemCode,
        host: &mut dyn Host,
    ) -> Result<(Vec<Value>, Vec<Value>), Diagnostic> {
        let (program, func) = self.optimise(code);
        let args = self.arguments(code);
        let (limits, account) = (&self.config.limits, &self.account);
        let outcome = match self.config.backend {
            Backend::Machine => match timed(&mut self.timing.compile, || compile(&program)) {
                Ok(compiled) => {
                    self.executed.0 += 1;
                    self.timing.lower += compiled.lowering_time();
                    self.timing.compile = self.timing.compile.saturating_sub(compiled.lowering_time());
                    timed(&mut self.timing.run, || compiled.run_on(account, func, args.clone(), host, limits))
                }
                Err(error) => return Err(no_machine(&error)),
            },
            Backend::Loops => match timed(&mut self.timing.compile, || interpret(&program)) {
                Ok(loops) => {
                    self.executed.1 += 1;
                    let run = || loops.run_on(account, func, &args, host, limits);
                    timed(&mut self.timing.run, run).map(|(outcome, _)| outcome)
                }
                Err(error) => return Err(no_machine(&error)),
            },
            Backend::Interpreter => {
                self.executed.1 += 1;
                let interp = Interp::new(&program);
                timed(&mut self.timing.run, || interp.run_on(account, func, args.clone(), host, limits))
            }
        };
        Ok((outcome.map_err(runtime_error)?.values, args))
    }

    /// Keeps the values that a `let` or `param` binds; sizes in their shapes become constants.
    fn keep(&mut self, item: &Item, code: &ItemCode, values: Vec<Value>, args: &[Value]) {
        let vars: &[Var] = match &item.kind {
            ItemKind::Let(vars) => vars,
            ItemKind::Param(_, var) => std::slice::from_ref(var),
            ItemKind::Show | ItemKind::Test(_) => return,
        };
        let func = &self.specialiser.target.funcs[code.func.0 as usize];
        let mut sizes = Subst::new();
        for (v, value) in func.params.iter().zip(args) {
            if let Value::Int(k) = value {
                sizes.insert(v.clone(), Atom::int(*k));
            }
        }
        for (r, value) in func.body.results.iter().zip(&values) {
            if let (Atom::Var(v), Value::Int(k)) = (r, value) {
                sizes.insert(v.clone(), Atom::Lit(Lit::Int(*k)));
            }
        }
        let mut leaves = values.into_iter().skip(code.n_sizes);
        for (var, shape) in vars.iter().zip(&code.results) {
            let own = leaves.by_ref().take(shape.n_leaves()).collect();
            self.values.insert(var.clone(), own);
            self.shapes.insert(var.clone(), shape.subst(&sizes));
        }
    }
}

/// Tests run when they are asked for.
pub(crate) fn is_test(item: &Item) -> bool {
    matches!(item.kind, ItemKind::Test(_))
}

/// Later errors are mostly consequences of the first ones: three are shown, and how many more there are.
fn first_errors(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    const SHOWN: usize = 3;
    let n_errors = diagnostics.iter().filter(|d| d.is_error()).count();
    let mut left = SHOWN;
    let mut out: Vec<Diagnostic> = vec![];
    for d in diagnostics {
        if d.is_error() {
            if left == 0 {
                continue;
            }
            left -= 1;
        }
        out.push(d);
    }
    if SHOWN < n_errors
        && let Some(last) = out.iter_mut().rev().find(|d| d.is_error())
    {
        let more = match n_errors - SHOWN {
            1 => "one more error follows".to_string(),
            n => format!("{n} more errors follow"),
        };
        last.notes.push(format!("{more}; mend these first"));
    }
    out
}

fn not_an_expression(file: FileId, text: &str) -> Diagnostic {
    Diagnostic::error(Code::E0901, "this is not one expression")
        .label(adl_diag::Span::new(file, 0, text.len()), "`:type` takes an expression")
}

fn spec_error(e: SpecError) -> Diagnostic {
    let d = Diagnostic::error(e.code, e.message).label(e.span, "here");
    match e.help {
        Some(help) => d.help(help),
        None => d,
    }
}

/// What has no machine code.
fn no_machine(e: &CompileError) -> Diagnostic {
    match e {
        CompileError::Unsupported(missing) => {
            let message = format!("there is no machine code for this yet: {}", missing.what);
            Diagnostic::error(Code::E0399, message)
                .label(missing.span, "needed here")
                .help("run it with `--interp`")
        }
        CompileError::Machine(message) => {
            Diagnostic::error(Code::E0399, format!("the code generator failed: {message}"))
                .help("run it with `--interp`")
        }
    }
}

/// A failure of the program, as a diagnostic at its place.
pub(crate) fn runtime_error(e: RuntimeError) -> Diagnostic {
    let d = Diagnostic::error(e.code, e.message);
    if e.span.is_dummy() { d } else { d.label(e.span, "here") }
}
