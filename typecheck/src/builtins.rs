//! The built-in functions: name, type in the words of the language, and what they are in Core.

use adl_core::{
    bulk::{self, Bulk, BulkDef},
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
    /// For people; empty where the row of a primitive says it.
    pub(crate) doc: &'static str,
}

impl Builtin {
    /// The operator rule of a function of two numbers.
    pub(crate) fn arith(&self) -> Option<Arith> {
        let Op::Pairwise(_, int) = self.op else { return None };
        Some(Arith::Lift(self.name, if int.is_some() { Class::Num } else { Class::Floating }))
    }

    /// What it computes, from the row of the primitive where it is one.
    pub(crate) fn doc(&self) -> Option<&'static str> {
        match self.op {
            Op::Lift(def) | Op::LiftNum(def, _) | Op::Prim(def) | Op::Pairwise(def, _) => Some(def.doc),
            Op::Method(_)
            | Op::Const(_)
            | Op::Deriv(_)
            | Op::Convert(_)
            | Op::Size
            | Op::Split
            | Op::IndexKey
            | Op::Trace
            | Op::Error
            | Op::Assert
            | Op::LoadNpy
            | Op::Scan => Some(self.doc).filter(|doc| !doc.is_empty()),
        }
    }

    pub(crate) fn target(&self) -> Option<Ty> {
        if let Op::Convert(scalar) = self.op { Some(con(scalar)) } else { None }
    }
}

const fn row(name: &'static str, signature: &'static str, op: Op) -> Builtin {
    Builtin { name, signature, op, doc: "" }
}

const fn documented(name: &'static str, signature: &'static str, op: Op, doc: &'static str) -> Builtin {
    Builtin { name, signature, op, doc }
}

const fn lift(name: &'static str, def: &'static PrimDef) -> Builtin {
    row(name, "a -> a where Floating(a)", Op::Lift(def))
}

const fn bulk(name: &'static str, signature: &'static str, def: &'static BulkDef) -> Builtin {
    documented(name, signature, Op::Method(Method::Bulk(Bulk(def))), def.doc)
}

const fn ints(name: &'static str, def: &'static PrimDef) -> Builtin {
    row(name, "(Int, Int) -> Int", Op::Prim(def))
}

