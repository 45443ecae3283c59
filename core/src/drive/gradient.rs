//! The gradient of a function of many variables, a chunk of lanes at a time.

use num_traits::{One, Zero};

use super::certain;
use super::point::{At, Filled, Point, Seeded, slots, view};
use crate::Lift;
use crate::seed::{FirstOrder, chunk, extract, seed_chunk};

/// Value and gradient of a function: `(f(x), ∇f(x))`, the gradient in the container of the point.
///
/// `x` is any [`Point`]: slice, array, `Vec`, nalgebra vector or matrix (the gradient of a matrix is
/// the matrix of ∂f/∂x_ij). The function takes the same container of dual numbers; neither its argument nor the number
/// of lanes need be written down. `n` inputs take ⌈n/N⌉ passes of `N` lanes, see [`Chunk`](crate::Chunk). With no
/// inputs the function is evaluated once and the gradient is empty.
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
    mut f: impl FnMut(&Seeded<P, P::First>) -> Result<P::First, E>,
    x: P,
) -> Result<(P::Scalar, Filled<P, P::Scalar>), E> {
    let x = x.point();
    let mut seeded = x.map_coordinates(P::First::from_inner);
    let mut gradient = x.map_coordinates(|_| P::Scalar::zero());
    let value = passes::<P::Point, P::First, E>(&mut f, &mut seeded, slots::<P::Point, _>(&mut gradient))?;
    Ok((value, gradient))
}

/// All chunks in turn. `seeded` holds the point as constants.
#[inline]
fn passes<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>, E>(
    f: &mut impl FnMut(&X::With<S>) -> Result<S, E>,
    seeded: &mut X::Owned<S>,
    gradient: &mut [X::Scalar],
) -> Result<X::Scalar, E> {
    let n = gradient.len();
    let mut start = 0;
    loop {
        let inputs = chunk(start, S::WIDTH, n);
        seed_chunk(slots::<X, S>(seeded), inputs.clone(), S::Inner::one());
        let y = f(view::<X, S>(seeded))?;
        extract(&y, start, gradient);
        if inputs.end == n {
            return Ok(y.inner());
        }
        seed_chunk(slots::<X, S>(seeded), inputs.clone(), S::Inner::zero());
        start = inputs.end;
    }
}
