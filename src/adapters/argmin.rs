//! `argmin`: cost, gradient and Hessian of a [`ScalarFn`], residuals and Jacobian of a [`VectorFn`].

use std::marker::PhantomData;

use argmin::core::{CostFunction, Error, Gradient, Hessian, Jacobian, Operator};
use nalgebra_0_34::{DMatrix, DVector};

use crate::nalgebra::DMatrix as Matrix;
use crate::{ScalarFn, VectorFn};

/// A problem for the crate `argmin`: of a [`ScalarFn`] cost, gradient and Hessian, of a [`VectorFn`] residuals
/// (`Operator`) and Jacobian.
///
/// The parameters are `Vec<f64>` (the default) or a `DVector<f64>` of the nalgebra that argmin-math is on, 0.34, which
/// the solvers with linear algebra need ([`Argmin::nalgebra`]); they are converted at the border.
///
/// ```
/// use argmin::core::{Executor, State};
/// use argmin::solver::gradientdescent::SteepestDescent;
/// use argmin::solver::linesearch::MoreThuenteLineSearch;
/// use dualpack::adapters::Argmin;
/// use dualpack::{Lapack, Real, ScalarFn};
///
/// struct Bowl;
/// impl ScalarFn for Bowl {
///     fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S]) -> S {
///         (x[0] - S::one()).powi(2) + (x[1] + S::one()).powi(2)
///     }
/// }
/// let solver = SteepestDescent::new(MoreThuenteLineSearch::new());
/// let result = Executor::new(Argmin::new(Bowl), solver)
///     .configure(|state| state.param(vec![3.0, 4.0]).max_iters(20).target_cost(1e-14))
///     .run()?;
/// let x: &Vec<f64> = result.state().get_best_param().unwrap();
/// assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] + 1.0).abs() < 1e-6);
/// # Ok::<(), argmin::core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Argmin<F, P = Vec<f64>> {
    f: F,
    parameters: PhantomData<fn() -> P>,
}

impl<F> Argmin<F> {
    /// With `Vec<f64>` as parameters and gradients, `Vec<Vec<f64>>` (rows) as Hessians and Jacobians.
    pub fn new(f: F) -> Self {
        Self { f, parameters: PhantomData }
    }
}

impl<F> Argmin<F, DVector<f64>> {
    /// With `DVector<f64>` and `DMatrix<f64>` of nalgebra 0.34.
    pub fn nalgebra(f: F) -> Self {
        Self { f, parameters: PhantomData }
    }
}

impl<F, P> Argmin<F, P> {
    /// The function.
    pub fn function(&self) -> &F {
        &self.f
    }
}

/// What argmin may hold the parameters in.
pub trait Parameters: Sized {
    /// The matrices that go with these vectors.
    type Matrix;
    /// The numbers.
    fn as_slice(&self) -> &[f64];
    /// A vector of these numbers.
    fn from_vec(v: Vec<f64>) -> Self;
    /// The same matrix.
    fn matrix(m: &Matrix<f64>) -> Self::Matrix;
}

impl Parameters for Vec<f64> {
    type Matrix = Vec<Vec<f64>>;
    fn as_slice(&self) -> &[f64] {
        self
    }
    fn from_vec(v: Vec<f64>) -> Self {
        v
    }
    fn matrix(m: &Matrix<f64>) -> Vec<Vec<f64>> {
        m.row_iter().map(|r| r.iter().copied().collect()).collect()
    }
}

impl Parameters for DVector<f64> {
    type Matrix = DMatrix<f64>;
    fn as_slice(&self) -> &[f64] {
        DVector::as_slice(self)
    }
    fn from_vec(v: Vec<f64>) -> Self {
        DVector::from_vec(v)
    }
    fn matrix(m: &Matrix<f64>) -> DMatrix<f64> {
        DMatrix::from_column_slice(m.nrows(), m.ncols(), m.as_slice())
    }
}

impl<F: ScalarFn, P: Parameters> CostFunction for Argmin<F, P> {
    type Param = P;
    type Output = f64;
    fn cost(&self, x: &P) -> Result<f64, Error> {
        Ok(self.f.value(x.as_slice()))
    }
}

impl<F: ScalarFn, P: Parameters> Gradient for Argmin<F, P> {
    type Param = P;
    type Gradient = P;
    fn gradient(&self, x: &P) -> Result<P, Error> {
        Ok(P::from_vec(self.f.gradient(x.as_slice()).1))
    }
}

impl<F: ScalarFn, P: Parameters> Hessian for Argmin<F, P> {
    type Param = P;
    type Hessian = P::Matrix;
    fn hessian(&self, x: &P) -> Result<P::Matrix, Error> {
        Ok(P::matrix(&self.f.hessian(x.as_slice()).2))
    }
}

impl<F: VectorFn, P: Parameters> Operator for Argmin<F, P> {
    type Param = P;
    type Output = P;
    fn apply(&self, x: &P) -> Result<P, Error> {
        Ok(P::from_vec(self.f.value(x.as_slice())))
    }
}

impl<F: VectorFn, P: Parameters> Jacobian for Argmin<F, P> {
    type Param = P;
    type Jacobian = P::Matrix;
    fn jacobian(&self, x: &P) -> Result<P::Matrix, Error> {
        Ok(P::matrix(&self.f.jacobian(x.as_slice()).1))
    }
}
