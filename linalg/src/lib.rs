//! Decompositions of dense matrices of 64-bit floats, row-major, over faer. One thread, so that the same input gives
//! the same bits on every run. Where a decomposition is unique only up to signs, the signs are fixed: see each
//! function.

use faer::linalg::solvers::{Llt, PartialPivLu, Qr, SelfAdjointEigen, Svd};
use faer::{Mat, MatRef, Side};

#[cfg(test)]
mod tests;

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An element is NaN or infinite.
    NotFinite,
    /// A triangular matrix has a zero on its diagonal.
    Singular,
    /// The matrix has no Cholesky factor.
    NotPositiveDefinite,
    /// An iteration did not end.
    NoConvergence,
}

impl Failure {
    /// In words.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Failure::NotFinite => "the matrix has an element that is not finite",
            Failure::Singular => "the matrix is singular",
            Failure::NotPositiveDefinite => "the matrix is not positive definite",
            Failure::NoConvergence => "the decomposition does not converge",
        }
    }
}

fn view(a: &[f64], rows: usize, cols: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(a, rows, cols)
}

fn rows_of(m: MatRef<'_, f64>) -> Vec<f64> {
    (0..m.nrows()).flat_map(|i| (0..m.ncols()).map(move |j| m[(i, j)])).collect()
}

fn finite(a: &[f64]) -> Result<(), Failure> {
    if a.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Failure::NotFinite) }
}

/// The lower triangular `l` with positive diagonal and `l·lᵀ = a`, of the lower triangle of the n×n matrix.
///
/// # Errors
///
/// Where the matrix is not positive definite, or the triangle not finite.
pub fn cholesky(a: &[f64], n: usize) -> Result<Vec<f64>, Failure> {
    for i in 0..n {
        finite(&a[i * n..=i * n + i])?;
    }
    if n == 0 {
        return Ok(vec![]);
    }
    let factor = Llt::new(view(a, n, n), Side::Lower).map_err(|_| Failure::NotPositiveDefinite)?;
    let l = factor.L();
    Ok((0..n * n).map(|k| if k % n <= k / n { l[(k / n, k % n)] } else { 0.0 }).collect())
}

/// A factorisation by rows: unit lower and upper triangular, and the row of the matrix that each row is.
#[derive(Clone, Debug, PartialEq)]
pub struct Lu {
    /// Unit lower triangular, n×n.
    pub l: Vec<f64>,
    /// Upper triangular, n×n.
    pub u: Vec<f64>,
    /// Row `i` of `l·u` is row `rows[i]` of the matrix.
    pub rows: Vec<usize>,
}

/// LU with partial pivoting of an n×n matrix; a singular one has a zero on the diagonal of `u`.
///
/// # Errors
///
/// Where an element is not finite.
pub fn lu(a: &[f64], n: usize) -> Result<Lu, Failure> {
    finite(a)?;
    if n == 0 {
        return Ok(Lu { l: vec![], u: vec![], rows: vec![] });
    }
    let factor = PartialPivLu::new(view(a, n, n));
    let (l, u) = (factor.L(), factor.U());
    let at = |k: usize| (k / n, k % n);
    let lower = |(i, j): (usize, usize)| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => l[(i, j)],
    };
    let made = Lu {
        l: (0..n * n).map(|k| lower(at(k))).collect(),
        u: (0..n * n).map(|k| if k % n < k / n { 0.0 } else { u[at(k)] }).collect(),
        rows: factor.P().arrays().0.to_vec(),
    };
    // A column without a pivot is divided by it there.
    let is_regular = made.l.iter().chain(&made.u).all(|x| x.is_finite());
    Ok(if is_regular { made } else { eliminate(a, n) })
}

/// LU by elimination, row by row; a column without a pivot stays as it is.
fn eliminate(a: &[f64], n: usize) -> Lu {
    let mut u = a.to_vec();
    let mut l = vec![0.0; n * n];
    let mut rows: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let pivot =
            (k..n).fold(k, |best, i| if u[best * n + k].abs() < u[i * n + k].abs() { i } else { best });
        rows.swap(k, pivot);
        for j in 0..n {
            u.swap(k * n + j, pivot * n + j);
            l.swap(k * n + j, pivot * n + j);
        }
        l[k * n + k] = 1.0;
        if u[k * n + k] == 0.0 {
            continue;
        }
        for i in k + 1..n {
            let factor = u[i * n + k] / u[k * n + k];
            l[i * n + k] = factor;
            u[i * n + k] = 0.0;
            for j in k + 1..n {
                u[i * n + j] -= factor * u[k * n + j];
            }
        }
    }
    Lu { l, u, rows }
}

