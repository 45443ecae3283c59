//! Forward-mode automatic differentiation: batched dual numbers as nalgebra scalars, and LAPACK calls with
//! closed-form tangent rules.
//!
//! # Which tool
//!
//! | you have | you want | use |
//! |---|---|---|
//! | f: ℝ → anything | f' | [`derivative`], [`second_derivative`], [`nth_derivative`] |
//! | f: ℝⁿ → ℝ | gradient, Hessian | [`gradient`], [`hessian`]; in a loop [`Gradient`], [`Hessian`] |
//! | f: ℝⁿ → ℝᵐ | Jacobian | [`jacobian`]; in a loop [`Jacobian`]; for several blocks of parameters [`jacobian_blocks`] |
//! | a direction | J v, H v, vᵀ H v | [`jvp`], [`hvp`], [`vhv`] |
//! | thousands of inputs, few of them per output | sparse Jacobian, Hessian | [`SparseJacobian`], [`SeparableHessian`], [`SparseHessian`]; only the structure: [`jacobian_pattern`]; whether it holds elsewhere: [`SparseJacobian::covers`] |
//! | a linear solve, a factorization, a matrix exponential inside f | its derivative | [`Cholesky`], [`LU`], [`expm`], or [`Lapack`]'s routines |
//! | a root, fixed point or minimum found by a solver | its derivative in the parameters | [`implicit`], [`fixed_point`], [`argmin`](fn@argmin) |
//! | rotations, rigid motions | derivatives along the manifold | [`seed_so3`], [`seed_se3`], [`exp_so3`], [`log_so3`] |
//! | a function that only its author can differentiate | a rule for it | [`lift1`], [`lift2`], [`lift_n`], [`lift_taylor`] |
//!
//! # A function once, in any scalar
//!
//! Bound the scalar by [`Real`] (numbers alone), [`Lapack`] (linear algebra, complex numbers too) or `Lapack + Real`
//! (linear algebra and comparisons, `atan2`, special functions). The drivers run the function on the dual numbers that
//! they need; it runs on plain `f64` as well.
//!
//! Constants: under [`Real64`] literals stand on the right of an operator, `x * 2.0 + 1.0`, `x < 1.0`, and `S::from(2.0)`
//! on the left. Under [`Real`], which is open to `f32` too, write `convert::<f64, S>(2.0)`. On numbers of a known type
//! `2.0 * x`, `x * 2.0` and `Dual::from(2.0)` all work; a number of an outer level becomes a constant by `Dual::constant`. A
//! matrix of floats becomes one of numbers by `m.cast()`, and multiplies one by [`MulMixed`].
//!
//! ```
//! use dualpack::nalgebra::convert;
//! use dualpack::{Real, gradient, hessian};
//!
//! fn rosenbrock<S: Real>(x: &[S]) -> S {
//!     let (one, hundred) = (S::one(), convert::<f64, S>(100.0));
//!     x.windows(2).map(|w| (one - w[0]).powi(2) + hundred * (w[1] - w[0] * w[0]).powi(2)).fold(S::zero(), |a, b| a + b)
//! }
//! let x = vec![1.0; 5];
//! let (value, g): (f64, Vec<f64>) = gradient(rosenbrock, &x);
//! assert_eq!((value, g), (0.0, vec![0.0; 5]));
//! let (_, _, h) = hessian(rosenbrock, &x);
//! assert_eq!(h[(0, 1)], -400.0);
//! ```
//!
//! # Through linear algebra
//!
//! The log-likelihood of a Gaussian process, differentiated through a Cholesky factorization in two parameters of its
//! kernel. LAPACK factors the matrix of values once per pass; the tangents follow by the rule of `potrf`.
//!
//! ```no_run
//! use dualpack::nalgebra::{DMatrix, DVector};
//! use dualpack::{Cholesky, Error, Lapack, Real, try_gradient};
//!
//! fn log_likelihood<S: Lapack + Real>(theta: &[S], t: &[f64], y: &DVector<f64>) -> Result<S, Error> {
//!     let number = |x: f64| dualpack::nalgebra::convert::<f64, S>(x);
//!     let k = DMatrix::from_fn(t.len(), t.len(), |i, j| {
//!         let d = number(t[i] - t[j]) / theta[1];
//!         theta[0] * (-(d * d)).exp() + if i == j { number(0.01) } else { S::zero() }
//!     });
//!     let (y, chol) = (y.map(number), Cholesky::new(k)?);
//!     Ok(-(y.dot(&chol.solve(&y)?) + chol.ln_determinant()) * number(0.5))
//! }
//!
//! let t: Vec<f64> = (0..20).map(|i| f64::from(i) * 0.1).collect();
//! let y = DVector::from_fn(20, |i, _| (t[i] * 3.0).sin());
//! let (value, g): (f64, [f64; 2]) = try_gradient(|theta| log_likelihood(theta, &t, &y), &[1.0, 0.5])?;
//! assert!(value.is_finite() && g.iter().all(|g| g.is_finite()));
//! # Ok::<(), Error>(())
//! ```
//!
//! Use these factorizations on dual numbers, not nalgebra's own: those branch on exact zeros and drop tangents there, or
//! divide by a vanishing norm. `DMatrix::cholesky` and `lu` are right where they are defined; `symmetric_eigen`, `svd`,
//! `schur`, `qr` and `exp` are silently wrong, `NaN` or panic at diagonal, repeated or triangular matrices. So are its maps
//! between rotations and rotation vectors at the identity. [`limits`] has the whole list.
//!
//! # Derivatives inside derivatives
//!
//! Each level of nesting is a type of its own. The safe form of an inner derivative lifts the inner point to the outer
//! number and lets the driver nest; a closure that captures an outer dual number and mixes it with an inner one of the
//! *same* type confuses the two perturbations, in this as in every library without tags.
//!
//! ```
//! use dualpack::{Dual, derivative};
//! // d/dx [x · d/dy (x + y)] = 1
//! let (_, d) = derivative(
//!     |x: Dual<f64>| {
//!         let (_, inner) = derivative(|y: Dual<Dual<f64>>| Dual::constant(x) + y, x);
//!         x * inner
//!     },
//!     1.0,
//! );
//! assert_eq!(d, 1.0);
//! ```
//!
//! # What is promised, what is not
//!
//! The value of every result is the computation in floats, bit for bit (nalgebra's own matrix products: to rounding);
//! tangents that do not exist are errors or `NaN`; kinks follow conventions documented on each function. Forward mode
//! costs one pass per chunk of inputs: for a scalar function of thousands of dense inputs, reverse mode is the tool.

