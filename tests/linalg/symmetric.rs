//! Symmetric second order: the kernels that compute each pair of lanes once, against hyper-dual numbers, which know no
//! symmetry and take planes.

use dualpack::{Cholesky, Dual, Dual2, HyperDual, LU, Lapack, Potrf, Real, Trans, Uplo, solve};
use nalgebra::{DMatrix, SMatrix, convert};

use crate::support::matrices::{Kind, Random};

/// A number with first derivatives and a symmetric second one, as functions of the lanes.
#[derive(Clone, Debug, PartialEq)]
struct Number<F, const N: usize> {
    value: F,
    first: [F; N],
    second: [[F; N]; N],
}

impl<F: Real<Base = F>, const N: usize> Number<F, N> {
    fn random(value: f64, random: &mut Random) -> Self {
        let mut next = || convert::<f64, F>(random.signed());
        let first = [(); N].map(|()| next());
        let all = [(); N].map(|()| [(); N].map(|()| next()));
        let second = std::array::from_fn(|p| std::array::from_fn(|q| all[p.min(q)][p.max(q)]));
        Number { value: convert(value), first, second }
    }

    /// What is below the diagonal of the second derivatives means nothing.
    fn symmetric(&self) -> Dual2<F, N> {
        let nan = convert::<f64, F>(f64::NAN);
        let hess = |p: usize, q: usize| if p <= q { self.second[p][q] } else { nan };
        let hess = std::array::from_fn(|p| std::array::from_fn(|q| hess(p, q)));
        Dual2 { value: self.value, grad: self.first, hess }
    }

    fn hyper(&self) -> HyperDual<F, N, N> {
        HyperDual { value: self.value, eps1: self.first, eps2: self.first, eps12: self.second }
    }

    /// Lanes `p` and `q` alone.
    fn pair(&self, p: usize, q: usize) -> Dual2<F, 2> {
        let at = [p, q];
        let hess = std::array::from_fn(|i| std::array::from_fn(|j| self.second[at[i]][at[j]]));
        Dual2 { value: self.value, grad: [self.first[p], self.first[q]], hess }
    }
}

/// Symmetric positive definite and general matrices, and right-hand sides.
struct Problem<F, const N: usize> {
    spd: DMatrix<Number<F, N>>,
    general: DMatrix<Number<F, N>>,
    b: DMatrix<Number<F, N>>,
}

impl<F: Real<Base = F>, const N: usize> Problem<F, N> {
    fn new(n: usize) -> Self {
        let mut random = Random::new((64 * n + N) as u64);
        let mut lift = |a: DMatrix<f64>| {
            DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| Number::random(a[(i, j)], &mut random))
        };
        let general = Kind::Random.matrix(2, n) + DMatrix::from_diagonal_element(n, n, 3.0);
        Problem {
            spd: lift(Kind::Spd.matrix(1, n)),
            general: lift(general),
            b: lift(Random::new(3).matrix(n, 2)),
        }
    }

    /// The results of everything that solves, of any scalar. The upper triangle of the definite matrix is not read.
    fn results<T: Lapack + Real>(&self, lift: impl Fn(&Number<F, N>) -> T) -> Vec<(&'static str, Vec<T>)> {
        let n = self.b.nrows();
        let nan = T::from_base(convert(f64::NAN));
        let spd = DMatrix::from_fn(n, n, |i, j| if i < j { nan } else { lift(&self.spd[(i, j)]) });
        let (general, b) = (self.general.map(|x| lift(&x)), self.b.map(|x| lift(&x)));
        let list = |m: DMatrix<T>| m.as_slice().to_vec();
        let chol = Cholesky::new(spd.clone()).unwrap();
        let lu = LU::new(general.clone()).unwrap();
        let mut x = b.clone();
        T::gesv(general.as_view(), x.as_view_mut()).unwrap();
        let mut factor = spd.clone();
        T::potrf(Uplo::Lower, factor.as_view_mut()).unwrap();
        let mut upper = spd.transpose();
        T::potrf(Uplo::Upper, upper.as_view_mut()).unwrap();
        let mut by_factor = b.clone();
        T::potrs(Uplo::Lower, factor.as_view(), by_factor.as_view_mut()).unwrap();
        let (mut factors, mut ipiv) = (general.clone(), vec![0; n]);
        T::getrf(factors.as_view_mut(), &mut ipiv).unwrap();
        let mut by_factors = b.clone();
        T::getrs(Trans::Trans, factors.as_view(), &ipiv, by_factors.as_view_mut()).unwrap();
        vec![
            ("logarithm", vec![chol.ln_determinant()]),
            ("determinant", vec![chol.determinant()]),
            ("solution", list(chol.solve(&b).unwrap())),
            ("inverse", list(chol.inverse())),
            ("factor", list(chol.l())),
            ("solution by LU", list(lu.solve(&b).unwrap())),
            ("solution at once", list(solve(&general, &b).unwrap())),
            ("gesv", list(x)),
            ("potrf", list(factor.lower_triangle())),
            ("potrf, upper", list(upper.upper_triangle())),
            ("potrs", list(by_factor)),
            ("getrf", list(factors)),
            ("getrs", list(by_factors)),
        ]
    }
}

