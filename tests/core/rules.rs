//! Every row of the function tables: value bits, first derivative against differences of the value, second and third
//! against the column below them.

use std::hint::black_box;

use dualpack_core::registry::{BINARY, D1, D2, D3, H, S, UNARY};
use dualpack_core::{Dual, Dual2, HyperDual};

/// Central difference with two Richardson steps and its error estimate: the best of three steps.
fn difference(f: impl Fn(f64) -> f64, x: f64) -> (f64, f64) {
    let size = if x == 0.0 { 0.05 } else { x.abs() };
    let with_step = |h: f64| {
        let d = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
        let (d1, d2, d3) = (d(h), d(h / 2.0), d(h / 4.0));
        let (r1, r2) = ((4.0 * d2 - d1) / 3.0, (4.0 * d3 - d2) / 3.0);
        let r = (16.0 * r2 - r1) / 15.0;
        (r, (r - r2).abs() + 1e-15 * f(x).abs() / (h / 4.0) + 1e-15 * r.abs() + 1e-300)
    };
    [size, size.min(1.0), size.min(1.0) / 64.0]
        .map(|s| with_step(s / 128.0))
        .into_iter()
        .filter(|(_, error)| !error.is_nan())
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .expect("the function is finite around its sample points")
}

#[track_caller]
fn assert_near(name: &str, what: &str, x: f64, got: f64, (want, tolerance): (f64, f64)) {
    assert!(
        (got - want).abs() <= 10.0 * tolerance,
        "{name}({x}): {what} is {got:e}, differences give {want:e} +- {tolerance:e}"
    );
}

#[test]
fn unary_values_are_the_float_function_bit_for_bit() {
    for row in UNARY.iter().copied().flatten() {
        for &x in row.samples {
            let x = black_box(x);
            let want = (row.f64)(x).to_bits();
            assert_eq!((row.dual)(D1::variable(x, 0)).value.to_bits(), want, "{} Dual at {x}", row.name);
            assert_eq!(
                (row.hyper)(H::variable(x, 0, 0)).value.to_bits(),
                want,
                "{} HyperDual at {x}",
                row.name
            );
            assert_eq!((row.dual2)(S::variable(x, 0)).value.to_bits(), want, "{} Dual2 at {x}", row.name);
            let nested = (row.nested)(D2::variable(D1::variable(x, 0), 0));
            assert_eq!(nested.value.value.to_bits(), want, "{} nested at {x}", row.name);
        }
    }
}

#[test]
fn unary_first_derivatives_match_differences_of_the_value() {
    for row in UNARY.iter().copied().flatten() {
        assert!(!row.samples.is_empty(), "{} has no sample points", row.name);
        for &x in row.samples {
            let d = (row.dual)(Dual::new(x, [1.0])).eps[0];
            assert_near(row.name, "f'", x, d, difference(row.f64, x));
        }
    }
}

#[test]
fn unary_second_and_third_derivatives_match_differences_of_the_one_below() {
    for row in UNARY.iter().copied().flatten() {
        for &x in row.samples {
            let first = |x: f64| (row.dual)(D1::variable(x, 0)).eps[0];
            let hyper = |x: f64| (row.hyper)(HyperDual::variable(x, 0, 0)).eps12[0][0];
            assert_near(row.name, "f''", x, hyper(x), difference(first, x));
            let symmetric = (row.dual2)(Dual2::variable(x, 0)).hess[0][0];
            let nested = (row.nested)(D2::variable(D1::variable(x, 0), 0)).eps[0].eps[0];
            let scale = hyper(x).abs().max(1e-300);
            assert!((symmetric - hyper(x)).abs() <= 1e-14 * scale, "{} Dual2 f''({x})", row.name);
            assert!(
                (nested - hyper(x)).abs() <= 1e-11 * scale.max(first(x).abs()),
                "{} nested f''({x}) = {nested}, hyper-dual {}",
                row.name,
                hyper(x)
            );
            let triple =
                (row.triple)(D3::variable(D2::variable(D1::variable(x, 0), 0), 0)).eps[0].eps[0].eps[0];
            assert_near(row.name, "f'''", x, triple, difference(hyper, x));
        }
    }
}

