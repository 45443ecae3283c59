//! Special functions: rows of the same grammar as the elementary table.
//!
//! Every row belongs to a family that is closed under differentiation (polygamma, spherical and cylindrical Bessel
//! functions, derivatives of the Gaussian, the logistic density): f' and f'' are short sums of functions with full
//! relative accuracy of their own, so that no derivative of any order cancels near a removable singularity, a pole
//! or in a tail, however deep the numbers are nested.
//!
//! Where the values come from. `libm`, `puruspe` 0.4, `special` 0.14 and `statrs` 0.19 were compared with 60-digit
//! references, 100 to 500 points per function. `libm` is the best at each function it has: erf, erfc, gamma, lgamma
//! and the Bessel functions J and Y are below 8 % of a relative error of 1e-14 (for J and Y: of the amplitude)
//! everywhere, and it needs no standard library. `puruspe` loses erf near zero and all of lgamma, `statrs` has seven
//! digits of erf and misses lgamma for negative arguments, `special` calls `libm` except for digamma, where it needs
//! a recursion per unit of a negative argument. digamma and polygamma, the spherical Bessel functions and the
//! logistic functions are therefore our own. All are computed in `f64`; `f32` gets the rounded result.

mod bessel;
mod erf;
mod gamma;
mod logistic;
mod slice;
pub(crate) mod spherical;

pub use slice::{logsumexp, norm};

use crate::Real;
use crate::rules::lit;

