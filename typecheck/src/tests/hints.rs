//! Messages that say what to write instead, and where sizes come from.

use super::messages;

/// One program a mistake.
const HINTS: &[&str] = &[
    "def f(xs: n=>Float, p: Float -> Bool) -> Float = {\n  let a = filter(p, xs)\n  let b = filter(p, xs)\n  sum(a + b)\n}",
    "def f(xs: n=>Float, ys: n=>Float) -> Float = dot(xs, ys)\nf([1.0], [1.0, 2.0])",
    "def f(x: float) -> float = x",
    "Zero",
    "enum S { A(Float), B }\ndef f(t: Tangent[S]) -> Int = case t of { A(_) -> 1, B -> 2 }",
    "enum S { A(Float), B }\nlet t: Tangent[S] = A(1.0, 2.0)",
    "let (y, back) = vjp(\\(x, k). (x^2, k))(1.0, 2)\nback((1.0, 2))",
    "struct P { a: Int }\nP { a = 1 } < P { a = 2 }",
    "struct P derives Vector { a: Int }",
    "struct C { re: Float }\ninstance Num(C) { def mul(a, b) = C { re = a.re * b.re } }\nlet z = C { re = 1.0 }\nz + 1",
    "let t = for (i, j): (Fin(2), Fin(3)). i\nt[(0, -1)]",
    "def f(x: Float) -> Float = x\nderivative f(x) = (x, \\dx. dx)\nderivative f(x) = (x, \\dx. dx)",
    "derivative sin(x) = (sin(x), \\dx. dx)",
    "derivative nothing(x) = (x, \\dx. dx)",
    "let h = 3.0\nderivative h(x) = (x, \\dx. dx)",
    "def f(x: Float) -> Float = x\nderivative f(x, y) = (x, \\dx. dx)",
    "def f(x: Float) -> Float = x\nderivative f(x) = (true, \\dx. dx)",
    "def f(x: Float) -> Float = x\nderivative f(x) = x",
    "def f(x: Float) -> Float = x\nderivative f(x) = (x, \\dx. dx * dx)",
    "def f(x: a) -> a where Add(a) = x\nderivative f(x) = (x * x, \\dx. dx)",
    "struct Dual[a] { v: a, d: a }\ninstance Num(Dual[Float]) { def mul(x, y) = x }",
    "struct Dual[a] { v: a, d: a }\ninstance Num(Dual) { def mul(x, y) = x }",
    "struct Dual[a] { v: a, d: a }\ninstance Num(Dual[a]) { def mul(x, y) = x }\nlet d = Dual { v = \"a\", d = \"b\" }\nd * d",
];

