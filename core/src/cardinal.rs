//! The cardinal functions sin(x)/x, sinh(x)/x, cos(x)/x, cosh(x)/x.
//!
//! sinc = j₀, sinhc = i₀ and cosc = -y₀ are spherical Bessel functions, and their derivatives are others of the same
//! family: the quotient `(cos x - sinc x)/x`, which cancels for small `x`, is never formed.

use num_traits::Float;

use crate::Real;
use crate::special::scaled;
use crate::special::spherical::exp_over_2x;
use crate::special::value::through;

/// sin(x)/x in floats.
pub(crate) fn sinc<F: Float>(x: F) -> F {
    if x.is_zero() {
        F::one()
    } else if x.is_infinite() {
        F::zero()
    } else {
        x.sin() / x
    }
}

/// sinh(x)/x in floats; finite a little beyond the overflow of sinh.
pub(crate) fn sinhc<F: Float>(x: F) -> F {
    if x.is_zero() {
        return F::one();
    }
    let sinh = x.sinh();
    if sinh.is_infinite() { overflowing(x.abs()) } else { sinh / x }
}

/// cos(x)/x in floats.
pub(crate) fn cosc<F: Float>(x: F) -> F {
    if x.is_infinite() { F::zero() } else { x.cos() / x }
}

/// cosh(x)/x in floats; finite a little beyond the overflow of cosh.
pub(crate) fn coshc<F: Float>(x: F) -> F {
    let cosh = x.cosh();
    if cosh.is_infinite() { overflowing(x.abs()).copysign(x) } else { cosh / x }
}

/// exp(x)/(2x) where exp overflows.
fn overflowing<F: Float>(x: F) -> F {
    if x.is_infinite() { x } else { through(x, exp_over_2x) }
}

/// y = cosh(x)/x: y' = (tanh x - 1/x) y. The factor that infinity leaves alone keeps its zero tangent.
pub(crate) fn coshc_first<T: Real>(x: T, y: T) -> T {
    y.strong_mul(x.tanh() - x.recip())
}

/// y'' = y - 2 y'/x = (1 - 2 (tanh x - 1/x)/x) y.
pub(crate) fn coshc_second<T: Real>(x: T, y: T) -> T {
    let r = x.recip();
    y.strong_mul(T::one() - scaled((x.tanh() - r) * r, 2.0))
}
