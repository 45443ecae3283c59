//! The laws that hold for every routine, as tests of any routine: write down the routine once as a [`Routine`], call
//! [`check`].

use dualpack::{Dual, Dual2, Error, HyperDual, Lapack, Real, Uplo};
use nalgebra::{DMatrix, DMatrixViewMut};

use crate::support::compare::same_bits;
use crate::support::differences::{self, Estimate};
use crate::support::matrices::Random;
use crate::support::probe::Probe;

/// The entries of an operand that the routine reads and, if it is an output, writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    All,
    Triangle(Uplo),
    /// Without the diagonal.
    Strict(Uplo),
}

impl Part {
    pub fn contains(self, i: usize, j: usize) -> bool {
        match self {
            Part::All => true,
            Part::Triangle(Uplo::Lower) => i >= j,
            Part::Triangle(Uplo::Upper) => i <= j,
            Part::Strict(Uplo::Lower) => i > j,
            Part::Strict(Uplo::Upper) => i < j,
        }
    }
}

/// A call of a routine at a point where it is differentiable.
pub trait Routine {
    fn name(&self) -> String;

    /// The operands, those that are overwritten too.
    fn operands(&self) -> Vec<DMatrix<f64>>;

    /// What is read of an operand, and written where it is an output.
    fn part(&self, _operand: usize) -> Part {
        Part::All
    }

    /// The operands that are overwritten.
    fn outputs(&self) -> Vec<usize>;

    /// The call.
    fn call<T: Lapack + Real<Base = f64>>(&self, operands: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error>;
}

/// Value, three tangents and a mixed second derivative of every operand; zero where nothing is read.
pub struct Point {
    pub value: Vec<DMatrix<f64>>,
    pub first: [Vec<DMatrix<f64>>; 3],
    pub mixed: Vec<DMatrix<f64>>,
}

impl Point {
    fn of(routine: &impl Routine, seed: u64) -> Point {
        let mut random = Random::new(seed);
        let value = masked(routine, routine.operands());
        let mut tangent = || {
            let all = value.iter().map(|a| random.matrix(a.nrows(), a.ncols())).collect();
            masked(routine, all)
        };
        let first = [tangent(), tangent(), tangent()];
        let mixed = tangent();
        Point { value, first, mixed }
    }

    fn lift<P: Probe>(&self) -> Vec<DMatrix<P>> {
        let lift = |m: usize| {
            let a = &self.value[m];
            DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| {
                let at = |x: &[DMatrix<f64>]| x[m][(i, j)];
                P::lift(
                    a[(i, j)],
                    [at(&self.first[0]), at(&self.first[1]), at(&self.first[2])],
                    at(&self.mixed),
                )
            })
        };
        (0..self.value.len()).map(lift).collect()
    }

    /// The point moved along directions 0 and 1.
    fn moved(&self, s: f64, t: f64) -> Vec<DMatrix<f64>> {
        let moved = |m: usize| {
            &self.value[m] + &self.first[0][m] * s + &self.first[1][m] * t + &self.mixed[m] * (s * t)
        };
        (0..self.value.len()).map(moved).collect()
    }
}

fn masked(routine: &impl Routine, mut all: Vec<DMatrix<f64>>) -> Vec<DMatrix<f64>> {
    for (m, a) in all.iter_mut().enumerate() {
        let part = routine.part(m);
        for j in 0..a.ncols() {
            for i in 0..a.nrows() {
                if !part.contains(i, j) {
                    a[(i, j)] = 0.0;
                }
            }
        }
    }
    all
}

/// The operands after a call, which must succeed.
pub fn run<R: Routine, T: Lapack + Real<Base = f64>>(routine: &R, mut a: Vec<DMatrix<T>>) -> Vec<DMatrix<T>> {
    let views = a.iter_mut().map(|a| a.as_view_mut()).collect();
    routine.call(views).unwrap_or_else(|e| panic!("{}: {e}", routine.name()));
    a
}

/// The written entries, one after the other.
fn written<T: Copy>(routine: &impl Routine, a: &[DMatrix<T>], read: impl Fn(T) -> f64) -> Vec<f64> {
    let mut all = Vec::new();
    for m in routine.outputs() {
        let part = routine.part(m);
        for j in 0..a[m].ncols() {
            for i in 0..a[m].nrows() {
                if part.contains(i, j) {
                    all.push(read(a[m][(i, j)]));
                }
            }
        }
    }
    all
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// The numbers agree with differences of the primal, as far as those can tell: their own error estimate, which may be
/// too small by chance, or `floor`, their rounding error relative to the largest number.
#[track_caller]
pub fn assert_differences(estimate: &Estimate, computed: &[f64], floor: f64, what: &str) {
    let size = largest(&estimate.value);
    assert!(
        estimate.error <= 1e-5 * size.max(1e-3),
        "{what}: the differences have error {:e}",
        estimate.error
    );
    let distance = estimate.distance(&computed.to_vec());
    let allowed = (10.0 * estimate.error).max(floor * size);
    assert!(
        distance <= allowed,
        "{what}: distance {distance:e} to the differences, allowed {allowed:e}\n got {computed:?}\n want {:?}",
        estimate.value
    );
}

/// Rounding of first and of mixed second differences with the steps used here.
pub const FIRST: f64 = 1e-10;
pub const SECOND: f64 = 1e-7;

#[track_caller]
fn assert_near(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}: lengths");
    let size = largest(b);
    for (k, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance * size, "{what}: number {k}: {x:e} and {y:e}, size {size:e}");
    }
}

