//! Tiny systems without LAPACK: the results, pivots and errors of LAPACK, the same bits for every scalar.

use dualpack::{Dual, Dual2, Error, Gesv, Getrf, HyperDual, LU, Lapack, Real, solve};
use nalgebra::{DMatrix, DMatrixViewMut, Matrix3, SMatrix, SVector, Vector3};

use crate::laws::{Routine, check};
use crate::support::compare::{assert_same_bits, part};
use crate::support::matrices::{Kind, Random};

struct Case {
    n: usize,
    r: usize,
}

/// In need of interchanges.
fn regular(n: usize) -> DMatrix<f64> {
    let mut a = Random::new(31).matrix(n, n);
    (0..n).for_each(|i| a[(i, (i + 1) % n)] += 2.0);
    a
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("solve n = {} r = {}", self.n, self.r)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        vec![regular(self.n), Random::new(32).matrix(self.n, self.r)]
    }
    fn outputs(&self) -> Vec<usize> {
        vec![1]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        let [a, mut b] = <[_; 2]>::try_from(a).expect("two operands");
        b.copy_from(&solve(&a.clone_owned(), &b.clone_owned())?);
        Ok(())
    }
}

#[test]
fn laws() {
    for n in 0..15 {
        for r in [0, 1, 3] {
            check(&Case { n, r });
        }
    }
}

/// Against the routine; lane by lane the bits of a run with that lane alone.
fn lanes<const N: usize>() {
    let mut random = Random::new(N as u64);
    for n in 0..15 {
        for r in [1, 2] {
            let mut number = |x: f64| Dual::<f64, N>::new(x, [(); N].map(|()| random.signed()));
            let a = regular(n).map(&mut number);
            let b = Random::new(33).matrix(n, r).map(&mut number);
            let (x, mut y) = (solve(&a, &b).unwrap(), b.clone());
            Dual::gesv(a.as_view(), y.as_view_mut()).unwrap();
            let front = LU::new(a.clone()).unwrap().solve(&b).unwrap();
            assert_same_bits(&part(&x, |x| x.value), &part(&front, |x| x.value), "value of LU");
            for k in 0..N {
                let size = y.iter().fold(0.0_f64, |m, y| m.max(y.eps[k].abs()));
                let single = |m: &DMatrix<Dual<f64, N>>| m.map(|x| Dual::<f64, 1>::new(x.value, [x.eps[k]]));
                let alone = solve(&single(&a), &single(&b)).unwrap();
                for ((x, y), (alone, front)) in x.iter().zip(&y).zip(alone.iter().zip(&front)) {
                    assert!(
                        (x.value - y.value).abs() <= 1e-12 * y.value.abs().max(1.0),
                        "n = {n}: {x} for {y}"
                    );
                    assert!((x.eps[k] - y.eps[k]).abs() <= 1e-12 * size, "n = {n}, lane {k}: {x} for {y}");
                    assert_eq!(x.eps[k].to_bits(), alone.eps[0].to_bits(), "n = {n}, lane {k} alone");
                    assert_eq!(x.eps[k].to_bits(), front.eps[k].to_bits(), "n = {n}, lane {k} of LU");
                }
            }
        }
    }
}

#[test]
fn numbers_of_lanes() {
    lanes::<1>();
    lanes::<2>();
    lanes::<3>();
    lanes::<4>();
    lanes::<5>();
    lanes::<7>();
    lanes::<8>();
    lanes::<15>();
    lanes::<16>();
    lanes::<17>();
}

#[test]
fn single_precision() {
    for n in 0..15 {
        let (a, b) = (regular(n), Random::new(34).matrix(n, 2));
        let mut random = Random::new(35);
        let (da, db) = (random.matrix(n, n), random.matrix(n, 2));
        let double = |x: &DMatrix<f64>, d: &DMatrix<f64>| x.zip_map(d, |x, t| Dual::<f64, 1>::new(x, [t]));
        let lift = |x: f64, t: f64| Dual::<f32, 3>::new(x as f32, [t as f32, 0.0, -t as f32]);
        let x = solve(&double(&a, &da), &double(&b, &db)).unwrap();
        let y = solve(&a.zip_map(&da, lift), &b.zip_map(&db, lift)).unwrap();
        let plain = solve(&a.map(|x| x as f32), &b.map(|x| x as f32)).unwrap();
        let size = x.iter().fold(1.0_f64, |m, x| m.max(x.eps[0].abs()));
        for ((x, y), plain) in x.iter().zip(&y).zip(&plain) {
            assert_eq!(y.value.to_bits(), plain.to_bits());
            assert!((x.value - f64::from(y.value)).abs() < 1e-4 && y.eps[1] == 0.0 && y.eps[2] == -y.eps[0]);
            assert!((x.eps[0] - f64::from(y.eps[0])).abs() < 1e-4 * size, "n = {n}: {y} for {x}");
        }
    }
}

