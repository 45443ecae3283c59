use dualpack::{Cholesky, Dual, Error, HyperDual, LU, Lapack, Real};
use nalgebra::{Complex, DMatrix, Matrix2, Matrix2x3, Matrix3, Vector3};

use crate::laws::{FIRST, assert_differences};
use crate::support::compare::{assert_close, assert_same_bits, part};
use crate::support::differences;
use crate::support::matrices::{Kind, Random};

type D1 = Dual<f64, 1>;
type H = HyperDual<f64, 1, 1>;

fn dual(a: &DMatrix<f64>, da: &DMatrix<f64>) -> DMatrix<D1> {
    a.zip_map(da, |x, t| Dual::new(x, [t]))
}

fn hyper(a: &DMatrix<f64>, e: &DMatrix<f64>, f: &DMatrix<f64>) -> DMatrix<H> {
    a.zip_zip_map(e, f, |x, e, f| H::new(x, [e], [f], [[0.0]]))
}

/// P A = L U in every part, for every shape; the fronts of nalgebra have the same parts.
#[test]
fn factors() {
    for (m, n) in [(0, 0), (1, 1), (4, 4), (7, 3), (3, 7), (15, 15)] {
        let mut random = Random::new(1);
        let (value, e) = (random.matrix(m, n), random.matrix(m, n));
        let mut a = dual(&value, &e);
        let lu = LU::new(a.clone()).unwrap();
        let (p, l, u) = lu.clone().unpack();
        assert_eq!((l.shape(), u.shape()), ((m, m.min(n)), (m.min(n), n)));
        p.permute_rows(&mut a);
        let product = l * u;
        assert!((part(&product, |x| x.value) - part(&a, |x| x.value)).norm() < 1e-13);
        assert!((part(&product, |x| x.eps[0]) - part(&a, |x| x.eps[0])).norm() < 1e-11);
        if m * n > 0 {
            let theirs = value.clone().lu();
            let ours = LU::new(value).unwrap();
            assert_close(&ours.l(), &theirs.l(), 1e-12, "L");
            assert_close(&ours.u(), &theirs.u(), 1e-12, "U");
        }
    }
    let wide = LU::new(Matrix2x3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)).unwrap();
    assert_eq!((wide.l() * wide.u()).row(0), Matrix2x3::new(4.0, 5.0, 6.0, 1.0, 2.0, 3.0).row(0));
}

#[test]
fn solve_and_inverse() {
    let a = Matrix3::new(2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 4.0);
    let da = Matrix3::new(0.0, 1.0, -1.0, 2.0, 0.0, 0.5, 1.0, -1.0, 3.0);
    let (b, db) = (Vector3::new(1.0, -2.0, 0.5), Vector3::new(0.0, 1.0, 2.0));
    let lu = LU::new(a.zip_map(&da, |x, t| H::new(x, [t], [t], [[0.0]]))).unwrap();
    let x = lu.solve(&b.zip_map(&db, |x, t| H::new(x, [t], [t], [[0.0]]))).unwrap();
    let first = Vector3::new(1.1898148148148149, -0.7962962962962963, -0.17592592592592593);
    let second = Vector3::new(1.6147119341563787, -1.9886831275720165, -0.23199588477366254);
    assert_close(&x.map(|x| x.eps1[0]), &first, 1e-15, "dx");
    assert_close(&x.map(|x| x.eps12[0][0]), &second, 1e-15, "d2x");
    let inverse = lu.inverse().unwrap();
    let residual = a.zip_map(&da, |x, t| H::new(x, [t], [t], [[0.0]])) * inverse;
    for (r, one) in residual.iter().zip(Matrix3::<f64>::identity().iter()) {
        assert!((r.value - one).abs() < 1e-15 && r.eps1[0].abs() < 1e-15 && r.eps12[0][0].abs() < 1e-14);
    }
}

/// An error for what divides by a zero pivot; the determinant is none.
#[test]
fn singular() {
    let lu = LU::new(Matrix2::<f64>::new(1.0, 2.0, 2.0, 4.0)).unwrap();
    assert!(!lu.is_invertible());
    assert_eq!(lu.determinant(), 0.0);
    assert_eq!(lu.inverse(), Err(Error::Singular { routine: "getri", pivot: 2 }));
    assert_eq!(lu.solve(&Matrix2::identity()), Err(Error::Singular { routine: "getrs", pivot: 2 }));
    let routine = "LU::ln_abs_determinant";
    assert_eq!(lu.ln_abs_determinant(), Err(Error::Singular { routine, pivot: 2 }));
    // The factors are differentiable, and those of a matrix with a zero pivot before the last are not.
    assert!(lu.pushforward(&Matrix2::identity()).unwrap().iter().all(|t| t.is_finite()));
    let lu = LU::new(Matrix2::new(0.0, 2.0, 0.0, 4.0)).unwrap();
    let routine = "LU::pushforward";
    assert_eq!(lu.pushforward(&Matrix2::identity()), Err(Error::Singular { routine, pivot: 1 }));
}

