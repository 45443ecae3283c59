//! The factors of LU on interleaved lanes: for every remainder of the groups of lanes and of the blocks, against lanes
//! alone, against the same rule on planes, and against what the factors must satisfy.

use std::array::from_fn;

use dualpack::{Dual, Error, Getrf, LU, Lapack, Real};
use nalgebra::DMatrix;

use crate::getrf::{permuted, tangents, unpack};
use crate::support::compare::part;
use crate::support::matrices::Random;

/// Square, tall and wide, on both sides of whole blocks and of the columns that are worked on at a time.
const SHAPES: [(usize, usize); 23] = [
    (0, 0),
    (0, 3),
    (3, 0),
    (1, 1),
    (1, 6),
    (6, 1),
    (2, 2),
    (3, 3),
    (4, 4),
    (5, 5),
    (3, 7),
    (7, 3),
    (8, 8),
    (9, 9),
    (12, 8),
    (8, 12),
    (9, 21),
    (21, 9),
    (17, 17),
    (33, 33),
    (65, 66),
    (70, 67),
    (68, 68),
];

/// `A` that needs interchanges and `N` lanes.
fn problem<T: Real<Base = T>, const N: usize>(
    (m, n): (usize, usize),
    number: impl Fn(f64) -> T,
) -> DMatrix<Dual<T, N>> {
    let a = Random::new(31).matrix(m, n);
    let lanes: Vec<DMatrix<f64>> = (0..N).map(|k| Random::new(100 + k as u64).matrix(m, n)).collect();
    DMatrix::from_fn(m, n, |i, j| Dual::new(number(a[(i, j)]), from_fn(|k| number(lanes[k][(i, j)]))))
}

fn factored<T: Lapack>(a: &DMatrix<T>) -> (DMatrix<T>, Vec<i32>) {
    let (mut lu, mut ipiv) = (a.clone(), vec![0; a.nrows().min(a.ncols())]);
    T::getrf(lu.as_view_mut(), &mut ipiv).unwrap();
    (lu, ipiv)
}

/// Of a view into storage full of NaN every lane has the bits of a run with that lane alone, the values those of floats,
/// NaN and infinity in one lane stay there, and what is around the view stays.
fn alone<T: Real<Base = T> + Lapack, const N: usize>(
    number: impl Fn(f64) -> T,
    bits: impl Fn(T) -> u64,
    (m, n): (usize, usize),
) {
    let mut a = problem::<T, N>((m, n), &number);
    if m * n > 0 {
        a[(m / 2, n / 3)].eps[N - 1] = number(f64::NAN);
        a[(m / 3, n / 2)].eps[N / 2] = number(f64::INFINITY);
    }
    let mut storage = DMatrix::from_element(m + 3, n + 2, Dual::constant(number(f64::NAN)));
    storage.view_mut((2, 1), (m, n)).copy_from(&a);
    Dual::getrf(storage.view_mut((2, 1), (m, n)), &mut vec![0; m.min(n)]).unwrap();
    let same = |x: T, y: T| bits(x) == bits(y) || (x.is_nan() && y.is_nan());
    let (values, _) = factored(&a.map(|x| x.value));
    for k in 0..N {
        let (single, _) = factored(&a.map(|x| Dual::<T, 1>::new(x.value, [x.eps[k]])));
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let (got, expected) = (storage[(i + 2, j + 1)], single[(i, j)]);
            let what = || format!("{m} x {n}, N = {N}, lane {k}, ({i}, {j}): {got:?}, alone {expected:?}");
            assert!(bits(got.value) == bits(values[(i, j)]), "{}", what());
            assert!(bits(expected.value) == bits(values[(i, j)]), "{}", what());
            assert!(same(got.eps[k], expected.eps[0]), "{}", what());
            assert!(k == N / 2 || k == N - 1 || got.eps[k].is_finite(), "{}", what());
        }
    }
    for (index, x) in storage.iter().enumerate() {
        let (i, j) = (index % (m + 3), index / (m + 3));
        let inside = (2..m + 2).contains(&i) && (1..n + 1).contains(&j);
        assert!(
            inside || x.value.is_nan() && x.eps.iter().all(|t| *t == T::zero()),
            "({i}, {j}) was written"
        );
    }
}

macro_rules! counts {
    (|$N:ident| $body:expr, $($lanes:literal)*) => {$({
        const $N: usize = $lanes;
        $body
    })*};
}

#[test]
fn lanes_alone() {
    for shape in SHAPES {
        counts!(|N| alone::<f64, N>(|x| x, |x| x.to_bits(), shape), 1 2 3 4 5 7 8 9 12 15 16 17);
    }
    for shape in SHAPES.into_iter().filter(|&(m, n)| m.max(n) < 30) {
        counts!(|N| alone::<f32, N>(|x| x as f32, |x| x.to_bits().into(), shape), 1 2 4 5 8 11 16);
    }
}

