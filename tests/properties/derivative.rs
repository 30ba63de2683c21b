//! Derivatives of Core programs: both modes against each other and against differences, to second order.

use adl_ad::Derivatives;
use adl_core::ir::{FuncId, Program};
use adl_core::parse;
use adl_core::value::{Table, Value};
use adl_tests::harness::{float_params, floats, jvp, run, vjp, with_floats};

/// Numbers without pattern, the same each time.
pub(crate) fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64 * 1.6 - 0.8
        })
        .collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many numbers");
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub(crate) fn close(a: f64, b: f64, tol: f64) -> bool {
    (a - b).abs() <= tol * (1.0 + a.abs().max(b.abs()))
}

fn floats_of_params(p: &Program, f: FuncId, args: &[Value]) -> Vec<Value> {
    args.iter().zip(float_params(p, f)).filter(|(_, on)| *on).map(|(v, _)| v.clone()).collect()
}

/// Checks `f` at `args`: jvp against central differences, and vjp against jvp.
pub(crate) fn check_modes(p: &Program, f: FuncId, args: &[Value], seed: u64) {
    let mut p = p.clone();
    let mut d = Derivatives::default();
    let (fwd, bwd) = (jvp(&mut p, &mut d, f), vjp(&mut p, &mut d, f));
    let name = p.funcs[f.0 as usize].name.clone();
    let y = run(&p, f, args).expect("runs").values;
    let x = floats_of_params(&p, f, args);
    let v = noise(floats(&x).len(), seed);
    let tangents = with_floats(&x, &mut v.iter().copied());
    let jv = floats(&run(&p, fwd, &[args, &tangents].concat()).expect("runs").values);
    // Only results with floats that depend on the input have tangents: all of them in these programs.
    let ys: Vec<Value> = y.iter().filter(|v| !floats(std::slice::from_ref(v)).is_empty()).cloned().collect();
    let w = noise(floats(&ys).len(), seed + 1);
    let cts = with_floats(&ys, &mut w.iter().copied());
    let jtw = floats(&run(&p, bwd, &[args, &cts].concat()).expect("runs").values);
    let h = 1e-6;
    let shifted = |step: f64| {
        let mut moved = floats(&x).into_iter().zip(&v).map(|(x, v)| x + step * v);
        let all: Vec<Value> = args
            .iter()
            .zip(float_params(&p, f))
            .map(
                |(a, on)| {
                    if on { with_floats(std::slice::from_ref(a), &mut moved).remove(0) } else { a.clone() }
                },
            )
            .collect();
        floats(&run(&p, f, &all).expect("runs").values)
    };
    let (up, down) = (shifted(h), shifted(-h));
    for ((u, l), t) in up.iter().zip(&down).zip(&jv) {
        let slope = (u - l) / (2.0 * h);
        assert!(close(slope, *t, 1e-5), "{name}: differences say {slope}, jvp says {t}");
    }
    assert!(
        close(dot(&jv, &w), dot(&v, &jtw), 1e-10),
        "{name}: ⟨Jv, w⟩ = {} but ⟨v, Jᵀw⟩ = {}",
        dot(&jv, &w),
        dot(&v, &jtw)
    );
}

/// A program's last function, checked, and its gradient function checked in turn.
fn check(text: &str, args: &[Value]) {
    let p = parse::program(text).unwrap_or_else(|e| panic!("{}: {}", e.message, &text[e.at..]));
    let f = FuncId(u32::try_from(p.funcs.len() - 1).expect("few"));
    let printed = adl_core::print::program(&p);
    assert_eq!(parse::program(&printed).map(|q| adl_core::print::program(&q)), Ok(printed));
    check_orders(&p, f, args);
}

/// Checks a function, and its pullback as a function of the point; and what the oracle says of both.
pub(crate) fn check_orders(p: &Program, f: FuncId, args: &[Value]) {
    check_modes(p, f, args, 1);
    crate::oracle::opinions_agree(p, f, args).unwrap_or_else(|why| panic!("{why}"));
    // Second order: the pullback as a function of the point.
    let mut q = p.clone();
    let bwd = vjp(&mut q, &mut Derivatives::default(), f);
    let y = run(&q, f, args).expect("runs").values;
    let ys: Vec<Value> = y.iter().filter(|v| !floats(std::slice::from_ref(v)).is_empty()).cloned().collect();
    let w = noise(floats(&ys).len(), 7);
    let cts = with_floats(&ys, &mut w.into_iter());
    if std::env::var("DUMP").is_ok() {
        let mut r = q.clone();
        vjp(&mut r, &mut Derivatives::default(), bwd);
        eprintln!("{}", adl_core::print::program(&r));
    }
    check_modes(&q, bwd, &[args, &cts].concat(), 3);
}

