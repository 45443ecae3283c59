//! The traits of num-traits, simba and nalgebra: pure forwarding.
//!
//! Every default body of simba that branches on `is_zero` (`to_exp`, `to_polar`, `signum`, `sinc`, `sinhc`, `cosc`,
//! `coshc`) or evaluates twice (`sinh_cosh`) is overridden.

use core::fmt;

use nalgebra::{ComplexField, Field, RealField, SimdValue};
use num_traits::{FromPrimitive, Num, One, Signed, Zero};
use simba::scalar::SubsetOf;

#[cfg(feature = "std")]
use crate::Tracer;
use crate::ops::{numbers, numbers_and_tracer};
use crate::rules::{Elementary, Lifted, elementary};
use crate::{Dual, Dual2, HyperDual, Real};

macro_rules! forward {
    ([] $( $(#[$doc:meta])* $name:ident($x:ident) $y:ident = $value:path => [$first:expr, $second:expr] on [$($s:expr),*]; )*) => {
        $(
            #[inline]
            fn $name(self) -> Self {
                <Lifted as Elementary<Self>>::$name(self)
            }
        )*
    };
}

macro_rules! forward_constants {
    ($($name:ident)*) => { $( #[inline] fn $name() -> Self { Self::constant(T::$name()) } )* };
}

macro_rules! field {
    ($Type:ident, [$($gen:tt)*], [$($arg:ident),*]) => {
        impl<T: Real, $($gen)*> Num for $Type<T, $($arg),*> {
            type FromStrRadixErr = T::FromStrRadixErr;
            fn from_str_radix(s: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
                T::from_str_radix(s, radix).map(Self::constant)
            }
        }

        impl<T: Real, $($gen)*> Signed for $Type<T, $($arg),*> {
            fn abs(&self) -> Self {
                $Type::abs(*self)
            }
            fn abs_sub(&self, other: &Self) -> Self {
                let piece = if self <= other { Self::zero() } else { *self - *other };
                piece.beside(*self).beside(*other)
            }
            fn signum(&self) -> Self {
                $Type::signum(*self)
            }
            fn is_positive(&self) -> bool {
                self.value.is_positive()
            }
            fn is_negative(&self) -> bool {
                self.value.is_negative()
            }
        }

        impl<T: Real, $($gen)*> FromPrimitive for $Type<T, $($arg),*> {
            fn from_i64(n: i64) -> Option<Self> {
                T::from_i64(n).map(Self::constant)
            }
            fn from_u64(n: u64) -> Option<Self> {
                T::from_u64(n).map(Self::constant)
            }
            fn from_f32(n: f32) -> Option<Self> {
                T::from_f32(n).map(Self::constant)
            }
            fn from_f64(n: f64) -> Option<Self> {
                T::from_f64(n).map(Self::constant)
            }
        }

        impl<T: Real, $($gen)*> SimdValue for $Type<T, $($arg),*> {
            const LANES: usize = 1;
            type Element = Self;
            type SimdBool = bool;
            #[inline]
            fn splat(val: Self) -> Self {
                val
            }
            #[inline]
            fn extract(&self, _: usize) -> Self {
                *self
            }
            #[inline]
            // simba declares these two unsafe for types with several lanes; with one, nothing is left to promise.
            unsafe fn extract_unchecked(&self, _: usize) -> Self {
                *self
            }
            #[inline]
            fn replace(&mut self, _: usize, val: Self) {
                *self = val;
            }
            #[inline]
            unsafe fn replace_unchecked(&mut self, _: usize, val: Self) {
                *self = val;
            }
            #[inline]
            fn select(self, cond: bool, other: Self) -> Self {
                if cond { self.beside(other) } else { other.beside(self) }
            }
        }

        impl<T: Real, $($gen)*> Field for $Type<T, $($arg),*> {}

        subset_of_float!(f32, $Type, [$($gen)*], [$($arg),*]);
        subset_of_float!(f64, $Type, [$($gen)*], [$($arg),*]);

        impl<T: Real, $($gen)*> SubsetOf<Self> for $Type<T, $($arg),*> {
            #[inline]
            fn to_superset(&self) -> Self {
                *self
            }
            #[inline]
            fn from_superset_unchecked(element: &Self) -> Self {
                *element
            }
            #[inline]
            fn is_in_subset(_: &Self) -> bool {
                true
            }
        }

        impl<T: Real, $($gen)*> ComplexField for $Type<T, $($arg),*> {
            type RealField = Self;

            elementary!(forward);

            #[inline]
            fn from_real(re: Self) -> Self {
                re
            }
            #[inline]
            fn real(self) -> Self {
                self
            }
            #[inline]
            fn imaginary(self) -> Self {
                Self::zero()
            }
            #[inline]
            fn modulus(self) -> Self {
                $Type::abs(self)
            }
            #[inline]
            fn modulus_squared(self) -> Self {
                self * self
            }
            #[inline]
            fn argument(self) -> Self {
                Self::constant(self.value.argument())
            }
            #[inline]
            fn norm1(self) -> Self {
                $Type::abs(self)
            }
            #[inline]
            fn scale(self, factor: Self) -> Self {
                self * factor
            }
            #[inline]
            fn unscale(self, factor: Self) -> Self {
                self / factor
            }
            #[inline]
            fn to_polar(self) -> (Self, Self) {
                (ComplexField::modulus(self), self.argument())
            }
            /// (modulus, sign) whose product is `self`, tangents included: at zero the branch of a positive number.
            #[inline]
            fn to_exp(self) -> (Self, Self) {
                if self.value >= T::zero() { (self, Self::one()) } else { (-self, -Self::one()) }
            }
            #[inline]
            fn signum(self) -> Self {
                $Type::signum(self)
            }
            #[inline]
            fn floor(self) -> Self {
                $Type::floor(self)
            }
            #[inline]
            fn ceil(self) -> Self {
                $Type::ceil(self)
            }
            #[inline]
            fn round(self) -> Self {
                $Type::round(self)
            }
            #[inline]
            fn trunc(self) -> Self {
                $Type::trunc(self)
            }
            #[inline]
            fn fract(self) -> Self {
                $Type::fract(self)
            }
            #[inline]
            fn mul_add(self, a: Self, b: Self) -> Self {
                $Type::mul_add(self, a, b)
            }
            #[inline]
            fn abs(self) -> Self {
                $Type::abs(self)
            }
            #[inline]
            fn hypot(self, other: Self) -> Self {
                $Type::hypot(self, other)
            }
            #[inline]
            fn conjugate(self) -> Self {
                self
            }
            #[inline]
            fn sin_cos(self) -> (Self, Self) {
                $Type::sin_cos(self)
            }
            #[inline]
            fn sinh_cosh(self) -> (Self, Self) {
                $Type::sinh_cosh(self)
            }
            #[inline]
            fn log(self, base: Self) -> Self {
                $Type::log_of(self, base)
            }
            #[inline]
            fn powi(self, n: i32) -> Self {
                $Type::powi(self, n)
            }
            #[inline]
            fn powf(self, n: Self) -> Self {
                $Type::powd(self, n)
            }
            #[inline]
            fn powc(self, n: Self) -> Self {
                $Type::powd(self, n)
            }
            #[inline]
            fn is_finite(&self) -> bool {
                $Type::is_finite(self)
            }
            #[inline]
            fn try_sqrt(self) -> Option<Self> {
                if self.value >= T::zero() { Some(self.sqrt()) } else { None }
            }
        }

        impl<T: Real, $($gen)*> RealField for $Type<T, $($arg),*> {
            #[inline]
            fn is_sign_positive(&self) -> bool {
                self.value.is_sign_positive()
            }
            #[inline]
            fn is_sign_negative(&self) -> bool {
                self.value.is_sign_negative()
            }
            #[inline]
            fn copysign(self, sign: Self) -> Self {
                $Type::copysign(self, sign)
            }
            #[inline]
            fn max(self, other: Self) -> Self {
                $Type::max(self, other)
            }
            #[inline]
            fn min(self, other: Self) -> Self {
                $Type::min(self, other)
            }
            #[inline]
            fn clamp(self, min: Self, max: Self) -> Self {
                $Type::clamp(self, min, max)
            }
            #[inline]
            fn atan2(self, other: Self) -> Self {
                $Type::atan2(self, other)
            }
            fn min_value() -> Option<Self> {
                T::min_value().map(Self::constant)
            }
            fn max_value() -> Option<Self> {
                T::max_value().map(Self::constant)
            }
            forward_constants!(pi two_pi frac_pi_2 frac_pi_3 frac_pi_4 frac_pi_6 frac_pi_8 frac_1_pi frac_2_pi
                frac_2_sqrt_pi e log2_e log10_e ln_2 ln_10);
        }
    };
}

macro_rules! subset_of_float {
    ($F:ident, $Type:ident, [$($gen:tt)*], [$($arg:ident),*]) => {
        impl<T: Real, $($gen)*> SubsetOf<$Type<T, $($arg),*>> for $F {
            #[inline]
            fn to_superset(&self) -> $Type<T, $($arg),*> {
                $Type::constant(T::from_subset(self))
            }
            #[inline]
            fn from_superset_unchecked(element: &$Type<T, $($arg),*>) -> $F {
                element.value.to_subset_unchecked()
            }
            /// Always: the conversion takes the value and drops the tangents. nalgebra asks this of norms and sizes,
            /// and unwraps the answer.
            #[inline]
            fn is_in_subset(_: &$Type<T, $($arg),*>) -> bool {
                true
            }
        }
    };
}

numbers_and_tracer!(field);

/// `.cast()` lifts by one level: the inner number becomes the value of a constant.
macro_rules! lift_cast {
    ($Inner:ident [$($igen:tt)*] [$($iarg:ident),*], $Outer:ident [$($ogen:tt)*] [$($oarg:ident),*]) => {
        impl<T: Real, $($igen)*, $($ogen)*> SubsetOf<$Outer<$Inner<T, $($iarg),*>, $($oarg),*>> for $Inner<T, $($iarg),*> {
            #[inline]
            fn to_superset(&self) -> $Outer<Self, $($oarg),*> {
                $Outer::constant(*self)
            }
            #[inline]
            fn from_superset_unchecked(element: &$Outer<Self, $($oarg),*>) -> Self {
                element.value
            }
            #[inline]
            fn is_in_subset(_: &$Outer<Self, $($oarg),*>) -> bool {
                true
            }
        }
    };
}

macro_rules! lift_casts {
    ($Inner:ident, $igen:tt, $iarg:tt) => {
        lift_cast!($Inner $igen $iarg, Dual [const K: usize] [K]);
        lift_cast!($Inner $igen $iarg, HyperDual [const J: usize, const K: usize] [J, K]);
        lift_cast!($Inner $igen $iarg, Dual2 [const K: usize] [K]);
    };
}

numbers!(lift_casts);

/// How a part is written: `Display` or `LowerExp` of the scalar.
type Show<T> = fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result;

/// `[a, b, c]ε`, with the formatter's precision.
fn lanes<T>(f: &mut fmt::Formatter<'_>, show: Show<T>, parts: &[T], unit: &str) -> fmt::Result {
    f.write_str(" + [")?;
    for (k, part) in parts.iter().enumerate() {
        if k > 0 {
            f.write_str(", ")?;
        }
        show(part, f)?;
    }
    write!(f, "]{unit}")
}

/// A nested value in parentheses.
fn value<T: Real>(f: &mut fmt::Formatter<'_>, show: Show<T>, v: &T) -> fmt::Result {
    if T::ORDER == 0 {
        return show(v, f);
    }
    f.write_str("(")?;
    show(v, f)?;
    f.write_str(")")
}

/// `Display` writes plain decimals, `LowerExp` (`{:e}`) is the one for tiny and huge parts.
macro_rules! written {
    ($Trait:ident) => {
        impl<T: Real + fmt::$Trait, const N: usize> fmt::$Trait for Dual<T, N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                value(f, fmt::$Trait::fmt, &self.value)?;
                lanes(f, fmt::$Trait::fmt, &self.eps, "ε")
            }
        }

        impl<T: Real + fmt::$Trait, const M: usize, const N: usize> fmt::$Trait for HyperDual<T, M, N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                value(f, fmt::$Trait::fmt, &self.value)?;
                lanes(f, fmt::$Trait::fmt, &self.eps1, "ε1")?;
                lanes(f, fmt::$Trait::fmt, &self.eps2, "ε2")?;
                lanes(f, fmt::$Trait::fmt, self.eps12.as_flattened(), "ε1ε2")
            }
        }

        impl<T: Real + fmt::$Trait, const N: usize> fmt::$Trait for Dual2<T, N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                value(f, fmt::$Trait::fmt, &self.value)?;
                lanes(f, fmt::$Trait::fmt, &self.grad, "ε")?;
                f.write_str(" + [")?;
                for i in 0..N {
                    for j in 0..N {
                        if i + j > 0 {
                            f.write_str(if j == 0 { "; " } else { ", " })?;
                        }
                        fmt::$Trait::fmt(&self.hessian(i, j), f)?;
                    }
                }
                f.write_str("]ε²/2")
            }
        }
    };
}

written!(Display);
written!(LowerExp);
