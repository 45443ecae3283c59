//! Hyper-dual numbers: exact second derivatives in M x N pairs of directions.

use crate::ops::Arith;
use crate::real::{family_eq, largest};
use crate::rules::Lifted;
use crate::{Lift, Real};

/// A hyper-dual number: `value + Σ_i eps1[i] ε_i + Σ_j eps2[j] η_j + Σ_ij eps12[i][j] ε_i η_j`, where products of two
/// `ε` or two `η` vanish.
///
/// `eps12[i][j]` is the second derivative in direction `i` of the first and direction `j` of the second family.
///
/// ```
/// use dualpack_core::HyperDual;
/// // f = x² y at (3, 2): the rows of the Hessian are d/dx and d/dy of both first derivatives.
/// let x = HyperDual::<f64, 2, 2>::variable(3.0, 0, 0);
/// let y = HyperDual::variable(2.0, 1, 1);
/// assert_eq!((x * x * y).eps12, [[4.0, 6.0], [6.0, 0.0]]);
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(serialize = "T: serde::Serialize", deserialize = "T: serde::Deserialize<'de>"))
)]
#[repr(C)]
pub struct HyperDual<T, const M: usize = 1, const N: usize = 1> {
    /// The undifferentiated part.
    pub value: T,
    /// Tangents of the first family.
    #[cfg_attr(feature = "serde", serde(with = "crate::serde::lanes"))]
    pub eps1: [T; M],
    /// Tangents of the second family.
    #[cfg_attr(feature = "serde", serde(with = "crate::serde::lanes"))]
    pub eps2: [T; N],
    /// Mixed second-order parts: row `i` belongs to `eps1[i]`.
    #[cfg_attr(feature = "serde", serde(with = "crate::serde::rows"))]
    pub eps12: [[T; N]; M],
}

impl<T, const M: usize, const N: usize> HyperDual<T, M, N> {
    /// A number from its parts.
    #[inline(always)]
    pub const fn new(value: T, eps1: [T; M], eps2: [T; N], eps12: [[T; N]; M]) -> Self {
        Self { value, eps1, eps2, eps12 }
    }
}

impl<T: Real, const M: usize, const N: usize> HyperDual<T, M, N> {
    /// The constant `value`.
    #[inline(always)]
    pub fn constant(value: T) -> Self {
        Self { value, eps1: [T::zero(); M], eps2: [T::zero(); N], eps12: [[T::zero(); N]; M] }
    }

    /// The independent variable that is direction `i` of the first and direction `j` of the second family.
    ///
    /// # Panics
    /// If `i >= M` or `j >= N`.
    #[inline(always)]
    #[track_caller]
    pub fn variable(value: T, i: usize, j: usize) -> Self {
        let mut x = Self::constant(value);
        x.eps1[i] = T::one();
        x.eps2[j] = T::one();
        x
    }

    /// Applies `f` to the mixed parts, row by row.
    #[inline(always)]
    fn rows(f: impl FnMut(usize) -> [T; N]) -> [[T; N]; M] {
        core::array::from_fn(f)
    }
}

impl<T: Real, const M: usize, const N: usize> Arith for HyperDual<T, M, N> {
    type Part = T;