#[cfg(any(feature = "argmin", feature = "levenberg-marquardt"))]
pub mod adapters;

pub use dualpack_core::{
    At, BLOCK, Base, BlockJacobian, Blocks, Chunk, Chunked, Coloring, DimOf, Dual, Dual2, Dual2_32, Dual2_64,
    Dual32, Dual64, Exponent, Filled, FirstOrder, Gradient, Hessian, HyperDual, HyperDual32, HyperDual64,
    Jacobian, LANES, Layout, Lift, Linearized, MulAdd, MulMixed, Nest, Order, Pattern, Point, Real, Real64,
    SecondOrder, Seeded, SeparableHessian, Shape, SparseHessian, SparseJacobian, Stopped, Tracer, Values,
    assert_dual_eq, chunk, derivative, derivative_into, detach, directional, exp_so3, extract, gradient,
    gradient_into, hessian, hessian_into, hessian_pattern, hvp, hvp_into, jacobian, jacobian_blocks,
    jacobian_inplace, jacobian_into, jacobian_pattern, jvp, jvp_batch, jvp_batch_into, jvp_into, laplacian,
    laplacian_into, lift_n, lift_taylor, lift1, lift2, limits, linearize, log_so3, logsumexp, nalgebra, norm,
    nth_derivative, partial_hessian, partial_hessian_into, second_derivative, second_derivative_into, seed,
    seed_rotation, seed_se3, seed_so3, try_derivative, try_derivative_into, try_directional, try_gradient,
    try_gradient_into, try_hessian, try_hessian_into, try_hvp, try_hvp_into, try_jacobian,
    try_jacobian_blocks, try_jacobian_inplace, try_jacobian_into, try_jvp, try_jvp_batch, try_jvp_batch_into,
    try_jvp_into, try_laplacian, try_laplacian_into, try_nth_derivative, try_partial_hessian,
    try_partial_hessian_into, try_second_derivative, try_second_derivative_into, try_vhv, vhv,
};
#[cfg(feature = "rayon")]
pub use dualpack_core::{
    par_gradient, par_hessian, par_jacobian, try_par_gradient, try_par_hessian, try_par_jacobian,
};
pub use dualpack_linalg::{
    Balance, BalanceJob, Balanced, BaseOf, Cholesky, Diag, Equations, Error, Expm, Exponential, Factored,
    Gebak, Gebal, Gemm, Gesv, Getrf, Getri, Getrs, Interleaved, LU, Lapack, Objective, Parts, Potrf, Potri,
    Potrs, Scalar, ScalarFn, Side, Syrk, TangentBatch, Trans, Trmm, Trsm, Trtrs, Uplo, VectorFn, Workspace,
    argmin, balance, expm, fixed_point, implicit, implicit_with, solve,
};

/// The examples of the README are tests too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
