//! Derivatives of plain `f64` functions by central differences, extrapolated (Richardson), with an error
//! estimate: the check that shares nothing with the rules it checks.
//!
//! The function is called with the parameter(s) of a line or plane through the point; it builds its own
//! arguments, so nothing of the caller's is changed in place:
//!
//! ```ignore
//! let slope = differences::first(|t| expm(&(&a + &da * t)).unwrap(), 0.1);
//! slope.assert_contains(&computed, "expm");
//! ```

use nalgebra::{Dim, Matrix, Storage};

/// What a function under test returns: numbers in a fixed order.
pub trait Flat {
    fn flat(&self) -> Vec<f64>;
}

impl Flat for f64 {
    fn flat(&self) -> Vec<f64> {
        vec![*self]
    }
}

impl<R: Dim, C: Dim, S: Storage<f64, R, C>> Flat for Matrix<f64, R, C, S> {
    fn flat(&self) -> Vec<f64> {
        self.iter().copied().collect()
    }
}

impl Flat for Vec<f64> {
    fn flat(&self) -> Vec<f64> {
        self.clone()
    }
}

/// Two results at once.
impl<A: Flat, B: Flat> Flat for (A, B) {
    fn flat(&self) -> Vec<f64> {
        let mut all = self.0.flat();
        all.extend(self.1.flat());
        all
    }
}

/// An extrapolated difference: entries in the function's order (columns of a matrix) and the estimated
/// error of the whole, in the largest-entry norm.
#[derive(Clone, Debug)]
pub struct Estimate {
    pub value: Vec<f64>,
    pub error: f64,
}

impl Estimate {
    /// Largest distance between `computed` and the estimate.
    #[track_caller]
    pub fn distance(&self, computed: &impl Flat) -> f64 {
        distance(&computed.flat(), &self.value)
    }

    /// Panics unless `computed` lies within ten error estimates, and the estimate is sharp enough to mean
    /// anything: `worst` bounds its error relative to the largest entry.
    #[track_caller]
    pub fn assert_contains_within(&self, computed: &impl Flat, worst: f64, what: &str) {
        let computed = computed.flat();
        let size = self.value.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert!(
            self.error <= worst * size.max(1e-3),
            "{what}: differences are no use here, error {:e} at size {size:e}",
            self.error
        );
        let distance = distance(&computed, &self.value);
        let allowed = 10.0 * self.error + 1e-14 * size;
        assert!(
            distance <= allowed,
            "{what}: distance {distance:e} to the differences, allowed {allowed:e}\n  got {computed:?}\n  differences {:?}",
            self.value
        );
    }

    /// `assert_contains_within` with an estimate good to 1e-6.
    #[track_caller]
    pub fn assert_contains(&self, computed: &impl Flat, what: &str) {
        self.assert_contains_within(computed, 1e-6, what);
    }
}

#[track_caller]
fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many numbers as the function returns");
    a.iter().zip(b).fold(0.0_f64, |m, (x, y)| {
        let d = (x - y).abs();
        if d.is_nan() { f64::INFINITY } else { m.max(d) }
    })
}

/// d/dt f(t) at 0. `h` is the first, large step: about a tenth of the distance over which f changes
/// character (the nearest singularity); smaller ones follow.
pub fn first<F: Flat>(f: impl Fn(f64) -> F, h: f64) -> Estimate {
    extrapolate(h, |h| combine(&[(f(h), 1.0), (f(-h), -1.0)], 2.0 * h))
}

/// d2/dt2 f(t) at 0.
pub fn second<F: Flat>(f: impl Fn(f64) -> F, h: f64) -> Estimate {
    extrapolate(h, |h| combine(&[(f(h), 1.0), (f(0.0), -2.0), (f(-h), 1.0)], h * h))
}

/// d2/ds dt f(s, t) at 0: four points of f.
pub fn mixed<F: Flat>(f: impl Fn(f64, f64) -> F, h: f64) -> Estimate {
    extrapolate(h, |h| {
        combine(&[(f(h, h), 1.0), (f(h, -h), -1.0), (f(-h, h), -1.0), (f(-h, -h), 1.0)], 4.0 * h * h)
    })
}

fn combine<F: Flat>(terms: &[(F, f64)], divisor: f64) -> Vec<f64> {
    let mut sum = vec![0.0; terms[0].0.flat().len()];
    for (value, weight) in terms {
        for (s, x) in sum.iter_mut().zip(value.flat()) {
            *s += weight * x;
        }
    }
    sum.iter_mut().for_each(|s| *s /= divisor);
    sum
}

/// Ridders' tableau: steps shrink by `SHRINK`, the error series has even powers of h; the entry with the
/// smallest difference to its two neighbours wins (Ridders 1982).
fn extrapolate(h: f64, difference: impl Fn(f64) -> Vec<f64>) -> Estimate {
    const SHRINK: f64 = 1.5;
    const ROWS: usize = 14;
    let mut best = Estimate { value: Vec::new(), error: f64::INFINITY };
    let mut previous: Vec<Vec<f64>> = Vec::new();
    let mut step = h;
    for row in 0..ROWS {
        let mut current = vec![difference(step)];
        let mut factor = 1.0;
        for column in 1..=row {
            factor *= SHRINK * SHRINK;
            let (fine, coarse) = (&current[column - 1], &previous[column - 1]);
            let better: Vec<f64> =
                fine.iter().zip(coarse).map(|(f, c)| (f * factor - c) / (factor - 1.0)).collect();
            let error = distance(&better, fine).max(distance(&better, coarse));
            if error < best.error {
                best = Estimate { value: better.clone(), error };
            }
            current.push(better);
        }
        previous = current;
        step /= SHRINK;
    }
    best
}
