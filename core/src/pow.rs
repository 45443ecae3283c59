//! Powers: the cases that a formula `n x^(n-1)` gets wrong, and the conventions.
//!
//! 1. `x^0` is the constant 1, for every `x` (also 0 and `NaN`): all derivatives are 0.
//! 2. `x^1`: first derivative 1, second 0, also at 0. In general a factor `n`, `n - 1` that is zero ends the chain
//!    before `0 * 0^(-1)` can make a `NaN`.
//! 3. Integer powers of negative numbers are ordinary; other powers of negative numbers are `NaN`.
//! 4. `a^b` at `a = 0`, `b > 0`: the value is 0 and so is the derivative in `b`, the limit of a^b ln a.
//! 5. `a^b` at `a = 0`, `b = 0`: the value is 1; the derivative in `a` is 0 (case 1), the one in `b` is `-inf`: strong zeros keep a constant exponent clean.
//! 6. `a^b` at `a < 0`: the derivative in `b` does not exist (`NaN`); a constant integer `b` never asks for it.

use nalgebra::ComplexField;
use num_traits::Float;

use crate::far::{Far, is_normal, wide};
use crate::rules::{Elementary, from_above, lit};
use crate::special::scaled;
use crate::{Lift, Real};

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
        i32::MIN => scaled(T::Fns::powi(x, n), n.into()) * x.recip(),
        _ => scaled(T::Fns::powi(x, n - 1), n.into()),
    }
}

/// n (n-1) x^(n-2).
pub(crate) fn powi_second<T: Real>(x: T, n: i32) -> T {
    match n {
        0 | 1 => T::zero(),
        2 => lit(2.0),
        _ if n < i32::MIN + 2 => {
            scaled(T::Fns::powi(x, n), f64::from(n) * (f64::from(n) - 1.0)) * (x * x).recip()
        }
        _ => scaled(T::Fns::powi(x, n - 2), f64::from(n) * (f64::from(n) - 1.0)),
    }
}

/// p x^(p-1).
pub(crate) fn powf_first<T: Real>(x: T, p: T::Base) -> T {
    let one = <T::Base as num_traits::One>::one();
    if p == <T::Base as num_traits::Zero>::zero() {
        T::zero()
    } else {
        const_less(x, p, one).strong_mul(T::from_base(p))
    }
}

/// p (p-1) x^(p-2).
pub(crate) fn powf_second<T: Real>(x: T, p: T::Base) -> T {
    let one = <T::Base as num_traits::One>::one();
    if p == <T::Base as num_traits::Zero>::zero() || p == one {
        T::zero()
    } else {
        const_less(x, p, one + one).strong_mul(T::from_base(p * (p - one)))
    }
}

/// b a^(b-1) in floats; 0 at b = 0 (case 1).
pub(crate) fn slope<F: Float>(a: F, b: F) -> F {
    if b.is_zero() {
        return F::zero();
    }
    let less = b - F::one();
    let power = b * a.powf(less);
    let lost = lost(b, F::one(), less);
    if lost.is_zero() || !power.is_normal() { power } else { power + power * (lost * a.ln()) }
}

/// What rounding `b - k` to `less` lost, exactly: (b - k) - less.
///
/// A relative error of 1e-16 in an exponent becomes one of 1e-16 ln a in the power: 500 units in the last place at
/// the ends of the range.
#[inline]
fn lost<F: Copy + core::ops::Sub<Output = F> + core::ops::Add<Output = F>>(b: F, k: F, less: F) -> F {
    let part = less - b;
    (b - (less - part)) - (k + part)
}

/// `power` = a^less corrected to a^(less + lost). The factor 1 + lost ln a counts as a constant: its derivatives change
/// those of the power by a relative `lost`.
#[inline]
fn corrected<T: Real>(power: T, a: T, lost: T::Base) -> T {
    let (zero, one) = (num_traits::zero::<T::Base>(), num_traits::one::<T::Base>());
    let ordinary = power.is_finite() && a.is_finite() && a > T::zero();
    if lost == zero || !ordinary {
        power
    } else {
        power.strong_mul(T::from_base(one + lost * ComplexField::ln(a.base())))
    }
}

