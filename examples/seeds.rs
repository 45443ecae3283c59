//! The two problems that dualpack was made for, end to end on real LAPACK:
//!
//! - **spdsolve**: `g(A, X) = sum(cholesky(A Aᵀ + I) \ X)`, value and full gradient with respect to `A` and `X`;
//! - **expm**: `h(M) = sum(exp(M))`, value and full gradient with respect to `M`.
//!
//! Each gradient is computed on two roads, and both are checked and timed against central differences; a deviation of more
//! than 1e-5 of the largest entry of the gradient ends the program with exit code 1. (Differences have steps of 6e-6, or
//! that much of the entry: a matrix whose function bends within a step deviates, too.)
//!
//! 1. *chunked dual numbers*: the same code that computes the value runs on `Dual<f64, 8>`,
//!    once for each chunk of inputs;
//! 2. *pushforward*: the matrix is factored once in `f64`, then all directions go through the rule of the front.
//!
//! ```text
//! cargo run --release --example seeds                     the generator of rating migrations in examples/data
//! cargo run --release --example seeds -- --matrix FILE    a square matrix of yours, Matrix Market format
//! ```

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use dualpack::nalgebra::{DMatrix, DVector};
use dualpack::{Cholesky, Diag, Error, Exponential, Lapack, Side, Trans, Trsm, Uplo, expm, try_gradient};

#[path = "support/matrix_market.rs"]
mod matrix_market;

/// Directions that the pushforward road carries at a time; bounds its memory.
const BATCH: usize = 64;
/// The gradient of a matrix of order n has n² entries, so the work grows with n⁵.
const MAX_ORDER: usize = 100;
/// Inputs from which on the program says that it takes its time.
const PATIENCE: usize = 2000;
/// Rows and columns of a gradient that are printed.
const CORNER: usize = 8;
/// The largest deviation from central differences, in units of the largest entry of the gradient.
const TOLERANCE: f64 = 1e-5;
/// Columns of `X`.
const RIGHT_HAND_SIDES: usize = 3;

fn main() -> ExitCode {
    match arguments().and_then(|path| run(&path)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("seeds: a gradient deviates from central differences by more than {TOLERANCE:.0e}");
            ExitCode::FAILURE
        }
        Err(reason) => {
            eprintln!("seeds: {reason}");
            ExitCode::from(2)
        }
    }
}

/// The file to read.
fn arguments() -> Result<PathBuf, String> {
    use lexopt::prelude::*;
    let mut path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/sp_generator.mtx");
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next().map_err(|error| error.to_string())? {
        match argument {
            Long("matrix") => path = arguments.value().map_err(|error| error.to_string())?.into(),
            Short('h') | Long("help") => {
                println!(
                    "usage: seeds [--matrix FILE]\n\nFILE holds a square matrix in Matrix Market format."
                );
                std::process::exit(0);
            }
            _ => return Err(format!("{}; the only option is --matrix FILE", argument.unexpected())),
        }
    }
    Ok(path)
}

/// Whether all gradients agree.
fn run(path: &Path) -> Result<bool, String> {
    let with_name = |reason: String| format!("{}: {reason}", path.display());
    let matrix = matrix_market::read(path, MAX_ORDER).map_err(with_name)?;
    println!("{}: {} x {}\n", path.display(), matrix.nrows(), matrix.ncols());
    let solved = report(&SpdSolve::new(matrix.clone())).map_err(with_name)?;
    Ok(report(&ExpmSum { m: matrix }).map_err(with_name)? && solved)
}

/// A function of matrices, written once for every scalar.
trait Problem {
    const NAME: &'static str;
    const FORMULA: &'static str;

