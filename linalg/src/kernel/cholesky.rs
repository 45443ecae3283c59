//! Cholesky factorization and solve on interleaved lanes.

use dualpack_core::Base;

use super::{Entries, Interleaved, InterleavedRef, Order, dispatch, subtract};
use crate::error::Error;
use crate::flags::Uplo;
use crate::scratch::with_scratch;

/// Up to this order the interleaved recurrence is used.
pub(crate) const POTRF_LIMIT: usize = 24;

/// `R` rows of a column of the differentiated recurrence, from row `i` on, `W` lanes from `slot` on; `d` is the pivot's
/// tangent and `inverse` the reciprocal of the pivot.
///
/// # Safety
/// As for [`potrf_first`]; rows `i..i + R` lie below row `j`.
#[inline(always)]
unsafe fn first_rows<F: Base, const R: usize, const W: usize, const FUSED: bool>(
    a: Entries<F>,
    (i, j, slot): (usize, usize, usize),
    d: &[F; W],
    inverse: F,
) {
    // SAFETY: the indices are in the lower triangle by the contract.
    unsafe {
        let mut x: [[F; W]; R] = std::array::from_fn(|r| a.load(i + r, j, slot));
        for k in 0..j {
            let (l, t) = (a.value(j, k), a.load::<W>(j, k, slot));
            for r in 0..R {
                subtract::<F, W, FUSED>(&mut x[r], l, &a.load(i + r, k, slot));
                subtract::<F, W, FUSED>(&mut x[r], a.value(i + r, k), &t);
            }
        }
        for r in 0..R {
            subtract::<F, W, FUSED>(&mut x[r], a.value(i + r, j), d);
            a.store(i + r, j, slot, x[r].map(|x| x * inverse));
        }
    }
}

/// The differentiated recurrence, `W` lanes from `slot` on, where the values hold `L` already:
/// `dL_ij = (dA_ij − Σ_k<j (dL_ik L_jk + L_ik dL_jk) − L_ij dL_jj) / L_jj`.
///
/// # Safety
/// `a` is a square matrix of which every entry of the lower triangle has `slot + W` floats, exclusively borrowed.
#[inline(always)]
unsafe fn potrf_first<F: Base, const W: usize, const FUSED: bool>(a: Entries<F>, slot: usize) {
    let (n, half) = (a.rows, nalgebra::convert::<f64, F>(0.5));
    for j in 0..n {
        // SAFETY: all indices are below n, in the lower triangle.
        unsafe {
            // A pivot is the root of a float: its reciprocal neither overflows nor underflows.
            let inverse = a.value(j, j).recip();
            let mut d: [F; W] = a.load(j, j, slot);
            for k in 0..j {
                let l = a.value(j, k);
                subtract::<F, W, FUSED>(&mut d, l + l, &a.load(j, k, slot));
            }
            let d = d.map(|x| x * (inverse * half));
            a.store(j, j, slot, d);
            let mut i = j + 1;
            while i + 4 <= n {
                first_rows::<F, 4, W, FUSED>(a, (i, j, slot), &d, inverse);
                i += 4;
            }
            while i < n {
                first_rows::<F, 1, W, FUSED>(a, (i, j, slot), &d, inverse);
                i += 1;
            }
        }
    }
}

/// The recurrence differentiated twice, for the pairs of lane `p` with the `W` lanes from `q` on, where values and
/// first derivatives of `L` are there already.
///
/// # Safety
/// As for [`potrf_first`], with the floats of [`Order::Symmetric`] for `lanes` lanes, `p < lanes`, `q + W <= lanes`.
#[inline(always)]
unsafe fn potrf_second<F: Base, const W: usize, const FUSED: bool>(
    a: Entries<F>,
    lanes: usize,
    p: usize,
    q: usize,
) {
    let (gp, gq, slot) = (1 + p, 1 + q, 1 + lanes + lanes * p + q);
    let half = nalgebra::convert::<f64, F>(0.5);
    for j in 0..a.rows {
        // SAFETY: all indices are below n, in the lower triangle; the three slots lie inside an entry.
        unsafe {
            let inverse = a.value(j, j).recip();
            let (pj, qj): ([F; 1], [F; W]) = (a.load(j, j, gp), a.load(j, j, gq));
            let mut h: [F; W] = a.load(j, j, slot);
            for k in 0..j {
                let (l, [g]) = (a.value(j, k), a.load::<1>(j, k, gp));
                subtract::<F, W, FUSED>(&mut h, l + l, &a.load(j, k, slot));
                subtract::<F, W, FUSED>(&mut h, g + g, &a.load(j, k, gq));
            }
            subtract::<F, W, FUSED>(&mut h, pj[0] + pj[0], &qj);
            let h = h.map(|x| x * (inverse * half));
            a.store(j, j, slot, h);
            for i in j + 1..a.rows {
                let mut x: [F; W] = a.load(i, j, slot);
                for k in 0..j {
                    subtract::<F, W, FUSED>(&mut x, a.value(j, k), &a.load(i, k, slot));
                    subtract::<F, W, FUSED>(&mut x, a.value(i, k), &a.load(j, k, slot));
                    subtract::<F, W, FUSED>(&mut x, a.load::<1>(i, k, gp)[0], &a.load(j, k, gq));
                    subtract::<F, W, FUSED>(&mut x, a.load::<1>(j, k, gp)[0], &a.load(i, k, gq));
                }
                subtract::<F, W, FUSED>(&mut x, a.value(i, j), &h);
                subtract::<F, W, FUSED>(&mut x, a.load::<1>(i, j, gp)[0], &qj);
                subtract::<F, W, FUSED>(&mut x, pj[0], &a.load(i, j, gq));
                a.store(i, j, slot, x.map(|x| x * inverse));
            }
        }
    }
}

