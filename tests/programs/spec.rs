//! Code blocks of Markdown pages: each ` ```adl ` block is a program with its outcome in it; ` ```adl error CODE `
//! must fail with that code; ` ```adl norun ` is only checked.

use std::path::Path;

use adl::Backend;

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

struct Block {
    line: usize,
    kind: String,
    text: String,
}

fn blocks(text: &str) -> Vec<Block> {
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
    fn check(&self) -> Result<(), String> {
        roundtrip::check(Path::new("."), "block.adl", &self.text)?;
        if let Some(code) = self.kind.strip_prefix("error ") {
            let found = expect::run(Path::new("."), "block.adl", &self.text, Backend::Interpreter);
            return match found.diagnostics.as_slice() {
                [(_, d)] if d.starts_with(code) => Ok(()),
                _ => Err(format!("expected one {code}, found: {}", found.rendered)),
            };
        }
        if self.kind == "norun" {
            let mut session = adl::Session::new(adl::Config::default());
            let outcome = session.check("block.adl", &self.text, &mut adl::Closed::default());
            return if outcome.rejected { Err(format!("{:?}", outcome.diagnostics)) } else { Ok(()) };
        }
        let expected = expect::of(&self.text)?;
        let found = expect::run(Path::new("."), "block.adl", &self.text, Backend::Machine);
        expect::compare(&expected, &found)
    }
}
