//! Users' own rules: functions known by value and derivatives, and the removal of tangents.

use dualpack_core::{
    Dual, Dual2, HyperDual, Lift, Real, assert_dual_eq, detach, lift_n, lift_taylor, lift1, lift2,
};
use nalgebra::ComplexField;

use super::parts::{Parts, every_number, tangent};

/// sin by its derivatives, in any inner scalar.
fn sine<D: Lift>(x: D) -> D {
    let v = x.inner();
    lift1(x, v.sin(), v.cos(), -v.sin())
}

/// a^2 b by its derivatives.
fn cubic<D: Lift>(a: D, b: D) -> D {
    let (x, y) = (a.inner(), b.inner());
    let two = D::Inner::from_base(nalgebra::convert(2.0));
    lift2(a, b, x * x * y, [two * x * y, x * x], [two * y, two * x, num_traits::zero()])
}

fn cubic_n<D: Lift>(a: D, b: D) -> D {
    let (x, y) = (a.inner(), b.inner());
    let two = D::Inner::from_base(nalgebra::convert(2.0));
    lift_n(&[a, b], x * x * y, &[two * x * y, x * x], |i, j| match (i, j) {
        (0, 0) => two * y,
        (0, 1) => two * x,
        _ => num_traits::zero(),
    })
}

fn against_the_numbers<D: Lift + Parts>() {
    let tolerance =
        nalgebra::convert::<f64, D::Base>(32.0) * <D::Base as approx::AbsDiffEq>::default_epsilon();
    let (a, b) = (D::seeded(0.75, tangent), D::seeded(-1.25, |k| tangent(k + 3)));
    assert_dual_eq!(sine(a), ComplexField::sin(a), tolerance);
    assert_dual_eq!(cubic(a, b), a * a * b, tolerance);
    assert_dual_eq!(cubic_n(a, b), a * a * b, tolerance);
    assert_dual_eq!(cubic_n(a, a), a * a * a, tolerance);
    // Each of the 5 orders that the deepest type may need.
    let (s, c) = (a.base().sin(), a.base().cos());
    assert_dual_eq!(lift_taylor(a, &[s, c, -s, -c, s, c]), ComplexField::sin(a), tolerance);
    let plain = detach(a);
    assert!(plain.parts()[0] == 0.75 && plain.parts()[1..].iter().all(|&t| t == 0.0));
}

#[test]
fn lifted_functions_equal_the_numbers_own() {
    every_number!(against_the_numbers);
}

#[test]
fn nan_values_have_nan_parts() {
    let nan = f64::NAN;
    let x = Dual::<f64, 2>::new(1.0, [1.0, 0.0]);
    let h = HyperDual::<f64>::variable(1.0, 0, 0);
    for y in [
        lift1(x, nan, 1.0, 0.0),
        lift2(x, x, nan, [1.0, 1.0], [0.0; 3]),
        lift_n(&[x, x], nan, &[1.0, 1.0], |_, _| 0.0),
        lift_n(&[], nan, &[], |_, _| 0.0),
        lift_taylor(x, &[nan, 1.0]),
    ] {
        assert!(y.parts().iter().all(|t| t.is_nan()), "{y}");
    }
    assert!(lift_taylor(h, &[nan, 1.0, 1.0]).parts().iter().all(|t| t.is_nan()));
    assert!(lift_n(&[h], nan, &[1.0], |_, _| 1.0).parts().iter().all(|t| t.is_nan()));
}

