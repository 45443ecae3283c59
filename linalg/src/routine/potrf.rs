//! Cholesky factorization.
//!
//! `A = L Lᴴ` (`Lower`) or `A = Uᴴ U` (`Upper`), LAPACK: dpotrf, spotrf, zpotrf, cpotrf. Only the triangle `uplo` of
//! `A` is read; it defines the whole (Hermitian) matrix, in the value and in every tangent. From `dA = dL Lᴴ + L dLᴴ`,
//!
//! ```text
//! dL = L Φ(L⁻¹ dA L⁻ᴴ)        dU = Φ(U⁻ᴴ dA U⁻¹) U
//! ```
//!
//! where `Φ` keeps the triangle and halves its diagonal, which is real (Murray, arXiv 1602.07527, eq. 8). Only small
//! blocks are computed like that. Otherwise the factorization algorithm itself is differentiated, which has the same
//! error at less work: in tiles of interleaved lanes for real matrices, block by block on planes for others (section 4
//! there).
//!
//! The gauge is LAPACK's: a positive diagonal. At a semidefinite matrix the derivative is infinite and the
//! factorization an error.

use std::cmp::Ordering;
use std::ops::Range;

use nalgebra::{ComplexField, DMatrixView, DMatrixViewMut, convert};
use num_complex::Complex;

use crate::error::Error;
use crate::flags::{Diag, Side, Trans, Uplo};
use crate::lanes::{
    Carver, Lanes, Part, gather_lanes, gather_primal, poison_lanes, real, scatter_lanes_of, scatter_primal,
};
use crate::lapack::Lapack;
use crate::routine::native;
use crate::routine::potrs::factor_ops;
use crate::scalar::{BaseOf, Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::square;
use crate::{ffi, kernel};

/// Width of the blocks of columns.
const BLOCK: usize = 24;

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

    /// The factorization of the lower triangle for fronts: as [`potrf`](Potrf::potrf), but a tiny real matrix is
    /// factored without a call of LAPACK, with the same errors and values equal up to rounding, the same for every
    /// scalar.
    #[doc(hidden)]
    fn front_potrf(a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        Self::potrf(Uplo::Lower, a)
    }

    /// [`front_potrf`](Potrf::front_potrf) from `a`, if it is given, to `to`, compiled into the caller: whether there is a
    /// factor, without which nothing is done. `None` if the matrix is not tiny and real.
    #[doc(hidden)]
    #[inline(always)]
    fn inline_potrf(_a: Option<DMatrixView<'_, Self>>, _to: DMatrixViewMut<'_, Self>) -> Option<bool> {
        None
    }
}

native!(@each Potrf {
    fn potrf(uplo: Uplo, a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        ffi::potrf(uplo, a)
    }
} Complex<f32>, Complex<f64>);

native!(@each Potrf {
    fn potrf(uplo: Uplo, a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        ffi::potrf(uplo, a)
    }

    fn front_potrf(mut a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        let tiny = kernel::cholesky::factor(kernel::floats_mut(a.as_view_mut()));
        tiny.unwrap_or_else(|| ffi::potrf(Uplo::Lower, a))
    }

    #[inline(always)]
    fn inline_potrf(a: Option<DMatrixView<'_, Self>>, to: DMatrixViewMut<'_, Self>) -> Option<bool> {
        kernel::inline::factor(a.map(kernel::floats), kernel::floats_mut(to))
    }
} f32, f64);

/// `dA`, full Hermitian matrices, becomes `dL` in the lower triangle; the rest is zero. One step of the formula: the
/// cheapest for blocks, 3 n³ per lane.
fn pushforward<P: Lapack>(l: DMatrixView<'_, P>, da: &mut Lanes<'_, P>) -> Result<(), Error> {
    let (one, half) = (P::one(), convert::<f64, P>(0.5));
    let lower = Uplo::Lower;
    P::trsm(Side::Left, lower, Trans::NoTrans, Diag::NonUnit, one, l, da.wide_mut())?;
    P::trsm(Side::Right, lower, Trans::ConjTrans, Diag::NonUnit, one, l, da.tall_mut())?;
    for k in 0..da.count() {
        for j in 0..l.nrows() {
            let diagonal = real(da.at(k, j, j)) * half;
            let column = da.column_mut(k, j);
            column[..j].fill(P::zero());
            column[j] = diagonal;
        }
    }
    P::trmm(Side::Left, lower, Trans::NoTrans, Diag::NonUnit, one, l, da.wide_mut())
}