/// Calls `$f` for the lanes `$from..$lanes` in groups of eight, four and one: `W` lanes from `k` on.
macro_rules! groups {
    ($from:expr, $lanes:expr, |$k:ident, $W:ident| $call:expr) => {{
        let mut $k = $from;
        while $k < $lanes {
            match $lanes - $k {
                8.. => {
                    const $W: usize = 8;
                    $call;
                    $k += $W;
                }
                4.. => {
                    const $W: usize = 4;
                    $call;
                    $k += $W;
                }
                _ => {
                    const $W: usize = 1;
                    $call;
                    $k += $W;
                }
            }
        }
    }};
}

/// All lanes. Of [`Order::Symmetric`] only the second derivatives are computed: the values and first derivatives of the
/// factor are there already, from the primal, which is a dual number.
///
/// # Safety
/// `a` is an exclusively borrowed square matrix whose entries in the lower triangle are of that order.
#[inline(always)]
unsafe fn potrf_lanes<F: Base, const FUSED: bool>(a: Entries<F>, lanes: usize, order: Order) {
    // SAFETY: the groups end at `lanes`.
    unsafe {
        match order {
            Order::First => groups!(0, lanes, |k, W| potrf_first::<F, W, FUSED>(a, 1 + k)),
            Order::Symmetric => {
                for p in 0..lanes {
                    groups!(p, lanes, |q, W| potrf_second::<F, W, FUSED>(a, lanes, p, q));
                }
            }
        }
    }
}

dispatch! {
    pub(super) unsafe fn potrf_any<F: Base>(a: Entries<F>, lanes: usize, order: Order) => potrf_lanes
}

/// The tangents of a Cholesky factor, in place of those of the matrix, where the primal parts hold those of the factor
/// already (of `Dual2`: values and first derivatives).
pub(crate) fn potrf<F: Base>(uplo: Uplo, matrix: Interleaved<'_, F>) {
    let Interleaved { entries, lanes, order, .. } = matrix;
    assert!(entries.rows == entries.cols);
    // A = Uᵀ U is the factorization of the transpose.
    let lower = if uplo == Uplo::Lower { entries } else { entries.transposed() };
    // SAFETY: `Interleaved` is made from an exclusive view of a matrix whose entries consist of the floats that
    // `order` and `lanes` say; it is square.
    unsafe { potrf_any(lower, lanes, order) }
}

/// The lanes of a solve with `A = L Lᵀ`, `W` lanes from `slot` on, column `c` of the right-hand side, whose values hold
/// the solution `x` already: `w = Lᵀ x`, `L dz = db − dL w`, `Lᵀ dx = dz − dLᵀ x`.
///
/// # Safety
/// `l` is n x n, its lower triangle has `slot + W` floats in each entry; `b` is n x r likewise and exclusively borrowed,
/// `c < r`, and `w` has n entries.
#[inline(always)]
unsafe fn potrs_column<F: Base, const W: usize, const FUSED: bool>(
    l: Entries<F>,
    b: Entries<F>,
    c: usize,
    slot: usize,
    w: &[F],
) {
    let n = l.rows;
    // SAFETY: rows and columns of the triangle are below n; the slots are inside by the contract.
    unsafe {
        for k in 0..n {
            let mut z: [F; W] = b.load(k, c, slot);
            subtract::<F, W, FUSED>(&mut z, w[k], &l.load(k, k, slot));
            let inverse = l.value(k, k).recip();
            let z = z.map(|z| z * inverse);
            b.store(k, c, slot, z);
            for i in k + 1..n {
                let mut y: [F; W] = b.load(i, c, slot);
                subtract::<F, W, FUSED>(&mut y, w[k], &l.load(i, k, slot));
                subtract::<F, W, FUSED>(&mut y, l.value(i, k), &z);
                b.store(i, c, slot, y);
            }
        }
        for i in (0..n).rev() {
            let mut y: [F; W] = b.load(i, c, slot);
            subtract::<F, W, FUSED>(&mut y, b.value(i, c), &l.load(i, i, slot));
            for k in i + 1..n {
                subtract::<F, W, FUSED>(&mut y, b.value(k, c), &l.load(k, i, slot));
                subtract::<F, W, FUSED>(&mut y, l.value(k, i), &b.load(k, c, slot));
            }
            let inverse = l.value(i, i).recip();
            b.store(i, c, slot, y.map(|y| y * inverse));
        }
    }
}

