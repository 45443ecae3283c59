//! LAPACK for scalars that carry derivatives.

// Nothing of this crate is called; naming it makes the linker see the bundled LAPACK.
#[cfg(all(feature = "netlib", not(feature = "system")))]
use netlib_src as _;

mod balance;
mod cholesky;
mod error;
mod exponential;
mod ffi;
mod flags;
mod front;
mod function;
mod kernel;
mod lanes;
mod lapack;
mod level3;
mod lu;
#[cfg(feature = "num-dual")]
mod num_dual;
mod routine;
mod scalar;
mod scratch;
mod shape;

pub use balance::{Balanced, balance};
pub use cholesky::Cholesky;
pub use error::Error;
pub use exponential::{Exponential, expm};
pub use flags::{BalanceJob, Diag, Side, Trans, Uplo};
pub use function::Expm;
pub use kernel::Interleaved;
pub use lapack::Lapack;
pub use lu::LU;
pub use routine::{
    Balance, Gebak, Gebal, Gemm, Getrf, Getri, Getrs, Parts, Potrf, Potri, Potrs, Syrk, Trmm, Trsm, Trtrs,
};
pub use scalar::{BaseOf, Scalar, TangentBatch};
pub use scratch::Workspace;
