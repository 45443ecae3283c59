//! Solution of a general system.
//!
//! `A X = B` by LU with partial pivoting, LAPACK: dgesv, sgesv, zgesv, cgesv. One factorization, of the primal, and
//! O(n² r) for each lane:
//!
//! ```text
//! dX = A⁻¹ (dB − dA X)
//! ```
//!
//! where `getrf` and `getrs` on dual numbers would spend 4n³/3 on the tangents of factors that nobody asked for.

use nalgebra::{DMatrixView, DMatrixViewMut};
use num_traits::One;

use crate::error::Error;
use crate::flags::Trans;
use crate::kernel::product::{solve_lanes, times_values};
use crate::lanes::{
    Carver, Part, gather_lanes, gather_primal, poison_overflow, scatter_lanes, scatter_primal,
};
use crate::lapack::Lapack;
use crate::routine::{Gemm, interchanges, lu_solve, native};
use crate::scalar::{Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::{rows_of, square};

/// Solution of a general system.
pub trait Gesv: Scalar {
    /// Overwrites `B` by `A⁻¹ B`. Other than in LAPACK `A` is left alone: its factors would have tangents, which cost
    /// more than the solution. Who wants them calls [`getrf`](crate::Getrf::getrf).
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square and `b` has as many rows, [`Error::NonFinite`] for NaN or infinity,
    /// [`Error::Singular`] for a pivot that is exactly zero; `B` is then left as it was.
    ///
    /// ```
    /// use dualpack_core::Dual64;
    /// use dualpack_linalg::Gesv;
    /// use nalgebra::DMatrix;
    ///
    /// // (2 + t) x = 3 at t = 0: x = 3/2, dx/dt = -3/4.
    /// let a = DMatrix::from_element(1, 1, Dual64::<1>::variable(2.0, 0));
    /// let mut b = DMatrix::from_element(1, 1, Dual64::constant(3.0));
    /// Dual64::gesv(a.as_view(), b.as_view_mut())?;
    /// assert_eq!((b[0].value, b[0].eps), (1.5, [-0.75]));
    /// # Ok::<(), dualpack_linalg::Error>(())
    /// ```
    fn gesv(a: DMatrixView<'_, Self>, b: DMatrixViewMut<'_, Self>) -> Result<(), Error>;
}

/// Factors a copy of `a` and solves.
fn factor_and_solve<P: Lapack>(
    lu: &mut DMatrixViewMut<'_, P>,
    ipiv: &mut [i32],
    x: DMatrixViewMut<'_, P>,
) -> Result<(), Error> {
    P::getrf(lu.as_view_mut(), ipiv)?;
    P::getrs(Trans::NoTrans, lu.as_view(), ipiv, x)
}

native!(Gesv {
    fn gesv(a: DMatrixView<'_, Self>, b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        let n = square("gesv", a.shape())?;
        rows_of("gesv", n, b.shape())?;
        with_scratch::<i32, _>(n, |ipiv| {
            with_scratch::<Self, _>(n * n, |buffer| {
                let mut lu = Carver::new(buffer).matrix(n, n);
                lu.copy_from(&a);
                factor_and_solve(&mut lu, ipiv, b)
            })
        })
    }
});

impl<D: TangentBatch> Gesv for D {
    fn gesv(a: DMatrixView<'_, Self>, mut b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        let n = square("gesv", a.shape())?;
        rows_of("gesv", n, b.shape())?;
        if n > 0 && interleaved(a, b.as_view_mut())? {
            return Ok(());
        }
        let (r, lanes) = (b.ncols(), D::TANGENTS);
        with_scratch::<i32, _>(n, |ipiv| {
            with_scratch::<D::Primal, _>((n * n + n * r) * (1 + lanes), |buffer| {
                let mut carve = Carver::new(buffer);
                let mut lu = carve.matrix(n, n);
                let mut x = carve.matrix(n, r);
                let mut da = carve.lanes(n, lanes, n);
                let mut db = carve.lanes(n, lanes, r);
                gather_primal(&a, Part::All, &mut lu);
                gather_primal(&b.as_view(), Part::All, &mut x);
                factor_and_solve(&mut lu, ipiv, x.as_view_mut())?;
                gather_lanes(&a, Part::All, Trans::NoTrans, &mut da);
                gather_lanes(&b.as_view(), Part::All, Trans::NoTrans, &mut db);
                let (one, no) = (D::Primal::one(), Trans::NoTrans);
                D::Primal::gemm(no, no, -one, da.tall(), x.as_view(), one, db.tall_mut())?;
                lu_solve(lu.as_view(), ipiv, db.wide_mut())?;
                scatter_primal(&x.as_view(), Part::All, &mut b);
                scatter_lanes(&db, Part::All, &mut b);
                poison_overflow(&mut b);
                Ok(())
            })
        })
    }
}

/// Up to this order the lanes are solved for side by side, beyond it in planes.
const LIMIT: usize = 64;

/// The same where the lanes of an entry lie side by side: those of `A`, used once, are read where they are.
fn interleaved<D: TangentBatch>(a: DMatrixView<'_, D>, mut b: DMatrixViewMut<'_, D>) -> Result<bool, Error> {
    let Some(entries) = D::interleaved_ref(a).filter(|a| a.is_first_order()) else { return Ok(false) };
    let ((n, r), lanes) = (b.shape(), D::TANGENTS);
    with_scratch::<i32, _>(n, |ipiv| {
        let planes = if n > LIMIT { n * r * lanes } else { 0 };
        with_scratch::<D::Primal, _>(n * n + n * r * (1 + lanes) + planes, |buffer| {
            let mut carve = Carver::new(buffer);
            let (factors, values) = (carve.vector(n * n), carve.vector(n * r));
            let right = carve.vector(n * r * lanes);
            let mut lu = DMatrixViewMut::from_slice(factors, n, n);
            let mut x = DMatrixViewMut::from_slice(values, n, r);
            gather_primal(&a, Part::All, &mut lu);
            gather_primal(&b.as_view(), Part::All, &mut x);
            factor_and_solve(&mut lu, ipiv, x)?;
            if !times_values(&entries, values, right) {
                return Ok(false);
            }
            for (y, b) in right.chunks_exact_mut(lanes.max(1)).zip(b.iter()) {
                y.iter_mut().enumerate().for_each(|(k, y)| *y = b.lane(k) - *y);
            }
            if n <= LIMIT {
                for right in right.chunks_exact_mut((n * lanes).max(1)) {
                    for (i, j) in interchanges(ipiv) {
                        (0..lanes).for_each(|k| right.swap(i * lanes + k, j * lanes + k));
                    }
                }
                solve_lanes(n, factors, lanes, right);
                for (b, y) in b.iter_mut().zip(right.chunks_exact(lanes.max(1))) {
                    y.iter().enumerate().for_each(|(k, &y)| b.set_lane(k, y));
                }
            } else {
                let mut db = carve.lanes(n, lanes, r);
                for (e, y) in right.chunks_exact(lanes.max(1)).enumerate() {
                    y.iter().enumerate().for_each(|(k, &y)| *db.at_mut(k, e % n, e / n) = y);
                }
                lu_solve(DMatrixView::from_slice(factors, n, n), ipiv, db.wide_mut())?;
                scatter_lanes(&db, Part::All, &mut b);
            }
            scatter_primal(&DMatrixView::from_slice(values, n, r), Part::All, &mut b);
            poison_overflow(&mut b);
            Ok(true)
        })
    })
}
