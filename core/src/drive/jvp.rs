//! Derivatives along given directions.

use super::certain;
use super::point::{Point, slots, view};
use super::values::Values;
use crate::Dual;

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
    mut f: impl FnMut(&X::With<Dual<X::Scalar>>) -> Result<Y, E>,
    x: &X,
    v: &X::With<X::Scalar>,
) -> Result<(Y::With<X::Scalar>, Y::With<X::Scalar>), E> {
    let (xs, vs) = (x.shape(), v.shape());
    assert!(xs == vs, "the point is {}x{}, the direction {}x{}", xs.0, xs.1, vs.0, vs.1);
    let mut seeded = x.map_coordinates(Dual::<_, 1>::constant);
    for (s, &v) in slots::<X, _>(&mut seeded).iter_mut().zip(v.coordinates()) {
        s.eps = [v];
    }
    let y = f(view::<X, _>(&seeded))?;
    Ok((y.map_values(|y| y.value), y.map_values(|y| y.eps[0])))
}
