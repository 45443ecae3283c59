//! Transformation back from a balanced matrix.
//!
//! `V ← P D V` (right) or `V ← P D⁻¹ V` (left), LAPACK: dgebak, sgebak, zgebak, cgebak. The balancing is discrete and
//! has no tangents, so that the map is linear and its own rule,
//!
//! ```text
//! dV ← P D dV      dV ← P D⁻¹ dV
//! ```

use nalgebra::DMatrixViewMut;
use num_traits::One;

use crate::error::Error;
use crate::ffi;
use crate::flags::{BalanceJob, Side};
use crate::lanes::{Part, gather_primal, scatter_primal};
use crate::routine::gebal::Balance;
use crate::routine::{Parts, native};
use crate::scalar::{BaseOf, Scalar, TangentBatch};
use crate::scratch::with_scratch;

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

/// What gebak does, in every part of the entries.
fn pushforward<P: Parts>(
    job: BalanceJob,
    side: Side,
    balance: &Balance<BaseOf<P>>,
    mut v: DMatrixViewMut<'_, P>,
) {
    if matches!(job, BalanceJob::Scale | BalanceJob::Both) && balance.ilo != balance.ihi {
        for i in balance.ilo - 1..balance.ihi {
            let factor = match side {
                Side::Right => balance.scale[i],
                Side::Left => BaseOf::<P>::one() / balance.scale[i],
            };
            v.row_mut(i).iter_mut().for_each(|x| *x = x.times(factor));
        }
    }
    if matches!(job, BalanceJob::Permute | BalanceJob::Both) {
        for (i, j) in balance.view().interchanges().rev() {
            v.swap_rows(i, j);
        }
    }
}

impl<D: TangentBatch> Gebak for D {
    fn gebak(
        job: BalanceJob,
        side: Side,
        balance: &Balance<BaseOf<Self>>,
        mut v: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        let (n, m) = v.shape();
        with_scratch::<D::Primal, _>(n * m, |buffer| {
            let mut primal = DMatrixViewMut::from_slice(buffer, n, m);
            gather_primal(&v.as_view(), Part::All, &mut primal);
            D::Primal::gebak(job, side, balance, primal.as_view_mut())?;
            pushforward(job, side, balance, v.as_view_mut());
            scatter_primal(&primal.as_view(), Part::All, &mut v);
            Ok(())
        })
    }
}
