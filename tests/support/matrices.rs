//! Matrices by kind, the same for the same seed everywhere.

use nalgebra::DMatrix;

/// A tiny generator (SplitMix64, Steele, Lea, Flood 2014): every test names its seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// Uniform in [-1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Uniform in 0..n.
    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// A matrix of entries uniform in [-1, 1).
    pub fn matrix(&mut self, rows: usize, columns: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |_, _| self.signed())
    }

    /// A symmetric one.
    pub fn symmetric(&mut self, n: usize) -> DMatrix<f64> {
        let a = self.matrix(n, n);
        DMatrix::from_fn(n, n, |i, j| a[(i.max(j), i.min(j))])
    }

    /// An orthogonal one: Q of a random matrix.
    pub fn orthogonal(&mut self, n: usize) -> DMatrix<f64> {
        if n == 0 { DMatrix::zeros(0, 0) } else { self.matrix(n, n).qr().q() }
    }

    /// A permutation of 0..n.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut p: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            p.swap(i, self.below(i + 1));
        }
        p
    }
}

/// A random matrix, entries in [-1, 1).
pub fn random(seed: u64, rows: usize, columns: usize) -> DMatrix<f64> {
    Random::new(seed).matrix(rows, columns)
}

/// Kinds of square matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Entries uniform in [-1, 1).
    Random,
    /// Symmetric positive definite, condition about 10.
    Spd,
    /// Symmetric positive definite, condition 1e8.
    NearSingularSpd,
    /// Symmetric, eigenvalues of both signs.
    Indefinite,
    /// Condition 1e10: one singular value is tiny.
    NearSingular,
    /// Exact zeros that let balancing isolate eigenvalues at both ends, by interchanges that do not commute.
    Unbalanced,
    /// D A D^-1 with powers of two from 2^-20 to 2^20.
    BadlyScaled,
    /// Symmetric, eigenvalues in pairs 1e-10 apart.
    Clustered,
    /// Symmetric, eigenvalues in exact pairs up to rounding.
    Repeated,
    /// One Jordan block in a random basis of small integers: defective.
    Jordan,
    /// Upper triangular with a diagonal away from zero.
    Triangular,
    /// Diagonal, distinct entries, exact zeros elsewhere.
    Diagonal,
    /// Generator of a Markov chain: rows sum to zero, non-negative off the diagonal.
    Generator,
}

impl Kind {
    pub const ALL: [Kind; 13] = [
        Kind::Random,
        Kind::Spd,
        Kind::NearSingularSpd,
        Kind::Indefinite,
        Kind::NearSingular,
        Kind::Unbalanced,
        Kind::BadlyScaled,
        Kind::Clustered,
        Kind::Repeated,
        Kind::Jordan,
        Kind::Triangular,
        Kind::Diagonal,
        Kind::Generator,
    ];

    /// The n x n matrix of this kind for a seed.
    pub fn matrix(self, seed: u64, n: usize) -> DMatrix<f64> {
        let mut r = Random::new(seed.wrapping_mul(31).wrapping_add(self as u64));
        match self {
            Kind::Random => r.matrix(n, n),
            Kind::Spd => {
                let eigenvalues: Vec<f64> = (0..n).map(|_| 1.0 + 9.0 * r.unit()).collect();
                symmetric_with(&mut r, &eigenvalues)
            }
            Kind::NearSingularSpd => {
                let eigenvalues: Vec<f64> =
                    (0..n).map(|i| if i == 0 { 1e-8 } else { 1.0 - 0.5 * r.unit() }).collect();
                symmetric_with(&mut r, &eigenvalues)
            }
            Kind::Indefinite => {
                let eigenvalues: Vec<f64> =
                    (0..n).map(|i| (1.0 + r.unit()) * if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
                symmetric_with(&mut r, &eigenvalues)
            }
            Kind::NearSingular => {
                let singular: Vec<f64> =
                    (0..n).map(|i| if i == 0 { 1e-10 } else { 1.0 - 0.5 * r.unit() }).collect();
                let (u, v) = (r.orthogonal(n), r.orthogonal(n));
                DMatrix::from_fn(n, n, |i, j| (0..n).map(|k| u[(i, k)] * singular[k] * v[(j, k)]).sum())
            }
            Kind::Unbalanced => unbalanced(&mut r, n),
            Kind::BadlyScaled => {
                let d: Vec<f64> = (0..n).map(|_| 2.0_f64.powi(r.below(41) as i32 - 20)).collect();
                let a = r.matrix(n, n);
                DMatrix::from_fn(n, n, |i, j| d[i] * a[(i, j)] / d[j])
            }
            Kind::Clustered => {
                let eigenvalues: Vec<f64> =
                    (0..n).map(|i| (i / 2) as f64 + 1.0 + 1e-10 * (i % 2) as f64).collect();
                symmetric_with(&mut r, &eigenvalues)
            }
            Kind::Repeated => {
                let eigenvalues: Vec<f64> = (0..n).map(|i| (i / 2) as f64 + 1.0).collect();
                symmetric_with(&mut r, &eigenvalues)
            }
            Kind::Jordan => jordan(&mut r, n),
            Kind::Triangular => DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Less => r.signed(),
                std::cmp::Ordering::Equal => (1.0 + r.unit()) * r.signed().signum(),
                std::cmp::Ordering::Greater => 0.0,
            }),
            Kind::Diagonal => {
                DMatrix::from_fn(n, n, |i, j| if i == j { (i + 1) as f64 + 0.5 * r.unit() } else { 0.0 })
            }
            Kind::Generator => {
                let mut q = DMatrix::from_fn(n, n, |i, j| if i == j { 0.0 } else { r.unit() });
                for i in 0..n {
                    q[(i, i)] = -q.row(i).sum();
                }
                q
            }
        }
    }
}