#[test]
fn unary_rules_hold_in_single_precision() {
    for row in UNARY.iter().copied().flatten() {
        for &x in row.samples {
            let (got, want) = ((row.f32)(x as f32), (row.f64)(f64::from(x as f32)));
            if want.abs() < 1e30 && want.abs() > 1e-30 {
                assert!(
                    (f64::from(got) - want).abs() <= 2e-6 * want.abs(),
                    "{} in f32 at {x}: {got} {want}",
                    row.name
                );
            }
        }
    }
}

#[test]
fn binary_rules_match_differences_in_both_arguments() {
    for row in BINARY.iter().copied().flatten() {
        assert!(!row.samples.is_empty(), "{} has no sample points", row.name);
        for &(a, b) in row.samples {
            let want = (row.f64)(black_box(a), black_box(b)).to_bits();
            assert_eq!((row.dual)(a.into(), b.into()).value.to_bits(), want, "{} at {a}, {b}", row.name);
            let da = |a: f64, b: f64| (row.dual)(D1::variable(a, 0), b.into()).eps[0];
            let db = |a: f64, b: f64| (row.dual)(a.into(), D1::variable(b, 0)).eps[0];
            assert_near(row.name, "f_a", a, da(a, b), difference(|a| (row.f64)(a, b), a));
            assert_near(row.name, "f_b", b, db(a, b), difference(|b| (row.f64)(a, b), b));
            let (av, bv) = (H::variable(a, 0, 0), H::variable(b, 0, 0));
            let aa = (row.hyper)(av, b.into()).eps12[0][0];
            let bb = (row.hyper)(a.into(), bv).eps12[0][0];
            let mixed = H::new(a, [1.0], [0.0], [[0.0]]);
            let ab = (row.hyper)(mixed, H::new(b, [0.0], [1.0], [[0.0]])).eps12[0][0];
            assert_near(row.name, "f_aa", a, aa, difference(|a| da(a, b), a));
            assert_near(row.name, "f_bb", b, bb, difference(|b| db(a, b), b));
            assert_near(row.name, "f_ab", b, ab, difference(|b| da(a, b), b));
            // All second-order parts at once, and the other two forms.
            let all = (row.hyper)(av, bv).eps12[0][0];
            let scale = aa.abs() + bb.abs() + 2.0 * ab.abs();
            assert!((all - (aa + bb + 2.0 * ab)).abs() <= 1e-13 * scale.max(1e-300), "{}", row.name);
            let symmetric = (row.dual2)(S::variable(a, 0), S::variable(b, 0)).hess[0][0];
            assert!((all - symmetric).abs() <= 1e-13 * scale.max(1e-300), "{}: {all} {symmetric}", row.name);
            let nest = |x: f64| D2::variable(D1::variable(x, 0), 0);
            let nested = (row.nested)(nest(a), nest(b)).eps[0].eps[0];
            assert!((all - nested).abs() <= 1e-11 * scale.max(1e-300), "{}: {all} {nested}", row.name);
        }
    }
}

#[test]
fn values_where_the_standard_library_loses_them() {
    // References from 9000-bit arithmetic. std gives -18.368, -9.55691395419 and -inf.
    for (got, want) in [
        (Dual::<f64>::from(-0.9999999999999999).atanh().value, -18.714973875118524),
        (Dual::<f64>::from(-0.99999999).atanh().value, -9.556913957243776),
        (Dual::<f64>::from(-f64::MAX).asinh().value, -710.475860073944),
        (Dual::<f64>::from(1.0 + f64::EPSILON).acosh().value, 2.1073424255447017e-8),
    ] {
        assert!((got - want).abs() <= 4e-16 * want.abs(), "{got} is not {want}");
    }
}
