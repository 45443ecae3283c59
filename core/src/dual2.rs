//! Symmetric second-order numbers: value, gradient and Hessian in one pass.

use crate::ops::Arith;
use crate::real::{family_eq, largest};
use crate::rules::Lifted;
use crate::{Lift, Real};

/// A second-order number with `N` directions: value, gradient and the upper triangle of the Hessian.
///
/// It computes what `HyperDual<T, N, N>` with both families seeded alike does, at half of the work: of the symmetric
/// second-order part only `hess[i][j]` with `j >= i` is kept; read it through [`hessian`](Dual2::hessian).
///
/// ```
/// use dualpack_core::Dual2;
/// let x = Dual2::<f64, 2>::variable(3.0, 0);
/// let y = Dual2::variable(2.0, 1);
/// let f = x * x * y;
/// assert_eq!(f.grad, [12.0, 9.0]);
/// assert_eq!((f.hessian(0, 0), f.hessian(1, 0), f.hessian(1, 1)), (4.0, 6.0, 0.0));
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(serialize = "T: serde::Serialize", deserialize = "T: serde::Deserialize<'de>"))
)]
#[repr(C)]
pub struct Dual2<T, const N: usize = 1> {
    /// The undifferentiated part.
    pub value: T,
    /// First derivatives.
    #[cfg_attr(feature = "serde", serde(with = "crate::serde::lanes"))]
    pub grad: [T; N],
    /// Second derivatives; only `hess[i][j]` with `j >= i` is meaningful.
    #[cfg_attr(feature = "serde", serde(with = "crate::serde::symmetric"))]
    pub hess: [[T; N]; N],
}

/// The upper triangle, row by row in vectors of lanes: `$body` is the `W` entries of row `$i` from column `$at` on. A
/// vector that lies below the diagonal is left out; what else is there means nothing, and is cheaper to compute than to
/// leave out.
macro_rules! rows {
    (|$i:ident, $at:ident| $body:expr) => {{
        let mut h = [[T::zero(); N]; N];
        for $i in 0..N {
            let mut $at = 0;
            // The widths of the vectors of `f64`.
            if cfg!(target_feature = "avx512f") {
                rows!(@stage 8; h, $i, $at, $body);
            }
            rows!(@stage 4; h, $i, $at, $body);
            rows!(@stage 1; h, $i, $at, $body);
        }
        h
    }};
    (@stage $W:literal; $h:ident, $i:ident, $at:ident, $body:expr) => {
        while N - $at >= $W {
            if $at + $W > $i {
                let entries: [T; $W] = $body;
                $h[$i][$at..$at + $W].copy_from_slice(&entries);
            }
            $at += $W;
        }
    };
}

/// The `W` entries of `row` from `at` on.
#[inline(always)]
fn cut<T, const N: usize, const W: usize>(row: &[T; N], at: usize) -> &[T; W] {
    row[at..].first_chunk().expect("a whole vector")
}

/// Calls `f` for the upper triangle, zero below.
#[inline(always)]
fn upper<T: Real, const N: usize>(mut f: impl FnMut(usize, usize) -> T) -> [[T; N]; N] {
    let mut h = [[T::zero(); N]; N];
    for i in 0..N {
        for j in i..N {
            h[i][j] = f(i, j);
        }
    }
    h
}

impl<T, const N: usize> Dual2<T, N> {
    /// A number from its parts; of `hess` the upper triangle counts.
    #[inline(always)]
    pub const fn new(value: T, grad: [T; N], hess: [[T; N]; N]) -> Self {
        Self { value, grad, hess }
    }
}

impl<T: Real, const N: usize> Dual2<T, N> {
    /// The constant `value`.
    #[inline(always)]
    pub fn constant(value: T) -> Self {
        Self { value, grad: [T::zero(); N], hess: [[T::zero(); N]; N] }
    }

    /// The independent variable `k`.
    ///
    /// # Panics
    /// If `k >= N`.
    #[inline(always)]
    #[track_caller]
    pub fn variable(value: T, k: usize) -> Self {
        assert!(k < N, "direction {k} of a number with {N} directions");
        let grad = core::array::from_fn(|j| if j == k { T::one() } else { T::zero() });
        Self { grad, ..Self::constant(value) }
    }

    /// The second derivative in directions `i` and `j`, in either order.
    ///
    /// # Panics
    /// If `i >= N` or `j >= N`.
    #[inline]
    #[track_caller]
    pub fn hessian(&self, i: usize, j: usize) -> T {
        self.hess[i.min(j)][i.max(j)]
    }

    /// The second-order part with zeros below the diagonal, whatever is stored there.
    fn upper(&self) -> [[T; N]; N] {
        upper(|i, j| self.hess[i][j])
    }

