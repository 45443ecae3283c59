//! Kinks, ties and jumps: one documented convention each.

use dualpack_core::{Dual, Dual2, HyperDual, Real, assert_dual_eq};

use super::parts::{Parts, every_number, tangent};

fn d(value: f64, t: f64) -> Dual<f64> {
    Dual::new(value, [t])
}

#[test]
fn absolute_value() {
    assert_eq!(d(0.0, 1.0).abs().eps, [0.0]);
    assert_eq!(d(-0.0, 1.0).abs().eps, [0.0]);
    assert_eq!(d(-2.0, 3.0).abs().eps, [-3.0]);
    assert_eq!(HyperDual::<f64>::variable(0.0, 0, 0).abs().eps12, [[0.0]]);
    // x |x| has derivative 2|x| everywhere.
    for x in [-1.5, 0.0, 2.0] {
        assert_eq!((d(x, 1.0) * d(x, 1.0).abs()).eps, [2.0 * x.abs()]);
    }
}

#[test]
fn steps_have_zero_slope() {
    for x in [-2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0] {
        let v = d(x, 1.0);
        for y in [v.floor(), v.ceil(), v.round(), v.trunc(), v.signum()] {
            assert_eq!(y.eps, [0.0]);
        }
        assert_eq!(v.fract().eps, [1.0]);
    }
    assert_eq!(
        (d(-2.5, 1.0).round().value, d(0.0, 1.0).signum().value, d(-0.0, 1.0).signum().value),
        (-3.0, 1.0, -1.0)
    );
}

/// At a tie max is the first and min the second argument, so that max + min = a + b in every part.
fn ties<T: Parts>() {
    let (a, b) = (T::seeded(1.5, tangent), T::seeded(1.5, |k| -2.0 * tangent(k + 2)));
    assert_eq!(a.max(b).parts(), a.parts());
    assert_eq!(a.min(b).parts(), b.parts());
    assert_eq!((a.max(b) + a.min(b)).parts(), (a + b).parts());
    let (low, high) = (T::seeded(-1.0, tangent), T::seeded(2.0, |k| tangent(k + 1)));
    for (x, y) in [(low, high), (high, low)] {
        assert_eq!(x.max(y).parts(), high.parts());
        assert_eq!(x.min(y).parts(), low.parts());
        assert_eq!((x.max(y) + x.min(y)).parts(), (x + y).parts());
    }
}

#[test]
fn max_plus_min_is_the_sum() {
    every_number!(ties);
}

#[test]
fn rectifier_at_zero() {
    // max(x, 0) and max(0, x): the order of the arguments chooses.
    let (x, zero) = (d(0.0, 1.0), d(0.0, 0.0));
    assert_eq!((x.max(zero).eps, zero.max(x).eps), ([1.0], [0.0]));
    assert_eq!((x.min(zero).eps, zero.min(x).eps), ([0.0], [1.0]));
}

/// The operand that is not returned leaves no trace, not even infinite or NaN tangents.
#[test]
fn the_other_operand_is_not_looked_at() {
    let (one, wild) = (d(1.0, 3.0), Dual::constant(0.0).max(d(0.0, 1.0).sqrt()));
    assert_eq!(wild.eps, [0.0]);
    for t in [f64::INFINITY, f64::NAN] {
        let other = d(0.5, t);
        assert_dual_eq!(one.max(other), one);
        assert_dual_eq!(other.max(one), one);
        assert_dual_eq!((-one).min(-other), -one);
        assert_dual_eq!(d(3.0, 1.0).copysign(d(-2.0, t)), d(-3.0, -1.0));
        let inner = Dual::<Dual<f64>>::new(d(0.5, t), [d(t, t)]);
        let whole = Dual::<Dual<f64>>::new(d(1.0, 2.0), [d(3.0, 4.0)]);
        assert_dual_eq!(whole.max(inner), whole);
        // and the returned one keeps every part of it
        let steep = Dual::<Dual<f64>>::new(d(2.0, t), [d(t, 1.0)]);
        assert_dual_eq!(whole.max(steep), steep);
        let h = HyperDual::<f64>::new(0.5, [t], [t], [[t]]);
        assert_dual_eq!(HyperDual::constant(1.0).max(h), HyperDual::constant(1.0));
    }
}

#[test]
fn nan_loses_against_a_number() {
    let nan = d(f64::NAN, f64::NAN);
    let x = d(2.0, 3.0);
    for y in [x.max(nan), nan.max(x), x.min(nan), nan.min(x)] {
        assert_dual_eq!(y, x);
    }
    assert!(nan.max(nan).is_nan() && nan.min(d(f64::NAN, 1.0)).eps[0].is_nan());
}

