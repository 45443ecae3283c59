use dualpack::{Dual, Dual32, Error, Exponential, HyperDual, Lapack, Real, expm};
use nalgebra::{Complex, DMatrix, DMatrixViewMut, Matrix2};

use crate::laws::{Routine, check};
use crate::support::compare::{assert_close, assert_same_bits, part, relative_error};
use crate::support::matrices::{Kind, Random};

type D1 = Dual<f64, 1>;
type H = HyperDual<f64, 1, 1>;

struct Case {
    kind: Kind,
    n: usize,
    factor: f64,
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("expm {:?} n = {} times {}", self.kind, self.n, self.factor)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        vec![self.kind.matrix(2, self.n) * self.factor]
    }
    fn outputs(&self) -> Vec<usize> {
        vec![0]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        T::expm(a.remove(0))
    }
}

/// Every degree, with and without squarings; triangular and diagonal values with dense tangents among them.
#[test]
fn laws() {
    for n in [0, 1, 2, 5] {
        for factor in [0.0, 1e-4, 0.02, 0.2, 0.7, 2.0, 6.0] {
            check(&Case { kind: Kind::Random, n, factor });
        }
    }
    for kind in [Kind::Triangular, Kind::Diagonal, Kind::Jordan, Kind::Generator, Kind::Spd] {
        check(&Case { kind, n: 4, factor: 0.5 });
    }
    check(&Case { kind: Kind::Random, n: 20, factor: 1.0 });
}

fn dual(a: &DMatrix<f64>, da: &DMatrix<f64>) -> DMatrix<D1> {
    a.zip_map(da, |x, t| Dual::new(x, [t]))
}

fn derivative(a: &DMatrix<f64>, da: &DMatrix<f64>) -> DMatrix<f64> {
    part(&expm(&dual(a, da)).unwrap(), |x| x.eps[0])
}

/// The corner of the exponential of a block matrix is the derivative: exp [A E; 0 A], with E of the size of A, and
/// exp [A E F 0; 0 A 0 F; 0 0 A E; 0 0 0 A] for two directions (Higham and Relton 2014).
#[test]
fn block_matrices() {
    for (seed, kind) in Kind::ALL.into_iter().enumerate() {
        for n in [1, 2, 4] {
            let a = kind.matrix(seed as u64, n) * 0.7;
            if a.norm() > 1e3 {
                continue; // the block matrix itself is badly scaled
            }
            let mut random = Random::new(seed as u64);
            let size = a.norm().max(1e-3);
            let (e, f) = (random.matrix(n, n) * size, random.matrix(n, n) * size);
            let mut block = DMatrix::zeros(4 * n, 4 * n);
            for k in 0..4 {
                block.view_mut((k * n, k * n), (n, n)).copy_from(&a);
            }
            for at in [(0, 1), (2, 3)] {
                block.view_mut((at.0 * n, at.1 * n), (n, n)).copy_from(&e);
            }
            for at in [(0, 2), (1, 3)] {
                block.view_mut((at.0 * n, at.1 * n), (n, n)).copy_from(&f);
            }
            let two = block.view((0, 0), (2 * n, 2 * n)).clone_owned();
            let what = format!("{kind:?} n = {n}");
            let first = expm(&two).unwrap().view((0, n), (n, n)).clone_owned();
            assert_close(&derivative(&a, &e), &first, 1e-12, &what);
            let h = a.zip_zip_map(&e, &f, |x, e, f| H::new(x, [e], [f], [[0.0]]));
            let mixed = part(&expm(&h).unwrap(), |x| x.eps12[0][0]);
            let corner = expm(&block).unwrap().view((0, 3 * n), (n, n)).clone_owned();
            assert_close(&mixed, &corner, 1e-12, &format!("{what}, mixed"));
        }
    }
}

/// d exp(A)[A] = A exp A; rows of a generator's exponential sum to one, and stay so along generators.
#[test]
fn identities() {
    for kind in [Kind::Random, Kind::Unbalanced, Kind::Generator, Kind::Triangular] {
        let a = kind.matrix(4, 6);
        assert_close(&derivative(&a, &a), &(&a * expm(&a).unwrap()), 1e-13, &format!("{kind:?}"));
    }
    let (q, dq) = (Kind::Generator.matrix(1, 7), Kind::Generator.matrix(2, 7));
    let p = expm(&dual(&q, &dq)).unwrap();
    for i in 0..7 {
        let row: D1 = p.row(i).iter().fold(Dual::constant(0.0), |s, &x| s + x);
        assert!((row.value - 1.0).abs() < 1e-14 && row.eps[0].abs() < 1e-14, "{row}");
    }
}

