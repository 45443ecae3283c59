//! Derivatives along given directions.

use core::ops::Range;

use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, Dim, Matrix, OMatrix, Storage, StorageMut};

use super::certain;
use super::derivative::fill_with;
use super::jacobian::{columns, same_count};
use super::point::{At, Point, Seeded, expect_len, expect_shape, slots, view};
use super::values::Values;
use crate::seed::{FirstOrder, chunk};
use crate::{Dual, Lift, Real};

/// Value and pushforward: `(f(x), J v)`, in one pass, whatever the number of inputs.
///
/// `v` is a point of the same shape as `x`, the result has the shape of `f(x)`.
///
/// ```
/// use dualpack_core::jvp;
/// use dualpack_core::nalgebra::vector;
/// let (y, dy) = jvp(|x| vector![x[0] * x[1], x[0]], &vector![2.0, 3.0], &vector![1.0, 10.0]);
/// assert_eq!((y, dy), (vector![6.0, 2.0], vector![23.0, 1.0]));
/// ```
///
/// # Panics
/// If `x` and `v` differ in shape.
#[inline]
#[track_caller]
pub fn jvp<X: Point + ?Sized, Y: Values<Scalar = Dual<X::Scalar>>>(
    mut f: impl FnMut(&X::With<Dual<X::Scalar>>) -> Y,
    x: &X,
    v: &X::With<X::Scalar>,
) -> (Y::With<X::Scalar>, Y::With<X::Scalar>) {
    certain(try_jvp(|x| Ok(f(x)), x, v))
}

/// [`jvp`] of a function that may fail: its error comes out unchanged.
#[inline]
#[track_caller]
pub fn try_jvp<X: Point + ?Sized, Y: Values<Scalar = Dual<X::Scalar>>, E>(
    f: impl FnMut(&X::With<Dual<X::Scalar>>) -> Result<Y, E>,
    x: &X,
    v: &X::With<X::Scalar>,
) -> Result<(Y::With<X::Scalar>, Y::With<X::Scalar>), E> {
    let y = push::<X, _, E>(f, x, v)?;
    Ok((y.map_values(|y| y.value), y.map_values(|y| y.eps[0])))
}

/// [`jvp`] into the caller's buffers: the values into `y`, their tangents into `dy`.
///
/// # Panics
/// If `x` and `v` differ in shape or a buffer has another length than the result of the function.
#[inline]
#[track_caller]
pub fn jvp_into<X: Point + ?Sized, Y: Values<Scalar = Dual<X::Scalar>>>(
    mut f: impl FnMut(&X::With<Dual<X::Scalar>>) -> Y,
    x: &X,
    v: &X::With<X::Scalar>,
    y: &mut [X::Scalar],
    dy: &mut [X::Scalar],
) {
    certain(try_jvp_into(|x| Ok(f(x)), x, v, y, dy));
}

/// [`jvp_into`] of a function that may fail: its error comes out unchanged, the buffers are left alone.
///
/// # Panics
/// If `x` and `v` differ in shape or a buffer has another length than the result of the function.
#[inline]
#[track_caller]
pub fn try_jvp_into<X: Point + ?Sized, Y: Values<Scalar = Dual<X::Scalar>>, E>(
    f: impl FnMut(&X::With<Dual<X::Scalar>>) -> Result<Y, E>,
    x: &X,
    v: &X::With<X::Scalar>,
    y: &mut [X::Scalar],
    dy: &mut [X::Scalar],
) -> Result<(), E> {
    let out = push::<X, _, E>(f, x, v)?;
    fill_with(y, out.values(), |y| y.value);
    fill_with(dy, out.values(), |y| y.eps[0]);
    Ok(())
}

/// Value and derivative along `v` of a scalar function: `(f(x), ∇f(x) . v)`, in one pass.
///
/// ```
/// use dualpack_core::directional;
/// let (value, slope) = directional(|x| x[0] * x[1], &[2.0, 3.0], &[1.0, 1.0]);
/// assert_eq!((value, slope), (6.0, 5.0));
/// ```
///
/// # Panics
/// If `x` and `v` differ in shape.
#[inline]
#[track_caller]
pub fn directional<X: Point + ?Sized>(
    f: impl FnMut(&X::With<Dual<X::Scalar>>) -> Dual<X::Scalar>,
    x: &X,
    v: &X::With<X::Scalar>,
) -> (X::Scalar, X::Scalar) {
    jvp(f, x, v)
}

/// [`directional`] of a function that may fail: its error comes out unchanged.
///
/// # Panics
/// If `x` and `v` differ in shape.
#[inline]
#[track_caller]
pub fn try_directional<X: Point + ?Sized, E>(
    f: impl FnMut(&X::With<Dual<X::Scalar>>) -> Result<Dual<X::Scalar>, E>,
    x: &X,
    v: &X::With<X::Scalar>,
) -> Result<(X::Scalar, X::Scalar), E> {
    try_jvp(f, x, v)
}

