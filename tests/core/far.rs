//! Powers and logarithms of numbers near the ends of the range, with tangents of their size: what they are of e^u has
//! derivatives in u that are as ordinary as its value.

use dualpack::nalgebra::ComplexField;
use dualpack::{
    Dual, Dual2, HyperDual, Real, derivative, hessian, lift_n, lift1, lift2, norm, second_derivative,
};

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

/// f(e^u) in every type with second or third derivatives, against d, the derivatives in u.
macro_rules! against {
    ($checked:ident, $F:ident, $u:expr, $tolerance:expr; $($name:literal |$x:ident| $e:expr => |$v:ident, $y:ident| $want:expr;)*) => { $( {
        let u: $F = $u;
        let (y, d1) = derivative(|v: Dual<$F>| { let $x = v.exp(); $e }, u);
        let want: [$F; 3] = { let ($v, $y) = (u, y); $want };
        let size = want.iter().fold(0.0 as $F, |size, d| size.max(d.abs()));
        // Second and third derivatives in an exponent have factors ln² and ln³ of the base.
        if u.exp().is_normal() && y.is_normal() && size.is_normal() && (y * u * u * u).is_finite() {
            let second = second_derivative(|v: Dual2<$F>| { let $x = v.exp(); $e }, u);
            let hyper = { let $x = HyperDual::<$F>::variable(u, 0, 0).exp(); $e };
            let nested = { let $x = Dual::<Dual<$F>>::variable(Dual::variable(u, 0), 0).exp(); $e };
            let above = { let $x = Dual2::<Dual<$F>>::variable(Dual::variable(u, 0), 0).exp(); $e };
            let triple = {
                let inner = Dual::<Dual<$F>>::variable(Dual::variable(u, 0), 0);
                let $x = Dual::<Dual<Dual<$F>>>::variable(inner, 0).exp();
                $e
            };
            for (order, kind, got) in [
                (1, "Dual", d1),
                (1, "Dual2", second.1),
                (1, "HyperDual", hyper.eps1[0]),
                (1, "nested", nested.eps[0].value),
                (2, "Dual2", second.2),
                (2, "HyperDual", hyper.eps12[0][0]),
                (2, "nested", nested.eps[0].eps[0]),
                (2, "Dual2 above Dual", above.hess[0][0].value),
                (3, "Dual2 above Dual", above.hess[0][0].eps[0]),
                (3, "three levels", triple.eps[0].eps[0].eps[0]),
            ] {
                let want = want[order - 1];
                assert!(
                    (got - want).abs() <= $tolerance * size,
                    "{} of exp({u}), order {order}, {kind}: {got:e}, not {want:e}", $name
                );
            }
            $checked += 1;
        }
    } )* };
}

const ENDS: [f64; 16] =
    [26.0, 33.0, 36.0, 45.0, 60.0, 80.0, 86.0, 120.0, 170.0, 236.0, 250.0, 345.0, 357.0, 458.0, 600.0, 700.0];

