//! Products and triangular solves of small duals with constant coefficients, which have kernels of their own: for every
//! remainder of the groups of lanes and of the tiles, against the formulas, written with products of plain matrices.

use std::array::from_fn;

use dualpack::{Diag, Dual, Gemm, Lapack, Real, Side, Trans, Trsm, Uplo};
use nalgebra::DMatrix;

use crate::support::compare::same_bits;
use crate::support::matrices::Random;

const TRANS: [Trans; 2] = [Trans::NoTrans, Trans::Trans];

/// A matrix and `N` tangents.
struct Lifted<const N: usize> {
    value: DMatrix<f64>,
    lanes: [DMatrix<f64>; N],
}

impl<const N: usize> Lifted<N> {
    fn new(seed: u64, shape: (usize, usize)) -> Self {
        let mut random = Random::new(seed);
        let value = random.matrix(shape.0, shape.1);
        Lifted { value, lanes: from_fn(|_| random.matrix(shape.0, shape.1)) }
    }

    fn duals<T: Real>(&self, number: impl Fn(f64) -> T) -> DMatrix<Dual<T, N>> {
        let (m, n) = self.value.shape();
        DMatrix::from_fn(m, n, |i, j| {
            Dual::new(number(self.value[(i, j)]), from_fn(|k| number(self.lanes[k][(i, j)])))
        })
    }
}

fn op(trans: Trans, a: &DMatrix<f64>) -> DMatrix<f64> {
    if trans == Trans::NoTrans { a.clone() } else { a.transpose() }
}

/// The numbers of `got` as `f64`, which must be those of `value` to the bit of `T` and of `lanes` to `tolerance`; of lane
/// `foreign`, which saw a NaN, the others must know nothing.
fn compare<T: Real<Base = T>, const N: usize>(
    got: &DMatrix<Dual<T, N>>,
    (value, lanes): (&DMatrix<T>, &[DMatrix<f64>; N]),
    wide: impl Fn(T) -> f64,
    foreign: Option<usize>,
    what: &str,
) {
    let tolerance = if size_of::<T>() == 4 { 2e-4 } else { 1e-12 };
    for (e, x) in got.iter().enumerate() {
        assert!(
            same_bits(wide(x.value), wide(value[e])),
            "{what}: value {e}: {:?} for {:?}",
            x.value,
            value[e]
        );
        for k in (0..N).filter(|&k| Some(k) != foreign) {
            let scale = lanes[k].amax().max(1.0);
            let off = (wide(x.eps[k]) - lanes[k][e]).abs();
            assert!(off <= tolerance * scale, "{what}: lane {k} of entry {e}: {off:e}");
        }
    }
}

fn products<T: Real<Base = T> + Lapack, const N: usize>(
    number: impl Fn(f64) -> T + Copy,
    wide: impl Fn(T) -> f64 + Copy,
) {
    let shapes =
        [(1, 1, 1), (2, 3, 4), (3, 5, 0), (6, 6, 6), (7, 5, 9), (12, 12, 12), (13, 4, 11), (34, 3, 20)];
    for (m, n, k) in shapes.into_iter().chain([(64, 2, 3), (65, 2, 3)]) {
        for (ta, tb) in TRANS.into_iter().flat_map(|ta| TRANS.map(|tb| (ta, tb))) {
            let (a, b) = (Lifted::<N>::new(1, ta.shape((m, k))), Lifted::<N>::new(2, tb.shape((k, n))));
            let c = Lifted::<N>::new(3, (m, n));
            for (alpha, beta) in [(1.0, 1.0), (-2.5, 0.5), (1.0, 0.0)] {
                let what = format!("gemm {ta:?} {tb:?} {m} x {n} x {k}, N = {N}, {alpha} {beta}");
                let lift = |x: f64| Dual::<T, N>::constant(number(x));
                let mut da = a.duals(number);
                // A NaN in one lane of A.
                let foreign = (N > 1 && k > 0).then_some(1);
                if foreign.is_some() {
                    da[(0, 0)].eps[1] = number(f64::NAN);
                }
                let mut got = c.duals(number);
                let mut value = c.value.map(number);
                if beta == 0.0 {
                    // Not read.
                    got.fill(lift(f64::NAN));
                    value.fill(number(f64::NAN));
                }
                let (own, db) = (da.as_view(), b.duals(number));
                Dual::gemm(ta, tb, lift(alpha), own, db.as_view(), lift(beta), got.as_view_mut()).unwrap();
                let (va, vb) = (a.value.map(number), b.value.map(number));
                let (alpha0, beta0) = (number(alpha), number(beta));
                T::gemm(ta, tb, alpha0, va.as_view(), vb.as_view(), beta0, value.as_view_mut()).unwrap();
                let lanes = from_fn(|l| {
                    let first = op(ta, &a.lanes[l]) * op(tb, &b.value);
                    let second = op(ta, &a.value) * op(tb, &b.lanes[l]);
                    (first + second) * alpha + &c.lanes[l] * beta
                });
                compare(&got, (&value, &lanes), wide, foreign, &what);
            }
        }
    }
}