#[test]
fn clamp_is_the_argument_at_its_bounds() {
    let (lo, hi) = (d(-1.0, 5.0), d(1.0, 7.0));
    assert_dual_eq!(d(-1.0, 3.0).clamp(lo, hi), d(-1.0, 3.0));
    assert_dual_eq!(d(1.0, 3.0).clamp(lo, hi), d(1.0, 3.0));
    assert_dual_eq!(d(0.5, 3.0).clamp(lo, hi), d(0.5, 3.0));
    assert_dual_eq!(d(-1.5, 3.0).clamp(lo, hi), lo);
    assert_dual_eq!(d(2.0, 3.0).clamp(lo, hi), hi);
    assert_eq!(d(2.0, 1.0).clamp(0.0.into(), 1.0.into()).eps, [0.0]);
    assert!(d(f64::NAN, 3.0).clamp(lo, hi).eps[0].is_nan());
}

#[test]
fn copysign_takes_the_sign_alone() {
    assert_dual_eq!(d(3.0, 1.0).copysign(d(-2.0, 9.0)), d(-3.0, -1.0));
    assert_dual_eq!(d(-3.0, 1.0).copysign(d(-0.0, 9.0)), d(-3.0, 1.0));
    assert_dual_eq!(d(-3.0, 1.0).copysign(d(0.0, 9.0)), d(3.0, -1.0));
    assert_dual_eq!(d(0.0, 1.0).copysign(d(1.0, 9.0)), d(0.0, 0.0));
}

#[test]
fn remainders() {
    // S067, S068: the branch of the value.
    assert_dual_eq!(Dual::<f64, 2>::variable(-5.5, 0) % Dual::variable(2.0, 1), Dual::new(-1.5, [1.0, 2.0]));
    assert_dual_eq!(
        Dual::<f64, 2>::variable(-10.0, 0) % Dual::variable(-3.0, 1),
        Dual::new(-1.0, [1.0, -3.0])
    );
    let r = Dual::<f64, 2>::variable(5.5, 0).rem_euclid(Dual::variable(-2.0, 1));
    assert_dual_eq!(r, Dual::new(1.5, [1.0, 2.0]));
    let r = Dual::<f64, 2>::variable(-5.5, 0).rem_euclid(Dual::variable(2.0, 1));
    assert_dual_eq!(r, Dual::new(0.5, [1.0, 3.0]));
    // 0.1 is a little more than a tenth: it goes into 1 nine times, although 1.0 / 0.1 rounds to 10.
    let r = Dual::<f64, 2>::variable(1.0, 0) % Dual::variable(0.1, 1);
    assert_eq!((r.value, r.eps), (1.0 % 0.1, [1.0, -9.0]));
    let r = Dual::<f64, 2>::variable(1.0, 0).rem_euclid(Dual::variable(0.1, 1));
    assert_eq!((r.value, r.eps), (1.0_f64.rem_euclid(0.1), [1.0, -9.0]));
    assert_dual_eq!(d(3.0, 1.0) % d(f64::INFINITY, 0.0), d(3.0, 1.0));
    assert_eq!((d(5.0, 1.0) % 3.0).value, 2.0);
    // Second order: nothing but the linear pieces.
    let r = Dual2::<f64, 2>::variable(7.5, 0) % Dual2::variable(2.0, 1);
    assert_eq!((r.grad, r.hess), ([1.0, -3.0], [[0.0; 2]; 2]));
}

/// A step inside a smooth function: d/dx of floor(x) x.
#[test]
fn steps_inside_functions() {
    let x = Dual::<Dual<f64>>::variable(Dual::variable(2.5, 0), 0);
    let y = x.floor() * x * x;
    assert_eq!((y.value.eps[0], y.eps[0].eps[0]), (10.0, 4.0));
    assert!(Real::all_finite(y));
}

/// The structure of a remainder holds at other points too: a quotient of 0 is no missing dependency.
#[test]
fn remainders_and_choices_depend_on_both_operands() {
    use dualpack_core::jacobian_pattern;
    let pattern =
        jacobian_pattern(|x| vec![x[0] % x[1], x[0].rem_euclid(x[1]), x[0].max(x[1])], &vec![0.25, 2.0]);
    assert_eq!(pattern.entries().collect::<Vec<_>>(), [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]);
}
