//! Derivatives made by `ad` against those that the oracle takes by itself: dual numbers and a tape.

use adl_ad::Derivatives;
use adl_core::ir::{FuncId, Program};
use adl_core::oracle::{self, Nesting, Stop};
use adl_core::parse;
use adl_core::value::{Leaves, Table, Value};
use adl_tests::generate::{arguments, program};
use adl_tests::harness::{float_params, floats, jvp, run, vjp, with_floats};
use proptest::prelude::*;

use crate::derivative::{close, dot, noise};

/// Both form the same products and sums in different orders: hundreds of roundings of tame numbers, whose
/// terms may cancel.
const TOL_REL: f64 = 1e-9;

fn last(p: &Program) -> FuncId {
    FuncId(u32::try_from(p.funcs.len() - 1).expect("few"))
}

/// Equal but for rounding; NaN is a class (`atan2` has no derivative at the origin).
fn all_close(a: &[f64], b: &[f64]) -> bool {
    let alike = |a: f64, b: f64| close(a, b, TOL_REL) || (a.is_nan() && b.is_nan());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(*a, *b))
}

/// The arguments that hold floats.
fn active(p: &Program, f: FuncId, args: &[Value]) -> Vec<Value> {
    args.iter().zip(float_params(p, f)).filter(|(_, on)| *on).map(|(v, _)| v.clone()).collect()
}

/// The values that hold floats.
fn with_some(values: &[Value]) -> Vec<Value> {
    values.iter().filter(|v| !floats(std::slice::from_ref(v)).is_empty()).cloned().collect()
}

/// Values, both modes and their second order, of a function by `ad` and by the oracle.
pub(crate) fn opinions_agree(p: &Program, f: FuncId, args: &[Value]) -> Result<(), String> {
    let agree = |what: &str, ad: &[f64], own: Result<Vec<f64>, Stop>, p: &Program| {
        let own = own.map_err(|stop| format!("{what}: {stop}\n{}", adl_core::print::program(p)))?;
        if all_close(ad, &own) {
            return Ok(());
        }
        Err(format!("{what}: {ad:?}, but the oracle says {own:?}\n{}", adl_core::print::program(p)))
    };
    let mut q = p.clone();
    let mut d = Derivatives::default();
    let (forward, backward) = (jvp(&mut q, &mut d, f), vjp(&mut q, &mut d, f));
    let y = run(&q, f, args).map_err(|error| error.to_string())?.values;
    agree("value", &floats(&y), oracle::run(&q, f, args), &q)?;
    let x = active(&q, f, args);
    let (v, z) = (noise(floats(&x).len(), 5), noise(floats(&x).len(), 6));
    let tangents = with_floats(&x, &mut v.iter().copied());
    let jv = run(&q, forward, &[args, &tangents].concat()).map_err(|error| error.to_string())?.values;
    let jv = floats(&jv);
    if jv.len() != floats(&y).len() {
        return Ok(()); // some result does not depend on the input
    }
    agree("jvp", &jv, oracle::jvp(&q, f, args, &v), &q)?;
    let w = noise(jv.len(), 9);
    let cts = with_floats(&with_some(&y), &mut w.iter().copied());
    let pulled = [args, &cts].concat();
    let jtw = run(&q, backward, &pulled).map_err(|error| error.to_string())?.values;
    agree("vjp", &floats(&jtw), oracle::vjp(&q, f, args, &w), &q)?;

    // The vjp of the vjp: in the input (Σ w_i H_i)·z, in the cotangents J·z.
    let twice = vjp(&mut q, &mut d, backward);
    let mask = float_params(&q, backward);
    let depends = d.reverse(&mut q, backward, &mask).map_err(|error| format!("{error:?}"))?.results;
    // What does not depend on the input takes no cotangent, and its part of `z` meets zeros only.
    let all = with_floats(&jtw, &mut z.iter().copied());
    let seed: Vec<Value> = all.into_iter().zip(depends).filter(|(_, on)| *on).map(|(v, _)| v).collect();
    let found = run(&q, twice, &[&pulled, &seed[..]].concat()).map_err(|error| error.to_string())?.values;
    let found = floats(&found);
    let (in_x, in_w) = found.split_at(v.len());
    for nesting in Nesting::ALL {
        agree(&format!("{nesting:?}"), in_x, oracle::hvp(nesting, &q, f, args, &z, &w), &q)?;
    }
    agree("vjp of vjp, in the cotangent", in_w, oracle::jvp(&q, f, args, &z), &q)?;
    let second = oracle::second_tangent(&q, f, args, &v, &z).map_err(|stop| stop.to_string())?;
    agree("dual over dual", &[dot(in_x, &v)], Ok(vec![dot(&second, &w)]), &q)?;

    // What `ad` made is a program like others: the oracle runs it, too.
    agree("the vjp, run", &floats(&jtw), oracle::run(&q, backward, &pulled), &q)?;
    agree("the vjp of the vjp, by a tape", &found, oracle::vjp(&q, backward, &pulled, &z), &q)
}