    #[inline(always)]
    fn add(a: &Self, b: &Self) -> Self {
        Self {
            value: a.value + b.value,
            eps1: T::lanes_add(&a.eps1, &b.eps1),
            eps2: T::lanes_add(&a.eps2, &b.eps2),
            eps12: Self::rows(|i| T::lanes_add(&a.eps12[i], &b.eps12[i])),
        }
    }
    #[inline(always)]
    fn sub(a: &Self, b: &Self) -> Self {
        Self {
            value: a.value - b.value,
            eps1: T::lanes_sub(&a.eps1, &b.eps1),
            eps2: T::lanes_sub(&a.eps2, &b.eps2),
            eps12: Self::rows(|i| T::lanes_sub(&a.eps12[i], &b.eps12[i])),
        }
    }
    /// The mixed part of ab: a₁₂ b + a b₁₂ + a₁ b₂ + a₂ b₁.
    #[inline(always)]
    fn mul(a: &Self, b: &Self) -> Self {
        Self {
            value: a.value * b.value,
            eps1: T::lanes_axpby(&a.eps1, b.value, &b.eps1, a.value),
            eps2: T::lanes_axpby(&a.eps2, b.value, &b.eps2, a.value),
            eps12: Self::rows(|i| {
                let outer = T::lanes_axpby(&a.eps12[i], b.value, &b.eps12[i], a.value);
                T::lanes_add(&outer, &T::lanes_axpby(&b.eps2, a.eps1[i], &a.eps2, b.eps1[i]))
            }),
        }
    }
    /// q = a/b, from a = q b: q₁₂ = (a₁₂ - q b₁₂ - q₁ b₂ - q₂ b₁)/b.
    #[inline(always)]
    fn div(a: &Self, b: &Self) -> Self {
        let value = a.value / b.value;
        let eps1 = T::lanes_unscale(&T::lanes_add_scaled(&a.eps1, &b.eps1, -value), b.value);
        let eps2 = T::lanes_unscale(&T::lanes_add_scaled(&a.eps2, &b.eps2, -value), b.value);
        let eps12 = Self::rows(|i| {
            let own = T::lanes_add_scaled(&a.eps12[i], &b.eps12[i], -value);
            let cross = T::lanes_axpby(&b.eps2, eps1[i], &eps2, b.eps1[i]);
            T::lanes_unscale(&T::lanes_sub(&own, &cross), b.value)
        });
        Self { value, eps1, eps2, eps12 }
    }
    #[inline(always)]
    fn neg(a: &Self) -> Self {
        Self {
            value: -a.value,
            eps1: T::lanes_neg(&a.eps1),
            eps2: T::lanes_neg(&a.eps2),
            eps12: Self::rows(|i| T::lanes_neg(&a.eps12[i])),
        }
    }
    #[inline(always)]
    fn scale(a: &Self, s: T) -> Self {
        Self {
            value: a.value * s,
            eps1: T::lanes_scale(&a.eps1, s),
            eps2: T::lanes_scale(&a.eps2, s),
            eps12: Self::rows(|i| T::lanes_scale(&a.eps12[i], s)),
        }
    }
    #[inline(always)]
    fn unscale(a: &Self, s: T) -> Self {
        Self {
            value: a.value / s,
            eps1: T::lanes_unscale(&a.eps1, s),
            eps2: T::lanes_unscale(&a.eps2, s),
            eps12: Self::rows(|i| T::lanes_unscale(&a.eps12[i], s)),
        }
    }
    #[inline(always)]
    fn shift(a: &Self, s: T) -> Self {
        Self { value: a.value + s, ..*a }
    }
}

impl<T: Real, const M: usize, const N: usize> Real for HyperDual<T, M, N> {
    type Base = T::Base;
    type Fns = Lifted;
    const ORDER: usize = T::ORDER + 2;

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
    fn all_finite(self) -> bool {
        self.value.all_finite()
            && self.eps1.iter().all(|t| t.all_finite())
            && self.eps2.iter().all(|t| t.all_finite())
            && self.eps12.iter().flatten().all(|t| t.all_finite())
    }
    fn same(self, other: Self) -> bool {
        self.value.same(other.value)
            && self.eps1.iter().zip(&other.eps1).all(|(a, b)| a.same(*b))
            && self.eps2.iter().zip(&other.eps2).all(|(a, b)| a.same(*b))
            && self.eps12.iter().flatten().zip(other.eps12.iter().flatten()).all(|(a, b)| a.same(*b))
    }
    fn relative_eq_all(self, other: Self, max_relative: T::Base) -> bool {
        self.value.relative_eq_all(other.value, max_relative)
            && family_eq(&self.eps1, &other.eps1, max_relative)
            && family_eq(&self.eps2, &other.eps2, max_relative)
            && family_eq(self.eps12.as_flattened(), other.eps12.as_flattened(), max_relative)
    }
    fn largest_part(self) -> T::Base {
        largest([self.value].iter().chain(&self.eps1).chain(&self.eps2).chain(self.eps12.as_flattened()))
    }
    fn parts_near(self, other: Self, tolerance: T::Base) -> bool {
        [self.value]
            .iter()
            .chain(&self.eps1)
            .chain(&self.eps2)
            .chain(self.eps12.as_flattened())
            .zip([other.value].iter().chain(&other.eps1).chain(&other.eps2).chain(other.eps12.as_flattened()))
            .all(|(a, b)| a.parts_near(*b, tolerance))
    }
    fn strong_mul(self, t: Self) -> Self {
        let mut out = Self {
            value: self.value.strong_mul(t.value),
            eps1: T::lanes_add(
                &T::lanes_strong(self.value, &t.eps1),
                &T::lanes_strong_in(&self.eps1, t.value),
            ),
            eps2: T::lanes_add(
                &T::lanes_strong(self.value, &t.eps2),
                &T::lanes_strong_in(&self.eps2, t.value),
            ),
            eps12: [[T::zero(); N]; M],
        };
        for i in 0..M {
            for j in 0..N {
                out.eps12[i][j] = self.value.strong_mul(t.eps12[i][j])
                    + self.eps1[i].strong_mul(t.eps2[j])
                    + self.eps2[j].strong_mul(t.eps1[i])
                    + self.eps12[i][j].strong_mul(t.value);
            }
        }
        out
    }
    #[inline(always)]
    fn beside(mut self, other: Self) -> Self {
        // Floats have nothing to remember.
        if T::ORDER > 0 {
            self.value = self.value.beside(other.value);
            self.eps1.iter_mut().zip(other.eps1).for_each(|(a, b)| *a = a.beside(b));
            self.eps2.iter_mut().zip(other.eps2).for_each(|(a, b)| *a = a.beside(b));
            let mixed = self.eps12.as_flattened_mut().iter_mut();
            mixed.zip(other.eps12.as_flattened()).for_each(|(a, &b)| *a = a.beside(b));
        }
        self
    }
}

