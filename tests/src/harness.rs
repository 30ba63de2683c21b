//! Derivatives of a first-order function as first-order functions of their own, and numbers in values.

use adl_ad::{Derivatives, Reverse, acc_mode};
use adl_core::build::Builder;
use adl_core::host::Closed;
use adl_core::interp::{Interp, Outcome};
use adl_core::ir::{Atom, Expr, Func, FuncId, Program, Var};
use adl_core::linear::{self, Class};
use adl_core::lint;
use adl_core::run::{Limits, RuntimeError};
use adl_core::ty::Ty;
use adl_core::value::{Leaves, Table, Value};
use adl_core::walk::{Subst, rename_var, subst_ty};

/// Which parameters hold floats.
pub fn float_params(p: &Program, f: FuncId) -> Vec<bool> {
    p.funcs[f.0 as usize].params.iter().map(|v| v.ty().is_active()).collect()
}

fn push(p: &mut Program, func: Func) -> FuncId {
    let id = FuncId(u32::try_from(p.funcs.len()).expect("few functions"));
    p.funcs.push(func);
    id
}

/// A function from the parameters of `f` and the cotangents of its active results to the cotangents of its
/// active parameters.
pub fn vjp(p: &mut Program, d: &mut Derivatives, f: FuncId) -> FuncId {
    let mask = float_params(p, f);
    let made = d.reverse(p, f, &mask).expect("the function has a derivative");
    let primal = p.funcs[f.0 as usize].clone();
    is_linear(p, &made);
    let (fwd, bwd) = (p.funcs[made.fwd.0 as usize].clone(), p.funcs[made.bwd.0 as usize].clone());
    let mut map = Subst::new();
    let mut params: Vec<Var> = primal.params.iter().map(|v| rename_var(v, &mut map)).collect();
    let mut b = Builder::default();
    let args: Vec<Atom> = params.iter().map(Atom::from).collect();
    let outs = b.call(made.fwd, &fwd, args.clone());
    let n = primal.body.results.len();
    let mut bwd_args = outs[n..].to_vec();
    for (r, active) in primal.body.results.iter().zip(&made.results) {
        if *active {
            let ct = Var::new(subst_ty(&r.ty().tangent().expect("active"), &map));
            bwd_args.push((&ct).into());
            params.push(ct);
        }
    }
    let mut accs = vec![];
    for (v, _) in params.clone().iter().zip(&mask).filter(|(_, on)| **on) {
        if acc_mode(v.ty()) {
            let t = v.ty().tangent().expect("active");
            let acc = b.bind(Ty::Acc(Box::new(t.clone())), Expr::AccNew(t));
            accs.push(acc.clone());
            bwd_args.push(acc);
        }
    }
    let mut cts = b.call(made.bwd, &bwd, bwd_args).into_iter();
    let mut accs = accs.into_iter();
    let mut results = vec![];
    for (v, _) in params.clone().iter().zip(&mask).filter(|(_, on)| **on) {
        results.push(if acc_mode(v.ty()) {
            let acc = accs.next().expect("one accumulator each");
            b.bind(v.ty().tangent().expect("active"), Expr::AccFreeze(acc))
        } else {
            cts.next().expect("one cotangent each")
        });
    }
    let body = b.finish(results);
    push(p, Func { name: format!("{}_vjp", primal.name), tparams: vec![], params, body, span: primal.span })
}

/// A backward function is linear in everything but its residuals.
fn is_linear(p: &Program, made: &Reverse) {
    let n = p.funcs[made.bwd.0 as usize].params.len();
    let class = |k: usize| if k < made.n_residuals { Class::Ordinary } else { Class::Linear };
    let classes: Vec<Class> = (0..n).map(class).collect();
    if let Err(v) = linear::check(p, made.bwd, &classes) {
        panic!("{}: {}\n{}", v.rule, v.message, adl_core::print::program(p));
    }
}

/// The forward-mode derivative: parameters, tangents of the active ones; tangents of active results only.
pub fn jvp(p: &mut Program, d: &mut Derivatives, f: FuncId) -> FuncId {
    let mask = float_params(p, f);
    let made = d.forward(p, f, &mask).expect("the function has a derivative");
    let mut func = p.funcs[made.func.0 as usize].clone();
    let n = p.funcs[f.0 as usize].body.results.len();
    let mut map = Subst::new();
    let params = func.params.iter().map(|v| rename_var(v, &mut map)).collect::<Vec<_>>();
    let mut b = Builder::default();
    let outs = b.call(made.func, &func, params.iter().map(Atom::from).collect());
    func =
        Func { params, body: b.finish(outs[n..].to_vec()), name: format!("{}_tangent", func.name), ..func };
    push(p, func)
}

/// Runs a function after the whole program has been checked.
///
/// # Panics
///
/// If the program breaks an invariant of Core.
pub fn run(p: &Program, f: FuncId, args: &[Value]) -> Result<Outcome, RuntimeError> {
    if let Err(v) = lint::program(p) {
        panic!("{}: {}\n{}", v.rule, v.message, adl_core::print::program(p));
    }
    Interp::new(p).run(f, args.to_vec(), &mut Closed::default(), &Limits::default())
}

/// All floats in these values, in order.
pub fn floats(values: &[Value]) -> Vec<f64> {
    let mut out = vec![];
    for v in values {
        match v {
            Value::F64(x) => out.push(*x),
            Value::F32(x) => out.push(f64::from(*x)),
            Value::Table(t) => (0..t.len()).for_each(|i| out.extend(floats(&[t.leaf(i)]))),
            Value::Sum(s) => out.extend(floats(&s.payload)),
            Value::Pack(b) => out.extend(floats(&b.items)),
            Value::Int(_) | Value::Bool(_) | Value::Str(_) | Value::Key(_) | Value::Box(_) => {}
        }
    }
    out
}

/// The values with their floats replaced in order.
pub fn with_floats(values: &[Value], floats: &mut impl Iterator<Item = f64>) -> Vec<Value> {
    values
        .iter()
        .map(|v| match v {
            Value::F64(_) => Value::F64(floats.next().expect("enough floats")),
            Value::Table(t) if t.f64s().is_some() => {
                let new: Vec<f64> = (0..t.len()).map(|_| floats.next().expect("enough floats")).collect();
                Value::Table(Table::new(t.dims(), Leaves::F64(new)))
            }
            Value::F32(_)
            | Value::Int(_)
            | Value::Bool(_)
            | Value::Str(_)
            | Value::Key(_)
            | Value::Table(_)
            | Value::Sum(_)
            | Value::Pack(_)
            | Value::Box(_) => v.clone(),
        })
        .collect()
}