/// a^b with b = p + k u and a = e^u is e^g with g = p u + k u².
#[test]
fn powers_with_an_exponent_that_is_a_number() {
    let mut checked = 0;
    macro_rules! all {
        ($F:ident, $u:expr, $tolerance:expr; $($p:expr, $k:expr;)*) => { $(
            against! { checked, $F, $u, $tolerance;
                "a^b" |x| {
                    let base = (x / x) * ($p as $F);
                    x.powd(base + x.ln() * ($k as $F))
                } => |u, y| {
                    let (g, h) = ($p as $F + 2.0 * ($k as $F) * u, 2.0 * ($k as $F));
                    [g * y, (g * g + h) * y, (g * g * g + 3.0 * g * h) * y]
                };
            }
        )* };
    }
    for u in ENDS {
        for u in [u, -u] {
            all! { f64, u, 2e-12; -1.5, 0.0; -2.0, 0.0; -7.0, 0.0; 0.25, 0.0; 0.9, 0.0; 1.5, 0.0; 3.0, 0.0;
            -1.5, 1e-3; -0.5, -1e-3; 0.3, 1e-3; 1.2, -1e-3; }
            if u.abs() < 87.0 {
                all! { f32, u as f32, 3e-4; -1.5, 0.0; -2.0, 0.0; -7.0, 0.0; 0.25, 0.0; 1.5, 0.0;
                -1.5, 0.01; 0.3, 0.01; }
            }
        }
    }
    assert!(checked > 200, "{checked}");

    // An exponent so flat that the factor leaves the range: the derivative is 1e-20 and 1e-300.
    for (x, p) in [(1e-300, 1e-20), (1e20, 1e-300), (1e300, 1e-200), (1e-300, -1e-300)] {
        let second = |y: Dual2<f64>| (y.grad[0], y.hess[0][0]);
        let v = || Dual2::<f64>::variable(1.0, 0) * x;
        for (d1, d2) in [second(v().powf(p)), second(v().powd(p.into()))] {
            assert!(
                (d1 - p).abs() <= 1e-14 * p.abs() && (d2 + p).abs() <= 1e-14 * p.abs(),
                "{x} {p} {d1} {d2}"
            );
        }
    }
    // A negative base and an integer exponent; a logarithm to a base that moves.
    let y = (Dual2::<f64>::variable(1.0, 0) * -1e150).powd((-2.0).into());
    assert!((y.grad[0] + 2e-300).abs() < 1e-314 && (y.hess[0][0] - 6e-300).abs() < 1e-314, "{y}");
    let mut checked = 0;
    for u in ENDS {
        against! { checked, f64, u, 1e-13;
            "log of 3" |x| (x / x * 3.0).log(x) => |u, y| [-y / u, 2.0 * y / (u * u), -6.0 * y / (u * u * u)];
            "log to 3" |x| x.log(x / x * 3.0) => |_u, _y| [3.0_f64.ln().recip(), 0.0, 0.0];
        }
    }
    assert!(checked >= 30, "{checked}");
}

/// What is a power or a logarithm to rounding at one end of the range has its derivatives there.
#[test]
fn functions_like_powers_and_logarithms_far_out() {
    use std::f64::consts::FRAC_2_PI;
    let mut checked = 0;
    macro_rules! all {
        ($F:ident, $u:expr, $tolerance:expr) => {
            if $u > 0.0 {
                against! { checked, $F, $u, $tolerance;
                    "atan" |x| x.atan() => |u, _y| [(-u).exp(), -(-u).exp(), (-u).exp()];
                    "atan of -x" |x| (-x).atan() => |u, _y| [-(-u).exp(), (-u).exp(), -(-u).exp()];
                    "asinh" |x| x.asinh() => |_u, _y| [1.0, 0.0, 0.0];
                    "asinh of -x" |x| (-x).asinh() => |_u, _y| [-1.0, 0.0, 0.0];
                    "acosh" |x| x.acosh() => |_u, _y| [1.0, 0.0, 0.0];
                }
                if $u >= 45.0 {
                    against! { checked, $F, $u, $tolerance;
                        "ln_1p" |x| x.ln_1p() => |_u, _y| [1.0, 0.0, 0.0];
                        "digamma" |x| x.digamma() => |_u, _y| [1.0, 0.0, 0.0];
                        "trigamma" |x| x.polygamma(1) => |_u, y| [-y, y, -y];
                        "polygamma 2" |x| x.polygamma(2) => |_u, y| [-2.0 * y, 4.0 * y, -8.0 * y];
                    }
                }
            } else if $u <= -45.0 {
                against! { checked, $F, $u, $tolerance;
                    "gamma" |x| x.gamma() => |_u, y| [-y, y, -y];
                    "gamma of -x" |x| (-x).gamma() => |_u, y| [-y, y, -y];
                    "lgamma" |x| x.lgamma() => |_u, _y| [-1.0, 0.0, 0.0];
                    "digamma" |x| x.digamma() => |_u, y| [-y, y, -y];
                    "trigamma" |x| x.polygamma(1) => |_u, y| [-2.0 * y, 4.0 * y, -8.0 * y];
                    "polygamma 2" |x| x.polygamma(2) => |_u, y| [-3.0 * y, 9.0 * y, -27.0 * y];
                    "cosc" |x| x.cosc() => |_u, y| [-y, y, -y];
                    "coshc" |x| x.coshc() => |_u, y| [-y, y, -y];
                    "y0" |x| x.sph_yn(0) => |_u, y| [-y, y, -y];
                    "y2" |x| x.sph_yn(2) => |_u, y| [-3.0 * y, 9.0 * y, -27.0 * y];
                    "Y0" |x| x.bessel_y0() => |_u, _y| [FRAC_2_PI as $F, 0.0, 0.0];
                    "Y1" |x| x.bessel_y1() => |_u, y| [-y, y, -y];
                    "Y2" |x| x.bessel_yn(2) => |_u, y| [-2.0 * y, 4.0 * y, -8.0 * y];
                    "Y-3" |x| x.bessel_yn(-3) => |_u, y| [-3.0 * y, 9.0 * y, -27.0 * y];
                }
            }
        };
    }
    for u in ENDS {
        for u in [u, -u] {
            all!(f64, u, 1e-13);
            if u.abs() < 87.0 {
                all!(f32, u as f32, 1e-5);
            }
        }
    }
    assert!(checked > 250, "{checked}");
}

