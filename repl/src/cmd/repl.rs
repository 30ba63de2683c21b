//! `adl repl`: evaluates line by line; an entry goes on over lines until it is complete.

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::atomic::Ordering;

use adl::{Backend, Config, Session};
use rustyline::error::ReadlineError;

use crate::host::{RealHost, limits, module_path};
use crate::{Exit, report};

/// Options of `adl repl`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Use the reference interpreter.
    #[arg(long)]
    interp: bool,
}

const HELP: &str = "\
an expression        evaluates and prints it
let, def, struct …   defines; functions that use a name are built again when it is defined again
:type EXPR           the type of an expression
:doc NAME            what a name is
:core EXPR           the first-order program of an expression, after all passes
:loops EXPR          its loops
:names               names in scope
:help                this
:quit                ends";

/// Runs it, from a terminal with line editing, else from standard input.
pub(crate) fn run(args: &Args) -> Exit {
    let backend = if args.interp { Backend::Interpreter } else { Backend::Machine };
    let config = Config { backend, limits: limits(), module_path: module_path(), ..Config::default() };
    let cancel = config.limits.cancel.clone();
    let mut repl = Repl { session: Session::new(config), entry: 0 };
    if std::io::stdin().is_terminal() {
        return repl.interactive(&cancel);
    }
    let mut pending = String::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        pending.push_str(&line);
        pending.push('\n');
        if adl::is_incomplete(&pending) && !pending.trim_start().starts_with(':') {
            continue;
        }
        if !repl.entry(std::mem::take(&mut pending).trim_end()) {
            return Exit::Ok;
        }
    }
    repl.entry(pending.trim_end());
    Exit::Ok
}

struct Repl {
    session: Session,
    entry: usize,
}

impl Repl {
    fn interactive(&mut self, cancel: &std::sync::atomic::AtomicBool) -> Exit {
        let Ok(mut editor) = rustyline::DefaultEditor::new() else {
            report::line("the terminal cannot be edited; give the input on standard input");
            return Exit::Internal;
        };
        let history = history_file();
        if let Some(path) = &history {
            // The first session has no history.
            let _ = editor.load_history(path);
        }
        report::line(&format!("adl {}. :help shows the commands, :quit ends.", adl::VERSION));
        let mut pending = String::new();
        loop {
            let prompt = if pending.is_empty() { "adl> " } else { "...> " };
            match editor.readline(prompt) {
                Ok(line) => {
                    pending.push_str(&line);
                    pending.push('\n');
                    if adl::is_incomplete(&pending) && !line.trim().is_empty() {
                        continue;
                    }
                    let text = std::mem::take(&mut pending);
                    let _ = editor.add_history_entry(text.trim_end());
                    cancel.store(false, Ordering::Relaxed);
                    if !self.entry(text.trim_end()) {
                        break;
                    }
                }
                Err(ReadlineError::Interrupted) => pending.clear(),
                Err(ReadlineError::Eof) => break,
                Err(error) => {
                    report::line(&error.to_string());
                    break;
                }
            }
        }
        if let Some(path) = &history {
            let _ = editor.save_history(path);
        }
        Exit::Ok
    }

    /// Handles one entry; false ends the session.
    fn entry(&mut self, text: &str) -> bool {
        let text = text.trim();
        if text.is_empty() {
            return true;
        }
        if let Some(command) = text.strip_prefix(':') {
            return self.command(command);
        }
        self.entry += 1;
        let name = format!("<{}>", self.entry);
        let outcome = self.session.run(&name, text, &mut RealHost::beside(""));
        report::all(&outcome.diagnostics, &self.session.sources, false);
        for (name, ty) in outcome.names {
            say(&format!("{name} : {ty}"));
        }
        self.say_rebuilt(&outcome.rebuilt);
        true
    }

    /// What a redefinition did to earlier definitions.
    fn say_rebuilt(&self, rebuilt: &adl::Rebuilt) {
        let list = |names: &[String]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        if !rebuilt.functions.is_empty() {
            say(&format!("built again: {}", list(&rebuilt.functions)));
        }
        if !rebuilt.kept.is_empty() {
            report::all(&rebuilt.errors, &self.session.sources, false);
            report::line(&format!("still with the old definition: {}", list(&rebuilt.kept)));
        }
        if !rebuilt.values.is_empty() {
            say(&format!("computed with the old definition: {}", list(&rebuilt.values)));
        }
    }

    fn doc(&self, name: &str) {
        match self.session.doc(name) {
            Ok((ty, docs)) => {
                if let Some(ty) = ty {
                    say(&format!("{name} : {ty}"));
                }
                say(docs.as_deref().unwrap_or("(no documentation)"));
            }
            Err(d) => report::all(&[d], &self.session.sources, false),
        }
    }

    fn command(&mut self, command: &str) -> bool {
        let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        match word {
            "quit" | "q" => return false,
            "help" | "h" | "?" => say(HELP),
            "type" | "t" => match self.session.type_of(rest) {
                Ok(ty) => say(&ty),
                Err(diagnostics) => report::all(&diagnostics, &self.session.sources, false),
            },
            "doc" | "d" if rest.trim().is_empty() => report::line("`:doc` takes a name, as in `:doc sum`"),
            "doc" | "d" => self.doc(rest.trim()),
            "core" => self.dump(rest, "last-use"),
            "loops" => self.dump(rest, "loops"),
            "names" => say(&self.session.names().join(" ")),
            _ => report::line(&format!("there is no command `:{word}`; :help shows them")),
        }
        true
    }

    fn dump(&mut self, text: &str, stage: &str) {
        match self.session.dump("<core>", text, stage, &mut adl::Closed::default()) {
            Ok(text) => say(text.trim_end()),
            Err(diagnostics) => report::all(&diagnostics, &self.session.sources, false),
        }
    }
}

/// A line to stdout.
fn say(text: &str) {
    report::out(&format!("{text}\n"));
}

fn history_file() -> Option<std::path::PathBuf> {
    let home = std::env::var_os("HOME")?;
    Some(std::path::Path::new(&home).join(".adl_history"))
}
