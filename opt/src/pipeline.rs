//! The passes, in order.

use adl_core::ir::{Func, Program};
use adl_core::lint;

use crate::cse::cse;
use crate::dce::dce;
use crate::inline::inline;
use crate::last_use::last_use;
use crate::simplify::simplify;

/// A transformation of one function that keeps the meaning of the program.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Kebab case; `adl dump --after NAME` and the lint report use it.
    pub name: &'static str,
    /// Total: a pass that cannot do anything returns its input. It may read the other functions.
    pub run: fn(&Program, Func) -> Func,
    /// Does every result keep its bits?
    pub same_bits: bool,
}

/// The optimiser, in order. Adding a pass: write its file, add its line.
pub const PIPELINE: &[Pass] = &[
    Pass { name: "inline", run: inline, same_bits: true },
    Pass { name: "simplify", run: simplify, same_bits: true },
    Pass { name: "cse", run: cse, same_bits: true },
    Pass { name: "dce", run: dce, same_bits: true },
    Pass { name: "last-use", run: last_use, same_bits: true }, // Last: others move uses.
];

/// What a function goes through before it is differentiated: its accumulations become small.
const BEFORE_AD: &[Pass] = &[
    Pass { name: "simplify", run: simplify, same_bits: true },
    Pass { name: "cse", run: cse, same_bits: true },
    Pass { name: "dce", run: dce, same_bits: true },
];

/// Runs `passes` on a function in order, and lints after each in debug builds, so that a broken invariant is
/// reported with the name of the pass that broke it.
///
/// # Panics
///
/// If a pass breaks an invariant of Core.
pub fn run(passes: &[Pass], program: &Program, func: Func) -> Func {
    passes.iter().fold(func, |func, pass| {
        let func = (pass.run)(program, func);
        if cfg!(debug_assertions)
            && let Err(v) = lint::func(&func, program)
        {
            let text = adl_core::print::func_text(&func, Some(program));
            panic!("{} after pass `{}`: {}\n{text}", v.rule, pass.name, v.message);
        }
        func
    })
}

/// What a function goes through before it is differentiated.
pub(crate) fn before_ad(program: &Program, func: Func) -> Func {
    run(BEFORE_AD, program, func)
}
