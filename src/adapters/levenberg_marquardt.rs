//! `levenberg-marquardt`: residuals as a [`VectorFn`], the Jacobian for free.

use levenberg_marquardt::LeastSquaresProblem;
use nalgebra_0_34::storage::Owned;
use nalgebra_0_34::{DMatrix, DVector, Dyn};

use crate::VectorFn;

/// A least-squares problem for the crate `levenberg-marquardt`: minimise |f(x)|² for a [`VectorFn`].
///
/// That crate is on nalgebra 0.34; vectors and matrices are converted at the border. Residuals or derivatives that are
/// not finite end the minimisation as the crate defines it (`TerminationReason::User`).
///
/// ```
/// use dualpack::adapters::LeastSquares;
/// use dualpack::{Lapack, Real, VectorFn};
/// use levenberg_marquardt::LevenbergMarquardt;
///
/// /// y = a exp(-b t), measured at four times.
/// struct Decay;
/// impl VectorFn for Decay {
///     fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S]) -> Vec<S> {
///         let data = [(0.0, 2.0), (1.0, 1.2), (2.0, 0.75), (3.0, 0.44)];
///         data.iter().map(|&(t, y)| x[0] * (-x[1] * S::from_base(t)).exp() - S::from_base(y)).collect()
///     }
/// }
/// let (fit, report) = LevenbergMarquardt::new().minimize(LeastSquares::new(Decay, vec![1.0, 1.0]));
/// assert!(report.termination.was_successful());
/// assert!((fit.solution()[1] - 0.5).abs() < 0.01);
/// ```
#[derive(Clone, Debug)]
pub struct LeastSquares<F> {
    f: F,
    x: DVector<f64>,
}

impl<F: VectorFn> LeastSquares<F> {
    /// The problem with its starting point.
    pub fn new(f: F, start: Vec<f64>) -> Self {
        Self { f, x: DVector::from_vec(start) }
    }

    /// The current parameters: the solution, after a minimisation.
    pub fn solution(&self) -> &[f64] {
        self.x.as_slice()
    }

    /// The function.
    pub fn function(&self) -> &F {
        &self.f
    }
}

impl<F: VectorFn> LeastSquaresProblem<f64, Dyn, Dyn> for LeastSquares<F> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;
    type ParameterStorage = Owned<f64, Dyn>;

    fn set_params(&mut self, x: &DVector<f64>) {
        self.x.copy_from(x);
    }

    fn params(&self) -> DVector<f64> {
        self.x.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        let r = self.f.value(self.x.as_slice());
        r.iter().all(|r| r.is_finite()).then(|| DVector::from_vec(r))
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let (_, j) = self.f.jacobian(self.x.as_slice());
        let finite = j.iter().all(|j| j.is_finite());
        finite.then(|| DMatrix::from_vec(j.nrows(), j.ncols(), j.as_slice().to_vec()))
    }
}
