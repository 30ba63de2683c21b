//! Core is a language of its own: a program printed, read and printed again is the same text, and means the same to
//! what comes after.

use std::path::Path;

use adl::{Code, Config, Session};
use adl_core::ir::Program;
use adl_core::{lint, parse, print};
use adl_tests::host::Beside;

/// Checks the Core of a program, if it has any: a file of this folder.
pub(crate) fn check(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let mut session = Session::new(Config::default());
    let Ok(program) = session.elaborate(name, text, &mut Beside::new(folder)) else { return Ok(()) };
    lint::higher_order(&program).map_err(|v| format!("elaboration breaks {}: {}", v.rule, v.message))?;
    let again = read_back(&print::program(&program))?;
    lint::higher_order(&again).map_err(|v| format!("what was read breaks {}: {}", v.rule, v.message))?;
    let first_order = after(folder, "specialise", &program);
    let of_again = after(folder, "specialise", &again);
    same("specialisation", &first_order.0, &of_again.0)?;
    if first_order.1 != of_again.1 {
        return Err(format!("specialisation ends with {:?} and {:?}", first_order.1, of_again.1));
    }
    for (text, _) in [first_order, after(folder, "last-use", &again)] {
        for item in text.split("core 1\n").skip(1) {
            let read = read_back(&format!("core 1\n{item}"))?;
            lint::program(&read).map_err(|v| format!("{} after reading: {}\n{item}", v.rule, v.message))?;
        }
    }
    Ok(())
}

/// The program in a text that was printed; it prints alike.
fn read_back(printed: &str) -> Result<Program, String> {
    let read = parse::program(printed).map_err(|e| {
        let line = printed[..e.at].lines().count();
        format!("Core text, line {line}: {}\n{printed}", e.message)
    })?;
    same("printing", printed, &print::program(&read))?;
    Ok(read)
}

/// The first-order programs of the items after a stage, up to the first that fails, and its failure.
fn after(folder: &Path, stage: &str, program: &Program) -> (String, Option<Code>) {
    let mut session = Session::new(Config::default());
    let (text, failure) = session.dump_core(program.clone(), stage, &mut Beside::new(folder));
    (text, failure.map(|d| d.code))
}

fn same(what: &str, left: &str, right: &str) -> Result<(), String> {
    if left == right {
        return Ok(());
    }
    let k = left.lines().zip(right.lines()).position(|(a, b)| a != b).unwrap_or(0);
    let line = |text: &str| text.lines().nth(k).unwrap_or("(nothing)").to_string();
    Err(format!("{what} differs in line {}:\n{}\n{}\n\n{left}", k + 1, line(left), line(right)))
}
