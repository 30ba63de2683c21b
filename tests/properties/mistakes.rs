//! Deliberate mistakes: each gives one clear message; and programs with a token deleted or swapped run or give
//! one to three.

use adl::{Closed, Config, Diagnostic, Session};

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

#[test]
fn mutations_of_the_examples_give_at_most_three_messages() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    // All mutations take minutes: by default each fifth, all with ADL_SLOW=1.
    let step = if std::env::var_os("ADL_SLOW").is_some() { 1 } else { 5 };
    let mut session = Session::new(Config::default());
    let (mut n, mut rejected) = (0, 0);
    for file in ["quickstart.adl", "digits.adl"] {
        let text = std::fs::read_to_string(folder.join(file)).expect("the example is there");
        for mutated in mutations(&text, step, 0) {
            let errors = check(&mut session, &mutated);
            assert!(errors.len() <= 3, "{} messages for:\n{mutated}\n{errors:#?}", errors.len());
            n += 1;
            rejected += usize::from(!errors.is_empty());
            for d in &errors {
                // Rendering must not fail on any place.
                assert!(!adl::render(d, &session.sources, adl::Color::Off).is_empty());
            }
        }
    }
    eprintln!("{n} mutations, {rejected} rejected");
    assert!(n / 2 < rejected, "mutations are hardly ever found");
}

#[test]
fn mutations_that_still_check_run_without_a_panic() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let text = std::fs::read_to_string(folder.join("quickstart.adl")).expect("the example is there");
    let mut ran = 0;
    for mutated in mutations(&text, 23, 3) {
        let config = Config::default();
        // Some mutations loop for ever: they are cancelled from outside.
        let cancel = config.limits.cancel.clone();
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            if wait.recv_timeout(std::time::Duration::from_secs(5)).is_err() {
                cancel.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        });
        let mut session = Session::new(config);
        let outcome = session.run("mutated.adl", &mutated, &mut Closed::default());
        ran += usize::from(!outcome.rejected);
        let _ = done.send(());
        assert!(watch.join().is_ok());
    }
    eprintln!("{ran} mutations ran");
}
