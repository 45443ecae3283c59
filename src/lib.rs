//! Forward-mode automatic differentiation: batched dual numbers as nalgebra scalars, and LAPACK calls with
//! closed-form tangent rules.

pub use dualpack_core::{
    At, BLOCK, Base, BlockJacobian, Blocks, Chunk, Chunked, Coloring, DimOf, Dual, Dual2, Dual2_32, Dual2_64,
    Dual32, Dual64, Exponent, Filled, FirstOrder, Gradient, Hessian, HyperDual, HyperDual32, HyperDual64,
    Jacobian, LANES, Layout, Lift, Linearized, MulAdd, MulMixed, Nest, Order, Pattern, Point, Real, Real64,
    SecondOrder, Seeded, SeparableHessian, Shape, SparseHessian, SparseJacobian, Stopped, Tracer, Values,
    assert_dual_eq, chunk, derivative, derivative_into, detach, directional, extract, gradient,
    gradient_into, hessian, hessian_into, hessian_pattern, hvp, hvp_into, jacobian, jacobian_blocks,
    jacobian_inplace, jacobian_into, jacobian_pattern, jvp, jvp_batch, jvp_into, laplacian, laplacian_into,
    lift_n, lift_taylor, lift1, lift2, linearize, logsumexp, nalgebra, norm, nth_derivative, partial_hessian,
    second_derivative, second_derivative_into, seed, seed_rotation, seed_se3, seed_so3, try_derivative,
    try_derivative_into, try_directional, try_gradient, try_gradient_into, try_hessian, try_hessian_into,
    try_hvp, try_hvp_into, try_jacobian, try_jacobian_blocks, try_jacobian_inplace, try_jacobian_into,
    try_jvp, try_jvp_batch, try_jvp_into, try_laplacian, try_laplacian_into, try_nth_derivative,
    try_partial_hessian, try_second_derivative, try_second_derivative_into, try_vhv, vhv,
};
pub use dualpack_linalg::{
    Balance, BalanceJob, Balanced, BaseOf, Cholesky, Diag, Error, Expm, Exponential, Gebak, Gebal, Gemm,
    Getrf, Getri, Getrs, Interleaved, LU, Lapack, Parts, Potrf, Potri, Potrs, Scalar, Side, Syrk,
    TangentBatch, Trans, Trmm, Trsm, Trtrs, Uplo, Workspace, balance, expm,
};

/// The examples of the README are tests too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
