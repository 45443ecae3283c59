//! `bytemuck`: matrices of dual numbers as slices of floats.

use bytemuck::{Pod, Zeroable};

use crate::ops::numbers;
use crate::{Dual, Dual2, HyperDual, Real};

macro_rules! pod {
    ($Type:ident, [$($gen:tt)*], [$($arg:ident),*]) => {
        // SAFETY: all parts are `T`, for which all zero bits are a value.
        unsafe impl<T: Real + Zeroable, $($gen)*> Zeroable for $Type<T, $($arg),*> {}
        // SAFETY: `repr(C)` with fields `T` and (nested) arrays of `T` only: every field starts at a multiple of
        // size_of::<T>(), which is a multiple of the common alignment, so there is no padding; the numbers are
        // `Copy + 'static`, and any bits are valid because they are for `T: Pod`.
        unsafe impl<T: Real + Pod, $($gen)*> Pod for $Type<T, $($arg),*> {}
    };
}

numbers!(pod);
