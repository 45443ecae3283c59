//! The Hessian of a function of many variables, by blocks of second derivatives.

use core::borrow::BorrowMut;
use core::fmt;
use core::ops::{ControlFlow, Range};

use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, Dim, Matrix, OMatrix, StorageMut};
use num_traits::{One, Zero};

use super::certain;
use super::point::{At, DimOf, Filled, Point, Seeded, expect_shape, slots, view};
use super::progress::{Stopped, carry_on, finished};
use crate::Lift;
use crate::seed::{SecondOrder, chunk, fill, unseed};
use crate::shared::Passes;

/// Value, gradient and Hessian of a function: `(f(x), ∇f(x), ∇²f(x))`, the Hessian an `n x n` matrix that is
/// symmetric to the bit.
///
/// Inputs whose number the type knows take one pass of [`Dual2`](crate::Dual2), n numbers of n² parts on the stack: from
/// about 32 inputs on, choose a [`Chunk`](crate::Chunk). Others take blocks of `N x N` second derivatives, of which only
/// those on and above the diagonal are evaluated: k(k + 1)/2 passes for k = ⌈n/N⌉, about n²/(2N²). See
/// [`Chunk`](crate::Chunk) for `N`, [`gradient`](crate::gradient) for the points.
///
/// ```
/// use dualpack_core::hessian;
/// use dualpack_core::nalgebra::{matrix, vector};
/// // Rosenbrock's function at its minimum.
/// let (value, gradient, hessian) = hessian(
///     |x| (x[0] - 1.0).powi(2) + (x[1] - x[0] * x[0]).powi(2) * 100.0,
///     &vector![1.0, 1.0],
/// );
/// assert_eq!((value, gradient), (0.0, vector![0.0, 0.0]));
/// assert_eq!(hessian, matrix![802.0, -400.0; -400.0, 200.0]);
/// ```
#[inline]
pub fn hessian<P: At>(
    mut f: impl FnMut(&Seeded<P, P::Second>) -> P::Second,
    x: P,
) -> (P::Scalar, Filled<P, P::Scalar>, OMatrix<P::Scalar, DimOf<P>, DimOf<P>>)
where
    DefaultAllocator: Allocator<DimOf<P>, DimOf<P>>,
{
    certain(try_hessian(|x| Ok(f(x)), x))
}

/// [`hessian`] of a function that may fail: its error comes out unchanged.
#[inline]
pub fn try_hessian<P: At, E>(
    f: impl FnMut(&Seeded<P, P::Second>) -> Result<P::Second, E>,
    x: P,
) -> Result<(P::Scalar, Filled<P, P::Scalar>, OMatrix<P::Scalar, DimOf<P>, DimOf<P>>), E>
where
    DefaultAllocator: Allocator<DimOf<P>, DimOf<P>>,
{
    let n = x.point().dim();
    let mut gradient = x.point().map_coordinates(|_| P::Scalar::zero());
    let mut hessian = OMatrix::zeros_generic(n, n);
    let value = try_hessian_into(f, x, gradient.borrow_mut(), &mut hessian)?;
    Ok((value, gradient, hessian))
}

/// [`hessian`] into the caller's buffers: the gradient into a container of the shape of `x`, the Hessian into any
/// `n x n` nalgebra matrix or view; returns the value.
///
/// # Panics
/// If `gradient` and `x` differ in shape or `hessian` is not `n x n`.
#[inline]
#[track_caller]
pub fn hessian_into<P: At, R: Dim, C: Dim, B: StorageMut<P::Scalar, R, C>>(
    mut f: impl FnMut(&Seeded<P, P::Second>) -> P::Second,
    x: P,
    gradient: &mut Seeded<P, P::Scalar>,
    hessian: &mut Matrix<P::Scalar, R, C, B>,
) -> P::Scalar {
    certain(try_hessian_into(|x| Ok(f(x)), x, gradient, hessian))
}

