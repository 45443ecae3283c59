//! The primal of the matrix exponential: scaling, Padé approximant, squaring.
//!
//! Al-Mohy and Higham 2010 (SIMAX 31:970): the degree `m` and the number `s` of squarings come from
//! `d_p = ‖Aᵖ‖^(1/p)` and the correction `ℓ_m`, not from `‖A‖`, which keeps nonnormal matrices from being scaled too
//! far. Both are decided by values alone and frozen. With the coefficients `c_k` of the approximant for `c_0 = 1`,
//!
//! ```text
//! U = A Σ c_2k+1 A²ᵏ    V = Σ c_2k A²ᵏ    (V − U) Y = U    R = I + 2 Y    exp A = R^(2^s)
//! ```
//!
//! where `R = I + 2 Y` is `(V − U)⁻¹ (V + U)` without loss for a small `A`.

use dualpack_core::Real;
use nalgebra::{DMatrixViewMut, Dyn, Matrix, RawStorage, convert, try_convert};
use num_traits::Zero;

use crate::error::Error;
use crate::flags::{Trans, Uplo};
use crate::function::degree::{DOUBLE, Powers, Rung, SINGLE};
use crate::lanes::{Carver, Part};
use crate::lapack::Lapack;
use crate::routine::lu_solve;
use crate::scalar::BaseOf;

/// The coefficients `c_k` of the approximants, `c_0 = 1`, from their exact numerators.
const fn coefficients<const K: usize>(numerators: [f64; K]) -> [f64; K] {
    let (mut c, mut k) = (numerators, 0);
    while k < K {
        c[k] = numerators[k] / numerators[0];
        k += 1;
    }
    c
}

pub(crate) const C3: [f64; 4] = coefficients([120.0, 60.0, 12.0, 1.0]);
pub(crate) const C5: [f64; 6] = coefficients([30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0]);
pub(crate) const C7: [f64; 8] =
    coefficients([17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0]);
pub(crate) const C9: [f64; 10] = coefficients([
    17643225600.0,
    8821612800.0,
    2075673600.0,
    302702400.0,
    30270240.0,
    2162160.0,
    110880.0,
    3960.0,
    90.0,
    1.0,
]);
pub(crate) const C13: [f64; 14] = coefficients([
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
]);

/// What the values have decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// Degree of the approximant.
    pub degree: usize,
    /// Number of squarings.
    pub squarings: usize,
    /// The triangle outside which the matrix is zero.
    triangle: Option<Uplo>,
}

impl Choice {
    /// Coefficient `c_k` of the approximant.
    pub(crate) fn coefficient<R: Real>(&self, k: usize) -> R {
        convert(match self.degree {
            3 => C3[k],
            5 => C5[k],
            7 => C7[k],
            9 => C9[k],
            _ => C13[k],
        })
    }
}

/// Everything that the tangents of the approximant need, and the approximant itself. The matrix and its powers are
/// scaled by the number of squarings.
pub(crate) struct Planes<'a, P> {
    pub a: DMatrixViewMut<'a, P>,
    pub a2: DMatrixViewMut<'a, P>,
    pub a4: DMatrixViewMut<'a, P>,
    pub a6: DMatrixViewMut<'a, P>,
    /// `W` with `U = A W`.
    pub w: DMatrixViewMut<'a, P>,
    /// Degree 13: the factors of `A⁶` in `W` and in `V`.
    pub w1: DMatrixViewMut<'a, P>,
    pub z1: DMatrixViewMut<'a, P>,
    pub y: DMatrixViewMut<'a, P>,
    /// The factors of `V − U`.
    pub lu: DMatrixViewMut<'a, P>,
    /// The approximant; after `k` squarings the exponential of `2ᵏ A`.
    pub r: DMatrixViewMut<'a, P>,
    spare: DMatrixViewMut<'a, P>,
    /// The diagonal of the matrix and the entries next to it in its triangle, not scaled.
    diagonal: DMatrixViewMut<'a, P>,
}

impl<'a, P: Lapack> Planes<'a, P> {
    /// The scalars that the planes of an n x n matrix take.
    pub(crate) fn len(n: usize) -> usize {
        11 * n * n + 2 * n
    }

