//! Complex scalars of duals: the Cholesky family with adjoints and a real diagonal.

use dualpack::{Diag, Dual, Error, HyperDual, LU, Lapack, Potrf, Potrs, Side, Trans, Trsm, Uplo};
use nalgebra::{Complex, DMatrix};

use crate::laws::{FIRST, Part, SECOND, assert_differences};
use crate::support::compare::same_bits;
use crate::support::differences;
use crate::support::matrices::{Kind, Random};

type C64 = Complex<f64>;
type D64 = Complex<Dual<f64, 1>>;

fn random_complex(random: &mut Random, m: usize, n: usize) -> DMatrix<C64> {
    let (re, im) = (random.matrix(m, n), random.matrix(m, n));
    DMatrix::from_fn(m, n, |i, j| Complex::new(re[(i, j)], im[(i, j)]))
}

/// Hermitian positive definite, condition about 10, and two Hermitian directions.
fn point(n: usize) -> [DMatrix<C64>; 3] {
    let mut random = Random::new(n as u64 + 40);
    let b = random_complex(&mut random, n, n);
    let a = &b * b.adjoint() / C64::from(n as f64) + Kind::Spd.matrix(1, n).map(C64::from);
    let mut hermitian = || {
        let d = random_complex(&mut random, n, n);
        (&d + d.adjoint()) * C64::from(0.5)
    };
    [a, hermitian(), hermitian()]
}

fn triangle<T: Copy>(uplo: Uplo, a: &DMatrix<T>, read: impl Fn(T) -> C64) -> Vec<f64> {
    let mut all = Vec::new();
    for j in 0..a.ncols() {
        for i in (0..a.nrows()).filter(|&i| Part::Triangle(uplo).contains(i, j)) {
            let z = read(a[(i, j)]);
            all.extend([z.re, z.im]);
        }
    }
    all
}

/// `call` overwrites a triangle; values, first derivatives and the mixed second one are checked against the plain
/// complex routine and its differences, hyper-dual and nested against each other.
fn check(
    n: usize,
    uplo: Uplo,
    at: [DMatrix<C64>; 3],
    plain: impl Fn(&mut DMatrix<C64>),
    hyper: impl Fn(&mut DMatrix<Complex<HyperDual<f64, 1, 1>>>),
    nested: impl Fn(&mut DMatrix<Complex<Dual<Dual<f64, 1>, 1>>>),
    dual: impl Fn(&mut DMatrix<Complex<Dual<f64, 2>>>),
) {
    let [a, d1, d2] = &at;
    let moved = |s: f64, t: f64| {
        let mut x = a + d1 * C64::from(s) + d2 * C64::from(t);
        plain(&mut x);
        triangle(uplo, &x, |z| z)
    };
    let with = |f: &dyn Fn(f64, f64, f64) -> HyperDual<f64, 1, 1>| {
        DMatrix::from_fn(n, n, |i, j| {
            let (x, y, z) = (a[(i, j)], d1[(i, j)], d2[(i, j)]);
            Complex::new(f(x.re, y.re, z.re), f(x.im, y.im, z.im))
        })
    };
    let mut h = with(&|x, y, z| HyperDual::new(x, [y], [z], [[0.0]]));
    let lift =
        |x: HyperDual<f64, 1, 1>| Dual::new(Dual::new(x.value, x.eps2), [Dual::new(x.eps1[0], x.eps12[0])]);
    let mut k = h.map(|z| Complex::new(lift(z.re), lift(z.im)));
    let two = |x: HyperDual<f64, 1, 1>| Dual::new(x.value, [x.eps1[0], x.eps2[0]]);
    let mut d = h.map(|z| Complex::new(two(z.re), two(z.im)));
    hyper(&mut h);
    nested(&mut k);
    dual(&mut d);
    let value = moved(0.0, 0.0);
    let parts = |f: fn(HyperDual<f64, 1, 1>) -> f64| triangle(uplo, &h, |z| Complex::new(f(z.re), f(z.im)));
    for (x, y) in value.iter().zip(parts(|x| x.value)) {
        assert!(same_bits(*x, y), "value {y} for {x}");
    }
    let first = parts(|x| x.eps1[0]);
    let mixed = parts(|x| x.eps12[0][0]);
    assert_differences(&differences::first(|t| moved(t, 0.0), 1e-2), &first, FIRST, "complex, first");
    assert_differences(&differences::mixed(moved, 2e-2), &mixed, SECOND, "complex, mixed");
    let near = |x: Vec<f64>, y: &[f64], what: &str| {
        let size = y.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        x.iter().zip(y).for_each(|(x, y)| assert!((x - y).abs() <= 1e-13 * size, "{what}: {x} for {y}"));
    };
    near(triangle(uplo, &k, |z| Complex::new(z.re.eps[0].value, z.im.eps[0].value)), &first, "nested first");
    near(
        triangle(uplo, &k, |z| Complex::new(z.re.eps[0].eps[0], z.im.eps[0].eps[0])),
        &mixed,
        "nested mixed",
    );
    near(triangle(uplo, &d, |z| Complex::new(z.re.eps[0], z.im.eps[0])), &first, "two lanes, first");
    near(
        triangle(uplo, &d, |z| Complex::new(z.re.eps[1], z.im.eps[1])),
        &parts(|x| x.eps2[0]),
        "two lanes, second",
    );
}