/// All built-ins.
pub(crate) static TABLE: &[Builtin] = &[
    // ---- scalars
    documented(
        "pi",
        "Float",
        Op::Const(std::f64::consts::PI),
        "The ratio of a circle's circumference to its diameter.",
    ),
    documented("inf", "Float", Op::Const(f64::INFINITY), "Positive infinity."),
    documented("nan", "Float", Op::Const(f64::NAN), "Not a number."),
    documented("float", "", Op::Convert(Con::Float), "A number, truth value or index as a Float."),
    documented("f64", "", Op::Convert(Con::Float), "A number, truth value or index as a Float."),
    documented("f32", "", Op::Convert(Con::F32), "A number, truth value or index as an F32."),
    documented(
        "int",
        "",
        Op::Convert(Con::Int),
        "A number toward zero, or a truth value or index, as an Int.",
    ),
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
    row("_polygamma", "(a, Int) -> a where Floating(a)", Op::Method(Method::Lift(Prim(&prim::POLYGAMMA)))),
    row("lbeta", "", Op::Pairwise(&prim::LBETA, None)),
    row("logaddexp", "", Op::Pairwise(&prim::LOGADDEXP, None)),
    row("is_nan", "a -> Bool where Real(a)", Op::Prim(&prim::IS_NAN)),
    row("is_finite", "a -> Bool where Real(a)", Op::Prim(&prim::IS_FINITE)),
    // ---- tables
    documented(
        "size",
        "",
        Op::Size,
        "The number of elements of an index set that is named in a signature: `size(n)`.",
    ),
    documented(
        "zero",
        "a where Add(a)",
        Op::Method(Method::Zero),
        "The value that adding leaves as it is, of any type with `+`.",
    ),
    documented(
        "one",
        "a where Num(a)",
        Op::Method(Method::One),
        "The value that multiplying leaves as it is.",
    ),
    documented(
        "sum",
        "(n=>a) -> a where Add(a)",
        Op::Method(Method::Sum),
        "The sum over the outermost index set.",
    ),
    documented(
        "prod",
        "(n=>a) -> a where Num(a)",
        Op::Method(Method::Prod),
        "The product over the outermost index set.",
    ),
    documented(
        "minimum",
        "(n=>a) -> a where Ord(a)",
        Op::Method(Method::Minimum),
        "The least element; of nothing it is an error.",
    ),
    documented(
        "maximum",
        "(n=>a) -> a where Ord(a)",
        Op::Method(Method::Maximum),
        "The greatest element; of nothing it is an error.",
    ),
    documented(
        "argmin",
        "(n=>a) -> n where Ord(a)",
        Op::Method(Method::Argmin),
        "The index of the least element, the first of equals.",
    ),
    documented(
        "argmax",
        "(n=>a) -> n where Ord(a)",
        Op::Method(Method::Argmax),
        "The index of the greatest element, the first of equals.",
    ),
    documented("all", "(n=>Bool) -> Bool", Op::Method(Method::All), "Do all hold?"),
    documented("any", "(n=>Bool) -> Bool", Op::Method(Method::Any), "Does any hold?"),
    documented(
        "dot",
        "(a, a) -> Float where Vector(a)",
        Op::Method(Method::Dot),
        "The sum of the products of all float parts.",
    ),
    documented(
        "concat",
        "(n=>a, m=>a) -> Fin(size(n)+size(m))=>a",
        Op::Method(Method::Concat),
        "One table after the other, as `++`.",
    ),
    documented(
        "from_ordinal",
        "Int -> n where Ix(n)",
        Op::Method(Method::FromOrdinal),
        "The index with this ordinal; out of range is an error.",
    ),
    documented(
        "scan",
        "(c, (c, n) -> (c, b)) -> (c, n=>b) where Ix(n)",
        Op::Scan,
        "A loop over an index set that collects what each round gives: the last state, and the table.",
    ),
    // ---- what the library is made of
    documented(
        "_before",
        "(a, a) -> Bool where Ord(a)",
        Op::Method(Method::Before),
        "Does the first come before the second in the total order of sorting, with NaN last?",
    ),
    row("_below", "(Key, Int, Int) -> Int", Op::Prim(&prim::BELOW_AT)),
    row("_parameter", "a -> a where Real(a)", Op::Prim(&prim::PARAMETER)),
    bulk("_cholesky", "(n=>n=>a) -> n=>n=>a where Real(a)", &bulk::CHOLESKY),
    bulk("_lu", "(n=>n=>a) -> (n=>n=>a, n=>n=>a, n=>Int) where Real(a)", &bulk::LU),
    bulk("_qr", "(m=>n=>a) -> (m=>n=>a, n=>n=>a) where Real(a)", &bulk::QR),
    bulk("_svd", "(m=>n=>a) -> (m=>n=>a, n=>a, n=>n=>a) where Real(a)", &bulk::SVD),
    bulk("_eigh", "(n=>n=>a) -> (n=>a, n=>n=>a) where Real(a)", &bulk::EIGH),
    bulk("_tri_solve", "(Int, n=>n=>a, n=>b) -> n=>b where Real(a), Vector(b)", &bulk::TRI_SOLVE),
    // ---- derivatives
    documented(
        "jvp",
        "(a -> b) -> (a, Tangent[a]) -> (b, Tangent[b])",
        Op::Deriv(Deriv::Jvp),
        "The value and the derivative in a direction, by forward mode.",
    ),
    documented(
        "vjp",
        "(a -> b) -> a -> (b, Tangent[b] -o Tangent[a])",
        Op::Deriv(Deriv::Vjp),
        "The value, and the linear map that takes a cotangent of the result back, by reverse mode.",
    ),
    documented(
        "linearize",
        "(a -> b) -> a -> (b, Tangent[a] -o Tangent[b])",
        Op::Deriv(Deriv::Linearize),
        "The value, and the derivative as a linear map.",
    ),
    documented(
        "checkpoint",
        "(a -> b) -> a -> b",
        Op::Deriv(Deriv::Checkpoint),
        "The same function; reverse mode recomputes its inside instead of storing it.",
    ),
    documented(
        "stop_gradient",
        "a -> a",
        Op::Method(Method::StopGradient),
        "The same value, constant to derivatives.",
    ),
    documented("move", "(a, Tangent[a]) -> a", Op::Method(Method::Move), "The value with a tangent added."),
    // ---- random numbers
    row("key", "Int -> Key", Op::Prim(&prim::KEY_NEW)),
    documented("split", "Key -> (Key, Key)", Op::Split, "Two independent keys from one."),
    row("fold_in", "(Key, Int) -> Key", Op::Prim(&prim::FOLD_IN)),
    documented("ixkey", "(Key, i) -> Key", Op::IndexKey, "The key for one index."),
    documented(
        "uniform",
        "Key -> a where Vector(a)",
        Op::Method(Method::Random(false)),
        "Uniform random numbers in [0, 1) of any type made of floats.",
    ),
    documented(
        "normal",
        "Key -> a where Vector(a)",
        Op::Method(Method::Random(true)),
        "Standard normal random numbers of any type made of floats.",
    ),
    // ---- text and effects
    documented("show", "a -> String where Show(a)", Op::Method(Method::Show), "A value as text."),
    documented(
        "trace",
        "(String, a) -> a where Show(a)",
        Op::Trace,
        "Prints a label and a value to the trace, and gives the value.",
    ),
    documented("error", "String -> a", Op::Error, "Ends the program with a message."),
    documented(
        "assert",
        "(Bool, String) -> ()",
        Op::Assert,
        "Ends the program with a message unless the condition holds.",
    ),
    documented("load_npy", "", Op::LoadNpy, "The table in a .npy file; its type comes from the annotation."),
];

/// The lifted primitive of Core.
pub(crate) fn lifted(def: &'static PrimDef) -> Method {
    Method::Lift(Prim(def))
}
