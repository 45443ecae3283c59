//! The scalar cases: one function per operation.

use dualpack::{Dual, Dual2, HyperDual};
use nalgebra::{Complex, ComplexField, DVector, SVector};

use super::case::Case;
use crate::support::numbers::{finite_or_special, list};

pub fn powi(c: &Case) {
    let n = c.number("n") as i32;
    along!(c, |x| x.powi(n));
}

pub fn powf(c: &Case) {
    let p = c.number("p");
    along!(c, |x| x.powf(p));
}

pub fn powd(c: &Case) {
    at_point!(c, [c.number("x"), c.number("y")], |x, y| x.powd(y));
}

/// The exponent is a number like the base, but with zero tangents.
pub fn powd_constant_exponent(c: &Case) {
    assert_eq!(c.number("dy"), 0.0);
    let y = c.number("y");
    along!(c, |x| {
        let exponent = x * 0.0 + y;
        x.powd(exponent)
    });
}

/// x (1 - x^1.1) at 0: the slope is right; the second order meets 0 * inf in the product (decided by policy).
pub fn product_with_power(c: &Case) {
    macro_rules! f {
        ($x:expr) => {{
            let x = $x;
            x * (1.0 - x.powf(1.1))
        }};
    }
    let d = f!(Dual::<f64, 1> { value: c.number("x"), eps: [1.0] });
    c.curve("Dual", &[d.value, d.eps[0]]);
    let h = f!(HyperDual::<f64, 1, 1> { value: 0.0, eps1: [1.0], eps2: [1.0], eps12: [[0.0]] });
    c.curve("HyperDual", &[h.value, h.eps1[0]]);
    let s = f!(Dual2::<f64, 1> { value: 0.0, grad: [1.0], hess: [[0.0]] });
    c.curve("Dual2", &[s.value, s.grad[0]]);
    assert!(
        h.eps12[0][0].is_nan() && s.hessian(0, 0).is_nan(),
        "0 * inf of the operators is NaN, not a number"
    );
}

macro_rules! methods {
    ($($name:ident)*) => {
        $(pub fn $name(c: &Case) {
            along!(c, |x| x.$name());
        })*
    };
}

methods! { sqrt ln acos cbrt exp tanh exp_m1 ln_1p acosh asinh atanh fract abs sinhc }

/// a / b along (a, b) + t (da, db).
pub fn quotient(c: &Case) {
    let (a, da, b, db) = (c.number("a"), c.number("da"), c.number("b"), c.number("db"));
    let d = Dual::<f64, 1> { value: a, eps: [da] } / Dual { value: b, eps: [db] };
    c.curve("Dual", &[d.value, d.eps[0]]);
    let lift = |value, d| HyperDual::<f64, 1, 1> { value, eps1: [d], eps2: [d], eps12: [[0.0]] };
    let h = lift(a, da) / lift(b, db);
    c.curve("HyperDual", &[h.value, h.eps1[0]]);
    let lift = |value, d| Dual2::<f64, 1> { value, grad: [d], hess: [[0.0]] };
    let s = lift(a, da) / lift(b, db);
    c.curve("Dual2", &[s.value, s.grad[0]]);
    let lift =
        |value, d| Dual::<Dual<f64, 1>, 1> { value: Dual { value, eps: [d] }, eps: [Dual::constant(d)] };
    let n = lift(a, da) / lift(b, db);
    c.curve("nested Dual", &[n.value.value, n.eps[0].value]);
    if db == 0.0 {
        // A constant divisor is a plain number as well.
        let d = Dual::<f64, 1> { value: a, eps: [da] } / b;
        c.curve("Dual / f64", &[d.value, d.eps[0]]);
    }
}

pub fn atanh_of_double(c: &Case) {
    along!(c, |x| (x * 2.0).atanh());
}

pub fn acos_of_triple(c: &Case) {
    along!(c, |x| (3.0 * x).acos());
}

pub fn atan_of_triple(c: &Case) {
    along!(c, |x| (x + x + x).atan());
}

pub fn atan2(c: &Case) {
    at_point!(c, [c.number("y"), c.number("x")], |y, x| y.atan2(x));
}

pub fn hypot(c: &Case) {
    at_point!(c, [c.number("x"), c.number("y")], |x, y| x.hypot(y));
}

