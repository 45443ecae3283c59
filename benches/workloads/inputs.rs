//! The inputs: integer formulas, so that a benchmark in any language gets the same bits.

/// How many tangent directions every problem defines.
pub const DIRECTIONS: usize = 16;

/// Observations of the bundle adjustment.
pub const OBSERVATIONS: usize = 1000;

/// Number `i` of sequence `s`, in `[-1, 1)`.
pub fn noise(s: u64, i: u64) -> f64 {
    let v = ((i + 1) * (i + s) * 7919 + i * 104_729 + s * 15_485_863) % 1_000_003;
    v as f64 / 1_000_003.0 * 2.0 - 1.0
}

/// A point and its tangent directions, flat. Matrices are row by row.
pub struct Problem {
    pub x: Vec<f64>,
    pub dx: Vec<Vec<f64>>,
}

fn general(s: u64, n: usize) -> Vec<f64> {
    (0..n * n).map(|i| noise(s, i as u64)).collect()
}

fn symmetric(s: u64, n: usize) -> Vec<f64> {
    let a = general(s, n);
    (0..n * n).map(|e| (a[e] + a[e % n * n + e / n]) / 2.0).collect()
}

fn directions(lane: impl Fn(u64) -> Vec<f64>) -> Vec<Vec<f64>> {
    (0..DIRECTIONS as u64).map(lane).collect()
}

/// Symmetric positive definite.
pub fn chol(n: usize) -> Problem {
    let mut x = symmetric(1, n);
    (0..n).for_each(|i| x[i * n + i] = 1.0 + (n as f64).sqrt());
    Problem { x, dx: directions(|k| symmetric(10 + k, n)) }
}

/// `A`, and beside it the constant right-hand sides `X`.
pub fn cholsolve(n: usize) -> (Problem, Vec<f64>) {
    (Problem { x: general(2, n), dx: directions(|k| general(10 + k, n)) }, general(3, n))
}

/// 1-norm about `norm`.
pub fn expm(n: usize, norm: f64) -> Problem {
    let scaled = |a: Vec<f64>, c: f64| a.into_iter().map(|x| x * c).collect();
    let c = norm * 2.0 / n as f64;
    Problem { x: scaled(general(4, n), c), dx: directions(|k| scaled(general(10 + k, n), 2.0 / n as f64)) }
}

/// The matrix, needing pivots, followed by the right-hand side.
pub fn lusolve(n: usize) -> Problem {
    let column = |s: u64| (0..n).map(move |i| noise(s, i as u64));
    let mut x = general(5, n);
    (0..n).for_each(|i| x[i * n + (i + 1) % n] += 1.0 + (n as f64).sqrt());
    x.extend(column(6));
    let lane = |k| general(10 + k, n).into_iter().chain(column(40 + k)).collect();
    Problem { x, dx: directions(lane) }
}

/// One observation: rotation (3), centre (3), focal length, principal point (2), distortion (2), point (3), weight;
/// and the feature (2).
pub fn observation(o: usize) -> ([f64; 15], [f64; 2]) {
    let u = |i| noise(100 + o as u64, i);
    let x = [
        0.3 * u(0),
        0.3 * u(1),
        0.3 * u(2),
        0.5 * u(3),
        0.5 * u(4),
        0.5 * u(5),
        500.0 + 50.0 * u(6),
        10.0 * u(7),
        10.0 * u(8),
        0.01 * u(9),
        0.01 * u(10),
        u(11),
        u(12),
        5.0 + u(13),
        1.0 + 0.5 * u(14),
    ];
    (x, [100.0 * u(15), 100.0 * u(16)])
}

/// The point of the gradients and Hessians.
pub fn point(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 + 0.5 * noise(50, i as u64)).collect()
}

/// The parameters of the log-determinant.
pub fn parameters() -> Vec<f64> {
    (0..4).map(|i| 0.1 * noise(51, i)).collect()
}
