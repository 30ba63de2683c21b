//! Buffers, reductions and services in machine code.

use cranelift::prelude::{InstBuilder, IntCC, MemFlagsData, Value, types};

use super::{Emit, type_of};
use crate::abi;
use crate::loops::{FoldId, FoldOp, Reg, Site};
use crate::repr::{Elem, Kind};
use crate::runtime::{fold, heap};

impl Emit<'_, '_> {
    pub(super) fn address(&mut self, base: Reg, index: Reg, bytes: u32) -> Value {
        let (base, index) = (self.get(base), self.get(index));
        let offset = self.b.ins().ishl_imm_u(index, i64::from(bytes.trailing_zeros()));
        self.b.ins().iadd(base, offset)
    }

    pub(super) fn load(&mut self, dst: Reg, base: Reg, index: Reg) {
        let kind = self.kind(dst);
        let at = self.address(base, index, kind.bytes());
        let value = self.b.ins().load(type_of(kind), MemFlagsData::trusted(), at, 0);
        self.set(dst, value);
    }

    pub(super) fn store(&mut self, src: Reg, base: Reg, index: Reg) {
        let at = self.address(base, index, self.kind(src).bytes());
        let value = self.get(src);
        self.b.ins().store(MemFlagsData::trusted(), value, at, 0);
    }

