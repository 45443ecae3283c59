//! Derivatives of solutions against closed forms and against differences of the solver; function objects.

use dualpack::nalgebra::{DMatrix, DVector, dmatrix};
use dualpack::{
    Cholesky, Dual, Dual2, Dual64, Equations, Error, HyperDual, LU, Lapack, Objective, Pattern, Real,
    ScalarFn, SparseJacobian, VectorFn, argmin, expm, fixed_point, gradient, implicit, implicit_with,
    jacobian, nth_derivative,
};

/// Kepler: E - e sin E = M.
struct Kepler;

impl Equations for Kepler {
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S], p: &[S]) -> Vec<S> {
        vec![x[0] - p[0] * x[0].sin() - p[1]]
    }
}

/// The same as a map.
struct KeplerMap;

impl Equations for KeplerMap {
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S], p: &[S]) -> Vec<S> {
        vec![p[0] * x[0].sin() + p[1]]
    }
}

fn anomaly(e: f64, m: f64) -> f64 {
    let mut x = m;
    for _ in 0..60 {
        x -= (x - e * x.sin() - m) / (1.0 - e * x.cos());
    }
    x
}

type D1 = Dual64<1>;
type D3 = Dual<Dual<D1>>;

#[test]
fn derivatives_of_every_order_match_differences_of_the_solver() {
    let (e, m) = (0.4, 1.1);
    let x = anomaly(e, m);
    // d/dM up to the third, by three nested numbers: E' = 1/(1 - e cos E), differentiated by hand.
    let c = 1.0 - e * x.cos();
    let d1 = 1.0 / c;
    let d2 = -e * x.sin() / (c * c * c);
    let d3 = (-e * x.cos() * c + 3.0 * (e * x.sin()).powi(2)) / c.powi(5);
    let step = D3::new(
        Dual::new(D1::new(m, [1.0]), [D1::new(1.0, [0.0])]),
        [Dual::new(D1::new(1.0, [0.0]), [D1::constant(0.0)])],
    );
    for solved in
        [implicit(&Kepler, &[x], &[D3::from(e), step]), fixed_point(&KeplerMap, &[x], &[D3::from(e), step])]
    {
        let y = solved.unwrap()[0];
        assert_eq!(y.value.value.value.to_bits(), x.to_bits(), "the value is the solver's");
        let got = [y.eps[0].value.value, y.eps[0].eps[0].value, y.eps[0].eps[0].eps[0]];
        for (got, want) in got.into_iter().zip([d1, d2, d3]) {
            assert!((got - want).abs() <= 1e-14 * want.abs(), "{got} against {want}");
        }
    }
    // Differences of the solver itself in both parameters, mixed.
    let p = [Dual2::<f64, 2>::variable(e, 0), Dual2::variable(m, 1)];
    let y = implicit(&Kepler, &[x], &p).unwrap()[0];
    let h = 1e-4;
    let mixed = (anomaly(e + h, m + h) - anomaly(e + h, m - h) - anomaly(e - h, m + h)
        + anomaly(e - h, m - h))
        / (4.0 * h * h);
    assert!((y.hessian(0, 1) - mixed).abs() < 1e-6);
    assert!((y.grad[0] - (anomaly(e + h, m) - anomaly(e - h, m)) / (2.0 * h)).abs() < 1e-7);
    // Hyper-dual and symmetric numbers agree.
    let p = [HyperDual::<f64, 1, 1>::new(e, [1.0], [0.0], [[0.0]]), HyperDual::new(m, [0.0], [1.0], [[0.0]])];
    let hyper = implicit(&Kepler, &[x], &p).unwrap()[0].eps12[0][0];
    assert!((hyper - y.hessian(0, 1)).abs() < 1e-15);
    // A driver outside, a solver inside.
    let (_, [first, second]) =
        nth_derivative::<2, f64>(|m| implicit(&Kepler, &[x], &[Real::from_base(e), m]).unwrap()[0], m);
    assert!((first - d1).abs() < 1e-15 && (second - d2).abs() < 1e-15);
}

/// Least squares with a ridge: f = |A x - b|² + p₀ |x|² + p₁ x₀⁴.
struct Ridge;

const A: [[f64; 3]; 4] = [[1.0, 2.0, 0.5], [-1.0, 0.3, 2.0], [0.2, 1.5, -1.0], [2.0, 0.1, 0.7]];
const B: [f64; 4] = [1.0, -0.5, 2.0, 0.3];

