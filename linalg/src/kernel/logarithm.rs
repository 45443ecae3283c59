//! The logarithm of a determinant in closed form, of symmetric second order on interleaved lanes. With the values
//! factored, `A = L Lᵀ`, no second derivative of the factor is needed:
//!
//! ```text
//! ∂p  ln det A = tr W_p                          W_p = L⁻¹ A_p L⁻ᵀ
//! ∂pq ln det A = tr(A⁻¹ A_pq) − tr(W_p W_q)
//! ```
//!
//! The pairs `p, q` are computed in vectors that hold one with `q >= p`; what else is in them is never stored in a
//! result.

use dualpack_core::Base;
use nalgebra::DMatrixView;

use super::recurrence::LARGEST;
use super::simd::{Job, Machine, Simd, machines};
use super::{Entries, Interleaved, InterleavedRef, Order};
use crate::scratch::with_uninit;

/// Rows of second derivatives that are worked on at a time, and columns of a tile of products.
const ROWS: usize = 4;

/// Up to this order the logarithm of a determinant is for [`ln_determinant`].
pub(crate) const LN_LIMIT: usize = LARGEST;

/// The derivatives of `ln det A`, into the single entry of `out`, where `l` holds the factor of the values of `A`, whose
/// lower triangle is given; of order [`LN_LIMIT`] at most. The value of `out` is left as it is.
pub(crate) fn ln_determinant<F: Base>(
    l: DMatrixView<'_, F>,
    a: InterleavedRef<'_, F>,
    out: Interleaved<'_, F>,
) {
    let (n, lanes) = (a.entries.rows, a.lanes);
    assert!(n <= LN_LIMIT && a.entries.cols == n && l.shape() == (n, n));
    assert!(a.order == Order::Symmetric && out.order == Order::Symmetric && out.lanes == lanes);
    assert!(out.entries.rows == 1 && out.entries.cols == 1);
    let (start, right) = (l.as_ptr().cast_mut(), l.strides().1);
    let l = Entries { start, rows: n, cols: n, down: 1, right };
    let (padded, across) = (n.next_multiple_of(ROWS), n.next_multiple_of(WIDEST));
    // First what is read in whole vectors.
    let sizes = [
        padded * across,
        n * across,
        n * padded * WIDEST,
        padded * WIDEST,
        n * (n + 1) / 2 * lanes,
        lanes * lanes,
    ];
    with_uninit::<F, _>(sizes.iter().sum(), |buffer| {
        let mut next = buffer.as_mut_ptr().cast::<F>();
        let [inverse, product, dense, row, w, second] = sizes.map(|size| {
            let place = next;
            next = next.wrapping_add(size);
            place
        });
        let (a, out) = (a.entries, out.entries);
        let job = Logarithm { l, a, lanes, padded, across, inverse, product, dense, row, w, second, out };
        // SAFETY: the views that the three were made from are alive, that of `out` is exclusive; `a` and `l` are n x n,
        // and an entry of `a` and of `out` is a value, `lanes` first and `lanes²` second derivatives; the others are
        // parts of the buffer. A float is one of the two.
        unsafe {
            match job.cast::<f64>() {
                Some(job) => logarithm_on(job),
                None => logarithm_on(job.cast::<f32>().expect("a float is f32 or f64")),
            }
        }
    });
}

/// The most numbers in a vector of any CPU.
const WIDEST: usize = 8;

/// The operands of [`ln_determinant`], and its scratch.
#[derive(Clone, Copy)]
struct Logarithm<F> {
    l: Entries<F>,
    a: Entries<F>,
    lanes: usize,
    /// The order, rounded up to whole tiles, and to whole vectors.
    padded: usize,
    across: usize,
    /// `L⁻¹` and `A⁻¹`, row by row at a distance of `across`.
    inverse: *mut F,
    product: *mut F,
    /// The first derivatives of a group of lanes, as a full matrix row by row, `padded` entries in each.
    dense: *mut F,
    /// A row of `L⁻¹ A`.
    row: *mut F,
    /// The lower triangle of `W`, column by column, all lanes of an entry side by side.
    w: *mut F,
    /// The second derivatives of the logarithm.
    second: *mut F,
    out: Entries<F>,
}