/// Points of the plane near the ends of the range: f(sa, sb) = s^p f(a, b), with tangents of the size of s.
#[test]
fn functions_of_the_plane_do_not_depend_on_the_unit() {
    macro_rules! all {
        ($F:ident, $scales:expr, $tolerance:expr) => {
            for s in $scales {
                let s: $F = s;
                for (a, b) in [(0.3, 0.8), (-0.7, 0.2), (0.4, -0.9), (-0.5, -0.5), (1e-8, 1.0), (1.0, -1e-8)] {
                    macro_rules! both {
                        ($name:literal, $p:expr, |$a:ident, $b:ident| $e:expr) => {{
                            let at = |s: $F| {
                                let second = {
                                    let $a = Dual2::<$F, 2>::variable(a, 0) * s;
                                    let $b = Dual2::<$F, 2>::variable(b, 1) * s;
                                    let y = $e;
                                    vec![y.value, y.grad[0], y.grad[1], y.hess[0][0], y.hess[0][1], y.hess[1][1]]
                                };
                                let third = {
                                    let x = |v: $F, k| Dual::<Dual2<$F, 2>>::variable(Dual2::variable(v, k), 0) * s;
                                    let ($a, $b) = (x(a, 0), x(b, 1));
                                    let y = $e.eps[0];
                                    vec![y.value, y.grad[0], y.grad[1], y.hess[0][0], y.hess[0][1], y.hess[1][1]]
                                };
                                [second, third].concat()
                            };
                            let (near, far) = (at(1.0), at(s));
                            let size = near[1..].iter().fold(0.0 as $F, |size, d| size.max(d.abs()));
                            for (k, (near, far)) in near.iter().zip(&far).enumerate() {
                                let far = if $p == 1 { far / s } else { *far };
                                assert!(
                                    (far - near).abs() <= $tolerance * size.max(near.abs()),
                                    "{} at ({a}, {b}) {s:e}, part {k}: {far:e}, not {near:e}", $name
                                );
                            }
                        }};
                    }
                    both!("atan2", 0, |a, b| a.atan2(b));
                    both!("hypot", 1, |a, b| a.hypot(b));
                }
            }
        };
    }
    all!(f64, [1e-290, 1e-162, 1e-110, 1e-80, 1e80, 1e110, 1e162, 1e290], 1e-13);
    all!(f32, [1e-34, 1e-20, 1e-12, 1e12, 1e20, 1e34], 1e-5);

    let x = Dual::<f32>::new(1e10, [1e10]);
    let slope = Dual::constant(1e-24).atan2(x).eps[0];
    assert!((slope + 1e-34).abs() < 1e-40, "{slope:e}");
    let norm = hessian(|x| norm(&[x[0] * 1e-162, x[1] * 1e-162]) * 1e162, &[1.0, 1.0]).2;
    let want = 0.125_f64.sqrt();
    assert!((norm[(0, 0)] - want).abs() < 1e-15 && (norm[(0, 1)] + want).abs() < 1e-15, "{norm}");
    // Third order beside an axis: θ_xyy = -6xy/r⁶ ... = -6e-64 with r = x = 1e16.
    let (y, x) = (Dual::<Dual<Dual<f64>>>::constant(Dual::variable(Dual::variable(1.0, 0), 0)), 1e16);
    let third = y.atan2(Dual::variable(Dual::constant(Dual::constant(x)), 0)).eps[0].eps[0].eps[0];
    assert!((third - 6e-64).abs() < 1e-77, "{third:e}");
}

