//! Bundle adjustment, gradients and Hessians: functions of scalars.

use std::hint::black_box;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use dualpack::{Cholesky, Chunk, Dual, Dual2, Gradient, Lapack, Real};
use nalgebra::SMatrix;
use num_dual::{Derivative, Dual2SVec64, DualNum, DualSVec64};

use crate::inputs::{self, OBSERVATIONS, Problem};
use crate::report::{Cell, Outcome, Report, differences, plain_differences};

/// The two residuals of a reprojection: rotate, project, distort, weigh.
#[inline(always)]
fn reprojection<S: Number>(x: &[S; 15], feature: &[f64; 2]) -> [S; 2] {
    let p = [x[11] - x[3], x[12] - x[4], x[13] - x[5]];
    let squared = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    let q = if squared.value() != 0.0 {
        let angle = squared.sqrt();
        let (s, c, r) = (angle.sin(), angle.cos(), angle.recip());
        let w = [x[0] * r, x[1] * r, x[2] * r];
        let cross = [w[1] * p[2] - w[2] * p[1], w[2] * p[0] - w[0] * p[2], w[0] * p[1] - w[1] * p[0]];
        let along = (w[0] * p[0] + w[1] * p[1] + w[2] * p[2]) * (-c + 1.0);
        [
            p[0] * c + cross[0] * s + w[0] * along,
            p[1] * c + cross[1] * s + w[1] * along,
            p[2] * c + cross[2] * s + w[2] * along,
        ]
    } else {
        [p[0] + x[1] * p[2] - x[2] * p[1], p[1] + x[2] * p[0] - x[0] * p[2], p[2] + x[0] * p[1] - x[1] * p[0]]
    };
    let (a, b) = (q[0] / q[2], q[1] / q[2]);
    let r2 = a * a + b * b;
    let l = x[9] * r2 + x[10] * r2 * r2 + 1.0;
    let (a, b) = (a * l, b * l);
    [x[14] * (a * x[6] + x[7] - feature[0]), x[14] * (b * x[6] + x[8] - feature[1])]
}

/// Σ (1 − x_i)² + 100 (x_{i+1} − x_i²)²
#[inline(always)]
fn rosen<S: Number>(x: &[S]) -> S {
    let mut sum = S::of(0.0);
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = -x[i] + 1.0;
        sum += b * b + a * a * 100.0;
    }
    sum
}

/// −20 exp(−0.2 √(mean x²)) − exp(mean cos 2πx) + 20 + e
#[inline(always)]
fn ackley<S: Number>(x: &[S]) -> S {
    let (mut squares, mut cosines) = (S::of(0.0), S::of(0.0));
    for &x in x {
        squares += x * x;
        cosines += (x * std::f64::consts::TAU).cos();
    }
    let r = 1.0 / x.len() as f64;
    ((squares * r).sqrt() * -0.2).exp() * -20.0 - (cosines * r).exp() + (20.0 + std::f64::consts::E)
}

/// ln det(A + Σ θ_k dA_k) of order 8 by Cholesky's recurrence, written in scalars.
#[inline(always)]
fn log_determinant<S: Number>(theta: &[S], p: &Problem) -> S {
    let n = 8;
    let mut a = [[S::of(0.0); 8]; 8];
    for i in 0..n {
        for j in 0..=i {
            let e = i * n + j;
            a[i][j] = theta[0] * p.dx[0][e] + p.x[e];
            (1..4).for_each(|k| a[i][j] += theta[k] * p.dx[k][e]);
        }
    }
    let mut sum = S::of(0.0);
    for j in 0..n {
        let mut d = a[j][j];
        (0..j).for_each(|k| d -= a[j][k] * a[j][k]);
        let d = d.sqrt();
        sum += d.ln() * 2.0;
        a[j][j] = d;
        for i in j + 1..n {
            let mut q = a[i][j];
            (0..j).for_each(|k| q -= a[i][k] * a[j][k]);
            a[i][j] = q / d;
        }
    }
    sum
}

/// The same by the factorization of the library.
#[inline(always)]
fn factored_log_determinant<S: Number + Lapack + Real>(theta: &[S], p: &Problem) -> S {
    let entry = |i: usize, j: usize| {
        // Only the lower triangle is read.
        if i < j {
            return <S as Number>::of(0.0);
        }
        let e = i * 8 + j;
        let mut a = theta[0] * p.dx[0][e] + p.x[e];
        (1..4).for_each(|k| a += theta[k] * p.dx[k][e]);
        a
    };
    let a = SMatrix::<S, 8, 8>::from_fn(entry);
    Cholesky::new(a).expect("positive definite").ln_determinant()
}

