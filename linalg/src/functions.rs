//! Functions as objects: one definition that serves the value and every derivative, calls of LAPACK included.
//!
//! A closure has one argument type, so it serves one driver. A type with a generic `eval` serves them all.

use dualpack_core::{Real, gradient, hessian, hvp, jacobian, jvp};
use nalgebra::DMatrix;

use crate::Lapack;

/// A vector-valued function of many variables, written once for every scalar.
///
/// ```
/// use dualpack_core::Real;
/// use dualpack_linalg::{Cholesky, Lapack, VectorFn};
/// use nalgebra::{DMatrix, DVector};
///
/// /// x = A(p)⁻¹ b for a matrix with p₀ on the diagonal and p₁ beside it.
/// struct Chain { b: Vec<f64> }
/// impl VectorFn for Chain {
///     fn eval<S: Real<Base = f64> + Lapack>(&self, p: &[S]) -> Vec<S> {
///         let n = self.b.len();
///         let a = DMatrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
///             0 => p[0],
///             1 => p[1],
///             _ => S::zero(),
///         });
///         let b = DVector::from_iterator(n, self.b.iter().map(|&b| S::from_base(b)));
///         let x = Cholesky::new(a).and_then(|c| c.solve(&b)).expect("diagonally dominant");
///         x.as_slice().to_vec()
///     }
/// }
/// let chain = Chain { b: vec![1.0, 0.0] };
/// let (x, j) = chain.jacobian(&[2.0, 1.0]);
/// assert_eq!(chain.value(&[2.0, 1.0]), x);
/// // x = (p₀, -p₁)/(p₀² - p₁²)
/// assert!((j - DMatrix::from_row_slice(2, 2, &[-5.0, 4.0, 4.0, -5.0]) / 9.0).norm() < 1e-15);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `VectorFn`",
    label = "expected a type with a generic `eval`",
    note = "a closure has one argument type, this needs a function of every scalar: implement `VectorFn` for a struct; with closures there are the drivers, `jacobian`, `jvp`"
)]
pub trait VectorFn {
    /// The function.
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S]) -> Vec<S>;

    /// `f(x)`.
    fn value(&self, x: &[f64]) -> Vec<f64> {
        self.eval(x)
    }

    /// `f(x)` and the Jacobian, `m x n`, see [`jacobian`](dualpack_core::jacobian).
    fn jacobian(&self, x: &[f64]) -> (Vec<f64>, DMatrix<f64>) {
        jacobian(|x: &[_]| self.eval(x), x)
    }

    /// `f(x)` and `J v`, see [`jvp`](dualpack_core::jvp).
    ///
    /// # Panics
    /// If `x` and `v` differ in length.
    #[track_caller]
    fn jvp(&self, x: &[f64], v: &[f64]) -> (Vec<f64>, Vec<f64>) {
        jvp(|x: &[_]| self.eval(x), x, v)
    }
}

/// A scalar function of many variables, written once for every scalar: value, gradient and Hessian.
///
/// ```
/// use dualpack_core::Real;
/// use dualpack_linalg::{Lapack, ScalarFn};
/// struct Rosenbrock;
/// impl ScalarFn for Rosenbrock {
///     fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S]) -> S {
///         let hundred = S::from_base(100.0);
///         (x[0] - S::one()).powi(2) + hundred * (x[1] - x[0] * x[0]).powi(2)
///     }
/// }
/// assert_eq!(Rosenbrock.value(&[0.0, 0.0]), 1.0);
/// assert_eq!(Rosenbrock.gradient(&[0.0, 0.0]), (1.0, vec![-2.0, 0.0]));
/// assert_eq!(Rosenbrock.hessian(&[1.0, 1.0]).2.as_slice(), [802.0, -400.0, -400.0, 200.0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `ScalarFn`",
    label = "expected a type with a generic `eval`",
    note = "a closure has one argument type, this needs a function of every scalar: implement `ScalarFn` for a struct; with closures there are the drivers, `gradient`, `hessian`"
)]
pub trait ScalarFn {
    /// The function.
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S]) -> S;

    /// `f(x)`.
    fn value(&self, x: &[f64]) -> f64 {
        self.eval(x)
    }

    /// `f(x)` and the gradient, see [`gradient`](dualpack_core::gradient).
    fn gradient(&self, x: &[f64]) -> (f64, Vec<f64>) {
        gradient(|x: &[_]| self.eval(x), x)
    }

    /// `f(x)`, the gradient and the Hessian, see [`hessian`](dualpack_core::hessian).
    fn hessian(&self, x: &[f64]) -> (f64, Vec<f64>, DMatrix<f64>) {
        hessian(|x: &[_]| self.eval(x), x)
    }

    /// `f(x)`, the gradient and the Hessian times `v`, see [`hvp`](dualpack_core::hvp).
    ///
    /// # Panics
    /// If `x` and `v` differ in length.
    #[track_caller]
    fn hvp(&self, x: &[f64], v: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        hvp(|x: &[_]| self.eval(x), x, v)
    }
}
