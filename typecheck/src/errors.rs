//! The messages of the checker: one constructor a mistake. Those of the arena have no place; the caller adds it.

use adl_diag::{Code, Diagnostic, Span};

use crate::types::{Class, Why};

fn error(code: Code, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, message)
}

/// Puts the place to look at before the labels that are there.
pub(crate) fn at(mut diagnostic: Diagnostic, span: Span, text: &str) -> Diagnostic {
    diagnostic.labels.insert(0, (span, text.to_string()));
    diagnostic
}

fn because(diagnostic: Diagnostic, why: &Why) -> Diagnostic {
    if why.span.is_dummy() { diagnostic } else { diagnostic.label(why.span, format!("needed {}", why.text)) }
}

// ---- types --------------------------------------------------------------------------------------------

pub(crate) fn mismatch(wanted: &str, found: &str) -> Diagnostic {
    let d = error(Code::E0201, format!("expected `{wanted}`, found `{found}`"));
    match (wanted, found) {
        ("Float" | "F32", "Int") => d.help("Int and Float do not mix: write `float(…)`"),
        ("Int", "Float" | "F32") => {
            d.help("Int and Float do not mix: write `int(…)`, or `float(…)` on the other side")
        }
        _ => d,
    }
}

pub(crate) fn size_mismatch(wanted: &str, found: &str) -> Diagnostic {
    error(Code::E0202, format!("sizes differ: `{wanted}` and `{found}`"))
        .help("where they are known to agree, `(xs : Fin(…)=>…)` checks it at run time")
}

pub(crate) fn infinite(var: &str, ty: &str) -> Diagnostic {
    let var = if var == "_" { "a type" } else { var };
    error(Code::E0206, format!("the type is infinite: {var} would have to be part of itself in `{ty}`"))
}

pub(crate) fn linear_and_function(found: &str, wanted: &str) -> Diagnostic {
    error(Code::E0402, format!("expected `{wanted}`, found `{found}`"))
        .help("a linear map becomes a function as an argument, at an annotation or in a branch; else write `\\x. l(x)`")
}

pub(crate) fn not_known_linear(found: &str, wanted: &str) -> Diagnostic {
    error(Code::E0402, format!("`{found}` is not known to be linear; `{wanted}` is wanted"))
}

pub(crate) fn pack_for_variable(ty: &str) -> Diagnostic {
    error(Code::E0221, format!("`{ty}` has a size of its own, which cannot leave this place"))
        .help("bind it with `let` first, or write a `for`")
}

pub(crate) fn escape(name: &str, within: &str) -> Diagnostic {
    let name = if name == "_" { "a size".to_string() } else { format!("the size `{name}`") };
    error(Code::E0210, format!("{name} leaves its scope, in `{within}`"))
        .help("it is known only inside: declare the result as a pack, `-> exists m. m=>…`")
}

pub(crate) fn not_an_index_set(ty: &str) -> Diagnostic {
    let d = error(Code::E0208, format!("`{ty}` is not an index set"));
    if ty == "Int" { d.help("a table has an index set, as in `n=>Float` or `Fin(10)=>Float`") } else { d }
}

pub(crate) fn literal_as_index(set: &str) -> Diagnostic {
    error(Code::E0208, format!("a number literal is not an index of `{set}`"))
        .help("an Int indexes any table: annotate the index as Int")
}

pub(crate) fn literal_type(decimal: bool, ty: &str, is_int: bool) -> Diagnostic {
    let what = if decimal { "a decimal number" } else { "a number literal" };
    let d = error(Code::E0213, format!("{what} cannot have type `{ty}`"));
    match ty {
        _ if is_int => d.help("Int and Float do not mix: write `float(…)`"),
        "Bool" => d.help("a truth value is `true`, `false` or a comparison such as `x > 0`"),
        "()" => d.help("the tangent of an Int is `()`: write that"),
        "String" => d.help("text stands in quotes; `show(x)` gives the text of a number"),
        _ => d,
    }
}

pub(crate) fn undetermined(span: Span, ty: &str) -> Diagnostic {
    error(Code::E0209, "the type of this is not determined")
        .label(span, format!("it is `{ty}`"))
        .help("annotate it: `let x: Float = …`, or `(e : Float)`")
}

pub(crate) fn value_of_test(span: Span, ty: &str) -> Diagnostic {
    error(Code::E0201, format!("a test ends with a value of type `{ty}`"))
        .label(span, "nothing looks at this")
        .help("say what has to hold: `assert(x < y, \"…\")` or `assert_close(x, y)`")
}

