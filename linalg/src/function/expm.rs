//! The exponential of a matrix.
//!
//! The primal is scaling and squaring (see `pade.rs`), on the balanced matrix where balancing lowers its 1-norm. All
//! lanes go through the derivative of that very algorithm, which shares the powers of `A`, one LU factorization and
//! the squares of `R` with it (Al-Mohy and Higham 2009, SIMAX 30:1639, Algorithm 6.4):
//!
//! ```text
//! M₂ = A E + E A    M₄ = A² M₂ + M₂ A²    M₆ = A⁴ M₂ + M₄ A²    ...
//! dU = A dW + E W   (V − U) dY = dU + (dU − dV) Y   dR = 2 dY
//! dR ← R dR + dR R  at every squaring
//! ```
//!
//! `E` is not scaled along with `A`; since everything is linear in it, the halves are taken at the squarings instead.
//! Degree, squarings and balancing come from the values of `A` and are frozen, so that a derivative is linear in its
//! tangent whatever its size, and higher derivatives follow by running the same on a dual scalar.
//!
//! Small matrices of plain floats, and their first derivatives, have a kernel of their own (`kernel/expm`) for the cases
//! where a few norms decide; what is here serves all others, and every scalar.
//!
//! `exp A = eᵘ exp(A − u I)` is not used: a shift gains nothing in accuracy and overflows where the exponential does
//! not. Neither is symmetry: tangents of a symmetric matrix need not be symmetric.

use std::any::TypeId;

use dualpack_core::Real;
use nalgebra::{ComplexField, DMatrixView, DMatrixViewMut};

use crate::error::Error;
use crate::flags::{BalanceJob, Trans};
use crate::function::degree::DERIVATIVES;
use crate::function::pade::{Choice, Planes, norm};
use crate::kernel::expm::{exponential as kernel_exponential, is_small};
use crate::kernel::{buffer_mut, floats_mut, same_mut};
use crate::lanes::{Carver, Lanes, Part, gather_lanes, gather_primal, scatter_lanes, scatter_primal};
use crate::lapack::Lapack;
use crate::routine::{Similarity, lu_solve, native};
use crate::scalar::{BaseOf, Scalar, TangentBatch};
use crate::scratch::with_scratch;
use crate::shape::square;

