//! The tests of a program: each is run by itself, in the scope of the items before it.

use adl_core::host::Host;
use adl_core::ir::Program;
use adl_core::ir::{Item, ItemKind};
use adl_diag::{Diagnostic, FileId};
use adl_syntax::ast::ItemKind as Syntax;

use crate::session::{Session, is_test};

/// A checked program whose tests can be run. Values of `let`s are computed once: nothing can change them.
pub struct Suite<'a> {
    session: &'a mut Session,
    items: Vec<Item>,
    /// The `let`s and `param`s before this item have run.
    next: usize,
    /// The failure of one of them.
    broken: Option<Diagnostic>,
}

/// How a test went.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It ran to its end.
    Passed,
    /// It failed.
    Failed(Diagnostic),
    /// Something before it failed, so that it could not run.
    NotRun(Diagnostic),
}

/// The names of the tests in a text, in order; of a text with errors, those that could be read.
pub fn tests_in(text: &str) -> Vec<String> {
    let (module, _) = adl_syntax::parse(FileId::default(), text);
    let name = |kind| if let Syntax::Test(t) = kind { Some(t.name) } else { None };
    module.items.into_iter().filter_map(|item| name(item.kind)).collect()
}

impl Session {
    /// Checks a text, to run its tests. With it come the warnings of the check.
    ///
    /// # Errors
    ///
    /// What the check finds.
    pub fn suite(
        &mut self,
        name: &str,
        text: &str,
        host: &mut dyn Host,
    ) -> Result<(Suite<'_>, Vec<Diagnostic>), Vec<Diagnostic>> {
        let (checked, outcome) = self.check_text(name, text, host);
        let Some(checked) = checked else { return Err(outcome.diagnostics) };
        self.specialiser.source = Program { items: vec![], ..checked.program.clone() };
        let suite = Suite { session: self, items: checked.program.items, next: 0, broken: None };
        Ok((suite, outcome.diagnostics))
    }
}

impl Suite<'_> {
    /// Runs the test with this number, counted from 0 in the order of the text.
    ///
    /// # Panics
    ///
    /// If there is no such test.
    pub fn run(&mut self, number: usize, host: &mut dyn Host) -> Verdict {
        let tests = self.items.iter().enumerate().filter(|(_, item)| is_test(item));
        let at = tests.map(|(k, _)| k).nth(number).expect("the test is one of the text");
        while self.next < at && self.broken.is_none() {
            let item = &self.items[self.next];
            if matches!(item.kind, ItemKind::Let(_) | ItemKind::Param(..)) {
                self.broken = self.session.run_item(item, self.next, host).err();
            }
            self.next += 1;
        }
        if let Some(failure) = &self.broken {
            return Verdict::NotRun(failure.clone());
        }
        match self.session.run_item(&self.items[at], at, host) {
            Ok(()) => Verdict::Passed,
            Err(failure) => Verdict::Failed(failure),
        }
    }

    /// For rendering diagnostics.
    pub fn sources(&self) -> &adl_diag::SourceMap {
        &self.session.sources
    }
}