/// As many as asked for by PROPTEST_CASES, else 200.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// Two orders by program transformation, by dual numbers and by a tape.
    #[test]
    fn two_opinions_on_random_programs(choices in prop::collection::vec(any::<u8>(), 0..50), n in 1_usize..5, seed: u8) {
        let (p, _) = program(&choices);
        let verdict = opinions_agree(&p, last(&p), &arguments(n, seed));
        prop_assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
    }
}

fn check(text: &str, args: &[Value]) {
    let p = parse::program(text).unwrap_or_else(|e| panic!("{}: {}", e.message, &text[e.at..]));
    opinions_agree(&p, last(&p), args).unwrap_or_else(|why| panic!("{why}"));
}

fn table(xs: &[f64]) -> Value {
    Value::Table(Table::of_f64(xs))
}

fn parsed(text: &str) -> Program {
    parse::program(text).unwrap_or_else(|e| panic!("{}: {}", e.message, &text[e.at..]))
}

#[test]
fn a_loop_downwards_with_collected_values() {
    check(
        "core 1
        fn f(%0: Int, %1: [%0]F64, %2: F64) {
          %3: F64, %4: [%0]F64 = loop %5: F64 = %2 downfor %6 < %0 do {
            %7: F64 = index %1[%6]
            %8: F64 = mul %5, %7
            %9: F64 = sin %8
            yield %9, %8
          }
          %10: F64 = index %4[0]
          %11: F64 = mul %10, %3
          yield %11
        }",
        &[Value::Int(3), table(&[0.5, -0.3, 0.8]), Value::F64(0.9)],
    );
}

#[test]
fn a_sum_with_a_table_inside() {
    check(
        "core 1
        fn f(%0: Int, %1: [%0]F64, %2: F64) {
          %3: Bool = lt %2, 0.5
          %4: <F64 | F64, [%0]F64> = case %3 () {
            %5: <F64 | F64, [%0]F64> = inject 1 (%2, %1) : <F64 | F64, [%0]F64>
            yield %5
          } () {
            %6: <F64 | F64, [%0]F64> = inject 0 (%2) : <F64 | F64, [%0]F64>
            yield %6
          }
          %7: F64 = case %4 (%8: F64) {
            %9: F64 = sin %8
            yield %9
          } (%10: F64, %11: [%0]F64) {
            %12: F64 = contract a,a-> %11, %11
            %13: F64 = mul %12, %10
            yield %13
          }
          yield %7
        }",
        &[Value::Int(3), table(&[0.5, -0.3, 0.8]), Value::F64(0.9)],
    );
}

#[test]
fn a_product_of_matrices() {
    let m = |xs: &[f64]| Value::Table(Table::new(&[2, 2], Leaves::F64(xs.to_vec())));
    check(
        "core 1
        fn f(%0: Int, %1: [%0][%0]F64, %2: [%0][%0]F64) {
          %3: [%0][%0]F64 = contract ab,bc->ac %1, %2
          %4: F64 = contract ab,ba-> %3, %1
          %5: F64 = sin %4
          yield %5
        }",
        &[Value::Int(2), m(&[0.1, -0.2, 0.3, 0.7]), m(&[0.5, 0.2, -0.6, 0.4])],
    );
}

#[test]
fn a_prefix_of_products() {
    check(
        "core 1
        fn f(%0: Int, %1: [%0]F64) {
          %2: [%0]F64 = prefix prod %3 < %0 {
            %4: F64 = index %1[%3]
            yield %4
          }
          %5: F64 = contract a,a-> %2, %2
          yield %5
        }",
        &[Value::Int(3), table(&[0.5, -0.3, 0.8])],
    );
}

