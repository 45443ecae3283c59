//! Orders whose kernels are compiled into the caller, where the program is compiled for the CPU: the bits of the kernels
//! that are chosen at run time, which take the same matrices beside one more column, or in a matrix of dynamic size.
//! A test program of its own, so that it can be compiled for the CPU in little time.

mod support;

use std::array::from_fn;

use dualpack::{Cholesky, Diag, Dual, Error, Gemm, Lapack, Real, Side, Trans, Trsm, Uplo};
use nalgebra::{DMatrix, SMatrix};
use num_traits::One;

use crate::support::compare::same_bits;
use crate::support::matrices::{Kind, Random};

const TRANS: [Trans; 3] = [Trans::NoTrans, Trans::Trans, Trans::ConjTrans];

/// A random matrix; in lane 1, if there is one, with NaN at one entry.
fn duals<T: Real, const N: usize>(
    seed: u64,
    (m, n): (usize, usize),
    number: impl Fn(f64) -> T,
) -> DMatrix<Dual<T, N>> {
    let mut random = Random::new(seed);
    let value = random.matrix(m, n);
    let lanes: [DMatrix<f64>; N] = from_fn(|_| random.matrix(m, n));
    DMatrix::from_fn(m, n, |i, j| {
        let lane = |k: usize| if k == 1 && (i, j) == (m / 2, n / 3) { f64::NAN } else { lanes[k][(i, j)] };
        Dual::new(number(value[(i, j)]), from_fn(|k| number(lane(k))))
    })
}

fn assert_same<'a, T: Real<Base = T>, const N: usize>(
    a: impl IntoIterator<Item = &'a Dual<T, N>>,
    b: impl IntoIterator<Item = &'a Dual<T, N>>,
    wide: impl Fn(T) -> f64,
    what: &str,
) {
    for (e, (x, y)) in a.into_iter().zip(b).enumerate() {
        for (k, (&x, &y)) in [x.value].iter().chain(&x.eps).zip([y.value].iter().chain(&y.eps)).enumerate() {
            assert!(same_bits(wide(x), wide(y)), "{what}: part {k} of entry {e}: {x:?} and {y:?}");
        }
    }
}

fn products<T: Real<Base = T> + Lapack, const N: usize>(
    number: impl Fn(f64) -> T + Copy,
    wide: impl Fn(T) -> f64 + Copy,
) {
    let lift = |x: f64| Dual::<T, N>::constant(number(x));
    for n in 1..=4 {
        for (ta, tb) in TRANS.into_iter().flat_map(|ta| TRANS.map(|tb| (ta, tb))) {
            for (alpha, beta) in [(1.0, 0.0), (1.0, 1.0), (-2.5, 0.5)] {
                for huge in [1.0, 1e300, f64::INFINITY] {
                    let what = format!("gemm {ta:?} {tb:?} {n}, N = {N}, {alpha} {beta} {huge:e}");
                    // Parts of larger matrices; of B and C one column more than goes into the caller's code.
                    let mut a = duals::<T, N>(1, (n + 1, n + 2), number);
                    let b = duals::<T, N>(2, tb.shape((n, n + 1)), number);
                    let c = duals::<T, N>(3, (n, n + 1), |x| number(if beta == 0.0 { f64::NAN } else { x }));
                    a[(0, 1)].value *= number(huge);
                    let a = a.view((0, 1), (n, n)).clone_owned();
                    let (mut one, mut other) = (c.columns(0, n).clone_owned(), c.clone());
                    let left = |x: &DMatrix<_>| x.view((0, 0), (n, n)).clone_owned();
                    let (alpha, beta) = (lift(alpha), lift(beta));
                    let (av, small) = (a.as_view(), left(&b));
                    Dual::gemm(ta, tb, alpha, av, small.as_view(), beta, one.as_view_mut()).unwrap();
                    Dual::gemm(ta, tb, alpha, av, b.as_view(), beta, other.as_view_mut()).unwrap();
                    assert_same(one.iter(), other.columns(0, n).iter(), wide, &what);
                    // The values are those of floats, an overflow has no derivative, and a NaN stays in its lane.
                    let mut values = c.columns(0, n).map(|x| x.value);
                    let (a0, b0) = (a.map(|x| x.value), small.map(|x| x.value));
                    let (alpha, beta) = (alpha.value, beta.value);
                    T::gemm(ta, tb, alpha, a0.as_view(), b0.as_view(), beta, values.as_view_mut()).unwrap();
                    for (x, &value) in one.iter().zip(&values) {
                        assert!(same_bits(wide(x.value), wide(value)), "{what}: {:?} for {value:?}", x.value);
                        for k in (0..N).filter(|&k| k != 1) {
                            assert_eq!(x.eps[k].all_finite(), value.all_finite(), "{what}: lane {k}");
                        }
                    }
                }
            }
        }
    }
}