/// Q diag(w) Q^T with a random Q, exactly symmetric.
fn symmetric_with(r: &mut Random, w: &[f64]) -> DMatrix<f64> {
    let n = w.len();
    let q = r.orthogonal(n);
    DMatrix::from_fn(n, n, |i, j| {
        let (i, j) = (i.max(j), i.min(j));
        (0..n).map(|k| q[(i, k)] * w[k] * q[(j, k)]).sum()
    })
}

/// A dense middle block with triangular ends, hidden by a permutation: n / 3 eigenvalues can be isolated
/// at each end. The middle is scaled badly, so that balancing has to scale too.
fn unbalanced(r: &mut Random, n: usize) -> DMatrix<f64> {
    let (low, high) = (n / 3, n - n / 3);
    let mut a = DMatrix::zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            let middle = (low..high).contains(&i) && (low..high).contains(&j);
            if i <= j || middle {
                let scale = if middle { 2.0_f64.powi(6 * (i as i32 - j as i32)) } else { 1.0 };
                a[(i, j)] = (0.25 + 0.75 * r.unit()) * scale * r.signed().signum();
            }
        }
    }
    let p = r.permutation(n);
    DMatrix::from_fn(n, n, |i, j| a[(p[i], p[j])])
}

/// T J T^-1 with J one Jordan block for the eigenvalue 2 and T a unit triangular matrix of small integers:
/// every entry is exact.
fn jordan(r: &mut Random, n: usize) -> DMatrix<f64> {
    let mut a = DMatrix::from_fn(n, n, |i, j| {
        if i == j {
            2.0
        } else if i + 1 == j {
            1.0
        } else {
            0.0
        }
    });
    // Elementary similarities: row i += t row j, then column j -= t column i.
    for _ in 0..n {
        let (i, j) = (r.below(n.max(1)), r.below(n.max(1)));
        let t = if r.signed() < 0.0 { -1.0 } else { 1.0 };
        if i != j {
            for k in 0..n {
                a[(i, k)] += t * a[(j, k)];
            }
            for k in 0..n {
                a[(k, j)] -= t * a[(k, i)];
            }
        }
    }
    a
}

/// `a` inside a larger matrix of NaN: rows `at.0 ..`, columns `at.1 ..`, so that a view of it has a leading
/// dimension greater than its height and everything around it is poison.
pub fn inside_nan(a: &DMatrix<f64>, at: (usize, usize), size: (usize, usize)) -> DMatrix<f64> {
    let mut big = DMatrix::from_element(size.0, size.1, f64::NAN);
    big.view_mut(at, a.shape()).copy_from(a);
    big
}

/// The triangle that a routine must not read, filled with NaN.
pub fn poison_triangle(a: &mut DMatrix<f64>, lower_is_read: bool) {
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            if (lower_is_read && i < j) || (!lower_is_read && i > j) {
                a[(i, j)] = f64::NAN;
            }
        }
    }
}
