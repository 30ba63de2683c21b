//! The example program on real digits: it learns, with every seed, and in machine code only; and the gradient of its
//! loss is right.

use std::path::Path;

use adl::{Backend, Config, Session};
use adl_ad::Derivatives;
use adl_core::oracle;
use adl_tests::harness::{floats, run, vjp};
use adl_tests::host::Beside;

fn examples() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

fn text() -> String {
    std::fs::read_to_string(examples().join("digits.adl")).expect("the example is there")
}

#[test]
fn the_network_reads_95_percent_for_each_of_five_seeds_in_machine_code() {
    let text = text();
    for seed in 1..=5 {
        let params = vec![("seed".to_string(), Some(seed.to_string()))];
        let mut session = Session::new(Config { params, ..Config::default() });
        let mut host = Beside::new(&examples());
        let outcome = session.run("digits.adl", &text, &mut host);
        assert!(!outcome.failed && !outcome.rejected, "{:?}", outcome.diagnostics);
        assert_eq!(session.executed.1, 0, "an item was interpreted");
        let last = host.output.last().expect("it prints the accuracy");
        let number = last.trim_start_matches("network: test accuracy ").trim_end_matches(" %");
        let accuracy: f64 = number.parse().expect("a number");
        eprintln!("seed {seed}: {accuracy} %");
        assert!(95.0 <= accuracy, "seed {seed}: {accuracy} %");
    }
}

/// The definitions of the example, without the training.
fn definitions() -> String {
    let text = text();
    let end = text.find("let (net, _)").expect("the training loop");
    let regression = text.find("let regression").expect("the regression");
    let network = text.find("// ---- a network").expect("the network");
    format!("{}{}", &text[..regression], &text[network..end])
}

#[test]
fn the_gradient_of_the_loss_agrees_with_the_tape() {
    let program = format!(
        "{}
let xs = for i: Fin(5). train_x[int(i)]
let ys = for i: Fin(5). train_y[int(i)]
let loss = cross_entropy(scores(start, xs), ys)
",
        definitions()
    );
    let mut session = Session::new(Config::default());
    let core = session.core_of_last("tape.adl", &program, &mut Beside::new(&examples()));
    let (mut core, loss, args) = core.unwrap_or_else(|d| panic!("{d:?}"));
    let gradient = vjp(&mut core, &mut Derivatives::default(), loss);
    let one = adl_core::value::Value::F64(1.0);
    let ours = floats(&run(&core, gradient, &[&args[..], &[one]].concat()).expect("runs").values);
    let tape = oracle::vjp(&core, loss, &args, &[1.0]).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(ours.len(), tape.len());
    assert!(64 * 32 + 32 + 32 * 10 + 10 <= ours.len(), "all parameters of the network");
    for (a, b) in ours.iter().zip(&tape) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} and {b}");
    }
    assert!(ours.iter().any(|g| 1e-3 < g.abs()), "the gradient is not zero");
}

#[test]
fn the_gradient_of_the_loss_agrees_with_differences() {
    // Along a direction at a random network.
    let program = format!(
        "{}
let xs = for i: Fin(20). train_x[int(i)]
let ys = for i: Fin(20). train_y[int(i)]
let loss = \\p: Net. cross_entropy(scores(p, xs), ys)
let direction: Net = normal(key(7))
let g = grad(loss)(start)
let slope = dot(g, direction)
let h = 1e-5
let ratio = (loss(start + h * direction) - loss(start - h * direction)) / (2.0 * h)
let forward = jvp(loss)(start, direction).1
abs(slope - ratio) < 1e-6 * (1.0 + abs(ratio))
abs(slope - forward) < 1e-12 * (1.0 + abs(forward))
slope
",
        definitions()
    );
    let mut slopes = vec![];
    for backend in [Backend::Machine, Backend::Interpreter] {
        let mut session = Session::new(Config { backend, ..Config::default() });
        let mut host = Beside::new(&examples());
        let outcome = session.run("gradient.adl", &program, &mut host);
        assert!(!outcome.failed && !outcome.rejected, "{:?}", outcome.diagnostics);
        assert_eq!(&host.output[host.output.len() - 3..][..2], ["true", "true"]);
        slopes.push(host.output.pop());
    }
    assert_eq!(slopes[0], slopes[1], "machine and interpreter agree bit for bit");
}
