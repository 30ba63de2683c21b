//! Forward and reverse mode as transformations of first-order Core.
//!
//! Both are structural: they follow the forms of Core and never look at what a function is used for.
//! Derivatives of primitives come from the columns of the primitive table. Their output is Core again, so
//! derivatives nest without tags.
//!
//! Sources: Vákár and Smeding, "CHAD: Combinatory Homomorphic Automatic Differentiation" (TOPLAS 2022);
//! Smeding and Vákár, "Efficient CHAD" (POPL 2024); Paszke et al., "Getting to the Point" (ICFP 2021),
//! for accumulators.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "rules name the few forms they are about; the transformations themselves list all forms"
)]

mod activity;
mod calls;
mod custom;
mod errors;
mod forward;
mod prepare;
mod residual;
mod reverse;
mod tangent;

use std::collections::HashMap;

use adl_core::ir::{FuncId, Program};

pub use custom::{Custom, Sweeps};
pub use errors::Error;
pub use tangent::{acc_mode, add, zero};

/// A function of the program and which of its parameters are active.
type Key = (FuncId, Vec<bool>);

/// The derivatives made so far, by function and activity.
#[derive(Debug, Default)]
pub struct Derivatives {
    forward: HashMap<Key, Forward>,
    reverse: HashMap<Key, Reverse>,
    calls: HashMap<Key, activity::CallActivity>,
    round: Option<calls::Round>,
    recursive: HashMap<FuncId, bool>,
    custom: HashMap<FuncId, Custom>,
}

/// What [`Derivatives::forward`] made.
#[derive(Clone, Debug)]
pub struct Forward {
    /// Parameters: those of the primal, then the tangents of the active ones. Results: those of the
    /// primal, then the tangents of the active ones.
    pub func: FuncId,
    /// Which results are active.
    pub results: Vec<bool>,
}

/// What [`Derivatives::reverse`] made.
#[derive(Clone, Debug)]
pub struct Reverse {
    /// Parameters of the primal; results of the primal, then residuals. Those of a function that calls itself
    /// are the sizes in the types of the parameters below, then one cell with all the others.
    pub fwd: FuncId,
    /// Parameters: residuals, cotangents of the active results, an accumulator for each active parameter in
    /// accumulator mode, the read value of each active accumulator parameter. Results: cotangents of the other
    /// active parameters. Linear in the cotangents.
    pub bwd: FuncId,
    /// Which results are active.
    pub results: Vec<bool>,
    /// How many residuals there are.
    pub n_residuals: usize,
}

/// The transformations, with the program they add functions to.
pub(crate) struct Cx<'a> {
    pub(crate) program: &'a mut Program,
    pub(crate) memo: &'a mut Derivatives,
}

impl Derivatives {
    /// Takes these derivatives for a function from now on.
    pub fn give(&mut self, func: FuncId, custom: Custom) {
        self.custom.insert(func, custom);
    }

    /// Forgets what was given for a function.
    pub fn withdraw(&mut self, func: FuncId) {
        self.custom.remove(&func);
    }

    /// Are derivatives of the function given?
    pub fn is_given(&self, func: FuncId) -> bool {
        self.custom.contains_key(&func)
    }

    /// The forward-mode derivative (jvp) of `func` in the marked parameters, added to the program.
    ///
    /// # Errors
    ///
    /// [`Error`] where an active value goes through something without a derivative.
    pub fn forward(
        &mut self,
        program: &mut Program,
        func: FuncId,
        active: &[bool],
    ) -> Result<Forward, Error> {
        self.or_nothing(program, |cx| cx.forward(func, active))
    }

    /// The reverse-mode derivative (vjp) of `func` in the marked parameters, added to the program.
    ///
    /// # Errors
    ///
    /// [`Error`] where an active value goes through something without a derivative.
    pub fn reverse(
        &mut self,
        program: &mut Program,
        func: FuncId,
        active: &[bool],
    ) -> Result<Reverse, Error> {
        self.or_nothing(program, |cx| cx.reverse(func, active))
    }

    /// Where a derivative fails, nothing of it stays: what was made may call what is not made.
    fn or_nothing<T>(
        &mut self,
        program: &mut Program,
        make: impl FnOnce(&mut Cx) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (funcs, boxes) = (program.funcs.len(), program.boxes.len());
        let made = make(&mut Cx { program, memo: self });
        if made.is_err() {
            program.funcs.truncate(funcs);
            program.boxes.truncate(boxes);
            let is_old = |f: FuncId| (f.0 as usize) < funcs;
            self.forward.retain(|_, made| is_old(made.func));
            self.reverse.retain(|_, made| is_old(made.bwd));
        }
        made
    }
}