/// Every column and lane of a solve.
///
/// # Safety
/// As for [`potrs_column`], for all columns and `lanes` lanes.
#[inline(always)]
unsafe fn potrs_lanes<F: Base, const FUSED: bool>(l: Entries<F>, b: Entries<F>, lanes: usize, w: &mut [F]) {
    for c in 0..b.cols {
        // SAFETY: as in `potrs_column`; the groups end at `lanes`.
        unsafe {
            for k in 0..l.rows {
                w[k] = (k..l.rows).fold(F::zero(), |sum, i| sum + l.value(i, k) * b.value(i, c));
            }
            groups!(0, lanes, |k, W| potrs_column::<F, W, FUSED>(l, b, c, 1 + k, w));
        }
    }
}

dispatch! {
    unsafe fn potrs_any<F: Base>(l: Entries<F>, b: Entries<F>, lanes: usize, w: &mut [F]) => potrs_lanes
}

/// The tangents of the solution, in place of those of the right-hand side, where the values hold the solution already.
/// Only for first order; `false`, and nothing done, if the matrices are not.
pub(crate) fn potrs<F: Base>(uplo: Uplo, factor: InterleavedRef<'_, F>, b: Interleaved<'_, F>) -> bool {
    if factor.order != Order::First || b.order != Order::First {
        return false;
    }
    let l = if uplo == Uplo::Lower { factor.entries } else { factor.entries.transposed() };
    assert!(l.rows == l.cols && l.rows == b.entries.rows && factor.lanes == b.lanes);
    with_scratch(l.rows, |w| {
        // SAFETY: the views that the two were made from are alive, `b`'s is exclusive; shapes and lanes fit.
        unsafe { potrs_any(l, b.entries, b.lanes, w) }
    });
    true
}

/// Up to this order a front factors the primal in the kernel too, where a call of LAPACK would cost more than its work.
pub(crate) const TINY: usize = 12;

/// `R` rows of column `j` of the factor itself, from row `i` on.
///
/// # Safety
/// As for [`first_rows`].
#[inline(always)]
unsafe fn value_rows<F: Base, const R: usize, const FUSED: bool>(
    a: Entries<F>,
    (i, j): (usize, usize),
    inverse: F,
) {
    // SAFETY: the indices are in the lower triangle by the contract.
    unsafe {
        let mut x: [F; R] = std::array::from_fn(|r| a.value(i + r, j));
        for k in 0..j {
            let l = a.value(j, k);
            let row: [F; R] = std::array::from_fn(|r| a.value(i + r, k));
            subtract::<F, R, FUSED>(&mut x, l, &row);
        }
        for r in 0..R {
            a.store(i + r, j, 0, [x[r] * inverse]);
        }
    }
}

/// The factorization itself, values first, then the lanes. Returns 0, or the order of the first leading minor that is
/// not positive.
///
/// # Safety
/// `a` is an exclusively borrowed square matrix whose entries in the lower triangle are a value and `lanes` tangents.
#[inline(always)]
unsafe fn factor_lanes<F: Base, const FUSED: bool>(a: Entries<F>, lanes: usize) -> usize {
    for j in 0..a.rows {
        // SAFETY: all indices are below n, in the lower triangle.
        unsafe {
            let mut d = [a.value(j, j)];
            for k in 0..j {
                let l = a.value(j, k);
                subtract::<F, 1, FUSED>(&mut d, l, &[l]);
            }
            // NaN, from an overflow on the way, is not positive either.
            if !d[0].is_finite() || d[0] <= F::zero() {
                return j + 1;
            }
            let pivot = d[0].sqrt();
            let inverse = pivot.recip();
            a.store(j, j, 0, [pivot]);
            let mut i = j + 1;
            while i + 4 <= a.rows {
                value_rows::<F, 4, FUSED>(a, (i, j), inverse);
                i += 4;
            }
            while i < a.rows {
                value_rows::<F, 1, FUSED>(a, (i, j), inverse);
                i += 1;
            }
        }
    }
    // SAFETY: as above; the values hold the factor now.
    unsafe { potrf_lanes::<F, FUSED>(a, lanes, Order::First) };
    0
}

