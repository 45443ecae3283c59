//! LU decomposition of general matrices.

use std::cmp::Ordering;
use std::sync::OnceLock;

use nalgebra::allocator::Allocator;
use nalgebra::constraint::{SameNumberOfRows, ShapeConstraint};
use nalgebra::{
    ComplexField, DMatrixView, DMatrixViewMut, DefaultAllocator, Dim, DimMin, DimMinimum, Matrix, OMatrix,
    OVector, PermutationSequence, RawStorage, Storage,
};
use num_traits::Zero;

use crate::error::Error;
use crate::factored::{Contents, Factorization};
use crate::front::{view, view_mut};
use crate::function::det::{self, Road};
use crate::kernel::same;
use crate::lanes::Carver;
use crate::lapack::Lapack;
use crate::routine::{Getrf, getrf_pushforward, interchanges};
use crate::scratch::with_scratch;
use crate::shape::{rows_of, square};

/// How many directions of a pushforward are carried at a time.
const DIRECTIONS: usize = 16;

/// `P A = L U` with partial pivoting, for floats, complex numbers and every dual scalar, static and dynamic sizes,
/// square or not.
///
/// On dual numbers the values are factored, once for all lanes of all orders. [`solve`](LU::solve) then costs O(n²) for
/// each lane and right-hand side. The factors themselves ([`l`](LU::l), [`u`](LU::u), [`unpack`](LU::unpack)) get their
/// tangents, O(n³) for each lane, when they are asked for; those of a matrix of dynamic size are kept for the next time.
///
/// A tiny real matrix is factored without a call of LAPACK: its values are those of LAPACK up to rounding.
///
/// A singular matrix has a decomposition and a determinant, with the derivatives of the latter; what divides by the
/// zero pivot is an error.
///
/// ```
/// use dualpack_core::Dual64;
/// use dualpack_linalg::LU;
/// use nalgebra::{Matrix2, Vector2};
///
/// // d/dt of x = A⁻¹ b for A = [t, 2; 1, 1], at t = 1: x = [b₁ − 2 b₂, t b₂ − b₁] / (t − 2).
/// let c = |x: f64| Dual64::<1>::constant(x);
/// let a = Matrix2::new(Dual64::variable(1.0, 0), c(2.0), c(1.0), c(1.0));
/// let lu = LU::new(a)?;
/// let x = lu.solve(&Vector2::new(c(1.0), c(3.0)))?;
/// assert_eq!((x[0].value, x[0].eps), (5.0, [5.0]));
/// assert_eq!((lu.determinant().value, lu.determinant().eps), (-1.0, [1.0]));
/// # Ok::<(), dualpack_linalg::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LU<T: Lapack, R: DimMin<C>, C: Dim>
where
    DefaultAllocator: Allocator<R, C> + Allocator<DimMinimum<R, C>>,
{
    /// The factors, if `T` has no tangents, else the matrix.
    a: OMatrix<T, R, C>,
    /// The factors of the values, if `T` has tangents.
    lu: Option<OMatrix<T::Native, R, C>>,
    ipiv: OVector<i32, DimMinimum<R, C>>,
    /// The first pivot that is exactly zero, 1-based.
    zero: Option<usize>,
    /// The factors with their tangents, once they were asked for, if the size is dynamic: matrices of static sizes are
    /// never on the heap, and too large to be kept here unused.
    factors: OnceLock<Box<OMatrix<T, R, C>>>,
}

