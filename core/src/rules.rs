//! The table of elementary functions: the single source of every function of one variable.
//!
//! A row reads
//!
//! ```text
//! /// what it computes, domain, limits
//! tanh(x) y = Float::tanh => [first, second] on [samples];
//! ```
//!
//! `x` is the argument and `y` the value already computed; `first` and `second` are f' and f'' as expressions in any
//! `T: Real`, so that nested numbers differentiate them again. One row makes the function of `f32` and `f64` (through
//! [`Real::Fns`](crate::Real)), of every dual type, the inherent method, the nalgebra method and the entry in
//! [`UNARY`](crate::registry::UNARY), which the tests walk.
//!
//! Rules for writing rows: take the value from the value function, never rebuild it; write divisions that may meet a
//! zero as `.recip()`, which keeps strong zeros; avoid intermediate squares that overflow where the result does not;
//! never cancel (`1 - tanh²` has no digits left at 10). Powers and logarithms stand in the list of `far.rs` too, which
//! keeps their derivatives in range at extreme arguments.

use core::f64::consts::{LN_2, LOG2_E, LOG10_E};

use num_traits::Float;

use crate::kinks::{kinks, kinks2, remainders};
use crate::special::{self, scaled, special, special_orders};
use crate::{Lift, Real, cardinal, far, kinks, plane, pow, shared};

/// The constant `c` in any scalar.
#[inline(always)]
pub(crate) fn lit<T: Real>(c: f64) -> T {
    nalgebra::convert(c)
}

/// `x` or `-x`, whichever is not negative, without the kink of `abs`: both branches are smooth at zero, so an even
/// function keeps its derivatives there.
#[inline(always)]
pub(crate) fn unsigned<T: Real>(x: T) -> T {
    if x < T::zero() { -x } else { x }
}

/// `x`, with 0 for -0: the argument of a function whose domain ends at zero, of which the limit there is from above.
#[inline(always)]
pub(crate) fn from_above<T: Real>(x: T) -> T {
    x + T::zero()
}

