//! Functions of matrices, built on the routines.

pub(crate) mod degree;
pub(crate) mod det;
pub(crate) mod expm;
pub(crate) mod pade;

pub use expm::Expm;
