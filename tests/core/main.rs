//! Tests of the numbers, mirroring `core/src`.
mod drive_confusion;
mod drive_forms;
mod drive_gradient;
mod drive_manifold;
mod drive_products;
mod kinks;
mod lanes;
mod laws;
#[cfg(feature = "num-dual")]
mod num_dual;
mod parts;
mod pow;
mod rules;
mod slice;
mod sparse;
mod special;
mod values;

#[path = "../support/mod.rs"]
mod support;