/// Functions of one variable that nalgebra's traits know.
macro_rules! elementary {
    ($emit:ident $($args:tt)*) => { $emit! { [$($args)*]
        /// `1/x`. Infinite at zero.
        recip(x) y = Float::recip => [-(y * y), (y + y) * (y * y)] on [-3.0, -0.1, 0.25, 7.0, 1e100];
        /// The square root. `NaN` for negative arguments; the derivative at zero is infinite.
        sqrt(x) y = Float::sqrt => [sqrt_first(y), -(sqrt_first(y) * lit::<T>(0.5) * from_above(x).recip())] on [1e-3, 0.5, 2.0, 1e10];
        /// The cube root. The derivative at zero is infinite.
        cbrt(x) y = Float::cbrt => [cbrt_first(y), -(scaled(cbrt_first(y), 2.0 / 3.0) * x.recip())] on [-8.0, -0.3, 0.01, 5.0];
        /// `e^x`.
        exp(x) y = Float::exp => [y, y] on [-700.0, -2.0, 0.0, 1.5, 30.0];
        /// `2^x`.
        exp2(x) y = Float::exp2 => [scaled(y, LN_2), scaled(y, LN_2 * LN_2)] on [-5.0, 0.0, 0.5, 20.0];
        /// `e^x - 1`, accurate near zero.
        exp_m1(x) y = Float::exp_m1 => [x.exp(), x.exp()] on [-20.0, -1e-3, 0.0, 0.7, 10.0];
        /// The natural logarithm. `NaN` for negative arguments, `-inf` at zero.
        ln(x) y = Float::ln => [from_above(x).recip(), -(x.recip() * x.recip())] on [1e-5, 0.4, 1.0, 30.0];
        /// The logarithm to base 2.
        log2(x) y = Float::log2 => [scaled(from_above(x).recip(), LOG2_E), -(x.recip() * scaled(x.recip(), LOG2_E))] on [0.01, 1.0, 9.0];
        /// The logarithm to base 10.
        log10(x) y = Float::log10 => [scaled(from_above(x).recip(), LOG10_E), -(x.recip() * scaled(x.recip(), LOG10_E))] on [0.01, 1.0, 9.0];
        /// `ln(1 + x)`, accurate near zero. `NaN` below -1, `-inf` at -1.
        ln_1p(x) y = Float::ln_1p => [(T::one() + x).recip(), -((T::one() + x).recip() * (T::one() + x).recip())] on [-0.9, -1e-4, 0.0, 0.5, 40.0];
        /// The sine of an angle in radians.
        sin(x) y = Float::sin => [x.cos(), -y] on [-4.0, 0.0, 0.7, 2.0, 100.0];
        /// The cosine of an angle in radians.
        cos(x) y = Float::cos => [-x.sin(), -y] on [-4.0, 0.0, 0.7, 2.0, 100.0];
        /// The tangent of an angle in radians.
        tan(x) y = Float::tan => [y * y + T::one(), (y + y) * (y * y + T::one())] on [-1.2, 0.0, 0.7, 2.0];
        /// The arc sine, in `[-pi/2, pi/2]`. `NaN` outside `[-1, 1]`; the derivative at `±1` is infinite.
        asin(x) y = Float::asin => [asin_first(x), x * cube(asin_first(x))] on [-0.99, -0.3, 0.0, 0.8];
        /// The arc cosine, in `[0, pi]`. `NaN` outside `[-1, 1]`; the derivative at `±1` is `-inf`.
        acos(x) y = Float::acos => [-asin_first(x), -(x * cube(asin_first(x)))] on [-0.99, -0.3, 0.0, 0.8];
        /// The arc tangent, in `[-pi/2, pi/2]`.
        atan(x) y = Float::atan => [atan_first(x), atan_second(x)] on [-30.0, -1.0, 0.0, 0.3, 5.0];
        /// The hyperbolic sine.
        sinh(x) y = Float::sinh => [x.cosh(), y] on [-3.0, 0.0, 0.2, 10.0];
        /// The hyperbolic cosine.
        cosh(x) y = Float::cosh => [x.sinh(), y] on [-3.0, 0.0, 0.2, 10.0];
        /// The hyperbolic tangent.
        tanh(x) y = Float::tanh => [tanh_first(x), -(y + y) * tanh_first(x)] on [-2.0, 0.0, 1.5, 10.0, 1000.0];
        /// The inverse hyperbolic sine.
        asinh(x) y = value::asinh => [asinh_first(x), asinh_second(x)] on [-50.0, -0.5, 0.0, 1e-3, 3.0];
        /// The inverse hyperbolic cosine, accurate near 1. `NaN` below 1; the derivative at 1 is infinite.
        acosh(x) y = value::acosh => [acosh_first(x), acosh_second(x)] on [1.001, 1.5, 4.0, 1e5];
        /// The inverse hyperbolic tangent. `NaN` outside `[-1, 1]`, infinite at `±1`.
        atanh(x) y = value::atanh => [atanh_first(x), ((x + x) * atanh_first(x)) * atanh_first(x)] on [-0.9, -0.2, 0.0, 1e-3, 0.7];
        /// `sin(x)/x`, with value 1 at zero.
        sinc(x) y = cardinal::sinc => [-x.sph_jn(1), special::sph_jn_second(x, 0)] on [-4.0, -0.9, 0.0, 1e-5, 0.5, 1.1, 20.0];
        /// `sinh(x)/x`, with value 1 at zero.
        sinhc(x) y = cardinal::sinhc => [x.sph_in(1), special::sph_in_second(x, 0)] on [-4.0, -0.9, 0.0, 1e-5, 0.5, 1.1, 20.0];
        /// `cos(x)/x`: infinite at zero (nalgebra's default gives 1 there).
        cosc(x) y = cardinal::cosc => [x.sph_yn(1), -special::sph_yn_second(x, 0)] on [-4.0, -0.3, 0.2, 1.0, 9.0];
        /// `cosh(x)/x`: infinite at zero (nalgebra's default gives 1 there).
        coshc(x) y = cardinal::coshc => [cardinal::coshc_first(x, y), cardinal::coshc_second(x, y)] on [-4.0, -0.3, 0.2, 1.0, 9.0];
    } };
}

