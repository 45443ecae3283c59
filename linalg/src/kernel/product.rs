//! The lanes of a matrix, read where they are, times a matrix of values.

use nalgebra::{ComplexField, DMatrixView};
use num_traits::Zero;

use super::level3::{Number, Place};
use super::{Entries, InterleavedRef, Order, dispatch, same, subtract};
use crate::scalar::{BaseOf, Scalar};

/// Columns that are worked on at a time.
const COLUMNS: usize = 4;

/// `W` lanes from `slot` on of row `i`: `y += Σ_j dA_ij x_j` for the columns from `j` on, ascending.
///
/// # Safety
/// The columns and lanes end inside the matrix and its entries, which may be read.
#[inline(always)]
unsafe fn add_columns<F: Number, const W: usize, const C: usize, const FUSED: bool>(
    a: Entries<F>,
    slot: usize,
    (i, j): (usize, usize),
    x: &[F; C],
    y: &mut [F],
) {
    let mut sum: [F; W] = std::array::from_fn(|w| y[w]);
    for c in 0..C {
        // SAFETY: by the contract.
        let lanes: [F; W] = unsafe { a.load(i, j + c, slot) };
        for w in 0..W {
            sum[w] = if FUSED { x[c].mul_add(lanes[w], sum[w]) } else { sum[w] + x[c] * lanes[w] };
        }
    }
    y[..W].copy_from_slice(&sum);
}

/// All rows and lanes of a few columns, entry after entry as they lie in memory, in groups of eight, four and one lane.
///
/// # Safety
/// As for [`add_columns`], for `lanes` lanes; `y` has as many entries for each row.
#[inline(always)]
unsafe fn add_all<F: Number, const C: usize, const FUSED: bool>(
    a: Entries<F>,
    lanes: usize,
    j: usize,
    x: &[F; C],
    y: &mut [F],
) {
    for (i, y) in y.chunks_exact_mut(lanes).enumerate() {
        let mut k = 0;
        while k < lanes {
            // SAFETY: the groups end at the last lane.
            unsafe {
                match lanes - k {
                    8.. => (add_columns::<F, 8, C, FUSED>(a, 1 + k, (i, j), x, &mut y[k..]), k += 8).1,
                    4.. => (add_columns::<F, 4, C, FUSED>(a, 1 + k, (i, j), x, &mut y[k..]), k += 4).1,
                    _ => (add_columns::<F, 1, C, FUSED>(a, 1 + k, (i, j), x, &mut y[k..]), k += 1).1,
                }
            }
        }
    }
}