/// Equal up to the largest entry.
fn assert_near<const N: usize>(x: &DMatrix<Dual<f64, N>>, y: &DMatrix<Dual<f64, N>>, eps: f64, what: &str) {
    for k in 0..N {
        let (x, y) = (part(x, |x| x.eps[k]), part(y, |y| y.eps[k]));
        let (off, scale) = ((&x - &y).amax(), y.amax());
        assert!(off <= eps * scale, "{what}, N = {N}, lane {k}: {off:e} of {scale:e}");
    }
}

/// The outer tangents of nested numbers are computed on planes, by another order of the same rule.
#[test]
fn planes() {
    fn check<const N: usize>(shape: (usize, usize)) {
        let a = problem::<f64, N>(shape, |x| x);
        let nested =
            a.map(|x| Dual::<Dual<f64, 1>, N>::new(Dual::constant(x.value), x.eps.map(Dual::constant)));
        let ((lanes, ipiv), (planes, other)) = (factored(&a), factored(&nested));
        assert_eq!(ipiv, other);
        let planes = planes.map(|x| Dual::<f64, N>::new(x.value.value, x.eps.map(|t| t.value)));
        assert!(lanes.iter().zip(&planes).all(|(x, y)| x.value.to_bits() == y.value.to_bits()));
        assert_near(&lanes, &planes, 1e-10, &format!("{shape:?}"));
    }
    for shape in SHAPES {
        counts!(|N| check::<N>(shape), 1 3 4 8 13);
    }
}

/// `P dA = dL U + L dU`, to a backward error.
#[test]
fn differentiated_identity() {
    fn check<const N: usize>((m, n): (usize, usize)) {
        let a = problem::<f64, N>((m, n), |x| x);
        let (factors, ipiv) = factored(&a);
        let (l, u) = unpack(&part(&factors, |x| x.value));
        for k in 0..N {
            let (dl, du) = tangents(&part(&factors, |x| x.eps[k]));
            let residual = &dl * &u + &l * &du - permuted(&part(&a, |x| x.eps[k]), &ipiv);
            let scale = dl.norm() * u.norm() + l.norm() * du.norm();
            let off = residual.norm();
            assert!(off <= 1e-14 * scale, "{m} x {n}, N = {N}, lane {k}: {off:e} of {scale:e}");
        }
    }
    for shape in SHAPES.into_iter().filter(|&(m, n)| m * n > 0).chain([(140, 135), (130, 150)]) {
        counts!(|N| check::<N>(shape), 1 4 8 11);
    }
}

/// The factors are homogeneous: a power of two scales `U` and leaves `L`, also where the reciprocal of a pivot would lose
/// digits.
#[test]
fn scaled() {
    fn check<const N: usize>(n: usize) {
        let mut random = Random::new(n as u64);
        let a = DMatrix::from_fn(n, n, |i, j| {
            let pivot = if j == (i + 1) % n { 64.0 } else { 0.0 };
            Dual::<f64, N>::new(4.0 * random.signed() + pivot, from_fn(|_| 4.0 * random.signed()))
        });
        let (expected, ipiv) = factored(&a);
        for power in [-1016, -600, 600, 1017] {
            let by = |x: f64| x * 2.0_f64.powi(power / 2) * 2.0_f64.powi(power - power / 2);
            let (got, other) = factored(&a.map(|x| Dual::new(by(x.value), x.eps.map(by))));
            assert_eq!(ipiv, other);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let (x, y) = (got[(i, j)], expected[(i, j)]);
                for (x, y) in x.eps.into_iter().zip(y.eps) {
                    let (y, scale) = if i > j { (y, 1.0) } else { (by(y), by(1.0)) };
                    let off = (x - y).abs();
                    assert!(off <= 1e-13 * scale, "n = {n}, 2^{power}, ({i}, {j}): {x:?} for {y:?}");
                }
            }
        }
    }
    for n in [2, 3, 5, 9, 30] {
        counts!(|N| check::<N>(n), 1 4 8);
    }
}

/// The last pivot of a matrix without rows below it is zero: the factors are differentiable.
#[test]
fn zero_last_pivot() {
    fn check<const N: usize>((m, n): (usize, usize)) {
        let mut a = problem::<f64, N>((m, n), |x| x);
        // The last row is the first one, of which the largest entry is in the first column.
        for j in 0..n {
            a[(0, j)].value = if j == 0 { 4.0 } else { (j % 3) as f64 };
            a[(m - 1, j)].value = a[(0, j)].value / 2.0;
        }
        for (i, j) in (1..m - 1).flat_map(|i| (0..n).map(move |j| (i, j))) {
            a[(i, j)].value = if i == j { 8.0 } else { 0.0 };
        }
        let (mut d, mut ipiv) = (a.clone(), vec![0; m.min(n)]);
        let error = Err(Error::Singular { routine: "getrf", pivot: m });
        assert_eq!(Dual::getrf(d.as_view_mut(), &mut ipiv), error);
        let (l, u) = unpack(&part(&d, |x| x.value));
        assert!((m - 1..n).all(|j| u[(m - 1, j)] == 0.0));
        for k in 0..N {
            let (dl, du) = tangents(&part(&d, |x| x.eps[k]));
            let residual = &dl * &u + &l * &du - permuted(&part(&a, |x| x.eps[k]), &ipiv);
            assert!(residual.norm() <= 1e-14 * m as f64, "{m} x {n}, N = {N}: {:e}", residual.norm());
        }
    }
    for shape in [(2, 2), (3, 3), (4, 4), (5, 5), (9, 9), (4, 6), (5, 9), (20, 20)] {
        counts!(|N| check::<N>(shape), 1 4 8 9);
    }
}

