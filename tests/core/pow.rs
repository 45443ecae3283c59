//! Powers: the numbered cases of `pow.rs`, at every order.

use dualpack_core::{Dual, Dual2, HyperDual};

use super::parts::Parts;

type D1 = Dual<f64>;
type D2 = Dual<D1>;
type D3 = Dual<D2>;
type H = HyperDual<f64>;
const INF: f64 = f64::INFINITY;

/// [f, f', f'', f'''] of a function, by nesting; f'' is checked against the other second-order types. Beside an infinite
/// f' nested numbers may say NaN where the closed form knows the limit.
fn derivatives(
    x: f64,
    f: impl Fn(D3) -> D3,
    hyper: impl Fn(H) -> H,
    symmetric: impl Fn(Dual2<f64>) -> Dual2<f64>,
) -> [f64; 4] {
    let y = f(D3::variable(D2::variable(D1::variable(x, 0), 0), 0));
    let second = y.value.eps[0].eps[0];
    let steep = y.value.value.eps[0].is_infinite();
    let same = |other: f64| {
        (other - second).abs() <= 1e-15 * second.abs()
            || other == second
            || (second.is_nan() && (steep || other.is_nan()))
    };
    let h = hyper(H::variable(x, 0, 0));
    assert!(same(h.eps12[0][0]), "f''({x}): nested {second}, hyper-dual {h}");
    let s = symmetric(Dual2::variable(x, 0));
    assert!(same(s.hess[0][0]), "f''({x}): nested {second}, symmetric {s}");
    [y.value.value.value, y.value.value.eps[0], second, y.eps[0].eps[0].eps[0]]
}

macro_rules! at {
    ($x:expr, |$v:ident| $body:expr) => {
        derivatives($x, |$v| $body, |$v| $body, |$v| $body)
    };
}

