//! Law 1: the value is the computation in floats, bit for bit, in every type and at every point.

use std::hint::black_box;

use dualpack_core::registry;
use dualpack_core::{Base, Dual, Real};
use nalgebra::{ComplexField, RealField};

use super::parts::{POINTS, Parts, every_number, tangent};
use crate::support::compare::same_bits;

fn base<T: Parts>(x: T) -> f64 {
    x.parts()[0]
}

/// The rows of `T` beside those of its float.
fn unary_values<T: Parts>()
where
    T::Base: Parts,
{
    let mut floats = Vec::new();
    registry::unary::<T::Base>(|name, _, f| floats.push((name, f)));
    let mut rows = floats.iter();
    registry::unary::<T>(|name, samples, f| {
        let &(float_name, float) = rows.next().expect("the same rows");
        assert_eq!(name, float_name);
        for &x in POINTS.iter().chain(samples) {
            let x = black_box(x);
            let got = base(f(T::seeded(x, tangent)));
            let want = base(float(T::Base::fixed(x)));
            assert!(same_bits(got, want), "{name}({x:e}): {got:e} and {want:e}");
        }
    });
}

fn binary_values<T: Parts>()
where
    T::Base: Parts,
{
    let mut floats = Vec::new();
    registry::binary::<T::Base>(|name, _, f| floats.push((name, f)));
    let mut rows = floats.iter();
    registry::binary::<T>(|name, _, f| {
        let &(_, float) = rows.next().expect("the same rows");
        for &a in POINTS {
            for &b in POINTS {
                let (a, b) = (black_box(a), black_box(b));
                let got = base(f(T::seeded(a, tangent), T::seeded(b, |k| tangent(k + 3))));
                let want = base(float(T::Base::fixed(a), T::Base::fixed(b)));
                assert!(same_bits(got, want), "{name}({a:e}, {b:e}): {got:e} and {want:e}");
            }
        }
    });
}

/// Methods outside the tables, and the operators.
fn other_values<T: Parts>()
where
    T::Base: Parts + Real<Base = T::Base>,
{
    fn check<T: Parts>(name: &str, at: &[f64], got: T, want: impl Parts) {
        let (got, want) = (base(got), base(want));
        assert!(same_bits(got, want), "{name}({at:?}): {got:e} and {want:e}");
    }
    for &a in POINTS {
        let a = black_box(a);
        let (x, f) = (T::seeded(a, tangent), T::Base::fixed(a));
        check("neg", &[a], -x, -f);
        check("sin_cos.0", &[a], x.sin_cos().0, f.sin_cos().0);
        check("sin_cos.1", &[a], x.sin_cos().1, f.sin_cos().1);
        check("sinh_cosh.0", &[a], x.sinh_cosh().0, f.sinh_cosh().0);
        check("sinh_cosh.1", &[a], x.sinh_cosh().1, f.sinh_cosh().1);
        check("to_exp.0", &[a], x.to_exp().0, f.to_exp().0);
        check("to_exp.1", &[a], x.to_exp().1, f.to_exp().1);
        check("to_polar.0", &[a], x.to_polar().0, f.to_polar().0);
        check("to_polar.1", &[a], x.to_polar().1, f.to_polar().1);
        check("modulus_squared", &[a], x.modulus_squared(), f.modulus_squared());
        check("argument", &[a], x.argument(), f.argument());
        for &b in POINTS {
            let b = black_box(b);
            let (y, g) = (T::seeded(b, |k| tangent(k + 3)), T::Base::fixed(b));
            check("add", &[a, b], x + y, f + g);
            check("sub", &[a, b], x - y, f - g);
            check("mul", &[a, b], x * y, f * g);
            check("div", &[a, b], x / y, f / g);
            check("rem", &[a, b], x % y, f % g);
            check("mul_add", &[a, b], x.mul_add(y, x), f.mul_add(g, f));
            check("clamp", &[a, b], x.clamp(-y, y), f.clamp(-g, g));
        }
    }
}

#[test]
fn functions_of_one_variable() {
    every_number!(unary_values);
}

#[test]
fn functions_of_two_variables() {
    every_number!(binary_values);
}

#[test]
fn operators_and_composites() {
    every_number!(other_values);
}

