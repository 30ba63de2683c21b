//! Inference, its messages, and its order.

mod cases;
mod core;
mod hints;
mod messages;
mod order;

use adl_diag::{Color, Diagnostic, SourceMap, render};
use adl_syntax::parse;

use crate::{
    imports::NoModules,
    session::{Checked, Options, Session},
};
use cases::{BAD, GOOD, REFUSED};

const PRELUDE: &str = include_str!("../../../stdlib/adl/prelude.adl");

fn session(options: Options) -> Session {
    let mut map = SourceMap::new();
    let file = map.add("prelude.adl", PRELUDE);
    let (module, found) = parse(file, PRELUDE);
    assert!(found.is_empty(), "{}", shown(&found, &map));
    let (session, checked) = Session::with_prelude(options, &module);
    assert!(checked.diagnostics.is_empty(), "{}", shown(&checked.diagnostics, &map));
    session
}

fn shown(found: &[Diagnostic], map: &SourceMap) -> String {
    found.iter().map(|d| render(d, map, Color::Off)).collect()
}

/// Checks a program after the prelude; the messages as text.
fn check(base: &Session, text: &str) -> (Checked, String) {
    let mut map = SourceMap::new();
    map.add("prelude.adl", PRELUDE);
    let file = map.add("t.adl", text);
    let (module, mut found) = parse(file, text);
    let mut checked = base.clone().check(&module, &mut NoModules);
    found.append(&mut checked.diagnostics);
    checked.diagnostics = found;
    let text = shown(&checked.diagnostics, &map);
    (checked, text)
}

/// Programs, each with its messages: what labels stand on, helps and notes.
fn messages<'a>(programs: impl Iterator<Item = &'a str>) -> String {
    let base = session(Options::default());
    let of = |text: &'a str| {
        let (checked, _) = check(&base, text);
        let lines = checked.diagnostics.iter().map(|d| {
            let at = |s: adl_diag::Span| text.get(s.start as usize..s.end as usize).unwrap_or("").to_string();
            let labels = d.labels.iter().map(|(s, t)| format!("    `{}`: {t}", at(*s).replace('\n', "⏎")));
            let rest = d.help.iter().map(|h| format!("    help: {h}"));
            let notes = d.notes.iter().map(|n| format!("    note: {n}"));
            let head = [format!("  {} {}", d.code, d.message)].into_iter();
            head.chain(labels).chain(rest).chain(notes).collect::<Vec<_>>().join("\n")
        });
        format!("{text}\n{}", lines.collect::<Vec<_>>().join("\n"))
    };
    programs.map(of).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn good_programs_pass() {
    let base = session(Options::default());
    let mut wrong = String::new();
    for (name, text) in GOOD {
        let (checked, found) = check(&base, text);
        if !checked.is_ok() {
            wrong += &format!("== {name}\n{found}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn bad_programs_fail_with_their_code_and_one_message() {
    let base = session(Options::default());
    let mut wrong = String::new();
    for (name, code, text) in BAD {
        let (checked, found) = check(&base, text);
        let errors: Vec<&Diagnostic> = checked.diagnostics.iter().filter(|d| d.is_error()).collect();
        if errors.len() != 1 || errors[0].code.name() != *code {
            wrong += &format!("== {name} ({code})\n{found}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_is_not_supported_is_refused_with_a_code() {
    let base = session(Options::default());
    for (name, text) in REFUSED {
        let (checked, found) = check(&base, text);
        assert!(checked.diagnostics.iter().any(|d| d.code.name() == "E0399"), "{name}\n{found}");
    }
}

#[test]
fn every_name_of_the_prelude_is_documented() {
    let base = session(Options::default());
    for (name, ty) in base.prelude_names() {
        assert!(base.doc_of(&name).is_some_and(|doc| !doc.is_empty()), "{name} : {ty}");
    }
    let (module, _) = parse(adl_diag::FileId(1), "/// One more.\ndef inc(x: Int) -> Int = x + 1");
    let mut session = base.clone();
    session.check(&module, &mut NoModules);
    assert_eq!(session.doc_of("inc"), Some("One more."));
    assert_eq!(session.type_of_name("inc").as_deref(), Some("Int -> Int"));
}

#[test]
fn a_module_with_errors_leaves_nothing_behind() {
    let mut session = session(Options::default());
    let mut run = |text: &str| {
        let (module, _) = parse(adl_diag::FileId(1), text);
        let checked = session.check(&module, &mut NoModules);
        checked.diagnostics.iter().find(|d| d.is_error()).map(|d| d.code.name())
    };
    assert_eq!(run("let x = 1\ndef f(y: Int) -> Int = y + x"), None);
    assert_eq!(run("def f(y: Int) -> Float = y\ndef g(y: Int) -> Int = y"), Some("E0201"));
    assert_eq!(run("f(2) + x"), None);
    assert_eq!(run("g(2)"), Some("E0301"));
    assert_eq!(run("let x = x + 1\nx"), None);
}

#[test]
fn deep_and_long_programs_are_checked() {
    let base = session(Options::default());
    let deep = format!("let a = {}1.0{}", "(".repeat(990), ")".repeat(990));
    let long = format!("let b = 1.0{}", " + 2.0 * 3.0".repeat(20_000));
    let branches = format!("let c = {}2", "if true then 1 else ".repeat(490));
    let blocks = format!("def f(x: Float) -> Float = {}y{}", "{ let y = x\n".repeat(300), "}".repeat(300));
    for text in [deep, long, branches, blocks] {
        let (checked, found) = check(&base, &text);
        assert!(checked.is_ok(), "{found}");
    }
}
