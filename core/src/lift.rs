//! How a function that is known by its value and derivatives acts on a number: the chain rule, once per type.

use crate::Real;

/// A number one level above its [`Inner`](Lift::Inner) scalar: `Dual<T, N>`, `HyperDual<T, M, N>`, `Dual2<T, N>`.
///
/// Each type states the chain rule once, here; every function of the library and of its users goes through it.
/// Lanes whose tangent is zero stay zero where a derivative is infinite or `NaN`, and a `NaN` value has `NaN` lanes.
pub trait Lift: Real {
    /// The scalar that the parts are made of.
    type Inner: Real<Base = Self::Base>;

    /// The undifferentiated part.
    fn inner(self) -> Self::Inner;

    /// The constant `v`: all tangents zero.
    fn from_inner(v: Self::Inner) -> Self;

    /// The number with value `y` and the same tangents: `y + eps`.
    #[doc(hidden)]
    fn with_inner(self, y: Self::Inner) -> Self;

    /// `f(x)` for a function with `f = y`, `f' = first()`, `f'' = second()` at the value of `x`.
    ///
    /// The closures are called only where the type carries the order.
    #[doc(hidden)]
    fn chain(
        self,
        y: Self::Inner,
        first: impl FnOnce() -> Self::Inner,
        second: impl FnOnce() -> Self::Inner,
    ) -> Self;

    /// `f(a, b)` with partial derivatives `[f_a, f_b]` and `[f_aa, f_ab, f_bb]` at the values of `a` and `b`.
    #[doc(hidden)]
    fn chain2(
        self,
        b: Self,
        y: Self::Inner,
        first: impl FnOnce() -> [Self::Inner; 2],
        second: impl FnOnce() -> [Self::Inner; 3],
    ) -> Self;

    /// Adds the part of a composite function that comes from one argument `x` (first order in `x`, second order in
    /// `x` alone): the building block of [`lift_n`].
    #[doc(hidden)]
    fn accumulate(self, x: Self, first: Self::Inner) -> Self;

    /// Adds the mixed second-order term `c dx_i dx_j` (in both orders if `i != j`).
    #[doc(hidden)]
    fn accumulate2(self, xi: Self, xj: Self, c: Self::Inner, twice: bool) -> Self;
}

/// A function of one variable known by value and derivatives: a table, a C call, an iteration.
///
/// `y`, `dy`, `d2y` are f, f', f'' at the value of `x`, on the inner level of `x`: plain floats for `Dual<f64, N>`,
/// `HyperDual<f64, M, N>` and `Dual2<f64, N>`. First-order numbers ignore `d2y`. Numbers nested deeper are easiest
/// with [`lift_taylor`].
///
/// ```
/// use dualpack_core::{Dual, HyperDual, lift1};
/// // x^3, as a C library might return it.
/// let cube = |x: f64| (x * x * x, 3.0 * x * x, 6.0 * x);
/// let x = Dual::variable(2.0, 0);
/// let (y, dy, d2y) = cube(x.value);
/// assert_eq!(lift1(x, y, dy, d2y).eps, [12.0]);
/// let h = HyperDual::<f64, 1, 1>::new(2.0, [1.0], [1.0], [[0.0]]);
/// assert_eq!(lift1(h, y, dy, d2y).eps12, [[12.0]]);
/// ```
///
/// Where value and derivatives can be computed in the inner scalar, one function serves every nesting:
///
/// ```
/// use dualpack_core::{Dual, Lift, lift1, nalgebra::{ComplexField, convert}};
/// fn gauss<D: Lift>(x: D) -> D {
///     let v = x.inner();
///     let (y, two) = ((-v * v).exp(), convert::<f64, D::Inner>(2.0));
///     lift1(x, y, -two * v * y, (two * two * v * v - two) * y)
/// }
/// let x: Dual<Dual<f64>> = Dual::variable(Dual::variable(0.0, 0), 0);
/// assert_eq!(gauss(x).eps[0].eps[0], -2.0);
/// ```
#[inline]
pub fn lift1<D: Lift>(x: D, y: D::Inner, dy: D::Inner, d2y: D::Inner) -> D {
    x.chain(y, || dy, || d2y)
}