/// f'' s t with factors from all over the range is exact for powers of two; a tangent that is zero beats everything.
#[test]
fn curvature_times_tangents_of_any_size() {
    macro_rules! all {
        ($F:ident, $exponents:expr, $smallest:expr, $largest:expr) => {
            for f in $exponents {
                for s in $exponents {
                    for t in $exponents {
                        let power = |e: i32| (2.0 as $F).powi(e / 2) * (2.0 as $F).powi(e - e / 2);
                        let (f2, s2, t2) = (power(f), power(s), power(t));
                        let sum = f + s + t;
                        let check = |got: $F, want: i32, kind: &str| {
                            let right = match want {
                                e if e > $largest => got == $F::INFINITY,
                                // Below the subnormal numbers.
                                e if e < $smallest - ($F::MANTISSA_DIGITS as i32 - 1) => {
                                    got < $F::MIN_POSITIVE
                                }
                                e => got == power(e),
                            };
                            assert!(right, "{kind}: 2^({f} + {s} + {t}) = {got:e}");
                        };
                        let h = HyperDual::<$F, 1, 2>::new(1.0, [s2], [t2, 0.0], [[0.0; 2]]);
                        let d = Dual2::<$F, 2>::new(1.0, [s2, t2], [[0.0; 2]; 2]);
                        let hc = HyperDual::constant(1.0);
                        let dc = Dual2::constant(1.0);
                        let mixed = (
                            HyperDual::<$F>::new(1.0, [s2], [0.0], [[0.0]]),
                            HyperDual::new(1.0, [0.0], [t2], [[0.0]]),
                        );
                        let mixed2 = (
                            Dual2::<$F, 2>::new(1.0, [s2, 0.0], [[0.0; 2]; 2]),
                            Dual2::new(1.0, [0.0, t2], [[0.0; 2]; 2]),
                        );
                        let hyper = [
                            lift1(h, 1.0, 1.0, f2),
                            lift2(h, hc, 1.0, [1.0; 2], [f2, 1.0, 1.0]),
                            lift2(hc, h, 1.0, [1.0; 2], [1.0, 1.0, f2]),
                            lift_n(&[h], 1.0, &[1.0], |_, _| f2),
                        ];
                        for y in hyper {
                            check(y.eps12[0][0], sum, "HyperDual");
                            assert_eq!(y.eps12[0][1], 0.0);
                        }
                        let symmetric = [
                            lift1(d, 1.0, 1.0, f2),
                            lift2(d, dc, 1.0, [1.0; 2], [f2, 1.0, 1.0]),
                            lift2(dc, d, 1.0, [1.0; 2], [1.0, 1.0, f2]),
                            lift_n(&[d], 1.0, &[1.0], |_, _| f2),
                        ];
                        for y in symmetric {
                            check(y.hess[0][0], f + 2 * s, "Dual2");
                            check(y.hess[0][1], sum, "Dual2");
                            check(y.hess[1][1], f + 2 * t, "Dual2");
                        }
                        check(
                            lift2(mixed.0, mixed.1, 1.0, [1.0; 2], [1.0, f2, 1.0]).eps12[0][0],
                            sum,
                            "HyperDual, mixed",
                        );
                        check(
                            lift_n(&[mixed.0, mixed.1], 1.0, &[1.0; 2], |i, j| if i == j { 1.0 } else { f2 })
                                .eps12[0][0],
                            sum,
                            "HyperDual, mixed",
                        );
                        check(
                            lift2(mixed2.0, mixed2.1, 1.0, [1.0; 2], [1.0, f2, 1.0]).hess[0][1],
                            sum,
                            "Dual2, mixed",
                        );
                        check(
                            lift_n(
                                &[mixed2.0, mixed2.1],
                                1.0,
                                &[1.0; 2],
                                |i, j| if i == j { 1.0 } else { f2 },
                            )
                            .hess[0][1],
                            sum,
                            "Dual2, mixed",
                        );
                        // Above another level the values follow the same way.
                        let c = Dual::<$F>::constant;
                        let above = Dual2::<Dual<$F>, 2>::new(c(1.0), [c(s2), c(t2)], [[c(0.0); 2]; 2]);
                        check(lift1(above, c(1.0), c(1.0), c(f2)).hess[0][1].value, sum, "Dual2 above Dual");
                        let above = HyperDual::<Dual<$F>>::new(c(1.0), [c(s2)], [c(t2)], [[c(0.0)]]);
                        check(
                            lift1(above, c(1.0), c(1.0), c(f2)).eps12[0][0].value,
                            sum,
                            "HyperDual above Dual",
                        );
                    }
                }
            }
        };
    }
    all!(f64, [-1000, -600, -540, -20, 0, 20, 540, 600, 1000], -1022, 1023);
    all!(f32, [-120, -80, -70, -5, 0, 5, 70, 80, 120], -126, 127);
}

