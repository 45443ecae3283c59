//! Balancing of a general matrix.

use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, Dim, Matrix, OMatrix, Storage};

use crate::error::Error;
use crate::flags::BalanceJob;
use crate::front::view_mut;
use crate::lapack::Lapack;
use crate::routine::Balance;
use crate::scalar::BaseOf;
use crate::shape::square;

/// A matrix that balancing has made, and how: `B = D⁻¹ Pᵀ A P D`.
#[derive(Clone, Debug)]
pub struct Balanced<T: Lapack, D: Dim>
where
    DefaultAllocator: Allocator<D, D>,
{
    /// The permuted and scaled matrix `B`.
    pub matrix: OMatrix<T, D, D>,
    /// `P` and `D`, in LAPACK's terms.
    pub balance: Balance<BaseOf<T>>,
}

/// Permutes and scales `a` so that eigenvalues are isolated and the norms of rows and columns are close.
///
/// ```text
/// B = D⁻¹ Pᵀ A P D        dB = D⁻¹ Pᵀ dA P D
/// ```
///
/// # Errors
/// [`Error::Shape`] unless `a` is square, [`Error::NonFinite`] for NaN or infinity.
///
/// ```
/// use dualpack_linalg::balance;
/// use nalgebra::Matrix2;
/// let a = Matrix2::new(1.0, 1048576.0, 1.0 / 1048576.0, 1.0);
/// let balanced = balance(&a)?;
/// assert!(balanced.matrix.norm() < 3.0);
/// let t = balanced.transformation();
/// assert_eq!(a * t, t * balanced.matrix);
/// # Ok::<(), dualpack_linalg::Error>(())
/// ```
pub fn balance<T: Lapack, D: Dim, S>(a: &Matrix<T, D, D, S>) -> Result<Balanced<T, D>, Error>
where
    S: Storage<T, D, D>,
    DefaultAllocator: Allocator<D, D>,
{
    let mut matrix = a.clone_owned();
    let balance = T::gebal(BalanceJob::Both, view_mut(&mut matrix))?;
    Ok(Balanced { matrix, balance })
}

impl<T: Lapack, D: Dim> Balanced<T, D>
where
    DefaultAllocator: Allocator<D, D>,
{
    /// The matrix `P D`, for which `A P D = P D B`. It has no tangents.
    pub fn transformation(&self) -> OMatrix<T, D, D> {
        let mut t = OMatrix::<T, D, D>::from_fn_generic(
            self.matrix.shape_generic().0,
            self.matrix.shape_generic().1,
            |i, j| if i == j { T::one().times(self.balance.view().factor(i)) } else { T::zero() },
        );
        for (i, j) in self.balance.view().interchanges().rev() {
            t.swap_rows(i, j);
        }
        t
    }

    /// The tangent `dB` that belongs to the tangent `dA` in one direction.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `da` has the shape of the matrix.
    pub fn pushforward<S>(&self, da: &Matrix<T, D, D, S>) -> Result<OMatrix<T, D, D>, Error>
    where
        S: Storage<T, D, D>,
    {
        if da.shape() != self.matrix.shape() {
            let expected = "a tangent of the shape of the matrix";
            return Err(Error::Shape { routine: "Balanced::pushforward", expected, found: da.shape() });
        }
        square("Balanced::pushforward", da.shape())?;
        let mut db = da.clone_owned();
        self.balance.view().transform(view_mut(&mut db));
        Ok(db)
    }
}