    /// The inputs by name.
    fn inputs(&self) -> Vec<(&'static str, &DMatrix<f64>)>;

    /// The function. `inputs` has the entries of all inputs, one matrix after the other, column by column.
    fn value<S: Lapack>(&self, inputs: &[S]) -> Result<S, Error>;

    /// The gradient by one factorization in `f64` and the pushforward of its front.
    fn pushforward(&self) -> Result<DVector<f64>, Error>;
}

/// `g(A, X) = sum(cholesky(A Aᵀ + I) \ X)`.
struct SpdSolve {
    a: DMatrix<f64>,
    x: DMatrix<f64>,
}

impl SpdSolve {
    fn new(a: DMatrix<f64>) -> Self {
        let x = DMatrix::from_fn(a.nrows(), RIGHT_HAND_SIDES, |i, j| 1.0 / (1 + i + j) as f64);
        SpdSolve { a, x }
    }
}

/// `A Aᵀ + I`.
fn spd<S: Lapack>(a: &DMatrix<S>) -> Result<DMatrix<S>, Error> {
    let mut s = DMatrix::identity(a.nrows(), a.nrows());
    S::gemm(Trans::NoTrans, Trans::Trans, S::one(), a.as_view(), a.as_view(), S::one(), s.as_view_mut())?;
    Ok(s)
}

impl Problem for SpdSolve {
    const NAME: &'static str = "spdsolve";
    const FORMULA: &'static str = "g(A, X) = sum(cholesky(A A' + I) \\ X)";

    fn inputs(&self) -> Vec<(&'static str, &DMatrix<f64>)> {
        vec![("A", &self.a), ("X", &self.x)]
    }

    fn value<S: Lapack>(&self, inputs: &[S]) -> Result<S, Error> {
        let n = self.a.nrows();
        let (a, x) = inputs.split_at(n * n);
        let a = DMatrix::from_column_slice(n, n, a);
        let x = DMatrix::from_column_slice(n, RIGHT_HAND_SIDES, x);
        Ok(Cholesky::new(spd(&a)?)?.solve(&x)?.sum())
    }

    /// With `S = A Aᵀ + I = L Lᵀ`, the solution `Y` of `S Y = X` takes two substitutions, `L Z = X` and `Lᵀ Y = Z`.
    /// Its tangent takes the same two: `L dZ = -dL Z`, `Lᵀ dY = dZ - dLᵀ Y`.
    fn pushforward(&self) -> Result<DVector<f64>, Error> {
        let (n, m) = self.x.shape();
        let chol = Cholesky::new(spd(&self.a)?)?;
        let (l, y) = (chol.l(), chol.solve(&self.x)?);
        let z = l.tr_mul(&y);
        let mut gradient = Vec::with_capacity(n * n + n * m);
        for first in (0..n * n).step_by(BATCH) {
            let count = BATCH.min(n * n - first);
            // dS = dA Aᵀ + A dAᵀ, where dA is one at (i, j) alone.
            let mut ds = DMatrix::zeros(n, n * count);
            for k in 0..count {
                let (i, j) = ((first + k) % n, (first + k) / n);
                let mut direction = ds.columns_mut(k * n, n);
                for (row, &entry) in self.a.column(j).iter().enumerate() {
                    direction[(i, row)] += entry;
                    direction[(row, i)] += entry;
                }
            }
            let dl = chol.pushforward(&ds)?;
            let mut dy = DMatrix::zeros(n, m * count);
            for k in 0..count {
                dy.columns_mut(k * m, m).gemm(-1.0, &dl.columns(k * n, n), &z, 0.0);
            }
            f64::trsm(
                Side::Left,
                Uplo::Lower,
                Trans::NoTrans,
                Diag::NonUnit,
                1.0,
                l.as_view(),
                dy.as_view_mut(),
            )?;
            for k in 0..count {
                dy.columns_mut(k * m, m).gemm_tr(-1.0, &dl.columns(k * n, n), &y, 1.0);
            }
            f64::trsm(
                Side::Left,
                Uplo::Lower,
                Trans::Trans,
                Diag::NonUnit,
                1.0,
                l.as_view(),
                dy.as_view_mut(),
            )?;
            gradient.extend((0..count).map(|k| dy.columns(k * m, m).sum()));
        }
        // g is linear in X: where X has its one, in row i, dY is column i of S⁻¹.
        let sums = chol.inverse().row_sum();
        for _ in 0..m {
            gradient.extend(sums.iter());
        }
        Ok(DVector::from_vec(gradient))
    }
}

/// `h(M) = sum(exp(M))`.
struct ExpmSum {
    m: DMatrix<f64>,
}

impl Problem for ExpmSum {
    const NAME: &'static str = "expm";
    const FORMULA: &'static str = "h(M) = sum(exp(M))";

    fn inputs(&self) -> Vec<(&'static str, &DMatrix<f64>)> {
        vec![("M", &self.m)]
    }

    fn value<S: Lapack>(&self, inputs: &[S]) -> Result<S, Error> {
        let n = self.m.nrows();
        Ok(expm(&DMatrix::from_column_slice(n, n, inputs))?.sum())
    }

    fn pushforward(&self) -> Result<DVector<f64>, Error> {
        let n = self.m.nrows();
        let exponential = Exponential::new(&self.m)?;
        let mut gradient = Vec::with_capacity(n * n);
        for first in (0..n * n).step_by(BATCH) {
            let count = BATCH.min(n * n - first);
            let mut dm = DMatrix::zeros(n, n * count);
            for k in 0..count {
                // Entry `first + k` in the order of columns.
                dm[((first + k) % n, k * n + (first + k) / n)] = 1.0;
            }
            let dexp = exponential.pushforward(&dm)?;
            gradient.extend((0..count).map(|k| dexp.columns(k * n, n).sum()));
        }
        Ok(DVector::from_vec(gradient))
    }
}

/// The gradient by dual numbers: the code of the value, run for one chunk of inputs after the other.
fn chunked<P: Problem>(problem: &P, x: &DVector<f64>) -> Result<DVector<f64>, Error> {
    let (_, gradient) = try_gradient(|inputs| problem.value(inputs.as_slice()), x)?;
    Ok(gradient)
}

