//! What a front does with the factorization of the values of a matrix of any scalar.
//!
//! One factorization, of floats, serves all lanes of all orders. A solution costs O(n²) for each lane and right-hand
//! side: with the lanes of `A`, and the same call one level down,
//!
//! ```text
//! X = A⁻¹ B      dX = A⁻¹ (dB − dA X)      d ln det A = tr(A⁻¹ dA)
//! ```
//!
//! The tangents of the factors themselves, O(n³) for each lane, are computed where a factor is asked for.

use std::any::TypeId;

use dualpack_core::Real;
use nalgebra::{ComplexField, DMatrixView, DMatrixViewMut};
use num_traits::{One, Zero};

use crate::error::Error;
use crate::ffi;
use crate::flags::{Diag, Side, Trans, Uplo};
use crate::kernel::logarithm::{self, LN_LIMIT};
use crate::kernel::product::{Triangles, solve_lanes, symmetric_times_values, times_values};
use crate::kernel::second::{self, Known, Matrix, Shape, Sides};
use crate::kernel::{self, same, same_mut};
use crate::lanes::{
    Carver, Lanes, Part, gather_lanes, gather_primal, poison_overflow, real, scatter_lanes, scatter_primal,
};
use crate::lapack::Lapack;
use crate::routine::{Gemm, Getrs, Potrs, getrf_tangents, interchanges, lu_solve, native, potrf_tangents};
use crate::scalar::{BaseOf, Scalar, TangentBatch};
use crate::scratch::with_scratch;

/// A factorization of a matrix of floats.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Factorization<'a, F: Scalar> {
    /// `P A = L U` of a general matrix.
    Lu {
        /// Both factors.
        lu: DMatrixView<'a, F>,
        /// The interchanges of rows.
        ipiv: &'a [i32],
        /// The first pivot that is exactly zero, 1-based.
        zero: Option<usize>,
        /// Whether a tiny system is solved without a call of LAPACK.
        front: bool,
    },
    /// `A = L Lᴴ` of a Hermitian matrix, of which the lower triangle is given.
    Cholesky {
        /// The factor.
        l: DMatrixView<'a, F>,
    },
}

impl<F: Scalar> Factorization<'_, F> {
    /// What is read of the matrix.
    fn part(&self) -> Part {
        match self {
            Factorization::Lu { .. } => Part::All,
            Factorization::Cholesky { .. } => Part::Triangle(Uplo::Lower),
        }
    }
}

/// What a right-hand side holds.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Values, which must be finite, and their tangents.
    Values,
    /// Tangents, which may be anything.
    Tangents,
}

/// A scalar whose matrices are factored as those of their innermost values. All methods are for the fronts.
pub trait Factored: Scalar {
    /// The innermost value: a float, or a complex number of floats.
    type Native: Lapack + Factored<Native = Self::Native>;

    /// The innermost value.
    fn native(self) -> Self::Native;

    /// A number without tangents.
    fn from_native(x: Self::Native) -> Self;

    /// `B ← A⁻¹ B`; `a` has the tangents of `A`.
    #[doc(hidden)]
    fn solve_factored(
        by: Factorization<'_, Self::Native>,
        a: DMatrixView<'_, Self>,
        b: DMatrixViewMut<'_, Self>,
        contents: Contents,
    ) -> Result<(), Error>;

