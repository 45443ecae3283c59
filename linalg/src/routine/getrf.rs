//! LU factorization with partial pivoting.
//!
//! `P A = L U`, LAPACK: dgetrf, sgetrf, zgetrf, cgetrf; m x n of any shape. The pivots are discrete: they come from
//! the primal and have no tangents. The rule is the algorithm, differentiated: with the first columns done,
//!
//! ```text
//! dU₁₂ = L₁₁⁻¹ (P dA₁₂ − dL₁₁ U₁₂)
//! dS   = P dA₂₂ − dL₂₁ U₁₂ − L₂₁ dU₁₂           S = L₂₂ U₂₂ goes on
//! dL_ij = (dS_ij − L_ij dU_jj) / U_jj
//! ```
//!
//! in tiles of interleaved lanes for real matrices, in halves of the columns on planes for others, so that nearly all of
//! it is products. This is `dL = L tril(K, −1)`, `dU = triu(K) U` with `K = L⁻¹ P dA U⁻¹` at half its cost, for square,
//! tall and wide alike, and the last pivot of a square or wide matrix, the one that is tiny or zero when the matrix is
//! singular, is never divided by.
//!
//! Where pivot `k` is exactly zero the primal is an error, but the factors exist. Those of a matrix without rows below
//! `k` (a square one of rank n − 1) are differentiable. Otherwise `L` below the zero is 0/0: valid are the tangents of
//! the first `k` rows and columns of `U` and the first `k − 1` columns of `L`, the others are NaN.
//!
//! An entry that overflows is divided by where it is a pivot, which gives finite numbers: from its row and its column on, no
//! tangent is valid, and all are NaN.

use std::ops::Range;

use nalgebra::{DMatrixView, DMatrixViewMut};
use num_complex::Complex;

