//! Products and triangular solves of plain floats: our own, because lapack-sys binds no BLAS and the reference BLAS
//! is slow. Small diagonal blocks are computed in place, everything else is a product by the crate `gemm`.
//!
//! The arithmetic depends on the shapes alone, never on leading dimensions: a value has the same bits whether it
//! comes from a matrix of floats or from the value plane of a matrix of duals. No entry is skipped for being zero.

use nalgebra::{DMatrixView, DMatrixViewMut};

use crate::ffi::{self, Native};
use crate::flags::{Diag, Side, Trans, Uplo};
use crate::kernel::level3::{BLOCK, SMALL, Tile, product, solve_left, solve_right};
use crate::scratch::with_scratch;

/// `C = α op(A) op(B) + β C`; `β = 0` overwrites `C`.
pub(crate) fn gemm<T: Native>(
    ta: Trans,
    tb: Trans,
    alpha: T,
    a: DMatrixView<'_, T>,
    b: DMatrixView<'_, T>,
    beta: T,
    mut c: DMatrixViewMut<'_, T>,
) {
    let (m, n) = c.shape();
    let (_, k) = ta.shape(a.shape());
    if m == 0 || n == 0 {
        return;
    }
    if m * n * k > SMALL {
        return dense_row(a, |a| {
            dense_row(b, |b| dense_row_mut(c, |c| ffi::product(ta, tb, alpha, a, b, beta, c)))
        });
    }
    scale(beta, c.as_view_mut());
    plain(ta, a, |a| match tb {
        Trans::NoTrans => product(alpha, a, b, false, c),
        Trans::Trans => product(alpha, a, b, true, c),
        Trans::ConjTrans => plain(tb, b, |b| product(alpha, a, b, false, c)),
    });
}

/// `op(A)` as it is, copied if it is not stored like that.
fn plain<T: Native>(trans: Trans, a: DMatrixView<'_, T>, f: impl FnOnce(DMatrixView<'_, T>)) {
    if trans == Trans::NoTrans {
        return f(a);
    }
    let (m, n) = trans.shape(a.shape());
    with_scratch(m * n, |copy| {
        // Column i of A is row i of op(A).
        for i in 0..if n == 0 { 0 } else { m } {
            let row = copy[i..].iter_mut().step_by(m);
            let column = a.column(i);
            let entries = row.zip(column.as_slice());
            if trans == Trans::ConjTrans {
                entries.for_each(|(x, y)| *x = y.conjugate());
            } else {
                entries.for_each(|(x, y)| *x = *y);
            }
        }
        f(DMatrixView::from_slice(copy, m, n))
    })
}

/// Entry `(i, j)` of `op(A)`.
fn entry<T: Native>(a: &DMatrixView<'_, T>, trans: Trans, i: usize, j: usize) -> T {
    match trans {
        Trans::NoTrans => a[(i, j)],
        Trans::Trans => a[(j, i)],
        Trans::ConjTrans => a[(j, i)].conjugate(),
    }
}

/// `A = α A`, where `α = 0` overwrites.
pub(crate) fn scale<T: Native>(alpha: T, mut a: DMatrixViewMut<'_, T>) {
    if alpha == T::zero() {
        a.fill(T::zero());
    } else if alpha != T::one() {
        a.iter_mut().for_each(|x| *x *= alpha);
    }
}

/// A single row with gaps between its entries takes another path through `gemm` than one without; the gaps go.
fn dense_row<T: Native, R>(a: DMatrixView<'_, T>, f: impl FnOnce(DMatrixView<'_, T>) -> R) -> R {
    if a.nrows() != 1 || a.strides().1 == 1 {
        return f(a);
    }
    with_scratch(a.ncols(), |row| {
        row.iter_mut().zip(a.iter()).for_each(|(x, &y)| *x = y);
        f(DMatrixView::from_slice(row, 1, a.ncols()))
    })
}

fn dense_row_mut<T: Native>(mut c: DMatrixViewMut<'_, T>, f: impl FnOnce(DMatrixViewMut<'_, T>)) {
    if c.nrows() != 1 || c.strides().1 == 1 {
        return f(c);
    }
    with_scratch(c.ncols(), |row| {
        row.iter_mut().zip(c.iter()).for_each(|(x, &y)| *x = y);
        f(DMatrixViewMut::from_slice(row, 1, c.ncols()));
        c.iter_mut().zip(row.iter()).for_each(|(x, &y)| *x = y);
    })
}

/// A triangular operand `op(A)`.
struct Triangle<'a, T> {
    a: DMatrixView<'a, T>,
    uplo: Uplo,
    trans: Trans,
    diag: Diag,
}

