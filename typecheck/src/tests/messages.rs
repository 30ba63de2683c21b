//! The messages as users read them: one program a mistake.

use super::{BAD, messages};

/// Mistakes that the other lists do not make.
const MORE: &[&str] = &[
    "def f(x: Float) -> Int = x",
    "def f(x: Foo) -> Int = 1",
    "struct P { x: Float }\ndef f(p: P) -> Float = p.y",
    "struct P { x: Float, y: Float }\nlet p = P { x = 1.0, z = 2.0 }",
    "struct P { x: Float }\nlet p = P { x = 1.0, x = 2.0 }",
    "struct Point { x: Float }\nlet p = Pont { x = 1.0 }",
    "let total = 1\ntotl + 1",
    "let f = fold(max, 0)",
    "let x = 1\nlet x = 2",
    "def f(x: Float) -> Float = y\nlet y = f(1.0)",
    "enum C { Red, Green, Blue }\ndef f(c: C) -> Int = case c of { Red -> 1, Blue -> 2 }",
    "enum O { N, S(Int) }\ndef f(o: O) -> Int = case o of { S(0) -> 1, N -> 2 }",
    "enum O { N, S(Int) }\ndef f(o: O) -> Int = case o of { S(a, b) -> 1, N -> 2 }",
    "enum O { N, S(Int) }\ndef f(o: O) -> Int = { let S(n) = o; n }",
    "enum O { N, S(Int) }\ndef f(o: O) -> Int = case o of { _ -> 1, N -> 2 }",
    "def f(x: Float) -> Float = { x + 1\n  (x) }",
    "def f(xs: n=>Float) -> n=>Float = accum h: n=>Float do for i. { h[i] += h[i] }",
    "def f(x: Float) -> Float = { x += 1.0; x }",
    "def f(n: Int) -> Int = if n == 0 then 0 else f(n - 1)",
    "import nn",
    "enum A { X }\nenum B { X, Y }",
    "let (a, a) = (1, 2)",
    "let (a, b) = (1, 2, 3)",
    "1(2)",
    "[1](0)",
    "let x = 3\nx[0]",
    "def f(xs: Fin(2*n)=>Float, n: Float) -> Float = 1.0",
    "def f(xs: Fin(2*n)=>Float) -> Float = sum(xs)\nf([1.0, 2.0, 3.0])",
    "def f(x: a) -> a where Foo(a) = x",
    "def f(x: a) -> a where Ord(a) = x + x",
    "sin(1)",
    "sin(\"a\")",
    "\"a\" + \"b\"",
    "if 1 then 2 else 3",
    "if true then 2 else \"a\"",
    "let f: Float -o Float = sin",
    "_",
    "size([1])",
    "load_npy(\"x\")",
    "map(\\x. filter(\\y. y > x, [1.0]), [1.0])",
    "def sum(x: Int) -> Int = x",
    "None",
    "struct P { x: Float }\ninstance Num(P) { def times(a, b) = a }",
    "test \"t\" { 1 + true }",
    "param p: (Int, Int) = (1, 2)",
    "def f(x: Float, xs: Vec[3]) -> Float = x",
    "def euler(f, y, h) = y + h * f(y)\neuler(\\x. x, [1.0], 0.1)",
    "for i: 3. i",
    "for i: Int. i",
    "def f(xs: n=>Float) -> Float = size(xs)",
    "[1, 2.5, true]",
    "\\x: Float. x + true",
    "test \"t\" { let x = 1; x == 2 }",
];