/// One lane out of range changes no bit of the other entries.
#[test]
fn lanes_of_a_hessian_do_not_depend_on_a_tiny_one() {
    fn check<const N: usize>() {
        let grad: [f64; N] = std::array::from_fn(|k| (k as f64 + 0.3).sin());
        let hess: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| ((i * j) as f64).cos()));
        for odd in [1e-300, 1e-320, 1e300, 0.0, f64::INFINITY, f64::NAN] {
            for k in 0..N {
                let mut other = grad;
                other[k] = odd;
                let (f1, f2) = (1.7, 1e-20);
                let usual = lift1(Dual2::new(1.0, grad, hess), 1.0, f1, f2);
                let unusual = lift1(Dual2::new(1.0, other, hess), 1.0, f1, f2);
                for i in (0..N).filter(|&i| i != k) {
                    for j in (i..N).filter(|&j| j != k) {
                        assert_eq!(
                            usual.hess[i][j].to_bits(),
                            unusual.hess[i][j].to_bits(),
                            "{N} {k} {odd} {i} {j}"
                        );
                    }
                }
                let usual = lift1(HyperDual::new(1.0, grad, grad, hess), 1.0, f1, f2);
                let unusual = lift1(HyperDual::new(1.0, other, other, hess), 1.0, f1, f2);
                for i in (0..N).filter(|&i| i != k) {
                    for j in (0..N).filter(|&j| j != k) {
                        assert_eq!(
                            usual.eps12[i][j].to_bits(),
                            unusual.eps12[i][j].to_bits(),
                            "{N} {k} {odd} {i} {j}"
                        );
                    }
                }
            }
        }
    }
    check::<1>();
    check::<2>();
    check::<3>();
    check::<5>();
    check::<8>();
    check::<9>();
    check::<17>();
}

/// A zero tangent stays zero beside an infinite one, whichever comes first.
#[test]
fn zero_tangents_beside_infinite_ones() {
    for (x, infinite) in [([0.0, 1.0], 0), ([1.0, 0.0], 1)] {
        let h = hessian(|x| x[infinite].sqrt().sqrt() + x[1 - infinite] * x[1 - infinite], &x).2;
        assert_eq!((h[(0, 1)], h[(1, 0)]), (0.0, 0.0), "{h}");
        assert_eq!(h[(1 - infinite, 1 - infinite)], 2.0, "{h}");
        let v = |k: usize| HyperDual::<f64, 2, 2>::variable(x[k], k, k);
        let y = v(infinite).sqrt().sqrt() + v(1 - infinite) * v(1 - infinite);
        assert_eq!((y.eps12[0][1], y.eps12[1][0]), (0.0, 0.0), "{y}");
    }
}

