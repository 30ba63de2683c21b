//! The interpreter of loops, on a model of memory. It says whether the lowering or the machine code is to
//! blame where the machine differs from the reference interpreter. It needs no `unsafe`: an access outside
//! a buffer, or of one that is freed, is a panic.

use std::borrow::Cow;
use std::sync::Arc;

use adl_core::account::{Account, OutOfMemory};
use adl_core::host::Host;
use adl_core::interp::Outcome;
use adl_core::ir::{self, FuncId};
use adl_core::prim::{Diff, Inst, Kernel, PrimDef, PrimError, S, Sig};
use adl_core::run::{Counts, Limits, RuntimeError, fail};
use adl_core::ty::Scalar;
use adl_core::value::Value;
use adl_math::order::{Fold, Op as Order};

use crate::abi::elements;
use crate::call::{self, Call, Signature};
use crate::compiled::CompileError;
use crate::loops::{self, Const, FoldOp, Func, Op, Program, Reg, Site};
use crate::lower;
use crate::repr::{Elem, Kind};
use crate::runtime::memory::Memory;
use crate::runtime::service::Run;
use crate::stack;

/// An address is the number of a buffer, from 1, and an offset.
const OFFSET_BITS: u32 = 36;

/// A program whose loops are interpreted.
pub struct Interpreted {
    program: Program,
    signatures: Vec<Signature>,
}

/// Prepares a first-order program without derivative operators.
///
/// # Errors
///
/// If it has no lowering.
///
/// # Panics
///
/// If the lowering breaks an invariant of loops, which is a mistake of the compiler.
pub fn interpret(core: &ir::Program) -> Result<Interpreted, CompileError> {
    let program = lower::lower(core).map_err(CompileError::Unsupported)?;
    if let Err(error) = loops::lint::check(&program) {
        panic!("lowering: {error}\n{program}");
    }
    Ok(Interpreted { program, signatures: call::signatures(core) })
}

impl Interpreted {
    /// Runs a function on an account that the results stay on; also gives the number of buffers that were
    /// not given up.
    ///
    /// # Errors
    ///
    /// The program's own failures, and the limits.
    ///
    /// # Panics
    ///
    /// On an access outside the buffers alive, which is a mistake of the compiler.
    pub fn run_on(
        &self,
        account: &Arc<Account>,
        func: FuncId,
        args: &[Value],
        host: &mut dyn Host,
        limits: &Limits,
    ) -> Result<(Outcome, usize), RuntimeError> {
        let mut call = Call::new(&self.signatures[func.0 as usize], &self.program, account);
        let span = self.program.sites.first().copied().unwrap_or_default();
        let texts = self.program.texts.clone();
        let run = Run { program: &self.program, host, texts, error: None, depth: limits.depth };
        let memory = Model { account: Arc::clone(account), buffers: vec![], n_live: 0 };
        let mut state = State {
            program: &self.program,
            memory,
            run,
            limits,
            depth: 0,
            stack_limit: stack::limit(),
            copied: 0,
        };
        let words =
            call.arguments(&mut state.memory, &mut state.run.texts, args).map_err(|error| error.at(span))?;
        let regs = state.call(func.0 as usize, &words, Site(0))?;
        let values =
            call.results(&mut state.memory, &mut state.run.texts, &regs).map_err(|error| error.at(span))?;
        let counts =
            Counts { ops: 0, copied: state.copied, peak: account.peak(), allocations: account.count() };
        Ok((Outcome { values, counts }, state.memory.n_live))
    }
}

/// A model of memory.
struct Model {
    account: Arc<Account>,
    buffers: Vec<Option<Buffer>>,
    n_live: usize,
}

struct Buffer {
    bytes: Vec<u8>,
    refs: u64,
    count: u64,
}

impl Model {
    fn buffer(&mut self, at: u64) -> &mut Buffer {
        let number = (at >> OFFSET_BITS) as usize - 1;
        self.buffers[number].as_mut().expect("the buffer is alive")
    }

    fn place(at: u64) -> (usize, usize) {
        ((at >> OFFSET_BITS) as usize - 1, (at & ((1 << OFFSET_BITS) - 1)) as usize)
    }
}

impl Memory for Model {
    fn alloc(&mut self, bytes: u64, refs: u64) -> Result<u64, OutOfMemory> {
        self.account.take(bytes)?;
        self.n_live += 1;
        // What is not written yet is no number that anyone would expect.
        let mut contents = vec![0xA5; bytes as usize];
        contents[..8 * refs as usize].fill(0);
        self.buffers.push(Some(Buffer { bytes: contents, refs, count: 1 }));
        Ok((self.buffers.len() as u64) << OFFSET_BITS)
    }

