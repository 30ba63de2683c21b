//! Contractions: sums of products of two tables over labelled axes, in one reference order.
//!
//! Results are row-major in the axes of the result. Each is a sum in the order of [`crate::order`] over
//! the contracted axes, row-major in the order in which their labels first occur. The fast paths form the
//! same sums in the same order, only many side by side.

use crate::order::{BLOCK, Element, Fold, Op, combine_lanes};

/// How far a step along an axis moves in each operand.
#[derive(Clone, Copy, Debug)]
struct Axis {
    size: usize,
    a: usize,
    b: usize,
}

/// The axes of a contraction, from the outside in.
#[derive(Clone, Debug)]
pub struct Plan {
    out: Vec<Axis>,
    inner: Vec<Axis>,
}

/// The most columns that are formed side by side.
const COLUMNS: usize = 64;

impl Plan {
    /// A plan for operands with these labels and sizes; labels of the result that no operand has are of
    /// size 0.
    ///
    /// # Errors
    ///
    /// The two sizes, where one label has two.
    pub fn new(
        (a, b, out): (&[u8], &[u8], &[u8]),
        (a_sizes, b_sizes): (&[usize], &[usize]),
    ) -> Result<Plan, (usize, usize)> {
        let mut sizes: Vec<(u8, usize)> = vec![];
        for (label, size) in a.iter().zip(a_sizes).chain(b.iter().zip(b_sizes)) {
            match sizes.iter().find(|(known, _)| known == label) {
                Some((_, known)) if known == size => {}
                Some((_, known)) => return Err((*known, *size)),
                None => sizes.push((*label, *size)),
            }
        }
        let axis = |label: u8| {
            let size = sizes.iter().find(|(known, _)| *known == label).map_or(0, |(_, size)| *size);
            Axis { size, a: stride(a, a_sizes, label), b: stride(b, b_sizes, label) }
        };
        let inner =
            sizes.iter().filter(|(label, _)| !out.contains(label)).map(|(label, _)| axis(*label)).collect();
        Ok(Plan { out: out.iter().map(|label| axis(*label)).collect(), inner })
    }

    /// The number of elements of the result.
    #[must_use]
    pub fn len(&self) -> usize {
        self.out.iter().map(|axis| axis.size).product()
    }

    /// The sizes of the result.
    #[must_use]
    pub fn sizes(&self) -> Vec<usize> {
        self.out.iter().map(|axis| axis.size).collect()
    }

    /// Has the result no elements?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of multiplications and additions.
    #[must_use]
    pub fn cost(&self) -> u64 {
        let sizes = self.out.iter().chain(&self.inner).map(|axis| axis.size as u64);
        sizes.fold(2, u64::saturating_mul)
    }

    /// The result on 64-bit floats, row-major.
    #[must_use]
    pub fn run_f64(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        self.run(x, y)
    }

    /// The result on 32-bit floats, row-major.
    #[must_use]
    pub fn run_f32(&self, x: &[f32], y: &[f32]) -> Vec<f32> {
        self.run(x, y)
    }

    fn run<E: Element>(&self, x: &[E], y: &[E]) -> Vec<E> {
        let mut result = Vec::with_capacity(self.len());
        if self.is_empty() {
            return result;
        }
        let Some((last, rest)) = self.out.split_last() else {
            result.push(self.entry(x, y, (0, 0)));
            return result;
        };
        let rows: usize = rest.iter().map(|axis| axis.size).product();
        for row in 0..rows {
            let (i, j) = reach(row, rest);
            // One operand is the same along the row, the other moves by one: form columns side by side.
            if last.a == 0 && last.b == 1 {
                result.extend(self.row((y, j), (x, i), last.size, |axis| (axis.b, axis.a), false));
            } else if last.b == 0 && last.a == 1 {
                result.extend(self.row((x, i), (y, j), last.size, |axis| (axis.a, axis.b), true));
            } else {
                result.extend((0..last.size).map(|k| self.entry(x, y, (i + k * last.a, j + k * last.b))));
            }
        }
        result
    }

