//! Which Padé approximant is exact to rounding, by the norms of powers of a matrix.

use crate::scratch::with_scratch;

/// An approximant, and for which matrices it is exact to the unit roundoff.
pub(crate) struct Rung {
    pub degree: usize,
    /// In the value: `d_p` up to this (Al-Mohy and Higham 2010, Table 3.1), but at most 3, because derivatives divide
    /// by `V − U` once more each, whose condition is about e to this.
    pub mean: f64,
    /// In the value and two derivatives: any matrix whose norm is at most this ([`Powers::suffice`] with
    /// `‖Aᵏ‖ = ‖A‖ᵏ`); in the third derivative the error is below 2e-13 then.
    pub norm: f64,
}

pub(crate) const DOUBLE: [Rung; 5] = [
    Rung { degree: 3, mean: 1.495585217958292e-2, norm: 3.05e-3 },
    Rung { degree: 5, mean: 2.53939833006323e-1, norm: 0.127 },
    Rung { degree: 7, mean: 9.504178996162932e-1, norm: 0.596 },
    Rung { degree: 9, mean: 2.097847961257068, norm: 1.45 },
    Rung { degree: 13, mean: 3.0, norm: 3.0 },
];
pub(crate) const SINGLE: [Rung; 3] = [
    Rung { degree: 3, mean: 4.258730016922831e-1, norm: 0.163 },
    Rung { degree: 5, mean: 1.880152677804762, norm: 1.05 },
    Rung { degree: 7, mean: 3.0, norm: 2.58 },
];

/// What a few norms alone decide about a matrix of floats, whose function is differentiated at most three times: the
/// common cases of the search by [`Powers::suffice`], which takes longer than the exponential of a small matrix.
pub(crate) struct Quick {
    /// Degrees for a norm up to the bound ([`Rung::norm`], which says what holds for the third derivative).
    pub by_norm: &'static [(f64, usize)],
    /// Degrees and bounds `(m, β, C)`: with `‖Aᵏ‖ ≤ C βᵏ` for all k > 0 the error of degree `m` is below the unit
    /// roundoff in the value and three derivatives. From 27 terms of [`Powers::suffice`], of whose exact terms the first
    /// one, `1/d!`, is kept. The last degree may be for a scaled matrix.
    by_powers: &'static [(usize, f64, f64)],
    /// The norm up to which the last degree needs no scaling.
    unscaled: f64,
    /// The largest mean of the last degree ([`Rung::mean`]).
    mean: f64,
    /// `(u / c)^(1/m)` for the roundoff and the first coefficient of `exp − r_m`: up to this square of a norm the
    /// correction for `|A|` is none.
    rounding: f64,
    /// How many squarings more than the mean asks for may be tried before the search has to tell.
    more: u32,
}

pub(crate) const QUICK_DOUBLE: Quick = Quick {
    by_norm: &[(3.05e-3, 3), (0.127, 5), (0.596, 7), (1.45, 9)],
    by_powers: &[
        (9, 1.2, 1.1),
        (9, 1.1, 1.6),
        (9, 1.0, 2.4),
        (9, 0.9, 3.8),
        (9, 0.8, 6.2),
        (9, 0.7, 11.0),
        (13, 3.0, 3.0),
        (13, 2.75, 5.5),
        (13, 2.5, 10.0),
        (13, 2.25, 21.0),
        (13, 2.0, 46.0),
        (13, 1.75, 110.0),
    ],
    unscaled: 3.0,
    mean: 3.0,
    rounding: 29.4,
    more: 1,
};
pub(crate) const QUICK_SINGLE: Quick = Quick {
    by_norm: &[(0.163, 3), (1.05, 5), (2.58, 7)],
    by_powers: &[(7, 2.0, 1.2), (7, 1.75, 1.9), (7, 1.5, 3.3), (7, 1.25, 6.1)],
    unscaled: 2.58,
    mean: 3.0,
    rounding: 15.9,
    more: 1,
};

