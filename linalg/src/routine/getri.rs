//! Inverse from an LU factorization.
//!
//! `X = A⁻¹` where `P A = L U` is given, LAPACK: dgetri, sgetri, zgetri, cgetri.

use nalgebra::DMatrixViewMut;

use crate::error::Error;
use crate::ffi;
use crate::routine::native;
use crate::scalar::Scalar;

/// Inverse from an LU factorization.
pub trait Getri: Scalar {
    /// Overwrites `a`, which together with `ipiv` is what [`Getrf`](crate::Getrf) computed, by `A⁻¹`.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square and the pivots lie in 1..=n, [`Error::NonFinite`] for NaN or infinity,
    /// [`Error::Singular`] for a pivot that is exactly zero.
    fn getri(a: DMatrixViewMut<'_, Self>, ipiv: &[i32]) -> Result<(), Error>;
}

native!(Getri {
    fn getri(a: DMatrixViewMut<'_, Self>, ipiv: &[i32]) -> Result<(), Error> {
        ffi::getri(a, ipiv)
    }
});
