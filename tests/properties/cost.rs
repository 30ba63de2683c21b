//! The cost of derivatives, counted in the interpreter: within the contract, and flat in the size.
//!
//! vjp ≤ 5·primal + 2·|inputs| + c, jvp ≤ 4·primal + c, reverse over reverse ≤ 20·primal. The constant c pays for
//! what a program does once.

use adl_ad::Derivatives;
use adl_core::ir::{FuncId, Program};
use adl_core::parse;
use adl_core::value::{Table, Value};
use adl_opt::link::link;
use adl_opt::pipeline::PIPELINE;
use adl_tests::harness::{floats, jvp, run, vjp, with_floats};

use crate::derivative::noise;

const CONSTANT: u64 = 200;

struct Counted {
    primal: u64,
    jvp: u64,
    vjp: u64,
    second: u64,
    inputs: u64,
    copied: u64,
}

fn count(p: &Program, args: &[Value]) -> Counted {
    let mut p = p.clone();
    let mut d = Derivatives::default();
    let f = FuncId(u32::try_from(p.funcs.len() - 1).expect("few"));
    // With last uses marked, as every executor gets it.
    let ops = |p: &Program, f: FuncId, args: &[Value]| {
        let (q, g) = link(p, f, PIPELINE);
        run(&q, g, args).expect("runs")
    };
    let x: Vec<Value> =
        args.iter().filter(|v| !floats(std::slice::from_ref(v)).is_empty()).cloned().collect();
    let n = floats(&x).len();
    let tangents = with_floats(&x, &mut noise(n, 3).into_iter());
    let forward = jvp(&mut p, &mut d, f);
    let backward = vjp(&mut p, &mut d, f);
    let second = vjp(&mut p, &mut d, backward);
    let ct = vec![Value::F64(0.9)];
    let pulled = [args, &ct].concat();
    let gradient = ops(&p, backward, &pulled);
    let cts = with_floats(&gradient.values, &mut noise(floats(&gradient.values).len(), 4).into_iter());
    Counted {
        primal: ops(&p, f, args).counts.ops,
        jvp: ops(&p, forward, &[args, &tangents].concat()).counts.ops,
        vjp: gradient.counts.ops,
        second: ops(&p, second, &[&pulled[..], &cts].concat()).counts.ops,
        inputs: n as u64,
        copied: gradient.counts.copied,
    }
}

// S-differentiation-13
/// Checks the contract for sizes 100, 1,000 and 10,000, and that ratios do not grow.
fn check(name: &str, text: &str, args: impl Fn(usize) -> Vec<Value>) {
    let p = parse::program(text).unwrap_or_else(|e| panic!("{}: {}", e.message, &text[e.at..]));
    let mut ratios = vec![];
    for n in [100, 1_000, 10_000] {
        let c = count(&p, &args(n));
        eprintln!("{name}, n = {n}: primal {}, jvp {}, vjp {}, second {}", c.primal, c.jvp, c.vjp, c.second);
        assert!(c.jvp <= 4 * c.primal + CONSTANT, "{name}, n = {n}: jvp costs {} of {}", c.jvp, c.primal);
        assert!(
            c.vjp <= 5 * c.primal + 2 * c.inputs + CONSTANT,
            "{name}, n = {n}: vjp costs {} of {}",
            c.vjp,
            c.primal
        );
        assert!(
            c.second <= 20 * c.primal + 8 * c.inputs + 4 * CONSTANT,
            "{name}, n = {n}: reverse over reverse costs {} of {}",
            c.second,
            c.primal
        );
        let base = (c.primal + c.inputs) as f64;
        ratios.push((c.vjp as f64 / base, c.second as f64 / base));
    }
    let flat = |xs: Vec<f64>| {
        let (lo, hi) = xs.iter().fold((f64::MAX, 0.0_f64), |(lo, hi), x| (lo.min(*x), hi.max(*x)));
        hi <= 1.1 * lo
    };
    assert!(flat(ratios.iter().map(|r| r.0).collect()), "{name}: the ratio of vjp grows: {ratios:?}");
    assert!(flat(ratios.iter().map(|r| r.1).collect()), "{name}: the ratio at order 2 grows: {ratios:?}");
}

fn numbers(n: usize) -> Value {
    Value::Table(Table::of_f64(&noise(n, 1)))
}

