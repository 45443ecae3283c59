//! Statements about a scalar as a whole, value and all tangents at every level.

use nalgebra::ComplexField;

use crate::routine::native;
use crate::scalar::{BaseOf, Scalar, TangentBatch};

/// Questions that look at every part of a number, where `==` and `is_zero` look at the value alone.
pub trait Parts: Scalar {
    /// Whether the value and every tangent is exactly zero.
    fn all_zero(&self) -> bool;

    /// A number whose parts are all NaN: what a failed primal leaves.
    fn all_nan() -> Self;
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
}