/// The 1-norms that [`Quick`] looks at.
#[derive(Clone, Copy)]
pub(crate) struct Norms {
    /// `‖A‖`, `‖A²‖`, `‖A⁴‖`, `‖A⁶‖`, `‖A⁸‖`, `‖A¹⁰‖`.
    pub powers: [f64; 6],
    /// `‖|A|²‖`
    pub absolute: f64,
}

/// Degree and squarings of a matrix of floats by the search, given what [`Quick`] was given; `moduli` are those of the
/// entries.
#[cold]
#[inline(never)]
pub(crate) fn search(
    single: bool,
    norms: &Norms,
    n: usize,
    moduli: &dyn Fn(usize, usize) -> f64,
) -> (usize, usize) {
    let (ladder, roundoff): (&[Rung], i32) = if single { (&SINGLE, 24) } else { (&DOUBLE, 53) };
    let mut powers = Powers::new(norms.powers[0], roundoff, 1);
    for k in 1..norms.powers.len() {
        powers.learn(2 * k, norms.powers[k]);
    }
    let rung = &ladder[ladder.len() - 1];
    match powers.unscaled(ladder, n, moduli) {
        Some(degree) => (degree, 0),
        None => (rung.degree, powers.squarings(rung, 64, n, moduli)),
    }
}

impl Quick {
    /// The degree for a matrix of this norm, if it is small.
    #[inline(always)]
    pub(crate) fn degree(&self, norm: f64) -> Option<usize> {
        self.by_norm.iter().find(|(bound, _)| norm <= *bound).map(|&(_, degree)| degree)
    }

    /// Degree and squarings, if they are beyond doubt.
    #[inline(always)]
    pub(crate) fn degree_and_squarings(&self, norms: &Norms) -> Option<(usize, usize)> {
        let last = self.by_powers[self.by_powers.len() - 1].0;
        if let Some(degree) = self.sufficient(norms, 0, |degree| degree < last) {
            return Some((degree, 0));
        }
        if norms.powers[0] <= self.unscaled {
            return Some((last, 0));
        }
        // The least number that takes `max(d_2p, d_2p+2)` below the mean, for each p.
        let mean = 1.0 / (self.mean * self.mean);
        let (mut power, mut least, mut before) = (1.0, u32::MAX, u32::MAX);
        for k in 0..5 {
            power *= mean;
            let x = norms.powers[k + 1] * power;
            let needed = if x <= 1.0 { 0 } else { floor_log2(x) / (2 * k as u32 + 2) + 1 };
            least = least.min(needed.max(before));
            before = needed;
        }
        for s in least..=least + self.more {
            if norms.absolute * power_of_two(-2 * s as i32) <= self.rounding
                && self.sufficient(norms, s as usize, |degree| degree == last).is_some()
            {
                return Some((last, s as usize));
            }
        }
        None
    }

    /// The first of the degrees that will do for `2⁻ˢ A` by the bounds, which hold for all powers when they hold for the
    /// first four and the sixth: an even one is a product of fourth and sixth powers, an odd one of one more factor.
    #[inline(always)]
    fn sufficient(&self, norms: &Norms, s: usize, degrees: impl Fn(usize) -> bool) -> Option<usize> {
        let scaled = |at: usize, k: usize| norms.powers[at] * power_of_two(-((s * k) as i32));
        let (a, a2, a4, a6) = (scaled(0, 1), scaled(1, 2), scaled(2, 4), scaled(3, 6));
        let holds = |&&(degree, beta, c): &&(usize, f64, f64)| {
            let (beta2, beta4) = (beta * beta, beta * beta * beta * beta);
            degrees(degree)
                && a4 <= beta4
                && a6 <= beta4 * beta2
                && a <= c * beta
                && a2 <= c * beta2
                && a * a2 <= c * beta2 * beta
        };
        self.by_powers.iter().find(holds).map(|&(degree, ..)| degree)
    }
}

