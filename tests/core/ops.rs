//! Operators: every form of operand, sums and products, complex numbers over duals.

// What clippy takes for slips is what is tested: `a - a`, and `!(x < s)` beside `x > s`.
#![allow(clippy::eq_op, clippy::neg_cmp_op_on_partial_ord)]

use dualpack_core::{Dual, Dual2, HyperDual, Real, Real64, assert_dual_eq};
use nalgebra::{Complex, ComplexField, DMatrix, dmatrix};

use super::parts::{Parts, every_number, tangent};
use crate::support::compare::same_bits;

#[track_caller]
fn same<T: Parts>(a: T, b: T, what: &str) {
    let (a, b) = (a.parts(), b.parts());
    assert!(a.iter().zip(&b).all(|(x, y)| same_bits(*x, *y)), "{what}: {a:?} {b:?}");
}

/// Owned, borrowed on either side, and assigning forms are one operation.
macro_rules! forms {
    ($T:ty) => {{
        let (a, b) = (<$T>::seeded(1.75, tangent), <$T>::seeded(-0.5, |k| tangent(k + 2)));
        macro_rules! check {
            ($op:tt, $assign:tt) => {{
                let want = a $op b;
                same(&a $op b, want, stringify!(&a $op b));
                same(a $op &b, want, stringify!(a $op &b));
                same(&a $op &b, want, stringify!(&a $op &b));
                let mut c = a;
                c $assign b;
                same(c, want, stringify!($assign));
                let mut c = a;
                c $assign &b;
                same(c, want, stringify!($assign &));
            }};
        }
        check!(+, +=);
        check!(-, -=);
        check!(*, *=);
        check!(/, /=);
        check!(%, %=);
        same(-&a, -a, "neg");
    }};
}

/// A plain float on either side is the constant: the same value and, up to the sign of zero and one rounding in the
/// quotient, the same tangents.
macro_rules! mixed {
    ($T:ty, $F:ty) => {{
        let (x, s): ($T, $F) = (<$T>::seeded(1.75, tangent), -0.625);
        let c = <$T as Real>::from_base(s);
        let near = |a: $T, b: $T, what: &str| {
            assert_eq!(a.parts()[0].to_bits(), b.parts()[0].to_bits(), "{what}");
            assert!(a.relative_eq_all(b, 4.0 * <$F>::EPSILON), "{what}: {a} {b}");
        };
        near(x + s, x + c, "x + s");
        near(s + x, c + x, "s + x");
        near(x - s, x - c, "x - s");
        near(s - x, c - x, "s - x");
        near(x * s, x * c, "x * s");
        near(s * x, c * x, "s * x");
        near(x / s, x / c, "x / s");
        near(s / x, c / x, "s / x");
        near(x % s, x % c, "x % s");
        near(s % x, c % x, "s % x");
        near(&x * s, x * c, "&x * s");
        near(s * &x, c * x, "s * &x");
        let mut y = x;
        y += s;
        y *= s;
        y -= s;
        y /= s;
        near(y, ((x + c) * c - c) / c, "assigning");
        assert!(x > s && x == 1.75 && !(x < s), "comparison with a float looks at the value");
    }};
}

#[test]
fn all_forms_of_operands() {
    forms!(Dual<f64, 1>);
    forms!(Dual<f64, 5>);
    forms!(Dual<f32, 3>);
    forms!(HyperDual<f64, 2, 3>);
    forms!(Dual2<f64, 3>);
    forms!(Dual<Dual<f64, 2>, 3>);
    forms!(HyperDual<Dual<f64>, 1, 2>);
    forms!(Dual2<Dual<f64>, 2>);
    forms!(Dual<Dual<Dual<f64>>>);
}

#[test]
fn floats_on_either_side_at_every_depth() {
    mixed!(Dual<f64, 1>, f64);
    mixed!(Dual<f64, 5>, f64);
    mixed!(Dual<f32, 3>, f32);
    mixed!(HyperDual<f64, 2, 3>, f64);
    mixed!(HyperDual<f32, 1, 1>, f32);
    mixed!(Dual2<f64, 3>, f64);
    mixed!(Dual<Dual<f64, 2>, 3>, f64);
    mixed!(HyperDual<Dual<f64>, 1, 2>, f64);
    mixed!(Dual2<Dual<f64>, 2>, f64);
    mixed!(Dual<Dual<Dual<f64>>>, f64);
    mixed!(Dual<HyperDual<Dual<f32>>>, f32);
}

