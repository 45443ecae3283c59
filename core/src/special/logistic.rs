//! The logistic function, its integral and its derivative.

#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// 1/(1 + exp(-x)); the exponential never overflows and the left tail keeps its relative accuracy.
pub(crate) fn logistic(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// exp(x)/(1 + exp(x))^2 = logistic(x) logistic(-x), an even function.
pub(crate) fn logistic_density(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    e / ((1.0 + e) * (1.0 + e))
}

/// ln(1 + exp x) = max(x, 0) + ln(1 + exp(-|x|)).
pub(crate) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