/// `2ᵏ` for an exponent in the range of normal doubles.
#[inline(always)]
pub(crate) fn power_of_two(k: i32) -> f64 {
    f64::from_bits(((1023 + k) as u64) << 52)
}

/// The exponent of a number not below 1.
#[inline(always)]
fn floor_log2(x: f64) -> u32 {
    (x.to_bits() >> 52) as u32 - 1023
}

/// The first coefficient of `exp − r_m`, that of the power `2m + 1`: `(m!)² / ((2m)! (2m + 1)!)`.
fn truncation(m: usize) -> f64 {
    let factorial = |k: usize| (1..=k).map(|k| k as f64).product::<f64>();
    factorial(m) / factorial(2 * m) * (factorial(m) / factorial(2 * m + 1))
}

/// How many powers count in the error of the highest approximant; `TAIL` of each.
const REACH: usize = 27 + TAIL;
const TAIL: usize = 9;

/// The norms of some powers of a matrix, and what they say about all others.
pub(crate) struct Powers {
    /// `‖Aᵏ‖` where it is known, else infinite.
    known: [f64; 11],
    /// The unit roundoff is two to minus this.
    pub roundoff: i32,
    /// How many derivatives have to be as exact as the value.
    derivatives: usize,
}

/// The number of derivatives that degrees are chosen for. It is the same for all scalars that have no more, so that
/// values do not depend on the scalar.
pub(crate) const DERIVATIVES: usize = 3;

impl Powers {
    /// For a matrix of norm `size` whose function will be differentiated `order` times.
    pub(crate) fn new(size: f64, roundoff: i32, order: usize) -> Self {
        let derivatives = order.max(DERIVATIVES);
        let mut powers = Powers { known: [f64::INFINITY; 11], roundoff, derivatives };
        powers.learn(0, 1.0);
        powers.learn(1, size);
        powers
    }

    pub(crate) fn learn(&mut self, power: usize, norm: f64) {
        self.known[power] = norm;
    }

    /// `‖A‖`
    pub(crate) fn size(&self) -> f64 {
        self.known[1]
    }

    /// Whether the norm of the matrix alone says that an approximant will do.
    pub(crate) fn are_small(&self, rung: &Rung, s: usize) -> bool {
        self.derivatives == DERIVATIVES && self.size() * 2.0_f64.powi(-(s as i32)) <= rung.norm
    }

    /// The first of the degrees that will do without squaring; `moduli` are those of the entries.
    pub(crate) fn unscaled(
        &self,
        ladder: &[Rung],
        n: usize,
        moduli: &dyn Fn(usize, usize) -> f64,
    ) -> Option<usize> {
        let fits = |rung: &&Rung| {
            let m = rung.degree;
            self.are_small(rung, 0)
                || (self.mean(m) <= rung.mean && self.suffice(m, 0) && self.correction(m, 0, n, moduli) == 0)
        };
        ladder.iter().find(fits).map(|rung| rung.degree)
    }

    /// The number of squarings for the highest degree, up to about a limit.
    pub(crate) fn squarings(
        &self,
        rung: &Rung,
        limit: usize,
        n: usize,
        moduli: &dyn Fn(usize, usize) -> f64,
    ) -> usize {
        let &Rung { degree, mean, .. } = rung;
        let mut s = (self.mean(degree) / mean).log2().ceil().max(0.0) as usize;
        s += self.correction(degree, s, n, moduli);
        while !self.are_small(rung, s) && !self.suffice(degree, s) && s < limit {
            s += 1;
        }
        s
    }