/// Every law, for one routine.
pub fn check<R: Routine>(routine: &R) {
    let point = Point::of(routine, 7);
    let name = routine.name();
    let n = point.value.iter().map(|a| a.nrows().max(a.ncols())).max().unwrap_or(0);
    let eps = 16.0 * n.max(1) as f64 * f64::EPSILON;
    let value = run(routine, point.value.clone());
    let dual = run(routine, point.lift::<Dual<f64, 3>>());
    let lane = |k: usize| written(routine, &dual, |x| x.eps[k]);

    // Law 1: the value is the f64 computation, to the bit, for every scalar.
    values_are_the_same::<R, Dual<f64, 3>>(routine, &point, &value);
    values_are_the_same::<R, HyperDual<f64, 1, 1>>(routine, &point, &value);
    values_are_the_same::<R, Dual<Dual<f64, 1>, 1>>(routine, &point, &value);
    values_are_the_same::<R, Dual2<f64, 2>>(routine, &point, &value);

    // The rule: differences of the primal along direction 0.
    if n > 0 {
        let f = |t: f64| written(routine, &run(routine, point.moved(t, 0.0)), |x| x);
        let what = format!("{name}, first derivatives");
        assert_differences(&differences::first(f, 1e-2), &lane(0), FIRST, &what);
    }

    // N lanes are N runs with one lane.
    for k in 0..3 {
        let single: Vec<DMatrix<Dual<f64, 1>>> =
            point.lift::<Dual<f64, 3>>().iter().map(|a| a.map(|x| Dual::new(x.value, [x.eps[k]]))).collect();
        let single = written(routine, &run(routine, single), |x| x.eps[0]);
        assert_near(&lane(k), &single, eps, &format!("{name}, lane {k} alone"));
    }

    // Linear in the tangent, whatever its size.
    for power in [-60, -20, 1, 20, 60] {
        let f = 2.0_f64.powi(power);
        let scaled: Vec<DMatrix<Dual<f64, 3>>> = point
            .lift::<Dual<f64, 3>>()
            .iter()
            .map(|a| a.map(|x: Dual<f64, 3>| Dual::new(x.value, x.eps.map(|t| t * f))))
            .collect();
        let scaled = written(routine, &run(routine, scaled), |x| x.eps[1] / f);
        assert_near(&scaled, &lane(1), 1e-15, &format!("{name}, tangent times 2^{power}"));
    }
    let sum: Vec<DMatrix<Dual<f64, 1>>> = point
        .lift::<Dual<f64, 3>>()
        .iter()
        .map(|a| a.map(|x: Dual<f64, 3>| Dual::new(x.value, [x.eps[0] + x.eps[1]])))
        .collect();
    let sum = written(routine, &run(routine, sum), |x| x.eps[0]);
    let parts: Vec<f64> = lane(0).iter().zip(lane(1)).map(|(x, y)| x + y).collect();
    let size = largest(&lane(0)).max(largest(&lane(1)));
    for (x, y) in sum.iter().zip(&parts) {
        assert!((x - y).abs() <= 4.0 * eps * size, "{name}, sum of two tangents: {x:e} and {y:e}");
    }

    // NaN in a lane stays in its lane.
    let poisoned: Vec<DMatrix<Dual<f64, 3>>> = point
        .lift::<Dual<f64, 3>>()
        .iter()
        .map(|a| a.map(|x: Dual<f64, 3>| Dual::new(x.value, [x.eps[0], f64::NAN, x.eps[2]])))
        .collect();
    let poisoned = run(routine, poisoned);
    for k in [0, 2] {
        let (clean, got) = (lane(k), written(routine, &poisoned, |x| x.eps[k]));
        assert!(clean.iter().zip(&got).all(|(x, y)| same_bits(*x, *y)), "{name}, lane {k} next to NaN");
    }

    placement(routine, &point, &dual);
    second_order(routine, &point);
}

fn values_are_the_same<R: Routine, P: Probe + Lapack>(routine: &R, point: &Point, value: &[DMatrix<f64>]) {
    let lifted = run(routine, point.lift::<P>());
    for m in 0..value.len() {
        for (x, y) in value[m].iter().zip(lifted[m].iter()) {
            let name = routine.name();
            assert!(same_bits(*x, y.base()), "{name}, {}: value {} for {x}", P::NAME, y.base());
        }
    }
}

