//! The properties that define each decomposition, on matrices of many sizes.

use super::*;

/// Numbers in (-1, 1) that are the same on each run.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// The product of an m×k and a k×n matrix.
fn product(a: &[f64], b: &[f64], k: usize) -> Vec<f64> {
    let (m, n) = (a.len() / k, b.len() / k);
    let at = |i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
    (0..m * n).map(|x| at(x / n, x % n)).collect()
}

fn transposed(a: &[f64], n: usize) -> Vec<f64> {
    let m = a.len() / n;
    (0..a.len()).map(|k| a[(k % m) * n + k / m]).collect()
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect()
}

fn diagonal(s: &[f64]) -> Vec<f64> {
    let n = s.len();
    (0..n * n).map(|k| if k / n == k % n { s[k / n] } else { 0.0 }).collect()
}

#[track_caller]
fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    let off = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(off < 1e-12 * (1.0 + a.len() as f64), "they differ by {off}");
}

const SIZES: [(usize, usize); 6] = [(1, 1), (2, 2), (3, 3), (5, 2), (17, 17), (40, 33)];

#[test]
fn factors_give_the_matrix_back() {
    for (m, n) in SIZES {
        let a = numbers(m * n, 7);
        let (q, r) = qr(&a, m, n).expect("finite");
        close(&product(&q, &r, n), &a);
        close(&product(&transposed(&q, n), &q, m), &identity(n));
        let SingularValues { u, s, v } = svd(&a, m, n).expect("finite");
        close(&product(&product(&u, &diagonal(&s), n), &transposed(&v, n), n), &a);
        close(&product(&transposed(&u, n), &u, m), &identity(n));
        close(&product(&transposed(&v, n), &v, n), &identity(n));
        assert!(s.windows(2).all(|pair| pair[1] <= pair[0]), "{s:?}");
    }
}

#[test]
fn factors_of_square_matrices_give_them_back() {
    for n in [1, 2, 3, 17, 40] {
        let a = numbers(n * n, 3);
        let Lu { l, u, rows } = lu(&a, n).expect("finite");
        let permuted: Vec<f64> = rows.iter().flat_map(|i| a[i * n..(i + 1) * n].to_vec()).collect();
        close(&product(&l, &u, n), &permuted);
        let gram: Vec<f64> =
            product(&a, &transposed(&a, n), n).iter().zip(identity(n)).map(|(x, y)| x + y).collect();
        let l = cholesky(&gram, n).expect("positive definite");
        close(&product(&l, &transposed(&l, n), n), &gram);
        let (w, v) = eigh(&gram, n).expect("symmetric");
        close(&product(&product(&v, &diagonal(&w), n), &transposed(&v, n), n), &gram);
        for bits in 0..8 {
            let part = Triangle::from_bits(bits);
            let mut t: Vec<f64> = (0..n * n)
                .map(|k| {
                    let (i, j) = (k / n, k % n);
                    let inside = if part.lower { j < i } else { i < j };
                    let diagonal = if part.unit { 1.0 } else { 2.0 + a[k].abs() };
                    if i == j {
                        diagonal
                    } else if inside {
                        a[k] / n as f64
                    } else {
                        0.0
                    }
                })
                .collect();
            let mut given = t.clone();
            // What is not read may be anything.
            for k in 0..n * n {
                let (i, j) = (k / n, k % n);
                if t[k] == 0.0 || (part.unit && i == j) {
                    given[k] = f64::NAN;
                }
            }
            if part.transposed {
                t = transposed(&t, n);
            }
            let b = numbers(n * 3, 5);
            let x = tri_solve(part, &given, n, &b).expect("regular");
            close(&product(&t, &x, n), &b);
        }
    }
}

#[test]
fn singular_matrices_have_factors() {
    let matrices: [&[f64]; 4] = [
        &[0.0; 9],
        &[0.0, 0.0, 1.0, 0.0, 2.0, 3.0, 0.0, 4.0, 5.0],
        &[1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0, 9.0],
        &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0],
    ];
    for a in matrices {
        let Lu { l, u, rows } = lu(a, 3).expect("finite");
        let permuted: Vec<f64> = rows.iter().flat_map(|i| a[i * 3..(i + 1) * 3].to_vec()).collect();
        close(&product(&l, &u, 3), &permuted);
        let (q, r) = qr(a, 3, 3).expect("finite");
        close(&product(&q, &r, 3), a);
        close(&product(&transposed(&q, 3), &q, 3), &identity(3));
        let SingularValues { u, s, v } = svd(a, 3, 3).expect("finite");
        close(&product(&product(&u, &diagonal(&s), 3), &transposed(&v, 3), 3), a);
    }
}

#[test]
fn signs_are_fixed() {
    let (q, r) = qr(&[-3.0, 0.0, 0.0, -2.0], 2, 2).expect("finite");
    assert_eq!((q, r), (vec![-1.0, 0.0, 0.0, -1.0], vec![3.0, 0.0, 0.0, 2.0]));
    let (w, v) = eigh(&[2.0, 9.0, 0.0, 1.0], 2).expect("symmetric");
    assert_eq!((w, v), (vec![1.0, 2.0], vec![0.0, 1.0, 1.0, 0.0]));
}

#[test]
fn what_has_no_result_says_so() {
    assert_eq!(cholesky(&[1.0, 0.0, 2.0, 1.0], 2), Err(Failure::NotPositiveDefinite));
    assert_eq!(cholesky(&[f64::NAN], 1), Err(Failure::NotFinite));
    assert_eq!(lu(&[f64::INFINITY], 1), Err(Failure::NotFinite));
    let upper = Triangle::from_bits(0);
    assert_eq!(tri_solve(upper, &[0.0], 1, &[1.0]), Err(Failure::Singular));
}

#[test]
fn nothing_decomposes_into_nothing() {
    assert_eq!(cholesky(&[], 0), Ok(vec![]));
    assert_eq!(qr(&[], 3, 0), Ok((vec![], vec![])));
    assert_eq!(eigh(&[], 0), Ok((vec![], vec![])));
    assert_eq!(tri_solve(Triangle::from_bits(1), &[], 0, &[]), Ok(vec![]));
    assert_eq!(svd(&[], 3, 0).map(|d| d.s), Ok(vec![]));
    assert_eq!(lu(&[], 0).map(|d| d.rows), Ok(vec![]));
}
