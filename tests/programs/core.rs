//! Files of Core text: `; run: PASS` with the input, `; ---`, and the output; or `; lint: RULE` with a program that breaks
//! the rule, `; lint higher: RULE` with a higher-order one. The pass `specialise` takes a higher-order program and gives
//! the first-order program of each item, which runs before the next.

use std::path::Path;

use adl::{Backend, Closed, Config, Session};
use adl_core::ir::{FuncId, Program};
use adl_core::linear::{self, Class};
use adl_core::{lint, parse, print};
use adl_opt::pipeline::PIPELINE;

use crate::bless;

/// Checks one file, or rewrites its output.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let head = text.lines().next().unwrap_or_default();
    if let Some(rule) = head.strip_prefix("; lint: ") {
        let program = read(&text)?;
        // For linearity, the parameters marked `lin` are cotangents.
        if rule == "C5" {
            let last = &program.funcs[program.funcs.len() - 1];
            let class = |v: &adl_core::ir::Var| if v.is_linear() { Class::Linear } else { Class::Ordinary };
            let classes: Vec<Class> = last.params.iter().map(class).collect();
            let id = FuncId(u32::try_from(program.funcs.len() - 1).map_err(|e| e.to_string())?);
            return match linear::check(&program, id, &classes) {
                Err(v) if v.rule == rule => Ok(()),
                other => Err(format!("the check says {other:?}, expected a violation of {rule}")),
            };
        }
        return match lint::program(&program) {
            Err(v) if v.rule == rule => Ok(()),
            other => Err(format!("lint says {other:?}, expected a violation of {rule}")),
        };
    }
    if let Some(rule) = head.strip_prefix("; lint higher: ") {
        return match lint::higher_order(&read(&text)?) {
            Err(v) if v.rule == rule => Ok(()),
            other => Err(format!("lint says {other:?}, expected a violation of {rule}")),
        };
    }
    let Some(name) = head.strip_prefix("; run: ") else {
        return Err("the first line is `; run: PASS` or `; lint: RULE`".into());
    };
    let (input, expected) = text.split_once("; ---\n").unwrap_or((&text, ""));
    let found = if name == "specialise" { specialised(input)? } else { passed(name, input)? };
    if bless() {
        return std::fs::write(path, format!("{input}; ---\n{found}")).map_err(|e| e.to_string());
    }
    if found == expected { Ok(()) } else { Err(format!("the pass gives\n{found}\nnot\n{expected}")) }
}

fn read(text: &str) -> Result<Program, String> {
    parse::program(text).map_err(|e| format!("byte {}: {}", e.at, e.message))
}

/// The text after a pass.
fn passed(name: &str, input: &str) -> Result<String, String> {
    let pass = PIPELINE.iter().find(|p| p.name == name).ok_or(format!("there is no pass `{name}`"))?;
    let mut program = read(input)?;
    lint::program(&program).map_err(|v| format!("the input breaks {}: {}", v.rule, v.message))?;
    for k in 0..program.funcs.len() {
        program.funcs[k] = (pass.run)(&program, program.funcs[k].clone());
    }
    lint::program(&program).map_err(|v| format!("the output breaks {}: {}", v.rule, v.message))?;
    Ok(print::program(&program))
}

/// The first-order programs of all items.
fn specialised(input: &str) -> Result<String, String> {
    let program = read(input)?;
    lint::higher_order(&program).map_err(|v| format!("the input breaks {}: {}", v.rule, v.message))?;
    let mut session = Session::new(Config { backend: Backend::Interpreter, ..Config::default() });
    match session.dump_core(program, "specialise", &mut Closed::default()) {
        (found, None) => Ok(found),
        (found, Some(d)) => Err(format!("{}: {}\n{found}", d.code, d.message)),
    }
}
