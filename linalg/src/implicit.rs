//! Derivatives of what a solver returns: roots, fixed points and minima as functions of the parameters.
//!
//! Let `F(x(p), p) = 0`, solved in floats by any means. With `A = ∂F/∂x` at the solution, one Newton step in dual
//! arithmetic,
//!
//! ```text
//! x ← x - A⁻¹ F(x, p),
//! ```
//!
//! makes `x` right in one more order of the tangents of `p`: the error of `x` in order k enters `F` through `∂F/∂x - A`,
//! which has no part of order 0. So as many steps as the number type has orders give all derivatives of `x(p)`, mixed
//! ones included, and every step uses the one LU decomposition of `A` for all lanes. The iteration of the solver is not
//! differentiated.
//!
//! Griewank, Walther: Evaluating Derivatives, 2nd ed. (2008), chapter 15.

use dualpack_core::{Real, gradient, hessian, jacobian};
use nalgebra::{DMatrix, DMatrixViewMut, Dyn, RealField, convert, zero};

use crate::{Error, Getrf, Lapack, Trans};

/// Equations `F(x, p) = 0` in as many unknowns, written once for every scalar; or a map `x = G(x, p)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `Equations`",
    label = "expected a type with a generic `eval`",
    note = "a closure has one argument type, this needs a function of every scalar: implement `Equations` for a struct; with closures there is `implicit_with`"
)]
pub trait Equations {
    /// The residuals: as many as unknowns.
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S], p: &[S]) -> Vec<S>;
}

/// An objective `f(x, p)` to be minimised over `x`, written once for every scalar.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `Objective`",
    label = "expected a type with a generic `eval`",
    note = "a closure has one argument type, this needs a function of every scalar: implement `Objective` for a struct"
)]
pub trait Objective {
    /// The objective.
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S], p: &[S]) -> S;
}

/// The solution `x(p)` of `F(x, p) = 0` with all derivatives that the numbers of `p` carry.
///
/// `x` is the solution at the values of `p`, found by any means; its value comes back unchanged. The derivatives are as
/// accurate as `x` is, no attempt is made to improve it, and as the condition of `∂F/∂x` allows: a condition number of 1e12
/// leaves four digits.
///
/// ```
/// use dualpack_core::{Dual2, Real};
/// use dualpack_linalg::{Equations, Lapack, implicit};
/// /// The intersection of the circle of radius p₀ with the line y = p₁ x.
/// struct Meet;
/// impl Equations for Meet {
///     fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S], p: &[S]) -> Vec<S> {
///         vec![x[0] * x[0] + x[1] * x[1] - p[0] * p[0], x[1] - p[1] * x[0]]
///     }
/// }
/// let p = [Dual2::<f64, 2>::variable(5.0, 0), Dual2::variable(0.75, 1)];
/// let x = implicit(&Meet, &[4.0, 3.0], &p)?;
/// // By hand: x = p₀/√(1 + p₁²).
/// let by_hand = p[0] / (p[1] * p[1] + 1.0).sqrt();
/// assert_eq!(x[0].value, 4.0);
/// assert!((0..2).all(|i| (x[0].grad[i] - by_hand.grad[i]).abs() < 1e-15));
/// assert!((x[0].hessian(0, 1) - by_hand.hessian(0, 1)).abs() < 1e-15);
/// # Ok::<(), dualpack_linalg::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] unless there are as many equations as unknowns, [`Error::Singular`] where `∂F/∂x` is singular: the
/// solution is not a differentiable function of `p` there; [`Error::NonFinite`] for NaN or infinity in `∂F/∂x` or `F`.
pub fn implicit<F: Equations, D: Real<Base = f64> + Lapack>(
    f: &F,
    x: &[f64],
    p: &[D],
) -> Result<Vec<D>, Error> {
    let constants = bases(p);
    let (_, a) = jacobian(|x: &[_]| f.eval(x, &lifted(&constants)), x);
    newton("implicit", |x, p| f.eval(x, p), a, x, p, Jacobian::Exact)
}

/// [`implicit`] for a function of one number type and the Jacobian `∂F/∂x` at the solution.
///
/// The Jacobian that Newton's method, or a difference quotient, leaves behind is off by a little. One step more than
/// there are orders makes up for that: an error δ of the Jacobian leaves one of δ² in the derivatives.
///
/// ```
/// use dualpack_core::Dual64;
/// use dualpack_linalg::implicit_with;
/// use nalgebra::dmatrix;
/// // Kepler's equation E - e sin E = M at e = 0.5, M = 1: how E moves with e and M.
/// let mut anomaly: f64 = 1.0;
/// for _ in 0..20 {
///     anomaly -= (anomaly - 0.5 * anomaly.sin() - 1.0) / (1.0 - 0.5 * anomaly.cos());
/// }
/// let slope = 1.0 - 0.5 * anomaly.cos();
/// let p = [Dual64::<2>::variable(0.5, 0), Dual64::variable(1.0, 1)];
/// let x = implicit_with(|x, p| vec![x[0] - p[0] * x[0].sin() - p[1]], dmatrix![slope], &[anomaly], &p)?;
/// assert!((x[0].eps[0] - anomaly.sin() / slope).abs() < 1e-15);
/// assert!((x[0].eps[1] - 1.0 / slope).abs() < 1e-15);
/// # Ok::<(), dualpack_linalg::Error>(())
/// ```
///
/// # Errors
/// As [`implicit`]; [`Error::WrongJacobian`] where δ is too large for half of the digits.
pub fn implicit_with<D: Real + Lapack>(
    f: impl FnMut(&[D], &[D]) -> Vec<D>,
    jacobian: DMatrix<D::Base>,
    x: &[D::Base],
    p: &[D],
) -> Result<Vec<D>, Error>
where
    D::Base: Lapack,
{
    newton("implicit_with", f, jacobian, x, p, Jacobian::Given)
}