fn table(xs: &[f64]) -> Value {
    Value::Table(Table::of_f64(xs))
}

#[test]
fn scalar_code() {
    check(
        "core 1
        fn f(%0: F64, %1: F64) {
          %2: F64 = sin %0
          %3: F64 = mul %2, %1
          %4: F64 = exp %3
          %5: F64 = mul %3, %0
          %6: F64 = add %4, %5
          yield %6
        }",
        &[Value::F64(0.7), Value::F64(-0.4)],
    );
}

#[test]
fn for_index_and_sum() {
    check(
        "core 1
        fn f(%0: Int, %1: [%0]F64, %2: F64) {
          %3: [%0]F64 = for %4 < %0 {
            %5: F64 = index %1[%4]
            %6: F64 = mul %5, %2
            %7: F64 = tanh %6
            %8: F64 = mul %7, %5
            yield %8
          }
          %9: F64 = reduce sum %10 < %0 {
            %11: F64 = index %3[%10]
            %12: F64 = index %1[%10]
            %13: F64 = mul %11, %12
            yield %13
          }
          yield %9
        }",
        &[Value::Int(3), table(&[0.5, -0.3, 0.8]), Value::F64(0.9)],
    );
}

#[test]
fn nested_for_with_rows() {
    check(
        "core 1
        fn f(%0: Int, %1: Int, %2: [%0][%1]F64) {
          %3: [%0]F64 = for %4 < %0 {
            %5: [%1]F64 = index %2[%4]
            %6: F64 = reduce sum %7 < %1 {
              %8: F64 = index %5[%7]
              %9: F64 = exp %8
              %10: F64 = mul %9, %8
              yield %10
            }
            %11: F64 = sin %6
            yield %11
          }
          yield %3
        }",
        &[
            Value::Int(2),
            Value::Int(3),
            Value::Table(Table::new(
                &[2, 3],
                adl_core::value::Leaves::F64(vec![0.1, 0.2, -0.3, 0.4, 0.5, -0.6]),
            )),
        ],
    );
}

#[test]
fn loop_with_scalar_state() {
    check(
        "core 1
        fn f(%0: F64, %1: F64) {
          %2: F64, %3: [5]F64 = loop %4: F64 = %0 for %5 < 5 do {
            %6: F64 = mul %4, %1
            %7: F64 = sin %6
            %8: F64 = add %7, %0
            yield %8, %6
          }
          %9: F64 = reduce sum %10 < 5 {
            %11: F64 = index %3[%10]
            yield %11
          }
          yield %2, %9
        }",
        &[Value::F64(0.6), Value::F64(0.8)],
    );
}

#[test]
fn while_loop() {
    check(
        "core 1
        fn f(%0: F64) {
          %1: F64, %2: Int, %3: Int = loop %4: F64, %5: Int = %0, 0 while (%6: F64, %7: Int) {
            %8: Bool = lt %7, 4
            yield %8
          } do {
            %9: F64 = mul %4, %4
            %10: F64 = add %9, %0
            %11: Int = add %5, 1
            yield %10, %11
          }
          yield %1
        }",
        &[Value::F64(0.6)],
    );
}

#[test]
fn loop_with_table_state_updated_in_place() {
    check(
        "core 1
        fn f(%0: Int, %1: [%0]F64, %2: F64) {
          %3: [%0]F64 = loop %4: [%0]F64 = %1 for %5 < %0 do {
            %6: F64 = index %4[%5]
            %7: F64 = index %4[0]
            %8: F64 = mul %6, %7
            %9: F64 = mul %8, %2
            %10: F64 = add %9, %6
            %11: [%0]F64 = update %4[%5] = %10
            yield %11
          }
          %12: F64 = reduce sum %13 < %0 {
            %14: F64 = index %3[%13]
            %15: F64 = mul %14, %14
            yield %15
          }
          yield %12
        }",
        &[Value::Int(3), table(&[0.5, -0.3, 0.8]), Value::F64(0.9)],
    );
}

