use dualpack::{Cholesky, Dual, Dual2, Error, Getrf, HyperDual, Lapack, Potrf, Real, Uplo};
use nalgebra::{DMatrix, DVector, Matrix3, Matrix3x1, SMatrix, Vector3};

use crate::laws::{FIRST, SECOND, assert_differences};
use crate::support::compare::{assert_close, assert_same_bits, part};
use crate::support::differences;
use crate::support::matrices::{Kind, Random};

/// The front's value does not depend on the scalar type, and agrees with nalgebra's.
#[test]
fn values() {
    for n in [1, 2, 5, 30] {
        let a = Kind::Spd.matrix(51, n);
        let b = Random::new(52).matrix(n, 2);
        let plain = Cholesky::new(a.clone()).unwrap();
        let reference = nalgebra::Cholesky::new(a.clone()).unwrap();
        assert_close(&plain.l(), &reference.l(), 1e-13, "l");
        assert_close(&plain.solve(&b).unwrap(), &reference.solve(&b), 1e-12, "solve");
        assert_close(&plain.inverse(), &reference.inverse(), 1e-12, "inverse");
        assert!((plain.determinant() / reference.determinant() - 1.0).abs() < 1e-12);
        assert!((plain.ln_determinant() - reference.ln_determinant()).abs() < 1e-12 * n as f64);
        let dual = Cholesky::new(a.map(|x| Dual::<f64, 5>::new(x, [1.0; 5]))).unwrap();
        assert_same_bits(&part(&dual.l(), |x| x.value), &plain.l(), "l of duals");
        let x = dual.solve(&b.map(Dual::from_base)).unwrap();
        assert_same_bits(&part(&x, |x| x.value), &plain.solve(&b).unwrap(), "solve of duals");
        assert_same_bits(&part(&dual.inverse(), |x| x.value), &plain.inverse(), "inverse of duals");
        assert_eq!(dual.ln_determinant().value.to_bits(), plain.ln_determinant().to_bits());
        assert_eq!(dual.determinant().value.to_bits(), plain.determinant().to_bits());
    }
}

/// Tiny matrices are factored and solved without LAPACK: the same up to rounding as LAPACK's, with the same errors.
#[test]
fn front_and_floor() {
    for n in (0..=17).chain([20, 23, 24, 25]) {
        for kind in [Kind::Spd, Kind::NearSingularSpd] {
            let a = kind.matrix(81, n);
            let mut l = a.clone();
            f64::potrf(Uplo::Lower, l.as_view_mut()).unwrap();
            let (l, chol) = (l.lower_triangle(), Cholesky::new(a.clone()).unwrap());
            // Both are exact for a matrix this close to A.
            let backward = (chol.l() * chol.l().transpose() - &a).norm();
            assert!(backward <= n as f64 * f64::EPSILON * a.norm(), "n = {n} {kind:?}: {backward:e}");
            if kind == Kind::Spd {
                assert_close(&chol.l(), &l, 1e-14, "l");
            }
            let b = Random::new(82).matrix(n, 3);
            let x = chol.solve(&b).unwrap();
            let residual = (&a * &x - &b).norm();
            assert!(residual <= 4.0 * n as f64 * f64::EPSILON * a.norm() * x.norm(), "n = {n}: {residual:e}");
        }
        for minor in 1..=n {
            let mut a = Kind::Spd.matrix(83, n);
            a[(minor - 1, minor - 1)] = -1.0;
            let expected = Error::NotPositiveDefinite { routine: "potrf", minor };
            assert_eq!(f64::potrf(Uplo::Lower, a.clone().as_view_mut()).unwrap_err(), expected);
            assert_eq!(Cholesky::new(a.clone()).unwrap_err(), expected);
            assert_eq!(Cholesky::new(a.map(|x| Dual::<f64, 3>::new(x, [1.0; 3]))).unwrap_err(), expected);
            a[(n - 1, minor - 1)] = f64::INFINITY;
            let expected = Error::NonFinite { routine: "potrf", row: n, col: minor };
            assert_eq!(Cholesky::new(a.clone()).unwrap_err(), expected);
            assert_eq!(Cholesky::new(a.map(|x| Dual::<f64, 3>::new(x, [1.0; 3]))).unwrap_err(), expected);
        }
    }
    // A zero pivot: semidefinite, in both.
    let a = DMatrix::from_element(2, 2, 1.0);
    let expected = Error::NotPositiveDefinite { routine: "potrf", minor: 2 };
    assert_eq!(f64::potrf(Uplo::Lower, a.clone().as_view_mut()).unwrap_err(), expected);
    assert_eq!(Cholesky::new(a).unwrap_err(), expected);
}