    pub(crate) fn carve(carve: &mut Carver<'a, P>, n: usize) -> Self {
        let mut plane = || carve.matrix(n, n);
        let (a, a2, a4, a6, w, w1) = (plane(), plane(), plane(), plane(), plane(), plane());
        let (z1, y, lu, r, spare) = (plane(), plane(), plane(), plane(), plane());
        Planes { a, a2, a4, a6, w, w1, z1, y, lu, r, spare, diagonal: carve.matrix(n, 2) }
    }

    fn order(&self) -> usize {
        self.a.nrows()
    }

    /// From the matrix in `a` to the approximant in `r`.
    #[inline(never)]
    pub(crate) fn approximate(&mut self, ipiv: &mut [i32]) -> Result<Choice, Error> {
        let triangle = [Uplo::Upper, Uplo::Lower].into_iter().find(|&uplo| self.is_triangular(uplo));
        for i in 0..self.order() {
            self.diagonal[(i, 0)] = self.a[(i, i)];
            if i + 1 < self.order() {
                let at = if triangle == Some(Uplo::Lower) { (i + 1, i) } else { (i, i + 1) };
                self.diagonal[(i, 1)] = self.a[at];
            }
        }
        let (degree, squarings) = self.scale()?;
        let choice = Choice { degree, squarings, triangle };
        self.numerator_and_denominator(&choice)?;
        P::getrf(self.lu.as_view_mut(), ipiv)?;
        lu_solve(self.lu.as_view(), ipiv, self.y.as_view_mut())?;
        for (r, &y) in self.r.iter_mut().zip(self.y.iter()) {
            *r = y + y;
        }
        for i in 0..self.order() {
            self.r[(i, i)] += P::one();
        }
        if let Some(uplo) = triangle {
            // Pivoting on a lower triangle leaves roundoff where the values are zero.
            for j in 0..self.order() {
                for i in Part::Strict(uplo.flip()).rows(self.order(), j) {
                    self.r[(i, j)] = self.r[(i, j)].with_value_of(P::zero());
                }
            }
        }
        self.restore_diagonal(&choice, 0);
        Ok(choice)
    }

    fn is_triangular(&self, uplo: Uplo) -> bool {
        let n = self.order();
        let zeros = Part::Strict(uplo.flip());
        (0..n).all(|j| zeros.rows(n, j).all(|i| self.a[(i, j)].is_zero()))
    }

    /// Decides degree and squarings, computes the powers that the degree needs, and scales them.
    fn scale(&mut self) -> Result<(usize, usize), Error> {
        let single = size_of::<BaseOf<P>>() == 4;
        let (ladder, roundoff, limit): (&[Rung], i32, i32) =
            if single { (&SINGLE, 24, 16) } else { (&DOUBLE, 53, 64) };
        let (one, zero, no) = (P::one(), P::zero(), Trans::NoTrans);
        // No power that is formed may overflow: an enormous norm is scaled down first.
        let excess = (exponent(norm(&self.a)) - limit).max(0) as usize;
        shrink(&mut self.a, excess);
        // Lanes, and a pushforward, are one order above the planes.
        let mut powers = Powers::new(norm(&self.a), roundoff, <P::RealField as Real>::ORDER + 1);
        let last = ladder.len() - 1;
        // The first degree that will do without squaring, given bounds on the powers that are not formed.
        let suffices = |planes: &Self, powers: &Powers, degrees: std::ops::Range<usize>| {
            let degree = powers.unscaled(&ladder[degrees], planes.order(), &|i, j| modulus(planes.a[(i, j)]));
            degree.map(|degree| (degree, excess))
        };
        P::gemm(no, no, one, self.a.as_view(), self.a.as_view(), zero, self.a2.as_view_mut())?;
        powers.learn(2, norm(&self.a2));
        if let Some(choice) = suffices(self, &powers, 0..1) {
            return Ok(choice);
        }
        P::gemm(no, no, one, self.a2.as_view(), self.a2.as_view(), zero, self.a4.as_view_mut())?;
        powers.learn(4, norm(&self.a4));
        if let Some(choice) = suffices(self, &powers, 0..2) {
            return Ok(choice);
        }
        P::gemm(no, no, one, self.a2.as_view(), self.a4.as_view(), zero, self.a6.as_view_mut())?;
        powers.learn(6, norm(&self.a6));
        if let Some(choice) = suffices(self, &powers, 0..last) {
            return Ok(choice);
        }
        let rung = &ladder[last];
        let Rung { degree, mean, .. } = *rung;
        let mut s = 0;
        if !powers.are_small(rung, 0) {
            if powers.mean(degree) > mean {
                // Two more powers may tell that fewer squarings will do.
                let spare = &mut self.spare;
                P::gemm(no, no, one, self.a4.as_view(), self.a4.as_view(), zero, spare.as_view_mut())?;
                powers.learn(8, norm(spare));
                if !single {
                    P::gemm(no, no, one, self.a4.as_view(), self.a6.as_view(), zero, spare.as_view_mut())?;
                    powers.learn(10, norm(spare));
                }
            }
            s = powers.squarings(rung, 2 * limit as usize, self.order(), &|i, j| modulus(self.a[(i, j)]));
        }
        for (plane, power) in [(&mut self.a, 1), (&mut self.a2, 2), (&mut self.a4, 4), (&mut self.a6, 6)] {
            shrink(plane, power * s);
        }
        Ok((degree, excess + s))
    }

