//! logsumexp and norm over slices.

use dualpack::{Dual, Dual2, HyperDual, Real, logsumexp, norm};
use std::hint::black_box;

type D<const N: usize> = Dual<f64, N>;

const INF: f64 = f64::INFINITY;

fn seeded<const N: usize>(x: [f64; N]) -> [D<N>; N] {
    std::array::from_fn(|k| D::variable(x[k], k))
}

#[track_caller]
fn assert_close(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance * want.abs(), "{got:e} is not {want:e}");
}

#[test]
fn values_are_those_of_floats_bit_for_bit() {
    for x in [
        [0.3, -1.7, 2.4],
        [1000.0, 999.0, -1000.0],
        [3e200, 4e200, -1e190],
        [1e-300, 3e-310, 2e-300],
        [0.0, 0.0, 0.0],
        [5.0, -INF, 4.0],
        [INF, 1.0, 2.0],
        [-INF, -INF, -INF],
    ] {
        let x = black_box(x);
        for f in [logsumexp::<f64>, norm::<f64>] {
            assert!(!f(&x).is_nan());
        }
        let (d, h) = (seeded(x), x.map(|v| HyperDual::<f64, 1, 1>::variable(v, 0, 0)));
        assert_eq!(logsumexp(&d).value.to_bits(), logsumexp(&x).to_bits(), "{x:?}");
        assert_eq!(logsumexp(&h).value.to_bits(), logsumexp(&x).to_bits(), "{x:?}");
        assert_eq!(norm(&d).value.to_bits(), norm(&x).to_bits(), "{x:?}");
        assert_eq!(norm(&h).value.to_bits(), norm(&x).to_bits(), "{x:?}");
    }
}

#[test]
fn logsumexp_is_shift_invariant_and_its_gradient_sums_to_one() {
    for shift in [-1e5, -700.0, 0.0, 3.0, 800.0] {
        let y = logsumexp(&seeded([0.5 + shift, -1.25 + shift, 2.0 + shift]));
        assert_close(y.value, shift + logsumexp(&[0.5, -1.25, 2.0]), 1e-15);
        assert_close(y.eps.iter().sum(), 1.0, 1e-15);
        // The quotient of two weights is the exponential of the difference.
        assert_close(y.eps[2] / y.eps[0], 1.5_f64.exp(), 1e-14);
        assert_close(y.eps[1] / y.eps[0], (-1.75_f64).exp(), 1e-14);
    }
}

#[test]
fn logsumexp_keeps_small_entries_beside_large_ones() {
    // ln(1 + e^-40), and a weight that 1 - (1 - e^-40) would have lost.
    let y = logsumexp(&seeded([0.0, -40.0]));
    assert_close(y.value, 4.248354255291589e-18, 1e-15);
    assert_close(y.eps[1], 4.248354255291589e-18, 1e-15);
    assert_eq!(y.eps[0], 1.0);
    // Two entries: softplus of the difference.
    let (a, b) = (Dual2::<f64, 2>::variable(0.7, 0), Dual2::variable(-2.0, 1));
    let (y, want) = (logsumexp(&[a, b]), b + (a - b).softplus());
    assert_close(y.value, want.value, 1e-15);
    for i in 0..2 {
        assert_close(y.grad[i], want.grad[i], 1e-15);
        for j in i..2 {
            assert_close(y.hessian(i, j), want.hessian(i, j), 1e-14);
        }
    }
}

