//! From loops to Cranelift's representation, one function at a time.

mod inst;
mod memory;

use cranelift::codegen::ir::{BlockArg, Function, SigRef, StackSlot};
use cranelift::jit::JITModule;
use cranelift::module::{FuncId, Module};
use cranelift::prelude::{
    AbiParam, Block, FunctionBuilder, FunctionBuilderContext, InstBuilder, IntCC, MemFlagsData, Signature,
    StackSlotData, StackSlotKind, Type, Value, Variable, types,
};

use crate::abi;
use crate::loops::{Const, Func, Op, Reg};
use crate::repr::Kind;
use crate::runtime::fold;

/// Loops are interrupted at the latest after so many rounds; a power of two.
const POLL_ROUNDS: i64 = 1024;

/// The type of a register.
pub(crate) fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::F64 => types::F64,
        Kind::F32 => types::F32,
        Kind::I64 => types::I64,
        Kind::I8 => types::I8,
    }
}

/// The signature of a function: context, arguments, where the results go; a status.
pub(crate) fn signature(module: &JITModule, func: &Func) -> Signature {
    let mut signature = module.make_signature();
    signature.params.push(AbiParam::new(types::I64));
    let kinds = func.params.iter().map(|param| type_of(func.regs[param.0 as usize]));
    signature.params.extend(kinds.map(AbiParam::new));
    signature.params.push(AbiParam::new(types::I64));
    signature.returns.push(AbiParam::new(types::I64));
    signature
}

/// The signature of the way in: context, argument words, result words; a status.
pub(crate) fn entry_signature(module: &JITModule) -> Signature {
    let mut signature = module.make_signature();
    signature.params.extend([AbiParam::new(types::I64); 3]);
    signature.returns.push(AbiParam::new(types::I64));
    signature
}

/// The most stack a frame of this function takes: every register spilled, all reductions, words twice.
pub(crate) fn frame_bytes(func: &Func) -> i64 {
    let (regs, folds) = (func.regs.len() as i64, func.folds.len() as i64);
    24 * regs + i64::from(fold::STATE_BYTES + 16) * folds
}

/// Writes a function.
pub(crate) fn function(
    module: &mut JITModule,
    context: &mut FunctionBuilderContext,
    target: &mut Function,
    callees: &[(FuncId, i64)],
    func: &Func,
) {
    let config = module.target_config();
    let mut b = FunctionBuilder::new(target, context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let params = b.block_params(entry).to_vec();
    let vars: Vec<Variable> = func.regs.iter().map(|kind| b.declare_var(type_of(*kind))).collect();
    for (reg, value) in func.params.iter().zip(&params[1..]) {
        b.def_var(vars[reg.0 as usize], *value);
    }
    let folds = func
        .folds
        .iter()
        .map(|_| {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, fold::STATE_BYTES, 4);
            (b.create_sized_stack_slot(data), b.declare_var(types::I64))
        })
        .collect();
    let fails = b.create_block();
    let mut emit =
        Emit { b, module, callees, func, vars, folds, ctx: params[0], fails, words: None, words_bytes: 0 };
    emit.ops(&func.body);
    let out = *params.last().expect("the last parameter is where the results go");
    for (k, reg) in func.results.iter().enumerate() {
        let value = emit.get(*reg);
        emit.b.ins().store(MemFlagsData::trusted(), value, out, 8 * k as i32);
    }
    let ok = emit.b.ins().iconst(types::I64, 0);
    emit.b.ins().return_(&[ok]);
    emit.b.switch_to_block(fails);
    let failed = emit.b.ins().iconst(types::I64, 1);
    emit.b.ins().return_(&[failed]);
    emit.b.set_cold_block(fails);
    emit.b.seal_all_blocks();
    emit.b.finalize(config);
}