impl<F: 'static> Logarithm<F> {
    /// The same, if `G` is the same type.
    fn cast<G: 'static>(self) -> Option<Logarithm<G>> {
        let Logarithm { l, a, out, lanes, padded, across, inverse, product, dense, row, w, second } = self;
        let ((l, a), out) = l.cast::<G>().zip(a.cast()).zip(out.cast())?;
        let [inverse, product, dense, row, w, second] =
            [inverse, product, dense, row, w, second].map(|place| place.cast::<G>());
        Some(Logarithm { l, a, out, lanes, padded, across, inverse, product, dense, row, w, second })
    }
}

machines! {
    unsafe fn logarithm_on<F>(job: Logarithm<F>) => logarithm
}

/// # Safety
/// The parts of the job are what they are said to be, the scratch has the sizes of [`ln_determinant`]; the CPU is that
/// of `C`.
#[inline(always)]
unsafe fn logarithm<F: Base, C: Machine<F>, const P: usize>(job: Logarithm<F>) {
    let Logarithm { lanes, second, .. } = job;
    // SAFETY: the contract.
    unsafe {
        invert::<F, C>(job);
        square::<F, C>(job);
        C::each_apart(lanes, &Congruence(job));
        for p in (0..lanes).step_by(ROWS) {
            match lanes - p {
                1 => C::each_apart(lanes, &Rows::<F, 1>(job, p)),
                2 => C::each_apart(lanes, &Rows::<F, 2>(job, p)),
                3 => C::each_apart(lanes, &Rows::<F, 3>(job, p)),
                _ => C::each_apart(lanes, &Rows::<F, ROWS>(job, p)),
            }
        }
        let out = job.out.place(0, 0).add(1 + lanes);
        for p in 0..lanes {
            for q in p..lanes {
                out.add(p * lanes + q).write(second.add(p * lanes + q).read());
            }
        }
    }
}

/// `L⁻¹`, zero right of the diagonal and in the rows up to number `padded`.
///
/// # Safety
/// As for [`logarithm`].
#[inline(always)]
unsafe fn invert<F: Base, C: Machine<F>>(job: Logarithm<F>) {
    let (m, Logarithm { l, inverse, padded, across, .. }) = (C::WIDE, job);
    // SAFETY: rows below `padded`, whole vectors up to `across`; the rows that are read have been written.
    unsafe {
        for i in 0..padded {
            let row = inverse.add(i * across);
            for at in (0..across).step_by(C::WIDEST) {
                let mut x = m.splat(F::zero());
                if i < l.rows && at < i {
                    for k in at..i {
                        x = m.minus(x, m.splat(l.value(i, k)), m.load(inverse.add(k * across + at)));
                    }
                    x = m.times(x, m.splat(l.value(i, i).recip()));
                }
                m.store(row.add(at), x);
            }
            if i < l.rows {
                row.add(i).write(l.value(i, i).recip());
            }
        }
    }
}

/// `A⁻¹ = L⁻ᵀ L⁻¹`.
///
/// # Safety
/// As for [`logarithm`], and `L⁻¹` is there.
#[inline(always)]
unsafe fn square<F: Base, C: Machine<F>>(job: Logarithm<F>) {
    let (m, Logarithm { inverse, product, across, .. }) = (C::WIDE, job);
    let n = job.a.rows;
    // SAFETY: rows below the order, whole vectors.
    unsafe {
        for i in 0..n {
            for at in (0..across).step_by(C::WIDEST) {
                let mut x = m.splat(F::zero());
                for k in i.max(at)..n {
                    let row = inverse.add(k * across);
                    x = m.plus(x, m.splat(row.add(i).read()), m.load(row.add(at)));
                }
                m.store(product.add(i * across + at), x);
            }
        }
    }
}

/// `W = L⁻¹ A L⁻ᵀ` for the first derivatives of `A`, one group of lanes after the other, and its trace, which is that of
/// `A⁻¹ A`.
struct Congruence<F>(Logarithm<F>);

