//! Deliberate mistakes: each gives one clear message; and programs with a token deleted or swapped run or give
//! one to three.

use std::path::{Path, PathBuf};

use adl::{Closed, Config, Diagnostic, Limits, Session};
use adl_tests::host::Beside;

/// Tokens of each program that are left out or swapped by default.
const FEW: usize = 20;

/// What a program may hold.
const MEMORY_BYTES: u64 = 1 << 30;

/// A session keeps all texts that it has seen: for so many there is a new one.
const KNOWN_TEXTS: usize = 500;

fn check(session: &mut Session, text: &str) -> Vec<Diagnostic> {
    session
        .check("mistake.adl", text, &mut Closed::default())
        .diagnostics
        .into_iter()
        .filter(Diagnostic::is_error)
        .collect()
}

#[test]
fn each_mistake_gives_one_message_with_its_place_and_a_way_out() {
    let mistakes = [
        ("a type", "let x: Int = 1\nx + 1.5"),
        ("two types", "def f(x: Float, n: Int) -> Float = x * n"),
        ("a size", "[1.0, 2.0] + [1.0, 2.0, 3.0]"),
        ("an unknown name", "let total = 1.0\ntotl + 1.0"),
        ("a missing case", "enum S { A, B(Float) }\ndef f(s: S) -> Float = case s of { A -> 0.0 }"),
        ("too few arguments", "def f(x: Float, y: Float) -> Float = x + y\nf(1.0)"),
        ("an index of another set", "def f(xs: n=>Float, ys: m=>Float) -> n=>Float = for i. xs[i] * ys[i]"),
        ("a negative index", "let x = [1.0]\nx[-1]"),
        ("an open bracket", "let x = (1 + 2\nlet y = 3"),
        ("a word of another language", "let f = lambda x: x + 1"),
        ("a missing field", "struct P { x: Float }\nlet p = P { x = 1.0 }\np.y"),
        ("a gradient of a vector", "grad(\\x. x)([1.0, 2.0])"),
        ("a product of structs", "struct P { x: Float }\nlet p = P { x = 1.0 }\np * p"),
        ("a broadcast", "def f(a: n=>m=>Float, v: m=>Float) -> n=>m=>Float = a + v"),
        ("an Int divided", "1 / div(4, 2)"),
        ("a condition that is a number", "if 1 then 2 else 3"),
    ];
    let mut session = Session::new(Config::default());
    for (what, text) in mistakes {
        let errors = check(&mut session, text);
        assert_eq!(errors.len(), 1, "{what}: {errors:#?}");
        let d = &errors[0];
        assert!(!d.labels.is_empty(), "{what} shows no place");
        assert!(d.help.is_some(), "{what} shows no way out");
        let shown = adl::render(d, &session.sources, adl::Color::Off);
        assert!(shown.contains("mistake.adl:"), "{what}:\n{shown}");
        for internal in ["%", "internal", "Ty::", "Some("] {
            assert!(!shown.contains(internal), "{what} shows `{internal}`:\n{shown}");
        }
    }
}

/// Words, numbers, strings and marks of a program, with the places between them.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut out = vec![];
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if text[at..].starts_with("//") {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
            continue;
        }
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if bytes[at] == b'"' {
            at += 1 + text[at + 1..].find('"').map_or(0, |k| k + 1);
        } else if bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || b"_'.".contains(&bytes[at])) {
                at += 1;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
        out.push((start, at));
    }
    out
}

/// Every `step`-th mutation of a program: a token deleted, or swapped with the next.
fn mutations(text: &str, step: usize, offset: usize) -> Vec<String> {
    let tokens = tokens(text);
    let mut out = vec![];
    for k in (offset..tokens.len()).step_by(step) {
        let (a, b) = tokens[k];
        out.push(format!("{}{}", &text[..a], &text[b..]));
        if let Some((c, d)) = tokens.get(k + 1) {
            out.push(format!(
                "{}{}{}{}{}",
                &text[..a],
                &text[*c..*d],
                &text[b..*c],
                &text[a..b],
                &text[*d..]
            ));
        }
    }
    out
}

/// All programs with their folders: the corpus, the examples, and what the reference shows.
fn programs() -> Vec<(PathBuf, String)> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut out = vec![];
    for folder in ["corpus", "../examples"] {
        collect(&tests.join(folder), &mut out);
    }
    out
}

