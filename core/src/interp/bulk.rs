//! Bulk primitives on values.

use super::data::Maker;
use crate::bulk::{Bulk, Made, Operand};
use crate::run::{RuntimeError, fail};
use crate::ty::Scalar;
use crate::value::{Leaves, Table, Value};

impl Maker<'_> {
    /// The results of a row.
    pub(super) fn bulk(&mut self, row: Bulk, args: &[Value]) -> Result<Vec<Value>, RuntimeError> {
        let (ints, tables) = args.split_at(row.0.ints);
        let ints: Vec<i64> = ints.iter().filter_map(Value::as_int).collect();
        let tables: Vec<&Table> = tables.iter().filter_map(Value::as_table).collect();
        let width = if matches!(tables[0].buffer().0, Leaves::F32(_)) { Scalar::F32 } else { Scalar::F64 };
        let operands: Vec<Operand> =
            tables.iter().map(|t| Operand { dims: t.dims().to_vec(), data: wide(t) }).collect();
        let dims: Vec<&[usize]> = operands.iter().map(|o| o.dims.as_slice()).collect();
        self.touched += (row.0.cost)(&dims);
        let sizes = row.0.result_dims(&dims);
        let made = (row.0.kernel)(&ints, &operands).map_err(|why| fail::no_result(self.span, why))?;
        sizes.iter().zip(made).map(|(dims, made)| self.table(dims, leaves(made, width))).collect()
    }
}

fn wide(table: &Table) -> Vec<f64> {
    let ((leaves, at), n) = (table.buffer(), table.len());
    match leaves {
        Leaves::F64(x) => x[at..at + n].to_vec(),
        Leaves::F32(x) => x[at..at + n].iter().copied().map(f64::from).collect(),
        Leaves::Int(_) | Leaves::Bool(_) | Leaves::Key(_) | Leaves::Value(_) => {
            unreachable!("lint: a bulk primitive takes floats")
        }
    }
}

fn leaves(made: Made, width: Scalar) -> Leaves {
    match made {
        Made::Ints(x) => Leaves::Int(x),
        #[expect(clippy::cast_possible_truncation, reason = "rounding to F32 is what is asked for")]
        Made::Floats(x) if width == Scalar::F32 => Leaves::F32(x.into_iter().map(|x| x as f32).collect()),
        Made::Floats(x) => Leaves::F64(x),
    }
}