/// Half the squared norm: right through the squares; through the norm, whose derivative does not exist at 0,
/// every part is right or NaN, never a wrong number.
pub fn half_squared_norm(c: &Case) {
    let point = list(&c.input["x"]);
    at_point!(c, [point[0], point[1]], |x, y| SVector::from([x, y]).norm_squared() * 0.5);
    at_point!(c, [point[0], point[1]], |x, y| DVector::from(vec![x, y]).norm_squared() * 0.5);
    macro_rules! through_norm {
        ($x:expr, $y:expr) => {{
            let norm = $x.hypot($y);
            norm * norm * 0.5
        }};
    }
    let x = Dual::<f64, 2>::variable(0.0, 0);
    let y = Dual::<f64, 2>::variable(0.0, 1);
    let d = through_norm!(x, y);
    assert!(d.eps.iter().all(|&e| e == 0.0 || e.is_nan()), "{:?}", d.eps);
    let s = through_norm!(Dual2::<f64, 2>::variable(0.0, 0), Dual2::<f64, 2>::variable(0.0, 1));
    for (i, j, want) in [(0, 0, 1.0), (0, 1, 0.0), (1, 1, 1.0)] {
        let h = s.hessian(i, j);
        assert!(h == want || h.is_nan(), "Hessian entry ({i}, {j}) is {h}");
    }
}

pub fn rem(c: &Case) {
    at_point!(c, [c.number("x"), c.number("y")], |x, y| x % y);
}

pub fn rem_euclid(c: &Case) {
    at_point!(c, [c.number("x"), c.number("y")], |x, y| x.rem_euclid(y));
}

pub fn copysign(c: &Case) {
    let (x, sign) = (c.number("x"), finite_or_special(&c.input["sign"]));
    let d = Dual::<f64, 2>::variable(x, 0).copysign(Dual::variable(sign, 1));
    c.field("Dual", "f", &[d.value]);
    c.field("Dual", "df_dx", &[d.eps[0]]);
    c.field("Dual", "df_dsign", &[d.eps[1]]);
    let s = Dual2::<f64, 2>::variable(x, 0).copysign(Dual2::variable(sign, 1));
    c.field("Dual2", "df_dx", &[s.grad[0]]);
    c.field("Dual2", "df_dsign", &[s.grad[1]]);
    assert!([s.hessian(0, 0), s.hessian(0, 1), s.hessian(1, 1)].iter().all(|&h| h == 0.0));
}

/// A tie: `max` takes the first, `min` the second, so that max + min = a + b in the tangents too.
pub fn max_and_min(c: &Case) {
    let a = Dual::<f64, 1> { value: c.number("a"), eps: [c.number("da")] };
    let b = Dual::<f64, 1> { value: c.number("b"), eps: [c.number("db")] };
    let (max, min) = (a.max(b), a.min(b));
    let ours = if c.id == "S077" { max } else { min };
    c.curve("Dual", &[ours.value, ours.eps[0]]);
    assert_eq!(max.eps[0] + min.eps[0], a.eps[0] + b.eps[0]);
    let (max, min) = (b.max(a), b.min(a));
    assert_eq!(max.eps[0] + min.eps[0], a.eps[0] + b.eps[0]);
}

pub fn clamp(c: &Case) {
    let (lo, hi) = (c.number("lo"), c.number("hi"));
    let d = Dual::<f64, 1>::variable(c.number("x"), 0).clamp(Dual::constant(lo), Dual::constant(hi));
    c.curve("Dual", &[d.value, d.eps[0]]);
    let s = Dual2::<f64, 1>::variable(c.number("x"), 0).clamp(Dual2::constant(lo), Dual2::constant(hi));
    c.curve("Dual2", &[s.value, s.grad[0]]);
}

/// `if x == 1 { 1 } else { x * x }`: equality looks at the value, as in the f64 run (decided by policy).
pub fn branch_on_equality(c: &Case) {
    let x = Dual::<f64, 1>::variable(c.number("x"), 0);
    let y = if x == Dual::constant(1.0) { Dual::constant(1.0) } else { x * x };
    c.field("Dual", "f", &[y.value]);
    c.field("Dual", "df_value_only_eq", &[y.eps[0]]);
}