/// The third derivative of exp(t A) is A³ exp(t A).
#[test]
fn third_order() {
    type D3 = Dual<Dual<Dual<f64, 1>, 1>, 1>;
    for factor in [1e-3, 0.1, 1.0, 5.0] {
        let a = Kind::Random.matrix(9, 4) * factor;
        let t = D3::new(
            Dual::new(Dual::new(1.0, [1.0]), [Dual::constant(1.0)]),
            [Dual::new(Dual::constant(1.0), [Dual::constant(0.0)])],
        );
        let e = expm(&a.map(|x| t * x)).unwrap();
        let third = part(&e, |x| x.eps[0].eps[0].eps[0]);
        let expected = &a * &a * &a * expm(&a).unwrap();
        assert_close(&third, &expected, 1e-11, &format!("times {factor}"));
    }
}

/// Third and fourth derivatives at nilpotent matrices, whose powers say nothing about products such as A E A F A: the
/// corner of the exponential of a block matrix is the k-th derivative in one direction, over k!.
#[test]
fn high_order_at_nilpotent_matrices() {
    type D4 = Dual<Dual<Dual<Dual<f64, 1>, 1>, 1>, 1>;
    for (n, size) in [(2, 0.0), (2, 1e-3), (2, 0.7), (2, 30.0), (3, 0.7), (3, 5.0)] {
        let a = DMatrix::from_fn(n, n, |i, j| if i + 1 == j { size } else { 0.0 });
        let e = Random::new(5).matrix(n, n);
        let zero = Dual::<f64, 1>::constant(0.0);
        let z2 = Dual::constant(zero);
        let t = |x: f64, e: f64| {
            let first = Dual::new(Dual::new(x, [e]), [Dual::constant(e)]);
            let third = Dual::new(first, [Dual::new(Dual::constant(e), [zero])]);
            D4::new(third, [Dual::new(Dual::new(Dual::constant(e), [zero]), [z2])])
        };
        let found = expm(&a.zip_map(&e, t)).unwrap();
        let mut block = DMatrix::zeros(5 * n, 5 * n);
        for k in 0..5 {
            block.view_mut((k * n, k * n), (n, n)).copy_from(&a);
        }
        for k in 0..4 {
            block.view_mut((k * n, (k + 1) * n), (n, n)).copy_from(&e);
        }
        let exact = expm(&block).unwrap();
        let what = format!("order {n} times {size}");
        let third = part(&found, |x| x.value.eps[0].eps[0].eps[0]);
        assert_close(&third, &(exact.view((0, 3 * n), (n, n)) * 6.0), 1e-12, &what);
        let fourth = part(&found, |x| x.eps[0].eps[0].eps[0].eps[0]);
        assert_close(&fourth, &(exact.view((0, 4 * n), (n, n)) * 24.0), 1e-11, &what);
        // A pushforward is one order more than the scalar has.
        let second = a.zip_map(&e, |x, e| H::new(x, [e], [e], [[0.0]]));
        let direction = e.map(H::constant);
        let push = Exponential::new(&second).unwrap().pushforward(&direction).unwrap();
        assert_close(&part(&push, |x| x.eps12[0][0]), &third, 1e-12, &what);
    }
}

