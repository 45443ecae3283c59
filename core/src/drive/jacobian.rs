//! The Jacobian of a vector-valued function, a chunk of columns at a time.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, Dim, Matrix, OMatrix, StorageMut};

use super::point::{At, DimOf, Point, Seeded, expect_len, expect_shape, slots, view};
use super::values::Values;
use super::{certain, passes, start};
use crate::Lift;
use crate::seed::{FirstOrder, seed};

/// Value and Jacobian of a function: `(f(x), J)` with `J[(i, j)] = ∂f_i/∂x_j`, an `m x n` matrix.
///
/// `J` is static where the types know both sizes, and dynamic in the others. Matrices count column by column, as points
/// and as values: `J = ∂vec(F)/∂vec(X)`, where entry `(i, j)` of a matrix with `r` rows stands at `i + j r`.
/// `n` inputs take ⌈n/N⌉ passes of `N` lanes, see [`Chunk`](crate::Chunk); with no inputs the function is evaluated
/// once.
///
/// ```
/// use dualpack_core::jacobian;
/// use dualpack_core::nalgebra::{Matrix2x3, matrix, vector};
/// // Polar to Cartesian.
/// let (xy, j) = jacobian(|p| vector![p[0] * p[1].cos(), p[0] * p[1].sin()], &vector![2.0, 0.0]);
/// assert_eq!((xy, j), (vector![2.0, 0.0], matrix![1.0, 0.0; 0.0, 2.0]));
/// // The Jacobian of a linear map is its matrix.
/// let a: Matrix2x3<f64> = matrix![1.0, 2.0, 3.0; 4.0, 5.0, 6.0];
/// let (_, j) = jacobian(|x| a.map(|a| a.into()) * x, &vector![1.0, 1.0, 1.0]);
/// assert_eq!(j, a);
/// ```
///
/// # Panics
/// If the function returns another number of values in a later chunk than in the first.
#[inline]
#[track_caller]
pub fn jacobian<P: At, Y: Values<Scalar = P::First>>(
    mut f: impl FnMut(&Seeded<P, P::First>) -> Y,
    x: P,
) -> (Y::With<P::Scalar>, OMatrix<P::Scalar, Y::Dim, DimOf<P>>)
where
    DefaultAllocator: Allocator<Y::Dim, DimOf<P>>,
{
    certain(try_jacobian(|x| Ok(f(x)), x))
}

/// [`jacobian`] of a function that may fail: its error comes out unchanged.
///
/// # Panics
/// If the function returns another number of values in a later chunk than in the first.
#[inline]
#[track_caller]
pub fn try_jacobian<P: At, Y: Values<Scalar = P::First>, E>(
    mut f: impl FnMut(&Seeded<P, P::First>) -> Result<Y, E>,
    x: P,
) -> Result<(Y::With<P::Scalar>, OMatrix<P::Scalar, Y::Dim, DimOf<P>>), E>
where
    DefaultAllocator: Allocator<Y::Dim, DimOf<P>>,
{
    let x = x.point();
    let n = x.dim();
    let mut seeded = start(x);
    let mut jacobian = None;
    passes::<P::Point, P::First, _, E>(&mut seeded, n.value(), |x, inputs| {
        let y = f(x)?;
        let j = jacobian.get_or_insert_with(|| OMatrix::zeros_generic(y.dim(), n));
        same_count(j.nrows(), y.values().len());
        columns(j, y.values(), inputs);
        Ok(y.map_values(|y| y.inner()))
    })
    .map(|y| (y, jacobian.expect("there was a pass")))
}

/// [`jacobian`] into the caller's buffers: the values into `y`, the `m x n` Jacobian into any nalgebra matrix or view.
///
/// # Panics
/// If the function does not return `y.len()` values, or `jacobian` is not `y.len() x n`.
#[inline]
#[track_caller]
pub fn jacobian_into<P: At, Y: Values<Scalar = P::First>, R: Dim, C: Dim, B: StorageMut<P::Scalar, R, C>>(
    mut f: impl FnMut(&Seeded<P, P::First>) -> Y,
    x: P,
    y: &mut [P::Scalar],
    jacobian: &mut Matrix<P::Scalar, R, C, B>,
) {
    certain(try_jacobian_into(|x| Ok(f(x)), x, y, jacobian));
}

/// [`jacobian_into`] of a function that may fail: its error comes out unchanged. Then the buffers hold some chunks of
/// the new and some of the old result.
///
/// # Panics
/// If the function does not return `y.len()` values, or `jacobian` is not `y.len() x n`.
#[inline]
#[track_caller]
pub fn try_jacobian_into<
    P: At,
    Y: Values<Scalar = P::First>,
    R: Dim,
    C: Dim,
    B: StorageMut<P::Scalar, R, C>,
    E,
>(
    f: impl FnMut(&Seeded<P, P::First>) -> Result<Y, E>,
    x: P,
    y: &mut [P::Scalar],
    jacobian: &mut Matrix<P::Scalar, R, C, B>,
) -> Result<(), E> {
    let mut seeded = start(x.point());
    into::<P::Point, P::First, Y, E, R, C, B>(f, &mut seeded, y, jacobian)
}