/// An entry that has overflowed has NaN lanes, whatever the lanes are.
#[test]
fn overflow_is_loud() {
    fn check<const N: usize>(n: usize) {
        let mut a = DMatrix::<f64>::identity(n, n);
        a[(0, n - 1)] = 1e308;
        (a[(n - 1, 0)], a[(n - 1, n - 1)]) = (-1.0, 1e308);
        let (lu, _) = factored(&a.map(|x| Dual::<f64, N>::new(x, [0.5; N])));
        let last = lu[(n - 1, n - 1)];
        assert!(last.value == f64::INFINITY && last.eps.iter().all(|t| t.is_nan()), "n = {n}: {last}");
        assert!(lu[(0, n - 1)].eps.iter().all(|t| t.is_finite()));
    }
    for n in [2, 4, 5, 14, 70] {
        counts!(|N| check::<N>(n), 1 4 8);
    }
}

/// A pivot that has overflowed is divided by, which gives finite numbers: none of their tangents may be finite and wrong.
/// The same matrix, scaled so that nothing overflows, has the same `L`.
#[test]
fn no_tangent_behind_an_overflow_is_wrong() {
    const SCALE: f64 = 1.0 / 1_048_576.0;
    fn entries(n: usize) -> DMatrix<(f64, f64)> {
        let mut a = DMatrix::<f64>::identity(n, n).map(|x| (x, 0.0));
        let (k, i, j) = (n - 3, n - 2, n - 1);
        a[(k, i)] = (1.5e308, 0.0);
        (a[(i, k)], a[(i, i)], a[(i, j)]) = ((1.0, 1.0), (-1.5e308, 1.0), (1.0, 1.0));
        (a[(j, i)], a[(j, j)]) = ((0.75e308, 3.0), (1.0, 1.0));
        a
    }
    /// Rows and columns of the factors where tangents are right, the only ones that may be finite.
    fn compare(n: usize, found: impl Fn(usize, usize) -> f64, right: impl Fn(usize, usize) -> f64) {
        for i in 0..n {
            for j in 0..n {
                let (t, r) = (found(i, j), right(i, j) / if i > j { 1.0 } else { SCALE });
                let early = i.min(j) < n - 2;
                assert!(t.is_nan() != early, "n = {n}: tangent ({i}, {j}) is {t}");
                assert!(!early || (t - r).abs() <= 1e-14 * r.abs(), "n = {n}: ({i}, {j}): {t} for {r}");
            }
        }
    }
    fn check<T: Lapack + Real<Base = f64>>(
        n: usize,
        lift: impl Fn(f64, f64) -> T,
        tangent: impl Fn(T) -> f64,
    ) {
        let a = entries(n);
        let (found, right) = (
            factored(&a.map(|(x, t)| lift(x, t))).0,
            factored(&a.map(|(x, t)| lift(SCALE * x, SCALE * t))).0,
        );
        assert_eq!(found[(n - 2, n - 2)].base(), f64::NEG_INFINITY);
        compare(n, |i, j| tangent(found[(i, j)]), |i, j| tangent(right[(i, j)]));
        let lu = LU::new(a.map(|(x, t)| lift(x, t))).unwrap();
        let (l, u) = (lu.l(), lu.u());
        compare(n, |i, j| tangent(if i > j { l[(i, j)] } else { u[(i, j)] }), |i, j| tangent(right[(i, j)]));
    }
    for n in [3, 12, 14, 40] {
        check(n, |x, t| Dual::<f64, 1>::new(x, [t]), |x| x.eps[0]);
        check(n, |x, t| Dual::<f64, 8>::new(x, [t; 8]), |x| x.eps[7]);
        check(n, |x, t| Dual::<f64, 9>::new(x, [t; 9]), |x| x.eps[8]);
        check(
            n,
            |x, t| Dual::<Dual<f64, 1>, 1>::new(Dual::new(x, [t]), [Dual::constant(t)]),
            |x| x.eps[0].value,
        );
        let (a, right) = (entries(n), entries(n).map(|(x, t)| Dual::<f64, 1>::new(SCALE * x, [SCALE * t])));
        let (found, right) = (LU::new(a.map(|(x, _)| x)).unwrap(), factored(&right).0);
        let found = found.pushforward(&a.map(|(_, t)| t)).unwrap();
        compare(n, |i, j| found[(i, j)], |i, j| right[(i, j)].eps[0]);
    }
}
