//! nalgebra's own algorithms with our numbers as scalars: what works, and what cannot. A target of its own, because
//! it instantiates most of nalgebra at three depths.
mod complex;
mod geometry;
mod matrices;
mod products;
mod table;

#[path = "../../support/mod.rs"]
mod support;