/// Functions of one variable and a constant. Same grammar, with typed parameters behind the argument.
macro_rules! parametric {
    ($emit:ident $($args:tt)*) => { $emit! { [$($args)*]
        /// `x^n` for an integer `n`; `x^0` is the constant 1.
        powi(x, n: i32) y = pow::powi => [pow::powi_first(x, n), pow::powi_second(x, n)] on [];
        /// `x^p` for a constant `p`; `x^0` is the constant 1. `NaN` for negative `x` unless `p` is an integer.
        powf_const(x, p: <T as Real>::Base) y = Float::powf => [pow::powf_first(x, p), pow::powf_second(x, p)] on [];
        /// The logarithm to a constant base.
        log_base(x, b: <T as Real>::Base) y = Float::log => [pow::log_base_first(from_above(x), b), -(x.recip() * pow::log_base_first(x, b))] on [];
    } };
}

/// Functions of two variables: `name(a, b) y = value => [f_a, f_b], [f_aa, f_ab, f_bb], on [samples];`
macro_rules! binary {
    ($emit:ident $($args:tt)*) => { $emit! { [$($args)*]
        /// `a^b` with both variable. The numbered cases stand in `pow.rs`.
        powd(a, b) y = Float::powf => pow::powd_first(a, b, y), pow::powd_second(a, b, y), on [(0.3, 2.5), (2.0, -1.5), (7.0, 0.2)];
        /// The angle of the point `(b, a)`: `a.atan2(b)` with `a = y`, `b = x`, in `[-pi, pi]`.
        atan2(a, b) y = Float::atan2 => plane::atan2_first(a, b), plane::atan2_second(a, b), on [(1.0, 2.0), (-1.0, 0.0), (0.5, -3.0), (0.0, 2.0)];
        /// `sqrt(a² + b²)` without overflow of the squares.
        hypot(a, b) y = Float::hypot => plane::hypot_first(a, b, y), plane::hypot_second(a, b, y), on [(3.0, 4.0), (-1.0, 0.0), (0.5, -3.0), (1e200, 1e200)];
        /// The logarithm of `a` to the base `b`, both variable.
        log_of(a, b) y = Float::log => pow::log_first(a, b, y), pow::log_second(a, b, y), on [(0.3, 2.5), (8.0, 2.0), (7.0, 0.2)];

        // Derivatives of the rows above that are rows themselves: nested numbers then differentiate them by a formula
        // that does not cancel, instead of by the product rule.

        /// `b a^(b-1)`, the slope of `a^b` in `a`.
        #[doc(hidden)]
        pow_slope(a, b) y = pow::slope => pow::slope_first(a, b), pow::slope_second(a, b), on [(0.3, 2.5), (2.0, -1.5), (7.0, 0.2)];
        /// `a^b ln a`, the slope of `a^b` in `b`.
        #[doc(hidden)]
        pow_log(a, b) y = pow::log_slope => pow::log_slope_first(a, b, y), pow::log_slope_second(a, b), on [(0.3, 2.5), (2.0, -1.5), (7.0, 0.2)];
        /// `1 + b ln a`, with full relative accuracy where it is small.
        #[doc(hidden)]
        one_plus_log(a, b) y = pow::one_plus_log => [b * a.recip(), a.ln()], [-(b * a.recip()) * a.recip(), a.recip(), T::zero()], on [(0.3, 2.5), (2.0, -1.4), (0.7, 2.5)];
        /// `a/sqrt(a² + b²)`, a coordinate of the unit vector.
        #[doc(hidden)]
        direction(a, b) y = plane::direction => plane::direction_first(a, b), plane::direction_second(a, b), on [(3.0, 4.0), (-1.0, 0.2), (0.5, -3.0), (1e-4, 1.0)];
        /// `b/(a² + b²)`, the slope of `atan2(a, b)` in `a`.
        #[doc(hidden)]
        atan2_dy(a, b) y = plane::atan2_dy => plane::atan2_dy_first(a, b), plane::atan2_dy_second(a, b), on [(1.0, 2.0), (-1.0, 0.3), (0.5, -3.0), (0.1, 2.0)];
        /// `-a/(a² + b²)`, the slope of `atan2(a, b)` in `b`.
        #[doc(hidden)]
        atan2_dx(a, b) y = plane::atan2_dx => plane::atan2_dx_first(a, b), plane::atan2_dx_second(a, b), on [(1.0, 2.0), (-1.0, 0.3), (0.5, -3.0), (0.1, 2.0)];
    } };
}