impl Objective for Ridge {
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S], p: &[S]) -> S {
        let mut f = S::zero();
        for (row, &b) in A.iter().zip(&B) {
            let r = row.iter().zip(x).fold(S::from_base(-b), |r, (&a, &x)| r + S::from_base(a) * x);
            f += r * r;
        }
        f + p[0] * x.iter().fold(S::zero(), |s, &x| s + x * x) + p[1] * x[0].powi(4)
    }
}

/// The minimum for p₁ = 0: (A'A + p I)⁻¹ A' b, differentiated by the rules of LAPACK.
fn ridge_by_hand<S: Real<Base = f64> + Lapack>(p: S) -> DVector<S> {
    let a = DMatrix::from_fn(4, 3, |i, j| A[i][j]);
    let mut m = (a.transpose() * &a).map(S::from_base);
    (0..3).for_each(|i| m[(i, i)] += p);
    let b = (a.transpose() * DVector::from_column_slice(&B)).map(S::from_base);
    Cholesky::new(m).unwrap().solve(&b).unwrap()
}

#[test]
fn minima_match_the_closed_form() {
    let x = ridge_by_hand(0.3);
    let p = [Dual2::<f64, 2>::variable(0.3, 0), Dual2::variable(0.0, 1)];
    let y = argmin(&Ridge, x.as_slice(), &p).unwrap();
    let want = ridge_by_hand(Dual2::<f64, 1>::variable(0.3, 0));
    for (y, want) in y.iter().zip(&want) {
        assert!((y.grad[0] - want.grad[0]).abs() < 1e-14);
        assert!((y.hessian(0, 0) - want.hessian(0, 0)).abs() < 1e-13);
    }
    // Along p₁ the right-hand side changes by -4 x₀³ e₀.
    let rhs = DVector::from_column_slice(&[-2.0 * x[0].powi(3), 0.0, 0.0]);
    let a = DMatrix::from_fn(4, 3, |i, j| A[i][j]);
    let m = a.transpose() * a + DMatrix::identity(3, 3) * 0.3;
    let want = m.cholesky().unwrap().solve(&rhs);
    assert!((0..3).all(|i| (y[i].grad[1] - want[i]).abs() < 1e-14));
}

#[test]
fn many_lanes_share_one_factorization() {
    // A(p) x = b with A = diag(p) + ones: the gradient of the sum of x with respect to p, one lane each.
    let n = 6;
    let solve = |p: &[f64]| {
        let a = DMatrix::from_diagonal(&DVector::from_column_slice(p)).add_scalar(1.0);
        a.lu().solve(&DVector::from_element(n, 1.0)).unwrap()
    };
    let p: Vec<f64> = (1..=n).map(|i| i as f64).collect();
    let x = solve(&p);
    let a = DMatrix::from_diagonal(&DVector::from_column_slice(&p)).add_scalar(1.0);
    let (value, g) = gradient(
        |q| {
            let residual = |x: &[Dual64<8>], q: &[Dual64<8>]| {
                let sum: Dual64<8> = x.iter().sum();
                x.iter().zip(q).map(|(&x, &q)| x * q + sum - 1.0).collect()
            };
            implicit_with(residual, a.clone(), x.as_slice(), q).unwrap().iter().sum()
        },
        &p,
    );
    assert!((value - x.sum()).abs() < 1e-15);
    for i in 0..n {
        let at = |h: f64| {
            let mut p = p.clone();
            p[i] += h;
            solve(&p).sum()
        };
        assert!((g[i] - (at(1e-5) - at(-1e-5)) / 2e-5).abs() < 1e-9);
    }
    // A float has no derivatives: the solution comes back.
    assert_eq!(implicit(&Kepler, &[0.3], &[0.0, 0.3]).unwrap(), [0.3]);
}

/// x₀² + x₁ = p₀ + 2, x₀ x₁ = p₁ with the solution (2, 1) at p = (3, 2).
struct Pair;

impl Equations for Pair {
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S], p: &[S]) -> Vec<S> {
        vec![x[0] * x[0] + x[1] - p[0] - S::from_base(2.0), x[0] * x[1] - p[1]]
    }
}

