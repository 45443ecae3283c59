//! Orders two and three: values and lanes in registers from the first step to the last, the values in all lanes of
//! theirs, because what takes the time is that one operation waits for the other.
//!
//! So the denominator is inverted by its cofactors, without pivots to be searched: where the norm of `A` is at most 3, its
//! condition is about `e³`, and so is the error of the inverse in units of rounding. So also the norm alone decides about
//! degree and squarings; where it says too much, because powers are much smaller, the kernel for all orders takes over.

use std::mem::MaybeUninit;

use dualpack_core::Base;
use nalgebra::{ComplexField, convert};

use super::chain::{SQUARINGS, largest};
use crate::function::degree::power_of_two;
use crate::function::pade::{C7, C9, C13};
use crate::kernel::Entries;
use crate::kernel::simd::{Full, Machine, machines};

/// The largest order.
pub(super) const MAX: usize = 3;

machines! {
    /// Overwrites a matrix by its exponential and the tangents by its derivatives; `false`, and nothing done, if it is not
    /// for this kernel.
    ///
    /// # Safety
    /// `a` is an exclusively borrowed square matrix of order 2 or 3, whose entries are a value and `lanes` tangents.
    pub(super) unsafe fn exponential<F>(a: Entries<F>, lanes: usize) -> bool => body
}

/// # Safety
/// As for [`exponential`], and the CPU is of this kind.
#[inline(always)]
unsafe fn body<F: Base, C: Machine<F>, const P: usize>(a: Entries<F>, lanes: usize) -> bool {
    // On the oldest CPUs the kernel for all orders takes over: a copy less to be compiled, and they gain the least, because
    // the matrices do not fit their registers.
    if cfg!(target_arch = "x86_64") && !C::FUSED {
        return false;
    }
    // SAFETY: the contract.
    unsafe {
        match (a.rows, lanes <= 4 || C::WIDEST == 4) {
            (2, true) => sized::<F, C::Four, 2>(a, lanes),
            (2, false) => sized::<F, C::Wide, 2>(a, lanes),
            (_, true) => sized::<F, C::Four, 3>(a, lanes),
            (_, false) => sized::<F, C::Wide, 3>(a, lanes),
        }
    }
}

/// The norms up to which approximants are exact in the value and two derivatives (see `function/degree.rs`), of degree 7
/// in single precision, of 9 and 13 in double precision.
const SINGLE: f64 = 2.58;
const LOW: f64 = 1.45;
const HIGH: f64 = 3.0;

/// # Safety
/// As for [`body`].
#[inline(always)]
unsafe fn sized<F: Base, S: Full<F>, const M: usize>(a: Entries<F>, lanes: usize) -> bool {
    // SAFETY: the contract.
    unsafe {
        let Some(size) = inspect::<F, M>(a) else { return false };
        if size_of::<F>() == 4 {
            run::<F, S, M, 7>(a, lanes, size, SINGLE)
        } else if size <= LOW {
            run::<F, S, M, 9>(a, lanes, size, LOW)
        } else {
            run::<F, S, M, 13>(a, lanes, size, HIGH)
        }
    }
}

/// The norm of a matrix that is for this kernel: not too large, neither triangular nor to be balanced.
///
/// # Safety
/// As for [`body`].
#[inline(always)]
unsafe fn inspect<F: Base, const M: usize>(a: Entries<F>) -> Option<f64> {
    let mut x = [[F::zero(); M]; M];
    for i in 0..M {
        for j in 0..M {
            // SAFETY: the contract.
            x[i][j] = unsafe { a.value(i, j) };
        }
    }
    let norm = largest((0..M).map(|j| {
        let mut sum = ComplexField::abs(x[0][j]);
        for i in 1..M {
            sum += ComplexField::abs(x[i][j]);
        }
        sum
    }));
    let limit = if size_of::<F>() == 4 { SINGLE } else { HIGH };
    if norm.is_nan() || norm > limit * power_of_two(SQUARINGS as i32) {
        return None;
    }
    if x[0][M - 1].is_zero() || x[M - 1][0].is_zero() {
        let (mut below, mut above) = (false, false);
        for i in 0..M {
            for j in 0..i {
                below |= !x[i][j].is_zero();
                above |= !x[j][i].is_zero();
            }
        }
        if !(below && above) {
            return None;
        }
    }
    // Balancing, by powers of two, leaves alone what has rows and columns of about the same size, and small matrices.
    if norm > LOW {
        let four = convert::<f64, F>(4.0);
        for k in 0..M {
            let (mut across, mut down) = (F::zero(), F::zero());
            for i in 0..M {
                across += x[k][i] * x[k][i];
                down += x[i][k] * x[i][k];
            }
            if !(across < four * down && down < four * across) {
                return None;
            }
        }
    }
    Some(norm)
}

