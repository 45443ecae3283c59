use dualpack::{Dual, Error, HyperDual, Lapack, Potrf, Real, Uplo};
use nalgebra::{DMatrix, DMatrixViewMut};

use crate::laws::{Part, Routine, check};
use crate::support::compare::{assert_close, part};
use crate::support::matrices::{Kind, Random};

pub struct Case {
    pub uplo: Uplo,
    pub n: usize,
    pub kind: Kind,
}

impl Routine for Case {
    fn name(&self) -> String {
        format!("potrf {:?} n = {} {:?}", self.uplo, self.n, self.kind)
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        vec![self.kind.matrix(3, self.n)]
    }
    fn part(&self, _: usize) -> Part {
        Part::Triangle(self.uplo)
    }
    fn outputs(&self) -> Vec<usize> {
        vec![0]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut a: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        T::potrf(self.uplo, a.remove(0))
    }
}

/// Sizes around the limits of the kernel and of the blocks of the triangular solves.
#[test]
fn laws() {
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for n in [0, 1, 2, 3, 8, 17, 24, 25, 40] {
            check(&Case { uplo, n, kind: Kind::Spd });
        }
    }
}

/// dL Lᵀ + L dLᵀ = dA, where the matrix is, in copies, and on planes, for numbers of lanes up to 13.
#[test]
fn differentiated_identity() {
    fn with_lanes<const N: usize>(n: usize) {
        let mut random = Random::new(n as u64);
        let a = Kind::Spd.matrix(11, n);
        let da: Vec<DMatrix<f64>> = (0..N).map(|_| random.symmetric(n)).collect();
        let at = |i: usize, j: usize| Dual::<f64, N>::new(a[(i, j)], std::array::from_fn(|k| da[k][(i, j)]));
        let mut l = DMatrix::from_fn(n, n, at);
        Dual::potrf(Uplo::Lower, l.as_view_mut()).unwrap();
        let l0 = part(&l, |x| x.value).lower_triangle();
        for k in 0..N {
            let dl = part(&l, |x| x.eps[k]).lower_triangle();
            assert_close(
                &(&dl * l0.transpose() + &l0 * dl.transpose()),
                &da[k],
                1e-13,
                &format!("n = {n}, lane {k}"),
            );
        }
    }
    for n in [1, 2, 3, 4, 5, 6, 7, 9, 15, 24, 25, 26, 27, 30, 70] {
        with_lanes::<1>(n);
        with_lanes::<3>(n);
        with_lanes::<4>(n);
        with_lanes::<8>(n);
        with_lanes::<13>(n);
    }
}

/// The inputs of `N` lanes: `A` and `dA` in the lower triangle, NaN in the upper one, and where `A` is NaN in lane 1.
fn problem<T: Real, const N: usize>(n: usize, number: impl Fn(f64) -> T) -> DMatrix<Dual<T, N>> {
    let a = Kind::Spd.matrix(11, n);
    let da: Vec<DMatrix<f64>> = (0..17).map(|k| Random::new(100 + k).symmetric(n)).collect();
    DMatrix::from_fn(n, n, |i, j| {
        let lane = |k: usize| if k == 1 && (i, j) == (n / 2, n / 3) { f64::NAN } else { da[k][(i, j)] };
        let read = i >= j;
        let part = |x: f64| number(if read { x } else { f64::NAN });
        Dual::new(part(a[(i, j)]), std::array::from_fn(|k| part(lane(k))))
    })
}

/// Lane `k` of `f` applied to `N` lanes, as bits of the lower triangle, has those of `f` applied to that lane alone, and
/// every other entry of the storage stays.
fn alone<T: Real<Base = T> + Lapack, const N: usize>(
    number: impl Fn(f64) -> T,
    bits: impl Fn(T) -> u64,
    uplo: Uplo,
    n: usize,
) {
    let factor = |a: &DMatrix<Dual<T, 1>>| {
        let mut l = a.clone();
        Dual::potrf(uplo, l.as_view_mut()).unwrap();
        l
    };
    let turned = |a: DMatrix<Dual<T, N>>| if uplo == Uplo::Lower { a } else { a.transpose() };
    let a = turned(problem::<T, N>(n, &number));
    let mut storage = DMatrix::from_element(n + 3, n + 1, Dual::constant(number(f64::NAN)));
    storage.view_mut((2, 1), (n, n)).copy_from(&a);
    Dual::potrf(uplo, storage.view_mut((2, 1), (n, n))).unwrap();
    for k in 0..N {
        let single = factor(&a.map(|x| Dual::new(x.value, [x.eps[k]])));
        for j in 0..n {
            for i in (0..n).filter(|&i| Part::Triangle(uplo).contains(i, j)) {
                let (got, expected) = (storage[(i + 2, j + 1)], single[(i, j)]);
                let same = bits(got.value) == bits(expected.value)
                    && (bits(got.eps[k]) == bits(expected.eps[0])
                        || (got.eps[k].is_nan() && expected.eps[0].is_nan()));
                assert!(same, "{uplo:?} n = {n}, N = {N}, lane {k}, ({i}, {j}): {got:?}, alone {expected:?}");
                assert!(
                    k == 1 || got.eps[k].is_finite(),
                    "NaN of another lane at ({i}, {j}), n = {n}, N = {N}"
                );
            }
        }
    }
    for (index, x) in storage.iter().enumerate() {
        let (i, j) = (index % (n + 3), index / (n + 3));
        let inside = (2..n + 2).contains(&i) && j >= 1;
        if !inside || !Part::Triangle(uplo).contains(i - 2, j - 1) {
            assert!(x.value.is_nan(), "({i}, {j}) was written, n = {n}, N = {N}");
        }
    }
}

