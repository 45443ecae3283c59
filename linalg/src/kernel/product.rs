//! The lanes of a matrix, read where they are, times a matrix of values.

use nalgebra::{ComplexField, DMatrixView};

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
    unsafe fn run<F: Float>(a: Entries<F>, lanes: usize, x: &[F], out: &mut [F]) => column
}

/// What the kernel computes with.
trait Float: ComplexField + Copy {}
impl<F: ComplexField + Copy> Float for F {}

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

/// What the solve works on: the factors, by columns, and the lanes of one right-hand side, `lanes` for each row.
struct Solve<'a, F: nalgebra::Scalar> {
    lu: DMatrixView<'a, F>,
    lanes: usize,
    x: &'a mut [F],
}

/// Forward and backward substitution for all lanes of one right-hand side.
///
/// # Safety
/// None is needed; the kernels share their form.
#[inline(always)]
unsafe fn substitute<F: ComplexField + Copy, const FUSED: bool>(s: Solve<'_, F>) {
    let Solve { lu, lanes, x } = s;
    let n = x.len() / lanes;
    macro_rules! group {
        ($W:literal, $k:expr) => {{
            for step in 0..2 * n {
                let (i, known) = if step < n { (step, 0..step) } else { (2 * n - 1 - step, 2 * n - step..n) };
                let mut sum: [F; $W] = std::array::from_fn(|w| x[i * lanes + $k + w]);
                for k in known {
                    let factor = lu[(i, k)];
                    let from: [F; $W] = std::array::from_fn(|w| x[k * lanes + $k + w]);
                    subtract::<F, $W, FUSED>(&mut sum, factor, &from);
                }
                if step >= n {
                    let pivot = lu[(i, i)];
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
    unsafe fn run_substitute<F: Float>(s: Solve<'_, F>) => substitute
}

/// Solves `L U X = B` for right-hand sides with `lanes` floats for each row, one after the other in `x`. `false`, and
/// nothing done, for entries that are no plain floats.
pub(crate) fn solve_lanes<N: Scalar, P: Scalar>(lu: DMatrixView<'_, N>, lanes: usize, x: &mut [P]) -> bool {
    let (Some(lu), Some(x)) = (same::<N, BaseOf<P>>(lu), floats_mut(x)) else { return false };
    let n = lu.nrows();
    assert!(lu.ncols() == n && x.len().checked_rem(n * lanes).unwrap_or(0) == 0);
    if n * lanes > 0 {
        for x in x.chunks_exact_mut(n * lanes) {
            // SAFETY: nothing is asked for.
            unsafe { run_substitute(Solve { lu, lanes, x }) };
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