/// Products and quotients satisfy the identities of arithmetic in every part.
fn identities<T: Parts>() {
    let (a, b) = (T::seeded(1.75, tangent), T::seeded(-0.5, |k| tangent(k + 2)));
    let eps = nalgebra::convert::<f64, T::Base>(64.0) * <T::Base as approx::AbsDiffEq>::default_epsilon();
    assert_dual_eq!((a / b) * b, a, eps);
    assert_dual_eq!((a + b) * (a - b), a * a - b * b, eps);
    assert_dual_eq!(a * a.recip() + a, T::one() + a, eps);
    assert_dual_eq!(a - a, T::zero());
}

#[test]
fn arithmetic_identities_hold_in_every_part() {
    every_number!(identities);
}

#[test]
fn sums_and_products() {
    let x: Vec<Dual<f64, 2>> = [1.5, -2.0, 4.0].iter().map(|&v| Dual::new(v, [1.0, v])).collect();
    let sum: Dual<f64, 2> = x.iter().sum();
    assert_dual_eq!(sum, Dual::new(3.5, [3.0, 3.5]));
    assert_dual_eq!(x.iter().copied().sum::<Dual<f64, 2>>(), sum);
    let product: Dual<f64, 2> = x.iter().product();
    assert_dual_eq!(product, x[0] * x[1] * x[2]);
    assert_dual_eq!(x.iter().copied().product::<Dual<f64, 2>>(), product);
    let nested: Dual<Dual<f64>> = std::iter::repeat_n(Dual::variable(Dual::variable(2.0, 0), 0), 3).product();
    assert_eq!((nested.value.value, nested.value.eps[0], nested.eps[0].eps[0]), (8.0, 12.0, 12.0));
    // The value has the bits of the float's sum, also for no numbers and for -0.
    for list in [&[][..], &[-0.0], &[-0.0, -0.0], &[0.1, 0.2, 0.3]] {
        let want: f64 = list.iter().sum();
        let got: Dual<f64> = list.iter().map(|&v| Dual::constant(v)).sum();
        assert_eq!(got.value.to_bits(), want.to_bits(), "{list:?}");
        let got: HyperDual<Dual<f64>> = list.iter().map(|&v| HyperDual::from_base(v)).sum();
        assert_eq!(got.value.value.to_bits(), want.to_bits(), "{list:?}");
    }
    // One factor is zero: the gradient of the product is not.
    let x: [Dual<f64, 3>; 3] = [Dual::variable(0.0, 0), Dual::variable(3.0, 1), Dual::variable(5.0, 2)];
    assert_eq!(x.iter().product::<Dual<f64, 3>>().eps, [15.0, 0.0, 0.0]);
}

#[test]
fn fused_multiply_add_has_the_product_rule() {
    let x = Dual::new(1.0, [1.0, 2.0, 3.0]);
    let y = Dual::new(2.0, [4.0, 5.0, 6.0]);
    let z = Dual::new(3.0, [7.0, 8.0, 9.0]);
    assert_dual_eq!(x.mul_add(y, z), Dual::new(5.0, [13.0, 17.0, 21.0]));
    let a = 1.0 + f64::EPSILON;
    assert_eq!(Dual::<f64>::constant(a).mul_add(a.into(), (-1.0).into()).value, a.mul_add(a, -1.0));
}

/// The quotient is the quotient: not a product with a reciprocal, not a division by a square.
#[test]
fn quotients_over_the_whole_range() {
    let d = |value: f64, t: f64| Dual::<f64>::new(value, [t]);
    assert_eq!((d(5.0, 1.0) / d(49.0, 0.0)).value, 5.0 / 49.0);
    // S031, S032
    assert_dual_eq!(d(1e-200, 1.0) / d(1e-200, 0.0), d(1.0, 1e200));
    assert_dual_eq!(d(1e200, 1.0) / d(1e200, 0.0), d(1.0, 1e-200));
    // Divisors whose reciprocal is subnormal or overflows.
    assert_dual_eq!(d(1e308, 1e308) / d(1e308, 0.0), d(1.0, 1.0));
    assert_dual_eq!(d(1.0, 1.0) / d(1e308, 0.0), d(1e-308, 1e-308));
    assert_dual_eq!(d(5e-324, 5e-324) / d(5e-324, 0.0), d(1.0, 1.0));
    assert_dual_eq!(d(1e-310, 3e-310) / d(1e-310, 0.0), d(1.0, 3e-310 / 1e-310));
    assert_dual_eq!(d(1.0, 0.0) / d(1e-100, 1.0), d(1e100, -1e200), 1e-15);
    assert_dual_eq!(d(2.0, 1.0) / f64::INFINITY, d(0.0, 0.0));
    let h = HyperDual::<f64>::constant(1.0) / HyperDual::variable(1e-80, 0, 0);
    assert!((h.eps12[0][0] / 2e240 - 1.0).abs() < 1e-15, "{h}");
}

