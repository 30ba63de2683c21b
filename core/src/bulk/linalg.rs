//! Decompositions of matrices and triangular systems.

use adl_linalg::{Failure, Lu, SingularValues, Triangle};

use super::{BulkDef, BulkDiff, Dims, Given, Made, Operand, Place, Rank, sizes};
use crate::build::Builder;
use crate::ir::{Atom, Axes, Expr};
use crate::prim;
use crate::ty::BOOL;

/// All rows of this file.
pub(super) static TABLE: &[&BulkDef] = &[&CHOLESKY, &LU, &QR, &SVD, &EIGH, &TRI_SOLVE];

/// Rows and columns of the first table.
fn shape(operands: &[Operand]) -> (usize, usize) {
    (operands[0].dims[0], operands[0].dims[1])
}

/// `c·m·n·n` operations.
fn cubic(dims: &[&[usize]], c: u64) -> u64 {
    let (m, n) = (dims[0][0] as u64, dims[0][1] as u64);
    c.saturating_mul(m).saturating_mul(n).saturating_mul(n).max(1)
}

const fn floats(axes: &'static [(usize, usize)]) -> Given {
    Given { ints: false, dims: Dims::Each(axes) }
}

const SQUARE: Given = Given { ints: false, dims: Dims::As(0) };
const COLUMNS: Given = floats(&[(0, 1), (0, 1)]);
const BY_LIBRARY: BulkDiff =
    BulkDiff::Undefined("the function of the library that calls it has the derivative; call that one");

/// The lower triangular factor of a symmetric matrix.
pub static CHOLESKY: BulkDef = BulkDef {
    name: "cholesky",
    doc: "The lower triangular `l` with `l·lᵀ` the symmetric matrix with this lower triangle.",
    ints: 0,
    tables: &[Rank::Matrix],
    results: &[SQUARE],
    cost: |dims| cubic(dims, 1),
    kernel: |_, tables| {
        let l = adl_linalg::cholesky(&tables[0].data, shape(tables).0).map_err(Failure::message)?;
        Ok(vec![Made::Floats(l)])
    },
    diff: BY_LIBRARY,
};

/// LU with partial pivoting.
pub static LU: BulkDef = BulkDef {
    name: "lu",
    doc: "Unit lower triangular `l`, upper triangular `u`, and for each row of `l·u` the row of the matrix it is.",
    ints: 0,
    tables: &[Rank::Matrix],
    results: &[SQUARE, SQUARE, Given { ints: true, dims: Dims::Each(&[(0, 0)]) }],
    cost: |dims| cubic(dims, 1),
    kernel: |_, tables| {
        let Lu { l, u, rows } = adl_linalg::lu(&tables[0].data, shape(tables).0).map_err(Failure::message)?;
        let rows = rows.into_iter().map(|k| k as i64).collect();
        Ok(vec![Made::Floats(l), Made::Floats(u), Made::Ints(rows)])
    },
    diff: BY_LIBRARY,
};

/// QR of a matrix with at least as many rows as columns.
pub static QR: BulkDef = BulkDef {
    name: "qr",
    doc: "`q` with orthonormal columns and upper triangular `r`, for at least as many rows as columns.",
    ints: 0,
    tables: &[Rank::Matrix],
    results: &[SQUARE, COLUMNS],
    cost: |dims| cubic(dims, 4),
    kernel: |_, tables| {
        let (m, n) = tall(tables)?;
        let (q, r) = adl_linalg::qr(&tables[0].data, m, n).map_err(Failure::message)?;
        Ok(vec![Made::Floats(q), Made::Floats(r)])
    },
    diff: BY_LIBRARY,
};