/// The work space of [`jacobian`] for points of one shape: evaluating it again allocates nothing (the function itself
/// may; one that writes into a slice need not, see [`evaluate_inplace`](Jacobian::evaluate_inplace)).
///
/// ```
/// use dualpack_core::{Jacobian, nalgebra::DMatrix};
/// let x = vec![1.0, 2.0, 3.0];
/// let (mut y, mut j) = ([0.0; 2], DMatrix::zeros(2, 3));
/// let mut jacobian = Jacobian::new(&x);
/// jacobian.evaluate(|x| [x[0] * x[1], x[2].powi(2)], &x, &mut y, &mut j);
/// assert_eq!(y, [2.0, 9.0]);
/// assert_eq!(j, DMatrix::from_row_slice(2, 3, &[2.0, 1.0, 0.0, 0.0, 0.0, 6.0]));
/// ```
///
/// A panic in the function, or an error, leaves the work space usable.
pub struct Jacobian<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar> = <X as Point>::First> {
    seeded: X::Owned<S>,
    #[cfg(feature = "alloc")]
    values: Vec<S>,
}

impl<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>> Clone for Jacobian<X, S> {
    fn clone(&self) -> Self {
        Self {
            seeded: self.seeded.clone(),
            #[cfg(feature = "alloc")]
            values: self.values.clone(),
        }
    }
}

impl<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>> fmt::Debug for Jacobian<X, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = view::<X, S>(&self.seeded).shape();
        f.debug_struct("Jacobian").field("shape", &shape).finish_non_exhaustive()
    }
}

impl<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>> Jacobian<X, S> {
    /// For points of the shape of `x`.
    pub fn new<P: At<Point = X, Scalar = X::Scalar, First = S>>(x: P) -> Self {
        Self {
            seeded: x.point().map_coordinates(S::from_inner),
            #[cfg(feature = "alloc")]
            values: Vec::new(),
        }
    }

    /// Writes values and Jacobian at `x`.
    ///
    /// # Panics
    /// If `x` has another shape than the work space, the function does not return `y.len()` values, or `jacobian` is
    /// not `y.len() x n`.
    #[inline]
    #[track_caller]
    pub fn evaluate<Y: Values<Scalar = S>, R: Dim, C: Dim, B: StorageMut<X::Scalar, R, C>>(
        &mut self,
        mut f: impl FnMut(&X::With<S>) -> Y,
        x: &X,
        y: &mut [X::Scalar],
        jacobian: &mut Matrix<X::Scalar, R, C, B>,
    ) {
        certain(self.try_evaluate(|x| Ok(f(x)), x, y, jacobian));
    }

    /// [`evaluate`](Jacobian::evaluate) for a function that may fail: its error comes out unchanged. Then the buffers hold
    /// some chunks of the new and some of the old result, as after a panic.
    ///
    /// # Panics
    /// As [`evaluate`](Jacobian::evaluate).
    #[inline]
    #[track_caller]
    pub fn try_evaluate<Y: Values<Scalar = S>, R: Dim, C: Dim, B: StorageMut<X::Scalar, R, C>, E>(
        &mut self,
        f: impl FnMut(&X::With<S>) -> Result<Y, E>,
        x: &X,
        y: &mut [X::Scalar],
        jacobian: &mut Matrix<X::Scalar, R, C, B>,
    ) -> Result<(), E> {
        self.refill(x);
        into::<X, S, Y, E, R, C, B>(f, &mut self.seeded, y, jacobian)
    }

    #[inline]
    #[track_caller]
    fn refill(&mut self, x: &X) {
        expect_shape("the point", x.shape(), view::<X, S>(&self.seeded).shape());
        seed(x.coordinates(), 0, slots::<X, S>(&mut self.seeded));
    }
}

#[cfg(feature = "alloc")]
impl<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>> Jacobian<X, S> {
    /// Writes values and Jacobian of a function `f(y, x)` that writes its values into a slice, which is zero on entry.
    ///
    /// Allocates at the first call only (or when `y` grows).
    ///
    /// # Panics
    /// If `x` has another shape than the work space or `jacobian` is not `y.len() x n`.
    #[inline]
    #[track_caller]
    pub fn evaluate_inplace<R: Dim, C: Dim, B: StorageMut<X::Scalar, R, C>>(
        &mut self,
        mut f: impl FnMut(&mut [S], &X::With<S>),
        x: &X,
        y: &mut [X::Scalar],
        jacobian: &mut Matrix<X::Scalar, R, C, B>,
    ) {
        certain(self.try_evaluate_inplace(
            |y, x| {
                f(y, x);
                Ok(())
            },
            x,
            y,
            jacobian,
        ));
    }