#[expect(clippy::too_many_lines, reason = "the golden text")]
#[test]
fn hints_are_these() {
    insta::assert_snapshot!(messages(HINTS.iter().copied()), @r##"
    def f(xs: n=>Float, p: Float -> Bool) -> Float = {
      let a = filter(p, xs)
      let b = filter(p, xs)
      sum(a + b)
    }
      E0203 `+` is not defined between `m=>Float` and `m'=>Float`
        `b`: this is `m'=>Float`
        `a`: this is `m=>Float`
        `filter(p, xs)`: `m` comes from here
        `filter(p, xs)`: `m'` comes from here
        help: axes are never broadcast: write `for i, j. …`
        note: expected `m'`, found `m`

    def f(xs: n=>Float, ys: n=>Float) -> Float = dot(xs, ys)
    f([1.0], [1.0, 2.0])
      E0202 sizes differ: `1` and `2`
        `[1.0, 2.0]`: here
        `[1.0]`: `Fin(1)` comes from here
        help: where they are known to agree, `(xs : Fin(…)=>…)` checks it at run time
        note: expected `Fin(1)=>Float`, found `Fin(2)=>Float`

    def f(x: float) -> float = x
      E0302 there is no type `float`
        `float`: not found
        help: did you mean `Float`?

    Zero
      E0303 there is no constructor `Zero`
        `Zero`: not found
        help: `Zero` is a constructor where the tangent of an enum is expected; `zero` is the zero of any type

    enum S { A(Float), B }
    def f(t: Tangent[S]) -> Int = case t of { A(_) -> 1, B -> 2 }
      E0601 this `case` does not handle all values
        `case t of { A(_) -> 1, B -> 2 }`: `Zero` is not handled
        help: add an arm: `Zero -> …`

    enum S { A(Float), B }
    let t: Tangent[S] = A(1.0, 2.0)
      E0205 `A` takes one argument, 2 given
        `A`: `A` has type `Float -> Tangent[S]`
        help: leave out what it does not take, or put a tuple in parentheses of its own

    let (y, back) = vjp(\(x, k). (x^2, k))(1.0, 2)
    back((1.0, 2))
      E0213 a number literal cannot have type `()`
        `2`: here
        help: the tangent of an Int is `()`: write that
        note: `back` has type `(Float, ()) -o (Float, ())`

    struct P { a: Int }
    P { a = 1 } < P { a = 2 }
      E0204 `P` is not in `Ord`, which is needed for `<`
        `P { a = 2 }`: this is `P`
        `P { a = 1 }`: this is `P`
        help: its order has to be asked for: `struct P derives Ord { … }`

    struct P derives Vector { a: Int }
      E0204 `Int` is not in `Vector`, which is needed as `P` derives it
        `Vector`: here
        help: write `float(…)`

    struct C { re: Float }
    instance Num(C) { def mul(a, b) = C { re = a.re * b.re } }
    let z = C { re = 1.0 }
    z + 1
      E0203 `+` is not defined between `C` and `number`
        `1`: this is `number`
        `z`: this is `C`
        help: what a number is as a value of this type, `def from_int(k) = …` of its instance says

    let t = for (i, j): (Fin(2), Fin(3)). i
    t[(0, -1)]
      E0216 an index cannot be negative
        `-1`: indices count from 0
        help: write `last(x)` for the last element

    def f(x: Float) -> Float = x
    derivative f(x) = (x, \dx. dx)
    derivative f(x) = (x, \dx. dx)
      E0504 `f` has two derivative rules
        `f`: again here
        `f`: first here
        help: one rule serves both modes, as it is a linear map

    derivative sin(x) = (sin(x), \dx. dx)
      E0503 `sin` is no function that this module defines with `def`
        `sin`: a rule belongs to one
        help: write the rule beside the `def`, in one text; a function from elsewhere is wrapped: `def g(x) = f(x)`

    derivative nothing(x) = (x, \dx. dx)
      E0301 `nothing` is not defined
        `nothing`: not found

    let h = 3.0
    derivative h(x) = (x, \dx. dx)
      E0503 `h` is no function that this module defines with `def`
        `h`: a rule belongs to one
        help: write the rule beside the `def`, in one text; a function from elsewhere is wrapped: `def g(x) = f(x)`

    def f(x: Float) -> Float = x
    derivative f(x, y) = (x, \dx. dx)
      E0205 `f` takes one argument, 2 given
        `f`: `f` has type `Float -> Float`
        help: leave out what it does not take, or put a tuple in parentheses of its own

    def f(x: Float) -> Float = x
    derivative f(x) = (true, \dx. dx)
      E0201 expected `Float`, found `Bool`
        `true`: here

    def f(x: Float) -> Float = x
    derivative f(x) = x
      E0201 expected `(Float, Float -o Float)`, found `Float`
        `x`: here

    def f(x: Float) -> Float = x
    derivative f(x) = (x, \dx. dx * dx)
      E0401 not linear: `*` of two terms that both contain the variable
        `*`: here

    def f(x: a) -> a where Add(a) = x
    derivative f(x) = (x * x, \dx. dx)
      E0215 `Num(a)` is needed for `*`, and not declared
        `x`: this is `a`
        `x`: this is `a`
        help: add it to the signature: `where Num(a)`

    struct Dual[a] { v: a, d: a }
    instance Num(Dual[Float]) { def mul(x, y) = x }
      E0308 an instance is for all parameters of a type
        `Dual[Float]`: here
        help: its parameters are different names: `instance Num(Dual[a]) { … }`

    struct Dual[a] { v: a, d: a }
    instance Num(Dual) { def mul(x, y) = x }
      E0220 `Dual` takes 1 type parameters, 0 given
        `Dual`: here

    struct Dual[a] { v: a, d: a }
    instance Num(Dual[a]) { def mul(x, y) = x }
    let d = Dual { v = "a", d = "b" }
    d * d
      E0204 `String` is not in `Num`, which is needed for `*`
        `d`: this is `Dual[String]`
        `d`: this is `Dual[String]`
    "##);
}
