//! Bulk primitives: where the elements of the last table are structures, one application for each leaf.

use adl_core::bulk::{Bulk, Dims};
use adl_core::ir::{Atom, Expr};
use adl_core::ty::Scalar;
use adl_diag::Code;

use super::shape::{IxShape, Shape, Val};
use super::{Result, Spec};

impl Spec<'_> {
    /// The results of a row as one value.
    pub(super) fn bulk(&mut self, row: Bulk, args: &[Val]) -> Result<Val> {
        let (ints, tables) = args.split_at(row.0.ints);
        let ints: Vec<Atom> = ints.iter().map(|a| a.leaves[0].clone()).collect();
        let (last, first) = tables.split_last().expect("a row takes a table");
        let matrices: Vec<Atom> = first.iter().map(|a| a.leaves[0].clone()).collect();
        let mut all: Vec<Vec<Atom>> = vec![];
        for leaf in &last.leaves {
            let args: Vec<Atom> = ints.iter().chain(&matrices).chain([leaf]).cloned().collect();
            let Some(tys) = row.0.result_tys(&args) else {
                let message = format!("`{}` takes tables of one float type", row.0.name);
                return self.error(Code::E0201, message, Some("convert them with `f32` or `f64`"));
            };
            all.push(self.bind_all(tys, Expr::Bulk(row, args)));
        }
        let mut vals = vec![];
        for (k, given) in row.0.results.iter().enumerate() {
            let leaves: Vec<Atom> = all.iter().map(|results| results[k].clone()).collect();
            let shape = match given.dims {
                Dims::As(t) => tables[t].shape.clone(),
                Dims::Each(axes) => {
                    let leaf = if given.ints { Scalar::Int } else { scalar(&tables[0].shape) };
                    axes.iter().rev().fold(Shape::Scalar(leaf), |elem, (t, axis)| {
                        Shape::Table(axes_of(&tables[*t].shape)[*axis].clone(), Box::new(elem))
                    })
                }
            };
            vals.push(Val { shape, leaves });
        }
        if vals.len() == 1 {
            return Ok(vals.swap_remove(0));
        }
        let shapes = vals.iter().map(|v| v.shape.clone()).collect();
        Ok(Val { shape: Shape::Tuple(shapes), leaves: vals.into_iter().flat_map(|v| v.leaves).collect() })
    }
}

/// The index sets of a table of tables.
fn axes_of(shape: &Shape) -> Vec<IxShape> {
    let mut out = vec![];
    let mut shape = shape;
    while let Shape::Table(ix, elem) = shape {
        out.push(ix.clone());
        shape = elem;
    }
    out
}

/// The scalar that a table of tables is made of.
fn scalar(shape: &Shape) -> Scalar {
    match shape {
        Shape::Table(_, elem) => scalar(elem),
        Shape::Scalar(s) => *s,
        _ => Scalar::F64,
    }
}
