//! Values as text that reads back.

use std::fmt::Write;

use crate::ir::Fmt;
use crate::value::Value;

/// The text of the leaves by the template.
#[must_use]
pub fn show(fmt: &Fmt, leaves: &[Value]) -> String {
    let mut out = String::new();
    write_fmt(&mut out, fmt, &mut leaves.iter());
    out
}

/// The text of one value without a template: what it is made of.
#[must_use]
pub fn plain(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

/// The shortest digits that read back, always with a point or an exponent.
#[must_use]
pub fn float(x: f64) -> String {
    // `{:?}` is the shortest form that reads back, and writes NaN where it should be `nan`.
    if x.is_nan() { "nan".to_string() } else { format!("{x:?}") }
}

/// The same for 32 bits.
#[must_use]
pub fn float32(x: f32) -> String {
    if x.is_nan() { "nan".to_string() } else { format!("{x:?}") }
}

/// A text in quotes, with the escapes the lexer knows.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{{{:X}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Takes from `leaves` what the template asks for. A leaf that is missing prints as nothing.
fn write_fmt(out: &mut String, fmt: &Fmt, leaves: &mut std::slice::Iter<'_, Value>) {
    match fmt {
        Fmt::Leaf => {
            if let Some(value) = leaves.next() {
                write_value(out, value);
            }
        }
        Fmt::Names(names) => {
            if let Some(value) = leaves.next() {
                write_names(out, names, value);
            }
        }
        Fmt::Sum(constructors) => {
            if let Some(Value::Sum(sum)) = leaves.next()
                && let Some((name, fields)) = constructors.get(sum.tag as usize)
            {
                out.push_str(name);
                if !fields.is_empty() {
                    write_list(out, "(", ")", fields, &mut sum.payload.iter());
                }
            }
        }
        Fmt::Table(elem) => {
            let tables: Vec<&Value> = leaves.by_ref().take(n_leaves(elem)).collect();
            write_table(out, elem, &tables);
        }
        Fmt::Tuple(fields) => write_list(out, "(", ")", fields, leaves),
        Fmt::Struct(name, fields) => {
            out.push_str(name);
            out.push_str(" { ");
            for (i, (field, fmt)) in fields.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                out.push_str(field);
                out.push_str(" = ");
                write_fmt(out, fmt, leaves);
            }
            out.push_str(if fields.is_empty() { "}" } else { " }" });
        }
        Fmt::Raw => match leaves.next() {
            Some(Value::Str(text)) => out.push_str(text),
            Some(value) => write_value(out, value),
            None => {}
        },
        Fmt::Text(text) => out.push_str(text),
    }
}

fn write_list(
    out: &mut String,
    open: &str,
    close: &str,
    fields: &[Fmt],
    leaves: &mut std::slice::Iter<'_, Value>,
) {
    out.push_str(open);
    for (i, field) in fields.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { ", " });
        write_fmt(out, field, leaves);
    }
    out.push_str(close);
}

/// Tables of one size side by side, as one table of what they hold.
fn write_table(out: &mut String, elem: &Fmt, tables: &[&Value]) {
    let size = tables.iter().find_map(|t| t.as_table()).map_or(0, |t| t.dims()[0]);
    out.push('[');
    for i in 0..size {
        out.push_str(if i == 0 { "" } else { ", " });
        let row: Vec<Value> = tables
            .iter()
            .map(|value| value.as_table().map_or_else(|| (*value).clone(), |t| t.at(&[i])))
            .collect();
        write_fmt(out, elem, &mut row.iter());
    }
    out.push(']');
}

/// The number of leaves a template takes.
fn n_leaves(fmt: &Fmt) -> usize {
    match fmt {
        Fmt::Leaf | Fmt::Names(_) | Fmt::Sum(_) | Fmt::Raw => 1,
        Fmt::Table(elem) => n_leaves(elem),
        Fmt::Tuple(fields) => fields.iter().map(n_leaves).sum(),
        Fmt::Struct(_, fields) => fields.iter().map(|(_, fmt)| n_leaves(fmt)).sum(),
        Fmt::Text(_) => 0,
    }
}

fn write_names(out: &mut String, names: &[String], value: &Value) {
    if let Value::Table(table) = value {
        return write_elements(out, table.dims()[0], |out, i| write_names(out, names, &table.at(&[i])));
    }
    let ordinal = value.as_int().unwrap_or_else(|| i64::from(value.as_bool().unwrap_or_default()));
    match usize::try_from(ordinal).ok().and_then(|i| names.get(i)) {
        Some(name) => out.push_str(name),
        None => write_value(out, value),
    }
}

fn write_elements(out: &mut String, n: usize, mut write: impl FnMut(&mut String, usize)) {
    out.push('[');
    for i in 0..n {
        out.push_str(if i == 0 { "" } else { ", " });
        write(out, i);
    }
    out.push(']');
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::F64(x) => out.push_str(&float(*x)),
        Value::F32(x) => out.push_str(&float32(*x)),
        Value::Int(k) => out.push_str(&k.to_string()),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Str(text) => out.push_str(&quoted(text)),
        Value::Key(bits) => out.push_str(&format!("Key({}, {})", bits >> 32, bits & 0xFFFF_FFFF)),
        Value::Table(t) => write_elements(out, t.dims()[0], |out, i| write_value(out, &t.at(&[i]))),
        Value::Sum(sum) => {
            out.push_str(&format!("#{}", sum.tag));
            if !sum.payload.is_empty() {
                write_items(out, &sum.payload);
            }
        }
        Value::Pack(pack) if pack.items.len() == 1 => write_value(out, &pack.items[0]),
        Value::Pack(pack) => write_items(out, &pack.items),
        // A cell may be part of a long chain, so it is not followed.
        Value::Box(_) => out.push('…'),
    }
}

fn write_items(out: &mut String, items: &[Value]) {
    out.push('(');
    for (i, item) in items.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { ", " });
        write_value(out, item);
    }
    out.push(')');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Leaves, Table};

    #[test]
    fn floats_read_back() {
        let xs = [1.0, -0.0, 0.1, 1e16, 1e-7, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 123_456.0];
        assert_eq!(xs.map(float).join(" "), "1.0 -0.0 0.1 1e16 1e-7 nan inf -inf 123456.0");
    }

    #[test]
    fn texts_are_quoted_inside_and_raw_outside() {
        let text = Value::Str("a\"b\n".into());
        assert_eq!(show(&Fmt::Raw, std::slice::from_ref(&text)), "a\"b\n");
        assert_eq!(show(&Fmt::Tuple(vec![Fmt::Leaf]), &[text]), "(\"a\\\"b\\n\")");
    }

    #[test]
    fn a_table_of_structs_is_made_of_its_leaves() {
        let point = Fmt::Struct("P".into(), vec![("x".into(), Fmt::Leaf), ("y".into(), Fmt::Leaf)]);
        let leaves = [Table::of_f64(&[1.0, 2.0]).into(), Table::of_int(&[3, 4]).into()];
        let text = show(&Fmt::Table(Box::new(point)), &leaves);
        assert_eq!(text, "[P { x = 1.0, y = 3 }, P { x = 2.0, y = 4 }]");
    }

    #[test]
    fn names_and_nested_tables() {
        let names = Fmt::Names(vec!["Red".into(), "Blue".into()]);
        assert_eq!(show(&names, &[Table::of_int(&[1, 0]).into()]), "[Blue, Red]");
        let table = Table::new(&[2, 2], Leaves::Bool(vec![true, false, false, true]));
        assert_eq!(plain(&table.into()), "[[true, false], [false, true]]");
    }
}