#[test]
fn branches_in_a_for() {
    check(
        "core 1
        fn f(%0: Int, %1: [%0]F64, %2: F64) {
          %3: [%0]F64 = for %4 < %0 {
            %5: F64 = index %1[%4]
            %6: Bool = lt %5, 0.1
            %7: F64 = case %6 () {
              %8: F64 = reduce sum %9 < %0 {
                %10: F64 = index %1[%9]
                %11: F64 = mul %10, %5
                %12: F64 = exp %11
                yield %12
              }
              %13: F64 = tanh %8
              yield %13
            } () {
              %14: F64 = mul %5, %2
              yield %14
            }
            yield %7
          }
          yield %3
        }",
        &[Value::Int(3), table(&[0.5, -0.3, 0.8]), Value::F64(0.9)],
    );
}

#[test]
fn sums_and_calls() {
    check(
        "core 1
        fn area(%0: <F64 | F64, F64>) {
          %1: F64 = case %0 (%2: F64) {
            %3: F64 = mul %2, %2
            %4: F64 = mul %3, 3.0
            yield %4
          } (%5: F64, %6: F64) {
            %7: F64 = mul %5, %6
            yield %7
          }
          yield %1
        }
        fn f(%0: F64, %1: F64) {
          %2: <F64 | F64, F64> = inject 1 (%0, %1) : <F64 | F64, F64>
          %3: <F64 | F64, F64> = inject 0 (%1) : <F64 | F64, F64>
          %4: F64 = call area(%2)
          %5: F64 = call area(%3)
          %6: F64 = mul %4, %5
          yield %6
        }",
        &[Value::F64(0.6), Value::F64(0.7)],
    );
}

#[test]
fn extrema_and_products() {
    check(
        "core 1
        fn f(%0: Int, %1: [%0]F64) {
          %2: F64 = reduce max %3 < %0 {
            %4: F64 = index %1[%3]
            %5: F64 = sin %4
            yield %5
          }
          %6: F64 = reduce prod %7 < %0 {
            %8: F64 = index %1[%7]
            %9: F64 = mul %8, %2
            yield %9
          }
          yield %6
        }",
        &[Value::Int(3), table(&[0.5, -0.3, 0.8])],
    );
}

#[test]
fn accumulators() {
    check(
        "core 1
        fn f(%0: Int, %1: [%0]F64, %2: F64) {
          %3: Acc([2]F64) = acc_new([2]F64)
          for %4 < %0 {
            %5: F64 = index %1[%4]
            %6: F64 = mul %5, %5
            %7: Int = imod %4, 2
            acc_add %3[%7] += %6
            yield
          }
          acc_add %3[0] += %2
          %8: [2]F64 = acc_freeze(%3)
          %9: F64 = index %8[0]
          %10: F64 = index %8[1]
          %11: F64 = mul %9, %10
          yield %11
        }",
        &[Value::Int(3), table(&[0.5, -0.3, 0.8]), Value::F64(0.4)],
    );
}

#[test]
fn contraction() {
    let m =
        Value::Table(Table::new(&[2, 3], adl_core::value::Leaves::F64(vec![0.1, 0.2, -0.3, 0.4, 0.5, -0.6])));
    check(
        "core 1
        fn f(%0: Int, %1: Int, %2: [%0][%1]F64, %3: [%1]F64) {
          %4: [%0]F64 = contract ab,b->a %2, %3
          %5: [%0]F64 = for %6 < %0 {
            %7: F64 = index %4[%6]
            %8: F64 = tanh %7
            yield %8
          }
          %9: F64 = contract a,a-> %5, %4
          yield %9
        }",
        &[Value::Int(2), Value::Int(3), m, table(&[0.5, -0.3, 0.8])],
    );
}

#[test]
fn a_while_inside_a_for_saves_ragged_residuals() {
    check(
        "core 1
        fn f(%0: Int, %1: [%0]F64) {
          %2: [%0]F64 = for %3 < %0 {
            %4: F64 = index %1[%3]
            %5: F64, %6: Int, %7: Int = loop %8: F64, %9: Int = %4, 0 while (%10: F64, %11: Int) {
              %12: Bool = le %11, %3
              yield %12
            } do {
              %13: F64 = mul %8, %8
              %14: F64 = cos %13
              %15: Int = add %9, 1
              yield %14, %15
            }
            yield %5
          }
          yield %2
        }",
        &[Value::Int(3), table(&[0.5, -0.3, 0.8])],
    );
}