/// x^(p-k) for constants.
#[inline]
fn const_less<T: Real>(x: T, p: T::Base, k: T::Base) -> T {
    let less = p - k;
    corrected(T::Fns::powf_const(x, less), x, lost(p, k, less))
}

/// a^(b-k).
#[inline]
fn less<T: Real>(a: T, b: T, k: f64) -> T {
    let k = lit::<T>(k);
    let less = b - k;
    corrected(T::Fns::powd(a, less), a, lost(b.base(), k.base(), less.base()))
}

/// a^b ln a in floats; 0 at a = 0, b > 0 (case 4) and at a = inf, b < 0.
pub(crate) fn log_slope<F: Float>(a: F, b: F) -> F {
    let y = a.powf(b);
    if y.is_zero() && (a.is_zero() || a == F::infinity()) { y } else { y * a.ln() }
}

/// a^b: [b a^(b-1), a^b ln a].
#[inline(always)]
pub(crate) fn powd_first<T: Real>(a: T, b: T, y: T) -> [T; 2] {
    let in_b = if T::ORDER > 0 { T::Fns::pow_log(a, b) } else { times(a, y, a.ln()) };
    [T::Fns::pow_slope(a, b), in_b]
}

/// a^b: [b (b-1) a^(b-2), a^(b-1) (1 + b ln a), a^b ln² a].
pub(crate) fn powd_second<T: Real>(a: T, b: T, y: T) -> [T; 3] {
    let [aa, ab] = slope_first(a, b);
    let [_, bb] = log_slope_first(a, b, times(a, y, a.ln()));
    [aa, ab, bb]
}

/// b a^(b-1): [b (b-1) a^(b-2), a^(b-1) (1 + b ln a)]. A factor b or b - 1 that is zero ends the chain (case 2).
pub(crate) fn slope_first<T: Real>(a: T, b: T) -> [T; 2] {
    [less(a, b, 2.0).strong_mul(b * (b - T::one())), mixed(a, b)]
}

/// b a^(b-1): [b (b-1) (b-2) a^(b-3), a^(b-2) (b - 1 + b + b (b-1) ln a), a^(b-1) ln a (2 + b ln a)].
pub(crate) fn slope_second<T: Real>(a: T, b: T) -> [T; 3] {
    let (one, two, l) = (T::one(), lit::<T>(2.0), a.ln());
    [
        less(a, b, 3.0).strong_mul(b * (b - one) * (b - two)),
        times(a, less(a, b, 2.0), (b - one) * T::Fns::one_plus_log(a, b) + b),
        times(a, times(a, less(a, b, 1.0), l), two + b * l),
    ]
}

/// y = a^b ln a: [a^(b-1) (1 + b ln a), a^b ln² a].
pub(crate) fn log_slope_first<T: Real>(a: T, b: T, y: T) -> [T; 2] {
    [mixed(a, b), times(a, y, a.ln())]
}

/// a^b ln a: [a^(b-2) (b - 1 + b + b (b-1) ln a), a^(b-1) ln a (2 + b ln a), a^b ln³ a].
pub(crate) fn log_slope_second<T: Real>(a: T, b: T) -> [T; 3] {
    let [_, aab, abb] = slope_second(a, b);
    let l = a.ln();
    [aab, abb, times(a, times(a, times(a, T::Fns::powd(a, b), l), l), l)]
}

/// a^(b-1) (1 + b ln a): at a = 0 the limit is 0 for b > 1 and -inf for 0 < b <= 1.
fn mixed<T: Real>(a: T, b: T) -> T {
    times(a, less(a, b, 1.0), T::Fns::one_plus_log(a, b))
}

/// A power of `a` times a factor with ln a in it. Where the logarithm is infinite, at 0 and at infinity, a power that
/// is 0 beats it; its tangents, which may not be 0, still meet the infinite factor.
#[inline(always)]
fn times<T: Real>(a: T, power: T, log: T) -> T {
    if a == T::zero() || !a.is_finite() { log.strong_mul(power) } else { power * log }
}

/// 1 + b ln a in floats. Where the sum cancels, ln a is computed with a correction term.
pub(crate) fn one_plus_log<F: Float>(a: F, b: F) -> F {
    let p = b * a.ln();
    let cancels = p > F::from(-2.0).unwrap_or_else(F::nan) && p < F::from(-0.5).unwrap_or_else(F::nan);
    match (a.to_f64(), b.to_f64()) {
        (Some(a), Some(b)) if cancels => F::from(one_plus_log_extended(a, b)).unwrap_or_else(F::nan),
        _ => F::one() + p,
    }
}

