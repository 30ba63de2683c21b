//! The rules of the house that no compiler checks. Each is a function from the files to its complaints.

use std::path::Path;

use crate::sentences;
use crate::tree::{self, Text};

/// A rule: from the files to its complaints.
type Rule = fn(&[Text]) -> Vec<String>;

/// The longest a source file may be.
const MAX_LINES: usize = 600;

/// Files over the limit. The list may only shrink.
const OVER_LIMIT: &[&str] = &[];

/// What may stand at the root.
const ROOT: &[&str] = &[
    ".cargo",
    ".ci",
    ".git",
    ".gitignore",
    ".github",
    "ARCHITECTURE.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "STYLE.md",
    "ad",
    "adl",
    "benches",
    "clippy.toml",
    "codegen",
    "core",
    "decisions",
    "diag",
    "examples",
    "linalg",
    "math",
    "opt",
    "repl",
    "rustfmt.toml",
    "spec",
    "stdlib",
    "syntax",
    "target",
    "tests",
    "typecheck",
    "xtask",
];

/// Where `unsafe` may stand, each block with its reason.
const UNSAFE: &[&str] = &["codegen/src/jit", "codegen/src/abi", "codegen/src/runtime", "math/src/simd"];

/// Rooms whose passes read the columns of a primitive, never its name.
const NAMELESS: &[&str] = &["opt/src/", "ad/src/"];

/// Checks all rules and returns the complaints, each with the path it is about.
pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let files = tree::texts(root)?;
    let names = tree::root_names(root)?;
    let rules: [Rule; 7] =
        [lengths, first_lines, postponed, unsafe_code, names_in_passes, traces_of_machines, lock_file];
    let mut errors = root_listing(&names);
    errors.extend(rules.iter().flat_map(|rule| rule(&files)));
    errors.extend(sentences::check(&files));
    Ok(errors)
}

fn root_listing(names: &[String]) -> Vec<String> {
    let known = |name: &str| ROOT.contains(&name) || name.starts_with("target");
    names
        .iter()
        .filter(|name| !known(name))
        .map(|name| format!("{name}: the root holds listed names only"))
        .collect()
}

fn lengths(files: &[Text]) -> Vec<String> {
    let mut errors = vec![];
    for file in sources(files) {
        let lines = file.text.lines().count();
        match (MAX_LINES < lines, OVER_LIMIT.contains(&file.path.as_str())) {
            (true, false) => errors.push(format!("{}: {lines} lines, over {MAX_LINES}: split it", file.path)),
            (false, true) => errors.push(format!("{}: within the limit: strike it off the list", file.path)),
            (true, true) | (false, false) => {}
        }
    }
    errors
}

fn first_lines(files: &[Text]) -> Vec<String> {
    sources(files)
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| format!("{}: begin with a `//!` line that says what the file is for", file.path))
        .collect()
}

/// Work put off: do it, or write a test that asserts today's wrong answer and says so.
fn postponed(files: &[Text]) -> Vec<String> {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    let written = files.iter().filter(|file| has_extension(file, &["rs", "adl", "lalrpop", "toml", "md"]));
    lines_with(written, |line| words.iter().any(|word| line.contains(word)), "work is done, not put off")
}

fn unsafe_code(files: &[Text]) -> Vec<String> {
    let outside = sources(files).filter(|file| !UNSAFE.iter().any(|room| file.path.starts_with(room)));
    let uses = |line: &str| {
        let code = line.split("//").next().unwrap_or("");
        ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|form| code.contains(form))
            && !code.contains('"')
    };
    lines_with(outside, uses, "`unsafe` has its rooms, and this is none of them")
}

fn names_in_passes(files: &[Text]) -> Vec<String> {
    let passes = sources(files).filter(|file| NAMELESS.iter().any(|room| file.path.starts_with(room)));
    let compares = |line: &str| line.contains("def.name ==") || line.contains("def().name ==");
    lines_with(passes, compares, "a pass reads columns, not names")
}

fn traces_of_machines(files: &[Text]) -> Vec<String> {
    // In pieces, so that this file passes its own rule.
    let traces = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
        concat!("index.cra", "tes.io"),
        concat!("static.cra", "tes.io"),
    ];
    let rest = files.iter().filter(|file| file.path != "Cargo.lock");
    lines_with(
        rest,
        |line| traces.iter().any(|trace| line.contains(trace)),
        "names a machine or a registry host",
    )
}

fn lock_file(files: &[Text]) -> Vec<String> {
    let lock = files.iter().filter(|file| file.path == "Cargo.lock");
    let foreign = |line: &str| {
        line.starts_with("source = ")
            && !line.contains("registry+https://github.com/rust-lang/crates.io-index")
    };
    lines_with(lock, foreign, "dependencies come from the public registry")
}

fn sources(files: &[Text]) -> impl Iterator<Item = &Text> {
    files.iter().filter(|file| has_extension(file, &["rs"]))
}

fn has_extension(file: &Text, extensions: &[&str]) -> bool {
    Path::new(&file.path).extension().is_some_and(|ext| extensions.iter().any(|known| ext == *known))
}

fn lines_with<'a>(
    files: impl Iterator<Item = &'a Text>,
    bad: impl Fn(&str) -> bool,
    message: &str,
) -> Vec<String> {
    let mut errors = vec![];
    for file in files {
        for (i, line) in file.text.lines().enumerate() {
            if bad(line) {
                errors.push(format!("{}:{}: {message}", file.path, i + 1));
            }
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> Text {
        Text { path: path.to_string(), text: text.to_string() }
    }

    #[test]
    fn each_rule_complains() {
        let long = "//! Long.\n".repeat(MAX_LINES + 1);
        assert_eq!(lengths(&[file("a.rs", &long)]).len(), 1);
        assert_eq!(first_lines(&[file("a.rs", "use std::fs;")]).len(), 1);
        assert_eq!(postponed(&[file("a.rs", concat!("// TO", "DO"))]).len(), 1);
        assert_eq!(unsafe_code(&[file("opt/src/a.rs", concat!("un", "safe { go() }"))]).len(), 1);
        assert_eq!(names_in_passes(&[file("opt/src/a.rs", "if def.name == x")]).len(), 1);
        assert_eq!(traces_of_machines(&[file("a.md", concat!("/ro", "ot/x"))]).len(), 1);
        assert_eq!(lock_file(&[file("Cargo.lock", "source = \"git+x\"")]).len(), 1);
        assert_eq!(root_listing(&["out.json".to_string()]).len(), 1);
    }

    #[test]
    fn unsafe_is_at_home_in_its_rooms() {
        assert!(unsafe_code(&[file("codegen/src/jit.rs", concat!("un", "safe { go() }"))]).is_empty());
    }
}