impl<T: Real, const M: usize, const N: usize> Lift for HyperDual<T, M, N> {
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
    /// The mixed part of f(x): f' x₁₂ + f'' x₁ x₂.
    #[inline(always)]
    fn chain(self, y: T, first: impl FnOnce() -> T, second: impl FnOnce() -> T) -> Self {
        if y.is_nan() {
            return Self { value: y, eps1: [y; M], eps2: [y; N], eps12: [[y; N]; M] };
        }
        let (f1, f2) = (first(), second());
        Self {
            value: y,
            eps1: T::lanes_strong(f1, &self.eps1),
            eps2: T::lanes_strong(f1, &self.eps2),
            eps12: Self::rows(|i| {
                let curvature = f2.lanes_strong2(self.eps1[i], &self.eps2);
                T::lanes_add(&T::lanes_strong(f1, &self.eps12[i]), &curvature)
            }),
        }
    }
    /// The mixed part: f_a a₁₂ + f_b b₁₂ + f_aa a₁a₂ + f_ab (a₁b₂ + b₁a₂) + f_bb b₁b₂.
    #[inline(always)]
    fn chain2(self, b: Self, y: T, first: impl FnOnce() -> [T; 2], second: impl FnOnce() -> [T; 3]) -> Self {
        if y.is_nan() {
            return Self { value: y, eps1: [y; M], eps2: [y; N], eps12: [[y; N]; M] };
        }
        let ([fa, fb], [faa, fab, fbb]) = (first(), second());
        Self {
            value: y,
            eps1: T::lanes_add(&T::lanes_strong(fa, &self.eps1), &T::lanes_strong(fb, &b.eps1)),
            eps2: T::lanes_add(&T::lanes_strong(fa, &self.eps2), &T::lanes_strong(fb, &b.eps2)),
            eps12: Self::rows(|i| {
                let linear =
                    T::lanes_add(&T::lanes_strong(fa, &self.eps12[i]), &T::lanes_strong(fb, &b.eps12[i]));
                let own_a = faa.lanes_strong2(self.eps1[i], &self.eps2);
                let own_b = fbb.lanes_strong2(b.eps1[i], &b.eps2);
                let cross = T::lanes_add(
                    &fab.lanes_strong2(self.eps1[i], &b.eps2),
                    &fab.lanes_strong2(b.eps1[i], &self.eps2),
                );
                T::lanes_add(&T::lanes_add(&linear, &cross), &T::lanes_add(&own_a, &own_b))
            }),
        }
    }
    #[inline]
    fn accumulate(self, x: Self, first: T) -> Self {
        Self {
            value: self.value,
            eps1: T::lanes_add(&self.eps1, &T::lanes_strong(first, &x.eps1)),
            eps2: T::lanes_add(&self.eps2, &T::lanes_strong(first, &x.eps2)),
            eps12: Self::rows(|i| T::lanes_add(&self.eps12[i], &T::lanes_strong(first, &x.eps12[i]))),
        }
    }
    #[inline]
    fn accumulate2(self, xi: Self, xj: Self, c: T, twice: bool) -> Self {
        let eps12 = Self::rows(|i| {
            let mut curvature = c.lanes_strong2(xi.eps1[i], &xj.eps2);
            if twice {
                curvature = T::lanes_add(&curvature, &c.lanes_strong2(xj.eps1[i], &xi.eps2));
            }
            T::lanes_add(&self.eps12[i], &curvature)
        });
        Self { eps12, ..self }
    }
}
