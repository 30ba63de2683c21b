//! The primitive table, row by row: a new row is covered without a new test.

use std::collections::HashSet;

use adl_ad::Derivatives;
use adl_core::build::Builder;
use adl_core::ir::{Atom, Func, FuncId, Program, Var};
use adl_core::prim::{self, Diff, Prim, S};
use adl_core::ty::{Scalar, Ty};
use adl_core::value::Value;
use adl_tests::harness::{floats, jvp, run};

use crate::derivative::check_orders;

/// A function that applies the row to parameters of these types.
fn call_of(p: Prim, scalars: &[Scalar]) -> Program {
    let params: Vec<Var> = scalars.iter().map(|s| Var::new(Ty::Scalar(*s))).collect();
    let args: Vec<Atom> = params.iter().map(Atom::from).collect();
    let mut b = Builder::default();
    let y = b.prim(p.0, &args);
    let name = p.0.name.to_string();
    let func = Func { name, tparams: vec![], params, body: b.finish(vec![y]), span: Default::default() };
    Program { funcs: vec![func], ..Program::default() }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "samples are small")]
fn value(s: Scalar, x: f64) -> Value {
    match s {
        Scalar::F64 => Value::F64(x),
        Scalar::F32 => Value::F32(x as f32),
        Scalar::Int => Value::Int(x.round() as i64),
        Scalar::Bool => Value::Bool(x > 0.5),
        Scalar::Str => Value::Str(x.to_string().into()),
        Scalar::Key => Value::Key(x.abs() as u64),
    }
}

/// Each operand gets points of its own: with equal ones, a rule that confuses operands passes.
fn point(p: Prim, k: usize) -> Vec<f64> {
    let at = |(j, (lo, hi)): (usize, &(f64, f64))| {
        let t = [0.13, 0.41, 0.77, 0.93][(k + 2 * j) % 4];
        lo + (hi - lo) * t
    };
    p.0.sample.iter().enumerate().map(at).collect()
}

#[test]
fn rows_are_complete_and_have_names_of_their_own() {
    let mut names = HashSet::new();
    for p in prim::table() {
        assert!(names.insert(p.0.name), "two rows are called `{}`", p.0.name);
        assert!(p.0.is_complete(), "`{}` says too little about its derivative", p.0.name);
        assert_eq!(p.0.sample.len(), p.0.arity(), "`{}` needs a sample an operand", p.0.name);
        assert!(p.0.doc.ends_with('.') && 0 < p.0.cost, "`{}` lacks a document or a cost", p.0.name);
        assert_eq!(prim::by_name(p.0.name), Some(p));
    }
}

#[test]
fn every_derivative_agrees_with_differences_in_both_modes_to_second_order() {
    let mut reached = 0;
    for p in prim::table() {
        let Diff::Partials(_) = p.0.diff else { continue };
        for scalars in p.0.instances().into_iter().filter(|s| s[0] == Scalar::F64) {
            if p.0.result(&scalars) != Some(Scalar::F64) {
                continue;
            }
            let program = call_of(p, &scalars);
            for k in 0..4 {
                let args: Vec<Value> = scalars.iter().zip(point(p, k)).map(|(s, x)| value(*s, x)).collect();
                if p.0.name == "digamma" {
                    crate::derivative::check_modes(&program, FuncId(0), &args, 1);
                } else {
                    check_orders(&program, FuncId(0), &args);
                }
                reached += 1;
            }
        }
    }
    assert!(150 < reached, "only {reached} points");
}

#[test]
fn edge_points_have_the_values_and_partials_that_rows_state() {
    let agrees = |x: f64, y: f64| x.is_nan() && y.is_nan() || x == y || (x - y).abs() <= 4e-16 * x.abs();
    for p in prim::table() {
        let scalars = p.0.instances().swap_remove(0);
        for edge in p.0.edges {
            let args: Vec<Value> = scalars.iter().zip(edge.at).map(|(s, x)| value(*s, *x)).collect();
            let program = call_of(p, &scalars);
            let y = run(&program, FuncId(0), &args).expect("edges do not fail").values.swap_remove(0);
            let y = match (y.as_bool(), y.as_int()) {
                (Some(b), _) => f64::from(u8::from(b)),
                (_, Some(k)) => k as f64,
                (None, None) => floats(&[y])[0],
            };
            assert!(agrees(y, edge.value), "{}{:?} = {y}, not {}", p.0.name, edge.at, edge.value);
            for (k, want) in edge.partials.iter().enumerate() {
                if scalars[k] != Scalar::F64 {
                    continue;
                }
                let mut q = program.clone();
                let forward = jvp(&mut q, &mut Derivatives::default(), FuncId(0));
                let n_floats = scalars.iter().filter(|s| s.is_float()).count();
                let tangents: Vec<Value> =
                    (0..n_floats).map(|j| Value::F64(f64::from(u8::from(j == k)))).collect();
                // With a zero tangent an infinite partial of another operand gives 0·∞.
                if edge.partials.iter().any(|p| p.is_infinite()) && 1 < n_floats {
                    continue;
                }
                let d = floats(&run(&q, forward, &[&args[..], &tangents].concat()).expect("runs").values)[0];
                assert!(agrees(d, *want), "∂{k} {}{:?} = {d}, not {want}", p.0.name, edge.at);
            }
        }
    }
}

#[test]
fn f32_rows_are_close_to_their_f64_form() {
    for p in prim::table() {
        let [wide, narrow] =
            [Scalar::F64, Scalar::F32].map(|s| p.0.instances().into_iter().find(|i| i[0] == s));
        let (Some(wide), Some(narrow)) = (wide, narrow) else { continue };
        for k in 0..4 {
            let apply = |scalars: &[Scalar]| {
                let args: Vec<Value> = scalars.iter().zip(point(p, k)).map(|(s, x)| value(*s, x)).collect();
                run(&call_of(p, scalars), FuncId(0), &args).expect("runs").values.swap_remove(0)
            };
            let (a, b) = (apply(&wide), apply(&narrow));
            match (&a, &b) {
                (Value::F64(x), Value::F32(y)) => {
                    let y = f64::from(*y);
                    // Operands are rounded to 24 bits; samples keep conditions moderate.
                    assert!((x - y).abs() <= 1e-4 * (1.0 + x.abs()), "{}: {x} and {y}", p.0.name);
                }
                _ => assert!(a.same(&b), "{}: {a:?} and {b:?}", p.0.name),
            }
        }
    }
    // The meaning on scalars is one function for all executors.
    assert!(matches!(prim::ADD.apply(&[S::Int(i64::MAX), S::Int(1)]), Ok(S::Int(i64::MIN))));
}