/// What is refused is left as it was, in the kernel and beyond it.
#[test]
fn refused_input_is_left_alone() {
    for n in [2, 4, 6, 24, 25, 40] {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut a = Kind::Spd.matrix(85, n).map(|x| Dual::<f64, 3>::new(x, [1.0, 2.0, 3.0]));
            a[(n - 1, n - 1)].value = bad;
            let bits = |a: &DMatrix<Dual<f64, 3>>| {
                a.iter().map(|x| (x.value.to_bits(), x.eps.map(f64::to_bits))).collect::<Vec<_>>()
            };
            let before = bits(&a);
            let error = Dual::front_potrf(a.as_view_mut()).unwrap_err();
            assert_eq!(error, Error::NonFinite { routine: "potrf", row: n, col: n });
            assert_eq!(bits(&a), before, "n = {n}");
        }
    }
}

/// No time and no memory for columns without rows, or rows without columns.
#[test]
fn empty_but_long() {
    type D = Dual<f64, 2>;
    let none = DMatrix::<D>::zeros(0, 0);
    let x = Cholesky::new(none).unwrap().solve(&DMatrix::<D>::zeros(0, 1 << 40)).unwrap();
    assert_eq!(x.shape(), (0, 1 << 40));
    assert_eq!(D::getrf(DMatrix::<D>::zeros(i32::MAX as usize, 0).as_view_mut(), &mut []), Ok(()));
}

/// Everything a front returns, as one list of numbers.
fn everything<T: Lapack + Real>(a: DMatrix<T>, b: &DMatrix<T>) -> Vec<T> {
    let chol = Cholesky::new(a).unwrap();
    let mut all: Vec<T> = chol.l().iter().copied().collect();
    all.extend(chol.solve(b).unwrap().iter());
    all.extend(chol.inverse().iter());
    all.extend([chol.determinant(), chol.ln_determinant()]);
    all
}

#[test]
fn derivatives_against_differences() {
    let (n, mut random) = (4, Random::new(60));
    let (a, da, ea) = (Kind::Spd.matrix(61, n), random.symmetric(n), random.symmetric(n));
    let (b, db) = (random.matrix(n, 2), random.matrix(n, 2));
    let f = |s: f64, t: f64| everything(&a + &da * s + &ea * t, &(&b + &db * s));
    let at = |x: f64, s: f64, t: f64| HyperDual::<f64, 1, 1>::new(x, [s], [t], [[0.0]]);
    let hyper = everything(
        DMatrix::from_fn(n, n, |i, j| at(a[(i, j)], da[(i, j)], ea[(i, j)])),
        &DMatrix::from_fn(n, 2, |i, j| at(b[(i, j)], db[(i, j)], 0.0)),
    );
    let read = |f: fn(&HyperDual<f64, 1, 1>) -> f64| hyper.iter().map(f).collect::<Vec<_>>();
    assert_differences(&differences::first(|s| f(s, 0.0), 1e-2), &read(|x| x.eps1[0]), FIRST, "first");
    assert_differences(&differences::first(|t| f(0.0, t), 1e-2), &read(|x| x.eps2[0]), FIRST, "other");
    assert_differences(&differences::mixed(f, 2e-2), &read(|x| x.eps12[0][0]), SECOND, "mixed");
    // Dual2 agrees in everything.
    let at = |x: f64, s: f64, t: f64| Dual2::<f64, 2> { value: x, grad: [s, t], hess: [[0.0; 2]; 2] };
    let symmetric = everything(
        DMatrix::from_fn(n, n, |i, j| at(a[(i, j)], da[(i, j)], ea[(i, j)])),
        &DMatrix::from_fn(n, 2, |i, j| at(b[(i, j)], db[(i, j)], 0.0)),
    );
    for (x, y) in symmetric.iter().zip(&hyper) {
        let near = |p: f64, q: f64| assert!((p - q).abs() <= 1e-11 * (1.0 + q.abs()), "{x:?} and {y:?}");
        near(x.grad[0], y.eps1[0]);
        near(x.grad[1], y.eps2[0]);
        near(x.hessian(0, 1), y.eps12[0][0]);
    }
}

