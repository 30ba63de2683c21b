//! The built-in functions: name, type in the words of the language, and what they are in Core.

use adl_core::{
    ir::{Deriv, Method},
    prim::{self, Prim, PrimDef},
};

use crate::{
    constraint::Arith,
    types::{Class, Con, Ty, con},
};

/// What a built-in is.
#[derive(Clone, Copy)]
pub(crate) enum Op {
    /// An overloaded operation of Core.
    Method(Method),
    /// A function of a float, through tables.
    Lift(&'static PrimDef),
    /// The same for floats and for Ints.
    LiftNum(&'static PrimDef, &'static PrimDef),
    /// A primitive of scalars.
    Prim(&'static PrimDef),
    /// A constant.
    Const(f64),
    Deriv(Deriv),
    /// `float int f32 f64`: the scalar they give.
    Convert(Con),
    /// Two numbers that meet tables like the operands of `+`: on floats, on Ints.
    Pairwise(&'static PrimDef, Option<&'static PrimDef>),
    /// `size(n)`
    Size,
    Split,
    IndexKey,
    Trace,
    Error,
    Assert,
    LoadNpy,
    Scan,
}

/// One built-in.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    /// `type where classes`; empty where the checker has a rule of its own.
    pub(crate) signature: &'static str,
    pub(crate) op: Op,
}

impl Builtin {
    /// The operator rule of a function of two numbers.
    pub(crate) fn arith(&self) -> Option<Arith> {
        let Op::Pairwise(_, int) = self.op else { return None };
        Some(Arith::Lift(self.name, if int.is_some() { Class::Num } else { Class::Floating }))
    }