#[test]
fn potrf() {
    fn f<T: Lapack>(uplo: Uplo) -> impl Fn(&mut DMatrix<T>) {
        move |a| T::potrf(uplo, a.as_view_mut()).unwrap()
    }
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for n in [1, 2, 5, 20] {
            check(n, uplo, point(n), f(uplo), f(uplo), f(uplo), f(uplo));
        }
    }
}

/// The diagonal of the factor is real, in the value and in the tangents, and imaginary parts on the diagonal of the
/// matrix do not count.
#[test]
fn the_diagonal_is_real() {
    let [a, d, _] = point(4);
    let mut l = DMatrix::from_fn(4, 4, |i, j| {
        let extra = if i == j { 3.0 } else { 0.0 };
        Complex::new(Dual::new(a[(i, j)].re, [d[(i, j)].re]), Dual::new(a[(i, j)].im, [d[(i, j)].im + extra]))
    });
    D64::potrf(Uplo::Lower, l.as_view_mut()).unwrap();
    let at = |f: &dyn Fn(Complex<Dual<f64, 1>>) -> C64| l.map(f).lower_triangle();
    let (l0, dl) =
        (at(&|z| Complex::new(z.re.value, z.im.value)), at(&|z| Complex::new(z.re.eps[0], z.im.eps[0])));
    assert!((0..4).all(|i| l0[(i, i)].im == 0.0 && dl[(i, i)].im == 0.0));
    let identity = &dl * l0.adjoint() + &l0 * dl.adjoint();
    assert!((identity - d).norm() < 1e-13);
}

#[test]
fn potri() {
    fn f<T: Lapack>(uplo: Uplo) -> impl Fn(&mut DMatrix<T>) {
        move |a| T::potri(uplo, a.as_view_mut()).unwrap()
    }
    for uplo in [Uplo::Lower, Uplo::Upper] {
        let [a, d1, d2] = point(5);
        let real_diagonal = |mut d: DMatrix<C64>| {
            d.iter_mut().step_by(6).for_each(|z| z.im = 0.0);
            d
        };
        let mut l = a;
        C64::potrf(uplo, l.as_view_mut()).unwrap();
        check(5, uplo, [l, real_diagonal(d1), real_diagonal(d2)], f(uplo), f(uplo), f(uplo), f(uplo));
    }
}