impl<T: Native> Triangle<'_, T> {
    fn order(&self) -> usize {
        self.a.nrows()
    }

    /// Whether `op(A)` is lower triangular.
    fn is_lower(&self) -> bool {
        (self.uplo == Uplo::Lower) != self.trans.swaps()
    }

    /// Where to cut an order above `BLOCK`: after whole blocks, about the middle.
    fn cut(&self) -> usize {
        (self.order() / 2).next_multiple_of(BLOCK).min(self.order() - 1)
    }

    /// The two diagonal blocks, and between them the stored block whose `op` is the off-diagonal one.
    fn split(&self, at: usize) -> (Triangle<'_, T>, DMatrixView<'_, T>, Triangle<'_, T>) {
        let rest = self.order() - at;
        let off = match self.uplo {
            Uplo::Lower => self.a.view((at, 0), (rest, at)),
            Uplo::Upper => self.a.view((0, at), (at, rest)),
        };
        let part = |a| Triangle { a, uplo: self.uplo, trans: self.trans, diag: self.diag };
        (part(self.a.view((0, 0), (at, at))), off, part(self.a.view((at, at), (rest, rest))))
    }

    fn tile(&self) -> Tile<T> {
        let mut tile = [[T::zero(); BLOCK]; BLOCK];
        let n = self.order();
        for j in 0..n {
            let rows = if self.is_lower() { j + 1..n } else { 0..j };
            for i in rows {
                tile[j][i] = entry(&self.a, self.trans, i, j);
            }
            tile[j][j] = if self.diag == Diag::Unit { T::one() } else { entry(&self.a, self.trans, j, j) };
        }
        tile
    }
}

/// `B = α op(A)⁻¹ B` (left) or `B = α B op(A)⁻¹` (right).
pub(crate) fn trsm<T: Native>(
    side: Side,
    uplo: Uplo,
    trans: Trans,
    diag: Diag,
    alpha: T,
    a: DMatrixView<'_, T>,
    mut b: DMatrixViewMut<'_, T>,
) {
    if b.is_empty() {
        return;
    }
    scale(alpha, b.as_view_mut());
    solve(side, &Triangle { a, uplo, trans, diag }, b);
}

/// Half of the unknowns, their share of the other half's right-hand side, the other half.
fn solve<T: Native>(side: Side, t: &Triangle<'_, T>, mut b: DMatrixViewMut<'_, T>) {
    let n = t.order();
    if n <= BLOCK {
        return match side {
            Side::Left => solve_left(t.is_lower(), &t.tile(), b),
            Side::Right => solve_right(t.is_lower(), &t.tile(), b),
        };
    }
    let at = t.cut();
    let (t1, off, t2) = t.split(at);
    // The half that does not depend on the other one comes first.
    let upper_half_first = t.is_lower() == (side == Side::Left);
    let ((t1, r1), (t2, r2)) =
        if upper_half_first { ((t1, 0..at), (t2, at..n)) } else { ((t2, at..n), (t1, 0..at)) };
    let (minus, one) = (-T::one(), T::one());
    match side {
        Side::Left => {
            let (mut b1, b2) = b.rows_range_pair_mut(r1, r2);
            let mut b2 = b2;
            solve(side, &t1, b1.as_view_mut());
            gemm(t.trans, Trans::NoTrans, minus, off, b1.as_view(), one, b2.as_view_mut());
            solve(side, &t2, b2);
        }
        Side::Right => {
            let (mut b1, b2) = b.columns_range_pair_mut(r1, r2);
            let mut b2 = b2;
            solve(side, &t1, b1.as_view_mut());
            gemm(Trans::NoTrans, t.trans, minus, b1.as_view(), off, one, b2.as_view_mut());
            solve(side, &t2, b2);
        }
    }
}

/// `b_j += f b_k`
fn add_column<T: Native>(f: T, k: usize, j: usize, b: &mut DMatrixViewMut<'_, T>) {
    let (from, mut to) = b.columns_range_pair_mut(k, j);
    for (y, &x) in to.as_mut_slice().iter_mut().zip(from.as_slice()) {
        *y += f * x;
    }
}

/// `B = α op(A) B` (left) or `B = α B op(A)` (right).
pub(crate) fn trmm<T: Native>(
    side: Side,
    uplo: Uplo,
    trans: Trans,
    diag: Diag,
    alpha: T,
    a: DMatrixView<'_, T>,
    mut b: DMatrixViewMut<'_, T>,
) {
    if b.is_empty() {
        return;
    }
    scale(alpha, b.as_view_mut());
    multiply(side, &Triangle { a, uplo, trans, diag }, b);
}

