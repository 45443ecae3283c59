//! One file per LAPACK family, always in the same order: what it computes and the rule, the trait, the float
//! implementation, the pushforward, the implementation for every dual scalar.

mod gebak;
mod gebal;
mod gemm;
mod gesv;
mod getrf;
mod getri;
mod getrs;
mod parts;
mod potrf;
mod potri;
mod potrs;
mod syrk;
mod triangles;
mod trmm;
mod trsm;
mod trtrs;

pub use gebak::Gebak;
pub use gebal::{Balance, Gebal};
pub use gemm::Gemm;
pub use gesv::Gesv;
pub use getrf::Getrf;
pub use getri::Getri;
pub use getrs::Getrs;
pub use parts::Parts;
pub use potrf::Potrf;
pub use potri::Potri;
pub use potrs::Potrs;
pub use syrk::Syrk;
pub use trmm::Trmm;
pub use trsm::Trsm;
pub use trtrs::Trtrs;

pub(crate) use gebal::Similarity;
pub(crate) use getrf::{interchanges, pushforward as getrf_pushforward, tangents as getrf_tangents};
pub(crate) use getrs::solve as lu_solve;
pub(crate) use parts::quotient;
pub(crate) use potrf::{blocked_scratch, factor as potrf_tangents, pushforward_blocked};

/// Writes the implementations for the four scalars that LAPACK computes with.
macro_rules! native {
    ($routine:ident $body:tt) => {
        $crate::routine::native!(@each $routine $body f32, f64, num_complex::Complex<f32>, num_complex::Complex<f64>);
    };
    (@each $routine:ident $body:tt $($T:ty),*) => {$(
        impl $routine for $T $body
    )*};
}
pub(crate) use native;
