//! Tests of the numbers, mirroring `core/src`.
mod rules;
