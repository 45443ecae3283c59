//! Cholesky factorization and solve on interleaved lanes.

use dualpack_core::Base;

use super::{Entries, Interleaved, InterleavedRef, Order, dispatch, subtract};
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
    unsafe fn potrf_any<F: Base>(a: Entries<F>, lanes: usize, order: Order) => potrf_lanes
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