    /// [`evaluate_inplace`](Jacobian::evaluate_inplace) for a function that may fail: its error comes out unchanged. Then
    /// `jacobian` holds some chunks of the new and some of the old result, and `y` is as it was.
    ///
    /// # Panics
    /// As [`evaluate_inplace`](Jacobian::evaluate_inplace).
    #[inline]
    #[track_caller]
    pub fn try_evaluate_inplace<R: Dim, C: Dim, B: StorageMut<X::Scalar, R, C>, E>(
        &mut self,
        mut f: impl FnMut(&mut [S], &X::With<S>) -> Result<(), E>,
        x: &X,
        y: &mut [X::Scalar],
        jacobian: &mut Matrix<X::Scalar, R, C, B>,
    ) -> Result<(), E> {
        self.refill(x);
        let n = x.coordinates().len();
        expect_shape("the Jacobian", jacobian.shape(), (y.len(), n));
        self.values.resize(y.len(), S::zero());
        let values = &mut self.values;
        passes::<X, S, (), E>(&mut self.seeded, n, |x, inputs| {
            values.fill(S::zero());
            f(values, x)?;
            columns(jacobian, values, inputs);
            Ok(())
        })?;
        for (y, v) in y.iter_mut().zip(values) {
            *y = v.inner();
        }
        Ok(())
    }
}

/// Values and Jacobian of a function `f(y, x)` that writes its values into a slice, which is zero on entry.
///
/// ```
/// use dualpack_core::{jacobian_inplace, nalgebra::DMatrix};
/// let x = vec![1.0, 2.0, 3.0];
/// let (mut y, mut j) = (vec![0.0; 2], DMatrix::zeros(2, 3));
/// jacobian_inplace(
///     |y, x| {
///         y[0] = x[0] * x[1];
///         y[1] = x[2] * x[2];
///     },
///     &x,
///     &mut y,
///     &mut j,
/// );
/// assert_eq!(y, [2.0, 9.0]);
/// assert_eq!(j, DMatrix::from_row_slice(2, 3, &[2.0, 1.0, 0.0, 0.0, 0.0, 6.0]));
/// ```
///
/// # Panics
/// If `jacobian` is not `y.len() x n`.
#[cfg(feature = "alloc")]
#[inline]
#[track_caller]
pub fn jacobian_inplace<P: At, R: Dim, C: Dim, B: StorageMut<P::Scalar, R, C>>(
    f: impl FnMut(&mut [P::First], &Seeded<P, P::First>),
    x: P,
    y: &mut [P::Scalar],
    jacobian: &mut Matrix<P::Scalar, R, C, B>,
) {
    Jacobian::<P::Point, P::First>::new(x).evaluate_inplace(f, x.point(), y, jacobian);
}

/// [`jacobian_inplace`] of a function that may fail: its error comes out unchanged. Then `jacobian` holds some chunks of
/// the new and some of the old result, and `y` is as it was.
///
/// # Panics
/// If `jacobian` is not `y.len() x n`.
#[cfg(feature = "alloc")]
#[inline]
#[track_caller]
pub fn try_jacobian_inplace<P: At, R: Dim, C: Dim, B: StorageMut<P::Scalar, R, C>, E>(
    f: impl FnMut(&mut [P::First], &Seeded<P, P::First>) -> Result<(), E>,
    x: P,
    y: &mut [P::Scalar],
    jacobian: &mut Matrix<P::Scalar, R, C, B>,
) -> Result<(), E> {
    Jacobian::<P::Point, P::First>::new(x).try_evaluate_inplace(f, x.point(), y, jacobian)
}

/// The lanes of `values` as the columns `inputs`.
#[inline]
pub(super) fn columns<S: FirstOrder, R: Dim, C: Dim, B: StorageMut<S::Inner, R, C>>(
    jacobian: &mut Matrix<S::Inner, R, C, B>,
    values: &[S],
    inputs: Range<usize>,
) {
    for (lane, j) in inputs.enumerate() {
        for (slot, y) in jacobian.column_mut(j).iter_mut().zip(values) {
            *slot = y.tangents()[lane];
        }
    }
}

#[inline]
#[track_caller]
fn into<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>, Y: Values<Scalar = S>, E, R: Dim, C: Dim, B>(
    mut f: impl FnMut(&X::With<S>) -> Result<Y, E>,
    seeded: &mut X::Owned<S>,
    y: &mut [X::Scalar],
    jacobian: &mut Matrix<X::Scalar, R, C, B>,
) -> Result<(), E>
where
    B: StorageMut<X::Scalar, R, C>,
{
    let n = slots::<X, S>(seeded).len();
    expect_shape("the Jacobian", jacobian.shape(), (y.len(), n));
    passes::<X, S, (), E>(seeded, n, |x, inputs| {
        let values = f(x)?;
        let values = values.values();
        expect_len("the buffer of values", y.len(), values.len());
        for (y, v) in y.iter_mut().zip(values) {
            *y = v.inner();
        }
        columns(jacobian, values, inputs);
        Ok(())
    })
}

/// A function must return the same number of values in every pass.
#[inline]
#[track_caller]
pub(super) fn same_count(first: usize, now: usize) {
    assert!(first == now, "the function returned {first} values in the first pass and {now} in a later one");
}