    /// One element, whose operands begin at these places.
    fn entry<E: Element>(&self, x: &[E], y: &[E], (i, j): (usize, usize)) -> E {
        if let [axis] = self.inner[..]
            && axis.a == 1
            && axis.b == 1
        {
            return dot(&x[i..i + axis.size], &y[j..j + axis.size]);
        }
        let n: usize = self.inner.iter().map(|axis| axis.size).product();
        let mut fold = Fold::new(Op::Sum);
        let mut walk = Walk::new(&self.inner);
        for _ in 0..n {
            fold.push(x[i + walk.a].mul(y[j + walk.b]));
            walk.step();
        }
        fold.finish()
    }

    /// A row of elements. `wide` moves by one from element to element, `narrow` not at all; `first` says
    /// whether `wide` is the first operand.
    fn row<E: Element>(
        &self,
        (wide, i): (&[E], usize),
        (narrow, j): (&[E], usize),
        size: usize,
        strides: impl Fn(&Axis) -> (usize, usize),
        first: bool,
    ) -> Vec<E> {
        let mut result = Vec::with_capacity(size);
        let axes: Vec<Axis> = self
            .inner
            .iter()
            .map(|axis| {
                let (a, b) = strides(axis);
                Axis { size: axis.size, a, b }
            })
            .collect();
        let n: usize = axes.iter().map(|axis| axis.size).product();
        if n == 1 {
            let y = narrow[j];
            let product = |x: &E| E::ZERO.add(if first { x.mul(y) } else { y.mul(*x) });
            result.extend(wide[i..i + size].iter().map(product));
            return result;
        }
        let mut lanes = vec![E::ZERO; E::LANES * COLUMNS.min(size)];
        for start in (0..size).step_by(COLUMNS) {
            let width = COLUMNS.min(size - start);
            let mut folds = vec![Fold::new(Op::Sum); if n <= BLOCK { 0 } else { width }];
            let mut walk = Walk::new(&axes);
            let mut done = 0;
            loop {
                let block = BLOCK.min(n - done);
                if 0 < start + done {
                    lanes.fill(E::ZERO);
                }
                for k in 0..block {
                    let at = i + start + walk.a;
                    let lane = &mut lanes[k % E::LANES * width..][..width];
                    add_scaled(lane, &wide[at..at + width], narrow[j + walk.b], first);
                    walk.step();
                }
                done += block;
                for column in 0..width {
                    let mut own = [E::ZERO; 16];
                    for (k, lane) in own.iter_mut().enumerate().take(E::LANES) {
                        *lane = lanes[k * width + column];
                    }
                    let sum = combine_lanes(Op::Sum, &mut own[..E::LANES]);
                    match folds.get_mut(column) {
                        Some(fold) => fold.push_block(sum),
                        None => result.push(sum),
                    }
                }
                if done == n {
                    break;
                }
            }
            result.extend(folds.into_iter().map(Fold::finish));
        }
        result
    }
}

/// `lane += xs * y`, or `y * xs`: NaN bits may tell the two apart.
fn add_scaled<E: Element>(lane: &mut [E], xs: &[E], y: E, first: bool) {
    if first {
        for (acc, x) in lane.iter_mut().zip(xs) {
            *acc = acc.add(x.mul(y));
        }
    } else {
        for (acc, x) in lane.iter_mut().zip(xs) {
            *acc = acc.add(y.mul(*x));
        }
    }
}

/// The sum of products of two slices, in the fixed order.
fn dot<E: Element>(x: &[E], y: &[E]) -> E {
    if x.len() <= BLOCK {
        return dot_block(x, y);
    }
    let mut fold = Fold::new(Op::Sum);
    for (x, y) in x.chunks(BLOCK).zip(y.chunks(BLOCK)) {
        fold.push_block(dot_block(x, y));
    }
    fold.finish()
}

/// The sum over one block.
fn dot_block<E: Element>(x: &[E], y: &[E]) -> E {
    let mut lanes = [E::ZERO; 16];
    let (xs, ys) = (x.chunks_exact(E::LANES), y.chunks_exact(E::LANES));
    let (x_rest, y_rest) = (xs.remainder(), ys.remainder());
    for (x, y) in xs.zip(ys) {
        for (lane, (x, y)) in lanes.iter_mut().zip(x.iter().zip(y)) {
            *lane = lane.add(x.mul(*y));
        }
    }
    for (lane, (x, y)) in lanes.iter_mut().zip(x_rest.iter().zip(y_rest)) {
        *lane = lane.add(x.mul(*y));
    }
    combine_lanes(Op::Sum, &mut lanes[..E::LANES])
}

