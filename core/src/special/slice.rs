//! Functions of a whole slice.

use crate::Real;
use crate::rules::{lit, unsigned};

/// ln Σ exp(x_i), without overflow: the largest entry is taken out, and the small ones keep their digits beside it.
///
/// The tangent is Σ p_i dx_i with the softmax weights p_i = exp(x_i)/Σ exp(x_j). An entry `-inf` has weight 0. The
/// value is that of the same call with floats, bit for bit; an empty slice gives `-inf`.
///
/// A single entry `inf` has weight 1, and so has a slice with the one entry `-inf`. Several entries `inf`, or none
/// but `-inf`, leave the weights undefined: the value is `±inf` and every lane in which one of them moves is `NaN`.
///
/// ```
/// use dualpack_core::{Dual, logsumexp};
/// let x: [Dual<f64, 2>; 2] = [Dual::variable(1000.0, 0), Dual::variable(1000.0, 1)];
/// let y = logsumexp(&x);
/// assert_eq!(y.value, 1000.0 + 2.0_f64.ln());
/// assert_eq!(y.eps, [0.5, 0.5]);
/// ```
pub fn logsumexp<T: Real>(x: &[T]) -> T {
    if x.is_empty() {
        return -T::zero().recip();
    }
    let mut largest = 0;
    for (i, xi) in x.iter().enumerate() {
        if xi.is_nan() {
            return x.iter().fold(*xi, |nan, &xi| nan.beside(xi)).exp();
        }
        if *xi > x[largest] {
            largest = i;
        }
    }
    let top = x[largest];
    if !top.is_finite() {
        // hypot has what is wanted of several infinities: an infinite value, and inf/inf as derivatives.
        let mut y = top;
        for (i, &xi) in x.iter().enumerate() {
            if i != largest && xi == top {
                y = y.hypot(xi);
            }
        }
        let y = if top < y { -y } else { y };
        // What the entries of other points, which are finite, would do to each other.
        let all = x.iter().fold(top, |all, &xi| all.beside(xi));
        return y.beside(all * all);
    }
    let shift = T::from_base(top.base());
    // exp(0) = 1 stands inside ln_1p; exp_m1 carries its tangents.
    let mut rest = (top - shift).exp_m1();
    for (i, &xi) in x.iter().enumerate() {
        if i != largest {
            rest += (xi - shift).exp();
        }
    }
    shift + rest.ln_1p()
}

/// √Σ x_i², without overflow or underflow of the squares.
///
/// The tangent is Σ x_i dx_i/‖x‖. The value is that of the same call with floats, bit for bit; an empty slice has
/// norm 0. The norm has no derivative at the zero vector: there every lane in which an entry moves is `NaN` and the
/// others are 0, as for `hypot`. For its square, sum the squares instead: that is smooth.
///
/// ```
/// use dualpack_core::{Dual, norm};
/// let x: [Dual<f64, 2>; 2] = [Dual::variable(3e200, 0), Dual::variable(4e200, 1)];
/// let y = norm(&x);
/// assert_eq!(y.value, 3e200_f64.hypot(4e200));
/// assert!((y.eps[0] - 0.6).abs() < 1e-15 && (y.eps[1] - 0.8).abs() < 1e-15);
/// ```
pub fn norm<T: Real>(x: &[T]) -> T {
    let mut largest = 0;
    for (i, &xi) in x.iter().enumerate() {
        if xi.is_nan() || unsigned(xi) > unsigned(x[largest]) {
            largest = i;
        }
    }
    let Some(&top) = x.get(largest) else {
        return T::zero();
    };
    // Between these bounds the sum of squares and its powers in the first three derivatives stay in the range of the
    // base float. Elsewhere hypot takes the quotients first, at the price of a root per entry; it starts from the
    // largest entry, so that zeros never meet zeros unless all are.
    let bound = lit::<T>(if size_of::<T::Base>() == size_of::<f32>() { 2e7 } else { 1e60 });
    if unsigned(top) < bound && unsigned(top) > bound.recip() {
        return x.iter().fold(T::zero(), |sum, &xi| sum + xi * xi).sqrt();
    }
    let mut norm = T::zero().hypot(top);
    for (i, &xi) in x.iter().enumerate() {
        if i != largest {
            norm = norm.hypot(xi);
        }
    }
    norm
}
