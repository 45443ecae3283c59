//! Drivers: from a function to its derivative, gradient, Jacobian or Hessian.

use core::convert::Infallible;

pub(crate) mod derivative;
pub(crate) mod gradient;
pub(crate) mod hessian;
pub(crate) mod jacobian;
pub(crate) mod jvp;
pub(crate) mod point;
pub(crate) mod values;

/// The result of a driver whose function cannot fail.
#[inline(always)]
pub(crate) fn certain<T>(result: Result<T, Infallible>) -> T {
    match result {
        Ok(v) => v,
        Err(never) => match never {},
    }
}
