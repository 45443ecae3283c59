//! Functions of one variable.

use super::certain;
use super::values::Values;
use crate::{Dual, Dual2, Real};

/// Value and derivative of a function of one variable: `(f(x), f'(x))`.
///
/// The function may return a number, or an array, vector or matrix of numbers, which is differentiated entry by entry.
///
/// ```
/// use dualpack_core::derivative;
/// let (y, dy) = derivative(|x| x.sin() * x, 2.0_f64);
/// assert_eq!(y, 2.0 * 2.0_f64.sin());
/// assert!((dy - (2.0_f64.sin() + 2.0 * 2.0_f64.cos())).abs() < 1e-15);
/// // A curve in the plane.
/// let (position, velocity) = derivative(|t| [t.cos(), t.sin()], 0.0_f64);
/// assert_eq!((position, velocity), ([1.0, 0.0], [0.0, 1.0]));
/// ```
#[inline]
pub fn derivative<T: Real, Y: Values<Scalar = Dual<T>>>(
    mut f: impl FnMut(Dual<T>) -> Y,
    x: T,
) -> (Y::With<T>, Y::With<T>) {
    certain(try_derivative(|x| Ok(f(x)), x))
}

/// [`derivative`] of a function that may fail: its error comes out unchanged.
///
/// ```
/// use dualpack_core::{Dual64, try_derivative};
/// let root = |x: Dual64| if x > 0.0 { Ok(x.sqrt()) } else { Err("negative") };
/// assert_eq!(try_derivative(root, 4.0), Ok((2.0, 0.25)));
/// assert_eq!(try_derivative(root, -1.0), Err("negative"));
/// ```
#[inline]
pub fn try_derivative<T: Real, Y: Values<Scalar = Dual<T>>, E>(
    f: impl FnOnce(Dual<T>) -> Result<Y, E>,
    x: T,
) -> Result<(Y::With<T>, Y::With<T>), E> {
    let y = f(Dual::variable(x, 0))?;
    Ok((y.map_values(|y| y.value), y.map_values(|y| y.eps[0])))
}

/// Value, first and second derivative of a function of one variable: `(f(x), f'(x), f''(x))`.
///
/// ```
/// use dualpack_core::second_derivative;
/// assert_eq!(second_derivative(|x| x.powi(3), 2.0_f64), (8.0, 12.0, 12.0));
/// ```
#[inline]
pub fn second_derivative<T: Real, Y: Values<Scalar = Dual2<T>>>(
    mut f: impl FnMut(Dual2<T>) -> Y,
    x: T,
) -> (Y::With<T>, Y::With<T>, Y::With<T>) {
    certain(try_second_derivative(|x| Ok(f(x)), x))
}

/// [`second_derivative`] of a function that may fail: its error comes out unchanged.
#[inline]
pub fn try_second_derivative<T: Real, Y: Values<Scalar = Dual2<T>>, E>(
    f: impl FnOnce(Dual2<T>) -> Result<Y, E>,
    x: T,
) -> Result<(Y::With<T>, Y::With<T>, Y::With<T>), E> {
    let y = f(Dual2::variable(x, 0))?;
    Ok((y.map_values(|y| y.value), y.map_values(|y| y.grad[0]), y.map_values(|y| y.hess[0][0])))
}
