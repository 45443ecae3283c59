//! Solve with an LU factorization.
//!
//! `op(A) X = B` where `P A = L U` is given, LAPACK: dgetrs, sgetrs, zgetrs, cgetrs. Two half steps, so that a lane
//! costs O(n² r) and neither `dA` nor an inverse is formed:
//!
//! ```text
//! A X = B:      Y = U X           L Z = P dB − dL Y       U dX = Z − dU X
//! op(A) X = B:  W = op(L) P X     op(U) Z = dB − op(dU) W     op(L) P dX = Z − op(dL) P X
//! ```

use nalgebra::{DMatrixView, DMatrixViewMut};
use num_complex::Complex;

use crate::error::Error;
use crate::flags::{Diag, Side, Trans, Uplo};
use crate::lanes::Part;
use crate::lapack::Lapack;
use crate::routine::getrf::interchanges;
use crate::routine::native;
use crate::routine::triangles::{self, Triangle};
use crate::scalar::{Scalar, TangentBatch};
use crate::shape::{columns_apart, rows_of, square};
use crate::{ffi, kernel};

/// Solve with an LU factorization.
pub trait Getrs: Scalar {
    /// Overwrites `B` by `op(A)⁻¹ B`, where `a` and `ipiv` are what [`Getrf`](crate::Getrf) computed.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square, `b` has as many rows and the pivots lie in 1..=n,
    /// [`Error::NonFinite`] for NaN or infinity, [`Error::Singular`] for a pivot that is exactly zero; `B` is then
    /// left as it was.
    fn getrs(
        trans: Trans,
        a: DMatrixView<'_, Self>,
        ipiv: &[i32],
        b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error>;

    /// The solve with `A` for fronts; see [`front_getrf`](crate::Getrf::front_getrf).
    #[doc(hidden)]
    fn front_getrs(a: DMatrixView<'_, Self>, ipiv: &[i32], b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        Self::getrs(Trans::NoTrans, a, ipiv, b)
    }
}

native!(@each Getrs {
    fn getrs(
        trans: Trans,
        a: DMatrixView<'_, Self>,
        ipiv: &[i32],
        b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        ffi::getrs(trans, a, ipiv, b)
    }
} Complex<f32>, Complex<f64>);

native!(@each Getrs {
    fn getrs(
        trans: Trans,
        a: DMatrixView<'_, Self>,
        ipiv: &[i32],
        b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        ffi::getrs(trans, a, ipiv, b)
    }

    fn front_getrs(
        a: DMatrixView<'_, Self>,
        ipiv: &[i32],
        mut b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        if kernel::lu::solve(a, ipiv, kernel::floats(a), kernel::floats_mut(b.as_view_mut())) {
            return Ok(());
        }
        ffi::getrs(Trans::NoTrans, a, ipiv, b)
    }
} f32, f64);

/// Solves for right-hand sides that may hold anything, such as the tangents of all lanes.
pub(crate) fn solve<P: Lapack>(
    lu: DMatrixView<'_, P>,
    ipiv: &[i32],
    mut b: DMatrixViewMut<'_, P>,
) -> Result<(), Error> {
    interchanges(ipiv).for_each(|(i, j)| b.swap_rows(i, j));
    let (one, no) = (P::one(), Trans::NoTrans);
    P::trsm(Side::Left, Uplo::Lower, no, Diag::Unit, one, lu, b.as_view_mut())?;
    P::trsm(Side::Left, Uplo::Upper, no, Diag::NonUnit, one, lu, b)
}

/// The factors as a product of two triangles in the order in which they are solved with: `A = L U`, or
/// `op(A) = op(U) op(L)`.
pub(crate) fn factors(trans: Trans) -> [Triangle; 2] {
    let l = Triangle { uplo: Uplo::Lower, trans, diag: Diag::Unit };
    let u = Triangle { uplo: Uplo::Upper, trans, diag: Diag::NonUnit };
    if trans.swaps() { [u, l] } else { [l, u] }
}

impl<D: TangentBatch> Getrs for D {
    fn getrs(
        trans: Trans,
        a: DMatrixView<'_, Self>,
        ipiv: &[i32],
        mut b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        let n = square("getrs", a.shape())?;
        rows_of("getrs", n, b.shape())?;
        columns_apart("getrs", &a)?;
        // The half steps work on P B for A X = B, and on P X otherwise.
        let (before, after) = if trans.swaps() { (&ipiv[..0], ipiv) } else { (ipiv, &ipiv[..0]) };
        triangles::solve(factors(trans), a, Part::All, &mut b, |lu, mut x, b| {
            D::Primal::getrs(trans, lu, ipiv, x.as_view_mut())?;
            interchanges(before).for_each(|(i, j)| b.swap_rows(i, j));
            interchanges(after).for_each(|(i, j)| x.swap_rows(i, j));
            Ok(())
        })?;
        interchanges(after).rev().for_each(|(i, j)| b.swap_rows(i, j));
        Ok(())
    }
}