    pub(super) fn retain(&mut self, ptr: Reg) {
        let ptr = self.get(ptr);
        let (some, next) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(ptr, some, &[], next, &[]);
        self.b.switch_to_block(some);
        let count = self.b.ins().load(types::I64, MemFlagsData::trusted(), ptr, heap::COUNT_OFFSET);
        let count = self.b.ins().iadd_imm_s(count, 1);
        self.b.ins().store(MemFlagsData::trusted(), count, ptr, heap::COUNT_OFFSET);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    pub(super) fn release(&mut self, ptr: Reg) {
        let ptr = self.get(ptr);
        let (some, last, next) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(ptr, some, &[], next, &[]);
        self.b.switch_to_block(some);
        let count = self.b.ins().load(types::I64, MemFlagsData::trusted(), ptr, heap::COUNT_OFFSET);
        let count = self.b.ins().iadd_imm_s(count, -1);
        self.b.ins().store(MemFlagsData::trusted(), count, ptr, heap::COUNT_OFFSET);
        self.b.ins().brif(count, next, &[], last, &[]);
        self.b.switch_to_block(last);
        self.call_words(abi::free as *const () as usize, &[self.ctx, ptr], false);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    pub(super) fn unique(&mut self, dst: Reg, ptr: Reg) {
        let ptr = self.get(ptr);
        let count = self.b.ins().load(types::I64, MemFlagsData::trusted(), ptr, heap::COUNT_OFFSET);
        let unique = self.b.ins().icmp_imm_s(IntCC::Equal, count, 1);
        self.set(dst, unique);
    }

    pub(super) fn alloc(&mut self, dst: Reg, dims: &[Reg], elem: Elem, zero: bool, site: Site) {
        let place = self.words(dims.len());
        for (k, dim) in dims.iter().enumerate() {
            let dim = self.get(*dim);
            self.b.ins().store(MemFlagsData::trusted(), dim, place, 8 * k as i32);
        }
        let n = self.int(dims.len() as i64);
        let flags = self.int(abi::alloc_flags(elem.bytes(), elem == Elem::Ref, zero));
        let site = self.int(i64::from(site.0));
        let made =
            self.call_words(abi::alloc as *const () as usize, &[self.ctx, place, n, flags, site], true);
        self.made(dst, made);
    }

    pub(super) fn alloc_cell(&mut self, dst: Reg, (refs, words): (u32, u32), site: Site) {
        let (refs, words) = (self.int(i64::from(refs)), self.int(i64::from(words)));
        let site = self.int(i64::from(site.0));
        let made =
            self.call_words(abi::alloc_cell as *const () as usize, &[self.ctx, refs, words, site], true);
        self.made(dst, made);
    }

    fn made(&mut self, dst: Reg, made: Option<Value>) {
        let made = made.expect("an allocation has a result");
        let next = self.b.create_block();
        self.b.ins().brif(made, next, &[], self.fails, &[]);
        self.b.switch_to_block(next);
        self.set(dst, made);
    }

    pub(super) fn copy(&mut self, (dst, src): (Reg, Reg), n: Reg, bytes: u32, counted: bool) {
        let (dst, src, n) = (self.get(dst), self.get(src), self.get(n));
        let total = self.b.ins().ishl_imm_u(n, i64::from(bytes.trailing_zeros()));
        if counted {
            let copied = self.b.ins().load(types::I64, MemFlagsData::trusted(), self.ctx, abi::COPIED);
            let copied = self.b.ins().iadd(copied, total);
            self.b.ins().store(MemFlagsData::trusted(), copied, self.ctx, abi::COPIED);
        }
        self.call_words(abi::copy as *const () as usize, &[dst, src, total], false);
    }

    pub(super) fn clear(&mut self, dst: Reg, n: Reg, bytes: u32) {
        let (dst, n) = (self.get(dst), self.get(n));
        let total = self.b.ins().ishl_imm_u(n, i64::from(bytes.trailing_zeros()));
        self.call_words(abi::clear as *const () as usize, &[dst, total], false);
    }

    fn fold_unit(&mut self, kind: Kind, op: FoldOp) -> Value {
        let is_product = op == FoldOp::Prod;
        match kind {
            Kind::F64 => self.b.ins().f64const(if is_product { 1.0 } else { 0.0 }),
            Kind::F32 => self.b.ins().f32const(if is_product { 1.0 } else { 0.0 }),
            Kind::I64 | Kind::I8 => self.int(i64::from(is_product)),
        }
    }

    pub(super) fn fold_new(&mut self, id: FoldId) {
        let (kind, op) = self.func.folds[id.0 as usize];
        let (slot, filled) = self.folds[id.0 as usize];
        let unit = self.fold_unit(kind, op);
        let state = self.b.ins().stack_addr(types::I64, slot, 0);
        for lane in 0..fold::lanes(kind) {
            self.b.ins().store(MemFlagsData::trusted(), unit, state, (lane * kind.bytes()) as i32);
        }
        let zero = self.int(0);
        self.b.ins().store(MemFlagsData::trusted(), zero, state, fold::BLOCKS_OFFSET);
        self.b.def_var(filled, zero);
    }

    pub(super) fn fold_push(&mut self, id: FoldId, src: Reg) {
        let (kind, op) = self.func.folds[id.0 as usize];
        let (slot, filled) = self.folds[id.0 as usize];
        let x = self.get(src);
        let k = self.b.use_var(filled);
        let state = self.b.ins().stack_addr(types::I64, slot, 0);
        let lane = self.b.ins().band_imm_s(k, i64::from(fold::lanes(kind) - 1));
        let offset = self.b.ins().ishl_imm_u(lane, i64::from(kind.bytes().trailing_zeros()));
        let at = self.b.ins().iadd(state, offset);
        let acc = self.b.ins().load(type_of(kind), MemFlagsData::trusted(), at, 0);
        let is_float = matches!(kind, Kind::F64 | Kind::F32);
        let next = match (op, is_float) {
            (FoldOp::Sum, true) => self.b.ins().fadd(acc, x),
            (FoldOp::Sum, false) => self.b.ins().iadd(acc, x),
            (FoldOp::Prod, true) => self.b.ins().fmul(acc, x),
            (FoldOp::Prod, false) => self.b.ins().imul(acc, x),
        };
        self.b.ins().store(MemFlagsData::trusted(), next, at, 0);
        let after = self.b.ins().iadd_imm_s(k, 1);
        self.b.def_var(filled, after);
        let full = self.b.ins().icmp_imm_s(IntCC::Equal, after, adl_math::order::BLOCK as i64);
        let (end, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(end);
        self.b.ins().brif(full, end, &[], go_on, &[]);
        self.b.switch_to_block(end);
        let code = self.int(fold::code(kind, op));
        self.call_words(fold::end_block as *const () as usize, &[state, code], false);
        let zero = self.int(0);
        self.b.def_var(filled, zero);
        self.b.ins().jump(go_on, &[]);
        self.b.switch_to_block(go_on);
    }

    pub(super) fn fold_end(&mut self, dst: Reg, id: FoldId) {
        let (kind, op) = self.func.folds[id.0 as usize];
        let (slot, filled) = self.folds[id.0 as usize];
        let state = self.b.ins().stack_addr(types::I64, slot, 0);
        let (code, k) = (self.int(fold::code(kind, op)), self.b.use_var(filled));
        let word = self.call_words(fold::end as *const () as usize, &[state, code, k], true);
        let word = word.expect("a reduction has a result");
        let value = match kind {
            Kind::F64 => self.b.ins().bitcast(types::F64, MemFlagsData::new(), word),
            Kind::F32 => {
                let bits = self.b.ins().ireduce(types::I32, word);
                self.b.ins().bitcast(types::F32, MemFlagsData::new(), bits)
            }
            Kind::I64 | Kind::I8 => word,
        };
        self.set(dst, value);
    }

    pub(super) fn serve(&mut self, service: u32, args: &[Reg], dsts: &[Reg], site: Site) {
        let place = self.words(args.len() + dsts.len());
        for (k, arg) in args.iter().enumerate() {
            let word = self.word(*arg);
            self.b.ins().store(MemFlagsData::trusted(), word, place, 8 * k as i32);
        }
        let out = self.b.ins().iadd_imm_s(place, 8 * args.len() as i64);
        let number = self.int(i64::from(service));
        let (n_args, n_out) = (self.int(args.len() as i64), self.int(dsts.len() as i64));
        let site = self.int(i64::from(site.0));
        let all = [self.ctx, number, place, n_args, out, n_out, site];
        let status = self.call_words(abi::serve as *const () as usize, &all, true);
        self.fail_unless_zero(status.expect("a service has a status"));
        self.take_words(out, dsts);
    }
}
