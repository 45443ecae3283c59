//! Dual, hyper-dual and symmetric second-order numbers with batches of tangent lanes.
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "quickcheck")]
mod arbitrary;
mod cardinal;
mod compare;
mod dual;
mod dual2;
mod field;
mod hyper;
mod kinks;
mod lift;
mod methods;
mod mixed;
mod ops;
mod plane;
#[cfg(feature = "bytemuck")]
mod pod;
mod pow;
mod real;
#[doc(hidden)]
pub mod registry;
mod rules;
#[cfg(feature = "serde")]
mod serde;
mod special;

pub use dual::Dual;
pub use dual2::Dual2;
pub use hyper::HyperDual;
pub use lift::{Lift, detach, lift_n, lift_taylor, lift1, lift2};
pub use methods::Exponent;
pub use mixed::{MulAdd, MulMixed};
pub use nalgebra;
pub use real::{Base, Real, Real64};

/// A dual number over `f64`.
pub type Dual64<const N: usize = 1> = Dual<f64, N>;
/// A dual number over `f32`.
pub type Dual32<const N: usize = 1> = Dual<f32, N>;
/// A hyper-dual number over `f64`.
pub type HyperDual64<const M: usize = 1, const N: usize = 1> = HyperDual<f64, M, N>;
/// A hyper-dual number over `f32`.
pub type HyperDual32<const M: usize = 1, const N: usize = 1> = HyperDual<f32, M, N>;
/// A symmetric second-order number over `f64`.
pub type Dual2_64<const N: usize = 1> = Dual2<f64, N>;
/// A symmetric second-order number over `f32`.
pub type Dual2_32<const N: usize = 1> = Dual2<f32, N>;