fn collect(folder: &Path, out: &mut Vec<(PathBuf, String)>) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "adl") {
            let text = std::fs::read_to_string(&path).expect("it is text");
            out.push((folder.to_path_buf(), text));
        }
    }
}

/// The messages for a mutation: at most three, each of which can be shown.
fn judged(session: &mut Session, folder: &Path, text: &str) -> Vec<Diagnostic> {
    let outcome = session.check("mistake.adl", text, &mut Beside::new(folder));
    let errors: Vec<Diagnostic> = outcome.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    for d in &errors {
        // Rendering must not fail on any place.
        assert!(!adl::render(d, &session.sources, adl::Color::Off).is_empty());
    }
    errors
}

/// How many errors were found: three are shown, and the last says how many follow.
fn n_found(errors: &[Diagnostic]) -> usize {
    let follow = |note: &String| -> Option<usize> {
        let (number, rest) = note.split_once(' ')?;
        rest.ends_with("mend these first").then(|| number.parse().unwrap_or(1))
    };
    errors.len() + errors.iter().flat_map(|d| &d.notes).find_map(follow).unwrap_or(0)
}

#[test]
fn mutations_of_every_program_give_at_most_three_messages() {
    // By default some mutations of each program, all with ADL_SLOW=1.
    let all = std::env::var_os("ADL_SLOW").is_some();
    let (mut n, mut rejected, mut cut) = (0, 0, 0);
    for (k, (folder, text)) in programs().into_iter().enumerate() {
        let step = if all { 1 } else { tokens(&text).len().div_ceil(FEW) };
        for some in mutations(&text, step, k % step).chunks(KNOWN_TEXTS) {
            let mut session = Session::new(Config::default());
            for mutated in some {
                let errors = judged(&mut session, &folder, mutated);
                assert!(errors.len() <= 3, "{} messages for:\n{mutated}\n{errors:#?}", errors.len());
                n += 1;
                rejected += usize::from(!errors.is_empty());
                if 3 < n_found(&errors) {
                    // The grammar knows what follows from what.
                    let grammar = errors.iter().any(|d| d.code.name().starts_with("E01"));
                    assert!(!grammar, "{} errors of grammar in:\n{mutated}\n{errors:#?}", n_found(&errors));
                    cut += 1;
                }
            }
        }
    }
    eprintln!("{n} mutations, {rejected} rejected, {cut} with more than three errors");
    assert!(n / 2 < rejected, "mutations are hardly ever found");
    // A changed declaration makes each of its uses wrong, and no more are shown than three; but that is rare.
    assert!(cut * 100 < n, "{cut} of {n} mistakes give more than three messages");
}

#[test]
fn mutations_that_still_check_run_without_a_panic() {
    let all = std::env::var_os("ADL_SLOW").is_some();
    let (mut ran, mut wrong) = (0, String::new());
    for (k, (folder, text)) in programs().into_iter().enumerate() {
        let step = if all { 1 } else { tokens(&text).len().div_ceil(FEW) };
        for some in mutations(&text, step, k % step).chunks(KNOWN_TEXTS) {
            let mut session = Session::new(Config::default());
            for mutated in some {
                if judged(&mut session, &folder, mutated).is_empty() {
                    ran += 1;
                    if !run_for_a_while(&folder, mutated) {
                        wrong += &format!("== panics:\n{mutated}\n");
                    }
                }
            }
        }
    }
    eprintln!("{ran} mutations ran");
    assert!(wrong.is_empty(), "{wrong}");
    assert!(20 < ran, "hardly any mutation runs");
}

/// Runs a program, and says whether it ended without a panic; some loop for ever, and are cancelled from outside.
fn run_for_a_while(folder: &Path, text: &str) -> bool {
    let limits = Limits { memory: MEMORY_BYTES, ..Limits::default() };
    let config = Config { limits, ..Config::default() };
    let cancel = config.limits.cancel.clone();
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if wait.recv_timeout(std::time::Duration::from_secs(3)).is_err() {
            cancel.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    let work = || {
        let mut session = Session::new(config);
        let outcome = session.run("mutated.adl", text, &mut Beside::new(folder));
        assert!(!outcome.rejected, "it was checked before:\n{text}");
        for d in &outcome.diagnostics {
            assert!(!adl::render(d, &session.sources, adl::Color::Off).is_empty());
        }
    };
    let guarded = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    let ended = adl::on_large_stack(guarded).expect("a thread");
    // The watch may have ended by itself.
    done.send(()).ok();
    watch.join().expect("it only waits");
    ended.is_ok()
}
