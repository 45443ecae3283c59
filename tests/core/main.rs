//! Tests of the numbers, mirroring `core/src`.
mod drive_gradient;
mod kinks;
mod lanes;
mod laws;
#[cfg(feature = "num-dual")]
mod num_dual;
mod parts;
mod pow;
mod rules;
mod slice;
mod special;
mod values;

#[path = "../support/mod.rs"]
mod support;