fn solves<T: Real<Base = T> + Lapack, const N: usize>(
    number: impl Fn(f64) -> T + Copy,
    wide: impl Fn(T) -> f64 + Copy,
) {
    for (n, r) in [(1, 1), (2, 3), (3, 4), (5, 1), (6, 6), (9, 7), (12, 12), (13, 2), (18, 5), (40, 3)] {
        for side in [Side::Left, Side::Right] {
            for (uplo, trans) in [Uplo::Lower, Uplo::Upper].into_iter().flat_map(|u| TRANS.map(|t| (u, t))) {
                for (diag, alpha) in [(Diag::NonUnit, 1.0), (Diag::Unit, 1.0), (Diag::NonUnit, -2.0)] {
                    let what = format!("trsm {side:?} {uplo:?} {trans:?} {diag:?} {n} {r}, N = {N}, {alpha}");
                    let mut a = Lifted::<N>::new(4, (n, n));
                    a.value /= n as f64;
                    a.value.fill_diagonal(2.0);
                    let shape = if side == Side::Left { (n, r) } else { (r, n) };
                    let b = Lifted::<N>::new(5, shape);
                    let read = |i: usize, j: usize| {
                        if i == j { diag == Diag::NonUnit } else { (i > j) == (uplo == Uplo::Lower) }
                    };
                    // What is not read may hold anything.
                    let hidden = |x: f64, i, j| number(if read(i, j) { x } else { f64::NAN });
                    let mut da = DMatrix::from_fn(n, n, |i, j| {
                        Dual::new(
                            hidden(a.value[(i, j)], i, j),
                            from_fn(|k| hidden(a.lanes[k][(i, j)], i, j)),
                        )
                    });
                    let foreign = (N > 1 && read(0, 0)).then_some(1);
                    if foreign.is_some() {
                        da[(0, 0)].eps[1] = number(f64::NAN);
                    }
                    let lift = Dual::<T, N>::constant(number(alpha));
                    let mut got = b.duals(number);
                    Dual::trsm(side, uplo, trans, diag, lift, da.as_view(), got.as_view_mut()).unwrap();
                    let mut value = b.value.map(number);
                    let a0 = da.map(|x| x.value);
                    T::trsm(side, uplo, trans, diag, number(alpha), a0.as_view(), value.as_view_mut())
                        .unwrap();
                    let triangle = |x: &DMatrix<f64>, unit: f64| {
                        DMatrix::from_fn(n, n, |i, j| match read(i, j) {
                            true => x[(i, j)],
                            false => {
                                if i == j {
                                    unit
                                } else {
                                    0.0
                                }
                            }
                        })
                    };
                    let t = op(trans, &triangle(&a.value, 1.0));
                    let (inverse, x) = (t.try_inverse().unwrap(), value.map(wide));
                    let lanes = from_fn(|l| {
                        let dt = op(trans, &triangle(&a.lanes[l], 0.0));
                        match side {
                            Side::Left => &inverse * (&b.lanes[l] * alpha - dt * &x),
                            Side::Right => (&b.lanes[l] * alpha - &x * dt) * &inverse,
                        }
                    });
                    compare(&got, (&value, &lanes), wide, foreign, &what);
                }
            }
        }
    }
}

