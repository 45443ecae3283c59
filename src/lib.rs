//! Forward-mode automatic differentiation: batched dual numbers as nalgebra scalars, and LAPACK calls with
//! closed-form tangent rules.

pub use dualpack_core::{
    At, BLOCK, Base, Chunk, Chunked, DimOf, Dual, Dual2, Dual2_32, Dual2_64, Dual32, Dual64, Exponent,
    Filled, FirstOrder, HyperDual, HyperDual32, HyperDual64, LANES, Lift, MulAdd, MulMixed, Point, Real,
    Real64, SecondOrder, Seeded, Shape, Values, assert_dual_eq, chunk, derivative, detach, extract, gradient,
    hessian, jacobian, jvp, lift_n, lift_taylor, lift1, lift2, logsumexp, nalgebra, norm, second_derivative,
    seed, try_derivative, try_gradient, try_hessian, try_jacobian, try_jvp, try_second_derivative,
};
pub use dualpack_linalg::{
    Balance, BalanceJob, Balanced, BaseOf, Cholesky, Diag, Error, Expm, Exponential, Gebak, Gebal, Gemm,
    Getrf, Getri, Getrs, Interleaved, Lapack, Parts, Potrf, Potri, Potrs, Scalar, Side, Syrk, TangentBatch,
    Trans, Trmm, Trsm, Trtrs, Uplo, Workspace, balance, expm,
};

/// The examples of the README are tests too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
