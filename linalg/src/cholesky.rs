//! Cholesky decomposition of symmetric (Hermitian) positive definite matrices.

use dualpack_core::Real;
use nalgebra::allocator::Allocator;
use nalgebra::constraint::{SameNumberOfRows, ShapeConstraint};
use nalgebra::{
    ComplexField, DMatrix, DMatrixView, DMatrixViewMut, DefaultAllocator, Dim, Matrix, OMatrix, RawStorage,
    Storage,
};
use num_traits::Zero;

use crate::error::Error;
use crate::factored::{Contents, Factorization};
use crate::flags::Uplo;
use crate::front::{view, view_mut};
use crate::function::det;
use crate::kernel::cholesky::POTRF_LIMIT;
use crate::lanes::real;
use crate::lanes::{Carver, Part};
use crate::lapack::Lapack;
use crate::routine::{Potrf, blocked_scratch, pushforward_blocked};
use crate::scalar::Scalar;
use crate::scratch::with_scratch;
use crate::shape::{rows_of, square};

/// How many directions of a pushforward are carried at a time.
const DIRECTIONS: usize = 16;

/// Up to this many columns a copy of the whole matrix is faster than one of its lower triangle.
const FEW_COLUMNS: usize = 8;

/// `A = L Lᴴ`, for floats, complex numbers and every dual scalar, static and dynamic sizes.
///
/// Only the lower triangle of `A` is read, in the value and in the tangents: the matrix that is meant is the Hermitian
/// one with that triangle.
///
/// On dual numbers of first order a large matrix of dynamic size has its values factored, once for all lanes, and any
/// matrix of higher order, once for all lanes of all orders.
/// [`solve`](Cholesky::solve) then costs O(n²) for each lane and right-hand side, [`ln_determinant`](Cholesky::ln_determinant)
/// O(n²) for each lane of the highest order. The factor itself gets its tangents, O(n³) for each lane, when it is asked for.
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
    /// The matrix, or its factor in the lower triangle.
    a: OMatrix<T, D, D>,
    factor: Factor<T::Native>,
}

/// Where a factor is.
#[derive(Clone, Debug)]
enum Factor<F: Scalar> {
    /// In place of the matrix.
    Whole,
    /// Of the values alone, in place of those of the matrix.
    Values,
    /// Of the values alone, beside the matrix.
    Beside(DMatrix<F>),
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
    #[inline]
    pub fn new(mut a: OMatrix<T, D, D>) -> Result<Self, Error> {
        if D::try_to_usize().is_some()
            && let Some(done) = T::inline_potrf(None, view_mut(&mut a))
        {
            return if done { Ok(Cholesky { a, factor: Factor::Whole }) } else { Err(refusal(a.clone())) };
        }
        let factor = factor(&mut a)?;
        Ok(Cholesky { a, factor })
    }

    /// Factors another matrix, in the memory of this one if it has the same size: what moves, and for a dynamic size what
    /// is allocated, in a loop.
    ///
    /// # Errors
    /// As for [`new`](Cholesky::new); then this is the factor of nothing, all NaN.
    ///
    /// ```
    /// use dualpack_linalg::Cholesky;
    /// use nalgebra::Matrix2;
    /// let mut chol = Cholesky::new(Matrix2::<f64>::identity())?;
    /// chol.refactor(&Matrix2::new(4.0, 2.0, 2.0, 5.0))?;
    /// assert_eq!(chol.l(), Matrix2::new(2.0, 0.0, 1.0, 2.0));
    /// assert!(chol.refactor(&Matrix2::new(4.0, 2.0, 2.0, 1.0)).is_err());
    /// assert!(chol.l()[(0, 0)].is_nan());
    /// # Ok::<(), dualpack_linalg::Error>(())
    /// ```
    #[inline]
    pub fn refactor(&mut self, a: &OMatrix<T, D, D>) -> Result<(), Error> {
        if D::try_to_usize().is_some() && T::inline_potrf(Some(view(a)), view_mut(&mut self.a)) == Some(true)
        {
            return Ok(());
        }
        let (m, n) = a.shape();
        if m != n {
            // The memory stays that of a square matrix.
            self.a.fill(T::all_nan());
            self.factor = Factor::Whole;
            square("potrf", (m, n))?;
        } else if self.a.shape() != (m, n) {
            self.a = a.clone();
        } else if n <= FEW_COLUMNS {
            self.a.as_mut_slice().copy_from_slice(a.as_slice());
        } else {
            for j in 0..n {
                let rows = j * m + j.min(m)..(j + 1) * m;
                self.a.as_mut_slice()[rows.clone()].copy_from_slice(&a.as_slice()[rows]);
            }
        }
        let (factor, done) = match factor(&mut self.a) {
            Ok(factor) => (factor, Ok(())),
            Err(error) => {
                self.a.fill(T::all_nan());
                (Factor::Whole, Err(error))
            }
        };
        self.factor = factor;
        done
    }

