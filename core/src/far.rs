//! Powers and logarithms far from 1.
//!
//! The derivatives of x^p and ln x grow and shrink with powers of x: 1/x at 1e110 has a second derivative below the
//! smallest float, and one that is multiplied by the square of a tangent of the size of x is not small at all. What
//! rounds to zero there is lost without a word. So the argument is brought to z = x/s by a power of two, with its
//! tangents, where nothing is out of range: x^p = c z^p with c = x^p/z^p, and ln x = ln z + ln s.
//!
//! Where f'' is an ordinary number the derivatives are computed at x itself. Where c is below the smallest float, it is a
//! product of two factors, but for powers whose exponent is a number with tangents.
//!
//! Other functions are to rounding a power or a logarithm at one end of the range, up to a constant: atan x is
//! pi/2 - 1/x where x is large, the gamma function is 1/x where it is small. There they are differentiated as such
//! ([`asymptote`]). What is homogeneous in two arguments is scaled like powers ([`homogeneous`]).

use nalgebra::ComplexField;
use num_traits::{Float, one};

use crate::{Base, Lift, Real, pow};

/// The exponent p of the functions x^p, 0 for logarithms; none for all others, x^0 among them.
macro_rules! degree {
    (recip) => {
        Some(-1.0)
    };
    (sqrt) => {
        Some(0.5)
    };
    (cbrt) => {
        Some(1.0 / 3.0)
    };
    (ln) => {
        Some(0.0)
    };
    (log2) => {
        Some(0.0)
    };
    (log10) => {
        Some(0.0)
    };
    (log_base $base:ident) => {
        Some(0.0)
    };
    (powi $n:ident) => {
        Some(f64::from($n)).filter(|&n| n != 0.0)
    };
    (powf_const $p:ident) => {
        Some($crate::far::wide($p)).filter(|&p| p != 0.0)
    };
    ($other:ident $($parameter:ident)*) => {
        None
    };
}
pub(crate) use degree;

/// The binary exponent of an argument that is far from 1.
#[derive(Clone, Copy)]
pub(crate) struct Far {
    exponent: i32,
    degree: f64,
}

/// A base float as `f64`, exactly.
#[inline(always)]
pub(crate) fn wide<F: Base>(x: F) -> f64 {
    nalgebra::convert_unchecked(x)
}

fn is_single<F>() -> bool {
    size_of::<F>() == size_of::<f32>()
}

/// Exponents of 2 between which an ordinary number lies: a little less than the range, and the smallest normal number.
#[inline(always)]
fn range<F>() -> (i32, i32) {
    if is_single::<F>() { (120, -126) } else { (1000, -1022) }
}

/// k with 2^k <= |x| < 2^(k+1) of a normal float; -1023 at 0, 1024 where `x` is not finite.
#[inline(always)]
fn exponent<F: Base>(x: F) -> i32 {
    ((wide(x).to_bits() >> 52) & 0x7ff) as i32 - 1023
}

/// 2^k, exactly, where it is a float.
#[inline(always)]
pub(crate) fn power_of_two<T: Real>(k: i32) -> T {
    T::from_base(nalgebra::convert(Float::powi(2.0, k)))
}

/// Whether a factor with this value keeps all digits of what it multiplies.
#[inline(always)]
pub(crate) fn is_normal<T: Real>(x: T) -> bool {
    let x = wide(x.base());
    if is_single::<T::Base>() { (x as f32).is_normal() } else { x.is_normal() }
}

impl Far {
    /// Where x^(p-2), or the square of a tangent of the size of x, is near the ends of the range.
    #[inline(always)]
    pub(crate) fn of<D: Lift>(x: D, degree: Option<f64>) -> Option<Self> {
        // Powers so flat that the factor p alone goes far out of the range: like logarithms.
        const FLAT: f64 = 1.0 / (1 << 20) as f64;
        let degree = degree?;
        let (range, smallest) = range::<D::Base>();
        let flat = degree <= 0.0 || degree < FLAT;
        let weight = if flat {
            2.0 - degree
        } else if degree < 2.0 && degree != 1.0 && D::ORDER > D::Inner::ORDER + 1 {
            // Without f'' nothing leaves the range: f' is an ordinary number.
            2.0
        } else {
            return None;
        };
        let factor = if degree != 0.0 && Float::abs(degree) < FLAT { exponent(degree) } else { 0 };
        let size = Float::abs(wide(x.base()));
        let exponent = exponent(size);
        // Of subnormal arguments the derivatives of powers below 0 and logarithms are infinite.
        let finite = size > 0.0 && size < f64::INFINITY && (!flat || exponent >= smallest);
        let far = f64::from(exponent.abs()) * weight > f64::from(range + factor) && finite;
        // Roots are flat enough for half of the way; all of it would square a tangent of the size of 1 out of range.
        let exponent = if flat { exponent } else { exponent / 2 };
        far.then_some(Self { exponent, degree })
    }