/// The gradient by central differences: two values per input.
fn central_differences<P: Problem>(problem: &P, x: &DVector<f64>) -> Result<DVector<f64>, Error> {
    let mut moved = x.clone();
    let mut gradient = DVector::zeros(x.len());
    for (i, &entry) in x.iter().enumerate() {
        // Where the error of the formula, h², and that of the rounding, eps / h, balance.
        let h = f64::EPSILON.cbrt() * entry.abs().max(1.0);
        let (above, below) = (entry + h, entry - h);
        moved[i] = above;
        let up = problem.value(moved.as_slice())?;
        moved[i] = below;
        let down = problem.value(moved.as_slice())?;
        moved[i] = entry;
        gradient[i] = (up - down) / (above - below);
    }
    Ok(gradient)
}

/// The result and the shortest time of as many runs as fit a fifth of a second.
fn timed<R>(mut run: impl FnMut() -> Result<R, Error>) -> Result<(R, Duration), Error> {
    let begin = Instant::now();
    let mut shortest = Duration::MAX;
    loop {
        let start = Instant::now();
        let result = black_box(run()?);
        shortest = shortest.min(start.elapsed());
        if begin.elapsed() > Duration::from_millis(200) {
            return Ok((result, shortest));
        }
    }
}

/// Prints the problem and its gradients; whether they agree.
fn report<P: Problem>(problem: &P) -> Result<bool, String> {
    let in_problem = |error: Error| format!("{}: {error}", P::NAME);
    let inputs = problem.inputs();
    let entries: Vec<f64> = inputs.iter().flat_map(|(_, matrix)| matrix.iter().copied()).collect();
    let x = DVector::from_vec(entries);
    let shapes: Vec<String> = inputs
        .iter()
        .map(|(name, matrix)| format!("{name} {} x {}", matrix.nrows(), matrix.ncols()))
        .collect();
    println!("{}: {}, {}: {} inputs", P::NAME, P::FORMULA, shapes.join(", "), x.len());

    let value = problem.value(x.as_slice()).map_err(in_problem)?;
    if !value.is_finite() {
        return Err(format!("{}: the value overflows", P::NAME));
    }
    println!("  value {value}");
    if x.len() > PATIENCE {
        println!("  (central differences take {} values, all three roads a while)", 2 * x.len());
    }
    let (differences, slow) = timed(|| central_differences(problem, &x)).map_err(in_problem)?;
    let (gradient, chunks) = timed(|| chunked(problem, &x)).map_err(in_problem)?;
    let (pushed, push) = timed(|| problem.pushforward()).map_err(in_problem)?;

    let mut rest = gradient.as_slice();
    for (name, matrix) in &inputs {
        let (block, others) = rest.split_at(matrix.len());
        print_matrix(&format!("gradient with respect to {name}"), matrix.nrows(), block);
        rest = others;
    }

    let scale = gradient.amax();
    let row = |road: &str, time: Duration, gradient: &DVector<f64>| {
        let speed = slow.as_secs_f64() / time.as_secs_f64();
        // Not `amax`, which passes over NaN.
        let near = |(g, d): (&f64, &f64)| (g - d).abs() <= TOLERANCE * scale;
        let deviation = (gradient - &differences).amax() / scale;
        println!("  {road:<28} {:>10} {speed:>9.1} x {deviation:>14.1e}", in_words(time));
        scale.is_finite() && gradient.iter().zip(&differences).all(near)
    };
    println!("\n  {:<28} {:>10} {:>11} {:>14}", "gradient by", "time", "speed", "deviation");
    println!("  {:<28} {:>10} {:>9.1} x", "central differences", in_words(slow), 1.0);
    let dual = row("dual numbers, chunks of 8", chunks, &gradient);
    let front = row("pushforward of the front", push, &pushed);
    println!(
        "  (largest deviation from central differences, in units of the largest entry of the gradient)\n"
    );
    Ok(dual && front)
}

/// The entries of a matrix with `rows` rows, column by column; of a large one the upper left corner.
fn print_matrix(title: &str, rows: usize, entries: &[f64]) {
    let columns = entries.len() / rows;
    let (shown_rows, shown_columns) = (rows.min(CORNER), columns.min(CORNER));
    let part = if (shown_rows, shown_columns) == (rows, columns) {
        String::new()
    } else {
        format!(" (the first {shown_rows} rows and {shown_columns} columns of {rows} x {columns})")
    };
    println!("\n  {title}{part}");
    for i in 0..shown_rows {
        let row: Vec<String> =
            (0..shown_columns).map(|j| format!("{:>13.6e}", entries[j * rows + i])).collect();
        println!("  {}", row.join(""));
    }
}

/// Three digits and a unit.
fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (number, unit) = match seconds {
        s if s >= 1.0 => (s, "s "),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    let decimals = if number < 10.0 {
        2
    } else if number < 100.0 {
        1
    } else {
        0
    };
    format!("{number:.decimals$} {unit}")
}
