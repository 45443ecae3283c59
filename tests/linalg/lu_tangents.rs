//! `LU` factors values alone. Its results are those of the differentiated factors of the routines, for every scalar.

use dualpack::{Dual, Dual2, Error, Getrf, HyperDual, LU, Lapack, Real, Trans};
use nalgebra::{Complex, ComplexField, DMatrix, DMatrixViewMut};

use crate::laws::{Routine, check};
use crate::support::compare::{assert_close, part};
use crate::support::matrices::Random;

/// Far from singular, but in need of interchanges.
fn regular(seed: u64, n: usize) -> DMatrix<f64> {
    let mut a = Random::new(seed).matrix(n, n);
    (0..n).for_each(|i| a[(i, (i + 1) % n)] += 2.0 + n as f64);
    a
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Solution,
    Inverse,
    Determinant,
    Logarithm,
}

struct Case {
    n: usize,
    of: Of,
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("LU n = {} {:?}", self.n, self.of)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        let n = self.n;
        let result = match self.of {
            Of::Solution => Random::new(72).matrix(n, 3),
            Of::Inverse => DMatrix::zeros(n, n),
            _ => DMatrix::zeros(1, 1),
        };
        // Determinants about one, and so with digits left for differences of them and of their logarithms.
        let scale = match self.of {
            Of::Solution | Of::Inverse => 1.0,
            Of::Determinant | Of::Logarithm => 1.0 / (n as f64 + 2.0),
        };
        vec![regular(71, n) * scale, result]
    }
    fn outputs(&self) -> Vec<usize> {
        vec![1]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        let [a, mut result] = <[_; 2]>::try_from(a).expect("two operands");
        let lu = LU::new(a.clone_owned())?;
        match self.of {
            Of::Solution => result.copy_from(&lu.solve(&result.clone_owned())?),
            Of::Inverse => result.copy_from(&lu.inverse()?),
            Of::Determinant => result[(0, 0)] = lu.determinant(),
            Of::Logarithm => result[(0, 0)] = lu.ln_abs_determinant()?,
        }
        Ok(())
    }
}

#[test]
fn laws() {
    for n in [0, 1, 2, 3, 4, 5, 8, 11, 12, 13, 14, 20, 34] {
        for of in [Of::Solution, Of::Inverse, Of::Logarithm] {
            check(&Case { n, of });
        }
    }
    for n in [1, 2, 3, 4, 5, 8] {
        check(&Case { n, of: Of::Determinant });
    }
    check(&Case { n: 67, of: Of::Solution });
}

/// Against the differentiated factors; `parts` reads all parts of a number.
fn agrees<T: Lapack>(n: usize, lift: impl Fn(&mut Random) -> T, parts: impl Fn(T) -> Vec<f64>, eps: f64) {
    let mut random = Random::new(n as u64);
    let dominant = T::from_subset(&(2.0 + n as f64));
    let mut a = DMatrix::from_fn(n, n, |_, _| lift(&mut random));
    (0..n).for_each(|i| a[(i, (i + 1) % n)] += dominant);
    let b = DMatrix::from_fn(n, 2, |_, _| lift(&mut random));
    let lu = LU::new(a.clone()).unwrap();
    let (mut factors, mut ipiv) = (a.clone(), vec![0; n]);
    T::getrf(factors.as_view_mut(), &mut ipiv).unwrap();
    let close = |x: &DMatrix<T>, y: &DMatrix<T>, what: &str| {
        let flat = |m: &DMatrix<T>| m.iter().flat_map(|&x| parts(x)).collect::<Vec<_>>();
        let (x, y) = (flat(x), flat(y));
        let largest = y.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
        for (k, (x, y)) in x.iter().zip(&y).enumerate() {
            let distance = (x - y).abs();
            assert!(distance <= eps * largest, "{what}, n = {n}, number {k}: {x:e} for {y:e} of {largest:e}");
        }
    };
    let mut x = b.clone();
    T::getrs(Trans::NoTrans, factors.as_view(), &ipiv, x.as_view_mut()).unwrap();
    close(&lu.solve(&b).unwrap(), &x, "solution");
    let mut inverse = factors.clone();
    T::getri(inverse.as_view_mut(), &ipiv).unwrap();
    close(&lu.inverse().unwrap(), &inverse, "inverse");
    close(&lu.u(), &factors.upper_triangle(), "U");
    let ln = (0..n).fold(nalgebra::zero::<T::RealField>(), |sum, i| sum + factors[(i, i)].modulus().ln());
    let found = T::from_real(lu.ln_abs_determinant().unwrap());
    close(&DMatrix::from_element(1, 1, found), &DMatrix::from_element(1, 1, T::from_real(ln)), "logarithm");
    if n > 0 && n < 20 {
        let sign = lu.p().determinant::<f64>();
        let det = (0..n).fold(T::from_subset(&sign), |det, i| det * factors[(i, i)]);
        let found = DMatrix::from_element(1, 1, lu.determinant());
        close(&found, &DMatrix::from_element(1, 1, det), "determinant");
    }
}

