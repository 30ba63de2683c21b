//! Programs of `tests/corpus`: the reference interpreter, the interpreter of loops and machine code must do what the comments say.

use std::path::Path;

use adl::Backend;

use crate::{bless, expect, roundtrip};

/// Checks one file, or rewrites its expectations.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().unwrap_or(path);
    if bless() {
        let blessed = rewrite(folder, &name, &text)?;
        return std::fs::write(path, blessed).map_err(|e| e.to_string());
    }
    let expected = expect::of(&text)?;
    if expected.is_empty() {
        return Err("the file expects nothing; run `cargo xtask bless`".into());
    }
    // S-evaluation-15
    for backend in [Backend::Interpreter, Backend::Loops, Backend::Machine] {
        let found = expect::run(folder, &name, &text, backend);
        expect::compare(&expected, &found).map_err(|e| format!("{backend:?}: {e}"))?;
    }
    roundtrip::check(folder, &name, &text)
}

/// The text with what the interpreter does written after each expression. Numbers with a tolerance stay.
fn rewrite(folder: &Path, name: &str, text: &str) -> Result<String, String> {
    let is_expectation = |l: &str| ["//>", "//!"].iter().any(|p| l.trim_start().starts_with(p));
    let near: Vec<usize> = text
        .lines()
        .filter(|l| !is_expectation(l))
        .enumerate()
        .filter(|(_, l)| l.trim_start().starts_with("//~"))
        .map(|(k, _)| k)
        .collect();
    let plain: Vec<&str> = text.lines().filter(|l| !is_expectation(l)).collect();
    let found = expect::run(folder, name, &(plain.join("\n") + "\n"), Backend::Interpreter);
    let mut out = String::new();
    for (k, line) in plain.iter().enumerate() {
        out.push_str(line);
        out.push('\n');
        if near.contains(&(k + 1)) {
            continue;
        }
        for (_, text) in found.lines.iter().filter(|(at, _)| *at == k + 1) {
            out.push_str(&format!("//> {text}\n"));
        }
    }
    // Again, for the places as they are now.
    for (_, d) in &expect::run(folder, name, &out, Backend::Interpreter).diagnostics {
        out.push_str(&format!("//! {d}\n"));
    }
    Ok(out)
}