    /// `X ← A⁻¹`.
    #[doc(hidden)]
    fn inverse_factored(
        by: Factorization<'_, Self::Native>,
        a: DMatrixView<'_, Self>,
        x: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error>;

    /// `A`, of any shape, becomes its factors.
    #[doc(hidden)]
    fn factors(by: Factorization<'_, Self::Native>, a: DMatrixViewMut<'_, Self>) -> Result<(), Error>;

    /// `ln det A`, but for the innermost value, which is zero.
    #[doc(hidden)]
    fn ln_determinant_tangents(
        by: Factorization<'_, Self::Native>,
        a: DMatrixView<'_, Self>,
    ) -> Result<Self, Error>;
}

native!(Factored {
    type Native = Self;

    fn native(self) -> Self {
        self
    }

    fn from_native(x: Self) -> Self {
        x
    }

    fn solve_factored(
        by: Factorization<'_, Self>,
        _a: DMatrixView<'_, Self>,
        b: DMatrixViewMut<'_, Self>,
        contents: Contents,
    ) -> Result<(), Error> {
        match (by, contents) {
            (Factorization::Lu { lu, ipiv, front: true, .. }, Contents::Values) => Self::front_getrs(lu, ipiv, b),
            (Factorization::Lu { lu, ipiv, .. }, Contents::Values) => ffi::getrs(Trans::NoTrans, lu, ipiv, b),
            (Factorization::Lu { lu, ipiv, .. }, Contents::Tangents) => lu_solve(lu, ipiv, b),
            (Factorization::Cholesky { l }, Contents::Values) => Self::front_potrs(l, b),
            (Factorization::Cholesky { l }, Contents::Tangents) => cholesky_solve(l, b),
        }
    }

    fn inverse_factored(
        by: Factorization<'_, Self>,
        _a: DMatrixView<'_, Self>,
        mut x: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        match by {
            Factorization::Lu { lu, ipiv, .. } => {
                x.copy_from(&lu);
                ffi::getri(x, ipiv)
            }
            Factorization::Cholesky { l } => {
                x.copy_from(&l);
                ffi::potri(Uplo::Lower, x.as_view_mut())?;
                mirror_lower(&mut x);
                Ok(())
            }
        }
    }

    fn factors(by: Factorization<'_, Self>, mut a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        match by {
            Factorization::Lu { lu: factor, .. } | Factorization::Cholesky { l: factor } => a.copy_from(&factor),
        }
        Ok(())
    }

    fn ln_determinant_tangents(
        _by: Factorization<'_, Self>,
        _a: DMatrixView<'_, Self>,
    ) -> Result<Self, Error> {
        Ok(Self::zero())
    }
});

