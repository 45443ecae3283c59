//! Forward-mode automatic differentiation: batched dual numbers as nalgebra scalars, and LAPACK calls with
//! closed-form tangent rules.

pub use dualpack_core::{
    Base, Dual, Dual2, Dual2_32, Dual2_64, Dual32, Dual64, Exponent, HyperDual, HyperDual32, HyperDual64,
    Lift, MulAdd, MulMixed, Real, Real64, assert_dual_eq, detach, lift_n, lift_taylor, lift1, lift2,
    logsumexp, nalgebra, norm,
};
pub use dualpack_linalg::{
    Balance, BalanceJob, BaseOf, Cholesky, Diag, Error, Gebak, Gebal, Gemm, Getrf, Getri, Getrs, Interleaved,
    Lapack, Parts, Potrf, Potri, Potrs, Scalar, Side, Syrk, TangentBatch, Trans, Trmm, Trsm, Trtrs, Uplo,
    Workspace,
};