/// The determinant of a small matrix by expansion.
fn expanded<T: Real>(a: &DMatrix<T>) -> T {
    let n = a.nrows();
    if n == 0 {
        return T::one();
    }
    (0..n).fold(T::zero(), |sum, j| {
        let minor = a.clone().remove_row(0).remove_column(j);
        let term = a[(0, j)] * expanded(&minor);
        if j % 2 == 0 { sum + term } else { sum - term }
    })
}

/// First and second derivatives of the determinant, at every rank and with the zero pivot at every place.
#[test]
fn determinant() {
    let mut cases = vec![DMatrix::zeros(0, 0), DMatrix::zeros(1, 1), DMatrix::zeros(4, 4)];
    for n in 1..6 {
        cases.push(Random::new(n as u64).matrix(n, n));
        for k in 0..n {
            // One zero column: the zero pivot is at k, and rank n - 1.
            let mut a = Random::new(n as u64).matrix(n, n);
            a.column_mut(k).fill(0.0);
            cases.push(a.clone());
            cases.push(a.transpose());
            // Rank n - 2 and less.
            a.row_mut((k + 1) % n).fill(0.0);
            a.column_mut((k + 2) % n).fill(0.0);
            cases.push(a);
            let mut unit = DMatrix::identity(n, n);
            unit[(k, k)] = 0.0;
            cases.push(unit);
        }
    }
    // Singular by dependence, exactly and to rounding; nearly singular.
    let integers = DMatrix::from_row_slice(3, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    let mut early = Random::new(30).matrix(4, 4);
    let twice = early.column(0) * 2.0;
    early.set_column(1, &twice);
    let mut nearly = early.clone();
    nearly[(2, 1)] += 1e-13;
    cases.extend([integers.clone(), integers / 10.0, early, nearly]);
    cases.push(DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 0.0, 0.0]));
    for (k, a) in cases.iter().enumerate() {
        let n = a.nrows();
        let mut random = Random::new(k as u64);
        let (e, f) = (random.matrix(n, n), random.matrix(n, n));
        let h = hyper(a, &e, &f);
        let det = LU::new(h.clone()).unwrap().determinant();
        let float = LU::new(a.clone()).unwrap().determinant();
        assert_eq!(det.value.to_bits(), float.to_bits(), "case {k}: value");
        let exact = expanded(&h);
        let size = a.norm().max(1.0).powi(n as i32);
        assert!((det.value - exact.value).abs() < 1e-15 * size, "case {k}: {det} for {exact}");
        assert!((det.eps1[0] - exact.eps1[0]).abs() < 1e-14 * size, "case {k}: {det} for {exact}");
        assert!((det.eps2[0] - exact.eps2[0]).abs() < 1e-14 * size, "case {k}: {det} for {exact}");
        assert!((det.eps12[0][0] - exact.eps12[0][0]).abs() < 1e-13 * size, "case {k}: {det} for {exact}");
        let first = LU::new(dual(a, &e)).unwrap().determinant();
        assert!((first.eps[0] - exact.eps1[0]).abs() < 1e-14 * size, "case {k}: {first} for {exact}");
    }
}

/// det(t B + ...) of rank n − 3 has its first non-zero derivative at order three.
#[test]
fn third_derivative_of_a_determinant() {
    type D3 = Dual<Dual<Dual<f64, 1>, 1>, 1>;
    let t = D3::new(
        Dual::new(Dual::new(0.0, [1.0]), [Dual::constant(1.0)]),
        [Dual::constant(Dual::constant(1.0))],
    );
    let b = Random::new(2).matrix(3, 3);
    let mut a = DMatrix::<D3>::zeros(4, 4);
    a.view_mut((1, 1), (3, 3)).copy_from(&b.map(|x| t * x));
    a[(0, 0)] = D3::constant(Dual::constant(Dual::constant(2.0)));
    let det = LU::new(a).unwrap().determinant();
    let exact = 12.0 * expanded(&b);
    assert_eq!((det.value.value.value, det.eps[0].eps[0].value), (0.0, 0.0));
    assert!((det.eps[0].eps[0].eps[0] - exact).abs() < 1e-14 * exact.abs());
}

