//! The kernel for small matrices against the roads it shortens: complex numbers go through planes.

use dualpack::{Dual, Dual2, Error, Exponential, HyperDual, Real, expm};
use nalgebra::{Complex, DMatrix, Matrix2, Matrix3};

use crate::support::compare::{assert_close, assert_same_bits, part, same_bits};
use crate::support::matrices::{Kind, Random};

/// Around every change of the layout, and beyond the largest order of the kernel.
const ORDERS: [usize; 21] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 33, 48, 49, 65, 128, 130, 256, 258];

/// A matrix whose 1-norm is about `size`.
fn matrix(n: usize, size: f64) -> DMatrix<f64> {
    Random::new(n as u64 + 1).matrix(n, n) * (2.0 * size / n.max(1) as f64)
}

fn direction(n: usize, k: usize) -> DMatrix<f64> {
    Random::new(1000 + k as u64).matrix(n, n)
}

fn with_lanes<const N: usize>(
    a: &DMatrix<f64>,
    lane: impl Fn(usize) -> DMatrix<f64>,
) -> DMatrix<Dual<f64, N>> {
    let lanes: [DMatrix<f64>; N] = std::array::from_fn(lane);
    DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| {
        Dual::new(a[(i, j)], std::array::from_fn(|k| lanes[k][(i, j)]))
    })
}

/// Every lane is what a run with that lane alone gives, to the bit, and the value is that of the floats.
fn lanes_are_single_runs<const N: usize>(a: &DMatrix<f64>, lane: impl Fn(usize) -> DMatrix<f64>, what: &str) {
    let all = expm(&with_lanes::<N>(a, &lane)).unwrap();
    assert_same_bits(&part(&all, |x| x.value), &expm(a).unwrap(), &format!("{what}, N = {N}: value"));
    for k in 0..N {
        let single = expm(&with_lanes::<1>(a, |_| lane(k))).unwrap();
        let (got, want) = (part(&all, |x| x.eps[k]), part(&single, |x| x.eps[0]));
        assert_same_bits(&got, &want, &format!("{what}, N = {N}: lane {k}"));
    }
}

#[test]
fn any_number_of_lanes() {
    for n in ORDERS {
        // One matrix for each degree, and two that are squared.
        for size in [1e-3, 0.05, 0.4, 1.0, 2.0, 20.0, 400.0] {
            if n > 20 && size != 20.0 {
                continue;
            }
            let a = matrix(n, size);
            let what = format!("n = {n}, norm {size}");
            let lane = |k| direction(n, k);
            lanes_are_single_runs::<2>(&a, lane, &what);
            if n < 65 {
                lanes_are_single_runs::<5>(&a, lane, &what);
            }
            if n < 20 {
                lanes_are_single_runs::<3>(&a, lane, &what);
                lanes_are_single_runs::<4>(&a, lane, &what);
                lanes_are_single_runs::<7>(&a, lane, &what);
                lanes_are_single_runs::<8>(&a, lane, &what);
                lanes_are_single_runs::<15>(&a, lane, &what);
                lanes_are_single_runs::<16>(&a, lane, &what);
                lanes_are_single_runs::<17>(&a, lane, &what);
            }
        }
    }
}

/// A lane that holds NaN or infinity in one place, next to others.
#[test]
fn lanes_that_are_not_finite() {
    for n in [2, 3, 5, 8, 12, 50] {
        let a = matrix(n, 4.0);
        for bad in [f64::NAN, f64::INFINITY] {
            let lane = |k| {
                let mut e = direction(n, k);
                if k % 3 == 1 {
                    e[(n - 1, n / 2)] = bad;
                }
                e
            };
            let what = format!("n = {n}, a lane with {bad}");
            lanes_are_single_runs::<4>(&a, lane, &what);
            lanes_are_single_runs::<9>(&a, lane, &what);
            let exp = expm(&with_lanes::<5>(&a, lane)).unwrap();
            assert!(exp.iter().all(|x| x.eps[0].is_finite() && x.eps[3].is_finite()), "{what}: the others");
            assert!(exp.iter().any(|x| !x.eps[1].is_finite()), "{what}: the lane itself");
        }
    }
}

