//! x

// Nothing of this crate is called; naming it makes the linker see the bundled LAPACK.
#[cfg(all(feature = "netlib", not(feature = "system")))]
use netlib_src as _;