use crate::error::Error;
use crate::flags::{Diag, Side, Trans, Uplo};
use crate::lanes::{
    Carver, Lanes, Part, gather_lanes, gather_primal, poison_lanes, scatter_lanes, scatter_primal,
};
use crate::lapack::Lapack;
use crate::routine::native;
use crate::scalar::{BaseOf, Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::{ffi, kernel};

/// Up to this many columns are worked on one by one.
const NARROW: usize = 8;

/// LU factorization with partial pivoting.
pub trait Getrf: Scalar {
    /// Overwrites the m x n matrix `A` by `L` (unit lower triangle, diagonal not stored) and `U`; row `k` was
    /// interchanged with row `ipiv[k - 1]`, both 1-based.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `ipiv` has min(m, n) entries, [`Error::NonFinite`] for NaN or infinity, and
    /// [`Error::Singular`] for a pivot that is exactly zero: the factorization is complete then, as LAPACK leaves it,
    /// with NaN in the tangents that do not exist.
    ///
    /// ```
    /// use dualpack_core::Dual64;
    /// use dualpack_linalg::Getrf;
    /// use nalgebra::DMatrix;
    ///
    /// // [t, 2; 1, 3] at t = 0: the rows are interchanged.
    /// let c = Dual64::<1>::constant;
    /// let mut a = DMatrix::from_row_slice(2, 2, &[Dual64::variable(0.0, 0), c(2.0), c(1.0), c(3.0)]);
    /// let mut ipiv = [0; 2];
    /// Dual64::getrf(a.as_view_mut(), &mut ipiv)?;
    /// assert_eq!(ipiv, [2, 2]);
    /// assert_eq!((a[(1, 0)].value, a[(1, 0)].eps), (0.0, [1.0])); // L = [1, 0; t, 1]
    /// assert_eq!((a[(1, 1)].value, a[(1, 1)].eps), (2.0, [-3.0])); // U = [1, 3; 0, 2 - 3 t]
    /// # Ok::<(), dualpack_linalg::Error>(())
    /// ```
    fn getrf(a: DMatrixViewMut<'_, Self>, ipiv: &mut [i32]) -> Result<(), Error>;

    /// The factorization for fronts: as [`getrf`](Getrf::getrf), but a tiny real matrix is factored without a call of
    /// LAPACK, with values and pivots equal up to rounding.
    #[doc(hidden)]
    fn front_getrf(a: DMatrixViewMut<'_, Self>, ipiv: &mut [i32]) -> Result<(), Error> {
        Self::getrf(a, ipiv)
    }
}

native!(@each Getrf {
    fn getrf(a: DMatrixViewMut<'_, Self>, ipiv: &mut [i32]) -> Result<(), Error> {
        ffi::getrf(a, ipiv)
    }
} Complex<f32>, Complex<f64>);

native!(@each Getrf {
    fn getrf(a: DMatrixViewMut<'_, Self>, ipiv: &mut [i32]) -> Result<(), Error> {
        ffi::getrf(a, ipiv)
    }

    fn front_getrf(mut a: DMatrixViewMut<'_, Self>, ipiv: &mut [i32]) -> Result<(), Error> {
        if kernel::lu::factor(a.as_view_mut(), ipiv) { Ok(()) } else { ffi::getrf(a, ipiv) }
    }
} f32, f64);

/// The interchanges of rows, 0-based, in the order in which they were made.
pub(crate) fn interchanges(ipiv: &[i32]) -> impl DoubleEndedIterator<Item = (usize, usize)> + '_ {
    ipiv.iter().enumerate().map(|(k, &p)| (k, p as usize - 1)).filter(|(k, p)| k != p)
}

/// `P dA`, with the rows interchanged already, becomes `dL` and `dU` in one; `zero` is the 0-based index of the first
/// zero pivot. `mask` is scratch for the lanes of a matrix of m rows and [`mask_columns`] columns.
pub(crate) fn pushforward<P: Lapack>(
    lu: DMatrixView<'_, P>,
    zero: Option<usize>,
    d: &mut Lanes<'_, P>,
    mask: &mut Lanes<'_, P>,
) -> Result<(), Error> {
    let (m, n) = lu.shape();
    let done = zero.unwrap_or(m.min(n));
    eliminate(lu, 0..done, d, mask)?;
    update(lu, 0..done, done..n, d, mask)?;
    if let Some(k) = zero {
        for lane in 0..d.count() {
            for j in k..n {
                d.column_mut(lane, j)[k + 1..].fill(P::all_nan());
            }
        }
    }
    let from = overflown(&lu);
    for lane in 0..d.count() {
        for j in from.min(n)..n {
            d.column_mut(lane, j)[from.min(m)..].fill(P::all_nan());
        }
    }
    Ok(())
}

/// The number of the first row and column that depend on an entry that has overflowed, or one behind all of them.
fn overflown<P: Scalar>(lu: &DMatrixView<'_, P>) -> usize {
    let mut first = usize::MAX;
    for (j, column) in lu.column_iter().enumerate() {
        if let Some(i) = column.iter().position(|x| !x.value_is_finite()) {
            first = first.min(i).min(j);
        }
    }
    first
}

/// The columns of the scratch of [`pushforward`], for the lanes of a matrix with as many rows as that of order `k` at
/// most: half of them, what a square matrix needs at a time.
pub(crate) fn mask_columns(k: usize) -> usize {
    k.div_ceil(2)
}

/// The columns `cols`, from their diagonal on, where the columns before them have been accounted for.
fn eliminate<P: Lapack>(
    lu: DMatrixView<'_, P>,
    cols: Range<usize>,
    d: &mut Lanes<'_, P>,
    mask: &mut Lanes<'_, P>,
) -> Result<(), Error> {
    if cols.len() > NARROW {
        let middle = cols.start + cols.len() / 2;
        eliminate(lu, cols.start..middle, d, mask)?;
        update(lu, cols.start..middle, middle..cols.end, d, mask)?;
        return eliminate(lu, middle..cols.end, d, mask);
    }
    let m = lu.nrows();
    for lane in 0..d.count() {
        for j in cols.clone() {
            for p in cols.start..j {
                let (dl, x) = d.column_pair_mut(lane, p, j);
                let (u, du) = (lu[(p, j)], x[p]);
                for i in p + 1..m {
                    x[i] -= dl[i] * u + lu[(i, p)] * du;
                }
            }
            let x = d.column_mut(lane, j);
            let (pivot, du) = (lu[(j, j)], x[j]);
            for i in j + 1..m {
                x[i] = (x[i] - lu[(i, j)] * du).divided_by(pivot);
            }
        }
    }
    Ok(())
}

/// Takes the share of the columns `left`, which are done, out of the columns `right`.
fn update<P: Lapack>(
    lu: DMatrixView<'_, P>,
    left: Range<usize>,
    right: Range<usize>,
    d: &mut Lanes<'_, P>,
    mask: &mut Lanes<'_, P>,
) -> Result<(), Error> {
    let (m, one) = (lu.nrows(), P::one());
    if left.is_empty() || right.is_empty() {
        return Ok(());
    }
    // dL₁₁ and dL₂₁ together, the columns of `left` below their diagonals: one product for all rows of all lanes.
    let most = mask.tall().ncols();
    for start in left.clone().step_by(most) {
        let count = most.min(left.end - start);
        for lane in 0..d.count() {
            for (to, j) in (start..start + count).enumerate() {
                let (from, to) = (d.column(lane, j), mask.column_mut(lane, to));
                to[..=j].fill(P::zero());
                to[j + 1..].copy_from_slice(&from[j + 1..]);
            }
        }
        let u12 = lu.view((start, right.start), (count, right.len()));
        let mut tall = d.tall_mut();
        let columns = tall.columns_mut(right.start, right.len());
        P::gemm(Trans::NoTrans, Trans::NoTrans, -one, mask.tall().columns(0, count), u12, one, columns)?;
    }

    let lanes = d.count();
    let l11 = lu.view((left.start, left.start), (left.len(), left.len()));
    let l21 = lu.view((left.end, left.start), (m - left.end, left.len()));
    let mut wide = d.wide_mut();
    let mut columns = wide.columns_mut(lanes * right.start, lanes * right.len());
    let (mut du12, ds) = columns.rows_range_pair_mut(left.clone(), left.end..m);
    P::trsm(Side::Left, Uplo::Lower, Trans::NoTrans, Diag::Unit, one, l11, du12.as_view_mut())?;
    P::gemm(Trans::NoTrans, Trans::NoTrans, -one, l21, du12.as_view(), one, ds)
}

impl<D: TangentBatch> Getrf for D {
    fn getrf(a: DMatrixViewMut<'_, Self>, ipiv: &mut [i32]) -> Result<(), Error> {
        let mut result = Ok(());
        tangents(a, |primal| match D::Primal::getrf(primal, ipiv) {
            Ok(()) => Ok((ipiv, None)),
            Err(Error::Singular { routine, pivot }) => {
                result = Err(Error::Singular { routine, pivot });
                Ok((ipiv, Some(pivot)))
            }
            Err(refused) => Err(refused),
        })?;
        result
    }
}

/// Makes `a` its factors, where `primal_factor` makes those of the primal and returns the interchanges and the first
/// zero pivot, both 1-based.
pub(crate) fn tangents<'p, D: TangentBatch>(
    mut a: DMatrixViewMut<'_, D>,
    primal_factor: impl FnOnce(DMatrixViewMut<'_, D::Primal>) -> Result<(&'p [i32], Option<usize>), Error>,
) -> Result<(), Error> {
    let (m, n) = a.shape();
    with_scratch::<D::Primal, _>(m * n, |buffer| {
        let mut lu = DMatrixViewMut::from_slice(buffer, m, n);
        gather_primal(&a.as_view(), Part::All, &mut lu);
        let (ipiv, zero) = primal_factor(lu.as_view_mut())?;
        // Rows below a zero pivot have no factors.
        let complete = zero.is_none_or(|pivot| pivot == m);
        if complete && interleaved(lu.as_view(), ipiv, &mut a) {
            let from = overflown(&lu.as_view());
            poison_lanes(Part::All, &mut a.view_range_mut(from.min(m).., from.min(n)..));
            return Ok(());
        }
        planes(lu.as_view(), ipiv, zero, &mut a)
    })
}