/// A value that is not finite, in any place, is an error that names the place.
#[test]
fn values_that_are_not_finite() {
    for n in [2, 3, 5, 9] {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in 0..n * n {
                let mut a = matrix(n, 1.0);
                a[(at % n, at / n)] = bad;
                let want = Error::NonFinite { routine: "expm", row: at % n + 1, col: at / n + 1 };
                assert_eq!(expm(&a).unwrap_err(), want, "n = {n}");
                assert_eq!(expm(&with_lanes::<4>(&a, |k| direction(n, k))).unwrap_err(), want, "n = {n}");
            }
        }
    }
}

/// Against complex numbers, for all kinds of matrices and norms.
#[test]
fn the_same_as_through_planes() {
    for (seed, kind) in Kind::ALL.into_iter().enumerate() {
        for n in [2, 3, 4, 6, 9, 16, 24] {
            let plain = kind.matrix(seed as u64, n);
            let norm = plain.abs().row_sum().max();
            if !(norm > 0.0 && norm < 1e3) {
                continue;
            }
            for size in [1e-3, 0.1, 0.5, 1.3, 2.0, 7.0, 40.0] {
                let a = &(&plain * (size / norm));
                let what = format!("{kind:?}, n = {n}, norm {size}");
                let lanes = with_lanes::<9>(a, |k| direction(n, k));
                let planes = expm(&lanes.map(|x| Complex::new(x, Dual::constant(0.0)))).unwrap();
                let exp = expm(&lanes).unwrap();
                let tolerance = 1e-14 * (1.0 + size);
                assert_close(&part(&exp, |x| x.value), &part(&planes, |z| z.re.value), tolerance, &what);
                for k in 0..9 {
                    let (got, want) = (part(&exp, |x| x.eps[k]), part(&planes, |z| z.re.eps[k]));
                    assert_close(&got, &want, 4.0 * tolerance, &format!("{what}, lane {k}"));
                }
            }
        }
    }
}

/// A handle has the same derivatives, for more directions than are worked on at a time.
#[test]
fn pushforwards_of_all_orders() {
    for n in ORDERS {
        for size in [0.01, 1.0, 2.0, 20.0] {
            if n > 20 && size != 20.0 {
                continue;
            }
            let directions = if n > 20 { 3 } else { 18 };
            let a = matrix(n, size);
            let exp = Exponential::new(&a).unwrap();
            assert_same_bits(exp.value(), &expm(&a).unwrap(), "value");
            let all: Vec<f64> = (0..directions).flat_map(|k| direction(n, k).as_slice().to_vec()).collect();
            let all = exp.pushforward(&DMatrix::from_vec(n, n * directions, all)).unwrap();
            for k in 0..directions {
                let lanes = expm(&with_lanes::<1>(&a, |_| direction(n, k))).unwrap();
                let got = all.columns(k * n, n).clone_owned();
                let what = format!("n = {n}, norm {size}, direction {k}");
                assert_close(&got, &part(&lanes, |x| x.eps[0]), 1e-14 * (1.0 + size), &what);
            }
        }
    }
}

