//! Cholesky decomposition of symmetric (Hermitian) positive definite matrices.

use nalgebra::allocator::Allocator;
use nalgebra::constraint::{SameNumberOfRows, ShapeConstraint};
use nalgebra::{ComplexField, DMatrixView, DefaultAllocator, Dim, Matrix, OMatrix, RawStorage, Storage};
use num_traits::Zero;

use crate::error::Error;
use crate::flags::Uplo;
use crate::front::{view, view_mut};
use crate::function::det;
use crate::lanes::real;
use crate::lanes::{Carver, Part};
use crate::lapack::Lapack;
use crate::routine::{blocked_scratch, pushforward_blocked};
use crate::scratch::with_scratch;

/// How many directions of a pushforward are carried at a time.
const DIRECTIONS: usize = 16;

/// `A = L Lᴴ`, for floats, complex numbers and every dual scalar, static and dynamic sizes.
///
/// Only the lower triangle of `A` is read, in the value and in the tangents: the matrix that is meant is the Hermitian
/// one with that triangle.
///
/// ```
/// use dualpack_core::Dual64;
/// use dualpack_linalg::Cholesky;
/// use nalgebra::{Matrix2, Vector2};
///
/// // d/dt of x = A⁻¹ b for A = [4 + t, 2; 2, 5], at t = 0.
/// let c = |x: f64| Dual64::<1>::constant(x);
/// let a = Matrix2::new(Dual64::new(4.0, [1.0]), c(2.0), c(2.0), c(5.0));
/// let x = Cholesky::new(a)?.solve(&Vector2::new(c(8.0), c(9.0)))?;
/// assert!((x[0].value - 22.0 / 16.0).abs() < 1e-15);
/// // dx = -A⁻¹ dA x, and A⁻¹ = [5, -2; -2, 4] / 16.
/// assert!((x[0].eps[0] + 5.0 / 16.0 * x[0].value).abs() < 1e-15);
/// assert!((x[1].eps[0] - 2.0 / 16.0 * x[0].value).abs() < 1e-15);
/// # Ok::<(), dualpack_linalg::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cholesky<T: Lapack, D: Dim>
where
    DefaultAllocator: Allocator<D, D>,
{
    l: OMatrix<T, D, D>,
}

