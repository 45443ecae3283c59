//! Inverse from an LU factorization.
//!
//! `X = A⁻¹` where `P A = L U` is given, LAPACK: dgetri, sgetri, zgetri, cgetri. `dX = −X dA X` is the solution of
//! `A dX = −dA X`, and since the tangent comes as that of the factors it is computed from them without forming `dA`,
//! as in [`Getrs`](crate::Getrs) for a constant right-hand side:
//!
//! ```text
//! Y = U X      L Z = −dL Y      U dX = Z − dU X
//! ```

use nalgebra::DMatrixViewMut;

use crate::error::Error;
use crate::ffi;
use crate::flags::Trans;
use crate::lanes::{Carver, Part, gather_primal, poison_overflow, scatter_lanes, scatter_primal};
use crate::routine::getrs::factors;
use crate::routine::native;
use crate::routine::triangles::{block_scratch, pushforward};
use crate::scalar::{Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::square;

/// Inverse from an LU factorization.
pub trait Getri: Scalar {
    /// Overwrites `a`, which together with `ipiv` is what [`Getrf`](crate::Getrf) computed, by `A⁻¹`.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square and the pivots lie in 1..=n, [`Error::NonFinite`] for NaN or infinity,
    /// [`Error::Singular`] for a pivot that is exactly zero; `a` is then left as it was.
    fn getri(a: DMatrixViewMut<'_, Self>, ipiv: &[i32]) -> Result<(), Error>;
}

native!(Getri {
    fn getri(a: DMatrixViewMut<'_, Self>, ipiv: &[i32]) -> Result<(), Error> {
        ffi::getri(a, ipiv)
    }
});

impl<D: TangentBatch> Getri for D {
    fn getri(mut a: DMatrixViewMut<'_, Self>, ipiv: &[i32]) -> Result<(), Error> {
        let (n, lanes) = (square("getri", a.shape())?, D::TANGENTS);
        with_scratch::<D::Primal, _>(n * n * (3 + lanes) + block_scratch(n, lanes), |buffer| {
            let mut carve = Carver::new(buffer);
            let mut lu = carve.matrix(n, n);
            let mut x = carve.matrix(n, n);
            let w = carve.matrix(n, n);
            let mut dx = carve.lanes(n, lanes, n);
            let scratch = carve.vector(block_scratch(n, lanes));
            gather_primal(&a.as_view(), Part::All, &mut lu);
            x.copy_from(&lu);
            D::Primal::getri(x.as_view_mut(), ipiv)?;
            let factors = factors(Trans::NoTrans);
            pushforward(factors, a.as_view(), lu.as_view(), x.as_view(), w, &mut dx, scratch)?;
            scatter_primal(&x.as_view(), Part::All, &mut a);
            scatter_lanes(&dx, Part::All, &mut a);
            poison_overflow(&mut a);
            Ok(())
        })
    }
}
