//! Each program with its outcome written in it is a test named by its path.

mod chapters;
mod codes;
mod core;
mod corpus;
mod expect;
mod layout;
mod library;
mod roundtrip;
mod spec;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut trials = vec![];
    for path in files(&root.join("tests/corpus"), "adl") {
        trials.push(trial(&root, path, corpus::check));
    }
    // The chapter of codes is made of pages that are tests themselves.
    let codes = root.join("spec/codes.md");
    let chapters = files(&root.join("spec"), "md").into_iter().filter(|path| *path != codes);
    for path in chapters.chain([root.join("README.md")]) {
        trials.push(trial(&root, path, spec::check));
    }
    for path in files(&root.join("diag/pages"), "md") {
        trials.push(trial(&root, path, codes::check));
    }
    trials.push(trial(&root, codes, codes::check_chapter));
    trials.push(made(&root, "spec/primitives.md", chapters::primitives));
    trials.push(made(&root, "spec/grammar.md", chapters::grammar));
    let list = root.join("spec/README.md");
    let not_yet = move || chapters::not_yet(&list).map_err(Into::into);
    trials.push(Trial::test("the list of what is not built", not_yet));
    let library = root.clone();
    let shown = move || library::check(&library).map_err(Into::into);
    trials.push(Trial::test("each function of the library is shown", shown));
    let all = root.clone();
    let laid_out = move || layout::check(&all).map_err(Into::into);
    trials.push(Trial::test("all programs are laid out", laid_out));
    for path in files(&root.join("examples"), "adl") {
        trials.push(trial(&root, path, example));
    }
    for path in files(&root.join("tests/core"), "core") {
        trials.push(trial(&root, path, core::check));
    }
    libtest_mimic::run(&args, trials).exit_code()
}

/// A chapter that is made; what else stands in it is a test of its own.
fn made(root: &Path, name: &str, check: fn(&Path) -> Result<(), String>) -> Trial {
    let path = root.join(name);
    Trial::test(format!("{name} is made"), move || check(&path).map_err(Into::into))
}

fn trial(root: &Path, path: PathBuf, check: fn(&Path) -> Result<(), String>) -> Trial {
    let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
    let run = move || match adl::on_large_stack(|| check(&path)) {
        Ok(outcome) => outcome.map_err(Into::into),
        Err(error) => Err(error.into()),
    };
    Trial::test(name, run)
}

/// An example is a program of Core as well; that it runs is tested with its data, in `repl`.
fn example(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let folder = path.parent().ok_or("a file stands in a folder")?;
    roundtrip::check(folder, &path.display().to_string(), &text)
}

/// All files with this extension below a folder, sorted.
fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut out = vec![];
    let Ok(entries) = std::fs::read_dir(dir) else { return out };
    for entry in entries.flatten() {
        let path = entry.path();
        // `modules` are imported by the programs beside them.
        if path.is_dir() && !path.ends_with("modules") {
            out.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
    out.sort();
    out
}

/// Are expectations to be rewritten?
fn bless() -> bool {
    std::env::var_os("ADL_BLESS").is_some()
}
