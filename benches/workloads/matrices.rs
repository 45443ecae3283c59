//! Cholesky factors, triangular solves behind them, exponentials and linear systems.

use std::hint::black_box;

use dualpack::{Cholesky, Diag, Dual, Lapack, Side, Trans, Uplo, expm, solve};
use nalgebra::allocator::Allocator;
use nalgebra::{
    Const, DMatrix, DMatrixView, DMatrixViewMut, DVector, DefaultAllocator, Dim, Dyn, OMatrix, OVector,
};
use num_dual::{Derivative, DualSVec64};

use crate::inputs::{self, Problem};
use crate::report::{Cell, Outcome, Report, differences, plain_differences};

const TOLERANCE: f64 = 1e-9;
/// With the step of plain differences, which know nothing about the scale of a problem.
const PLAIN_TOLERANCE: f64 = 1e-4;

/// Runs W3 to W6.
pub fn run(report: &mut Report) {
    for n in [3, 6, 12, 24, 48, 96, 192] {
        sized(report, "W3", "chol", n);
    }
    for n in [2, 6, 12, 24, 48] {
        sized(report, "W4", "cholsolve", n);
    }
    for name in ["expm1", "expm30"] {
        for n in [2, 3, 4, 6, 12, 24, 48, 96] {
            sized(report, "W5", name, n);
        }
    }
    for n in [3, 6, 12, 24, 48, 96, 192] {
        sized(report, "W6", "lusolve", n);
    }
}

fn sized(report: &mut Report, number: &str, name: &str, n: usize) {
    let lanes = [1, 4, 8, 16].map(|lanes| report.wants(number, name, n, lanes));
    if !lanes.contains(&true) {
        return;
    }
    let task = Task::new(name, n);
    // Sizes that others run with static matrices too.
    match n {
        2 => counted(report, &task, lanes, Const::<2>),
        3 => counted(report, &task, lanes, Const::<3>),
        6 => counted(report, &task, lanes, Const::<6>),
        _ => counted(report, &task, lanes, Dyn(n)),
    }
}

fn counted<D: Dim>(report: &mut Report, task: &Task, lanes: [bool; 4], dim: D)
where
    DefaultAllocator: Allocator<D, D> + Allocator<D>,
{
    if lanes[0] {
        cell::<1, D>(report, task, dim);
    }
    if lanes[1] {
        cell::<4, D>(report, task, dim);
    }
    if lanes[2] {
        cell::<8, D>(report, task, dim);
    }
    if lanes[3] {
        cell::<16, D>(report, task, dim);
    }
}

/// A workload at one size, with exact values and tangents.
struct Task<'a> {
    name: &'a str,
    n: usize,
    problem: Problem,
    /// The right-hand sides of `cholsolve`.
    constant: DMatrix<f64>,
    values: Vec<f64>,
    tangents: Vec<Vec<f64>>,
}

impl Task<'_> {
    fn new(name: &str, n: usize) -> Task<'_> {
        let mut constant = DMatrix::zeros(0, 0);
        let problem = match name {
            "chol" => inputs::chol(n),
            "cholsolve" => {
                let (problem, x) = inputs::cholsolve(n);
                constant = DMatrix::from_row_slice(n, n, &x);
                problem
            }
            "expm1" => inputs::expm(n, 1.0),
            "expm30" => inputs::expm(n, 30.0),
            _ => inputs::lusolve(n),
        };
        let mut task = Task { name, n, problem, constant, values: Vec::new(), tangents: Vec::new() };
        let (values, tangents) = {
            let f = |x: &[f64]| task.primal(x);
            let (x, dx) = (&task.problem.x, &task.problem.dx);
            (f(x), dx.iter().map(|dx| differences(&f, x, dx)).collect())
        };
        (task.values, task.tangents) = (values, tangents);
        task
    }

    /// The function of plain floats, from the inputs, row by row, to the outputs, row by row.
    fn primal(&self, x: &[f64]) -> Vec<f64> {
        let n = self.n;
        let a = DMatrix::from_row_slice(n, n, &x[..n * n]);
        let by_rows = |m: DMatrix<f64>| m.transpose().as_slice().to_vec();
        match self.name {
            "chol" => by_rows(Cholesky::new(a).expect("positive definite").unpack()),
            "cholsolve" => vec![solved_sum(&a, &self.constant)],
            "lusolve" => {
                let b = DMatrix::from_column_slice(n, 1, &x[n * n..]);
                solve(&a, &b).expect("regular").as_slice().to_vec()
            }
            _ => by_rows(expm(&a).expect("finite")),
        }
    }
}

/// `Σ (L⁻¹ X)_ij` with `L Lᵀ = A Aᵀ + n I`.
fn solved_sum<T: Lapack, D: Dim>(a: &OMatrix<T, D, D>, x: &OMatrix<T, D, D>) -> T
where
    DefaultAllocator: Allocator<D, D>,
{
    let (dim, n) = (a.shape_generic().0, a.nrows());
    let mut k = OMatrix::from_diagonal_element_generic(dim, dim, nalgebra::convert(n as f64));
    let one = T::one();
    T::gemm(Trans::NoTrans, Trans::Trans, one, view(a), view(a), one, view_mut(&mut k)).expect("square");
    let l = Cholesky::new(k).expect("positive definite").unpack_dirty();
    let mut y = x.clone();
    T::trsm(Side::Left, Uplo::Lower, Trans::NoTrans, Diag::NonUnit, one, view(&l), view_mut(&mut y))
        .expect("square");
    // Column by column: sums that need not wait for each other.
    let sum = |column: &[T]| column.iter().fold(T::zero(), |sum, &y| sum + y);
    y.as_slice().chunks_exact(n).fold(T::zero(), |total, column| total + sum(column))
}

