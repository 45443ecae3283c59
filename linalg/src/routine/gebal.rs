//! Balancing.
//!
//! `B = D⁻¹ Pᵀ A P D`, LAPACK: dgebal, sgebal, zgebal, cgebal. The permutation `P` and the powers of two `D` are
//! discrete: they come from the primal and have no tangents, so that the rule is the same transformation,
//!
//! ```text
//! dB = D⁻¹ Pᵀ dA P D
//! ```
//!
//! exact in floating point, for all of `dA`: where `B` is zero by structure (below the diagonal, outside the rows and
//! columns `ilo..=ihi`) the tangent need not be, and code that goes on with the block `ilo..=ihi` alone loses it. The
//! interchanges are made in LAPACK's order, n down to `ihi + 1`, then 1 up to `ilo - 1`; in general they do not
//! commute.
//!
//! Where a test of the algorithm is a tie the map from `A` to `B` jumps; a function that does not change under
//! similarity, such as the exponential of `B` transformed back, is smooth there and its derivative right.

use dualpack_core::Real;
use nalgebra::{ComplexField, DMatrixViewMut, RealField, try_convert};
use num_traits::{One, Zero};

use crate::error::Error;
use crate::ffi;
use crate::flags::BalanceJob;
use crate::lanes::{Part, gather_primal, scatter_primal};
use crate::routine::{Parts, native};
use crate::scalar::{BaseOf, Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::square;

/// What balancing did, in LAPACK's terms; all indices are 1-based.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance<R> {
    /// First row and column of the block that was scaled (1 for an empty matrix).
    pub ilo: usize,
    /// Last row and column of that block (0 for an empty matrix).
    pub ihi: usize,
    /// For `ilo..=ihi` the scale factors, powers of two; outside, the index that a row and column was interchanged
    /// with. The order of the interchanges is n down to `ihi + 1`, then 1 up to `ilo - 1`.
    pub scale: Vec<R>,
}

impl<R: Copy> Balance<R> {
    pub(crate) fn view(&self) -> Similarity<'_, R> {
        Similarity { ilo: self.ilo, ihi: self.ihi, scale: &self.scale }
    }
}

/// A [`Balance`] whose scales belong to someone else.
#[derive(Clone, Copy)]
pub(crate) struct Similarity<'a, R> {
    pub ilo: usize,
    pub ihi: usize,
    pub scale: &'a [R],
}