#[test]
fn generic_code_with_plain_floats() {
    fn f<S: Real64>(x: S) -> S {
        (x * 2.0 + 1.0) / 4.0 - 0.5
    }
    assert_eq!(f(Dual::<Dual<f64>>::variable(Dual::variable(3.0, 0), 0)).eps[0].value, 0.5);
    assert_eq!(f(2.0), 0.75);
    fn g<S: Real64>(x: S) -> S {
        let mut y = x;
        y += 1.0;
        y -= 4.0;
        y *= 3.0;
        y /= 2.0;
        if y < 0.0 { S::from(2.0) - y } else { y }
    }
    let y = g(Dual::<f64>::variable(1.0, 0));
    assert_eq!((y.value, y.eps), (5.0, [-1.5]));
    assert_eq!((g(1.0), g(7.0)), (5.0, 6.0));
}

#[test]
fn generic_sums_and_products() {
    fn f<S: Real>(x: &[S]) -> S {
        x.iter().sum::<S>() * x.iter().map(|x| x.sin()).sum::<S>()
            + x.iter().product::<S>() * x.iter().copied().product::<S>()
    }
    let (a, b) = (0.3_f64, 0.7_f64);
    let y = f(&[Dual::<f64, 2>::variable(a, 0), Dual::variable(b, 1)]);
    assert_dual_eq!(
        y,
        Dual::new(
            f(&[a, b]),
            [
                a.sin() + b.sin() + (a + b) * a.cos() + 2.0 * a * b * b,
                a.sin() + b.sin() + (a + b) * b.cos() + 2.0 * a * a * b,
            ]
        ),
        1e-15
    );
}

/// S082: exp(ix) at 0, where generic complex code has a fast path.
#[test]
fn complex_numbers_over_duals() {
    type H = HyperDual<f64>;
    let z = Complex::new(H::constant(0.0), H::variable(0.0, 0, 0));
    let e = z.exp();
    assert_eq!((e.re.value, e.re.eps1[0], e.re.eps12[0][0]), (1.0, 0.0, -1.0));
    assert_eq!((e.im.value, e.im.eps1[0], e.im.eps12[0][0]), (0.0, 1.0, 0.0));
    // d/dt |z|^2 and arg z along z = (3 + t) + 4i.
    let z = Complex::new(Dual::<f64>::variable(3.0, 0), Dual::constant(4.0));
    assert_dual_eq!(z.modulus_squared(), Dual::new(25.0, [6.0]));
    assert_dual_eq!(z.modulus(), Dual::new(5.0, [0.6]), 1e-15);
    assert_dual_eq!(z.argument(), Dual::new(4.0_f64.atan2(3.0), [-0.16]), 1e-15);
    let w = z.sqrt();
    let back = w * w - z;
    assert!(back.re.parts().iter().chain(&back.im.parts()).all(|t| t.abs() < 1e-14), "{back}");
}

#[test]
fn complex_matrices_over_duals() {
    let c = |re: f64, im: f64, t: f64| Complex::new(Dual::<f64>::new(re, [t]), Dual::new(im, [-0.5 * t]));
    let a: DMatrix<Complex<Dual<f64>>> = dmatrix![
        c(2.0, 1.0, 1.0), c(0.5, -1.0, 2.0), c(0.0, 0.0, 0.0);
        c(-1.0, 0.0, 0.5), c(3.0, 0.0, -1.0), c(1.0, 1.0, 1.0);
        c(0.0, 2.0, 0.0), c(1.0, -1.0, 3.0), c(-2.0, 0.5, 1.0)
    ];
    let product = &a * a.clone().try_inverse().expect("regular");
    for i in 0..3 {
        for j in 0..3 {
            let z = product[(i, j)];
            let one = if i == j { 1.0 } else { 0.0 };
            assert!((z.re.value - one).abs() < 1e-14 && z.im.value.abs() < 1e-14, "{z}");
            assert!(z.re.eps[0].abs() < 1e-13 && z.im.eps[0].abs() < 1e-13, "{z}");
        }
    }
}