pub(crate) fn set_undetermined(span: Span, name: &str) -> Diagnostic {
    error(Code::E0211, format!("the index set of `{name}` is not determined"))
        .label(span, "nothing in the body is indexed by it")
        .help(format!("write it: `for {name}: n. …`"))
}

pub(crate) fn named_set_undetermined(span: Span, set: &str) -> Diagnostic {
    error(Code::E0211, format!("the index set `{set}` is not determined"))
        .label(span, "the body indexes no table over it")
        .help("the indices below an Int `n` are `Fin(n)`; a set of a table is named in its signature")
}

pub(crate) fn result_set_undetermined(span: Span, name: &str) -> Diagnostic {
    error(Code::E0211, format!("the index set of the result of `{name}` is not determined"))
        .label(span, "no argument determines it")
        .help("write the set, `for i: n. …`, or declare the result")
}

pub(crate) fn determined_by_nothing(span: Span, name: &str) -> Diagnostic {
    error(Code::E0209, format!("`{name}` occurs in no argument and not in the result"))
        .label(span, "in this signature")
        .help("a type parameter has to occur in an argument or in the result")
}

// ---- classes ------------------------------------------------------------------------------------------

pub(crate) fn no_class(ty: &str, class: Class, why: &Why, hint: Option<String>) -> Diagnostic {
    let code = if class == Class::Real { Code::E0502 } else { Code::E0204 };
    let message = match class {
        Class::Real => format!("`{ty}` is no scalar, and `Real` is needed {}", why.text),
        Class::Show => format!("`{ty}` cannot be printed"),
        Class::Eq => format!("values of `{ty}` cannot be compared ({})", why.text),
        Class::Add | Class::Num | Class::Vector | Class::Floating | Class::Ord | Class::Ix => {
            format!("`{ty}` is not in `{}`, which is needed {}", class.name(), why.text)
        }
    };
    let d = because(error(code, message), why);
    match hint {
        Some(hint) => d.help(hint),
        None => d,
    }
}

pub(crate) fn no_class_for_index(set: &str, class: Class, why: &Why) -> Diagnostic {
    because(
        error(
            Code::E0204,
            format!("an index of `{set}` is not in `{}`, which is needed {}", class.name(), why.text),
        ),
        why,
    )
    .help("write `int(i)` or `float(i)`")
}

pub(crate) fn missing_where(name: &str, class: Class, why: &Why) -> Diagnostic {
    let class = class.name();
    because(error(Code::E0215, format!("`{class}({name})` is needed {}, and not declared", why.text)), why)
        .help(format!("add it to the signature: `where {class}({name})`"))
}

// ---- operators ----------------------------------------------------------------------------------------

pub(crate) fn bad_operands(op: &str, left: &str, right: &str, hint: Option<String>) -> Diagnostic {
    let d = error(Code::E0203, format!("`{op}` is not defined between `{left}` and `{right}`"));
    match hint {
        Some(hint) => d.help(hint),
        None => d,
    }
}

pub(crate) fn bad_operand(op: &str, ty: &str) -> Diagnostic {
    error(Code::E0203, format!("`{op}` is not defined for `{ty}`"))
}

pub(crate) fn index_operand(op: &str, hint: &str) -> Diagnostic {
    error(Code::E0203, format!("an index cannot be an operand of `{op}` here")).help(hint)
}

pub(crate) fn compare_tables() -> Diagnostic {
    error(Code::E0203, "comparisons do not lift through tables").help("write `for i. xs[i] < …`")
}

pub(crate) fn inner_sets(left: &str, right: &str) -> Diagnostic {
    error(Code::E0202, format!("the inner index sets of `@` differ: `{left}` and `{right}`"))
        .help("`@` sums over the last set of the left and the first set of the right operand")
}

pub(crate) fn matmul_ranks(left: &str, right: &str) -> Diagnostic {
    error(Code::E0203, format!("`@` takes matrices and vectors, not `{left}` and `{right}`"))
}

pub(crate) fn open_matmul() -> Diagnostic {
    error(Code::E0214, "it is not known whether the operands of `@` are matrices or vectors")
        .help("annotate them: `x: m=>Float` or `x: m=>k=>Float`")
}

pub(crate) fn open_field(field: &str, structs: &[String]) -> Diagnostic {
    let d = error(Code::E0214, format!("the type of the value before `.{field}` is not known here"));
    if structs.is_empty() {
        d.help("annotate it")
    } else {
        d.help(format!("annotate it; structs with a field `{field}`: {}", structs.join(", ")))
    }
}

pub(crate) fn open_size(left: &str, right: &str) -> Diagnostic {
    error(Code::E0219, format!("cannot solve the sizes `{left}` = `{right}`"))
}

