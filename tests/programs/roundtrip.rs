//! Core is a language of its own: a program printed, read and printed again is the same text, and means the same to
//! what comes after.

use adl::{Backend, Closed, Config, Session};
use adl_core::ir::Program;
use adl_core::{lint, parse, print};

/// Checks the higher-order Core of a program, if it has any.
pub(crate) fn check(name: &str, text: &str) -> Result<(), String> {
    let Ok(program) = session().elaborate(name, text, &mut Closed::default()) else { return Ok(()) };
    lint::higher_order(&program).map_err(|v| format!("elaboration breaks {}: {}", v.rule, v.message))?;
    let printed = print::program(&program);
    let read = parse::program(&printed).map_err(|e| {
        let line = printed[..e.at].lines().count();
        format!("Core text, line {line}: {}\n{printed}", e.message)
    })?;
    same("printing", &printed, &print::program(&read))?;
    lint::higher_order(&read).map_err(|v| format!("what was read breaks {}: {}", v.rule, v.message))?;
    same("specialisation", &specialised(program), &specialised(read))
}

fn session() -> Session {
    Session::new(Config { backend: Backend::Interpreter, ..Config::default() })
}

/// The first-order programs of the items, up to the first that fails.
fn specialised(program: Program) -> String {
    let (text, failure) = session().dump_core(program, "specialise", &mut Closed::default());
    match failure {
        Some(d) => format!("{text}; {}\n", d.code),
        None => text,
    }
}

fn same(what: &str, left: &str, right: &str) -> Result<(), String> {
    if left == right {
        return Ok(());
    }
    let k = left.lines().zip(right.lines()).position(|(a, b)| a != b).unwrap_or(0);
    let line = |text: &str| text.lines().nth(k).unwrap_or("(nothing)").to_string();
    Err(format!("{what} differs in line {}:\n{}\n{}\n\n{left}", k + 1, line(left), line(right)))
}