/// The factors where the lanes of an entry lie side by side, else `false`.
fn interleaved<D: TangentBatch>(
    lu: DMatrixView<'_, D::Primal>,
    ipiv: &[i32],
    a: &mut DMatrixViewMut<'_, D>,
) -> bool {
    let Some((lu, a)) = kernel::same::<_, BaseOf<D>>(lu).zip(D::interleaved(a.as_view_mut())) else {
        return false;
    };
    if lu.is_empty() {
        return true;
    }
    with_scratch::<usize, _>(lu.nrows(), |rows| {
        rows.iter_mut().enumerate().for_each(|(i, row)| *row = i);
        interchanges(ipiv).for_each(|(i, j)| rows.swap(i, j));
        kernel::getrf::getrf(lu, rows, a)
    })
}

/// The factors by planes of lanes.
fn planes<D: TangentBatch>(
    lu: DMatrixView<'_, D::Primal>,
    ipiv: &[i32],
    zero: Option<usize>,
    a: &mut DMatrixViewMut<'_, D>,
) -> Result<(), Error> {
    let ((m, n), lanes) = (a.shape(), D::TANGENTS);
    with_scratch::<D::Primal, _>(m * (n + mask_columns(m.min(n))) * lanes, |buffer| {
        let mut carve = Carver::new(buffer);
        let mut d = carve.lanes(m, lanes, n);
        let mut mask = carve.lanes(m, lanes, mask_columns(m.min(n)));
        interchanges(ipiv).for_each(|(i, j)| a.swap_rows(i, j));
        gather_lanes(&a.as_view(), Part::All, Trans::NoTrans, &mut d);
        pushforward(lu, zero.map(|pivot| pivot - 1), &mut d, &mut mask)?;
        scatter_primal(&lu, Part::All, a);
        scatter_lanes(&d, Part::All, a);
        Ok(())
    })
}
