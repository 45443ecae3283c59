//! Transformation back from a balanced matrix.
//!
//! `V ← P D V` (right) or `V ← P D⁻¹ V` (left), LAPACK: dgebak, sgebak, zgebak, cgebak.

use nalgebra::DMatrixViewMut;

use crate::error::Error;
use crate::ffi;
use crate::flags::{BalanceJob, Side};
use crate::routine::gebal::Balance;
use crate::routine::native;
use crate::scalar::{BaseOf, Scalar};

/// Transformation back from a balanced matrix.
pub trait Gebak: Scalar {
    /// Overwrites `V`, right or left eigenvectors of the balanced matrix (or anything that transforms like them), by
    /// those of the matrix itself. `job` and `balance` are those of [`Gebal`](crate::Gebal).
    ///
    /// # Errors
    /// [`Error::Shape`] unless `V` has as many rows as the matrix and `balance` is one that `gebal` can return,
    /// [`Error::NonFinite`] for NaN or infinity.
    fn gebak(
        job: BalanceJob,
        side: Side,
        balance: &Balance<BaseOf<Self>>,
        v: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error>;
}

native!(Gebak {
    fn gebak(
        job: BalanceJob,
        side: Side,
        balance: &Balance<BaseOf<Self>>,
        v: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        ffi::gebak(job, side, (balance.ilo, balance.ihi), &balance.scale, v)
    }
});