/// Static sizes are the dynamic ones, and the upper triangle of the input is never looked at.
#[test]
fn static_sizes() {
    let nan = f64::NAN;
    let a = Matrix3::new(4.0, nan, nan, 1.0, 5.0, nan, 0.5, -1.0, 6.0);
    let chol = Cholesky::new(a).unwrap();
    let same = Cholesky::new(DMatrix::from_column_slice(3, 3, a.as_slice())).unwrap();
    assert_eq!(chol.l().as_slice(), same.l().as_slice());
    assert_eq!((chol.l()[(0, 1)], chol.l()[(0, 2)], chol.l()[(1, 2)]), (0.0, 0.0, 0.0));
    let x: Vector3<f64> = chol.solve(&Vector3::new(1.0, 2.0, 3.0)).unwrap();
    let y: DVector<f64> = same.solve(&DVector::from_column_slice(&[1.0, 2.0, 3.0])).unwrap();
    assert_eq!(x.as_slice(), y.as_slice());
    let mut z: Matrix3x1<f64> = Vector3::new(1.0, 2.0, 3.0);
    chol.solve_mut(&mut z).unwrap();
    assert_eq!(x, z);
    let empty = Cholesky::new(DMatrix::<Dual<f64, 2>>::zeros(0, 0)).unwrap();
    assert_eq!(empty.determinant(), Dual::from_base(1.0));
    assert_eq!(empty.inverse().shape(), (0, 0));
    assert_eq!(empty.pushforward(&DMatrix::zeros(0, 0)).unwrap().shape(), (0, 0));
}

/// Any number of directions side by side, more than one batch, static and dynamic: the same as lanes of duals.
#[test]
fn pushforward() {
    let n = 5;
    let a = Kind::Spd.matrix(70, n);
    let chol = Cholesky::new(a.clone()).unwrap();
    for directions in [0, 1, 15, 16, 17, 40] {
        let mut random = Random::new(directions as u64);
        let all: Vec<DMatrix<f64>> = (0..directions).map(|_| random.symmetric(n)).collect();
        let mut da = DMatrix::from_element(n, n * directions, f64::NAN);
        for (k, d) in all.iter().enumerate() {
            // Only the lower triangle is read.
            for j in 0..n {
                (j..n).for_each(|i| da[(i, k * n + j)] = d[(i, j)]);
            }
        }
        let dl = chol.pushforward(&da).unwrap();
        assert_eq!(dl.shape(), da.shape());
        for (k, d) in all.iter().enumerate() {
            let dual =
                Cholesky::new(DMatrix::from_fn(n, n, |i, j| Dual::new(a[(i, j)], [d[(i, j)]]))).unwrap();
            let dl: DMatrix<f64> = dl.columns(k * n, n).into_owned();
            assert_close(
                &dl,
                &part(&dual.l(), |x| x.eps[0]),
                1e-13,
                &format!("direction {k} of {directions}"),
            );
        }
    }
    let small = Cholesky::new(Matrix3::from_diagonal_element(4.0)).unwrap();
    let dl: SMatrix<f64, 3, 6> = small.pushforward(&SMatrix::<f64, 3, 6>::from_element(1.0)).unwrap();
    assert_eq!((dl[(0, 0)], dl[(1, 0)], dl[(0, 1)], dl[(2, 5)]), (0.25, 0.5, 0.0, 0.25));
    let wrong = chol.pushforward(&DMatrix::zeros(n, n + 1)).unwrap_err();
    assert_eq!(wrong.routine(), "Cholesky::pushforward");
}

/// The product of the squares is in range, its parts would not be.
#[test]
fn determinant_range() {
    for order in [[1e300, 1e300, 1e-300, 1e-300], [1e-300, 1e-300, 1e300, 1e300]] {
        let a = DMatrix::from_diagonal(&DVector::from_row_slice(&order));
        let det = Cholesky::new(a.map(|x| Dual::<f64, 1>::new(x, [x]))).unwrap().determinant();
        assert!((det.value - 1.0).abs() < 1e-14 && (det.eps[0] - 4.0).abs() < 1e-13, "{det}");
    }
}

