//! `Cholesky` of large matrices factors values alone. Its results are those of the differentiated factor of the
//! routines, for every scalar.

use dualpack::{Cholesky, Dual, Dual2, Error, HyperDual, Lapack, Real, Uplo};
use nalgebra::{Complex, ComplexField, DMatrix, DMatrixViewMut};

use crate::laws::{Part, Routine, check};
use crate::support::compare::part;
use crate::support::matrices::{Kind, Random};

#[derive(Clone, Copy, Debug)]
enum Of {
    Factor,
    Solution,
    Inverse,
    Logarithm,
    Determinant,
}

struct Case {
    n: usize,
    of: Of,
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("Cholesky n = {} {:?}", self.n, self.of)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        let n = self.n;
        let result = match self.of {
            Of::Solution => Random::new(72).matrix(n, 3),
            Of::Inverse | Of::Factor => DMatrix::zeros(n, n),
            Of::Logarithm | Of::Determinant => DMatrix::zeros(1, 1),
        };
        let random = Random::new(71).matrix(n, n);
        // A determinant about one.
        let a = (&random * random.transpose()) * (0.3 / n as f64) + DMatrix::identity(n, n) * 0.9;
        vec![a, result]
    }
    fn part(&self, operand: usize) -> Part {
        if operand == 0 { Part::Triangle(Uplo::Lower) } else { Part::All }
    }
    fn outputs(&self) -> Vec<usize> {
        vec![1]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        let [a, mut result] = <[_; 2]>::try_from(a).expect("two operands");
        let chol = Cholesky::new(a.clone_owned())?;
        match self.of {
            Of::Factor => result.copy_from(&chol.unpack()),
            Of::Solution => result.copy_from(&chol.solve(&result.clone_owned())?),
            Of::Inverse => result.copy_from(&chol.inverse()),
            Of::Logarithm => result[(0, 0)] = chol.ln_determinant(),
            Of::Determinant => result[(0, 0)] = chol.determinant(),
        }
        Ok(())
    }
}

#[test]
fn laws() {
    for n in [23, 24, 25, 26, 31, 40] {
        for of in [Of::Factor, Of::Solution, Of::Inverse, Of::Logarithm, Of::Determinant] {
            check(&Case { n, of });
        }
    }
    check(&Case { n: 67, of: Of::Solution });
}

/// Against the differentiated factor; `parts` reads all parts of a number.
fn agrees<T: Lapack>(n: usize, lift: impl Fn(&mut Random) -> T, parts: impl Fn(T) -> Vec<f64>, eps: f64) {
    let mut random = Random::new(n as u64);
    let small = T::from_subset(&(1.0 / n as f64));
    let mut a = DMatrix::from_fn(n, n, |i, j| if i < j { T::all_nan() } else { lift(&mut random) * small });
    for i in 0..n {
        a[(i, i)] = T::from_real(a[(i, i)].real()) + T::one();
    }
    let b = DMatrix::from_fn(n, 2, |_, _| lift(&mut random));
    let chol = Cholesky::new(a.clone()).unwrap();
    let mut factor = a.clone();
    T::potrf(Uplo::Lower, factor.as_view_mut()).unwrap();
    let close = |x: &DMatrix<T>, y: &DMatrix<T>, what: &str| {
        let flat = |m: &DMatrix<T>| m.iter().flat_map(|&x| parts(x)).collect::<Vec<_>>();
        let (x, y) = (flat(x), flat(y));
        let largest = y.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
        for (k, (x, y)) in x.iter().zip(&y).enumerate() {
            let distance = (x - y).abs();
            assert!(distance <= eps * largest, "{what}, n = {n}, number {k}: {x:e} for {y:e} of {largest:e}");
        }
    };
    close(&chol.l(), &factor.lower_triangle(), "L");
    let mut x = b.clone();
    T::potrs(Uplo::Lower, factor.as_view(), x.as_view_mut()).unwrap();
    close(&chol.solve(&b).unwrap(), &x, "solution");
    let mut inverse = factor.clone();
    T::potri(Uplo::Lower, inverse.as_view_mut()).unwrap();
    close(&chol.inverse().lower_triangle(), &inverse.lower_triangle(), "inverse");
    close(&chol.inverse().adjoint(), &chol.inverse(), "the inverse is Hermitian");
    let one = |x: T::RealField| DMatrix::from_element(1, 1, T::from_real(x));
    let diagonal = || (0..n).map(|i| factor[(i, i)].real());
    let ln = diagonal().fold(nalgebra::zero::<T::RealField>(), |sum, l| sum + l.ln() + l.ln());
    close(&one(chol.ln_determinant()), &one(ln), "logarithm");
    let det = diagonal().fold(nalgebra::one::<T::RealField>(), |det, l| det * l * l);
    close(&one(chol.determinant()), &one(det), "determinant");
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
    first::<1>(&[25, 65, 66, 129]);
    first::<2>(&[24, 26]);
    first::<3>(&[1, 25, 40]);
    first::<4>(&[26, 70]);
    first::<5>(&[27]);
    first::<7>(&[25]);
    first::<8>(&[23, 24, 25, 26, 40, 66]);
    first::<15>(&[25]);
    first::<16>(&[25, 65, 130]);
    first::<17>(&[26, 33]);
}

