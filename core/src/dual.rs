//! First-order dual numbers.

use crate::ops::Arith;
use crate::real::{family_eq, largest};
use crate::rules::Lifted;
use crate::{Lift, Real};

/// A dual number with `N` tangent lanes: `value + Σ_k eps[k] ε_k` with `ε_j ε_k = 0`.
///
/// Each lane carries the derivative in one direction; `N` directions cost one evaluation of the function. The scalar
/// `T` is `f32`, `f64` or again a dual number, for higher derivatives.
///
/// ```
/// use dualpack_core::Dual;
/// let x = Dual::<f64, 2>::variable(3.0, 0);
/// let y = Dual::variable(2.0, 1);
/// let f = x * x * y;
/// assert_eq!(f.value, 18.0);
/// assert_eq!(f.eps, [12.0, 9.0]);
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(serialize = "T: serde::Serialize", deserialize = "T: serde::Deserialize<'de>"))
)]
#[repr(C)]
pub struct Dual<T, const N: usize = 1> {
    /// The undifferentiated part.
    pub value: T,
    /// The tangents, one per lane.
    #[cfg_attr(feature = "serde", serde(with = "crate::serde::lanes"))]
    pub eps: [T; N],
}

impl<T, const N: usize> Dual<T, N> {
    /// A number from its parts.
    #[inline(always)]
    pub const fn new(value: T, eps: [T; N]) -> Self {
        Self { value, eps }
    }
}

impl<T: Real, const N: usize> Dual<T, N> {
    /// The constant `value`: all tangents zero.
    #[inline(always)]
    pub fn constant(value: T) -> Self {
        Self { value, eps: [T::zero(); N] }
    }

    /// The independent variable of lane `k`: tangent 1 there, 0 elsewhere.
    ///
    /// # Panics
    /// If `k >= N`.
    #[inline(always)]
    #[track_caller]
    pub fn variable(value: T, k: usize) -> Self {
        assert!(k < N, "lane {k} of a number with {N} lanes");
        // Not a store into zeros: a vector read after it would wait for both stores.
        Self { value, eps: core::array::from_fn(|j| if j == k { T::one() } else { T::zero() }) }
    }
}

impl<T: Real, const N: usize> Arith for Dual<T, N> {
    type Part = T;

    #[inline(always)]
    fn add(a: &Self, b: &Self) -> Self {
        Self { value: a.value + b.value, eps: T::lanes_add(&a.eps, &b.eps) }
    }
    #[inline(always)]
    fn sub(a: &Self, b: &Self) -> Self {
        Self { value: a.value - b.value, eps: T::lanes_sub(&a.eps, &b.eps) }
    }
    /// (a + ȧε)(b + ḃε) = ab + (ȧb + aḃ)ε
    #[inline(always)]
    fn mul(a: &Self, b: &Self) -> Self {
        Self { value: a.value * b.value, eps: T::lanes_axpby(&a.eps, b.value, &b.eps, a.value) }
    }
    /// q = a/b: q̇ = (ȧ - q ḃ)/b. The value is the quotient itself, not a times 1/b.
    #[inline(always)]
    fn div(a: &Self, b: &Self) -> Self {
        let value = a.value / b.value;
        Self { value, eps: T::lanes_unscale(&T::lanes_add_scaled(&a.eps, &b.eps, -value), b.value) }
    }
    #[inline(always)]
    fn neg(a: &Self) -> Self {
        Self { value: -a.value, eps: T::lanes_neg(&a.eps) }
    }
    #[inline(always)]
    fn scale(a: &Self, s: T) -> Self {
        Self { value: a.value * s, eps: T::lanes_scale(&a.eps, s) }
    }
    #[inline(always)]
    fn unscale(a: &Self, s: T) -> Self {
        Self { value: a.value / s, eps: T::lanes_unscale(&a.eps, s) }
    }
    #[inline(always)]
    fn shift(a: &Self, s: T) -> Self {
        Self { value: a.value + s, eps: a.eps }
    }
}

impl<T: Real, const N: usize> Real for Dual<T, N> {
    type Base = T::Base;
    type Fns = Lifted;
    const ORDER: usize = T::ORDER + 1;

    #[inline(always)]
    fn from_base(b: T::Base) -> Self {
        Self::constant(T::from_base(b))
    }
    #[inline(always)]
    fn base(self) -> T::Base {
        self.value.base()
    }
    fn with_base(mut self, b: T::Base) -> Self {
        self.value = self.value.with_base(b);
        self
    }
    #[inline]
    fn all_finite(self) -> bool {
        self.value.all_finite() && self.eps.iter().all(|t| t.all_finite())
    }
    fn same(self, other: Self) -> bool {
        self.value.same(other.value) && self.eps.iter().zip(&other.eps).all(|(a, b)| a.same(*b))
    }
    fn relative_eq_all(self, other: Self, max_relative: T::Base) -> bool {
        self.value.relative_eq_all(other.value, max_relative)
            && family_eq(&self.eps, &other.eps, max_relative)
    }
    fn largest_part(self) -> T::Base {
        largest([self.value].iter().chain(&self.eps))
    }
    fn parts_near(self, other: Self, tolerance: T::Base) -> bool {
        [self.value]
            .iter()
            .chain(&self.eps)
            .zip([other.value].iter().chain(&other.eps))
            .all(|(a, b)| a.parts_near(*b, tolerance))
    }
    #[inline]
    fn strong_mul(self, t: Self) -> Self {
        let from_self = T::lanes_strong_in(&self.eps, t.value);
        Self {
            value: self.value.strong_mul(t.value),
            eps: T::lanes_add(&T::lanes_strong(self.value, &t.eps), &from_self),
        }
    }
    #[inline(always)]
    fn beside(mut self, other: Self) -> Self {
        // Floats have nothing to remember.
        if T::ORDER > 0 {
            self.value = self.value.beside(other.value);
            self.eps.iter_mut().zip(other.eps).for_each(|(a, b)| *a = a.beside(b));
        }
        self
    }
}

impl<T: Real, const N: usize> Lift for Dual<T, N> {
    type Inner = T;

    #[inline(always)]
    fn inner(self) -> T {
        self.value
    }
    #[inline(always)]
    fn from_inner(v: T) -> Self {
        Self::constant(v)
    }
    #[inline(always)]
    fn with_inner(self, value: T) -> Self {
        Self { value, ..self }
    }
    /// f(x + ẋε) = f(x) + f'(x) ẋ ε
    #[inline(always)]
    fn chain(self, y: T, first: impl FnOnce() -> T, _: impl FnOnce() -> T) -> Self {
        Self { value: y, eps: T::lanes_chain(y, first(), &self.eps) }
    }
    #[inline(always)]
    fn chain2(self, b: Self, y: T, first: impl FnOnce() -> [T; 2], _: impl FnOnce() -> [T; 3]) -> Self {
        if y.is_nan() {
            return Self { value: y, eps: [y; N] };
        }
        let [fa, fb] = first();
        Self { value: y, eps: T::lanes_add(&T::lanes_strong(fa, &self.eps), &T::lanes_strong(fb, &b.eps)) }
    }
    #[inline]
    fn accumulate(self, x: Self, first: T) -> Self {
        Self { value: self.value, eps: T::lanes_add(&self.eps, &T::lanes_strong(first, &x.eps)) }
    }
    #[inline]
    fn accumulate2(self, _: Self, _: Self, _: T, _: bool) -> Self {
        self
    }
}