/// `q` with orthonormal columns (m×n) and upper triangular `r` (n×n) with `q·r = a`, of an m×n matrix with m ≥ n. The
/// diagonal of `r` is not negative.
///
/// # Errors
///
/// Where an element is not finite.
pub fn qr(a: &[f64], m: usize, n: usize) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    finite(a)?;
    if n == 0 {
        return Ok((vec![], vec![]));
    }
    let factor = Qr::new(view(a, m, n));
    let (mut q, r) = (rows_of(factor.compute_thin_Q().as_ref()), factor.thin_R());
    let mut upper: Vec<f64> =
        (0..n * n).map(|k| if k % n < k / n { 0.0 } else { r[(k / n, k % n)] }).collect();
    for j in (0..n).filter(|j| r[(*j, *j)] < 0.0) {
        upper[j * n..(j + 1) * n].iter_mut().for_each(|x| *x = 0.0 - *x);
        (0..m).for_each(|i| q[i * n + j] = 0.0 - q[i * n + j]);
    }
    Ok((q, upper))
}

/// Turns the columns of each matrix so that in the first the element of greatest magnitude of a column is positive
/// (the first of equals).
fn fix_signs(first: &mut [f64], second: &mut [f64], n: usize) {
    let Some(rows) = first.len().checked_div(n) else { return };
    for j in 0..n {
        let largest =
            (0..rows).map(|i| first[i * n + j]).fold(0.0, |a: f64, b| if a.abs() < b.abs() { b } else { a });
        if largest < 0.0 {
            for matrix in [&mut *first, &mut *second] {
                matrix.iter_mut().skip(j).step_by(n).for_each(|x| *x = 0.0 - *x);
            }
        }
    }
}

/// A thin singular value decomposition `a = u·diag(s)·vᵀ`.
#[derive(Clone, Debug, PartialEq)]
pub struct SingularValues {
    /// m×n, orthonormal columns. The element of greatest magnitude of each is positive.
    pub u: Vec<f64>,
    /// n values, from the greatest to the least.
    pub s: Vec<f64>,
    /// n×n, orthonormal columns.
    pub v: Vec<f64>,
}

/// The thin singular value decomposition of an m×n matrix with m ≥ n.
///
/// # Errors
///
/// Where an element is not finite, or the iteration does not end.
pub fn svd(a: &[f64], m: usize, n: usize) -> Result<SingularValues, Failure> {
    finite(a)?;
    if n == 0 {
        return Ok(SingularValues { u: vec![], s: vec![], v: vec![] });
    }
    let factor = Svd::new_thin(view(a, m, n)).map_err(|_| Failure::NoConvergence)?;
    let (mut u, mut v) = (rows_of(factor.U()), rows_of(factor.V()));
    let s = factor.S().column_vector().iter().copied().collect();
    fix_signs(&mut u, &mut v, n);
    Ok(SingularValues { u, s, v })
}

/// The eigenvalues, from the least to the greatest, and the orthonormal eigenvectors (columns, n×n) of the symmetric
/// matrix with this lower triangle. The element of greatest magnitude of each eigenvector is positive.
///
/// # Errors
///
/// Where the triangle is not finite, or the iteration does not end.
pub fn eigh(a: &[f64], n: usize) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    for i in 0..n {
        finite(&a[i * n..=i * n + i])?;
    }
    if n == 0 {
        return Ok((vec![], vec![]));
    }
    let factor = SelfAdjointEigen::new(view(a, n, n), Side::Lower).map_err(|_| Failure::NoConvergence)?;
    let mut vectors = rows_of(factor.U());
    fix_signs(&mut vectors, &mut [], n);
    Ok((factor.S().column_vector().iter().copied().collect(), vectors))
}

/// Which triangle of a matrix is meant, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// The lower one, else the upper.
    pub lower: bool,
    /// With ones for its diagonal.
    pub unit: bool,
    /// Transposed, after its triangle has been taken.
    pub transposed: bool,
}

impl Triangle {
    /// From bits: 1 lower, 2 unit, 4 transposed.
    #[must_use]
    pub fn from_bits(bits: i64) -> Triangle {
        Triangle { lower: bits & 1 != 0, unit: bits & 2 != 0, transposed: bits & 4 != 0 }
    }
}

/// The solution `x` (n×m) of `t·x = b`, where `t` is a triangle of the n×n matrix `a`; the rest of `a` is not read.
///
/// # Errors
///
/// Where the diagonal has a zero.
pub fn tri_solve(part: Triangle, a: &[f64], n: usize, b: &[f64]) -> Result<Vec<f64>, Failure> {
    if !part.unit && (0..n).any(|i| a[i * n + i] == 0.0) {
        return Err(Failure::Singular);
    }
    let Some(m) = b.len().checked_div(n) else { return Ok(vec![]) };
    let mut x: Mat<f64> = view(b, n, m).to_owned();
    let a = view(a, n, n);
    let a = if part.transposed { a.transpose() } else { a };
    match (part.lower != part.transposed, part.unit) {
        (true, false) => a.solve_lower_triangular_in_place(x.as_mut()),
        (true, true) => a.solve_unit_lower_triangular_in_place(x.as_mut()),
        (false, false) => a.solve_upper_triangular_in_place(x.as_mut()),
        (false, true) => a.solve_unit_upper_triangular_in_place(x.as_mut()),
    }
    Ok(rows_of(x.as_ref()))
}
