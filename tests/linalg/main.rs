//! Tests of the linear algebra, mirroring `linalg/src`.

#[path = "../support/mod.rs"]
mod support;

mod implicit;
mod laws;

mod bad_input;
mod balance;
mod cholesky;
mod cholesky_tangents;
mod complex;
mod expm;
mod expm_small;
mod gebak;
mod gebal;
mod gesv;
mod getrf;
mod getrf_lanes;
mod getri;
mod getrs;
mod level3;
mod lu;
mod lu_tangents;
mod lu_tiny;
#[cfg(feature = "num-dual")]
mod num_dual;
mod potrf;
mod potri;
mod potrs;
mod scratch;
mod stack;
mod symmetric;
mod tiles;
mod trtrs;
