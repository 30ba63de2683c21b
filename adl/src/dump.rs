//! Core as text, after each stage and pass.

use adl_core::ir::{Func, FuncId, Item, Program};
use adl_core::value::Value;
use adl_core::{print, reach};
use adl_diag::Diagnostic;
use adl_opt::link::link;
use adl_opt::pipeline::PIPELINE;
use adl_opt::specialise::Specialiser;

use crate::session::{Session, is_test};

/// The name of a stage: `elaborate`, `specialise`, the passes, `loops`.
pub type Stage = &'static str;

/// All stages, in order.
pub fn stages() -> Vec<Stage> {
    let passes = PIPELINE.iter().map(|p| p.name);
    ["elaborate", "specialise"].into_iter().chain(passes).chain(["loops"]).collect()
}

impl Session {
    /// The program of a text after a stage, item by item. Items run in between, since the shapes of later ones
    /// depend on the values of earlier ones; `host` gets their output. What the text defines is forgotten.
    ///
    /// # Errors
    ///
    /// What the check or the run finds.
    pub fn dump(
        &mut self,
        name: &str,
        text: &str,
        stage: &str,
        host: &mut dyn adl_core::host::Host,
    ) -> Result<String, Vec<Diagnostic>> {
        if stage == "elaborate" {
            return Ok(print::program(&self.elaborate(name, text, host)?));
        }
        let before = self.checker.clone();
        let (checked, outcome) = self.check_text(name, text, host);
        let Some(checked) = checked else { return Err(outcome.diagnostics) };
        let known = self.specialiser.mark();
        self.specialiser.source = Program { items: vec![], ..checked.program.clone() };
        let dumped = self.dump_items(&checked.program.items, stage, host);
        self.go_back(before, &known);
        match dumped {
            (out, None) => Ok(out),
            (_, Some(d)) => Err(vec![d]),
        }
    }

    /// The higher-order program of a text, with what it needs of the library.
    ///
    /// # Errors
    ///
    /// What the check finds.
    pub fn elaborate(
        &mut self,
        name: &str,
        text: &str,
        host: &mut dyn adl_core::host::Host,
    ) -> Result<Program, Vec<Diagnostic>> {
        let before = self.checker.clone();
        let (checked, outcome) = self.check_text(name, text, host);
        self.checker = before;
        let Some(checked) = checked else { return Err(outcome.diagnostics) };
        let own = |f: &Func| !f.span.is_dummy() && self.sources.file(f.span.file).name == name;
        Ok(reach::needed(&checked.program, own))
    }

    /// The program after a stage, for a higher-order program that stands alone, item by item up to the first
    /// failure. It takes the place of all that the session knew.
    pub fn dump_core(
        &mut self,
        program: Program,
        stage: &str,
        host: &mut dyn adl_core::host::Host,
    ) -> (String, Option<Diagnostic>) {
        let items = program.items.clone();
        self.specialiser = Specialiser::new(Program { items: vec![], ..program });
        self.dump_items(&items, stage, host)
    }

    fn dump_items(
        &mut self,
        items: &[Item],
        stage: &str,
        host: &mut dyn adl_core::host::Host,
    ) -> (String, Option<Diagnostic>) {
        let mut out = String::new();
        for (k, item) in items.iter().enumerate() {
            match self.dump_item(item, k, stage) {
                Ok(text) => out.push_str(&text),
                Err(d) => return (out, Some(d)),
            }
            if !is_test(item)
                && let Err(d) = self.run_item(item, k, host)
            {
                return (out, Some(d));
            }
        }
        (out, None)
    }

    /// The first-order program of the last item of a text (after the items before it have run), its function, and the
    /// values of the top-level names that it takes.
    ///
    /// # Errors
    ///
    /// What the check or the run finds.
    pub fn core_of_last(
        &mut self,
        name: &str,
        text: &str,
        host: &mut dyn adl_core::host::Host,
    ) -> Result<(Program, FuncId, Vec<Value>), Vec<Diagnostic>> {
        let (checked, outcome) = self.check_text(name, text, host);
        let Some(checked) = checked else { return Err(outcome.diagnostics) };
        self.specialiser.source = Program { items: vec![], ..checked.program.clone() };
        let Some((last, before)) = checked.program.items.split_last() else {
            return Err(outcome.diagnostics);
        };
        for (k, item) in before.iter().enumerate() {
            self.run_item(item, k, host).map_err(|d| vec![d])?;
        }
        let code = self.specialise(last, "last").map_err(|d| vec![d])?;
        let (program, func) = self.optimise(&code);
        Ok((program, func, self.arguments(&code)))
    }

    fn dump_item(&mut self, item: &Item, k: usize, stage: &str) -> Result<String, Diagnostic> {
        let code = self.specialise(item, &format!("item.{k}"))?;
        let target = &self.specialiser.target;
        let n = PIPELINE.iter().position(|p| p.name == stage).map_or(0, |k| k + 1);
        if stage == "loops" {
            let (program, _) = link(target, code.func, PIPELINE);
            return Ok(match adl_codegen::lower(&program) {
                Ok(loops) => loops.to_string(),
                Err(e) => format!("; no loops: {e:?}\n"),
            });
        }
        let (program, _) = link(target, code.func, &PIPELINE[..n]);
        Ok(print::program(&program))
    }
}
