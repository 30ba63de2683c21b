//! Damages programs and checks them: `cargo run -p adl-tests --example fuzz SECONDS SEED`. Reports panics, checks
//! that take longer than two seconds, and inputs with more than three errors; exits with 1 if there were any.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use adl::{Config, Session};
use adl_tests::host::Beside;
use adl_tests::surface::program;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() >> 8).unwrap_or(0) % n.max(1)
    }
}

fn programs(dir: &Path, out: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            programs(&path, out);
        } else if path.extension().is_some_and(|e| e == "adl") {
            out.extend(std::fs::read_to_string(&path));
        }
    }
}

/// Words, numbers and single signs.
fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = vec![];
    for c in text.chars() {
        let joins = |last: char| last.is_alphanumeric() && c.is_alphanumeric();
        match out.last_mut() {
            Some(token) if token.chars().last().is_some_and(joins) => token.push(c),
            _ => out.push(c.to_string()),
        }
    }
    out
}

fn damaged(random: &mut Random, base: &str, other: &[String]) -> String {
    let mut tokens = tokens(base);
    for _ in 0..=random.below(4) {
        let n = tokens.len();
        let (i, j) = (random.below(n), random.below(n));
        match random.below(7) {
            0 if n > 0 => drop(tokens.remove(i)),
            1 if n > 0 => tokens.swap(i, j),
            2 if n > 0 => tokens.insert(i, tokens[j].clone()),
            3 if n > 0 && !other.is_empty() => tokens[i] = other[random.below(other.len())].clone(),
            4 => tokens.truncate(i),
            5 if n > 0 => drop(tokens.drain(i.min(j)..i.max(j).min(i.min(j) + 20))),
            _ => tokens.insert(
                i,
                char::from_u32(u32::try_from(random.below(0x3000)).unwrap_or(65)).unwrap_or('?').to_string(),
            ),
        }
        if tokens.is_empty() {
            break;
        }
    }
    tokens.concat()
}

fn run() -> std::io::Result<bool> {
    let arg = |k: usize| std::env::args().nth(k).and_then(|s| s.parse::<u64>().ok());
    let (seconds, seed) = (arg(1).unwrap_or(10), arg(2).unwrap_or(1));
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut bases = vec![];
    ["tests/corpus", "examples", "stdlib"].iter().for_each(|dir| programs(&root.join(dir), &mut bases));
    let other: Vec<String> = bases.iter().flat_map(|text| tokens(text)).collect();
    let (start, mut inputs, mut found, mut slowest) = (Instant::now(), 0_u64, 0, Duration::ZERO);
    let mut session = Session::new(Config::default());
    let mut host = Beside::new(&root.join("tests/corpus"));
    let mut out = std::io::stdout();
    while start.elapsed().as_secs() < seconds {
        let made;
        let base = if random.below(3) == 0 {
            let choices: Vec<u8> = (0..200).map(|_| random.next().to_le_bytes()[3]).collect();
            made = program(&choices).text;
            &made
        } else {
            &bases[random.below(bases.len())]
        };
        let text = damaged(&mut random, base, &other);
        let before = Instant::now();
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            session.check("fuzz.adl", &text, &mut host).diagnostics.iter().filter(|d| d.is_error()).count()
        }));
        let took = before.elapsed();
        (inputs, slowest) = (inputs + 1, slowest.max(took));
        let trouble = match checked {
            Err(_) => Some("panic".to_string()),
            Ok(errors) if errors > 3 => Some(format!("{errors} errors")),
            Ok(_) if took > Duration::from_secs(2) => Some(format!("{took:?}")),
            Ok(_) => None,
        };
        if let Some(trouble) = trouble {
            found += 1;
            writeln!(out, "==== {trouble}\n{text}\n====")?;
            session = Session::new(Config::default());
        }
        // Sources are kept for messages: begin again before they are many.
        if inputs % 2_000 == 0 {
            session = Session::new(Config::default());
        }
    }
    let rate = inputs / start.elapsed().as_secs().max(1);
    writeln!(out, "seed {seed}: {inputs} inputs, {rate} a second, slowest {slowest:?}, {found} findings")?;
    Ok(found == 0)
}

fn main() -> ExitCode {
    match adl::on_large_stack(run) {
        Ok(Ok(true)) => ExitCode::SUCCESS,
        Ok(Ok(false) | Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}