impl<F: Base> Job<F> for Congruence<F> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        let Logarithm { a, padded, across, inverse, w, lanes, .. } = self.0;
        let (n, whole) = (a.rows, m.whole());
        // SAFETY: entries of the lower triangle of `a`; the rooms have whole vectors for `padded` columns, and what is
        // read of them has been written.
        unsafe {
            let zero = whole.splat(F::zero());
            let dense = |i: usize, j: usize| self.0.dense.add((i * padded + j) * M::WIDTH);
            for j in 0..n {
                for i in j..n {
                    let x = m.load(a.place(i, j).add(1 + lane));
                    whole.store(dense(i, j), x);
                    whole.store(dense(j, i), x);
                }
                (n..padded).for_each(|i| whole.store(dense(j, i), zero));
            }
            let mut trace = zero;
            for i in 0..n {
                for l in (0..=i).step_by(ROWS) {
                    let mut sums = [zero; ROWS];
                    for k in 0..=i {
                        let f = whole.splat(inverse.add(i * across + k).read());
                        for (s, sum) in sums.iter_mut().enumerate() {
                            *sum = whole.plus(*sum, f, whole.load(dense(k, l + s)));
                        }
                    }
                    for (s, sum) in sums.into_iter().enumerate() {
                        whole.store(self.0.row.add((l + s) * M::WIDTH), sum);
                    }
                }
                for j in (0..=i).step_by(ROWS) {
                    let mut sums = [zero; ROWS];
                    for l in 0..i.min(j + ROWS - 1) + 1 {
                        let x = whole.load(self.0.row.add(l * M::WIDTH));
                        for (s, sum) in sums.iter_mut().enumerate() {
                            let f = inverse.add((j + s) * across + l).read();
                            *sum = whole.plus(*sum, whole.splat(f), x);
                        }
                    }
                    for (s, sum) in sums.into_iter().enumerate() {
                        let j = j + s;
                        if j <= i {
                            m.store(w.add(packed(n, i, j) * lanes + lane), sum);
                        }
                        if j == i {
                            trace = whole.plus(trace, sum, whole.splat(F::one()));
                        }
                    }
                }
            }
            m.store(self.0.out.place(0, 0).add(1 + lane), trace);
        }
    }
}

/// The number of entry `(i, j)` of a lower triangle, column by column.
#[inline(always)]
fn packed(n: usize, i: usize, j: usize) -> usize {
    j * (2 * n - j + 1) / 2 + i - j
}

/// `tr(A⁻¹ A_pq) − tr(W_p W_q)` for `R` rows of pairs.
struct Rows<F, const R: usize>(Logarithm<F>, usize);

impl<F: Base, const R: usize> Job<F> for Rows<F, R> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        let Rows(Logarithm { a, product, across, mut w, lanes, second, .. }, p) = *self;
        if lane + M::WIDTH <= p {
            return;
        }
        let (n, slot) = (a.rows, 1 + lanes + p * lanes + lane);
        // SAFETY: entries of the lower triangle, rows and lanes inside.
        unsafe {
            let zero = m.splat(F::zero());
            let (mut own, mut cross) = ([zero; R], [zero; R]);
            for j in 0..n {
                let mut entry = a.place(j, j).add(slot);
                for i in j..n {
                    // What is off the diagonal counts twice.
                    let twice = if i == j { F::one() } else { F::one() + F::one() };
                    let x = m.splat(product.add(j * across + i).read() * twice);
                    let y = m.times(m.load(w.add(lane)), m.splat(twice));
                    for r in 0..R {
                        own[r] = m.plus(own[r], x, m.load(entry.add(r * lanes)));
                        cross[r] = m.plus(cross[r], m.splat(w.add(p + r).read()), y);
                    }
                    // Behind the last one these may lie outside.
                    (entry, w) = (entry.wrapping_add(a.down), w.wrapping_add(lanes));
                }
            }
            for r in 0..R {
                let trace = m.minus(own[r], m.splat(F::one()), cross[r]);
                m.store(second.add((p + r) * lanes + lane), trace);
            }
        }
    }
}
