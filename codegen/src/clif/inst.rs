//! Scalar instructions in machine code. Each gives the bits that the row of its primitive says.

use adl_core::prim::{Inst, Kernel};
use adl_core::ty::Scalar;
use cranelift::prelude::{FloatCC, InstBuilder, IntCC, Type, Value, types};

use super::Emit;
use crate::abi;
use crate::loops::{Fail, Site};

/// The type of a kernel's result and the address of the function, for a first operand of this type.
pub(super) fn address(kernel: Kernel, first: Type) -> (Type, usize) {
    let is_single = first == types::F32;
    let float = if is_single { types::F32 } else { types::F64 };
    match kernel {
        Kernel::F1(wide, narrow) => (float, if is_single { narrow as usize } else { wide as usize }),
        Kernel::F2(wide, narrow) => (float, if is_single { narrow as usize } else { wide as usize }),
        Kernel::FInt(wide, narrow) => (float, if is_single { narrow as usize } else { wide as usize }),
        Kernel::I1(f) => (types::I64, f as usize),
        Kernel::I2(f) => (types::I64, f as usize),
        Kernel::I3(f) => (types::I64, f as usize),
        Kernel::I2F(f) => (types::F64, f as usize),
        Kernel::Inst(_) | Kernel::StrCat => unreachable!("lowered to an instruction or a service"),
    }
}

