//! LAPACK for scalars that carry derivatives.
//!
//! Numeric code that calls LAPACK cannot be differentiated by changing its scalar type: the routines are compiled for
//! floats. This crate puts a trait in front of them. For `f32`, `f64` and their complex numbers a call goes to LAPACK;
//! for a dual number the same call solves the *primal* problem with LAPACK, once, and then moves all tangent lanes with
//! the closed-form rule of that routine.
//!
//! ```text
//! T = f64:          T::potrf  ->  dpotrf
//! T = Dual<f64, N>: T::potrf  ->  split, f64::potrf, dL = L Φ(L⁻¹ dA L⁻ᵀ) for N lanes together, join
//! ```
//!
//! ```
//! use dualpack_core::Dual64;
//! use dualpack_linalg::{Cholesky, Error, Lapack};
//! use nalgebra::{DMatrix, DVector};
//!
//! /// One code for values and for derivatives.
//! fn quadratic_form<T: Lapack>(a: DMatrix<T>, b: &DVector<T>) -> Result<T, Error> {
//!     Ok(b.dot(&Cholesky::new(a)?.solve(b)?))
//! }
//! // bᵀ A⁻¹ b for A = [2 + s, 1; 1, 2 + t] and b = (1, 2), with its derivatives along s and t.
//! let number = |x, ds, dt| Dual64::<2>::new(x, [ds, dt]);
//! let a = DMatrix::from_row_slice(2, 2, &[
//!     number(2.0, 1.0, 0.0), number(1.0, 0.0, 0.0),
//!     number(1.0, 0.0, 0.0), number(2.0, 0.0, 1.0),
//! ]);
//! let q = quadratic_form(a, &DVector::from_vec(vec![number(1.0, 0.0, 0.0), number(2.0, 0.0, 0.0)]))?;
//! // A⁻¹ b = (0, 1), and dq = -(A⁻¹ b)ᵀ dA (A⁻¹ b).
//! assert!((q.value - 2.0).abs() < 1e-15);
//! assert!(q.eps[0].abs() < 1e-15 && (q.eps[1] + 1.0).abs() < 1e-15);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Two floors
//!
//! - [`Lapack`] has LAPACK's own routines by their root names, on nalgebra views: `T::potrf(uplo, a)`. A view's column
//!   stride is the leading dimension, so no copies are made. Row-strided views do not convert to these views: nalgebra
//!   panics.
//! - The fronts, [`Cholesky`] and its kin, look like nalgebra's decompositions, for static and dynamic sizes. Each
//!   also has a `pushforward`: tangents for any number of directions from one factorization of floats.
//!
//! # What may be relied on
//!
//! - *Values*: the value of a result has the bits of the same call on floats.
//! - *Triangles*: a routine that reads one triangle defines a function of that triangle. The other one, of values and
//!   of tangents, may hold anything and is not touched.
//! - *Frozen choices*: pivots, permutations, scale factors, ranks, degrees come from the primal and have no tangent.
//!   Tangents never decide anything: results are linear in them, at any scale.
//! - *Lanes*: NaN in a lane stays in its lane. Finiteness is checked in the primal only.
//! - *Failures*: a primal that fails is a typed [`Error`] and leaves NaN, never finite numbers, in the tangents of what
//!   it has written. Nothing reaches LAPACK that could make it stop the process.
//! - *Orders*: a rule is written once, over any scalar with LAPACK routines, so it differentiates itself: `HyperDual`,
//!   `Dual2`, nested duals to any depth, `Complex` of all of them, and num-dual's numbers (feature `num-dual`).
//!
//! # Gauges
//!
//! Factors that are unique only up to a choice are those of LAPACK: Cholesky factors have a positive diagonal, LU
//! factors a unit lower triangle and LAPACK's pivots. The derivative is that of the chosen branch.
//!
//! # Scratch memory
//!
//! Up to 32 KiB per nesting level it is on the stack; for larger matrices it comes from the heap, or from a
//! [`Workspace`] that is kept between calls.
//!
//! # Own rules
//!
//! A matrix function of your own gets a rule with the parts of [`TangentBatch`]: take the primal of every entry, call
//! your function on them, apply your pushforward to each [`lane`](TangentBatch::lane), and put the parts together.

// Nothing of this crate is called; naming it makes the linker see the bundled LAPACK.
#[cfg(all(feature = "netlib", not(feature = "system")))]
use netlib_src as _;

mod balance;
mod cholesky;
mod error;
mod exponential;
mod factored;
mod ffi;
mod flags;
mod front;
mod function;
mod functions;
mod implicit;
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
pub use factored::Factored;
#[doc(hidden)]
pub use factored::{Contents, Factorization};
pub use flags::{BalanceJob, Diag, Side, Trans, Uplo};
pub use function::Expm;
pub use functions::{ScalarFn, VectorFn};
pub use implicit::{Equations, Objective, argmin, fixed_point, implicit, implicit_with};
pub use kernel::{Interleaved, InterleavedRef};
pub use lapack::Lapack;
pub use lu::{LU, solve};
pub use routine::{
    Balance, Gebak, Gebal, Gemm, Gesv, Getrf, Getri, Getrs, Parts, Potrf, Potri, Potrs, Syrk, Trmm, Trsm,
    Trtrs,
};
pub use scalar::{BaseOf, Scalar, TangentBatch};
pub use scratch::Workspace;
