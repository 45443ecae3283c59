//! Powers and logarithms of numbers near the ends of the range, with tangents of their size: what they are of e^u has
//! derivatives in u that are as ordinary as its value.

use dualpack::nalgebra::ComplexField;
use dualpack::{Dual, Dual2, HyperDual, Real, derivative, hessian, second_derivative};

/// y = e^(p u) has the derivatives p y and p² y; a logarithm, p = 0, has c and 0.
macro_rules! check {
    ($checked:ident, $F:ident, $u:expr, $tolerance:expr; $($name:literal |$x:ident| $e:expr => $p:expr, $c:expr;)*) => { $( {
        let (u, p): ($F, $F) = ($u, $p);
        let (y, d1) = derivative(|v: Dual<$F>| { let $x = v.exp(); $e }, u);
        // The function itself must be an ordinary number.
        if y.is_normal() && (p * p * y).is_normal() && u.exp().is_normal() {
            let second = second_derivative(|v: Dual2<$F>| { let $x = v.exp(); $e }, u);
            let hyper = { let $x = HyperDual::<$F>::variable(u, 0, 0).exp(); $e };
            let nested = { let $x = Dual::<Dual<$F>>::variable(Dual::variable(u, 0), 0).exp(); $e };
            let above = { let $x = Dual2::<Dual<$F>>::variable(Dual::variable(u, 0), 0).exp(); $e };
            let (want1, want2) = if p == 0.0 { ($c, 0.0) } else { (p * y, p * p * y) };
            let size = if p == 0.0 { $c } else { (p * y).abs().max((p * (p - 1.0) * y).abs()) };
            let near = |got: $F, want: $F, kind: &str| {
                assert!((got - want).abs() <= $tolerance * size, "{} of exp({u}), {kind}: {got:e}, not {want:e}", $name);
            };
            for (first, kind) in [
                (d1, "Dual"), (second.1, "Dual2"), (hyper.eps1[0], "HyperDual"), (nested.eps[0].value, "nested"),
                (above.grad[0].value, "Dual2 above Dual"),
            ] {
                near(first, want1, kind);
            }
            for (d2, kind) in [
                (second.2, "Dual2"), (hyper.eps12[0][0], "HyperDual"), (nested.eps[0].eps[0], "nested"),
                (above.hess[0][0].value, "Dual2 above Dual"),
            ] {
                near(d2, want2, kind);
            }
            let want3 = p * want2;
            near(above.hess[0][0].eps[0] / (1.0 + p * p), want3 / (1.0 + p * p), "third order");
            $checked += 1;
        }
    } )* };
}

#[test]
fn derivatives_of_powers_and_logarithms_of_exponentials() {
    let mut checked = 0;
    macro_rules! all {
        ($checked:ident, $F:ident, $u:expr, $tolerance:expr) => {
            check! { $checked, $F, $u, $tolerance;
                "1/x" |x| x.recip() => -1.0, 1.0;
                "sqrt" |x| x.sqrt() => 0.5, 1.0;
                "cbrt" |x| x.cbrt() => 1.0 / 3.0, 1.0;
                "ln" |x| x.ln() => 0.0, 1.0;
                "log2" |x| x.log2() => 0.0, std::$F::consts::LOG2_E;
                "log10" |x| x.log10() => 0.0, std::$F::consts::LOG10_E;
                "log to the base 3" |x| x.log(3.0 as $F) => 0.0, 1.0 / (3.0 as $F).ln();
                "x^-2" |x| x.powi(-2) => -2.0, 1.0;
                "x^-7" |x| x.powi(-7) => -7.0, 1.0;
                "x^3" |x| x.powi(3) => 3.0, 1.0;
                "x^0.25" |x| x.powf(0.25 as $F) => 0.25, 1.0;
                "x^-1.5" |x| x.powf(-1.5 as $F) => -1.5, 1.0;
                "x^1.5" |x| x.powf(1.5 as $F) => 1.5, 1.0;
            }
        };
    }
    for u in [5.0, 20.0, 31.0, 45.0, 60.0, 80.0, 120.0, 170.0, 236.0, 250.0, 355.0, 375.0, 500.0, 700.0] {
        for u in [u, -u] {
            all!(checked, f64, u, 1e-13);
            if u.abs() < 87.0 {
                all!(checked, f32, u as f32, 1e-5);
            }
        }
    }
    assert!(checked > 250, "{checked}");
}

/// What is differentiated as written must agree with the same in logarithms: a product of small probabilities.
#[test]
fn the_hessian_of_the_logarithm_of_a_tiny_likelihood() {
    fn likelihood<S: Real>(x: &[S]) -> S {
        (0..300).fold(S::one(), |p, k| p * (-(x[k % 3] * x[k % 3]) - x[(k + 1) % 3]).exp())
    }
    let x = [0.7, 0.9, 1.1];
    let (p, _, h) = hessian(|x| likelihood(x).ln(), &x);
    assert!(p < -400.0 && p > -700.0, "beyond the square root of the smallest float: {p}");
    for i in 0..3 {
        for j in 0..3 {
            let want = if i == j { -200.0 } else { 0.0 };
            assert!((h[(i, j)] - want).abs() < 1e-9, "{h}");
        }
    }
}

/// Tangents of the size of 1 beside extreme values keep the derivatives they had: f'' where it is a float, else infinite
/// or zero, and zero tangents stay zero.
#[test]
fn tangents_of_ordinary_size() {
    for e in [-1074, -1050, -1020, -700, -600, -520, -350, 350, 520, 700, 1000, 1023] {
        let x = 2.0_f64.powi(e / 2) * 2.0_f64.powi(e - e / 2);
        let v = Dual2::<f64, 2>::variable(x, 0);
        for (name, y, d1, d2) in [
            ("1/x", v.recip(), -(1.0 / x) / x, 2.0 / x / x / x),
            ("ln", v.ln(), 1.0 / x, -1.0 / x / x),
            ("sqrt", v.sqrt(), 0.5 / x.sqrt(), -0.25 / x.sqrt() / x),
            ("cbrt", v.cbrt(), 1.0 / 3.0 / x.cbrt().powi(2), -2.0 / 9.0 / x.cbrt().powi(2) / x),
        ] {
            for (got, want) in [(y.grad[0], d1), (y.hessian(0, 0), d2)] {
                let small = want.abs() < f64::MIN_POSITIVE;
                let right = got == want
                    || (got - want).abs() <= 1e-14 * want.abs()
                    || (small && got.abs() < f64::MIN_POSITIVE);
                assert!(
                    right || (y.value.is_infinite() && !got.is_finite()),
                    "{name} at 2^{e}: {got:e}, not {want:e}"
                );
            }
            assert_eq!((y.grad[1], y.hessian(0, 1), y.hessian(1, 1)), (0.0, 0.0, 0.0), "{name} at 2^{e}");
        }
    }
    // The value is that of the float function.
    let x = 3e-300;
    assert_eq!(Dual::<f64>::variable(x, 0).cbrt().value.to_bits(), ComplexField::cbrt(x).to_bits());
}