/// A matrix in registers, by rows.
type Matrix<V, const M: usize> = [[V; M]; M];

/// Values, or lanes of them, through the steps: `S` says how.
#[derive(Clone, Copy)]
struct Steps<S, const M: usize>(S);

impl<S: Copy, const M: usize> Steps<S, M> {
    /// `X Y`
    ///
    /// # Safety
    /// The CPU has the instructions of `S`; so also for what follows.
    #[inline(always)]
    unsafe fn times<F: Base>(self, x: &Matrix<S::V, M>, y: &Matrix<S::V, M>) -> Matrix<S::V, M>
    where
        S: Full<F>,
    {
        let mut z = *x;
        // SAFETY: the contract.
        unsafe {
            for i in 0..M {
                for j in 0..M {
                    z[i][j] = self.0.times(x[i][0], y[0][j]);
                    for k in 1..M {
                        z[i][j] = self.0.plus(z[i][j], x[i][k], y[k][j]);
                    }
                }
            }
        }
        z
    }

    /// `Z + X Y`
    ///
    /// # Safety
    /// See [`times`](Steps::times).
    #[inline(always)]
    unsafe fn onto<F: Base>(
        self,
        mut z: Matrix<S::V, M>,
        x: &Matrix<S::V, M>,
        y: &Matrix<S::V, M>,
    ) -> Matrix<S::V, M>
    where
        S: Full<F>,
    {
        // SAFETY: the contract.
        unsafe {
            for i in 0..M {
                for j in 0..M {
                    for k in 0..M {
                        z[i][j] = self.0.plus(z[i][j], x[i][k], y[k][j]);
                    }
                }
            }
        }
        z
    }

    /// `X E + F Y`
    ///
    /// # Safety
    /// See [`times`](Steps::times).
    #[inline(always)]
    unsafe fn two_sided<F: Base>(
        self,
        (x, e): (&Matrix<S::V, M>, &Matrix<S::V, M>),
        (f, y): (&Matrix<S::V, M>, &Matrix<S::V, M>),
    ) -> Matrix<S::V, M>
    where
        S: Full<F>,
    {
        // SAFETY: the contract.
        unsafe { self.onto(self.times(x, e), f, y) }
    }

    /// `Σ c X`, of the first matrix first.
    ///
    /// # Safety
    /// See [`times`](Steps::times).
    #[inline(always)]
    unsafe fn combine<F: Base, const T: usize>(self, terms: [(f64, &Matrix<S::V, M>); T]) -> Matrix<S::V, M>
    where
        S: Full<F>,
    {
        let mut z = *terms[0].1;
        // SAFETY: the contract.
        unsafe {
            for t in 0..T {
                let (c, x) = (self.0.splat(convert(terms[t].0)), terms[t].1);
                for i in 0..M {
                    for j in 0..M {
                        z[i][j] =
                            if t == 0 { self.0.times(c, x[i][j]) } else { self.0.plus(z[i][j], c, x[i][j]) };
                    }
                }
            }
        }
        z
    }

    /// What the even powers contribute to `W` and `V` without a product; the last one counts for degree 9 alone.
    ///
    /// # Safety
    /// See [`times`](Steps::times).
    #[inline(always)]
    unsafe fn sums<F: Base, const D: usize>(
        self,
        [x2, x4, x6, x8]: [&Matrix<S::V, M>; 4],
    ) -> (Matrix<S::V, M>, Matrix<S::V, M>)
    where
        S: Full<F>,
    {
        // SAFETY: the contract.
        unsafe {
            match D {
                7 => (
                    self.combine([(C7[3], x2), (C7[5], x4), (C7[7], x6)]),
                    self.combine([(C7[2], x2), (C7[4], x4), (C7[6], x6)]),
                ),
                9 => (
                    self.combine([(C9[3], x2), (C9[5], x4), (C9[7], x6), (C9[9], x8)]),
                    self.combine([(C9[2], x2), (C9[4], x4), (C9[6], x6), (C9[8], x8)]),
                ),
                _ => (
                    self.combine([(C13[3], x2), (C13[5], x4), (C13[7], x6)]),
                    self.combine([(C13[2], x2), (C13[4], x4), (C13[6], x6)]),
                ),
            }
        }
    }

