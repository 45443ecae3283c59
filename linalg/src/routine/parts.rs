//! A scalar as a whole, value and all tangents at every level.

use nalgebra::ComplexField;

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
}

native!(Parts {
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
    fn all_zero(&self) -> bool {
        self.primal().all_zero() && (0..D::TANGENTS).all(|k| self.lane(k).all_zero())
    }

    fn all_nan() -> Self {
        let mut number = D::zero();
        number.set_primal(D::Primal::all_nan());
        (0..D::TANGENTS).for_each(|k| number.set_lane(k, D::Primal::all_nan()));
        number
    }

    fn times(mut self, f: BaseOf<Self>) -> Self {
        let lanes = self;
        self.set_primal(lanes.primal().times(f));
        (0..D::TANGENTS).for_each(|k| self.set_lane(k, lanes.lane(k).times(f)));
        self
    }

    fn with_value_of(mut self, other: Self) -> Self {
        self.set_primal(self.primal().with_value_of(other.primal()));
        self
    }
}
