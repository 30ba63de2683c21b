//! Programs as machine code: compile once, run often.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use adl_core::account::Account;
use adl_core::host::Host;
use adl_core::interp::Outcome;
use adl_core::ir::{self, Atom, FuncId, Var};
use adl_core::run::{Counts, Limits, RuntimeError, fail};
use adl_core::value::Value;

use crate::abi::Ctx;
use crate::jit::Machine;
use crate::loops::{self, Program};
use crate::lower::{self, Unsupported};
use crate::repr::{self, Part};
use crate::runtime::heap::Heap;
use crate::runtime::memory::Memory;
use crate::runtime::service::Run;
use crate::runtime::words::Context;
use crate::stack;

/// A program as machine code.
pub struct Compiled {
    program: Program,
    machine: Machine,
    signatures: Vec<Signature>,
    /// Heaps of calls that have ended, with their pools.
    heaps: Mutex<Vec<Heap>>,
    /// Buffers that calls which ended well had not given up.
    leaks: AtomicUsize,
}

/// The parameters and results of a function of Core.
struct Signature {
    params: Vec<Var>,
    results: Vec<Atom>,
}

/// Why there is no machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// Something has no lowering yet; the reference interpreter runs it.
    Unsupported(Unsupported),
    /// The code generator's message.
    Machine(String),
}

/// Compiles a first-order program without derivative operators.
///
/// # Errors
///
/// See [`CompileError`]; the reference interpreter runs such programs.
///
/// # Panics
///
/// On forms of higher-order Core, and if the lowering breaks an invariant of loops in a debug build: both
/// are mistakes of the compiler.
pub fn compile(core: &ir::Program) -> Result<Compiled, CompileError> {
    let program = lower::lower(core).map_err(CompileError::Unsupported)?;
    if cfg!(debug_assertions)
        && let Err(error) = loops::lint::check(&program)
    {
        panic!("lowering: {error}\n{program}");
    }
    let machine = Machine::new(&program).map_err(CompileError::Machine)?;
    Ok(Compiled {
        program,
        machine,
        signatures: signatures(core),
        heaps: Mutex::new(vec![]),
        leaks: AtomicUsize::new(0),
    })
}

fn signatures(core: &ir::Program) -> Vec<Signature> {
    let signature =
        |func: &ir::Func| Signature { params: func.params.clone(), results: func.body.results.clone() };
    core.funcs.iter().map(signature).collect()
}

impl Compiled {
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

    /// Runs a function on an account that the results stay on. How deep it may call is a matter of the
    /// thread's stack: see [`crate::stack::on_stack`].
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
        let mut heap = self.take_heap();
        heap.charge_to(account);
        let outcome = self.run_in(&mut heap, account, func, &args, host, limits);
        heap.free_all();
        self.give_heap(heap);
        outcome
    }

    /// How many buffers the calls so far had not given up at their end, which is a mistake of the compiler.
    /// They are freed all the same.
    #[must_use]
    pub fn leaks(&self) -> usize {
        self.leaks.load(Ordering::Relaxed)
    }

    /// The loops, as text.
    #[must_use]
    pub fn loops(&self) -> String {
        self.program.to_string()
    }

    /// Gives up what a result holds.
    fn give_up(heap: &mut Heap, parts: &[Part], regs: &[u64]) {
        let mut at = 0;
        for part in parts {
            if part.is_counted() {
                Memory::release(heap, regs[at]);
            }
            at += part.kinds().len();
        }
    }

    fn take_heap(&self) -> Heap {
        self.heaps.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_else(Heap::new)
    }

    fn give_heap(&self, heap: Heap) {
        self.heaps.lock().unwrap_or_else(PoisonError::into_inner).push(heap);
    }

    fn run_in(
        &self,
        heap: &mut Heap,
        account: &Arc<Account>,
        func: FuncId,
        args: &[Value],
        host: &mut dyn Host,
        limits: &Limits,
    ) -> Result<Outcome, RuntimeError> {
        let signature = &self.signatures[func.0 as usize];
        let span = self.program.sites.first().copied().unwrap_or_default();
        let texts = self.program.texts.clone();
        let run = Run { program: &self.program, host, texts, error: None, depth: limits.depth };
        let cancel = std::ptr::from_ref(&*limits.cancel);
        let mut ctx = Ctx { stack_limit: stack::limit(), cancel, copied: 0, heap, run, panic: None };
        let mut words = vec![];
        let mut sizes = HashMap::new();
        for (param, value) in signature.params.iter().zip(args) {
            if let Value::Int(k) = value {
                sizes.insert(param.clone(), *k);
            }
            let mut context = Context {
                boxes: &self.program.boxes,
                texts: &mut ctx.run.texts,
                sizes: sizes.clone(),
                account,
            };
            context.encode(ctx.heap, param.ty(), value, &mut words).map_err(|error| error.at(span))?;
        }
        let width = signature.results.iter().map(|atom| repr::width(&repr::parts(&atom.ty()))).sum();
        let mut out = vec![0; width];
        let ended_well = self.machine.call(func.0 as usize, &mut ctx, &words, &mut out);
        if let Some(panic) = ctx.panic.take() {
            std::panic::resume_unwind(panic);
        }
        if !ended_well {
            return Err(ctx.run.error.take().unwrap_or_else(|| fail::cancelled(span)));
        }
        let mut context = Context { boxes: &self.program.boxes, texts: &mut ctx.run.texts, sizes, account };
        let values = context.results(&*ctx.heap, &signature.results, &out).map_err(|error| error.at(span))?;
        for atom in signature.results.iter().rev() {
            let parts = repr::parts(&atom.ty());
            let own = out.split_off(out.len() - repr::width(&parts));
            Self::give_up(ctx.heap, &parts, &own);
        }
        self.leaks.fetch_add(ctx.heap.n_live(), Ordering::Relaxed);
        let counts =
            Counts { ops: 0, copied: ctx.copied, peak: account.peak(), allocations: account.count() };
        Ok(Outcome { values, counts })
    }
}
