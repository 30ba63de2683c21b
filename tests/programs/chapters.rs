//! Chapters of the reference that are made: from the primitive table, and from the grammar of the parser.

use std::fmt::Write as _;
use std::path::Path;

use adl::{Closed, Config, Session};
use adl_core::prim::{self, Diff, Edge, Kernel, Prim, PrimDef, Sig};
use adl_core::show;
use adl_core::ty::Scalar;

use crate::bless;

/// Checks that a chapter is what is made now, or rewrites it.
pub(crate) fn check(path: &Path, made: &str) -> Result<(), String> {
    if bless() {
        return std::fs::write(path, made).map_err(|e| e.to_string());
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    match made.lines().zip(found.lines()).find(|(a, b)| a != b) {
        _ if made == found => Ok(()),
        Some((wanted, is)) => Err(format!("out of date, run `cargo xtask bless`: `{is}` is now `{wanted}`")),
        None => Err("out of date, run `cargo xtask bless`".into()),
    }
}

/// What the list *Not yet* says of the library is so: a name of it that exists has to go from the list.
pub(crate) fn not_yet(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let list = text.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let mut session = Session::new(Config::default());
    for line in list.ok_or("the list is missing")?.lines() {
        let (code, before, names) = match line.strip_prefix("import ") {
            Some(names) => ("E0311", "import ", names),
            None => ("E0301", "", line),
        };
        for name in names.split_whitespace() {
            let found = session.check("name.adl", &format!("{before}{name}\n"), &mut Closed::default());
            if found.diagnostics.first().is_none_or(|d| d.code.name() != code) {
                return Err(format!("`{name}` is built: strike it off the list"));
            }
        }
    }
    Ok(())
}

// ---- primitives --------------------------------------------------------------------------------------------

const PRIMITIVES: &str = "# Primitives

All primitives of scalars, from the table that the compiler works with. This chapter is made by `cargo xtask bless`.

The type says which scalars they take; functions of floats and operators also go through tables, see [Classes and
operators](classes.md). *Cost* is in units of an addition. *Derivative* is `yes`, `zero` where the result is locally constant or
is no float, and `none` where there is none. Below a primitive stand its values at special points, with the partial
derivatives there, one for each operand, where they are defined, and the reason. `adl repl` shows the name and the type of a
function with `:doc`.
";

/// Checks or rewrites the chapter of primitives.
pub(crate) fn primitives(path: &Path) -> Result<(), String> {
    let mut out = PRIMITIVES.to_string();
    for Prim(def) in prim::table() {
        let _ = write!(out, "\n## {}\n\n{}\n\n", def.name, def.doc);
        let (derivative, why) = match def.diff {
            Diff::Partials(_) => ("yes", String::new()),
            Diff::Zero => ("zero", String::new()),
            Diff::Undefined(why) => ("none", format!(": {why}")),
        };
        let failing = if def.can_fail() { "; can fail" } else { "" };
        let _ =
            writeln!(out, "Type `{}`; cost {}; derivative {derivative}{why}{failing}.", ty(def), def.cost);
        if !def.edges.is_empty() {
            out += "\n| at | value | derivatives | because |\n| --- | --- | --- | --- |\n";
        }
        def.edges.iter().for_each(|edge| out += &row(def, edge));
    }
    check(path, &out)
}

fn row(def: &PrimDef, edge: &Edge) -> String {
    let list =
        |xs: &[f64]| xs.iter().map(|x| format!("`{}`", show::float(*x))).collect::<Vec<_>>().join(", ");
    // The operand of an Int is kept as a float in the table.
    let at: Vec<String> = edge
        .at
        .iter()
        .enumerate()
        .map(|(k, x)| {
            let whole = matches!(def.sig, Sig::FloatInt) && k == 1 || matches!(def.kernel, Kernel::I1(_));
            if whole { format!("`{x:.0}`") } else { format!("`{}`", show::float(*x)) }
        })
        .collect();
    format!(
        "| {} | `{}` | {} | {} |\n",
        at.join(", "),
        show::float(edge.value),
        list(edge.partials),
        edge.why
    )
}

/// The type, with alternatives.
fn ty(def: &PrimDef) -> String {
    let name = |s: &Scalar| match s {
        Scalar::F64 => "Float",
        Scalar::F32 => "F32",
        Scalar::Int => "Int",
        Scalar::Bool => "Bool",
        Scalar::Str => "String",
        Scalar::Key => "Key",
    };
    let one = |args: &Vec<Scalar>| {
        let result = def.result(args).as_ref().map_or("?", name);
        let args: Vec<&str> = args.iter().map(name).collect();
        if let [one] = args[..] {
            format!("{one} -> {result}")
        } else {
            format!("({}) -> {result}", args.join(", "))
        }
    };
    def.instances().iter().map(one).collect::<Vec<_>>().join("`, `")
}

// ---- grammar -----------------------------------------------------------------------------------------------

const MARK: &str = "<!-- Made from syntax/src/grammar.lalrpop by `cargo xtask bless`. -->\n";

/// Checks or rewrites the end of the chapter of grammar: the rules of the parser without what they build.
pub(crate) fn grammar(path: &Path) -> Result<(), String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../syntax/src/grammar.lalrpop");
    let source = std::fs::read_to_string(source).map_err(|e| e.to_string())?;
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (written, _) = text.split_once(MARK).ok_or(format!("the mark is missing: {MARK}"))?;
    check(path, &format!("{written}{MARK}\n```text\n{}```\n", rules(&source)?))
}