#[test]
fn errors() {
    let nan = DMatrix::from_element(2, 2, Dual::<f64, 1>::from_base(f64::NAN));
    assert_eq!(Cholesky::new(nan).unwrap_err(), Error::NonFinite { routine: "potrf", row: 1, col: 1 });
    let wide = DMatrix::<f64>::zeros(2, 3);
    assert!(matches!(Cholesky::new(wide), Err(Error::Shape { routine: "potrf", found: (2, 3), .. })));
    let indefinite = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 2.0, 1.0]);
    assert_eq!(
        Cholesky::new(indefinite).unwrap_err(),
        Error::NotPositiveDefinite { routine: "potrf", minor: 2 }
    );
    let chol = Cholesky::new(DMatrix::<f64>::identity(3, 3)).unwrap();
    assert!(matches!(chol.solve(&DVector::zeros(2)), Err(Error::Shape { routine: "potrs", .. })));
    let message = chol.solve(&DVector::from_element(3, f64::INFINITY)).unwrap_err().to_string();
    assert_eq!(
        message,
        "potrs: entry (1, 1), counted from 1, is NaN or infinite; clean the input before the call"
    );
}

/// Single precision takes every road that double precision takes: kernel, blocks in place, planes, nested.
#[test]
fn single_precision() {
    for n in [2, 8, 24, 40] {
        let (a, d) = (Kind::Spd.matrix(91, n), Random::new(92).symmetric(n));
        let b = Random::new(93).matrix(n, 2);
        let lift = |x: f64, t: f64| Dual::<f32, 3>::new(x as f32, [t as f32, 0.0, -t as f32]);
        let single = Cholesky::new(DMatrix::from_fn(n, n, |i, j| lift(a[(i, j)], d[(i, j)]))).unwrap();
        let double = Cholesky::new(DMatrix::from_fn(n, n, |i, j| Dual::new(a[(i, j)], [d[(i, j)]]))).unwrap();
        let close = |x: &DMatrix<Dual<f32, 3>>, y: &DMatrix<Dual<f64, 1>>, what: &str| {
            assert_close(&part(x, |x| x.value.into()), &part(y, |y| y.value), 1e-5, what);
            assert_close(&part(x, |x| x.eps[0].into()), &part(y, |y| y.eps[0]), 1e-4, what);
            assert!(x.iter().all(|x| x.eps[1] == 0.0 && x.eps[2] == -x.eps[0]), "{what}: lanes");
        };
        close(&single.l(), &double.l(), "l");
        close(&single.inverse(), &double.inverse(), "inverse");
        let x = single.solve(&b.map(|x| lift(x, 1.0))).unwrap();
        close(&x, &double.solve(&b.map(|x| Dual::new(x, [1.0]))).unwrap(), "solve");
        let upper = |uplo: Uplo| {
            let mut u = DMatrix::from_fn(n, n, |i, j| lift(a[(i, j)], d[(i, j)]));
            Dual::potrf(uplo, u.as_view_mut()).unwrap();
            u
        };
        let (lower, upper) = (upper(Uplo::Lower), upper(Uplo::Upper).transpose());
        for j in 0..n {
            for i in j..n {
                let (x, y) = (lower[(i, j)], upper[(i, j)]);
                assert!(
                    (x.value - y.value).abs() <= 1e-5 && (x.eps[0] - y.eps[0]).abs() <= 1e-4,
                    "{x} for {y}"
                );
            }
        }
    }
}