    /// s, as a constant.
    pub(crate) fn scale<T: Real>(self) -> T {
        power_of_two(self.exponent)
    }

    /// x/s, tangents and all.
    pub(crate) fn near<D: Real>(self, x: D) -> D {
        x * power_of_two(-self.exponent)
    }

    /// c = f(x)/f(z), as a number and the exponent of a power of two that it has yet to be multiplied by, if both are
    /// ordinary.
    fn factor<T: Real>(self, at_x: T, at_z: T) -> Option<(T, i32)> {
        if self.degree == 0.0 {
            return Some((one(), 0));
        }
        let c = T::from_base(at_x.base() / at_z.base());
        if is_normal(c) {
            return Some((c, 0));
        }
        let finite = wide(c.base()).is_finite();
        if finite { apart(1.0, self.degree * f64::from(self.exponent)) } else { None }
    }

    #[cold]
    #[inline(never)]
    fn chain<D: Lift>(
        self,
        x: D,
        y: D::Inner,
        value: impl Fn(D::Inner) -> D::Inner,
        first: impl Fn(D::Inner, D::Inner) -> D::Inner,
        second: impl Fn(D::Inner, D::Inner) -> D::Inner,
    ) -> Option<D> {
        let z = self.near(x);
        let at = z.inner();
        let w = value(at);
        let (c, power) = self.factor(y, w)?;
        Some(scaled(z.chain(y, || c * first(at, w), || c * second(at, w)), power))
    }
}

/// `factor` 2^`power`, which is below the smallest normal number, as a number and the exponent of a power of two, both
/// ordinary: times a large tangent it may be ordinary again.
fn apart<T: Real>(factor: f64, power: f64) -> Option<(T, i32)> {
    let (_, smallest) = range::<T::Base>();
    let second = Float::floor(power / 2.0);
    let rest = power - second;
    let whole = Float::floor(rest);
    if !(power < 0.0 && second >= f64::from(smallest)) {
        return None;
    }
    let c = nalgebra::convert(factor * Float::powi(2.0, whole as i32) * Float::exp2(rest - whole));
    is_normal(c).then_some((c, second as i32))
}

/// The tangents times 2^`power`.
#[inline(always)]
fn scaled<D: Lift>(x: D, power: i32) -> D {
    if power == 0 { x } else { (x * power_of_two(power)).with_inner(x.inner()) }
}

/// The chain rule at z for a function that is known by its value y at x, where x is far from 1.
#[inline(always)]
pub(crate) fn chain<D: Lift>(
    x: D,
    y: D::Inner,
    degree: Option<f64>,
    value: impl Fn(D::Inner) -> D::Inner,
    first: impl Fn(D::Inner, D::Inner) -> D::Inner,
    second: impl Fn(D::Inner, D::Inner) -> D::Inner,
) -> Option<D> {
    Far::of(x, degree)?.chain(x, y, value, first, second)
}

/// What a function is to rounding at one end of the range, up to a constant: its derivatives are those of this.
#[derive(Clone, Copy)]
pub(crate) enum Asymptote {
    /// k ln |x|.
    Log(f64),
    /// k x^p, p < 0.
    Power(i32, f64),
}