/// The half that no other one needs any more is overwritten first.
fn multiply<T: Native>(side: Side, t: &Triangle<'_, T>, mut b: DMatrixViewMut<'_, T>) {
    let n = t.order();
    if n <= BLOCK {
        return match side {
            Side::Left => multiply_left(n, t.is_lower(), &t.tile(), b),
            Side::Right => multiply_right(n, t.is_lower(), &t.tile(), b),
        };
    }
    let at = t.cut();
    let (t1, off, t2) = t.split(at);
    // `source` contributes to `target` through the off-diagonal block.
    let lower_half_first = t.is_lower() == (side == Side::Left);
    let ((target, target_range), (source, source_range)) =
        if lower_half_first { ((t2, at..n), (t1, 0..at)) } else { ((t1, 0..at), (t2, at..n)) };
    let one = T::one();
    match side {
        Side::Left => {
            let (mut b1, b2) = b.rows_range_pair_mut(target_range, source_range);
            multiply(side, &target, b1.as_view_mut());
            gemm(t.trans, Trans::NoTrans, one, off, b2.as_view(), one, b1);
            multiply(side, &source, b2);
        }
        Side::Right => {
            let (mut b1, b2) = b.columns_range_pair_mut(target_range, source_range);
            multiply(side, &target, b1.as_view_mut());
            gemm(Trans::NoTrans, t.trans, one, b2.as_view(), off, one, b1);
            multiply(side, &source, b2);
        }
    }
}

fn multiply_left<T: Native>(n: usize, lower: bool, t: &Tile<T>, mut b: DMatrixViewMut<'_, T>) {
    for mut column in b.column_iter_mut() {
        let x = column.as_mut_slice();
        for step in 0..n {
            // An entry is overwritten after all that are computed from it.
            let k = if lower { n - 1 - step } else { step };
            let old = x[k];
            let rows = if lower { k + 1..n } else { 0..k };
            for i in rows {
                x[i] += t[k][i] * old;
            }
            x[k] = t[k][k] * old;
        }
    }
}

fn multiply_right<T: Native>(n: usize, lower: bool, t: &Tile<T>, mut b: DMatrixViewMut<'_, T>) {
    for step in 0..n {
        let j = if lower { step } else { n - 1 - step };
        let pivot = t[j][j];
        b.column_mut(j).as_mut_slice().iter_mut().for_each(|x| *x *= pivot);
        let others = if lower { j + 1..n } else { 0..j };
        for k in others {
            add_column(t[j][k], k, j, &mut b);
        }
    }
}

/// One triangle of `C = α A Aᵀ + β C` (`NoTrans`) or `C = α Aᵀ A + β C` (`Trans`).
pub(crate) fn syrk<T: Native>(
    uplo: Uplo,
    trans: Trans,
    alpha: T,
    a: DMatrixView<'_, T>,
    beta: T,
    mut c: DMatrixViewMut<'_, T>,
) {
    let n = c.nrows();
    let flipped = if trans.swaps() { Trans::NoTrans } else { Trans::Trans };
    let mut square = [T::zero(); BLOCK * BLOCK];
    for from in (0..n).step_by(BLOCK) {
        let to = n.min(from + BLOCK);
        let (w, band) = (to - from, if uplo == Uplo::Lower { to..n } else { 0..from });
        let rows = rows_of_op(&a, trans, from, to);
        // The diagonal block is computed in full beside C, whose other triangle is not touched.
        gemm(trans, flipped, alpha, rows, rows, T::zero(), DMatrixViewMut::from_slice(&mut square, w, w));
        for j in 0..w {
            let column = if uplo == Uplo::Lower { j..w } else { 0..j + 1 };
            for i in column {
                let y = &mut c[(from + i, from + j)];
                let old = if beta == T::zero() { T::zero() } else { beta * *y };
                *y = square[i + j * w] + old;
            }
        }
        let others = rows_of_op(&a, trans, band.start, band.end);
        gemm(trans, flipped, alpha, others, rows, beta, c.view_mut((band.start, from), (band.len(), w)));
    }
}

/// The part of `A` that makes up the rows `from..to` of `op(A)`.
fn rows_of_op<'a, T: Native>(
    a: &'a DMatrixView<'_, T>,
    trans: Trans,
    from: usize,
    to: usize,
) -> DMatrixView<'a, T> {
    if trans.swaps() { a.columns(from, to - from) } else { a.rows(from, to - from) }
}
