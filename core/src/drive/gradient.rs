//! The gradient of a function of many variables, a chunk of lanes at a time.

use core::borrow::BorrowMut;
use core::fmt;

use num_traits::Zero;

use super::point::{At, Filled, Point, Seeded, expect_shape, slots, view};
use super::{certain, passes, start};
use crate::seed::{FirstOrder, extract, seed};

/// Value and gradient of a function: `(f(x), ∇f(x))`, the gradient in the container of the point.
///
/// `x` is any [`Point`]: slice, array, `Vec`, nalgebra vector or matrix (the gradient of a matrix is
/// the matrix of ∂f/∂x_ij). The function takes the same container of dual numbers; neither its argument nor the number
/// of lanes need be written down. `n` inputs take ⌈n/N⌉ passes of `N` lanes, see [`Chunk`](crate::Chunk). With no
/// inputs the function is evaluated once and the gradient is empty. The passes share the results of elementary functions:
/// the later ones look up what the first has computed at the same values.
///
/// ```
/// use dualpack_core::gradient;
/// use dualpack_core::nalgebra::{DVector, vector};
/// // Static: one pass.
/// let (value, g) = gradient(|v| v[0] * v[1].exp(), &vector![3.0, 0.0]);
/// assert_eq!((value, g), (3.0, vector![1.0, 3.0]));
/// // Dynamic: chunks of 8.
/// let x = DVector::from_element(20, 0.5);
/// let (value, g) = gradient(|v| v.dot(v), &x);
/// assert_eq!((value, g), (5.0, 2.0 * x));
/// // Slices and generic functions.
/// use dualpack_core::Real;
/// fn product<S: Real>(x: &[S]) -> S {
///     x.iter().fold(S::one(), |p, &x| p * x)
/// }
/// assert_eq!(gradient(product, &vec![2.0, 3.0, 4.0]), (24.0, vec![12.0, 8.0, 6.0]));
/// ```
#[inline]
pub fn gradient<P: At>(
    mut f: impl FnMut(&Seeded<P, P::First>) -> P::First,
    x: P,
) -> (P::Scalar, Filled<P, P::Scalar>) {
    certain(try_gradient(|x| Ok(f(x)), x))
}

/// [`gradient`] of a function that may fail: its error comes out unchanged.
#[inline]
pub fn try_gradient<P: At, E>(
    f: impl FnMut(&Seeded<P, P::First>) -> Result<P::First, E>,
    x: P,
) -> Result<(P::Scalar, Filled<P, P::Scalar>), E> {
    let mut gradient = x.point().map_coordinates(|_| P::Scalar::zero());
    let value = try_gradient_into(f, x, gradient.borrow_mut())?;
    Ok((value, gradient))
}

/// [`gradient`] into a container of the shape of `x`; returns the value.
///
/// # Panics
/// If `gradient` and `x` differ in shape.
#[inline]
#[track_caller]
pub fn gradient_into<P: At>(
    mut f: impl FnMut(&Seeded<P, P::First>) -> P::First,
    x: P,
    gradient: &mut Seeded<P, P::Scalar>,
) -> P::Scalar {
    certain(try_gradient_into(|x| Ok(f(x)), x, gradient))
}

/// [`gradient_into`] of a function that may fail: its error comes out unchanged. Then `gradient` holds some chunks of
/// the new and some of the old gradient.
///
/// # Panics
/// If `gradient` and `x` differ in shape.
#[inline]
#[track_caller]
pub fn try_gradient_into<P: At, E>(
    f: impl FnMut(&Seeded<P, P::First>) -> Result<P::First, E>,
    x: P,
    gradient: &mut Seeded<P, P::Scalar>,
) -> Result<P::Scalar, E> {
    expect_shape("the gradient", gradient.shape(), x.point().shape());
    let mut seeded = start(x.point());
    into::<P::Point, P::First, E>(f, &mut seeded, gradient.coordinates_mut())
}

/// The work space of [`gradient`] for points of one shape: evaluating it again allocates nothing.
///
/// ```
/// use dualpack_core::{Chunk, Gradient};
/// let mut x: Vec<f64> = vec![3.0, -2.0, 1.0];
/// let mut g = vec![0.0; 3];
/// let mut gradient = Gradient::new(Chunk::<4>::of(&x));
/// for _ in 0..50 {
///     gradient.evaluate(|x| x.iter().map(|x| x.powi(2)).sum(), &x, &mut g);
///     x.iter_mut().zip(&g).for_each(|(x, g)| *x -= 0.25 * g);
/// }
/// assert!(x.iter().all(|x| x.abs() < 1e-12));
/// ```
///
/// A panic in the function, or an error, leaves the work space usable.
pub struct Gradient<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar> = <X as Point>::First> {
    seeded: X::Owned<S>,
}

impl<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>> Clone for Gradient<X, S> {
    fn clone(&self) -> Self {
        Self { seeded: self.seeded.clone() }
    }
}

impl<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>> fmt::Debug for Gradient<X, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = view::<X, S>(&self.seeded).shape();
        f.debug_struct("Gradient").field("shape", &shape).finish_non_exhaustive()
    }
}

impl<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>> Gradient<X, S> {
    /// For points of the shape of `x`.
    pub fn new<P: At<Point = X, Scalar = X::Scalar, First = S>>(x: P) -> Self {
        Self { seeded: x.point().map_coordinates(S::from_inner) }
    }

    /// Writes the gradient at `x` and returns the value.
    ///
    /// # Panics
    /// If `x` or `gradient` has another shape than the work space.
    #[inline]
    #[track_caller]
    pub fn evaluate(
        &mut self,
        mut f: impl FnMut(&X::With<S>) -> S,
        x: &X,
        gradient: &mut X::With<X::Scalar>,
    ) -> X::Scalar {
        certain(self.try_evaluate(|x| Ok(f(x)), x, gradient))
    }

    /// [`evaluate`](Gradient::evaluate) for a function that may fail: its error comes out unchanged. Then `gradient` holds
    /// some chunks of the new and some of the old gradient, as after a panic.
    ///
    /// # Panics
    /// If `x` or `gradient` has another shape than the work space.
    #[inline]
    #[track_caller]
    pub fn try_evaluate<E>(
        &mut self,
        f: impl FnMut(&X::With<S>) -> Result<S, E>,
        x: &X,
        gradient: &mut X::With<X::Scalar>,
    ) -> Result<X::Scalar, E> {
        expect_shape("the point", x.shape(), view::<X, S>(&self.seeded).shape());
        expect_shape("the gradient", gradient.shape(), x.shape());
        seed(x.coordinates(), 0, slots::<X, S>(&mut self.seeded));
        into::<X, S, E>(f, &mut self.seeded, gradient.coordinates_mut())
    }
}

#[inline]
fn into<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>, E>(
    mut f: impl FnMut(&X::With<S>) -> Result<S, E>,
    seeded: &mut X::Owned<S>,
    gradient: &mut [X::Scalar],
) -> Result<X::Scalar, E> {
    passes::<X, S, _, E>(seeded, gradient.len(), |x, inputs| {
        let y = f(x)?;
        extract(&y, inputs.start, gradient);
        Ok(y.inner())
    })
}