    /// Calls `f` with the factor of the values, if that is all there is.
    fn with_values<R>(&self, f: impl FnOnce(DMatrixView<'_, T::Native>) -> R) -> Option<R> {
        match &self.factor {
            Factor::Whole => None,
            Factor::Beside(l) => Some(f(l.as_view())),
            Factor::Values => Some(with_scratch(self.a.len(), |values| f(values_of(view(&self.a), values)))),
        }
    }

    /// The lower triangular factor `L`, with a positive diagonal and zeros above it.
    pub fn l(&self) -> OMatrix<T, D, D> {
        self.clone().unpack()
    }

    /// Gives the factor away.
    pub fn unpack(self) -> OMatrix<T, D, D> {
        let mut l = self.unpack_dirty();
        zero_above(&mut l);
        l
    }

    /// Gives the factor away, with any numbers above its diagonal: for routines that read only the lower triangle.
    #[inline]
    pub fn unpack_dirty(mut self) -> OMatrix<T, D, D> {
        let complete = |a: &mut OMatrix<T, D, D>, l: DMatrixView<'_, T::Native>| {
            let by = Factorization::Cholesky { l };
            T::factors(by, view_mut(a)).expect("the shapes are those of the matrix");
        };
        match &self.factor {
            Factor::Whole => {}
            Factor::Beside(l) => complete(&mut self.a, l.as_view()),
            Factor::Values => with_scratch(self.a.len(), |values| {
                let l = values_of(view(&self.a), values);
                complete(&mut self.a, l);
            }),
        }
        self.a
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
        let by_values = self.with_values(|l| {
            rows_of("potrs", l.nrows(), b.shape())?;
            T::solve_factored(Factorization::Cholesky { l }, view(&self.a), view_mut(b), Contents::Values)
        });
        by_values.unwrap_or_else(|| T::front_potrs(view(&self.a), view_mut(b)))
    }

    /// `A⁻¹`, in full; NaN after a [`refactor`](Cholesky::refactor) that failed.
    pub fn inverse(&self) -> OMatrix<T, D, D> {
        let mut x = self.a.clone();
        let by_values = self.with_values(|l| {
            T::inverse_factored(Factorization::Cholesky { l }, view(&self.a), view_mut(&mut x))
        });
        let inverted = by_values.unwrap_or_else(|| T::potri(Uplo::Lower, view_mut(&mut x)));
        if inverted.is_err() {
            x.fill(T::all_nan());
        }
        for j in 0..x.ncols() {
            for i in j + 1..x.nrows() {
                x[(j, i)] = x[(i, j)].conjugate();
            }
        }
        x
    }

    /// `ln det A = 2 Σ ln L_ii`; no overflow where the determinant itself has one.
    pub fn ln_determinant(&self) -> T::RealField {
        let by_values = self.with_values(|l| {
            let value = twice_sum_of_logarithms(l.nrows(), |i| l[(i, i)]);
            let value = T::from_native(T::Native::from_real(value));
            self.ln_determinant_tangents(l).with_value_of(value).real()
        });
        by_values.unwrap_or_else(|| twice_sum_of_logarithms(self.a.nrows(), |i| self.a[(i, i)]))
    }

    /// `det A = (Π L_ii)²`; it overflows or underflows on the way only if it does in the end.
    pub fn determinant(&self) -> T::RealField {
        let by_values = self.with_values(|l| {
            let square = |i: usize| real(l[(i, i)]) * real(l[(i, i)]);
            let value = T::from_native(det::product(l.nrows(), square));
            if !value.value_is_finite() {
                return T::all_nan().with_value_of(value).real();
            }
            let ln = self.ln_determinant_tangents(l);
            det::from_traces(l.nrows(), square, false, ln).with_value_of(value).real()
        });
        by_values.unwrap_or_else(|| {
            let det = det::product(self.a.nrows(), |i| real(self.a[(i, i)]) * real(self.a[(i, i)]));
            if det.value_is_finite() { det.real() } else { T::all_nan().with_value_of(det).real() }
        })
    }