impl Emit<'_, '_> {
    #[expect(clippy::too_many_lines, reason = "one arm an instruction")]
    pub(super) fn inst(&mut self, inst: Inst, of: Scalar, x: &[Value], site: Site) -> Value {
        let is_float = of.is_float();
        match inst {
            Inst::Add if is_float => self.b.ins().fadd(x[0], x[1]),
            Inst::Add => self.b.ins().iadd(x[0], x[1]),
            Inst::Sub if is_float => self.b.ins().fsub(x[0], x[1]),
            Inst::Sub => self.b.ins().isub(x[0], x[1]),
            Inst::Mul if is_float => self.b.ins().fmul(x[0], x[1]),
            Inst::Mul => self.b.ins().imul(x[0], x[1]),
            Inst::Div => self.b.ins().fdiv(x[0], x[1]),
            Inst::Neg if is_float => self.b.ins().fneg(x[0]),
            Inst::Neg => self.b.ins().ineg(x[0]),
            Inst::Abs if is_float => self.b.ins().fabs(x[0]),
            Inst::Abs => {
                let negated = self.b.ins().ineg(x[0]);
                let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, x[0], 0);
                self.b.ins().select(negative, negated, x[0])
            }
            Inst::Sqrt => self.b.ins().sqrt(x[0]),
            Inst::IntDiv => self.divide(x, site, true).0,
            Inst::IntMod => self.divide(x, site, true).1,
            Inst::IntQuot => self.divide(x, site, false).0,
            Inst::IntRem => self.divide(x, site, false).1,
            Inst::IntPow => {
                let zero = self.b.ins().icmp_imm_s(IntCC::Equal, x[0], 0);
                let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, x[1], 0);
                let none = self.b.ins().band(zero, negative);
                self.fail_if(none, Fail::DivisionByZero, &[], site);
                let power = self.call_words(abi::int_pow as *const () as usize, x, true);
                power.expect("a power has a result")
            }
            Inst::IntMin => self.b.ins().smin(x[0], x[1]),
            Inst::IntMax => self.b.ins().smax(x[0], x[1]),
            Inst::IntSign => {
                let above = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, x[0], 0);
                let below = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, x[0], 0);
                let (above, below) =
                    (self.b.ins().uextend(types::I64, above), self.b.ins().uextend(types::I64, below));
                self.b.ins().isub(above, below)
            }
            Inst::Eq if is_float => self.b.ins().fcmp(FloatCC::Equal, x[0], x[1]),
            Inst::Eq => self.b.ins().icmp(IntCC::Equal, x[0], x[1]),
            Inst::Ne if is_float => self.b.ins().fcmp(FloatCC::NotEqual, x[0], x[1]),
            Inst::Ne => self.b.ins().icmp(IntCC::NotEqual, x[0], x[1]),
            Inst::Lt if is_float => self.b.ins().fcmp(FloatCC::LessThan, x[0], x[1]),
            Inst::Lt => self.b.ins().icmp(IntCC::SignedLessThan, x[0], x[1]),
            Inst::Le if is_float => self.b.ins().fcmp(FloatCC::LessThanOrEqual, x[0], x[1]),
            Inst::Le => self.b.ins().icmp(IntCC::SignedLessThanOrEqual, x[0], x[1]),
            Inst::And => self.b.ins().band(x[0], x[1]),
            Inst::Or => self.b.ins().bor(x[0], x[1]),
            Inst::Xor => self.b.ins().bxor(x[0], x[1]),
            Inst::Not if of == Scalar::Bool => self.b.ins().bxor_imm_s(x[0], 1),
            Inst::Not => self.b.ins().bnot(x[0]),
            Inst::ToF64 => self.double_of(of, x[0]),
            Inst::ToF32 => self.single_of(of, x[0]),
            Inst::ToInt => self.whole_of(of, x[0], site),
            Inst::IsNan => self.b.ins().fcmp(FloatCC::Unordered, x[0], x[0]),
            Inst::IsFinite => {
                let size = self.b.ins().fabs(x[0]);
                let infinity = if of == Scalar::F32 {
                    self.b.ins().f32const(f32::INFINITY)
                } else {
                    self.b.ins().f64const(f64::INFINITY)
                };
                self.b.ins().fcmp(FloatCC::LessThan, size, infinity)
            }
            Inst::Copy => x[0],
            Inst::Shl => {
                let by = self.b.ins().band_imm_s(x[1], 63);
                self.b.ins().ishl(x[0], by)
            }
            Inst::Shr => {
                let by = self.b.ins().band_imm_s(x[1], 63);
                self.b.ins().sshr(x[0], by)
            }
        }
    }

    /// Quotient and remainder, floored or truncated. Division by -1 is negation, which does not trap.
    fn divide(&mut self, x: &[Value], site: Site, floor: bool) -> (Value, Value) {
        let zero = self.b.ins().icmp_imm_s(IntCC::Equal, x[1], 0);
        self.fail_if(zero, Fail::DivisionByZero, &[], site);
        let by_minus_one = self.b.ins().icmp_imm_s(IntCC::Equal, x[1], -1);
        let one = self.int(1);
        let divisor = self.b.ins().select(by_minus_one, one, x[1]);
        let quotient = self.b.ins().sdiv(x[0], divisor);
        let negated = self.b.ins().ineg(x[0]);
        let quotient = self.b.ins().select(by_minus_one, negated, quotient);
        let product = self.b.ins().imul(quotient, x[1]);
        let rest = self.b.ins().isub(x[0], product);
        if !floor {
            return (quotient, rest);
        }
        let signs = self.b.ins().bxor(rest, x[1]);
        let differ = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
        let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
        let adjust = self.b.ins().band(differ, some);
        let less = self.b.ins().iadd_imm_s(quotient, -1);
        let more = self.b.ins().iadd(rest, x[1]);
        (self.b.ins().select(adjust, less, quotient), self.b.ins().select(adjust, more, rest))
    }

    fn double_of(&mut self, of: Scalar, x: Value) -> Value {
        match of {
            Scalar::F64 => x,
            Scalar::F32 => self.b.ins().fpromote(types::F64, x),
            Scalar::Bool => {
                let wide = self.b.ins().uextend(types::I64, x);
                self.b.ins().fcvt_from_sint(types::F64, wide)
            }
            Scalar::Int | Scalar::Str | Scalar::Key => self.b.ins().fcvt_from_sint(types::F64, x),
        }
    }

    fn single_of(&mut self, of: Scalar, x: Value) -> Value {
        match of {
            Scalar::F32 => x,
            Scalar::F64 => self.b.ins().fdemote(types::F32, x),
            Scalar::Bool => {
                let wide = self.b.ins().uextend(types::I64, x);
                self.b.ins().fcvt_from_sint(types::F32, wide)
            }
            Scalar::Int | Scalar::Str | Scalar::Key => self.b.ins().fcvt_from_sint(types::F32, x),
        }
    }

    fn whole_of(&mut self, of: Scalar, x: Value, site: Site) -> Value {
        if of == Scalar::Bool {
            return self.b.ins().uextend(types::I64, x);
        }
        if !of.is_float() {
            return x;
        }
        let x = self.double_of(of, x);
        // -2^63 fits and 2^63 does not; NaN is in no range.
        let (low, high) = (
            self.b.ins().f64const(-9.223_372_036_854_776e18),
            self.b.ins().f64const(9.223_372_036_854_776e18),
        );
        let above = self.b.ins().fcmp(FloatCC::LessThanOrEqual, low, x);
        let below = self.b.ins().fcmp(FloatCC::LessThan, x, high);
        let fits = self.b.ins().band(above, below);
        let outside = self.b.ins().bxor_imm_s(fits, 1);
        let bits = self.b.ins().bitcast(types::I64, cranelift::prelude::MemFlagsData::new(), x);
        self.fail_if(outside, Fail::Conversion, &[bits], site);
        self.b.ins().fcvt_to_sint_sat(types::I64, x)
    }
}
