//! Special functions: rows of the same grammar as the elementary table.

/// Functions of one variable that nalgebra's traits do not know.
macro_rules! special {
    ($emit:ident $($args:tt)*) => { $emit! { [$($args)*] } };
}

pub(crate) use special;
