//! What parses, what is reported, and that nothing panics.
#![expect(clippy::wildcard_enum_match_arm, reason = "tests look at a few forms")]

use adl_diag::{Code, FileId, SourceMap, Span};
use proptest::prelude::*;

use crate::{ast::*, is_incomplete, lexer::lex, parse, parse_expr};

const SAMPLES: &[&str] = &[
    r#"
/// Dot product. The size n is quantified by its appearance in the signature.
def dot(x: n=>Float, y: n=>Float) -> Float = sum(for i. x[i] * y[i])

def matmul(a: l=>m=>Float, b: m=>n=>Float) -> l=>n=>Float =
  for i, k. sum(for j. a[i, j] * b[j, k])

dot([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
def logsumexp(x: n=>Float) -> Float = {
  let m = stop_gradient(maximum(x))     // a shift: its derivative cancels
  m + log(sum(for i. exp(x[i] - m)))
}
test "the gradient of logsumexp is softmax" {
  let x = [1.0, 2.0, 3.0]
  assert_close(grad(logsumexp)(x), softmax(x))
}
"#,
    r#"
def lloyd(points: n=>d=>Float, cs: k=>d=>Float) -> k=>d=>Float = {
  let owner = for i. argmin(for c. dist2(points[i], cs[c]))
  let (sums, sizes) = accum s: k=>d=>Float, m: k=>Float do
    for i. {
      s[owner[i]] += points[i]
      m[owner[i]] += 1.0
    }
  for c. if sizes[c] > 0.0 then sums[c] / sizes[c] else cs[c]
}
def escape_time(c: Complex, limit: Int) -> Int = {
  let (_, n) = loop (z, n) = (Complex { re = 0.0, im = 0.0 }, 0)
    while abs2(z) < 4.0 && n < limit do (z * z + c, n + 1)
  n
}
let rows = linspace(-1.0, 1.0, 200)
heatmap(for i, j. float(escape_time(Complex { re = cols[j], im = rows[i] }, 1000)))
"#,
    r#"
language 1
import nn
import path.to.mod as m
import complex (Complex, abs2)
type Vec[n] = n=>Float
struct Dense[i, o] derives Eq, Show { w: i=>o=>Float, b: o=>Float }
enum Tree { Leaf(Float), Node(Tree, Tree) }
enum Option[a] {
  None
  Some(a)
}
enum Color { Red, Green, Blue }
instance Num(Complex) {
  def mul(a, b) = a
  def from_int(n) = Complex { re = float(n), im = 0.0 }
}
def first[n: Ix, a: Type](xs: n=>a) -> a = xs[0]
def apply(l: nn.Dense[i, o], x: i=>Float) -> o=>Float
  where Vector(a), Num(b)
  = x @ l.w + l.b
param steps: Int = 500
derivative reverse damp(x) = (x, \dy. 0.1 * dy)
derivative safe_norm(v) = { let y = safe_norm(v); (y, \dv. if y == 0.0 then 0.0 else dot(v, dv) / y) }
let w = loop w = zero for _: Fin(steps) keep every 10 do w - 0.1 * grad(\w. mse(w, xs, ys))(w)
let positive: exists m. m=>Float = filter(\x. x > 0.0, ys)
ys |> filter(\x. x > 1.0, _) |> sum
let t = ((1, 2), 3).0.1
let u = p with { w = w1, [i, j] = 0.0 }
let v = (e : Fin(n+1)=>Float)
case e of { Some(Node(l, _)) -> l, Some(t) if t > 0 -> -1, None -> nn.Leaf(0.0), P { x, y = 1 } -> 2 }
def mv(a: n=>m=>Float) -> (m=>Float) -o (n=>Float) = \x. for i. sum(for j. a[i, j] * x[j])
when mask[i] do h[i] += 1.0
for (i, j): (n, m). a[(i, j)]
{ def f(x) = x; let y = f(1); y; (f)
  -y
  [1]
  - 2 }
"a \"quoted\" \u{1F600} string\n" ++ ""
/* a /* nested */ comment */ 0xff + 1_000 + 1e-3
"#,
];

fn errors(text: &str) -> String {
    let mut map = SourceMap::new();
    let file = map.add("t.adl", text);
    let (_, found) = parse(file, text);
    found
        .iter()
        .map(|d| {
            let (line, column) = map.line_col(d.span());
            let help = d.help.as_ref().map(|h| format!(" | {h}")).unwrap_or_default();
            format!("{line}:{column} {} {}{help}", d.code, d.message)
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn samples_parse() {
    for sample in SAMPLES {
        assert_eq!(errors(sample), "");
        let (module, _) = parse(FileId(1), sample);
        assert!(module.items.iter().all(|item| !matches!(item.kind, ItemKind::Broken(_))));
    }
}

#[test]
fn items_have_docs_and_the_language_is_kept() {
    let (module, _) =
        parse(FileId(1), "language 1\n\n/// One.\n/// Two.\ndef f(x) = x\n/// Three.\nlet y = 2");
    assert_eq!(module.language, Some(1));
    assert_eq!(module.items[0].docs.as_deref(), Some("One.\nTwo."));
    assert_eq!(module.items[1].docs.as_deref(), Some("Three."));
}

/// The shape of an expression, with all brackets.
fn shape(e: &Expr) -> String {
    let list = |es: &[Expr]| es.iter().map(shape).collect::<Vec<_>>().join(", ");
    match &e.kind {
        ExprKind::Var(x) | ExprKind::Ctor(x) => x.clone(),
        ExprKind::Lit(Lit::Int(n)) => n.to_string(),
        ExprKind::Lit(Lit::Float(x)) => format!("{x:?}"),
        ExprKind::Lit(Lit::Str(s)) => format!("{s:?}"),
        ExprKind::Lit(Lit::Bool(b)) => b.to_string(),
        ExprKind::Hole => "_".into(),
        ExprKind::Paren(e) => shape(e),
        ExprKind::Tuple(es) => format!("({})", list(es)),
        ExprKind::List(es) => format!("[{}]", list(es)),
        ExprKind::Chain(first, links) => links
            .iter()
            .fold(shape(first), |left, link| format!("({left} {} {})", link.op.symbol(), shape(&link.right))),
        ExprKind::Pipe(first, rest) => format!("({} |> {})", shape(first), list(rest)),
        ExprKind::Neg(e) => format!("(- {})", shape(e)),
        ExprKind::Not(e) => format!("(! {})", shape(e)),
        ExprKind::Call(f, xs) => format!("{}({})", shape(f), list(xs)),
        ExprKind::Index(f, xs) => format!("{}[{}]", shape(f), list(xs)),
        ExprKind::Field(e, name) => format!("{}.{}", shape(e), name.text),
        ExprKind::Lambda(_, e) => format!("(\\. {})", shape(e)),
        ExprKind::For(_, e) => format!("(for. {})", shape(e)),
        ExprKind::If(c, a, b) => format!("(if {} {} {})", shape(c), shape(a), shape(b)),
        other => format!("{other:?}"),
    }
}

#[test]
fn precedence_is_that_of_the_language() {
    for (text, want) in [
        ("1 + 2 * 3 - 4", "((1 + (2 * 3)) - 4)"),
        ("-x^2", "(- (x ^ 2))"),
        ("2^3^2", "(2 ^ (3 ^ 2))"),
        ("2^-x", "(2 ^ (- x))"),
        ("a || b && c == d ++ e + f", "(a || (b && (c == (d ++ (e + f)))))"),
        ("x |> f |> g(_, 1)", "(x |> f, g(_, 1))"),
        ("f(x)[i].y.0", "f(x)[i].y.0"),
        ("t.0.1", "t.0.1"),
        ("\\x. 3.0 * x + 1", "(\\. ((3.0 * x) + 1))"),
        ("1 + \\x. x + 1", "(1 + (\\. (x + 1)))"),
        ("for i. xs[i] |> f", "(for. (xs[i] |> f))"),
        ("if a then b else c + 1", "(if a b (c + 1))"),
        ("!a && b", "((! a) && b)"),
        ("x - -1", "(x - (- 1))"),
    ] {
        let e = parse_expr(FileId(1), text).expect(text);
        assert_eq!(shape(&e), want, "{text}");
    }
}

#[test]
fn newlines_end_statements() {
    for (text, count) in [
        ("a\nb", 2),
        ("a +\nb", 1),
        ("a\n+ b", 1),
        ("a\n- b", 1),
        ("a\n-b", 2),
        ("f\n(x)", 2),
        ("a\n[i]", 2),
        ("xs\n  |> f\n  .w", 1),
        ("(a\n\nb)", 1),
        ("if a then b\nelse c", 1),
        ("loop x = y\n for i: n do x", 1),
        ("loop x = y\n while c do x", 1),
        ("accum h: n=>Float do h[i] += 1.0\nfor i. x", 2),
        ("a // comment\n// more\nb", 2),
        ("a /* \n */ b", 2),
        ("def f(x: a)\n -> b\n where Num(a)\n = x", 1),
        ("def f(x: a)\n -o b = x", 1),
        ("a;b;;c;", 3),
    ] {
        let (module, _) = parse(FileId(1), text);
        assert_eq!(module.items.len(), count, "{text:?}");
    }
}

#[test]
fn syntax_errors_say_what_is_meant() {
    let cases = [
        "def f x = x",
        "def f(x = x",
        "sin x",
        "\\x -> x",
        "x => x",
        "let f = fn(x) x",
        "lambda x: x",
        "return x",
        "a and b",
        "if not a then b else c",
        "match x { }",
        "x ** 2",
        "if a then b",
        "when a x",
        "let x 3",
        "let X = 3",
        "enum tree { leaf }",
        "struct S { x = Float }",
        "let type = 3",
        "1 < 2 < 3",
        "x = 3",
        "let y = 5.",
        "let y = .5",
        "for i xs[i]",
        "case x of A -> 1",
        "case x of { A => 1 }",
        "f(1, 2",
        "f(1]",
        "}",
        "\"abc",
        "\"a\\q\"",
        "/* x",
        "a & b",
        "99999999999999999999",
        "let x := 3",
        "let x = 3 in x",
        "a[]",
        "{ let x = ; x }",
        "{ let x = 1 y }",
        "import nn as",
        "test foo { }",
        "def f(x) = { x + ; y * ; z }\nlet = 3\nf(1)",
        "(1 + \ndef g(x) = x\ndef h(x) = +",
        "x -o y",
        "Dense(3) : x",
        "def f(x: Foo(3)) = x",
    ];
    let found: Vec<String> = cases.iter().map(|c| format!("{c:?}\n{}", errors(c))).collect();
    insta::assert_snapshot!(found.join("\n\n"), @r##"
    "def f x = x"
    1:7 E0106 expected `(`, found `x` | parameters stand in brackets: `def f(x) = …`; a value is `let x = …`

    "def f(x = x"
    1:6 E0105 this `(` is never closed | put `)` where it ends

    "sin x"
    1:5 E0106 expected an operator or the end of the statement, found `x` | a function is called with brackets: `sin(x)`

    "\\x -> x"
    1:4 E0106 expected `.`, found `->` | a lambda has a dot: `\x. x + 1`

    "x => x"
    1:3 E0106 expected an operator or the end of the statement, found `=>` | a lambda is written `\x. x + 1`

    "let f = fn(x) x"
    1:9 E0108 `fn` is not a word of adl | a function is `def f(x) = …`, a lambda `\x. …`

    "lambda x: x"
    1:1 E0108 `lambda` is not a word of adl | a lambda is written `\x. x + 1`

    "return x"
    1:1 E0108 `return` is not a word of adl | the last expression of a block is its value

    "a and b"
    1:3 E0108 `and` is not a word of adl | write `&&`

    "if not a then b else c"
    1:4 E0108 `not` is not a word of adl | write `!c`

    "match x { }"
    1:1 E0108 `match` is not a word of adl | write `case e of { pattern -> value }`

    "x ** 2"
    1:3 E0108 `**` is not a word of adl | a power is written `x^2`

    "if a then b"
    1:12 E0106 expected `else`, found the end | `if` has a value, so it needs `else`; a statement is `when c do …`

    "when a x"
    1:8 E0106 expected `do`, found `x`

    "let x 3"
    1:7 E0106 expected `=`, found the number 3

    "let X = 3"


    "enum tree { leaf }"
    1:6 E0106 expected a name that begins with a capital letter, found `tree` | names of types and constructors begin with a capital: `Tree`

    "struct S { x = Float }"
    1:14 E0106 expected `:`, found `=` | the type of a field stands after `:`

    "let type = 3"
    1:5 E0106 expected a pattern, found `type` | `type` is a word of the language and cannot be a name

    "1 < 2 < 3"
    1:7 E0106 expected an operator or the end of the statement, found `<` | comparisons do not chain: write `a < b && b < c`

    "x = 3"
    1:3 E0106 expected an operator or the end of the statement, found `=` | `==` compares; `let x = …` binds

    "let y = 5."
    1:11 E0106 expected a name, found the end | a number has digits on both sides of its point: `1.0`

    "let y = .5"
    1:9 E0106 expected an expression, found `.` | a number has digits on both sides of its point: `0.5`

    "for i xs[i]"
    1:7 E0106 expected `.`, found `xs`

    "case x of A -> 1"
    1:11 E0106 expected `{`, found `A`

    "case x of { A => 1 }"
    1:15 E0106 expected `->`, found `=>` | an arm is `pattern -> value`

    "f(1, 2"
    1:2 E0105 this `(` is never closed | put `)` where it ends

    "f(1]"
    1:4 E0105 `(` is closed by `]` | close it with `)`

    "}"
    1:1 E0105 this `}` closes nothing | delete it, or open a bracket before it

    "\"abc"
    1:1 E0102 this string does not end | close it with `"`; a line break inside is written `\n`

    "\"a\\q\""
    1:3 E0102 `\q` is no escape | the escapes are `\n \t \r \0 \" \\ \u{1F600}`; a backslash is `\\`

    "/* x"
    1:1 E0103 this comment does not end | each `/*` needs its own `*/`

    "a & b"
    1:3 E0101 `&` means nothing in adl | `&&` is the logical and

    "99999999999999999999"
    1:1 E0104 this integer does not fit in 64 bits | a Float literal has a `.`, as in `1e30`

    "let x := 3"
    1:7 E0108 `:=` is not a word of adl | write `let x = …`

    "let x = 3 in x"
    1:11 E0108 `in` is not a word of adl | a `let` stands in a block: `{ let x = 1; x + x }`; a loop is `for i: n. …`

    "a[]"
    1:1 E0106 an index is missing | write `a[i]`

    "{ let x = ; x }"
    1:11 E0106 expected an expression, found the end of the statement

    "{ let x = 1 y }"
    1:13 E0106 expected the end of the statement or `}`, found `y` | two values follow each other: an operator, a comma or a new line is missing

    "import nn as"
    1:13 E0106 expected a name, found the end

    "test foo { }"
    1:6 E0106 expected a string, found `foo`

    "def f(x) = { x + ; y * ; z }\nlet = 3\nf(1)"
    1:18 E0106 expected an expression, found the end of the statement
    1:24 E0106 expected an expression, found the end of the statement
    2:5 E0106 expected a pattern, found `=`

    "(1 + \ndef g(x) = x\ndef h(x) = +"
    1:1 E0105 this `(` is never closed | put `)` where it ends
    3:12 E0106 expected an expression, found `+`

    "x -o y"
    1:3 E0106 expected an operator or the end of the statement, found `-o` | for a difference write `- o`, with a space

    "Dense(3) : x"
    1:10 E0106 expected an operator or the end of the statement, found `:`

    "def f(x: Foo(3)) = x"
    1:10 E0106 `Foo(…)` is not a type | write `Foo[…]`
    "##);
}

#[test]
fn forms_of_other_languages_have_hints() {
    let cases = [
        "map(x -> x + 1, xs)",
        "f(1.0, lr=0.1)",
        "xs[0:2]",
        "a[1] = 5",
        "for i: 10. float(i)",
        "let s = \"abc\ndef\"\ns",
    ];
    let found: Vec<String> = cases.iter().map(|c| format!("{c:?}\n{}", errors(c))).collect();
    insta::assert_snapshot!(found.join("\n\n"), @r##"
    "map(x -> x + 1, xs)"
    1:7 E0106 expected `,` or `)`, found `->` | a lambda is written `\x. x + 1`

    "f(1.0, lr=0.1)"
    1:10 E0106 expected `,` or `)`, found `=` | arguments have no names: write the value alone, or take a struct, `f(Options { lr = … })`

    "xs[0:2]"
    1:5 E0106 expected `,` or `]`, found `:` | a part of a table is `slice(xs, start, count)`

    "a[1] = 5"
    1:6 E0106 expected an operator or the end of the statement, found `=` | values do not change: `a with { [i] = x }` is the table with one element replaced

    "for i: 10. float(i)"
    1:8 E0106 expected a type, found the number 10 | the index set of 10 elements is `Fin(10)`

    "let s = \"abc\ndef\"\ns"
    1:9 E0102 this string does not end | close it with `"`; a line break inside is written `\n`
    "##);
}

#[test]
fn what_is_broken_keeps_its_names() {
    let (module, found) = parse(FileId(1), "def f(x) = x +\nlet (a, b) = c c\nstruct S { x y }\nlet ok = 1");
    assert_eq!(found.len(), 3);
    let names: Vec<_> = module
        .items
        .iter()
        .map(|item| match &item.kind {
            ItemKind::Broken(names) => names.iter().map(|n| n.text.clone()).collect(),
            ItemKind::Def(d) => vec![d.name.text.clone()],
            ItemKind::Let(_) => vec!["let".to_string()],
            other => vec![format!("{other:?}")],
        })
        .collect();
    assert_eq!(names, [vec!["f"], vec!["let"], vec!["S"], vec!["let"]]);
}

#[test]
fn nesting_is_limited_and_chains_are_not() {
    let nested = format!("{}1{}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(errors(&nested).contains("E0107"));
    assert!(errors(&"-".repeat(5_000).replace('-', "- ").replace("- ", "-(")).contains("E0107"));
    assert!(errors(&format!("{}x", "!".repeat(5_000))).contains("E0107"));
    assert!(errors(&format!("f(x: {}a) ", "a -> ".repeat(5_000))).contains('E'));
    assert!(errors(&format!("{}x", "\\x. ".repeat(5_000))).contains("E0107"));
    assert_eq!(errors(&format!("1{}", " + 1 * 2".repeat(50_000))), "");
    assert_eq!(errors(&format!("[1{}]", ", 1".repeat(50_000))), "");
}

#[test]
fn the_prompt_knows_what_is_incomplete() {
    for text in [
        "def f(x) =",
        "f(1,",
        "{ let x = 1",
        "1 +",
        "/* a",
        "if a then b else",
        "loop x = 1 for i: n",
        "\\x.",
        "/// Adds.",
        "1 + 1\n/// Adds.\n",
    ] {
        assert!(is_incomplete(text), "{text}");
    }
    for text in ["1 + 1", "f(x)", "def f(x) = x", "", "}", "let x = 1\n", "x y", "\"abc", "/// A.\nlet x = 1"]
    {
        assert!(!is_incomplete(text), "{text}");
    }
}

/// Parses, and looks at every span.
fn survive(text: &str) {
    let (module, found) = parse(FileId(1), text);
    for d in &found {
        assert!(!d.labels.is_empty());
        for (span, _) in &d.labels {
            assert!(span.start <= span.end && span.end as usize <= text.len(), "{d:?}");
        }
    }
    if module.items.iter().any(|item| matches!(item.kind, ItemKind::Broken(_))) {
        assert!(!found.is_empty());
    }
    is_incomplete(text);
}

#[test]
fn truncation_never_panics() {
    for sample in SAMPLES {
        for at in (0..sample.len()).filter(|at| sample.is_char_boundary(*at)).step_by(3) {
            survive(&sample[..at]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn deletion_and_swap_never_panic(which in 0..SAMPLES.len(), a in 0usize..10_000, b in 0usize..10_000) {
        let text = SAMPLES[which];
        let tokens: Vec<(usize, usize)> =
            lex(FileId(1), text).tokens.iter().filter(|t| t.2 > t.0).map(|t| (t.0, t.2)).collect();
        let (a, b) = (tokens[a % tokens.len()], tokens[b % tokens.len()]);
        survive(&format!("{}{}", &text[..a.0], &text[a.1..]));
        let (a, b) = (a.min(b), a.max(b));
        if a != b {
            let (x, y) = (&text[a.0..a.1], &text[b.0..b.1]);
            survive(&format!("{}{y}{}{x}{}", &text[..a.0], &text[a.1..b.0], &text[b.1..]));
        }
    }

    #[test]
    fn any_text_survives(text in "[ -~\\n\u{e9}\u{3b8}]{0,80}") {
        survive(&text);
    }
}

#[test]
fn spans_are_exact() {
    let text = "let x = foo + bar";
    let (module, _) = parse(FileId(1), text);
    let ItemKind::Let(l) = &module.items[0].kind else { panic!("a let") };
    assert_eq!(l.value.span, Span::new(FileId(1), 8, 17));
    assert_eq!(Code::E0106.name(), "E0106");
}