fn size(n: usize) -> Value {
    Value::Int(i64::try_from(n).expect("small"))
}

#[test]
fn sums_of_elementwise_code() {
    check(
        "map and sum",
        "core 1
        fn f(%0: Int, %1: [%0]F64) {
          %2: F64 = reduce sum %3 < %0 {
            %4: F64 = index %1[%3]
            %5: F64 = mul %4, %4
            %6: F64 = sin %5
            yield %6
          }
          yield %2
        }",
        |n| vec![size(n), numbers(n)],
    );
}

#[test]
fn gather_from_a_big_table_costs_no_more_than_what_it_reads() {
    check(
        "gather",
        "core 1
        fn f(%0: Int, %1: [%0]F64) {
          %2: F64 = loop %3: F64 = 1.0 for %4 < %0 do {
            %5: Int = mul %4, 7
            %6: Int = imod %5, %0
            %7: F64 = index %1[%6]
            %8: F64 = mul %3, %7
            %9: F64 = sin %8
            yield %9
          }
          yield %2
        }",
        |n| vec![size(n), numbers(n)],
    );
}

#[test]
fn unused_inputs_cost_at_most_their_zero() {
    check(
        "unused",
        "core 1
        fn f(%0: Int, %1: [%0]F64, %2: [%0]F64) {
          %3: F64 = index %1[0]
          %4: F64 = exp %3
          yield %4
        }",
        |n| vec![size(n), numbers(n), numbers(n)],
    );
}

#[test]
fn rows_are_views() {
    check(
        "rows",
        "core 1
        fn f(%0: Int, %1: [%0][4]F64) {
          %2: F64 = loop %3: F64 = 1.0 for %4 < %0 do {
            %5: [4]F64 = index %1[%4]
            %6: F64 = index %5[2]
            %7: F64 = mul %3, %6
            %8: F64 = cos %7
            yield %8
          }
          yield %2
        }",
        |n| {
            let leaves = adl_core::value::Leaves::F64(noise(4 * n, 2));
            vec![size(n), Value::Table(Table::new(&[n, 4], leaves))]
        },
    );
}

#[test]
fn a_chain_of_updates_is_linear() {
    let text = "core 1
        fn f(%0: Int, %1: [%0]F64) {
          %2: [%0]F64 = loop %3: [%0]F64 = %1 for %4 < %0 do {
            %5: F64 = index %3[%4]
            %6: F64 = mul %5, %5
            %7: [%0]F64 = update %3[%4] = %6 ; dies %3
            yield %7
          }
          %8: F64 = reduce sum %9 < %0 {
            %10: F64 = index %2[%9]
            yield %10
          }
          yield %8
        }";
    check("updates", text, |n| vec![size(n), numbers(n)]);
    let p = parse::program(text).expect("it parses");
    let copied = |n: usize| count(&p, &[size(n), numbers(n)]).copied;
    assert!(copied(10_000) < 30 * copied(1_000).max(8_000), "copies grow faster than the table");
}

#[test]
fn branches_pay_for_the_branch_taken() {
    check(
        "branches",
        "core 1
        fn f(%0: Int, %1: [%0]F64) {
          %2: F64 = loop %3: F64 = 0.5 for %4 < %0 do {
            %5: F64 = index %1[%4]
            %6: Bool = lt %5, 0.0
            %7: F64 = case %6 () {
              %8: F64 = mul %3, %5
              %9: F64 = exp %8
              %10: F64 = tanh %9
              yield %10
            } () {
              yield %3
            }
            yield %7
          }
          yield %2
        }",
        |n| vec![size(n), numbers(n)],
    );
}

#[test]
fn recursion_over_a_table() {
    check(
        "recursion",
        "core 1
        fn go(%0: Int, %1: [%0]F64, %2: Int) {
          %3: Bool = eq %2, %0
          %4: F64 = case %3 () {
            %5: F64 = index %1[%2]
            %6: Int = add %2, 1
            %7: F64 = call go(%0, %1, %6)
            %8: F64 = mul %5, %7
            %9: F64 = sin %8
            yield %9
          } () { yield 0.5 }
          yield %4
        }
        fn f(%10: Int, %11: [%10]F64) {
          %12: F64 = call go(%10, %11, 0)
          yield %12
        }",
        |n| vec![size(n), numbers(n)],
    );
}

