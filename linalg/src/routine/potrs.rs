//! Solve with a Cholesky factor.
//!
//! `A X = B` where `A = F Fᴴ` is given by its factor `F = L` (`Lower`) or `F = Uᴴ` (`Upper`), LAPACK: dpotrs, spotrs,
//! zpotrs, cpotrs. Two half steps, so that a lane costs O(n² r) and `dA` is never formed:
//!
//! ```text
//! W = Fᴴ X      F Z = dB − dF W      Fᴴ dX = Z − dFᴴ X
//! ```

use nalgebra::{DMatrixView, DMatrixViewMut};
use num_complex::Complex;

use crate::error::Error;
use crate::flags::{Diag, Trans, Uplo};
use crate::lanes::{Carver, Part, gather_primal, poison_overflow, scatter_primal};
use crate::routine::native;
use crate::routine::triangles::{self, Triangle};
use crate::scalar::{Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::{columns_apart, rows_of, square};
use crate::{ffi, kernel};

/// Solve with a Cholesky factor.
pub trait Potrs: Scalar {
    /// Overwrites `B` by `A⁻¹ B`, where the triangle `uplo` of `a` holds the factor that [`Potrf`](crate::Potrf)
    /// computed.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square and `b` has as many rows, [`Error::NonFinite`] for NaN or infinity in
    /// either.
    fn potrs(uplo: Uplo, a: DMatrixView<'_, Self>, b: DMatrixViewMut<'_, Self>) -> Result<(), Error>;

    /// The solve with a lower factor for fronts: as [`potrs`](Potrs::potrs), but with a tiny real factor without a call
    /// of LAPACK; see [`front_potrf`](crate::Potrf::front_potrf).
    #[doc(hidden)]
    fn front_potrs(a: DMatrixView<'_, Self>, b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        Self::potrs(Uplo::Lower, a, b)
    }
}

native!(@each Potrs {
    fn potrs(uplo: Uplo, a: DMatrixView<'_, Self>, b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        ffi::potrs(uplo, a, b)
    }
} Complex<f32>, Complex<f64>);

native!(@each Potrs {
    fn potrs(uplo: Uplo, a: DMatrixView<'_, Self>, b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        ffi::potrs(uplo, a, b)
    }

    fn front_potrs(a: DMatrixView<'_, Self>, mut b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        let tiny = kernel::cholesky::solve(kernel::floats(a), kernel::floats_mut(b.as_view_mut()));
        tiny.unwrap_or_else(|| ffi::potrs(Uplo::Lower, a, b))
    }
} f32, f64);

/// The operations that turn the stored triangle into `F` and into `Fᴴ`.
pub(crate) fn factor_ops(uplo: Uplo) -> (Trans, Trans) {
    match uplo {
        Uplo::Lower => (Trans::NoTrans, Trans::ConjTrans),
        Uplo::Upper => (Trans::ConjTrans, Trans::NoTrans),
    }
}

/// With so few right-hand sides a tangent of the factor is used too seldom to be worth copying into planes.
const FEW: usize = 4;

/// The kernel for interleaved lanes, if there is one for this scalar.
fn interleaved<D: TangentBatch>(
    uplo: Uplo,
    a: DMatrixView<'_, D>,
    mut b: DMatrixViewMut<'_, D>,
    primal_solve: &impl Fn(DMatrixView<'_, D::Primal>, DMatrixViewMut<'_, D::Primal>) -> Result<(), Error>,
) -> Result<bool, Error> {
    let Some(factor) = D::interleaved_ref(a).filter(|factor| factor.is_first_order()) else {
        return Ok(false);
    };
    let ((n, r), part) = (b.shape(), Part::Triangle(uplo));
    with_scratch::<D::Primal, _>(n * n + n * r, |buffer| {
        let mut carve = Carver::new(buffer);
        let (mut primal, mut x) = (carve.matrix(n, n), carve.matrix(n, r));
        gather_primal(&a, part, &mut primal);
        gather_primal(&b.as_view(), Part::All, &mut x);
        primal_solve(primal.as_view(), x.as_view_mut())?;
        scatter_primal(&x.as_view(), Part::All, &mut b);
        Ok(D::interleaved(b).is_some_and(|b| kernel::cholesky::potrs(uplo, factor, b)))
    })
}

impl<D: TangentBatch> Potrs for D {
    fn potrs(uplo: Uplo, a: DMatrixView<'_, Self>, b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        solve(uplo, a, b, &|a, b| D::Primal::potrs(uplo, a, b))
    }

    fn front_potrs(a: DMatrixView<'_, Self>, mut b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        let tiny = D::interleaved_ref(a).zip(D::interleaved(b.as_view_mut()));
        let tiny = tiny.and_then(|(a, b)| kernel::cholesky::solve(a, b));
        match tiny {
            Some(solved) => {
                solved?;
                poison_overflow(&mut b);
                Ok(())
            }
            None => solve(Uplo::Lower, a, b, &|a, b| D::Primal::front_potrs(a, b)),
        }
    }
}

/// Primal by `primal_solve`, then the lanes.
fn solve<D: TangentBatch>(
    uplo: Uplo,
    a: DMatrixView<'_, D>,
    mut b: DMatrixViewMut<'_, D>,
    primal_solve: &impl Fn(DMatrixView<'_, D::Primal>, DMatrixViewMut<'_, D::Primal>) -> Result<(), Error>,
) -> Result<(), Error> {
    let n = square("potrs", a.shape())?;
    rows_of("potrs", n, b.shape())?;
    columns_apart("potrs", &a)?;
    let (r, part) = (b.ncols(), Part::Triangle(uplo));
    if (n <= kernel::cholesky::POTRF_LIMIT || r <= FEW)
        && interleaved(uplo, a, b.as_view_mut(), primal_solve)?
    {
        poison_overflow(&mut b);
        return Ok(());
    }
    let (f, fh) = factor_ops(uplo);
    let factors = [f, fh].map(|trans| Triangle { uplo, trans, diag: Diag::NonUnit });
    triangles::solve(factors, a, part, &mut b, |factor, x, _| primal_solve(factor, x))
}
