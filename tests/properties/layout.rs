//! The layout of random programs: it is its own layout, it does not depend on white space, and comments stay.

use adl::SourceMap;
use adl_tests::surface::program;
use proptest::prelude::*;

use crate::random::cases;

fn layout(text: &str) -> String {
    adl::format(&mut SourceMap::default(), "random.adl", text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// The text with twice the white space between words, outside strings.
fn spread(text: &str) -> String {
    let mut quoted = false;
    let mut out = String::new();
    for c in text.chars() {
        quoted ^= c == '"';
        out.push(c);
        if c == ' ' && !quoted {
            out.push(' ');
        }
    }
    out
}

/// A comment before each line.
fn commented(text: &str) -> String {
    text.lines().enumerate().map(|(k, line)| format!("// {k}\n{line}  // after {k}\n")).collect()
}

fn comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.split_once("// ").map(|(_, comment)| comment)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * cases()))]
    #[test]
    fn the_layout_of_a_program_is_its_own(choices in prop::collection::vec(any::<u8>(), 100..600)) {
        let text = program(&choices).text;
        let once = layout(&text);
        prop_assert_eq!(&layout(&once), &once);
        prop_assert_eq!(&layout(&spread(&text)), &once);
        let noted = commented(&text);
        let laid_out = layout(&noted);
        prop_assert_eq!(comments(&laid_out), comments(&noted));
        prop_assert_eq!(&layout(&laid_out), &laid_out);
    }
}
