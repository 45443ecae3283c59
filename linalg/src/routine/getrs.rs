//! Solve with an LU factorization.
//!
//! `op(A) X = B` where `P A = L U` is given, LAPACK: dgetrs, sgetrs, zgetrs, cgetrs.

use nalgebra::{DMatrixView, DMatrixViewMut};

use crate::error::Error;
use crate::ffi;
use crate::flags::Trans;
use crate::routine::native;
use crate::scalar::Scalar;

/// Solve with an LU factorization.
pub trait Getrs: Scalar {
    /// Overwrites `B` by `op(A)⁻¹ B`, where `a` and `ipiv` are what [`Getrf`](crate::Getrf) computed.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square, `b` has as many rows and the pivots lie in 1..=n,
    /// [`Error::NonFinite`] for NaN or infinity, [`Error::Singular`] for a pivot that is exactly zero.
    fn getrs(
        trans: Trans,
        a: DMatrixView<'_, Self>,
        ipiv: &[i32],
        b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error>;
}

native!(Getrs {
    fn getrs(
        trans: Trans,
        a: DMatrixView<'_, Self>,
        ipiv: &[i32],
        b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        ffi::getrs(trans, a, ipiv, b)
    }
});