/// What the functions above need of a number, so that other crates' numbers run the same text.
trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    fn of(c: f64) -> Self;
    fn value(self) -> f64;
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn recip(self) -> Self;
}

macro_rules! number {
    ([$($N:tt)*] $T:ty, $constant:path, $value:expr, $($by:tt)?) => {
        impl<$($N)*> Number for $T {
            #[inline(always)]
            fn of(c: f64) -> Self {
                $constant(c)
            }
            #[inline(always)]
            fn value(self) -> f64 {
                $value(self)
            }
            number!(@functions [$($by)?] sqrt exp ln sin cos recip);
        }
    };
    (@functions $by:tt $($f:ident)*) => { $( number!(@function $by $f); )* };
    (@function [] $f:ident) => {
        #[inline(always)]
        fn $f(self) -> Self {
            <Self>::$f(self)
        }
    };
    (@function [&] $f:ident) => {
        #[inline(always)]
        fn $f(self) -> Self {
            DualNum::$f(&self)
        }
    };
}

number!([] f64, f64::from, |x| x,);
number!([const N: usize] Dual<f64, N>, Dual::constant, |x: Self| x.value,);
number!([const N: usize] Dual2<f64, N>, Dual2::constant, |x: Self| x.value,);
number!([const N: usize] DualSVec64<N>, DualSVec64::from_re, |x: Self| x.re, &);
number!([const N: usize] Dual2SVec64<N>, Dual2SVec64::from_re, |x: Self| x.re, &);

/// First-order numbers.
trait First<const N: usize>: Number {
    fn variable(value: f64, k: usize) -> Self;
    fn lanes(&self) -> [f64; N];
}

impl<const N: usize> First<N> for Dual<f64, N> {
    #[inline(always)]
    fn variable(value: f64, k: usize) -> Self {
        Dual::variable(value, k)
    }
    #[inline(always)]
    fn lanes(&self) -> [f64; N] {
        self.eps
    }
}

impl<const N: usize> First<N> for DualSVec64<N> {
    #[inline(always)]
    fn variable(value: f64, k: usize) -> Self {
        let mut lanes = [0.0; N];
        lanes[k] = 1.0;
        DualSVec64::new(value, Derivative::some(lanes.into()))
    }
    #[inline(always)]
    fn lanes(&self) -> [f64; N] {
        let zero = || nalgebra::SVector::<f64, N>::zeros();
        self.eps.0.unwrap_or_else(zero).data.0[0]
    }
}

/// Second-order numbers.
trait Second<const N: usize>: Number {
    fn variable(value: f64, k: usize) -> Self;
    fn second(&self, i: usize, j: usize) -> f64;
}

impl<const N: usize> Second<N> for Dual2<f64, N> {
    #[inline(always)]
    fn variable(value: f64, k: usize) -> Self {
        Dual2::variable(value, k)
    }
    #[inline(always)]
    fn second(&self, i: usize, j: usize) -> f64 {
        self.hessian(i, j)
    }
}

impl<const N: usize> Second<N> for Dual2SVec64<N> {
    #[inline(always)]
    fn variable(value: f64, k: usize) -> Self {
        Dual2SVec64::from_re(value).derivative(k)
    }
    #[inline(always)]
    fn second(&self, i: usize, j: usize) -> f64 {
        self.v2.0.map_or(0.0, |h| h[(i, j)])
    }
}

/// Central differences are exact to about this much, relative to the largest derivative.
const TOLERANCE: f64 = 1e-9;
const PLAIN_TOLERANCE: f64 = 1e-5;

/// Runs W1, W2 and W8.
pub fn run(report: &mut Report) {
    bundle_adjustment(report);
    for n in [16, 1000] {
        gradient::<8>(report, n);
        gradient::<16>(report, n);
    }
    hessians(report);
}

fn unit(n: usize, k: usize) -> Vec<f64> {
    (0..n).map(|i| f64::from(i == k)).collect()
}

