//! Comparison: the operators and approx look at the value, `same` and `relative_eq_all` at every part.

use approx::{AbsDiffEq, RelativeEq, UlpsEq, assert_relative_eq};
use dualpack_core::{Dual, Dual2, HyperDual, Real, assert_dual_eq};

use super::parts::{POINTS, Parts, every_number, tangent};

/// Control flow is that of the float run.
fn order<T: Parts>() {
    for &a in POINTS {
        for &b in POINTS {
            let (x, y) = (T::seeded(a, tangent), T::seeded(b, |k| -tangent(k + 1)));
            let (a, b) = (x.parts()[0], y.parts()[0]);
            assert_eq!(x == y, a == b);
            assert_eq!(x < y, a < b);
            assert_eq!(x <= y, a <= b);
            assert_eq!(x > y, a > b);
            assert_eq!(x >= y, a >= b);
            assert_eq!(x.partial_cmp(&y), a.partial_cmp(&b));
        }
    }
}

#[test]
fn order_is_that_of_the_values() {
    every_number!(order);
}

#[test]
fn approx_looks_at_the_value() {
    let (x, y) = (Dual::<f64>::new(1.0, [5.0]), Dual::new(1.0 + 1e-17, [-7.0]));
    assert!(
        x.abs_diff_eq(&y, Dual::default_epsilon())
            && x.relative_eq(&y, Dual::default_epsilon(), Dual::default_max_relative())
    );
    assert!(x.ulps_eq(&y, Dual::default_epsilon(), Dual::<f64>::default_max_ulps()));
    assert_relative_eq!(x, y);
    let z = Dual::<f64>::new(1.001, [5.0]);
    assert!(!x.abs_diff_eq(&z, Dual::default_epsilon()) && x.relative_eq(&z, 0.0.into(), 0.01.into()));
    assert!(!x.ulps_eq(&z, Dual::default_epsilon(), 4));
}

/// A difference in any one part is a difference.
fn every_part_counts<T: Parts>() {
    let x = T::seeded(1.5, tangent);
    let parts = x.parts();
    let small = nalgebra::convert::<f64, T::Base>(1e-3);
    for k in 0..parts.len() {
        let mut other = parts.clone();
        other[k] += 0.25;
        let y = T::read(&mut other.into_iter());
        assert!(!x.same(y) && !x.relative_eq_all(y, small), "part {k}");
        let mut other = parts.clone();
        other[k] = f64::NAN;
        let y = T::read(&mut other.into_iter());
        assert!(!x.same(y) && !x.relative_eq_all(y, small) && y.same(y), "part {k}");
        assert!(y.relative_eq_all(y, small), "part {k}: NaN agrees with itself");
    }
    assert!(x.same(x) && x.relative_eq_all(x, T::zero().base()));
    assert!(x.all_finite());
    for k in 1..parts.len() {
        let mut other = parts.clone();
        other[k] = f64::INFINITY;
        let y = T::read(&mut other.into_iter());
        assert!(!y.all_finite() && y.is_finite() && !Real::is_nan(y), "part {k}");
    }
}

#[test]
fn same_compares_every_part() {
    every_number!(every_part_counts);
}

#[test]
fn tolerance_is_relative_to_the_largest_lane() {
    let x = Dual::<f64, 2>::new(1.0, [1e3, 1e-9]);
    assert!(x.relative_eq_all(Dual::new(1.0, [1e3, 0.0]), 1e-10));
    assert!(!x.relative_eq_all(Dual::new(1.0, [1e3, 1.0]), 1e-10));
    assert!(!x.relative_eq_all(Dual::new(1.0 + 1e-9, [1e3, 1e-9]), 1e-10));
    // An infinity agrees with itself alone, and says nothing of the parts beside it.
    let inf = f64::INFINITY;
    assert!(inf.relative_eq_all(inf, 1e-10) && !inf.relative_eq_all(-inf, 1e-10));
    assert!(!inf.relative_eq_all(5.0, 1e-10) && !5.0.relative_eq_all(inf, 1e-10));
    for odd in [inf, f64::NAN] {
        let x = Dual::new(1.0, [odd, 1.0]);
        assert!(x.relative_eq_all(Dual::new(1.0, [odd, 1.0 + 1e-12]), 1e-10));
        for y in [[odd, 2.0], [7.0, 1.0], [-inf, 1.0]] {
            let y = Dual::new(1.0, y);
            assert!(!x.relative_eq_all(y, 1e-10) && !y.relative_eq_all(x, 1e-10), "{x} {y}");
        }
        let h = |part| HyperDual::<f64, 1, 1>::new(1.0, [odd], [1.0], [[part]]);
        assert!(h(odd).relative_eq_all(h(odd), 1e-10) && !h(odd).relative_eq_all(h(3.0), 1e-10));
    }
    // The lower triangle of a symmetric number is not a part.
    let mut s = Dual2::<f64, 2>::new(1.0, [2.0, 3.0], [[4.0, 5.0], [0.0, 6.0]]);
    let t = s;
    s.hess[1][0] = f64::NAN;
    assert!(s.same(t) && s.relative_eq_all(t, 0.0) && s.all_finite());
    assert!(HyperDual::<f64>::new(1.0, [0.0], [-0.0], [[0.0]]).same(HyperDual::constant(1.0)));
}

#[test]
fn the_assertion_passes_on_equal_parts() {
    let x = Dual::<f64>::variable(0.1, 0);
    assert_dual_eq!(x, x);
    assert_dual_eq!(x * 3.0 / 3.0, x, 1e-15);
}

#[test]
#[should_panic(expected = "parts differ")]
fn the_assertion_sees_a_tangent() {
    assert_dual_eq!(Dual::<f64>::variable(0.1, 0), Dual::constant(0.1));
}

#[test]
#[should_panic(expected = "parts differ by more than")]
fn the_assertion_with_tolerance_sees_a_tangent() {
    assert_dual_eq!(Dual::<f64>::new(0.1, [1.0]), Dual::new(0.1, [1.001]), 1e-6);
}