    /// `U` into `y`, `V − U` into `lu`.
    fn numerator_and_denominator(&mut self, choice: &Choice) -> Result<(), Error> {
        let (one, zero, no) = (P::one(), P::zero(), Trans::NoTrans);
        let c = |k: usize| choice.coefficient::<BaseOf<P>>(k);
        let (a2, a4, a6) = (&self.a2, &self.a4, &self.a6);
        match choice.degree {
            13 => {
                combine(&mut self.w1, &[(c(13), a6), (c(11), a4), (c(9), a2)], None);
                combine(&mut self.z1, &[(c(12), a6), (c(10), a4), (c(8), a2)], None);
                combine(&mut self.w, &[(c(7), a6), (c(5), a4), (c(3), a2)], Some(c(1)));
                combine(&mut self.lu, &[(c(6), a6), (c(4), a4), (c(2), a2)], Some(c(0)));
                P::gemm(no, no, one, a6.as_view(), self.w1.as_view(), one, self.w.as_view_mut())?;
                P::gemm(no, no, one, a6.as_view(), self.z1.as_view(), one, self.lu.as_view_mut())?;
            }
            degree => {
                if degree == 9 {
                    P::gemm(no, no, one, a4.as_view(), a4.as_view(), zero, self.spare.as_view_mut())?;
                }
                let (a8, count) = (&self.spare, degree / 2);
                let c = |k: usize| if k <= degree { c(k) } else { BaseOf::<P>::zero() };
                let odd = [(c(9), a8), (c(7), a6), (c(5), a4), (c(3), a2)];
                let even = [(c(8), a8), (c(6), a6), (c(4), a4), (c(2), a2)];
                combine(&mut self.w, &odd[4 - count..], Some(c(1)));
                combine(&mut self.lu, &even[4 - count..], Some(c(0)));
            }
        }
        P::gemm(no, no, one, self.a.as_view(), self.w.as_view(), zero, self.y.as_view_mut())?;
        for (q, &u) in self.lu.iter_mut().zip(self.y.iter()) {
            *q -= u;
        }
        Ok(())
    }

    /// `R ← R²`, which has been squared `k` times before.
    #[inline(never)]
    pub(crate) fn square(&mut self, choice: &Choice, k: usize) -> Result<(), Error> {
        let (one, zero, no) = (P::one(), P::zero(), Trans::NoTrans);
        P::gemm(no, no, one, self.r.as_view(), self.r.as_view(), zero, self.spare.as_view_mut())?;
        if self.spare.iter().any(|x| !x.value_is_finite()) {
            square_overflowing(&self.r, &mut self.spare);
        }
        self.r.copy_from(&self.spare);
        self.restore_diagonal(choice, k + 1);
        Ok(())
    }