#[test]
fn single_precision() {
    for n in [24, 25, 40, 65] {
        let lift = |random: &mut Random| {
            Dual::<f32, 5>::new(random.signed() as f32, [(); 5].map(|()| random.signed() as f32))
        };
        agrees(n, lift, |x| [&[x.value], &x.eps[..]].concat().iter().map(|&x| x.into()).collect(), 1e-5);
    }
}

/// Second and third order, and complex numbers.
#[test]
fn other_scalars() {
    for n in [24, 25, 30] {
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
        agrees(n, lift, parts, 1e-12);
        let lift = |random: &mut Random| {
            let mut next = || random.signed();
            let (value, grad, [p, q, r]) = (next(), [next(), next()], [next(), next(), next()]);
            Dual2::<f64, 2> { value, grad, hess: [[p, q], [q, r]] }
        };
        let parts = |x: Dual2<f64, 2>| {
            vec![x.value, x.grad[0], x.grad[1], x.hessian(0, 0), x.hessian(0, 1), x.hessian(1, 1)]
        };
        agrees(n, lift, parts, 1e-12);
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
        agrees(n, lift, parts, 1e-12);
        type Z = Complex<Dual<f64, 2>>;
        let lift = |random: &mut Random| {
            let mut real = || Dual::<f64, 2>::new(random.signed(), [random.signed(), random.signed()]);
            Z::new(real(), real())
        };
        let parts = |z: Z| [&[z.re.value, z.im.value], &z.re.eps[..], &z.im.eps[..]].concat();
        agrees(n, lift, parts, 1e-12);
    }
}

