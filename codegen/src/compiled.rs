//! Programs as machine code: compile once, run often.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use adl_core::account::Account;
use adl_core::host::Host;
use adl_core::interp::Outcome;
use adl_core::ir::{self, FuncId};
use adl_core::run::{Counts, Limits, RuntimeError, fail};
use adl_core::value::Value;

use crate::abi::Ctx;
use crate::call::{self, Call, Signature};
use crate::jit::Machine;
use crate::loops::{self, Program};
use crate::lower::{self, Unsupported};
use crate::runtime::heap::Heap;
use crate::runtime::service::Run;
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
    lowering: Duration,
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
    let start = Instant::now();
    let program = lower::lower(core).map_err(CompileError::Unsupported)?;
    let lowering = start.elapsed();
    if cfg!(debug_assertions)
        && let Err(error) = loops::lint::check(&program)
    {
        panic!("lowering: {error}\n{program}");
    }
    let machine = Machine::new(&program).map_err(CompileError::Machine)?;
    Ok(Compiled {
        program,
        machine,
        signatures: call::signatures(core),
        heaps: Mutex::new(vec![]),
        leaks: AtomicUsize::new(0),
        lowering,
    })
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

    /// How long it took to lower the program to loops, apart from machine code.
    #[must_use]
    pub fn lowering_time(&self) -> Duration {
        self.lowering
    }

    /// The loops, as text.
    #[must_use]
    pub fn loops(&self) -> String {
        self.program.to_string()
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
        let mut call = Call::new(&self.signatures[func.0 as usize], &self.program, account);
        let span = self.program.sites.first().copied().unwrap_or_default();
        let texts = self.program.texts.clone();
        let run = Run { program: &self.program, host, texts, error: None, depth: limits.depth };
        let cancel = std::ptr::from_ref(&*limits.cancel);
        let mut ctx = Ctx { stack_limit: stack::limit(), cancel, copied: 0, heap, run, panic: None };
        let words = call.arguments(ctx.heap, &mut ctx.run.texts, args).map_err(|error| error.at(span))?;
        let mut out = vec![0; call.width()];
        let ended_well = self.machine.call(func.0 as usize, &mut ctx, &words, &mut out);
        if let Some(panic) = ctx.panic.take() {
            std::panic::resume_unwind(panic);
        }
        if !ended_well {
            return Err(ctx.run.error.take().unwrap_or_else(|| fail::cancelled(span)));
        }
        let values = call.results(ctx.heap, &mut ctx.run.texts, &out).map_err(|error| error.at(span))?;
        self.leaks.fetch_add(ctx.heap.n_live(), Ordering::Relaxed);
        let counts =
            Counts { ops: 0, copied: ctx.copied, peak: account.peak(), allocations: account.count() };
        Ok(Outcome { values, counts })
    }
}
