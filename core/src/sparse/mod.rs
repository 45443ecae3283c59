//! Sparse Jacobians and Hessians: what depends on what, which columns may share a lane, and the evaluation of all
//! entries in a number of passes that depends on the structure only.

pub(crate) mod coloring;
mod cover;
pub(crate) mod hessian;
pub(crate) mod jacobian;
pub(crate) mod pattern;
pub(crate) mod tracer;
