//! Powers: the cases that a formula `n x^(n-1)` gets wrong, and the conventions.
//!
//! 1. `x^0` is the constant 1, for every `x` (also 0 and `NaN`): all derivatives are 0.
//! 2. `x^1`: first derivative 1, second 0, also at 0. In general a factor `n`, `n - 1` that is zero ends the chain
//!    before `0 * 0^(-1)` can make a `NaN`.
//! 3. Integer powers of negative numbers are ordinary; other powers of negative numbers are `NaN`.
//! 4. `a^b` at `a = 0`, `b > 0`: the value is 0 and so is the derivative in `b`, the limit of a^b ln a.
//! 5. `a^b` at `a = 0`, `b = 0`: the value is 1; the derivative in `a` is 0 (case 1), the one in `b` is `-inf`: strong zeros keep a constant exponent clean.
//! 6. `a^b` at `a < 0`: the derivative in `b` does not exist (`NaN`); a constant integer `b` never asks for it.

use num_traits::Float;

use crate::Real;
use crate::rules::{Elementary, lit};

/// The largest exponent that is worth a chain of multiplications: its rounding grows with the exponent.
const CHAIN: u32 = 16;

/// x^n for floats: a multiplication chain for small |n|, the same on every platform, and `powf` for large ones.
pub(crate) fn powi<F: Float>(x: F, n: i32) -> F {
    let m = n.unsigned_abs();
    if m > CHAIN {
        // Every i32 is a float of 53 bits; in single precision the exponent may round, so split it.
        return match F::from(n) {
            Some(e) if e.to_i32() == Some(n) => x.powf(e),
            _ => split(x, n),
        };
    }
    let p = chain(x, m);
    if n >= 0 {
        p
    } else if p.is_normal() {
        p.recip()
    } else {
        chain(x.recip(), m)
    }
}

/// x^n = x^(n - r) x^r where n - r is a float.
fn split<F: Float>(x: F, n: i32) -> F {
    let r = n % 256;
    match F::from(n - r) {
        Some(e) => x.powf(e) * powi(x, r),
        None => F::nan(),
    }
}

/// x^m by squaring.
#[inline]
fn chain<F: Float>(x: F, mut m: u32) -> F {
    let (mut power, mut out) = (x, F::one());
    while m > 0 {
        if m & 1 == 1 {
            out = out * power;
        }
        m >>= 1;
        if m > 0 {
            power = power * power;
        }
    }
    out
}

/// n x^(n-1).
pub(crate) fn powi_first<T: Real>(x: T, n: i32) -> T {
    match n {
        0 => T::zero(),
        1 => T::one(),
        2 => x + x,
        // One step below the smallest integer: x^(n-1) = x^n / x.
        i32::MIN => lit::<T>(n.into()) * T::Fns::powi(x, n) * x.recip(),
        _ => lit::<T>(n.into()) * T::Fns::powi(x, n - 1),
    }
}

/// n (n-1) x^(n-2).
pub(crate) fn powi_second<T: Real>(x: T, n: i32) -> T {
    match n {
        0 | 1 => T::zero(),
        2 => lit(2.0),
        _ if n < i32::MIN + 2 => {
            lit::<T>(f64::from(n) * (f64::from(n) - 1.0)) * T::Fns::powi(x, n) * (x * x).recip()
        }
        _ => lit::<T>(f64::from(n) * (f64::from(n) - 1.0)) * T::Fns::powi(x, n - 2),
    }
}

/// p x^(p-1).
pub(crate) fn powf_first<T: Real>(x: T, p: T::Base) -> T {
    let one = <T::Base as num_traits::One>::one();
    if p == <T::Base as num_traits::Zero>::zero() {
        T::zero()
    } else {
        T::from_base(p) * T::Fns::powf_const(x, p - one)
    }
}

/// p (p-1) x^(p-2).
pub(crate) fn powf_second<T: Real>(x: T, p: T::Base) -> T {
    let one = <T::Base as num_traits::One>::one();
    if p == <T::Base as num_traits::Zero>::zero() || p == one {
        T::zero()
    } else {
        T::from_base(p) * T::from_base(p - one) * T::Fns::powf_const(x, p - one - one)
    }
}

/// [b a^(b-1), a^b ln a].
pub(crate) fn powd_first<T: Real>(a: T, b: T, y: T) -> [T; 2] {
    let fa = if b == T::zero() { T::zero() } else { b * a.powf(b - T::one()) };
    let fb = if a == T::zero() && b > T::zero() { T::zero() } else { y * a.ln() };
    [fa, fb]
}

/// [b (b-1) a^(b-2), a^(b-1) (1 + b ln a), a^b ln² a].
pub(crate) fn powd_second<T: Real>(a: T, b: T, y: T) -> [T; 3] {
    let one = T::one();
    let faa = if b == T::zero() || b == one { T::zero() } else { b * (b - one) * a.powf(b - one - one) };
    if a == T::zero() && b > T::zero() {
        let mixed = if b > one { T::zero() } else { a.powf(b - one) * (one + b * a.ln()) };
        return [faa, mixed, T::zero()];
    }
    let l = a.ln();
    [faa, a.powf(b - one) * (one + b * l), y * (l * l)]
}

/// y = ln a / ln b: [1/(a ln b), -y/(b ln b)].
pub(crate) fn log_first<T: Real>(a: T, b: T, y: T) -> [T; 2] {
    let r = b.ln().recip();
    [a.recip() * r, -(y * b.recip() * r)]
}

/// [-1/(a² ln b), -1/(a b ln² b), y (ln b + 2)/(b² ln² b)].
pub(crate) fn log_second<T: Real>(a: T, b: T, y: T) -> [T; 3] {
    let (l, ra, rb) = (b.ln(), a.recip(), b.recip());
    let r = l.recip();
    [-(ra * ra * r), -(ra * rb * r * r), y * rb * rb * r * (T::one() + (r + r))]
}
