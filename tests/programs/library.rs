//! Each function of the library is documented, and a program shows it: those of the prelude in a chapter of the
//! reference, those of modules in a program of `tests/corpus/library` or a chapter.

use std::path::Path;

use crate::{files, spec};

/// Public functions of a text, each with whether a comment documents it.
fn functions(text: &str) -> Vec<(&str, bool)> {
    let mut out = vec![];
    let mut documented = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("def ") {
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            if !name.starts_with('_') {
                out.push((name, documented));
            }
        }
        documented = line.starts_with("///");
    }
    out
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word)
}

/// Checks all files of the library.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    let mut shown = String::new();
    for path in files(&root.join("spec"), "md") {
        spec::blocks(&read(&path)?).iter().for_each(|block| shown.push_str(&block.text));
    }
    for path in files(&root.join("tests/corpus/library"), "adl") {
        shown.push_str(&read(&path)?);
    }
    let mut missing = vec![];
    let mut count = 0;
    for path in files(&root.join("stdlib/adl"), "adl") {
        let text = read(&path)?;
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        for (name, documented) in functions(&text) {
            count += 1;
            if !documented {
                missing.push(format!("{file}: `{name}` has no comment"));
            }
            if !has_word(&shown, name) {
                missing.push(format!("{file}: no program shows `{name}`"));
            }
        }
    }
    if count < 100 {
        missing.push(format!("only {count} functions were found"));
    }
    if missing.is_empty() { Ok(()) } else { Err(missing.join("\n")) }
}
