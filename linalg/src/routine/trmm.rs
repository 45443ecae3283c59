//! Product with a triangular matrix.
//!
//! `B ← α op(A) B` (left) or `B ← α B op(A)` (right), BLAS: dtrmm, strmm, ztrmm, ctrmm. The rule is the product rule,
//!
//! ```text
//! left:  dB ← α (op(A) dB + op(dA) B) + dα op(A) B
//! right: dB ← α (dB op(A) + B op(dA)) + dα B op(A)
//! ```
//!
//! where `dA` is the triangle that is read (without its diagonal when that is taken as one).
//! An `α` of zero is a number like any other, as in [`Gemm`](crate::Gemm).

use nalgebra::{DMatrixView, DMatrixViewMut};
use num_traits::One;

use crate::error::Error;
use crate::flags::{Diag, Side, Trans, Uplo};
use crate::lanes::{
    Carver, Part, coefficient, gather_lanes, gather_primal, is_constant, poison_overflow, scatter_lanes,
    scatter_primal,
};
use crate::level3;
use crate::routine::{Gemm, native};
use crate::scalar::{Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::{fits, square};

/// Product with a triangular matrix.
pub trait Trmm: Scalar {
    /// `B ← α op(A) B` (left) or `B ← α B op(A)` (right); only the triangle `uplo` of `A` is read.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `A` is square and fits `B` on that side.
    fn trmm(
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
fn dimensions(side: Side, a: (usize, usize), b: (usize, usize)) -> Result<(usize, usize, usize), Error> {
    let order = square("trmm", a)?;
    match side {
        Side::Left => fits("trmm", "B with as many rows as A", order, b.0, b)?,
        Side::Right => fits("trmm", "B with as many columns as A has rows", order, b.1, b)?,
    }
    Ok((order, b.0, b.1))
}

native!(Trmm {
    fn trmm(
        side: Side,
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        alpha: Self,
        a: DMatrixView<'_, Self>,
        b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        dimensions(side, a.shape(), b.shape())?;
        level3::trmm(side, uplo, trans, diag, alpha, a, b);
        Ok(())
    }
});

impl<D: TangentBatch> Trmm for D {
    fn trmm(
        side: Side,
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        alpha: Self,
        a: DMatrixView<'_, Self>,
        mut b: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        let (order, m, n) = dimensions(side, a.shape(), b.shape())?;
        let lanes = D::TANGENTS;
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
            let b0_view = b0.as_view();
            match side {
                Side::Left => {
                    D::Primal::trmm(side, uplo, trans, diag, alpha0, a0, db.wide_mut())?;
                    let tall = db.tall_mut();
                    D::Primal::gemm(Trans::NoTrans, Trans::NoTrans, alpha0, da.tall(), b0_view, one, tall)?;
                }
                Side::Right => {
                    D::Primal::trmm(side, uplo, trans, diag, alpha0, a0, db.tall_mut())?;
                    let wide = db.wide_mut();
                    D::Primal::gemm(Trans::NoTrans, Trans::NoTrans, alpha0, b0_view, da.wide(), one, wide)?;
                }
            }
            if !is_constant(&alpha) {
                let mut product = carve.matrix(m, n);
                product.copy_from(&b0);
                D::Primal::trmm(side, uplo, trans, diag, one, a0, product.as_view_mut())?;
                db.add_lane_multiples(coefficient(alpha), &product.as_view());
            }
            D::Primal::trmm(side, uplo, trans, diag, alpha0, a0, b0.as_view_mut())?;
            scatter_primal(&b0.as_view(), Part::All, &mut b);
            scatter_lanes(&db, Part::All, &mut b);
            poison_overflow(&mut b);
            Ok(())
        })
    }
}
