use dualpack::{Dual, Error, Getrf, HyperDual, Lapack, Real};
use nalgebra::{Complex, DMatrix, DMatrixViewMut};

use crate::laws::{Routine, check};
use crate::support::compare::{assert_close, part};
use crate::support::matrices::Random;

type D1 = Dual<f64, 1>;

struct Case {
    m: usize,
    n: usize,
}

/// Its pivots are far larger than what they compete with, and not on the diagonal.
pub fn matrix(m: usize, n: usize) -> DMatrix<f64> {
    let mut random = Random::new(17);
    let a = random.matrix(m, n);
    let shift = m / 2;
    DMatrix::from_fn(m, n, |i, j| {
        let pivot = j < m && (j + shift) % m == i;
        a[(i, j)] + if pivot { 4.0 + m as f64 } else { 0.0 }
    })
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("getrf {} x {}", self.m, self.n)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        vec![matrix(self.m, self.n)]
    }
    fn outputs(&self) -> Vec<usize> {
        vec![0]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        T::getrf(a.remove(0), &mut vec![0; self.m.min(self.n)])
    }
}

/// Square, tall and wide, below and above the width of a panel.
#[test]
fn laws() {
    for (m, n) in [(0, 0), (0, 3), (3, 0), (1, 1), (1, 4), (4, 1), (2, 2), (3, 5), (7, 7), (12, 5), (20, 20)]
    {
        check(&Case { m, n });
    }
    for (m, n) in [(11, 26), (26, 11), (33, 33)] {
        check(&Case { m, n });
    }
}

pub fn unpack(lu: &DMatrix<f64>) -> (DMatrix<f64>, DMatrix<f64>) {
    let (m, n) = lu.shape();
    let k = m.min(n);
    let l = DMatrix::from_fn(m, k, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => lu[(i, j)],
    });
    (l, DMatrix::from_fn(k, n, |i, j| if i <= j { lu[(i, j)] } else { 0.0 }))
}

pub fn permuted(a: &DMatrix<f64>, ipiv: &[i32]) -> DMatrix<f64> {
    let mut a = a.clone();
    for (k, &p) in ipiv.iter().enumerate() {
        a.swap_rows(k, p as usize - 1);
    }
    a
}

/// The packed tangent as dL (zero on and above the diagonal) and dU.
pub fn tangents(d: &DMatrix<f64>) -> (DMatrix<f64>, DMatrix<f64>) {
    let (mut dl, du) = unpack(d);
    for i in 0..dl.ncols() {
        dl[(i, i)] = 0.0;
    }
    (dl, du)
}

/// P dA = dL U + L dU, with pivots from the primal.
#[test]
fn differentiated_identity() {
    for (m, n) in [(1, 1), (5, 5), (9, 4), (4, 9), (30, 30), (40, 12), (12, 40)] {
        let (a, da) = (Random::new(1).matrix(m, n), Random::new(2).matrix(m, n));
        let mut d = a.zip_map(&da, |x, t| Dual::new(x, [t]));
        let (mut ipiv, mut float) = (vec![0; m.min(n)], vec![0; m.min(n)]);
        D1::getrf(d.as_view_mut(), &mut ipiv).unwrap();
        f64::getrf(a.clone().as_view_mut(), &mut float).unwrap();
        assert_eq!(ipiv, float, "frozen pivots");
        let (l, u) = unpack(&part(&d, |x| x.value));
        let (dl, du) = tangents(&part(&d, |x| x.eps[0]));
        assert_close(&(&l * &u), &permuted(&a, &ipiv), 1e-14, "L U");
        assert_close(&(dl * u + l * du), &permuted(&da, &ipiv), 1e-12, &format!("{m} x {n}"));
    }
}

/// The last pivot of a square or wide matrix is zero: both factors are differentiable, to the second order too.
#[test]
fn zero_last_pivot() {
    for n in [2, 3] {
        let wide = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 7.0, 2.0, 4.0, 5.0]);
        let a = wide.columns(0, n).clone_owned();
        let mut random = Random::new(n as u64);
        let (e, f) = (random.matrix(2, n), random.matrix(2, n));
        let mut h = a.zip_zip_map(&e, &f, |x, e, f| HyperDual::new(x, [e], [f], [[0.0]]));
        let mut ipiv = [0; 2];
        let error = Err(Error::Singular { routine: "getrf", pivot: 2 });
        assert_eq!(HyperDual::getrf(h.as_view_mut(), &mut ipiv), error);
        // (L U)' and (L U)'': the product of the factors is the permuted matrix in every part.
        let lu = |read: fn(&HyperDual<f64>) -> f64| tangents(&part(&h, read));
        let (l, u) = unpack(&part(&h, |x| x.value));
        assert_eq!(u[(1, 1)], 0.0);
        let ((l1, u1), (l2, u2), (l12, u12)) = (lu(|x| x.eps1[0]), lu(|x| x.eps2[0]), lu(|x| x.eps12[0][0]));
        assert_close(&(&l1 * &u + &l * &u1), &permuted(&e, &ipiv), 1e-15, "first");
        let mixed = &l12 * &u + &l1 * &u2 + &l2 * &u1 + &l * &u12;
        assert!(mixed.norm() < 1e-14, "second: {mixed}");
    }
}