/// `f64` itself computes with the standard library, but for the functions that the documentation names.
#[test]
fn floats_are_the_standard_library() {
    type F = fn(f64) -> f64;
    let std: &[(&str, F)] = &[
        ("recip", f64::recip),
        ("sqrt", f64::sqrt),
        ("cbrt", f64::cbrt),
        ("exp", f64::exp),
        ("exp2", f64::exp2),
        ("exp_m1", f64::exp_m1),
        ("ln", f64::ln),
        ("log2", f64::log2),
        ("log10", f64::log10),
        ("ln_1p", f64::ln_1p),
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("tan", f64::tan),
        ("asin", f64::asin),
        ("acos", f64::acos),
        ("atan", f64::atan),
        ("sinh", f64::sinh),
        ("cosh", f64::cosh),
        ("tanh", f64::tanh),
        ("asinh", f64::asinh),
        ("atanh", f64::atanh),
        ("abs", f64::abs),
        ("signum", f64::signum),
        ("floor", f64::floor),
        ("ceil", f64::ceil),
        ("round", f64::round),
        ("trunc", f64::trunc),
        ("fract", f64::fract),
    ];
    let mut found = 0;
    registry::unary::<f64>(|name, samples, f| {
        let Some((_, std)) = std.iter().find(|(n, _)| *n == name) else { return };
        found += 1;
        for &x in POINTS.iter().chain(samples) {
            let x = black_box(x);
            // Named exceptions: the standard library overflows below the largest float, and cancels near -1.
            let better = match name {
                "asinh" => x.abs() > 1e154 && x.is_finite(),
                "atanh" => x < 0.0,
                _ => false,
            };
            if better {
                assert!((f(x) - std(x)).abs() <= 1e-9 * f(x).abs() || std(x).is_infinite() || f(x).is_nan());
                continue;
            }
            assert!(same_bits(f(x), std(x)), "{name}({x:e}): {:e} and {:e}", f(x), std(x));
        }
    });
    assert_eq!(found, std.len());
    type F2 = fn(f64, f64) -> f64;
    let std: &[(&str, F2)] = &[
        ("powd", f64::powf),
        ("atan2", f64::atan2),
        ("hypot", f64::hypot),
        ("log_of", f64::log),
        ("copysign", f64::copysign),
        ("rem", |a, b| a % b),
        ("rem_euclid", f64::rem_euclid),
    ];
    let mut found = 0;
    registry::binary::<f64>(|name, _, f| {
        let Some((_, std)) = std.iter().find(|(n, _)| *n == name) else { return };
        found += 1;
        for &a in POINTS {
            for &b in POINTS {
                let (a, b) = (black_box(a), black_box(b));
                assert!(same_bits(f(a, b), std(a, b)), "{name}({a:e}, {b:e}): {} {}", f(a, b), std(a, b));
            }
        }
    });
    assert_eq!(found, std.len());
}

/// The named exceptions, with what they are better at.
#[test]
fn named_exceptions_are_right_where_std_is_not() {
    let at = |x: f64| Dual::<f64>::variable(black_box(x), 0);
    // acosh(1 + t) = sqrt(2t) (1 - t/12 + ...)
    assert!((at(1.0 + f64::EPSILON).acosh().value / (2.0 * f64::EPSILON).sqrt() - 1.0).abs() < 1e-15);
    assert_eq!(at(f64::MAX).asinh().value, 710.475_860_073_943_9);
    assert_eq!(at(f64::MIN).asinh().value, -710.475_860_073_943_9);
    assert_eq!(at(-0.999).atanh().value, -at(0.999).atanh().value);
    assert_eq!(at(f64::MAX).acosh().value, 710.475_860_073_943_9);
    assert_eq!(at(1.1).powi(3).value, 1.1 * (1.1 * 1.1));
    assert_eq!(Dual::<f32>::variable(3e38, 0).asinh().value, 89.289_99);
}

#[test]
fn angles_convert_like_std() {
    for x in [0.1, 33.0, -1e10, 1e300, f64::INFINITY] {
        let d = Dual::<f64, 2>::new(x, [1.0, 0.0]);
        assert!(same_bits(d.to_degrees().value, x.to_degrees()));
        assert!(same_bits(d.to_radians().value, x.to_radians()));
        assert_eq!(d.to_degrees().eps, [180.0 / std::f64::consts::PI, 0.0]);
        let s = x as f32;
        let d = Dual::<f32>::variable(s, 0);
        assert_eq!(d.to_degrees().value.to_bits(), black_box(s).to_degrees().to_bits());
        assert_eq!(d.to_radians().value.to_bits(), black_box(s).to_radians().to_bits());
    }
}

/// Powers are one multiplication chain up to 16, and never far from the correctly rounded ones.
#[test]
fn integer_powers() {
    fn by<T: Base>(x: T, n: i32) -> f64
    where
        Dual<T>: Parts,
    {
        base(Dual::<T>::variable(x, 0).powi(n))
    }
    for n in -40..=40 {
        for x in [0.3, -1.7, 1e-7, 2.0, -33.5, 1e100] {
            let (got, want) = (by(x, n), x.powf(n.into()));
            assert!(
                got == want || (got - want).abs() <= 8.0 * f64::EPSILON * want.abs(),
                "{x}^{n}: {got:e} {want:e}"
            );
        }
    }
    assert_eq!(by(1e-100, -2), 1e200);
    assert!((by(1e-60, -5) / 1e300 - 1.0).abs() < 1e-15);
    assert_eq!(by(1.0, i32::MIN), 1.0);
    assert_eq!(by(-1.0, i32::MAX), -1.0);
    assert_eq!(by(-1.0, i32::MIN), 1.0);
    assert_eq!(by(-1.0_f32, i32::MAX), -1.0);
    assert_eq!(by(-1.0_f32, 16_777_217), -1.0);
}