/// Writes the way in to a function.
pub(crate) fn entry(
    module: &mut JITModule,
    context: &mut FunctionBuilderContext,
    target: &mut Function,
    id: FuncId,
    func: &Func,
) {
    let config = module.target_config();
    let callee = module.declare_func_in_func(id, target);
    let mut b = FunctionBuilder::new(target, context);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    b.seal_block(block);
    let [ctx, words, out] = b.block_params(block)[..] else {
        unreachable!("the way in has three parameters")
    };
    let mut args = vec![ctx];
    for (k, param) in func.params.iter().enumerate() {
        let ty = type_of(func.regs[param.0 as usize]);
        args.push(b.ins().load(ty, MemFlagsData::trusted(), words, 8 * k as i32));
    }
    args.push(out);
    let call = b.ins().call(callee, &args);
    let status = b.inst_results(call)[0];
    b.ins().return_(&[status]);
    b.finalize(config);
}

/// The writing of one function.
struct Emit<'a, 'f> {
    b: FunctionBuilder<'f>,
    module: &'a mut JITModule,
    /// All functions, with the most stack a call of each may take.
    callees: &'a [(FuncId, i64)],
    func: &'a Func,
    vars: Vec<Variable>,
    /// Of each reduction its state, and how far the block under way is filled.
    folds: Vec<(StackSlot, Variable)>,
    ctx: Value,
    /// Returns 1.
    fails: Block,
    /// A place on the stack for words that are passed on.
    words: Option<StackSlot>,
    words_bytes: u32,
}

impl Emit<'_, '_> {
    fn get(&mut self, reg: Reg) -> Value {
        self.b.use_var(self.vars[reg.0 as usize])
    }

    fn set(&mut self, reg: Reg, value: Value) {
        self.b.def_var(self.vars[reg.0 as usize], value);
    }

    fn kind(&self, reg: Reg) -> Kind {
        self.func.regs[reg.0 as usize]
    }

    fn int(&mut self, k: i64) -> Value {
        self.b.ins().iconst(types::I64, k)
    }