/// ln a = k ln 2 + 2 atanh s with s = (m - 1)/(m + 1), a = 2^k m; head and correction are kept apart.
fn one_plus_log_extended(a: f64, b: f64) -> f64 {
    const LN_2_HEAD: f64 = 6.931_471_803_691_238e-1; // 32 bits: k times it is exact
    const LN_2_REST: f64 = 1.908_214_929_270_587_7e-10;
    let two_sum = |x: f64, y: f64| {
        let sum = x + y;
        let part = sum - x;
        (sum, (x - (sum - part)) + (y - part))
    };
    let k = Float::round(Float::log2(a));
    // In two steps: 2^-k alone may overflow.
    let half = Float::trunc(k / 2.0);
    let m = a * Float::exp2(-half) * Float::exp2(half - k);
    let (den, den_rest) = two_sum(m, 1.0);
    let num = m - 1.0;
    let s = num / den;
    let s_rest = (Float::mul_add(-s, den, num) - s * den_rest) / den;
    let z = s * s;
    let mut tail = 0.0;
    for n in (1..16).rev() {
        tail = z * (1.0 / f64::from(2 * n + 1) + tail);
    }
    let (head, rest) = two_sum(k * LN_2_HEAD, 2.0 * s);
    let rest = rest + k * LN_2_REST + 2.0 * (s_rest + s * tail);
    let product = b * head;
    let product_rest = Float::mul_add(b, head, -product);
    let (sum, sum_rest) = two_sum(1.0, product);
    sum + (sum_rest + product_rest + b * rest)
}

/// 1/(x ln b) for a constant base.
pub(crate) fn log_base_first<T: Real>(x: T, b: T::Base) -> T {
    let scale = T::from_base(ComplexField::ln(b));
    x.recip().strong_mul(scale.recip())
}

/// y = ln a / ln b: [1/(a ln b), -y/(b ln b)].
#[inline(always)]
pub(crate) fn log_first<T: Real>(a: T, b: T, y: T) -> [T; 2] {
    let (a, b) = (from_above(a), from_above(b));
    log_first_at(a.recip(), b.recip(), b.ln().recip(), y)
}

/// [-1/(a² ln b), -1/(a b ln² b), y (ln b + 2)/(b² ln² b)].
pub(crate) fn log_second<T: Real>(a: T, b: T, y: T) -> [T; 3] {
    let (a, b) = (from_above(a), from_above(b));
    log_second_at(a.recip(), b.recip(), b.ln().recip(), y)
}

/// From 1/a, 1/b and r = 1/ln b.
#[inline(always)]
fn log_first_at<T: Real>(ra: T, rb: T, r: T, y: T) -> [T; 2] {
    [ra.strong_mul(r), -(y * rb * r)]
}

fn log_second_at<T: Real>(ra: T, rb: T, r: T, y: T) -> [T; 3] {
    let ra_r = ra.strong_mul(r);
    [-(ra * ra_r), -(ra_r * rb * r), y * rb * rb * r * (T::one() + (r + r))]
}

// Where a is far from 1 (see `far.rs`): a^(b-k) = c z^b/a^k with z = a/s near 1 and c = s^(b-k), so that the derivatives
// in z are those of z^b times c. Those in b keep ln a.

/// a, b and what the derivatives of powers consist of, with a = s z.
struct Split<D: Lift> {
    /// z, tangents and all.
    near: D,
    z: D::Inner,
    a: D::Inner,
    b: D::Inner,
    /// s^(b-k), an ordinary number.
    c: D::Inner,
}

impl<D: Lift> Split<D> {
    /// For a^(b-k) and its derivatives.
    #[inline(always)]
    fn of(a: D, b: D, k: f64) -> Option<Self> {
        let degree = wide(b.base()) - k;
        let far = Far::of(a, Some(degree).filter(|degree| Float::is_finite(*degree)))?;
        Self::at(far, a, b, k)
    }

