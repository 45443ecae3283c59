//! Powers and logarithms far from 1.
//!
//! The derivatives of x^p and ln x grow and shrink with powers of x: 1/x at 1e110 has a second derivative below the
//! smallest float, and one that is multiplied by the square of a tangent of the size of x is not small at all. What
//! rounds to zero there is lost without a word. So the argument is brought to z = x/s by a power of two, with its
//! tangents, where nothing is out of range: x^p = c z^p with c = x^p/z^p, and ln x = ln z + ln s.
//!
//! Where f'' is an ordinary number the derivatives are computed at x itself.

use num_traits::{Float, one};

use crate::{Base, Lift, Real};

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

impl Far {
    /// Where x^(p-2), or the square of a tangent of the size of x, is near the ends of the range.
    #[inline(always)]
    pub(crate) fn of<D: Lift>(x: D, degree: Option<f64>) -> Option<Self> {
        let degree = degree?;
        let (range, smallest) = if is_single::<D::Base>() { (120.0, -126) } else { (1000.0, -1022) };
        let limit = if degree <= 0.0 {
            range / (2.0 - degree)
        } else if degree < 2.0 && degree != 1.0 && D::ORDER > D::Inner::ORDER + 1 {
            // Without f'' nothing leaves the range: f' is an ordinary number.
            range / 2.0
        } else {
            return None;
        };
        let size = Float::abs(wide(x.base()));
        let exponent = (size.to_bits() >> 52) as i32 - 1023;
        // Of subnormal arguments the derivatives of powers below 0 and logarithms are infinite.
        let finite = size > 0.0 && size < f64::INFINITY && (degree > 0.0 || exponent >= smallest);
        let far = f64::from(exponent.abs()) > limit && finite;
        // Roots are flat enough for half of the way; all of it would square a tangent of the size of 1 out of range.
        let exponent = if degree > 0.0 { exponent / 2 } else { exponent };
        far.then_some(Self { exponent, degree })
    }

    /// x/s, tangents and all.
    pub(crate) fn near<D: Real>(self, x: D) -> D {
        x * D::from_base(nalgebra::convert(Float::powi(2.0, -self.exponent)))
    }

    /// c = f(x)/f(z), if it is an ordinary number.
    pub(crate) fn factor<T: Real>(self, at_x: T, at_z: T) -> Option<T> {
        if self.degree == 0.0 {
            return Some(one());
        }
        let c = wide(at_x.base()) / wide(at_z.base());
        let ordinary = if is_single::<T::Base>() { (c as f32).is_normal() } else { c.is_normal() };
        ordinary.then(|| T::from_base(nalgebra::convert(c)))
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
        let c = self.factor(y, w)?;
        Some(z.chain(y, || c * first(at, w), || c * second(at, w)))
    }
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
