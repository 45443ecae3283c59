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
use crate::lanes::{
    Carver, Lanes, Part, gather_lanes, gather_primal, poison_overflow, scatter_lanes, scatter_primal,
};
use crate::lapack::Lapack;
use crate::routine::getrf::interchanges;
use crate::routine::native;
use crate::scalar::{Scalar, TangentBatch};
use crate::scratch::with_scratch;
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
fn triangles(trans: Trans) -> [(Uplo, Diag, Part); 2] {
    let l = (Uplo::Lower, Diag::Unit, Part::Strict(Uplo::Lower));
    let u = (Uplo::Upper, Diag::NonUnit, Part::Triangle(Uplo::Upper));
    if trans.swaps() { [u, l] } else { [l, u] }
}

/// `dB` becomes `dX`, where both, `X`, and the scratch `w` that comes in as `X`, have the rows of `op(L) op(U)` or
/// `op(U) op(L)`; `gather` fills lanes of zeros with those of `op` of one factor.
pub(crate) fn pushforward<P: Lapack>(
    trans: Trans,
    lu: DMatrixView<'_, P>,
    mut gather: impl FnMut(Part, &mut Lanes<'_, P>),
    factor: &mut Lanes<'_, P>,
    x: DMatrixView<'_, P>,
    mut w: DMatrixViewMut<'_, P>,
    db: &mut Lanes<'_, P>,
) -> Result<(), Error> {
    let one = P::one();
    let [(first, first_diag, first_part), (second, second_diag, second_part)] = triangles(trans);
    P::trmm(Side::Left, second, trans, second_diag, one, lu, w.as_view_mut())?;
    for (uplo, diag, part, known) in
        [(first, first_diag, first_part, w.as_view()), (second, second_diag, second_part, x)]
    {
        factor.tall_mut().fill(P::zero());
        gather(part, factor);
        P::gemm(Trans::NoTrans, Trans::NoTrans, -one, factor.tall(), known, one, db.tall_mut())?;
        P::trsm(Side::Left, uplo, trans, diag, one, lu, db.wide_mut())?;
    }
    Ok(())
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
        let (r, lanes) = (b.ncols(), D::TANGENTS);
        with_scratch::<D::Primal, _>((n * n + n * r) * (1 + lanes) + n * r, |buffer| {
            let mut carve = Carver::new(buffer);
            let mut lu = carve.matrix(n, n);
            let mut x = carve.matrix(n, r);
            let mut w = carve.matrix(n, r);
            let mut factor = carve.lanes(n, lanes, n);
            let mut db = carve.lanes(n, lanes, r);
            gather_primal(&a, Part::All, &mut lu);
            gather_primal(&b.as_view(), Part::All, &mut x);
            D::Primal::getrs(trans, lu.as_view(), ipiv, x.as_view_mut())?;
            // The half steps work on P B for A X = B, and on P X otherwise.
            let (before, after) = if trans.swaps() { (&ipiv[..0], ipiv) } else { (ipiv, &ipiv[..0]) };
            interchanges(before).for_each(|(i, j)| b.swap_rows(i, j));
            gather_lanes(&b.as_view(), Part::All, Trans::NoTrans, &mut db);
            interchanges(after).for_each(|(i, j)| x.swap_rows(i, j));
            w.copy_from(&x);
            let gather = |part, to: &mut Lanes<'_, _>| gather_lanes(&a, part, trans, to);
            pushforward(trans, lu.as_view(), gather, &mut factor, x.as_view(), w, &mut db)?;
            scatter_primal(&x.as_view(), Part::All, &mut b);
            scatter_lanes(&db, Part::All, &mut b);
            interchanges(after).rev().for_each(|(i, j)| b.swap_rows(i, j));
            poison_overflow(&mut b);
            Ok(())
        })
    }
}
