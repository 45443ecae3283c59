//! The lanes of a matrix, read where they are, times a matrix of values.

use nalgebra::{ComplexField, DMatrixView};
use num_traits::Zero;

use super::level3::{Number, Place};
use super::{Entries, InterleavedRef, Order, dispatch, same, subtract};
use crate::scalar::{BaseOf, Scalar};

/// Rows that are worked on at a time.
const ROWS: usize = 8;

/// `W` lanes from `slot` on of `R` rows from `i` on: `Σ_j dA_ij x_j`, with `j` ascending.
///
/// # Safety
/// The rows and lanes end inside the matrix and its entries, which may be read; `x` has an entry for each column.
#[inline(always)]
unsafe fn sums<F: ComplexField + Copy, const W: usize, const R: usize, const FUSED: bool>(
    a: Entries<F>,
    slot: usize,
    i: usize,
    x: &[F],
) -> [[F; W]; R] {
    let mut sums = [[F::zero(); W]; R];
    for (j, &x) in x.iter().enumerate() {
        for r in 0..R {
            // SAFETY: by the contract.
            let lanes: [F; W] = unsafe { a.load(i + r, j, slot) };
            for k in 0..W {
                let y = sums[r][k];
                sums[r][k] = if FUSED { x.mul_add(lanes[k], y) } else { y + x * lanes[k] };
            }
        }
    }
    sums
}

/// The lanes of `Lanes`, in groups of eight, four and one, for all rows and one column of `x`.
///
/// # Safety
/// As for [`sums`]; `out` has `lanes` entries for each row.
#[inline(always)]
unsafe fn column<F: ComplexField + Copy, const FUSED: bool>(
    a: Entries<F>,
    lanes: usize,
    x: &[F],
    out: &mut [F],
) {
    macro_rules! group {
        ($W:literal, $k:expr) => {{
            let mut i = 0;
            while i < a.rows {
                if a.rows - i >= ROWS {
                    // SAFETY: the rows and the group end inside.
                    let sums = unsafe { sums::<F, $W, ROWS, FUSED>(a, 1 + $k, i, x) };
                    for r in 0..ROWS {
                        out[(i + r) * lanes + $k..][..$W].copy_from_slice(&sums[r]);
                    }
                    i += ROWS;
                } else {
                    // SAFETY: the row and the group end inside.
                    let [sum] = unsafe { sums::<F, $W, 1, FUSED>(a, 1 + $k, i, x) };
                    out[i * lanes + $k..][..$W].copy_from_slice(&sum);
                    i += 1;
                }
            }
        }};
    }
    let mut k = 0;
    while k < lanes {
        match lanes - k {
            8.. => (group!(8, k), k += 8).1,
            4.. => (group!(4, k), k += 4).1,
            _ => (group!(1, k), k += 1).1,
        }
    }
}

dispatch! {
    /// See [`column`].
    ///
    /// # Safety
    /// As for [`column`].
    unsafe fn run<F: Number>(a: Entries<F>, lanes: usize, x: &[F], out: &mut [F]) => column
}

/// `dA X` for the lanes of `a`: the lanes of entry `(i, c)` begin at `lanes (i + rows c)` of `out`; `x` is stored by
/// columns. `false`, and nothing done, for entries that are no plain floats or more than a value and its tangents.
pub(crate) fn times_values<P: Scalar>(a: &InterleavedRef<'_, BaseOf<P>>, x: &[P], out: &mut [P]) -> bool {
    let (Some(x), Some(out)) = (floats(x), floats_mut(out)) else { return false };
    let (a, lanes) = match a.order {
        Order::First => (a.entries, a.lanes),
        Order::Symmetric => return false,
    };
    assert!(x.len().checked_rem(a.cols) == Some(0) && out.len() == a.rows * lanes * (x.len() / a.cols));
    if out.is_empty() {
        return true;
    }
    for (x, out) in x.chunks_exact(a.cols).zip(out.chunks_exact_mut(a.rows * lanes)) {
        // SAFETY: `a` is a borrowed matrix of entries with one value and `lanes` tangents; the lengths are those of its
        // columns and its rows.
        unsafe { run(a, lanes, x, out) };
    }
    true
}