/// How far a step along `label` moves in an operand.
fn stride(labels: &[u8], sizes: &[usize], label: u8) -> usize {
    let step = |k: usize| sizes[k + 1..].iter().product::<usize>();
    labels.iter().enumerate().filter(|(_, known)| **known == label).map(|(k, _)| step(k)).sum()
}

/// Where the row-major index with number `k` lies in both operands.
fn reach(mut k: usize, axes: &[Axis]) -> (usize, usize) {
    let (mut a, mut b) = (0, 0);
    for axis in axes.iter().rev() {
        let i = k % axis.size;
        (a, b) = (a + i * axis.a, b + i * axis.b);
        k /= axis.size;
    }
    (a, b)
}

/// A walk over all indices of some axes, row-major.
struct Walk<'p> {
    axes: &'p [Axis],
    index: Vec<usize>,
    a: usize,
    b: usize,
}

impl Walk<'_> {
    fn new(axes: &[Axis]) -> Walk<'_> {
        Walk { axes, index: vec![0; axes.len()], a: 0, b: 0 }
    }

    #[inline]
    fn step(&mut self) {
        for (axis, i) in self.axes.iter().zip(&mut self.index).rev() {
            *i += 1;
            (self.a, self.b) = (self.a + axis.a, self.b + axis.b);
            if *i < axis.size {
                return;
            }
            *i = 0;
            (self.a, self.b) = (self.a - axis.size * axis.a, self.b - axis.size * axis.b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order;

    fn noise(n: usize) -> Vec<f64> {
        (0..n).map(|k| ((k * 7919 % 1013) as f64 - 500.0) / 37.0).collect()
    }

    /// `out[i, j] = sum_k a[i, k] b[k, j]`, with each operand stored as it is or transposed.
    fn check(m: usize, n: usize, inner: usize) {
        let (a, b) = (noise(m * inner), noise(inner * n));
        for (a_labels, a_sizes) in [([0, 2], [m, inner]), ([2, 0], [inner, m])] {
            for (b_labels, b_sizes) in [([2, 1], [inner, n]), ([1, 2], [n, inner])] {
                let plan = Plan::new((&a_labels, &b_labels, &[0, 1]), (&a_sizes, &b_sizes)).unwrap();
                let got = plan.run(&a, &b);
                let at = |labels: [u8; 2], sizes: [usize; 2], first: u8, i: usize, j: usize| {
                    if labels[0] == first { i * sizes[1] + j } else { j * sizes[1] + i }
                };
                for i in 0..m {
                    for j in 0..n {
                        let want = order::reduce_with(Op::Sum, inner, |k| {
                            a[at(a_labels, a_sizes, 0, i, k)] * b[at(b_labels, b_sizes, 2, k, j)]
                        });
                        assert_eq!(got[i * n + j].to_bits(), want.to_bits(), "{m} {n} {inner}");
                    }
                }
            }
        }
    }

    #[test]
    fn all_paths_follow_the_order() {
        for (m, n, inner) in
            [(1, 1, 1), (2, 3, 4), (3, 130, 17), (2, 2, 4096), (2, 65, 4097), (1, 2, 9000), (2, 2, 0)]
        {
            check(m, n, inner);
        }
    }

    #[test]
    fn outer_products_batches_and_scalars() {
        let plan = Plan::new((&[0], &[1], &[0, 1]), (&[2], &[3])).unwrap();
        assert_eq!(plan.run(&[1.0, 2.0], &[3.0, 4.0, 5.0]), [3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
        let plan = Plan::new((&[0, 1], &[0, 1], &[0]), (&[2, 2], &[2, 2])).unwrap();
        assert_eq!(plan.run(&[1.0, 2.0, 3.0, 4.0], &[1.0, 1.0, 2.0, 2.0]), [3.0, 14.0]);
        let plan = Plan::new((&[], &[0], &[0]), (&[], &[2])).unwrap();
        assert_eq!(plan.run(&[3.0], &[1.0, 2.0]), [3.0, 6.0]);
        assert_eq!(Plan::new((&[0], &[0], &[]), (&[2], &[3])).unwrap_err(), (2, 3));
    }
}
