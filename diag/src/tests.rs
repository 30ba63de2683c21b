//! Rendering never panics, and each code has a page.

use crate::{Code, Color, Diagnostic, FileId, SourceMap, Span, render, to_json};

fn sources() -> (SourceMap, FileId) {
    let mut sources = SourceMap::new();
    let file = sources.add("a.adl", "let é = 1\nlet y = é + true\n");
    (sources, file)
}

#[test]
fn any_span_renders() {
    let (sources, file) = sources();
    let offsets = [0, 1, 4, 5, 6, 10, 26, 27, 28, 1000, u32::MAX];
    for id in [file, FileId(0), FileId(7)] {
        for start in offsets {
            for end in offsets {
                let span = Span { file: id, start, end };
                let found = Diagnostic::error(Code::E0201, "types differ").label(span, "here");
                for color in [Color::On, Color::Off] {
                    assert!(render(&found, &sources, color).contains("E0201"));
                }
                assert_eq!(to_json(&found, &sources)["code"], "E0201");
            }
        }
    }
}

#[test]
fn labels_help_and_notes_are_shown() {
    let (sources, file) = sources();
    let found = Diagnostic::error(Code::E0201, "types differ")
        .label(Span::new(file, 24, 28), "this is a Bool")
        .label(Span::new(file, 19, 21), "this is an Int")
        .help("write a number")
        .note("found while checking `y`");
    let text = render(&found, &sources, Color::Off);
    for part in
        ["types differ", "this is a Bool", "this is an Int", "write a number", "while checking", "a.adl:2:"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn json_has_this_shape() {
    let (sources, file) = sources();
    let found = Diagnostic::warning(Code::W0101, "a value is thrown away")
        .label(Span::new(file, 19, 28), "this value")
        .note("one");
    let text = r#"{"code":"W0101","help":null,"labels":[{"column":9,"end":28,"end_column":17,"end_line":2,"file":"a.adl","line":2,"start":19,"text":"this value"}],"message":"a value is thrown away","notes":["one"],"severity":"warning"}"#;
    assert_eq!(to_json(&found, &sources).to_string(), text);
}

// S-errors-5
#[test]
fn every_code_has_a_page_and_a_name() {
    assert!(Code::ALL.is_sorted_by_key(|code| code.name()), "codes of a kind stand together");
    for code in Code::ALL {
        let first = code.explain().lines().next().unwrap_or_default();
        assert!(first.ends_with('.') && 10 < first.len(), "the page of {code} begins with a sentence");
        assert_eq!(Code::from_name(code.name()), Some(*code));
    }
    assert_eq!(Code::from_name("e0201"), Some(Code::E0201));
    assert_eq!(Code::from_name("E9999"), None);
}
