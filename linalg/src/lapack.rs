//! The trait [`Lapack`]: a scalar that has every routine.

use crate::factored::Factored;
use crate::function::Expm;
use crate::routine::{
    Gebak, Gebal, Gemm, Gesv, Getrf, Getri, Getrs, Parts, Potrf, Potri, Potrs, Syrk, Trmm, Trsm, Trtrs,
};
use crate::scalar::Scalar;

/// Makes the list of routine traits into one trait. A new routine is its file under `routine/` and one word here.
macro_rules! lapack {
    ($($routine:ident)*) => {
        /// A scalar for which all routines of this crate exist: `f32`, `f64`, `Complex` of them, and every dual
        /// number over them, nested to any depth.
        ///
        /// The routines have LAPACK's root names: `T::potrf`, `T::trsm`, ... In generic code write `T: Lapack` (and
        /// `T: Real` where real functions are needed).
        ///
        /// ```
        /// use dualpack_linalg::{Error, Lapack, Uplo};
        /// use nalgebra::DMatrix;
        ///
        /// /// Twice the logarithm of the product of the pivots: ln det A.
        /// fn log_det<T: Lapack>(mut a: DMatrix<T>) -> Result<T, Error> {
        ///     T::potrf(Uplo::Lower, a.as_view_mut())?;
        ///     Ok(a.diagonal().iter().fold(T::zero(), |sum, &l| sum + l.ln() + l.ln()))
        /// }
        /// let a = DMatrix::from_row_slice(2, 2, &[4.0, 2.0, 2.0, 5.0]);
        /// assert!((log_det(a)? - 16.0_f64.ln()).abs() < 1e-15);
        /// # Ok::<(), Error>(())
        /// ```
        #[diagnostic::on_unimplemented(
            message = "`{Self}` is not a scalar with LAPACK routines",
            label = "expected f32, f64, Complex of them, or a dual number over them",
            note = "in generic code write the bound `T: Lapack` instead of `T: Real` or `T: ComplexField`",
            note = "num-dual's Dual, DualSVec and HyperDual need the feature `num-dual`; its DualDVec is not Copy and has no rules",
            note = "a `Tracer` has none: the structure of a function that calls LAPACK is found by `SparseJacobian::probe`"
        )]
        pub trait Lapack: Scalar $(+ $routine)* {}

        impl<T: Scalar $(+ $routine)*> Lapack for T {}
    };
}

lapack!(Parts Gemm Trsm Trmm Syrk Potrf Potrs Potri Trtrs Getrf Getrs Getri Gesv Gebal Gebak Expm Factored);
