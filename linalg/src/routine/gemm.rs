//! General matrix product.
//!
//! `C ← α op(A) op(B) + β C`, BLAS: dgemm, sgemm, zgemm, cgemm. The rule is the product rule,
//!
//! ```text
//! dC ← α (op(A) dB + dA op(B)) + dα op(A) op(B) + β dC + dβ C
//! ```
//!
//! with all lanes of `dB` as columns of one product and all lanes of `dA` as rows of another. A `β` that is zero in
//! every part overwrites `C`, which may then hold anything. An `α` of zero is a number like any other: `A` and `B` are
//! read, as BLAS does not, and are to be finite.

use dualpack_core::Real;
use nalgebra::{DMatrixView, DMatrixViewMut};
use num_traits::{One, Zero};

use crate::error::Error;
use crate::flags::Trans;
use crate::kernel::{inline, tangents};
use crate::lanes::{
    Carver, Part, coefficient, gather_lanes, gather_primal, is_constant, poison_overflow, scatter_lanes,
    scatter_primal,
};
use crate::level3;
use crate::routine::{Parts, native};
use crate::scalar::{Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::fits;

/// General matrix product.
pub trait Gemm: Scalar {
    /// `C ← α op(A) op(B) + β C`.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `op(A)` is m x k, `op(B)` k x n and `C` m x n.
    ///
    /// ```
    /// use dualpack_linalg::{Gemm, Trans};
    /// use nalgebra::DMatrix;
    /// let (a, mut c) = (DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]), DMatrix::zeros(2, 2));
    /// f64::gemm(Trans::NoTrans, Trans::Trans, 1.0, a.as_view(), a.as_view(), 0.0, c.as_view_mut())?;
    /// assert_eq!(c, DMatrix::from_row_slice(2, 2, &[5.0, 11.0, 11.0, 25.0]));
    /// # Ok::<(), dualpack_linalg::Error>(())
    /// ```
    fn gemm(
        ta: Trans,
        tb: Trans,
        alpha: Self,
        a: DMatrixView<'_, Self>,
        b: DMatrixView<'_, Self>,
        beta: Self,
        c: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error>;
}

/// Checks the shapes; returns (m, n, k).
#[inline(always)]
fn dimensions(
    ta: Trans,
    tb: Trans,
    a: (usize, usize),
    b: (usize, usize),
    c: (usize, usize),
) -> Result<(usize, usize, usize), Error> {
    let (m, k) = ta.shape(a);
    let (kb, n) = tb.shape(b);
    fits("gemm", "op(B) with as many rows as op(A) has columns", k, kb, b)?;
    fits("gemm", "C with as many rows as op(A)", m, c.0, c)?;
    fits("gemm", "C with as many columns as op(B)", n, c.1, c)?;
    Ok((m, n, k))
}

native!(Gemm {
    fn gemm(
        ta: Trans,
        tb: Trans,
        alpha: Self,
        a: DMatrixView<'_, Self>,
        b: DMatrixView<'_, Self>,
        beta: Self,
        c: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        dimensions(ta, tb, a.shape(), b.shape(), c.shape())?;
        level3::gemm(ta, tb, alpha, a, b, beta, c);
        Ok(())
    }
});

impl<D: TangentBatch> Gemm for D {
    #[inline(always)]
    fn gemm(
        ta: Trans,
        tb: Trans,
        alpha: Self,
        a: DMatrixView<'_, Self>,
        b: DMatrixView<'_, Self>,
        beta: Self,
        mut c: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        let (m, n, k) = dimensions(ta, tb, a.shape(), b.shape(), c.shape())?;
        if tangents::is_tiny(&[m, n, k])
            && is_constant(&alpha)
            && is_constant(&beta)
            && let (Some(a), Some(b)) = (D::interleaved_ref(a), D::interleaved_ref(b))
            && let Some(entries) = D::interleaved(c.as_view_mut())
        {
            let float = |x: D| x.real().base();
            let (a, b) = ((a, ta.swaps()), (b, tb.swaps()));
            let factors = (float(alpha), (!beta.all_zero()).then(|| float(beta)));
            let done = if m == k && n == k && inline::is_for_inline(k) {
                inline::product(a, b, entries, factors)
            } else {
                tangents::tiny_product(a, b, entries, factors)
            };
            if done {
                return Ok(());
            }
        }
        general(ta, tb, alpha, a, b, beta, c)
    }
}

/// The product of matrices of any size, whose shapes fit.
#[inline(never)]
fn general<D: TangentBatch>(
    ta: Trans,
    tb: Trans,
    alpha: D,
    a: DMatrixView<'_, D>,
    b: DMatrixView<'_, D>,
    beta: D,
    mut c: DMatrixViewMut<'_, D>,
) -> Result<(), Error> {
    let ((m, n), (_, k)) = (c.shape(), ta.shape(a.shape()));
    let lanes = D::TANGENTS;
    if tangents::is_small(lanes, &[m, n, k]) && small(ta, tb, alpha, a, b, beta, c.as_view_mut())? {
        poison_overflow(&mut c);
        return Ok(());
    }
    let planes = |r: usize, c: usize| r * c * (lanes + 1);
    with_scratch::<D::Primal, _>(planes(m, k) + planes(k, n) + planes(m, n) + m * n, |buffer| {
        let mut carve = Carver::new(buffer);
        let mut a0 = carve.matrix(a.nrows(), a.ncols());
        let mut b0 = carve.matrix(b.nrows(), b.ncols());
        let mut c0 = carve.matrix(m, n);
        let mut da = carve.lanes(m, lanes, k);
        let mut db = carve.lanes(k, lanes, n);
        let mut dc = carve.lanes(m, lanes, n);
        gather_primal(&a, Part::All, &mut a0);
        gather_primal(&b, Part::All, &mut b0);
        gather_lanes(&a, Part::All, ta, &mut da);
        gather_lanes(&b, Part::All, tb, &mut db);
        if !beta.all_zero() {
            gather_primal(&c.as_view(), Part::All, &mut c0);
            gather_lanes(&c.as_view(), Part::All, Trans::NoTrans, &mut dc);
        }
        let (alpha0, beta0, one) = (alpha.primal(), beta.primal(), D::Primal::one());
        let (a0, b0) = (a0.as_view(), b0.as_view());
        D::Primal::gemm(ta, Trans::NoTrans, alpha0, a0, db.wide(), beta0, dc.wide_mut())?;
        D::Primal::gemm(Trans::NoTrans, tb, alpha0, da.tall(), b0, one, dc.tall_mut())?;
        if !is_constant(&alpha) {
            let mut product = carve.matrix(m, n);
            D::Primal::gemm(ta, tb, one, a0, b0, D::Primal::zero(), product.as_view_mut())?;
            dc.add_lane_multiples(coefficient(alpha), &product.as_view());
        }
        dc.add_lane_multiples(coefficient(beta), &c0.as_view());
        D::Primal::gemm(ta, tb, alpha0, a0, b0, beta0, c0.as_view_mut())?;
        scatter_primal(&c0.as_view(), Part::All, &mut c);
        scatter_lanes(&dc, Part::All, &mut c);
        poison_overflow(&mut c);
        Ok(())
    })
}

/// The lanes of small matrices where they are, if there is a kernel for this scalar.
fn small<D: TangentBatch>(
    ta: Trans,
    tb: Trans,
    alpha: D,
    a: DMatrixView<'_, D>,
    b: DMatrixView<'_, D>,
    beta: D,
    mut c: DMatrixViewMut<'_, D>,
) -> Result<bool, Error> {
    let (Some(da), Some(db)) = (D::interleaved_ref(a), D::interleaved_ref(b)) else { return Ok(false) };
    if !(da.is_first_order() && db.is_first_order()) {
        return Ok(false);
    }
    let (m, n) = c.shape();
    let (_, k) = ta.shape(a.shape());
    let (one, zero) = (D::Primal::one(), D::Primal::zero());
    let float = |x: D| x.real().base();
    with_scratch::<D::Primal, _>(m * k + k * n + 2 * m * n, |buffer| {
        let mut carve = Carver::new(buffer);
        let mut a0 = carve.matrix(a.nrows(), a.ncols());
        let mut b0 = carve.matrix(b.nrows(), b.ncols());
        let mut c0 = carve.matrix(m, n);
        gather_primal(&a, Part::All, &mut a0);
        gather_primal(&b, Part::All, &mut b0);
        let read = !beta.all_zero();
        if read {
            gather_primal(&c.as_view(), Part::All, &mut c0);
        }
        if let Some(dc) = D::interleaved(c.as_view_mut()) {
            // Tangents of C times a value of zero are not read, whatever the tangent of β does.
            let beta = Some(float(beta)).filter(|beta| !beta.is_zero());
            tangents::product((da, ta.swaps()), (db, tb.swaps()), dc, (float(alpha), beta), false);
        }
        let (a0, b0) = (a0.as_view(), b0.as_view());
        let mut add = |factor: D, plane: &DMatrixView<'_, D::Primal>| {
            for k in 0..D::TANGENTS {
                if let Some(f) = coefficient(factor)(k) {
                    c.iter_mut().zip(plane.iter()).for_each(|(c, &y)| c.set_lane(k, c.lane(k) + f * y));
                }
            }
        };
        if !is_constant(&beta) {
            add(beta, &c0.as_view());
        }
        if !is_constant(&alpha) {
            let mut product = carve.matrix(m, n);
            D::Primal::gemm(ta, tb, one, a0, b0, zero, product.as_view_mut())?;
            add(alpha, &product.as_view());
        }
        D::Primal::gemm(ta, tb, alpha.primal(), a0, b0, beta.primal(), c0.as_view_mut())?;
        scatter_primal(&c0.as_view(), Part::All, &mut c);
        Ok(true)
    })
}
