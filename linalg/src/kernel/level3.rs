//! Products and triangular solves of plain scalars that are too small for the crate `gemm`, or lie on the diagonal of
//! larger ones.

use nalgebra::{ComplexField, DMatrixView, DMatrixViewMut};

use super::dispatch;
use crate::routine::quotient;

/// Order of the diagonal blocks.
pub(crate) const BLOCK: usize = 16;

/// A small triangular `op(A)`, column by column; zero outside its triangle.
pub(crate) type Tile<T> = [[T; BLOCK]; BLOCK];

/// `y + f x` in every lane, rounded once where `FUSED`.
#[inline(always)]
fn add<T: Number, const W: usize, const FUSED: bool>(y: &mut [T; W], f: T, x: &[T; W]) {
    for k in 0..W {
        y[k] = if FUSED { f.mul_add(x[k], y[k]) } else { y[k] + f * x[k] };
    }
}

/// What the kernels compute with.
pub(crate) trait Number: ComplexField + Copy {}
impl<T: ComplexField + Copy> Number for T {}

/// Where a matrix is: entry `(i, j)` at `i * down + j * right`.
#[derive(Clone, Copy)]
pub(super) struct Place<T> {
    pub(super) start: *const T,
    pub(super) down: usize,
    pub(super) right: usize,
}

impl<T: Number> Place<T> {
    /// # Safety
    /// Entry `(i, j)` lies in the matrix.
    #[inline(always)]
    pub(super) unsafe fn at(&self, i: usize, j: usize) -> T {
        // SAFETY: the contract.
        unsafe { self.start.add(i * self.down + j * self.right).read() }
    }

    /// `W` entries down from `(i, j)`, for a matrix whose columns are contiguous.
    ///
    /// # Safety
    /// The entries lie in the matrix, and `down` is 1.
    #[inline(always)]
    unsafe fn column<const W: usize>(&self, i: usize, j: usize) -> [T; W] {
        // SAFETY: the contract.
        unsafe { self.start.add(i + j * self.right).cast::<[T; W]>().read() }
    }

    /// Writes what [`column`](Place::column) reads.
    ///
    /// # Safety
    /// As for `column`, and the matrix is exclusively borrowed and `start` came from that borrow.
    #[inline(always)]
    unsafe fn set_column<const W: usize>(&self, i: usize, j: usize, x: [T; W]) {
        // SAFETY: the contract.
        unsafe { self.start.cast_mut().add(i + j * self.right).cast::<[T; W]>().write(x) }
    }
}

/// The sizes of a product: C is m x n, the inner dimension k.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
}

/// `W x C` entries of `C += α A B` from `(i, j)` on.
///
/// # Safety
/// As for [`product_body`], with `i + W <= m` and `j + C <= n`.
#[inline(always)]
unsafe fn block<T: Number, const W: usize, const C: usize, const FUSED: bool>(
    (a, b, c): (Place<T>, Place<T>, Place<T>),
    k: usize,
    alpha: T,
    i: usize,
    j: usize,
) {
    // SAFETY: all indices are inside by the contract.
    unsafe {
        let mut sum = [[T::zero(); W]; C];
        for l in 0..k {
            let x: [T; W] = a.column(i, l);
            for s in 0..C {
                add::<T, W, FUSED>(&mut sum[s], b.at(l, j + s), &x);
            }
        }
        for s in 0..C {
            let mut y: [T; W] = c.column(i, j + s);
            add::<T, W, FUSED>(&mut y, alpha, &sum[s]);
            c.set_column(i, j + s, y);
        }
    }
}