    fn read(&self, at: u64, bytes: usize) -> Cow<'_, [u8]> {
        if bytes == 0 {
            return Cow::Borrowed(&[]);
        }
        let (number, from) = Model::place(at);
        let buffer = self.buffers[number].as_ref().expect("the buffer is alive");
        Cow::Borrowed(&buffer.bytes[from..from + bytes])
    }

    fn write(&mut self, at: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            let (_, from) = Model::place(at);
            self.buffer(at).bytes[from..from + bytes.len()].copy_from_slice(bytes);
        }
    }

    fn retain(&mut self, at: u64) {
        self.buffer(at).count += 1;
    }

    fn release(&mut self, at: u64) {
        let mut todo = vec![at];
        while let Some(at) = todo.pop() {
            if at == 0 {
                continue;
            }
            let buffer = self.buffer(at);
            buffer.count -= 1;
            if buffer.count == 0 {
                let words = buffer.bytes.as_chunks().0.iter().take(buffer.refs as usize);
                todo.extend(words.map(|word| u64::from_ne_bytes(*word)));
                let bytes = buffer.bytes.len() as u64;
                self.buffers[(at >> OFFSET_BITS) as usize - 1] = None;
                self.account.give(bytes);
                self.n_live -= 1;
            }
        }
    }
}

/// A run.
struct State<'r> {
    program: &'r Program,
    memory: Model,
    run: Run<'r>,
    limits: &'r Limits,
    depth: u64,
    /// This interpreter uses the stack, which may not grow below this address.
    stack_limit: u64,
    copied: u64,
}

/// The registers and reductions of a call.
struct Frame<'f> {
    func: &'f Func,
    regs: Vec<u64>,
    folds: Vec<Folding>,
}

/// A reduction under way.
enum Folding {
    F64(Box<Fold<f64>>),
    F32(Box<Fold<f32>>),
    Int(Box<Fold<i64>>),
}

impl Frame<'_> {
    fn get(&self, reg: Reg) -> u64 {
        self.regs[reg.0 as usize]
    }

    fn int(&self, reg: Reg) -> i64 {
        self.get(reg) as i64
    }

    fn set(&mut self, reg: Reg, word: u64) {
        self.regs[reg.0 as usize] = word;
    }

    fn kind(&self, reg: Reg) -> Kind {
        self.func.regs[reg.0 as usize]
    }

    fn new_fold(&self, fold: usize) -> Folding {
        let (kind, op) = self.func.folds[fold];
        let op = if op == FoldOp::Sum { Order::Sum } else { Order::Prod };
        match kind {
            Kind::F64 => Folding::F64(Box::new(Fold::new(op))),
            Kind::F32 => Folding::F32(Box::new(Fold::new(op))),
            Kind::I64 | Kind::I8 => Folding::Int(Box::new(Fold::new(op))),
        }
    }
}

impl<'r> State<'r> {
    fn call(&mut self, func: usize, args: &[u64], site: Site) -> Result<Vec<u64>, RuntimeError> {
        if self.limits.depth <= self.depth || stack::is_below(self.stack_limit) {
            return Err(fail::too_deep(self.run.span(site), self.limits.depth));
        }
        self.depth += 1;
        let func = &self.program.funcs[func];
        let mut frame = Frame { func, regs: vec![0; func.regs.len()], folds: vec![] };
        frame.folds = (0..func.folds.len()).map(|fold| frame.new_fold(fold)).collect();
        for (param, word) in func.params.iter().zip(args) {
            frame.set(*param, *word);
        }
        self.ops(&mut frame, &func.body)?;
        self.depth -= 1;
        Ok(func.results.iter().map(|reg| frame.get(*reg)).collect())
    }

    fn ops(&mut self, frame: &mut Frame<'_>, ops: &[Op]) -> Result<(), RuntimeError> {
        ops.iter().try_for_each(|op| self.op(frame, op))
    }

    fn poll(&self) -> Result<(), RuntimeError> {
        if self.limits.cancelled() { Err(fail::cancelled(adl_diag::Span::default())) } else { Ok(()) }
    }

