//! The names of methods and derivative operators in Core text; printer and parser share them.

use crate::ir::{Deriv, Method};

/// The word of a method; that of a primitive is followed by its row.
pub(crate) fn method_name(m: Method) -> &'static str {
    match m {
        Method::Add => "Add",
        Method::Sub => "Sub",
        Method::Neg => "Neg",
        Method::Mul => "Mul",
        Method::Div => "Div",
        Method::Rem => "Rem",
        Method::Pow => "Pow",
        Method::PowInt => "PowInt",
        Method::Zero => "Zero",
        Method::One => "One",
        Method::Lit => "Lit",
        Method::Lift(_) => "Lift",
        Method::Eq => "Eq",
        Method::Lt => "Lt",
        Method::Le => "Le",
        Method::MatMul => "MatMul",
        Method::Show => "Show",
        Method::Ordinal => "Ordinal",
        Method::FromOrdinal => "FromOrdinal",
        Method::Sum => "Sum",
        Method::Prod => "Prod",
        Method::Minimum => "Minimum",
        Method::Maximum => "Maximum",
        Method::Argmin => "Argmin",
        Method::Argmax => "Argmax",
        Method::All => "All",
        Method::Any => "Any",
        Method::Dot => "Dot",
        Method::Move => "Move",
        Method::Random(false) => "Uniform",
        Method::Random(true) => "Normal",
        Method::StopGradient => "StopGradient",
        Method::Concat => "Concat",
        Method::Before => "Before",
        Method::Bulk(_) => "Bulk",
    }
}

/// All methods but the lifted primitives.
const PLAIN: &[Method] = &[
    Method::Add,
    Method::Sub,
    Method::Neg,
    Method::Mul,
    Method::Div,
    Method::Rem,
    Method::Pow,
    Method::PowInt,
    Method::Zero,
    Method::One,
    Method::Lit,
    Method::Eq,
    Method::Lt,
    Method::Le,
    Method::MatMul,
    Method::Show,
    Method::Ordinal,
    Method::FromOrdinal,
    Method::Sum,
    Method::Prod,
    Method::Minimum,
    Method::Maximum,
    Method::Argmin,
    Method::Argmax,
    Method::All,
    Method::Any,
    Method::Dot,
    Method::Move,
    Method::Random(false),
    Method::Random(true),
    Method::StopGradient,
    Method::Concat,
    Method::Before,
];

/// The method of this name, if it is one without a primitive.
pub(crate) fn method_of(name: &str) -> Option<Method> {
    PLAIN.iter().copied().find(|m| method_name(*m) == name)
}

/// The name of a derivative operator.
pub(crate) fn deriv_name(kind: Deriv) -> &'static str {
    match kind {
        Deriv::Jvp => "jvp",
        Deriv::Vjp => "vjp",
        Deriv::Linearize => "linearize",
        Deriv::Checkpoint => "checkpoint",
    }
}

/// The derivative operator of this name.
pub(crate) fn deriv_of(name: &str) -> Option<Deriv> {
    let all = [Deriv::Jvp, Deriv::Vjp, Deriv::Linearize, Deriv::Checkpoint];
    all.into_iter().find(|d| deriv_name(*d) == name)
}