/// The lower triangle of `dA` becomes that of `dL`, block column by block column, at 2 n³ / 3 per lane: the
/// factorization algorithm itself, differentiated. With `J` a block of columns, `D` its diagonal block, `K` the columns
/// before it and `I` the rows below,
///
/// ```text
/// dA_DJ −= dL_DK L_DKᴴ + L_DK dL_DKᴴ                       then dL_DJ by the kernel or the formula above
/// dA_IJ −= dL_IK L_DKᴴ + L_IK dL_DKᴴ + L_IJ dL_DJᴴ         then dL_IJ = dA_IJ L_DJ⁻ᴴ
/// ```
///
/// `kernel` may take the diagonal block that begins at the row it is told; it says whether it did.
pub(crate) fn pushforward_blocked<P: Lapack>(
    l: DMatrixView<'_, P>,
    da: &mut Lanes<'_, P>,
    // Of `blocked_scratch` scalars: the conjugate transposes of a block row of dL, and a diagonal block.
    mut scratch: Carver<'_, P>,
    kernel: impl Fn(DMatrixView<'_, P>, &mut Lanes<'_, P>, usize) -> bool,
) -> Result<(), Error> {
    let (n, lanes) = (l.nrows(), da.count());
    let (one, minus) = (P::one(), -P::one());
    let width = n.min(BLOCK);
    let rows = scratch.vector(n * lanes * width);
    let diagonal = scratch.vector(width * lanes * width);
    for from in (0..n).step_by(BLOCK) {
        let to = n.min(from + BLOCK);
        let w = to - from;
        let block = l.view((from, from), (w, w));
        let before = l.view((from, 0), (w, from));
        // dL_DKᴴ, and room for dL_DJᴴ.
        let mut transposed = Lanes::on(rows, to, lanes, w);
        for k in 0..lanes {
            for j in 0..from {
                for i in 0..w {
                    *transposed.at_mut(k, j, i) = da.at(k, from + i, j).conjugate();
                }
            }
        }
        let update = |da: &mut Lanes<'_, P>, transposed: &Lanes<'_, P>, rows: Range<usize>, known: usize| {
            let (m, left) = (rows.len(), l.view((rows.start, 0), (rows.len(), known)));
            let right = transposed.wide();
            let right = right.view((0, 0), (known, lanes * w));
            let mut wide = da.wide_mut();
            let target = wide.view_mut((rows.start, lanes * from), (m, lanes * w));
            P::gemm(Trans::NoTrans, Trans::NoTrans, minus, left, right, one, target)?;
            for k in 0..lanes {
                let mut lane = da.lane_mut(k);
                let (known, mut rest) = lane.columns_range_pair_mut(0..from, from..n);
                let target = rest.view_mut((rows.start, 0), (m, w));
                let known = known.view((rows.start, 0), (m, from));
                P::gemm(Trans::NoTrans, Trans::ConjTrans, minus, known, before, one, target)?;
            }
            Ok(())
        };
        update(da, &transposed, from..to, from)?;
        if !kernel(block, da, from) {
            diagonal_block(block, da, from, diagonal)?;
        }
        for k in 0..lanes {
            for j in 0..w {
                for i in 0..w {
                    let entry = if i >= j { da.at(k, from + i, from + j).conjugate() } else { P::zero() };
                    *transposed.at_mut(k, from + j, i) = entry;
                }
            }
        }
        update(da, &transposed, to..n, to)?;
        for k in 0..lanes {
            let mut lane = da.lane_mut(k);
            let below = lane.view_mut((to, from), (n - to, w));
            P::trsm(Side::Right, Uplo::Lower, Trans::ConjTrans, Diag::NonUnit, one, block, below)?;
        }
    }
    Ok(())
}

/// The scratch of [`pushforward_blocked`], in scalars.
pub(crate) fn blocked_scratch(n: usize, lanes: usize) -> usize {
    let width = n.min(BLOCK);
    (n + width) * lanes * width
}

/// The diagonal block of `dA` at `from` becomes that of `dL`, by the formula.
fn diagonal_block<P: Lapack>(
    l: DMatrixView<'_, P>,
    da: &mut Lanes<'_, P>,
    from: usize,
    scratch: &mut [P],
) -> Result<(), Error> {
    let (w, lanes) = (l.nrows(), da.count());
    let mut planes = Lanes::on(scratch, w, lanes, w);
    for k in 0..lanes {
        for j in 0..w {
            for i in 0..w {
                let entry = da.at(k, from + i.max(j), from + i.min(j));
                *planes.at_mut(k, i, j) = match i.cmp(&j) {
                    Ordering::Less => entry.conjugate(),
                    Ordering::Equal => real(entry),
                    Ordering::Greater => entry,
                };
            }
        }
    }
    pushforward(l, &mut planes)?;
    for k in 0..lanes {
        for j in 0..w {
            da.column_mut(k, from + j)[from + j..from + w].copy_from_slice(&planes.column(k, j)[j..]);
        }
    }
    Ok(())
}

