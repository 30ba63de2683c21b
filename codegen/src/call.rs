//! Calls from outside: arguments in, results out, whatever runs the loops.

use std::collections::HashMap;
use std::sync::Arc;

use adl_core::account::{Account, OutOfMemory};
use adl_core::ir::{self, Atom, Var};
use adl_core::value::Value;

use crate::loops::Program;
use crate::repr;
use crate::runtime::cells::Cells;
use crate::runtime::memory::Memory;
use crate::runtime::words::Context;

/// The parameters and results of a function of Core.
#[derive(Debug)]
pub(crate) struct Signature {
    params: Vec<Var>,
    results: Vec<Atom>,
}

/// The signatures of all functions.
pub(crate) fn signatures(core: &ir::Program) -> Vec<Signature> {
    let signature =
        |func: &ir::Func| Signature { params: func.params.clone(), results: func.body.results.clone() };
    core.funcs.iter().map(signature).collect()
}

/// A call that is being made: what the types of arguments and results refer to.
pub(crate) struct Call<'a> {
    pub(crate) signature: &'a Signature,
    pub(crate) program: &'a Program,
    pub(crate) account: &'a Arc<Account>,
    /// Sizes among the arguments.
    sizes: HashMap<Var, i64>,
}

impl<'a> Call<'a> {
    /// A call of a function with this signature.
    pub(crate) fn new(signature: &'a Signature, program: &'a Program, account: &'a Arc<Account>) -> Call<'a> {
        Call { signature, program, account, sizes: HashMap::new() }
    }

    fn context<'t>(&'t self, texts: &'t mut Vec<Arc<str>>) -> Context<'t> {
        Context {
            boxes: &self.program.boxes,
            texts,
            sizes: self.sizes.clone(),
            account: self.account,
            cells: Cells::default(),
        }
    }

    /// Writes the arguments; gives their registers as words.
    pub(crate) fn arguments(
        &mut self,
        memory: &mut impl Memory,
        texts: &mut Vec<Arc<str>>,
        args: &[Value],
    ) -> Result<Vec<u64>, OutOfMemory> {
        let mut words = vec![];
        for (param, value) in self.signature.params.iter().zip(args) {
            if let Value::Int(k) = value {
                self.sizes.insert(param.clone(), *k);
            }
            self.context(texts).encode(memory, param.ty(), value, &mut words)?;
        }
        Ok(words)
    }

    /// The number of registers of the results.
    pub(crate) fn width(&self) -> usize {
        self.signature.results.iter().map(|atom| repr::width(&repr::parts(&atom.ty()))).sum()
    }

    /// Reads the results and gives up what they hold.
    pub(crate) fn results(
        &self,
        memory: &mut impl Memory,
        texts: &mut Vec<Arc<str>>,
        regs: &[u64],
    ) -> Result<Vec<Value>, OutOfMemory> {
        let values = self.context(texts).results(memory, &self.signature.results, regs)?;
        let mut at = 0;
        for part in self.signature.results.iter().flat_map(|atom| repr::parts(&atom.ty())) {
            if part.is_counted() {
                memory.release(regs[at]);
            }
            at += part.kinds().len();
        }
        Ok(values)
    }
}
