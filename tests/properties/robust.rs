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
        let outcome = session.check("cut.adl", &text[..at]);
        assert!(outcome.diagnostics.iter().filter(|d| d.is_error()).count() <= 3);
    }
}