pub(crate) fn open_tangent(left: &str, right: &str) -> Diagnostic {
    error(Code::E0201, format!("expected `{right}`, found `{left}`"))
        .help("a tangent is added to a value by `move(p, dp)`; for a type variable add `where Vector(a)`")
}

pub(crate) fn open_overload(what: &str) -> Diagnostic {
    error(Code::E0214, format!("the types of the operands of {what} are not known here"))
        .help("annotate them")
}

// ---- calls, indices, fields -----------------------------------------------------------------------------

pub(crate) fn arity(span: Span, name: &str, wanted: usize, given: usize, ty: &str) -> Diagnostic {
    let plural = |n: usize| match n {
        0 => "no argument".to_string(),
        1 => "one argument".to_string(),
        n => format!("{n} arguments"),
    };
    error(Code::E0205, format!("`{name}` takes {}, {given} given", plural(wanted)))
        .label(span, format!("`{name}` has type `{ty}`"))
        .help(if given < wanted {
            format!("give the rest, or bind what is missing with a lambda: `\\x. {name}(…, x)`")
        } else {
            "leave out what it does not take, or put a tuple in parentheses of its own".to_string()
        })
}

pub(crate) fn not_a_function(span: Span, ty: &str, is_table: bool) -> Diagnostic {
    let d = error(Code::E0207, format!("`{ty}` is not a function")).label(span, "this is called");
    if is_table { d.help("a table is indexed with square brackets: `xs[i]`") } else { d }
}

pub(crate) fn not_a_table(span: Span, ty: &str) -> Diagnostic {
    error(Code::E0207, format!("`{ty}` is not a table")).label(span, "this is indexed")
}

pub(crate) fn wrong_index(found: &str, set: &str, note: Option<String>) -> Diagnostic {
    let d = error(Code::E0208, format!("an index of `{found}` is used on a table over `{set}`"))
        .help("where the ordinal is meant, write `int(i)`");
    match note {
        Some(note) => d.note(note),
        None => d,
    }
}

pub(crate) fn bad_index(ty: &str) -> Diagnostic {
    let d = error(Code::E0208, format!("a table is indexed by an index or an Int, not by `{ty}`"));
    if ty == "Float" || ty == "F32" { d.help("write `int(x)`") } else { d }
}

pub(crate) fn decimal_index() -> Diagnostic {
    error(Code::E0208, "a table is indexed by an index or an Int, not by a decimal number")
}

pub(crate) fn negative_index(span: Span) -> Diagnostic {
    error(Code::E0216, "an index cannot be negative")
        .label(span, "indices count from 0")
        .help("write `last(x)` for the last element")
}

pub(crate) fn no_field(span: Span, ty: &str, field: &str, near: Option<String>) -> Diagnostic {
    let d = error(Code::E0212, format!("`{ty}` has no field `{field}`")).label(span, "here");
    match near {
        Some(near) => d.help(format!("there is `{near}`")),
        None => d,
    }
}

pub(crate) fn build_fields(
    span: Span,
    name: &str,
    missing: &[String],
    unknown: &[String],
    all: &[String],
) -> Diagnostic {
    let list = |names: &[String]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let message = match (missing.is_empty(), unknown.is_empty()) {
        (false, _) => format!("`{name}` is built without {}", list(missing)),
        (true, _) => format!("`{name}` has no field {}", list(unknown)),
    };
    error(Code::E0217, message).label(span, "here").help(format!("its fields are {}", list(all)))
}

pub(crate) fn field_twice(span: Span, field: &str) -> Diagnostic {
    error(Code::E0309, format!("`{field}` is given twice")).label(span, "again here")
}

// ---- names ----------------------------------------------------------------------------------------------

pub(crate) fn unknown_name(span: Span, name: &str, near: Option<String>) -> Diagnostic {
    let d = error(Code::E0301, format!("`{name}` is not defined")).label(span, "not found");
    match near {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d,
    }
}

pub(crate) fn unknown_type(span: Span, name: &str, near: Option<String>) -> Diagnostic {
    let d = error(Code::E0302, format!("there is no type `{name}`")).label(span, "not found");
    match near {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d,
    }
}

pub(crate) fn unknown_ctor(span: Span, name: &str, near: Option<String>) -> Diagnostic {
    let d = error(Code::E0303, format!("there is no constructor `{name}`")).label(span, "not found");
    match (near, name) {
        (Some(near), _) => d.help(format!("did you mean `{near}`?")),
        (None, "Zero") => {
            d.help("`Zero` is a constructor where the tangent of an enum is expected; `zero` is the zero of any type")
        }
        (None, "True" | "False") => d.help("truth values are `true` and `false`"),
        (None, "None" | "Null" | "Nil") => {
            d.help("adl has no null; an optional value is an enum: `enum Option[a] { None, Some(a) }`")
        }
        (None, _) if name.chars().count() == 1 => d.help("names of values begin with a lower-case letter"),
        (None, _) => d,
    }
}