dispatch! {
    unsafe fn factor_any<F: Base>(a: Entries<F>, lanes: usize) -> usize => factor_lanes
}

/// The finiteness of the lower triangle, as LAPACK's wrappers check it.
///
/// # Safety
/// `a` is a matrix that may be read.
unsafe fn finite<F: Base>(routine: &'static str, a: Entries<F>, lower: bool) -> Result<(), Error> {
    for j in 0..a.cols {
        for i in if lower { j } else { 0 }..a.rows {
            // SAFETY: an entry of the matrix.
            if !unsafe { a.value(i, j) }.is_finite() {
                return Err(Error::NonFinite { routine, row: i + 1, col: j + 1 });
            }
        }
    }
    Ok(())
}

/// Cholesky factorization of the lower triangle, value and lanes, of a small matrix of duals; `None` if the matrix is
/// not small or not of first order: then nothing was done.
pub(crate) fn factor<F: Base>(matrix: Interleaved<'_, F>) -> Option<Result<(), Error>> {
    let Interleaved { entries: a, lanes, order, .. } = matrix;
    if a.rows > TINY || a.rows != a.cols || order != Order::First {
        return None;
    }
    // SAFETY: `Interleaved` is made from an exclusive view of a matrix of such entries; it is square.
    Some(unsafe {
        finite("potrf", a, true).and_then(|()| match factor_any(a, lanes) {
            0 => Ok(()),
            minor => Err(Error::NotPositiveDefinite { routine: "potrf", minor }),
        })
    })
}

/// The solution of a solve with `A = L Lᵀ` in the values of column `c` of `b`, and `w = Lᵀ x`.
///
/// # Safety
/// As for [`potrs_column`].
#[inline(always)]
unsafe fn solve_value<F: Base, const FUSED: bool>(l: Entries<F>, b: Entries<F>, c: usize, w: &mut [F]) {
    let n = l.rows;
    // SAFETY: rows and columns of the triangle are below n.
    unsafe {
        for i in 0..n {
            w[i] = b.value(i, c);
        }
        for k in 0..n {
            w[k] *= l.value(k, k).recip();
            for i in k + 1..n {
                let mut y = [w[i]];
                subtract::<F, 1, FUSED>(&mut y, l.value(i, k), &[w[k]]);
                w[i] = y[0];
            }
        }
        for i in (0..n).rev() {
            let mut y = [w[i]];
            for k in i + 1..n {
                subtract::<F, 1, FUSED>(&mut y, l.value(k, i), &[b.value(k, c)]);
            }
            b.store(i, c, 0, [y[0] * l.value(i, i).recip()]);
        }
    }
}

/// Every column of a solve, values and lanes.
///
/// # Safety
/// As for [`potrs_column`], for all columns and `lanes` lanes.
#[inline(always)]
unsafe fn solve_lanes<F: Base, const FUSED: bool>(l: Entries<F>, b: Entries<F>, lanes: usize, w: &mut [F]) {
    for c in 0..b.cols {
        // SAFETY: as in `potrs_column`; the groups end at `lanes`.
        unsafe {
            solve_value::<F, FUSED>(l, b, c, w);
            groups!(0, lanes, |k, W| potrs_column::<F, W, FUSED>(l, b, c, 1 + k, w));
        }
    }
}

dispatch! {
    unsafe fn solve_any<F: Base>(l: Entries<F>, b: Entries<F>, lanes: usize, w: &mut [F]) => solve_lanes
}

/// Solve with a small lower factor that [`factor`] made, value and lanes; `None` if it is not small, not of first
/// order, or the shapes do not fit: then nothing was done.
pub(crate) fn solve<F: Base>(
    factor: InterleavedRef<'_, F>,
    b: Interleaved<'_, F>,
) -> Option<Result<(), Error>> {
    let (l, x) = (factor.entries, b.entries);
    let small = l.rows <= TINY && l.rows == l.cols && l.rows == x.rows;
    if !small || factor.order != Order::First || b.order != Order::First || factor.lanes != b.lanes {
        return None;
    }
    let mut w = [F::zero(); TINY];
    // SAFETY: the views that the two were made from are alive, `b`'s is exclusive; shapes and lanes fit.
    Some(unsafe { finite("potrs", x, false).map(|()| solve_any(l, x, b.lanes, &mut w[..l.rows])) })
}
