//! Comparisons: bits, lanes, norms.

use nalgebra::{DMatrix, Dim, Matrix, RawStorage, Storage};
use std::hint::black_box;

/// The bits of `x`, behind a black box: the compiler may fold a transcendental function of a constant
/// differently from the run-time library, which would make equal computations look different.
pub fn bits(x: f64) -> u64 {
    black_box(x).to_bits()
}

/// Equal to the bit, where any NaN equals any NaN: the sign and payload of a NaN are not specified.
pub fn same_bits(a: f64, b: f64) -> bool {
    (black_box(a).is_nan() && black_box(b).is_nan()) || bits(a) == bits(b)
}

/// Panics with the first differing entry unless `a` and `b` are equal to the bit.
#[track_caller]
pub fn assert_same_bits<R: Dim, C: Dim, S1, S2>(
    a: &Matrix<f64, R, C, S1>,
    b: &Matrix<f64, R, C, S2>,
    what: &str,
) where
    S1: RawStorage<f64, R, C>,
    S2: RawStorage<f64, R, C>,
{
    assert_eq!(a.shape(), b.shape(), "{what}: shapes");
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            let (x, y) = (a[(i, j)], b[(i, j)]);
            assert!(same_bits(x, y), "{what}: entry ({i}, {j}): {x:?} and {y:?} differ by {:e}", x - y);
        }
    }
}

/// Number of doubles between `a` and `b`; `u64::MAX` when one of them is NaN.
pub fn ulps(a: f64, b: f64) -> u64 {
    let order = |x: f64| {
        let bits = black_box(x).to_bits() as i64;
        if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
    };
    if a.is_nan() || b.is_nan() { u64::MAX } else { order(a).abs_diff(order(b)) }
}

/// Frobenius norm without overflow or underflow of the squares.
pub fn norm<'a>(entries: impl IntoIterator<Item = &'a f64> + Clone) -> f64 {
    let mut largest = 0.0_f64;
    for &x in entries.clone() {
        if x.is_nan() {
            return f64::NAN;
        }
        largest = largest.max(x.abs());
    }
    if largest == 0.0 || largest.is_infinite() {
        return largest;
    }
    // A power of two close to the largest entry, so that scaling is exact (but for underflow).
    let scale = 2.0_f64.powi(largest.log2().floor().clamp(-1000.0, 1000.0) as i32);
    entries.into_iter().map(|x| (x / scale).powi(2)).sum::<f64>().sqrt() * scale
}

/// ||a - b||_F / ||b||_F; the absolute error where b = 0. A NaN on either side alone gives infinity.
pub fn relative_error<R: Dim, C: Dim, S1, S2>(a: &Matrix<f64, R, C, S1>, b: &Matrix<f64, R, C, S2>) -> f64
where
    S1: Storage<f64, R, C>,
    S2: Storage<f64, R, C>,
{
    assert_eq!(a.shape(), b.shape(), "shapes");
    let (a, b): (Vec<f64>, Vec<f64>) = (a.iter().copied().collect(), b.iter().copied().collect());
    let difference: Vec<f64> = a.iter().zip(&b).map(|(x, y)| if x == y { 0.0 } else { x - y }).collect();
    let (error, size) = (norm(&difference), norm(&b));
    let relative = if size == 0.0 { error } else { error / size };
    if relative.is_nan() { f64::INFINITY } else { relative }
}

/// Panics unless ||a - b||_F <= tolerance ||b||_F.
#[track_caller]
pub fn assert_close<R: Dim, C: Dim, S1, S2>(
    a: &Matrix<f64, R, C, S1>,
    b: &Matrix<f64, R, C, S2>,
    tolerance: f64,
    what: &str,
) where
    S1: Storage<f64, R, C>,
    S2: Storage<f64, R, C>,
{
    let error = relative_error(a, b);
    let show = |m: Vec<f64>| format!("{m:?}");
    assert!(
        error <= tolerance,
        "{what}: relative error {error:e} exceeds {tolerance:e}\n  got      {}\n  expected {}",
        show(a.iter().copied().collect()),
        show(b.iter().copied().collect())
    );
}

/// One component of every entry of a matrix of duals: `part(&a, |x| x.eps[k])` is the k-th lane.
pub fn part<T, R: Dim, C: Dim, S: Storage<T, R, C>>(
    a: &Matrix<T, R, C, S>,
    read: impl Fn(&T) -> f64,
) -> DMatrix<f64>
where
    T: nalgebra::Scalar,
{
    DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| read(&a[(i, j)]))
}