/// The fixed point `x(p) = G(x(p), p)` with all derivatives that the numbers of `p` carry, as [`implicit`] for
/// `F = x - G`: whatever the number of iterations it took to find `x`, and whether or not `G` contracts.
///
/// ```
/// use dualpack_core::{Dual64, Real};
/// use dualpack_linalg::{Equations, Lapack, fixed_point};
/// struct Cosine;
/// impl Equations for Cosine {
///     fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S], p: &[S]) -> Vec<S> {
///         vec![(p[0] * x[0]).cos()]
///     }
/// }
/// let mut x: f64 = 0.7;
/// for _ in 0..100 {
///     x = x.cos();
/// }
/// let d = fixed_point(&Cosine, &[x], &[Dual64::<1>::variable(1.0, 0)])?;
/// assert!((d[0].eps[0] + x * x.sin() / (1.0 + x.sin())).abs() < 1e-15);
/// # Ok::<(), dualpack_linalg::Error>(())
/// ```
///
/// # Errors
/// As [`implicit`].
pub fn fixed_point<F: Equations, D: Real<Base = f64> + Lapack>(
    g: &F,
    x: &[f64],
    p: &[D],
) -> Result<Vec<D>, Error> {
    let constants = bases(p);
    let (_, mut a) = jacobian(|x: &[_]| g.eval(x, &lifted(&constants)), x);
    a.neg_mut();
    for i in 0..a.nrows().min(a.ncols()) {
        a[(i, i)] += 1.0;
    }
    let residual = |x: &[D], p: &[D]| {
        let mut r = g.eval(x, p);
        r.iter_mut().zip(x).for_each(|(r, &x)| *r = x - *r);
        r
    };
    newton("fixed_point", residual, a, x, p, Jacobian::Exact)
}

/// The minimum `x(p) = argmin_x f(x, p)` with all derivatives that the numbers of `p` carry, as [`implicit`] for the
/// stationarity `∂f/∂x = 0`. It serves maxima and saddle points as well.
///
/// ```
/// use dualpack_core::{Dual64, Real};
/// use dualpack_linalg::{Lapack, Objective, argmin};
/// /// Ridge regression of y = 2 on one feature a = 3: x = 6/(9 + p).
/// struct Ridge;
/// impl Objective for Ridge {
///     fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S], p: &[S]) -> S {
///         let c = S::from_base;
///         (c(3.0) * x[0] - c(2.0)).powi(2) + p[0] * x[0] * x[0]
///     }
/// }
/// let x = argmin(&Ridge, &[0.6], &[Dual64::<1>::variable(1.0, 0)])?;
/// assert!((x[0].eps[0] + 0.06).abs() < 1e-16);
/// # Ok::<(), dualpack_linalg::Error>(())
/// ```
///
/// # Errors
/// As [`implicit`]; [`Error::Singular`] where the Hessian in `x` is singular.
pub fn argmin<F: Objective, D: Real<Base = f64> + Lapack>(
    f: &F,
    x: &[f64],
    p: &[D],
) -> Result<Vec<D>, Error> {
    let constants = bases(p);
    let (_, _, a) = hessian(|x: &[_]| f.eval(x, &lifted(&constants)), x);
    let slope = |x: &[D], p: &[D]| {
        // The inner point is a point of D: its perturbations nest those of p.
        let lifted: Vec<_> = p.iter().copied().map(dualpack_core::Dual::constant).collect();
        gradient(|z: &[_]| f.eval(z, &lifted), x).1
    };
    newton("argmin", slope, a, x, p, Jacobian::Exact)
}

fn bases<D: Real>(p: &[D]) -> Vec<D::Base> {
    p.iter().map(|p| p.base()).collect()
}

fn lifted<S: Real>(p: &[S::Base]) -> Vec<S> {
    p.iter().copied().map(S::from_base).collect()
}

/// Where `∂F/∂x` comes from.
#[derive(PartialEq)]
enum Jacobian {
    /// The function itself, at `x`.
    Exact,
    /// The caller.
    Given,
}

