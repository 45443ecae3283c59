//! The rate of the lane work of factorizations and exponentials beside that of a product of plain floats: `--only rate`.

use std::hint::black_box;

use dualpack::{Cholesky, Dual, Gemm, Lapack, Trans, Workspace, expm};
use nalgebra::DMatrix;

use crate::inputs;
use crate::report::Report;

/// The squarings of the exponential.
const SQUARINGS: f64 = 2.0;

/// Prints, for each size, the rate of dgemm in Gflop/s and the share of it that N lanes of the factors of Cholesky and of
/// LU and of an exponential reach: they are 2 n³ / 3, 4 n³ / 3, and for the approximant of degree 13 with s squarings
/// 2 (13 + 2 s) n³ + 2 n³ operations each, in the time that is neither that of plain floats nor that of a copy of the
/// matrix.
pub fn run(report: &Report) {
    if report.options.only.as_ref().is_none_or(|only| !only.iter().any(|name| name == "rate")) {
        return;
    }
    for n in [24, 48, 96, 192] {
        let a = DMatrix::from_row_slice(n, n, &inputs::chol(n).x);
        let cube = (n * n * n) as f64;
        let mut c = a.clone();
        let product = report.time(|| {
            let (a, none) = (black_box(a.as_view()), Trans::NoTrans);
            f64::gemm(none, none, 1.0, a, a, 0.0, c.as_view_mut()).expect("square");
        });
        let gemm = 2.0 * cube / product;
        println!("{:<12} {:<12} {n:>5} {:>5} {product:>14.1} {gemm:>6.1} Gflop/s", "rate", "gemm", "-");
        let general = DMatrix::from_row_slice(n, n, &inputs::lusolve(n).x[..n * n]);
        // Without signs the spectral radius is about the norm, and both ask for two squarings.
        let nonnegative = DMatrix::from_row_slice(n, n, &inputs::expm(n, 1.0).x).abs();
        let exponent = &nonnegative * (11.0 / nonnegative.row_sum().max());
        let pade = 2.0 * (13.0 + 2.0 * SQUARINGS) + 2.0;
        let cases = [("chol", &a, 2.0 / 3.0), ("lu", &general, 4.0 / 3.0), ("expm", &exponent, pade)];
        for (name, a, factor) in cases {
            let plain = computed(report, name, a);
            println!("{:<12} {name:<12} {n:>5} {:>5} {plain:>14.1}", "rate", 0);
            lanes::<1>(report, name, a, factor * cube, plain, gemm);
            lanes::<4>(report, name, a, factor * cube, plain, gemm);
            lanes::<8>(report, name, a, factor * cube, plain, gemm);
            lanes::<16>(report, name, a, factor * cube, plain, gemm);
        }
    }
}

/// The time that a copy and its factors, or the exponential, take, in a workspace: not the time of fetching memory.
fn computed<T: Lapack>(report: &Report, name: &str, a: &DMatrix<T>) -> f64 {
    let mut ipiv = vec![0; a.nrows()];
    let factor = || {
        let mut a = black_box(a).clone();
        match name {
            "chol" => a = Cholesky::new(a).expect("positive definite").unpack_dirty(),
            "expm" => a = expm(&a).expect("finite"),
            _ => T::getrf(a.as_view_mut(), &mut ipiv).expect("regular"),
        }
        a
    };
    Workspace::new().run(|| report.time(factor))
}

fn lanes<const N: usize>(
    report: &Report,
    name: &str,
    a: &DMatrix<f64>,
    operations: f64,
    plain: f64,
    gemm: f64,
) {
    let n = a.nrows();
    let dual = a.map(|x| Dual::<f64, N>::new(x, [x; N]));
    let ns = computed(report, name, &dual);
    let copy = report.time(|| black_box(&dual).clone());
    let rate = operations * N as f64 / (ns - plain - copy);
    let share = 100.0 * rate / gemm;
    println!("{:<12} {name:<12} {n:>5} {N:>5} {ns:>14.1} {rate:>6.1} Gflop/s {share:>4.0} %", "rate");
}
