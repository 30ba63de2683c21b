//! Random programs of the whole surface language from a list of small choices: well typed by construction, so that
//! each must pass the checker, and every executor must do the same with it.
//!
//! Declared types are few and fixed (a struct, generic structs and enums, recursive enums, an index set); functions,
//! expressions and what is printed are random.

mod expr;
mod types;

use types::{Ix, Scope, T};
pub use types::{KINDS, Kinds};

/// A program, and what it contains.
pub struct Random {
    /// Its text.
    pub text: String,
    /// How often each kind of expression occurs.
    pub kinds: Kinds,
}

/// The types that all programs declare.
const DECLARATIONS: &str = "struct P { x: Float, n: Int }
struct Pair[a, b] { l: a, r: b }
enum Opt[a] { No, Yes(a) }
enum Shape { Dot, Disc(Float), Box(Float, Int) }
enum Color { Red, Green, Blue }
enum List[a] { Nil, Cons(a, List[a]) }
enum Tree { Leaf(Float), Node(Tree, Tree) }
def length(xs: List[a]) -> Int = case xs of { Nil -> 0, Cons(_, r) -> 1 + length(r) }
def append(xs: List[a], ys: List[a]) -> List[a] = case xs of { Nil -> ys, Cons(x, r) -> Cons(x, append(r, ys)) }
def total(t: Tree) -> Float = case t of { Leaf(x) -> x, Node(l, r) -> sin(total(l) + total(r)) }
def twice(f: a -> a, x: a) -> a = f(f(x))
def choose(c: Bool, f: a -> b, g: a -> b) -> a -> b = if c then f else g
def foldl(f: (b, a) -> b, z: b, xs: List[a]) -> b = case xs of { Nil -> z, Cons(x, r) -> foldl(f, f(z, x), r) }
def foldk(t: Tree, k: Float -> Float) -> Float = case t of { Leaf(x) -> k(x), Node(l, r) -> foldk(l, \\a. foldk(r, \\b. k(sin(a + b)))) }
";

/// A program made from these choices.
#[must_use]
pub fn program(choices: &[u8]) -> Random {
    let mut g = Gen { choices, at: 0, next: 0, kinds: Kinds::default(), defs: vec![], in_derivative: false };
    let mut text = DECLARATIONS.to_string();
    let mut scope = Scope::default();
    for _ in 0..=g.pick(3) {
        text.push_str(&g.def());
    }
    for _ in 0..1 + g.pick(3) {
        let t = g.any_type(2);
        let name = g.fresh("t");
        let value = g.expr(&t, &scope, 3);
        text.push_str(&format!("let {name}: {t} = {value}\n"));
        scope.bind(&name, t);
    }
    for _ in 0..1 + g.pick(3) {
        let t = g.printable(2);
        let value = g.expr(&t, &scope, 4);
        text.push_str(&format!("({value} : {t})\n"));
    }
    Random { text, kinds: g.kinds }
}

/// A function that was defined.
struct Def {
    name: String,
    params: Vec<T>,
    result: T,
    is_recursive: bool,
    /// Has it a derivative as yet?
    has_derivative: bool,
}

struct Gen<'a> {
    choices: &'a [u8],
    at: usize,
    next: usize,
    kinds: Kinds,
    defs: Vec<Def>,
    /// Inside a derivative: what has none yet is left out.
    in_derivative: bool,
}

impl Gen<'_> {
    /// A choice below `n`; 0 when the list has run out.
    fn pick(&mut self, n: usize) -> usize {
        let c = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(c) % n
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// A function of one to three parameters; some are of any size, some call themselves.
    fn def(&mut self) -> String {
        let name = self.fresh("f");
        let is_sized = self.pick(3) == 0;
        let mut params: Vec<(String, T)> = vec![];
        let mut scope = Scope::default();
        if is_sized {
            let xs = self.fresh("xs");
            params.push((xs, T::Table(Ix::Named("n".into()), Box::new(T::Float))));
            scope.sets.push("n".into());
        }
        for _ in 0..=self.pick(2) {
            params.push((self.fresh("p"), self.any_type(2)));
        }
        let result = self.any_type(2);
        let before = self.kinds.recursive();
        let is_recursive = !is_sized && self.pick(3) == 0;
        if is_recursive {
            params.insert(0, (self.fresh("k"), T::Int));
        }
        for (p, t) in &params {
            scope.bind(p, t.clone());
        }
        let body = if is_recursive {
            self.kinds.note("recursive function");
            let end = self.expr(&result, &scope, 2);
            let rest: Vec<String> = params[1..].iter().map(|(_, t)| self.expr(t, &scope, 1)).collect();
            let again = self.fresh("r");
            let k = &params[0].0;
            let args: Vec<String> = std::iter::once(format!("{k} - 1")).chain(rest).collect();
            let call = format!("{name}({})", args.join(", "));
            let mut inner = scope.clone();
            inner.bind(&again, result.clone());
            let step = self.expr(&result, &inner, 2);
            format!("if {k} <= 0 then {end} else {{ let {again}: {result} = {call}; {step} }}")
        } else {
            self.expr(&result, &scope, 4)
        };
        let signature: Vec<String> = params.iter().map(|(p, t)| format!("{p}: {t}")).collect();
        let text = format!("def {name}({}) -> {result} = {body}\n", signature.join(", "));
        // A table of any size is called with one of three.
        let closed = |t: T| t.at_size(3);
        let params = params.into_iter().map(|(_, t)| closed(t)).collect();
        let has_derivative = !is_recursive && self.kinds.recursive() == before;
        self.defs.push(Def { name, params, result, is_recursive, has_derivative });
        text
    }
}
