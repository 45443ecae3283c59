//! The traits of simba and nalgebra: every default body that would lose a tangent is overridden, conversions do not panic.

use dualpack_core::{Dual, Dual2, HyperDual, Real, assert_dual_eq};
use nalgebra::{ComplexField, DMatrix, RealField, SimdValue, try_convert};
use num_traits::{One, Signed, Zero};
use simba::scalar::{SubsetOf, SupersetOf};

use super::parts::{POINTS, Parts, every_number, tangent};

type D1 = Dual<f64>;
type D3 = Dual<Dual<Dual<f64>>>;

fn third(x: f64) -> D3 {
    D3::variable(Dual::variable(Dual::variable(x, 0), 0), 0)
}

/// [f, f', f'', f''']
fn orders(y: D3) -> [f64; 4] {
    [y.value.value.value, y.value.value.eps[0], y.value.eps[0].eps[0], y.eps[0].eps[0].eps[0]]
}

#[track_caller]
fn near(got: [f64; 4], want: [f64; 4]) {
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= 1e-15 * (1.0 + want.abs()), "{got} {want}");
    }
}

/// Called through the trait, as nalgebra does.
#[test]
fn cardinal_functions_keep_all_derivatives_at_zero() {
    near(orders(ComplexField::sinc(third(0.0))), [1.0, 0.0, -1.0 / 3.0, 0.0]);
    near(orders(ComplexField::sinhc(third(0.0))), [1.0, 0.0, 1.0 / 3.0, 0.0]);
    near(orders(ComplexField::sinc(third(1e-160))), [1.0, 0.0, -1.0 / 3.0, 0.0]);
    // Near zero, cos(x)/x = 1/x - x/2 + ...
    let y = orders(ComplexField::cosc(third(0.125)));
    assert!((y[1] / -(0.125_f64.sin() / 0.125 + 0.125_f64.cos() / 0.015625) - 1.0).abs() < 1e-14, "{y:?}");
    let y = orders(ComplexField::coshc(third(0.125)));
    assert!((y[1] / (0.125_f64.sinh() / 0.125 - 0.125_f64.cosh() / 0.015625) - 1.0).abs() < 1e-14, "{y:?}");
}

/// (modulus, sign): the product is the number in every part, also at value 0.
fn exponential_form<T: Parts>() {
    for &x in POINTS.iter().filter(|x| !x.is_nan()) {
        let x = T::seeded(x, tangent);
        let (modulus, sign) = ComplexField::to_exp(x);
        assert!(modulus.base() >= T::zero().base());
        assert_dual_eq!(if sign > T::zero() { modulus } else { -modulus }, x);
        assert!(sign.parts()[1..].iter().all(|&t| t == 0.0), "{sign}");
        assert_eq!(sign.parts()[0].abs(), 1.0);
    }
}

#[test]
fn to_exp_loses_nothing_at_zero() {
    every_number!(exponential_form);
}

#[test]
fn other_overridden_bodies() {
    let x = Dual::<f64>::new(-0.0, [2.0]);
    assert_dual_eq!(ComplexField::signum(x), Dual::constant(-1.0));
    assert_dual_eq!(ComplexField::to_polar(Dual::<f64>::new(-3.0, [2.0])).0, Dual::new(3.0, [-2.0]));
    assert_dual_eq!(
        ComplexField::to_polar(Dual::<f64>::new(-3.0, [2.0])).1,
        Dual::constant(std::f64::consts::PI)
    );
    let (s, c) = ComplexField::sinh_cosh(Dual::<f64>::variable(0.0, 0));
    assert_eq!((s.eps[0], c.eps[0]), (1.0, 0.0));
    let (s, c) = ComplexField::sin_cos(Dual::<f64>::variable(0.0, 0));
    assert_eq!((s.eps[0], c.eps[0]), (1.0, 0.0));
    // try_sqrt says None exactly where f64 does.
    for &x in POINTS {
        assert_eq!(
            ComplexField::try_sqrt(Dual::<f64>::variable(x, 0)).is_some(),
            ComplexField::try_sqrt(x).is_some()
        );
    }
    assert_eq!(ComplexField::try_sqrt(Dual::<f64>::constant(0.0)).map(|y| y.eps), Some([0.0]));
    assert_eq!(ComplexField::try_sqrt(Dual::<f64>::variable(0.0, 0)).map(|y| y.eps), Some([f64::INFINITY]));
}

