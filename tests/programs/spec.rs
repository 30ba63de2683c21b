//! Code blocks of Markdown pages: each ` ```adl ` block is a program with its outcome in it; ` ```adl error CODE `
//! must fail with that code; ` ```adl norun ` is only checked. The files that they read stand in `tests/data`.

use std::path::{Path, PathBuf};

use adl::Backend;
use adl_tests::host::Beside;

use crate::{expect, roundtrip};

/// Checks all blocks of a page.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let mut errors = vec![];
    for block in blocks(&text) {
        if let Err(e) = block.check() {
            errors.push(format!("line {}: {e}", block.line));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// A block of code in a page.
pub(crate) struct Block {
    line: usize,
    kind: String,
    /// The program.
    pub(crate) text: String,
}

/// The blocks of adl in a page.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut out: Vec<Block> = vec![];
    let mut open = false;
    for (k, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(kind) if !open && (kind == "adl" || kind.starts_with("adl ")) => {
                open = true;
                out.push(Block { line: k + 1, kind: kind[3..].trim().to_string(), text: String::new() });
            }
            Some(_) => open = false,
            None if open => {
                if let Some(block) = out.last_mut() {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
            }
            None => {}
        }
    }
    out
}

impl Block {
    /// The code that the program must end with.
    pub(crate) fn code(&self) -> Option<&str> {
        self.kind.strip_prefix("error ")
    }

    fn check(&self) -> Result<(), String> {
        let folder = data();
        roundtrip::check(&folder, NAME, &self.text)?;
        if let Some(code) = self.code() {
            return self.report(code).map(|_| ());
        }
        if self.kind == "norun" {
            let mut session = adl::Session::new(adl::Config::default());
            let outcome = session.check(NAME, &self.text, &mut Beside::new(&folder));
            return if outcome.rejected { Err(format!("{:?}", outcome.diagnostics)) } else { Ok(()) };
        }
        let expected = expect::of(&self.text)?;
        let found = expect::run(&folder, NAME, &self.text, Backend::Machine);
        expect::compare(&expected, &found)
    }

    /// The one message that the program gives.
    pub(crate) fn report(&self, code: &str) -> Result<String, String> {
        let found = expect::run(&data(), NAME, &self.text, Backend::Interpreter);
        match found.diagnostics.as_slice() {
            [(_, d)] if d.starts_with(code) => Ok(found.rendered),
            _ => Err(format!("expected one {code}, found: {}", found.rendered)),
        }
    }
}

/// What a block is called in messages.
const NAME: &str = "example.adl";

/// Where the files are that the blocks read.
fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}