/// A product that stops at a zero value (decided by policy).
pub fn early_exit(c: &Case) {
    let point = list(&c.input["x"]);
    let mut product = Dual::<f64, 3>::constant(1.0);
    for (k, &x) in point.iter().enumerate() {
        product *= Dual::variable(x, k);
        if product == Dual::constant(0.0) {
            break;
        }
    }
    c.field("Dual", "f", &[product.value]);
    c.field("Dual", "grad_value_only_eq", &product.eps);
}

/// exp(i x) in complex numbers over ours.
pub fn complex_exponential(c: &Case) {
    along!(&c.part("re"), |x| Complex::new(x * 0.0, x).exp().re);
    along!(&c.part("im"), |x| Complex::new(x * 0.0, x).exp().im);
}

pub fn mul_add_lanes(c: &Case) {
    let argument = |name: &str| {
        let v = c.input[name].as_array().expect("value and lanes");
        let lanes: [f64; 3] = list(&v[1]).try_into().expect("three lanes");
        Dual::<f64, 3> { value: finite_or_special(&v[0]), eps: lanes }
    };
    let y = argument("x").mul_add(argument("y"), argument("z"));
    c.field("Dual", "f", &[y.value]);
    c.field("Dual", "lanes", &y.eps);
}

pub fn square_minus_self(c: &Case) {
    along!(c, |x| x * x - x);
    along!(c, |x| {
        let mut y = x * x;
        y -= x;
        y
    });
    along!(c, |x| -(-(x * x) + x));
}

pub fn powers_of_two(c: &Case) {
    along!(c, |t| t * 2.0_f64.powi(1) + t.powi(2) * 2.0_f64.powi(-2));
}

pub fn normalisation(c: &Case) {
    along!(c, |t| -t / (1.0 + t * t).sqrt());
    along!(c, |t| {
        let one = t * 0.0 + 1.0;
        -t / one.hypot(t)
    });
}

/// At 1e-160 the slope is -x/3 = -3.3e-161, which the file rounds to 0 (decided by policy).
pub fn sinc(c: &Case) {
    if c.id == "S091" {
        let c = c.corrected("df", -c.number("x") / 3.0);
        along!(&c, |x| x.sinc());
    } else {
        along!(c, |x| x.sinc());
    }
}

pub fn sinc_pi(c: &Case) {
    along!(c, |t| (t * 2.0 - 1.0).sinc_pi());
}

/// Nested derivatives: each level has its own type, so no tangent is taken for another one's.
pub fn perturbation_confusion(c: &Case) {
    type D<T> = Dual<T, 1>;
    match c.id.as_str() {
        "S095" => {
            let x = D::<f64>::variable(1.0, 0);
            let inner = D::<D<f64>>::constant(x) + D::variable(Dual::constant(1.0), 0);
            c.field("nested Dual", "value", &[(x * inner.eps[0]).eps[0]]);
        }
        "S097" => {
            let x = D::<f64>::variable(5.0, 0);
            let inner = D::<D<f64>>::constant(x) * D::variable(x, 0);
            c.field("nested Dual", "value", &[inner.eps[0].eps[0]]);
        }
        "S098" => {
            let u = |value, k| HyperDual::<f64, 1, 2> {
                value,
                eps1: [0.0],
                eps2: [f64::from(k == 0), f64::from(k == 1)],
                eps12: [[0.0; 2]],
            };
            let p = HyperDual::<f64, 1, 2> { value: 4.0, eps1: [1.0], eps2: [0.0; 2], eps12: [[0.0; 2]] };
            let (u1, u2) = (u(2.0, 0), u(3.0, 1));
            c.field("HyperDual", "value", &(u1 * u1 * u2 * u2 * p * p).eps12[0]);

            type Inner = Dual<f64, 2>;
            let lift = |x: Inner| Dual::<Inner, 1>::constant(x);
            let (u1, u2) = (lift(Inner::variable(2.0, 0)), lift(Inner::variable(3.0, 1)));
            let p = Dual::<Inner, 1>::variable(Inner::constant(4.0), 0);
            c.field("nested Dual", "value", &(u1.powi(2) * u2.powi(2) * p.powi(2)).eps[0].eps);
        }
        other => panic!("{other} is no case of nesting"),
    }
}

pub fn composite(c: &Case) {
    at_point!(c, [c.number("x"), c.number("y")], |x, y| x.powd(y) * y.atan2(x) / x.hypot(y));
}
