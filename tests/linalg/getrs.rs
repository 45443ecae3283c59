use dualpack::{Dual, Error, Getrf, Getrs, HyperDual, Lapack, Real, Trans};
use nalgebra::{Complex, DMatrix, DMatrixViewMut};

use crate::getrf::matrix;
use crate::laws::{Routine, check};
use crate::support::matrices::Random;

const TRANS: [Trans; 3] = [Trans::NoTrans, Trans::Trans, Trans::ConjTrans];

struct Case {
    trans: Trans,
    n: usize,
    columns: usize,
}

/// The factors and pivots of a matrix of order n.
pub fn factored(n: usize) -> (DMatrix<f64>, Vec<i32>) {
    let (mut lu, mut ipiv) = (matrix(n, n), vec![0; n]);
    f64::getrf(lu.as_view_mut(), &mut ipiv).unwrap();
    (lu, ipiv)
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("getrs {:?} n = {}, {} columns", self.trans, self.n, self.columns)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        vec![factored(self.n).0, Random::new(4).matrix(self.n, self.columns)]
    }
    fn outputs(&self) -> Vec<usize> {
        vec![1]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        let b = a.remove(1);
        T::getrs(self.trans, a[0].as_view(), &factored(self.n).1, b)
    }
}

#[test]
fn laws() {
    for trans in TRANS {
        for (n, columns) in [(0, 0), (0, 2), (3, 0), (1, 1), (2, 3), (6, 1), (19, 4), (33, 2)] {
            check(&Case { trans, n, columns });
        }
    }
}

/// op(A) X = B in hyper-dual arithmetic, where A is the matrix that was factored, with its tangents.
#[test]
fn solves_the_equation_in_every_part() {
    for trans in TRANS {
        for n in [1, 4, 17] {
            let mut random = Random::new(n as u64);
            let mut part = |columns: usize| {
                let [x, e, f, m] = [0; 4].map(|_| random.matrix(n, columns));
                DMatrix::from_fn(n, columns, |i, j| {
                    HyperDual::new(x[(i, j)], [e[(i, j)]], [f[(i, j)]], [[m[(i, j)]]])
                })
            };
            let (a, b) = (part(n) + matrix(n, n).map(HyperDual::constant), part(3));
            let (mut lu, mut ipiv, mut x) = (a.clone(), vec![0; n], b.clone());
            HyperDual::<f64>::getrf(lu.as_view_mut(), &mut ipiv).unwrap();
            HyperDual::<f64>::getrs(trans, lu.as_view(), &ipiv, x.as_view_mut()).unwrap();
            let residual = (if trans == Trans::NoTrans { a } else { a.transpose() }) * x - b;
            for r in residual.iter() {
                let worst = r.value.abs().max(r.eps1[0].abs()).max(r.eps2[0].abs()).max(r.eps12[0][0].abs());
                assert!(worst < 1e-12, "{trans:?} n = {n}: {r}");
            }
        }
    }
}

#[test]
fn complex() {
    type Z = Complex<Dual<f64, 2>>;
    let n = 6;
    for trans in TRANS {
        let mut random = Random::new(9);
        let mut number = || Dual::new(random.signed(), [random.signed(), random.signed()]);
        let a = DMatrix::from_fn(n, n, |_, _| Z::new(number(), number()));
        let b = DMatrix::from_fn(n, 2, |_, _| Z::new(number(), number()));
        let (mut lu, mut ipiv, mut x) = (a.clone(), vec![0; n], b.clone());
        Z::getrf(lu.as_view_mut(), &mut ipiv).unwrap();
        Z::getrs(trans, lu.as_view(), &ipiv, x.as_view_mut()).unwrap();
        let op = match trans {
            Trans::NoTrans => a,
            Trans::Trans => a.transpose(),
            Trans::ConjTrans => a.adjoint(),
        };
        for z in (op * x - b).iter() {
            for part in [z.re, z.im] {
                assert!(
                    part.value.abs() < 1e-12 && part.eps.iter().all(|t| t.abs() < 1e-11),
                    "{trans:?}: {part}"
                );
            }
        }
    }
}

#[test]
fn bad_input() {
    fn all<T: Lapack + Real<Base = f64>>() {
        let lu = DMatrix::<T>::identity(3, 3);
        let b = || DMatrix::<T>::from_element(3, 2, T::one());
        let solve = |lu: &DMatrix<T>, ipiv: &[i32], b: &mut DMatrix<T>| {
            let before = b.clone();
            let refused = T::getrs(Trans::NoTrans, lu.as_view(), ipiv, b.as_view_mut());
            assert!(b.iter().zip(before.iter()).all(|(x, y)| x.same(*y)), "left alone");
            refused.unwrap_err()
        };
        for ipiv in [&[1, 2][..], &[1, 2, 4], &[0, 2, 3], &[1, -1, 3]] {
            assert!(matches!(solve(&lu, ipiv, &mut b()), Error::Shape { routine: "getrs", .. }));
        }
        let mut wrong = DMatrix::<T>::zeros(2, 2);
        assert!(matches!(solve(&lu, &[1, 2, 3], &mut wrong), Error::Shape { .. }));
        let mut nan = b();
        nan[(1, 1)] = T::from_base(f64::NAN);
        let error = Error::NonFinite { routine: "getrs", row: 2, col: 2 };
        assert_eq!(solve(&lu, &[1, 2, 3], &mut nan), error);
        let mut singular = lu.clone();
        singular[(1, 1)] = T::from_base(0.0);
        assert_eq!(solve(&singular, &[1, 2, 3], &mut b()), Error::Singular { routine: "getrs", pivot: 2 });
    }
    all::<f64>();
    all::<Dual<f64, 2>>();
    all::<Dual<Dual<f64, 1>, 2>>();
}