/// exp(P A Pᵀ) = P exp(A) Pᵀ with tangents, for matrices whose zeros make balancing interchange in an order that
/// matters.
#[test]
fn permutation_covariance() {
    let literal = DMatrix::from_row_slice(
        4,
        4,
        &[5.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ) / 4.0;
    let mut matrices = vec![literal];
    matrices.extend((0..100).map(|seed| Kind::Unbalanced.matrix(seed, 4 + seed as usize % 6) * 0.5));
    for (seed, a) in matrices.iter().enumerate() {
        let n = a.nrows();
        let mut random = Random::new(seed as u64);
        let (e, f, p) = (random.matrix(n, n), random.matrix(n, n), random.permutation(n));
        let h = a.zip_zip_map(&e, &f, |x, e, f| H::new(x, [e], [f], [[0.0]]));
        let (direct, permuted) =
            (expm(&h).unwrap(), expm(&DMatrix::from_fn(n, n, |i, j| h[(p[i], p[j])])).unwrap());
        let moved = DMatrix::from_fn(n, n, |i, j| direct[(p[i], p[j])]);
        for (what, read) in [
            ("value", (|x| x.value) as fn(&H) -> f64),
            ("first", |x| x.eps1[0]),
            ("second", |x| x.eps12[0][0]),
        ] {
            assert_close(
                &part(&permuted, read),
                &part(&moved, read),
                1e-12,
                &format!("{what}, matrix {seed}"),
            );
        }
    }
}

/// A = I: the second derivative is (E F + F E) e / 2, though the matrix is symmetric and the tangents are not.
#[test]
fn at_the_identity() {
    let (e, f) = (Matrix2::new(1.0, 2.0, 2.0, -1.0), Matrix2::new(0.5, 1.0, 1.0, 3.0));
    let h = Matrix2::<f64>::identity().zip_zip_map(&e, &f, |x, e, f| H::new(x, [e], [f], [[0.0]]));
    let mixed = expm(&h).unwrap().map(|x| x.eps12[0][0]);
    assert_close(&mixed, &((e * f + f * e) * (1.0_f64.exp() / 2.0)), 1e-15, "second derivative");
}

/// A = 0: the tangent itself, to the bit.
#[test]
fn zero() {
    for n in 1..6 {
        let e = Random::new(n as u64).matrix(n, n);
        let zero = DMatrix::zeros(n, n);
        assert_same_bits(&derivative(&zero, &e), &e, "at zero");
        assert_eq!(expm(&zero).unwrap(), DMatrix::identity(n, n));
    }
}

/// A² = 0: exp A = I + A and the derivative E + (A E + E A)/2 + A E A/6 to full precision in every entry, however
/// large A is; a method that scales by the norm loses it.
#[test]
fn nilpotent() {
    for b in [1.0, 1e3, 1e6, 1e100] {
        let a = DMatrix::from_row_slice(2, 2, &[0.0, b, 0.0, 0.0]);
        let e = DMatrix::from_row_slice(2, 2, &[0.3, -0.7, 0.9, 0.4]);
        assert_eq!(expm(&a).unwrap(), DMatrix::identity(2, 2) + &a);
        let exact = |e: &DMatrix<f64>| e + (&a * e + e * &a) / 2.0 + &a * e * &a / 6.0;
        // The terms cancel in one entry, so that they are the measure, not their sum.
        let (exact, size) = (exact(&e), exact(&e.abs()));
        for ((x, y), size) in derivative(&a, &e).iter().zip(exact.iter()).zip(size.iter()) {
            assert!((x - y).abs() <= 4e-16 * size, "b = {b:e}: {x:e} for {y:e}");
        }
    }
    let a = DMatrix::from_row_slice(2, 2, &[0.0, f64::MAX, 0.0, 0.0]);
    assert_eq!(expm(&a).unwrap(), DMatrix::identity(2, 2) + a);
}

/// A strictly triangular A of order n has Aⁿ = 0 and a polynomial exponential, whose second derivative has higher
/// powers than the value.
#[test]
fn strictly_triangular() {
    for n in 2..9 {
        let a = DMatrix::from_fn(n, n, |i, j| if i < j { 1.0 + (i + 2 * j) as f64 / 7.0 } else { 0.0 });
        let mut random = Random::new(n as u64);
        let (e, f) = (random.matrix(n, n), random.matrix(n, n));
        let h = a.zip_zip_map(&e, &f, |x, e, f| H::new(x, [e], [f], [[0.0]]));
        // The series, in hyper-dual arithmetic.
        let (mut sum, mut term) = (DMatrix::<H>::identity(n, n), DMatrix::<H>::identity(n, n));
        for k in 1..60 {
            term = &term * &h / H::constant(f64::from(k));
            sum += &term;
        }
        let exp = expm(&h).unwrap();
        assert_close(&part(&exp, |x| x.value), &part(&sum, |x| x.value), 1e-15, "value");
        assert_close(&part(&exp, |x| x.eps1[0]), &part(&sum, |x| x.eps1[0]), 1e-13, "first");
        assert_close(&part(&exp, |x| x.eps12[0][0]), &part(&sum, |x| x.eps12[0][0]), 1e-13, "second");
    }
}

/// Triangular matrices: the diagonal is exact, the entries next to it are right to rounding, whatever lies between.
#[test]
fn triangular_values() {
    for (x, y, b) in
        [(-2000.0_f64, 0.0_f64, 1000.0_f64), (1.0, -30.0, 1e5), (3.0, 3.0 + 1e-9, 1.0), (-700.0, 600.0, 1e-3)]
    {
        for lower in [false, true] {
            let a = DMatrix::from_row_slice(2, 2, &[x, b, 0.0, y]);
            let exp = expm(&if lower { a.transpose() } else { a }).unwrap();
            let exp = if lower { exp.transpose() } else { exp };
            let (small, large) = if x < y { (x, y) } else { (y, x) };
            let off = b * large.exp() * -(small - large).exp_m1() / (large - small);
            assert_eq!((exp[(0, 0)], exp[(1, 1)], exp[(1, 0)]), (x.exp(), y.exp(), 0.0));
            assert!((exp[(0, 1)] - off).abs() <= 1e-14 * off.abs(), "{:e} for {off:e}", exp[(0, 1)]);
        }
    }
    // d/dx of b (eˣ − 1)/x at −2000.
    let a = DMatrix::from_row_slice(2, 2, &[-2000.0, 1000.0, 0.0, 0.0]);
    let e = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, 0.0]);
    let exact = DMatrix::from_row_slice(2, 2, &[0.0, 2.5e-4, 0.0, 0.0]);
    assert!((derivative(&a, &e) - exact).norm() < 1e-16);
}