/// A product of which one factor, or two, are zero; and an extreme that three share.
#[test]
fn zeros_and_ties() {
    let text = "core 1
        fn f(%0: Int, %1: [%0]F64) {
          %2: F64 = reduce prod %3 < %0 {
            %4: F64 = index %1[%3]
            yield %4
          }
          %5: F64 = reduce min %6 < %0 {
            %7: F64 = index %1[%6]
            %8: F64 = mul %7, %7
            yield %8
          }
          %9: F64 = add %2, %5
          yield %9
        }";
    check(text, &[Value::Int(3), table(&[0.5, 0.0, 0.8])]);
    check(text, &[Value::Int(3), table(&[0.0, 0.0, 0.8])]);
    check(text, &[Value::Int(4), table(&[0.5, -0.5, 0.8, 0.5])]);
}

#[test]
fn known_answers() {
    // f = x³·y at (2, 3).
    let p = parsed(
        "core 1
        fn f(%0: F64, %1: F64) {
          %2: F64 = powi %0, 3
          %3: F64 = mul %2, %1
          yield %3
        }",
    );
    let (f, at) = (last(&p), [Value::F64(2.0), Value::F64(3.0)]);
    assert_eq!(oracle::run(&p, f, &at), Ok(vec![24.0]));
    assert_eq!(oracle::jvp(&p, f, &at, &[1.0, 0.0]), Ok(vec![36.0]));
    assert_eq!(oracle::vjp(&p, f, &at, &[1.0]), Ok(vec![36.0, 8.0]));
    assert_eq!(oracle::second_tangent(&p, f, &at, &[1.0, 0.0], &[1.0, 0.0]), Ok(vec![36.0]));
    for nesting in Nesting::ALL {
        assert_eq!(oracle::hvp(nesting, &p, f, &at, &[1.0, 0.0], &[1.0]), Ok(vec![36.0, 12.0]));
    }
}

#[test]
fn a_custom_reduction() {
    // Composition of affine maps: (a, b) then (c, d) is (c·a, c·b + d).
    let p = parsed(
        "core 1
        fn f(%0: Int, %1: [%0]F64) {
          %2: F64, %3: F64 = reduce custom (1.0, 0.0) (%4: F64, %5: F64; %6: F64, %7: F64) {
            %8: F64 = mul %6, %4
            %9: F64 = mul %6, %5
            %10: F64 = add %9, %7
            yield %8, %10
          } %11 < %0 {
            %12: F64 = index %1[%11]
            %13: F64 = sin %12
            yield %12, %13
          }
          %14: F64 = mul %2, %3
          yield %14
        }",
    );
    opinions_agree(&p, last(&p), &[Value::Int(3), table(&[0.5, -0.3, 0.8])])
        .unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn single_precision_in_a_wide_function() {
    // f = (wide(x))² at x = 0.5: the derivative is 2·0.5, exactly, in either width.
    let p = parsed(
        "core 1
        fn f(%0: F32) {
          %1: F64 = widen %0
          %2: F64 = mul %1, %1
          yield %2
        }",
    );
    let (f, at) = (last(&p), [Value::F32(0.5)]);
    assert_eq!(oracle::jvp(&p, f, &at, &[1.0]), Ok(vec![1.0]));
    assert_eq!(oracle::vjp(&p, f, &at, &[1.0]), Ok(vec![1.0]));
    for nesting in Nesting::ALL {
        assert_eq!(oracle::hvp(nesting, &p, f, &at, &[1.0], &[1.0]), Ok(vec![2.0]));
    }
}

#[test]
fn a_failure_with_the_text_of_a_value() {
    let p = parsed(
        "core 1
        fn f(%0: F64) {
          %1: Str = show _ (%0)
          error(%1)
          yield %0
        }",
    );
    let Err(Stop::Failed(error)) = oracle::jvp(&p, last(&p), &[Value::F64(0.5)], &[1.0]) else {
        panic!("the function fails");
    };
    assert_eq!(error.message, "0.5");
}

#[test]
fn recursion_without_end_is_an_answer() {
    let p = parsed(
        "core 1
        fn f(%0: F64) {
          %1: F64 = call f(%0)
          yield %1
        }",
    );
    assert!(matches!(oracle::vjp(&p, last(&p), &[Value::F64(1.0)], &[1.0]), Err(Stop::NotCovered(_))));
}

#[test]
fn says_why_there_is_no_answer() {
    let p = parsed(
        "core 1
        fn f(%0: Int, %1: [%0]F64) {
          %2: F64 = index? %1[5]
          yield %2
        }",
    );
    let at = [Value::Int(1), table(&[0.5])];
    assert!(matches!(oracle::run(&p, last(&p), &at), Err(Stop::Failed(_))));
    assert_eq!(oracle::jvp(&p, last(&p), &at, &[]), Err(Stop::Count { wanted: 1, given: 0 }));
}
