//! Symmetric product with a transpose.
//!
//! One triangle of `C ← α A Aᵀ + β C` (`NoTrans`), `α Aᵀ A + β C` (`Trans`) or `α Aᴴ A + β C` (`ConjTrans`), BLAS:
//! dsyrk, ssyrk, zsyrk, csyrk. With `B = op(A)` and `W = dB op(A)'`, where `'` is the transpose that belongs to `op`,
//!
//! ```text
//! dC ← α (W + W') + dα B B' + β dC + dβ C
//! ```
//!
//! in the triangle; the other one is neither read nor written.

use nalgebra::{ComplexField, DMatrixView, DMatrixViewMut};
use num_traits::{One, Zero};

use crate::error::Error;
use crate::flags::{Trans, Uplo};
use crate::lanes::{
    Carver, Part, coefficient, gather_lanes, gather_primal, is_constant, poison_overflow_in, scatter_lanes,
    scatter_primal,
};
use crate::level3;
use crate::routine::{Gemm, Parts, native};
use crate::scalar::{Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::{fits, square};

/// Symmetric product with a transpose.
pub trait Syrk: Scalar {
    /// The triangle `uplo` of `C ← α A Aᵀ + β C` (`NoTrans`) or `C ← α op(A) A + β C` (otherwise). A `β` that is zero
    /// in every part overwrites.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `C` is square with as many rows as `op(A)`.
    fn syrk(
        uplo: Uplo,
        trans: Trans,
        alpha: Self,
        a: DMatrixView<'_, Self>,
        beta: Self,
        c: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error>;
}

/// Checks the shapes; returns (order of C, inner dimension).
fn dimensions(trans: Trans, a: (usize, usize), c: (usize, usize)) -> Result<(usize, usize), Error> {
    let n = square("syrk", c)?;
    let (rows, k) = trans.shape(a);
    fits("syrk", "op(A) with as many rows as C", n, rows, a)?;
    Ok((n, k))
}

native!(Syrk {
    fn syrk(
        uplo: Uplo,
        trans: Trans,
        alpha: Self,
        a: DMatrixView<'_, Self>,
        beta: Self,
        c: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        dimensions(trans, a.shape(), c.shape())?;
        level3::syrk(uplo, trans, alpha, a, beta, c);
        Ok(())
    }
});

impl<D: TangentBatch> Syrk for D {
    fn syrk(
        uplo: Uplo,
        trans: Trans,
        alpha: Self,
        a: DMatrixView<'_, Self>,
        beta: Self,
        mut c: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        let (n, k) = dimensions(trans, a.shape(), c.shape())?;
        let (lanes, part) = (D::TANGENTS, Part::Triangle(uplo));
        let len = n * k * (lanes + 1) + n * n * (2 * lanes + 2);
        with_scratch::<D::Primal, _>(len, |buffer| {
            let mut carve = Carver::new(buffer);
            let mut a0 = carve.matrix(a.nrows(), a.ncols());
            let mut c0 = carve.matrix(n, n);
            let mut da = carve.lanes(n, lanes, k);
            let mut dc = carve.lanes(n, lanes, n);
            let mut w = carve.lanes(n, lanes, n);
            gather_primal(&a, Part::All, &mut a0);
            gather_lanes(&a, Part::All, trans, &mut da);
            if !beta.all_zero() {
                gather_primal(&c.as_view(), part, &mut c0);
                gather_lanes(&c.as_view(), part, Trans::NoTrans, &mut dc);
            }
            let (alpha0, beta0) = (alpha.primal(), beta.primal());
            let (one, zero) = (D::Primal::one(), D::Primal::zero());
            let a0 = a0.as_view();
            // The transpose of op(A), and whether the mirror image of W is a conjugate one.
            let flipped = if trans.swaps() { Trans::NoTrans } else { Trans::Trans };
            let mirror = |x: D::Primal| if trans == Trans::ConjTrans { x.conjugate() } else { x };
            D::Primal::gemm(Trans::NoTrans, flipped, one, da.tall(), a0, zero, w.tall_mut())?;
            dc.scale(beta0);
            for k in 0..lanes {
                for j in 0..n {
                    for i in part.rows(n, j) {
                        *dc.at_mut(k, i, j) += alpha0 * (w.at(k, i, j) + mirror(w.at(k, j, i)));
                    }
                }
            }
            if !is_constant(&alpha) {
                let mut product = carve.matrix(n, n);
                D::Primal::syrk(uplo, trans, one, a0, zero, product.as_view_mut())?;
                dc.add_lane_multiples(coefficient(alpha), &product.as_view());
            }
            dc.add_lane_multiples(coefficient(beta), &c0.as_view());
            D::Primal::syrk(uplo, trans, alpha0, a0, beta0, c0.as_view_mut())?;
            scatter_primal(&c0.as_view(), part, &mut c);
            scatter_lanes(&dc, part, &mut c);
            poison_overflow_in(part, &mut c);
            Ok(())
        })
    }
}
