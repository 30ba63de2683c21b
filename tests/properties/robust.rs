//! Texts that are damaged end in an error, never in a panic.

use adl_core::{lint, parse, print};
use adl_tests::generate::program;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Core text with bytes cut out or changed is refused, or is a program that lint can judge.
    #[test]
    fn damaged_core_text_is_refused(choices in prop::collection::vec(any::<u8>(), 0..40), at: u16, cut in 0_usize..12, put in "[ -~]{0,3}") {
        let (p, _) = program(&choices);
        let text = print::program(&p);
        let at = usize::from(at) % text.len();
        let end = (at + cut).min(text.len());
        prop_assume!(text.is_char_boundary(at) && text.is_char_boundary(end));
        let damaged = format!("{}{put}{}", &text[..at], &text[end..]);
        if let Ok(q) = parse::program(&damaged) {
            let _ = lint::program(&q);
        }
        let _ = parse::program(&text[..at]);
    }

    /// Any text at all.
    #[test]
    fn any_text_ends_in_a_diagnostic_or_a_program(text in "\\PC{0,60}") {
        let _ = parse::program(&text);
        let _ = adl::is_incomplete(&text);
    }
}

#[test]
fn texts_of_the_language_that_break_off_anywhere_end_in_diagnostics() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/quickstart.adl");
    let text = std::fs::read_to_string(path).expect("the example is there");
    let mut session = adl::Session::new(adl::Config::default());
    for at in (0..text.len()).step_by(61).filter(|at| text.is_char_boundary(*at)) {
        let outcome = session.check("cut.adl", &text[..at], &mut adl::Closed::default());
        assert!(outcome.diagnostics.iter().filter(|d| d.is_error()).count() <= 3);
    }
}

/// Text in words, marks and what is between them.
fn pieces(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        _ if c.is_whitespace() => 0,
        _ if c.is_alphanumeric() || "_%@'.#".contains(c) => 1,
        _ => 2 + u32::from(c),
    };
    let ends = text.char_indices().zip(text.chars().skip(1)).filter(|((_, a), b)| class(*a) != class(*b));
    let mut cuts = vec![0];
    cuts.extend(ends.map(|((at, a), _)| at + a.len_utf8()));
    cuts.push(text.len());
    cuts.windows(2).map(|w| &text[w[0]..w[1]]).collect()
}

/// Is it refused at a place inside the text, or a program that lint can judge?
fn is_judged(text: &str) {
    match parse::program(text) {
        Ok(p) => {
            let _ = lint::program(&p);
            let _ = lint::higher_order(&p);
            assert!(
                parse::program(&print::program(&p)).is_ok(),
                "what was read can be printed and read:\n{text}"
            );
        }
        Err(e) => assert!(e.at <= text.len() && !e.message.is_empty()),
    }
}

/// Leaves out each so many-th word, and swaps it with the next but one.
fn damage(text: &str, step: usize) {
    let pieces = pieces(text);
    for k in (0..pieces.len()).step_by(step) {
        is_judged(&[&pieces[..k], &pieces[k + 1..]].concat().concat());
        let mut swapped = pieces.clone();
        swapped.swap(k, (k + 2).min(pieces.len() - 1));
        is_judged(&swapped.concat());
    }
}

#[test]
fn core_text_with_words_left_out_or_swapped_is_judged() {
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut n_files = 0;
    for pass in std::fs::read_dir(tests.join("core")).expect("it is there").flatten() {
        for file in std::fs::read_dir(pass.path()).expect("a folder for each pass").flatten() {
            let text = std::fs::read_to_string(file.path()).expect("it is text");
            damage(text.split("; ---").next().unwrap_or_default(), 1);
            n_files += 1;
        }
    }
    assert!(25 < n_files);
    for name in ["recursion.adl", "data.adl"] {
        let text = std::fs::read_to_string(tests.join("corpus/lang").join(name)).expect("it is text");
        let (mut session, mut host) = (adl::Session::new(adl::Config::default()), adl::Closed::default());
        let program = session.elaborate(name, &text, &mut host).expect("it is well-formed");
        damage(&print::program(&program), 11);
        for stage in ["specialise", "last-use"] {
            // A program for each item, up to the first that fails.
            let (core, _) = session.dump_core(program.clone(), stage, &mut host);
            core.split("core 1\n").skip(1).for_each(|item| damage(&format!("core 1\n{item}"), 11));
        }
    }
}
