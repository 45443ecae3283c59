use dualpack::{Diag, Dual, Error, Lapack, Real, Trans, Trtrs, Uplo};
use nalgebra::{DMatrix, DMatrixViewMut};

use crate::laws::{Part, Routine, check};
use crate::support::matrices::{Kind, Random};

struct Case {
    uplo: Uplo,
    trans: Trans,
    diag: Diag,
    n: usize,
    r: usize,
}

impl Routine for Case {
    fn name(&self) -> String {
        let Case { uplo, trans, diag, n, r } = self;
        format!("trtrs {uplo:?} {trans:?} {diag:?} n = {n} r = {r}")
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        // Small entries beside the diagonal: a unit triangle of large ones is hopelessly conditioned.
        let mut a = Kind::Triangular.matrix(31, self.n);
        for j in 0..self.n {
            for i in (0..self.n).filter(|&i| i != j) {
                a[(i, j)] /= self.n as f64;
            }
        }
        let a = if self.uplo == Uplo::Upper { a } else { a.transpose() };
        vec![a, Random::new(2).matrix(self.n, self.r)]
    }
    fn part(&self, operand: usize) -> Part {
        match (operand, self.diag) {
            (0, Diag::NonUnit) => Part::Triangle(self.uplo),
            (0, Diag::Unit) => Part::Strict(self.uplo),
            _ => Part::All,
        }
    }
    fn outputs(&self) -> Vec<usize> {
        vec![1]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        let b = a.remove(1);
        T::trtrs(self.uplo, self.trans, self.diag, a[0].as_view(), b)
    }
}

#[test]
fn laws() {
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for trans in [Trans::NoTrans, Trans::Trans, Trans::ConjTrans] {
            for diag in [Diag::NonUnit, Diag::Unit] {
                for (n, r) in [(0, 1), (1, 1), (6, 2), (18, 3)] {
                    check(&Case { uplo, trans, diag, n, r });
                }
            }
        }
    }
}

#[test]
fn a_zero_on_the_diagonal_is_an_error() {
    let mut a = DMatrix::<Dual<f64, 2>>::identity(4, 4);
    a[(2, 2)] = Dual::new(0.0, [1.0, 1.0]);
    let mut b = DMatrix::from_element(4, 1, Dual::<f64, 2>::from_base(1.0));
    let error =
        Dual::trtrs(Uplo::Lower, Trans::NoTrans, Diag::NonUnit, a.as_view(), b.as_view_mut()).unwrap_err();
    assert_eq!(error, Error::Singular { routine: "trtrs", pivot: 3 });
    // The diagonal of a unit triangle is not read.
    Dual::trtrs(Uplo::Lower, Trans::NoTrans, Diag::Unit, a.as_view(), b.as_view_mut()).unwrap();
}