/// [`hessian_into`] of a function that may fail: its error comes out unchanged. Then the buffers hold some blocks of
/// the new and some of the old result.
///
/// # Panics
/// If `gradient` and `x` differ in shape or `hessian` is not `n x n`.
#[inline]
#[track_caller]
pub fn try_hessian_into<P: At, R: Dim, C: Dim, B: StorageMut<P::Scalar, R, C>, E>(
    f: impl FnMut(&Seeded<P, P::Second>) -> Result<P::Second, E>,
    x: P,
    gradient: &mut Seeded<P, P::Scalar>,
    hessian: &mut Matrix<P::Scalar, R, C, B>,
) -> Result<P::Scalar, E> {
    let mut seeded = x.point().map_coordinates(P::Second::from_inner);
    expect_shape("the gradient", gradient.shape(), x.point().shape());
    finished(into::<P::Point, P::Second, E, R, C, B>(f, &mut seeded, gradient, hessian, carry_on))
}

/// The work space of [`hessian`] for points of one shape: evaluating it again allocates nothing.
///
/// ```
/// use dualpack_core::Hessian;
/// use dualpack_core::nalgebra::{DMatrix, DVector, dvector};
/// let mut x = dvector![-1.2, 1.0];
/// let (mut g, mut h) = (DVector::zeros(2), DMatrix::zeros(2, 2));
/// let mut hessian = Hessian::new(&x);
/// // Newton's method on Rosenbrock's function.
/// for _ in 0..8 {
///     hessian.evaluate(
///         |x| (x[0] - 1.0).powi(2) + (x[1] - x[0] * x[0]).powi(2) * 100.0,
///         &x,
///         &mut g,
///         &mut h,
///     );
///     x -= h.clone().lu().solve(&g).unwrap();
/// }
/// assert!((x - dvector![1.0, 1.0]).norm() < 1e-14);
/// ```
///
/// A panic in the function, or an error, leaves the work space usable.
pub struct Hessian<X: Point + ?Sized, S: SecondOrder<Inner = X::Scalar> = <X as Point>::Second> {
    seeded: X::Owned<S>,
}

impl<X: Point + ?Sized, S: SecondOrder<Inner = X::Scalar>> Clone for Hessian<X, S> {
    fn clone(&self) -> Self {
        Self { seeded: self.seeded.clone() }
    }
}

impl<X: Point + ?Sized, S: SecondOrder<Inner = X::Scalar>> fmt::Debug for Hessian<X, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = view::<X, S>(&self.seeded).shape();
        f.debug_struct("Hessian").field("shape", &shape).finish_non_exhaustive()
    }
}

impl<X: Point + ?Sized, S: SecondOrder<Inner = X::Scalar>> Hessian<X, S> {
    /// For points of the shape of `x`.
    pub fn new<P: At<Point = X, Scalar = X::Scalar, Second = S>>(x: P) -> Self {
        Self { seeded: x.point().map_coordinates(S::from_inner) }
    }

    /// Writes gradient and Hessian at `x` and returns the value.
    ///
    /// # Panics
    /// If `x` or `gradient` has another shape than the work space or `hessian` is not `n x n`.
    #[inline]
    #[track_caller]
    pub fn evaluate<R: Dim, C: Dim, B: StorageMut<X::Scalar, R, C>>(
        &mut self,
        mut f: impl FnMut(&X::With<S>) -> S,
        x: &X,
        gradient: &mut X::With<X::Scalar>,
        hessian: &mut Matrix<X::Scalar, R, C, B>,
    ) -> X::Scalar {
        certain(self.try_evaluate(|x| Ok(f(x)), x, gradient, hessian))
    }

    /// [`evaluate`](Hessian::evaluate) for a function that may fail: its error comes out unchanged. Then the buffers hold
    /// some blocks of the new and some of the old result, as after a panic.
    ///
    /// # Panics
    /// As [`evaluate`](Hessian::evaluate).
    #[inline]
    #[track_caller]
    pub fn try_evaluate<R: Dim, C: Dim, B: StorageMut<X::Scalar, R, C>, E>(
        &mut self,
        f: impl FnMut(&X::With<S>) -> Result<S, E>,
        x: &X,
        gradient: &mut X::With<X::Scalar>,
        hessian: &mut Matrix<X::Scalar, R, C, B>,
    ) -> Result<X::Scalar, E> {
        self.refill(x);
        expect_shape("the gradient", gradient.shape(), x.shape());
        finished(into::<X, S, E, R, C, B>(f, &mut self.seeded, gradient, hessian, carry_on))
    }