/// Singular values and vectors of a matrix with at least as many rows as columns.
pub static SVD: BulkDef = BulkDef {
    name: "svd",
    doc: "`u`, `s`, `v` with `u·diag(s)·vᵀ` the matrix, for at least as many rows as columns.",
    ints: 0,
    tables: &[Rank::Matrix],
    results: &[SQUARE, floats(&[(0, 1)]), COLUMNS],
    cost: |dims| cubic(dims, 12),
    kernel: |_, tables| {
        let (m, n) = tall(tables)?;
        let SingularValues { u, s, v } = adl_linalg::svd(&tables[0].data, m, n).map_err(Failure::message)?;
        Ok(vec![Made::Floats(u), Made::Floats(s), Made::Floats(v)])
    },
    diff: BY_LIBRARY,
};

/// Eigenvalues and eigenvectors of a symmetric matrix.
pub static EIGH: BulkDef = BulkDef {
    name: "eigh",
    doc: "Eigenvalues, and eigenvectors as columns, of the symmetric matrix with this lower triangle.",
    ints: 0,
    tables: &[Rank::Matrix],
    results: &[floats(&[(0, 0)]), SQUARE],
    cost: |dims| cubic(dims, 9),
    kernel: |_, tables| {
        let (w, v) = adl_linalg::eigh(&tables[0].data, shape(tables).0).map_err(Failure::message)?;
        Ok(vec![Made::Floats(w), Made::Floats(v)])
    },
    diff: BY_LIBRARY,
};

/// The sizes of a matrix that has at least as many rows as columns.
fn tall(tables: &[Operand]) -> Result<(usize, usize), &'static str> {
    let (m, n) = shape(tables);
    if n <= m { Ok((m, n)) } else { Err("the matrix has more columns than rows") }
}

/// A triangular system.
pub static TRI_SOLVE: BulkDef = BulkDef {
    name: "tri_solve",
    doc: "The solution `x` of `t·x = b`, with `t` a triangle of the matrix by bits: 1 lower, 2 with ones for its \
          diagonal, 4 transposed.",
    ints: 1,
    tables: &[Rank::Matrix, Rank::Rows],
    results: &[Given { ints: false, dims: Dims::As(1) }],
    cost: |dims| {
        let elements = dims[1].iter().fold(1_u64, |n, d| n.saturating_mul(*d as u64));
        (dims[0][0] as u64).saturating_mul(elements).max(1)
    },
    kernel: |ints, tables| {
        let part = Triangle::from_bits(ints[0]);
        let n = shape(tables).0;
        if tables[1].dims[0] != n {
            return Err("the matrix and the right side have different numbers of rows");
        }
        let x = adl_linalg::tri_solve(part, &tables[0].data, n, &tables[1].data).map_err(Failure::message)?;
        Ok(vec![Made::Floats(x)])
    },
    diff: BulkDiff::Rule { jvp: tri_solve_jvp, vjp: tri_solve_vjp, linear_in: 1 },
};

const TRANSPOSED: i64 = 4;

fn has_bit(b: &mut Builder, bits: &Atom, bit: i64) -> Atom {
    let on = b.prim(&prim::BIT_AND, &[bits.clone(), Atom::int(bit)]);
    b.prim(&prim::NE, &[on, Atom::int(0)])
}

/// The triangle of a matrix, negated, with zeros around it.
fn minus_triangle(b: &mut Builder, bits: &Atom, matrix: &Atom) -> Atom {
    let ty = matrix.ty();
    let n = sizes(&ty)[0].clone();
    let s = ty.dims().1.scalar().expect("a matrix of floats");
    let (lower, unit) = (has_bit(b, bits, 1), has_bit(b, bits, 2));
    let rows = b.build(&n, |b, i| {
        b.build(&n, |b, j| {
            let below = b.prim(&prim::LT, &[j.clone(), i.clone()]);
            let above = b.prim(&prim::LT, &[i.clone(), j.clone()]);
            let (on, any) =
                (b.prim(&prim::EQ, &[i.clone(), j.clone()]), b.prim(&prim::NOT, std::slice::from_ref(&unit)));
            let side = b.select(lower.clone(), below, above);
            let diagonal = b.prim(&prim::AND, &[on, any]);
            let inside = b.prim(&prim::OR, &[side, diagonal]);
            let x = b.index(matrix, &[i.clone(), j], false);
            let x = b.prim(&prim::NEG, &[x]);
            vec![b.select(inside, x, Atom::float(s, 0.0))]
        })
    });
    rows.into_iter().next().expect("one table")
}

