//! Functions of a point in the plane: atan2 and hypot. Quotients by the radius come first, so that no square of a
//! coordinate overflows or underflows.
//!
//! With c = x/r, s = y/r and z = x + iy the angle is θ = Im ln z, so its derivatives are parts of powers of
//! 1/z = (c - is)/r: products, in which a difference of squares cancels only where the derivative has a zero. The same
//! holds for the radius through the unit vector (c, s). Numbers nested deeper than the rows of the table differentiate
//! these products by the product rule.

use num_traits::Float;

use crate::Real;
use crate::rules::{Elementary, lit};

/// x/√(x² + y²) in floats, also where the radius overflows. `NaN` at the origin and between two infinities, where
/// there is no direction.
pub(crate) fn direction<F: Float>(x: F, y: F) -> F {
    if x.is_infinite() {
        return if y.is_infinite() { F::nan() } else { F::one().copysign(x) };
    }
    let r = x.hypot(y);
    if r.is_infinite() && !y.is_infinite() {
        // Both coordinates are finite: halve them.
        let half = F::one() / (F::one() + F::one());
        return (x * half) / (x * half).hypot(y * half);
    }
    x / r
}

/// x/r² in floats.
pub(crate) fn atan2_dy<F: Float>(y: F, x: F) -> F {
    direction(x, y) / y.hypot(x)
}

/// -y/r² in floats.
pub(crate) fn atan2_dx<F: Float>(y: F, x: F) -> F {
    -(direction(y, x) / y.hypot(x))
}

/// (c, s, r) of the point (x, y).
#[inline(always)]
fn polar<T: Real>(y: T, x: T) -> (T, T, T) {
    (T::Fns::direction(x, y), T::Fns::direction(y, x), y.hypot(x))
}

/// [Re, Im] of 1/z².
#[inline(always)]
fn inverse_square<T: Real>(y: T, x: T) -> [T; 2] {
    let (c, s, r) = polar(y, x);
    [difference_of_squares(c, s) / r / r, -((s + s) * c / r / r)]
}

/// c² - s² of a unit vector: as a product near the diagonals, where the difference cancels; as a difference near the
/// axes, where the tangents of the product do.
#[inline(always)]
fn difference_of_squares<T: Real>(c: T, s: T) -> T {
    let (cc, ss, half) = (c * c, s * s, lit::<T>(0.5));
    if ss < cc * half || cc < ss * half { cc - ss } else { (c - s) * (c + s) }
}

/// [Re, Im] of 2/z³.
#[inline(always)]
fn twice_inverse_cube<T: Real>(y: T, x: T) -> [T; 2] {
    let (c, s, r) = polar(y, x);
    let (cc, ss, three) = (c * c, s * s, lit::<T>(3.0));
    let scaled = |x: T| (x + x) / r / r / r;
    [scaled(c * (cc - three * ss)), scaled(s * (ss - three * cc))]
}

/// θ = atan2(y, x): [x, -y]/r².
#[inline(always)]
pub(crate) fn atan2_first<T: Real>(y: T, x: T) -> [T; 2] {
    let r = y.hypot(x);
    if T::ORDER == 0 && r.is_finite() {
        [x / r / r, -(y / r / r)]
    } else {
        [T::Fns::atan2_dy(y, x), T::Fns::atan2_dx(y, x)]
    }
}

/// θ = atan2(y, x): [θ_yy, θ_yx, θ_xx].
pub(crate) fn atan2_second<T: Real>(y: T, x: T) -> [T; 3] {
    let [re, im] = inverse_square(y, x);
    [im, -re, -im]
}

/// [θ_yy, θ_yx].
pub(crate) fn atan2_dy_first<T: Real>(y: T, x: T) -> [T; 2] {
    let [re, im] = inverse_square(y, x);
    [im, -re]
}

/// [θ_yx, θ_xx].
pub(crate) fn atan2_dx_first<T: Real>(y: T, x: T) -> [T; 2] {
    let [re, im] = inverse_square(y, x);
    [-re, -im]
}

/// [θ_yyy, θ_yyx, θ_yxx].
pub(crate) fn atan2_dy_second<T: Real>(y: T, x: T) -> [T; 3] {
    let [re, im] = twice_inverse_cube(y, x);
    [-re, -im, re]
}

/// [θ_yyx, θ_yxx, θ_xxx].
pub(crate) fn atan2_dx_second<T: Real>(y: T, x: T) -> [T; 3] {
    let [re, im] = twice_inverse_cube(y, x);
    [-im, re, im]
}

/// h = √(a² + b²): [a, b]/h.
#[inline(always)]
pub(crate) fn hypot_first<T: Real>(a: T, b: T, h: T) -> [T; 2] {
    if T::ORDER == 0 && h.is_finite() {
        [a / h, b / h]
    } else {
        [T::Fns::direction(a, b), T::Fns::direction(b, a)]
    }
}

/// h = √(a² + b²), with u = a/h and v = b/h: [v², -uv, u²]/h.
pub(crate) fn hypot_second<T: Real>(a: T, b: T, h: T) -> [T; 3] {
    let (u, v) = (T::Fns::direction(a, b), T::Fns::direction(b, a));
    [v * (v / h), -(u * (v / h)), u * (u / h)]
}

/// u = a/h: [v², -uv]/h.
pub(crate) fn direction_first<T: Real>(a: T, b: T) -> [T; 2] {
    let (u, v, h) = polar(b, a);
    [v * (v / h), -(u * (v / h))]
}

/// u = a/h: [-3uv², v(2u² - v²), u(2v² - u²)]/h².
pub(crate) fn direction_second<T: Real>(a: T, b: T) -> [T; 3] {
    let (u, v, h) = polar(b, a);
    let (uu, vv) = (u * u, v * v);
    let scaled = |x: T| x / h / h;
    [scaled(-(lit::<T>(3.0) * u * vv)), scaled(v * (uu + uu - vv)), scaled(u * (vv + vv - uu))]
}
