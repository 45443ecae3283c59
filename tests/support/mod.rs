//! Tools shared by the test targets: `mod support;` (or `#[path = ".."] mod support;`) in each of them.
//!
//! - `xerbla` turns an argument that LAPACK rejects into a failed run (the reference one ends the process
//!   with exit code 0, which looks green);
//! - `differences` estimates derivatives of plain `f64` functions, with an error estimate;
//! - `matrices` makes matrices by kind, always the same for the same seed;
//! - `compare` holds the comparisons: bits, lanes, norms;
//! - `numbers` reads the reference numbers of tests/data;
//! - `probe` seeds and reads every scalar type alike.
#![allow(dead_code)] // every target uses its own part of this module

pub mod compare;
pub mod differences;
pub mod matrices;
pub mod numbers;
pub mod probe;
pub mod xerbla;