/// What belongs to one lane does not leave it through any result.
#[test]
fn lanes_stay_apart() {
    for n in [25, 66] {
        let (a, da) = (Kind::Spd.matrix(3, n), Random::new(4).matrix(n, n));
        let clean = a.zip_map(&da, |x, t| Dual::<f64, 5>::new(x, [t; 5]));
        let mut dirty = clean.clone();
        for x in &mut dirty {
            (x.eps[1], x.eps[4]) = (f64::NAN, f64::INFINITY);
        }
        let b = DMatrix::from_element(n, 2, Dual::constant(1.0));
        let read = |a: &DMatrix<Dual<f64, 5>>| {
            let chol = Cholesky::new(a.clone()).unwrap();
            let mut all = chol.solve(&b).unwrap().as_slice().to_vec();
            all.extend(chol.inverse().iter());
            all.push(chol.ln_determinant());
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

/// Errors and failures are those of the small ones.
#[test]
fn failures() {
    let n = 30;
    let mut a = Kind::Spd.matrix(5, n).map(|x| Dual::<f64, 2>::new(x, [1.0; 2]));
    let chol = Cholesky::new(a.clone()).unwrap();
    let b = DMatrix::from_element(n + 1, 1, Dual::constant(1.0));
    assert!(matches!(chol.solve(&b), Err(Error::Shape { routine: "potrs", .. })));
    let b = DMatrix::from_element(n, 1, Dual::constant(f64::NAN));
    assert_eq!(chol.solve(&b), Err(Error::NonFinite { routine: "potrs", row: 1, col: 1 }));
    a[(2, 9)] = Dual::constant(f64::NAN);
    assert!(Cholesky::new(a.clone()).is_ok(), "the upper triangle is not read");
    a[(9, 2)] = Dual::constant(f64::INFINITY);
    let error = Error::NonFinite { routine: "potrf", row: 10, col: 3 };
    assert_eq!(Cholesky::new(a.clone()).unwrap_err(), error);
    a[(9, 2)] = Dual::constant(0.0);
    a[(4, 4)] = Dual::constant(-1.0);
    let error = Error::NotPositiveDefinite { routine: "potrf", minor: 5 };
    assert_eq!(Cholesky::new(a).unwrap_err(), error);
    let rectangular = DMatrix::from_element(n, n + 1, Dual::<f64, 1>::constant(1.0));
    assert!(matches!(Cholesky::new(rectangular), Err(Error::Shape { routine: "potrf", .. })));
}

/// A determinant that leaves the range of floats has no finite tangent, one whose tangent is in range has it.
#[test]
fn determinants_out_of_range() {
    let det = |n: usize, diagonal: f64| {
        let a = DMatrix::from_diagonal_element(n, n, diagonal);
        let lift = |i, j, x| Dual::<f64, 1>::new(x, [if i + j == 0 { 1.0 } else { 0.0 }]);
        Cholesky::new(a.map_with_location(lift)).unwrap()
    };
    for (n, diagonal) in [(2, 1e200), (4, 1e90), (13, 1e30), (30, 1e11)] {
        let over = det(n, diagonal).determinant();
        assert!(over.value.is_infinite() && over.eps[0].is_nan(), "{n}: {over}");
    }
    let over = det(30, 1e11);
    assert!((over.ln_determinant().eps[0] - 1e-11).abs() < 1e-26);
    let (under, exact) = (det(30, 1e-11).determinant(), 1e-319);
    assert_eq!(under.value, 0.0);
    assert!((under.eps[0] - exact).abs() <= 2e-323, "{under}");
}

/// The factor, asked for or given away, and in any number of directions.
#[test]
fn factor_on_demand() {
    let n = 33;
    let (a, da) = (Kind::Spd.matrix(8, n), Random::new(9).symmetric(n));
    let chol = Cholesky::new(a.zip_map(&da, |x, t| Dual::<f64, 1>::new(x, [t]))).unwrap();
    let l = chol.l();
    assert_eq!((&l, &l), (&chol.clone().unpack(), &l.lower_triangle()));
    let plain = Cholesky::new(a).unwrap();
    assert_eq!(part(&l, |x| x.value), plain.l());
    let (dl, tangents) = (plain.pushforward(&da).unwrap(), part(&l, |x| x.eps[0]));
    assert!((dl - &tangents).norm() < 1e-13 * tangents.norm());
    let d = da.map(Dual::<f64, 1>::constant);
    let pushed = chol.pushforward(&d).unwrap();
    assert!((part(&pushed, |x| x.value) - &tangents).norm() < 1e-13 * tangents.norm());
}

/// The imaginary part of the diagonal of a Hermitian matrix is not read, neither is that of its tangents.
#[test]
fn imaginary_diagonal() {
    for n in [3, 13, 30] {
        let a =
            Kind::Spd.matrix(8, n).map(|x| Complex::new(Dual::<f64, 1>::new(x, [x]), Dual::constant(0.0)));
        let hidden = a.map_with_location(|i, j, mut z| {
            if i == j {
                z.im.eps[0] = f64::NAN;
            }
            z
        });
        let (chol, hidden) = (Cholesky::new(a).unwrap(), Cholesky::new(hidden).unwrap());
        // A + t A has the determinant (1 + t)^n det A.
        for ln in [chol.ln_determinant(), hidden.ln_determinant()] {
            assert!((ln.eps[0] - n as f64).abs() < 1e-12 * n as f64, "{ln}");
        }
        let (x, y) = (chol.determinant(), hidden.determinant());
        assert!((x - y).eps[0].abs() <= 1e-12 * x.eps[0].abs(), "{x} {y}");
    }
}
