//! The tasks, as lists of steps. A step is a command or a check, and the first that fails ends the task.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::tidy as rules;

/// Everything that must hold before a change lands.
pub(crate) fn ci(root: &Path) -> Result<(), String> {
    step("format", || cargo(root, &["fmt", "--all", "--check"], &[]))?;
    step("tidy", || tidy(root))?;
    step("lints", || cargo(root, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]))?;
    step("tests", || cargo(root, &["test", "--workspace"], &[("INSTA_UPDATE", "no"), ("CI", "1")]))?;
    step("docs", || cargo(root, &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]))?;
    step("examples", || examples(root))
}

/// The everyday part of [`ci`].
pub(crate) fn quick(root: &Path) -> Result<(), String> {
    step("format", || cargo(root, &["fmt", "--all", "--check"], &[]))?;
    step("tidy", || tidy(root))?;
    step("lints", || cargo(root, &["clippy", "--workspace", "--", "-D", "warnings"], &[]))?;
    step("unit tests", || cargo(root, &["test", "--workspace", "--lib"], &[("INSTA_UPDATE", "no")]))
}

/// The rules of [`crate::tidy`].
pub(crate) fn tidy(root: &Path) -> Result<(), String> {
    let errors = rules::check(root)?;
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Runs the tests and accepts what they print.
pub(crate) fn bless(root: &Path) -> Result<(), String> {
    let accept = [("ADL_BLESS", "1"), ("INSTA_UPDATE", "always")];
    step("bless", || cargo(root, &["test", "--workspace", "--no-fail-fast"], &accept))
}

/// Runs each program of `examples/`, as a reader would.
fn examples(root: &Path) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(root.join("examples")) else { return Ok(()) };
    let mut programs: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    programs.retain(|path| path.extension().is_some_and(|ext| ext == "adl"));
    programs.sort();
    for path in programs {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        eprintln!("  {name}");
        cargo(root, &["run", "--quiet", "--package", "adl-repl", "--", "run", &name], &[])?;
    }
    Ok(())
}

/// Runs cargo at the root; its output passes through.
fn cargo(root: &Path, args: &[&str], vars: &[(&str, &str)]) -> Result<(), String> {
    let program = env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let status = Command::new(program)
        .args(args)
        .envs(vars.iter().copied())
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo does not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("failed: cargo {}", args.join(" "))) }
}

fn step(name: &str, run: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    eprintln!("== {name}");
    let start = Instant::now();
    let outcome = run();
    eprintln!("== {name}: {} in {:.0?}", if outcome.is_ok() { "ok" } else { "FAILED" }, start.elapsed());
    outcome
}