/// `y += A x` for the lanes of a symmetric matrix of which the lower triangle is given, column by column.
///
/// # Safety
/// The lower triangle of `a`, square, may be read, and has `lanes` tangents in each entry; `x` has as many entries as
/// rows, `y` `lanes` times as many.
#[inline(always)]
unsafe fn symmetric<F: ComplexField + Copy, const FUSED: bool>(
    a: Entries<F>,
    lanes: usize,
    x: &[F],
    y: &mut [F],
) {
    macro_rules! group {
        ($W:literal, $k:expr, $j:expr) => {{
            let add = |y: &mut [F; $W], f: F, t: &[F; $W]| {
                for w in 0..$W {
                    y[w] = if FUSED { f.mul_add(t[w], y[w]) } else { y[w] + f * t[w] };
                }
            };
            let at = |i: usize| i * lanes + $k..i * lanes + $k + $W;
            let mut sum: [F; $W] = std::array::from_fn(|w| y[at($j).start + w]);
            // SAFETY: an entry of the diagonal.
            add(&mut sum, x[$j], &unsafe { a.load($j, $j, 1 + $k) });
            for i in $j + 1..a.rows {
                // SAFETY: an entry of the lower triangle.
                let t: [F; $W] = unsafe { a.load(i, $j, 1 + $k) };
                add(&mut sum, x[i], &t);
                let row = &mut y[at(i)];
                let mut other: [F; $W] = std::array::from_fn(|w| row[w]);
                add(&mut other, x[$j], &t);
                row.copy_from_slice(&other);
            }
            y[at($j)].copy_from_slice(&sum);
        }};
    }
    for j in 0..a.rows {
        let mut k = 0;
        while k < lanes {
            match lanes - k {
                8.. => (group!(8, k, j), k += 8).1,
                4.. => (group!(4, k, j), k += 4).1,
                _ => (group!(1, k, j), k += 1).1,
            }
        }
    }
}

dispatch! {
    /// See [`symmetric`].
    ///
    /// # Safety
    /// As for [`symmetric`].
    unsafe fn run_symmetric<F: Number>(a: Entries<F>, lanes: usize, x: &[F], y: &mut [F]) => symmetric
}

/// [`times_values`] for a symmetric matrix, of which the lower triangle is read.
pub(crate) fn symmetric_times_values<P: Scalar>(
    a: &InterleavedRef<'_, BaseOf<P>>,
    x: &[P],
    out: &mut [P],
) -> bool {
    let (Some(x), Some(out)) = (floats(x), floats_mut(out)) else { return false };
    let (a, lanes) = match a.order {
        Order::First => (a.entries, a.lanes),
        Order::Symmetric => return false,
    };
    assert!(a.rows == a.cols && x.len().checked_rem(a.cols) == Some(0) && out.len() == lanes * x.len());
    out.fill(BaseOf::<P>::zero());
    if out.is_empty() {
        return true;
    }
    for (x, y) in x.chunks_exact(a.cols).zip(out.chunks_exact_mut(a.rows * lanes)) {
        // SAFETY: `a` is a borrowed square matrix of entries with one value and `lanes` tangents; the lengths are those
        // of its columns and its rows.
        unsafe { run_symmetric(a, lanes, x, y) };
    }
    true
}

/// The factors of a matrix that is solved with.
pub(crate) enum Triangles<'a, P: Scalar> {
    /// A unit lower and an upper triangle.
    Lu(DMatrixView<'a, P>),
    /// A lower triangle and its transpose.
    Cholesky(DMatrixView<'a, P>),
}

/// What the solve works on: the two triangles, and the lanes of one right-hand side, `lanes` for each row.
struct Solve<'a, F> {
    lower: Place<F>,
    upper: Place<F>,
    unit: bool,
    lanes: usize,
    x: &'a mut [F],
}