/// The values have the same bits for every scalar, by every road.
#[test]
fn same_bits() {
    for n in 0..15 {
        let (a, b) = (regular(n), Random::new(36).matrix(n, 2));
        let plain = solve(&a, &b).unwrap();
        fn bits<T: Lapack + Real<Base = f64>>(a: &DMatrix<f64>, b: &DMatrix<f64>, plain: &DMatrix<f64>) {
            let (a, b) = (a.map(T::from_base), b.map(T::from_base));
            let lu = LU::new(a.clone()).unwrap();
            for x in [solve(&a, &b).unwrap(), lu.solve(&b).unwrap()] {
                assert_same_bits(&part(&x, |x| x.base()), plain, "solution");
            }
        }
        bits::<f64>(&a, &b, &plain);
        bits::<Dual<f64, 6>>(&a, &b, &plain);
        bits::<Dual2<f64, 2>>(&a, &b, &plain);
        bits::<HyperDual<f64, 2, 3>>(&a, &b, &plain);
        bits::<Dual<Dual<Dual<f64, 1>, 2>, 1>>(&a, &b, &plain);
    }
}

/// Pivots and factors are those of LAPACK where no rounding decides.
#[test]
fn pivots() {
    for kind in [Kind::Random, Kind::BadlyScaled, Kind::Triangular, Kind::Indefinite] {
        for n in 0..13 {
            let a = kind.matrix(n as u64, n);
            let (mut factors, mut ipiv) = (a.clone(), vec![0; n]);
            f64::getrf(factors.as_view_mut(), &mut ipiv).unwrap();
            let lu = LU::new(a).unwrap();
            let mut rows = DMatrix::from_fn(n, 1, |i, _| i);
            let mut expected = rows.clone();
            lu.p().permute_rows(&mut rows);
            ipiv.iter().enumerate().for_each(|(k, &p)| expected.swap_rows(k, p as usize - 1));
            assert_eq!(rows, expected, "{kind:?}, n = {n}");
            let (l, u) = (lu.l(), lu.u());
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let (x, y) = (if i > j { l[(i, j)] } else { u[(i, j)] }, factors[(i, j)]);
                let size = factors.column(j).amax().max(1e-300);
                assert!((x - y).abs() <= 1e-12 * size, "{kind:?}, n = {n}, ({i}, {j}): {x} for {y}");
            }
        }
    }
    // Equal candidates: the first one.
    let ties = Matrix3::new(1.0, 2.0, 3.0, -1.0, 4.0, 5.0, 1.0, 7.0, 1.0);
    assert_eq!(LU::new(ties).unwrap().u().row(0), ties.row(0));
}

/// Errors are those of LAPACK, whatever the scalar, and name the same place.
#[test]
fn errors() {
    fn all<T: Lapack + Real<Base = f64>>() {
        for n in 1..14 {
            let b = DMatrix::from_element(n, 1, T::one());
            for zero in 0..n {
                // A zero pivot at every place, first column of zeros last.
                let mut a = DMatrix::<T>::identity(n, n);
                a[(zero, zero)] = T::zero();
                let error = Error::Singular { routine: "getrf", pivot: zero + 1 };
                assert_eq!(solve(&a, &b).unwrap_err(), error);
                assert!(!LU::new(a.clone()).unwrap().is_invertible());
                for bad in [f64::NAN, f64::INFINITY] {
                    let mut a = DMatrix::<T>::identity(n, n);
                    a[(zero, (zero + 1) % n)] = T::from_base(bad);
                    let error = Error::NonFinite { routine: "getrf", row: zero + 1, col: (zero + 1) % n + 1 };
                    assert_eq!(solve(&a, &b).unwrap_err(), error);
                    assert_eq!(LU::new(a).unwrap_err(), error);
                    let mut b = b.clone();
                    b[zero] = T::from_base(bad);
                    let error = Error::NonFinite { routine: "getrs", row: zero + 1, col: 1 };
                    assert_eq!(solve(&DMatrix::<T>::identity(n, n), &b).unwrap_err(), error);
                    let lu = LU::new(DMatrix::<T>::identity(n, n)).unwrap();
                    assert_eq!(lu.solve(&b).unwrap_err(), error);
                }
            }
            let wide = DMatrix::<T>::from_element(n, n + 1, T::one());
            assert!(matches!(solve(&wide, &b), Err(Error::Shape { routine: "gesv", .. })));
            let long = DMatrix::<T>::from_element(n + 1, 1, T::one());
            assert!(matches!(solve(&DMatrix::<T>::identity(n, n), &long), Err(Error::Shape { .. })));
        }
    }
    all::<f64>();
    all::<Dual<f64, 3>>();
    all::<HyperDual<f64, 1, 2>>();
}