/// As many steps as there are orders, and one more with a Jacobian that may be off.
fn newton<D: Real + Lapack>(
    routine: &'static str,
    mut f: impl FnMut(&[D], &[D]) -> Vec<D>,
    a: DMatrix<D::Base>,
    x: &[D::Base],
    p: &[D],
    jacobian: Jacobian,
) -> Result<Vec<D>, Error>
where
    D::Base: Lapack,
{
    let n = x.len();
    if a.shape() != (n, n) {
        return Err(Error::Shape { routine, expected: "as many equations as unknowns", found: a.shape() });
    }
    let (mut factors, mut pivots) = (a.clone(), vec![0; n]);
    D::Base::getrf(factors.as_view_mut(), &mut pivots).map_err(|e| renamed(routine, e))?;
    // Constants: the solves below share these factors among all lanes of all orders.
    let lu = factors.map(D::from_base);
    let mut x = lifted::<D>(x);
    let mut residuals = vec![zero(); n];
    let mut step = |x: &mut [D]| {
        let mut r = f(x, p);
        if r.len() != n {
            return Err(Error::Shape {
                routine,
                expected: "as many equations as unknowns",
                found: (r.len(), n),
            });
        }
        for (r, largest) in r.iter_mut().zip(&mut residuals) {
            // The value of x is the solver's.
            *r -= D::from_base(r.base());
            *largest = tangent(*r).max(*largest);
        }
        let column = DMatrixViewMut::from_slice_generic(&mut r, Dyn(n), Dyn(1));
        D::getrs(Trans::NoTrans, lu.as_view(), &pivots, column).map_err(|e| renamed(routine, e))?;
        x.iter_mut().zip(&r).for_each(|(x, &step)| *x -= step);
        Ok(r)
    };
    for _ in 0..D::ORDER {
        step(&mut x)?;
    }
    if jacobian == Jacobian::Given && D::ORDER > 0 {
        let moves: Vec<_> = x.iter().map(|&x| tangent(x)).collect();
        let last = step(&mut x)?;
        let scales = scales(&a, (&factors, &pivots), &moves, &residuals).map_err(|e| renamed(routine, e))?;
        // This step is of size δ and what is left of size δ²: at the fourth root of the rounding unit, half of the digits.
        let single = size_of::<D::Base>() == size_of::<f32>();
        let tolerance: D::Base = convert(if single { 0.02 } else { 1e-4 });
        // What cancels inside the function can leave this much of an unknown that does not move.
        let all = moves.iter().copied().chain(p.iter().map(|&p| tangent(p))).fold(zero(), D::Base::max);
        let noise = all * convert(if single { 1e-5 } else { 1e-14 });
        let moved = |(&step, &scale): (&D, &D::Base)| tangent(step) > (tolerance * scale).max(noise);
        if let Some(unknown) = last.iter().zip(&scales).position(moved) {
            return Err(Error::WrongJacobian { routine, unknown: unknown + 1 });
        }
    }
    Ok(x)
}

/// For each unknown, the size of what its derivative is the sum of, whatever the units of unknowns and equations are: by
/// as much as a rounding unit times this it may be off. `|A⁻¹| (|A| |x'| + |r|)` with the residuals `r`, where solutions
/// with some patterns of signs stand for the absolute values of the inverse.
fn scales<T: RealField + Copy + Lapack<RealField = T>>(
    a: &DMatrix<T>,
    (lu, pivots): (&DMatrix<T>, &[i32]),
    moves: &[T],
    residuals: &[T],
) -> Result<Vec<T>, Error> {
    const PATTERNS: usize = 4;
    let n = moves.len();
    let mut terms = residuals.to_vec();
    for (column, &size) in a.column_iter().zip(moves) {
        terms.iter_mut().zip(&column).for_each(|(term, &entry)| *term += entry.abs() * size);
    }
    // An overflow is larger than every step, as it should be; LAPACK wants finite numbers.
    let finite = |x: T| if x.is_finite() { x } else { zero() };
    let mut solutions = DMatrix::from_fn(n, PATTERNS, |i, k| {
        // The golden ratio's multiples, which no structure of a matrix is in step with.
        let bits = (i * PATTERNS + k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize);
        let term = finite(terms[i]);
        if bits >> (usize::BITS - 1) == 0 { term } else { -term }
    });
    T::getrs(Trans::NoTrans, lu.as_view(), pivots, solutions.as_view_mut())?;
    let largest = |i: usize| solutions.row(i).iter().fold(moves[i], |largest, x| largest.max(x.abs()));
    Ok((0..n).map(largest).collect())
}

/// The largest tangent of a number.
fn tangent<D: Real>(x: D) -> D::Base {
    (x - D::from_base(x.base())).largest_part()
}

fn renamed(routine: &'static str, error: Error) -> Error {
    match error {
        Error::Singular { pivot, .. } => Error::Singular { routine, pivot },
        Error::NonFinite { row, col, .. } => Error::NonFinite { routine, row, col },
        other => other,
    }
}