    /// The chain rule where a derivative is not finite, or f'' times a tangent leaves the range.
    #[cold]
    #[inline(never)]
    fn edge(self, y: T, f1: T, f2: T) -> Self {
        if y.is_nan() {
            return Self::all(y);
        }
        let finite = f1.all_finite() && f2.all_finite();
        let hess = upper(|i, j| {
            let curvature = f2.strong_mul2(self.grad[i], self.grad[j]);
            if finite {
                // As the usual way has it, to the bit.
                let [h] = T::lanes_add_scaled(&[curvature], &[self.hess[i][j]], f1);
                h
            } else {
                f1.strong_mul(self.hess[i][j]) + curvature
            }
        });
        Self { value: y, grad: T::lanes_strong(f1, &self.grad), hess }
    }

    #[inline(always)]
    fn all(y: T) -> Self {
        Self { value: y, grad: [y; N], hess: upper(|_, _| y) }
    }
}

impl<T: Real, const N: usize> Arith for Dual2<T, N> {
    type Part = T;

    #[inline(always)]
    fn add(a: &Self, b: &Self) -> Self {
        Self {
            value: a.value + b.value,
            grad: T::lanes_add(&a.grad, &b.grad),
            hess: rows!(|i, at| T::lanes_add(cut(&a.hess[i], at), cut(&b.hess[i], at))),
        }
    }
    #[inline(always)]
    fn sub(a: &Self, b: &Self) -> Self {
        Self {
            value: a.value - b.value,
            grad: T::lanes_sub(&a.grad, &b.grad),
            hess: rows!(|i, at| T::lanes_sub(cut(&a.hess[i], at), cut(&b.hess[i], at))),
        }
    }
    /// ∇²(ab) = b ∇²a + a ∇²b + ∇a ∇bᵀ + ∇b ∇aᵀ
    #[inline(always)]
    fn mul(a: &Self, b: &Self) -> Self {
        Self {
            value: a.value * b.value,
            grad: T::lanes_axpby(&a.grad, b.value, &b.grad, a.value),
            hess: rows!(|i, at| {
                let own = T::lanes_axpby(cut(&a.hess[i], at), b.value, cut(&b.hess[i], at), a.value);
                let cross = T::lanes_axpby(cut(&b.grad, at), a.grad[i], cut(&a.grad, at), b.grad[i]);
                T::lanes_add(&own, &cross)
            }),
        }
    }
    /// q = a/b: ∇²q = (∇²a - q ∇²b - ∇q ∇bᵀ - ∇b ∇qᵀ)/b
    #[inline(always)]
    fn div(a: &Self, b: &Self) -> Self {
        let value = a.value / b.value;
        let grad = T::lanes_unscale(&T::lanes_add_scaled(&a.grad, &b.grad, -value), b.value);
        let hess = rows!(|i, at| {
            let own = T::lanes_add_scaled(cut(&a.hess[i], at), cut(&b.hess[i], at), -value);
            let cross = T::lanes_axpby(cut(&b.grad, at), grad[i], cut(&grad, at), b.grad[i]);
            T::lanes_unscale(&T::lanes_sub(&own, &cross), b.value)
        });
        Self { value, grad, hess }
    }
    #[inline(always)]
    fn neg(a: &Self) -> Self {
        Self {
            value: -a.value,
            grad: T::lanes_neg(&a.grad),
            hess: rows!(|i, at| T::lanes_neg(cut(&a.hess[i], at))),
        }
    }
    #[inline(always)]
    fn scale(a: &Self, s: T) -> Self {
        Self {
            value: a.value * s,
            grad: T::lanes_scale(&a.grad, s),
            hess: rows!(|i, at| T::lanes_scale(cut(&a.hess[i], at), s)),
        }
    }
    #[inline(always)]
    fn unscale(a: &Self, s: T) -> Self {
        Self {
            value: a.value / s,
            grad: T::lanes_unscale(&a.grad, s),
            hess: rows!(|i, at| T::lanes_unscale(cut(&a.hess[i], at), s)),
        }
    }
    #[inline(always)]
    fn shift(a: &Self, s: T) -> Self {
        Self { value: a.value + s, ..*a }
    }
}

