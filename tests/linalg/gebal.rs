use dualpack::{Balance, BalanceJob, Dual, Error, Gebak, Gebal, HyperDual, Lapack, Real, Side};
use nalgebra::{Complex, DMatrix, DMatrixViewMut};

use crate::laws::{Routine, check};
use crate::support::compare::{assert_same_bits, part};
use crate::support::matrices::{Kind, Random};

const JOBS: [BalanceJob; 4] = [BalanceJob::None, BalanceJob::Permute, BalanceJob::Scale, BalanceJob::Both];

/// A dense matrix that balancing scales, far from any threshold.
struct Case {
    job: BalanceJob,
    n: usize,
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("gebal {:?} n = {}", self.job, self.n)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        let mut random = Random::new(3);
        vec![DMatrix::from_fn(self.n, self.n, |i, j| {
            (3.0 + random.signed()) * 4.0_f64.powi((i % 3) as i32 - (j % 3) as i32)
        })]
    }
    fn outputs(&self) -> Vec<usize> {
        vec![0]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        T::gebal(self.job, a.remove(0)).map(|_| ())
    }
}

#[test]
fn laws() {
    for job in JOBS {
        for n in [0, 1, 2, 6, 19] {
            check(&Case { job, n });
        }
    }
}

/// The matrix P D of a balancing: the interchanges in LAPACK's order, then the scaling.
pub fn transformation(balance: &Balance<f64>) -> DMatrix<f64> {
    let n = balance.scale.len();
    let mut t = DMatrix::identity(n, n);
    let outside = (balance.ihi..n).rev().chain(0..balance.ilo.max(1) - 1);
    for j in outside {
        t.swap_columns(j, balance.scale[j] as usize - 1);
    }
    for j in balance.ilo.max(1) - 1..balance.ihi {
        t.column_mut(j).scale_mut(balance.scale[j]);
    }
    t
}

/// B = T⁻¹ A T and dB = T⁻¹ dA T, exactly, in every entry: also where B is zero by structure.
#[test]
fn the_whole_tangent_is_transformed() {
    let (mut structural, mut swaps) = (0, 0);
    for seed in 0..200 {
        let n = 4 + seed as usize % 6;
        let a = Kind::Unbalanced.matrix(seed, n);
        let da = Random::new(seed).matrix(n, n);
        for job in JOBS {
            let mut d = a.zip_map(&da, |x, t| Dual::new(x, [t]));
            let balance = Dual::gebal(job, d.as_view_mut()).unwrap();
            let mut value = a.clone();
            assert_eq!(f64::gebal(job, value.as_view_mut()).unwrap(), balance, "frozen outputs");
            let t = transformation(&balance);
            let inverse = t.transpose().map(|x| if x == 0.0 { 0.0 } else { 1.0 / x });
            let (b, db) = (part(&d, |x| x.value), part(&d, |x| x.eps[0]));
            assert_same_bits(&b, &value, "value");
            assert_eq!(b, &inverse * &a * &t, "{job:?}, seed {seed}: B");
            assert_eq!(db, &inverse * &da * &t, "{job:?}, seed {seed}: dB");
            for j in 0..n {
                let outside = |i: usize| i > j && (j + 1 < balance.ilo || i + 1 > balance.ihi);
                structural += (0..n).filter(|&i| outside(i) && b[(i, j)] == 0.0 && db[(i, j)] != 0.0).count();
            }
            let moved = |j: &usize| balance.scale[*j] != (*j + 1) as f64;
            swaps += (balance.ihi..n).filter(moved).count() + (0..balance.ilo - 1).filter(moved).count();
        }
    }
    assert!(structural > 1000 && swaps > 500, "the matrices have to exercise this: {structural}, {swaps}");
}