    #[expect(clippy::too_many_lines, reason = "one arm an operation")]
    fn op(&mut self, frame: &mut Frame<'_>, op: &Op) -> Result<(), RuntimeError> {
        match op {
            Op::Const { dst, value } => frame.set(*dst, word_of(*value)),
            Op::Move { dst, src } => frame.set(*dst, frame.get(*src)),
            Op::Inst { dst, inst, of, args, site } => {
                let args: Vec<S> = args.iter().map(|arg| scalar(*of, frame.get(*arg))).collect();
                let word = self.inst(*inst, &args, *site)?;
                frame.set(*dst, word);
            }
            Op::Kernel { dst, kernel, args, .. } => {
                let words: Vec<u64> = args.iter().map(|arg| frame.get(*arg)).collect();
                frame.set(*dst, apply(*kernel, frame.kind(args[0]), &words));
            }
            Op::Load { dst, base, index } => {
                let bytes = frame.kind(*dst).bytes();
                let at = address(frame, *base, *index, bytes);
                let mut word = [0; 8];
                word[..bytes as usize].copy_from_slice(&self.memory.read(at, bytes as usize));
                frame.set(*dst, u64::from_le_bytes(word));
            }
            Op::Store { src, base, index } => {
                let bytes = frame.kind(*src).bytes();
                let at = address(frame, *base, *index, bytes);
                self.memory.write(at, &frame.get(*src).to_le_bytes()[..bytes as usize]);
            }
            Op::Offset { dst, base, index, bytes } => frame.set(*dst, address(frame, *base, *index, *bytes)),
            Op::If { cond, then, orelse } => {
                let way = if frame.get(*cond) & 1 == 1 { then } else { orelse };
                self.ops(frame, way)?;
            }
            Op::For { var, n, reverse, body } => {
                let n = frame.int(*n);
                for k in 0..n {
                    self.poll()?;
                    frame.set(*var, if *reverse { n - 1 - k } else { k } as u64);
                    self.ops(frame, body)?;
                }
            }
            Op::While { cond, test, body } => loop {
                self.poll()?;
                self.ops(frame, cond)?;
                if frame.get(*test) & 1 == 0 {
                    break;
                }
                self.ops(frame, body)?;
            },
            Op::Call { func, args, dsts, site } => {
                let words: Vec<u64> = args.iter().map(|arg| frame.get(*arg)).collect();
                let results = self.call(*func as usize, &words, *site)?;
                for (dst, word) in dsts.iter().zip(results) {
                    frame.set(*dst, word);
                }
            }
            Op::Retain { ptr } => {
                let at = frame.get(*ptr);
                if at != 0 {
                    self.memory.buffer(at).count += 1;
                }
            }
            Op::Release { ptr } => self.memory.release(frame.get(*ptr)),
            Op::Unique { dst, ptr } => {
                let count = self.memory.buffer(frame.get(*ptr)).count;
                frame.set(*dst, u64::from(count == 1));
            }
            Op::Alloc { dst, dims, elem, zero, site } => {
                let dims: Vec<i64> = dims.iter().map(|dim| frame.int(*dim)).collect();
                let at = self.alloc(&dims, *elem, *zero, *site)?;
                frame.set(*dst, at);
            }
            Op::AllocCell { dst, refs, words, site } => {
                let made = self.memory.alloc(8 * u64::from(*words), u64::from(*refs));
                let at = made.map_err(|error| error.at(self.run.span(*site)))?;
                frame.set(*dst, at);
            }
            Op::Copy { dst, src, n, bytes, counted } => {
                let total = frame.int(*n) as usize * *bytes as usize;
                let contents = self.memory.read(frame.get(*src), total).into_owned();
                self.memory.write(frame.get(*dst), &contents);
                self.copied += if *counted { total as u64 } else { 0 };
            }
            Op::Clear { dst, n, bytes } => {
                let total = frame.int(*n) as usize * *bytes as usize;
                self.memory.write(frame.get(*dst), &vec![0; total]);
            }
            Op::FoldNew { fold } => frame.folds[fold.0 as usize] = frame.new_fold(fold.0 as usize),
            Op::FoldPush { fold, src } => {
                let word = frame.get(*src);
                match &mut frame.folds[fold.0 as usize] {
                    Folding::F64(fold) => fold.push(f64::from_bits(word)),
                    Folding::F32(fold) => fold.push(f32::from_bits(word as u32)),
                    Folding::Int(fold) => fold.push(word as i64),
                }
            }
            Op::FoldEnd { dst, fold } => {
                let next = frame.new_fold(fold.0 as usize);
                let word = match std::mem::replace(&mut frame.folds[fold.0 as usize], next) {
                    Folding::F64(fold) => fold.finish().to_bits(),
                    Folding::F32(fold) => u64::from(fold.finish().to_bits()),
                    Folding::Int(fold) => fold.finish() as u64,
                };
                frame.set(*dst, word);
            }
            Op::Service { service, args, dsts, site } => {
                let words: Vec<u64> = args.iter().map(|arg| frame.get(*arg)).collect();
                let mut out = vec![0; dsts.len()];
                let account = Arc::clone(&self.memory.account);
                let service = &self.program.services[*service as usize];
                self.run.serve(&mut self.memory, &account, service, &words, &mut out, *site)?;
                for (dst, word) in dsts.iter().zip(out) {
                    frame.set(*dst, word);
                }
            }
            Op::Fail { fail, args, site } => {
                let words: Vec<u64> = args.iter().map(|arg| frame.get(*arg)).collect();
                return Err(self.run.failure(*fail, &words, *site));
            }
        }
        Ok(())
    }