#[cfg(feature = "num-dual")]
pub(crate) use parametric;
pub(crate) use {binary, elementary};

// The closed forms that several rows, or both columns of a row, share.

#[inline(always)]
fn sqrt_first<T: Real>(y: T) -> T {
    from_above(y + y).recip()
}

/// 1/(3 y²), through 1/y: the square may overflow where its tangent is still needed.
#[inline(always)]
fn cbrt_first<T: Real>(y: T) -> T {
    let r = y.recip();
    scaled(r * r, 1.0 / 3.0)
}

#[inline(always)]
fn cube<T: Real>(x: T) -> T {
    x * x * x
}

/// 1 - x²: as a product near ±1, where the difference cancels; as a difference near 0, where the tangent of the
/// product does.
#[inline(always)]
fn one_minus_square<T: Real>(x: T) -> T {
    if unsigned(x) < lit::<T>(0.5) { T::one() - x * x } else { (T::one() - x) * (T::one() + x) }
}

/// 1/√(1 - x²).
#[inline(always)]
fn asin_first<T: Real>(x: T) -> T {
    one_minus_square(x).sqrt().recip()
}

/// 1/(1 + x²), through 1/x where x² may overflow.
#[inline(always)]
fn atan_first<T: Real>(x: T) -> T {
    if unsigned(x) <= T::one() {
        (T::one() + x * x).recip()
    } else {
        let r = x.recip();
        r * r * (T::one() + r * r).recip()
    }
}

/// -2x/(1 + x²)², through 1/x where x² may overflow.
#[inline(always)]
fn atan_second<T: Real>(x: T) -> T {
    if unsigned(x) <= T::one() {
        let first = atan_first(x);
        -((x + x) * first) * first
    } else {
        let r = x.recip();
        let q = (T::one() + r * r).recip();
        -((r + r) * (r * q)) * (r * q)
    }
}

/// sech² x = 4 logistic'(2x): no cancellation, no overflow, and its derivatives keep their digits near zero, where
/// those of a formula in e^|x| would be differences of large numbers.
#[inline(always)]
fn tanh_first<T: Real>(x: T) -> T {
    scaled(scaled(x, 2.0).logistic_density(), 4.0)
}

/// 1/√(1 + x²), through 1/x where x² may overflow.
#[inline(always)]
fn asinh_first<T: Real>(x: T) -> T {
    if unsigned(x) <= T::one() {
        (T::one() + x * x).sqrt().recip()
    } else {
        let r = unsigned(x).recip();
        r * (T::one() + r * r).sqrt().recip()
    }
}

/// -x/(1 + x²)^(3/2), through 1/x where x² may overflow.
#[inline(always)]
fn asinh_second<T: Real>(x: T) -> T {
    let first = asinh_first(x);
    if unsigned(x) <= T::one() {
        -(x * first) * (first * first)
    } else {
        let r = x.recip();
        let sine = (T::one() + r * r).sqrt().recip();
        if x < T::zero() { sine * (first * first) } else { -(sine * (first * first)) }
    }
}

/// 1/√(x² - 1), through 1/x where x² may overflow; infinite at 1.
#[inline(always)]
fn acosh_first<T: Real>(x: T) -> T {
    if x < lit::<T>(2.0) {
        (x - T::one()).sqrt().recip() * (x + T::one()).sqrt().recip()
    } else {
        x.recip() * secant(x)
    }
}

/// -x/(x² - 1)^(3/2).
#[inline(always)]
fn acosh_second<T: Real>(x: T) -> T {
    let first = acosh_first(x);
    if x < lit::<T>(2.0) { -(x * first) * (first * first) } else { -(secant(x) * (first * first)) }
}

/// x/√(x² - 1) through 1/x.
#[inline(always)]
fn secant<T: Real>(x: T) -> T {
    let r = x.recip();
    (T::one() - r * r).sqrt().recip()
}

#[inline(always)]
fn atanh_first<T: Real>(x: T) -> T {
    one_minus_square(x).recip()
}

/// Value functions where ours is better than the standard library's.
mod value {
    use num_traits::{Float, FloatConst};

