use dualpack::{Dual, Error, Gesv, Getrf, Getrs, Lapack, Real, Trans};
use nalgebra::{DMatrix, DMatrixViewMut};

use crate::laws::{Routine, check};
use crate::support::compare::{assert_close, assert_same_bits, part};
use crate::support::matrices::Random;

/// Far from singular, but in need of interchanges.
fn regular(seed: u64, n: usize) -> DMatrix<f64> {
    let mut a = Random::new(seed).matrix(n, n);
    (0..n).for_each(|i| a[(i, (i + 1) % n)] += 2.0 + n as f64);
    a
}

struct Case {
    n: usize,
    r: usize,
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("gesv n = {} r = {}", self.n, self.r)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        vec![regular(71, self.n), Random::new(72).matrix(self.n, self.r)]
    }
    fn outputs(&self) -> Vec<usize> {
        vec![1]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        let b = a.remove(1);
        T::gesv(a[0].as_view(), b)
    }
}

#[test]
fn laws() {
    for (n, r) in [(0, 0), (0, 2), (3, 0), (1, 1), (4, 1), (5, 3), (9, 2), (20, 2), (34, 5)] {
        check(&Case { n, r });
    }
}

/// dA X + A dX = dB, for numbers of lanes that fill the registers and numbers that do not.
fn identity<const N: usize>(n: usize, r: usize) {
    let mut random = Random::new(73);
    let (a, b) = (regular(74, n), random.matrix(n, r));
    let da: Vec<_> = (0..N).map(|_| random.matrix(n, n)).collect();
    let db: Vec<_> = (0..N).map(|_| random.matrix(n, r)).collect();
    let at = |x: &DMatrix<f64>, dx: &[DMatrix<f64>], i, j| {
        Dual::<f64, N>::new(x[(i, j)], std::array::from_fn(|k| dx[k][(i, j)]))
    };
    let mut x = DMatrix::from_fn(n, r, |i, j| at(&b, &db, i, j));
    Dual::gesv(DMatrix::from_fn(n, n, |i, j| at(&a, &da, i, j)).as_view(), x.as_view_mut()).unwrap();
    let value = part(&x, |x| x.value);
    for k in 0..N {
        let dx = part(&x, |x| x.eps[k]);
        assert_close(&(&da[k] * &value + &a * dx), &db[k], 1e-11, "dA X + A dX");
    }
    let mut plain = b;
    let (mut factors, mut ipiv) = (a, vec![0; n]);
    f64::getrf(factors.as_view_mut(), &mut ipiv).unwrap();
    f64::getrs(Trans::NoTrans, factors.as_view(), &ipiv, plain.as_view_mut()).unwrap();
    assert_same_bits(&value, &plain, "the value of LAPACK");
}

#[test]
fn differentiated_identity() {
    identity::<1>(7, 2);
    identity::<4>(8, 1);
    identity::<13>(19, 3);
    identity::<16>(24, 1);
}

#[test]
fn a_zero_pivot_is_named_and_nothing_is_written() {
    let a = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 2.0, 4.0]).map(|x| Dual::<f64, 3>::new(x, [1.0; 3]));
    let mut b = DMatrix::from_element(2, 1, Dual::new(5.0, [7.0; 3]));
    let error = Dual::gesv(a.as_view(), b.as_view_mut()).unwrap_err();
    assert!(matches!(error, Error::Singular { pivot: 2, .. }), "{error}");
    assert!(b.iter().all(|x| x.value == 5.0 && x.eps == [7.0; 3]));
    let rectangular = DMatrix::from_element(2, 3, 1.0);
    let mut b = DMatrix::from_element(2, 1, 1.0);
    assert!(matches!(f64::gesv(rectangular.as_view(), b.as_view_mut()), Err(Error::Shape { .. })));
}