/// Pivots that are too small or too large to be divided by take the other road, with the same result.
#[test]
fn extreme_pivots() {
    for size in [5e-324_f64, 1e-310, 2.2e-308, 1e-300, 1e300, 1.7e308] {
        for n in [1, 2, 3, 5, 12] {
            let a = DMatrix::from_diagonal_element(n, n, size);
            let b = DMatrix::from_element(n, 2, 3.0 * size.min(1e300));
            let x = solve(&a.map(Dual::<f64, 2>::constant), &b.map(|x| Dual::new(x, [x, 0.0])));
            let (plain, x) = match (solve(&a, &b), x) {
                (Ok(plain), Ok(x)) => (plain, x),
                // A LAPACK that multiplies by reciprocals loses its factors where they are out of range.
                (plain, x) => {
                    assert_eq!((plain.unwrap_err(), size < 1e-300), (x.unwrap_err(), true), "n = {n}");
                    continue;
                }
            };
            assert_same_bits(&part(&x, |x| x.value), &plain, "value");
            for x in &x {
                let out_of_range = size < 1e-300 && x.value.is_infinite() && x.eps.iter().all(|t| t.is_nan());
                let right = (x.value - b[0] / size).abs() <= 1e-15 * x.value
                    && (x.eps[0] - x.value).abs() <= 1e-15 * x.value
                    && x.eps[1] == 0.0;
                assert!(x.value.is_finite() && right || out_of_range, "{size:e}, n = {n}: {x}");
            }
        }
    }
    // The factor overflows: L U is not A, and nothing is solved with it.
    let a = Matrix3::new(1.0, 0.0, 1e308, -1.0, 1.0, 1e308, 0.0, 0.0, 1.0);
    let error = solve(&a, &Vector3::repeat(1.0)).unwrap_err();
    assert!(matches!(error, Error::NonFinite { routine: "getrs", .. }), "{error}");
    assert_eq!(
        solve(&a.map(Dual::<f64, 4>::constant), &Vector3::repeat(Dual::constant(1.0))).unwrap_err(),
        error
    );
}

/// A solution that overflows in one column only, and lanes of zeros and infinities.
#[test]
fn overflow() {
    let a = Matrix3::new(1e-200, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0).map(Dual::<f64, 9>::constant);
    let mut b = SMatrix::<Dual<f64, 9>, 3, 2>::from_element(Dual::new(1.0, [1.0; 9]));
    b[(0, 1)].value = 1e200;
    let x = solve(&a, &b).unwrap();
    assert!(x[(0, 1)].value == f64::INFINITY && x[(0, 1)].eps.iter().all(|t| t.is_nan()));
    assert!(x[(0, 0)].value == 1e200 && x[(0, 0)].eps == [1e200; 9]);
    let mut b = SVector::<Dual<f64, 9>, 3>::from_element(Dual::new(1.0, [1.0; 9]));
    (b[0].eps[3], b[1].eps[8]) = (f64::NAN, f64::INFINITY);
    let x = solve(&Matrix3::identity().map(Dual::constant), &b).unwrap();
    assert!(x[0].eps[3].is_nan() && !x[1].eps[8].is_finite());
    let clean = |x: &Dual<f64, 9>| (0..8).filter(|k| *k != 3).all(|k| x.eps[k] == 1.0);
    assert!(x.iter().all(clean));
}