#[inline]
#[track_caller]
fn push<X: Point + ?Sized, Y, E>(
    mut f: impl FnMut(&X::With<Dual<X::Scalar>>) -> Result<Y, E>,
    x: &X,
    v: &X::With<X::Scalar>,
) -> Result<Y, E> {
    expect_shape("the direction", v.shape(), x.shape());
    let mut seeded = x.map_coordinates(Dual::<_, 1>::constant);
    set_tangents(slots::<X, _>(&mut seeded), v.coordinates());
    f(view::<X, _>(&seeded))
}

#[inline]
fn set_tangents<T: Real>(slots: &mut [Dual<T>], v: &[T]) {
    for (s, &v) in slots.iter_mut().zip(v) {
        s.eps = [v];
    }
}

/// Value and several pushforwards: `(f(x), J V)` for the directions in the columns of the `n x k` matrix `V`, in
/// ⌈k/N⌉ passes.
///
/// ```
/// use dualpack_core::jvp_batch;
/// use dualpack_core::nalgebra::{matrix, vector};
/// let directions = matrix![1.0, 0.0, 1.0; 0.0, 1.0, 1.0];
/// let (y, dy) = jvp_batch(|x| vector![x[0] * x[1], x[0]], &vector![2.0, 3.0], &directions);
/// assert_eq!((y, dy), (vector![6.0, 2.0], matrix![3.0, 2.0, 5.0; 1.0, 0.0, 1.0]));
/// ```
///
/// # Panics
/// If the directions do not have `n` rows, or the function returns another number of values in a later pass.
#[inline]
#[track_caller]
pub fn jvp_batch<P: At, Y: Values<Scalar = P::First>, R: Dim, K: Dim, B: Storage<P::Scalar, R, K>>(
    mut f: impl FnMut(&Seeded<P, P::First>) -> Y,
    x: P,
    directions: &Matrix<P::Scalar, R, K, B>,
) -> (Y::With<P::Scalar>, OMatrix<P::Scalar, Y::Dim, K>)
where
    DefaultAllocator: Allocator<Y::Dim, K>,
{
    certain(try_jvp_batch(|x| Ok(f(x)), x, directions))
}

/// [`jvp_batch`] of a function that may fail: its error comes out unchanged.
///
/// # Panics
/// If the directions do not have `n` rows, or the function returns another number of values in a later pass.
#[inline]
#[track_caller]
pub fn try_jvp_batch<P: At, Y: Values<Scalar = P::First>, R: Dim, K: Dim, B: Storage<P::Scalar, R, K>, E>(
    mut f: impl FnMut(&Seeded<P, P::First>) -> Result<Y, E>,
    x: P,
    directions: &Matrix<P::Scalar, R, K, B>,
) -> Result<(Y::With<P::Scalar>, OMatrix<P::Scalar, Y::Dim, K>), E>
where
    DefaultAllocator: Allocator<Y::Dim, K>,
{
    let k = directions.shape_generic().1;
    let mut tangents = None;
    let y = batch(x, directions, |x, lanes| {
        let y = f(x)?;
        let out = tangents.get_or_insert_with(|| OMatrix::zeros_generic(y.dim(), k));
        same_count(out.nrows(), y.values().len());
        columns(out, y.values(), lanes);
        Ok(y.map_values(|y| y.inner()))
    })?;
    Ok((y, tangents.expect("there was a pass")))
}

/// [`jvp_batch`] into the caller's buffers: the values into `y`, the `m x k` tangents into any nalgebra matrix or view.
///
/// # Panics
/// If the directions do not have `n` rows, the function does not return `y.len()` values, or `tangents` is not
/// `y.len() x k`.
#[inline]
#[track_caller]
pub fn jvp_batch_into<P: At, Y: Values<Scalar = P::First>, R: Dim, K: Dim, B, M: Dim, L: Dim, O>(
    mut f: impl FnMut(&Seeded<P, P::First>) -> Y,
    x: P,
    directions: &Matrix<P::Scalar, R, K, B>,
    y: &mut [P::Scalar],
    tangents: &mut Matrix<P::Scalar, M, L, O>,
) where
    B: Storage<P::Scalar, R, K>,
    O: StorageMut<P::Scalar, M, L>,
{
    certain(try_jvp_batch_into(|x| Ok(f(x)), x, directions, y, tangents));
}

/// [`jvp_batch_into`] of a function that may fail: its error comes out unchanged. Then the buffers hold some chunks of
/// the new and some of the old result.
///
/// # Panics
/// As [`jvp_batch_into`].
#[inline]
#[track_caller]
pub fn try_jvp_batch_into<P: At, Y: Values<Scalar = P::First>, R: Dim, K: Dim, B, M: Dim, L: Dim, O, E>(
    mut f: impl FnMut(&Seeded<P, P::First>) -> Result<Y, E>,
    x: P,
    directions: &Matrix<P::Scalar, R, K, B>,
    y: &mut [P::Scalar],
    tangents: &mut Matrix<P::Scalar, M, L, O>,
) -> Result<(), E>
where
    B: Storage<P::Scalar, R, K>,
    O: StorageMut<P::Scalar, M, L>,
{
    expect_shape("the matrix of tangents", tangents.shape(), (y.len(), directions.ncols()));
    batch(x, directions, |x, lanes| {
        let out = f(x)?;
        fill_with(y, out.values(), |y| y.inner());
        columns(tangents, out.values(), lanes);
        Ok(())
    })
}