/// Nested scalars have the values of the floats, to the bit, and first derivatives that agree to rounding.
#[test]
fn nested_values() {
    for n in [2, 3, 4, 7, 16, 20] {
        for size in [0.5, 2.0, 30.0] {
            let (a, e, f) = (matrix(n, size), direction(n, 0), direction(n, 1));
            let what = format!("n = {n}, norm {size}");
            let value = expm(&a).unwrap();
            let first = part(&expm(&with_lanes::<1>(&a, |_| e.clone())).unwrap(), |x| x.eps[0]);
            let hyper = a.zip_zip_map(&e, &f, |x, e, f| HyperDual::<f64, 1, 1>::new(x, [e], [f], [[0.0]]));
            let hyper = expm(&hyper).unwrap();
            assert_same_bits(&part(&hyper, |x| x.value), &value, &what);
            assert_close(&part(&hyper, |x| x.eps1[0]), &first, 1e-12, &what);
            let symmetric = expm(&a.zip_map(&e, |x, e| Dual2::<f64, 1>::new(x, [e], [[0.0]]))).unwrap();
            assert_same_bits(&part(&symmetric, |x| x.value), &value, &what);
            assert_close(&part(&symmetric, |x| x.grad[0]), &first, 1e-12, &what);
        }
    }
}

/// Single precision against double.
#[test]
fn singles_of_all_orders() {
    for n in [2, 3, 4, 5, 8, 9, 17] {
        for size in [0.1, 1.0, 2.2, 10.0, 60.0] {
            let a = matrix(n, size).map(|x| x as f32);
            let lanes: [_; 5] = std::array::from_fn(|k| direction(n, k).map(|x| x as f32));
            let all = DMatrix::from_fn(n, n, |i, j| {
                Dual::<f32, 5>::new(a[(i, j)], std::array::from_fn(|k| lanes[k][(i, j)]))
            });
            let exp = expm(&all).unwrap();
            let plain = expm(&a).unwrap();
            assert!(exp.iter().zip(plain.iter()).all(|(x, y)| x.value.to_bits() == y.to_bits()));
            let wide = with_lanes::<5>(&a.map(f64::from), |k| lanes[k].map(f64::from));
            let wide = expm(&wide).unwrap();
            let tolerance = 3e-6 * (1.0 + size);
            let what = format!("n = {n}, norm {size}");
            assert_close(&exp.map(|x| f64::from(x.value)), &part(&wide, |x| x.value), tolerance, &what);
            for k in 0..5 {
                let got = exp.map(|x| f64::from(x.eps[k]));
                assert_close(&got, &part(&wide, |x| x.eps[k]), 4.0 * tolerance, &what);
                let single =
                    expm(&DMatrix::from_fn(n, n, |i, j| Dual::<f32, 1>::new(a[(i, j)], [lanes[k][(i, j)]])));
                let single = single.unwrap().map(|x| f64::from(x.eps[0]));
                assert!(got.iter().zip(single.iter()).all(|(x, y)| same_bits(*x, *y)), "{what}: lane {k}");
            }
        }
    }
}

/// Matrices of static size are the same as others.
#[test]
fn static_sizes() {
    let (a2, a3) = (matrix(2, 5.0), matrix(3, 5.0));
    let d2 = with_lanes::<6>(&a2, |k| direction(2, k));
    let d3 = with_lanes::<6>(&a3, |k| direction(3, k));
    let (s2, s3) = (Matrix2::from_fn(|i, j| d2[(i, j)]), Matrix3::from_fn(|i, j| d3[(i, j)]));
    let pairs = [
        (expm(&d2).unwrap(), DMatrix::from_fn(2, 2, |i, j| expm(&s2).unwrap()[(i, j)])),
        (expm(&d3).unwrap(), DMatrix::from_fn(3, 3, |i, j| expm(&s3).unwrap()[(i, j)])),
    ];
    for (dynamic, fixed) in pairs {
        assert!(dynamic.iter().zip(fixed.iter()).all(|(x, y)| x.same(*y)));
    }
}

