//! Programs that have to pass, and programs that have to fail with a code.

/// Name and text of programs without a mistake.
pub(super) const GOOD: &[(&str, &str)] = &[
    (
        "dot",
        r#"def dot1(x: n=>Float, y: n=>Float) -> Float = sum(for i. x[i] * y[i])
dot1([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])"#,
    ),
    (
        "matmul",
        r#"def matmul(a: l=>m=>Float, b: m=>n=>Float) -> l=>n=>Float =
  for i, k. sum(for j. a[i, j] * b[j, k])"#,
    ),
    (
        "softmax",
        r#"def logsumexp(x: n=>Float) -> Float = {
  let m = stop_gradient(maximum(x))
  m + log(sum(for i. exp(x[i] - m)))
}
def softmax(x: n=>Float) -> n=>Float = exp(x - logsumexp(x))
let x = [1.0, 2.0, 3.0]
grad(logsumexp)(x)
sum(grad(logsumexp)(x + 1000.0))"#,
    ),
    (
        "kmeans",
        r#"def dist2(p: d=>Float, q: d=>Float) -> Float = sum((p - q)^2)
def lloyd(points: n=>d=>Float, cs: k=>d=>Float) -> k=>d=>Float = {
  let owner = for i. argmin(for c. dist2(points[i], cs[c]))
  let (sums, sizes) = accum s: k=>d=>Float, m: k=>Float do
    for i. {
      s[owner[i]] += points[i]
      m[owner[i]] += 1.0
    }
  for c. if sizes[c] > 0.0 then sums[c] / sizes[c] else cs[c]
}
def cost(points: n=>d=>Float, cs: k=>d=>Float) -> Float = sum(for i. minimum(for c. dist2(points[i], cs[c])))
def newton(points: n=>d=>Float, cs: k=>d=>Float) -> k=>d=>Float = {
  let (g, h) = jvp(grad(\c. cost(points, c)))(cs, one)
  cs - g / h
}"#,
    ),
    (
        "rk4 + adaptive",
        r#"def rk4_step(f: (s, Float) -> s, y: s, t: Float, h: Float) -> s where Vector(s) = {
  let k1 = f(y, t)
  let k2 = f(y + h / 2 * k1, t + h / 2)
  let k3 = f(y + h / 2 * k2, t + h / 2)
  let k4 = f(y + h * k3, t + h)
  y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
}
def integrate(f: (s, Float) -> s, y0: s, t1: Float, tol: Float) -> s where Vector(s) = {
  let (y, _, _) = loop (y, t, h) = (y0, 0.0, 0.1)
    while t < t1 do {
      let h = min(h, t1 - t)
      let big = rk4_step(f, y, t, h)
      let mid = rk4_step(f, y, t, h / 2)
      let small = rk4_step(f, mid, t + h / 2, h / 2)
      let err = norm(small - big)
      let h' = h * clamp(0.2, 5.0, 0.9 * (tol / (err + 1e-300))^0.2)
      if err <= tol then (small, t + h, h') else (y, t, h')
    }
  y
}
grad(\a. integrate(\(y, t). -a * y, 1.0, 1.0, 1e-9))(1.0)"#,
    ),
    (
        "HMC",
        r#"struct HMC { step: Float, leaps: Int }
def leapfrog(logp: (d=>Float) -> Float, cfg: HMC, q: d=>Float, p: d=>Float) -> (d=>Float, d=>Float) =
  loop (q, p) = (q, p) for _: Fin(cfg.leaps) do {
    let p = p + cfg.step / 2 * grad(logp)(q)
    let q = q + cfg.step * p
    (q, p + cfg.step / 2 * grad(logp)(q))
  }
def hmc_step(logp: (d=>Float) -> Float, cfg: HMC, q: d=>Float, k: Key) -> d=>Float = {
  let (k1, k2) = split(k)
  let p: d=>Float = normal(k1)
  let (q', p') = leapfrog(logp, cfg, q, p)
  let joint = \(q, p). logp(q) - dot(p, p) / 2
  if log(uniform(k2)) < joint(q', p') - joint(q, p) then q' else q
}
def chain(step: (s, Key) -> s, x0: s, n: Int, k: Key) -> Fin(n)=>s =
  scan(x0, \(x, i). { let y = step(x, ixkey(k, i)); (y, y) }).1
let target = \x. -0.5 * ((x[0] - 1.5)^2 + 20.0 * (x[1] - 2.5)^2)
let cfg = HMC { step = 0.1, leaps = 10 }
let xs = chain(\(q, k). hmc_step(target, cfg, q, k), [0.0, 0.0], 10_000, key(1))
mean(xs)"#,
    ),
    (
        "dense + SGD",
        r#"struct Dense[i, o] { w: i=>o=>Float, b: o=>Float }
def apply(l: Dense[i, o], x: i=>Float) -> o=>Float = x @ l.w + l.b
def loss(l: Dense[i, o], x: i=>Float, y: o=>Float) -> Float = sum((apply(l, x) - y)^2)
def step(p: Dense[i, o], lr: Float, x: i=>Float, y: o=>Float) -> Dense[i, o] = p - lr * grad(\p. loss(p, x, y))(p)
def mid(p: Dense[i, o], q: Dense[i, o]) -> Dense[i, o] = 0.5 * (p + q)"#,
    ),
    (
        "Adam",
        r#"struct Adam[p] { m: p, v: p, t: Float }
def adam(f: p -> Float, s: Adam[p], x: p, sq: p -> p, div2: (p, p) -> p) -> (p, Adam[p]) where Vector(p) = {
  let g = grad(f)(x)
  let m = 0.9 * s.m + 0.1 * g
  let v = 0.999 * s.v + 0.001 * sq(g)
  let t = s.t + 1
  (x - 0.001 * div2(m / (1 - 0.9^t), v / (1 - 0.999^t)), Adam { m = m, v = v, t = t })
}"#,
    ),
    (
        "sq poly",
        r#"def sq(x) = x * x
sq(3.0)
sq(2)
sq([1.0, 2.0])
(\x. x*x)(3.0)
(\x. x*x)([1.0])"#,
    ),
    (
        "mean",
        r#"def mean2(xs: n=>a) -> a = sum(xs) / float(size(n))
mean2([1.0, 2.0])
mean2([[1.0], [2.0]])"#,
    ),
    (
        "compose map fold zip",
        r#"def compose(f, g) = \x. f(g(x))
def twice(f) = compose(f, f)
let ys = map(\x. x + 1, [1, 2, 3])
fold(\(a, x). a + x, 0.0, [1.0, 2.0])
zip([1, 2], [true, false])
map(\(a, b). a * b, zip([1.0], [2.0]))
compose(sin, cos)(1.0)"#,
    ),
    (
        "grad curried, nested",
        r#"def mse(w: d=>Float, xs: n=>d=>Float, ys: n=>Float) -> Float = mean(for i. (dot(xs[i], w) - ys[i])^2)
let xs: n=>d=>Float = load_npy("x")
let ys: n=>Float = for i. 1.0
let w: d=>Float = loop w = zero for _: Fin(200) do w - 0.1 * grad(\w. mse(w, xs, ys))(w)
mse(w, xs, ys)
grad(grad(\x. x^3))(2.0)
grad(\x. x * grad(\y. x * y)(1.0))(3.0)
grad(sin)(0.0)"#,
    ),
    ("shift", r#"def diff(xs: n=>Float) -> n=>Float = for i. xs[i+1] - xs[i]"#),
    (
        "stencil",
        r#"def st(xs: n=>Float) -> n=>Float = for i. if i == 0 then xs[i] else (xs[int(i)-1] + xs[i-1] + xs[i]) / 2"#,
    ),
    (
        "scale lits",
        r#"let x = [1.0]
2 * x
x / 2
let y = 3.0
2 * y
struct P { a: Float, b: Fin(2)=>Float }
def mid(p: P, q: P) -> P = 0.5 * (p + q)
def half(p: P) -> P = p / 2
def dbl(p: P) -> P = 2 * p"#,
    ),
    (
        "for Fin(3)",
        r#"for i: Fin(3). i == 0
for i: Fin(3). float(i) * 0.5
for i: Fin(3), j: Fin(4). i + j"#,
    ),
    (
        "argmin",
        r#"def nearest(xs: n=>Float, ys: n=>a) -> a = ys[argmin(xs)]
nearest([1.0, 2.0], [true, false])"#,
    ),
    (
        "x + 1",
        r#"def f(x) = x + 1
f(2.5)
f(2)
f([1.0])"#,
    ),
    (
        "mat@vec in def",
        r#"def layer(w: n=>m=>Float, x: m=>Float) = w @ x + 1.0 * (w @ x)
layer([[1.0]], [1.0])
def batch(w: n=>m=>Float, xs: k=>m=>Float) = map(\x. w @ x, xs)
def gen(w: n=>m=>a, x: m=>a) = w @ x"#,
    ),
    (
        "transpose",
        r#"def mv(a: n=>m=>Float) -> (m=>Float) -o (n=>Float) = \x. for i. sum(for j. a[i, j] * x[j])
def mvt(a: n=>m=>Float) -> (n=>Float) -o (m=>Float) = transpose_linear(mv(a))
map(transpose_linear(\x. 3.0 * x), [1.0])
transpose_linear(\(x, y). x + 2 * y)(1.0)"#,
    ),
    (
        "pack",
        r#"let xs = [1.0, -2.0]
let ys: m=>Float = filter(\x. x > 0.0, xs)
let z = for i. ys[i] * 2
sum(if sum(xs) > 0.0 then filter(\x. x > 0.0, xs) else filter(\x. x < 0.0, xs))
sum(filter(\x. x > 0.0, xs))
def pos(xs: n=>Float) -> exists m. m=>Float = filter(\x. x > 0.0, xs)
def dbl(xs: n=>Float) -> exists m. m=>Float = { let ys = pos(xs); for i. 2 * ys[i] }"#,
    ),
    (
        "sizes",
        r#"def cat(x: Fin(n)=>a, y: Fin(m)=>a) -> Fin(m+n)=>a = concat(x, y)
cat([1.0], [2.0, 3.0]) + [1.0, 2.0, 3.0]
def d1(xs: Fin(n+1)=>Float) -> Fin(n)=>Float = for i: Fin(n). xs[i+1] - xs[int(i)]
d1([1.0, 2.0, 3.0])
def pad(xs: n=>Float) -> Fin(size(n)+1)=>Float = for i: Fin(size(n)+1). if i == 0 then 0.0 else xs[i-1]
pad([1.0]) + [1.0, 2.0]
let k = 4
let u = for i: Fin(k). 1.0
u + [1.0, 2.0, 3.0, 4.0]"#,
    ),
    (
        "enum",
        r#"enum Shape { Circle(Float), Rect(Float, Float) }
def area(s: Shape) -> Float = case s of {
  Circle(r) -> pi * r^2
  Rect(w, h) -> w * h
}
grad(area)(Rect(3.0, 4.0))"#,
    ),
    (
        "vjp use",
        r#"let (y, back) = vjp(\x. sum(x^2))([1.0, 2.0])
back(1.0)
let (v, l) = linearize(\x. x * x)(3.0)
l(1.0)"#,
    ),
    (
        "poly generic sgd",
        r#"def sgd(f, p, lr: Float) = p - lr * grad(f)(p)
sgd(\x. x * x, 3.0, 0.1)
sgd(\x. sum(x^2), [3.0], 0.1)"#,
    ),
    (
        "histogram",
        r#"def hist(bin: n=>k, w: n=>Float) -> k=>Float = accum h: k=>Float do for i. h[bin[i]] += w[i]
def hist2(bin: n=>Int, w: n=>Float) -> Fin(10)=>Float = accum h: Fin(10)=>Float do for i. h[bin[i]] += w[i]"#,
    ),
    (
        "hilbert/outer",
        r#"def outer(x: n=>Float, y: m=>Float) -> n=>m=>Float = for i, j. x[i] * y[j]
for i: Fin(3), j: Fin(3). 1.0 / (float(i) + float(j) + 1)
def hilb(k: Int) -> Fin(k)=>Fin(k)=>Float = for i, j. 1 / float(i + j + 1)
hilb(3) @ [1.0, 2.0, 3.0]"#,
    ),
    (
        "local lambda",
        r#"def g(xs: n=>Float) -> Float = { let get = \i. xs[i]; sum(for j. get(j)) }
def h(xs: n=>Float) -> Float = { let get = \i: Int. xs[i]; get(0) + get(1) }"#,
    ),
    (
        "logistic",
        r#"def sigm(x) = 1 / (1 + exp(-x))
sigm(0.0)
sigm([1.0, 2.0])"#,
    ),
    (
        "pow",
        r#"def poly3(x) = 3 * x^2 + 2 * x + 1
poly3(2)
poly3(0.5)
poly3([1.0])
2.0^0.5
2^10
[1.0]^0.5"#,
    ),
    ("std", r#"def variance(xs: n=>Float) -> Float = { let m = mean(xs); mean((xs - m)^2) }"#),
    (
        "complex",
        r#"struct Complex { re: Float, im: Float }
instance Num(Complex) {
  def mul(a, b) = Complex { re = a.re * b.re - a.im * b.im, im = a.re * b.im + a.im * b.re }
  def from_int(n) = Complex { re = float(n), im = 0.0 }
}
def abs2(z: Complex) -> Float = z.re^2 + z.im^2
def esc(c: Complex, limit: Int) -> Int = {
  let (_, n) = loop (z, n) = (Complex { re = 0.0, im = 0.0 }, 0)
    while abs2(z) < 4.0 && n < limit do (z * z + c, n + 1)
  n
}
let ys = linspace(-1.0, 1.0, 200)
for i, j: Fin(3). float(esc(Complex { re = ys[i], im = ys[i] }, 1000))
let i = Complex { re = 0.0, im = 1.0 }
2 * i * i + 1
(1 + i)^3
[i, i] * i
-i"#,
    ),
    (
        "own rule",
        r#"def safe_norm(v: n=>Float) -> Float = sqrt(sum(v^2))
derivative safe_norm(v) = { let y = safe_norm(v); (y, \dv. if y == 0.0 then 0.0 else dot(v, dv) / y) }"#,
    ),
];

/// Programs that use what is read but not supported yet.
pub(super) const REFUSED: &[(&str, &str)] =
    &[("progress", r#"progress("train", loop x = 0.0 for _: Fin(10) do x + 1.0)"#)];

/// Name, code and text of programs with one mistake.
pub(super) const BAD: &[(&str, &str, &str)] = &[
    (
        "a lambda that accumulates",
        "E0307",
        "accum h: Fin(3)=>Float do { let f = \\i: Int. h[i] += 1.0; f(1) }",
    ),
    ("size mismatch", "E0203", r#"[1.0, 2.0] + [1.0, 2.0, 3.0]"#),
    ("no broadcast", "E0203", r#"def f(a: n=>m=>Float, v: m=>Float) -> n=>m=>Float = a + v"#),
    ("row scaling", "E0203", r#"def f(a: n=>m=>Float, v: n=>Float) -> n=>m=>Float = a * v"#),
    (
        "z*z struct",
        "E0204",
        r#"struct P { a: Float }
def f(z: P) -> P = z * z"#,
    ),
    (
        "struct + 1",
        "E0203",
        r#"struct P { a: Float }
def f(z: P) -> P = z + 1"#,
    ),
    ("float vs int", "E0203", r#"def f(x: Float, n: Int) -> Float = x * n"#),
    ("int / int", "E0204", r#"def f(a: Int, b: Int) -> Int = a / b"#),
    ("unused index", "E0211", r#"def f(x: Float) = sum(for i. x)"#),
    ("i+1 only", "E0211", r#"def f(xs: n=>Float) = for i. xs[i+1]"#),
    (
        "arity",
        "E0205",
        r#"def f(x: Float, y: Float) -> Float = x
f(1.0)"#,
    ),
    (
        "arity 3",
        "E0205",
        r#"def f(x: Float, y: Float) -> Float = x
f(1.0, 2.0, 3.0)"#,
    ),
    ("nonlinear", "E0401", r#"def f(a: Float) -> Float -o Float = \x. x * x"#),
    ("affine", "E0401", r#"def f(a: Float) -> Float -o Float = \x. x + a"#),
    ("through ->", "E0401", r#"def f(a: Float) -> Float -o Float = \x. sin(x)"#),
    ("missing Vector", "E0215", r#"def f(x: a, h: Float) -> a where Num(a) = h * x"#),
    ("pack escape", "E0210", r#"def f(xs: n=>Float) = { let ys = filter(\x. x > 0.0, xs); for i. ys[i] }"#),
    ("pack escape in for", "E0210", r#"def f(xs: n=>Float) = for i. map(sin, filter(\x. x > xs[i], xs))"#),
    ("occurs", "E0206", r#"def f(x) = x(x)"#),
    ("wrong index", "E0208", r#"def f(xs: n=>Float, ys: m=>Float) -> n=>Float = for i. xs[i] * ys[i]"#),
    (
        "point/centroid",
        "E0208",
        r#"def f(owner: n=>k, w: n=>Float) -> k=>Float = accum h: k=>Float do for i. h[i] += w[i]"#,
    ),
    (
        "neg index",
        "E0216",
        r#"let x = [1.0]
x[-1]"#,
    ),
    (
        "float index",
        "E0208",
        r#"let x = [1.0]
x[1.5]"#,
    ),
    ("grad of vector", "E0502", r#"grad(\x. x)([1.0])"#),
    (
        "struct with Int leaf",
        "E0201",
        r#"struct S { n: Int, x: Float }
def f(s: S) -> S = s - 0.1 * grad(\s. s.x)(s)"#,
    ),
    ("compare tables", "E0203", r#"def f(x: n=>Float) = x > 0.0"#),
    ("matmul inner", "E0202", r#"def f(a: n=>m=>Float, b: n=>m=>Float) = a @ b"#),
    ("open @", "E0214", r#"def f(a, x) = a @ x"#),
    (
        "open field",
        "E0214",
        r#"struct S { x: Float }
def f(s) = s.x"#,
    ),
    ("size/set clash", "E0218", r#"def f(xs: n=>Float) -> Fin(n)=>Float = for i. xs[i]"#),
    ("value/size clash", "E0305", r#"def f(xs: n=>Float, n: Float) -> Float = n"#),
    ("index to fin", "E0201", r#"def f(xs: n=>Float, i: Int) -> n = i"#),
    ("a + b rigid", "E0203", r#"def f(x: a, y: b) -> a = x + y"#),
    ("min of matrix", "E0204", r#"minimum([[1.0]])"#),
    ("undetermined zero", "E0209", r#"let z = (zero, 1)"#),
    ("mat@? open", "E0214", r#"def layer(w: n=>m=>Float, x) = w @ x"#),
    ("get(0)", "E0208", r#"def g(xs: n=>Float) -> Float = { let get = \i. xs[i]; get(0) }"#),
    ("Vector cannot mul", "E0215", r#"def f(x: a) -> a where Vector(a) = x * x"#),
    ("value size escape", "E0210", r#"def f(x: Float) = { let n = int(x); for i: Fin(n). 0.0 }"#),
];