pub(crate) fn defined_twice(span: Span, name: &str, first: Span) -> Diagnostic {
    error(Code::E0304, format!("`{name}` is defined twice"))
        .label(span, "again here")
        .label(first, "first here")
}

pub(crate) fn unknown_module(span: Span, name: &str, near: Option<String>) -> Diagnostic {
    let d = error(Code::E0311, format!("there is no module `{name}`")).label(span, "not found");
    match near {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => {
            let file = name.replace('.', "/");
            d.help(format!("a module is a file, `{file}.adl`, beside this one or in a folder of ADL_PATH"))
        }
    }
}

pub(crate) fn import_cycle(span: Span, chain: &[&str]) -> Diagnostic {
    let chain: Vec<String> = chain.iter().map(|name| format!("`{name}`")).collect();
    error(Code::E0312, format!("modules import each other: {}", chain.join(" → ")))
        .label(span, "this import closes the circle")
        .help("move what both need into a module of its own")
}

pub(crate) fn unknown_member(span: Span, module: &str, name: &str, near: Option<String>) -> Diagnostic {
    let d = error(Code::E0313, format!("the module `{module}` has no `{name}`")).label(span, "not found");
    match near {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d,
    }
}

pub(crate) fn private_name(span: Span, module: &str, name: &str) -> Diagnostic {
    error(Code::E0313, format!("`{name}` is private to the module `{module}`"))
        .label(span, "names that begin with `_` are not exported")
}

pub(crate) fn module_not_imported(span: Span, module: &str, near: Option<String>) -> Diagnostic {
    let d = error(Code::E0311, format!("no module `{module}` is imported here")).label(span, "not found");
    match near {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d.help(format!("write `import {module}` at the top of the file")),
    }
}

pub(crate) fn module_as_value(span: Span, name: &str) -> Diagnostic {
    error(Code::E0314, format!("`{name}` is a module, not a value"))
        .label(span, "used as a value here")
        .help(format!("what it defines is written `{name}.x`"))
}

pub(crate) fn imported_twice(span: Span, name: &str, first: Span) -> Diagnostic {
    error(Code::E0304, format!("`{name}` is imported twice"))
        .label(span, "again here")
        .label(first, "first here")
        .help("import one of the modules as a whole, and write its name before a dot")
}

pub(crate) fn imported_and_defined(span: Span, name: &str, import: Span) -> Diagnostic {
    error(Code::E0304, format!("`{name}` is imported and defined"))
        .label(span, "defined here")
        .label(import, "imported here")
        .help("import the module as a whole, and write its name before a dot, or give one of the two another name")
}

pub(crate) fn bound_twice(span: Span, name: &str) -> Diagnostic {
    error(Code::E0309, format!("`{name}` is bound twice in one pattern")).label(span, "again here")
}

pub(crate) fn both_value_and_size(span: Span, name: &str) -> Diagnostic {
    error(Code::E0305, format!("`{name}` names both a parameter and a size or type in this signature"))
        .label(span, "in this signature")
        .help("give the parameter another name")
}

pub(crate) fn used_above(span: Span, name: &str, place: Span) -> Diagnostic {
    error(Code::E0306, format!("`{name}` is used above its place"))
        .label(span, "used here")
        .label(place, "bound here")
        .help("`let`, `param` and expressions run in order; a `def` may stand anywhere")
}

pub(crate) fn accumulator_read(span: Span, name: &str) -> Diagnostic {
    error(Code::E0307, format!("`{name}` is a write-only accumulator"))
        .label(span, "used as a value here")
        .help(format!("inside `accum`, write `{name}[i] += v`; its table is the value of the `accum`"))
}

pub(crate) fn not_an_accumulator(span: Span) -> Diagnostic {
    error(Code::E0307, "left of `+=` stands an accumulator")
        .label(span, "this is none")
        .help("write `accum h: n=>Float do for i. h[i] += …`; a value that changes is the state of a `loop`")
}

pub(crate) fn accumulator_in_function(span: Span) -> Diagnostic {
    error(Code::E0307, "a function cannot add to an accumulator that is outside of it")
        .label(span, "inside a function")
        .help("functions are pure: write `for i. h[…] += f(xs[i])`, where `f` gives what is added")
}