#[test]
fn recursion_by_halves() {
    check(
        "halves",
        "core 1
        fn go(%0: Int, %1: [%0]F64, %2: Int, %3: Int) {
          %4: Int = sub %3, %2
          %5: Bool = eq %4, 1
          %6: F64 = case %5 () {
            %7: Int = add %2, %3
            %8: Int = idiv %7, 2
            %9: F64 = call go(%0, %1, %2, %8)
            %10: F64 = call go(%0, %1, %8, %3)
            %11: F64 = mul %9, %10
            %12: F64 = cos %11
            yield %12
          } () {
            %13: F64 = index %1[%2]
            yield %13
          }
          yield %6
        }
        fn f(%14: Int, %15: [%14]F64) {
          %16: F64 = call go(%14, %15, 0, %14)
          yield %16
        }",
        |n| vec![size(n), numbers(n)],
    );
}

#[test]
fn mutual_recursion() {
    check(
        "mutual",
        "core 1
        fn even(%0: F64, %1: Int) {
          %2: Bool = eq %1, 0
          %3: F64 = case %2 () {
            %4: Int = sub %1, 1
            %5: F64 = call odd(%0, %4)
            %6: F64 = mul %0, %5
            %7: F64 = sin %6
            yield %7
          } () { yield %0 }
          yield %3
        }
        fn odd(%8: F64, %9: Int) {
          %10: Bool = eq %9, 0
          %11: F64 = case %10 () {
            %12: Int = sub %9, 1
            %13: F64 = call even(%8, %12)
            %14: F64 = add %8, %13
            %15: F64 = cos %14
            yield %15
          } () { yield 1.0 }
          yield %11
        }
        fn f(%16: Int, %17: F64) {
          %18: F64 = call even(%17, %16)
          yield %18
        }",
        |n| vec![size(n), Value::F64(0.7)],
    );
}

#[test]
fn a_tree_that_is_built_and_folded() {
    check(
        "tree",
        "core 1
        box#0 (<F64 | Box#0, Box#0>)
        fn build(%0: F64, %1: Int) {
          %2: Bool = lt %1, 2
          %3: <F64 | Box#0, Box#0> = case %2 () {
            %4: Int = idiv %1, 2
            %5: Int = sub %1, %4
            %6: F64 = mul %0, 0.5
            %7: Box#0 = call build(%6, %4)
            %8: Box#0 = call build(%0, %5)
            %9: <F64 | Box#0, Box#0> = inject 1 (%7, %8) : <F64 | Box#0, Box#0>
            yield %9
          } () {
            %10: <F64 | Box#0, Box#0> = inject 0 (%0) : <F64 | Box#0, Box#0>
            yield %10
          }
          %11: Box#0 = box#0(%3)
          yield %11
        }
        fn total(%12: Box#0) {
          %13: <F64 | Box#0, Box#0> = unbox(%12)
          %14: F64 = case %13 (%15: F64) {
            %16: F64 = mul %15, %15
            %17: F64 = sin %16
            yield %17
          } (%18: Box#0, %19: Box#0) {
            %20: F64 = call total(%18)
            %21: F64 = call total(%19)
            %22: F64 = add %20, %21
            yield %22
          }
          yield %14
        }
        fn f(%23: Int, %24: F64) {
          %25: Box#0 = call build(%24, %23)
          %26: F64 = call total(%25)
          yield %26
        }",
        |n| vec![size(n), Value::F64(0.7)],
    );
}

#[test]
fn code_does_not_explode_with_sharing() {
    // A chain of 40 squarings: without sharing, 2^40 operations.
    let mut text = String::from("core 1\nfn f(%0: F64) {\n");
    for k in 0..40 {
        text.push_str(&format!("%{}: F64 = mul %{k}, %{k}\n", k + 1));
    }
    text.push_str("yield %40\n}");
    let p = parse::program(&text).expect("it parses");
    let c = count(&p, &[Value::F64(0.999)]);
    assert!(
        c.vjp <= 5 * c.primal + CONSTANT && c.second <= 20 * c.primal + CONSTANT,
        "{} {}",
        c.vjp,
        c.second
    );
}