impl<'a, R: RealField + Copy> Similarity<'a, R> {
    /// The interchanges of rows and columns, 0-based, in the order in which balancing made them.
    pub(crate) fn interchanges(self) -> impl DoubleEndedIterator<Item = (usize, usize)> + 'a {
        let index = move |j: usize| (j, try_convert::<R, f64>(self.scale[j]).unwrap_or(0.0) as usize - 1);
        (self.ihi..self.scale.len()).rev().chain(0..self.ilo.saturating_sub(1)).map(index)
    }

    /// The diagonal entry `j`, 0-based, of `D`.
    pub(crate) fn factor(self, j: usize) -> R {
        if j + 1 >= self.ilo && j < self.ihi { self.scale[j] } else { R::one() }
    }

    /// `X ← D⁻¹ Pᵀ X P D`, in every part of the entries.
    pub(crate) fn transform<P>(self, mut x: DMatrixViewMut<'_, P>)
    where
        P: Parts<RealField: Real<Base = R>>,
    {
        for (i, j) in self.interchanges() {
            x.swap_rows(i, j);
            x.swap_columns(i, j);
        }
        scale(x, |j| self.factor(j));
    }

    /// `X ← P D X D⁻¹ Pᵀ`, in every part of the entries: the inverse of [`transform`](Self::transform).
    pub(crate) fn transform_back<P>(self, mut x: DMatrixViewMut<'_, P>)
    where
        P: Parts<RealField: Real<Base = R>>,
    {
        scale(x.as_view_mut(), |j| R::one() / self.factor(j));
        for (i, j) in self.interchanges().rev() {
            x.swap_rows(i, j);
            x.swap_columns(i, j);
        }
    }
}

/// Entry `(i, j)` times `d_j / d_i`. The factors are powers of two, at most 2^±970 by LAPACK's guards.
fn scale<P: Parts>(mut x: DMatrixViewMut<'_, P>, d: impl Fn(usize) -> BaseOf<P>) {
    let one = BaseOf::<P>::one();
    for j in 0..x.ncols() {
        let right = d(j);
        for i in 0..x.nrows() {
            let left = one / d(i);
            let both = right * left;
            if both == one {
                continue;
            }
            let entry = &mut x[(i, j)];
            *entry = if both.is_finite() && both > BaseOf::<P>::zero() {
                entry.times(both)
            } else {
                // Together the factors leave the range where the scaled entry may well lie inside it.
                entry.times(right).times(left)
            };
        }
    }
}

/// Balancing.
pub trait Gebal: Scalar {
    /// Overwrites `A` by the permuted and scaled matrix.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `A` is square, [`Error::NonFinite`] for NaN or infinity (but [`BalanceJob::None`] does
    /// not look at `A`).
    ///
    /// ```
    /// use dualpack_core::Dual64;
    /// use dualpack_linalg::{BalanceJob, Gebal};
    /// use nalgebra::DMatrix;
    ///
    /// // [1, 0; 1024 + t, 1]: rows and columns 1 and 2 are interchanged; nothing is left to scale.
    /// let c = Dual64::<1>::constant;
    /// let mut a = DMatrix::from_row_slice(2, 2, &[c(1.0), c(0.0), Dual64::new(1024.0, [1.0]), c(1.0)]);
    /// let balance = Dual64::gebal(BalanceJob::Both, a.as_view_mut())?;
    /// assert_eq!((balance.ilo, balance.ihi), (1, 1));
    /// assert_eq!((a[(0, 1)].value, a[(0, 1)].eps), (1024.0, [1.0]));
    /// # Ok::<(), dualpack_linalg::Error>(())
    /// ```
    fn gebal(job: BalanceJob, a: DMatrixViewMut<'_, Self>) -> Result<Balance<BaseOf<Self>>, Error> {
        let mut scale = vec![BaseOf::<Self>::one(); square("gebal", a.shape())?];
        let (ilo, ihi) = Self::gebal_into(job, a, &mut scale)?;
        Ok(Balance { ilo, ihi, scale })
    }

    /// [`gebal`](Gebal::gebal) with memory for the scales from the caller; returns `ilo` and `ihi`.
    ///
    /// # Errors
    /// As for `gebal`, and [`Error::Shape`] unless there are n scales.
    fn gebal_into(
        job: BalanceJob,
        a: DMatrixViewMut<'_, Self>,
        scale: &mut [BaseOf<Self>],
    ) -> Result<(usize, usize), Error>;
}

native!(Gebal {
    fn gebal_into(
        job: BalanceJob,
        a: DMatrixViewMut<'_, Self>,
        scale: &mut [BaseOf<Self>],
    ) -> Result<(usize, usize), Error> {
        ffi::gebal(job, a, scale)
    }
});

impl<D: TangentBatch> Gebal for D {
    fn gebal_into(
        job: BalanceJob,
        mut a: DMatrixViewMut<'_, Self>,
        scale: &mut [BaseOf<Self>],
    ) -> Result<(usize, usize), Error> {
        let n = square("gebal", a.shape())?;
        with_scratch::<D::Primal, _>(n * n, |buffer| {
            let mut primal = DMatrixViewMut::from_slice(buffer, n, n);
            gather_primal(&a.as_view(), Part::All, &mut primal);
            let (ilo, ihi) = D::Primal::gebal_into(job, primal.as_view_mut(), scale)?;
            // Tangents and values alike; then the values as LAPACK has them.
            Similarity { ilo, ihi, scale }.transform(a.as_view_mut());
            scatter_primal(&primal.as_view(), Part::All, &mut a);
            Ok((ilo, ihi))
        })
    }
}