/// Functions of one variable that nalgebra's traits do not know.
macro_rules! special {
    ($emit:ident $($args:tt)*) => { $emit! { [$($args)*]
        /// The error function, 2/√π ∫₀ˣ exp(-t²) dt.
        erf(x) y = $crate::special::value::erf => [
            $crate::special::erf_derivative(x, 0),
            $crate::special::erf_derivative(x, 1)
        ] on [-2.5, -0.3, 0.0, 1e-6, 0.84375, 3.0];
        /// The complementary error function 1 - erf x, with full relative accuracy for large `x`.
        erfc(x) y = $crate::special::value::erfc => [
            -$crate::special::erf_derivative(x, 0),
            -$crate::special::erf_derivative(x, 1)
        ] on [-2.5, -0.3, 0.0, 1e-6, 0.84375, 3.0, 20.0];
        /// The gamma function. `±inf` at `±0`, `NaN` at the negative integers and at `-inf`; from 171.63 on it overflows.
        gamma(x) y = $crate::special::value::gamma => [
            $crate::special::gamma_first(x, y),
            $crate::special::gamma_second(x, y)
        ] on [-2.75, -0.5, 0.1, 1.5, 5.0, 30.5];
        /// The logarithm of the absolute value of the gamma function. `inf` at 0 and at the negative integers; there
        /// the derivative is `∓inf` at `±0` and `NaN` at the others, whose two sides differ.
        lgamma(x) y = $crate::special::value::lgamma => [
            $crate::special::lgamma_first(x),
            x.polygamma(1)
        ] on [-2.75, -0.5, 0.1, 1.5, 2.0, 30.5];
        /// ψ = Γ'/Γ. `∓inf` at `±0`, `NaN` at the negative integers and at `-inf`.
        digamma(x) y = $crate::special::value::digamma => [
            x.polygamma(1),
            x.polygamma(2)
        ] on [-2.75, -0.5, 0.1, 1.5, 2.0, 30.5];
        /// The spherical Bessel function j₀(x) = sin(x)/x.
        sph_j0(x) y = $crate::special::value::sph_j0 => [
            -x.sph_jn(1),
            $crate::special::sph_jn_second(x, 0)
        ] on [-4.0, 0.0, 1e-5, 0.5, 1.1, 20.0];
        /// The spherical Bessel function j₁(x) = (sin(x)/x - cos x)/x.
        sph_j1(x) y = $crate::special::value::sph_j1 => [
            $crate::special::sph_jn_first(x, 1),
            $crate::special::sph_jn_second(x, 1)
        ] on [-4.0, 0.0, 1e-5, 0.5, 1.1, 20.0];
        /// The spherical Bessel function j₂(x) = 3 j₁(x)/x - j₀(x).
        sph_j2(x) y = $crate::special::value::sph_j2 => [
            $crate::special::sph_jn_first(x, 2),
            $crate::special::sph_jn_second(x, 2)
        ] on [-4.0, 0.0, 1e-5, 0.5, 1.1, 20.0];
        /// The Bessel function J₀.
        bessel_j0(x) y = $crate::special::value::bessel_j0 => [
            -x.bessel_j1(),
            $crate::special::bessel_jn_second(x, 0)
        ] on [-4.0, 0.0, 1e-5, 0.5, 2.0, 20.0];
        /// The Bessel function J₁.
        bessel_j1(x) y = $crate::special::value::bessel_j1 => [
            $crate::special::bessel_jn_first(x, 1),
            $crate::special::bessel_jn_second(x, 1)
        ] on [-4.0, 0.0, 1e-5, 0.5, 2.0, 20.0];
        /// The Bessel function J₂.
        bessel_j2(x) y = $crate::special::value::bessel_j2 => [
            $crate::special::bessel_jn_first(x, 2),
            $crate::special::bessel_jn_second(x, 2)
        ] on [-4.0, 0.0, 1e-5, 0.5, 2.0, 20.0];
        /// The Bessel function of the second kind Y₀. `-inf` at 0, `NaN` for negative arguments.
        bessel_y0(x) y = $crate::special::value::bessel_y0 => [
            -x.bessel_y1(),
            $crate::special::bessel_yn_second(x, 0)
        ] on [0.05, 0.9, 4.0, 20.0];
        /// The Bessel function of the second kind Y₁. `-inf` at 0, `NaN` for negative arguments.
        bessel_y1(x) y = $crate::special::value::bessel_y1 => [
            $crate::special::bessel_yn_first(x, 1),
            $crate::special::bessel_yn_second(x, 1)
        ] on [0.05, 0.9, 4.0, 20.0];
        /// 1/(1 + e⁻ˣ), without overflow and with full relative accuracy in both tails of its derivatives.
        logistic(x) y = $crate::special::value::logistic => [
            x.logistic_density(),
            $crate::special::logistic_density_first(x, x.logistic_density())
        ] on [-40.0, -2.0, 0.0, 1e-6, 1.0, 30.0];
        /// The derivative of the logistic function, e⁻ˣ/(1 + e⁻ˣ)²: the density of the logistic distribution.
        logistic_density(x) y = $crate::special::value::logistic_density => [
            $crate::special::logistic_density_first(x, y),
            $crate::special::logistic_density_second(x, y)
        ] on [-40.0, -2.0, 0.0, 1e-6, 1.0, 30.0];
        /// ln(1 + eˣ), without overflow and with full relative accuracy for negative arguments.
        softplus(x) y = $crate::special::value::softplus => [
            x.logistic(),
            x.logistic_density()
        ] on [-40.0, -2.0, 0.0, 1e-6, 1.0, 30.0];
        /// sin(πx)/(πx), with value 1 at zero and exactly 0 at the other integers.
        sinc_pi(x) y = $crate::special::value::sinc_pi => [
            -(x.sph_jn_pi(1) * T::pi()),
            $crate::special::sph_jn_pi_second(x, 0)
        ] on [-1.3, -0.3, 0.0, 1e-5, 0.5, 1.0, 7.25];
    } };
}