    /// [`try_evaluate`](Hessian::try_evaluate) that reports to `progress` after each pass the fraction of the passes
    /// done; `ControlFlow::Break(())` ends it with [`Stopped::Cancelled`], the buffers as after an error.
    ///
    /// # Panics
    /// As [`evaluate`](Hessian::evaluate).
    #[inline]
    #[track_caller]
    pub fn try_evaluate_with_progress<R: Dim, C: Dim, B: StorageMut<X::Scalar, R, C>, E>(
        &mut self,
        f: impl FnMut(&X::With<S>) -> Result<S, E>,
        x: &X,
        gradient: &mut X::With<X::Scalar>,
        hessian: &mut Matrix<X::Scalar, R, C, B>,
        progress: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<X::Scalar, Stopped<E>> {
        self.refill(x);
        expect_shape("the gradient", gradient.shape(), x.shape());
        into::<X, S, E, R, C, B>(f, &mut self.seeded, gradient, hessian, progress)
    }

    #[inline]
    #[track_caller]
    fn refill(&mut self, x: &X) {
        expect_shape("the point", x.shape(), view::<X, S>(&self.seeded).shape());
        fill(x.coordinates(), slots::<X, S>(&mut self.seeded));
    }
}

/// All blocks on and above the diagonal; both triangles are written from the one computed value.
#[inline]
#[track_caller]
fn into<
    X: Point + ?Sized,
    S: SecondOrder<Inner = X::Scalar>,
    E,
    R: Dim,
    C: Dim,
    B: StorageMut<X::Scalar, R, C>,
>(
    mut f: impl FnMut(&X::With<S>) -> Result<S, E>,
    seeded: &mut X::Owned<S>,
    gradient: &mut X::With<X::Scalar>,
    hessian: &mut Matrix<X::Scalar, R, C, B>,
    mut progress: impl FnMut(f64) -> ControlFlow<()>,
) -> Result<X::Scalar, Stopped<E>> {
    let gradient = gradient.coordinates_mut();
    let n = gradient.len();
    expect_shape("the Hessian", hessian.shape(), (n, n));
    debug_assert!(!S::SYMMETRIC || S::ROWS >= n, "one family of directions has diagonal blocks only");
    let chunks = n.div_ceil(S::ROWS.max(1)).max(1);
    let (total, mut done) = (chunks * (chunks + 1) / 2, 0);
    let passes = Passes::begin(total > 1);
    let mut row_start = 0;
    loop {
        let rows = chunk(row_start, S::ROWS, n);
        let mut column_start = row_start;
        let value = loop {
            let columns = chunk(column_start, S::COLUMNS, n);
            seed_block(slots::<X, S>(seeded), &rows, &columns);
            passes.next();
            let y = f(view::<X, S>(seeded)).map_err(Stopped::Function)?;
            store_block(&y, &rows, &columns, gradient, hessian);
            unseed(slots::<X, S>(seeded), columns.clone());
            done += 1;
            if progress(done as f64 / total as f64).is_break() {
                return Err(Stopped::Cancelled);
            }
            if columns.end == n {
                break y.inner();
            }
            column_start = columns.end;
        };
        if rows.end == n {
            return Ok(value);
        }
        unseed(slots::<X, S>(seeded), rows.clone());
        row_start = rows.end;
    }
}

/// Second derivatives of one block, and the gradient from the diagonal ones.
#[inline(always)]
pub(super) fn store_block<S: SecondOrder, R: Dim, C: Dim, B: StorageMut<S::Inner, R, C>>(
    y: &S,
    rows: &Range<usize>,
    columns: &Range<usize>,
    gradient: &mut [S::Inner],
    hessian: &mut Matrix<S::Inner, R, C, B>,
) {
    let diagonal = rows.start == columns.start;
    for (a, i) in rows.clone().enumerate() {
        if diagonal {
            gradient[i] = y.row(a);
        }
        for (b, j) in columns.clone().enumerate().skip(if diagonal { a } else { 0 }) {
            let h = y.mixed(a, b);
            hessian[(i, j)] = h;
            hessian[(j, i)] = h;
        }
    }
}

#[inline(always)]
pub(super) fn seed_block<S: SecondOrder>(slots: &mut [S], rows: &Range<usize>, columns: &Range<usize>) {
    for (lane, i) in rows.clone().enumerate() {
        slots[i].seed_row(lane);
    }
    for (lane, j) in columns.clone().enumerate() {
        slots[j].seed_column(lane, S::Inner::one());
    }
}