    /// `ln det A` with the value zero.
    fn ln_determinant_tangents(&self, l: DMatrixView<'_, T::Native>) -> T {
        T::ln_determinant_tangents(Factorization::Cholesky { l }, view(&self.a))
            .expect("a Cholesky factor is finite and its diagonal positive")
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
        let n = self.a.nrows();
        let mut dl = OMatrix::<T, D, C>::zeros_generic(da.shape_generic().0, da.shape_generic().1);
        if da.nrows() != n || !da.ncols().is_multiple_of(n.max(1)) || (n == 0 && da.ncols() > 0) {
            return Err(Error::Shape {
                routine: "Cholesky::pushforward",
                expected: "n rows, and n columns for each direction",
                found: da.shape(),
            });
        }
        let unpacked = (!matches!(self.factor, Factor::Whole)).then(|| self.l());
        let factor: DMatrixView<'_, T> = view(unpacked.as_ref().unwrap_or(&self.a));
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

/// The factor in place of the lower triangle of `a`, or that of the values: in place of those, where second derivatives
/// would be most of the work, or beside `a` if that is large, dynamic, and not of plain floats.
#[inline]
fn factor<T: Lapack, D: Dim>(a: &mut OMatrix<T, D, D>) -> Result<Factor<T::Native>, Error>
where
    DefaultAllocator: Allocator<D, D>,
{
    let order = <T::RealField as Real>::ORDER;
    if order > 0 && D::try_to_usize().is_none() && a.nrows() > POTRF_LIMIT {
        let native = |i, j| if i < j { T::Native::zero() } else { a[(i, j)].native() };
        let mut l = DMatrix::from_fn(a.nrows(), a.ncols(), native);
        T::Native::front_potrf(l.as_view_mut())?;
        return Ok(Factor::Beside(l));
    }
    if order > 1 {
        let n = square("potrf", a.shape())?;
        with_scratch(n * n, |values| {
            values_of(view(a), values);
            T::Native::front_potrf(DMatrixViewMut::from_slice(values, n, n))?;
            for j in 0..n {
                let column = &mut a.as_mut_slice()[j * n..][j..n];
                for (x, &l) in column.iter_mut().zip(&values[j * n + j..]) {
                    *x = x.with_value_of(T::from_native(l));
                }
            }
            Ok(())
        })?;
        return Ok(Factor::Values);
    }
    T::front_potrf(view_mut(a))?;
    Ok(Factor::Whole)
}

/// The lower triangle of the values of a square matrix, in a buffer of zeros.
fn values_of<'v, T: Lapack>(
    a: DMatrixView<'_, T>,
    values: &'v mut [T::Native],
) -> DMatrixView<'v, T::Native> {
    let n = a.nrows();
    for (j, column) in values.chunks_exact_mut(n.max(1)).enumerate() {
        let from = a.column(j);
        let entries = column[j..].iter_mut().zip(&from.as_slice()[j..]);
        entries.for_each(|(x, a)| *x = a.native());
    }
    DMatrixView::from_slice(values, n, n)
}

/// Why a matrix has no factor. A copy is asked for: its own memory, which no call sees, may stay in registers.
#[cold]
#[inline(never)]
fn refusal<T: Lapack, D: Dim>(mut a: OMatrix<T, D, D>) -> Error
where
    DefaultAllocator: Allocator<D, D>,
{
    factor(&mut a).expect_err("the same operations as in the caller, which refused the matrix")
}

fn twice_sum_of_logarithms<T: Lapack>(n: usize, diagonal: impl Fn(usize) -> T) -> T::RealField {
    let sum = (0..n).fold(T::RealField::zero(), |sum, i| sum + diagonal(i).real().ln());
    sum + sum
}

/// Sets the entries above the diagonal to zero.
fn zero_above<T: Lapack, D: Dim>(a: &mut OMatrix<T, D, D>)
where
    DefaultAllocator: Allocator<D, D>,
{
    for j in 1..a.ncols() {
        a.view_mut((0, j), (j, 1)).fill(T::zero());
    }
}
