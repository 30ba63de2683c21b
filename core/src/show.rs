//! Values as text that reads back.

use std::fmt::Write;

use crate::ir::Fmt;
use crate::value::Value;

/// The text of the leaves by the template.
#[must_use]
pub fn show(fmt: &Fmt, leaves: &[Value]) -> String {
    let mut out = String::new();
    if let Fmt::Where(fmt, cells) = fmt {
        write_cells(&mut out, fmt, cells, leaves);
    } else {
        write_fmt(&mut out, fmt, &mut leaves.iter());
    }
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
                    let (open, close) = parentheses(name);
                    write_list(out, open, close, fields, &mut sum.payload.iter());
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
        Fmt::After(n, fmt) => {
            leaves.by_ref().take(*n as usize).for_each(drop);
            write_fmt(out, fmt, leaves);
        }
        Fmt::Pack(fmt) => {
            if let Some(Value::Pack(pack)) = leaves.next() {
                write_fmt(out, fmt, &mut pack.items.iter());
            }
        }
        Fmt::Hidden(n, text) => {
            leaves.by_ref().take(*n as usize).for_each(drop);
            out.push_str(text);
        }
        // Formats with cells are written by `write_cells`.
        Fmt::Cell(_) => {
            leaves.next();
            out.push('…');
        }
        Fmt::Where(fmt, _) => write_fmt(out, fmt, leaves),
    }
}

/// What is left to write.
enum Task<'f> {
    Text(&'f str),
    Value(&'f Fmt, Vec<Value>),
}

/// Writes a value that holds cells, which may be chained a million deep: so with a stack of its own.
fn write_cells(out: &mut String, fmt: &Fmt, cells: &[Fmt], leaves: &[Value]) {
    let mut todo = vec![Task::Value(fmt, leaves.to_vec())];
    while let Some(task) = todo.pop() {
        let (fmt, leaves) = match task {
            Task::Text(text) => {
                out.push_str(text);
                continue;
            }
            Task::Value(fmt, leaves) => (fmt, leaves),
        };
        if !has_cells(fmt) {
            write_fmt(out, fmt, &mut leaves.iter());
            continue;
        }
        let before = todo.len();
        match fmt {
            Fmt::Cell(k) => {
                if let (Some(Value::Box(cell)), Some(fmt)) = (leaves.first(), cells.get(*k as usize)) {
                    // A cell with sizes in it holds a bundle of them and its leaves.
                    let items = match cell.items() {
                        [Value::Pack(pack)] => &pack.items,
                        items => items,
                    };
                    todo.push(Task::Value(fmt, items.to_vec()));
                }
            }
            Fmt::Sum(constructors) => {
                if let Some(Value::Sum(sum)) = leaves.first()
                    && let Some((name, fields)) = constructors.get(sum.tag as usize)
                {
                    todo.push(Task::Text(name));
                    if !fields.is_empty() {
                        let fields = fields.iter().map(|f| ("", f));
                        list_tasks(&mut todo, parentheses(name), fields, &sum.payload);
                    }
                }
            }
            Fmt::Tuple(fields) => list_tasks(&mut todo, ("(", ")"), fields.iter().map(|f| ("", f)), &leaves),
            Fmt::Struct(name, fields) => {
                todo.push(Task::Text(name));
                let fields = fields.iter().map(|(name, fmt)| (name.as_str(), fmt));
                list_tasks(&mut todo, (" { ", " }"), fields, &leaves);
            }
            Fmt::Table(elem) => {
                let size = leaves.iter().find_map(Value::as_table).map_or(0, |t| t.dims()[0]);
                todo.push(Task::Text("["));
                for i in 0..size {
                    let at = |v: &Value| v.as_table().map_or_else(|| v.clone(), |t| t.at(&[i]));
                    todo.push(Task::Text(if i == 0 { "" } else { ", " }));
                    todo.push(Task::Value(elem, leaves.iter().map(at).collect()));
                }
                todo.push(Task::Text("]"));
            }
            Fmt::Where(fmt, _) => todo.push(Task::Value(fmt, leaves)),
            Fmt::After(n, fmt) => todo.push(Task::Value(fmt, leaves[*n as usize..].to_vec())),
            Fmt::Pack(fmt) => {
                if let Some(Value::Pack(pack)) = leaves.first() {
                    todo.push(Task::Value(fmt, pack.items.clone()));
                }
            }
            Fmt::Leaf | Fmt::Names(_) | Fmt::Raw | Fmt::Text(_) | Fmt::Hidden(..) => {}
        }
        todo[before..].reverse();
    }
}

/// The parts of a value, in order, with their names.
fn list_tasks<'f>(
    todo: &mut Vec<Task<'f>>,
    (open, close): (&'f str, &'f str),
    fields: impl Iterator<Item = (&'f str, &'f Fmt)>,
    leaves: &[Value],
) {
    todo.push(Task::Text(open));
    let mut at = 0;
    for (i, (name, fmt)) in fields.enumerate() {
        todo.push(Task::Text(if i == 0 { "" } else { ", " }));
        if !name.is_empty() {
            todo.push(Task::Text(name));
            todo.push(Task::Text(" = "));
        }
        let end = (at + n_leaves(fmt)).min(leaves.len());
        todo.push(Task::Value(fmt, leaves[at..end].to_vec()));
        at = end;
    }
    todo.push(Task::Text(close));
}

/// What stands around the payload of a constructor: nothing where it has no name.
fn parentheses(name: &str) -> (&'static str, &'static str) {
    if name.is_empty() { ("", "") } else { ("(", ")") }
}

/// Does a format hold cells?
fn has_cells(fmt: &Fmt) -> bool {
    match fmt {
        Fmt::Cell(_) | Fmt::Where(..) => true,
        Fmt::Leaf | Fmt::Names(_) | Fmt::Raw | Fmt::Text(_) | Fmt::Hidden(..) => false,
        Fmt::Sum(constructors) => constructors.iter().flat_map(|(_, f)| f).any(has_cells),
        Fmt::Table(elem) | Fmt::Pack(elem) | Fmt::After(_, elem) => has_cells(elem),
        Fmt::Tuple(fields) => fields.iter().any(has_cells),
        Fmt::Struct(_, fields) => fields.iter().any(|(_, f)| has_cells(f)),
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
        Fmt::Leaf | Fmt::Names(_) | Fmt::Sum(_) | Fmt::Raw | Fmt::Cell(_) | Fmt::Pack(_) => 1,
        Fmt::Table(elem) => n_leaves(elem),
        Fmt::Where(fmt, _) => n_leaves(fmt),
        Fmt::Hidden(n, _) => *n as usize,
        Fmt::After(n, fmt) => *n as usize + n_leaves(fmt),
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
