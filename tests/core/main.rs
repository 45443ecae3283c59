//! Tests of the numbers, mirroring `core/src`.
mod drive_gradient;
#[cfg(feature = "num-dual")]
mod num_dual;
mod rules;
mod slice;
mod special;

#[path = "../support/mod.rs"]
mod support;
