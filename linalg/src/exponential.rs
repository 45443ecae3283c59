//! The exponential of a matrix: [`expm`], and [`Exponential`] for derivatives in many directions.

use dualpack_core::Real;
use nalgebra::allocator::Allocator;
use nalgebra::{DMatrixView, DefaultAllocator, Dim, Matrix, OMatrix, RawStorage, Storage};
use num_traits::One;

use crate::error::Error;
use crate::front::{view, view_mut};
use crate::function::expm::{Work, all_finite, balanced, from_balanced, to_balanced};
use crate::function::pade::{Choice, Planes};
use crate::kernel::expm::Record;
use crate::kernel::{buffer_mut, floats, same};
use crate::lanes::Carver;
use crate::lapack::Lapack;
use crate::routine::Balance;
use crate::scalar::BaseOf;
use crate::scratch::with_scratch;
use crate::shape::square;

/// How many directions of a pushforward are carried at a time.
const DIRECTIONS: usize = 16;

/// `exp A = I + A + A²/2 + A³/6 + ...`, for floats, complex numbers and every dual scalar.
///
/// Scaling and squaring with the Padé approximant and the number of squarings that the values of `A` ask for, on the
/// balanced matrix; all tangents by the derivative of the same algorithm, with the factorization and the powers
/// shared. An overflowing exponential has infinite entries, and NaN in all tangents.
///
/// # Errors
/// [`Error::Shape`] unless `a` is square, [`Error::NonFinite`] for NaN or infinity in the values.
///
/// ```
/// use dualpack_core::Dual64;
/// use dualpack_linalg::expm;
/// use nalgebra::Matrix2;
///
/// // exp of t times the generator of a rotation, at t = 1.
/// let c = Dual64::<1>::constant;
/// let t = Dual64::variable(1.0, 0);
/// let r = expm(&Matrix2::new(c(0.0), -t, t, c(0.0)))?;
/// assert!((r[(0, 0)].value - 1.0_f64.cos()).abs() < 1e-15);
/// assert!((r[(0, 0)].eps[0] + 1.0_f64.sin()).abs() < 1e-15);
/// # Ok::<(), dualpack_linalg::Error>(())
/// ```
pub fn expm<T: Lapack, D: Dim, S>(a: &Matrix<T, D, D, S>) -> Result<OMatrix<T, D, D>, Error>
where
    S: Storage<T, D, D>,
    DefaultAllocator: Allocator<D, D>,
{
    // The result is built where it is returned: a copy of a small matrix would show.
    let mut result = Ok(a.clone_owned());
    if let Ok(exp) = &mut result
        && let Err(error) = T::expm(view_mut(exp))
    {
        result = Err(error);
    }
    result
}

/// The exponential of a matrix together with all that its derivatives need: powers, factorization, squares.
///
/// Any number of directions can be asked for afterwards, at the price of about 13 products of matrices each.
///
/// ```
/// use dualpack_linalg::Exponential;
/// use nalgebra::Matrix2;
/// let a = Matrix2::new(1.0, 2.0, 0.0, 1.0);
/// let exp = Exponential::new(&a)?;
/// // d/dt exp(t A) = A exp(t A)
/// assert!((exp.pushforward(&a)? - a * exp.value()).norm() < 1e-13);
/// # Ok::<(), dualpack_linalg::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Exponential<T: Lapack, D: Dim>
where
    DefaultAllocator: Allocator<D, D>,
{
    value: OMatrix<T, D, D>,
    balance: Option<Balance<BaseOf<T>>>,
    /// What the values decided; nothing for the orders 0 and 1.
    choice: Option<Choice>,
    planes: Vec<T>,
    ipiv: Vec<i32>,
    /// The approximant and its squares, but for the last.
    squares: Vec<T>,
    /// In place of all that, of a small matrix of floats.
    small: Option<Record<BaseOf<T>>>,
}

