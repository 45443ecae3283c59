use dualpack::{Balance, BalanceJob, Dual, Error, Gebak, Gebal, Lapack, Real, Side};
use nalgebra::{DMatrix, DMatrixViewMut};

use crate::gebal::transformation;
use crate::laws::{Routine, check};
use crate::support::compare::{assert_close, part};
use crate::support::matrices::{Kind, Random};

struct Case {
    job: BalanceJob,
    side: Side,
    n: usize,
    columns: usize,
}

impl Case {
    fn balance(&self) -> Balance<f64> {
        f64::gebal(self.job, Kind::Unbalanced.matrix(5, self.n).as_view_mut()).unwrap()
    }
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("gebak {:?} {:?} n = {}", self.job, self.side, self.n)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        vec![Random::new(6).matrix(self.n, self.columns)]
    }
    fn outputs(&self) -> Vec<usize> {
        vec![0]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut v: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        T::gebak(self.job, self.side, &self.balance(), v.remove(0))
    }
}

#[test]
fn laws() {
    for job in [BalanceJob::None, BalanceJob::Permute, BalanceJob::Scale, BalanceJob::Both] {
        for side in [Side::Left, Side::Right] {
            for n in [0, 1, 2, 9] {
                check(&Case { job, side, n, columns: 3 });
            }
        }
    }
}

/// Right: P D V. Left: P D⁻¹ V.
#[test]
fn is_the_transformation() {
    for seed in 0..100 {
        let n = 3 + seed as usize % 7;
        let balance = f64::gebal(BalanceJob::Both, Kind::Unbalanced.matrix(seed, n).as_view_mut()).unwrap();
        let t = transformation(&balance);
        let inverse = t.map(|x| if x == 0.0 { 0.0 } else { 1.0 / x });
        let (v, dv) = (Random::new(seed).matrix(n, 2), Random::new(seed + 1).matrix(n, 2));
        for (side, t) in [(Side::Right, t), (Side::Left, inverse)] {
            let mut d = v.zip_map(&dv, |x, t| Dual::new(x, [t]));
            Dual::gebak(BalanceJob::Both, side, &balance, d.as_view_mut()).unwrap();
            assert_eq!(part(&d, |x| x.value), &t * &v, "{side:?}, seed {seed}");
            assert_eq!(part(&d, |x| x.eps[0]), &t * &dv, "{side:?}, seed {seed}");
        }
    }
}

/// The eigenvector of a balanced matrix, transformed back, is one of the matrix, with its tangent: dA v + A dv = dw v + w dv.
#[test]
fn an_eigenvector_with_its_tangent() {
    let n = 8;
    let a = Kind::Unbalanced.matrix(11, n);
    let da = Random::new(12).matrix(n, n);
    let mut b = a.zip_map(&da, |x, t| Dual::new(x, [t]));
    let balance = Dual::gebal(BalanceJob::Both, b.as_view_mut()).unwrap();
    // Any V with B V - V B = C stands for the vectors: the residual of A (T V) - (T V) B has to be T C.
    let v = Random::new(13).matrix(n, n).zip_map(&Random::new(14).matrix(n, n), |x, t| Dual::new(x, [t]));
    let mut tv = v.clone();
    let mut tc = &b * &v - &v * &b;
    Dual::gebak(BalanceJob::Both, Side::Right, &balance, tv.as_view_mut()).unwrap();
    Dual::gebak(BalanceJob::Both, Side::Right, &balance, tc.as_view_mut()).unwrap();
    let a = a.zip_map(&da, |x, t| Dual::new(x, [t]));
    let residual = &a * &tv - &tv * &b;
    assert_close(&part(&residual, |x| x.value), &part(&tc, |x| x.value), 1e-13, "A T V - T V B");
    assert_close(&part(&residual, |x| x.eps[0]), &part(&tc, |x| x.eps[0]), 1e-13, "its tangent");
}

#[test]
fn refuses_what_gebal_cannot_have_returned() {
    fn all<T: Lapack + Real<Base = f64>>() {
        let bad = |balance: Balance<f64>, rows: usize| {
            let mut v = DMatrix::<T>::identity(rows, 2);
            let before = v.clone();
            let refused = T::gebak(BalanceJob::Both, Side::Right, &balance, v.as_view_mut());
            assert!(matches!(refused, Err(Error::Shape { routine: "gebak", .. })), "{refused:?}");
            assert!(v == before);
        };
        let scale = || vec![1.0; 3];
        bad(Balance { ilo: 1, ihi: 3, scale: scale() }, 4);
        bad(Balance { ilo: 0, ihi: 3, scale: scale() }, 3);
        bad(Balance { ilo: 3, ihi: 2, scale: scale() }, 3);
        bad(Balance { ilo: 1, ihi: 4, scale: scale() }, 3);
        bad(Balance { ilo: 2, ihi: 3, scale: vec![4.0, 1.0, 1.0] }, 3);
        bad(Balance { ilo: 2, ihi: 3, scale: vec![0.0, 1.0, 1.0] }, 3);
        bad(Balance { ilo: 1, ihi: 2, scale: vec![1.0, 1.0, f64::NAN] }, 3);
        let mut v = DMatrix::<T>::identity(3, 2);
        v[(1, 1)] = T::from_base(f64::INFINITY);
        let balance = Balance { ilo: 1, ihi: 3, scale: scale() };
        let refused = T::gebak(BalanceJob::Both, Side::Right, &balance, v.as_view_mut());
        assert_eq!(refused, Err(Error::NonFinite { routine: "gebak", row: 2, col: 2 }));
    }
    all::<f64>();
    all::<Dual<f64, 2>>();
}
