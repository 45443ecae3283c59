//! Functions with kinks and jumps, each with its argued convention.
//!
//! - `abs` at 0 has derivative 0: the middle of [-1, 1], the same from both sides, and what a sum of absolute values
//!   needs at its minimum.
//! - `signum`, `floor`, `ceil`, `round`, `trunc` are constant between their jumps: derivative 0, also at a jump, where
//!   the value is that of the branch taken.
//! - `max(a, b)` returns `a` at a tie and `min(a, b)` returns `b`, tangents included, so that
//!   `max(a, b) + min(a, b) = a + b` also in the tangents. The operand that was not returned leaves no trace, whatever its
//!   tangents are. So `max(x, 0)` at `x = 0` has derivative 1, and `max(0, x)`
//!   has 0: choose the order of the arguments. A `NaN` operand loses against a number, as in the standard library.
//! - `clamp` returns the argument at both bounds: derivative 1 there.
//! - `a % b` has derivatives 1 and `-trunc(a/b)`, the branch of the value.

use num_traits::Float;

use nalgebra::ComplexField;

use crate::rules::lit;
use crate::{Lift, Real};

/// Functions of one variable with kinks: the grammar of the elementary table.
macro_rules! kinks {
    ($emit:ident $($args:tt)*) => { $emit! { [$($args)*]
        /// The absolute value; its derivative at 0 is 0.
        abs(x) y = num_traits::Float::abs => [$crate::kinks::sign(x), T::zero()] on [-2.0, 3.0];
        /// The sign, `±1` also at `±0`; derivative 0.
        signum(x) y = num_traits::Float::signum => [T::zero(), T::zero()] on [-2.0, 3.0];
        /// The largest integer not above `x`; derivative 0.
        floor(x) y = num_traits::Float::floor => [T::zero(), T::zero()] on [-2.4, 3.7];
        /// The smallest integer not below `x`; derivative 0.
        ceil(x) y = num_traits::Float::ceil => [T::zero(), T::zero()] on [-2.4, 3.7];
        /// The nearest integer, halves away from zero; derivative 0.
        round(x) y = num_traits::Float::round => [T::zero(), T::zero()] on [-2.4, 3.7];
        /// The integer part, towards zero; derivative 0.
        trunc(x) y = num_traits::Float::trunc => [T::zero(), T::zero()] on [-2.4, 3.7];
        /// `x - trunc(x)`; derivative 1.
        fract(x) y = num_traits::Float::fract => [T::one(), T::zero()] on [-2.4, 3.7];
    } };
}

/// Functions of two variables that return one of them up to the sign: the grammar of the binary table.
macro_rules! kinks2 {
    ($emit:ident $($args:tt)*) => { $emit! { [$($args)*]
        /// The larger of two numbers, tangents included; the first at a tie, where [`min`](Self::min) is the second, so that
        /// max + min = a + b in the tangents too. A `NaN` operand loses against a number.
        ///
        /// At `x = 0`, `max(x, 0)` is the branch of `x` and `max(0, x)` is the constant: the order of the arguments
        /// chooses the derivative.
        ///
        /// ```
        /// use dualpack_core::Dual;
        /// let (x, zero) = (Dual::<f64>::variable(0.0, 0), Dual::constant(0.0));
        /// assert_eq!(x.max(zero).eps, [1.0]);
        /// assert_eq!(zero.max(x).eps, [0.0]);
        /// ```
        max(a, b) y = $crate::kinks::value::max => $crate::kinks::pick($crate::kinks::takes_first_max(a, b)), [T::zero(); 3], on [(1.0, 2.0), (2.0, 1.0)];
        /// The smaller of two numbers, tangents included; the second at a tie. A `NaN` operand loses against a number.
        min(a, b) y = $crate::kinks::value::min => $crate::kinks::pick($crate::kinks::takes_first_min(a, b)), [T::zero(); 3], on [(1.0, 2.0), (2.0, 1.0)];
        /// The magnitude of `a` with the sign of `b`, whose tangents play no part.
        copysign(a, b) y = num_traits::Float::copysign => $crate::kinks::copysign_first(a, b), [T::zero(); 3], on [(3.0, -2.0), (-3.0, -2.0), (-1.0, 4.0)];
    } };
}

