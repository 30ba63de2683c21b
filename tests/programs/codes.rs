//! The pages of the codes: each has a program that gives the code. The chapter `spec/codes.md` is made of the pages and
//! of what adl says to their programs.

use std::fmt::Write as _;
use std::path::Path;

use adl::Code;

use crate::{chapters, spec};

/// Codes that no program gives, with where they are tested.
const NO_PROGRAM: &[(Code, &str)] = &[
    (Code::E0901, "a mistake on the command line: `repl/tests/cli.rs`"),
    (Code::E0902, "a run that is stopped from outside: `codegen/src/tests/forms.rs`"),
];

/// Checks the page of one code: its programs, and that it has one of the code.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let code = Code::from_name(&name).ok_or("the page is named after no code")?;
    let programs = spec::blocks(code.explain());
    let has_program = programs.first().is_some_and(|block| block.code() == Some(code.name()));
    match (has_program, NO_PROGRAM.iter().any(|(c, _)| *c == code)) {
        (false, false) => Err("the first program of the page has to give its code".into()),
        (true, true) => Err("the page has a program: strike the code off the list".into()),
        (true, false) | (false, true) => spec::check(path),
    }
}

/// Checks or rewrites the chapter.
pub(crate) fn check_chapter(path: &Path) -> Result<(), String> {
    chapters::check(path, &chapter()?)
}

/// The pages in order, each program followed by its report.
fn chapter() -> Result<String, String> {
    let mut out = String::from(
        "# Codes\n\nEach code that adl prints, as `adl explain CODE` shows it, and what adl says to the program on its page.\n\
         This chapter is made from `diag/pages` by `cargo xtask bless`.\n",
    );
    for code in Code::ALL {
        let mut page = code.explain().to_string();
        if let Some(block) = spec::blocks(&page).first().filter(|block| block.code().is_some()) {
            let report = block.report(code.name()).map_err(|e| format!("{code}: {e}"))?;
            let inside = ["internal", "Ty::", "Shape::", "%1"].iter().find(|part| report.contains(**part));
            if let Some(part) = inside {
                return Err(format!("{code}: `{part}` is nothing that users know\n{report}"));
            }
            let program = format!("{}```\n", block.text);
            page = page.replacen(&program, &format!("{program}\n```text\n{report}```\n"), 1);
        }
        let _ = write!(out, "\n## {code}\n\n{page}");
    }
    Ok(out)
}
