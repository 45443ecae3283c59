//! LU factorization with partial pivoting.
//!
//! `P A = L U`, LAPACK: dgetrf, sgetrf, zgetrf, cgetrf.

use nalgebra::DMatrixViewMut;

use crate::error::Error;
use crate::ffi;
use crate::routine::native;
use crate::scalar::Scalar;

/// LU factorization with partial pivoting.
pub trait Getrf: Scalar {
    /// Overwrites the m x n matrix `A` by `L` (unit lower triangle, diagonal not stored) and `U`; row `k` was
    /// interchanged with row `ipiv[k - 1]`, both 1-based.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `ipiv` has min(m, n) entries, [`Error::NonFinite`] for NaN or infinity, and
    /// [`Error::Singular`] for a pivot that is exactly zero: the factorization is complete then, as LAPACK leaves it.
    fn getrf(a: DMatrixViewMut<'_, Self>, ipiv: &mut [i32]) -> Result<(), Error>;
}

native!(Getrf {
    fn getrf(a: DMatrixViewMut<'_, Self>, ipiv: &mut [i32]) -> Result<(), Error> {
        ffi::getrf(a, ipiv)
    }
});
