//! Tests of the numbers, mirroring `core/src`.
#[cfg(feature = "quickcheck")]
mod arbitrary;
mod compare;
mod drive_classics;
mod drive_confusion;
mod drive_forms;
mod drive_gradient;
mod drive_manifold;
mod drive_oracle;
#[cfg(feature = "rayon")]
mod drive_parallel;
mod drive_products;
mod drive_sharing;
mod far;
mod field;
mod kinks;
mod lanes;
mod laws;
mod lift;
mod mixed;
#[cfg(feature = "num-dual")]
mod num_dual;
mod ops;
mod parts;
mod peers;
#[cfg(feature = "bytemuck")]
mod pod;
mod pow;
mod rules;
#[cfg(feature = "serde")]
mod serde;
mod slice;
mod sparse;
mod special;
mod tracer;
mod values;

#[path = "../support/mod.rs"]
mod support;