/// With a Jacobian that is off by δ.
fn off<D: Real<Base = f64> + Lapack>(delta: f64, p: &[D]) -> Result<Vec<D>, Error> {
    let jacobian = dmatrix![4.0 + delta, 1.0 - 0.3 * delta; 1.0 + 2.0 * delta, 2.0 - delta];
    implicit_with(|x, p| Pair.eval(x, p), jacobian, &[2.0, 1.0], p)
}

#[test]
fn a_jacobian_that_is_a_little_off_does_little_harm() {
    let p = [Dual2::<f64, 2>::variable(3.0, 0), Dual2::variable(2.0, 1)];
    let deep = |v: f64, t: f64| D3::variable(Dual::variable(D1::new(v, [t]), 0), 0);
    let (want, want3) = (implicit(&Pair, &[2.0, 1.0], &p).unwrap(), [deep(3.0, 1.0), deep(2.0, -0.5)]);
    let deepest = |y: Vec<D3>| [y[0].eps[0].eps[0].eps[0], y[1].eps[0].eps[0].eps[0]];
    let third = deepest(implicit(&Pair, &[2.0, 1.0], &want3).unwrap());
    for delta in [0.0, 1e-12, 1e-8, 1e-6, -1e-5] {
        let bound = 1e-15 + 10.0 * delta * delta;
        let got = off(delta, &p).unwrap();
        for (got, want) in got.iter().zip(&want) {
            assert_eq!(got.value, want.value);
            for (i, j) in [(0, 0), (0, 1), (1, 1)] {
                assert!((got.grad[i] - want.grad[i]).abs() <= bound, "{delta}");
                assert!((got.hessian(i, j) - want.hessian(i, j)).abs() <= bound, "{delta}");
            }
        }
        let got = deepest(off(delta, &want3).unwrap());
        assert!((0..2).all(|i| (got[i] - third[i]).abs() <= 10.0 * bound), "{delta}");
        // Lanes are single runs.
        for k in 0..2 {
            let single = [D1::new(3.0, [p[0].grad[k]]), D1::new(2.0, [p[1].grad[k]])];
            let wide = [Dual64::<3>::variable(3.0, 0), Dual64::variable(2.0, 1)];
            let (single, wide) = (off(delta, &single).unwrap(), off(delta, &wide).unwrap());
            assert!((0..2).all(|i| single[i].eps[0].to_bits() == wide[i].eps[k].to_bits()));
        }
    }
}

#[test]
fn a_wrong_jacobian_is_an_error_whatever_the_scale_of_the_tangents() {
    for size in [1e-150, 1.0, 1e150] {
        let p = [Dual64::<2>::new(3.0, [size, 0.0]), Dual64::new(2.0, [0.0, size])];
        for delta in [0.01, -0.5, 1.0] {
            let e = off(delta, &p).unwrap_err();
            assert!(matches!(e, Error::WrongJacobian { routine: "implicit_with", .. }), "{delta}: {e}");
        }
        assert!(off(1e-6, &p).is_ok());
        // Of another function, transposed, of another sign.
        for wrong in
            [dmatrix![1.0, 0.0; 0.0, 1.0], dmatrix![4.0, 1.1; 1.0, 2.0], dmatrix![-4.0, -1.0; -1.0, -2.0]]
        {
            let e = implicit_with(|x, p| Pair.eval(x, p), wrong, &[2.0, 1.0], &p).unwrap_err();
            assert!(matches!(e, Error::WrongJacobian { .. }), "{e}");
        }
    }
    // Constants have nothing to get wrong, a float no derivative, a NaN lane no size.
    assert_eq!(off(1.0, &[3.0, 2.0]), Ok(vec![2.0, 1.0]));
    let constants = off(1.0, &[D1::from(3.0), D1::from(2.0)]).unwrap();
    assert!(constants.iter().all(|x| x.eps == [0.0]));
    let y = off(0.0, &[Dual64::new(3.0, [1.0, f64::NAN]), Dual64::new(2.0, [0.0, 0.0])]).unwrap();
    let want = off(0.0, &[D1::new(3.0, [1.0]), D1::new(2.0, [0.0])]).unwrap();
    assert!((0..2).all(|i| y[i].eps[0].to_bits() == want[i].eps[0].to_bits() && y[i].eps[1].is_nan()));
    // x = p₁ whatever p₀ is: a derivative that is zero up to rounding is no disagreement.
    let p = [Dual64::<1>::variable(0.3, 0), Dual64::from(1.7)];
    let a = dmatrix![0.1, 0.7; 0.3 * 0.1, 1.9];
    let none = |x: &[Dual64<1>], p: &[Dual64<1>]| {
        let first = (x[0] - 2.0) * 0.1 + (x[1] - p[1]) * 0.7;
        vec![first, p[0] * (x[0] - 2.0) * 0.1 + (x[1] - p[1]) * 1.9]
    };
    assert!(implicit_with(none, a, &[2.0, 1.7], &p).unwrap().iter().all(|x| x.eps[0].abs() < 1e-15));
    // Single precision.
    let root = |a: f32| {
        let p = [Dual::<f32, 1>::variable(4.0, 0)];
        implicit_with(|x, p| vec![x[0] * x[0] - p[0]], dmatrix![a], &[2.0_f32], &p)
    };
    assert!((root(4.001).unwrap()[0].eps[0] - 0.25).abs() < 1e-6);
    assert!(matches!(root(5.0), Err(Error::WrongJacobian { unknown: 1, .. })));
}