/// Every part agrees with the hyper-dual one, every value has the bits of the float.
fn agrees<F: Real<Base = F> + Lapack, const N: usize>(n: usize, bits: impl Fn(F) -> u64, eps: f64) {
    let problem = Problem::<F, N>::new(n);
    let (symmetric, hyper) = (problem.results(Number::symmetric), problem.results(Number::hyper));
    let float = problem.results(|x| x.value);
    let number = |x: F| nalgebra::try_convert::<F, f64>(x).unwrap();
    for (((what, got), (_, expected)), (_, float)) in symmetric.iter().zip(&hyper).zip(&float) {
        let parts = |x: &HyperDual<F, N, N>| [&x.eps1[..], x.eps12.as_flattened()].concat();
        let all = expected.iter().flat_map(parts);
        let size = all.fold(0.0_f64, |m, x| m.max(number(x).abs()));
        let near = |x: F, y: F, part: &str| {
            let distance = (number(x) - number(y)).abs();
            assert!(distance <= eps * size, "{what}, n = {n}, N = {N}, {part}: {x} for {y} of {size:e}");
        };
        for ((x, y), &f) in got.iter().zip(expected).zip(float) {
            assert_eq!((bits(x.value), bits(y.value)), (bits(f), bits(f)), "{what}, n = {n}, N = {N}: value");
            for p in 0..N {
                near(x.grad[p], y.eps1[p], "first");
                near(x.grad[p], y.eps2[p], "other first");
                for q in p..N {
                    near(x.hess[p][q], y.eps12[p][q], "second");
                    near(y.eps12[q][p], y.eps12[p][q], "hyper-dual");
                }
            }
        }
    }
}

/// For every remainder of the groups of lanes, and orders around those of the tiles.
#[test]
fn against_hyper_duals() {
    fn sizes<const N: usize>(orders: &[usize]) {
        for &n in orders {
            agrees::<f64, N>(n, f64::to_bits, 1e-11);
        }
    }
    sizes::<1>(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 24, 25, 26, 40]);
    sizes::<3>(&[0, 1, 2, 3, 4, 5, 7, 8, 9, 24, 25, 26]);
    sizes::<4>(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 24, 25]);
    sizes::<5>(&[1, 3, 6, 9]);
    sizes::<8>(&[0, 1, 2, 3, 4, 5, 8, 11, 24, 25]);
    sizes::<17>(&[1, 2, 3, 5, 6]);
    for n in [1, 3, 4, 6, 9, 25] {
        agrees::<f32, 4>(n, |x| x.to_bits().into(), 2e-4);
        agrees::<f32, 11>(n, |x| x.to_bits().into(), 2e-4);
    }
}

/// A matrix larger than the kernels are for.
#[test]
fn large() {
    agrees::<f64, 3>(131, f64::to_bits, 1e-10);
}

/// Any two lanes are what they are without the others, to the bit.
#[test]
fn pairs_alone() {
    fn pairs<const N: usize>(n: usize) {
        let problem = Problem::<f64, N>::new(n);
        let together = problem.results(Number::symmetric);
        let kernels = ["logarithm", "determinant", "solution", "factor", "potrf", "potrf, upper"];
        for (p, q) in (0..N).flat_map(|p| (p + 1..N).map(move |q| (p, q))) {
            let alone = problem.results(|x| x.pair(p, q));
            let both = together.iter().zip(&alone).filter(|((what, _), _)| kernels.contains(what));
            for ((what, x), (_, y)) in both {
                for (x, y) in x.iter().zip(y) {
                    let got = [x.value, x.grad[p], x.grad[q], x.hess[p][p], x.hess[p][q], x.hess[q][q]];
                    let expected = [y.value, y.grad[0], y.grad[1], y.hess[0][0], y.hess[0][1], y.hess[1][1]];
                    let same = got.map(f64::to_bits) == expected.map(f64::to_bits);
                    assert!(same, "{what}, n = {n}, lanes {p} and {q} of {N}: {got:?} for {expected:?}");
                }
            }
        }
    }
    for n in [1, 2, 3, 5, 8, 13, 23] {
        pairs::<3>(n);
        pairs::<4>(n);
        pairs::<5>(n);
        pairs::<9>(n);
    }
    pairs::<17>(6);
}