/// The tangents are scaled by powers of two alone: lanes of any size come out exact, to the ends of the range.
#[test]
fn extreme_scales() {
    let a = DMatrix::from_row_slice(2, 2, &[1.0, 1e290, 1e-290, 1.0]);
    for size in [1.0, 1e-250, 1e250] {
        let mut d = a.map(|x| Dual::new(x, [size]));
        let balance = Dual::gebal(BalanceJob::Both, d.as_view_mut()).unwrap();
        let ratio = balance.scale[1] / balance.scale[0];
        assert!(ratio < 1e-200);
        assert_eq!(d[(0, 1)].eps[0], size * ratio);
        assert_eq!(d[(1, 0)].eps[0], size / ratio);
    }
}

/// NaN and infinities in a tangent stay in their part, also in nested numbers.
#[test]
fn not_finite_tangents_stay_in_their_part() {
    type H = HyperDual<f64, 1, 1>;
    let mut a = DMatrix::from_fn(3, 3, |i, j| {
        H::new(4.0_f64.powi(i as i32 - j as i32), [f64::INFINITY], [1.0], [[f64::NAN]])
    });
    H::gebal(BalanceJob::Both, a.as_view_mut()).unwrap();
    for x in a.iter() {
        assert!(x.value.is_finite() && x.eps1[0] == f64::INFINITY && x.eps2[0].is_finite());
    }
}

#[test]
fn empty_and_bad() {
    fn all<T: Lapack + Real<Base = f64>>() {
        let empty = T::gebal(BalanceJob::Both, DMatrix::<T>::zeros(0, 0).as_view_mut()).unwrap();
        assert_eq!((empty.ilo, empty.ihi, empty.scale.len()), (1, 0, 0));
        for shape in [(2, 3), (0, 2), (3, 0)] {
            let refused = T::gebal(BalanceJob::Both, DMatrix::<T>::zeros(shape.0, shape.1).as_view_mut());
            assert!(matches!(refused, Err(Error::Shape { routine: "gebal", .. })));
        }
        let mut a = DMatrix::<T>::identity(3, 3);
        a[(2, 0)] = T::from_base(f64::NAN);
        let refused = T::gebal(BalanceJob::Permute, a.as_view_mut());
        assert_eq!(refused, Err(Error::NonFinite { routine: "gebal", row: 3, col: 1 }));
        // 'N' does not look at the matrix.
        assert_eq!(T::gebal(BalanceJob::None, a.as_view_mut()).unwrap().ihi, 3);
    }
    all::<f64>();
    all::<Dual<f64, 2>>();
    all::<Dual<Dual<f64, 1>, 2>>();
}

/// A complex matrix: the same transformation of real and imaginary parts, and back by gebak.
#[test]
fn complex() {
    type Z = Complex<Dual<f64, 1>>;
    for seed in 0..20 {
        let n = 4 + seed as usize % 5;
        let (re, im) = (Kind::Unbalanced.matrix(seed, n), Kind::Unbalanced.matrix(seed, n) * 0.5);
        let (dre, dim) = (Random::new(seed).matrix(n, n), Random::new(seed + 1).matrix(n, n));
        let mut a = DMatrix::from_fn(n, n, |i, j| {
            Z::new(Dual::new(re[(i, j)], [dre[(i, j)]]), Dual::new(im[(i, j)], [dim[(i, j)]]))
        });
        let balance = Z::gebal(BalanceJob::Both, a.as_view_mut()).unwrap();
        let t = transformation(&balance);
        let inverse = t.transpose().map(|x| if x == 0.0 { 0.0 } else { 1.0 / x });
        assert_eq!(a.map(|z| z.re.value), &inverse * re * &t);
        assert_eq!(a.map(|z| z.im.eps[0]), &inverse * dim * &t);
        let mut v =
            DMatrix::from_fn(n, 1, |i, _| Z::new(Dual::new(i as f64, [1.0]), Dual::new(-1.0, [i as f64])));
        let (value, tangent) = (v.map(|z| z.re.value), v.map(|z| z.im.eps[0]));
        Z::gebak(BalanceJob::Both, Side::Right, &balance, v.as_view_mut()).unwrap();
        assert_eq!((v.map(|z| z.re.value), v.map(|z| z.im.eps[0])), (&t * value, &t * tangent));
    }
}
