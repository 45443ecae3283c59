//! Inverse from a Cholesky factor.
//!
//! One triangle of `X = A⁻¹` where `A = F Fᴴ` is given by its factor `F = L` (`Lower`) or `F = Uᴴ` (`Upper`), LAPACK:
//! dpotri, spotri, zpotri, cpotri. From `dX = −X dA X` with `dA = dF Fᴴ + F dFᴴ` and `Fᴴ X = F⁻¹`,
//!
//! ```text
//! K = X dF F⁻¹      dX = −(K + Kᴴ)
//! ```

use nalgebra::{ComplexField, DMatrixView, DMatrixViewMut};

use crate::error::Error;
use crate::ffi;
use crate::flags::{Diag, Side, Trans, Uplo};
use crate::lanes::{
    Carver, Lanes, Part, gather_lanes, gather_primal, poison_lanes, poison_overflow_in, real, scatter_lanes,
    scatter_primal,
};
use crate::lapack::Lapack;
use crate::routine::native;
use crate::routine::potrs::factor_ops;
use crate::scalar::{Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::square;

/// Inverse from a Cholesky factor.
pub trait Potri: Scalar {
    /// Overwrites the triangle `uplo` of `a`, which holds the factor that [`Potrf`](crate::Potrf) computed, by that
    /// triangle of `A⁻¹`; the other triangle is neither read nor written.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square, [`Error::NonFinite`] for NaN or infinity in the triangle,
    /// [`Error::Singular`] for a zero on the diagonal.
    fn potri(uplo: Uplo, a: DMatrixViewMut<'_, Self>) -> Result<(), Error>;
}

native!(Potri {
    fn potri(uplo: Uplo, a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        ffi::potri(uplo, a)
    }
});

/// The lanes of `dX`, of which the triangle counts, into `k`; `x` is the inverse in full.
fn pushforward<P: Lapack>(
    uplo: Uplo,
    factor: DMatrixView<'_, P>,
    df: &Lanes<'_, P>,
    x: DMatrixView<'_, P>,
    k: &mut Lanes<'_, P>,
) -> Result<(), Error> {
    let (one, zero) = (P::one(), P::zero());
    P::gemm(Trans::NoTrans, Trans::NoTrans, one, x, df.wide(), zero, k.wide_mut())?;
    P::trsm(Side::Right, uplo, factor_ops(uplo).0, Diag::NonUnit, one, factor, k.tall_mut())?;
    let n = x.nrows();
    for lane in 0..k.count() {
        for j in 0..n {
            for i in 0..=j {
                let sum = -(k.at(lane, i, j) + k.at(lane, j, i).conjugate());
                *k.at_mut(lane, i, j) = sum;
                *k.at_mut(lane, j, i) = sum.conjugate();
            }
        }
    }
    Ok(())
}

impl<D: TangentBatch> Potri for D {
    fn potri(uplo: Uplo, mut a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        let n = square("potri", a.shape())?;
        let (lanes, part) = (D::TANGENTS, Part::Triangle(uplo));
        with_scratch::<D::Primal, _>(n * n * (2 + 2 * lanes), |buffer| {
            let mut carve = Carver::new(buffer);
            let mut factor = carve.matrix(n, n);
            let mut x = carve.matrix(n, n);
            let mut df = carve.lanes(n, lanes, n);
            let mut k = carve.lanes(n, lanes, n);
            gather_primal(&a.as_view(), part, &mut factor);
            x.copy_from(&factor);
            if let Err(error) = D::Primal::potri(uplo, x.as_view_mut()) {
                if matches!(error, Error::Singular { .. }) {
                    scatter_primal(&x.as_view(), part, &mut a);
                    poison_lanes(part, &mut a);
                }
                return Err(error);
            }
            gather_lanes(&a.as_view(), part, factor_ops(uplo).0, &mut df);
            scatter_primal(&x.as_view(), part, &mut a);
            for j in 0..n {
                x[(j, j)] = real(x[(j, j)]);
                for i in Part::Strict(uplo).rows(n, j) {
                    x[(j, i)] = x[(i, j)].conjugate();
                }
            }
            pushforward(uplo, factor.as_view(), &df, x.as_view(), &mut k)?;
            scatter_lanes(&k, part, &mut a);
            poison_overflow_in(part, &mut a);
            Ok(())
        })
    }
}