/// The rules of a grammar of lalrpop.
fn rules(source: &str) -> Result<String, String> {
    let (_, source) = source.split_once("\n}\n").ok_or("the tokens stand first")?;
    let code: String =
        source.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut out = String::new();
    for rule in split(&code, ';') {
        let rule = rule.trim();
        if rule.is_empty() {
            continue;
        }
        let (head, body) = rule.split_once('=').ok_or(format!("no rule: {rule}"))?;
        let name = head.split(": ").next().unwrap_or(head).trim().trim_start_matches("pub ");
        let body = body.trim();
        let body = body.strip_prefix('{').and_then(|b| b.strip_suffix('}')).unwrap_or(body);
        let forms: Vec<String> = split(body, ',')
            .iter()
            .filter(|f| !f.trim().is_empty() && !f.contains("\"broken\""))
            .map(|f| form(f))
            .collect();
        let line = format!("{} = {}", brackets(name), forms.join(" | "));
        let indent = " ".repeat(brackets(name).chars().count() + 1);
        let short = line.chars().count() <= 120;
        out += &if short { line } else { line.replace(" | ", &format!("\n{indent}| ")) };
        out.push('\n');
    }
    Ok(out)
}

/// The parts between separators outside of quotes and brackets.
fn split(text: &str, separator: char) -> Vec<String> {
    let (mut depth, mut quoted, mut before) = (0, false, ' ');
    let mut out = vec![String::new()];
    for c in text.chars() {
        match c {
            '"' if before != '\\' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth -= 1,
            '<' if !quoted => depth += 1,
            '>' if !quoted && !matches!(before, '=' | '-') => depth -= 1,
            _ => {}
        }
        // `"\\"` is a quoted backslash, which escapes nothing after it.
        before = if before == '\\' && c == '\\' { ' ' } else { c };
        if c == separator && depth == 0 && !quoted {
            out.push(String::new());
        } else if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out
}

/// One alternative: its symbols, without places, names and what it builds. A name that has to be a certain word is
/// that word.
fn form(text: &str) -> String {
    let word = text.split_once("word(&w, ").and_then(|(_, rest)| rest.split_once(')')).map(|(word, _)| word);
    let text = &word.map_or_else(|| text.to_string(), |word| text.replace("<w:Id>", word));
    let symbols = text.split("=>").next().filter(|s| s.matches('"').count() % 2 == 0);
    let symbols = symbols.map_or_else(|| quoted_arrow(text), str::to_string);
    let found: Vec<String> = split(&symbols.split_whitespace().collect::<Vec<_>>().join(" "), ' ')
        .iter()
        .filter(|s| !s.is_empty() && !s.contains("@L") && !s.contains("@R"))
        .map(|s| symbol(s))
        .collect();
    if found.is_empty() || found == ["()"] { "(nothing)".into() } else { found.join(" ") }
}

/// The symbols of an alternative that has `=>` as a word.
fn quoted_arrow(text: &str) -> String {
    let hidden = text.replace("\"=>\"", "\"arrow\"");
    hidden.split("=>").next().unwrap_or_default().replace("\"arrow\"", "\"=>\"")
}

/// `<x:Name>` is `Name`.
fn symbol(text: &str) -> String {
    let inner = text.strip_prefix('<').and_then(|s| s.strip_suffix('>')).unwrap_or(text);
    let named =
        inner.split_once(':').filter(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    let inner = named.map_or(inner, |(_, s)| s);
    let group = inner.strip_prefix('(').and_then(|s| s.strip_suffix(")?"));
    let words = ["\"id\"", "\"Up\"", "\"m.Up\"", "\"int\"", "\"flt\"", "\"str\""];
    match group {
        Some(group) => format!("({})?", form(group)),
        None if words.contains(&inner) => inner.trim_matches('"').to_string(),
        None => brackets(&inner.replace("\"\\\\\"", "\"\\\"")),
    }
}

/// `Comma1<Pat>` as `Comma1[Pat]`, and no change to words in quotes.
fn brackets(text: &str) -> String {
    if text.contains('"') { text.to_string() } else { text.replace('<', "[").replace('>', "]") }
}
