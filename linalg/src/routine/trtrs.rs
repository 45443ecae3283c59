//! Checked solve with a triangular matrix.
//!
//! `op(A) X = B`, LAPACK: dtrtrs, strtrs, ztrtrs, ctrtrs. As [`Trsm`](crate::Trsm) from the left, with an error for a
//! zero on the diagonal:
//!
//! ```text
//! dX = op(A)⁻¹ (dB − op(dA) X)
//! ```

use nalgebra::{DMatrixView, DMatrixViewMut};

use crate::error::Error;
use crate::ffi;
use crate::flags::{Diag, Side, Trans, Uplo};
use crate::lanes::{
    Carver, Lanes, Part, gather_lanes, gather_primal, poison_overflow, scatter_lanes, scatter_primal,
};
use crate::lapack::Lapack;
use crate::routine::native;
use crate::scalar::{Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::{columns_apart, rows_of, square};

/// Checked solve with a triangular matrix.
pub trait Trtrs: Scalar {
    /// Overwrites `B` by `op(A)⁻¹ B`; only the triangle `uplo` of `A` is read, without its diagonal if that is taken
    /// as one.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `A` is square and `B` has as many rows, [`Error::NonFinite`] for NaN or infinity in
    /// what is read, [`Error::Singular`] for a zero on the diagonal; `B` is then left as it was.
    fn trtrs(
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        a: DMatrixView<'_, Self>,
        b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error>;
}

native!(Trtrs {
    fn trtrs(
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        a: DMatrixView<'_, Self>,
        b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        ffi::trtrs(uplo, trans, diag, a, b)
    }
});

/// `dB` becomes `dX`; `da` holds the lanes of `op(A)`.
fn pushforward<P: Lapack>(
    (uplo, trans, diag): (Uplo, Trans, Diag),
    a: DMatrixView<'_, P>,
    da: &Lanes<'_, P>,
    x: DMatrixView<'_, P>,
    db: &mut Lanes<'_, P>,
) -> Result<(), Error> {
    let one = P::one();
    P::gemm(Trans::NoTrans, Trans::NoTrans, -one, da.tall(), x, one, db.tall_mut())?;
    P::trsm(Side::Left, uplo, trans, diag, one, a, db.wide_mut())
}

impl<D: TangentBatch> Trtrs for D {
    fn trtrs(
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        a: DMatrixView<'_, Self>,
        mut b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        let n = square("trtrs", a.shape())?;
        rows_of("trtrs", n, b.shape())?;
        columns_apart("trtrs", &a)?;
        let (r, lanes) = (b.ncols(), D::TANGENTS);
        let part = if diag == Diag::Unit { Part::Strict(uplo) } else { Part::Triangle(uplo) };
        with_scratch::<D::Primal, _>((n * n + n * r) * (1 + lanes), |buffer| {
            let mut carve = Carver::new(buffer);
            let mut a0 = carve.matrix(n, n);
            let mut x = carve.matrix(n, r);
            let mut da = carve.lanes(n, lanes, n);
            let mut db = carve.lanes(n, lanes, r);
            gather_primal(&a, part, &mut a0);
            gather_primal(&b.as_view(), Part::All, &mut x);
            D::Primal::trtrs(uplo, trans, diag, a0.as_view(), x.as_view_mut())?;
            gather_lanes(&a, part, trans, &mut da);
            gather_lanes(&b.as_view(), Part::All, Trans::NoTrans, &mut db);
            pushforward((uplo, trans, diag), a0.as_view(), &da, x.as_view(), &mut db)?;
            scatter_primal(&x.as_view(), Part::All, &mut b);
            scatter_lanes(&db, Part::All, &mut b);
            poison_overflow(&mut b);
            Ok(())
        })
    }
}