    fn ops(&mut self, ops: &[Op]) {
        ops.iter().for_each(|op| self.op(op));
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Const { dst, value } => {
                let value = match value {
                    Const::F64(x) => self.b.ins().f64const(*x),
                    Const::F32(x) => self.b.ins().f32const(*x),
                    Const::I64(k) => self.int(*k),
                    Const::I8(x) => self.b.ins().iconst(types::I8, i64::from(*x)),
                };
                self.set(*dst, value);
            }
            Op::Move { dst, src } => {
                let value = self.get(*src);
                self.set(*dst, value);
            }
            Op::Inst { dst, inst, of, args, site } => {
                let args: Vec<Value> = args.iter().map(|arg| self.get(*arg)).collect();
                let value = self.inst(*inst, *of, &args, *site);
                self.set(*dst, value);
            }
            Op::Kernel { dst, kernel, args, .. } => {
                let kinds: Vec<Type> = args.iter().map(|arg| type_of(self.kind(*arg))).collect();
                let args: Vec<Value> = args.iter().map(|arg| self.get(*arg)).collect();
                let (result, address) = inst::address(*kernel, kinds[0]);
                let value = self.call(address, &kinds, Some(result), &args);
                self.set(*dst, value.expect("a kernel has a result"));
            }
            Op::Load { dst, base, index } => self.load(*dst, *base, *index),
            Op::Store { src, base, index } => self.store(*src, *base, *index),
            Op::Offset { dst, base, index, bytes } => {
                let at = self.address(*base, *index, *bytes);
                self.set(*dst, at);
            }
            Op::If { cond, then, orelse } => self.branch(*cond, then, orelse),
            Op::For { var, n, reverse, body } => self.count(*var, *n, *reverse, body),
            Op::While { cond, test, body } => self.repeat(cond, *test, body),
            Op::Call { func, args, dsts, site } => {
                let (id, frame) = self.callees[*func as usize];
                self.check_stack(frame, *site);
                let callee = self.module.declare_func_in_func(id, self.b.func);
                let out = self.words(dsts.len());
                let mut values = vec![self.ctx];
                for arg in args {
                    values.push(self.get(*arg));
                }
                values.push(out);
                let call = self.b.ins().call(callee, &values);
                let status = self.b.inst_results(call)[0];
                self.fail_unless_zero(status);
                self.take_words(out, dsts);
            }
            Op::Retain { ptr } => self.retain(*ptr),
            Op::Release { ptr } => self.release(*ptr),
            Op::Unique { dst, ptr } => self.unique(*dst, *ptr),
            Op::Alloc { dst, dims, elem, zero, site } => self.alloc(*dst, dims, *elem, *zero, *site),
            Op::AllocCell { dst, refs, words, site } => self.alloc_cell(*dst, (*refs, *words), *site),
            Op::Copy { dst, src, n, bytes, counted } => self.copy((*dst, *src), *n, *bytes, *counted),
            Op::Clear { dst, n, bytes } => self.clear(*dst, *n, *bytes),
            Op::FoldNew { fold } => self.fold_new(*fold),
            Op::FoldPush { fold, src } => self.fold_push(*fold, *src),
            Op::FoldEnd { dst, fold } => self.fold_end(*dst, *fold),
            Op::Service { service, args, dsts, site } => self.serve(*service, args, dsts, *site),
            Op::Fail { fail, args, site } => {
                let args: Vec<Value> = args.iter().map(|arg| self.word(*arg)).collect();
                self.fail(*fail, &args, *site);
                let next = self.b.create_block();
                self.b.switch_to_block(next);
            }
        }
    }

    /// A register as a word.
    fn word(&mut self, reg: Reg) -> Value {
        let value = self.get(reg);
        match self.kind(reg) {
            Kind::F64 => self.b.ins().bitcast(types::I64, MemFlagsData::new(), value),
            Kind::F32 => {
                let bits = self.b.ins().bitcast(types::I32, MemFlagsData::new(), value);
                self.b.ins().uextend(types::I64, bits)
            }
            Kind::I64 => value,
            Kind::I8 => self.b.ins().uextend(types::I64, value),
        }
    }

    /// A place on the stack for words that the next call takes or gives.
    fn words(&mut self, n: usize) -> Value {
        let bytes = 8 * n.max(1) as u32;
        let slot = match self.words {
            Some(slot) if bytes <= self.words_bytes => slot,
            Some(_) | None => {
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
                let slot = self.b.create_sized_stack_slot(data);
                (self.words, self.words_bytes) = (Some(slot), bytes);
                slot
            }
        };
        self.b.ins().stack_addr(types::I64, slot, 0)
    }

    fn take_words(&mut self, from: Value, dsts: &[Reg]) {
        for (k, dst) in dsts.iter().enumerate() {
            let ty = type_of(self.kind(*dst));
            let value = self.b.ins().load(ty, MemFlagsData::trusted(), from, 8 * k as i32);
            self.set(*dst, value);
        }
    }

    /// Calls a function of Rust.
    fn call(
        &mut self,
        address: usize,
        params: &[Type],
        result: Option<Type>,
        args: &[Value],
    ) -> Option<Value> {
        let mut signature = self.module.make_signature();
        signature.params.extend(params.iter().copied().map(AbiParam::new));
        signature.returns.extend(result.map(AbiParam::new));
        let signature: SigRef = self.b.import_signature(signature);
        let callee = self.int(address as i64);
        let call = self.b.ins().call_indirect(signature, callee, args);
        self.b.inst_results(call).first().copied()
    }

    /// Calls a function of Rust whose parameters are words.
    fn call_words(&mut self, address: usize, args: &[Value], has_result: bool) -> Option<Value> {
        let params = vec![types::I64; args.len()];
        self.call(address, &params, has_result.then_some(types::I64), args)
    }

    fn fail_unless_zero(&mut self, status: Value) {
        let next = self.b.create_block();
        self.b.ins().brif(status, self.fails, &[], next, &[]);
        self.b.switch_to_block(next);
    }

    fn fail(&mut self, fail: crate::loops::Fail, args: &[Value], site: crate::loops::Site) {
        let zero = self.int(0);
        let arg = |k: usize| args.get(k).copied().unwrap_or(zero);
        let (word, site) = (self.int(fail.to_word()), self.int(i64::from(site.0)));
        self.call_words(abi::failure as *const () as usize, &[self.ctx, word, arg(0), arg(1), site], false);
        self.b.ins().jump(self.fails, &[]);
    }

    /// Fails where the condition holds.
    fn fail_if(&mut self, cond: Value, fail: crate::loops::Fail, args: &[Value], site: crate::loops::Site) {
        let (bad, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(bad);
        self.b.ins().brif(cond, bad, &[], next, &[]);
        self.b.switch_to_block(bad);
        self.fail(fail, args, site);
        self.b.switch_to_block(next);
    }

    /// Fails where a frame of this size would pass the limit.
    fn check_stack(&mut self, frame: i64, site: crate::loops::Site) {
        let sp = self.b.ins().get_stack_pointer(types::I64);
        let sp = self.b.ins().iadd_imm_s(sp, -frame);
        let limit = self.b.ins().load(types::I64, MemFlagsData::trusted(), self.ctx, abi::STACK_LIMIT);
        let below = self.b.ins().icmp(IntCC::UnsignedLessThan, sp, limit);
        let (bad, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(bad);
        self.b.ins().brif(below, bad, &[], next, &[]);
        self.b.switch_to_block(bad);
        let site = self.int(i64::from(site.0));
        self.call_words(abi::too_deep as *const () as usize, &[self.ctx, site], false);
        self.b.ins().jump(self.fails, &[]);
        self.b.switch_to_block(next);
    }

    fn branch(&mut self, cond: Reg, then: &[Op], orelse: &[Op]) {
        let cond = self.get(cond);
        let (yes, no, next) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(cond, yes, &[], no, &[]);
        self.b.switch_to_block(yes);
        self.ops(then);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(no);
        self.ops(orelse);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    /// A counted loop: a test before, and one at the end of each round.
    fn count(&mut self, var: Reg, n: Reg, reverse: bool, body: &[Op]) {
        let n = self.get(n);
        let (round, next) = (self.b.create_block(), self.b.create_block());
        let k = self.b.append_block_param(round, types::I64);
        let zero = self.int(0);
        let some = self.b.ins().icmp(IntCC::SignedLessThan, zero, n);
        self.b.ins().brif(some, round, &[BlockArg::Value(zero)], next, &[]);
        self.b.switch_to_block(round);
        self.poll(k);
        let index = if reverse {
            let last = self.b.ins().iadd_imm_s(n, -1);
            self.b.ins().isub(last, k)
        } else {
            k
        };
        self.set(var, index);
        self.ops(body);
        let after = self.b.ins().iadd_imm_s(k, 1);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, after, n);
        self.b.ins().brif(more, round, &[BlockArg::Value(after)], next, &[]);
        self.b.switch_to_block(next);
    }

    fn repeat(&mut self, cond: &[Op], test: Reg, body: &[Op]) {
        let (head, round, next) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let k = self.b.append_block_param(head, types::I64);
        let zero = self.int(0);
        self.b.ins().jump(head, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        self.poll(k);
        self.ops(cond);
        let test = self.get(test);
        self.b.ins().brif(test, round, &[], next, &[]);
        self.b.switch_to_block(round);
        self.ops(body);
        let after = self.b.ins().iadd_imm_s(k, 1);
        self.b.ins().jump(head, &[BlockArg::Value(after)]);
        self.b.switch_to_block(next);
    }

    /// Looks now and then whether the run was stopped from outside.
    fn poll(&mut self, round: Value) {
        let (look, stop, next) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(look);
        self.b.set_cold_block(stop);
        let rest = self.b.ins().band_imm_s(round, POLL_ROUNDS - 1);
        self.b.ins().brif(rest, next, &[], look, &[]);
        self.b.switch_to_block(look);
        let flag = self.b.ins().load(types::I64, MemFlagsData::trusted(), self.ctx, abi::CANCEL);
        let flag = self.b.ins().load(types::I8, MemFlagsData::trusted(), flag, 0);
        self.b.ins().brif(flag, stop, &[], next, &[]);
        self.b.switch_to_block(stop);
        self.call_words(abi::cancelled as *const () as usize, &[self.ctx], false);
        self.b.ins().jump(self.fails, &[]);
        self.b.switch_to_block(next);
    }
}