/// The values of a part of `a`, unless they are floats that nobody asks for beside their factors.
fn with_primal<D: TangentBatch, R>(
    a: DMatrixView<'_, D>,
    part: Part,
    f: impl FnOnce(DMatrixView<'_, D::Primal>) -> R,
) -> R {
    let native = TypeId::of::<D::Primal>() == TypeId::of::<<D::Primal as Factored>::Native>();
    let (m, n) = if native { (0, 0) } else { a.shape() };
    with_scratch::<D::Primal, _>(m * n, |buffer| {
        let mut primal = Carver::new(buffer).matrix(m, n);
        if !native {
            gather_primal(&a, part, &mut primal);
        }
        f(primal.as_view())
    })
}

impl<D: TangentBatch> Factored for D {
    type Native = <D::Primal as Factored>::Native;

    fn native(self) -> Self::Native {
        self.primal().native()
    }

    fn from_native(x: Self::Native) -> Self {
        let mut number = D::zero();
        number.set_primal(D::Primal::from_native(x));
        number
    }

    fn solve_factored(
        by: Factorization<'_, Self::Native>,
        a: DMatrixView<'_, Self>,
        mut b: DMatrixViewMut<'_, Self>,
        contents: Contents,
    ) -> Result<(), Error> {
        let (n, r, lanes) = (a.nrows(), b.ncols(), D::TANGENTS);
        if n > 0
            && (interleaved(by, a, b.as_view_mut(), contents)?
                || symmetric(by, a, b.as_view_mut(), contents)?)
        {
            return Ok(());
        }
        with_primal(a, by.part(), |a0| {
            with_scratch::<D::Primal, _>(n * r * (1 + lanes) + n * n * lanes, |buffer| {
                let mut carve = Carver::new(buffer);
                let mut x = carve.matrix(n, r);
                let mut da = carve.lanes(n, lanes, n);
                let mut db = carve.lanes(n, lanes, r);
                gather_primal(&b.as_view(), Part::All, &mut x);
                D::Primal::solve_factored(by, a0, x.as_view_mut(), contents)?;
                gather_matrix(by.part(), &a, &mut da);
                gather_lanes(&b.as_view(), Part::All, Trans::NoTrans, &mut db);
                let (one, no) = (D::Primal::one(), Trans::NoTrans);
                D::Primal::gemm(no, no, -one, da.tall(), x.as_view(), one, db.tall_mut())?;
                D::Primal::solve_factored(by, a0, db.wide_mut(), Contents::Tangents)?;
                scatter_primal(&x.as_view(), Part::All, &mut b);
                scatter_lanes(&db, Part::All, &mut b);
                poison_overflow(&mut b);
                Ok(())
            })
        })
    }

    fn inverse_factored(
        by: Factorization<'_, Self::Native>,
        a: DMatrixView<'_, Self>,
        mut x: DMatrixViewMut<'_, Self>,
    ) -> Result<(), Error> {
        let (n, lanes) = (a.nrows(), D::TANGENTS);
        with_primal(a, by.part(), |a0| {
            with_scratch::<D::Primal, _>(n * n * (1 + 2 * lanes), |buffer| {
                let mut carve = Carver::new(buffer);
                let mut x0 = carve.matrix(n, n);
                let mut da = carve.lanes(n, lanes, n);
                let mut dx = carve.lanes(n, lanes, n);
                D::Primal::inverse_factored(by, a0, x0.as_view_mut())?;
                gather_matrix(by.part(), &a, &mut da);
                let (one, no) = (D::Primal::one(), Trans::NoTrans);
                D::Primal::gemm(no, no, -one, da.tall(), x0.as_view(), one, dx.tall_mut())?;
                D::Primal::solve_factored(by, a0, dx.wide_mut(), Contents::Tangents)?;
                scatter_primal(&x0.as_view(), Part::All, &mut x);
                scatter_lanes(&dx, Part::All, &mut x);
                poison_overflow(&mut x);
                Ok(())
            })
        })
    }

    fn factors(by: Factorization<'_, Self::Native>, a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        match by {
            Factorization::Lu { ipiv, zero, .. } => getrf_tangents(a, |primal| {
                D::Primal::factors(by, primal)?;
                Ok((ipiv, zero))
            }),
            Factorization::Cholesky { .. } => {
                potrf_tangents(Uplo::Lower, a, |primal| D::Primal::factors(by, primal))
            }
        }
    }

    fn ln_determinant_tangents(
        by: Factorization<'_, Self::Native>,
        a: DMatrixView<'_, Self>,
    ) -> Result<Self, Error> {
        let (n, lanes) = (a.nrows(), D::TANGENTS);
        if let Factorization::Cholesky { l } = by
            && n <= LN_LIMIT
            && let Some(entries) = D::interleaved_ref(a).filter(|a| a.is_symmetric())
            && let Some(l) = same::<_, BaseOf<D>>(l)
        {
            let mut ln = [D::zero()];
            if let Some(out) = D::interleaved(DMatrixViewMut::from_slice(&mut ln, 1, 1)) {
                logarithm::ln_determinant(l, entries, out);
            }
            return Ok(ln[0]);
        }
        with_primal(a, by.part(), |a0| {
            with_scratch::<D::Primal, _>(n * n + lanes, |buffer| {
                let mut carve = Carver::new(buffer);
                let mut inverse = carve.matrix(n, n);
                let traces = carve.vector(lanes);
                D::Primal::inverse_factored(by, a0, inverse.as_view_mut())?;
                let part = by.part();
                for j in 0..n {
                    let column = a.column(j);
                    for i in part.rows(n, j) {
                        let (x, dx) = (inverse[(j, i)], &column[i]);
                        if part != Part::All && i == j {
                            traces.iter_mut().enumerate().for_each(|(k, t)| *t += x * real(dx.lane(k)));
                            continue;
                        }
                        traces.iter_mut().enumerate().for_each(|(k, t)| *t += x * dx.lane(k));
                        if part != Part::All {
                            let y = inverse[(i, j)];
                            traces.iter_mut().enumerate().for_each(|(k, t)| *t += y * dx.lane(k).conjugate());
                        }
                    }
                }
                let mut ln = D::zero();
                ln.set_primal(D::Primal::ln_determinant_tangents(by, a0)?);
                traces.iter().enumerate().for_each(|(k, &t)| ln.set_lane(k, t));
                Ok(ln)
            })
        })
    }
}