/// The exponential of a matrix.
pub trait Expm: Scalar {
    /// Overwrites `A` by `exp(A)`. [`expm`](crate::expm) is the front of this.
    ///
    /// Where an entry of the exponential overflows it is infinite (or NaN, if its sign is lost), and all tangents are
    /// NaN.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `A` is square, [`Error::NonFinite`] for NaN or infinity.
    fn expm(a: DMatrixViewMut<'_, Self>) -> Result<(), Error>;
}

native!(Expm {
    fn expm(mut a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        let n = square("expm", a.shape())?;
        if small_values(&mut a) {
            return Ok(());
        }
        exponential(a, &mut Carver::new(&mut []).lanes(n, 0, n))
    }
});

impl<D: TangentBatch> Expm for D {
    fn expm(mut a: DMatrixViewMut<'_, Self>) -> Result<(), Error> {
        let (n, lanes) = (square("expm", a.shape())?, D::TANGENTS);
        if small(&mut a) {
            return Ok(());
        }
        with_scratch::<D::Primal, _>(n * n * (2 + lanes), |buffer| {
            let mut carve = Carver::new(buffer);
            let mut primal = carve.matrix(n, n);
            let mut e = carve.lanes(n, lanes, n);
            gather_primal(&a.as_view(), Part::All, &mut primal);
            gather_lanes(&a.as_view(), Part::All, Trans::NoTrans, &mut e);
            let many = <D::RealField as Real>::ORDER > DERIVATIVES;
            if many || (is_small::<BaseOf<D>>(n) && !is_float::<D::Primal>()) {
                // The values are those of the kernel or the degree that floats go through.
                let mut values = carve.matrix(n, n);
                values.copy_from(&primal);
                exponential(primal.as_view_mut(), &mut e)?;
                D::Primal::expm(values.as_view_mut())?;
                primal.copy_from(&values);
            } else {
                exponential(primal.as_view_mut(), &mut e)?;
            }
            scatter_primal(&primal.as_view(), Part::All, &mut a);
            scatter_lanes(&e, Part::All, &mut a);
            Ok(())
        })
    }
}

/// Whether a scalar is a plain real float.
fn is_float<P: Lapack>() -> bool {
    TypeId::of::<P>() == TypeId::of::<BaseOf<P>>()
}

/// The kernel for small matrices of plain floats; `false`, and nothing done, if `a` is not for it.
fn small_values<P: Lapack>(a: &mut DMatrixViewMut<'_, P>) -> bool {
    is_small::<BaseOf<P>>(a.nrows())
        && same_mut::<P, BaseOf<P>>(a.as_view_mut()).is_some_and(|a| kernel_exponential(floats_mut(a)))
}

/// The kernel for small matrices over plain floats; `false`, and nothing done, if `a` is not for it.
fn small<D: TangentBatch>(a: &mut DMatrixViewMut<'_, D>) -> bool {
    let (n, lanes) = (a.nrows(), D::TANGENTS);
    if !is_small::<BaseOf<D>>(n) || !is_float::<D::Primal>() {
        return false;
    }
    if let Some(interleaved) = D::interleaved(a.as_view_mut()) {
        return kernel_exponential(interleaved);
    }
    with_scratch::<BaseOf<D>, _>(n * n * (1 + lanes), |buffer| {
        for (x, to) in a.iter().zip(buffer.chunks_exact_mut(1 + lanes)) {
            to[0] = x.primal().real().base();
            (0..lanes).for_each(|k| to[1 + k] = x.lane(k).real().base());
        }
        let done = kernel_exponential(buffer_mut(buffer, n, n, lanes));
        if done {
            let number = |x| D::Primal::from_real(<D::Primal as ComplexField>::RealField::from_base(x));
            for (x, from) in a.iter_mut().zip(buffer.chunks_exact(1 + lanes)) {
                x.set_primal(number(from[0]));
                (0..lanes).for_each(|k| x.set_lane(k, number(from[1 + k])));
            }
        }
        done
    })
}

/// `a` becomes its exponential, the lanes `e` the derivatives in their directions.
#[inline(never)]
fn exponential<P: Lapack>(mut a: DMatrixViewMut<'_, P>, e: &mut Lanes<'_, P>) -> Result<(), Error> {
    let (n, lanes) = (a.nrows(), e.count());
    all_finite(&a.as_view())?;
    if n < 2 {
        scalar(&mut a, e);
    } else {
        with_scratch::<BaseOf<P>, _>(2 * n, |scales| {
            with_scratch::<i32, _>(n, |ipiv| {
                with_scratch::<P, _>(Planes::<P>::len(n) + Work::<P>::len(n, lanes), |buffer| {
                    let mut carve = Carver::new(buffer);
                    let mut planes = Planes::carve(&mut carve, n);
                    let mut work = Work::carve(&mut carve, n, lanes);
                    let similarity = balanced(&a.as_view(), &mut planes, scales)?;
                    let choice = planes.approximate(ipiv)?;
                    to_balanced(similarity, e);
                    work.approximate(&planes, &choice, ipiv, e)?;
                    for k in 0..choice.squarings {
                        work.square(planes.r.as_view(), e)?;
                        planes.square(&choice, k)?;
                    }
                    from_balanced(similarity, e);
                    a.copy_from(&planes.r);
                    if let Some(similarity) = similarity {
                        similarity.transform_back(a.as_view_mut());
                    }
                    Ok(())
                })
            })
        })?;
    }
    if a.iter().any(|x| !x.value_is_finite()) {
        a.iter_mut().for_each(|x| *x = P::all_nan().with_value_of(*x));
        e.wide_mut().fill(P::all_nan());
    }
    Ok(())
}

/// The first entry, in column order, whose value is not finite is an error.
pub(crate) fn all_finite<P: Lapack>(a: &DMatrixView<'_, P>) -> Result<(), Error> {
    for j in 0..a.ncols() {
        if let Some(i) = (0..a.nrows()).find(|&i| !a[(i, j)].value_is_finite()) {
            return Err(Error::NonFinite { routine: "expm", row: i + 1, col: j + 1 });
        }
    }
    Ok(())
}

/// Order 0 and 1: `e^a` and `e^a da`.
pub(crate) fn scalar<P: Lapack>(a: &mut DMatrixViewMut<'_, P>, e: &mut Lanes<'_, P>) {
    for x in a.iter_mut() {
        *x = x.exp();
        for k in 0..e.count() {
            *e.at_mut(k, 0, 0) *= *x;
        }
    }
}

/// Puts into `planes.a` the matrix, balanced if that lowers its norm. `scales` is memory for twice n scales.
#[inline(never)]
pub(crate) fn balanced<'a, P: Lapack>(
    a: &DMatrixView<'_, P>,
    planes: &mut Planes<'_, P>,
    scales: &'a mut [BaseOf<P>],
) -> Result<Option<Similarity<'a, BaseOf<P>>>, Error> {
    let (scale, spare) = scales.split_at_mut(a.nrows());
    let (mut best, mut size) = (None, norm(a));
    planes.a.copy_from(a);
    // Permuting keeps the triangular ends of a reducible matrix from being scaled. Where that leaves a norm whose
    // powers overflow, they are scaled too.
    for job in [BalanceJob::Both, BalanceJob::Scale] {
        planes.r.copy_from(a);
        let bounds = P::gebal_into(job, planes.r.as_view_mut(), spare)?;
        let lowered = norm(&planes.r);
        if lowered < size {
            (best, size) = (Some(bounds), lowered);
            planes.a.copy_from(&planes.r);
            scale.copy_from_slice(spare);
        }
        if size <= f64::from(u32::MAX) {
            break;
        }
    }
    Ok(best.map(|(ilo, ihi)| Similarity { ilo, ihi, scale }))
}

