//! Laws 6 and 8 over every row of the tables: NaN values have NaN parts, zero tangents are strong in functions.

use dualpack_core::registry;
use dualpack_core::{Dual, Dual2, HyperDual};

use super::parts::{POINTS, Parts, every_number, tangent};

fn nan_values_have_nan_parts<T: Parts>() {
    let all_nan = |name: &str, at: &[f64], y: T| {
        let parts = y.parts();
        if parts[0].is_nan() {
            assert!(parts.iter().all(|t| t.is_nan()), "{name}({at:?}) = {parts:?}");
        }
    };
    registry::unary::<T>(|name, _, f| {
        for &x in POINTS {
            all_nan(name, &[x], f(T::seeded(x, tangent)));
            all_nan(name, &[x], f(T::fixed(x)));
        }
    });
    registry::binary::<T>(|name, _, f| {
        for &a in POINTS {
            for &b in POINTS {
                all_nan(name, &[a, b], f(T::seeded(a, tangent), T::seeded(b, |k| tangent(k + 3))));
                all_nan(name, &[a, b], f(T::fixed(a), T::seeded(b, tangent)));
                all_nan(name, &[a, b], f(T::fixed(a), T::fixed(b)));
            }
        }
    });
    for &a in POINTS {
        let x = T::seeded(a, tangent);
        all_nan("sin_cos", &[a], x.sin_cos().0);
        all_nan("sinh_cosh", &[a], x.sinh_cosh().1);
        all_nan("powi", &[a], x.powi(-3));
        for &b in POINTS {
            let y = T::seeded(b, tangent);
            all_nan("clamp", &[a, b], x.clamp(-y, y));
            all_nan("mul_add", &[a, b], x.mul_add(y, x));
            all_nan("div", &[a, b], x / y);
            all_nan("log", &[a, b], x.log(y));
            all_nan("powf", &[a, b], x.powf(y));
        }
    }
}

#[test]
fn a_nan_value_has_nan_in_every_part() {
    every_number!(nan_values_have_nan_parts);
}

/// Where the value is not NaN, a constant stays a constant, however infinite the derivative is.
fn constants_stay_constant<T: Parts>() {
    let constant = |name: &str, at: &[f64], y: T| {
        let parts = y.parts();
        assert!(
            parts[0].is_nan() || parts[1..].iter().all(|&t| t == 0.0),
            "{name}({at:?}) of constants = {parts:?}"
        );
    };
    registry::unary::<T>(|name, samples, f| {
        for &x in POINTS.iter().chain(samples) {
            constant(name, &[x], f(T::fixed(x)));
        }
    });
    registry::binary::<T>(|name, _, f| {
        for &a in POINTS {
            for &b in POINTS {
                constant(name, &[a, b], f(T::fixed(a), T::fixed(b)));
            }
        }
    });
    for &x in POINTS {
        for n in [-3, -2, -1, 0, 1, 2, 3, 50, -50, i32::MAX, i32::MIN] {
            constant(&format!("powi {n}"), &[x], T::fixed(x).powi(n));
        }
        constant("sin_cos", &[x], T::fixed(x).sin_cos().1);
        constant("sinh_cosh", &[x], T::fixed(x).sinh_cosh().0);
    }
}

#[test]
fn functions_of_constants_are_constants() {
    every_number!(constants_stay_constant);
}

/// The outer tangent zero in all nested parts, the inner one not: the outer tangent of the result is zero.
#[test]
fn zero_outer_tangents_stay_zero_beside_inner_ones() {
    type N = Dual<Dual<f64, 2>, 3>;
    type H = HyperDual<Dual<f64>, 1, 2>;
    fn lane_is_zero(t: &[f64]) -> bool {
        t.iter().all(|&t| t == 0.0)
    }
    let x = |v: f64| N::new(Dual::new(v, [1.5, -2.0]), [Dual::constant(0.0); 3]);
    let h = |v: f64| {
        H::new(Dual::new(v, [1.5]), [0.0.into()], [Dual::new(0.5, [2.0]), 0.0.into()], [[0.0.into(); 2]])
    };
    registry::unary::<N>(|name, _, f| {
        for &v in POINTS {
            let y = f(x(v));
            let silent = y.eps.iter().all(|t| lane_is_zero(&t.parts()));
            assert!(y.is_nan() || silent, "{name}({v:e}) = {y}");
        }
    });
    registry::unary::<H>(|name, _, f| {
        for &v in POINTS {
            let y = f(h(v));
            let silent = [y.eps1[0], y.eps2[1], y.eps12[0][0], y.eps12[0][1]];
            assert!(y.is_nan() || silent.iter().all(|t| lane_is_zero(&t.parts())), "{name}({v:e}) = {y}");
        }
    });
    registry::binary::<N>(|name, _, f| {
        for &a in POINTS {
            for &b in POINTS {
                let y = f(x(a), x(b));
                let silent = y.eps.iter().all(|t| lane_is_zero(&t.parts()));
                assert!(y.is_nan() || silent, "{name}({a:e}, {b:e}) = {y}");
            }
        }
    });
}