    fn inst(&self, inst: Inst, args: &[S], site: Site) -> Result<u64, RuntimeError> {
        // The meaning of an instruction is that of a row made of it.
        let row = PrimDef {
            name: "instruction",
            doc: "",
            sig: Sig::Same(0, &[]),
            cost: 0,
            kernel: Kernel::Inst(inst),
            diff: Diff::Zero,
            sample: &[],
            edges: &[],
        };
        match row.apply(args) {
            Ok(value) => Ok(word(&value)),
            Err(PrimError::DivZero) => Err(fail::division_by_zero(self.run.span(site))),
            Err(PrimError::IntRange) => {
                let x = match args.first() {
                    Some(S::F64(x)) => *x,
                    Some(S::F32(x)) => f64::from(*x),
                    Some(S::Int(_) | S::Bool(_) | S::Str(_) | S::Key(_)) | None => f64::NAN,
                };
                Err(fail::conversion(self.run.span(site), x))
            }
        }
    }

    fn alloc(&mut self, dims: &[i64], elem: Elem, zero: bool, site: Site) -> Result<u64, RuntimeError> {
        let span = self.run.span(site);
        let account = Arc::clone(&self.memory.account);
        let refused =
            || OutOfMemory { asked: u64::MAX, held: account.held(), limit: account.limit() }.at(span);
        let n = match elements(dims) {
            Ok(n) => n,
            Err(Some(negative)) => return Err(fail::negative_size(span, negative)),
            Err(None) => return Err(refused()),
        };
        let bytes = n.checked_mul(u64::from(elem.bytes())).ok_or_else(refused)?;
        let refs = if elem == Elem::Ref { n } else { 0 };
        let at = self.memory.alloc(bytes, refs).map_err(|error| error.at(span))?;
        if zero {
            self.memory.write(at, &vec![0; bytes as usize]);
        }
        Ok(at)
    }
}

fn address(frame: &Frame<'_>, base: Reg, index: Reg, bytes: u32) -> u64 {
    frame.get(base).wrapping_add(frame.get(index).wrapping_mul(u64::from(bytes)))
}

fn word_of(value: Const) -> u64 {
    match value {
        Const::F64(x) => x.to_bits(),
        Const::F32(x) => u64::from(x.to_bits()),
        Const::I64(k) => k as u64,
        Const::I8(b) => u64::from(b),
    }
}

fn scalar(of: Scalar, word: u64) -> S {
    match of {
        Scalar::F64 => S::F64(f64::from_bits(word)),
        Scalar::F32 => S::F32(f32::from_bits(word as u32)),
        Scalar::Int => S::Int(word as i64),
        Scalar::Bool => S::Bool(word & 1 == 1),
        Scalar::Key | Scalar::Str => S::Key(word),
    }
}

fn word(value: &S) -> u64 {
    match value {
        S::F64(x) => x.to_bits(),
        S::F32(x) => u64::from(x.to_bits()),
        S::Int(k) => *k as u64,
        S::Bool(b) => u64::from(*b),
        S::Key(bits) => *bits,
        S::Str(_) => 0,
    }
}

/// Applies a function on scalars whose first operand is of this kind.
fn apply(kernel: Kernel, first: Kind, x: &[u64]) -> u64 {
    let is_single = first == Kind::F32;
    let (wide, narrow) = (|k: usize| f64::from_bits(x[k]), |k: usize| f32::from_bits(x[k] as u32));
    let int = |k: usize| x[k] as i64;
    match kernel {
        Kernel::F1(_, f) if is_single => u64::from(f(narrow(0)).to_bits()),
        Kernel::F1(f, _) => f(wide(0)).to_bits(),
        Kernel::F2(_, f) if is_single => u64::from(f(narrow(0), narrow(1)).to_bits()),
        Kernel::F2(f, _) => f(wide(0), wide(1)).to_bits(),
        Kernel::FInt(_, f) if is_single => u64::from(f(narrow(0), int(1)).to_bits()),
        Kernel::FInt(f, _) => f(wide(0), int(1)).to_bits(),
        Kernel::I1(f) => f(int(0)) as u64,
        Kernel::I2(f) => f(int(0), int(1)) as u64,
        Kernel::I3(f) => f(int(0), int(1), int(2)) as u64,
        Kernel::I2F(f) => f(int(0), int(1)).to_bits(),
        Kernel::Inst(_) | Kernel::StrCat => unreachable!("lowered to an instruction or a service"),
    }
}
