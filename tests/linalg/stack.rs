//! Large factorizations on a thread with little stack, by a LAPACK with threads of its own.

use std::env;
use std::process::Command;
use std::thread;

use dualpack::{Cholesky, Dual, LU};
use nalgebra::DMatrix;

const INSIDE: &str = "DUALPACK_TEST_INSIDE";

/// `A x` of the matrix with 4 on and -1 beside the diagonal, and in each corner.
fn times(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    (0..n).map(|i| 4.0 * x[i] - x[(i + 1) % n] - x[(i + n - 1) % n]).collect()
}

fn factorize(n: usize) {
    let a = DMatrix::from_fn(n, n, |i, j| match (i + n - j) % n {
        0 => 4.0,
        1 => -1.0,
        k if k == n - 1 => -1.0,
        _ => 0.0,
    });
    // The tangent of every entry is the entry, so that of A⁻¹ b is -A⁻¹ b.
    let a = a.map(|x| Dual::<f64, 1> { value: x, eps: [x] });
    let ones = DMatrix::from_element(n, 1, Dual::constant(1.0));
    let lu = LU::new(a.clone()).expect("a regular matrix");
    let cholesky = Cholesky::new(a.clone()).expect("a positive definite matrix");
    let solutions = [
        ("LU", lu.solve(&ones)),
        ("Cholesky", cholesky.solve(&ones)),
        ("inverse by LU", lu.inverse().map(|inverse| inverse * &ones)),
        ("inverse by Cholesky", Ok(cholesky.inverse() * &ones)),
    ];
    for (name, x) in solutions {
        let x = x.expect("a solution");
        let values: Vec<f64> = x.iter().map(|x| x.value).collect();
        let tangents: Vec<f64> = x.iter().map(|x| -x.eps[0]).collect();
        for (what, y) in [("value", times(&values)), ("tangent", times(&tangents))] {
            let worst = y
                .iter()
                .map(|y| (y - 1.0).abs())
                .fold(0.0, |worst, e| if e > worst || e.is_nan() { e } else { worst });
            assert!(worst < 1e-12, "{name}, order {n}: residual of the {what} {worst:e}");
        }
    }
}

#[test]
fn threads_of_the_provider_find_room() {
    const NAME: &str = "stack::threads_of_the_provider_find_room";
    if env::var_os(INSIDE).is_some() {
        for n in [130, 400] {
            let thread = thread::Builder::new().stack_size(512 << 10).spawn(move || factorize(n));
            thread.expect("a thread").join().expect("the right solutions");
        }
        println!("all orders done");
        return;
    }
    // OpenBLAS reads its variable when it is loaded: only a new process can change it.
    let output = Command::new(env::current_exe().expect("a path"))
        .args(["--exact", NAME, "--nocapture"])
        .envs([(INSIDE, "1"), ("OPENBLAS_NUM_THREADS", "4")])
        .output()
        .expect("the program of this test");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("all orders done"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