/// NaN and infinity in a lane reach the second derivatives with that lane, and nothing else.
#[test]
fn lanes_stay_apart() {
    const N: usize = 5;
    for n in [2, 6, 26] {
        let clean = Problem::<f64, N>::new(n);
        let mut dirty = Problem::<f64, N>::new(n);
        for x in dirty.spd.iter_mut().chain(dirty.general.iter_mut()) {
            (x.first[1], x.second[3][4], x.second[4][3]) = (f64::NAN, f64::INFINITY, f64::INFINITY);
        }
        let (clean, dirty) = (clean.results(Number::symmetric), dirty.results(Number::symmetric));
        for ((what, clean), (_, dirty)) in
            clean.iter().zip(&dirty).filter(|((what, _), _)| !what.contains("get"))
        {
            let written = |x: &&Dual2<f64, N>| x.grad.iter().any(|&t| t != 0.0);
            for (x, y) in clean.iter().filter(written).zip(dirty.iter().filter(written)) {
                assert_eq!(x.value.to_bits(), y.value.to_bits());
                for p in 0..N {
                    let same = x.grad[p].to_bits() == y.grad[p].to_bits();
                    assert!(
                        if p == 1 { y.grad[p].is_nan() } else { same },
                        "{what}, n = {n}, lane {p}: {y:?}"
                    );
                    for q in p..N {
                        let same = x.hess[p][q].to_bits() == y.hess[p][q].to_bits();
                        let reached = p == 1 || q == 1 || (p, q) == (3, 4);
                        let right = if reached { !y.hess[p][q].is_finite() } else { same };
                        assert!(right, "{what}, n = {n}, lanes {p} and {q}: {y:?} for {x:?}");
                    }
                }
            }
        }
    }
}

/// Against differences of first derivatives along each lane.
#[test]
fn differences_of_first_derivatives() {
    const N: usize = 4;
    let n = 6;
    let problem = Problem::<f64, N>::new(n);
    let second = problem.results(Number::symmetric);
    // The number, moved along lane p by t, with its first derivatives there.
    let moved = |p: usize, t: f64| {
        problem.results(|x| {
            let value = x.value + t * x.first[p] + 0.5 * t * t * x.second[p][p];
            Dual::<f64, N>::new(value, std::array::from_fn(|q| x.first[q] + t * x.second[p][q]))
        })
    };
    let h = 1e-3;
    for p in 0..N {
        // Of order six: the error is about 1e-13 at this step, rounding 1e-12.
        let at: Vec<_> = [1.0, 2.0, 3.0].iter().map(|k| (moved(p, k * h), moved(p, -k * h))).collect();
        for (what, (name, entries)) in second.iter().enumerate() {
            let size =
                entries.iter().flat_map(|x| x.hess[p][p..].to_vec()).fold(1.0_f64, |m, x| m.max(x.abs()));
            for (e, x) in entries.iter().enumerate() {
                for q in p..N {
                    let weights = [3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0];
                    let terms = at
                        .iter()
                        .zip(weights)
                        .map(|((plus, minus), w)| w * (plus[what].1[e].eps[q] - minus[what].1[e].eps[q]) / h);
                    let expected: f64 = terms.sum();
                    let distance = (x.hess[p][q] - expected).abs();
                    assert!(
                        distance <= 1e-9 * size,
                        "{name}, entry {e}, lanes {p}, {q}: {} for {expected}",
                        x.hess[p][q]
                    );
                }
            }
        }
    }
}

/// Static matrices are the dynamic ones, and factored again they are another one.
#[test]
fn static_sizes() {
    let problem = Problem::<f64, 3>::new(7);
    let a = problem.spd.map(|x| x.symmetric());
    let dynamic = Cholesky::new(a.clone()).unwrap();
    let fixed = SMatrix::<Dual2<f64, 3>, 7, 7>::from_column_slice(a.as_slice());
    let mut chol = Cholesky::new(SMatrix::<Dual2<f64, 3>, 7, 7>::identity()).unwrap();
    chol.refactor(&fixed).unwrap();
    assert!(chol.ln_determinant().same(dynamic.ln_determinant()));
    assert!(chol.l().iter().zip(&dynamic.l()).all(|(x, y)| x.same(*y)));
    assert!(
        chol.clone()
            .unpack_dirty()
            .iter()
            .zip(&dynamic.l())
            .filter(|(_, y)| y.value != 0.0)
            .all(|(x, y)| x.same(*y))
    );
    let da = DMatrix::from_fn(7, 14, |i, j| Dual2::constant((i * j % 5) as f64));
    let pushed = dynamic.pushforward(&da).unwrap();
    let factor = {
        let mut factor = a.clone();
        Dual2::potrf(Uplo::Lower, factor.as_view_mut()).unwrap();
        factor.lower_triangle()
    };
    // dL Lᵀ + L dLᵀ = dA, in every part.
    for k in 0..2 {
        let dl = pushed.columns(7 * k, 7).into_owned();
        let product = &dl * factor.transpose() + &factor * dl.transpose();
        for j in 0..7 {
            for i in j..7 {
                assert!(
                    product[(i, j)].relative_eq_all(da[(i, 7 * k + j)], 1e-11) || {
                        let off = product[(i, j)] - da[(i, 7 * k + j)];
                        off.largest_part() < 1e-11
                    }
                );
            }
        }
    }
    assert!(chol.refactor(&-fixed).is_err());
    assert!(chol.ln_determinant().value.is_nan() && chol.ln_determinant().hess[0][1].is_nan());
}
