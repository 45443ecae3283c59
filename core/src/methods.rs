//! The functions as inherent methods of every dual type, so that `x.sqrt()` needs no import and is never ambiguous.

#[cfg(feature = "std")]
use crate::Tracer;
use crate::kinks::{kinks, kinks2, poisoned, remainders};
use crate::ops::{Arith, numbers_and_tracer};
use crate::rules::{Elementary, Lifted, binary, elementary, lit};
use crate::special::{special, special_orders};
use crate::{Base, Dual, Dual2, HyperDual, Lift, Real};

/// What may stand as the exponent of `powf` and the base of `log`: a float, which is a constant, or a number of the
/// same type.
pub trait Exponent<D> {
    /// `x` to the power of `self`.
    fn raise(self, x: D) -> D;
    /// The logarithm of `x` to the base `self`.
    fn log_of(self, x: D) -> D;
}

macro_rules! method {
    ([] $( $(#[$doc:meta])* $name:ident($x:ident $(, $p:ident: $pt:ty)*) $y:ident = $value:path => [$first:expr, $second:expr] on [$($s:expr),*]; )*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub fn $name(self $(, $p: $pt)*) -> Self {
                <Lifted as Elementary<Self>>::$name(self $(, $p)*)
            }
        )*
    };
}

macro_rules! method2 {
    ([] $( $(#[$doc:meta])* $name:ident($a:ident, $b:ident) $y:ident = $value:path => $first:expr, $second:expr, on [$($s:expr),*]; )*) => {
        $(
            $(#[$doc])*
            #[inline]
            // `rem` is the operator's function too; the method needs no import and says what it does at its kinks.
            #[allow(clippy::should_implement_trait)]
            pub fn $name(self, other: Self) -> Self {
                <Lifted as Elementary<Self>>::$name(self, other)
            }
        )*
    };
}

macro_rules! methods {
    ($Type:ident, [$($gen:tt)*], [$($arg:ident),*]) => {
        /// Functions. Each value is that of the float function, each tangent is by the chain rule.
        impl<T: Real, $($gen)*> $Type<T, $($arg),*> {
            elementary!(method);
            kinks!(method);
            special!(method);
            special_orders!(method);
            binary!(method2);
            kinks2!(method2);
            remainders!(method2);

            /// `x^n` for an integer `n`; `x^0` is the constant 1.
            #[inline]
            pub fn powi(self, n: i32) -> Self {
                <Lifted as Elementary<Self>>::powi(self, n)
            }

            /// `x^n` for a float (a constant) or a number of this type.
            ///
            /// `x^0` with the constant 0 is the constant 1. Negative `x` gives `NaN` unless `n` is an integer.
            #[inline]
            pub fn powf(self, n: impl Exponent<Self>) -> Self {
                n.raise(self)
            }

            /// The logarithm to the base `b`, a float (a constant) or a number of this type.
            #[inline]
            pub fn log(self, b: impl Exponent<Self>) -> Self {
                b.log_of(self)
            }

            /// Sine and cosine.
            #[inline]
            pub fn sin_cos(self) -> (Self, Self) {
                let (s, c) = self.value.sin_cos();
                (self.chain(s, || c, || -s), self.chain(c, || -s, || -c))
            }

            /// Hyperbolic sine and cosine.
            #[inline]
            pub fn sinh_cosh(self) -> (Self, Self) {
                let (s, c) = (self.value.sinh(), self.value.cosh());
                (self.chain(s, || c, || s), self.chain(c, || s, || c))
            }

            /// `self * a + b`, the value with one rounding.
            #[inline]
            pub fn mul_add(self, a: Self, b: Self) -> Self {
                let value = self.value.mul_add(a.value, b.value);
                if Real::is_nan(value) {
                    return poisoned(self * a + b, value);
                }
                let product = if value.is_finite() {
                    self * a
                } else {
                    // Beside an infinite factor the zero tangents of the other one must stay zero.
                    let (x, y) = (self.value, a.value);
                    self.chain2(a, x * y, || [y, x], || [T::zero(), T::one(), T::zero()])
                };
                (product + b).with_inner(value)
            }

            /// `self` within `[lo, hi]`, else the bound. At a bound it is `self`, with derivative 1.
            #[inline]
            pub fn clamp(self, lo: Self, hi: Self) -> Self {
                let piece = if self < lo {
                    lo
                } else if self > hi {
                    hi
                } else if self.is_nan() {
                    self * Self::from_base(self.base())
                } else {
                    self
                };
                piece.beside(self).beside(lo).beside(hi)
            }

            /// Radians to degrees.
            #[inline]
            pub fn to_degrees(self) -> Self {
                Arith::scale(&self, lit(180.0 / core::f64::consts::PI))
            }

            /// Degrees to radians.
            #[inline]
            pub fn to_radians(self) -> Self {
                Arith::scale(&self, lit(core::f64::consts::PI / 180.0))
            }

            /// Whether the value is finite; tangents are not looked at ([`Real::all_finite`] does).
            #[inline]
            pub fn is_finite(&self) -> bool {
                self.value.is_finite()
            }

            /// Whether the value is `NaN`; tangents are not looked at.
            #[inline]
            pub fn is_nan(self) -> bool {
                Real::is_nan(self)
            }
        }

        impl<T: Real, $($gen)*> Exponent<Self> for $Type<T, $($arg),*> {
            #[inline]
            fn raise(self, x: Self) -> Self {
                x.powd(self)
            }
            #[inline]
            fn log_of(self, x: Self) -> Self {
                $Type::log_of(x, self)
            }
        }

        impl<T: Real<Base = F>, F: Base, $($gen)*> Exponent<$Type<T, $($arg),*>> for F {
            #[inline]
            fn raise(self, x: $Type<T, $($arg),*>) -> $Type<T, $($arg),*> {
                <Lifted as Elementary<_>>::powf_const(x, self)
            }
            #[inline]
            fn log_of(self, x: $Type<T, $($arg),*>) -> $Type<T, $($arg),*> {
                <Lifted as Elementary<_>>::log_base(x, self)
            }
        }
    };
}

numbers_and_tracer!(methods);