/// The lanes of `Lanes` times one column of `x`.
///
/// # Safety
/// The matrix may be read and has `lanes` tangents in each entry; `x` has an entry for each column, `out` `lanes` entries
/// for each row.
#[inline(always)]
unsafe fn column<F: Number, const FUSED: bool>(a: Entries<F>, lanes: usize, x: &[F], out: &mut [F]) {
    out.fill(F::zero());
    let (groups, rest) = x.as_chunks::<COLUMNS>();
    for (g, x) in groups.iter().enumerate() {
        // SAFETY: the columns of this group.
        unsafe { add_all::<F, COLUMNS, FUSED>(a, lanes, g * COLUMNS, x, out) };
    }
    for (j, x) in rest.iter().enumerate() {
        // SAFETY: one of the last columns.
        unsafe { add_all::<F, 1, FUSED>(a, lanes, groups.len() * COLUMNS + j, &[*x], out) };
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
    if a.cols == 0 || out.is_empty() {
        out.fill(BaseOf::<P>::zero());
        return true;
    }
    assert!(x.len() % a.cols == 0 && out.len() == a.rows * lanes * (x.len() / a.cols));
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
    out.fill(BaseOf::<P>::zero());
    if out.is_empty() {
        return true;
    }
    assert!(a.rows == a.cols && x.len() % a.cols == 0 && out.len() == lanes * x.len());
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

/// Rows that are worked on at a time.
const ROWS: usize = 4;

/// The `R` unknowns from row `i` on in `W` lanes from lane `k` on, where those in front of them (of a backward
/// substitution: behind them) are known.
///
/// # Safety
/// As for [`substitute`]; rows and lanes end inside.
#[inline(always)]
unsafe fn unknowns<F: Number, const W: usize, const R: usize, const FUSED: bool>(
    s: &mut Solve<'_, F>,
    forward: bool,
    i: usize,
    k: usize,
) {
    let (lanes, n) = (s.lanes, s.x.len() / s.lanes);
    let load = |x: &[F], i: usize| -> [F; W] { std::array::from_fn(|w| x[i * lanes + k + w]) };
    let mut sums: [[F; W]; R] = std::array::from_fn(|r| load(s.x, i + r));
    let (t, known) = if forward { (s.lower, i) } else { (s.upper, n - i - R) };
    for step in 0..known {
        let j = if forward { step } else { n - 1 - step };
        let x = load(s.x, j);
        for r in 0..R {
            // SAFETY: an entry of the triangle.
            subtract::<F, W, FUSED>(&mut sums[r], unsafe { t.at(i + r, j) }, &x);
        }
    }
    for step in 0..R {
        let r = if forward { step } else { R - 1 - step };
        if !(forward && s.unit) {
            // SAFETY: an entry of the diagonal.
            let pivot = unsafe { t.at(i + r, i + r) };
            sums[r] = sums[r].map(|x| x / pivot);
        }
        let x = sums[r];
        for q in if forward { r + 1..R } else { 0..r } {
            // SAFETY: an entry of the triangle.
            subtract::<F, W, FUSED>(&mut sums[q], unsafe { t.at(i + q, i + r) }, &x);
        }
        s.x[(i + r) * lanes + k..][..W].copy_from_slice(&x);
    }
}

/// `W` lanes from lane `k` on, forward and backward.
///
/// # Safety
/// As for [`substitute`]; the lanes end inside.
#[inline(always)]
unsafe fn substitute_lanes<F: Number, const W: usize, const FUSED: bool>(s: &mut Solve<'_, F>, k: usize) {
    let n = s.x.len() / s.lanes;
    let whole = n - n % ROWS;
    // Loops, no closures, which would not be compiled for the CPU that this function is for.
    // SAFETY: the groups of rows end at the last one.
    unsafe {
        for i in (0..whole).step_by(ROWS) {
            unknowns::<F, W, ROWS, FUSED>(s, true, i, k);
        }
        for i in whole..n {
            unknowns::<F, W, 1, FUSED>(s, true, i, k);
        }
        for i in (whole..n).rev() {
            unknowns::<F, W, 1, FUSED>(s, false, i, k);
        }
        for i in (0..whole).step_by(ROWS).rev() {
            unknowns::<F, W, ROWS, FUSED>(s, false, i, k);
        }
    }
}

/// The same for so few lanes that rows fill the registers better: an unknown is taken out of all other rows at once. Every
/// lane has the same operations in the same order.
///
/// # Safety
/// As for [`substitute`].
#[inline(always)]
unsafe fn substitute_rows<F: Number, const FUSED: bool>(s: &mut Solve<'_, F>) {
    let (lanes, n) = (s.lanes, s.x.len() / s.lanes);
    for step in 0..2 * n {
        let forward = step < n;
        let (t, j) = if forward { (s.lower, step) } else { (s.upper, 2 * n - 1 - step) };
        if !(forward && s.unit) {
            // SAFETY: an entry of the diagonal.
            let pivot = unsafe { t.at(j, j) };
            s.x[j * lanes..][..lanes].iter_mut().for_each(|x| *x /= pivot);
        }
        let (before, from) = s.x.split_at_mut(j * lanes);
        let (known, after) = from.split_at_mut(lanes);
        let (first, others) = if forward { (j + 1, after) } else { (0, before) };
        let count = others.len() / lanes;
        if t.down == 1 && lanes == 1 && count > 0 {
            // SAFETY: `count` entries of column `j` of the triangle, one below the other.
            let column = unsafe { std::slice::from_raw_parts(t.start.add(first + j * t.right), count) };
            for (x, &f) in others.iter_mut().zip(column) {
                let mut y = [*x];
                subtract::<F, 1, FUSED>(&mut y, f, &[known[0]]);
                *x = y[0];
            }
            continue;
        }
        for (r, row) in others.chunks_exact_mut(lanes).enumerate() {
            // SAFETY: an entry of the triangle.
            let f = unsafe { t.at(first + r, j) };
            for (x, &known) in row.iter_mut().zip(&*known) {
                let mut y = [*x];
                subtract::<F, 1, FUSED>(&mut y, f, &[known]);
                *x = y[0];
            }
        }
    }
}

/// Forward and backward substitution for all lanes of one right-hand side.
///
/// # Safety
/// The triangles may be read and have as many rows as the right-hand side.
#[inline(always)]
unsafe fn substitute<F: Number, const FUSED: bool>(mut s: Solve<'_, F>) {
    // SAFETY: the contract; the groups of lanes end at the last one.
    unsafe {
        if s.lanes < 4 {
            return substitute_rows::<F, FUSED>(&mut s);
        }
        let mut k = 0;
        while k < s.lanes {
            match s.lanes - k {
                8.. => (substitute_lanes::<F, 8, FUSED>(&mut s, k), k += 8).1,
                4.. => (substitute_lanes::<F, 4, FUSED>(&mut s, k), k += 4).1,
                _ => (substitute_lanes::<F, 1, FUSED>(&mut s, k), k += 1).1,
            }
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
