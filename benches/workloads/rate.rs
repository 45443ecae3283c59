//! The rate of the lane work of factorizations beside that of a product of plain floats: `--only rate`.

use std::hint::black_box;

use dualpack::{Cholesky, Dual, Gemm, Trans};
use nalgebra::DMatrix;

use crate::inputs;
use crate::report::Report;

/// Prints, for each size, the rate of dgemm in Gflop/s and the share of it that N lanes of a Cholesky factor reach: they
/// are 2 n³ / 3 operations each, in the time that is neither that of the factor of plain floats nor that of a copy of the
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
        let plain =
            report.time(|| Cholesky::new(black_box(&a).clone()).expect("positive definite").unpack_dirty());
        println!("{:<12} {:<12} {n:>5} {:>5} {product:>14.1} {gemm:>6.1} Gflop/s", "rate", "gemm", "-");
        println!("{:<12} {:<12} {n:>5} {:>5} {plain:>14.1}", "rate", "chol", 0);
        lanes::<1>(report, &a, plain, gemm);
        lanes::<4>(report, &a, plain, gemm);
        lanes::<8>(report, &a, plain, gemm);
        lanes::<16>(report, &a, plain, gemm);
    }
}

fn lanes<const N: usize>(report: &Report, a: &DMatrix<f64>, plain: f64, gemm: f64) {
    let n = a.nrows();
    let dual = a.map(|x| Dual::<f64, N>::new(x, [x; N]));
    let ns =
        report.time(|| Cholesky::new(black_box(&dual).clone()).expect("positive definite").unpack_dirty());
    let copy = report.time(|| black_box(&dual).clone());
    let rate = 2.0 / 3.0 * (n * n * n * N) as f64 / (ns - plain - copy);
    let share = 100.0 * rate / gemm;
    println!("{:<12} {:<12} {n:>5} {N:>5} {ns:>14.1} {rate:>6.1} Gflop/s {share:>4.0} %", "rate", "chol");
}