/// The functions with an [`Asymptote`]: `Some` result where the argument is so far out that it holds.
macro_rules! asymptote {
    (atan; $x:ident, $y:expr) => {
        $crate::far::like($x, $y, true, $crate::far::Asymptote::Power(-1, -1.0))
    };
    (asinh; $x:ident, $y:expr) => {
        $crate::far::like(
            $x,
            $y,
            true,
            $crate::far::Asymptote::Log(if $x.is_sign_negative() { -1.0 } else { 1.0 }),
        )
    };
    (acosh; $x:ident, $y:expr) => {
        $crate::far::like($x, $y, true, $crate::far::Asymptote::Log(1.0))
    };
    (ln_1p; $x:ident, $y:expr) => {
        $crate::far::like($x, $y, true, $crate::far::Asymptote::Log(1.0))
    };
    (gamma; $x:ident, $y:expr) => {
        $crate::far::like($x, $y, false, $crate::far::Asymptote::Power(-1, 1.0))
    };
    (lgamma; $x:ident, $y:expr) => {
        $crate::far::like($x, $y, false, $crate::far::Asymptote::Log(-1.0))
    };
    (digamma; $x:ident, $y:expr) => {
        $crate::far::like($x, $y, false, $crate::far::Asymptote::Power(-1, -1.0))
            .or_else(|| $crate::far::like($x, $y, true, $crate::far::Asymptote::Log(1.0)))
    };
    (polygamma; $x:ident, $y:expr, $n:ident) => {
        $crate::far::polygamma($x, $y, $n)
    };
    (cosc; $x:ident, $y:expr) => {
        $crate::far::like($x, $y, false, $crate::far::Asymptote::Power(-1, 1.0))
    };
    (coshc; $x:ident, $y:expr) => {
        $crate::far::like($x, $y, false, $crate::far::Asymptote::Power(-1, 1.0))
    };
    (sph_yn; $x:ident, $y:expr, $n:ident) => {
        $crate::far::spherical($x, $y, $n)
    };
    (bessel_y0; $x:ident, $y:expr) => {
        $crate::far::like($x, $y, false, $crate::far::Asymptote::Log(core::f64::consts::FRAC_2_PI))
    };
    (bessel_y1; $x:ident, $y:expr) => {
        $crate::far::like($x, $y, false, $crate::far::Asymptote::Power(-1, -core::f64::consts::FRAC_2_PI))
    };
    (bessel_yn; $x:ident, $y:expr, $n:ident) => {
        $crate::far::cylindrical($x, $y, $n)
    };
    ($other:ident; $x:ident, $y:expr $(, $parameter:ident)*) => {
        None
    };
}
pub(crate) use asymptote;

/// The chain rule for a function that is known by its value y and is like `asymptote` where x is `large`, or small.
#[inline(always)]
pub(crate) fn like<D: Lift>(x: D, y: D::Inner, large: bool, asymptote: Asymptote) -> Option<D> {
    let exponent = exponent(x.base());
    let (range, smallest) = range::<D::Base>();
    let order = match asymptote {
        Asymptote::Log(_) => 1,
        Asymptote::Power(p, _) => p.saturating_neg(),
    };
    let out = if large { exponent } else { -exponent };
    // From here on the next term of every asymptote is below rounding, and so are its derivatives.
    let negligible = if is_single::<D::Base>() { 32 } else { 64 };
    let far = out > negligible && out.saturating_mul(order.saturating_add(2)) > range;
    if far && exponent >= smallest && exponent < 1024 { like_far(x, y, exponent, asymptote) } else { None }
}

#[cold]
#[inline(never)]
fn like_far<D: Lift>(x: D, y: D::Inner, exponent: i32, asymptote: Asymptote) -> Option<D> {
    let z = x * power_of_two(-exponent);
    let at = z.inner();
    match asymptote {
        Asymptote::Log(k) => {
            let k: D::Inner = nalgebra::convert(k);
            let r = at.recip();
            Some(z.chain(y, || k * r, || -(r * (k * r))))
        }
        Asymptote::Power(p, k) => {
            let power = exponent.saturating_mul(p);
            let c: D::Inner = nalgebra::convert(k * Float::powi(2.0, power));
            let (c, power) = if is_normal(c) { (c, 0) } else { apart(k, f64::from(power))? };
            Some(scaled(z.chain(y, || c * pow::powi_first(at, p), || c * pow::powi_second(at, p)), power))
        }
    }
}

/// ψₙ, the n-th derivative of ψ: (-1)^(n+1) n! x^-(n+1) at 0 and (-1)^(n+1) (n-1)! x^-n at infinity.
#[inline(always)]
pub(crate) fn polygamma<D: Lift>(x: D, y: D::Inner, n: u32) -> Option<D> {
    if n == 0 {
        return asymptote!(digamma; x, y);
    }
    // Factorials of larger orders overflow.
    let order = i32::try_from(n).ok().filter(|&n| n < 170)?;
    let sign = if n.is_multiple_of(2) { -1.0 } else { 1.0 };
    let below: f64 = (2..order).map(f64::from).product();
    like(x, y, false, Asymptote::Power(-order - 1, sign * below * f64::from(order)))
        .or_else(|| like(x, y, true, Asymptote::Power(-order, sign * below)).filter(|_| x > D::zero()))
}

/// yₙ: -(2n-1)!! x^-(n+1) at 0.
#[inline(always)]
pub(crate) fn spherical<D: Lift>(x: D, y: D::Inner, n: u32) -> Option<D> {
    let order = i32::try_from(n).ok().filter(|&n| n < 150)?;
    let factorial: f64 = (1..order).map(|k| f64::from(2 * k + 1)).product();
    like(x, y, false, Asymptote::Power(-order - 1, -factorial))
}

