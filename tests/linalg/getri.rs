use dualpack::{Dual, Error, Getrf, Getri, HyperDual, Lapack, Real};
use nalgebra::{Complex, DMatrix, DMatrixViewMut};

use crate::getrf::matrix;
use crate::getrs::factored;
use crate::laws::{Routine, check};
use crate::support::matrices::Random;

struct Case {
    n: usize,
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("getri n = {}", self.n)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        vec![factored(self.n).0]
    }
    fn outputs(&self) -> Vec<usize> {
        vec![0]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        T::getri(a.remove(0), &factored(self.n).1)
    }
}

#[test]
fn laws() {
    for n in [0, 1, 2, 6, 19, 33] {
        check(&Case { n });
    }
}

/// A X = I in hyper-dual arithmetic.
#[test]
fn is_the_inverse_in_every_part() {
    for n in [1, 5, 18] {
        let mut random = Random::new(n as u64);
        let [e, f, m] = [0; 3].map(|_| random.matrix(n, n));
        let value = matrix(n, n);
        let a = DMatrix::from_fn(n, n, |i, j| {
            HyperDual::new(value[(i, j)], [e[(i, j)]], [f[(i, j)]], [[m[(i, j)]]])
        });
        let (mut x, mut ipiv) = (a.clone(), vec![0; n]);
        HyperDual::<f64>::getrf(x.as_view_mut(), &mut ipiv).unwrap();
        HyperDual::<f64>::getri(x.as_view_mut(), &ipiv).unwrap();
        let residual = a * x - DMatrix::identity(n, n);
        for r in residual.iter() {
            let worst = r.value.abs().max(r.eps1[0].abs()).max(r.eps2[0].abs()).max(r.eps12[0][0].abs());
            assert!(worst < 1e-13, "n = {n}: {r}");
        }
    }
}

#[test]
fn complex() {
    type Z = Complex<Dual<f64, 2>>;
    let n = 7;
    let mut random = Random::new(3);
    let mut number = || Dual::new(random.signed(), [random.signed(), random.signed()]);
    let a = DMatrix::from_fn(n, n, |_, _| Z::new(number(), number()));
    let (mut x, mut ipiv) = (a.clone(), vec![0; n]);
    Z::getrf(x.as_view_mut(), &mut ipiv).unwrap();
    Z::getri(x.as_view_mut(), &ipiv).unwrap();
    for z in (a * x - DMatrix::<Z>::identity(n, n)).iter() {
        for part in [z.re, z.im] {
            assert!(part.value.abs() < 1e-13 && part.eps.iter().all(|t| t.abs() < 1e-12), "{part}");
        }
    }
}

#[test]
fn bad_input() {
    fn all<T: Lapack + Real<Base = f64>>() {
        let invert = |mut a: DMatrix<T>, ipiv: &[i32]| {
            let before = a.clone();
            let refused = T::getri(a.as_view_mut(), ipiv);
            assert!(a.iter().zip(before.iter()).all(|(x, y)| x.same(*y)), "left alone");
            refused.unwrap_err()
        };
        let good = DMatrix::<T>::identity(3, 3);
        assert!(matches!(invert(DMatrix::zeros(2, 3), &[1, 2]), Error::Shape { routine: "getri", .. }));
        assert!(matches!(invert(good.clone(), &[1, 2, 7]), Error::Shape { .. }));
        let mut singular = good.clone();
        singular[(2, 2)] = T::from_base(0.0);
        assert_eq!(invert(singular, &[1, 2, 3]), Error::Singular { routine: "getri", pivot: 3 });
        let mut nan = good;
        nan[(0, 1)] = T::from_base(f64::NAN);
        assert_eq!(invert(nan, &[1, 2, 3]), Error::NonFinite { routine: "getri", row: 1, col: 2 });
    }
    all::<f64>();
    all::<Dual<f64, 2>>();
}