    #[cold]
    #[inline(never)]
    fn at(far: Far, a: D, b: D, k: f64) -> Option<Self> {
        let near = far.near(a);
        let (a, b) = (a.inner(), b.inner());
        let c =
            if k == 0.0 { <D::Inner as Real>::Fns::powd(far.scale(), b) } else { less(far.scale(), b, k) };
        is_normal(c).then(|| Self { near, z: near.inner(), a, b, c })
    }

    /// c z^(b-k).
    fn power(&self, k: f64) -> D::Inner {
        self.c * less(self.z, self.b, k)
    }

    /// ln a.
    fn log(&self) -> D::Inner {
        self.a.ln()
    }

    /// 1 + b ln a.
    fn plus(&self) -> D::Inner {
        <D::Inner as Real>::Fns::one_plus_log(self.a, self.b)
    }

    /// c z^(b-2) (b - 1 + b + b (b-1) ln a).
    fn second(&self) -> D::Inner {
        self.power(2.0) * ((self.b - num_traits::one()) * self.plus() + self.b)
    }
}

/// a^b.
#[inline(always)]
pub(crate) fn far_power<D: Lift>(a: D, b: D, y: D::Inner) -> Option<D> {
    let s = Split::of(a, b, 0.0)?;
    let one = num_traits::one::<D::Inner>();
    let first = || [s.c * <D::Inner as Real>::Fns::pow_slope(s.z, s.b), y * s.log()];
    let second = || {
        let aa = s.power(2.0).strong_mul(s.b * (s.b - one));
        [aa, s.power(1.0) * s.plus(), y * s.log() * s.log()]
    };
    Some(s.near.chain2(b, y, first, second))
}

/// b a^(b-1).
#[inline(always)]
pub(crate) fn far_slope<D: Lift>(a: D, b: D, y: D::Inner) -> Option<D> {
    let s = Split::of(a, b, 1.0)?;
    let (one, two) = (num_traits::one::<D::Inner>(), lit::<D::Inner>(2.0));
    let first = || [s.power(2.0).strong_mul(s.b * (s.b - one)), s.power(1.0) * s.plus()];
    let second = || {
        let aa = s.power(3.0).strong_mul(s.b * (s.b - one) * (s.b - two));
        [aa, s.second(), s.power(1.0) * s.log() * (two + s.b * s.log())]
    };
    Some(s.near.chain2(b, y, first, second))
}

/// a^b ln a.
#[inline(always)]
pub(crate) fn far_log<D: Lift>(a: D, b: D, y: D::Inner) -> Option<D> {
    let s = Split::of(a, b, 0.0)?;
    let first = || [s.power(1.0) * s.plus(), y * s.log()];
    let second = || {
        let ab = s.power(1.0) * s.log() * (lit::<D::Inner>(2.0) + s.b * s.log());
        [s.second(), ab, y * s.log() * s.log()]
    };
    Some(s.near.chain2(b, y, first, second))
}

/// 1 + b ln a.
#[inline(always)]
pub(crate) fn far_one_plus_log<D: Lift>(a: D, b: D, y: D::Inner) -> Option<D> {
    let z = Far::of(a, Some(0.0))?.near(a);
    let (r, log, b_inner) = (z.inner().recip(), a.inner().ln(), b.inner());
    let second = || [-(b_inner * r) * r, r, num_traits::zero()];
    Some(z.chain2(b, y, || [b_inner * r, log], second))
}

/// ln a/ln b, in what is left of a and b without powers of two.
#[inline(always)]
pub(crate) fn far_log_of<D: Lift>(a: D, b: D, y: D::Inner) -> Option<D> {
    let (far_a, far_b) = (Far::of(a, Some(0.0)), Far::of(b, Some(0.0)));
    far_a.or(far_b)?;
    // Of subnormal numbers the derivatives of ln are infinite.
    let ordinary = |x: D| x > D::zero() && is_normal(x);
    // ln 1 = 0 has its own case in the usual formulas.
    if !(ordinary(a) && ordinary(b) && b != D::one()) {
        return None;
    }
    let near = |x: D, far: Option<Far>| far.map_or(x, |far| far.near(x));
    let (z, w) = (near(a, far_a), near(b, far_b));
    let (rz, rw, r) = (z.inner().recip(), w.inner().recip(), b.inner().ln().recip());
    Some(z.chain2(w, y, || log_first_at(rz, rw, r, y), || log_second_at(rz, rw, r, y)))
}