fn first<const N: usize>(sizes: &[usize]) {
    for &n in sizes {
        let lift =
            |random: &mut Random| Dual::<f64, N>::new(random.signed(), [(); N].map(|()| random.signed()));
        agrees(n, lift, |x| [&[x.value], &x.eps[..]].concat(), 1e-12);
    }
}

#[test]
fn numbers_of_lanes() {
    first::<1>(&[0, 1, 2, 5, 13, 65, 66, 129]);
    first::<2>(&[3, 12, 14, 67]);
    first::<3>(&[4, 9]);
    first::<4>(&[1, 6, 11, 70]);
    first::<5>(&[7, 12]);
    first::<7>(&[3, 13]);
    first::<8>(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 40, 66]);
    first::<15>(&[5, 12, 13]);
    first::<16>(&[1, 3, 6, 12, 14, 65, 130]);
    first::<17>(&[3, 6, 13]);
}

#[test]
fn single_precision() {
    for n in [1, 3, 6, 12, 14, 40] {
        let lift = |random: &mut Random| {
            Dual::<f32, 5>::new(random.signed() as f32, [(); 5].map(|()| random.signed() as f32))
        };
        agrees(n, lift, |x| [&[x.value], &x.eps[..]].concat().iter().map(|&x| x.into()).collect(), 1e-4);
    }
}

/// Second and third order, and complex numbers.
#[test]
fn other_scalars() {
    for n in [0, 1, 2, 3, 4, 7, 12, 14, 30] {
        let lift = |random: &mut Random| {
            let mut next = || random.signed();
            HyperDual::<f64, 3, 2>::new(
                next(),
                [next(), next(), next()],
                [next(), next()],
                [[next(), next()], [next(), next()], [next(), next()]],
            )
        };
        let parts =
            |x: HyperDual<f64, 3, 2>| [&[x.value], &x.eps1[..], &x.eps2[..], &x.eps12.concat()].concat();
        agrees(n, lift, parts, 1e-11);
        let lift = |random: &mut Random| {
            let mut next = || random.signed();
            let (value, grad, [p, q, r]) = (next(), [next(), next()], [next(), next(), next()]);
            Dual2::<f64, 2> { value, grad, hess: [[p, q], [q, r]] }
        };
        let parts = |x: Dual2<f64, 2>| {
            vec![x.value, x.grad[0], x.grad[1], x.hessian(0, 0), x.hessian(0, 1), x.hessian(1, 1)]
        };
        agrees(n, lift, parts, 1e-11);
        type D3 = Dual<Dual<Dual<f64, 1>, 2>, 1>;
        let lift = |random: &mut Random| {
            let mut low = || Dual::<f64, 1>::new(random.signed(), [random.signed()]);
            let mut middle = || Dual::<_, 2>::new(low(), [low(), low()]);
            D3::new(middle(), [middle()])
        };
        let parts = |x: D3| {
            let low = |x: Dual<f64, 1>| [x.value, x.eps[0]];
            let middle = |x: Dual<Dual<f64, 1>, 2>| [low(x.value), low(x.eps[0]), low(x.eps[1])].concat();
            [middle(x.value), middle(x.eps[0])].concat()
        };
        agrees(n, lift, parts, 1e-10);
        type Z = Complex<Dual<f64, 2>>;
        let lift = |random: &mut Random| {
            let mut real = || Dual::<f64, 2>::new(random.signed(), [random.signed(), random.signed()]);
            Z::new(real(), real())
        };
        let parts = |z: Z| [&[z.re.value, z.im.value], &z.re.eps[..], &z.im.eps[..]].concat();
        agrees(n, lift, parts, 1e-12);
    }
}

