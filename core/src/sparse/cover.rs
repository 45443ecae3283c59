//! Whether a structure holds at a point: the entries against a derivative along a fixed direction.

use nalgebra::ComplexField;

use crate::Real;

/// Component `j` of direction number `k`: between 1 and 2 and unlike its neighbours, so that entries that stand in for
/// others do not add up to the same.
pub(super) fn component<T: Real>(k: usize, j: usize) -> T {
    let hash = (2 * j as u64 + 1).wrapping_add(k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    nalgebra::convert(1.0 + (hash >> 41) as f64 / (1_u64 << 23) as f64)
}

/// A sum of entries times components of directions, and of the magnitudes of its terms.
#[derive(Clone, Copy)]
pub(super) struct Weighted<F> {
    sum: F,
    size: F,
}

impl<F: crate::Base> Weighted<F> {
    /// The empty sum, to be compared with a derivative of something of this magnitude.
    pub(super) fn beside<T: Real<Base = F>>(value: T) -> Self {
        let size = value.base().abs();
        Self { sum: F::zero(), size: if ComplexField::is_finite(&size) { size } else { F::zero() } }
    }

    pub(super) fn add<T: Real<Base = F>>(&mut self, term: T) {
        self.sum += term.base();
        self.size += term.base().abs();
    }

    /// Half of the digits: rounding of the derivative, which may be a small difference of large terms, is no
    /// disagreement.
    pub(super) fn agrees<T: Real<Base = F>>(self, derivative: T) -> bool {
        let derivative = derivative.base();
        if !(ComplexField::is_finite(&derivative) && ComplexField::is_finite(&self.sum)) {
            return ComplexField::is_finite(&derivative) == ComplexField::is_finite(&self.sum);
        }
        (derivative - self.sum).abs() <= F::default_epsilon().sqrt() * self.size
    }
}