/// Everything of the two traits that a program may call, against the same of f64.
#[test]
fn nothing_panics_and_values_are_those_of_f64() {
    for &x in POINTS {
        let d = Dual::<f64, 2>::new(x, [1.5, -2.5]);
        let pairs: Vec<(Dual<f64, 2>, f64)> = vec![
            (ComplexField::floor(d), ComplexField::floor(x)),
            (ComplexField::ceil(d), ComplexField::ceil(x)),
            (ComplexField::round(d), ComplexField::round(x)),
            (ComplexField::trunc(d), ComplexField::trunc(x)),
            (ComplexField::fract(d), ComplexField::fract(x)),
            (ComplexField::powi(d, 3), x * x * x),
            (ComplexField::powf(d, Dual::constant(2.0)), ComplexField::powf(x, 2.0)),
            (ComplexField::powc(d, Dual::constant(2.0)), ComplexField::powf(x, 2.0)),
            (ComplexField::log(d, Dual::constant(3.0)), ComplexField::log(x, 3.0)),
            (ComplexField::modulus(d), ComplexField::modulus(x)),
            (ComplexField::norm1(d), ComplexField::norm1(x)),
            (ComplexField::real(d), x),
            (ComplexField::imaginary(d), 0.0),
            (ComplexField::conjugate(d), x),
            (ComplexField::scale(d, d), x * x),
            (ComplexField::unscale(d, d), x / x),
            (RealField::copysign(d, Dual::constant(-1.0)), RealField::copysign(x, -1.0)),
            (RealField::atan2(d, Dual::constant(0.5)), RealField::atan2(x, 0.5)),
            (RealField::clamp(d, Dual::constant(-1.0), Dual::constant(1.0)), RealField::clamp(x, -1.0, 1.0)),
            (Signed::abs(&d), Signed::abs(&x)),
            (Signed::abs_sub(&d, &Dual::one()), if x <= 1.0 { 0.0 } else { x - 1.0 }),
            (d % Dual::constant(0.75), x % 0.75),
        ];
        for (k, (got, want)) in pairs.into_iter().enumerate() {
            assert!(
                got.value == want || (got.value.is_nan() && want.is_nan()),
                "call {k} at {x}: {got} {want}"
            );
        }
        assert_eq!(d.is_finite(), x.is_finite());
        assert_eq!(ComplexField::is_finite(&d), x.is_finite());
        assert_eq!(RealField::is_sign_negative(&d), x.is_sign_negative());
        assert_eq!(RealField::is_sign_positive(&d), x.is_sign_positive());
    }
    assert_eq!(<D1 as RealField>::max_value().map(|m| m.value), Some(f64::MAX));
    assert_eq!(<D1 as RealField>::min_value().map(|m| m.value), Some(f64::MIN));
}

#[test]
fn constants_are_constants() {
    macro_rules! check {
        ($($name:ident)*) => { $(
            let c = <Dual<Dual2<f64, 2>, 3> as RealField>::$name();
            assert_eq!(c.base().to_bits(), <f64 as RealField>::$name().to_bits(), stringify!($name));
            assert!(c.parts()[1..].iter().all(|&t| t == 0.0));
        )* };
    }
    check!(pi two_pi frac_pi_2 frac_pi_3 frac_pi_4 frac_pi_6 frac_pi_8 frac_1_pi frac_2_pi frac_2_sqrt_pi e log2_e
        log10_e ln_2 ln_10);
}

fn conversions<T: Parts + SupersetOf<f64> + SupersetOf<f32> + SubsetOf<T>>() {
    for &x in POINTS {
        let d = T::seeded(x, tangent);
        assert!(SupersetOf::<f64>::is_in_subset(&d) && SupersetOf::<f32>::is_in_subset(&d));
        let back: f64 = try_convert(d).expect("never None");
        assert!(back == d.parts()[0] || back.is_nan());
        let _: f32 = try_convert(d).expect("never None");
        let lifted: T = nalgebra::convert(x);
        assert!(lifted.parts()[0] == d.parts()[0] || x.is_nan());
        assert!(lifted.parts()[1..].iter().all(|&t| t == 0.0));
        let same: T = try_convert(d).expect("a number is a subset of itself");
        assert!(same.same(d));
    }
    assert!(T::from_i64(-3).is_some_and(|x| x == T::fixed(-3.0)));
    assert!(T::from_u64(3).is_some_and(|x| x == T::fixed(3.0)));
    assert!(T::from_f64(0.5).is_some_and(|x| x == T::fixed(0.5)));
    assert!(T::from_f32(0.5).is_some_and(|x| x == T::fixed(0.5)));
    assert!(T::from_str_radix("1.5", 10).is_ok_and(|x| x == T::fixed(1.5)));
    assert!(T::from_str_radix("one", 10).is_err());
    assert!(<T as Zero>::zero().is_zero() && !T::fixed(1.0).is_zero());
    // is_zero is about the value, as every comparison.
    assert!(T::seeded(0.0, tangent).is_zero());
}