    /// A triangular matrix has the exponentials of its diagonal on the diagonal, and a divided difference of two of
    /// them next to it (Al-Mohy and Higham 2010, Code Fragment 2.1): the values are set to these at every squaring.
    /// The tangents are left to the recurrence, which is right in every direction, outside the triangle too.
    fn restore_diagonal(&mut self, choice: &Choice, k: usize) {
        let Some(uplo) = choice.triangle else { return };
        let halvings = choice.squarings - k;
        let n = self.order();
        for i in 0..n {
            let x = halved(self.diagonal[(i, 0)], halvings);
            self.r[(i, i)] = self.r[(i, i)].with_value_of(x.exp());
            if i + 1 < n {
                let off = halved(self.diagonal[(i, 1)], halvings);
                let value = if off.is_zero() {
                    off
                } else {
                    off * divided_difference(x, halved(self.diagonal[(i + 1, 0)], halvings))
                };
                let at = if uplo == Uplo::Lower { (i + 1, i) } else { (i, i + 1) };
                self.r[at] = self.r[at].with_value_of(value);
            }
        }
    }
}

/// `(eʸ − eˣ) / (y − x)`, to rounding also where the two are close or one is enormous.
fn divided_difference<P: Lapack>(x: P, y: P) -> P {
    let (small, large) = if x.real().base() <= y.real().base() { (x, y) } else { (y, x) };
    let gap = large - small;
    let half = convert::<f64, P>(0.5);
    let ratio = if modulus(gap) < 0.5 {
        // (1 − e⁻ᵍ) / g = 1 − g/2 (1 − g/3 (1 − ...)): the next factor is below the unit roundoff.
        (2..=16).rev().fold(P::one(), |sum, k| P::one() - gap / convert::<f64, P>(f64::from(k)) * sum)
    } else {
        (P::one() - (-gap).exp()).divided_by(gap)
    };
    // The exponential may overflow where its product with a small ratio does not.
    (large * half).exp() * ratio * (large * half).exp()
}

/// A product in which an exact zero wins over an infinity: the zeros of a triangular or a block diagonal matrix stay
/// zero in its exponential, whatever else overflows. Tangents are lost here and made NaN in the end.
fn square_overflowing<P: Lapack>(r: &DMatrixViewMut<'_, P>, out: &mut DMatrixViewMut<'_, P>) {
    let n = r.nrows();
    for j in 0..n {
        for i in 0..n {
            let terms = (0..n).filter(|&k| !r[(i, k)].is_zero() && !r[(k, j)].is_zero());
            out[(i, j)] = terms.fold(P::zero(), |sum, k| sum + r[(i, k)] * r[(k, j)]);
        }
    }
}

/// `Σ c X + d I`, with the coefficients applied to every part of the entries.
fn combine<P: Lapack>(
    out: &mut DMatrixViewMut<'_, P>,
    terms: &[(BaseOf<P>, &DMatrixViewMut<'_, P>)],
    diagonal: Option<BaseOf<P>>,
) {
    out.fill(P::zero());
    for (c, x) in terms {
        out.iter_mut().zip(x.iter()).for_each(|(y, &x)| *y += x.times(*c));
    }
    if let Some(d) = diagonal {
        (0..out.nrows()).for_each(|i| out[(i, i)] += P::one().times(d));
    }
}

/// `|x|` of the innermost value.
pub(crate) fn modulus<P: Lapack>(x: P) -> f64 {
    let float = |x: BaseOf<P>| try_convert::<_, f64>(x).unwrap_or(f64::NAN);
    let (re, im) = (float(x.real().base()), float(x.imaginary().base()));
    if im == 0.0 { re.abs() } else { re.hypot(im) }
}

/// The 1-norm of the values.
pub(crate) fn norm<P: Lapack>(a: &Matrix<P, Dyn, Dyn, impl RawStorage<P, Dyn, Dyn>>) -> f64 {
    (0..a.ncols()).fold(0.0, |m: f64, j| m.max(a.column(j).iter().map(|&x| modulus(x)).sum()))
}

/// The exponent of the power of two at or below a positive number; 0 for 0.
pub(crate) fn exponent(x: f64) -> i32 {
    if x == 0.0 { 0 } else { x.log2().floor().min(1023.0) as i32 }
}

/// `x 2⁻ᵏ`
fn halved<P: Lapack>(mut x: P, mut k: usize) -> P {
    // Powers of two that an f32 can hold.
    while k > 0 {
        let step = k.min(100);
        x = x.times(convert(2.0_f64.powi(-(step as i32))));
        k -= step;
    }
    x
}

/// `A ← A 2⁻ᵏ`
fn shrink<P: Lapack>(a: &mut DMatrixViewMut<'_, P>, k: usize) {
    if k > 0 {
        a.iter_mut().for_each(|x| *x = halved(*x, k));
    }
}