/// The lanes of the whole matrix, which is Hermitian if a triangle of it is given.
fn gather_matrix<D: TangentBatch>(part: Part, a: &DMatrixView<'_, D>, out: &mut Lanes<'_, D::Primal>) {
    gather_lanes(a, part, Trans::NoTrans, out);
    if part != Part::All {
        for k in 0..D::TANGENTS {
            mirror_lower(&mut out.lane_mut(k));
        }
    }
}

/// Makes a lower triangle the Hermitian matrix that it stands for.
pub(crate) fn mirror_lower<P: Lapack>(a: &mut DMatrixViewMut<'_, P>) {
    for j in 0..a.ncols() {
        a[(j, j)] = real(a[(j, j)]);
        for i in j + 1..a.nrows() {
            a[(j, i)] = a[(i, j)].conjugate();
        }
    }
}

/// Solves with `L Lᴴ` for right-hand sides that may hold anything.
fn cholesky_solve<P: Lapack>(l: DMatrixView<'_, P>, mut b: DMatrixViewMut<'_, P>) -> Result<(), Error> {
    let one = P::one();
    P::trsm(Side::Left, Uplo::Lower, Trans::NoTrans, Diag::NonUnit, one, l, b.as_view_mut())?;
    P::trsm(Side::Left, Uplo::Lower, Trans::ConjTrans, Diag::NonUnit, one, l, b)
}

/// Up to this order the lanes are solved for side by side, beyond it in planes.
const LIMIT: usize = 128;

/// Solves for one right-hand side, `lanes` floats for each row.
fn solve_column<N: Scalar, P: Scalar>(by: Factorization<'_, N>, lanes: usize, right: &mut [P]) {
    match by {
        Factorization::Lu { lu, ipiv, .. } => {
            for (i, j) in interchanges(ipiv) {
                (0..lanes).for_each(|k| right.swap(i * lanes + k, j * lanes + k));
            }
            solve_lanes(Triangles::Lu(lu), lanes, right);
        }
        Factorization::Cholesky { l } => {
            solve_lanes(Triangles::Cholesky(l), lanes, right);
        }
    }
}