/// A function of two variables known by value, gradient `[f_a, f_b]` and Hessian `[f_aa, f_ab, f_bb]`.
///
/// ```
/// use dualpack_core::{Dual, lift2};
/// let (a, b) = (Dual::<f64, 2>::variable(2.0, 0), Dual::variable(5.0, 1));
/// let product = lift2(a, b, 10.0, [5.0, 2.0], [0.0, 1.0, 0.0]);
/// assert_eq!(product.eps, (a * b).eps);
/// ```
#[inline]
pub fn lift2<D: Lift>(a: D, b: D, y: D::Inner, dy: [D::Inner; 2], d2y: [D::Inner; 3]) -> D {
    a.chain2(b, y, || dy, || d2y)
}

/// A function of any number of variables known by value, gradient and Hessian.
///
/// `dy` has one entry per argument. `d2y(i, j)` is asked for `i <= j`, and only by second-order numbers.
///
/// # Panics
/// If `dy` and `x` differ in length.
///
/// ```
/// use dualpack_core::{Dual2, lift_n};
/// let x = [Dual2::<f64, 2>::variable(3.0, 0), Dual2::variable(4.0, 1)];
/// // x0^2 x1
/// let y = lift_n(&x, 36.0, &[24.0, 9.0], |i, j| [[8.0, 6.0], [6.0, 0.0]][i][j]);
/// let direct = x[0] * x[0] * x[1];
/// assert_eq!(y.grad, direct.grad);
/// assert_eq!(y.hessian(0, 1), direct.hessian(0, 1));
/// ```
#[track_caller]
pub fn lift_n<D: Lift>(
    x: &[D],
    y: D::Inner,
    dy: &[D::Inner],
    mut d2y: impl FnMut(usize, usize) -> D::Inner,
) -> D {
    assert_eq!(x.len(), dy.len(), "lift_n: {} arguments but {} first derivatives", x.len(), dy.len());
    let mut out = D::from_inner(y);
    for (i, (&xi, &di)) in x.iter().zip(dy).enumerate() {
        out = out.accumulate(xi, di);
        if D::ORDER > D::Inner::ORDER + 1 {
            for (j, &xj) in x.iter().enumerate().skip(i) {
                out = out.accumulate2(xi, xj, d2y(i, j), j > i);
            }
        }
    }
    if !y.all_finite() && y.base().partial_cmp(&y.base()).is_none() {
        // A NaN value has NaN lanes: 0/0-free way to poison every part that depends on an argument.
        out = out.chain(y, || y, || y);
    }
    out
}

/// A function of one variable known by its derivatives `[f, f', f'', ...]` at the base value of `x`, for numbers of
/// any nesting: the Taylor polynomial in the nilpotent part of `x`, which is exact.
///
/// # Panics
/// If fewer than `D::ORDER + 1` derivatives are given.
///
/// ```
/// use dualpack_core::{Dual, lift_taylor};
/// let x: Dual<Dual<f64>> = Dual::variable(Dual::variable(2.0, 0), 0);
/// let cube = lift_taylor(x, &[8.0, 12.0, 12.0, 6.0]);
/// assert_eq!(cube.eps[0].eps[0], 12.0);
/// ```
#[track_caller]
pub fn lift_taylor<D: Real>(x: D, derivatives: &[D::Base]) -> D {
    assert!(
        derivatives.len() > D::ORDER,
        "lift_taylor: this number carries derivatives up to order {}, but only {} were given (value included)",
        D::ORDER,
        derivatives.len()
    );
    let value = derivatives[0];
    if value.partial_cmp(&value).is_none() {
        // A NaN value has NaN lanes.
        return D::from_base(value) * x;
    }
    // Horner's scheme: f_k/k! + h (f_{k+1}/(k+1)! + h (...)). Strong zeros, because an infinite derivative meets the
    // value 0 of h in every step.
    let h = x.with_base(num_traits::zero());
    let mut factorial: D::Base = num_traits::one();
    for k in 2..=D::ORDER {
        factorial *= nalgebra::convert(k as f64);
    }
    let mut y = D::from_base(derivatives[D::ORDER] / factorial);
    for k in (0..D::ORDER).rev() {
        factorial /= nalgebra::convert(k as f64 + 1.0);
        y = D::from_base(derivatives[k] / factorial) + y.strong_mul(h);
    }
    y
}

/// The value of `x` as a constant of the same type: all tangents are dropped, at every level.
///
/// ```
/// use dualpack_core::{Dual, detach};
/// let x = Dual::<f64, 1>::variable(2.0, 0);
/// assert_eq!((x * detach(x)).eps, [2.0]);
/// ```
#[inline]
pub fn detach<D: Real>(x: D) -> D {
    D::from_base(x.base())
}