#[test]
fn integer_exponents_at_zero() {
    assert_eq!(at!(0.0, |x| x.powi(0)), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(at!(0.0, |x| x.powi(1)), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(at!(0.0, |x| x.powi(2)), [0.0, 0.0, 2.0, 0.0]);
    assert_eq!(at!(0.0, |x| x.powi(3)), [0.0, 0.0, 0.0, 6.0]);
    assert_eq!(at!(0.0, |x| x.powi(4)), [0.0, 0.0, 0.0, 0.0]);
    assert_eq!(at!(-2.0, |x| x.powi(-3)), [-0.125, -0.1875, -0.375, -0.9375]);
    assert_eq!(at!(1.0, |x| x.powi(2000))[1..3], [2000.0, 2000.0 * 1999.0]);
    assert_eq!(at!(1.0, |x| x.powi(50_000))[1..3], [5e4, 5e4 * 49_999.0]);
    let max = f64::from(i32::MAX);
    assert_eq!(at!(1.0, |x| x.powi(i32::MAX))[1..3], [max, max * (max - 1.0)]);
    let min = f64::from(i32::MIN);
    assert_eq!(at!(1.0, |x| x.powi(i32::MIN))[1..3], [min, min * (min - 1.0)]);
}

#[test]
fn float_exponents_at_zero() {
    assert_eq!(at!(0.0, |x| x.powf(0.0)), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(at!(0.0, |x| x.powf(1.0)), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(at!(0.0, |x| x.powf(2.0)), [0.0, 0.0, 2.0, 0.0]);
    assert_eq!(at!(0.0, |x| x.powf(3.0)), [0.0, 0.0, 0.0, 6.0]);
    assert_eq!(at!(0.0, |x| x.powf(2.5))[..3], [0.0, 0.0, 0.0]);
    assert_eq!(at!(0.0, |x| x.powf(1.875))[..3], [0.0, 0.0, INF]);
    assert_eq!(D1::variable(0.0, 0).powf(0.3).eps, [INF]);
    assert_eq!(H::variable(0.0, 0, 0).powf(0.3).eps12, [[-INF]]);
    // S020: x (1 - x^1.1): f' = 1, f'' = 0.
    assert_eq!(at!(0.0, |x| x * (1.0 - x.powf(1.1)))[..2], [0.0, 1.0]);
}

#[test]
fn negative_bases() {
    assert_eq!(at!(-2.0, |x| x.powf(2.0)), [4.0, -4.0, 2.0, 0.0]);
    assert_eq!(at!(-2.0, |x| x.powf(3.0)), [-8.0, 12.0, -12.0, 6.0]);
    assert!(D1::variable(-2.0, 0).powf(2.5).parts().iter().all(|t| t.is_nan()));
    // A constant number as the exponent never asks for the derivative in the exponent.
    assert_eq!(at!(-2.0, |x| x.powd(2.0.into())), [4.0, -4.0, 2.0, 0.0]);
    assert_eq!(at!(-2.0, |x| x.powd(0.0.into())), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(at!(-2.0, |x| x.powd(1.0.into())), [-2.0, 1.0, 0.0, 0.0]);
    // A varying one has none.
    let y = D1::constant(-2.0).powf(D1::variable(2.0, 0));
    assert!(y.value == 4.0 && y.eps[0].is_nan(), "{y}");
}

#[test]
fn constant_exponents_as_numbers_equal_floats() {
    for p in [0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 1.5, 2.5] {
        for x in [0.0, 0.7, 3.0, 1e-310, 1e10] {
            let [a, b] = [at!(x, |x| x.powf(p)), at!(x, |x| x.powd(p.into()))];
            for (k, (a, b)) in a.iter().zip(b).enumerate() {
                let loud = |x: f64| x.is_nan() || x.is_infinite();
                let close = *a == b || (a - b).abs() <= 1e-15 * b.abs() || (loud(*a) && loud(b));
                assert!(close, "order {k} of {x}^{p}: {a:e} {b:e}");
            }
        }
    }
}

/// All partial derivatives of a^b up to order 3 by nesting, `[f_a, f_b, f_aa, f_ab, f_bb, f_aab, f_abb]`.
fn partials(a: f64, b: f64) -> [f64; 7] {
    let number = |x: f64, seeds: [f64; 3]| {
        let one = D1::new(x, [seeds[0]]);
        let two = D2::new(one, [seeds[1].into()]);
        D3::new(two, [D2::constant(seeds[2].into())])
    };
    let third = |s: [f64; 3], t: [f64; 3]| number(a, s).powd(number(b, t)).eps[0].eps[0].eps[0];
    let y = |s: [f64; 3], t: [f64; 3]| number(a, s).powd(number(b, t)).value;
    let (on, off) = ([1.0; 3], [0.0; 3]);
    let ab = y([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).eps[0].eps[0];
    let ba = y([0.0, 1.0, 0.0], [1.0, 0.0, 0.0]).eps[0].eps[0];
    // The hyper-dual and symmetric forms say the same; beside an infinite f_a nested numbers may say NaN.
    let h = H::new(a, [1.0], [0.0], [[0.0]]).powd(H::new(b, [0.0], [1.0], [[0.0]])).eps12[0][0];
    let s = Dual2::<f64, 2>::variable(a, 0).powd(Dual2::variable(b, 1)).hess[0][1];
    let steep = h.is_infinite();
    let agree = |x: f64| x == h || (x - h).abs() <= 1e-14 * h.abs() || (x.is_nan() && (steep || h.is_nan()));
    assert!(h == s && agree(ab) && agree(ba), "{a}^{b}: {h} {s} {ab} {ba}");
    [
        y(on, off).value.eps[0],
        y(off, on).value.eps[0],
        y(on, off).eps[0].eps[0],
        h,
        y(off, on).eps[0].eps[0],
        third([1.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
        third([1.0, 0.0, 0.0], [0.0, 1.0, 1.0]),
    ]
}

#[track_caller]
fn close(got: [f64; 7], want: [f64; 7]) {
    for (k, (got, want)) in got.iter().zip(want).enumerate() {
        assert!(got == &want || (got - want).abs() <= 4e-15 * want.abs(), "part {k}: {got:?} {want:?}");
    }
}

#[test]
fn both_operands_vary() {
    let l = 2.0_f64.ln();
    // a = 2, b = 3: a^b = 8.
    close(
        partials(2.0, 3.0),
        [
            12.0,
            8.0 * l,
            12.0,
            4.0 * (1.0 + 3.0 * l),
            8.0 * l * l,
            2.0 * (5.0 + 6.0 * l),
            4.0 * l * (2.0 + 3.0 * l),
        ],
    );
    // An exponent of value 0 or 1 that varies is not a constant: no branch may drop its tangent.
    close(partials(2.0, 0.0), [0.0, l, 0.0, 0.5, l * l, -0.25, l]);
    close(partials(2.0, 1.0), [1.0, 2.0 * l, 0.0, 1.0 + l, 2.0 * l * l, 0.5, l * (2.0 + l)]);
}

#[test]
fn base_zero_with_a_varying_exponent() {
    // S016: x^y at (0, 2).
    let p = partials(0.0, 2.0);
    assert_eq!(p[..5], [0.0, 0.0, 2.0, 0.0, 0.0]);
    assert_eq!(p[5], -INF, "2 ln x + 3");
    // x^1: d2/dxdy = 1 + ln x.
    let p = partials(0.0, 1.0);
    assert_eq!(p[..2], [1.0, 0.0]);
    assert_eq!((p[3], p[4]), (-INF, 0.0));
    // x^y at (0, 0.5).
    let p = partials(0.0, 0.5);
    assert_eq!((p[0], p[1], p[3], p[4]), (INF, 0.0, -INF, 0.0));
    let p = partials(0.0, 4.0);
    assert_eq!(p, [0.0; 7]);
    // 0^0: constant in the base, -inf in the exponent.
    let y = D1::constant(0.0).powf(D1::variable(0.0, 0));
    assert_eq!((y.value, y.eps[0]), (1.0, -INF));
    assert_eq!(D1::variable(0.0, 0).powf(D1::constant(0.0)).eps, [0.0]);
    // The limits at infinity.
    let y = D1::constant(INF).powf(D1::variable(-2.0, 0));
    assert_eq!((y.value, y.eps[0]), (0.0, 0.0));
}

#[test]
fn powers_of_nan() {
    assert_eq!(f64::NAN.powf(0.0), 1.0);
    let y = D1::constant(f64::NAN).powf(0.0);
    assert_eq!((y.value, y.eps[0]), (1.0, 0.0));
    assert_eq!(D1::constant(f64::NAN).powi(0).eps, [0.0]);
    assert!(D1::variable(f64::NAN, 0).powi(2).eps[0].is_nan());
}