/// Functions of one variable and an integer order. Same grammar, with the order behind the argument.
macro_rules! special_orders {
    ($emit:ident $($args:tt)*) => { $emit! { [$($args)*]
        /// The `n`-th derivative of [`digamma`](Self::digamma): trigamma for `n = 1`. At 0 and the negative integers it is
        /// `inf` for odd `n`; for even `n` it is `∓inf` at `±0` and `NaN` at the others, whose two sides differ.
        polygamma(x, n: u32) y = $crate::special::value::polygamma => [
            x.polygamma(n.saturating_add(1)),
            x.polygamma(n.saturating_add(2))
        ] on [];
        /// The spherical Bessel function jₙ.
        sph_jn(x, n: u32) y = $crate::special::value::sph_jn => [
            $crate::special::sph_jn_first(x, n),
            $crate::special::sph_jn_second(x, n)
        ] on [];
        /// The spherical Bessel function jₙ(πx), whose sine and cosine are those of an exactly reduced angle.
        sph_jn_pi(x, n: u32) y = $crate::special::value::sph_jn_pi => [
            $crate::special::sph_jn_pi_first(x, n),
            $crate::special::sph_jn_pi_second(x, n)
        ] on [];
        /// The spherical Bessel function of the second kind yₙ; y₀(x) = -cos(x)/x. Infinite at 0.
        sph_yn(x, n: u32) y = $crate::special::value::sph_yn => [
            $crate::special::sph_yn_first(x, n),
            $crate::special::sph_yn_second(x, n)
        ] on [];
        /// The modified spherical Bessel function iₙ; i₀(x) = sinh(x)/x.
        sph_in(x, n: u32) y = $crate::special::value::sph_in => [
            $crate::special::sph_in_first(x, n),
            $crate::special::sph_in_second(x, n)
        ] on [];
        /// The Bessel function Jₙ of integer order.
        bessel_jn(x, n: i32) y = $crate::special::value::bessel_jn => [
            $crate::special::bessel_jn_first(x, n),
            $crate::special::bessel_jn_second(x, n)
        ] on [];
        /// The Bessel function of the second kind Yₙ of integer order. Infinite at 0, `NaN` for negative arguments.
        bessel_yn(x, n: i32) y = $crate::special::value::bessel_yn => [
            $crate::special::bessel_yn_first(x, n),
            $crate::special::bessel_yn_second(x, n)
        ] on [];
        /// The `n`-th derivative of exp(-x²): (-1)ⁿ Hₙ(x) exp(-x²), with full relative accuracy in the tails.
        gaussian_derivative(x, n: u32) y = $crate::special::value::gaussian_derivative => [
            x.gaussian_derivative(n.saturating_add(1)),
            x.gaussian_derivative(n.saturating_add(2))
        ] on [];
    } };
}

pub(crate) use {special, special_orders};

/// The values for both floats.
pub(crate) mod value {
    use super::{bessel, erf as error, gamma as gamma_, logistic as logistic_, spherical};
    use num_traits::Float;

    macro_rules! rounded {
        ($( $name:ident($x:ident $(, $p:ident: $t:ty)*) = $value:expr; )*) => { $(
            #[inline]
            pub(crate) fn $name<F: Float>(x: F $(, $p: $t)*) -> F {
                through(x, |$x| $value)
            }
        )* };
    }

    /// f(x) in f64, rounded to F.
    #[inline]
    pub(crate) fn through<F: Float>(x: F, f: impl FnOnce(f64) -> f64) -> F {
        x.to_f64().and_then(|x| F::from(f(x))).unwrap_or_else(F::nan)
    }

