//! The stable codes. The doc comment of a code is its page in `adl explain`.

use std::fmt;

/// One list, from which come the enum, its documentation and the pages of `adl explain`: written by hand
/// they would drift apart.
macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// A stable code. Never reused. The doc comment of a variant is its page in `adl explain`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// All codes, in order.
            pub const ALL: &'static [Code] = &[$(Code::$name,)+];

            /// The code as it is printed, such as `E0201`.
            pub fn name(self) -> &'static str {
                match self { $(Code::$name => stringify!($name),)+ }
            }

            /// The page of `adl explain`, in Markdown.
            pub fn explain(self) -> &'static str {
                match self { $(Code::$name => concat!($($doc, "\n",)+),)+ }
            }
        }
    };
}

impl Code {
    /// The code with this name, such as `E0201`; small letters do too.
    pub fn from_name(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

codes! {
    /// A character that means nothing in adl.
    ///
    /// Names are made of letters, digits, `_` and primes. Outside strings and comments other characters of
    /// Unicode have no meaning.
    E0101,
    /// A string that does not end, or an escape in it that does not exist.
    ///
    /// A string stands on one line between `"` and `"`. The escapes are `\n \t \r \0 \" \\ \u{1F600}`.
    E0102,
    /// A block comment that does not end.
    ///
    /// `/* … */` nests: each `/*` needs its own `*/`.
    E0103,
    /// A number that is written in a way adl does not read.
    ///
    /// `1_000`, `0xff`, `1.5` and `1e-3` are numbers. A `.` has digits on both sides: write `1.0`, not `1.`
    /// or `.5`. An integer literal must fit in 64 bits.
    E0104,
    /// A bracket that is never closed, or closed by one of another kind.
    E0105,
    /// Something else was expected here.
    ///
    /// The message names what could stand here. Functions are called with brackets, `f(x)`; a lambda is
    /// written `\x. x + 1`; `if` needs `then` and `else`.
    E0106,
    /// Brackets or forms nested more than 1,000 deep.
    ///
    /// Long chains of operators are fine; deep nesting is not. Give parts a name with `let`.
    E0107,
    /// A word or a form of another language.
    ///
    /// The help says how adl writes it. `fn`, `return`, `lambda`, `and`, `or`, `not`, `None`, `match`, `**`
    /// and the like are ordinary names or no tokens at all in adl.
    E0108,
    /// Two types that have to be equal are not.
    ///
    /// ```adl
    /// def f(x: Float) -> Int = x      // Float against Int
    /// ```
    /// adl converts nothing silently: write `float(n)` or `int(x)`.
    E0201,
    /// Two sizes that have to be equal are not.
    ///
    /// Sizes are compared as polynomials: `Fin(n+m)` equals `Fin(m+n)`. Where you know that two sizes agree
    /// and the checker cannot, write `(xs : Fin(n)=>Float)`: that is checked at run time.
    E0202,
    /// An operator that is not defined between these two types.
    ///
    /// Two tables must have equal types: axes are never broadcast, write `for i, j. …`. A scalar may meet a
    /// table. With a struct or a tuple a scalar may stand on either side of `*` and right of `/`, nowhere else.
    E0203,
    /// A type that is not in a class that is needed.
    ///
    /// The classes are `Add Num Vector Floating Real Ord Eq Ix Show`. For example `exp` needs `Floating`,
    /// `maximum` needs `Ord`, and `grad` needs a function whose result is `Real`, that is a `Float` or `F32`.
    E0204,
    /// A function is called with the wrong number of arguments.
    E0205,
    /// A type that would have to contain itself.
    E0206,
    /// Something is called that is no function, or indexed that is no table.
    ///
    /// Functions are called with `f(x)`, tables are indexed with `xs[i]`.
    E0207,
    /// An index of one set is used on a table over another, or something is used as an index set that is none.
    ///
    /// Index sets are `Fin(n)`, `()`, `Bool`, enums without payload, pairs of index sets, and the names that
    /// stand left of `=>`. An Int indexes any table: write `xs[int(i)]` where the ordinal is meant.
    E0208,
    /// A type that nothing determines.
    ///
    /// Write an annotation: `let z: Float = zero`.
    E0209,
    /// A size leaves the scope in which it was opened.
    ///
    /// `filter`, `load_npy` and others find a size at run time. That size belongs to the block in which they are
    /// bound. Declare the result as a pack, `-> exists m. m=>Float`, to hand it on.
    E0210,
    /// An index set that nothing determines.
    ///
    /// `for i. …` takes its index set from how `i` is used. Where it is not used as an index, write it:
    /// `for i: n. …`.
    E0211,
    /// A field or component that the value does not have.
    E0212,
    /// A number literal where no number can stand.
    E0213,
    /// An operand whose type has to be known here, and is not.
    ///
    /// `@` needs to know which operand is a matrix, `p.w` which struct `p` is. Annotate the parameter.
    E0214,
    /// A class that is needed, and that the `where` of the definition does not give.
    E0215,
    /// A negative index.
    ///
    /// Indices count from 0. Write `last(x)` for the last element.
    E0216,
    /// A struct is built with fields missing or unknown.
    E0217,
    /// A name is used as a size, an index set or a type where it is another of the three.
    ///
    /// A name left of `=>` is an index set; in `Fin(n)` it is an Int. The size of an index set is `size(n)`:
    /// write `Fin(size(n))`.
    E0218,
    /// An equation between sizes that cannot be solved.
    ///
    /// A size is solved only where it occurs alone with factor 1. Annotate the sizes, or write
    /// `(xs : Fin(k)=>Float)`, which is checked at run time.
    E0219,
    /// A type is given the wrong number of parameters.
    E0220,
    /// A pack stands where a type variable is solved.
    ///
    /// The result of `filter` and the like has a size of its own. Bind it with `let` first, or write a `for`.
    E0221,
    /// A name that is not defined.
    E0301,
    /// A type that is not defined.
    E0302,
    /// A constructor that is not defined.
    E0303,
    /// A name that is defined twice.
    ///
    /// In a file each top-level name is defined once. A `let` inside a block may shadow an outer one.
    E0304,
    /// A name that is a parameter and a size or type in one signature.
    E0305,
    /// A `let` that is used above its place.
    ///
    /// Types and `def`s are visible in the whole file; `let`, `param` and expressions run in order.
    E0306,
    /// An accumulator that is read, stored or returned.
    ///
    /// Inside `accum h: T do …` the only use of `h` is `h[i] += v`.
    E0307,
    /// A class that does not exist.
    E0308,
    /// A name that is bound twice in one pattern, or a field that is given twice.
    E0309,
    /// A name that names no index set here.
    ///
    /// `size(n)` needs a name from a signature or a `let` annotation: write `xs: n=>a`.
    E0310,
    /// A module that is not found, or not imported.
    ///
    /// `import a.b` is the file `a/b.adl` beside the file that imports it, else in a folder of `ADL_PATH`, else a
    /// module of the library.
    E0311,
    /// Modules that import each other in a circle.
    E0312,
    /// A name that a module does not have, or does not export.
    ///
    /// A module exports what it defines at its top level, but for names that begin with `_`. What it imports
    /// itself is not part of it.
    E0313,
    /// A module that is used as a value.
    E0314,
    /// A form that is read, but is not supported yet.
    E0399,
    /// A function that is declared linear, and is not.
    ///
    /// In `\x. …` checked against `a -o b` the variable is used linearly: not tested, not multiplied by itself,
    /// not passed to a `->`.
    E0401,
    /// A function that is not known to be linear stands where `a -o b` is wanted.
    E0402,
    /// A function that has no derivative.
    ///
    /// The message names the operation and the reason.
    E0501,
    /// `grad` of a function whose result is not a scalar.
    ///
    /// `grad` needs a `Float` or `F32` result: take `sum` of it, or use `vjp`, `jacfwd` or `jacrev`.
    E0502,
    /// A derivative rule for something that is not a top-level `def` of its module.
    E0503,
    /// A function with two derivative rules.
    ///
    /// One rule serves both modes, because a linear map can be transposed.
    E0504,
    /// A derivative that a rule cannot give.
    ///
    /// A `derivative reverse` rule whose map is not linear serves reverse mode only: neither `jvp` nor a second
    /// derivative goes through it.
    E0505,
    /// A `case` that does not handle all values.
    ///
    /// The message shows a value that is not handled. Add an arm for it, or `_ -> …`.
    E0601,
    /// A constructor pattern with the wrong number of parts.
    E0602,
    /// A pattern that can fail stands where it may not.
    ///
    /// `let`, lambda and loop patterns have to match always. Use `case`.
    E0603,
    /// An index out of bounds.
    E0701,
    /// Two sizes that had to agree at run time do not.
    E0702,
    /// A division of Ints by zero.
    E0703,
    /// The program called `error(…)`.
    E0704,
    /// An assertion that does not hold.
    E0705,
    /// The limit on memory was reached.
    E0706,
    /// The limit on the depth of calls was reached.
    ///
    /// Usually a recursion that does not end.
    E0707,
    /// A reduction that has no value on nothing, such as the minimum of an empty table.
    E0708,
    /// A conversion of a number that does not fit, such as `int(nan)`.
    E0709,
    /// A table of negative size.
    E0710,
    /// A tangent whose constructor is not that of its value.
    E0711,
    /// A file that cannot be read or written.
    E0801,
    /// A data file that is malformed.
    E0802,
    /// A data file that holds another type or rank than is asked for.
    E0803,
    /// A command line that adl does not understand.
    E0901,
    /// A limit on the run, such as time, was reached.
    E0902,
    /// A value that is computed and thrown away.
    ///
    /// Often a newline where none was meant: a line that begins with `(`, `[` or `-x` starts a new statement.
    W0101,
    /// An arm of a `case` that is never reached.
    W0102,
    /// A definition that hides one of the prelude.
    W0103,
}