/// All chunks of directions in turn, with as many lanes of the number as there are left.
#[inline]
#[track_caller]
fn batch<P: At, R: Dim, K: Dim, B: Storage<P::Scalar, R, K>, Y, E>(
    x: P,
    directions: &Matrix<P::Scalar, R, K, B>,
    mut step: impl FnMut(&Seeded<P, P::First>, Range<usize>) -> Result<Y, E>,
) -> Result<Y, E> {
    let (n, k) = (x.point().coordinates().len(), directions.ncols());
    expect_len("each direction", directions.nrows(), n);
    let mut seeded = x.point().map_coordinates(P::First::from_inner);
    // Numbers without lanes belong to points without coordinates: nothing to carry, one pass.
    let width = if P::First::WIDTH == 0 { k } else { P::First::WIDTH };
    let mut start = 0;
    loop {
        let lanes = chunk(start, width, k);
        for (i, s) in slots::<P::Point, _>(&mut seeded).iter_mut().enumerate() {
            for (t, c) in s.tangents_mut().iter_mut().zip(lanes.clone()) {
                *t = directions[(i, c)];
            }
        }
        let carried = lanes.start..lanes.end.min(lanes.start + P::First::WIDTH);
        let y = step(view::<P::Point, _>(&seeded), carried)?;
        if lanes.end == k {
            return Ok(y);
        }
        start = lanes.end;
    }
}

/// The value of `f` at `x` and its linearization there, which applies the Jacobian to one vector after another without
/// ever forming it: what Krylov solvers need.
///
/// Each application is one evaluation of `f` with one tangent.
///
/// ```
/// use dualpack_core::linearize;
/// use dualpack_core::nalgebra::vector;
/// let (y, mut linear) = linearize(|x| vector![x[0] * x[1], x[0]], &vector![2.0, 3.0]);
/// assert_eq!(y, vector![6.0, 2.0]);
/// assert_eq!(linear.apply(&vector![1.0, 0.0]), vector![3.0, 1.0]);
/// assert_eq!(linear.apply(&vector![0.0, 1.0]), vector![2.0, 0.0]);
/// ```
#[inline]
pub fn linearize<
    X: Point + ?Sized,
    Y: Values<Scalar = Dual<X::Scalar>>,
    F: FnMut(&X::With<Dual<X::Scalar>>) -> Y,
>(
    mut f: F,
    x: &X,
) -> (Y::With<X::Scalar>, Linearized<X, F>) {
    let seeded = x.map_coordinates(Dual::<_, 1>::constant);
    let y = f(view::<X, _>(&seeded)).map_values(|y| y.value);
    (y, Linearized { f, seeded })
}

/// A function linearized at a point, see [`linearize`].
pub struct Linearized<X: Point + ?Sized, F> {
    f: F,
    seeded: X::Owned<Dual<X::Scalar>>,
}

impl<X: Point + ?Sized, F> Linearized<X, F> {
    /// `J v`.
    ///
    /// # Panics
    /// If `v` has another shape than the point.
    #[inline]
    #[track_caller]
    pub fn apply<Y: Values<Scalar = Dual<X::Scalar>>>(&mut self, v: &X::With<X::Scalar>) -> Y::With<X::Scalar>
    where
        F: FnMut(&X::With<Dual<X::Scalar>>) -> Y,
    {
        self.push(v).map_values(|y| y.eps[0])
    }

    /// `J v` into a buffer.
    ///
    /// # Panics
    /// If `v` has another shape than the point or `dy` another length than the result of the function.
    #[inline]
    #[track_caller]
    pub fn apply_into<Y: Values<Scalar = Dual<X::Scalar>>>(
        &mut self,
        v: &X::With<X::Scalar>,
        dy: &mut [X::Scalar],
    ) where
        F: FnMut(&X::With<Dual<X::Scalar>>) -> Y,
    {
        fill_with(dy, self.push(v).values(), |y| y.eps[0]);
    }

    #[inline]
    #[track_caller]
    fn push<Y>(&mut self, v: &X::With<X::Scalar>) -> Y
    where
        F: FnMut(&X::With<Dual<X::Scalar>>) -> Y,
    {
        expect_shape("the direction", v.shape(), view::<X, _>(&self.seeded).shape());
        set_tangents(slots::<X, _>(&mut self.seeded), v.coordinates());
        (self.f)(view::<X, _>(&self.seeded))
    }
}