    rounded! {
        erf(x) = error::erf(x);
        erfc(x) = error::erfc(x);
        gamma(x) = gamma_::gamma(x);
        lgamma(x) = gamma_::lgamma(x);
        digamma(x) = gamma_::digamma(x);
        sph_j0(x) = spherical::sph_jn(x, 0);
        sph_j1(x) = spherical::sph_jn(x, 1);
        sph_j2(x) = spherical::sph_jn(x, 2);
        bessel_j0(x) = bessel::bessel_jn(x, 0);
        bessel_j1(x) = bessel::bessel_jn(x, 1);
        bessel_j2(x) = bessel::bessel_jn(x, 2);
        bessel_y0(x) = bessel::bessel_yn(x, 0);
        bessel_y1(x) = bessel::bessel_yn(x, 1);
        logistic(x) = logistic_::logistic(x);
        logistic_density(x) = logistic_::logistic_density(x);
        softplus(x) = logistic_::softplus(x);
        sinc_pi(x) = spherical::sph_jn_pi(x, 0);
        polygamma(x, n: u32) = gamma_::polygamma(x, n);
        sph_jn(x, n: u32) = spherical::sph_jn(x, n);
        sph_jn_pi(x, n: u32) = spherical::sph_jn_pi(x, n);
        sph_yn(x, n: u32) = spherical::sph_yn(x, n);
        sph_in(x, n: u32) = spherical::sph_in(x, n);
        bessel_jn(x, n: i32) = bessel::bessel_jn(x, n);
        bessel_yn(x, n: i32) = bessel::bessel_yn(x, n);
        gaussian_derivative(x, n: u32) = error::gaussian(x, n);
    }
}

// The closed forms that several rows share.

/// The n-th derivative of erf' = 2/√π exp(-x²).
pub(crate) fn erf_derivative<T: Real>(x: T, n: u32) -> T {
    x.gaussian_derivative(n) * lit::<T>(core::f64::consts::FRAC_2_SQRT_PI)
}

/// `c x`; an infinite `x` does not meet the zero tangents of the constant.
pub(crate) fn scaled<T: Real>(x: T, c: f64) -> T {
    x.strong_mul(lit(c))
}

/// Γ' = Γ ψ. Where Γ overflows, so do all its derivatives.
pub(crate) fn gamma_first<T: Real>(x: T, y: T) -> T {
    if x > T::one() && !y.is_finite() { y } else { y * x.digamma() }
}

/// Γ'' = Γ (ψ² + ψ'): near a pole both terms are positive.
pub(crate) fn gamma_second<T: Real>(x: T, y: T) -> T {
    if x > T::one() && !y.is_finite() {
        return y;
    }
    let psi = x.digamma();
    y * (psi * psi + x.polygamma(1))
}

/// ψ. At a negative integer, where ψ is `NaN`, its derivative still has a limit, which `NaN` lanes would hide.
pub(crate) fn lgamma_first<T: Real>(x: T) -> T {
    let psi = x.digamma();
    if psi.is_nan() && x.is_finite() {
        x.polygamma(1).strong_mul(x - T::from_base(x.base())) + T::from_base(psi.base())
    } else {
        psi
    }
}

/// With y = logistic' x: y' = -tanh(x/2) y, which has its digits near zero and in both tails.
pub(crate) fn logistic_density_first<T: Real>(x: T, y: T) -> T {
    -(scaled(x, 0.5).tanh() * y)
}

/// With t = tanh(x/2): (-t y)' = y (t² - 2y).
pub(crate) fn logistic_density_second<T: Real>(x: T, y: T) -> T {
    let t = scaled(x, 0.5).tanh();
    y * (t * t - (y + y))
}

/// (2n + 1) f_n' = n f_{n-1} - (n + 1) f_{n+1}, for j and y (DLMF 10.51.2); f_{n-1} is not asked for at n = 0.
fn spherical_first<T: Real>(n: u32, sign: f64, f: impl Fn(u32) -> T) -> T {
    if n == 0 {
        return scaled(f(1), sign);
    }
    let k = f64::from(n);
    let width = 2.0 * k + 1.0;
    scaled(f(n - 1), k / width) + scaled(f(n.saturating_add(1)), sign * (k + 1.0) / width)
}

/// The derivative of [`spherical_first`]: only f_{n-2}, f_n and f_{n+2} remain.
fn spherical_second<T: Real>(n: u32, sign: f64, f: impl Fn(u32) -> T) -> T {
    let k = f64::from(n);
    let width = 2.0 * k + 1.0;
    // n/(2n+1) f_{n-1}' = n/(2n+1) ((n-1) f_{n-2} + sign n f_n)/(2n-1), and the same one order up.
    let here = sign * ((k * k) / (2.0 * k - 1.0) + (k + 1.0) * (k + 1.0) / (2.0 * k + 3.0)) / width;
    let above = (k + 1.0) * (k + 2.0) / (width * (2.0 * k + 3.0));
    let y = scaled(f(n), here) + scaled(f(n.saturating_add(2)), above);
    if n < 2 { y } else { y + scaled(f(n - 2), k * (k - 1.0) / (width * (2.0 * k - 1.0))) }
}