impl<T: Real, const N: usize> Real for Dual2<T, N> {
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
            && self.grad.iter().all(|t| t.all_finite())
            && (0..N).all(|i| self.hess[i][i..].iter().all(|t| t.all_finite()))
    }
    fn same(self, other: Self) -> bool {
        self.value.same(other.value)
            && self.grad.iter().zip(&other.grad).all(|(a, b)| a.same(*b))
            && (0..N).all(|i| self.hess[i][i..].iter().zip(&other.hess[i][i..]).all(|(a, b)| a.same(*b)))
    }
    fn relative_eq_all(self, other: Self, max_relative: T::Base) -> bool {
        self.value.relative_eq_all(other.value, max_relative)
            && family_eq(&self.grad, &other.grad, max_relative)
            && family_eq(self.upper().as_flattened(), other.upper().as_flattened(), max_relative)
    }
    fn largest_part(self) -> T::Base {
        largest([self.value].iter().chain(&self.grad).chain(self.upper().as_flattened()))
    }
    fn parts_near(self, other: Self, tolerance: T::Base) -> bool {
        [self.value]
            .iter()
            .chain(&self.grad)
            .chain(self.upper().as_flattened())
            .zip([other.value].iter().chain(&other.grad).chain(other.upper().as_flattened()))
            .all(|(a, b)| a.parts_near(*b, tolerance))
    }
    fn strong_mul(self, t: Self) -> Self {
        Self {
            value: self.value.strong_mul(t.value),
            grad: T::lanes_add(
                &T::lanes_strong(self.value, &t.grad),
                &T::lanes_strong_in(&self.grad, t.value),
            ),
            hess: upper(|i, j| {
                self.value.strong_mul(t.hess[i][j])
                    + self.grad[i].strong_mul(t.grad[j])
                    + self.grad[j].strong_mul(t.grad[i])
                    + self.hess[i][j].strong_mul(t.value)
            }),
        }
    }
    #[inline(always)]
    fn beside(mut self, other: Self) -> Self {
        // Floats have nothing to remember.
        if T::ORDER > 0 {
            self.value = self.value.beside(other.value);
            self.grad.iter_mut().zip(other.grad).for_each(|(a, b)| *a = a.beside(b));
            let second = self.hess.as_flattened_mut().iter_mut();
            second.zip(other.hess.as_flattened()).for_each(|(a, &b)| *a = a.beside(b));
        }
        self
    }
}

impl<T: Real, const N: usize> Lift for Dual2<T, N> {
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
    /// ∇²f(x) = f' ∇²x + f'' ∇x ∇xᵀ
    #[inline(always)]
    fn chain(self, y: T, first: impl FnOnce() -> T, second: impl FnOnce() -> T) -> Self {
        // Before any branch, so that sine and cosine can be one call.
        let (f1, f2) = (first(), second());
        let slopes = T::lanes_scale(&self.grad, f2);
        if f1.all_finite() && f2.all_finite() && !y.is_nan() && T::lanes_ordinary(f2, &slopes, &self.grad) {
            let hess = rows!(|i, at| {
                let curvature = T::lanes_scale(cut(&self.grad, at), slopes[i]);
                T::lanes_add_scaled(&curvature, cut(&self.hess[i], at), f1)
            });
            return Self { value: y, grad: T::lanes_scale(&self.grad, f1), hess };
        }
        self.edge(y, f1, f2)
    }
    #[inline(always)]
    fn chain2(self, b: Self, y: T, first: impl FnOnce() -> [T; 2], second: impl FnOnce() -> [T; 3]) -> Self {
        if y.is_nan() {
            return Self::all(y);
        }
        let ([fa, fb], [faa, fab, fbb]) = (first(), second());
        let (da, db) = (&self.grad, &b.grad);
        Self {
            value: y,
            grad: T::lanes_add(&T::lanes_strong(fa, da), &T::lanes_strong(fb, db)),
            hess: rows!(|i, at| {
                let (a_row, b_row) = (cut(&self.hess[i], at), cut(&b.hess[i], at));
                let (da_row, db_row) = (cut(da, at), cut(db, at));
                let linear = T::lanes_add(&T::lanes_strong(fa, a_row), &T::lanes_strong(fb, b_row));
                let cross =
                    T::lanes_add(&fab.lanes_strong2(da[i], db_row), &fab.lanes_strong2(db[i], da_row));
                let own = T::lanes_add(&faa.lanes_strong2(da[i], da_row), &fbb.lanes_strong2(db[i], db_row));
                T::lanes_add(&T::lanes_add(&linear, &cross), &own)
            }),
        }
    }
    #[inline]
    fn accumulate(self, x: Self, first: T) -> Self {
        Self {
            value: self.value,
            grad: T::lanes_add(&self.grad, &T::lanes_strong(first, &x.grad)),
            hess: upper(|i, j| self.hess[i][j] + first.strong_mul(x.hess[i][j])),
        }
    }
    #[inline]
    fn accumulate2(self, xi: Self, xj: Self, c: T, twice: bool) -> Self {
        let hess = upper(|i, j| {
            let mut curvature = c.strong_mul2(xi.grad[i], xj.grad[j]);
            if twice {
                curvature += c.strong_mul2(xj.grad[i], xi.grad[j]);
            }
            self.hess[i][j] + curvature
        });
        Self { hess, ..self }
    }
}