/// At -0 the limit is that from the inside of the domain, as at 0: `x^0.5` has it, too.
#[test]
fn negative_zero_is_zero() {
    macro_rules! all {
        ($F:ident) => {
            let x: $F = -0.0;
            let (v, h) = (Dual::<$F>::variable(x, 0), HyperDual::<$F>::variable(x, 0, 0));
            let (d, n) = (Dual2::<$F>::variable(x, 0), Dual::<Dual<$F>>::variable(Dual::variable(x, 0), 0));
            let three = 3.0 as $F;
            for (name, v, h, d, n) in [
                ("sqrt", v.sqrt(), h.sqrt(), d.sqrt(), n.sqrt()),
                ("x^0.5", v.powf(0.5 as $F), h.powf(0.5 as $F), d.powf(0.5 as $F), n.powf(0.5 as $F)),
                ("ln", v.ln(), h.ln(), d.ln(), n.ln()),
                ("log2", v.log2(), h.log2(), d.log2(), n.log2()),
                ("log10", v.log10(), h.log10(), d.log10(), n.log10()),
                ("log 3", v.log(three), h.log(three), d.log(three), n.log(three)),
                (
                    "log of 3",
                    v.log(Dual::constant(three)),
                    h.log(HyperDual::constant(three)),
                    d.log(Dual2::constant(three)),
                    n.log(Dual::constant(Dual::constant(three))),
                ),
            ] {
                let inf = $F::INFINITY;
                assert_eq!((v.eps[0], h.eps1[0], d.grad[0], n.eps[0].value), (inf, inf, inf, inf), "{name}");
                assert_eq!((h.eps12[0][0], d.hess[0][0]), (-inf, -inf), "{name}");
                let second = n.eps[0].eps[0];
                assert!(second == -inf || second.is_nan(), "{name}: {second}");
            }
            assert_eq!(v.sqrt().value.to_bits(), x.to_bits());
        };
    }
    all!(f64);
    all!(f32);
}

/// Where a power is below the smallest float its derivative times a large tangent need not be.
#[test]
fn tangents_much_larger_than_the_argument() {
    macro_rules! check {
        ($F:ident, $exponents:expr) => {
            for (k, d) in $exponents {
                let two = |e: f64| (e / 2.0).exp2() as $F * (e / 2.0).exp2() as $F;
                let (x, dx) = (two(k), two(d));
                let first = Dual::<$F>::new(x, [dx]);
                let second = Dual2::<$F>::new(x, [dx], [[0.0]]);
                let nested = Dual::<Dual<$F>>::new(Dual::new(x, [dx]), [Dual::constant(dx)]);
                let near = |got: $F, factor: f64, e: f64, what: &str| {
                    let want = factor as $F * two(e);
                    let rounding = 1e4 * $F::EPSILON * want.abs() + $F::MIN_POSITIVE * $F::EPSILON;
                    assert!(
                        (got - want).abs() <= rounding,
                        "{what} at 2^{k}, tangent 2^{d}: {got:e} for {want:e}"
                    );
                };
                macro_rules! like {
                    ($what:literal, $p:expr, $factor:expr, |$y:ident| $f:expr) => {
                        let (p, c) = ($p, $factor);
                        let (e1, e2) = ((p - 1.0) * k + d, (p - 2.0) * k + 2.0 * d);
                        near(
                            {
                                let $y = first;
                                $f
                            }
                            .eps[0],
                            c * p,
                            e1,
                            $what,
                        );
                        near(
                            {
                                let $y = second;
                                $f
                            }
                            .grad[0],
                            c * p,
                            e1,
                            $what,
                        );
                        near(
                            {
                                let $y = second;
                                $f
                            }
                            .hess[0][0],
                            c * p * (p - 1.0),
                            e2,
                            $what,
                        );
                        near(
                            {
                                let $y = nested;
                                $f
                            }
                            .eps[0]
                                .eps[0],
                            c * p * (p - 1.0),
                            e2,
                            $what,
                        );
                        near(
                            {
                                let $y = first;
                                $f
                            }
                            .value,
                            c,
                            p * k,
                            $what,
                        );
                    };
                }
                like!("recip", -1.0, 1.0, |y| y.recip());
                like!("powi -2", -2.0, 1.0, |y| y.powi(-2));
                like!("powi -3", -3.0, 1.0, |y| y.powi(-3));
                like!("powf -2", -2.0, 1.0, |y| y.powf(-2.0 as $F));
                like!("powf -1.5", -1.5, 1.0, |y| y.powf(-1.5 as $F));
                like!("polygamma 2", -2.0, -1.0, |y| y.polygamma(2));
            }
        };
    }
    let doubles =
        [(511.0, 600.0), (512.0, 600.0), (520.0, 600.0), (520.0, 700.0), (600.0, 900.0), (1020.0, 1021.0)];
    check!(f64, doubles);
    check!(f32, [(60.0, 62.0), (66.0, 73.0), (70.0, 80.0), (73.0, 90.0), (100.0, 110.0)]);
}