/// A matrix that needs balancing: entries over 20 orders, an exponential of order one.
#[test]
fn balancing_helps() {
    let t =
        DMatrix::from_diagonal(&nalgebra::DVector::from_vec(vec![2.0_f64.powi(20), 1.0, 2.0_f64.powi(-20)]));
    let inverse = t.map(|x| if x == 0.0 { 0.0 } else { 1.0 / x });
    let (a, e) = (Random::new(1).matrix(3, 3), Random::new(2).matrix(3, 3));
    let (exp, d) = (expm(&a).unwrap(), derivative(&a, &e));
    let scaled =
        (expm(&(&t * &a * &inverse)).unwrap(), derivative(&(&t * &a * &inverse), &(&t * &e * &inverse)));
    for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
        let f = t[(i, i)] * inverse[(j, j)];
        assert!((scaled.0[(i, j)] / f - exp[(i, j)]).abs() < 1e-14, "value");
        assert!((scaled.1[(i, j)] / f - d[(i, j)]).abs() < 1e-14, "derivative");
    }
}

/// Enormous and tiny matrices end, with values in range or honest infinities.
#[test]
fn extreme_norms() {
    let r = Random::new(8).matrix(3, 3);
    let e = Random::new(9).matrix(3, 3);
    let tiny = &r * 2.0_f64.powi(-500);
    assert_eq!(expm(&tiny).unwrap().diagonal(), DMatrix::<f64>::identity(3, 3).diagonal());
    assert_close(&derivative(&tiny, &e), &e, 1e-15, "tiny");
    // Negative definite: everything decays to zero, tangents too, without a NaN.
    for size in [1e3, 1e10, 1e300] {
        let a = -Kind::Spd.matrix(1, 3) * size;
        assert_eq!(expm(&a).unwrap(), DMatrix::zeros(3, 3), "{size:e}");
        assert_eq!(derivative(&a, &e), DMatrix::zeros(3, 3), "{size:e}");
    }
    // Overflow: infinite values, no finite tangent.
    for size in [1e3, 1e10, 1e300] {
        let exp = expm(&dual(&(Kind::Spd.matrix(1, 3) * size), &e)).unwrap();
        assert!(exp.iter().all(|x| !x.value.is_finite() && x.eps[0].is_nan()), "{size:e}");
    }
    for huge in [2.0_f64.powi(500), 1e308] {
        let exp = expm(&dual(&(&r * huge), &e)).unwrap();
        assert!(exp.iter().any(|x| !x.value.is_finite()) && exp.iter().all(|x| x.eps[0].is_nan()));
        assert!(Exponential::new(&(&r * huge)).unwrap().pushforward(&e).unwrap().iter().all(|x| x.is_nan()));
    }
}