    /// The standard library overflows at half the largest float.
    pub fn asinh<F: Float + FloatConst>(x: F) -> F {
        if x.is_finite() && x.abs() > F::max_value().sqrt() {
            (x.abs().ln() + F::LN_2()).copysign(x)
        } else {
            x.asinh()
        }
    }

    /// From |x|: the standard library cancels near -1.
    pub fn atanh<F: Float>(x: F) -> F {
        let u = x.abs();
        let half = (F::one() + F::one()).recip();
        (half * ((u + u) / (F::one() - u)).ln_1p()).copysign(x)
    }

    /// ln(x + √(x² - 1)) through t = x - 1, which keeps every digit near 1.
    pub fn acosh<F: Float + FloatConst>(x: F) -> F {
        let one = F::one();
        if x < one {
            F::nan()
        } else if x > F::max_value().sqrt() {
            x.ln() + F::LN_2()
        } else {
            let t = x - one;
            (t + t.sqrt() * (t + one + one).sqrt()).ln_1p()
        }
    }
}

macro_rules! declare {
    ([] $( $(#[$doc:meta])* $name:ident($x:ident $(, $p:ident: $pt:ty)*) $y:ident = $value:path => [$first:expr, $second:expr] on [$($s:expr),*]; )*) => {
        $( $(#[$doc])* fn $name($x: T $(, $p: $pt)*) -> T; )*
    };
}

macro_rules! declare2 {
    ([] $( $(#[$doc:meta])* $name:ident($a:ident, $b:ident) $y:ident = $value:path => $first:expr, $second:expr, on [$($s:expr),*]; )*) => {
        $( $(#[$doc])* fn $name($a: T, $b: T) -> T; )*
    };
}

macro_rules! leaf {
    ([] $( $(#[$doc:meta])* $name:ident($x:ident $(, $p:ident: $pt:ty)*) $y:ident = $value:path => [$first:expr, $second:expr] on [$($s:expr),*]; )*) => {
        $( #[inline] fn $name($x: T $(, $p: $pt)*) -> T { $value($x $(, $p)*) } )*
    };
}

macro_rules! leaf2 {
    ([] $( $(#[$doc:meta])* $name:ident($a:ident, $b:ident) $y:ident = $value:path => $first:expr, $second:expr, on [$($s:expr),*]; )*) => {
        $( #[inline] fn $name($a: T, $b: T) -> T { $value($a, $b) } )*
    };
}

macro_rules! lifted {
    ([] $( $(#[$doc:meta])* $name:ident($x:ident $(, $p:ident: $pt:ty)*) $y:ident = $value:path => [$first:expr, $second:expr] on [$($s:expr),*]; )*) => {
        $(
            #[inline]
            fn $name(number: T $(, $p: $pt)*) -> T {
                #[inline(always)]
                #[allow(unused_variables)]
                fn first<T: Real>($x: T, $y: T $(, $p: $pt)*) -> T { $first }
                #[inline(always)]
                #[allow(unused_variables)]
                fn second<T: Real>($x: T, $y: T $(, $p: $pt)*) -> T { $second }
                let $x = number.inner();
                let $y = <T::Inner as Real>::Fns::$name($x $(, $p)*);
                let far = far::chain(
                    number,
                    $y,
                    far::degree!($name $($p)*),
                    |z| <T::Inner as Real>::Fns::$name(z $(, $p)*),
                    |z, w| first(z, w $(, $p)*),
                    |z, w| second(z, w $(, $p)*),
                );
                match far.or_else(|| far::asymptote!($name; number, $y $(, $p)*)) {
                    Some(y) => y,
                    None => number.chain($y, || first($x, $y $(, $p)*), || second($x, $y $(, $p)*)),
                }
            }
        )*
    };
}

/// [`lifted`] for functions whose results the passes of a driver share.
macro_rules! shared {
    ([] $( $(#[$doc:meta])* $name:ident($x:ident) $y:ident = $value:path => [$first:expr, $second:expr] on [$($s:expr),*]; )*) => {
        $(
            #[inline]
            fn $name(number: T) -> T {
                #[inline(always)]
                #[allow(unused_variables)]
                fn first<T: Real>($x: T, $y: T) -> T { $first }
                #[inline(always)]
                #[allow(unused_variables)]
                fn second<T: Real>($x: T, $y: T) -> T { $second }
                const ID: u64 = shared::id(stringify!($name));
                let $x = number.inner();
                if T::Inner::ORDER > 0 || !shared::costly(stringify!($name)) {
                    let $y = <T::Inner as Real>::Fns::$name($x);
                    let value = <T::Inner as Real>::Fns::$name;
                    let far = far::chain(number, $y, far::degree!($name), value, first, second);
                    return match far.or_else(|| far::asymptote!($name; number, $y)) {
                        Some(y) => y,
                        None => number.chain($y, || first($x, $y), || second($x, $y)),
                    };
                }
                let (y, slope) = $x.outcome(ID, |$x| {
                    let $y = <T::Inner as Real>::Fns::$name($x);
                    ($y, first($x, $y))
                });
                let value = <T::Inner as Real>::Fns::$name;
                let far = far::chain(number, y, far::degree!($name), value, first, second);
                match far.or_else(|| far::asymptote!($name; number, y)) {
                    Some(y) => y,
                    None => number.chain(y, || slope, || second($x, y)),
                }
            }
        )*
    };
}

macro_rules! lifted2 {
    ([] $( $(#[$doc:meta])* $name:ident($a:ident, $b:ident) $y:ident = $value:path => $first:expr, $second:expr, on [$($s:expr),*]; )*) => {
        $(
            #[inline]
            fn $name(left: T, right: T) -> T {
                #[inline(always)]
                #[allow(unused_variables)]
                fn first<T: Real>($a: T, $b: T, $y: T) -> [T; 2] { $first }
                #[inline(always)]
                #[allow(unused_variables)]
                fn second<T: Real>($a: T, $b: T, $y: T) -> [T; 3] { $second }
                let ($a, $b) = (left.inner(), right.inner());
                let $y = <T::Inner as Real>::Fns::$name($a, $b);
                match far::two!($name; left, right, $y, first, second) {
                    Some(y) => y,
                    None => left.chain2(right, $y, || first($a, $b, $y), || second($a, $b, $y)),
                }
            }
        )*
    };
}

/// Functions of two variables that return one of them up to the sign; the other is not looked at.
macro_rules! pieces2 {
    ([] $( $(#[$doc:meta])* $name:ident($a:ident, $b:ident) $y:ident = $value:path => $first:expr, $second:expr, on [$($s:expr),*]; )*) => {
        $(
            #[inline]
            fn $name(left: T, right: T) -> T {
                #[inline(always)]
                fn first<T: Real>($a: T, $b: T) -> [T; 2] { $first }
                let ($a, $b) = (left.inner(), right.inner());
                let $y = <T::Inner as Real>::Fns::$name($a, $b);
                kinks::piece(left, right, $y, first($a, $b))
            }
        )*
    };
}

/// The elementary and special functions of the scalar `T`: the columns of the tables, as associated functions
/// without a receiver, so that they never compete with the methods of nalgebra's traits.
pub trait Elementary<T: Real> {
    elementary!(declare);
    parametric!(declare);
    kinks!(declare);
    special!(declare);
    special_orders!(declare);
    binary!(declare2);
    kinks2!(declare2);
    remainders!(declare2);
}

/// Functions of `f32` and `f64`.
#[doc(hidden)]
pub struct Leaf;

/// Functions of every dual number, by the chain rule of [`Lift`].
#[doc(hidden)]
pub struct Lifted;

macro_rules! leaves {
    ($($F:ident)*) => { $( const _: () = {
        type T = $F;
        impl Elementary<T> for Leaf {
            elementary!(leaf);
            parametric!(leaf);
            kinks!(leaf);
            special!(leaf);
            special_orders!(leaf);
            binary!(leaf2);
            kinks2!(leaf2);
            remainders!(leaf2);
        }
    }; )* };
}

leaves!(f32 f64);

impl<T: Lift> Elementary<T> for Lifted {
    elementary!(shared);
    parametric!(lifted);
    kinks!(lifted);
    special!(shared);
    special_orders!(lifted);
    binary!(lifted2);
    kinks2!(pieces2);
    remainders!(lifted2);
}
