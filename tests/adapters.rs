//! The optimisation crates solve problems whose derivatives come from here.
#![cfg(all(feature = "argmin", feature = "levenberg-marquardt"))]

use argmin::core::{CostFunction, Executor, Gradient, Hessian, Jacobian, Operator, State};
use argmin::solver::gaussnewton::GaussNewton;
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::newton::Newton;
use argmin::solver::quasinewton::LBFGS;
use dualpack::adapters::{Argmin, LeastSquares};
use dualpack::{Lapack, Real, ScalarFn, VectorFn};
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra_0_34::DVector;

/// The sum of squares of `Valley`.
struct Rosenbrock;

/// Rosenbrock's function as residuals.
struct Valley;

impl VectorFn for Valley {
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S]) -> Vec<S> {
        vec![(x[1] - x[0] * x[0]) * S::from_base(10.0), S::one() - x[0]]
    }
}

impl ScalarFn for Rosenbrock {
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S]) -> S {
        Valley.eval(x).iter().fold(S::zero(), |s, &r| s + r * r)
    }
}

fn at_the_minimum(x: &[f64]) {
    assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 1.0).abs() < 1e-6, "{x:?}");
}

#[test]
fn levenberg_marquardt_finds_the_minimum() {
    let problem = LeastSquares::new(Valley, vec![-1.2, 1.0]);
    assert_eq!(problem.jacobian().unwrap().as_slice(), [24.0, -1.0, 10.0, 0.0]);
    let (solved, report) = LevenbergMarquardt::new().minimize(problem);
    assert!(report.termination.was_successful(), "{report:?}");
    at_the_minimum(solved.solution());
    assert_eq!(solved.function().value(&[1.0, 1.0]), [0.0, 0.0]);
}

#[test]
fn levenberg_marquardt_stops_where_the_residuals_are_not_finite() {
    struct Root;
    impl VectorFn for Root {
        fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S]) -> Vec<S> {
            vec![x[0].sqrt()]
        }
    }
    // The value exists at 0, the derivative does not.
    let problem = LeastSquares::new(Root, vec![0.0]);
    assert!(problem.residuals().is_some() && problem.jacobian().is_none());
    let (_, report) = LevenbergMarquardt::new().minimize(LeastSquares::new(Root, vec![-1.0]));
    assert!(!report.termination.was_successful());
}

#[test]
fn argmin_solvers_find_the_minimum() {
    let problem = Argmin::new(Rosenbrock);
    assert_eq!(problem.cost(&vec![0.0, 0.0]).unwrap(), 1.0);
    assert_eq!(problem.gradient(&vec![0.0, 0.0]).unwrap(), [-2.0, 0.0]);
    assert_eq!(problem.hessian(&vec![1.0, 1.0]).unwrap(), [[802.0, -400.0], [-400.0, 200.0]]);
    assert_eq!(problem.function().value(&[1.0, 1.0]), 0.0);
    let result = Executor::new(problem, LBFGS::new(MoreThuenteLineSearch::new(), 5))
        .configure(|state| state.param(vec![-1.2, 1.0]).max_iters(100))
        .run()
        .unwrap();
    at_the_minimum(result.state().get_best_param().unwrap());

    // Newton's method wants the inverse of the Hessian: nalgebra.
    let newton: Newton<f64> = Newton::new();
    let result = Executor::new(Argmin::nalgebra(Rosenbrock), newton)
        .configure(|state| state.param(DVector::from_vec(vec![-1.2, 1.0])).max_iters(10))
        .run()
        .unwrap();
    at_the_minimum(result.state().get_best_param().unwrap().as_slice());

    let residuals = Argmin::nalgebra(Valley);
    let start = DVector::from_vec(vec![-1.2, 1.0]);
    assert!((residuals.apply(&start).unwrap()[0] + 4.4).abs() < 1e-14);
    assert_eq!(residuals.jacobian(&start).unwrap().as_slice(), [24.0, -1.0, 10.0, 0.0]);
    let gauss_newton: GaussNewton<f64> = GaussNewton::new();
    let result = Executor::new(residuals, gauss_newton)
        .configure(|state| state.param(start).max_iters(10))
        .run()
        .unwrap();
    at_the_minimum(result.state().get_param().unwrap().as_slice());
}

/// As many residuals and parameters as it is given: r_i = x_{i mod n}² - 1, or constants.
struct Shape(usize);

impl VectorFn for Shape {
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S]) -> Vec<S> {
        (0..self.0).map(|i| if x.is_empty() { S::one() } else { x[i % x.len()].powi(2) - S::one() }).collect()
    }
}

#[test]
fn problems_of_odd_shapes_end_with_a_reason() {
    for (m, n, solved) in
        [(0, 0, false), (3, 0, false), (0, 2, false), (1, 3, true), (2, 2, true), (20, 9, true)]
    {
        let problem = LeastSquares::new(Shape(m), vec![0.5; n]);
        assert_eq!(problem.jacobian().unwrap().shape(), (m, n));
        let (end, report) = LevenbergMarquardt::new().minimize(problem);
        assert_eq!(report.termination.was_successful(), solved, "{m} x {n}: {report:?}");
        if solved {
            assert!(end.solution().iter().take(m).all(|x| (x - 1.0).abs() < 1e-8));
        }
        let problem = Argmin::new(Shape(m));
        assert_eq!(problem.apply(&vec![0.5; n]).unwrap().len(), m);
        assert_eq!(problem.jacobian(&vec![0.5; n]).unwrap().len(), m, "rows, also of no columns");
    }
}