pub(crate) fn sph_jn_first<T: Real>(x: T, n: u32) -> T {
    spherical_first(n, -1.0, |n| x.sph_jn(n))
}

pub(crate) fn sph_jn_second<T: Real>(x: T, n: u32) -> T {
    spherical_second(n, -1.0, |n| x.sph_jn(n))
}

pub(crate) fn sph_jn_pi_first<T: Real>(x: T, n: u32) -> T {
    spherical_first(n, -1.0, |n| x.sph_jn_pi(n)) * T::pi()
}

pub(crate) fn sph_jn_pi_second<T: Real>(x: T, n: u32) -> T {
    spherical_second(n, -1.0, |n| x.sph_jn_pi(n)) * (T::pi() * T::pi())
}

/// Where y_{n+1} overflows, lower orders are nothing beside it: no inf - inf.
pub(crate) fn sph_yn_first<T: Real>(x: T, n: u32) -> T {
    let finite = x.sph_yn(n.saturating_add(1)).is_finite();
    spherical_first(n, -1.0, |k| if finite || k >= n.saturating_add(1) { x.sph_yn(k) } else { T::zero() })
}

pub(crate) fn sph_yn_second<T: Real>(x: T, n: u32) -> T {
    let finite = x.sph_yn(n.saturating_add(2)).is_finite();
    spherical_second(n, -1.0, |k| if finite || k >= n.saturating_add(1) { x.sph_yn(k) } else { T::zero() })
}

pub(crate) fn sph_in_first<T: Real>(x: T, n: u32) -> T {
    spherical_first(n, 1.0, |n| x.sph_in(n))
}

pub(crate) fn sph_in_second<T: Real>(x: T, n: u32) -> T {
    spherical_second(n, 1.0, |n| x.sph_in(n))
}

/// J_n' = (J_{n-1} - J_{n+1})/2 (DLMF 10.6.1): J_n/x would cancel at 0.
pub(crate) fn bessel_jn_first<T: Real>(x: T, n: i32) -> T {
    scaled(x.bessel_jn(n.saturating_sub(1)) - x.bessel_jn(n.saturating_add(1)), 0.5)
}

/// J_n'' = (J_{n-2} - 2 J_n + J_{n+2})/4.
pub(crate) fn bessel_jn_second<T: Real>(x: T, n: i32) -> T {
    let here = x.bessel_jn(n);
    scaled(x.bessel_jn(n.saturating_sub(2)) - (here + here) + x.bessel_jn(n.saturating_add(2)), 0.25)
}

/// As for J; where the order that is largest near zero overflows, the others are nothing beside it.
pub(crate) fn bessel_yn_first<T: Real>(x: T, n: i32) -> T {
    let (low, high) = (x.bessel_yn(n.saturating_sub(1)), x.bessel_yn(n.saturating_add(1)));
    let difference = match (low.is_finite() && high.is_finite(), n < 0) {
        (true, _) => low - high,
        (false, true) => low,
        (false, false) => -high,
    };
    scaled(difference, 0.5)
}

pub(crate) fn bessel_yn_second<T: Real>(x: T, n: i32) -> T {
    let (low, here, high) =
        (x.bessel_yn(n.saturating_sub(2)), x.bessel_yn(n), x.bessel_yn(n.saturating_add(2)));
    let sum = match (low.is_finite() && high.is_finite(), n < 0) {
        (true, _) => low - (here + here) + high,
        (false, true) => low,
        (false, false) => high,
    };
    scaled(sum, 0.25)
}