macro_rules! counts {
    ($run:ident: $($N:literal)*) => {$(
        $run::<f64, $N>(|x| x, |x| x);
        $run::<f32, $N>(|x| x as f32, f64::from);
    )*};
}

#[test]
fn product_tiles() {
    counts!(products: 1 3 4 5 8 15 17);
}

#[test]
fn solve_tiles() {
    counts!(solves: 1 2 3 4 5 8 9 15 16 17);
}

/// A pivot so small that its reciprocal overflows is divided by.
#[test]
fn tiny_pivots() {
    let tiny = 1e-310;
    let a = DMatrix::from_element(1, 1, Dual::<f64, 2>::new(tiny, [0.0, tiny]));
    let mut b = DMatrix::from_element(1, 1, Dual::<f64, 2>::new(3.0 * tiny, [tiny, 0.0]));
    let (one, none) = (Dual::constant(1.0), Trans::NoTrans);
    Dual::trsm(Side::Left, Uplo::Lower, none, Diag::NonUnit, one, a.as_view(), b.as_view_mut()).unwrap();
    let x = b[(0, 0)];
    assert!(
        (x.value - 3.0).abs() < 1e-12 && (x.eps[0] - 1.0).abs() < 1e-12 && (x.eps[1] + 3.0).abs() < 1e-12
    );
}

/// A lane is computed by the same operations whatever the others are, alone in vectors of whole entries too.
#[test]
fn products_lane_by_lane() {
    const N: usize = 5;
    let shapes = [(1, 1, 1), (2, 3, 2), (3, 5, 0), (4, 4, 4), (5, 2, 3), (6, 6, 6), (7, 9, 5), (12, 12, 12)];
    for (m, n, k) in shapes {
        for (ta, tb) in TRANS.into_iter().flat_map(|ta| TRANS.map(|tb| (ta, tb))) {
            let (a, b) = (Lifted::<N>::new(1, ta.shape((m, k))), Lifted::<N>::new(2, tb.shape((k, n))));
            let c = Lifted::<N>::new(3, (m, n));
            for (alpha, beta) in [(1.0, 1.0), (-2.5, 0.5), (1.0, 0.0), (-1.0, 0.0)] {
                let (da, db, mut all) = (a.duals(|x| x), b.duals(|x| x), c.duals(|x| x));
                let (lift, one) = (Dual::<f64, N>::constant, Dual::<f64, 1>::constant);
                Dual::gemm(ta, tb, lift(alpha), da.as_view(), db.as_view(), lift(beta), all.as_view_mut())
                    .unwrap();
                for lane in 0..N {
                    let single = |x: &DMatrix<Dual<f64, N>>| x.map(|x| Dual::new(x.value, [x.eps[lane]]));
                    let (da, db, mut alone) = (single(&da), single(&db), single(&c.duals(|x| x)));
                    Dual::gemm(
                        ta,
                        tb,
                        one(alpha),
                        da.as_view(),
                        db.as_view(),
                        one(beta),
                        alone.as_view_mut(),
                    )
                    .unwrap();
                    for (x, y) in alone.iter().zip(&all) {
                        let same = same_bits(x.value, y.value) && same_bits(x.eps[0], y.eps[lane]);
                        assert!(same, "{ta:?} {tb:?} {m} x {n} x {k}, {alpha} {beta}: {x:?} and {y:?}");
                    }
                }
            }
        }
    }
}
