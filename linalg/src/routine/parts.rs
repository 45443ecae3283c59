//! A scalar as a whole, value and all tangents at every level.

use dualpack_core::Real;
use nalgebra::{ComplexField, convert, try_convert};

use crate::routine::native;
use crate::scalar::{BaseOf, Scalar, TangentBatch};

/// What concerns every part of a number, where `==` and `is_zero` look at the value alone.
pub trait Parts: Scalar {
    /// Whether the value and every tangent is exactly zero.
    fn all_zero(&self) -> bool;

    /// A number whose parts are all NaN: what a failed primal leaves.
    fn all_nan() -> Self;

    /// Every part times a float. Unlike the product with a constant, this leaves a NaN or an infinity in the part it
    /// is in.
    fn times(self, f: BaseOf<Self>) -> Self;

    /// This number with the innermost value of another one.
    fn with_value_of(self, other: Self) -> Self;

    /// The quotient. A complex one neither overflows nor vanishes on the way, as `/` does where the square of the
    /// divisor is out of range.
    #[inline]
    fn divided_by(self, by: Self) -> Self {
        quotient(self, by, |part| try_convert(part.base()).unwrap_or(f64::NAN))
    }
}

/// `x / by`, where `float` is the innermost value of a real or imaginary part. Of complex numbers the divisor is scaled
/// first, by a power of two, so that its square is in range.
#[inline(always)]
pub(crate) fn quotient<T: ComplexField + Copy>(x: T, by: T, float: impl Fn(T::RealField) -> f64) -> T {
    if size_of::<T>() == size_of::<T::RealField>() {
        return x / by;
    }
    let size = float(by.real()).abs().max(float(by.imaginary()).abs());
    // Where nothing can happen, nothing is done.
    if (1e-15..1e15).contains(&size) || !(size > 0.0 && size.is_finite()) {
        return x / by;
    }
    // The divisor becomes about 1/4, so that the numerator cannot overflow either; in two steps, since the factor itself
    // may be out of range.
    let e = -(size.log2().floor() as i32) - 2;
    let [first, second] = [e / 2, e - e / 2].map(|e| convert::<f64, T::RealField>(2.0_f64.powi(e)));
    let scaled = |x: T| x.scale(first.clone()).scale(second.clone());
    scaled(x / scaled(by))
}

native!(Parts {
    #[inline]
    fn all_zero(&self) -> bool {
        self.real() == 0.0 && self.imaginary() == 0.0
    }

    fn all_nan() -> Self {
        // A product reaches the imaginary part of a complex number too.
        let nan = Self::from_real(BaseOf::<Self>::NAN);
        nan * nan
    }

    fn times(self, f: BaseOf<Self>) -> Self {
        self.scale(f)
    }

    fn with_value_of(self, other: Self) -> Self {
        other
    }
});

impl<D: TangentBatch> Parts for D {
    #[inline]
    fn all_zero(&self) -> bool {
        self.primal().all_zero() && (0..D::TANGENTS).all(|k| self.lane(k).all_zero())
    }

    #[inline]
    fn all_nan() -> Self {
        let mut number = D::zero();
        number.set_primal(D::Primal::all_nan());
        (0..D::TANGENTS).for_each(|k| number.set_lane(k, D::Primal::all_nan()));
        number
    }

    #[inline]
    fn times(mut self, f: BaseOf<Self>) -> Self {
        let lanes = self;
        self.set_primal(lanes.primal().times(f));
        (0..D::TANGENTS).for_each(|k| self.set_lane(k, lanes.lane(k).times(f)));
        self
    }

    #[inline]
    fn with_value_of(mut self, other: Self) -> Self {
        self.set_primal(self.primal().with_value_of(other.primal()));
        self
    }
}
