use dualpack::{Dual, Error, Lapack, Potrs, Real, Uplo};
use nalgebra::{DMatrix, DMatrixViewMut};

use crate::laws::{Part, Routine, check};
use crate::support::compare::{assert_close, part};
use crate::support::matrices::{Kind, Random};

/// A factor: triangular with a diagonal away from zero, either triangle.
pub fn factor(uplo: Uplo, n: usize) -> DMatrix<f64> {
    let l = nalgebra::Cholesky::new(Kind::Spd.matrix(21, n)).map_or(DMatrix::zeros(0, 0), |c| c.l());
    if uplo == Uplo::Lower { l } else { l.transpose() }
}

struct Case {
    uplo: Uplo,
    n: usize,
    r: usize,
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("potrs {:?} n = {} r = {}", self.uplo, self.n, self.r)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        vec![factor(self.uplo, self.n), Random::new(8).matrix(self.n, self.r)]
    }
    fn part(&self, operand: usize) -> Part {
        if operand == 0 { Part::Triangle(self.uplo) } else { Part::All }
    }
    fn outputs(&self) -> Vec<usize> {
        vec![1]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        let b = a.remove(1);
        T::potrs(self.uplo, a[0].as_view(), b)
    }
}

#[test]
fn laws() {
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for (n, r) in [(0, 0), (0, 2), (3, 0), (1, 1), (4, 1), (5, 3), (20, 2), (34, 5)] {
            check(&Case { uplo, n, r });
        }
    }
}

/// d(A X) = dB with A = F Fᵀ: dA X + A dX = dB.
#[test]
fn differentiated_identity() {
    let (n, r) = (9, 4);
    let mut random = Random::new(4);
    let (l, dl) = (factor(Uplo::Lower, n), random.matrix(n, n).lower_triangle());
    let (b, db) = (random.matrix(n, r), random.matrix(n, r));
    let l_dual = DMatrix::from_fn(n, n, |i, j| Dual::new(l[(i, j)], [dl[(i, j)]]));
    let mut x = DMatrix::from_fn(n, r, |i, j| Dual::new(b[(i, j)], [db[(i, j)]]));
    Dual::potrs(Uplo::Lower, l_dual.as_view(), x.as_view_mut()).unwrap();
    let (x, dx) = (part(&x, |x| x.value), part(&x, |x| x.eps[0]));
    let a = &l * l.transpose();
    let da = &dl * l.transpose() + &l * dl.transpose();
    assert_close(&(da * x + a * dx), &db, 1e-12, "dA X + A dX");
}