    pub(crate) fn target(&self) -> Option<Ty> {
        if let Op::Convert(scalar) = self.op { Some(con(scalar)) } else { None }
    }
}

const fn row(name: &'static str, signature: &'static str, op: Op) -> Builtin {
    Builtin { name, signature, op }
}

const fn lift(name: &'static str, def: &'static PrimDef) -> Builtin {
    row(name, "a -> a where Floating(a)", Op::Lift(def))
}

const fn ints(name: &'static str, def: &'static PrimDef) -> Builtin {
    row(name, "(Int, Int) -> Int", Op::Prim(def))
}

/// All built-ins.
pub(crate) static TABLE: &[Builtin] = &[
    // ---- scalars
    row("pi", "Float", Op::Const(std::f64::consts::PI)),
    row("inf", "Float", Op::Const(f64::INFINITY)),
    row("nan", "Float", Op::Const(f64::NAN)),
    row("float", "", Op::Convert(Con::Float)),
    row("f64", "", Op::Convert(Con::Float)),
    row("f32", "", Op::Convert(Con::F32)),
    row("int", "", Op::Convert(Con::Int)),
    row("min", "", Op::Pairwise(&prim::MIN, Some(&prim::INT_MIN))),
    row("max", "", Op::Pairwise(&prim::MAX, Some(&prim::INT_MAX))),
    row("atan2", "", Op::Pairwise(&prim::ATAN2, None)),
    row("hypot", "", Op::Pairwise(&prim::HYPOT, None)),
    row("abs", "a -> a where Num(a)", Op::LiftNum(&prim::ABS, &prim::INT_ABS)),
    row("sign", "a -> a where Num(a)", Op::LiftNum(&prim::SIGN, &prim::INT_SIGN)),
    ints("div", &prim::INT_DIV),
    ints("mod", &prim::INT_MOD),
    ints("quot", &prim::INT_QUOT),
    ints("rem", &prim::INT_REM),
    ints("bit_and", &prim::BIT_AND),
    ints("bit_or", &prim::BIT_OR),
    ints("bit_xor", &prim::BIT_XOR),
    row("bit_not", "Int -> Int", Op::Prim(&prim::BIT_NOT)),
    ints("shift_left", &prim::SHL),
    ints("shift_right", &prim::SHR),
    lift("sqrt", &prim::SQRT),
    lift("cbrt", &prim::CBRT),
    lift("exp", &prim::EXP),
    lift("expm1", &prim::EXPM1),
    lift("log", &prim::LOG),
    lift("log1p", &prim::LOG1P),
    lift("log2", &prim::LOG2),
    lift("log10", &prim::LOG10),
    lift("sin", &prim::SIN),
    lift("cos", &prim::COS),
    lift("tan", &prim::TAN),
    lift("asin", &prim::ASIN),
    lift("acos", &prim::ACOS),
    lift("atan", &prim::ATAN),
    lift("sinh", &prim::SINH),
    lift("cosh", &prim::COSH),
    lift("tanh", &prim::TANH),
    lift("asinh", &prim::ASINH),
    lift("acosh", &prim::ACOSH),
    lift("atanh", &prim::ATANH),
    lift("sigmoid", &prim::SIGMOID),
    lift("softplus", &prim::SOFTPLUS),
    lift("relu", &prim::RELU),
    lift("floor", &prim::FLOOR),
    lift("ceil", &prim::CEIL),
    lift("round", &prim::ROUND),
    lift("trunc", &prim::TRUNC),
    lift("erf", &prim::ERF),
    lift("erfc", &prim::ERFC),
    lift("erf_inv", &prim::ERF_INV),
    lift("lgamma", &prim::LGAMMA),
    lift("digamma", &prim::DIGAMMA),
    lift("trigamma", &prim::TRIGAMMA),
    row("is_nan", "a -> Bool where Real(a)", Op::Prim(&prim::IS_NAN)),
    row("is_finite", "a -> Bool where Real(a)", Op::Prim(&prim::IS_FINITE)),
    // ---- tables
    row("size", "", Op::Size),
    row("zero", "a where Add(a)", Op::Method(Method::Zero)),
    row("one", "a where Num(a)", Op::Method(Method::One)),
    row("sum", "(n=>a) -> a where Add(a)", Op::Method(Method::Sum)),
    row("prod", "(n=>a) -> a where Num(a)", Op::Method(Method::Prod)),
    row("minimum", "(n=>a) -> a where Ord(a)", Op::Method(Method::Minimum)),
    row("maximum", "(n=>a) -> a where Ord(a)", Op::Method(Method::Maximum)),
    row("argmin", "(n=>a) -> n where Ord(a)", Op::Method(Method::Argmin)),
    row("argmax", "(n=>a) -> n where Ord(a)", Op::Method(Method::Argmax)),
    row("all", "(n=>Bool) -> Bool", Op::Method(Method::All)),
    row("any", "(n=>Bool) -> Bool", Op::Method(Method::Any)),
    row("dot", "(a, a) -> Float where Vector(a)", Op::Method(Method::Dot)),
    row("concat", "(n=>a, m=>a) -> Fin(size(n)+size(m))=>a", Op::Method(Method::Concat)),
    row("from_ordinal", "Int -> n where Ix(n)", Op::Method(Method::FromOrdinal)),
    row("scan", "(c, (c, n) -> (c, b)) -> (c, n=>b) where Ix(n)", Op::Scan),
    // ---- derivatives
    row("jvp", "(a -> b) -> (a, Tangent[a]) -> (b, Tangent[b])", Op::Deriv(Deriv::Jvp)),
    row("vjp", "(a -> b) -> a -> (b, Tangent[b] -o Tangent[a])", Op::Deriv(Deriv::Vjp)),
    row("linearize", "(a -> b) -> a -> (b, Tangent[a] -o Tangent[b])", Op::Deriv(Deriv::Linearize)),
    row("checkpoint", "(a -> b) -> a -> b", Op::Deriv(Deriv::Checkpoint)),
    row("stop_gradient", "a -> a", Op::Method(Method::StopGradient)),
    row("move", "(a, Tangent[a]) -> a", Op::Method(Method::Move)),
    // ---- random numbers
    row("key", "Int -> Key", Op::Prim(&prim::KEY_NEW)),
    row("split", "Key -> (Key, Key)", Op::Split),
    row("fold_in", "(Key, Int) -> Key", Op::Prim(&prim::FOLD_IN)),
    row("ixkey", "(Key, i) -> Key", Op::IndexKey),
    row("uniform", "Key -> a where Vector(a)", Op::Method(Method::Random(false))),
    row("normal", "Key -> a where Vector(a)", Op::Method(Method::Random(true))),
    // ---- text and effects
    row("show", "a -> String where Show(a)", Op::Method(Method::Show)),
    row("trace", "(String, a) -> a where Show(a)", Op::Trace),
    row("error", "String -> a", Op::Error),
    row("assert", "(Bool, String) -> ()", Op::Assert),
    row("load_npy", "", Op::LoadNpy),
];

/// The lifted primitive of Core.
pub(crate) fn lifted(def: &'static PrimDef) -> Method {
    Method::Lift(Prim(def))
}