/// An infinite derivative meets zero tangents: they stay zero, and the value stays a number.
#[test]
fn infinite_derivatives() {
    let inf = f64::INFINITY;
    let x = Dual::<f64, 2>::new(0.0, [1.0, 0.0]);
    for y in [
        lift1(x, 0.0, inf, -inf),
        lift2(x, Dual::constant(0.0), 0.0, [inf, -inf], [0.0; 3]),
        lift_n(&[x, Dual::constant(0.0)], 0.0, &[inf, -inf], |_, _| 0.0),
        lift_taylor(x, &[0.0, inf]),
    ] {
        assert_dual_eq!(y, Dual::new(0.0, [inf, 0.0]));
    }
    let h = HyperDual::<f64, 1, 1>::new(0.0, [1.0], [0.0], [[0.0]]);
    assert_dual_eq!(lift_taylor(h, &[0.0, inf, -inf]), HyperDual::new(0.0, [inf], [0.0], [[0.0]]));
    assert_dual_eq!(lift1(h, 0.0, inf, -inf), HyperDual::new(0.0, [inf], [0.0], [[0.0]]));
}

/// At an infinite argument value and derivatives are the given ones, in every type.
#[test]
fn infinite_arguments() {
    for x in [f64::INFINITY, f64::NEG_INFINITY] {
        assert_dual_eq!(lift_taylor(Dual::new(x, [2.0, 0.0]), &[1.0, 3.0]), Dual::new(1.0, [6.0, 0.0]));
        let h = lift_taylor(HyperDual::<f64>::new(x, [2.0], [5.0], [[7.0]]), &[1.0, 3.0, 4.0]);
        assert_dual_eq!(h, HyperDual::new(1.0, [6.0], [15.0], [[61.0]]));
        let d = lift_taylor(Dual2::<f64>::new(x, [2.0], [[7.0]]), &[1.0, 3.0, 4.0]);
        assert_dual_eq!(d, Dual2::new(1.0, [6.0], [[37.0]]));
        let n = Dual::<Dual<f64>>::new(Dual::new(x, [2.0]), [Dual::new(5.0, [7.0])]);
        let want = Dual::new(Dual::new(1.0, [6.0]), [Dual::new(15.0, [61.0])]);
        assert_dual_eq!(lift_taylor(n, &[1.0, 3.0, 4.0]), want);
        assert_dual_eq!(lift_taylor(x, &[1.0]), 1.0);
    }
    #[cfg(feature = "num-dual")]
    {
        let y = lift_taylor(num_dual::Dual::new(f64::INFINITY, 2.0), &[1.0, 3.0]);
        assert_eq!((y.re, y.eps), (1.0, 6.0));
    }
}

/// A table or an iteration in the user's code: the root of y^3 + y = x, with derivatives by the implicit function.
#[test]
fn an_iteration_as_a_function() {
    fn root<D: Lift<Inner = f64>>(x: D) -> D {
        let v = x.inner();
        let mut y = 0.5_f64;
        for _ in 0..60 {
            y -= (y * y * y + y - v) / (3.0 * y * y + 1.0);
        }
        let slope = 1.0 / (3.0 * y * y + 1.0);
        lift1(x, y, slope, -6.0 * y * slope.powi(3))
    }
    let y = root(HyperDual::<f64>::variable(2.0, 0, 0));
    assert_eq!((y.value, y.eps1[0], y.eps12[0][0]), (1.0, 0.25, -6.0 / 64.0));
    let back = y * y * y + y;
    assert_dual_eq!(back, HyperDual::variable(2.0, 0, 0) + HyperDual::constant(0.0), 1e-15);
}

#[test]
#[should_panic(expected = "2 arguments but 1 first derivatives")]
fn lift_n_names_the_lengths() {
    lift_n(&[Dual::<f64>::constant(1.0); 2], 1.0, &[1.0], |_, _| 0.0);
}

#[test]
#[should_panic(expected = "derivatives up to order 2, but only 2 were given")]
fn lift_taylor_names_the_order() {
    lift_taylor(Dual2::<f64, 2>::constant(1.0), &[1.0, 1.0]);
}

#[test]
fn detached_factors_are_constants() {
    let x = Dual::<Dual<f64>>::variable(Dual::variable(3.0, 0), 0);
    let y = x * detach(x);
    assert_eq!((y.value.value, y.value.eps[0], y.eps[0].value, y.eps[0].eps[0]), (9.0, 3.0, 3.0, 0.0));
}
