//! What elaboration writes: well-formed Core, which reads back from its text.

use adl_core::{lint, parse, print};

use super::{GOOD, check, session};
use crate::session::Options;

#[test]
fn core_is_well_formed_and_reads_back() {
    let base = session(Options::default());
    for (name, text) in GOOD.iter().copied().chain(MORE.iter().map(|t| ("more", *t))) {
        let (checked, found) = check(&base, text);
        assert!(checked.is_ok(), "{name}\n{found}");
        if let Err(v) = lint::higher_order(&checked.program) {
            panic!("{name}: {}: {}\n{text}", v.rule, v.message);
        }
        let printed = print::program(&checked.program);
        match parse::program(&printed) {
            Ok(read) => assert_eq!(print::program(&read), printed, "{name}"),
            Err(e) => panic!("{name}: byte {}: {}\n{printed}", e.at, e.message),
        }
    }
}

/// Programs that use every form.
pub(super) const MORE: &[&str] = &[
    "enum Option[a] { None, Some(a) }
def or_else(x: Option[a], y: a) -> a = case x of { Some(v) -> v, None -> y }
def f(x: (Option[Int], Bool)) -> Int = case x of {
  (Some(0), _) -> 1
  (Some(n), true) if n > 3 -> n
  (Some(n), b) -> if b then n else -n
  (None, true) -> 7
  (None, false) -> 8
}
f((Some(3), true))
or_else(None, 2.0)
map(Some, [1, 2])",
    "def f(xs: n=>Float) -> Float = {
  let g = \\i. xs[i] * 2
  def h(a: n) -> Float = g(a) + g(a)
  let (s, _) = loop (s, k) = (0.0, 0) while k < 10 do (s + 1, k + 1)
  let t = xs with { [0] = s }
  when s > 1 do assert(s < 100)
  sum(for i. h(i)) + last(t)
}
f([1.0, 2.0])",
    "struct P { a: Float, b: (Int, Bool) }
let p = P { a = 1.0, b = (2, true) }
let q = p with { a = 2.0 }
q.b.0
let (x, y) = (p.a, q.a)
let n = 3
let z = for i: Fin(n), j: Fin(n+1). float(i) * x + y
z
transpose(z)[0]
flatten(z)",
    "struct C { k: Int }
def f(c: C) -> Float = { let xs = for i: Fin(c.k). 1.0; sum(xs) }
def g(c: C) -> Float = loop x = 0.0 for i: Fin(c.k) do x + float(i)
f(C { k = 3 }) + g(C { k = 4 })
def h(m: Int) -> Fin(m)=>Float = for i. float(i)
let v = h(int(2.5))
v + v
h(3) + [1.0, 2.0, 3.0]",
    "let xs: n=>d=>Float = load_npy(\"x.npy\")
let ys: n=>Float = load_npy(\"y.npy\")
def mse(w: d=>Float, xs: n=>d=>Float, ys: n=>Float) -> Float = mean(for i. (dot(xs[i], w) - ys[i])^2)
let w: d=>Float = loop w = zero for _: Fin(200) do w - 0.1 * grad(\\w. mse(w, xs, ys))(w)
mse(w, xs, ys)
param steps: Int = 3
steps + 1
test \"t\" { assert_close(grad(sin)(0.0), 1.0) }",
    "def sq(x) = x * x
let add = \\(x, y). x + y
let f = sq
f(2) + add(1, 2)
map(f, [1.0, 2.0])
scan(0.0, \\(s, i: Fin(3)). (s + float(i), s * 2)).1
trace(\"x\", 3)
show([1, 2]) ++ \"a\"
[1, 2] ++ [3]
max([1.0, 2.0], 0.0)
max(1, 2)
abs(-3)
f64(f32(1.5))
int(true)
split(key(1)).0
filter(\\x. x > 1, [1, 2, 3])
let big: m=>Int = filter(\\x. x > 1, [1, 2, 3])
sum(big)
for i. big[i] + 1",
    "enum Color { Red, Green, Blue }
let t = for c: Color. case c of { Red -> 1.0, Green -> 2.0, Blue -> 3.0 }
t[Red]
for c: Color. int(c)
for (c, b): (Color, Bool). int((c, b))
Red == Blue",
    "def hist(bin: n=>k, w: n=>Float) -> (k=>Float, Float) = accum h: k=>Float, s: Float do for i. { h[bin[i]] += w[i]; s += w[i] }
hist(for i: Fin(3). i, [1.0, 2.0, 3.0])
let xs = [1.0, 2.0]
(xs : Fin(2)=>Float)
def g(xs: n=>Float, ys: m=>Float) -> Float = dot(xs, (ys : n=>Float))
g([1.0], [2.0])",
];
