//! Solve with a triangular matrix.
//!
//! `op(A) X = α B` (left) or `X op(A) = α B` (right), BLAS: dtrsm, strsm, ztrsm, ctrsm. Differentiating the equation,
//!
//! ```text
//! left:  dX = op(A)⁻¹ (α dB + dα B − op(dA) X)
//! right: dX = (α dB + dα B − X op(dA)) op(A)⁻¹
//! ```
//!
//! where `dA` is the triangle that is read (without its diagonal when that is taken as one). A zero on the diagonal
//! is not an error here but a division by zero, as in BLAS; [`Trtrs`](crate::Trtrs) checks.
//! An `α` of zero is a number like any other, as in [`Gemm`](crate::Gemm).

use nalgebra::{DMatrixView, DMatrixViewMut};
use num_traits::One;

use crate::error::Error;
use crate::flags::{Diag, Side, Trans, Uplo};
use crate::kernel::{inline, tangents};
use crate::lanes::{
    Carver, Part, coefficient, gather_lanes, gather_primal, is_constant, poison_overflow, scatter_lanes,
    scatter_primal,
};
use crate::level3;
use crate::routine::{Gemm, Parts, native};
use crate::scalar::{Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::{fits, square};

/// Solve with a triangular matrix, unchecked as in BLAS.
pub trait Trsm: Scalar {
    /// `B ← α op(A)⁻¹ B` (left) or `B ← α B op(A)⁻¹` (right); only the triangle `uplo` of `A` is read.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `A` is square and fits `B` on that side.
    fn trsm(
        side: Side,
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        alpha: Self,
        a: DMatrixView<'_, Self>,
        b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error>;
}

/// Checks the shapes; returns (order of A, rows of B, columns of B).
#[inline(always)]
fn dimensions(side: Side, a: (usize, usize), b: (usize, usize)) -> Result<(usize, usize, usize), Error> {
    let order = square("trsm", a)?;
    match side {
        Side::Left => fits("trsm", "B with as many rows as A", order, b.0, b)?,
        Side::Right => fits("trsm", "B with as many columns as A has rows", order, b.1, b)?,
    }
    Ok((order, b.0, b.1))
}

native!(Trsm {
    fn trsm(
        side: Side,
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        alpha: Self,
        a: DMatrixView<'_, Self>,
        b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        dimensions(side, a.shape(), b.shape())?;
        level3::trsm(side, uplo, trans, diag, alpha, a, b);
        Ok(())
    }
});

/// Whether a triangle is solved with from the first unknown on.
#[inline(always)]
fn is_forward(side: Side, uplo: Uplo, trans: Trans) -> bool {
    ((uplo == Uplo::Lower) != trans.swaps()) == (side == Side::Left)
}

impl<D: TangentBatch> Trsm for D {
    #[inline(always)]
    fn trsm(
        side: Side,
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        alpha: Self,
        a: DMatrixView<'_, Self>,
        mut b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        let (order, m, n) = dimensions(side, a.shape(), b.shape())?;
        if tangents::is_tiny(&[m, n])
            && is_forward(side, uplo, trans)
            && is_constant(&alpha)
            && (alpha.primal() - D::Primal::one()).all_zero()
            && let Some(t) = D::interleaved_ref(a)
            && let Some(x) = D::interleaved(b.as_view_mut())
        {
            let (right, lower, unit) = (side == Side::Right, uplo == Uplo::Lower, diag == Diag::Unit);
            let t = (t, trans.swaps());
            let done = if m == n && inline::is_for_inline(order) {
                inline::solve(right, lower, t, unit, x)
            } else {
                tangents::tiny_solve(right, lower, t, unit, x)
            };
            if done {
                return Ok(());
            }
        }
        general(side, uplo, trans, diag, alpha, a, b)
    }
}

/// The solve with matrices of any size, whose shapes fit.
#[inline(never)]
fn general<D: TangentBatch>(
    side: Side,
    uplo: Uplo,
    trans: Trans,
    diag: Diag,
    alpha: D,
    a: DMatrixView<'_, D>,
    mut b: DMatrixViewMut<'_, D>,
) -> Result<(), Error> {
    let ((m, n), order) = (b.shape(), a.nrows());
    let lanes = D::TANGENTS;
    if tangents::is_small(lanes, &[m, n]) && small(side, uplo, trans, diag, alpha, a, b.as_view_mut())? {
        poison_overflow(&mut b);
        return Ok(());
    }
    let part = if diag == Diag::Unit { Part::Strict(uplo) } else { Part::Triangle(uplo) };
    let len = (order * order + m * n) * (lanes + 1) + m * n;
    with_scratch::<D::Primal, _>(len, |buffer| {
        let mut carve = Carver::new(buffer);
        let mut a0 = carve.matrix(order, order);
        let mut b0 = carve.matrix(m, n);
        let mut da = carve.lanes(order, lanes, order);
        let mut db = carve.lanes(m, lanes, n);
        gather_primal(&a, part, &mut a0);
        gather_primal(&b.as_view(), Part::All, &mut b0);
        gather_lanes(&a, part, trans, &mut da);
        gather_lanes(&b.as_view(), Part::All, Trans::NoTrans, &mut db);
        let (alpha0, one) = (alpha.primal(), D::Primal::one());
        let a0 = a0.as_view();
        // dB becomes α dB + dα B, then minus op(dA) X, and is solved for.
        db.scale(alpha0);
        db.add_lane_multiples(coefficient(alpha), &b0.as_view());
        D::Primal::trsm(side, uplo, trans, diag, alpha0, a0, b0.as_view_mut())?;
        let x = b0.as_view();
        match side {
            Side::Left => {
                D::Primal::gemm(Trans::NoTrans, Trans::NoTrans, -one, da.tall(), x, one, db.tall_mut())?;
                D::Primal::trsm(side, uplo, trans, diag, one, a0, db.wide_mut())?;
            }
            Side::Right => {
                D::Primal::gemm(Trans::NoTrans, Trans::NoTrans, -one, x, da.wide(), one, db.wide_mut())?;
                D::Primal::trsm(side, uplo, trans, diag, one, a0, db.tall_mut())?;
            }
        }
        scatter_primal(&b0.as_view(), Part::All, &mut b);
        scatter_lanes(&db, Part::All, &mut b);
        poison_overflow(&mut b);
        Ok(())
    })
}

/// The lanes of small matrices where they are, if there is a kernel for this scalar.
fn small<D: TangentBatch>(
    side: Side,
    uplo: Uplo,
    trans: Trans,
    diag: Diag,
    alpha: D,
    a: DMatrixView<'_, D>,
    mut b: DMatrixViewMut<'_, D>,
) -> Result<bool, Error> {
    let Some(da) = D::interleaved_ref(a).filter(|a| a.is_first_order()) else { return Ok(false) };
    let ((m, n), order) = (b.shape(), a.nrows());
    let unit = diag == Diag::Unit;
    with_scratch::<D::Primal, _>(order * order + m * n, |buffer| {
        let mut carve = Carver::new(buffer);
        let mut a0 = carve.matrix(order, order);
        let mut x = carve.matrix(m, n);
        gather_primal(&a, if unit { Part::Strict(uplo) } else { Part::Triangle(uplo) }, &mut a0);
        gather_primal(&b.as_view(), Part::All, &mut x);
        // A factor of exactly one leaves infinities and NaN where they are.
        let alpha0 = alpha.primal();
        if !(alpha0 - D::Primal::one()).all_zero() {
            for x in b.iter_mut() {
                (0..D::TANGENTS).for_each(|k| x.set_lane(k, x.lane(k) * alpha0));
            }
        }
        for k in 0..D::TANGENTS {
            if let Some(f) = coefficient(alpha)(k) {
                b.iter_mut().zip(x.iter()).for_each(|(b, &x)| b.set_lane(k, b.lane(k) + f * x));
            }
        }
        D::Primal::trsm(side, uplo, trans, diag, alpha0, a0.as_view(), x.as_view_mut())?;
        scatter_primal(&x.as_view(), Part::All, &mut b);
        if let Some(lanes) = D::interleaved(b) {
            let lower = uplo == Uplo::Lower;
            tangents::solve(side == Side::Right, lower, (da, trans.swaps()), unit, lanes, false);
        }
        Ok(true)
    })
}
