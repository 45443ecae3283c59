//! Comparison: one policy. `==`, `<`, `is_zero` and approx's traits look at the value only, so that control flow
//! is that of the floating-point run. [`Real::same`] compares every part.

use core::cmp::Ordering;

use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use num_traits::{One, Zero};

#[cfg(feature = "std")]
use crate::Tracer;
use crate::ops::numbers_and_tracer;
use crate::{Base, Dual, Dual2, HyperDual, Real};

macro_rules! compare {
    ($Type:ident, [$($gen:tt)*], [$($arg:ident),*]) => {
        impl<T: Real, $($gen)*> PartialEq for $Type<T, $($arg),*> {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.value == other.value
            }
        }
        impl<T: Real, $($gen)*> PartialOrd for $Type<T, $($arg),*> {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.value.partial_cmp(&other.value)
            }
            #[inline(always)]
            fn lt(&self, other: &Self) -> bool {
                self.value < other.value
            }
            #[inline(always)]
            fn le(&self, other: &Self) -> bool {
                self.value <= other.value
            }
            #[inline(always)]
            fn gt(&self, other: &Self) -> bool {
                self.value > other.value
            }
            #[inline(always)]
            fn ge(&self, other: &Self) -> bool {
                self.value >= other.value
            }
        }
        impl<T: Real<Base = F>, F: Base, $($gen)*> PartialEq<F> for $Type<T, $($arg),*> {
            #[inline(always)]
            fn eq(&self, other: &F) -> bool {
                self.base() == *other
            }
        }
        impl<T: Real<Base = F>, F: Base, $($gen)*> PartialOrd<F> for $Type<T, $($arg),*> {
            #[inline(always)]
            fn partial_cmp(&self, other: &F) -> Option<Ordering> {
                self.base().partial_cmp(other)
            }
        }
        impl<T: Real, $($gen)*> Zero for $Type<T, $($arg),*> {
            #[inline(always)]
            fn zero() -> Self {
                Self::constant(T::zero())
            }
            #[inline(always)]
            fn is_zero(&self) -> bool {
                self.value.is_zero()
            }
        }
        impl<T: Real, $($gen)*> One for $Type<T, $($arg),*> {
            #[inline(always)]
            fn one() -> Self {
                Self::constant(T::one())
            }
        }
        impl<T: Real, $($gen)*> Default for $Type<T, $($arg),*> {
            fn default() -> Self {
                Self::zero()
            }
        }
        impl<T: Real<Base = F>, F: Base, $($gen)*> From<F> for $Type<T, $($arg),*> {
            #[inline(always)]
            fn from(b: F) -> Self {
                Self::constant(T::from_base(b))
            }
        }
        impl<T: Real, $($gen)*> AbsDiffEq for $Type<T, $($arg),*> {
            type Epsilon = Self;
            fn default_epsilon() -> Self {
                Self::constant(T::default_epsilon())
            }
            fn abs_diff_eq(&self, other: &Self, epsilon: Self) -> bool {
                self.value.abs_diff_eq(&other.value, epsilon.value)
            }
        }
        impl<T: Real, $($gen)*> RelativeEq for $Type<T, $($arg),*> {
            fn default_max_relative() -> Self {
                Self::constant(T::default_max_relative())
            }
            fn relative_eq(&self, other: &Self, epsilon: Self, max_relative: Self) -> bool {
                self.value.relative_eq(&other.value, epsilon.value, max_relative.value)
            }
        }
        impl<T: Real, $($gen)*> UlpsEq for $Type<T, $($arg),*> {
            fn default_max_ulps() -> u32 {
                T::default_max_ulps()
            }
            fn ulps_eq(&self, other: &Self, epsilon: Self, max_ulps: u32) -> bool {
                self.value.ulps_eq(&other.value, epsilon.value, max_ulps)
            }
        }
    };
}

numbers_and_tracer!(compare);

/// Asserts that two numbers agree in every part, value and tangents: bit for bit up to the sign of zero, or to a
/// relative tolerance ([`Real::relative_eq_all`]).
///
/// ```
/// use dualpack_core::{Dual, assert_dual_eq};
/// let x = Dual::<f64, 1>::variable(0.1, 0);
/// assert_dual_eq!(x + x, 2.0 * x);
/// assert_dual_eq!(x.sin() * x.sin() + x.cos() * x.cos(), Dual::constant(1.0) + (x - x), 1e-15);
/// ```
#[macro_export]
macro_rules! assert_dual_eq {
    ($a:expr, $b:expr $(,)?) => {{
        let (a, b) = ($a, $b);
        assert!($crate::Real::same(a, b), "parts differ:\n  left  {a}\n  right {b}");
    }};
    ($a:expr, $b:expr, $tolerance:expr $(,)?) => {{
        let (a, b) = ($a, $b);
        assert!(
            $crate::Real::relative_eq_all(a, b, $tolerance),
            "parts differ by more than {} relative:\n  left  {a}\n  right {b}",
            $tolerance
        );
    }};
}
