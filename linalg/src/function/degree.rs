//! Which Padé approximant is exact to rounding, by the norms of powers of a matrix.

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

/// The first coefficient of `exp − r_m`, that of the power `2m + 1`: `(m!)² / ((2m)! (2m + 1)!)`.
pub(crate) fn truncation(m: usize) -> f64 {
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
const DERIVATIVES: usize = 3;

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
