//! Adapters: functions of this crate as problems of the optimisation crates that people use, each behind a feature.

#[cfg(feature = "argmin")]
mod argmin;
#[cfg(feature = "levenberg-marquardt")]
mod levenberg_marquardt;

#[cfg(feature = "argmin")]
pub use argmin::{Argmin, Parameters};
#[cfg(feature = "levenberg-marquardt")]
pub use levenberg_marquardt::LeastSquares;