#[expect(clippy::too_many_lines, reason = "the golden text")]
#[test]
fn messages_are_these() {
    let programs = BAD.iter().map(|(_, _, text)| *text).chain(MORE.iter().copied());
    let found = messages(programs);
    insta::assert_snapshot!(found, @r##"
    accum h: Fin(3)=>Float do { let f = \i: Int. h[i] += 1.0; f(1) }
      E0307 a function cannot add to an accumulator that is outside of it
        `h[i]`: inside a function
        help: functions are pure: write `for i. h[…] += f(xs[i])`, where `f` gives what is added

    [1.0, 2.0] + [1.0, 2.0, 3.0]
      E0203 `+` is not defined between `Fin(2)=>Float` and `Fin(3)=>Float`
        `[1.0, 2.0, 3.0]`: this is `Fin(3)=>Float`
        `[1.0, 2.0]`: this is `Fin(2)=>Float`
        help: axes are never broadcast: write `for i, j. …`
        note: sizes differ: `3` and `2`

    def f(a: n=>m=>Float, v: m=>Float) -> n=>m=>Float = a + v
      E0203 `+` is not defined between `n=>m=>Float` and `m=>Float`
        `v`: this is `m=>Float`
        `a`: this is `n=>m=>Float`
        `n`: `n` comes from here
        `m`: `m` comes from here
        help: axes are never broadcast: write `for i, j. …`
        note: expected `m`, found `n`

    def f(a: n=>m=>Float, v: n=>Float) -> n=>m=>Float = a * v
      E0203 `*` is not defined between `n=>m=>Float` and `n=>Float`
        `v`: this is `n=>Float`
        `a`: this is `n=>m=>Float`
        help: axes are never broadcast: write `for i, j. …`
        note: expected `Float`, found `m=>Float`

    struct P { a: Float }
    def f(z: P) -> P = z * z
      E0204 `P` is not in `Num`, which is needed for `*`
        `z`: this is `P`
        `z`: this is `P`
        help: products of structs are not fieldwise; write `instance Num(P) { … }`

    struct P { a: Float }
    def f(z: P) -> P = z + 1
      E0203 `+` is not defined between `P` and `number`
        `1`: this is `number`
        `z`: this is `P`
        help: with structs and tuples a number may only stand on either side of `*` and right of `/`

    def f(x: Float, n: Int) -> Float = x * n
      E0203 `*` is not defined between `Float` and `Int`
        `n`: this is `Int`
        `x`: this is `Float`
        help: numbers of two types do not mix: write `float(…)` or `int(…)`

    def f(a: Int, b: Int) -> Int = a / b
      E0204 `Int` is not in `Floating`, which is needed for `/`
        `b`: this is `Int`
        `a`: this is `Int`
        help: write `float(…)`, or `div(a, b)` for a whole quotient

    def f(x: Float) = sum(for i. x)
      E0211 the index set of `i` is not determined
        `i`: nothing in the body is indexed by it
        help: write it: `for i: n. …`

    def f(xs: n=>Float) = for i. xs[i+1]
      E0211 the index set of the result of `f` is not determined
        `f`: no argument determines it
        help: write the set, `for i: n. …`, or declare the result

    def f(x: Float, y: Float) -> Float = x
    f(1.0)
      E0205 `f` takes 2 arguments, 1 given
        `f`: `f` has type `(Float, Float) -> Float`
        help: give the rest, or bind what is missing with a lambda: `\x. f(…, x)`

    def f(x: Float, y: Float) -> Float = x
    f(1.0, 2.0, 3.0)
      E0205 `f` takes 2 arguments, 3 given
        `f`: `f` has type `(Float, Float) -> Float`
        help: leave out what it does not take, or put a tuple in parentheses of its own

    def f(a: Float) -> Float -o Float = \x. x * x
      E0401 not linear: `*` of two terms that both contain the variable
        `*`: here

    def f(a: Float) -> Float -o Float = \x. x + a
      E0401 not linear: this does not contain the variable (only `zero` may be added)
        `a`: here

    def f(a: Float) -> Float -o Float = \x. sin(x)
      E0401 not linear: the variable is passed to a `->`, `sin`
        `sin(x)`: here

    def f(x: a, h: Float) -> a where Num(a) = h * x
      E0215 `Vector(a)` is needed for `*`, and not declared
        `x`: this is `a`
        `h`: this is `Float`
        help: add it to the signature: `where Vector(a)`

    def f(xs: n=>Float) = { let ys = filter(\x. x > 0.0, xs); for i. ys[i] }
      E0210 the size `m` leaves its scope, in `m=>Float`
        `for i. ys[i]`: here
        help: it is known only inside: declare the result as a pack, `-> exists m. m=>…`

    def f(xs: n=>Float) = for i. map(sin, filter(\x. x > xs[i], xs))
      E0210 the size `m` leaves its scope, in `m=>Float`
        `map(sin, filter(\x. x > xs[i], xs))`: this is its value
        help: it is known only inside: declare the result as a pack, `-> exists m. m=>…`

    def f(x) = x(x)
      E0206 the type is infinite: a type would have to be part of itself in `_ -> _`
        `x`: here

    def f(xs: n=>Float, ys: m=>Float) -> n=>Float = for i. xs[i] * ys[i]
      E0208 an index of `n` is used on a table over `m`
        `i`: here
        `m`: `m` comes from here
        `n`: `n` comes from here
        help: where the ordinal is meant, write `int(i)`

    def f(owner: n=>k, w: n=>Float) -> k=>Float = accum h: k=>Float do for i. h[i] += w[i]
      E0208 an index of `k` is used on a table over `n`
        `i`: here
        `n`: `n` comes from here
        `k`: `k` comes from here
        help: where the ordinal is meant, write `int(i)`

    let x = [1.0]
    x[-1]
      E0216 an index cannot be negative
        `-1`: indices count from 0
        help: write `last(x)` for the last element

    let x = [1.0]
    x[1.5]
      E0208 a table is indexed by an index or an Int, not by a decimal number
        `1.5`: here

    grad(\x. x)([1.0])
      E0502 `Fin(1)=>Float` is no scalar, and `Real` is needed by `grad`
        `[1.0]`: here
        help: the function that is differentiated has to return a Float

    struct S { n: Int, x: Float }
    def f(s: S) -> S = s - 0.1 * grad(\s. s.x)(s)
      E0201 expected `Tangent[S]`, found `S`
        `-`: here
        help: a tangent is added to a value by `move(p, dp)`; for a type variable add `where Vector(a)`

    def f(x: n=>Float) = x > 0.0
      E0203 comparisons do not lift through tables
        `0.0`: this is `Float`
        `x`: this is `n=>Float`
        help: write `for i. xs[i] < …`

    def f(a: n=>m=>Float, b: n=>m=>Float) = a @ b
      E0202 the inner index sets of `@` differ: `m` and `n`
        `b`: this is `n=>m=>Float`
        `a`: this is `n=>m=>Float`
        help: `@` sums over the last set of the left and the first set of the right operand

    def f(a, x) = a @ x
      E0214 it is not known whether the operands of `@` are matrices or vectors
        `@`: here
        help: annotate them: `x: m=>Float` or `x: m=>k=>Float`

    struct S { x: Float }
    def f(s) = s.x
      E0214 the type of the value before `.x` is not known here
        `x`: here
        help: annotate it; structs with a field `x`: S

    def f(xs: n=>Float) -> Fin(n)=>Float = for i. xs[i]
      E0218 `n` is an index set, and a size is needed here
        `n`: here
        help: write `Fin(size(n))`

    def f(xs: n=>Float, n: Float) -> Float = n
      E0305 `n` names both a parameter and a size or type in this signature
        `n`: in this signature
        help: give the parameter another name

    def f(xs: n=>Float, i: Int) -> n = i
      E0201 expected `n`, found `Int`
        `i`: here
        help: an Int is no index of this set; a table may be indexed with either

    def f(x: a, y: b) -> a = x + y
      E0203 `+` is not defined between `a` and `b`
        `y`: this is `b`
        `x`: this is `a`
        help: these are two different type variables

    minimum([[1.0]])
      E0204 `Fin(1)=>Float` is not in `Ord`, which is needed by `minimum`
        `[[1.0]]`: here
        help: for a matrix write `for i. minimum(a[i])`, or flatten it
        note: `minimum` has type `n=>a -> a where Ord(a)`

    let z = (zero, 1)
      E0209 the type of this is not determined
        `let z = (zero, 1)`: it is `(_, number)`
        help: annotate it: `let x: Float = …`, or `(e : Float)`

    def layer(w: n=>m=>Float, x) = w @ x
      E0214 it is not known whether the operands of `@` are matrices or vectors
        `@`: here
        help: annotate them: `x: m=>Float` or `x: m=>k=>Float`

    def g(xs: n=>Float) -> Float = { let get = \i. xs[i]; get(0) }
      E0208 a number literal is not an index of `n`
        `0`: here
        help: an Int indexes any table: annotate the index as Int

    def f(x: a) -> a where Vector(a) = x * x
      E0215 `Num(a)` is needed for `*`, and not declared
        `x`: this is `a`
        `x`: this is `a`
        help: add it to the signature: `where Num(a)`

    def f(x: Float) = { let n = int(x); for i: Fin(n). 0.0 }
      E0210 the size `n` leaves its scope, in `Fin(n)=>Float`
        `for i: Fin(n). 0.0`: here
        help: it is known only inside: declare the result as a pack, `-> exists m. m=>…`

    def f(x: Float) -> Int = x
      E0201 expected `Int`, found `Float`
        `x`: here
        help: Int and Float do not mix: write `int(…)`, or `float(…)` on the other side

    def f(x: Foo) -> Int = 1
      E0302 there is no type `Foo`
        `Foo`: not found

    struct P { x: Float }
    def f(p: P) -> Float = p.y
      E0212 `P` has no field `y`
        `y`: here
        help: its fields are `x`

    struct P { x: Float, y: Float }
    let p = P { x = 1.0, z = 2.0 }
      E0217 `P` is built without `y`
        `P`: here
        help: its fields are `x`, `y`

    struct P { x: Float }
    let p = P { x = 1.0, x = 2.0 }
      E0309 `x` is given twice
        `x`: again here

    struct Point { x: Float }
    let p = Pont { x = 1.0 }
      E0302 there is no type `Pont`
        `Pont`: not found
        help: did you mean `Point`?

    let total = 1
    totl + 1
      E0301 `totl` is not defined
        `totl`: not found
        help: did you mean `total`?

    let f = fold(max, 0)
      E0205 `fold` takes 3 arguments, 2 given
        `fold`: `fold` has type `((_, _) -> _, _, _=>_) -> _`
        help: give the rest, or bind what is missing with a lambda: `\x. fold(…, x)`

    let x = 1
    let x = 2
      E0304 `x` is defined twice
        `x`: again here
        `x`: first here

    def f(x: Float) -> Float = y
    let y = f(1.0)
      E0306 `y` is used above its place
        `y`: used here
        `y`: bound here
        help: `let`, `param` and expressions run in order; a `def` may stand anywhere

    enum C { Red, Green, Blue }
    def f(c: C) -> Int = case c of { Red -> 1, Blue -> 2 }
      E0601 this `case` does not handle all values
        `case c of { Red -> 1, Blue -> 2 }`: `Green` is not handled
        help: add an arm: `Green -> …`

    enum O { N, S(Int) }
    def f(o: O) -> Int = case o of { S(0) -> 1, N -> 2 }
      E0601 this `case` does not handle all values
        `case o of { S(0) -> 1, N -> 2 }`: `S(_)` is not handled
        help: add an arm: `S(_) -> …`

    enum O { N, S(Int) }
    def f(o: O) -> Int = case o of { S(a, b) -> 1, N -> 2 }
      E0602 `S` has 1 part, 2 given
        `S(a, b)`: here

    enum O { N, S(Int) }
    def f(o: O) -> Int = { let S(n) = o; n }
      E0603 this pattern does not match always
        `S(n)`: `N` is not matched
        help: use `case`

    enum O { N, S(Int) }
    def f(o: O) -> Int = case o of { _ -> 1, N -> 2 }
      W0102 this arm is never reached
        `N`: the arms above match everything

    def f(x: Float) -> Float = { x + 1
      (x) }
      W0101 a value of type `Float` is thrown away
        `x + 1`: this value is not used
        help: bind it with `let`, or check for a line break that ends the statement above

    def f(xs: n=>Float) -> n=>Float = accum h: n=>Float do for i. { h[i] += h[i] }
      E0307 `h` is a write-only accumulator
        `h`: used as a value here
        help: inside `accum`, write `h[i] += v`; its table is the value of the `accum`

    def f(x: Float) -> Float = { x += 1.0; x }
      E0307 left of `+=` stands an accumulator
        `x`: this is none
        help: write `accum h: n=>Float do for i. h[i] += …`; a value that changes is the state of a `loop`

    def f(n: Int) -> Int = if n == 0 then 0 else f(n - 1)


    import nn
      E0311 there is no module `nn`
        `nn`: not found
        help: a module is a file, `nn.adl`, beside this one or in a folder of ADL_PATH

    enum A { X }
    enum B { X, Y }
      E0304 `X` is defined twice
        `X`: again here
        `A`: first here

    let (a, a) = (1, 2)
      E0304 `a` is defined twice
        `a`: again here
        `a`: first here

    let (a, b) = (1, 2, 3)
      E0201 2 names for the parts of `(number, number, number)`
        `(a, b)`: this pattern

    1(2)
      E0213 a number literal cannot have type `_ -> _`
        `1`: here

    [1](0)
      E0207 `Fin(1)=>number` is not a function
        `[1]`: this is called
        help: a table is indexed with square brackets: `xs[i]`

    let x = 3
    x[0]
      E0207 `Int` is not a table
        `x`: this is indexed

    def f(xs: Fin(2*n)=>Float, n: Float) -> Float = 1.0
      E0305 `n` names both a parameter and a size or type in this signature
        `n`: in this signature
        help: give the parameter another name

    def f(xs: Fin(2*n)=>Float) -> Float = sum(xs)
    f([1.0, 2.0, 3.0])
      E0219 cannot solve the sizes `3` = `2*_`
        `f([1.0, 2.0, 3.0])`: here

    def f(x: a) -> a where Foo(a) = x
      E0308 there is no class `Foo`
        `Foo`: here
        help: the classes are Add Num Vector Floating Real Ord Eq Ix Show

    def f(x: a) -> a where Ord(a) = x + x
      E0215 `Add(a)` is needed for `+`, and not declared
        `x`: this is `a`
        `x`: this is `a`
        help: add it to the signature: `where Add(a)`

    sin(1)


    sin("a")
      E0204 `String` is not in `Floating`, which is needed by `sin`
        `"a"`: here
        note: `sin` has type `a -> a where Floating(a)`

    "a" + "b"
      E0203 `+` is not defined for `String`
        `"b"`: this is `String`
        `"a"`: this is `String`
        help: texts are joined by `++`

    if 1 then 2 else 3
      E0213 a number literal cannot have type `Bool`
        `1`: here
        help: a truth value is `true`, `false` or a comparison such as `x > 0`

    if true then 2 else "a"
      E0213 a number literal cannot have type `String`
        `"a"`: this branch differs
        `2`: this branch is `number`
        help: text stands in quotes; `show(x)` gives the text of a number

    let f: Float -o Float = sin
      E0402 `_ -> _` is not known to be linear; `Float -o Float` is wanted
        `sin`: here
        help: annotate it where it is made: `let l: Float -o Float = …`

    _
      E0106 `_` is no value here
        `_`: here
        help: `_` marks where `|>` puts its value: `xs |> map(f, _)`

    size([1])
      E0310 `size` takes the name of an index set
        `[1]`: here
        help: name the set in the signature: `xs: n=>a`, then `size(n)`

    load_npy("x")
      E0214 the type of the table in the file is not known here
        `load_npy("x")`: here
        help: annotate it: `let x: n=>d=>Float = load_npy("x.npy")`

    map(\x. filter(\y. y > x, [1.0]), [1.0])
      E0210 the size `m` leaves its scope, in `m=>Float`
        `filter(\y. y > x, [1.0])`: here
        help: it is known only inside: declare the result as a pack, `-> exists m. m=>…`

    def sum(x: Int) -> Int = x
      W0103 `sum` hides the `sum` of the prelude
        `sum`: from here on

    None
      E0303 there is no constructor `None`
        `None`: not found
        help: adl has no null; an optional value is an enum: `enum Option[a] { None, Some(a) }`

    struct P { x: Float }
    instance Num(P) { def times(a, b) = a }
      E0308 `times` is no operation of `Num`
        `times`: here
        help: the operations are `add`, `sub`, `neg`, `mul`, `from_int`

    test "t" { 1 + true }
      E0203 `+` is not defined for `Bool`
        `true`: this is `Bool`
        `1`: this is `number`

    param p: (Int, Int) = (1, 2)
      E0201 a `param` cannot have this type
        `(Int, Int)`: here
        help: the types of parameters are Int, Float, Bool and String

    def f(x: Float, xs: Vec[3]) -> Float = x
      E0106 expected a type, found the number 3
        `3`: here

    def euler(f, y, h) = y + h * f(y)
    euler(\x. x, [1.0], 0.1)
      E0213 a decimal number cannot have type `Fin(1)=>Float`
        `0.1`: here
        note: `euler` has type `(a -> a, a, a) -> a where Num(a)`

    for i: 3. i
      E0106 expected a type, found the number 3
        `3`: here
        help: the index set of 3 elements is `Fin(3)`

    for i: Int. i
      E0208 `Int` is not an index set
        `Int`: an index set stands here
        help: a table has an index set, as in `n=>Float` or `Fin(10)=>Float`

    def f(xs: n=>Float) -> Float = size(xs)
      E0310 `xs` names no index set here
        `xs`: only a name from a signature or a `let` annotation does
        help: name the set in the signature: `xs: n=>a`, then `size(n)`

    [1, 2.5, true]
      E0213 a decimal number cannot have type `Bool`
        `true`: here
        help: a truth value is `true`, `false` or a comparison such as `x > 0`

    \x: Float. x + true
      E0203 `+` is not defined for `Bool`
        `true`: this is `Bool`
        `x`: this is `Float`

    test "t" { let x = 1; x == 2 }
      E0201 a test ends with a value of type `Bool`
        `x == 2`: nothing looks at this
        help: say what has to hold: `assert(x < y, "…")` or `assert_close(x, y)`
    "##);
}