    /// What `A⁶` is multiplied with in `W` and `V` of degree 13.
    ///
    /// # Safety
    /// See [`times`](Steps::times).
    #[inline(always)]
    unsafe fn high_sums<F: Base>(
        self,
        [x2, x4, x6]: [&Matrix<S::V, M>; 3],
    ) -> (Matrix<S::V, M>, Matrix<S::V, M>)
    where
        S: Full<F>,
    {
        // SAFETY: the contract.
        unsafe {
            (
                self.combine([(C13[9], x2), (C13[11], x4), (C13[13], x6)]),
                self.combine([(C13[8], x2), (C13[10], x4), (C13[12], x6)]),
            )
        }
    }

    /// `X + c I`
    ///
    /// # Safety
    /// See [`times`](Steps::times).
    #[inline(always)]
    unsafe fn shifted<F: Base>(self, mut x: Matrix<S::V, M>, c: f64) -> Matrix<S::V, M>
    where
        S: Full<F>,
    {
        for i in 0..M {
            // SAFETY: the contract.
            unsafe { x[i][i] = self.0.add(x[i][i], self.0.splat(convert(c))) };
        }
        x
    }

    /// `c X`
    ///
    /// # Safety
    /// See [`times`](Steps::times).
    #[inline(always)]
    unsafe fn scaled<F: Base>(self, mut x: Matrix<S::V, M>, c: F) -> Matrix<S::V, M>
    where
        S: Full<F>,
    {
        for i in 0..M {
            for j in 0..M {
                // SAFETY: the contract.
                unsafe { x[i][j] = self.0.times(x[i][j], self.0.splat(c)) };
            }
        }
        x
    }

    /// `X - Y`
    ///
    /// # Safety
    /// See [`times`](Steps::times).
    #[inline(always)]
    unsafe fn less<F: Base>(self, mut x: Matrix<S::V, M>, y: &Matrix<S::V, M>) -> Matrix<S::V, M>
    where
        S: Full<F>,
    {
        for i in 0..M {
            for j in 0..M {
                // SAFETY: the contract.
                unsafe { x[i][j] = self.0.sub(x[i][j], y[i][j]) };
            }
        }
        x
    }

    /// `2 Q⁻¹`
    ///
    /// # Safety
    /// See [`times`](Steps::times).
    #[inline(always)]
    unsafe fn twice_inverse<F: Base>(self, q: &Matrix<S::V, M>) -> Matrix<S::V, M>
    where
        S: Full<F>,
    {
        let s = self.0;
        let mut inverse = *q;
        // SAFETY: the contract.
        unsafe {
            let two = s.splat(convert(2.0));
            if M == 2 {
                let determinant = s.minus(s.times(q[0][0], q[1][1]), q[0][1], q[1][0]);
                let factor = s.over(two, determinant);
                let opposite = s.sub(s.splat(F::zero()), factor);
                inverse[0][0] = s.times(q[1][1], factor);
                inverse[0][1] = s.times(q[0][1], opposite);
                inverse[1][0] = s.times(q[1][0], opposite);
                inverse[1][1] = s.times(q[0][0], factor);
                return inverse;
            }
            // The cofactor of an entry is made of the next two rows and columns, cyclically.
            for i in 0..M {
                for j in 0..M {
                    let (i1, i2, j1, j2) = ((i + 1) % M, (i + 2) % M, (j + 1) % M, (j + 2) % M);
                    inverse[j][i] = s.minus(s.times(q[i1][j1], q[i2][j2]), q[i1][j2], q[i2][j1]);
                }
            }
            let mut determinant = s.times(q[0][0], inverse[0][0]);
            for j in 1..M {
                determinant = s.plus(determinant, q[0][j], inverse[j][0]);
            }
            let factor = s.over(two, determinant);
            for i in 0..M {
                for j in 0..M {
                    inverse[i][j] = s.times(inverse[i][j], factor);
                }
            }
        }
        inverse
    }

    /// The 1-norm of values.
    ///
    /// # Safety
    /// See [`times`](Steps::times).
    #[inline(always)]
    unsafe fn norm<F: Base>(self, x: &Matrix<S::V, M>) -> f64
    where
        S: Full<F>,
    {
        let mut sums = [F::zero(); M];
        for j in 0..M {
            // SAFETY: the contract.
            unsafe {
                let mut sum = self.0.abs(x[0][j]);
                for i in 1..M {
                    sum = self.0.add(sum, self.0.abs(x[i][j]));
                }
                sums[j] = self.0.first(sum);
            }
        }
        largest(sums.into_iter())
    }
}