#[test]
fn conversions_never_panic() {
    every_number!(conversions);
}

#[test]
fn casts_lift_one_level() {
    let a = DMatrix::from_fn(2, 3, |i, j| Dual::<f64, 2>::new(i as f64, [j as f64, 1.0]));
    let lifted = a.clone().cast::<Dual<Dual<f64, 2>, 3>>();
    assert_dual_eq!(lifted[(1, 2)].value, a[(1, 2)]);
    assert_dual_eq!(lifted[(1, 2)].eps[1], Dual::constant(0.0));
    let _ = a.clone().cast::<HyperDual<Dual<f64, 2>, 1, 2>>();
    let _ = a.cast::<Dual2<Dual<f64, 2>, 2>>();
    let plain = DMatrix::from_element(2, 2, 1.5_f64).cast::<Dual<Dual<f64, 2>, 3>>();
    assert_dual_eq!(plain[(0, 0)], Dual::from_base(1.5));
    let single = DMatrix::from_element(2, 2, 1.5_f32).cast::<Dual<f32, 2>>();
    assert_dual_eq!(single[(0, 0)], Dual::from_base(1.5));
}

/// One "SIMD lane" in simba's sense: a number is its own element.
#[test]
fn simd_value_is_trivial() {
    let (a, b) = (Dual::<f64, 2>::new(1.0, [2.0, 3.0]), Dual::new(-1.0, [5.0, 6.0]));
    assert_eq!(<Dual<f64, 2> as SimdValue>::LANES, 1);
    assert_dual_eq!(SimdValue::splat(a), a);
    assert_dual_eq!(a.extract(0), a);
    assert_dual_eq!(a.select(true, b), a);
    assert_dual_eq!(a.select(false, b), b);
    let mut c = a;
    c.replace(0, b);
    assert_dual_eq!(c, b);
}

#[test]
fn numbers_print_for_people() {
    assert_eq!(Dual::<f64, 2>::new(1.5, [2.0, -3.0]).to_string(), "1.5 + [2, -3]ε");
    assert_eq!(format!("{:.2}", Dual::<f64>::new(1.0 / 3.0, [2.0])), "0.33 + [2.00]ε");
    let nested = Dual::<Dual<f64>>::new(Dual::new(1.0, [2.0]), [Dual::new(3.0, [4.0])]);
    assert_eq!(nested.to_string(), "(1 + [2]ε) + [3 + [4]ε]ε");
    let h = HyperDual::<f64, 1, 2>::new(1.0, [2.0], [3.0, 4.0], [[5.0, 6.0]]);
    assert_eq!(h.to_string(), "1 + [2]ε1 + [3, 4]ε2 + [5, 6]ε1ε2");
    let s = Dual2::<f64, 2>::new(1.0, [2.0, 3.0], [[4.0, 5.0], [f64::NAN, 6.0]]);
    assert_eq!(s.to_string(), "1 + [2, 3]ε + [4, 5; 5, 6]ε²/2");
    let tiny = Dual::<f64, 2>::new(1e200, [-2.5e-300, 0.0]);
    assert_eq!(format!("{tiny:e}"), "1e200 + [-2.5e-300, 0e0]ε");
    let nested = Dual::<Dual<f32>>::new(Dual::new(1e-9, [2.0]), [Dual::new(3.0, [4.0])]);
    assert_eq!(format!("{nested:.1e}"), "(1.0e-9 + [2.0e0]ε) + [3.0e0 + [4.0e0]ε]ε");
    assert!(format!("{:?}", Dual::<f64>::new(1.0, [2.0])).contains("eps: [2.0]"));
}
