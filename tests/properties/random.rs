//! Random programs: lint, passes, executors and derivatives agree on all of them.

use adl_ad::Derivatives;
use adl_core::host::Closed;
use adl_core::interp::Interp;
use adl_core::ir::{FuncId, Program};
use adl_core::run::Limits;
use adl_core::value::Value;
use adl_core::{lint, parse, print};
use adl_opt::link::link;
use adl_opt::pipeline::PIPELINE;
use adl_tests::generate::{Reached, arguments, program};
use adl_tests::harness::{floats, jvp, run, vjp, with_floats};
use proptest::prelude::*;

use crate::derivative::{close, dot, noise};

fn last(p: &Program) -> FuncId {
    FuncId(u32::try_from(p.funcs.len() - 1).expect("few"))
}

/// Same values, NaN as a class.
fn same(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same(y))
}

/// The function under every prefix of the pipeline, in the interpreter; and as machine code.
fn all_executors_agree(p: &Program, f: FuncId, args: &[Value]) {
    let meaning = run(p, f, args).expect("generated programs do not fail").values;
    for n in 0..=PIPELINE.len() {
        let (q, g) = link(p, f, &PIPELINE[..n]);
        if let Err(v) = lint::program(&q) {
            panic!("{}: {}\n{}", v.rule, v.message, print::program(&q));
        }
        let found = Interp::new(&q).run(g, args.to_vec(), &mut Closed::default(), &Limits::default());
        let found = found.expect("a pass introduces no failure").values;
        let pass = if n == 0 { "link" } else { PIPELINE[n - 1].name };
        assert!(same(&meaning, &found), "`{pass}` changes {meaning:?} to {found:?}\n{}", print::program(&q));
    }
    let (q, g) = link(p, f, PIPELINE);
    let machine = adl_codegen::compile(&q).unwrap_or_else(|e| panic!("{e:?}\n{}", print::program(&q)));
    let found = machine.run(g, args.to_vec(), &mut Closed::default(), &Limits::default());
    let found = found.expect("the machine does not fail").values;
    assert!(same(&meaning, &found), "the machine gives {found:?}, not {meaning:?}\n{}", print::program(&q));
}

/// As many as asked for by PROPTEST_CASES, else 300.
pub(crate) fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// Text and program are the same thing; passes keep every bit; the machine agrees with the interpreter.
    #[test]
    fn executors_and_passes_agree(choices in prop::collection::vec(any::<u8>(), 0..60), n in 1_usize..5, seed: u8) {
        let (p, _) = program(&choices);
        let text = print::program(&p);
        let again = parse::program(&text).map(|q| print::program(&q));
        prop_assert_eq!(again, Ok(text));
        all_executors_agree(&p, last(&p), &arguments(n, seed));
    }

    /// ⟨w, J·v⟩ = ⟨Jᵀ·w, v⟩, for the program and for its gradient; and the gradient runs alike everywhere.
    #[test]
    fn reverse_is_the_transpose_of_forward(choices in prop::collection::vec(any::<u8>(), 0..50), n in 1_usize..5, seed: u8) {
        let (mut p, _) = program(&choices);
        let mut f = last(&p);
        let mut args = arguments(n, seed);
        let mut d = Derivatives::default();
        for order in 1..=2 {
            let (forward, backward) = (jvp(&mut p, &mut d, f), vjp(&mut p, &mut d, f));
            let y = run(&p, f, &args).expect("runs").values;
            let x: Vec<Value> = args.iter().filter(|v| !floats(std::slice::from_ref(v)).is_empty()).cloned().collect();
            let v = noise(floats(&x).len(), 5);
            let tangents = with_floats(&x, &mut v.iter().copied());
            let jv = floats(&run(&p, forward, &[&args[..], &tangents].concat()).expect("runs").values);
            if jv.is_empty() {
                break; // no result depends on the input
            }
            prop_assume!(jv.len() == floats(&y).len());
            let w = noise(jv.len(), 9);
            let cts = with_floats(&y, &mut w.iter().copied());
            let pulled = [&args[..], &cts].concat();
            let jtw = floats(&run(&p, backward, &pulled).expect("runs").values);
            let (left, right) = (dot(&jv, &w), dot(&v, &jtw));
            prop_assert!(close(left, right, 1e-8), "order {order}: {left} and {right}\n{}", print::program(&p));
            if order == 1 {
                all_executors_agree(&p, backward, &pulled);
                // The gradient is cheap: decision on cost, counted in the interpreter.
                let primal = run(&p, f, &args).expect("runs").counts.ops;
                let cost = run(&p, backward, &pulled).expect("runs").counts.ops;
                let bound = 5 * primal + 2 * v.len() as u64 + 200;
                prop_assert!(cost <= bound, "the gradient costs {cost}, its function {primal}\n{}", print::program(&p));
            }
            f = backward;
            args = pulled;
        }
    }
}

#[test]
fn the_generator_reaches_every_form() {
    let mut all = Reached::default();
    for k in 0..200_u64 {
        let bytes: Vec<u8> = noise(60, k + 1).iter().map(|x| ((x + 0.8) * 160.0) as u8).collect();
        all.add(program(&bytes).1);
    }
    eprintln!("{all:?}");
    assert!(all.missing().is_empty(), "never reached: {:?}", all.missing());
}