fn cell<const N: usize, D: Dim>(report: &mut Report, task: &Task, dim: D)
where
    DefaultAllocator: Allocator<D, D> + Allocator<D>,
{
    let n = task.n;
    let cell = Cell {
        workload: task.name,
        n,
        lanes: N,
        values: task.values.clone(),
        tangents: task.tangents[..N].to_vec(),
    };
    let entry = |e: usize| {
        let (x, dx) = (&task.problem.x, &task.problem.dx);
        Dual::new(x[e], std::array::from_fn::<f64, N, _>(|k| dx[k][e]))
    };
    let a = OMatrix::<Dual<f64, N>, D, D>::from_fn_generic(dim, dim, |i, j| entry(i * n + j));
    let note = if D::try_to_usize().is_some() { "static" } else { "dynamic" };
    if report.wants_peer("dualpack") {
        let (ns, result) = match task.name {
            "chol" => {
                let factor = || Cholesky::new(black_box(&a).clone()).expect("positive definite");
                // As the others: in the memory of the last factor, and nobody zeroes the upper triangle. Large ones
                // have their tangents when they are asked for.
                let mut chol = factor();
                let ns = if n <= 24 {
                    report.time(|| {
                        chol.refactor(black_box(&a)).expect("positive definite");
                        black_box(&chol);
                    })
                } else {
                    report.time(|| factor().unpack_dirty())
                };
                (ns, rows(&if n <= 24 { chol } else { factor() }.unpack()))
            }
            "cholsolve" => {
                let constant = |i, j| Dual::constant(task.constant[(i, j)]);
                let x = OMatrix::<Dual<f64, N>, D, D>::from_fn_generic(dim, dim, constant);
                let f = || solved_sum(black_box(&a), &x);
                (report.time(f), vec![f()])
            }
            "lusolve" => {
                let b = OVector::<_, D>::from_fn_generic(dim, Const::<1>, |i, _| entry(n * n + i));
                let f = || solve(black_box(&a), &b).expect("regular");
                (report.time(f), f().iter().copied().collect())
            }
            _ => {
                let f = || expm(black_box(&a)).expect("finite");
                (report.time(f), rows(&f()))
            }
        };
        report.add(&cell, "dualpack", &outcome(ns, &result, |x| (x.value, x.eps)), TOLERANCE, note);
    }
    if report.wants_peer("num-dual") && ["chol", "lusolve"].contains(&task.name) {
        num_dual(report, task, &cell, |e| {
            let x = entry(e);
            DualSVec64::<N>::new(x.value, Derivative::some(x.eps.into()))
        });
    }
    if report.wants_peer("fd-openblas") {
        let f = |x: &[f64]| task.primal(x);
        let (x, dx) = (&task.problem.x, &task.problem.dx[..N]);
        let ns = report.time(|| plain_differences(&f, x, dx));
        let (values, tangents) = plain_differences(&f, x, dx);
        report.add(&cell, "fd-openblas", &Outcome { ns, values, tangents }, PLAIN_TOLERANCE, "");
    }
}

/// The decompositions of nalgebra on num-dual's numbers, on dynamic matrices.
fn num_dual<const N: usize>(
    report: &mut Report,
    task: &Task,
    cell: &Cell,
    entry: impl Fn(usize) -> DualSVec64<N>,
) {
    let n = task.n;
    let a = DMatrix::from_fn(n, n, |i, j| entry(i * n + j));
    let (ns, result) = if task.name == "chol" {
        let f = || black_box(&a).clone().cholesky().expect("positive definite");
        (report.time(f), f().l().transpose().as_slice().to_vec())
    } else {
        let b = DVector::from_fn(n, |i, _| entry(n * n + i));
        let f = || black_box(&a).clone().lu().solve(&b).expect("regular");
        (report.time(f), f().as_slice().to_vec())
    };
    let lanes = |x: &DualSVec64<N>| x.eps.0.map_or([0.0; N], |eps| eps.data.0[0]);
    report.add(cell, "num-dual", &outcome(ns, &result, |x| (x.re, lanes(x))), TOLERANCE, "dynamic");
}

fn view<T: Lapack, D: Dim>(a: &OMatrix<T, D, D>) -> DMatrixView<'_, T>
where
    DefaultAllocator: Allocator<D, D>,
{
    DMatrixView::from_slice(a.as_slice(), a.nrows(), a.ncols())
}

fn view_mut<T: Lapack, D: Dim>(a: &mut OMatrix<T, D, D>) -> DMatrixViewMut<'_, T>
where
    DefaultAllocator: Allocator<D, D>,
{
    let (m, n) = a.shape();
    DMatrixViewMut::from_slice(a.as_mut_slice(), m, n)
}

/// The entries row by row.
fn rows<T: nalgebra::Scalar + Copy, D: Dim>(m: &OMatrix<T, D, D>) -> Vec<T>
where
    DefaultAllocator: Allocator<D, D>,
{
    (0..m.len()).map(|e| m.as_slice()[e / m.ncols() + e % m.ncols() * m.nrows()]).collect()
}

fn outcome<T, const N: usize>(ns: f64, result: &[T], parts: impl Fn(&T) -> (f64, [f64; N])) -> Outcome {
    let values = result.iter().map(|x| parts(x).0).collect();
    let tangents = (0..N).map(|k| result.iter().map(|x| parts(x).1[k]).collect()).collect();
    Outcome { ns, values, tangents }
}