/// # Safety
/// The three places hold an m x k, a k x n and an m x n matrix; A and C have contiguous columns, C is exclusively
/// borrowed.
#[inline(always)]
unsafe fn product_body<T: Number, const FUSED: bool>(
    places: (Place<T>, Place<T>, Place<T>),
    sizes: Sizes,
    alpha: T,
) {
    let Sizes { m, n, k } = sizes;
    let mut j = 0;
    while j < n {
        let wide = n - j >= 4;
        let mut i = 0;
        while i < m {
            // SAFETY: the blocks end at m and n.
            unsafe {
                match (m - i, wide) {
                    (8.., true) => (block::<T, 8, 4, FUSED>(places, k, alpha, i, j), i += 8).1,
                    (8.., false) => (block::<T, 8, 1, FUSED>(places, k, alpha, i, j), i += 8).1,
                    (4.., true) => (block::<T, 4, 4, FUSED>(places, k, alpha, i, j), i += 4).1,
                    (4.., false) => (block::<T, 4, 1, FUSED>(places, k, alpha, i, j), i += 4).1,
                    (_, true) => (block::<T, 1, 4, FUSED>(places, k, alpha, i, j), i += 1).1,
                    (_, false) => (block::<T, 1, 1, FUSED>(places, k, alpha, i, j), i += 1).1,
                }
            }
        }
        j += if wide { 4 } else { 1 };
    }
}

dispatch! {
    unsafe fn product_any<T: Number>(
        places: (Place<T>, Place<T>, Place<T>), sizes: Sizes, alpha: T,
    ) => product_body
}

/// Products of at most this many multiplications are not worth the packing, and the heap, of the crate `gemm`.
pub(crate) const SMALL: usize = 32 * 32 * 32;

/// `C += α A B`, where `b_strides` are the distances down and right in `B`, so that it may be a transpose.
pub(crate) fn product<T: Number>(
    alpha: T,
    a: DMatrixView<'_, T>,
    b: DMatrixView<'_, T>,
    transposed: bool,
    mut c: DMatrixViewMut<'_, T>,
) {
    let (m, n, k) = (c.nrows(), c.ncols(), a.ncols());
    assert!(a.nrows() == m && b.shape() == if transposed { (n, k) } else { (k, n) });
    let (b_down, b_right) = if transposed { (b.strides().1, 1) } else { (1, b.strides().1) };
    let places = (
        Place { start: a.as_ptr(), down: 1, right: a.strides().1 },
        Place { start: b.as_ptr(), down: b_down, right: b_right },
        Place { start: c.as_mut_ptr().cast_const(), down: 1, right: c.strides().1 },
    );
    // SAFETY: the shapes fit, the strides are those of the views, C is exclusively borrowed.
    unsafe { product_any(places, Sizes { m, n, k }, alpha) }
}

/// `x / by`
#[inline(always)]
fn divide<T: Number>(x: T, by: T) -> T {
    quotient(x, by, |part| nalgebra::try_convert(part).unwrap_or(f64::NAN))
}

/// `1 / t`, unless that has lost digits or is no number: then divisions stay divisions.
#[inline(always)]
pub(super) fn reciprocal<T: Number>(t: T) -> Option<T> {
    let r = divide(T::one(), t);
    let eps =
        nalgebra::convert::<f64, T::RealField>(if size_of::<T::RealField>() == 4 { 5e-7 } else { 1e-15 });
    ((t * r - T::one()).norm1() <= eps).then_some(r)
}

/// The unknowns of `X T = B` in `W` rows from `i` on, column by column.
///
/// # Safety
/// As for [`solve_right_body`], with `i + W <= m`.
#[inline(always)]
unsafe fn right_rows<T: Number, const W: usize, const FUSED: bool>(
    b: Place<T>,
    n: usize,
    lower: bool,
    t: &Tile<T>,
    inverses: &[Option<T>; BLOCK],
    i: usize,
) {
    // SAFETY: the rows and columns are inside by the contract.
    unsafe {
        let mut x = [[T::zero(); W]; BLOCK];
        for step in 0..n {
            let j = if lower { n - 1 - step } else { step };
            let mut y: [T; W] = b.column(i, j);
            let known = if lower { j + 1..n } else { 0..j };
            for k in known {
                add::<T, W, FUSED>(&mut y, -t[j][k], &x[k]);
            }
            y = match inverses[j] {
                Some(r) => y.map(|y| y * r),
                None => y.map(|y| divide(y, t[j][j])),
            };
            x[j] = y;
            b.set_column(i, j, y);
        }
    }
}