/// Yₙ: (2/π) ln x at 0 for n = 0, else -(n-1)! (2/x)ⁿ/π; Y₋ₙ = (-1)ⁿ Yₙ.
#[inline(always)]
pub(crate) fn cylindrical<D: Lift>(x: D, y: D::Inner, n: i32) -> Option<D> {
    if n == 0 {
        return asymptote!(bessel_y0; x, y);
    }
    let order = i32::try_from(n.unsigned_abs()).ok().filter(|&n| n < 150)?;
    let sign = if n < 0 && n % 2 != 0 { 1.0 } else { -1.0 };
    let factorial: f64 = (1..order).map(|k| 2.0 * f64::from(k)).product();
    like(x, y, false, Asymptote::Power(-order, sign * factorial * core::f64::consts::FRAC_2_PI))
}

/// Functions of two variables that are differentiated elsewhere where an argument is far from 1.
macro_rules! two {
    (powd; $a:ident, $b:ident, $y:ident, $first:ident, $second:ident) => {
        $crate::pow::far_power($a, $b, $y)
    };
    (pow_slope; $a:ident, $b:ident, $y:ident, $first:ident, $second:ident) => {
        $crate::pow::far_slope($a, $b, $y)
    };
    (pow_log; $a:ident, $b:ident, $y:ident, $first:ident, $second:ident) => {
        $crate::pow::far_log($a, $b, $y)
    };
    (one_plus_log; $a:ident, $b:ident, $y:ident, $first:ident, $second:ident) => {
        $crate::pow::far_one_plus_log($a, $b, $y)
    };
    (log_of; $a:ident, $b:ident, $y:ident, $first:ident, $second:ident) => {
        $crate::pow::far_log_of($a, $b, $y)
    };
    (atan2; $a:ident, $b:ident, $y:ident, $first:ident, $second:ident) => {
        $crate::far::homogeneous($a, $b, $y, 0, $first, $second)
    };
    (direction; $a:ident, $b:ident, $y:ident, $first:ident, $second:ident) => {
        $crate::far::homogeneous($a, $b, $y, 0, $first, $second)
    };
    (atan2_dy; $a:ident, $b:ident, $y:ident, $first:ident, $second:ident) => {
        $crate::far::homogeneous($a, $b, $y, -1, $first, $second)
    };
    (atan2_dx; $a:ident, $b:ident, $y:ident, $first:ident, $second:ident) => {
        $crate::far::homogeneous($a, $b, $y, -1, $first, $second)
    };
    ($other:ident; $a:ident, $b:ident, $y:ident, $first:ident, $second:ident) => {
        None
    };
}
pub(crate) use two;

/// The chain rule for f(sa, sb) = s^p f(a, b), p <= 0, at arguments of which the larger is near 1. The derivatives of
/// f must not use its value.
#[inline(always)]
pub(crate) fn homogeneous<D: Lift>(
    a: D,
    b: D,
    y: D::Inner,
    degree: i32,
    first: impl Fn(D::Inner, D::Inner, D::Inner) -> [D::Inner; 2],
    second: impl Fn(D::Inner, D::Inner, D::Inner) -> [D::Inner; 3],
) -> Option<D> {
    let (ea, eb) = (exponent(a.base()), exponent(b.base()));
    let (range, smallest) = range::<D::Base>();
    // A zero, of which only tangents count, says nothing about the size.
    let far = |e: i32| e.abs() > range / 4 && e >= smallest;
    let larger = ea.max(eb);
    if (far(ea) || far(eb)) && larger < 1024 && larger >= smallest {
        homogeneous_far(a, b, y, larger, degree, first, second)
    } else {
        None
    }
}

#[cold]
#[inline(never)]
fn homogeneous_far<D: Lift>(
    a: D,
    b: D,
    y: D::Inner,
    exponent: i32,
    degree: i32,
    first: impl Fn(D::Inner, D::Inner, D::Inner) -> [D::Inner; 2],
    second: impl Fn(D::Inner, D::Inner, D::Inner) -> [D::Inner; 3],
) -> Option<D> {
    let near = power_of_two(-exponent);
    let (za, zb) = (a * near, b * near);
    let (at_a, at_b) = (za.inner(), zb.inner());
    let c: D::Inner = power_of_two(exponent * degree);
    Some(za.chain2(zb, y, || first(at_a, at_b, y).map(|f| c * f), || second(at_a, at_b, y).map(|f| c * f)))
}