/// The directions, as the balanced matrix sees them.
pub(crate) fn to_balanced<P: Lapack>(similarity: Option<Similarity<'_, BaseOf<P>>>, e: &mut Lanes<'_, P>) {
    for k in 0..e.count() {
        similarity.iter().for_each(|s| s.transform(e.lane_mut(k)));
    }
}

/// The derivatives, as those of the matrix itself.
pub(crate) fn from_balanced<P: Lapack>(similarity: Option<Similarity<'_, BaseOf<P>>>, e: &mut Lanes<'_, P>) {
    for k in 0..e.count() {
        similarity.iter().for_each(|s| s.transform_back(e.lane_mut(k)));
    }
}

/// What the lanes need besides the planes.
pub(crate) struct Work<'a, P> {
    m2: Lanes<'a, P>,
    m4: Lanes<'a, P>,
    m6: Lanes<'a, P>,
    t: Lanes<'a, P>,
    dw: Lanes<'a, P>,
    dv: Lanes<'a, P>,
}

impl<'a, P: Lapack> Work<'a, P> {
    pub(crate) fn len(n: usize, lanes: usize) -> usize {
        6 * n * n * lanes
    }

    pub(crate) fn carve(carve: &mut Carver<'a, P>, n: usize, lanes: usize) -> Self {
        let mut part = || carve.lanes(n, lanes, n);
        Work { m2: part(), m4: part(), m6: part(), t: part(), dw: part(), dv: part() }
    }