/// Remainders: smooth between their jumps. Both operands count there, also where the quotient happens to be 0, so that
/// the structure found at one point holds at others.
macro_rules! remainders {
    ($emit:ident $($args:tt)*) => { $emit! { [$($args)*]
        /// The remainder of the division towards zero, with the sign of `a`: the operator `%`.
        rem(a, b) y = $crate::kinks::value::rem => [T::one(), $crate::kinks::rem_quotient(a, b)], [T::zero(); 3], on [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0)];
        /// The remainder in `[0, |b|)`.
        rem_euclid(a, b) y = $crate::kinks::value::rem_euclid => [T::one(), $crate::kinks::rem_euclid_quotient(a, b)], [T::zero(); 3], on [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-7.5, -2.0)];
    } };
}

pub(crate) use {kinks, kinks2, remainders};

/// -1, 0 or 1; `NaN` at `NaN`.
pub(crate) fn sign<T: Real>(x: T) -> T {
    if x > T::zero() {
        T::one()
    } else if x < T::zero() {
        -T::one()
    } else if x == T::zero() {
        T::zero()
    } else {
        x
    }
}

#[inline(always)]
pub(crate) fn takes_first_max<T: PartialOrd>(a: T, b: T) -> bool {
    #[allow(clippy::eq_op)]
    let a_is_nan = a != a;
    !(b > a || a_is_nan)
}

#[inline(always)]
pub(crate) fn takes_first_min<T: PartialOrd>(a: T, b: T) -> bool {
    #[allow(clippy::eq_op)]
    let b_is_nan = b != b;
    a < b || b_is_nan
}

pub(crate) fn pick<T: Real>(first: bool) -> [T; 2] {
    if first { [T::one(), T::zero()] } else { [T::zero(), T::one()] }
}

/// [sign(a) sign(b), 0], with the kink of `abs` at a = 0.
pub(crate) fn copysign_first<T: Real>(a: T, b: T) -> [T; 2] {
    let s = sign(a);
    [if b.is_sign_negative() { -s } else { s }, T::zero()]
}

/// -(a - a % b)/b, the integer quotient: a constant between the jumps. `trunc(a/b)` is one off where the quotient
/// rounds up to an integer; beyond 2^52 every quotient is one.
pub(crate) fn rem_quotient<T: Real>(a: T, b: T) -> T {
    let (a, b) = (a.base(), b.base());
    let quotient = ComplexField::trunc(a / b);
    let exact = ComplexField::round((a - a % b) / b);
    T::from_base(-if ComplexField::abs(exact) < lit(4503599627370496.0) { exact } else { quotient })
}

/// -(a - rem_euclid(a, b))/b, the integer quotient.
pub(crate) fn rem_euclid_quotient<T: Real>(a: T, b: T) -> T {
    let zero = <T::Base as num_traits::Zero>::zero();
    let truncated = rem_quotient(a, b);
    let (a, b) = (a.base(), b.base());
    if a % b >= zero {
        truncated
    } else if b > zero {
        truncated + T::one()
    } else {
        truncated - T::one()
    }
}

/// The operand of the two that f(a, b) = y returns, f_a a or f_b b with a factor ±1: every part of it is kept as it
/// is, and the other leaves no trace. Both factors are 0 at a kink whose derivative is taken to be 0.
#[inline]
pub(crate) fn piece<D: Lift>(a: D, b: D, y: D::Inner, [fa, fb]: [D::Inner; 2]) -> D {
    let (zero, one) = (num_traits::zero::<D::Inner>(), num_traits::one::<D::Inner>());
    let (x, factor) = if fb == zero { (a, fa) } else { (b, fb) };
    let piece = if y.is_nan() {
        poisoned(a, y)
    } else if factor == one {
        x.with_inner(y)
    } else if factor == -one {
        (-x).with_inner(y)
    } else {
        // The kink: 0 times the tangents, of which NaN stays.
        x.chain(y, num_traits::zero, num_traits::zero)
    };
    piece.beside(a).beside(b)
}

/// The value `y`, which is `NaN`, with `NaN` in every part.
#[inline]
pub(crate) fn poisoned<D: Lift>(x: D, y: D::Inner) -> D {
    x.chain(y, || y, || y)
}

/// The float functions behind the rows.
pub(crate) mod value {
    use super::Float;

    pub(crate) fn max<F: Float>(a: F, b: F) -> F {
        if super::takes_first_max(a, b) { a } else { b }
    }

    pub(crate) fn min<F: Float>(a: F, b: F) -> F {
        if super::takes_first_min(a, b) { a } else { b }
    }

    pub(crate) fn rem<F: Float>(a: F, b: F) -> F {
        a % b
    }

    pub(crate) fn rem_euclid<F: Float>(a: F, b: F) -> F {
        let r = a % b;
        if r < F::zero() { r + b.abs() } else { r }
    }
}
