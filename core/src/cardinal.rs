//! The cardinal functions sin(x)/x, sinh(x)/x, cos(x)/x, cosh(x)/x and their derivatives near zero.
//!
//! The quotient `(cos x - sinc x)/x` cancels for small `x`; there the power series is summed instead, in the
//! arithmetic of the number, so that nested numbers get its derivatives too.

use num_traits::Float;

use crate::Real;
use crate::rules::{lit, unsigned};

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

/// sinh(x)/x in floats.
pub(crate) fn sinhc<F: Float>(x: F) -> F {
    if x.is_zero() { F::one() } else { x.sinh() / x }
}

/// cos(x)/x in floats.
pub(crate) fn cosc<F: Float>(x: F) -> F {
    if x.is_infinite() { F::zero() } else { x.cos() / x }
}

/// cosh(x)/x in floats.
pub(crate) fn coshc<F: Float>(x: F) -> F {
    x.cosh() / x
}

/// Terms of the series: at |x| <= 2 the first one left out is below 1e-20 of the sum.
const TERMS: usize = 14;

/// Σ_{k>=1} 2k s^k x^(2k-1) / (2k+1)!, the derivative of Σ s^k x^(2k) / (2k+1)!, by Horner in x².
fn series_first<T: Real>(x: T, sign: f64) -> T {
    let z = x * x * lit::<T>(sign);
    // a_k = 2k/(2k+1)!, a_{k+1}/a_k = (k+1)/(k (2k+2)(2k+3)).
    let mut sum = T::one();
    for k in (1..TERMS).rev() {
        let k = k as f64;
        let ratio = (k + 1.0) / (k * (2.0 * k + 2.0) * (2.0 * k + 3.0));
        sum = T::one() + z * lit::<T>(ratio) * sum;
    }
    x * lit::<T>(sign / 3.0) * sum
}

/// The derivative of [`series_first`]: Σ_{k>=1} 2k (2k-1) s^k x^(2k-2) / (2k+1)!.
fn series_second<T: Real>(x: T, sign: f64) -> T {
    let z = x * x * lit::<T>(sign);
    let mut sum = T::one();
    for k in (1..TERMS).rev() {
        let k = k as f64;
        let ratio = (k + 1.0) * (2.0 * k + 1.0) / (k * (2.0 * k - 1.0) * (2.0 * k + 2.0) * (2.0 * k + 3.0));
        sum = T::one() + z * lit::<T>(ratio) * sum;
    }
    lit::<T>(sign / 3.0) * sum
}

/// (cos x - sinc x)/x.
pub(crate) fn sinc_first<T: Real>(x: T, y: T) -> T {
    if unsigned(x) < lit::<T>(2.0) { series_first(x, -1.0) } else { (x.cos() - y) * x.recip() }
}

/// -sinc x - 2 sinc'(x)/x.
pub(crate) fn sinc_second<T: Real>(x: T, y: T) -> T {
    if unsigned(x) < lit::<T>(2.0) {
        series_second(x, -1.0)
    } else {
        -(y + lit::<T>(2.0) * sinc_first(x, y) * x.recip())
    }
}

/// (cosh x - sinhc x)/x.
pub(crate) fn sinhc_first<T: Real>(x: T, y: T) -> T {
    if unsigned(x) < lit::<T>(2.0) { series_first(x, 1.0) } else { (x.cosh() - y) * x.recip() }
}

/// sinhc x - 2 sinhc'(x)/x.
pub(crate) fn sinhc_second<T: Real>(x: T, y: T) -> T {
    if unsigned(x) < lit::<T>(2.0) {
        series_second(x, 1.0)
    } else {
        y - lit::<T>(2.0) * sinhc_first(x, y) * x.recip()
    }
}

/// With y = cos(x)/x: y'' = -y - 2 y'/x.
pub(crate) fn cosc_second<T: Real>(x: T, y: T) -> T {
    let first = -(x.sin() + y) * x.recip();
    -(y + lit::<T>(2.0) * first * x.recip())
}

/// With y = cosh(x)/x: y'' = y - 2 y'/x.
pub(crate) fn coshc_second<T: Real>(x: T, y: T) -> T {
    let first = (x.sinh() - y) * x.recip();
    y - lit::<T>(2.0) * first * x.recip()
}
