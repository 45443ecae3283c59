//! The gamma function and its logarithmic derivatives.

#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// Gamma(x); +-inf at +-0, NaN at the negative integers and at -inf (C's tgamma).
pub(crate) fn gamma(x: f64) -> f64 {
    libm::tgamma(x)
}

/// ln|Gamma(x)|; +inf at the poles and at -inf (C's lgamma).
pub(crate) fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The positive zero of digamma as a sum of two doubles.
const ZERO: (f64, f64) = (1.4616321449683622, 9.549995429965697e-17);

/// digamma(x)/(x - zero) on [1, 2] as a polynomial in t = 2x - 3, from its Chebyshev series: the relative
/// error is below 5e-17 and survives at the zero because the zero is a factor.
const NEAR_ZERO: [f64; 23] = [
    0.9510558760318328,
    -0.2118137106407303,
    0.06013562106019684,
    -0.018550615381735008,
    0.005936795278301761,
    -0.0019350666648613071,
    0.0006368880303865817,
    -0.00021074841138175561,
    6.995018825112794e-05,
    -2.3258242519113285e-05,
    7.741234508636364e-06,
    -2.578093954045772e-06,
    8.589060721930695e-07,
    -2.863161166883193e-07,
    9.543298288278275e-08,
    -3.162911147408454e-08,
    1.0527692435026686e-08,
    -3.7083753242807277e-09,
    1.2469984616707403e-09,
    -2.7580994814377e-10,
    8.734528429142953e-11,
    -8.50550766013261e-11,
    2.918622732168261e-11,
];

/// B_2j/(2j), j = 1..8: the asymptotic series of digamma (DLMF 5.11.2).
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32760.0,
    1.0 / 12.0,
    -3617.0 / 8160.0,
];

/// B_2j/(2j)!, j = 1..13: the corrections of the Euler-Maclaurin formula.
const EULER_MACLAURIN: [f64; 13] = [
    0.08333333333333333,
    -0.001388888888888889,
    3.306878306878307e-05,
    -8.267195767195768e-07,
    2.08767569878681e-08,
    -5.284190138687493e-10,
    1.3382536530684679e-11,
    -3.3896802963225827e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
    5.5090028283602295e-18,
    -1.3954464685812522e-19,
    3.534707039629467e-21,
];

fn horner(coefficients: &[f64], t: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, &c| sum * t + c)
}

/// The signed distance to the nearest integer, exact, so that a pole keeps the relative accuracy of its neighbours.
fn distance(x: f64) -> f64 {
    x - x.round()
}

/// pi cot(pi r) for |r| <= 1/2.
fn pi_cot_pi(r: f64) -> f64 {
    use core::f64::consts::PI;
    if r.abs() <= 0.25 { PI / (PI * r).tan() } else { (PI * (0.5 - r.abs())).tan() * PI.copysign(r) }
}

/// psi(x) = Gamma'(x)/Gamma(x).
pub(crate) fn digamma(x: f64) -> f64 {
    if x <= 0.0 {
        if x == 0.0 {
            return -1.0 / x;
        }
        let r = distance(x);
        // -inf is no number to reflect; the integers are poles with different signs on their two sides.
        if x == f64::NEG_INFINITY || r == 0.0 {
            return f64::NAN;
        }
        // psi(1 - x) - psi(x) = pi cot(pi x) (DLMF 5.5.4)
        return digamma(1.0 - x) - pi_cot_pi(r);
    }
    if x >= 10.0 {
        let inverse = 1.0 / x;
        return x.ln() - 0.5 * inverse - inverse * inverse * horner(&STIRLING, inverse * inverse);
    }
    // psi(x + 1) = psi(x) + 1/x until 1 <= x <= 2; going down is exact and all terms are positive.
    let (mut base, mut sum) = (x, 0.0);
    while base > 2.0 {
        base -= 1.0;
        sum += 1.0 / base;
    }
    if base < 1.0 {
        sum -= 1.0 / base;
        base += 1.0;
    }
    ((base - ZERO.0) - ZERO.1) * horner(&NEAR_ZERO, 2.0 * base - 3.0) + sum
}

/// n!/a^(n+1), without forming either.
fn power_term(n: u32, a: f64) -> f64 {
    let mut term = 1.0 / a;
    for i in 1..=n {
        term *= f64::from(i) / a;
    }
    term
}

/// The sum of n!/(a + k)^(n+1) over k = 0, 1, ...: n! zeta(n + 1, a) for a > 0, by the Euler-Maclaurin formula.
fn power_sum(n: u32, a: f64) -> f64 {
    let order = f64::from(n);
    let (mut shifted, mut sum) = (a, 0.0);
    // From here on the corrections fall below 1e-17 of the sum before they start to grow.
    while shifted < order + 15.0 {
        sum += power_term(n, shifted);
        shifted += 1.0;
    }
    let inverse = 1.0 / shifted;
    let mut tail = shifted / order + 0.5;
    // (n + 1) ... (n + 2j - 1)/shifted^(2j - 1)
    let mut factor = (order + 1.0) * inverse;
    for (j, coefficient) in EULER_MACLAURIN.iter().enumerate() {
        tail += coefficient * factor;
        let next = order + 2.0 * j as f64 + 2.0;
        factor *= (next * inverse) * ((next + 1.0) * inverse);
    }
    let term = power_term(n, shifted);
    if term.is_normal() {
        sum + term * tail
    } else {
        // n!/shifted^(n+1) may leave the range before the sum, which is shifted/n times as large, does.
        sum + power_term(n - 1, shifted) * (tail * inverse * order)
    }
}

/// The n-th derivative of digamma.
pub(crate) fn polygamma(x: f64, n: u32) -> f64 {
    if n == 0 {
        return digamma(x);
    }
    let sign = if n % 2 == 1 { 1.0 } else { -1.0 };
    if x.is_nan() || x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return 0.0 * sign;
    }
    if x > 0.0 {
        return sign * power_sum(n, x);
    }
    if x == 0.0 {
        return sign * power_term(n, x);
    }
    let r = distance(x);
    if r == 0.0 {
        // Odd orders go to +inf on both sides of a pole, even ones change sign there.
        return if n % 2 == 1 { f64::INFINITY } else { f64::NAN };
    }
    // The terms of the sum over x + k, by their place: left of the nearest pole, at it, right of it. Those on the
    // left are (-1)^(n+1) n!/(1 - r + j)^(n+1), j = 0 .. count - 1.
    let count = -x.round();
    let left = if count <= 24.0 {
        let mut sum = 0.0;
        let mut j = count;
        while j >= 1.0 {
            j -= 1.0;
            sum += power_term(n, 1.0 - r + j);
        }
        sum
    } else {
        power_sum(n, 1.0 - r) - power_sum(n, 1.0 - x)
    };
    sign * (power_term(n, r) + (power_sum(n, 1.0 + r) + sign * left))
}
