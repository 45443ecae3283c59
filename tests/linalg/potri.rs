use dualpack::{Dual, Error, Lapack, Potri, Real, Uplo};
use nalgebra::{DMatrix, DMatrixViewMut};

use crate::laws::{Part, Routine, check};
use crate::potrs::factor;
use crate::support::compare::{assert_close, part};
use crate::support::matrices::Random;

struct Case {
    uplo: Uplo,
    n: usize,
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("potri {:?} n = {}", self.uplo, self.n)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        vec![factor(self.uplo, self.n)]
    }
    fn part(&self, _: usize) -> Part {
        Part::Triangle(self.uplo)
    }
    fn outputs(&self) -> Vec<usize> {
        vec![0]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        T::potri(self.uplo, a.remove(0))
    }
}

#[test]
fn laws() {
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for n in [0, 1, 2, 6, 19, 33] {
            check(&Case { uplo, n });
        }
    }
}

/// dX A + X dA = 0.
#[test]
fn differentiated_identity() {
    let n = 8;
    let (l, dl) = (factor(Uplo::Lower, n), Random::new(12).matrix(n, n).lower_triangle());
    let mut x = DMatrix::from_fn(n, n, |i, j| Dual::new(l[(i, j)], [dl[(i, j)]]));
    Dual::potri(Uplo::Lower, x.as_view_mut()).unwrap();
    let full = |a: DMatrix<f64>| DMatrix::from_fn(n, n, |i, j| a[(i.max(j), i.min(j))]);
    let (x, dx) = (full(part(&x, |x| x.value)), full(part(&x, |x| x.eps[0])));
    let a = &l * l.transpose();
    let da = &dl * l.transpose() + &l * dl.transpose();
    assert_close(&(dx * a), &-(x * da), 1e-12, "dX A and -X dA");
}

/// A zero on the diagonal is an error, and no finite tangent is left.
#[test]
fn singular() {
    let mut a = DMatrix::<Dual<Dual<f64, 1>, 1>>::identity(3, 3);
    a[(1, 1)] = Dual::from_base(0.0);
    let error = Dual::potri(Uplo::Lower, a.as_view_mut()).unwrap_err();
    assert_eq!(error, Error::Singular { routine: "potri", pivot: 2 });
    for j in 0..3 {
        for i in j..3 {
            let x = a[(i, j)];
            assert!(
                x.eps[0].value.is_nan() && x.eps[0].eps[0].is_nan() && x.value.eps[0].is_nan(),
                "({i}, {j})"
            );
        }
    }
}
