//! Dual, hyper-dual and symmetric second-order numbers with batches of tangent lanes.
//!
//! # From ε² = 0 to a derivative
//!
//! Adjoin to the reals a symbol ε with ε² = 0. Every smooth function then extends by its Taylor series, which ends
//! after two terms:
//!
//! ```text
//! f(x + ẋ ε) = f(x) + f'(x) ẋ ε
//! ```
//!
//! So running a program on `x + 1 ε` instead of `x` computes, beside each value, its derivative: exactly, up to
//! rounding, without step sizes. [`Dual`] is that number, [`Real`] the bound under which a function can be written once
//! for floats and duals.
//!
//! ```
//! use dualpack_core::{Dual, Real};
//! fn kepler<S: Real>(mean: S, eccentricity: S, anomaly: S) -> S {
//!     anomaly - eccentricity * anomaly.sin() - mean
//! }
//! let e = Dual::<f64>::variable(1.0, 0);
//! let r = kepler(0.5.into(), 0.1.into(), e);
//! assert_eq!(r.eps[0], 1.0 - 0.1 * 1.0_f64.cos());
//! ```
//!
//! # Lanes
//!
//! `Dual<T, N>` carries `N` symbols ε₁ ... ε_N whose products all vanish: `N` directional derivatives of one evaluation.
//! The lanes are the SIMD dimension. A function of many inputs is run in *chunks* of `N` inputs; each chunk seeds its
//! inputs with unit lanes and reads `N` columns of the Jacobian.
//!
//! # Second order
//!
//! With two families of symbols, εᵢ² = ηⱼ² = 0 but εᵢηⱼ ≠ 0, the coefficient of εᵢηⱼ is a mixed second derivative:
//! [`HyperDual`]. With one family whose products survive to second order it is the Hessian, of which [`Dual2`] keeps the
//! upper triangle.
//!
//! # Nesting
//!
//! The scalar of a dual number may be a dual number. `Dual<Dual<f64, N>, M>` carries the same information as
//! `HyperDual<f64, M, N>`; deeper nesting gives higher derivatives. Each level is a type of its own, so derivatives of
//! functions that take derivatives inside do not confuse their perturbations, as long as the inner point is lifted to
//! the outer number, as the drivers do.
//!
//! # What the numbers promise
//!
//! - The value is the computation in floats, bit for bit. Named exceptions where ours differs from the standard
//!   library: `acosh` (accurate near 1), `asinh` (finite up to the largest float), `atanh` (accurate near -1), `powi`
//!   (the same multiplication chain everywhere), `max` and `min` (a tie rule), `sinc` at infinity and `cosc`, `coshc`
//!   at zero (the limits). In generic code a call on `f64` itself goes to nalgebra's method, that is to the standard
//!   library.
//! - Comparison looks at the value only, so the control flow is that of the floating-point run; [`Real::same`] and
//!   [`assert_dual_eq!`] look at every part.
//! - A tangent that is zero stays zero through a function whose derivative is infinite there: `sqrt(0)` of a constant
//!   is a constant. A tangent that is not zero gives the one-sided limit (an infinity) or `NaN`. The operators
//!   `+ - * /` follow IEEE arithmetic in every part.
//! - A function whose value is `NaN` has `NaN` tangents, and so has a quotient; sums work part by part (`inf - inf` is
//!   `NaN` in the value alone). A `NaN` in one lane stays in its lane.
//! - Kinks have one documented convention each: see [`Dual::abs`], [`Dual::max`], [`Dual::floor`], [`Dual::rem`].
//! - `N` lanes are `N` runs with one lane, bit for bit.
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "quickcheck")]
mod arbitrary;
mod cardinal;
mod compare;
mod drive;
mod dual;
mod dual2;
mod far;
mod field;
mod hyper;
mod kinks;
mod lift;
#[doc = include_str!("limits.md")]
pub mod limits {}
mod methods;
mod mixed;
#[cfg(feature = "num-dual")]
mod num_dual;
mod ops;
mod plane;
#[cfg(feature = "bytemuck")]
mod pod;
mod pow;
mod real;
#[doc(hidden)]
pub mod registry;
mod rotation;
mod rules;
mod seed;
#[cfg(feature = "serde")]
mod serde;
mod shared;
#[cfg(feature = "std")]
mod sparse;
mod special;

#[cfg(feature = "alloc")]
pub use drive::blocks::{BlockJacobian, Blocks, Layout, jacobian_blocks, try_jacobian_blocks};
pub use drive::derivative::{
    derivative, derivative_into, second_derivative, second_derivative_into, try_derivative,
    try_derivative_into, try_second_derivative, try_second_derivative_into,
};
pub use drive::gradient::{Gradient, gradient, gradient_into, try_gradient, try_gradient_into};
pub use drive::hessian::{Hessian, hessian, hessian_into, try_hessian, try_hessian_into};
pub use drive::jacobian::{Jacobian, jacobian, jacobian_into, try_jacobian, try_jacobian_into};
#[cfg(feature = "alloc")]
pub use drive::jacobian::{jacobian_inplace, try_jacobian_inplace};
pub use drive::jvp::{
    Linearized, directional, jvp, jvp_batch, jvp_batch_into, jvp_into, linearize, try_directional, try_jvp,
    try_jvp_batch, try_jvp_batch_into, try_jvp_into,
};
pub use drive::manifold::{seed_rotation, seed_se3, seed_so3};
pub use drive::nth::{Nest, Order, nth_derivative, try_nth_derivative};
#[cfg(feature = "rayon")]
pub use drive::parallel::{
    par_gradient, par_hessian, par_jacobian, try_par_gradient, try_par_hessian, try_par_jacobian,
};
pub use drive::point::{At, BLOCK, Chunk, Chunked, DimOf, Filled, LANES, Point, Seeded, Shape};
pub use drive::products::{
    hvp, hvp_into, laplacian, laplacian_into, partial_hessian, partial_hessian_into, try_hvp, try_hvp_into,
    try_laplacian, try_laplacian_into, try_partial_hessian, try_partial_hessian_into, try_vhv, vhv,
};
pub use drive::progress::Stopped;
pub use drive::values::Values;
pub use dual::Dual;
pub use dual2::Dual2;
pub use hyper::HyperDual;
pub use lift::{Lift, detach, lift_n, lift_taylor, lift1, lift2};
pub use methods::Exponent;
pub use mixed::{MulAdd, MulMixed};
pub use nalgebra;
pub use real::{Base, Real, Real64};
pub use rotation::{exp_so3, log_so3};
pub use seed::{FirstOrder, SecondOrder, chunk, extract, seed};
#[cfg(feature = "std")]
pub use sparse::coloring::Coloring;
#[cfg(feature = "std")]
pub use sparse::hessian::{SeparableHessian, SparseHessian};
#[cfg(feature = "std")]
pub use sparse::jacobian::SparseJacobian;
#[cfg(feature = "std")]
pub use sparse::pattern::Pattern;
#[cfg(feature = "std")]
pub use sparse::tracer::{Tracer, hessian_pattern, jacobian_pattern};
pub use special::{logsumexp, norm};

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
