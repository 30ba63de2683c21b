//! Parameters of programs: what they are, and values for them from the command line.

use std::collections::HashMap;

use adl_core::ir::{ItemKind, Program, Var};
use adl_core::ty::Scalar;
use adl_core::value::Value;
use adl_diag::{Code, Diagnostic, nearest};
use adl_syntax::ast::ItemKind as Syntax;

use crate::session::Session;

/// What a program says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manual {
    /// The first documentation comment that does not belong to a parameter.
    pub docs: Option<String>,
    /// Its parameters in order.
    pub params: Vec<Parameter>,
}

/// A `param`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, without `--`.
    pub name: String,
    /// Its type, as it is written.
    pub ty: String,
    /// What gives its value where the command line does not, as it is written.
    pub default: String,
    /// Its documentation.
    pub docs: Option<String>,
}

impl Session {
    /// What a program says of itself; it is not run.
    ///
    /// # Errors
    ///
    /// What does not parse.
    pub fn manual(&mut self, name: &str, text: &str) -> Result<Manual, Vec<Diagnostic>> {
        let file = self.sources.add(name, text);
        let (module, diagnostics) = adl_syntax::parse(file, text);
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(diagnostics);
        }
        let mut manual = Manual { docs: None, params: vec![] };
        for item in module.items {
            if let Syntax::Param(p) = item.kind {
                let written = |span: adl_diag::Span| text[span.start as usize..span.end as usize].to_string();
                manual.params.push(Parameter {
                    ty: written(p.ty.span),
                    default: written(p.default.span),
                    name: p.name.text,
                    docs: item.docs,
                });
            } else if manual.docs.is_none() {
                manual.docs = item.docs;
            }
        }
        Ok(manual)
    }
}

/// The values that the command line gives to the parameters of a program; the last of several counts.
pub(crate) fn given(
    args: &[(String, Option<String>)],
    program: &Program,
) -> Result<HashMap<Var, Value>, Vec<Diagnostic>> {
    let known: Vec<(&str, &Var)> = program
        .items
        .iter()
        .filter_map(|i| if let ItemKind::Param(name, v) = &i.kind { Some((name.as_str(), v)) } else { None })
        .collect();
    let mut out = HashMap::new();
    let mut wrong = vec![];
    for (name, text) in args {
        let Some((_, var)) = known.iter().find(|(known, _)| known == name) else {
            wrong.push(unknown(name, &known));
            continue;
        };
        let scalar = var.ty().scalar().expect("parameters are scalars");
        match value(scalar, text.as_deref()) {
            Some(value) => drop(out.insert((*var).clone(), value)),
            None => wrong.push(misfit(name, scalar, text.as_deref())),
        }
    }
    if wrong.is_empty() { Ok(out) } else { Err(wrong) }
}

/// The value that a word stands for; without one a Bool is true.
fn value(scalar: Scalar, text: Option<&str>) -> Option<Value> {
    let Some(text) = text else { return (scalar == Scalar::Bool).then_some(Value::Bool(true)) };
    let digits = text.replace('_', "");
    match scalar {
        Scalar::F64 => digits.parse().ok().map(Value::F64),
        Scalar::F32 => digits.parse().ok().map(Value::F32),
        Scalar::Int => match digits.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok().map(Value::Int),
            None => digits.parse().ok().map(Value::Int),
        },
        Scalar::Bool => text.parse().ok().map(Value::Bool),
        Scalar::Str => Some(Value::Str(text.into())),
        Scalar::Key => None,
    }
}

fn unknown(name: &str, known: &[(&str, &Var)]) -> Diagnostic {
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `--{near}`?"),
        None if names.is_empty() => "it has none; declare one with `param name: Float = 1.0`".to_string(),
        None => format!("its parameters are: --{}", names.join(", --")),
    };
    Diagnostic::error(Code::E0901, format!("the program has no parameter `--{name}`")).help(help)
}

fn misfit(name: &str, scalar: Scalar, text: Option<&str>) -> Diagnostic {
    let (what, example) = match scalar {
        Scalar::F64 | Scalar::F32 => ("a number", format!("--{name} 0.5")),
        Scalar::Int => ("a whole number of 64 bits", format!("--{name} 100")),
        Scalar::Bool => ("`true` or `false`", format!("--{name}` or `--{name}=false")),
        Scalar::Str | Scalar::Key => ("a text", format!("--{name}=text")),
    };
    let given = text.map_or("nothing is given".to_string(), |t| format!("`{t}` is not"));
    Diagnostic::error(Code::E0901, format!("`--{name}` takes {what}, and {given}"))
        .help(format!("for example `{example}`"))
}