pub(crate) fn unknown_class(span: Span, name: &str) -> Diagnostic {
    error(Code::E0308, format!("there is no class `{name}`"))
        .label(span, "here")
        .help("the classes are Add Num Vector Floating Real Ord Eq Ix Show")
}

pub(crate) fn no_named_set(span: Span, name: &str) -> Diagnostic {
    error(Code::E0310, format!("`{name}` names no index set here"))
        .label(span, "only a name from a signature or a `let` annotation does")
        .help("name the set in the signature: `xs: n=>a`, then `size(n)`")
}

pub(crate) fn type_params(span: Span, name: &str, wanted: usize, given: usize) -> Diagnostic {
    error(Code::E0220, format!("`{name}` takes {wanted} type parameters, {given} given")).label(span, "here")
}

pub(crate) fn size_not_set(span: Span, name: &str) -> Diagnostic {
    error(Code::E0218, format!("`{name}` is a size, and stands here for an index set or a type"))
        .label(span, "here")
        .help(format!("write `Fin({name})`"))
}

pub(crate) fn set_not_size(span: Span, name: &str) -> Diagnostic {
    error(Code::E0218, format!("`{name}` is an index set, and a size is needed here"))
        .label(span, "here")
        .help(format!("write `Fin(size({name}))`"))
}

pub(crate) fn endless_type(span: Span, name: &str) -> Diagnostic {
    error(Code::E0206, format!("every `{name}` would have to hold another one"))
        .label(span, "no value of it can be made")
        .help("make it an enum with a constructor that ends it, such as `Nil`")
}

pub(crate) fn unknown_policy(span: Span, name: &str) -> Diagnostic {
    error(Code::E0301, format!("`{name}` is no policy of a loop"))
        .label(span, "not known")
        .help("the policies are `all`, `none`, `sqrt`, `every k` and `log`")
}

pub(crate) fn unsupported(span: Span, what: &str) -> Diagnostic {
    error(Code::E0399, format!("not supported yet: {what}")).label(span, "here")
}

pub(crate) fn misplaced(span: Span, code: Code, message: &str, help: &str) -> Diagnostic {
    error(code, message).label(span, "here").help(help)
}

// ---- patterns -------------------------------------------------------------------------------------------

pub(crate) fn ctor_arity(span: Span, name: &str, wanted: usize, given: usize) -> Diagnostic {
    let parts = if wanted == 1 { "part" } else { "parts" };
    error(Code::E0602, format!("`{name}` has {wanted} {parts}, {given} given")).label(span, "here")
}

pub(crate) fn tuple_arity(span: Span, names: usize, ty: &str) -> Diagnostic {
    error(Code::E0201, format!("{names} names for the parts of `{ty}`")).label(span, "this pattern")
}

pub(crate) fn refutable(span: Span, example: &str) -> Diagnostic {
    error(Code::E0603, "this pattern does not match always")
        .label(span, format!("`{example}` is not matched"))
        .help("use `case`")
}

pub(crate) fn not_exhaustive(span: Span, example: &str) -> Diagnostic {
    error(Code::E0601, "this `case` does not handle all values")
        .label(span, format!("`{example}` is not handled"))
        .help(format!("add an arm: `{example} -> …`"))
}

pub(crate) fn unreachable_arm(span: Span) -> Diagnostic {
    Diagnostic::warning(Code::W0102, "this arm is never reached")
        .label(span, "the arms above match everything")
}

// ---- linear maps ------------------------------------------------------------------------------------------

pub(crate) fn not_linear(span: Span, why: &str) -> Diagnostic {
    error(Code::E0401, format!("not linear: {why}")).label(span, "here")
}

pub(crate) fn rule_elsewhere(span: Span, name: &str) -> Diagnostic {
    error(Code::E0503, format!("`{name}` is no function that this module defines with `def`"))
        .label(span, "a rule belongs to one")
        .help("write the rule beside the `def`, in one text; a function from elsewhere is wrapped: `def g(x) = f(x)`")
}

pub(crate) fn second_rule(span: Span, name: &str, first: Span) -> Diagnostic {
    error(Code::E0504, format!("`{name}` has two derivative rules"))
        .label(span, "again here")
        .label(first, "first here")
        .help("one rule serves both modes, as it is a linear map")
}

pub(crate) fn hides_prelude(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning(Code::W0103, format!("`{name}` hides the `{name}` of the prelude"))
        .label(span, "from here on")
}

// ---- warnings ---------------------------------------------------------------------------------------------

pub(crate) fn discarded(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::warning(Code::W0101, format!("a value of type `{ty}` is thrown away"))
        .label(span, "this value is not used")
        .help("bind it with `let`, or check for a line break that ends the statement above")
}