/// What belongs to one lane does not leave it, in no order and through no result.
#[test]
fn lanes_stay_apart() {
    for n in [2, 6, 12, 14, 66] {
        let (a, da) = (regular(3, n), Random::new(4).matrix(n, n));
        let clean = a.zip_map(&da, |x, t| Dual::<f64, 5>::new(x, [t; 5]));
        let mut dirty = clean.clone();
        for x in &mut dirty {
            (x.eps[1], x.eps[4]) = (f64::NAN, f64::INFINITY);
        }
        let b = DMatrix::from_element(n, 2, Dual::constant(1.0));
        let read = |a: &DMatrix<Dual<f64, 5>>| {
            let lu = LU::new(a.clone()).unwrap();
            let mut all = lu.solve(&b).unwrap().as_slice().to_vec();
            all.extend(lu.inverse().unwrap().iter());
            all.extend([lu.determinant(), lu.ln_abs_determinant().unwrap()]);
            all
        };
        for (x, y) in read(&dirty).iter().zip(read(&clean)) {
            assert!(!x.eps[1].is_finite() && !x.eps[4].is_finite(), "n = {n}: {x}");
            for k in [0, 2, 3] {
                assert_eq!(x.eps[k].to_bits(), y.eps[k].to_bits(), "n = {n}: {x} for {y}");
            }
        }
    }
}

/// A determinant that leaves the range of floats has no finite tangent, one whose tangent is in range has it.
#[test]
fn determinants_out_of_range() {
    for n in [2, 3, 4, 6] {
        let det = |diagonal: f64| {
            let a = DMatrix::from_diagonal_element(n, n, diagonal);
            LU::new(
                a.map_with_location(|i, j, x| Dual::<f64, 1>::new(x, [if i + j == 0 { 1.0 } else { 0.0 }])),
            )
            .unwrap()
            .determinant()
        };
        let over = det(10.0_f64.powi(320 / n as i32));
        assert!(over.value.is_infinite() && over.eps[0].is_nan(), "n = {n}: {over}");
        // The value underflows, its derivative does not.
        let x = 10.0_f64.powf(-330.0 / n as f64);
        let (under, exact) = (det(x), x.powi(n as i32 - 1));
        assert_eq!(under.value, 0.0);
        assert!((under.eps[0] - exact).abs() <= 1e-14 * exact, "n = {n}: {under} for {exact:e}");
    }
}

/// A factor that has overflowed leaves no finite tangent.
#[test]
fn overflown_factors() {
    for n in [2, 4, 14] {
        let mut a = DMatrix::<f64>::identity(n, n);
        a[(0, n - 1)] = 1e308;
        (a[(n - 1, 0)], a[(n - 1, n - 1)]) = (-1.0, 1e308);
        let lu = LU::new(a.map(|x| Dual::<f64, 2>::new(x, [1.0, 2.0]))).unwrap();
        let (det, ln) = (lu.determinant(), lu.ln_abs_determinant().unwrap());
        assert!(det.value == f64::INFINITY && det.eps.iter().all(|t| t.is_nan()), "{det}");
        assert!(ln.value == f64::INFINITY && ln.eps.iter().all(|t| t.is_nan()), "{ln}");
        let b = DMatrix::from_element(n, 1, Dual::constant(1.0));
        assert!(matches!(lu.solve(&b), Err(Error::NonFinite { routine: "getrs", .. })));
        assert!(matches!(lu.inverse(), Err(Error::NonFinite { routine: "getri", .. })));
        let plain = LU::new(a).unwrap();
        assert_eq!((plain.determinant(), plain.ln_abs_determinant()), (f64::INFINITY, Ok(f64::INFINITY)));
    }
}