/// Around the norms at which the smallest orders change degree or scaling, and at which the kernel for them ends, in
/// either precision.
#[test]
fn smallest_orders_around_bounds() {
    for n in [2, 3] {
        for bound in [1.45, 3.0, 6.0, 96.0, 384.0, 768.0] {
            for step in [0.999, 1.001] {
                let plain = matrix(n, 1.0);
                let size = bound * step;
                let a = &plain * (size / plain.abs().row_sum().max());
                let what = format!("n = {n}, norm {size}");
                let lanes = with_lanes::<3>(&a, |k| direction(n, k));
                let planes = expm(&lanes.map(|x| Complex::new(x, Dual::constant(0.0)))).unwrap();
                let exp = expm(&lanes).unwrap();
                let tolerance = 1e-14 * (1.0 + size);
                assert_close(&part(&exp, |x| x.value), &part(&planes, |z| z.re.value), tolerance, &what);
                for k in 0..3 {
                    let (got, want) = (part(&exp, |x| x.eps[k]), part(&planes, |z| z.re.eps[k]));
                    assert_close(&got, &want, 4.0 * tolerance, &format!("{what}, lane {k}"));
                }
            }
        }
        for size in [2.57, 2.59, 5.15, 5.17, 41.0, 41.5] {
            let plain = matrix(n, 1.0);
            let a = (&plain * (size / plain.abs().row_sum().max())).map(|x| x as f32);
            let e = direction(n, 0).map(|x| x as f32);
            let exp = expm(&a.zip_map(&e, |x, e| Dual::<f32, 1>::new(x, [e]))).unwrap();
            let wide = expm(&with_lanes::<1>(&a.map(f64::from), |_| e.map(f64::from))).unwrap();
            let (tolerance, what) = (3e-6 * (1.0 + size), format!("single, n = {n}, norm {size}"));
            assert_close(&exp.map(|x| f64::from(x.value)), &part(&wide, |x| x.value), tolerance, &what);
            let got = exp.map(|x| f64::from(x.eps[0]));
            assert_close(&got, &part(&wide, |x| x.eps[0]), 4.0 * tolerance, &what);
        }
    }
}

/// The largest norm of the kernel for the smallest orders, 3 · 2⁸, with the most squarings. All rows tend to the same.
#[test]
fn smallest_orders_at_the_last_bound() {
    for n in [2, 3] {
        let entry = 768.0 / if n == 2 { 2.0 } else { 4.0 };
        let a = DMatrix::from_fn(n, n, |i, j| if i == j { (1.0 - n as f64) * entry } else { entry });
        assert_eq!(a.abs().row_sum().max(), 768.0);
        let exp = expm(&with_lanes::<2>(&a, |k| &a * (k as f64 + 1.0))).unwrap();
        let want = DMatrix::from_element(n, n, 1.0 / n as f64);
        assert_close(&part(&exp, |x| x.value), &want, 1e-11, "value");
        // d/dt exp(t A) = A exp(t A)
        assert!(exp.iter().all(|x| x.eps[0].abs() < 1e-9 && x.eps[1] == 2.0 * x.eps[0]));
    }
}

/// Where `A² = 0`, `exp A = I + A` and its derivative is `E + (A E + E A) / 2 + A E A / 6`, whatever the norm; such a
/// matrix needs no balancing, and its norm alone asks for squarings that only round.
#[test]
fn square_is_zero() {
    let two = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, -1.0, -1.0]);
    let three = DMatrix::from_row_slice(3, 3, &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -2.0, -2.0, -2.0]);
    for plain in [two, three] {
        let n = plain.nrows();
        for size in [0.25, 0.5, 1.0, 4.0, 32.0, 128.0] {
            let (a, e) = (&plain * size, direction(n, 5));
            let exp = expm(&with_lanes::<1>(&a, |_| e.clone())).unwrap();
            let what = format!("n = {n}, size {size}");
            let tolerance = 1e-14 * (1.0 + size);
            assert_close(&part(&exp, |x| x.value), &(DMatrix::identity(n, n) + &a), tolerance, &what);
            let want = &e + (&a * &e + &e * &a) * 0.5 + (&a * &e * &a) / 6.0;
            assert_close(&part(&exp, |x| x.eps[0]), &want, tolerance, &what);
        }
    }
}