/// Units of unknowns, equations and parameters decide nothing.
#[test]
fn a_wrong_jacobian_is_an_error_whatever_the_units() {
    let p = [D1::variable(1.0, 0)];
    for c in [1e-9, 1e-5, 1.0, 1e5, 1e9] {
        for (given, right) in [(0.5, false), (2.0, false), (-1.0, false), (1.0 + 1e-6, true), (1.0, true)] {
            // x = c p, and the equation in other units.
            for unit in [1e-7, 1.0, 1e7] {
                let scalar = |x: &[D1], p: &[D1]| vec![(x[0] - p[0] * c) * unit];
                let x = implicit_with(scalar, dmatrix![given * unit], &[c], &p);
                assert!(
                    x.is_ok_and(|x| (x[0].eps[0] / c - 1.0).abs() < 1e-11) == right,
                    "{c} {given} {unit}"
                );
                // Beside one whose Jacobian is right.
                let pair = |x: &[D1], p: &[D1]| vec![x[0] - p[0] * c, (x[1] - p[0] - x[0] / c + 1.0) * unit];
                let a = dmatrix![1.0, 0.0; -unit / c, given * unit];
                let x = implicit_with(pair, a, &[c, 1.0], &p);
                assert!(x.is_ok_and(|x| (x[1].eps[0] - 2.0).abs() < 1e-11) == right, "{c} {given} {unit}");
            }
        }
        // An unknown that rests because what moves it cancels: its derivative is a rounding error.
        let rests = |x: &[D1], p: &[D1]| {
            let (y, z) = (p[0] * (0.1 * c) - x[0] * 0.1, x[1] * 0.3 - p[0] * (0.7 * c) + x[0] * 0.7);
            vec![y * 3.0 + z, y - z * 7.0]
        };
        let a = dmatrix![0.4, 0.3; -5.0, -2.1];
        let x = implicit_with(rests, a, &[c, 0.0], &p).unwrap();
        assert!((x[0].eps[0] / c - 1.0).abs() < 1e-14 && x[1].eps[0].abs() < 1e-14 * c, "{c}: {x:?}");
    }
}

struct Bad(usize);

impl Equations for Bad {
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S], p: &[S]) -> Vec<S> {
        vec![x[0] * x[0] * p[0]; self.0]
    }
}

#[test]
fn what_has_no_derivative_is_an_error() {
    let p = [Dual64::<1>::variable(1.0, 0)];
    let e = implicit(&Bad(1), &[0.0], &p).unwrap_err();
    assert_eq!(e, Error::Singular { routine: "implicit", pivot: 1 });
    let e = implicit(&Bad(2), &[1.0], &p).unwrap_err();
    assert!(matches!(e, Error::Shape { routine: "implicit", found: (2, 1), .. }));
    let e = implicit(&Bad(1), &[f64::NAN], &p).unwrap_err();
    assert!(matches!(e, Error::NonFinite { routine: "implicit", .. }));
    let e = implicit_with(|_, _| vec![p[0], p[0]], dmatrix![1.0], &[1.0], &p).unwrap_err();
    assert!(matches!(e, Error::Shape { routine: "implicit_with", found: (2, 1), .. }));
    let none = implicit_with(|_, _| vec![], DMatrix::zeros(0, 0), &[], &p).unwrap();
    assert!(none.is_empty());
}