/// The tangents of an entry that has overflowed are NaN.
#[test]
fn overflown_solutions() {
    for n in [2, 12, 14] {
        let mut a = DMatrix::<f64>::identity(n, n);
        a[(0, 0)] = 1e-200;
        let mut b = DMatrix::from_element(n, 1, Dual::<f64, 3>::new(1.0, [1.0; 3]));
        b[0] = Dual::new(1e200, [1.0; 3]);
        let x = LU::new(a.map(Dual::constant)).unwrap().solve(&b).unwrap();
        assert!(x[0].value == f64::INFINITY && x[0].eps.iter().all(|t| t.is_nan()), "{}", x[0]);
        assert!(x.iter().skip(1).all(|x| x.value == 1.0));
    }
}

/// The factors, asked for one by one, together, or from the routine, are the same.
#[test]
fn factors_on_demand() {
    for (m, n) in [(0, 0), (3, 5), (6, 6), (9, 4), (20, 20)] {
        let (a, da) = (Random::new(11).matrix(m, n), Random::new(12).matrix(m, n));
        let a = a.zip_map(&da, |x, t| Dual::<f64, 1>::new(x, [t]));
        let (mut factors, mut ipiv) = (a.clone(), vec![0; m.min(n)]);
        Dual::getrf(factors.as_view_mut(), &mut ipiv).unwrap();
        let lu = LU::new(a).unwrap();
        let (p, l, u) = lu.clone().unpack();
        assert_eq!((l.clone(), u.clone(), p.len()), (lu.l(), lu.u(), lu.p().len()));
        let r = m.min(n);
        let packed = DMatrix::from_fn(m, n, |i, j| if i > j { l[(i, j)] } else { u[(i, j)] });
        assert_close(&part(&packed, |x| x.value), &part(&factors, |x| x.value), 1e-14, "values");
        assert_close(&part(&packed, |x| x.eps[0]), &part(&factors, |x| x.eps[0]), 1e-12, "tangents");
        assert!((0..r).all(|i| l[(i, i)] == Dual::constant(1.0)));
    }
}

/// Factors that are kept are those that are computed, from any thread, also of a copy.
#[test]
fn factors_are_kept() {
    let (a, da) = (regular(13, 30), Random::new(14).matrix(30, 30));
    let a = a.zip_map(&da, |x, t| Dual::<f64, 5>::new(x, [t; 5]));
    let lu = LU::new(a.clone()).unwrap();
    let parts = |m: DMatrix<Dual<f64, 5>>| m.iter().map(|x| (x.value, x.eps)).collect::<Vec<_>>();
    let (_, l, u) = LU::new(a).unwrap().unpack();
    let expected = (parts(l), parts(u));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!((parts(lu.l()), parts(lu.u())), expected));
        }
    });
    assert_eq!((parts(lu.clone().u()), parts(lu.u())), (expected.1.clone(), expected.1));
}

/// Every lane is that of a run with it alone, to the bit, whatever the number of lanes.
#[test]
fn lanes_alone() {
    fn check<const N: usize>(n: usize) {
        let mut random = Random::new(n as u64);
        let mut number = |x: f64| Dual::<f64, N>::new(x, [(); N].map(|()| random.signed()));
        let (a, b) = (regular(5, n).map(&mut number), Random::new(6).matrix(n, 2).map(&mut number));
        let x = LU::new(a.clone()).unwrap().solve(&b).unwrap();
        for k in 0..N {
            let single = |m: &DMatrix<Dual<f64, N>>| m.map(|x| Dual::<f64, 1>::new(x.value, [x.eps[k]]));
            let alone = LU::new(single(&a)).unwrap().solve(&single(&b)).unwrap();
            assert!(
                x.iter().zip(&alone).all(|(x, y)| x.eps[k].to_bits() == y.eps[0].to_bits()),
                "{n}, lane {k}"
            );
        }
    }
    for n in [3, 13, 14, 15, 16, 17, 40, 66] {
        check::<2>(n);
        check::<3>(n);
        check::<5>(n);
        check::<16>(n);
        check::<17>(n);
    }
}