/// A triangle is a triangle, and a view is a view: NaN in what is not read, value and tangents, is neither used nor
/// overwritten; a leading dimension above the number of rows changes nothing.
fn placement<R: Routine>(routine: &R, point: &Point, expected: &[DMatrix<Dual<f64, 3>>]) {
    let nan = Dual::new(f64::NAN, [f64::NAN; 3]);
    let name = routine.name();
    let mut big: Vec<DMatrix<Dual<f64, 3>>> = Vec::new();
    for (m, a) in point.lift::<Dual<f64, 3>>().iter().enumerate() {
        let mut b = DMatrix::from_element(a.nrows() + 5, a.ncols() + 3, nan);
        for j in 0..a.ncols() {
            for i in (0..a.nrows()).filter(|&i| routine.part(m).contains(i, j)) {
                b[(i + 2, j + 1)] = a[(i, j)];
            }
        }
        big.push(b);
    }
    let views = big
        .iter_mut()
        .map(|b| {
            let shape = (b.nrows() - 5, b.ncols() - 3);
            b.view_mut((2, 1), shape)
        })
        .collect();
    routine.call(views).unwrap_or_else(|e| panic!("{name} on views: {e}"));
    let outputs = routine.outputs();
    for (m, b) in big.iter().enumerate() {
        let (rows, cols) = point.value[m].shape();
        for j in 0..b.ncols() {
            for i in 0..b.nrows() {
                let inside = (2..2 + rows).contains(&i) && (1..1 + cols).contains(&j);
                let x = b[(i, j)];
                if inside && routine.part(m).contains(i - 2, j - 1) {
                    if outputs.contains(&m) {
                        let y = expected[m][(i - 2, j - 1)];
                        assert!(
                            same_bits(x.value, y.value),
                            "{name}, value inside a larger matrix: {x} for {y}"
                        );
                        for k in 0..3 {
                            assert!(
                                same_bits(x.eps[k], y.eps[k]),
                                "{name}, lane inside a larger matrix: {x} for {y}"
                            );
                        }
                    }
                } else {
                    assert!(
                        x.value.is_nan() && x.eps.iter().all(|t| t.is_nan()),
                        "{name} wrote outside: {x}"
                    );
                }
            }
        }
    }
}

/// Hyper-dual, nested and symmetric second order agree with each other and with four points of the primal.
fn second_order<R: Routine>(routine: &R, point: &Point) {
    let name = routine.name();
    let hyper = run(routine, point.lift::<HyperDual<f64, 1, 1>>());
    let nested = run(routine, point.lift::<Dual<Dual<f64, 1>, 1>>());
    let symmetric = run(routine, point.lift::<Dual2<f64, 2>>());
    let dual = run(routine, point.lift::<Dual<f64, 3>>());
    let n = point.value.iter().map(|a| a.nrows().max(a.ncols())).max().unwrap_or(0);
    let eps = 64.0 * n.max(1) as f64 * f64::EPSILON;

    let first = [written(routine, &dual, |x| x.eps[0]), written(routine, &dual, |x| x.eps[1])];
    assert_near(&written(routine, &hyper, |x| x.eps1[0]), &first[0], eps, &format!("{name}, HyperDual eps1"));
    assert_near(&written(routine, &hyper, |x| x.eps2[0]), &first[1], eps, &format!("{name}, HyperDual eps2"));
    assert_near(
        &written(routine, &nested, |x| x.eps[0].value),
        &first[0],
        eps,
        &format!("{name}, nested outer"),
    );
    assert_near(
        &written(routine, &nested, |x| x.value.eps[0]),
        &first[1],
        eps,
        &format!("{name}, nested inner"),
    );
    for k in 0..2 {
        let grad = written(routine, &symmetric, |x| x.grad[k]);
        assert_near(&grad, &first[k], eps, &format!("{name}, Dual2 gradient"));
    }
    let mixed = written(routine, &hyper, |x| x.eps12[0][0]);
    assert_near(
        &written(routine, &nested, |x| x.eps[0].eps[0]),
        &mixed,
        eps,
        &format!("{name}, nested mixed"),
    );
    assert_near(
        &written(routine, &symmetric, |x| x.hessian(0, 1)),
        &mixed,
        eps,
        &format!("{name}, Dual2 mixed"),
    );
    if n > 0 {
        let f = |s: f64, t: f64| written(routine, &run(routine, point.moved(s, t)), |x| x);
        let what = format!("{name}, mixed second derivatives");
        assert_differences(&differences::mixed(f, 2e-2), &mixed, SECOND, &what);
    }
    // The pure second derivatives of Dual2: along direction 0 alone, from a hyper-dual with both tangents there.
    let pure: Vec<DMatrix<HyperDual<f64, 1, 1>>> = (0..point.value.len())
        .map(|m| {
            let (a, d) = (&point.value[m], &point.first[0][m]);
            DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| {
                HyperDual::new(a[(i, j)], [d[(i, j)]], [d[(i, j)]], [[0.0]])
            })
        })
        .collect();
    let pure = written(routine, &run(routine, pure), |x| x.eps12[0][0]);
    assert_near(
        &written(routine, &symmetric, |x| x.hessian(0, 0)),
        &pure,
        eps,
        &format!("{name}, Dual2 pure"),
    );
}