impl<T: Lapack, D: Dim> Exponential<T, D>
where
    DefaultAllocator: Allocator<D, D>,
{
    /// The exponential of `a`.
    ///
    /// # Errors
    /// As for [`expm`].
    pub fn new<S>(a: &Matrix<T, D, D, S>) -> Result<Self, Error>
    where
        S: Storage<T, D, D>,
    {
        let mut value = a.clone_owned();
        let n = square("expm", value.shape())?;
        if n < 2 {
            T::expm(view_mut(&mut value))?;
            let (planes, ipiv, squares) = (Vec::new(), Vec::new(), Vec::new());
            return Ok(Exponential {
                value,
                balance: None,
                choice: None,
                planes,
                ipiv,
                squares,
                small: None,
            });
        }
        all_finite(&view(&value))?;
        if let Some(small) = same(view(&value)).and_then(|a| Record::new(floats::<BaseOf<T>>(a))) {
            T::expm(view_mut(&mut value))?;
            let (planes, ipiv, squares) = (Vec::new(), Vec::new(), Vec::new());
            let small = Some(small);
            return Ok(Exponential { value, balance: None, choice: None, planes, ipiv, squares, small });
        }
        let mut planes = vec![T::zero(); Planes::<T>::len(n)];
        let mut ipiv = vec![0; n];
        let mut squares = Vec::new();
        let mut primal = Planes::carve(&mut Carver::new(&mut planes), n);
        let mut scales = vec![BaseOf::<T>::one(); 2 * n];
        let balance = balanced(&view(&value), &mut primal, &mut scales)?.map(|s| Balance {
            ilo: s.ilo,
            ihi: s.ihi,
            scale: s.scale.to_vec(),
        });
        let choice = primal.approximate(&mut ipiv)?;
        for k in 0..choice.squarings {
            squares.extend(primal.r.iter());
            primal.square(&choice, k)?;
        }
        // For small matrices `expm` goes another way, to a value that is the same to rounding.
        T::expm(view_mut(&mut value))?;
        Ok(Exponential { value, balance, choice: Some(choice), planes, ipiv, squares, small: None })
    }

    /// `exp A`: the value is to the bit what [`expm`] returns, tangents agree to rounding.
    pub fn value(&self) -> &OMatrix<T, D, D> {
        &self.value
    }

    /// Gives `exp A` away.
    pub fn unpack(self) -> OMatrix<T, D, D> {
        self.value
    }

    /// The derivatives of `exp` at `A` in the directions `dA`: `da` has the matrices of all directions side by side,
    /// n x (n k), and so has the result. All NaN where the exponential has overflowed.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `da` has n rows and a multiple of n columns.
    pub fn pushforward<C: Dim, S>(&self, da: &Matrix<T, D, C, S>) -> Result<OMatrix<T, D, C>, Error>
    where
        S: RawStorage<T, D, C>,
        DefaultAllocator: Allocator<D, C>,
    {
        let n = self.value.nrows();
        if da.nrows() != n || !da.ncols().is_multiple_of(n.max(1)) || (n == 0 && da.ncols() > 0) {
            return Err(Error::Shape {
                routine: "Exponential::pushforward",
                expected: "n rows, and n columns for each direction",
                found: da.shape(),
            });
        }
        let (rows, cols) = da.shape_generic();
        if self.value.iter().any(|x| !x.value_is_finite()) {
            return Ok(OMatrix::from_element_generic(rows, cols, T::all_nan()));
        }
        let mut result = OMatrix::<T, D, C>::from_fn_generic(rows, cols, |i, j| da[(i, j)]);
        if let Some(small) = &self.small {
            push_small(small, n, result.as_mut_slice());
            return Ok(result);
        }
        let Some(choice) = self.choice else {
            result.iter_mut().for_each(|x| *x *= self.value[(0, 0)]);
            return Ok(result);
        };
        let directions = da.ncols() / n;
        for from in (0..directions).step_by(DIRECTIONS) {
            let lanes = DIRECTIONS.min(directions - from);
            let len = self.planes.len() + Work::<T>::len(n, lanes) + n * n * lanes;
            with_scratch::<T, _>(len, |buffer| {
                buffer[..self.planes.len()].copy_from_slice(&self.planes);
                let mut carve = Carver::new(buffer);
                let planes = Planes::carve(&mut carve, n);
                let mut work = Work::carve(&mut carve, n, lanes);
                let mut e = carve.lanes(n, lanes, n);
                for k in 0..lanes {
                    for j in 0..n {
                        let column = (from + k) * n + j;
                        e.column_mut(k, j).copy_from_slice(&result.as_slice()[column * n..][..n]);
                    }
                }
                to_balanced(self.balance.as_ref().map(Balance::view), &mut e);
                work.approximate(&planes, &choice, &self.ipiv, &mut e)?;
                for r in self.squares.chunks_exact(n * n) {
                    work.square(DMatrixView::from_slice(r, n, n), &mut e)?;
                }
                from_balanced(self.balance.as_ref().map(Balance::view), &mut e);
                for k in 0..lanes {
                    for j in 0..n {
                        let column = (from + k) * n + j;
                        result.as_mut_slice()[column * n..][..n].copy_from_slice(e.column(k, j));
                    }
                }
                Ok(())
            })?;
        }
        Ok(result)
    }
}

/// The matrices of order n in `x`, directions, become the derivatives; the scalar is the float itself.
fn push_small<T: Lapack>(small: &Record<BaseOf<T>>, n: usize, x: &mut [T]) {
    for x in x.chunks_mut(n * n * DIRECTIONS) {
        let lanes = x.len() / (n * n);
        with_scratch::<BaseOf<T>, _>(n * n * (1 + lanes), |buffer| {
            for (k, lane) in x.chunks_exact(n * n).enumerate() {
                let entries = buffer.chunks_exact_mut(1 + lanes);
                entries.zip(lane).for_each(|(to, x)| to[1 + k] = x.real().base());
            }
            small.pushforward(buffer_mut(buffer, n, n, lanes));
            for (k, lane) in x.chunks_exact_mut(n * n).enumerate() {
                let entries = buffer.chunks_exact(1 + lanes);
                entries
                    .zip(lane)
                    .for_each(|(from, x)| *x = T::from_real(T::RealField::from_base(from[1 + k])));
            }
        });
    }
}