#[test]
fn logsumexp_of_infinite_entries() {
    assert_eq!(logsumexp::<f64>(&[]), -INF);
    assert_eq!(logsumexp(&seeded([-INF, 3.0, -INF])).eps, [0.0, 1.0, 0.0]);
    let y = logsumexp(&seeded([1.0, INF, 3.0]));
    assert_eq!((y.value, y.eps), (INF, [0.0, 1.0, 0.0]));
    let y = logsumexp(&seeded([-INF]));
    assert_eq!((y.value, y.eps), (-INF, [1.0]));
    // Which of several moves decides: NaN, but only in the lanes where one does.
    for x in [[INF, INF], [-INF, -INF]] {
        let [a, b] = x.map(|v| D::<2>::new(v, [0.0, 1.0]));
        let y = logsumexp(&[a, b]);
        assert_eq!((y.value, y.eps[0]), (x[0], 0.0));
        assert!(y.eps[1].is_nan());
    }
    let y = logsumexp(&seeded([1.0, f64::NAN]));
    assert!(y.value.is_nan() && y.eps.iter().all(|t| t.is_nan()));
}

#[test]
fn norm_has_the_unit_vector_as_gradient_at_every_scale() {
    for scale in [1e-320, 1e-300, 1e-61, 1e-9, 1.0, 1e9, 1e61, 1e300] {
        let x = [2.0 * scale, -3.0 * scale, 6.0 * scale];
        // Subnormal entries carry few digits; the quotients are those of the rounded entries.
        let want = [x[0] / (7.0 * scale), x[1] / (7.0 * scale), x[2] / (7.0 * scale)];
        let tolerance = if scale < 1e-307 { 1e-3 } else { 1e-15 };
        let y = norm(&seeded(x));
        assert_close(y.value, 7.0 * scale, tolerance);
        for k in 0..3 {
            assert_close(y.eps[k], want[k], 2.0 * tolerance);
        }
    }
}

#[test]
fn norm_has_the_tangent_projector_as_hessian() {
    // (I - u u^T)/r with u = (2, -3, 6)/7
    for scale in [1e-200, 1e-59, 1.0, 1e59, 1e200] {
        let x = [2.0, -3.0, 6.0].map(|v| v * scale);
        let y = norm(&std::array::from_fn::<_, 3, _>(|k| Dual2::<f64, 3>::variable(x[k], k)));
        let u = [2.0 / 7.0, -3.0 / 7.0, 6.0 / 7.0];
        for i in 0..3 {
            for j in i..3 {
                let want = (f64::from(i == j) - u[i] * u[j]) / (7.0 * scale);
                assert_close(y.hessian(i, j), want, 1e-14);
            }
        }
    }
}

#[test]
fn norm_of_zeros() {
    assert_eq!(norm::<f64>(&[]), 0.0);
    let y = norm(&[D::<2>::new(0.0, [0.0, 1.0]), D::new(0.0, [0.0, 0.0])]);
    assert_eq!((y.value, y.eps[0]), (0.0, 0.0));
    assert!(y.eps[1].is_nan(), "no derivative exists at the zero vector");
    // Zeros beside other entries are ordinary, also where hypot takes over.
    for scale in [1.0, 1e250] {
        let y = norm(&seeded([0.0, 0.0, -2.0 * scale, 0.0]));
        assert_eq!((y.value, y.eps), (2.0 * scale, [0.0, 0.0, -1.0, 0.0]));
    }
}

#[test]
fn slices_of_single_precision() {
    let x = [3e30_f32, 4e30];
    let y = norm(&[Dual::<f32, 2>::variable(x[0], 0), Dual::variable(x[1], 1)]);
    assert!((y.value - 5e30).abs() < 1e24 && (y.eps[0] - 0.6).abs() < 1e-6 && (y.eps[1] - 0.8).abs() < 1e-6);
    let y = norm(&[Dual2::<f32, 2>::variable(3e6, 0), Dual2::variable(4e6, 1)]);
    assert!((y.hessian(0, 0) - 0.64 / 5e6).abs() < 1e-12 && (y.hessian(0, 1) + 0.48 / 5e6).abs() < 1e-12);
    assert_eq!(logsumexp(&[100.0_f32, 100.0]), 100.0 + std::f32::consts::LN_2);
    assert!(Real::base(logsumexp(&[Dual::<f32>::variable(-200.0, 0)])) == -200.0);
}