/// Labels of the axes behind the first of a table.
fn rest(ty: &crate::ty::Ty) -> Vec<u8> {
    (2..=u8::try_from(sizes(ty).len()).expect("few dimensions")).collect()
}

/// `then` where the system is transposed, else `other`.
fn if_transposed(
    b: &mut Builder,
    bits: &Atom,
    ty: &crate::ty::Ty,
    then: impl FnOnce(&mut Builder) -> Atom,
    other: impl FnOnce(&mut Builder) -> Atom,
) -> Atom {
    if let Some(bits) = bits.as_int() {
        return if bits & TRANSPOSED != 0 { then(b) } else { other(b) };
    }
    let transposed = has_bit(b, bits, TRANSPOSED);
    debug_assert_eq!(transposed.ty(), BOOL);
    let tys = [ty.clone()];
    b.branch(transposed, &tys, |b| vec![then(b)], |b| vec![other(b)]).swap_remove(0)
}

fn solve(b: &mut Builder, bits: Atom, matrix: &Atom, right: Atom) -> Atom {
    let ty = right.ty();
    b.bind(ty, Expr::Bulk(super::Bulk(&TRI_SOLVE), vec![bits, matrix.clone(), right]))
}

/// `dx = t⁻¹·(db - dt·x)`.
fn tri_solve_jvp(b: &mut Builder, at: &Place, tangents: &[Option<Atom>]) -> Atom {
    let [bits, matrix, _] = at.args else { unreachable!("three operands") };
    let ty = at.result.ty();
    let moved = tangents[0].as_ref().map(|dt| {
        let dt = minus_triangle(b, bits, dt);
        let product = |b: &mut Builder, first: [u8; 2]| {
            let [x, out] = [1, 0].map(|label| [vec![label], rest(&ty)].concat());
            let spec = Axes { a: first.to_vec(), b: x, out };
            b.bind(ty.clone(), Expr::Contract { a: dt.clone(), b: at.result.clone(), spec })
        };
        if_transposed(b, bits, &ty, |b| product(b, [1, 0]), |b| product(b, [0, 1]))
    });
    let right = match (moved, tangents[1].clone()) {
        (Some(x), Some(y)) => b.bind(ty.clone(), Expr::AddCt(x, y)),
        (Some(x), None) | (None, Some(x)) => x,
        (None, None) => unreachable!("one operand has a tangent"),
    };
    solve(b, bits.clone(), matrix, right)
}

/// The cotangent `z = t⁻ᵀ·ct` of `b`, and that of the triangle: `-z·xᵀ`, transposed where `t` is.
fn tri_solve_vjp(b: &mut Builder, at: &Place, ct: &Atom, wanted: &[bool]) -> Vec<Option<Atom>> {
    let [bits, matrix, _] = at.args else { unreachable!("three operands") };
    let flipped = b.prim(&prim::BIT_XOR, &[bits.clone(), Atom::int(TRANSPOSED)]);
    let z = solve(b, flipped, matrix, ct.clone());
    let of_matrix = wanted[0].then(|| {
        let ty = matrix.ty();
        let product = |b: &mut Builder, first: &Atom, second: &Atom| {
            let [x, y] = [0, 1].map(|label| [vec![label], rest(&z.ty())].concat());
            let spec = Axes { a: x, b: y, out: vec![0, 1] };
            b.bind(ty.clone(), Expr::Contract { a: first.clone(), b: second.clone(), spec })
        };
        let whole = if_transposed(b, bits, &ty, |b| product(b, at.result, &z), |b| product(b, &z, at.result));
        minus_triangle(b, bits, &whole)
    });
    vec![of_matrix, wanted[1].then_some(z)]
}