/// Factoring again in the same memory is factoring anew, to the bit, whatever was there; after an error nothing finite is
/// left.
#[test]
fn refactor() {
    fn with<const N: usize>() {
        let lift = |a: &DMatrix<f64>, seed: u64| {
            let lanes: Vec<DMatrix<f64>> =
                (0..N as u64).map(|k| Random::new(seed + k).symmetric(a.nrows())).collect();
            DMatrix::from_fn(a.nrows(), a.nrows(), |i, j| {
                // The upper triangle is not read.
                let number = |x: f64| if i < j { f64::NAN } else { x };
                Dual::<f64, N>::new(number(a[(i, j)]), std::array::from_fn(|k| number(lanes[k][(i, j)])))
            })
        };
        let mut chol = Cholesky::new(lift(&Kind::Spd.matrix(1, 3), 5)).unwrap();
        for n in [3, 3, 0, 1, 2, 4, 5, 6, 6, 7, 24, 25, 26, 26, 4] {
            let a = lift(&Kind::Spd.matrix(90 + n as u64, n), 7);
            chol.refactor(&a).unwrap();
            let (again, anew) = (chol.l(), Cholesky::new(a.clone()).unwrap().l());
            assert_same_bits(&part(&again, |x| x.value), &part(&anew, |x| x.value), "values");
            for k in 0..N {
                assert_same_bits(&part(&again, |x| x.eps[k]), &part(&anew, |x| x.eps[k]), "lanes");
                let lower = part(&again, |x| x.eps[k]);
                assert!(lower.iter().all(|x| x.is_finite()), "n = {n}, N = {N}");
            }
            for minor in (1..=n).step_by(3) {
                let mut bad = a.clone();
                bad[(minor - 1, minor - 1)].value = -1.0;
                let expected = Error::NotPositiveDefinite { routine: "potrf", minor };
                assert_eq!(chol.refactor(&bad).unwrap_err(), expected);
                assert!(
                    chol.l()[(n - 1, 0)].value.is_nan() && chol.l()[(0, 0)].eps.iter().all(|x| x.is_nan())
                );
                bad[(n - 1, minor - 1)].value = f64::INFINITY;
                let expected = Error::NonFinite { routine: "potrf", row: n, col: minor };
                assert_eq!(chol.refactor(&bad).unwrap_err(), expected);
            }
        }
        for shape in [(2, 3), (3, 2)] {
            let a = DMatrix::from_element(shape.0, shape.1, Dual::<f64, N>::constant(1.0));
            // Twice: with and without memory of that shape.
            assert!(matches!(chol.refactor(&a), Err(Error::Shape { .. })));
            assert!(matches!(chol.refactor(&a), Err(Error::Shape { .. })));
        }
    }
    with::<1>();
    with::<4>();
    with::<7>();
    with::<8>();
    with::<17>();
    let mut chol = Cholesky::new(Matrix3::identity()).unwrap();
    let a = Matrix3::new(4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 2.0, 3.0, 6.0);
    chol.refactor(&a).unwrap();
    assert_same_bits(&chol.l(), &Cholesky::new(a).unwrap().l(), "floats");
}

/// Nothing finite comes of a matrix that was refused.
#[test]
fn after_a_failed_refactor() {
    for (n, wide) in [2, 13, 30].into_iter().flat_map(|n| [(n, 0), (n, 1), (n, 5)]) {
        let mut chol = Cholesky::new(DMatrix::<Dual<f64, 2>>::identity(n, n)).unwrap();
        assert!(chol.refactor(&(-DMatrix::identity(n + wide / 2, n + wide))).is_err());
        assert!(chol.inverse().iter().all(|x| x.value.is_nan() && x.eps.iter().all(|e| e.is_nan())));
        let (det, ln) = (chol.determinant(), chol.ln_determinant());
        assert!(det.value.is_nan() && det.eps[0].is_nan() && ln.value.is_nan() && ln.eps[0].is_nan());
        if let Ok(x) = chol.solve(&DMatrix::from_element(n, 1, Dual::constant(1.0))) {
            assert!(x.iter().all(|x| x.value.is_nan() && x.eps[0].is_nan()));
        }
    }
}

/// Where the solution overflows, there are no tangents, at every size.
#[test]
fn solutions_out_of_range() {
    for n in [1, 2, 3, 7, 12, 13, 30] {
        let mut a = DMatrix::<Dual<f64, 2>>::identity(n, n);
        a[(0, 0)] = Dual::new(1e-300, [1e-300, 0.0]);
        let b = DVector::from_fn(n, |i, _| Dual::new(if i == 0 { 1e10 } else { 1.0 }, [0.0, 1.0]));
        let x = Cholesky::new(a).unwrap().solve(&b).unwrap();
        assert!(x[0].value.is_infinite() && x[0].eps.iter().all(|e| e.is_nan()), "{n}: {}", x[0]);
    }
}