    /// The directions `e` become the derivatives of the approximant.
    #[inline(never)]
    pub(crate) fn approximate(
        &mut self,
        planes: &Planes<'_, P>,
        choice: &Choice,
        ipiv: &[i32],
        e: &mut Lanes<'_, P>,
    ) -> Result<(), Error> {
        if e.count() == 0 {
            return Ok(());
        }
        let (one, zero) = (P::one(), P::zero());
        let c = |k: usize| choice.coefficient::<BaseOf<P>>(k);
        let Work { m2, m4, m6, t, dw, dv } = self;
        let (a, a2, a4) = (planes.a.as_view(), planes.a2.as_view(), planes.a4.as_view());
        two_sided(one, (a, e), (e, a), m2)?;
        if choice.degree >= 5 {
            two_sided(one, (a2, m2), (m2, a2), m4)?;
        }
        if choice.degree >= 7 {
            two_sided(one, (a4, m2), (m4, a2), m6)?;
        }
        match choice.degree {
            3 => {
                dw.combine(&[(c(3), m2)]);
                dv.combine(&[(c(2), m2)]);
            }
            5 => {
                dw.combine(&[(c(5), m4), (c(3), m2)]);
                dv.combine(&[(c(4), m4), (c(2), m2)]);
            }
            7 => {
                dw.combine(&[(c(7), m6), (c(5), m4), (c(3), m2)]);
                dv.combine(&[(c(6), m6), (c(4), m4), (c(2), m2)]);
            }
            9 => {
                two_sided(one, (a4, m4), (m4, a4), t)?;
                dw.combine(&[(c(9), t), (c(7), m6), (c(5), m4), (c(3), m2)]);
                dv.combine(&[(c(8), t), (c(6), m6), (c(4), m4), (c(2), m2)]);
            }
            _ => {
                let a6 = planes.a6.as_view();
                t.combine(&[(c(13), m6), (c(11), m4), (c(9), m2)]);
                dw.combine(&[(c(7), m6), (c(5), m4), (c(3), m2)]);
                from_left(one, a6, t, one, dw)?;
                from_right(one, m6, planes.w1.as_view(), one, dw)?;
                t.combine(&[(c(12), m6), (c(10), m4), (c(8), m2)]);
                dv.combine(&[(c(6), m6), (c(4), m4), (c(2), m2)]);
                from_left(one, a6, t, one, dv)?;
                from_right(one, m6, planes.z1.as_view(), one, dv)?;
            }
        }
        // dU, then dU − dV, then the right-hand side.
        from_left(one, a, dw, zero, t)?;
        from_right(one, e, planes.w.as_view(), one, t)?;
        for (v, &u) in dv.wide_mut().iter_mut().zip(t.wide().iter()) {
            *v = u - *v;
        }
        from_right(one, dv, planes.y.as_view(), one, t)?;
        lu_solve(planes.lu.as_view(), ipiv, t.wide_mut())?;
        for (e, &y) in e.wide_mut().iter_mut().zip(t.wide().iter()) {
            *e = y + y;
        }
        Ok(())
    }

    /// `dR ← (R dR + dR R) / 2`: the derivative of a square for a direction that is half as large.
    #[inline(never)]
    pub(crate) fn square(&mut self, r: DMatrixView<'_, P>, e: &mut Lanes<'_, P>) -> Result<(), Error> {
        if e.count() == 0 {
            return Ok(());
        }
        two_sided(nalgebra::convert(0.5), (r, e), (e, r), &mut self.m2)?;
        e.wide_mut().copy_from(&self.m2.wide());
        Ok(())
    }
}

/// `α (X E + F Y)`
fn two_sided<P: Lapack>(
    alpha: P,
    (x, e): (DMatrixView<'_, P>, &Lanes<'_, P>),
    (f, y): (&Lanes<'_, P>, DMatrixView<'_, P>),
    out: &mut Lanes<'_, P>,
) -> Result<(), Error> {
    from_left(alpha, x, e, P::zero(), out)?;
    from_right(alpha, f, y, P::one(), out)
}

/// `α X E + β C`: all lanes as columns.
fn from_left<P: Lapack>(
    alpha: P,
    x: DMatrixView<'_, P>,
    e: &Lanes<'_, P>,
    beta: P,
    out: &mut Lanes<'_, P>,
) -> Result<(), Error> {
    P::gemm(Trans::NoTrans, Trans::NoTrans, alpha, x, e.wide(), beta, out.wide_mut())
}

/// `α E X + β C`: all lanes as rows.
fn from_right<P: Lapack>(
    alpha: P,
    e: &Lanes<'_, P>,
    x: DMatrixView<'_, P>,
    beta: P,
    out: &mut Lanes<'_, P>,
) -> Result<(), Error> {
    P::gemm(Trans::NoTrans, Trans::NoTrans, alpha, e.tall(), x, beta, out.tall_mut())
}
