//! Cholesky factorization.
//!
//! `A = L Lᴴ` (`Lower`) or `A = Uᴴ U` (`Upper`), LAPACK: dpotrf, spotrf, zpotrf, cpotrf. Only the triangle `uplo` of
//! `A` is read; it defines the whole (Hermitian) matrix, in the value and in every tangent. From `dA = dL Lᴴ + L dLᴴ`,
//!
//! ```text
//! dL = L Φ(L⁻¹ dA L⁻ᴴ)        dU = Φ(U⁻ᴴ dA U⁻¹) U
//! ```
//!
//! where `Φ` keeps the triangle and halves its diagonal, which is real (Murray, arXiv 1602.07527, eq. 8). Small real
//! matrices take the recurrence of the algorithm itself on interleaved lanes, which has the same error.
//!
//! The gauge is LAPACK's: a positive diagonal. At a semidefinite matrix the derivative is infinite and the
//! factorization an error.

use nalgebra::{DMatrixView, DMatrixViewMut, convert};

use crate::error::Error;
use crate::flags::{Diag, Side, Trans, Uplo};
use crate::lanes::{
    Carver, Lanes, Part, gather_hermitian, gather_primal, poison_lanes, real, scatter_lanes, scatter_primal,
};
use crate::lapack::Lapack;
use crate::routine::native;
use crate::scalar::{Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::square;
use crate::{ffi, kernel};

/// Cholesky factorization.
pub trait Potrf: Scalar {
    /// Overwrites the triangle `uplo` of `A` by its Cholesky factor; the other triangle is neither read nor written.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `A` is square, [`Error::NonFinite`] for NaN or infinity in the triangle, and
    /// [`Error::NotPositiveDefinite`]: then the triangle holds what LAPACK left there, with NaN tangents.
    ///
    /// ```
    /// use dualpack_linalg::{Potrf, Uplo};
    /// use nalgebra::DMatrix;
    /// let mut a = DMatrix::from_row_slice(2, 2, &[4.0, f64::NAN, 2.0, 5.0]);
    /// f64::potrf(Uplo::Lower, a.as_view_mut())?;
    /// assert_eq!((a[(0, 0)], a[(1, 0)], a[(1, 1)]), (2.0, 1.0, 2.0));
    /// # Ok::<(), dualpack_linalg::Error>(())
    /// ```
    fn potrf(uplo: Uplo, a: DMatrixViewMut<'_, Self>) -> Result<(), Error>;
}

native!(Potrf {
    fn potrf(uplo: Uplo, a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        ffi::potrf(uplo, a)
    }
});

/// `dA`, full Hermitian matrices, becomes `dL` or `dU` in the triangle; the rest is zero.
pub(crate) fn pushforward<P: Lapack>(
    uplo: Uplo,
    factor: DMatrixView<'_, P>,
    da: &mut Lanes<'_, P>,
) -> Result<(), Error> {
    let (one, half) = (P::one(), convert::<f64, P>(0.5));
    // F = L or Uᴴ, so that A = F Fᴴ: F⁻¹ dA F⁻ᴴ.
    let (left, right) = match uplo {
        Uplo::Lower => (Trans::NoTrans, Trans::ConjTrans),
        Uplo::Upper => (Trans::ConjTrans, Trans::NoTrans),
    };
    P::trsm(Side::Left, uplo, left, Diag::NonUnit, one, factor, da.wide_mut())?;
    P::trsm(Side::Right, uplo, right, Diag::NonUnit, one, factor, da.tall_mut())?;
    let n = factor.nrows();
    for k in 0..da.count() {
        for j in 0..n {
            let kept = Part::Strict(uplo).rows(n, j);
            let diagonal = real(da.at(k, j, j)) * half;
            for (i, x) in da.column_mut(k, j).iter_mut().enumerate() {
                if i == j {
                    *x = diagonal;
                } else if !kept.contains(&i) {
                    *x = P::zero();
                }
            }
        }
    }
    match uplo {
        Uplo::Lower => P::trmm(Side::Left, uplo, left, Diag::NonUnit, one, factor, da.wide_mut()),
        Uplo::Upper => P::trmm(Side::Right, uplo, right, Diag::NonUnit, one, factor, da.tall_mut()),
    }
}

impl<D: TangentBatch> Potrf for D {
    fn potrf(uplo: Uplo, mut a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        let n = square("potrf", a.shape())?;
        let part = Part::Triangle(uplo);
        let interleaved = n <= kernel::POTRF_LIMIT && D::interleaved(a.as_view_mut()).is_some();
        let lanes = if interleaved { 0 } else { D::TANGENTS };
        with_scratch::<D::Primal, _>(n * n * (1 + lanes), |buffer| {
            let mut carve = Carver::new(buffer);
            let mut factor = carve.matrix(n, n);
            gather_primal(&a.as_view(), part, &mut factor);
            let primal = D::Primal::potrf(uplo, factor.as_view_mut());
            if let Err(error) = primal {
                // An input that was refused is left as it was.
                if matches!(error, Error::NotPositiveDefinite { .. }) {
                    scatter_primal(&factor.as_view(), part, &mut a);
                    poison_lanes(part, &mut a);
                }
                return Err(error);
            }
            if interleaved {
                scatter_primal(&factor.as_view(), part, &mut a);
                if let Some(entries) = D::interleaved(a) {
                    kernel::potrf(uplo, entries);
                }
                return Ok(());
            }
            let mut da = carve.lanes(n, lanes, n);
            gather_hermitian(&a.as_view(), uplo, &mut da);
            pushforward(uplo, factor.as_view(), &mut da)?;
            scatter_primal(&factor.as_view(), part, &mut a);
            scatter_lanes(&da, part, &mut a);
            Ok(())
        })
    }
}