/// Forward and backward substitution for all lanes of one right-hand side.
///
/// # Safety
/// The triangles may be read and have as many rows as the right-hand side.
#[inline(always)]
unsafe fn substitute<F: Number, const FUSED: bool>(s: Solve<'_, F>) {
    let Solve { lower, upper, unit, lanes, x } = s;
    let n = x.len() / lanes;
    macro_rules! group {
        ($W:literal, $k:expr) => {{
            for step in 0..2 * n {
                let (t, i, known) = if step < n {
                    (lower, step, 0..step)
                } else {
                    (upper, 2 * n - 1 - step, 2 * n - step..n)
                };
                let mut sum: [F; $W] = std::array::from_fn(|w| x[i * lanes + $k + w]);
                for k in known {
                    // SAFETY: an entry of the lower triangle in the first half, of the upper one in the second.
                    let factor = unsafe { t.at(i, k) };
                    let from: [F; $W] = std::array::from_fn(|w| x[k * lanes + $k + w]);
                    subtract::<F, $W, FUSED>(&mut sum, factor, &from);
                }
                if step >= n || !unit {
                    // SAFETY: an entry of the diagonal.
                    let pivot = unsafe { t.at(i, i) };
                    sum = sum.map(|x| x / pivot);
                }
                x[i * lanes + $k..][..$W].copy_from_slice(&sum);
            }
        }};
    }
    let mut k = 0;
    while k < lanes {
        match lanes - k {
            8.. => (group!(8, k), k += 8).1,
            4.. => (group!(4, k), k += 4).1,
            _ => (group!(1, k), k += 1).1,
        }
    }
}

dispatch! {
    /// See [`substitute`].
    ///
    /// # Safety
    /// As for [`substitute`].
    unsafe fn run_substitute<F: Number>(s: Solve<'_, F>) => substitute
}

/// Solves for right-hand sides with `lanes` floats for each row, one after the other in `x`. `false`, and nothing done,
/// for entries that are no plain floats.
pub(crate) fn solve_lanes<N: Scalar, P: Scalar>(by: Triangles<'_, N>, lanes: usize, x: &mut [P]) -> bool {
    let (factor, unit) = match by {
        Triangles::Lu(lu) => (lu, true),
        Triangles::Cholesky(l) => (l, false),
    };
    let (Some(factor), Some(x)) = (same::<N, BaseOf<P>>(factor), floats_mut(x)) else { return false };
    let n = factor.nrows();
    assert!(factor.ncols() == n && x.len().checked_rem(n * lanes).unwrap_or(0) == 0);
    let lower = Place { start: factor.as_ptr(), down: 1, right: factor.strides().1 };
    let upper = if unit { lower } else { Place { down: lower.right, right: lower.down, ..lower } };
    if n * lanes > 0 {
        for x in x.chunks_exact_mut(n * lanes) {
            // SAFETY: the two triangles are those of a borrowed n x n matrix, or one of it and its transpose.
            unsafe { run_substitute(Solve { lower, upper, unit, lanes, x }) };
        }
    }
    true
}

/// A slice of scalars that are the float itself.
fn floats<P: Scalar>(x: &[P]) -> Option<&[BaseOf<P>]> {
    let same = std::any::TypeId::of::<P>() == std::any::TypeId::of::<BaseOf<P>>();
    // SAFETY: the two types are one.
    same.then(|| unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) })
}

/// A slice of scalars that are the float itself, to be written.
fn floats_mut<P: Scalar>(x: &mut [P]) -> Option<&mut [BaseOf<P>]> {
    let same = std::any::TypeId::of::<P>() == std::any::TypeId::of::<BaseOf<P>>();
    // SAFETY: the two types are one.
    same.then(|| unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) })
}