impl<T: Lapack, R: DimMin<C>, C: Dim> LU<T, R, C>
where
    DefaultAllocator: Allocator<R, C> + Allocator<DimMinimum<R, C>>,
{
    /// Factors `a`.
    ///
    /// # Errors
    /// [`Error::NonFinite`] for NaN or infinity. A singular matrix is none.
    pub fn new(mut a: OMatrix<T, R, C>) -> Result<Self, Error> {
        let (rows, cols) = a.shape_generic();
        let mut ipiv = OVector::<i32, DimMinimum<R, C>>::zeros_generic(rows.min(cols), nalgebra::Const::<1>);
        let (lu, factored) = if same::<T, T::Native>(view(&a)).is_some() {
            (None, T::front_getrf(view_mut(&mut a), ipiv.as_mut_slice()))
        } else {
            let mut lu = a.map(T::native);
            let factored = T::Native::front_getrf(view_mut(&mut lu), ipiv.as_mut_slice());
            (Some(lu), factored)
        };
        let zero = match factored {
            Ok(()) => None,
            Err(Error::Singular { pivot, .. }) => Some(pivot),
            Err(other) => return Err(other),
        };
        Ok(LU { a, lu, ipiv, zero, factors: OnceLock::new() })
    }

    /// The factors of the values.
    fn values(&self) -> DMatrixView<'_, T::Native> {
        match &self.lu {
            Some(lu) => view(lu),
            None => same(view(&self.a)).expect("without factors beside it the matrix is one of floats"),
        }
    }

    fn factorization(&self) -> Factorization<'_, T::Native> {
        Factorization::Lu { lu: self.values(), ipiv: self.ipiv.as_slice(), zero: self.zero, front: true }
    }

    /// Calls `f` with `L` and `U` in one, with their tangents.
    fn with_factors<X>(&self, f: impl FnOnce(&OMatrix<T, R, C>) -> X) -> X {
        if self.lu.is_none() {
            return f(&self.a);
        }
        let compute = || {
            let mut factors = self.a.clone();
            T::factors(self.factorization(), view_mut(&mut factors))
                .expect("the shapes are those of the matrix");
            factors
        };
        if R::try_to_usize().is_some() && C::try_to_usize().is_some() {
            return f(&compute());
        }
        f(self.factors.get_or_init(|| Box::new(compute())))
    }

    /// `L`, m x min(m, n), with ones on the diagonal and zeros above it. (Below a zero pivot it is not differentiable,
    /// and the tangents are NaN; [`Getrf`](crate::Getrf) has the details.)
    pub fn l(&self) -> OMatrix<T, R, DimMinimum<R, C>>
    where
        DefaultAllocator: Allocator<R, DimMinimum<R, C>>,
    {
        self.with_factors(lower)
    }

    /// `U`, min(m, n) x n, with zeros below the diagonal.
    pub fn u(&self) -> OMatrix<T, DimMinimum<R, C>, C>
    where
        DefaultAllocator: Allocator<DimMinimum<R, C>, C>,
    {
        self.with_factors(upper)
    }

    /// The interchanges of rows `P`: `p().permute_rows(&mut a)` makes `A` into `L U`, `p().inv_permute_rows(&mut lu)`
    /// goes back.
    pub fn p(&self) -> PermutationSequence<DimMinimum<R, C>> {
        let (rows, cols) = self.a.shape_generic();
        let mut p = PermutationSequence::identity_generic(rows.min(cols));
        interchanges(self.ipiv.as_slice()).for_each(|(i, j)| p.append_permutation(i, j));
        p
    }

    /// `P`, `L` and `U`. The tangents of the factors are computed once for both.
    pub fn unpack(
        self,
    ) -> (
        PermutationSequence<DimMinimum<R, C>>,
        OMatrix<T, R, DimMinimum<R, C>>,
        OMatrix<T, DimMinimum<R, C>, C>,
    )
    where
        DefaultAllocator: Allocator<R, DimMinimum<R, C>> + Allocator<DimMinimum<R, C>, C>,
    {
        self.with_factors(|factors| (self.p(), lower(factors), upper(factors)))
    }

    /// Whether no pivot is exactly zero.
    pub fn is_invertible(&self) -> bool {
        self.zero.is_none() && self.a.is_square()
    }

    /// The tangents of the factors that belong to tangents `dA`, for any number of directions at once: `da` has the
    /// matrices of all directions side by side, m x (n k), and so has the result, where each m x n block holds `dL`
    /// below its diagonal and `dU` on and above it. Nothing is factored again.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `da` has m rows and a multiple of n columns, [`Error::Singular`] for a matrix whose
    /// factors are not differentiable.
    ///
    /// ```
    /// use dualpack_linalg::LU;
    /// use nalgebra::Matrix2;
    /// let (a, da) = (Matrix2::new(4.0, 2.0, 2.0, 5.0), Matrix2::new(1.0, 0.0, 0.0, 0.0));
    /// let lu = LU::new(a)?;
    /// let d = lu.pushforward(&da)?;
    /// // No rows were interchanged: dL U + L dU = dA.
    /// let dl = Matrix2::new(0.0, 0.0, d[(1, 0)], 0.0);
    /// assert!((dl * lu.u() + lu.l() * d.upper_triangle() - da).norm() < 1e-15);
    /// # Ok::<(), dualpack_linalg::Error>(())
    /// ```
    pub fn pushforward<K: Dim, S>(&self, da: &Matrix<T, R, K, S>) -> Result<OMatrix<T, R, K>, Error>
    where
        S: RawStorage<T, R, K>,
        DefaultAllocator: Allocator<R, K>,
    {
        const ROUTINE: &str = "LU::pushforward";
        let (m, n) = self.a.shape();
        if da.nrows() != m || !da.ncols().is_multiple_of(n.max(1)) || (n == 0 && da.ncols() > 0) {
            return Err(Error::Shape {
                routine: ROUTINE,
                expected: "m rows, and n columns for each direction",
                found: da.shape(),
            });
        }
        if let Some(pivot) = self.zero.filter(|&pivot| pivot < m) {
            return Err(Error::Singular { routine: ROUTINE, pivot });
        }
        let (rows, cols) = da.shape_generic();
        let mut result = OMatrix::<T, R, K>::from_fn_generic(rows, cols, |i, j| da[(i, j)]);
        interchanges(self.ipiv.as_slice()).for_each(|(i, j)| result.swap_rows(i, j));
        let directions = if m * n == 0 { 0 } else { da.ncols() / n };
        self.with_factors(|factors| -> Result<(), Error> {
            for from in (0..directions).step_by(DIRECTIONS) {
                let lanes = DIRECTIONS.min(directions - from);
                with_scratch::<T, _>((m * n + m * m.min(n)) * lanes, |buffer| {
                    let mut carve = Carver::new(buffer);
                    let mut d = carve.lanes(m, lanes, n);
                    let mut mask = carve.lanes(m, lanes, m.min(n));
                    for (k, j) in (0..lanes).flat_map(|k| (0..n).map(move |j| (k, j))) {
                        let column = (from + k) * n + j;
                        d.column_mut(k, j).copy_from_slice(&result.as_slice()[column * m..][..m]);
                    }
                    let zero = self.zero.map(|pivot| pivot - 1);
                    getrf_pushforward(view(factors), zero, &mut d, &mut mask)?;
                    for (k, j) in (0..lanes).flat_map(|k| (0..n).map(move |j| (k, j))) {
                        let column = (from + k) * n + j;
                        result.as_mut_slice()[column * m..][..m].copy_from_slice(d.column(k, j));
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        Ok(result)
    }
}

impl<T: Lapack, D: DimMin<D, Output = D>> LU<T, D, D>
where
    DefaultAllocator: Allocator<D, D> + Allocator<D>,
{
    /// `A⁻¹ b`, for any number of columns.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `A` is square and `b` has as many rows, [`Error::NonFinite`] for NaN or infinity in
    /// `b`, [`Error::Singular`] for a pivot that is exactly zero.
    pub fn solve<R2: Dim, C2: Dim, S>(&self, b: &Matrix<T, R2, C2, S>) -> Result<OMatrix<T, R2, C2>, Error>
    where
        S: Storage<T, R2, C2>,
        ShapeConstraint: SameNumberOfRows<R2, D>,
        DefaultAllocator: Allocator<R2, C2>,
    {
        let mut x = b.clone_owned();
        self.solve_mut(&mut x)?;
        Ok(x)
    }

    /// Overwrites `b` by `A⁻¹ b`.
    ///
    /// # Errors
    /// As for [`solve`](LU::solve); `b` is then left as it was.
    pub fn solve_mut<R2: Dim, C2: Dim>(&self, b: &mut OMatrix<T, R2, C2>) -> Result<(), Error>
    where
        ShapeConstraint: SameNumberOfRows<R2, D>,
        DefaultAllocator: Allocator<R2, C2>,
    {
        let n = square("getrs", self.a.shape())?;
        rows_of("getrs", n, b.shape())?;
        T::solve_factored(self.factorization(), view(&self.a), view_mut(b), Contents::Values)
    }

    /// `A⁻¹`. To solve with it is slower and less accurate than [`solve`](LU::solve).
    ///
    /// # Errors
    /// [`Error::Shape`] unless `A` is square, [`Error::Singular`] for a pivot that is exactly zero.
    pub fn inverse(&self) -> Result<OMatrix<T, D, D>, Error> {
        square("getri", self.a.shape())?;
        let (rows, cols) = self.a.shape_generic();
        let mut x = OMatrix::<T, D, D>::zeros_generic(rows, cols);
        T::inverse_factored(self.factorization(), view(&self.a), view_mut(&mut x))?;
        Ok(x)
    }

    /// `det A = ± Π U_ii`, with derivatives that are exact also where the matrix is singular or nearly so: the
    /// determinant is a polynomial. At a singular `A` its gradient is the adjugate.
    ///
    /// # Panics
    /// Unless `A` is square.
    ///
    /// ```
    /// use dualpack_core::Dual64;
    /// use dualpack_linalg::LU;
    /// use nalgebra::Matrix2;
    /// // [1 + t, 2; 2, 4]: det = 4 t.
    /// let a = Matrix2::new(1.0, 2.0, 2.0, 4.0).map(Dual64::<1>::constant);
    /// let t = Matrix2::new(Dual64::variable(0.0, 0), Dual64::constant(0.0), Dual64::constant(0.0), Dual64::constant(0.0));
    /// let det = LU::new(a + t)?.determinant();
    /// assert_eq!((det.value, det.eps), (0.0, [4.0]));
    /// # Ok::<(), dualpack_linalg::Error>(())
    /// ```
    #[track_caller]
    pub fn determinant(&self) -> T {
        assert!(self.a.is_square(), "determinant of a matrix that is not square");
        let n = self.a.nrows();
        let (lu, odd) = (self.values(), interchanges(self.ipiv.as_slice()).count() % 2 == 1);
        let product = det::product(n, |i| lu[(i, i)]);
        let value = T::from_native(if odd { -product } else { product });
        let road = det::road::<T>(&lu);
        if road != Road::Value && !value.value_is_finite() {
            return T::all_nan().with_value_of(value);
        }
        let det = match road {
            Road::Value => value,
            Road::Traces => det::from_traces(n, |i| lu[(i, i)], odd, self.ln_determinant_tangents()),
            Road::Pivots => {
                let product = self.with_factors(|factors| det::product(n, |i| factors[(i, i)]));
                if odd { -product } else { product }
            }
            Road::Complete => with_scratch::<T, _>(n * n, |buffer| {
                buffer.copy_from_slice(self.a.as_slice());
                det::complete(DMatrixViewMut::from_slice(buffer, n, n))
            }),
        };
        det.with_value_of(value)
    }

    /// `ln |det A| = Σ ln |U_ii|`, which does not overflow where the determinant does.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `A` is square, [`Error::Singular`] for a pivot that is exactly zero.
    pub fn ln_abs_determinant(&self) -> Result<T::RealField, Error> {
        const ROUTINE: &str = "LU::ln_abs_determinant";
        let n = square(ROUTINE, self.a.shape())?;
        if let Some(pivot) = self.zero {
            return Err(Error::Singular { routine: ROUTINE, pivot });
        }
        let lu = self.values();
        let zero = <T::Native as ComplexField>::RealField::zero();
        let value = (0..n).fold(zero, |sum, i| sum + lu[(i, i)].modulus().ln());
        let ln = self.ln_determinant_tangents();
        Ok(ln.with_value_of(T::from_native(T::Native::from_real(value))).real())
    }

    /// `ln det A` with the value zero; NaN if a factor has overflowed.
    fn ln_determinant_tangents(&self) -> T {
        let ln = T::ln_determinant_tangents(self.factorization(), view(&self.a));
        ln.unwrap_or_else(|_| T::all_nan())
    }
}

/// `A⁻¹ b`, for any number of columns: what `LU::new(a)?.solve(b)` computes, for a matrix that is solved with once.
///
/// One factorization, of the values, and O(n²) for each lane and column; tiny systems are solved in one piece.
///
/// # Errors
/// [`Error::Shape`] unless `a` is square, [`Error::NonFinite`] for NaN or infinity in `a` or `b`, [`Error::Singular`] for
/// a pivot that is exactly zero.
///
/// ```
/// use dualpack_core::Dual64;
/// use dualpack_linalg::solve;
/// use nalgebra::{Matrix2, Vector2};
/// // x = A⁻¹ b for A = [2 + t, 1; 1, 1], at t = 0: dx = −A⁻¹ dA x.
/// let c = |x: f64| Dual64::<1>::constant(x);
/// let a = Matrix2::new(Dual64::variable(2.0, 0), c(1.0), c(1.0), c(1.0));
/// let x = solve(&a, &Vector2::new(c(4.0), c(3.0)))?;
/// assert_eq!((x[0].value, x[0].eps), (1.0, [-1.0]));
/// assert_eq!((x[1].value, x[1].eps), (2.0, [1.0]));
/// # Ok::<(), dualpack_linalg::Error>(())
/// ```
pub fn solve<T: Lapack, D: Dim, R: Dim, C: Dim, S>(
    a: &OMatrix<T, D, D>,
    b: &Matrix<T, R, C, S>,
) -> Result<OMatrix<T, R, C>, Error>
where
    S: Storage<T, R, C>,
    ShapeConstraint: SameNumberOfRows<R, D>,
    DefaultAllocator: Allocator<D, D> + Allocator<R, C>,
{
    let mut x = b.clone_owned();
    T::front_gesv(view(a), view_mut(&mut x))?;
    Ok(x)
}

/// The lower trapezoid, with ones on the diagonal.
fn lower<T: Lapack, R: DimMin<C>, C: Dim>(lu: &OMatrix<T, R, C>) -> OMatrix<T, R, DimMinimum<R, C>>
where
    DefaultAllocator: Allocator<R, C> + Allocator<R, DimMinimum<R, C>>,
{
    let (rows, cols) = lu.shape_generic();
    OMatrix::from_fn_generic(rows, rows.min(cols), |i, j| match i.cmp(&j) {
        Ordering::Less => T::zero(),
        Ordering::Equal => T::one(),
        Ordering::Greater => lu[(i, j)],
    })
}

/// The upper trapezoid.
fn upper<T: Lapack, R: DimMin<C>, C: Dim>(lu: &OMatrix<T, R, C>) -> OMatrix<T, DimMinimum<R, C>, C>
where
    DefaultAllocator: Allocator<R, C> + Allocator<DimMinimum<R, C>, C>,
{
    let (rows, cols) = lu.shape_generic();
    OMatrix::from_fn_generic(rows.min(cols), cols, |i, j| if i <= j { lu[(i, j)] } else { T::zero() })
}