/// Derivatives of order three where more than one pivot is zero, roundoff or tiny: none may be divided by.
#[test]
fn third_derivative_at_low_rank() {
    type D3 = Dual<Dual<Dual<f64, 1>, 1>, 1>;
    for (seed, noise) in [0.0, 1e-300, 1e-18, 1e-12, 1e-7, 1e-4].into_iter().enumerate() {
        for n in [4, 5] {
            for rank in 0..=n {
                let mut random = Random::new(seed as u64);
                let a = random.matrix(n, rank) * random.matrix(rank, n) + random.matrix(n, n) * noise;
                let parts = [(); 7].map(|()| random.matrix(n, n));
                let duals = DMatrix::from_fn(n, n, |i, j| {
                    let [e, f, g, ef, eg, fg, efg] = parts.each_ref().map(|p| p[(i, j)]);
                    let first = Dual::new(Dual::new(a[(i, j)], [e]), [Dual::new(f, [ef])]);
                    D3::new(first, [Dual::new(Dual::new(g, [eg]), [Dual::new(fg, [efg])])])
                });
                let det = LU::new(duals.clone()).unwrap().determinant();
                let exact = expanded(&duals);
                let second = |x: D3| x.value.eps[0].eps[0];
                let third = |x: D3| x.eps[0].eps[0].eps[0];
                for order in [second, third] {
                    let (found, exact) = (order(det), order(exact));
                    let what = format!("n = {n}, rank {rank}, noise {noise}");
                    assert!(
                        (found - exact).abs() < 1e-10 * exact.abs().max(1.0),
                        "{what}: {found} for {exact}"
                    );
                }
            }
        }
    }
}

/// Large and small pivots in turns: the product is in range, its parts would not be.
#[test]
fn determinant_range() {
    let d = [1e200, 1e200, 1e-200, 1e-200, 1e150, 1e-150];
    let a = DMatrix::from_diagonal(&nalgebra::DVector::from_row_slice(&d));
    let det = LU::new(dual(&a, &a)).unwrap().determinant();
    assert!((det.value - 1.0).abs() < 1e-15 && (det.eps[0] - 6.0).abs() < 1e-14, "{det}");
    let ln = LU::new(dual(&(&a * 1e100), &a)).unwrap().ln_abs_determinant().unwrap();
    assert!((ln.value - 600.0 * 10.0_f64.ln()).abs() < 1e-11 && (ln.eps[0] * 1e100 - 6.0).abs() < 1e-14);
    let empty = LU::new(DMatrix::<D1>::zeros(0, 0)).unwrap();
    assert_eq!(
        (empty.determinant(), empty.ln_abs_determinant().unwrap()),
        (Dual::constant(1.0), Dual::constant(0.0))
    );
}

#[test]
fn logarithm_of_the_determinant() {
    for kind in [Kind::Random, Kind::Indefinite, Kind::BadlyScaled, Kind::Triangular] {
        let n = 6;
        let a = kind.matrix(3, n);
        let e = a.zip_map(&Random::new(5).matrix(n, n), |x, t| x * t);
        let ln = LU::new(dual(&a, &e)).unwrap().ln_abs_determinant().unwrap();
        let f = |t: f64| LU::new(&a + &e * t).unwrap().ln_abs_determinant().unwrap();
        assert_differences(&differences::first(f, 1e-2), &ln.eps, FIRST, &format!("{kind:?}"));
        assert_eq!(ln.value.to_bits(), f(0.0).to_bits());
    }
    let z = Matrix2::new(
        Complex::new(0.0, 2.0),
        Complex::new(0.0, 0.0),
        Complex::new(1.0, 1.0),
        Complex::new(3.0, 4.0),
    );
    let lu = LU::new(z).unwrap();
    assert!((lu.ln_abs_determinant().unwrap() - 10.0_f64.ln()).abs() < 1e-15);
    assert!((lu.determinant() - Complex::new(-8.0, 6.0)).norm() < 1e-14);
}