fn solves<T: Real<Base = T> + Lapack, const N: usize>(
    number: impl Fn(f64) -> T + Copy,
    wide: impl Fn(T) -> f64 + Copy,
) {
    let one = Dual::<T, N>::one();
    for n in 1..=4 {
        for (uplo, trans) in [Uplo::Lower, Uplo::Upper].into_iter().flat_map(|u| TRANS.map(|t| (u, t))) {
            for (side, diag) in [Side::Left, Side::Right]
                .into_iter()
                .flat_map(|s| [Diag::NonUnit, Diag::Unit].map(|d| (s, d)))
            {
                // A pivot whose reciprocal overflows, and one that is zero.
                for pivot in [1.5, 1e-310, 0.0] {
                    let what = format!("trsm {side:?} {uplo:?} {trans:?} {diag:?} {n}, N = {N}, {pivot:e}");
                    let mut t = duals::<T, N>(4, (n, n), number);
                    t[(n - 1, n - 1)].value = number(pivot);
                    let read = |i: usize, j: usize| match i == j {
                        true => diag == Diag::NonUnit,
                        false => (i > j) == (uplo == Uplo::Lower),
                    };
                    for e in (0..n * n).filter(|e| !read(e % n, e / n)) {
                        t[e] = Dual::new(number(f64::NAN), [number(f64::NAN); N]);
                    }
                    let left = side == Side::Left;
                    let b = duals::<T, N>(5, if left { (n, n + 1) } else { (n + 1, n) }, number);
                    let (mut small, mut other) = (b.view((0, 0), (n, n)).clone_owned(), b.clone());
                    let values = &mut small.map(|x| x.value);
                    T::trsm(
                        side,
                        uplo,
                        trans,
                        diag,
                        T::one(),
                        t.map(|x| x.value).as_view(),
                        values.as_view_mut(),
                    )
                    .unwrap();
                    Dual::trsm(side, uplo, trans, diag, one, t.as_view(), small.as_view_mut()).unwrap();
                    Dual::trsm(side, uplo, trans, diag, one, t.as_view(), other.as_view_mut()).unwrap();
                    assert_same(small.iter(), other.view((0, 0), (n, n)).iter(), wide, &what);
                    for (x, &value) in small.iter().zip(values.iter()) {
                        assert!(same_bits(wide(x.value), wide(value)), "{what}: {:?} for {value:?}", x.value);
                        assert!(value.all_finite() || x.eps.iter().all(|t| t.is_nan()), "{what}: {x:?}");
                    }
                }
            }
        }
    }
}

/// Factors of order `S`, static, dynamic and of one lane at a time.
fn factors<T: Real<Base = T> + Lapack, const N: usize, const S: usize>(
    number: impl Fn(f64) -> T + Copy,
    wide: impl Fn(T) -> f64 + Copy,
) {
    let what = format!("order {S}, N = {N}");
    let a = Kind::Spd.matrix(7, S);
    let lanes = duals::<T, N>(6, (S, S), number);
    // What is above the diagonal is not read.
    let entry = |i: usize, j: usize| match i >= j {
        true => Dual::new(number(a[(i, j)]), lanes[(i, j)].eps),
        false => Dual::new(number(f64::NAN), [number(f64::NAN); N]),
    };
    let fixed = SMatrix::<Dual<T, N>, S, S>::from_fn(entry);
    let l = Cholesky::new(fixed).unwrap().unpack();
    let dynamic = Cholesky::new(DMatrix::from_fn(S, S, entry)).unwrap().unpack();
    assert_same(l.iter(), dynamic.iter(), wide, &what);
    let mut again = Cholesky::new(SMatrix::<Dual<T, N>, S, S>::identity()).unwrap();
    again.refactor(&fixed).unwrap();
    assert_same(again.l().iter(), l.iter(), wide, &what);
    let values = Cholesky::new(fixed.map(|x| x.value)).unwrap().unpack();
    for k in 0..N {
        let alone = Cholesky::new(fixed.map(|x| Dual::<T, 1>::new(x.value, [x.eps[k]]))).unwrap().unpack();
        let lane = l.map(|x| Dual::<T, 1>::new(x.value, [x.eps[k]]));
        assert_same(alone.iter(), lane.iter(), wide, &what);
    }
    for (x, &y) in l.iter().zip(&values) {
        assert!(same_bits(wide(x.value), wide(y)), "{what}: {:?} for {y:?}", x.value);
    }

    // What is refused is refused like a dynamic one, and then there is no factor.
    for wrong in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        let mut bad = fixed;
        bad[(S - 1, S - 1)].value = number(wrong);
        let refused = |result: Result<(), Error>| format!("{:?}", result.unwrap_err());
        let dynamic = Cholesky::new(DMatrix::from_iterator(S, S, bad.iter().copied()));
        let error = refused(dynamic.map(|_| ()));
        assert_eq!(error, refused(Cholesky::new(bad).map(|_| ())), "{what}");
        assert_eq!(error, refused(again.refactor(&bad)), "{what}");
        let left = again.clone().unpack_dirty();
        assert!(left.iter().all(|x| x.value.is_nan() && x.eps.iter().all(|t| t.is_nan())), "{what}");
    }
}

macro_rules! counts {
    ($run:ident: $($N:literal)*) => {$(
        $run::<f64, $N>(|x| x, |x| x);
        $run::<f32, $N>(|x| x as f32, f64::from);
    )*};
}

macro_rules! orders {
    ($S:literal: $($N:literal)*) => {$(
        factors::<f64, $N, $S>(|x| x, |x| x);
        factors::<f32, $N, $S>(|x| x as f32, f64::from);
    )*};
}

#[test]
fn tiny_products() {
    counts!(products: 1 2 3 4 5 7 8 15 16 17);
}

#[test]
fn tiny_solves() {
    counts!(solves: 1 2 3 4 5 7 8 15 16 17);
}

#[test]
fn tiny_factors() {
    orders!(1: 1 8);
    orders!(2: 1 2 3 4 5 7 8 15 16 17);
    orders!(3: 1 2 3 4 5 7 8 15 16 17);
    orders!(4: 1 3);
}