/// The same by the kernel for interleaved lanes, where this scalar has one.
fn diagonal_kernel<D: TangentBatch>(
    l: DMatrixView<'_, D::Primal>,
    da: &mut Lanes<'_, D::Primal>,
    from: usize,
) -> bool {
    let (w, lanes) = (l.nrows(), da.count());
    with_scratch::<D, _>(w * w, |buffer| {
        let mut block = DMatrixViewMut::from_slice(buffer, w, w);
        if D::interleaved(block.as_view_mut()).is_none() {
            return false;
        }
        for j in 0..w {
            for k in 0..lanes {
                let column = &da.column(k, from + j)[from..];
                (j..w).for_each(|i| block[(i, j)].set_lane(k, column[i]));
            }
        }
        // After the lanes: the first derivatives of `Dual2` are in both, and those of the primal are done.
        scatter_primal(&l, Part::Triangle(Uplo::Lower), &mut block);
        if let Some(entries) = D::interleaved(block.as_view_mut()) {
            kernel::cholesky::potrf(Uplo::Lower, entries);
        }
        for j in 0..w {
            for k in 0..lanes {
                let column = &mut da.column_mut(k, from + j)[from..];
                (j..w).for_each(|i| column[i] = block[(i, j)].lane(k));
            }
        }
        true
    })
}

impl<D: TangentBatch> Potrf for D {
    fn potrf(uplo: Uplo, a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        factor(uplo, a, |primal| D::Primal::potrf(uplo, primal))
    }

    fn front_potrf(mut a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        match D::interleaved(a.as_view_mut()).and_then(kernel::cholesky::factor) {
            Some(Err(error)) => {
                if matches!(error, Error::NotPositiveDefinite { .. }) {
                    poison_lanes(Part::Triangle(Uplo::Lower), &mut a);
                }
                Err(error)
            }
            Some(done) => done,
            None => factor(Uplo::Lower, a, D::Primal::front_potrf),
        }
    }

    #[inline(always)]
    fn inline_potrf(a: Option<DMatrixView<'_, Self>>, to: DMatrixViewMut<'_, Self>) -> Option<bool> {
        let to = D::interleaved(to)?;
        match a {
            None => kernel::inline::factor(None, to),
            Some(a) => kernel::inline::factor(Some(D::interleaved_ref(a)?), to),
        }
    }
}

/// How the lanes are computed.
#[derive(Clone, Copy, PartialEq)]
enum Road {
    /// On interleaved lanes where they are.
    Kernel,
    /// On copies of interleaved lanes.
    Packed,
    /// Block by block on planes: nested, complex and upper triangular ones.
    Planes,
}

/// Primal by `primal_factor`, then the lanes.
pub(crate) fn factor<D: TangentBatch>(
    uplo: Uplo,
    mut a: DMatrixViewMut<'_, D>,
    primal_factor: impl FnOnce(DMatrixViewMut<'_, D::Primal>) -> Result<(), Error>,
) -> Result<(), Error> {
    let n = square("potrf", a.shape())?;
    let part = Part::Triangle(uplo);
    let road = match D::interleaved(a.as_view_mut()) {
        Some(_) if n <= kernel::cholesky::POTRF_LIMIT => Road::Kernel,
        Some(entries) if uplo == Uplo::Lower && entries.is_first_order() => Road::Packed,
        _ => Road::Planes,
    };
    let lanes = if road == Road::Planes { D::TANGENTS } else { 0 };
    let len = n * n * (1 + lanes) + blocked_scratch(n, lanes);
    with_scratch::<D::Primal, _>(len, |buffer| {
        let mut carve = Carver::new(buffer);
        let mut factor = carve.matrix(n, n);
        gather_primal(&a.as_view(), part, &mut factor);
        let primal = primal_factor(factor.as_view_mut());
        if let Err(error) = primal {
            // An input that was refused is left as it was.
            if matches!(error, Error::NotPositiveDefinite { .. }) {
                scatter_primal(&factor.as_view(), part, &mut a);
                poison_lanes(part, &mut a);
            }
            return Err(error);
        }
        if road == Road::Packed {
            let l = kernel::same::<D::Primal, BaseOf<D>>(factor.as_view());
            if let Some((l, entries)) = l.zip(D::interleaved(a.as_view_mut())) {
                kernel::blocked::potrf(l, entries);
            }
            scatter_primal(&factor.as_view(), part, &mut a);
            return Ok(());
        }
        if road == Road::Kernel {
            scatter_primal(&factor.as_view(), part, &mut a);
            if let Some(entries) = D::interleaved(a) {
                kernel::cholesky::potrf(uplo, entries);
            }
            return Ok(());
        }
        let mut da = carve.lanes(n, lanes, n);
        // A = Uᴴ U is the factorization with L = Uᴴ.
        let to_lower = factor_ops(uplo).0;
        gather_lanes(&a.as_view(), part, to_lower, &mut da);
        scatter_primal(&factor.as_view(), part, &mut a);
        if uplo == Uplo::Upper {
            factor.transpose_mut();
            factor.iter_mut().for_each(|x| *x = x.conjugate());
        }
        pushforward_blocked(factor.as_view(), &mut da, carve, diagonal_kernel::<D>)?;
        scatter_lanes_of(&da, part, to_lower, &mut a);
        Ok(())
    })
}