/// A zero pivot with rows below it: what exists is right, the rest is NaN, the error names the pivot.
#[test]
fn zero_pivot_before_the_last() {
    // Rank 2 by columns: the pivot 3 of the (m x n) matrix is zero, column 3 = 2 column 1 - column 2.
    for (m, n) in [(4, 4), (5, 3), (4, 6), (9, 12)] {
        let mut a =
            DMatrix::from_fn(m, n, |i, j| if i == j { 8.0 } else { ((3 * i + 5 * j) % 7) as f64 - 3.0 });
        for i in 0..m {
            a[(i, 1)] = if i == 1 { 4.0 } else { 0.0 };
            a[(i, 0)] = if i == 0 { 8.0 } else { 0.0 };
            a[(i, 2)] = 2.0 * a[(i, 0)] - a[(i, 1)];
        }
        let e = Random::new(3).matrix(m, n);
        let mut d = a.zip_map(&e, |x, t| Dual::new(x, [t]));
        let mut ipiv = vec![0; m.min(n)];
        let error = Err(Error::Singular { routine: "getrf", pivot: 3 });
        assert_eq!(D1::getrf(d.as_view_mut(), &mut ipiv), error);
        let mut value = a.clone();
        assert_eq!(f64::getrf(value.as_view_mut(), &mut vec![0; m.min(n)]), error);
        assert_eq!(part(&d, |x| x.value), value, "the factorization is complete as LAPACK leaves it");
        // Elimination without pivoting, of P (A + h E), where the pivots are those of A.
        let step = |h: f64| {
            let mut b = permuted(&(&a + &e * h), &ipiv);
            for k in 0..2 {
                for i in k + 1..m {
                    b[(i, k)] /= b[(k, k)];
                    for j in k + 1..n {
                        b[(i, j)] -= b[(i, k)] * b[(k, j)];
                    }
                }
            }
            b
        };
        let h = 1e-5;
        let differences = (step(h) - step(-h)) / (2.0 * h);
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let t = d[(i, j)].eps[0];
            if i > 2 && j > 1 {
                assert!(t.is_nan(), "({i}, {j}) of {m} x {n}: {t}");
            } else {
                let reference = differences[(i, j)];
                assert!((t - reference).abs() < 1e-8, "({i}, {j}) of {m} x {n}: {t} for {reference}");
            }
        }
    }
}

/// A factorization that overflows has no derivative there.
#[test]
fn overflow_is_loud() {
    let a = DMatrix::from_row_slice(2, 2, &[1.0, 1e308, -1.0, 1e308]);
    let mut d = a.map(|x| Dual::new(x, [1.0]));
    D1::getrf(d.as_view_mut(), &mut [0; 2]).unwrap();
    assert_eq!(d[(1, 1)].value, f64::INFINITY);
    assert!(d[(1, 1)].eps[0].is_nan() && d[(0, 1)].eps[0].is_finite());
}

#[test]
fn complex() {
    type Z = Complex<Dual<f64, 1>>;
    let n = 11;
    let mut random = Random::new(8);
    let mut complex = || random.matrix(n, n).zip_map(&random.matrix(n, n), Complex::new);
    let (a, da) = (complex(), complex());
    let mut d = a.zip_map(&da, |x, t| Z::new(Dual::new(x.re, [t.re]), Dual::new(x.im, [t.im])));
    let mut ipiv = vec![0; n];
    Z::getrf(d.as_view_mut(), &mut ipiv).unwrap();
    let read = |f: fn(&Z) -> Complex<f64>| d.map(|z| f(&z));
    let (value, tangent) =
        (read(|z| Complex::new(z.re.value, z.im.value)), read(|z| Complex::new(z.re.eps[0], z.im.eps[0])));
    let one = Complex::new(1.0, 0.0);
    let l = value.lower_triangle().map_with_location(|i, j, x| if i == j { one } else { x });
    let mut dl = tangent.lower_triangle();
    dl.fill_diagonal(Complex::new(0.0, 0.0));
    let mut residual = dl * value.upper_triangle() + l * tangent.upper_triangle();
    for (k, &p) in ipiv.iter().enumerate().rev() {
        residual.swap_rows(k, p as usize - 1);
    }
    assert!((residual - &da).norm() < 1e-12 * da.norm());
}

#[test]
fn bad_input() {
    fn all<T: Lapack + Real<Base = f64>>() {
        let mut a = DMatrix::<T>::identity(3, 2);
        assert!(matches!(T::getrf(a.as_view_mut(), &mut [0; 3]), Err(Error::Shape { .. })));
        a[(2, 1)] = T::from_base(f64::INFINITY);
        let error = Err(Error::NonFinite { routine: "getrf", row: 3, col: 2 });
        assert_eq!(T::getrf(a.as_view_mut(), &mut [0; 2]), error);
    }
    all::<f64>();
    all::<Dual<f64, 2>>();
    all::<Dual<Dual<f64, 1>, 2>>();
}
