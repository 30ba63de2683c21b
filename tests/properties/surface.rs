//! Random programs of the surface language: all pass the checker, no pass breaks an invariant (debug builds lint
//! after each), and the interpreter, the interpreter of loops and the machine do the same.

use std::sync::{Mutex, PoisonError};

use adl::{Backend, Config, Session};
use adl_tests::host::Beside;
use adl_tests::surface::{Kinds, program};
use proptest::prelude::*;

use crate::random::cases;

/// What a program printed, and the code of its failure.
fn run(text: &str, backend: Backend) -> (Vec<String>, Vec<String>, String) {
    let mut session = Session::new(Config { backend, ..Config::default() });
    let mut host = Beside::new(std::path::Path::new("."));
    let outcome = session.run("random.adl", text, &mut host);
    let errors = outcome.diagnostics.iter().filter(|d| d.is_error());
    let codes = errors.clone().map(|d| d.code.to_string()).collect();
    let shown = errors.map(|d| adl::render(d, &session.sources, adl::Color::Off)).collect();
    (host.output, codes, shown)
}

fn check(choices: &[u8]) -> Kinds {
    let random = program(choices);
    let text = &random.text;
    let run_all = || {
        let (lines, codes, shown) = run(text, Backend::Interpreter);
        let is_runtime = codes.iter().all(|c| c.starts_with("E07"));
        assert!(is_runtime, "{shown}\n{text}");
        for backend in [Backend::Loops, Backend::Machine] {
            let (found, failed, shown) = run(text, backend);
            assert!(
                (&found, &failed) == (&lines, &codes),
                "{backend:?} gives {found:?} {shown}, not {lines:?}\n{text}"
            );
        }
    };
    let outcome = std::panic::catch_unwind(|| adl::on_large_stack(run_all));
    match outcome {
        Ok(done) => done.expect("a thread"),
        Err(_) => panic!("on this program:\n{text}"),
    }
    random.kinds
}

/// How many bindings the program has in Core, with the functions of the library that it uses.
fn bindings(text: &str) -> usize {
    let mut session = Session::new(Config::default());
    let mut host = Beside::new(std::path::Path::new("."));
    let core = session.elaborate("random.adl", text, &mut host).expect("it was checked before");
    adl_core::print::program(&core)
        .lines()
        .filter(|l| l.trim_start().starts_with('%') && l.contains(" = "))
        .count()
}

#[test]
fn executors_agree_on_random_programs() {
    let reached = Mutex::new(Kinds::default());
    let sizes = Mutex::new(vec![]);
    let strategy = prop::collection::vec(any::<u8>(), 100..600);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(cases()));
    let outcome = runner.run(&strategy, |choices| {
        let kinds = check(&choices);
        reached.lock().unwrap_or_else(PoisonError::into_inner).add(&kinds);
        sizes.lock().unwrap_or_else(PoisonError::into_inner).push(bindings(&program(&choices).text));
        Ok(())
    });
    if let Err(found) = outcome {
        panic!("{found}");
    }
    let reached = reached.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut sizes = sizes.into_inner().unwrap_or_else(PoisonError::into_inner);
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2];
    println!(
        "{} programs, bindings: median {median}, most {}; {reached}",
        sizes.len(),
        sizes[sizes.len() - 1]
    );
    assert!(median >= 40, "the median of the bindings is {median}");
    let missing = reached.missing();
    assert!(missing.is_empty(), "never reached: {missing:?}");
}