/// exp(800 I) is infinite on the diagonal, zero elsewhere, and has no tangents; an entry that does not overflow
/// keeps its value.
#[test]
fn overflow() {
    for n in [1, 3] {
        let a = DMatrix::<f64>::identity(n, n) * 800.0;
        let exp = expm(&dual(&a, &Random::new(1).matrix(n, n))).unwrap();
        for (i, j) in (0..n * n).map(|k| (k / n, k % n)) {
            assert_eq!(exp[(i, j)].value, if i == j { f64::INFINITY } else { 0.0 });
            assert!(exp[(i, j)].eps[0].is_nan());
        }
        let nested = expm(&a.map(|x| Dual::new(Dual::new(x, [1.0]), [Dual::new(1.0, [0.0])]))).unwrap();
        assert!(
            nested
                .iter()
                .all(|x| x.value.eps[0].is_nan() && x.eps[0].value.is_nan() && x.eps[0].eps[0].is_nan())
        );
    }
    let exp = expm(&DMatrix::from_row_slice(2, 2, &[3000.0, 0.0, 0.0, 1.0])).unwrap();
    assert_eq!(exp, DMatrix::from_row_slice(2, 2, &[f64::INFINITY, 0.0, 0.0, 1.0_f64.exp()]));
}

#[test]
fn the_order_one_is_the_function() {
    for x in [-1e300_f64, -800.0, -0.5, 0.0, 1.0, 700.0] {
        let exp = expm(&DMatrix::from_element(1, 1, Dual::new(x, [3.0]))).unwrap()[(0, 0)];
        assert_eq!((exp.value, exp.eps[0]), (x.exp(), 3.0 * x.exp()));
    }
}

#[test]
fn singles() {
    for factor in [0.05, 1.0, 8.0] {
        let (a, e) = (Random::new(5).matrix(4, 4) * factor, Random::new(6).matrix(4, 4));
        let a = a.map(|x| f64::from(x as f32));
        let e = e.map(|x| f64::from(x as f32));
        let exp = expm(&a.zip_map(&e, |x, t| Dual32::new(x as f32, [t as f32]))).unwrap();
        assert_close(&exp.map(|x| f64::from(x.value)), &expm(&a).unwrap(), 2e-6, "value");
        assert_close(&exp.map(|x| f64::from(x.eps[0])), &derivative(&a, &e), 2e-5, "derivative");
    }
}

/// A complex matrix is a real one of twice the order.
#[test]
fn complex() {
    let n = 3;
    let mut random = Random::new(21);
    let mut real = || random.matrix(n, n) * 1.5;
    let (re, im, dre, dim) = (real(), real(), real(), real());
    let embed = |re: &DMatrix<f64>, im: &DMatrix<f64>| {
        DMatrix::from_fn(2 * n, 2 * n, |i, j| {
            let at = (i % n, j % n);
            match (i < n, j < n) {
                (true, true) | (false, false) => re[at],
                (true, false) => -im[at],
                (false, true) => im[at],
            }
        })
    };
    let z = DMatrix::from_fn(n, n, |i, j| {
        Complex::new(Dual::new(re[(i, j)], [dre[(i, j)]]), Dual::new(im[(i, j)], [dim[(i, j)]]))
    });
    let exp = expm(&z).unwrap();
    let plain = expm(&z.map(|z| Complex::new(z.re.value, z.im.value))).unwrap();
    assert_eq!(exp.map(|z| Complex::new(z.re.value, z.im.value)), plain);
    let real = expm(&dual(&embed(&re, &im), &embed(&dre, &dim))).unwrap();
    let upper = |read: fn(&D1) -> f64| part(&real, read).view((0, 0), (n, n)).clone_owned();
    let lower = |read: fn(&D1) -> f64| part(&real, read).view((n, 0), (n, n)).clone_owned();
    for (read, what) in [((|x| x.value) as fn(&D1) -> f64, "value"), (|x| x.eps[0], "derivative")] {
        assert_close(&exp.map(|z| read(&z.re)), &upper(read), 1e-14, what);
        assert_close(&exp.map(|z| read(&z.im)), &lower(read), 1e-14, what);
    }
}

