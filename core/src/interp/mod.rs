//! The reference interpreter: runs first-order Core directly, and counts what it does. What it gives is
//! the meaning of a program; everything fast is compared with it.
//!
//! Functions are first *resolved* (variables become slots), then run by a machine whose frames are on
//! the heap: deep recursion of a program does not use the stack of the process.

mod acc;
mod bulk;
mod code;
mod data;
mod forms;
mod frame;
mod machine;
mod resolve;
mod sum;
mod table;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::account::Account;
use crate::host::Host;
use crate::ir::{FuncId, Program};
use crate::run::{Counts, Limits, RuntimeError};
use crate::value::Value;

/// A program that is ready to run.
#[derive(Debug)]
pub struct Interp {
    codes: Vec<code::Code>,
}

/// What a run gave, and what it did.
#[derive(Debug)]
pub struct Outcome {
    /// The results of the function.
    pub values: Vec<Value>,
    /// Operations, copies and memory.
    pub counts: Counts,
}

impl Interp {
    /// Prepares a first-order program without derivative operators.
    ///
    /// # Panics
    ///
    /// On forms of higher-order Core, which is a mistake of the compiler.
    #[must_use]
    pub fn new(program: &Program) -> Interp {
        let codes = program.funcs.iter().map(resolve::func).collect();
        Interp { codes }
    }

    /// Runs a function on an account of its own.
    ///
    /// # Errors
    ///
    /// The program's own failures, and the limits.
    pub fn run(
        &self,
        func: FuncId,
        args: Vec<Value>,
        host: &mut dyn Host,
        limits: &Limits,
    ) -> Result<Outcome, RuntimeError> {
        self.run_on(&Account::new(limits.memory), func, args, host, limits)
    }

    /// Runs a function on an account that the results stay on.
    ///
    /// # Errors
    ///
    /// The program's own failures, and the limits.
    pub fn run_on(
        &self,
        account: &Arc<Account>,
        func: FuncId,
        args: Vec<Value>,
        host: &mut dyn Host,
        limits: &Limits,
    ) -> Result<Outcome, RuntimeError> {
        let mut machine = machine::Machine::new(&self.codes, account, host, limits);
        let values = machine.call(func, args)?;
        let (ops, copied) = machine.counted();
        let counts = Counts { ops, copied, peak: account.peak(), allocations: account.count() };
        Ok(Outcome { values, counts })
    }
}