fn bundle_adjustment(report: &mut Report) {
    let n = OBSERVATIONS;
    if !report.wants("W1", "ba", n, 15) {
        return;
    }
    let data: Vec<_> = (0..n).map(inputs::observation).collect();
    let x: Vec<f64> = data.iter().flat_map(|(x, _)| *x).collect();
    let primal = |x: &[f64]| -> Vec<f64> {
        let rows = x.as_chunks::<15>().0.iter().zip(&data);
        rows.flat_map(|(x, (_, feature))| reprojection(x, feature)).collect()
    };
    let dx: Vec<Vec<f64>> = (0..15).map(|k| (0..15 * n).map(|i| f64::from(i % 15 == k)).collect()).collect();
    let tangents = dx.iter().map(|dx| differences(&primal, &x, dx)).collect();
    let cell = Cell { workload: "ba", n, lanes: 15, values: primal(&x), tangents };
    if report.wants_peer("dualpack") {
        // Sixteen lanes: a whole number of vectors beats fifteen.
        let outcome = jacobians::<16, Dual<f64, 16>>(report, &data);
        report.add(&cell, "dualpack", &outcome, TOLERANCE, "per Jacobian");
    }
    if report.wants_peer("num-dual") {
        let outcome = jacobians::<15, DualSVec64<15>>(report, &data);
        report.add(&cell, "num-dual", &outcome, TOLERANCE, "per Jacobian");
    }
    if report.wants_peer("fd-openblas") {
        let ns = report.time(|| plain_differences(&primal, &x, &dx)) / n as f64;
        let (values, tangents) = plain_differences(&primal, &x, &dx);
        report.add(&cell, "fd-openblas", &Outcome { ns, values, tangents }, PLAIN_TOLERANCE, "per Jacobian");
    }
}

fn jacobians<const N: usize, D: First<N>>(report: &Report, data: &[([f64; 15], [f64; 2])]) -> Outcome {
    let n = data.len();
    let mut values = vec![[0.0; 2]; n];
    let mut rows = vec![[[0.0; 15]; 2]; n];
    let ns = report.time(|| {
        for (o, (x, feature)) in data.iter().enumerate() {
            let seeded: [D; 15] = std::array::from_fn(|i| D::variable(x[i], i));
            let residuals = reprojection(&seeded, feature);
            for q in 0..2 {
                values[o][q] = residuals[q].value();
                rows[o][q].copy_from_slice(&residuals[q].lanes()[..15]);
            }
        }
        black_box((values.as_ptr(), rows.as_ptr()));
    }) / n as f64;
    let tangents = (0..15).map(|k| rows.iter().flatten().map(|row| row[k]).collect()).collect();
    Outcome { ns, values: values.into_flattened(), tangents }
}

fn gradient<const N: usize>(report: &mut Report, n: usize) {
    if n < N || (n == 16 && N < 16) {
        return;
    }
    let x = inputs::point(n);
    for name in ["rosen", "ackley"] {
        if !report.wants("W2", name, n, N) {
            continue;
        }
        let primal = |x: &[f64]| vec![if name == "rosen" { rosen(x) } else { ackley(x) }];
        let exact = |k| differences(&primal, &x, &unit(n, k));
        let tangents = (0..n).map(exact).collect();
        let cell = Cell { workload: name, n, lanes: N, values: primal(&x), tangents };
        let note = "full gradient, chunk N";
        macro_rules! measured {
            ($by:ident) => {
                if name == "rosen" {
                    $by::<N>(report, &x, |x| rosen(x))
                } else {
                    $by::<N>(report, &x, |x| ackley(x))
                }
            };
        }
        if report.wants_peer("dualpack") {
            let outcome = measured!(by_driver);
            report.add(&cell, "dualpack", &outcome, TOLERANCE, note);
        }
        if report.wants_peer("num-dual") {
            let outcome = measured!(by_hand);
            report.add(&cell, "num-dual", &outcome, TOLERANCE, note);
        }
        if report.wants_peer("fd-openblas") {
            let dx: Vec<Vec<f64>> = (0..n).map(|k| unit(n, k)).collect();
            let ns = report.time(|| plain_differences(&primal, &x, &dx));
            let (values, tangents) = plain_differences(&primal, &x, &dx);
            report.add(&cell, "fd-openblas", &Outcome { ns, values, tangents }, PLAIN_TOLERANCE, note);
        }
    }
}