/// The handle has the value of `expm`, to the bit, and its derivatives, for any number of directions at once.
#[test]
fn pushforward() {
    for kind in [Kind::Random, Kind::Unbalanced, Kind::Diagonal] {
        for n in [0, 1, 2, 6] {
            let a = kind.matrix(3, n) * 3.0;
            let exp = Exponential::new(&a).unwrap();
            assert_same_bits(exp.value(), &expm(&a).unwrap(), "value");
            let directions = 19;
            let da = Random::new(4).matrix(n, n * directions);
            let all = exp.pushforward(&da).unwrap();
            for k in 0..directions {
                let e = da.columns(k * n, n).clone_owned();
                let one = derivative(&a, &e);
                assert!(relative_error(&all.columns(k * n, n), &one) <= 1e-14, "{kind:?} n = {n}");
                assert_close(&exp.pushforward(&e).unwrap(), &one, 1e-14, "one direction");
            }
            assert_eq!(exp.pushforward(&DMatrix::zeros(n, 0)).unwrap().ncols(), 0);
        }
    }
    let exp = Exponential::new(&Matrix2::new(1.0, 2.0, 3.0, 4.0)).unwrap();
    assert!(matches!(exp.pushforward(&nalgebra::Matrix2x3::zeros()), Err(Error::Shape { .. })));
}

#[test]
fn bad_input() {
    fn all<T: Lapack + Real<Base = f64>>() {
        for shape in [(2, 3), (3, 2), (0, 1), (1, 0)] {
            let refused = expm(&DMatrix::<T>::zeros(shape.0, shape.1));
            assert!(matches!(refused, Err(Error::Shape { routine: "expm", .. })));
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for n in [1, 3] {
                let mut a = DMatrix::<T>::identity(n, n);
                a[(n - 1, 0)] = T::from_base(bad);
                let error = Error::NonFinite { routine: "expm", row: n, col: 1 };
                assert_eq!(expm(&a).unwrap_err(), error);
                assert_eq!(Exponential::new(&a).unwrap_err(), error);
                let mut kept = a.clone();
                assert!(T::expm(kept.as_view_mut()).is_err());
                assert!(kept.iter().zip(a.iter()).all(|(x, y)| x.same(*y)), "a refused matrix is left alone");
            }
        }
        assert_eq!(expm(&DMatrix::<T>::zeros(0, 0)).unwrap().shape(), (0, 0));
    }
    all::<f64>();
    all::<Dual<f64, 2>>();
    all::<Dual<Dual<f64, 1>, 2>>();
}

/// The numbers of num-dual go through the same rules.
#[cfg(feature = "num-dual")]
#[test]
fn numbers_of_num_dual() {
    let (a, e) = (Random::new(11).matrix(3, 3) * 2.0, Random::new(12).matrix(3, 3));
    let theirs = expm(&a.zip_map(&e, num_dual::Dual64::new)).unwrap();
    let ours = expm(&dual(&a, &e)).unwrap();
    assert_same_bits(&theirs.map(|x| x.re), &part(&ours, |x| x.value), "value");
    assert_close(&theirs.map(|x| x.eps), &part(&ours, |x| x.eps[0]), 1e-15, "derivative");
    let theirs = expm(&a.zip_map(&e, |x, t| num_dual::HyperDual64::new(x, t, t, 0.0))).unwrap();
    let ours = expm(&a.zip_map(&e, |x, t| H::new(x, [t], [t], [[0.0]]))).unwrap();
    assert_close(&theirs.map(|x| x.eps1eps2), &part(&ours, |x| x.eps12[0][0]), 1e-15, "second");
}

/// Values are those of floats for numbers of every order, also where more derivatives ask for a higher degree.
#[test]
fn values_of_many_orders() {
    type Second = HyperDual<f64, 1, 1>;
    // One above the largest order of the kernel, at a norm just below a bound of the degrees.
    let n = 129;
    let a = DMatrix::from_fn(n, n, |i, j| {
        (1.0 + 1e-3 * ((7 * i + 3 * j) % 11) as f64) * 0.1268 / 1.005 / n as f64
    });
    let deep = expm(&a.map(|x| HyperDual::<Second, 1, 1>::constant(Second::constant(x)))).unwrap();
    assert_same_bits(&deep.map(|x| x.value.value), &expm(&a).unwrap(), "value");
}
