//! Cholesky factorization and solve on interleaved lanes.

use dualpack_core::Base;

use super::recurrence::{LARGEST, Lanes, Panels, VALUES, Values, columns};
use super::simd::{Job, Machine, Simd, machines};
use super::whole::{self, WHOLE};
use super::{Entries, Interleaved, InterleavedRef, Order, dispatch, second_factor, subtract};
use crate::error::Error;
use crate::flags::Uplo;
use crate::scratch::with_scratch;

/// Up to this order the lanes are worked on where they are.
pub(crate) const POTRF_LIMIT: usize = LARGEST;

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

/// The tangents of a Cholesky factor of order [`POTRF_LIMIT`] at most, in place of those of the matrix, where the primal
/// parts hold those of the factor already. Of `Dual2` only the second derivatives are computed: the values and first
/// derivatives are there, from the primal, which is a dual number.
pub(crate) fn potrf<F: Base>(uplo: Uplo, matrix: Interleaved<'_, F>) {
    let Interleaved { entries, lanes, order, .. } = matrix;
    assert!(entries.rows == entries.cols && entries.rows <= POTRF_LIMIT);
    // A = Uᵀ U is the factorization of the transpose.
    let lower = if uplo == Uplo::Lower { entries } else { entries.transposed() };
    // SAFETY: `Interleaved` is made from an exclusive view of a matrix whose entries consist of the floats that
    // `order` and `lanes` say; it is square.
    unsafe {
        match order {
            Order::First => potrf_any(lower, lanes),
            Order::Symmetric => second_factor::potrf(lower, lanes),
        }
    }
}

/// The lanes of a factor whose values are there, of order [`POTRF_LIMIT`] at most.
///
/// # Safety
/// `a` is an exclusively borrowed square matrix whose entries in the lower triangle are a value and `lanes` tangents.
pub(super) unsafe fn potrf_any<F: Base>(a: Entries<F>, lanes: usize) {
    // SAFETY: the contract is the caller's; a float is one of the two.
    unsafe {
        match a.cast::<f64>() {
            Some(a) => lanes_on(a, lanes),
            None => lanes_on(a.cast::<f32>().expect("a float is f32 or f64"), lanes),
        }
    }
}

machines! {
    unsafe fn lanes_on<F>(a: Entries<F>, lanes: usize) => lanes_body
}

/// # Safety
/// As for [`potrf_any`].
#[inline(always)]
unsafe fn lanes_body<F: Base, C: Machine<F>, const P: usize>(a: Entries<F>, lanes: usize) {
    let n = a.rows;
    let mut inverses = [F::zero(); POTRF_LIMIT];
    let l = panels::<F, P>(a);
    // SAFETY: the matrices are those of the contract.
    unsafe {
        for j in 0..n {
            inverses[j] = a.value(j, j).recip();
        }
        let f = Lanes { n, l, inverses: inverses.as_ptr(), d: l };
        C::each_apart(lanes, &Columns::<F, P>(f));
    }
}

/// A matrix, in panels of `P` rows.
pub(super) fn panels<F, const P: usize>(a: Entries<F>) -> Panels<F> {
    Panels { start: a.start, panel: P * a.down, growth: 0, down: a.down, right: a.right }
}

/// The lanes of a matrix whose values are stored before its lanes.
struct Columns<F, const P: usize>(Lanes<F>);

impl<F: Base, const P: usize> Job<F> for Columns<F, P> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        let f = self.0;
        // SAFETY: the lanes lie inside the entries, behind the value.
        unsafe {
            let d = Panels { start: f.d.start.add(1 + lane), ..f.d };
            for q in 0..f.n.div_ceil(P) {
                columns::<F, M, P>(m, Lanes { d, ..f }, q);
            }
        }
    }
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
    unsafe fn potrs_any<F: Base>(l: Entries<F>, b: Entries<F>, lanes: usize, w: &mut [F]) => potrs_lanes, avx2 is enough
}

/// The tangents of the solution, in place of those of the right-hand side, where the values hold the solution already.
/// Only for first order; `false`, and nothing done, if the matrices are not.
pub(crate) fn potrs<F: Base>(uplo: Uplo, factor: InterleavedRef<'_, F>, b: Interleaved<'_, F>) -> bool {
    if factor.order != Order::First || b.order != Order::First {
        return false;
    }
    let l = if uplo == Uplo::Lower { factor.entries } else { factor.entries.transposed() };
    assert!(l.rows == l.cols && l.rows == b.entries.rows && factor.lanes == b.lanes);
    if l.rows == 0 {
        // However many columns there are.
        return true;
    }
    with_scratch(l.rows, |w| {
        // SAFETY: the views that the two were made from are alive, `b`'s is exclusive; shapes and lanes fit.
        unsafe { potrs_any(l, b.entries, b.lanes, w) }
    });
    true
}

