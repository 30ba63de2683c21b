//! How the time of checking grows: programs of 1,000 to 8,000 generated lines, medians of 20 in one run.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use adl::{Config, Session};

const LINES: [usize; 4] = [1_000, 2_000, 4_000, 8_000];
const RUNS: usize = 20;

/// A way to make a program of so many lines.
type Ladder = (&'static str, fn(usize) -> String);

const LADDERS: [Ladder; 6] = [
    ("definitions", |n| {
        lines(n, |k| format!("def f{k}_(x: Float, y: Float) -> Float = sin(x * {k}.0 + y) / (1.0 + x^2)"))
    }),
    ("open definitions", |n| lines(n, |k| format!("def f{k}_(x, y) = sin(x * {k}.0 + y) / (1.0 + x^2)"))),
    ("each calls the last", |n| {
        let call = |k: usize| if k == 0 { "x".to_string() } else { format!("f{}_(x) * x", k - 1) };
        lines(n, |k| format!("def f{k}_(x) = {}", call(k)))
    }),
    ("one circle", |n| {
        lines(n, |k| format!("def f{k}_(x) = if x <= 0 then {k} else f{}_(x - 1)", (k + 1) % n))
    }),
    ("one block", |n| {
        let body = lines(n, |k| format!("  let v{} = v{k} * 0.5 + x / {}.0 - sin(v{k})", k + 1, k + 1));
        format!("def main(x: Float) -> Float = {{\n  let v0 = x\n{body}  v{n}\n}}\n")
    }),
    ("one open block", |n| {
        let body = lines(n, |k| format!("  let v{} = v{k} * 0.5 + x", k + 1));
        format!("def main(x) = {{\n  let v0 = x\n{body}  v{n}\n}}\n")
    }),
];

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    for k in 0..n {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", line(k));
    }
    out
}

fn median(text: &str) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let mut session = Session::new(Config::default());
            let start = Instant::now();
            let outcome = session.check("ladder.adl", text, &mut adl::Closed::default());
            let took = start.elapsed();
            assert!(!outcome.rejected, "the ladder is a program");
            took
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{:<20} {}  lines a second", "ladder", LINES.map(|n| format!("{n:>9}")).join(" "))?;
    for (name, make) in LADDERS {
        let times = LINES.map(|n| median(&make(n)));
        let shown: Vec<String> = times.iter().map(|t| format!("{:>6.1} ms", t.as_secs_f64() * 1e3)).collect();
        let steps: Vec<String> =
            times.windows(2).map(|w| format!("{:.2}", w[1].as_secs_f64() / w[0].as_secs_f64())).collect();
        let rate = LINES[3] as f64 / times[3].as_secs_f64();
        writeln!(out, "{name:<20} {}  {rate:>9.0}  steps {}", shown.join(" "), steps.join(" "))?;
    }
    Ok(())
}