/// # Safety
/// `b` is an exclusively borrowed m x n matrix with contiguous columns, `n <= BLOCK`.
#[inline(always)]
unsafe fn solve_right_body<T: Number, const FUSED: bool>(
    b: Place<T>,
    m: usize,
    n: usize,
    lower: bool,
    t: &Tile<T>,
) {
    let inverses: [Option<T>; BLOCK] =
        std::array::from_fn(|j| if j < n { reciprocal(t[j][j]) } else { None });
    let mut i = 0;
    while i < m {
        // SAFETY: the groups of rows end at m.
        unsafe {
            match m - i {
                8.. => (right_rows::<T, 8, FUSED>(b, n, lower, t, &inverses, i), i += 8).1,
                _ => (right_rows::<T, 1, FUSED>(b, n, lower, t, &inverses, i), i += 1).1,
            }
        }
    }
}

dispatch! {
    pub(super) unsafe fn solve_right_any<T: Number>(
        b: Place<T>, m: usize, n: usize, lower: bool, t: &Tile<T>,
    ) => solve_right_body
}

/// `B = B T⁻¹` for a tile `T` of order `b.ncols()`.
pub(crate) fn solve_right<T: Number>(lower: bool, t: &Tile<T>, mut b: DMatrixViewMut<'_, T>) {
    let (m, n) = b.shape();
    assert!(n <= BLOCK);
    let place = Place { start: b.as_mut_ptr().cast_const(), down: 1, right: b.strides().1 };
    // SAFETY: the strides are those of the view, which is exclusively borrowed.
    unsafe { solve_right_any(place, m, n, lower, t) }
}

/// The unknowns of `T X = B` in `W` columns from `j` on: a row of them at a time.
///
/// # Safety
/// As for [`solve_left_body`], with `j + W <= m`.
#[inline(always)]
unsafe fn left_columns<T: Number, const W: usize, const FUSED: bool>(
    b: Place<T>,
    n: usize,
    lower: bool,
    t: &Tile<T>,
    inverses: &[Option<T>; BLOCK],
    j: usize,
) {
    // SAFETY: the rows and columns are inside by the contract.
    unsafe {
        let mut x = [[T::zero(); W]; BLOCK];
        for i in 0..n {
            x[i] = std::array::from_fn(|s| b.at(i, j + s));
        }
        for step in 0..n {
            let i = if lower { step } else { n - 1 - step };
            let mut y = x[i];
            let known = if lower { 0..i } else { i + 1..n };
            for k in known {
                add::<T, W, FUSED>(&mut y, -t[k][i], &x[k]);
            }
            x[i] = match inverses[i] {
                Some(r) => y.map(|y| y * r),
                None => y.map(|y| divide(y, t[i][i])),
            };
        }
        for s in 0..W {
            for i in 0..n {
                b.set_column(i, j + s, [x[i][s]]);
            }
        }
    }
}

/// # Safety
/// `b` is an exclusively borrowed n x m matrix with contiguous columns, `n <= BLOCK`.
#[inline(always)]
unsafe fn solve_left_body<T: Number, const FUSED: bool>(
    b: Place<T>,
    m: usize,
    n: usize,
    lower: bool,
    t: &Tile<T>,
) {
    let inverses: [Option<T>; BLOCK] =
        std::array::from_fn(|j| if j < n { reciprocal(t[j][j]) } else { None });
    let mut j = 0;
    while j < m {
        // SAFETY: the groups of columns end at m.
        unsafe {
            match m - j {
                8.. => (left_columns::<T, 8, FUSED>(b, n, lower, t, &inverses, j), j += 8).1,
                _ => (left_columns::<T, 1, FUSED>(b, n, lower, t, &inverses, j), j += 1).1,
            }
        }
    }
}

dispatch! {
    unsafe fn solve_left_any<T: Number>(
        b: Place<T>, m: usize, n: usize, lower: bool, t: &Tile<T>,
    ) => solve_left_body
}

/// `B = T⁻¹ B` for a tile `T` of order `b.nrows()`.
pub(crate) fn solve_left<T: Number>(lower: bool, t: &Tile<T>, mut b: DMatrixViewMut<'_, T>) {
    let (n, m) = b.shape();
    assert!(n <= BLOCK);
    let place = Place { start: b.as_mut_ptr().cast_const(), down: 1, right: b.strides().1 };
    // SAFETY: the strides are those of the view, which is exclusively borrowed.
    unsafe { solve_left_any(place, m, n, lower, t) }
}
