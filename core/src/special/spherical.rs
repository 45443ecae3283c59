//! Spherical Bessel functions j_n and y_n and the modified i_n. sinc x = j_0(x), sinc_pi x = j_0(pi x),
//! sinhc x = i_0(x) and cosc x = -y_0(x), and the derivatives of each family stay in it: all that the cardinal
//! functions need near their singularities.

use core::f64::consts::PI;
#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// j_n(x) = (-x)^n (1/x d/dx)^n (sin x/x); 0 at +-inf.
pub(crate) fn sph_jn(x: f64, n: u32) -> f64 {
    let a = x.abs();
    odd(x, n, ordinary(a, n, || (a.sin(), a.cos())))
}

/// j_n(pi x), with sine and cosine of pi x taken after an exact reduction of x: exactly 0 at the zeros of j_0.
pub(crate) fn sph_jn_pi(x: f64, n: u32) -> f64 {
    let a = x.abs();
    odd(x, n, ordinary(PI * a, n, || sin_cos_pi(a)))
}

/// y_n(x) = -(-x)^n (1/x d/dx)^n (cos x/x); infinite at 0, 0 at +-inf. It grows with n where it is not of the size
/// of j_n, so the recurrence upwards is stable.
pub(crate) fn sph_yn(x: f64, n: u32) -> f64 {
    let a = x.abs();
    let y = if a == 0.0 {
        f64::NEG_INFINITY
    } else if a.is_finite() {
        let y0 = -a.cos() / a;
        if n == 0 { y0 } else { upward(a, n, y0, (y0 - a.sin()) / a, 1.0) }
    } else {
        return if a.is_nan() { x } else { 0.0 };
    };
    // The parity of n + 1.
    odd(x, n ^ 1, y)
}

/// i_n(x) = x^n (1/x d/dx)^n (sinh x/x); all its series terms are positive.
pub(crate) fn sph_in(x: f64, n: u32) -> f64 {
    let a = x.abs();
    odd(x, n, modified(a, n))
}

/// f(|x|) -> f(x) for a function with the parity of n.
fn odd(x: f64, n: u32, y: f64) -> f64 {
    if n % 2 == 1 && x.is_sign_negative() { -y } else { y }
}

/// sin(pi a), cos(pi a) for a >= 0.
fn sin_cos_pi(a: f64) -> (f64, f64) {
    // a mod 2 in [0, 2), then the nearest multiple of 1/2; both steps are exact.
    let a = a % 2.0;
    let quadrant = (2.0 * a).round();
    let t = PI * (a - 0.5 * quadrant);
    let (s, c) = (t.sin(), t.cos());
    match quadrant as u32 % 4 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

/// x^n/(2n+1)!! times the sum of (+-x^2/2)^k/(k! (2n+3)(2n+5)...(2n+2k+1)) (DLMF 10.53.1, 10.53.2).
fn series(x: f64, n: u32, half_square: f64) -> f64 {
    let mut power = 1.0;
    for k in 1..=n {
        power *= x / (2.0 * f64::from(k) + 1.0);
        if power == 0.0 {
            return 0.0;
        }
    }
    let (mut term, mut rest, mut k) = (1.0, 0.0, 1.0);
    let mut denominator = f64::from(n) * 2.0 + 3.0;
    while rest + term != rest {
        term *= half_square / (k * denominator);
        rest += term;
        k += 1.0;
        denominator += 2.0;
    }
    power + power * rest
}

/// j_n(x) for x >= 0.
fn ordinary(x: f64, n: u32, trigonometric: impl Fn() -> (f64, f64)) -> f64 {
    if !x.is_finite() {
        return if x.is_nan() { x } else { 0.0 };
    }
    let order = f64::from(n);
    if n > 0 && x * x < 2.0 * order + 3.0 {
        // The terms alternate, but the first ratio is at most 1/2.
        return series(x, n, -0.5 * x * x);
    }
    if x == 0.0 {
        return 1.0;
    }
    let (sin, cos) = trigonometric();
    let j0 = sin / x;
    if n == 0 {
        return j0;
    }
    let j1 = (j0 - cos) / x;
    if order <= x {
        return upward(x, n, j0, j1, 1.0);
    }
    // Above the turning point the recurrence is stable downwards only: start from the ratio j_{n+1}/j_n, a
    // continued fraction (DLMF 10.55), and scale by the larger of the known j_0 and j_1.
    let (mut high, mut low, mut wanted) = (ratio(x, n), 1.0, 1.0);
    for k in (1..=n).rev() {
        let next = (2.0 * f64::from(k) + 1.0) / x * low - high;
        (high, low) = (low, next);
        if low.abs() > 1e250 {
            (high, low, wanted) = (high * 1e-250, low * 1e-250, wanted * 1e-250);
        }
    }
    if j0.abs() > j1.abs() { wanted * (j0 / low) } else { wanted * (j1 / high) }
}

/// f_n from f_0 and f_1 through f_{k+1} = sign ((2k+1)/x f_k - f_{k-1}). An overflow stays: no inf - inf.
fn upward(x: f64, n: u32, f0: f64, f1: f64, sign: f64) -> f64 {
    let (mut low, mut high) = (f0, f1);
    for k in 1..n {
        if high.is_infinite() {
            break;
        }
        (low, high) = (high, sign * ((2.0 * f64::from(k) + 1.0) / x * high - low));
    }
    high
}

/// j_{n+1}(x)/j_n(x) = 1/((2n+3)/x - 1/((2n+5)/x - ...)) by the modified Lentz method.
fn ratio(x: f64, n: u32) -> f64 {
    let mut b = f64::from(n) * 2.0 + 3.0;
    let mut c = b / x;
    let mut fraction = c;
    let mut d = 0.0;
    loop {
        b += 2.0;
        d = 1.0 / (b / x - d);
        c = b / x - 1.0 / c;
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() <= f64::EPSILON {
            return 1.0 / fraction;
        }
    }
}

/// exp(x)/(2x), which sinh x/x and cosh x/x are to rounding from x = 40 on: finite a little beyond the overflow of exp.
pub(crate) fn exp_over_2x(x: f64) -> f64 {
    let root = (0.5 * x).exp();
    root / (2.0 * x) * root
}

/// i_n(x) for x >= 0. The recurrence i_{k+1} = i_{k-1} - (2k+1)/x i_k loses digits while x is small against n^2.
fn modified(x: f64, n: u32) -> f64 {
    if !x.is_finite() {
        return x;
    }
    let order = f64::from(n);
    if n > 0 && x < 0.5 * order * (order + 1.0) + 1.0 {
        return series(x, n, 0.5 * x * x);
    }
    if x == 0.0 {
        return 1.0;
    }
    let (i0, coshc) = if x < 40.0 { (x.sinh() / x, x.cosh() / x) } else { (exp_over_2x(x), exp_over_2x(x)) };
    if n == 0 || i0 == f64::INFINITY {
        return i0;
    }
    upward(x, n, i0, coshc - i0 / x, -1.0)
}
