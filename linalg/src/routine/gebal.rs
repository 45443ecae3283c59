//! Balancing.
//!
//! `B = D⁻¹ Pᵀ A P D`, LAPACK: dgebal, sgebal, zgebal, cgebal.

use nalgebra::DMatrixViewMut;
use num_traits::One;

use crate::error::Error;
use crate::ffi;
use crate::flags::BalanceJob;
use crate::routine::native;
use crate::scalar::{BaseOf, Scalar};

/// What balancing did, in LAPACK's terms; all indices are 1-based.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance<R> {
    /// First row and column of the block that was scaled (1 for an empty matrix).
    pub ilo: usize,
    /// Last row and column of that block (0 for an empty matrix).
    pub ihi: usize,
    /// For `ilo..=ihi` the scale factors, powers of two; outside, the index that a row and column was interchanged
    /// with. The order of the interchanges is n down to `ihi + 1`, then 1 up to `ilo - 1`.
    pub scale: Vec<R>,
}

/// Balancing.
pub trait Gebal: Scalar {
    /// Overwrites `A` by the permuted and scaled matrix.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `A` is square, [`Error::NonFinite`] for NaN or infinity.
    fn gebal(job: BalanceJob, a: DMatrixViewMut<'_, Self>) -> Result<Balance<BaseOf<Self>>, Error>;
}

native!(Gebal {
    fn gebal(job: BalanceJob, a: DMatrixViewMut<'_, Self>) -> Result<Balance<BaseOf<Self>>, Error> {
        let mut scale = vec![BaseOf::<Self>::one(); a.nrows()];
        let (ilo, ihi) = ffi::gebal(job, a, &mut scale)?;
        Ok(Balance { ilo, ihi, scale })
    }
});