    /// `ℓ_m` for the matrix scaled by `2⁻ˢ`: how many more squarings the rounding of the powers of `|A|` asks for
    /// (Al-Mohy and Higham 2010, eq. 3.13 and 5.1), in logarithms so that nothing overflows.
    fn correction(&self, m: usize, s: usize, n: usize, moduli: &dyn Fn(usize, usize) -> f64) -> usize {
        let from_norm = |log: f64| {
            let alpha = log + truncation(m).log2() - (2 * m * s) as f64;
            ((alpha + f64::from(self.roundoff)) / (2 * m) as f64).ceil().max(0.0) as usize
        };
        // ‖|A|^p‖₁ / ‖A‖₁ is at most ‖A‖₁^2m, which mostly settles it.
        let size = self.size().log2();
        if from_norm((2 * m) as f64 * size) == 0 {
            return 0;
        }
        // ‖|A|^p‖₁ from p products of a row vector with |A|.
        from_norm(with_scratch::<f64, _>(n * n + 2 * n, |buffer| {
            let (absolute, rows) = buffer.split_at_mut(n * n);
            absolute.iter_mut().enumerate().for_each(|(k, x)| *x = moduli(k / n, k % n));
            let (mut row, mut next) = rows.split_at_mut(n);
            row.fill(1.0);
            let mut log = -size;
            for _ in 0..2 * m + 1 {
                next.fill(0.0);
                for (r, a) in row.iter().zip(absolute.chunks_exact(n)) {
                    next.iter_mut().zip(a).for_each(|(x, a)| *x += r * a);
                }
                let largest = next.iter().fold(0.0_f64, |x, &y| x.max(y));
                log += largest.log2();
                if largest == 0.0 {
                    break;
                }
                next.iter_mut().for_each(|x| *x /= largest);
                std::mem::swap(&mut row, &mut next);
            }
            log
        }))
    }

    /// Bounds on the norms of the first `count` powers of `2⁻ˢ A`.
    fn bounds(&self, s: usize, count: usize) -> [f64; REACH] {
        let mut bounds = [f64::INFINITY; REACH];
        for k in 0..count {
            if let Some(&norm) = self.known.get(k) {
                bounds[k] = norm * 2.0_f64.powi(-((s * k) as i32));
            }
            for i in 1..=k / 2 {
                bounds[k] = bounds[k].min(bounds[i] * bounds[k - i]);
            }
        }
        bounds
    }

    /// What takes the place of `‖A‖` in the bound on the backward error of degree `m`: the smallest
    /// `max(d_2p, d_2p+2)` with `p (p − 1) ≤ m`.
    pub(crate) fn mean(&self, m: usize) -> f64 {
        let bounds = self.bounds(0, self.known.len());
        let d = |k: usize| bounds[k].powf(1.0 / k as f64);
        (1..)
            .take_while(|p| p * (p - 1) <= m)
            .fold(f64::INFINITY, |least, p| least.min(d(2 * p).max(d(2 * p + 2))))
    }

    /// Whether the error of degree `m` for `2⁻ˢ A` is below the roundoff in the derivatives too. Where the value has the
    /// powers `Aᵏ` of a nonnormal matrix, which may be small, they have `Aⁱ E Aʲ`, `Aⁱ E Aʲ F Aˡ`, ..., which may be
    /// large.
    pub(crate) fn suffice(&self, m: usize, s: usize) -> bool {
        let reach = 2 * m + 1 + TAIL;
        let scaled = self.bounds(s, reach);
        // Sums of products of 1, 2, 3, ... norms: all ways to share out the power.
        let mut ways = scaled;
        let u = 2.0_f64.powi(-self.roundoff);
        if self.derivatives > 2 * m {
            return false;
        }
        (0..=self.derivatives).all(|derivative| {
            if derivative > 0 {
                let fewer = ways;
                for k in 0..reach {
                    ways[k] = (0..=k).map(|i| fewer[i] * scaled[k - i]).sum();
                }
            }
            let term = |k: usize| ways[k - derivative];
            let (mut exact, mut factorial) = (0.0_f64, 1.0);
            for k in 1..=2 * m {
                factorial *= k as f64;
                if k >= derivative {
                    exact = exact.max(term(k) / factorial);
                }
            }
            let (mut error, mut coefficient) = (0.0, truncation(m));
            for k in 2 * m + 1..reach {
                error += coefficient * term(k);
                coefficient /= (k - 2 * m) as f64;
            }
            error <= u * exact
        })
    }
}