/// dA X + A dX = dB for a Hermitian A.
#[test]
fn potrs() {
    let mut random = Random::new(77);
    let (n, r) = (6, 3);
    let [a, da, _] = point(n);
    let (b, db) = (random_complex(&mut random, n, r), random_complex(&mut random, n, r));
    let dual = |x: C64, t: C64| Complex::new(Dual::new(x.re, [t.re]), Dual::new(x.im, [t.im]));
    for uplo in [Uplo::Lower, Uplo::Upper] {
        let mut l = DMatrix::from_fn(n, n, |i, j| dual(a[(i, j)], da[(i, j)]));
        let mut x = DMatrix::from_fn(n, r, |i, j| dual(b[(i, j)], db[(i, j)]));
        D64::potrf(uplo, l.as_view_mut()).unwrap();
        D64::potrs(uplo, l.as_view(), x.as_view_mut()).unwrap();
        let x0 = x.map(|z| Complex::new(z.re.value, z.im.value));
        let dx = x.map(|z| Complex::new(z.re.eps[0], z.im.eps[0]));
        assert!((&a * &x0 - &b).norm() < 1e-13 * b.norm());
        assert!((&da * &x0 + &a * &dx - &db).norm() < 1e-12 * db.norm());
    }
}

#[test]
fn not_positive_definite() {
    let mut a = DMatrix::<Complex<Dual<f64, 1>>>::identity(3, 3);
    a[(1, 1)] = -a[(1, 1)];
    let error = D64::potrf(Uplo::Upper, a.as_view_mut()).unwrap_err();
    assert_eq!(error, Error::NotPositiveDefinite { routine: "potrf", minor: 2 });
    assert!(a[(0, 0)].re.eps[0].is_nan() && a[(0, 0)].im.eps[0].is_nan());
}

/// Division by a pivot whose square is out of range.
#[test]
fn extreme_pivots() {
    type D = Complex<Dual<f64, 1>>;
    for exponent in [-900, -600, 600, 900] {
        let f = 2.0_f64.powi(exponent);
        for n in [1, 3, 20] {
            let mut random = Random::new(n as u64);
            let (value, tangent) = (random_complex(&mut random, n, n), random_complex(&mut random, n, n));
            let identity = DMatrix::from_diagonal_element(n, n, C64::new(n as f64, 1.0));
            let a = |f: f64| {
                (&value + &identity).zip_map(&tangent, |x, t| {
                    D::new(Dual::new(f * x.re, [f * t.re]), Dual::new(f * x.im, [f * t.im]))
                })
            };
            let close = |x: &DMatrix<D>, y: &DMatrix<D>, f: f64| {
                let size = y.iter().fold(0.0_f64, |m, y| m.max(y.re.eps[0].abs()));
                x.iter().zip(y.iter()).all(|(x, y)| {
                    (x.re.value * f - y.re.value).abs() < 1e-10 * y.re.value.abs().max(1.0)
                        && (x.re.eps[0] * f - y.re.eps[0]).abs() < 1e-10 * size.max(1.0)
                        && (x.im.eps[0] * f - y.im.eps[0]).abs() < 1e-10 * size.max(1.0)
                })
            };
            let inverse = |f: f64| LU::new(a(f)).unwrap().inverse().unwrap();
            assert!(close(&inverse(f), &inverse(1.0), f), "2^{exponent}, order {n}: inverse");
            for (side, uplo) in [(Side::Left, Uplo::Lower), (Side::Right, Uplo::Upper)] {
                let solve = |f: f64| {
                    let mut x = DMatrix::<D>::identity(n, n);
                    let one = D::new(Dual::constant(1.0), Dual::constant(0.0));
                    D::trsm(side, uplo, Trans::NoTrans, Diag::NonUnit, one, a(f).as_view(), x.as_view_mut())
                        .unwrap();
                    x
                };
                assert!(close(&solve(f), &solve(1.0), f), "2^{exponent}, order {n}: {side:?}");
            }
        }
    }
}
