//! Functions of one variable.

use super::certain;
use super::point::expect_len;
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
///
/// # Derivatives within derivatives
///
/// Perturbations are told apart by type: the numbers of an inner driver must nest those of the outer one. That happens
/// by itself when the inner *point* is a number of the outer driver, and outer numbers used in the inner function are
/// lifted by `Dual::constant`:
///
/// ```
/// use dualpack_core::{Dual, Dual64, derivative};
/// // d/dx [x · d/dy (x + y)] at x = y = 1 is 1: the inner derivative is 1 whatever x is.
/// let (_, right) = derivative(|x: Dual64| x * derivative(|y| Dual::constant(x) + y, Dual::from(1.0)).1, 1.0);
/// assert_eq!(right, 1.0);
/// // The trap: with the inner point a plain float, x and y are of one type and share one perturbation.
/// let (_, confused) = derivative(|x: Dual64| x * derivative(|y| x + y, 1.0).1, 1.0);
/// assert_eq!(confused, 2.0);
/// ```
///
/// So give an inner driver a point of the outer scalar; then forgetting to lift is a type error, not a wrong number.
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

/// [`derivative`] into the caller's buffers: the values into `y`, their derivatives into `dy`.
///
/// ```
/// use dualpack_core::derivative_into;
/// let (mut y, mut dy) = ([0.0; 2], [0.0; 2]);
/// derivative_into(|t| [t * t, t], 3.0, &mut y, &mut dy);
/// assert_eq!((y, dy), ([9.0, 3.0], [6.0, 1.0]));
/// ```
///
/// # Panics
/// If a buffer has another length than the result of the function.
#[inline]
#[track_caller]
pub fn derivative_into<T: Real, Y: Values<Scalar = Dual<T>>>(
    mut f: impl FnMut(Dual<T>) -> Y,
    x: T,
    y: &mut [T],
    dy: &mut [T],
) {
    certain(try_derivative_into(|x| Ok(f(x)), x, y, dy));
}

/// [`derivative_into`] of a function that may fail: its error comes out unchanged, the buffers are left alone.
///
/// # Panics
/// If a buffer has another length than the result of the function.
#[inline]
#[track_caller]
pub fn try_derivative_into<T: Real, Y: Values<Scalar = Dual<T>>, E>(
    f: impl FnOnce(Dual<T>) -> Result<Y, E>,
    x: T,
    y: &mut [T],
    dy: &mut [T],
) -> Result<(), E> {
    let out = f(Dual::variable(x, 0))?;
    fill_with(y, out.values(), |v| v.value);
    fill_with(dy, out.values(), |v| v.eps[0]);
    Ok(())
}

/// [`second_derivative`] into the caller's buffers.
///
/// # Panics
/// If a buffer has another length than the result of the function.
#[inline]
#[track_caller]
pub fn second_derivative_into<T: Real, Y: Values<Scalar = Dual2<T>>>(
    mut f: impl FnMut(Dual2<T>) -> Y,
    x: T,
    y: &mut [T],
    dy: &mut [T],
    d2y: &mut [T],
) {
    certain(try_second_derivative_into(|x| Ok(f(x)), x, y, dy, d2y));
}

/// [`second_derivative_into`] of a function that may fail: its error comes out unchanged, the buffers are left alone.
///
/// # Panics
/// If a buffer has another length than the result of the function.
#[inline]
#[track_caller]
pub fn try_second_derivative_into<T: Real, Y: Values<Scalar = Dual2<T>>, E>(
    f: impl FnOnce(Dual2<T>) -> Result<Y, E>,
    x: T,
    y: &mut [T],
    dy: &mut [T],
    d2y: &mut [T],
) -> Result<(), E> {
    let out = f(Dual2::variable(x, 0))?;
    fill_with(y, out.values(), |v| v.value);
    fill_with(dy, out.values(), |v| v.grad[0]);
    fill_with(d2y, out.values(), |v| v.hess[0][0]);
    Ok(())
}

/// One part of every value.
#[inline]
#[track_caller]
pub(super) fn fill_with<S: Copy, T>(buffer: &mut [T], values: &[S], part: impl Fn(S) -> T) {
    expect_len("the buffer", buffer.len(), values.len());
    for (slot, &v) in buffer.iter_mut().zip(values) {
        *slot = part(v);
    }
}
