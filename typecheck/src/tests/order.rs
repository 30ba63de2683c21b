//! Types do not depend on the order of solving, and programs with a token changed never panic.

use adl_diag::Diagnostic;
use proptest::prelude::*;

use super::{BAD, GOOD, check, core::MORE, session};
use crate::session::Options;

/// Programs in which much is open until the end of an item.
const OPEN: &[&str] = &[
    "def f(xs: n=>Float, i) = (xs[i], i + 1)",
    "def f(g: a -> a, x: a) = (2 * x, 0.5 * g(x))",
    "def sgd(f, p, lr) = p - lr * grad(f)(p)",
    "def f(x, y, z: n=>Float) = (2 * x + y, y * z, x / y)",
    "def f(i, xs: n=>Float) = if i == 0 then xs[i] else xs[i-1]",
    "def f(x, t: n=>Float) = 2 * x + t",
    "def f(x) = (float(x), x + 1, x * x)",
    "def f(x, y, t: Float) = (t * x, x * y, y + 1)",
    "def f(x, k) = (x ^ k, k + 1)",
    "def f(x, k, xs: n=>Float) = (x * x, xs[k])",
    "def f(x, y) = { let g = \\z. z * x; (g(2.0), g(y)) }",
    "def g(xs: n=>Float) = { let at = \\i. (xs[i], i + 1); at }",
    "def f(ps, i) = (ps[i] * 2, ps[0] + 1.0)",
    "def f(x, y, t: n=>Float) = { let u = x * y; let v = 2 * x; u + t }",
    "def f(g, x) = grad(g)(x) + 1.0",
];

#[test]
fn types_do_not_depend_on_the_order_of_solving() {
    let plain = session(Options::default());
    let programs: Vec<&str> =
        GOOD.iter().map(|(_, t)| *t).chain(OPEN.iter().copied()).chain(MORE.iter().copied()).collect();
    for seed in 1..=12 {
        let mut shuffled = session(Options { shuffle: Some(seed) });
        for (name, scheme) in plain.prelude_names() {
            assert_eq!(shuffled.type_of_name(&name), Some(scheme), "{name}");
        }
        shuffled.reseed(seed);
        for text in &programs {
            let (a, found) = check(&plain, text);
            let (b, other) = check(&shuffled, text);
            assert_eq!(a.names, b.names, "seed {seed}: {text}\n{found}\n{other}");
            assert_eq!(a.is_ok(), b.is_ok(), "seed {seed}: {text}\n{other}");
        }
    }
}

#[test]
fn open_programs_have_these_types() {
    let base = session(Options::default());
    let found: Vec<String> = OPEN
        .iter()
        .map(|text| {
            let (checked, found) = check(&base, text);
            let names: Vec<String> = checked.names.iter().map(|(n, t)| format!("{n} : {t}")).collect();
            format!("{text}\n{}{}", names.join("\n"), if checked.is_ok() { String::new() } else { found })
        })
        .collect();
    insta::assert_snapshot!(found.join("\n\n"), @r##"
    def f(xs: n=>Float, i) = (xs[i], i + 1)
    f : (n=>Float, n) -> (Float, Int)

    def f(g: a -> a, x: a) = (2 * x, 0.5 * g(x))
    f : (a -> a, a) -> (a, a) where Vector(a)

    def sgd(f, p, lr) = p - lr * grad(f)(p)
    sgd : (a -> b, a, Float) -> a where Vector(a), Real(b)

    def f(x, y, z: n=>Float) = (2 * x + y, y * z, x / y)
    f : (n=>Float, n=>Float, n=>Float) -> (n=>Float, n=>Float, n=>Float)

    def f(i, xs: n=>Float) = if i == 0 then xs[i] else xs[i-1]
    f : (n, n=>Float) -> Float

    def f(x, t: n=>Float) = 2 * x + t
    f : (n=>Float, n=>Float) -> n=>Float

    def f(x) = (float(x), x + 1, x * x)
    f : Int -> (Float, Int, Int)

    def f(x, y, t: Float) = (t * x, x * y, y + 1)
    f : (Float, Float, Float) -> (Float, Float, Float)

    def f(x, k) = (x ^ k, k + 1)
    f : (a, a) -> (a, a) where Floating(a)

    def f(x, k, xs: n=>Float) = (x * x, xs[k])
    f : (a, n, n=>Float) -> (a, Float) where Num(a)

    def f(x, y) = { let g = \z. z * x; (g(2.0), g(y)) }
    f : (a, Float) -> (a, a) where Vector(a)

    def g(xs: n=>Float) = { let at = \i. (xs[i], i + 1); at }
    g : n=>Float -> n -> (Float, Int)

    def f(ps, i) = (ps[i] * 2, ps[0] + 1.0)
    f : (n=>a, n) -> (a, a) where Floating(a)

    def f(x, y, t: n=>Float) = { let u = x * y; let v = 2 * x; u + t }
    f : (n=>Float, n=>Float, n=>Float) -> n=>Float

    def f(g, x) = grad(g)(x) + 1.0
    f : (a -> b, a) -> a where Floating(a), Real(b)
    "##);
}

/// The tokens of a text, roughly: enough to cut programs apart.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let mut out = vec![];
    let mut start = None;
    for (at, c) in text.char_indices() {
        let word = c.is_alphanumeric() || c == '_' || c == '\'';
        if let Some(from) = start
            && !word
        {
            out.push((from, at));
            start = None;
        }
        if word {
            start = start.or(Some(at));
        } else if !c.is_whitespace() {
            out.push((at, at + c.len_utf8()));
        }
    }
    out.extend(start.map(|from| (from, text.len())));
    out
}

fn mutants(text: &str, a: usize, b: usize) -> Vec<String> {
    let list = tokens(text);
    let (a, b) = (list[a % list.len()], list[b % list.len()]);
    let deleted = format!("{}{}", &text[..a.0], &text[a.1..]);
    let copied = format!("{} {} {}", &text[..a.0], &text[b.0..b.1], &text[a.1..]);
    vec![deleted, copied]
}

fn survives(base: &crate::session::Session, text: &str) -> Result<(), TestCaseError> {
    let (checked, found) = check(base, text);
    let errors = |syntax: bool| {
        let is_syntax = |d: &&Diagnostic| d.code.name().starts_with("E01") == syntax;
        // A changed declaration makes each of its uses wrong: kinds of messages are counted.
        let found = checked.diagnostics.iter().filter(|d| d.is_error()).filter(is_syntax);
        found.map(|d| d.code).collect::<std::collections::BTreeSet<_>>().len()
    };
    // Names that a broken item would have defined are only guessed, so what follows is not counted then.
    prop_assert!(errors(true) <= 4, "too many messages for one change\n{text}\n{found}");
    prop_assert!(errors(true) > 0 || errors(false) <= 4, "too many messages for one change\n{text}\n{found}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20), ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_changed_token_gives_few_messages(which in 0usize..1_000, a in 0usize..10_000, b in 0usize..10_000) {
        static BASE: std::sync::LazyLock<crate::session::Session> =
            std::sync::LazyLock::new(|| session(Options::default()));
        let base = &BASE;
        let programs: Vec<&str> = GOOD.iter().map(|(_, t)| *t).chain(MORE.iter().copied()).collect();
        for text in mutants(programs[which % programs.len()], a, b) {
            survives(base, &text)?;
        }
        let (_, _, bad) = BAD[which % BAD.len()];
        for text in mutants(bad, a, b) {
            check(base, &text);
        }
    }
}