impl<T: Lapack, D: Dim> Cholesky<T, D>
where
    DefaultAllocator: Allocator<D, D>,
{
    /// Factors `a`, of which only the lower triangle is read.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square, [`Error::NonFinite`] for NaN or infinity in the lower triangle,
    /// [`Error::NotPositiveDefinite`] with the order of the first leading minor that is not positive.
    pub fn new(mut a: OMatrix<T, D, D>) -> Result<Self, Error> {
        T::front_potrf(view_mut(&mut a))?;
        for j in 1..a.ncols() {
            a.view_mut((0, j), (j, 1)).fill(T::zero());
        }
        Ok(Cholesky { l: a })
    }

    /// The lower triangular factor `L`, with a positive diagonal and zeros above it.
    pub fn l(&self) -> OMatrix<T, D, D> {
        self.l.clone()
    }

    /// Gives the factor away.
    pub fn unpack(self) -> OMatrix<T, D, D> {
        self.l
    }

    /// `A⁻¹ b`, for any number of columns.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `b` has as many rows as `A`, [`Error::NonFinite`] for NaN or infinity in `b`.
    pub fn solve<R: Dim, C: Dim, S>(&self, b: &Matrix<T, R, C, S>) -> Result<OMatrix<T, R, C>, Error>
    where
        S: Storage<T, R, C>,
        ShapeConstraint: SameNumberOfRows<R, D>,
        DefaultAllocator: Allocator<R, C>,
    {
        let mut x = b.clone_owned();
        self.solve_mut(&mut x)?;
        Ok(x)
    }

    /// Overwrites `b` by `A⁻¹ b`.
    ///
    /// # Errors
    /// As for [`solve`](Cholesky::solve).
    pub fn solve_mut<R: Dim, C: Dim>(&self, b: &mut OMatrix<T, R, C>) -> Result<(), Error>
    where
        ShapeConstraint: SameNumberOfRows<R, D>,
        DefaultAllocator: Allocator<R, C>,
    {
        T::front_potrs(view(&self.l), view_mut(b))
    }

    /// `A⁻¹`, in full.
    pub fn inverse(&self) -> OMatrix<T, D, D> {
        let mut x = self.l.clone();
        T::potri(Uplo::Lower, view_mut(&mut x))
            .expect("a Cholesky factor is finite and its diagonal positive");
        for j in 0..x.ncols() {
            for i in j + 1..x.nrows() {
                x[(j, i)] = x[(i, j)].conjugate();
            }
        }
        x
    }

    /// `ln det A = 2 Σ ln L_ii`; no overflow where the determinant itself has one.
    pub fn ln_determinant(&self) -> T::RealField {
        let sum = self.diagonal().fold(T::RealField::zero(), |sum, l| sum + l.ln());
        sum + sum
    }

    /// `det A = (Π L_ii)²`; it overflows or underflows on the way only if it does in the end.
    pub fn determinant(&self) -> T::RealField {
        let square = |i: usize| real(self.l[(i, i)]) * real(self.l[(i, i)]);
        det::product(self.l.nrows(), square).real()
    }

    fn diagonal(&self) -> impl Iterator<Item = T::RealField> {
        (0..self.l.nrows()).map(|i| self.l[(i, i)].real())
    }

    /// The tangents `dL` that belong to tangents `dA`, for any number of directions at once: `da` has the matrices of
    /// all directions side by side, n x (n k), and so has the result. Nothing is factored again.
    ///
    /// ```text
    /// dL = L Φ(L⁻¹ dA L⁻ᴴ)
    /// ```
    ///
    /// As with `A`, only the lower triangle of each `dA` is read.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `da` has n rows and a multiple of n columns.
    ///
    /// ```
    /// use dualpack_linalg::Cholesky;
    /// use nalgebra::Matrix2;
    /// let chol = Cholesky::new(Matrix2::new(4.0, 2.0, 2.0, 5.0))?;
    /// let da = Matrix2::new(1.0, 0.0, 0.0, 0.0);
    /// let (l, dl) = (chol.l(), chol.pushforward(&da)?);
    /// assert!((dl * l.transpose() + l * dl.transpose() - da).norm() < 1e-15);
    /// # Ok::<(), dualpack_linalg::Error>(())
    /// ```
    pub fn pushforward<C: Dim, S>(&self, da: &Matrix<T, D, C, S>) -> Result<OMatrix<T, D, C>, Error>
    where
        S: RawStorage<T, D, C>,
        DefaultAllocator: Allocator<D, C>,
    {
        let n = self.l.nrows();
        let mut dl = OMatrix::<T, D, C>::zeros_generic(da.shape_generic().0, da.shape_generic().1);
        if da.nrows() != n || !da.ncols().is_multiple_of(n.max(1)) || (n == 0 && da.ncols() > 0) {
            return Err(Error::Shape {
                routine: "Cholesky::pushforward",
                expected: "n rows, and n columns for each direction",
                found: da.shape(),
            });
        }
        let factor: DMatrixView<'_, T> = view(&self.l);
        let directions = da.ncols().checked_div(n).unwrap_or(0);
        for from in (0..directions).step_by(DIRECTIONS) {
            let lanes = DIRECTIONS.min(directions - from);
            with_scratch::<T, _>(n * n * lanes + blocked_scratch(n, lanes), |buffer| {
                let mut carve = Carver::new(buffer);
                let mut planes = carve.lanes(n, lanes, n);
                for k in 0..lanes {
                    let first = (from + k) * n;
                    for j in 0..n {
                        for i in Part::Triangle(Uplo::Lower).rows(n, j) {
                            *planes.at_mut(k, i, j) = da[(i, first + j)];
                        }
                    }
                }
                pushforward_blocked(factor, &mut planes, carve, |_, _, _| false)?;
                for k in 0..lanes {
                    for j in 0..n {
                        for i in Part::Triangle(Uplo::Lower).rows(n, j) {
                            dl[(i, (from + k) * n + j)] = planes.at(k, i, j);
                        }
                    }
                }
                Ok(())
            })?;
        }
        Ok(dl)
    }
}