/// Lanes side by side are lanes alone, for every remainder of the groups of lanes and of the panels of rows.
#[test]
fn lanes_alone() {
    fn sizes<T: Real<Base = T> + Lapack, const N: usize>(
        number: impl Fn(f64) -> T + Copy,
        bits: impl Fn(T) -> u64 + Copy,
    ) {
        for n in (0..=27).chain([33, 50]) {
            alone::<T, N>(number, bits, Uplo::Lower, n);
        }
        for n in [3, 6, 24] {
            alone::<T, N>(number, bits, Uplo::Upper, n);
        }
    }
    macro_rules! counts {
        ($($N:literal)*) => {$(
            sizes::<f64, $N>(|x| x, |x| x.to_bits());
            sizes::<f32, $N>(|x| x as f32, |x| u64::from(x.to_bits()));
        )*};
    }
    counts!(1 2 3 4 5 7 8 9 15 16 17);
}

/// A nearly singular matrix: the tangent still satisfies the identity to a backward error.
#[test]
fn near_singular() {
    let (a, da) = (Kind::NearSingularSpd.matrix(5, 12), Random::new(6).symmetric(12));
    let mut l = DMatrix::from_fn(12, 12, |i, j| Dual::new(a[(i, j)], [da[(i, j)]]));
    Dual::potrf(Uplo::Lower, l.as_view_mut()).unwrap();
    let (l0, dl) = (part(&l, |x| x.value).lower_triangle(), part(&l, |x| x.eps[0]).lower_triangle());
    let residual = &dl * l0.transpose() + &l0 * dl.transpose() - &da;
    assert!(residual.norm() <= 1e-14 * dl.norm() * l0.norm(), "{:e}", residual.norm());
}

/// The factorization is homogeneous: scaling by a power of four scales L by the power of two, to the bit, and dA = A
/// gives dL = L / 2.
#[test]
fn homogeneous() {
    let a = Kind::Spd.matrix(9, 6);
    for power in [-500, -1, 0, 250] {
        let f = 4.0_f64.powi(power);
        let mut l = a.map(|x| Dual::new(x * f, [x * f]));
        Dual::potrf(Uplo::Lower, l.as_view_mut()).unwrap();
        let (l, dl) = (part(&l, |x| x.value).lower_triangle(), part(&l, |x| x.eps[0]).lower_triangle());
        assert_close(&(dl * 2.0), &l, 1e-14, &format!("scaled by 4^{power}"));
    }
}

/// Third derivative of ln det along a line, by three nested duals: 2 tr((A⁻¹ E)³).
#[test]
fn third_derivative() {
    let (a, e) = (Kind::Spd.matrix(2, 4), Random::new(3).symmetric(4));
    let mut l = DMatrix::from_fn(4, 4, |i, j| {
        let d = e[(i, j)];
        let inner = Dual::new(Dual::new(a[(i, j)], [d]), [Dual::new(d, [0.0])]);
        Dual::new(inner, [Dual::new(Dual::new(d, [0.0]), [Dual::new(0.0, [0.0])])])
    });
    Dual::potrf(Uplo::Lower, l.as_view_mut()).unwrap();
    let log_det = (0..4).map(|i| l[(i, i)].ln()).fold(Dual::from_base(0.0), |s, x| s + x + x);
    let x = a.try_inverse().unwrap() * e;
    let expected = 2.0 * (&x * &x * &x).trace();
    let got = log_det.eps[0].eps[0].eps[0];
    assert!((got - expected).abs() < 1e-13 * expected.abs(), "{got} for {expected}");
}

/// A failed primal is a typed error at every level and leaves no finite tangent.
#[test]
fn not_positive_definite() {
    fn fails<T: Lapack + Real<Base = f64>>(lift: impl Fn(f64) -> T, tangents: impl Fn(T) -> Vec<f64>) {
        for n in [3, 30] {
            for uplo in [Uplo::Lower, Uplo::Upper] {
                let mut a = DMatrix::identity(n, n).map(&lift);
                a[(2, 2)] = lift(-1.0);
                let error = T::potrf(uplo, a.as_view_mut()).unwrap_err();
                assert_eq!(error, Error::NotPositiveDefinite { routine: "potrf", minor: 3 });
                for j in 0..n {
                    for i in (0..n).filter(|&i| Part::Triangle(uplo).contains(i, j)) {
                        let t = tangents(a[(i, j)]);
                        assert!(t.iter().all(|t| t.is_nan()), "({i}, {j}): {t:?}");
                    }
                }
            }
        }
    }
    fails(|x| Dual::<f64, 2>::new(x, [1.0, 0.0]), |x| x.eps.to_vec());
    fails(
        |x| HyperDual::<f64, 1, 1>::new(x, [1.0], [0.0], [[2.0]]),
        |x| vec![x.eps1[0], x.eps2[0], x.eps12[0][0]],
    );
    fails(
        |x| Dual::<Dual<f64, 1>, 1>::new(Dual::new(x, [1.0]), [Dual::new(0.0, [3.0])]),
        |x| vec![x.value.eps[0], x.eps[0].value, x.eps[0].eps[0]],
    );
    // Semidefinite: the derivative of the factor would be infinite.
    let mut a = DMatrix::from_element(2, 2, Dual::<f64, 1>::new(1.0, [1.0]));
    assert_eq!(
        Dual::potrf(Uplo::Lower, a.as_view_mut()).unwrap_err(),
        Error::NotPositiveDefinite { routine: "potrf", minor: 2 }
    );
}