/// The exponential of a matrix of norm `size` by the approximant of degree `D`, which is exact up to `limit`.
///
/// # Safety
/// As for [`body`].
#[inline(always)]
unsafe fn run<F: Base, S: Full<F>, const M: usize, const D: usize>(
    a: Entries<F>,
    lanes: usize,
    size: f64,
    limit: f64,
) -> bool {
    let m = Steps::<S, M>(S::FULL);
    let s = S::FULL;
    // SAFETY: the contract; entries lie inside.
    unsafe {
        let zero = s.splat(F::zero());
        let none = [[zero; M]; M];
        let mut x = none;
        for i in 0..M {
            for j in 0..M {
                x[i][j] = s.splat(a.value(i, j));
            }
        }
        let squarings = if D == 9 { 0 } else { squarings(size, limit) };
        if D != 9 {
            x = m.scaled(x, convert(power_of_two(-(squarings as i32))));
        }
        // Powers, W and V.
        let x2 = m.times(&x, &x);
        let x4 = m.times(&x2, &x2);
        let x6 = m.times(&x2, &x4);
        let x8 = if D == 9 { m.times(&x4, &x4) } else { none };
        let (mut w, mut v) = m.sums::<F, D>([&x2, &x4, &x6, &x8]);
        let (w1, z1) = if D == 13 { m.high_sums::<F>([&x2, &x4, &x6]) } else { (none, none) };
        if D == 13 {
            (w, v) = (m.onto(w, &x6, &w1), m.onto(v, &x6, &z1));
        }
        let (w, v) = (m.shifted(w, 0.5), m.shifted(v, 1.0));
        // Where the powers are small, the norm asks for too many squarings.
        if squarings > 0 {
            let quarter = 0.25 * size * power_of_two(-(squarings as i32));
            let square = quarter * quarter;
            if m.norm(&x6) < square * square * square {
                return false;
            }
        }
        let u = m.times(&x, &w);
        let (mut inverse, mut y) = (none, none);
        let mut halves = [MaybeUninit::<Matrix<S::V, M>>::uninit(); SQUARINGS];
        let mut first = 0;
        loop {
            let count = S::WIDTH.min(lanes - first);
            let (mut e, mut d) = (none, none);
            if count > 0 {
                // The derivatives of U, and half of those of U − V.
                for i in 0..M {
                    for j in 0..M {
                        e[i][j] = s.load_part(a.at(i, j, 1 + first), count);
                    }
                }
                let m2 = m.two_sided((&x, &e), (&e, &x));
                let m4 = m.two_sided((&x2, &m2), (&m2, &x2));
                let m6 = m.two_sided((&x4, &m2), (&m4, &x2));
                let m8 = if D == 9 { m.two_sided((&x4, &m4), (&m4, &x4)) } else { none };
                let (mut dw, mut dv) = m.sums::<F, D>([&m2, &m4, &m6, &m8]);
                if D == 13 {
                    let (dw1, dz1) = m.high_sums::<F>([&m2, &m4, &m6]);
                    dw = m.onto(m.onto(dw, &x6, &dw1), &m6, &w1);
                    dv = m.onto(m.onto(dv, &x6, &dz1), &m6, &z1);
                }
                e = m.two_sided((&x, &dw), (&e, &w));
                d = m.scaled(m.less(e, &dv), convert(0.5));
            }
            if first == 0 {
                inverse = m.twice_inverse(&m.less(v, &u));
                y = m.times(&inverse, &u);
                let mut r = m.shifted(y, 1.0);
                for k in 0..squarings {
                    halves[k].write(m.scaled(r, convert(0.5)));
                    r = m.times(&r, &r);
                }
                // An overflow is still there in the last square.
                if squarings > 0 && !m.norm(&r).is_finite() {
                    return false;
                }
                for i in 0..M {
                    for j in 0..M {
                        a.store(i, j, 0, [s.first(r[i][j])]);
                    }
                }
            }
            if count > 0 {
                e = m.times(&inverse, &m.onto(e, &d, &y));
                for k in 0..squarings {
                    let half = halves[k].assume_init();
                    e = m.two_sided((&half, &e), (&e, &half));
                }
                for i in 0..M {
                    for j in 0..M {
                        s.store_part(a.at(i, j, 1 + first), count, e[i][j]);
                    }
                }
            }
            first += count;
            if first >= lanes {
                return true;
            }
        }
    }
}

/// How often a matrix of this norm, which is for this kernel, is halved to get below the limit.
#[inline(always)]
fn squarings(size: f64, limit: f64) -> usize {
    let ratio = size / limit;
    if ratio <= 1.0 { 0 } else { SQUARINGS.min((ratio.to_bits() >> 52) as usize - 1022) }
}