/// The whole gradient in chunks of `N` inputs, by our driver.
fn by_driver<const N: usize>(
    report: &Report,
    x: &[f64],
    f: impl Fn(&[Dual<f64, N>]) -> Dual<f64, N>,
) -> Outcome {
    let (mut value, mut gradient) = (0.0, vec![0.0; x.len()]);
    let mut space = Gradient::new(Chunk::<N>::of(x));
    let ns = report.time(|| {
        value = space.evaluate(&f, black_box(x), &mut gradient);
        black_box(gradient.as_ptr());
    });
    outcome(ns, value, gradient)
}

/// The same with num-dual's numbers, whose drivers know no chunks: seeded and extracted here.
fn by_hand<const N: usize>(
    report: &Report,
    x: &[f64],
    f: impl Fn(&[DualSVec64<N>]) -> DualSVec64<N>,
) -> Outcome {
    type D<const N: usize> = DualSVec64<N>;
    let (mut value, mut gradient) = (0.0, vec![0.0; x.len()]);
    let mut point: Vec<D<N>> = x.iter().map(|&x| D::of(x)).collect();
    let ns = report.time(|| {
        let x = black_box(x);
        point.iter_mut().zip(x).for_each(|(p, &x)| *p = D::of(x));
        for from in (0..x.len()).step_by(N) {
            let chunk = from..x.len().min(from + N);
            for i in chunk.clone() {
                point[i] = D::variable(x[i], i - from);
            }
            let y = f(&point);
            value = y.value();
            gradient[chunk.clone()].copy_from_slice(&y.lanes()[..chunk.len()]);
            chunk.for_each(|i| point[i] = D::of(x[i]));
        }
        black_box(gradient.as_ptr());
    });
    outcome(ns, value, gradient)
}

fn outcome(ns: f64, value: f64, gradient: Vec<f64>) -> Outcome {
    Outcome { ns, values: vec![value], tangents: gradient.into_iter().map(|g| vec![g]).collect() }
}

fn hessians(report: &mut Report) {
    let (x, theta) = (inputs::point(8), inputs::parameters());
    let mut p = inputs::chol(8);
    p.dx.truncate(4);
    macro_rules! hessian {
        ($name:literal, $N:literal, $x:expr, $f:expr, $ours:expr) => {
            if report.wants("W8", $name, 8, $N) {
                // Differences of the first-order gradient, which the other workloads check by differences.
                let gradient = |x: &[f64]| -> Vec<f64> {
                    let d: Vec<Dual<f64, $N>> = (0..$N).map(|k| Dual::variable(x[k], k)).collect();
                    $f(&d).eps.to_vec()
                };
                let rows = (0..$N).map(|k| differences(&gradient, $x, &unit($N, k)));
                let tangents = rows.flatten().map(|h| vec![h]).collect();
                let values = vec![$f($x)];
                let cell = Cell { workload: $name, n: 8, lanes: $N, values, tangents };
                if report.wants_peer("dualpack") {
                    let outcome = second::<$N, Dual2<f64, $N>>(report, $x, |x| $ours(x));
                    report.add(&cell, "dualpack", &outcome, TOLERANCE, "full Hessian");
                }
                if report.wants_peer("num-dual") {
                    let outcome = second::<$N, Dual2SVec64<$N>>(report, $x, |x| $f(x));
                    report.add(&cell, "num-dual", &outcome, TOLERANCE, "full Hessian");
                }
            }
        };
    }
    hessian!("hess_rosen", 8, &x, rosen, rosen);
    hessian!("hess_ackley", 8, &x, ackley, ackley);
    hessian!("hess_logdet", 4, &theta, |t: &[_]| log_determinant(t, &p), |t: &[_]| {
        factored_log_determinant(t, &p)
    });
}

fn second<const N: usize, D: Second<N>>(report: &Report, x: &[f64], f: impl Fn(&[D]) -> D) -> Outcome {
    let (mut value, mut hessian) = (0.0, vec![[0.0; N]; N]);
    let ns = report.time(|| {
        let x = black_box(x);
        let seeded: [D; N] = std::array::from_fn(|k| D::variable(x[k], k));
        let y = f(&seeded);
        value = y.value();
        for i in 0..N {
            for j in 0..N {
                hessian[i][j] = y.second(i, j);
            }
        }
        black_box(hessian.as_ptr());
    });
    Outcome { ns, values: vec![value], tangents: hessian.as_flattened().iter().map(|&h| vec![h]).collect() }
}
