//! The numbers of num-dual get the rules too: the same values as ours to the bit, and the same tangents up to the
//! rounding of the kernels that only ours have.

use dualpack::{Cholesky, Dual, Dual2, HyperDual, Lapack, Real};
use nalgebra::DMatrix;

use crate::support::compare::same_bits;
use crate::support::matrices::{Kind, Random};

const SIZES: [usize; 4] = [0, 1, 5, 30];

/// Everything a Cholesky front gives for A and b.
fn everything<T: Lapack + Real>(a: &DMatrix<T>, b: &DMatrix<T>) -> Vec<T> {
    let chol = Cholesky::new(a.clone()).unwrap();
    let mut all: Vec<T> = chol.l().iter().chain(chol.inverse().iter()).copied().collect();
    all.extend(chol.solve(b).unwrap().iter());
    all.extend([chol.determinant(), chol.ln_determinant()]);
    all
}

/// Runs it on `theirs` and on `ours` and compares all parts.
fn compare<T: Lapack + Real, O: Lapack + Real>(
    theirs: impl Fn(f64, f64, f64) -> T,
    ours: impl Fn(T) -> O,
    parts: impl Fn(O) -> Vec<f64>,
) {
    for n in SIZES {
        let mut random = Random::new(n as u64);
        let (a, d, e, b) =
            (Kind::Spd.matrix(1, n), random.symmetric(n), random.symmetric(n), random.matrix(n, 2));
        let a = DMatrix::from_fn(n, n, |i, j| theirs(a[(i, j)], d[(i, j)], e[(i, j)]));
        let b = b.map(|x| theirs(x, 1.0, -x));
        let got = everything(&a, &b);
        let want = everything(&a.map(&ours), &b.map(&ours));
        for (x, y) in got.into_iter().zip(want) {
            let (x, y) = (parts(ours(x)), parts(y));
            assert!(same_bits(x[0], y[0]), "n = {n}: value {x:?} for {y:?}");
            let near = x.iter().zip(&y).all(|(x, y)| (x - y).abs() <= 1e-12 * (1.0 + y.abs()));
            assert!(near, "n = {n}: {x:?} for {y:?}");
        }
    }
}

#[test]
fn dual() {
    compare(|x, d, _| num_dual::Dual64::new(x, d), Dual::<f64, 1>::from, |x| vec![x.value, x.eps[0]]);
}

#[test]
fn dual_vectors() {
    type Theirs = num_dual::DualSVec<f64, 2>;
    let lift = |x, d, e| Theirs::from(Dual::new(x, [d, e]));
    compare(lift, Dual::<f64, 2>::from, |x| vec![x.value, x.eps[0], x.eps[1]]);
    // An absent derivative is a zero one.
    compare(|x, _, _| Theirs::from_re(x), Dual::<f64, 2>::from, |x| vec![x.value, x.eps[0], x.eps[1]]);
}

#[test]
fn hyper_dual() {
    compare(
        |x, d, e| num_dual::HyperDual64::new(x, d, e, 0.5 * d),
        HyperDual::<f64, 1, 1>::from,
        |x| vec![x.value, x.eps1[0], x.eps2[0], x.eps12[0][0]],
    );
}

#[test]
fn dual2() {
    compare(
        |x, d, _| num_dual::Dual2_64::new(x, d, 0.25 * d),
        Dual2::<f64, 1>::from,
        |x| vec![x.value, x.grad[0], x.hessian(0, 0)],
    );
}