/// One lane zero among others: it alone stays zero. A NaN in one lane stays in its lane.
#[test]
fn lanes_do_not_talk_to_each_other() {
    registry::unary::<Dual<f64, 3>>(|name, samples, f| {
        for &x in POINTS.iter().chain(samples) {
            let y = f(Dual::new(x, [1.0, 0.0, f64::NAN]));
            let alone = f(Dual::new(x, [1.0, 1.0, 1.0]));
            if y.value.is_nan() {
                continue;
            }
            assert_eq!(y.eps[1], 0.0, "{name}({x:e})");
            assert!(y.eps[2].is_nan(), "{name}({x:e}) swallowed a NaN: {y}");
            assert!(
                y.eps[0] == alone.eps[0] || (y.eps[0].is_nan() && alone.eps[0].is_nan()),
                "{name}({x:e})"
            );
        }
    });
}

/// The singular points of all functions: the one-sided limit for a tangent that is not zero.
#[test]
fn slopes_at_singular_points_are_infinite() {
    type F = (&'static str, f64, f64, f64);
    const INF: f64 = f64::INFINITY;
    // name, point, f', f'' (f'' as the limit inside the domain; NaN: not asked for)
    let table: &[F] = &[
        ("sqrt", 0.0, INF, -INF),
        ("cbrt", 0.0, INF, f64::NAN),
        ("ln", 0.0, INF, -INF),
        ("log2", 0.0, INF, -INF),
        ("log10", 0.0, INF, -INF),
        ("ln_1p", -1.0, INF, -INF),
        ("asin", 1.0, INF, INF),
        ("asin", -1.0, INF, -INF),
        ("acos", 1.0, -INF, -INF),
        ("acos", -1.0, -INF, INF),
        ("acosh", 1.0, INF, -INF),
        ("atanh", 1.0, INF, INF),
        ("atanh", -1.0, INF, -INF),
        ("recip", 0.0, -INF, INF),
    ];
    let mut found = 0;
    for row in registry::UNARY.iter().copied().flatten() {
        for &(_, x, first, second) in table.iter().filter(|t| t.0 == row.name) {
            found += 1;
            let name = row.name;
            assert_eq!((row.dual)(Dual::new(x, [2.0])).eps[0], first, "{name}'({x})");
            assert_eq!((row.dual)(Dual::new(x, [-2.0])).eps[0], -first, "{name}'({x}), the other direction");
            assert_eq!((row.dual)(Dual::new(x, [0.0])).eps[0], 0.0, "{name}({x}) of a constant");
            if !second.is_nan() {
                let h = (row.hyper)(HyperDual::variable(x, 0, 0));
                assert_eq!(h.eps12[0][0], second, "{name}''({x})");
                assert_eq!((row.dual2)(Dual2::variable(x, 0)).hess[0][0], second, "{name}''({x})");
                // One of the two directions zero: no curvature.
                let h = (row.hyper)(HyperDual::new(x, [1.0], [0.0], [[0.0]]));
                assert_eq!((h.eps1[0], h.eps2[0], h.eps12[0][0]), (first, 0.0, 0.0), "{name}({x})");
            }
            let nested = (row.nested)(Dual::new(Dual::new(x, [1.0]), [Dual::new(1.0, [0.0])]));
            assert_eq!((nested.value.eps[0], nested.eps[0].value), (first, first), "{name}({x}), nested");
            assert!(
                second.is_nan() || nested.eps[0].eps[0].is_nan() || nested.eps[0].eps[0] == second,
                "{name}''({x}), nested: {nested}"
            );
        }
    }
    assert_eq!(found, table.len());
}

/// Infinities, where functions are flat or steep.
#[test]
fn derivatives_at_infinity_are_their_limits() {
    const INF: f64 = f64::INFINITY;
    let flat: &[(&str, &[f64])] = &[
        ("sqrt", &[INF]),
        ("cbrt", &[INF, -INF]),
        ("ln", &[INF]),
        ("log2", &[INF]),
        ("log10", &[INF]),
        ("ln_1p", &[INF]),
        ("atan", &[INF, -INF]),
        ("tanh", &[INF, -INF]),
        ("asinh", &[INF, -INF]),
        ("acosh", &[INF]),
        ("recip", &[INF, -INF]),
        ("exp", &[-INF]),
        ("exp2", &[-INF]),
        ("exp_m1", &[-INF]),
        ("logistic", &[INF, -INF]),
    ];
    let mut found = 0;
    for row in registry::UNARY.iter().copied().flatten() {
        for &(name, at) in flat.iter().filter(|t| t.0 == row.name) {
            found += 1;
            for &x in at {
                let h = (row.hyper)(HyperDual::variable(x, 0, 0));
                assert_eq!((h.eps1[0], h.eps12[0][0]), (0.0, 0.0), "{name} at {x}");
            }
        }
    }
    assert_eq!(found, flat.len());
    let h = HyperDual::<f64>::variable(INF, 0, 0).exp();
    assert_eq!((h.eps1[0], h.eps12[0][0]), (INF, INF));
}

/// The operators are IEEE arithmetic in every part: nothing is skipped and nothing is strong.
#[test]
fn operators_follow_ieee() {
    const INF: f64 = f64::INFINITY;
    let d = |value: f64, t: f64| Dual::<f64>::new(value, [t]);
    let c = |value: f64| Dual::<f64>::constant(value);
    assert!((d(INF, 0.0) * d(1.0, 0.0)).eps[0].is_nan(), "inf * 0 in the product rule");
    assert_eq!((c(1.0) / c(0.0)).value, INF);
    assert!((c(1.0) / c(0.0)).eps[0].is_nan());
    assert!(c(0.0).recip().eps[0] == 0.0, "the function, in contrast, has strong zeros");
    assert_eq!((d(INF, 1.0) - d(INF, 3.0)).eps[0], -2.0, "sums work part by part");
    assert!((d(INF, 1.0) - d(INF, 3.0)).value.is_nan());
    assert_eq!((d(0.0, 2.0) * d(0.0, 3.0)).eps, [0.0]);
    // x = 0 does not stop a product, a sum or a quotient.
    assert_eq!((d(0.0, 2.0) * d(5.0, 0.0)).eps, [10.0]);
    assert_eq!((d(0.0, 2.0) / d(4.0, 0.0)).eps, [0.5]);
}

/// Both arguments zero: constants stay constants, a direction has no derivative there.
#[test]
fn the_origin_of_the_plane() {
    let (v, c) = (Dual::<f64>::variable(0.0, 0), Dual::constant(0.0));
    for (name, y) in
        [("hypot", v.hypot(c)), ("hypot", c.hypot(v)), ("atan2", v.atan2(c)), ("atan2", c.atan2(v))]
    {
        assert_eq!(y.value, 0.0, "{name}");
        assert!(y.eps[0].is_nan(), "{name} is not differentiable at the origin: {y}");
    }
    assert_eq!((c.hypot(c).eps, c.atan2(c).eps), ([0.0], [0.0]));
    // On the axes both are smooth.
    let one = Dual::<f64>::constant(1.0);
    assert_eq!(v.atan2(one).eps, [1.0]);
    assert_eq!(one.atan2(v).eps, [-1.0]);
    assert_eq!(Dual::<f64>::variable(1.0, 0).atan2(c).eps, [0.0]);
    assert_eq!(v.hypot(one).eps, [0.0]);
    assert_eq!(Dual::<f64>::variable(-1.0, 0).hypot(c).eps, [-1.0]);
}