/// Up to this order a front factors the primal in the kernel too, where a call of LAPACK would cost more than its work.
pub(crate) const TINY: usize = POTRF_LIMIT;

/// Up to this order a front solves in the kernel too.
const TINY_SOLVE: usize = 12;

/// The factorization itself, values, then lanes. Returns 0, or the order of the first leading
/// minor that is not positive: then the values are left as they were.
///
/// # Safety
/// As for [`potrf_any`].
#[inline(always)]
unsafe fn factor_body<F: Base, C: Machine<F>, const P: usize>(a: Entries<F>, lanes: usize) -> usize {
    // SAFETY: the contract.
    unsafe {
        match a.rows {
            0 => 0,
            1 => whole::factor::<F, C, 1>(a, a, lanes),
            2 => whole::factor::<F, C, 2>(a, a, lanes),
            3 => whole::factor::<F, C, 3>(a, a, lanes),
            WHOLE => whole::factor::<F, C, WHOLE>(a, a, lanes),
            _ => factor_columns::<F, C, P>(a, lanes),
        }
    }
}

/// Of matrices that do not fit the registers.
///
/// # Safety
/// As for [`potrf_any`].
#[inline(always)]
unsafe fn factor_columns<F: Base, C: Machine<F>, const P: usize>(a: Entries<F>, lanes: usize) -> usize {
    let n = a.rows;
    let mut factor = Values::<F>::new(n);
    // SAFETY: all indices are below n, in the lower triangle.
    unsafe {
        for first in (0..n).step_by(VALUES) {
            let minor = factor.columns::<C>(a, first);
            if minor > 0 {
                return minor;
            }
        }
        let (l, inverses) = (factor.panels::<P>(), factor.inverses());
        C::each(lanes, &Columns::<F, P>(Lanes { n, l, inverses, d: panels::<F, P>(a) }));
        for j in 0..n {
            for i in j..n {
                a.store(i, j, 0, [factor.at(i, j).read()]);
            }
        }
    }
    0
}

machines! {
    unsafe fn factor_on<F>(a: Entries<F>, lanes: usize) -> usize => factor_body
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
/// not small or not of first order: then nothing was done. After an error the matrix is as it was.
pub(crate) fn factor<F: Base>(matrix: Interleaved<'_, F>) -> Option<Result<(), Error>> {
    let Interleaved { entries: a, lanes, order, .. } = matrix;
    if a.rows > TINY || a.rows != a.cols || order != Order::First {
        return None;
    }
    // SAFETY: `Interleaved` is made from an exclusive view of a matrix of such entries; it is square.
    let minor = unsafe {
        match a.cast::<f64>() {
            Some(a) => factor_on(a, lanes),
            None => factor_on(a.cast::<f32>().expect("a float is f32 or f64"), lanes),
        }
    };
    if minor == 0 {
        return Some(Ok(()));
    }
    // NaN and infinity reach a pivot: the row they stand in has none that is positive and finite.
    // SAFETY: as above.
    let checked = unsafe { finite("potrf", a, true) };
    Some(checked.and(Err(Error::NotPositiveDefinite { routine: "potrf", minor })))
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
    unsafe fn solve_any<F: Base>(l: Entries<F>, b: Entries<F>, lanes: usize, w: &mut [F]) => solve_lanes, avx2 is enough
}

/// Solve with a small lower factor that [`factor`] made, value and lanes; `None` if it is not small, not of first
/// order, or the shapes do not fit: then nothing was done.
pub(crate) fn solve<F: Base>(
    factor: InterleavedRef<'_, F>,
    b: Interleaved<'_, F>,
) -> Option<Result<(), Error>> {
    let (l, x) = (factor.entries, b.entries);
    let small = l.rows <= TINY_SOLVE && l.rows == l.cols && l.rows == x.rows;
    if !small || factor.order != Order::First || b.order != Order::First || factor.lanes != b.lanes {
        return None;
    }
    if l.rows == 0 {
        // However many columns there are.
        return Some(Ok(()));
    }
    let mut w = [F::zero(); TINY_SOLVE];
    // SAFETY: the views that the two were made from are alive, `b`'s is exclusive; shapes and lanes fit.
    Some(unsafe { finite("potrs", x, false).map(|()| solve_any(l, x, b.lanes, &mut w[..l.rows])) })
}
