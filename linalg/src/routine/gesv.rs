//! Solution of a general system.
//!
//! `A X = B` by LU with partial pivoting, LAPACK: dgesv, sgesv, zgesv, cgesv. One factorization, of the primal, and
//! O(n² r) for each lane:
//!
//! ```text
//! dX = A⁻¹ (dB − dA X)
//! ```
//!
//! where `getrf` and `getrs` on dual numbers would spend 4n³/3 on the tangents of factors that nobody asked for. The
//! values alone are factored, at every order; see [`Factored`](crate::Factored).

use nalgebra::{DMatrixView, DMatrixViewMut};
use num_complex::Complex;

use crate::error::Error;
use crate::factored::{Contents, Factorization};
use crate::kernel;
use crate::lapack::Lapack;
use crate::routine::{Getrf, native};
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

    /// The solution for fronts; see [`front_getrf`](crate::Getrf::front_getrf).
    #[doc(hidden)]
    fn front_gesv(a: DMatrixView<'_, Self>, b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        Self::gesv(a, b)
    }
}

/// Factors the values and solves; `front` says whether as fronts do.
fn solve<T: Lapack>(a: DMatrixView<'_, T>, b: DMatrixViewMut<'_, T>, front: bool) -> Result<(), Error> {
    let n = square("gesv", a.shape())?;
    rows_of("gesv", n, b.shape())?;
    with_scratch::<i32, _>(n, |ipiv| {
        with_scratch::<T::Native, _>(n * n, |values| {
            for (j, column) in values.chunks_exact_mut(n.max(1)).enumerate() {
                column.iter_mut().zip(a.column(j).as_slice()).for_each(|(x, a)| *x = a.native());
            }
            let lu = DMatrixViewMut::from_slice(values, n, n);
            if front {
                T::Native::front_getrf(lu, ipiv)?
            } else {
                T::Native::getrf(lu, ipiv)?
            }
            let lu = DMatrixView::from_slice(values, n, n);
            T::solve_factored(Factorization::Lu { lu, ipiv, zero: None, front }, a, b, Contents::Values)
        })
    })
}

native!(@each Gesv {
    fn gesv(a: DMatrixView<'_, Self>, b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        solve(a, b, false)
    }
} Complex<f32>, Complex<f64>);

native!(@each Gesv {
    fn gesv(a: DMatrixView<'_, Self>, b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        solve(a, b, false)
    }

    fn front_gesv(a: DMatrixView<'_, Self>, mut b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        if kernel::lu::system(kernel::floats(a), kernel::floats_mut(b.as_view_mut())) {
            return Ok(());
        }
        solve(a, b, true)
    }
} f32, f64);

impl<D: TangentBatch> Gesv for D {
    fn gesv(a: DMatrixView<'_, Self>, b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        solve(a, b, false)
    }

    fn front_gesv(a: DMatrixView<'_, Self>, mut b: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        if let Some((a, b)) = D::interleaved_ref(a).zip(D::interleaved(b.as_view_mut()))
            && kernel::lu::system(a, b)
        {
            return Ok(());
        }
        solve(a, b, true)
    }
}
