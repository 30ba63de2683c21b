//! Text of values, as the interpreter writes it: derivatives do not show.

use std::sync::Arc;

use super::Stop;
use super::num::{Leaf, Num, Real};
use super::value::Val;
use crate::ir::Fmt;
use crate::prim::S;
use crate::show;
use crate::ty::Ty;
use crate::value::{Bundle, Leaves, Table, Tagged, Value};

/// The text of values of these types by the template.
pub(super) fn text<N: Num>(fmt: &Fmt, values: &[Val<N>], tys: &[Ty]) -> Result<String, Stop> {
    Ok(show::show(fmt, &export_all(values, tys)?))
}

fn export_all<N: Num>(values: &[Val<N>], tys: &[Ty]) -> Result<Vec<Value>, Stop> {
    values.iter().zip(tys).map(|(value, ty)| export(value, ty)).collect()
}

fn export<N: Num>(value: &Val<N>, ty: &Ty) -> Result<Value, Stop> {
    let misfit = || Stop::ill_formed(&format!("{} of another type", value.kind()));
    match value {
        Val::Leaf(leaf) => Ok(scalar(leaf)),
        Val::Table(_) => {
            let (sizes, leaf) = ty.dims();
            let mut leaves = Leaves::with_capacity(leaf, 0).ok_or_else(misfit)?;
            let mut dims = vec![0; sizes.len()];
            flatten(value, leaf, &mut dims, &mut leaves)?;
            Ok(Value::Table(Table::new(&dims, leaves)))
        }
        Val::Sum(tag, payload) => {
            let Ty::Sum(alts) = ty else { return Err(misfit()) };
            let tys = alts.get(*tag as usize).ok_or_else(misfit)?;
            Ok(Value::Sum(Arc::new(Tagged { tag: *tag, payload: export_all(payload, tys)? })))
        }
        Val::Pack(sizes, items) => {
            let Ty::Pack(pack) = ty else { return Err(misfit()) };
            let items = export_all(items, &pack.items)?;
            Ok(Value::Pack(Arc::new(Bundle { sizes: sizes.clone(), items })))
        }
        Val::Cell(_) | Val::Acc(_) => Err(Stop::NotCovered(format!("the text of {}", value.kind()))),
    }
}

/// Adds the leaves of nested tables, and says their sizes.
fn flatten<N: Num>(value: &Val<N>, leaf: &Ty, dims: &mut [usize], leaves: &mut Leaves) -> Result<(), Stop> {
    let Some((size, inner)) = dims.split_first_mut() else {
        leaves.push(&export(value, leaf)?);
        return Ok(());
    };
    let Val::Table(items) = value else { return Err(Stop::ill_formed("a table of too few sizes")) };
    *size = items.len();
    items.iter().try_for_each(|item| flatten(item, leaf, inner, leaves))
}

fn scalar<N: Num>(leaf: &Leaf<N>) -> Value {
    match leaf {
        Leaf::Float(x) => match x.base() {
            Real::F64(x) => Value::F64(x),
            Real::F32(x) => Value::F32(x),
        },
        Leaf::Other(S::F64(x)) => Value::F64(*x),
        Leaf::Other(S::F32(x)) => Value::F32(*x),
        Leaf::Other(S::Int(k)) => Value::Int(*k),
        Leaf::Other(S::Bool(b)) => Value::Bool(*b),
        Leaf::Other(S::Str(text)) => Value::Str(text.clone()),
        Leaf::Other(S::Key(bits)) => Value::Key(*bits),
    }
}