/// The tangents of the factors, any number of directions at once, are the lanes.
#[test]
fn pushforward() {
    for (m, n) in [(0, 0), (1, 1), (5, 5), (9, 4), (4, 9), (20, 20)] {
        let a = Random::new(6).matrix(m, n);
        let lu = LU::new(a.clone()).unwrap();
        let directions = 18;
        let da = Random::new(7).matrix(m, n * directions);
        let all = lu.pushforward(&da).unwrap();
        for k in 0..directions {
            let lanes = LU::new(dual(&a, &da.columns(k * n, n).clone_owned())).unwrap();
            let (l, u) = (part(&lanes.l(), |x| x.eps[0]), part(&lanes.u(), |x| x.eps[0]));
            let d = all.columns(k * n, n);
            let r = m.min(n);
            let dl = DMatrix::from_fn(m, r, |i, j| if i > j { d[(i, j)] } else { 0.0 });
            let du = DMatrix::from_fn(r, n, |i, j| if i <= j { d[(i, j)] } else { 0.0 });
            if m > 0 {
                assert!((dl - &l).norm() <= 1e-12 * l.norm() && (du - &u).norm() <= 1e-12 * u.norm());
            }
        }
    }
    let lu = LU::new(DMatrix::<f64>::identity(3, 2)).unwrap();
    assert!(matches!(lu.pushforward(&DMatrix::zeros(3, 3)), Err(Error::Shape { .. })));
    assert!(matches!(lu.pushforward(&DMatrix::zeros(2, 2)), Err(Error::Shape { .. })));
}

#[test]
fn bad_input() {
    fn all<T: Lapack + Real<Base = f64>>() {
        let mut a = DMatrix::<T>::identity(3, 3);
        let lu = LU::new(a.clone()).unwrap();
        assert!(matches!(lu.solve(&DMatrix::<T>::zeros(2, 1)), Err(Error::Shape { .. })));
        a[(1, 2)] = T::from_base(f64::NEG_INFINITY);
        let error = Error::NonFinite { routine: "getrf", row: 2, col: 3 };
        assert_eq!(LU::new(a.clone()).unwrap_err(), error);
        let b = DMatrix::<T>::from_element(3, 1, T::from_base(f64::NAN));
        assert!(matches!(lu.solve(&b), Err(Error::NonFinite { routine: "getrs", .. })));
        let tall = LU::new(DMatrix::<T>::identity(3, 2)).unwrap();
        assert!(matches!(tall.solve(&b), Err(Error::Shape { .. })));
        assert!(matches!(tall.inverse(), Err(Error::Shape { .. })));
        assert!(matches!(tall.ln_abs_determinant(), Err(Error::Shape { .. })));
        assert!(!tall.is_invertible());
    }
    all::<f64>();
    all::<Dual<f64, 2>>();
}

/// The value does not depend on the scalar.
#[test]
fn same_bits() {
    let a = Random::new(40).matrix(12, 12);
    let e = Random::new(41).matrix(12, 12);
    let (float, lanes) = (LU::new(a.clone()).unwrap(), LU::new(hyper(&a, &e, &e)).unwrap());
    assert_same_bits(&float.u(), &part(&lanes.u(), |x| x.value), "U");
    assert_same_bits(&float.inverse().unwrap(), &part(&lanes.inverse().unwrap(), |x| x.value), "inverse");
    let b = Random::new(42).matrix(12, 3);
    let x = lanes.solve(&b.map(H::constant)).unwrap();
    assert_same_bits(&float.solve(&b).unwrap(), &part(&x, |x| x.value), "solution");
}

/// Derivatives that are in range, of determinants whose minors are not: permuted diagonal matrices, where the derivative
/// with respect to one factor is the product of the others.
#[test]
fn determinant_of_badly_scaled_matrices() {
    for n in 1..=5 {
        for (shift, k) in (0..n).flat_map(|shift| (0..n).map(move |k| (shift, k))) {
            for d in [[1e-300, 1e200, 1e200, 0.5, 4.0], [1e-200, 1e200, 1e-200, 1e150, 1e150]] {
                let entry = |i: usize| D1::new(d[i], [if i == k { d[k] / 2.0 } else { 0.0 }]);
                let diagonal = |i, j| if (i + shift) % n == j { entry(j) } else { Dual::constant(0.0) };
                let det = LU::new(DMatrix::from_fn(n, n, diagonal)).unwrap().determinant();
                assert!((det.eps[0] / det.value - 0.5).abs() < 1e-14, "order {n}, entry {k}: {det}");
                // Full matrices with their rows or columns scaled, where LAPACK's own value has lost all digits.
                if n == 3 {
                    let b = Matrix3::new(2.0, 1.0, 0.5, 1.0, 3.0, 1.0, 0.25, 1.0, 4.0).map(D1::constant);
                    let s = Matrix3::from_diagonal(&Vector3::new(entry(0), entry(1), entry(2)));
                    for a in [b * s, s * b] {
                        let det = LU::new(a).unwrap().determinant();
                        let exact = 18.375 * (d[0] * d[1] * d[2]) / 2.0;
                        assert!((det.eps[0] / exact - 1.0).abs() < 1e-14, "entry {k}: {det}");
                    }
                }
                let d = [1e-30_f32, 1e20, 1e20, 0.5, 4.0];
                let entry = |i: usize| Dual::new(d[i], [if i == k { d[k] / 2.0 } else { 0.0 }]);
                let diagonal = |i, j| if (i + shift) % n == j { entry(j) } else { Dual::constant(0.0) };
                let det = LU::new(DMatrix::<Dual<f32, 1>>::from_fn(n, n, diagonal)).unwrap().determinant();
                assert!((det.eps[0] / det.value - 0.5).abs() < 1e-6, "order {n}, entry {k}: {det}");
            }
        }
    }
    // A tangent that is small or large beside its value is no less exact.
    for (d, e) in [(1e-200, 1.0), (1e-300, 1e150), (1e200, 1e-100)] {
        let a = Matrix3::from_diagonal(&Vector3::new(d, 1e-3, 7.0)).map(D1::constant);
        let a = a.map_with_location(|i, j, x| if i + j == 0 { D1::new(x.value, [e]) } else { x });
        let det = LU::new(a).unwrap().determinant();
        assert!((det.eps[0] / (7e-3 * e) - 1.0).abs() < 1e-14, "{det}");
    }
}