/// A Gaussian log-likelihood: Cholesky inside.
struct LogDet;

impl ScalarFn for LogDet {
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S]) -> S {
        let n = x.len();
        let k = DMatrix::from_fn(n, n, |i, j| if i == j { x[i] * x[i] + S::one() } else { x[i] * x[j] });
        Cholesky::new(k).unwrap().ln_determinant()
    }
}

struct Inverse;

impl VectorFn for Inverse {
    fn eval<S: Real<Base = f64> + Lapack>(&self, x: &[S]) -> Vec<S> {
        let a = DMatrix::from_diagonal(&DVector::from_column_slice(x));
        Cholesky::new(a).unwrap().inverse().diagonal().as_slice().to_vec()
    }
}

#[test]
fn one_definition_serves_value_gradient_and_hessian() {
    // det(I + x x') = 1 + |x|².
    let x = [0.5, -1.0, 2.0];
    let s: f64 = 1.0 + x.iter().map(|x| x * x).sum::<f64>();
    let (value, g, h) = LogDet.hessian(&x);
    assert!((value - s.ln()).abs() < 1e-14);
    assert_eq!(LogDet.value(&x).to_bits(), LogDet.gradient(&x).0.to_bits());
    for i in 0..3 {
        assert!((g[i] - 2.0 * x[i] / s).abs() < 1e-14);
        assert!((LogDet.gradient(&x).1[i] - g[i]).abs() < 1e-15);
        for j in 0..3 {
            let want = if i == j { 2.0 / s } else { 0.0 } - 4.0 * x[i] * x[j] / (s * s);
            assert!((h[(i, j)] - want).abs() < 1e-14);
        }
    }
    let (_, _, product) = LogDet.hvp(&x, &[1.0, 0.0, 0.0]);
    assert!((0..3).all(|i| (product[i] - h[(i, 0)]).abs() < 1e-14));
    let (y, j) = Inverse.jacobian(&[2.0, 4.0]);
    assert_eq!(Inverse.value(&[2.0, 4.0]), y);
    assert!((j - dmatrix![-0.25, 0.0; 0.0, -0.0625]).norm() < 1e-15);
    let (_, dy) = Inverse.jvp(&[2.0, 4.0], &[1.0, 0.0]);
    assert!((dy[0] + 0.25).abs() < 1e-15 && dy[1] == 0.0);
}

/// Blocks of three unknowns through each of the factorizations: a tracer cannot see through LAPACK, a probe can.
#[test]
fn a_probe_sees_through_lapack() {
    fn blocks<S: Real<Base = f64> + Lapack>(y: &mut [S], x: &[S]) {
        for (k, (y, x)) in y.chunks_exact_mut(3).zip(x.chunks_exact(3)).enumerate() {
            let a = DMatrix::from_fn(3, 3, |i, j| {
                let far = S::from_base(if i == j { 3.0 } else { 0.1 });
                x[(i + j) % 3] * x[(i * j) % 3] + far
            });
            let b = DVector::from_column_slice(x);
            let solved = match k % 3 {
                0 => Cholesky::new(&a * a.transpose()).unwrap().solve(&b).unwrap(),
                1 => LU::new(a).unwrap().solve(&b).unwrap(),
                _ => expm(&a).unwrap() * b,
            };
            y.copy_from_slice(solved.as_slice());
        }
    }
    let n = 27;
    let x: Vec<f64> = (0..n).map(|i| 0.2 * (i as f64).sin()).collect();
    let mut sparse = SparseJacobian::<f64>::probe(blocks, &x, n);
    let want = (0..n).flat_map(|i| (0..3).map(move |j| (i, i / 3 * 3 + j)));
    assert_eq!(*sparse.pattern(), Pattern::new(n, n, want));
    assert_eq!(sparse.passes(), 1);
    assert!(sparse.covers(blocks, &x));
    let (mut y, mut entries) = (vec![0.0; n], vec![0.0; 3 * n]);
    sparse.evaluate(blocks, &x, &mut y, &mut entries);
    let dense = jacobian(
        |x: &[_]| {
            let mut y = vec![Dual64::constant(0.0); n];
            blocks(&mut y, x);
            y
        },
        &x,
    );
    for (at, e) in sparse.pattern().entries().zip(entries) {
        assert!((e - dense.1[at]).abs() < 1e-14, "{at:?}");
    }
}