/// The solution where the lanes of an entry lie side by side: those of `A`, used once, are read where they are.
fn interleaved<D: TangentBatch>(
    by: Factorization<'_, <D as Factored>::Native>,
    a: DMatrixView<'_, D>,
    mut b: DMatrixViewMut<'_, D>,
    contents: Contents,
) -> Result<bool, Error> {
    let Some(entries) = D::interleaved_ref(a).filter(|a| a.is_first_order()) else { return Ok(false) };
    if let (Factorization::Lu { lu, ipiv, front: true, .. }, Contents::Values) = (by, contents)
        && let Some((lu, right)) = same::<_, BaseOf<D>>(lu).zip(D::interleaved(b.as_view_mut()))
        && kernel::lu::solve(lu, ipiv, entries, right)
    {
        return Ok(true);
    }
    let ((n, r), lanes) = (b.shape(), D::TANGENTS);
    let planes = if n > LIMIT { n * r * lanes } else { 0 };
    // The primal of a first-order number is a float, which has no use for the matrix beside its factors.
    let none = DMatrixView::from_slice(&[], 0, 0);
    with_scratch::<D::Primal, _>(n * r * (1 + lanes) + planes, |buffer| {
        let mut carve = Carver::new(buffer);
        let values = carve.vector(n * r);
        let right = carve.vector(n * r * lanes);
        let mut x = DMatrixViewMut::from_slice(values, n, r);
        gather_primal(&b.as_view(), Part::All, &mut x);
        D::Primal::solve_factored(by, none, x, contents)?;
        let done = match by {
            Factorization::Lu { .. } => times_values(&entries, values, right),
            Factorization::Cholesky { .. } => symmetric_times_values(&entries, values, right),
        };
        if !done {
            return Ok(false);
        }
        for (y, b) in right.chunks_exact_mut(lanes.max(1)).zip(b.iter()) {
            y.iter_mut().enumerate().for_each(|(k, y)| *y = b.lane(k) - *y);
        }
        if n <= LIMIT {
            for right in right.chunks_exact_mut((n * lanes).max(1)) {
                solve_column(by, lanes, right);
            }
            for (b, y) in b.iter_mut().zip(right.chunks_exact(lanes.max(1))) {
                y.iter().enumerate().for_each(|(k, &y)| b.set_lane(k, y));
            }
        } else {
            let mut db = carve.lanes(n, lanes, r);
            for (e, y) in right.chunks_exact(lanes.max(1)).enumerate() {
                y.iter().enumerate().for_each(|(k, &y)| *db.at_mut(k, e % n, e / n) = y);
            }
            D::Primal::solve_factored(by, none, db.wide_mut(), Contents::Tangents)?;
            scatter_lanes(&db, Part::All, &mut b);
        }
        scatter_primal(&DMatrixView::from_slice(values, n, r), Part::All, &mut b);
        poison_overflow(&mut b);
        Ok(true)
    })
}

/// The solution for numbers of symmetric second order, each pair of lanes once.
fn symmetric<D: TangentBatch>(
    by: Factorization<'_, <D as Factored>::Native>,
    a: DMatrixView<'_, D>,
    mut b: DMatrixViewMut<'_, D>,
    contents: Contents,
) -> Result<bool, Error> {
    let ((n, r), lanes) = (b.shape(), D::TANGENTS);
    if n > LIMIT || !D::interleaved_ref(a).is_some_and(|a| a.is_symmetric()) {
        return Ok(false);
    }
    let none = DMatrixView::from_slice(&[], 0, 0);
    let all = lanes * lanes;
    let pairs = (lanes + all) / 2;
    with_scratch::<BaseOf<D>, _>(n * (r + lanes + all + pairs), |buffer| {
        let (values, buffer) = buffer.split_at_mut(n * r);
        let (first, buffer) = buffer.split_at_mut(n * lanes);
        let (square, packed) = buffer.split_at_mut(n * all);
        values.iter_mut().zip(b.iter()).for_each(|(x, b)| *x = b.real().base());
        let Some(x) = same_mut(DMatrixViewMut::from_slice(values, n, r)) else { return Ok(false) };
        <D as Factored>::Native::solve_factored(by, none, x, contents)?;
        let shape = if by.part() == Part::All { Shape::All } else { Shape::Symmetric };
        let matrix = D::interleaved_ref(a).and_then(|a| Matrix::new(a, false, shape));
        let Some((matrix, mut sides)) = matrix.zip(D::interleaved(b.as_view_mut()).and_then(Sides::new))
        else {
            return Ok(false);
        };
        for (c, x) in values.chunks_exact(n).enumerate() {
            sides.read_first(c, first);
            matrix.subtract_first(x, first);
            solve_column(by, lanes, first);
            sides.read_second(c, square);
            matrix.subtract_second(Known::new(x, first), square);
            second::pack(lanes, square, packed);
            solve_column(by, pairs, packed);
            sides.write_first(c, x, first);
            sides.write_pairs(c, packed);
        }
        poison_overflow(&mut b);
        Ok(true)
    })
}