/// A number without lanes inside one with lanes is a float to its derivatives.
#[test]
fn no_lanes_inside() {
    type Inner = Dual<f64, 0>;
    for n in [2, 3, 5, 14, 30] {
        let (a, da) = (Kind::Spd.matrix(4, n), Random::new(5).symmetric(n));
        let plain = dual(&a, &da);
        let nested =
            plain.map(|x| Dual::<Inner, 1>::new(Inner::constant(x.value), [Inner::constant(x.eps[0])]));
        let hyper = plain.map(|x| HyperDual::<f64, 1, 0>::new(x.value, x.eps, [], [[]]));
        let flat = |x: &Dual<Inner, 1>| [x.value.value, x.eps[0].value];
        let (lu, by_nested) = (LU::new(plain.clone()).unwrap(), LU::new(nested.clone()).unwrap());
        let by_hyper = LU::new(hyper.clone()).unwrap();
        let mut all = vec![];
        let (x, y, z) = (lu.inverse().unwrap(), by_nested.inverse().unwrap(), by_hyper.inverse().unwrap());
        for k in 0..n * n {
            all.push(([x[k].value, x[k].eps[0]], flat(&y[k]), [z[k].value, z[k].eps1[0]]));
        }
        let ln = (lu.ln_abs_determinant().unwrap(), by_nested.ln_abs_determinant().unwrap());
        let z = by_hyper.ln_abs_determinant().unwrap();
        all.push(([ln.0.value, ln.0.eps[0]], flat(&ln.1), [z.value, z.eps1[0]]));
        let (x, y, z) = (lu.determinant(), by_nested.determinant(), by_hyper.determinant());
        all.push(([x.value, x.eps[0]], flat(&y), [z.value, z.eps1[0]]));
        let (x, y) = (Cholesky::new(plain).unwrap(), Cholesky::new(nested).unwrap());
        let (x, y, z) =
            (x.ln_determinant(), y.ln_determinant(), Cholesky::new(hyper).unwrap().ln_determinant());
        all.push(([x.value, x.eps[0]], flat(&y), [z.value, z.eps1[0]]));
        for (x, y, z) in all {
            for k in 0..2 {
                let scale = 1e-11 * (1.0 + x[k].abs());
                assert!((x[k] - y[k]).abs() < scale && (x[k] - z[k]).abs() < scale, "{n}: {x:?} {y:?} {z:?}");
            }
        }
    }
}

/// The stack does not grow with the order: the second derivatives of a determinant with a tiny pivot, of wide numbers.
#[test]
fn determinant_of_wide_numbers() {
    type Wide = HyperDual<f64, 16, 16>;
    let n = 60;
    let a = DMatrix::from_fn(n, n, |i, j| {
        let mut x = Wide::constant(if i != j {
            0.0
        } else if i == 20 {
            1e-10
        } else {
            1.0
        });
        if i == j && i < 16 {
            (x.eps1[i], x.eps2[i]) = (1.0, 1.0);
        }
        x
    });
    let det = std::thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(move || LU::new(a).unwrap().determinant())
        .unwrap()
        .join()
        .unwrap();
    for (i, j) in (0..16).flat_map(|i| (0..16).map(move |j| (i, j))) {
        let exact = if i == j { 0.0 } else { 1e-10 };
        assert!((det.eps12[i][j] - exact).abs() < 1e-24 && (det.eps1[i] - 1e-10).abs() < 1e-24, "{i} {j}");
    }
}
