//! What a function may return.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

#[cfg(feature = "alloc")]
use nalgebra::Dyn;
use nalgebra::allocator::Allocator;
use nalgebra::{Const, DefaultAllocator, Dim, OMatrix};

use super::point::Shape;
#[cfg(feature = "std")]
use crate::Tracer;
use crate::ops::numbers_and_tracer;
use crate::{Dual, Dual2, HyperDual, Real};

/// The result of a function: one number, an array or `Vec` of numbers, an owned nalgebra vector or matrix.
///
/// Values are counted in storage order: matrices column by column (`vec` of the matrix).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a result that can be differentiated",
    label = "expected a number, an array, a `Vec` or an owned nalgebra vector or matrix of numbers",
    note = "views and expressions: return `.clone_owned()`; tuples: return one vector"
)]
pub trait Values {
    /// The scalar of the values.
    type Scalar: Real;
    /// How many values there are, where the type knows it.
    type Dim: Dim;
    /// The same container of another scalar.
    type With<T: Real>;

    /// How many values there are.
    fn dim(&self) -> Self::Dim;
    /// Rows and columns.
    fn shape(&self) -> (usize, usize);
    /// The values in storage order.
    fn values(&self) -> &[Self::Scalar];
    /// The container with `f` applied to each value.
    fn map_values<T: Real>(&self, f: impl FnMut(Self::Scalar) -> T) -> Self::With<T>;
}

macro_rules! one_value {
    ($([$($gen:tt)*] $S:ty;)*) => { $(
        impl<$($gen)*> Values for $S {
            type Scalar = Self;
            type Dim = Const<1>;
            type With<U: Real> = U;

            #[inline(always)]
            fn dim(&self) -> Const<1> {
                Const
            }
            #[inline(always)]
            fn shape(&self) -> (usize, usize) {
                (1, 1)
            }
            #[inline(always)]
            fn values(&self) -> &[Self] {
                core::slice::from_ref(self)
            }
            #[inline(always)]
            fn map_values<U: Real>(&self, mut f: impl FnMut(Self) -> U) -> U {
                f(*self)
            }
        }
    )* };
}

macro_rules! one_number {
    ($Type:ident, [$($gen:tt)*], [$($arg:ident),*]) => { one_value! { [T: Real, $($gen)*] $Type<T, $($arg),*>; } };
}

one_value! { [] f32; [] f64; }
numbers_and_tracer!(one_number);

impl<S: Real, const M: usize> Values for [S; M] {
    type Scalar = S;
    type Dim = Const<M>;
    type With<T: Real> = [T; M];

    #[inline(always)]
    fn dim(&self) -> Const<M> {
        Const
    }
    #[inline(always)]
    fn shape(&self) -> (usize, usize) {
        (M, 1)
    }
    #[inline(always)]
    fn values(&self) -> &[S] {
        self
    }
    #[inline(always)]
    fn map_values<T: Real>(&self, f: impl FnMut(S) -> T) -> [T; M] {
        self.map(f)
    }
}

#[cfg(feature = "alloc")]
impl<S: Real> Values for Vec<S> {
    type Scalar = S;
    type Dim = Dyn;
    type With<T: Real> = Vec<T>;

    #[inline(always)]
    fn dim(&self) -> Dyn {
        Dyn(self.len())
    }
    #[inline(always)]
    fn shape(&self) -> (usize, usize) {
        (self.len(), 1)
    }
    #[inline(always)]
    fn values(&self) -> &[S] {
        self
    }
    #[inline]
    fn map_values<T: Real>(&self, f: impl FnMut(S) -> T) -> Vec<T> {
        self.iter().copied().map(f).collect()
    }
}

impl<S: Real, R: Dim, C: Dim> Values for OMatrix<S, R, C>
where
    DefaultAllocator: Allocator<R, C>,
    (R, C): Shape,
{
    type Scalar = S;
    type Dim = <(R, C) as Shape>::Flat;
    type With<T: Real> = OMatrix<T, R, C>;

    #[inline(always)]
    fn dim(&self) -> Self::Dim {
        Dim::from_usize(self.len())
    }
    #[inline(always)]
    fn shape(&self) -> (usize, usize) {
        OMatrix::shape(self)
    }
    #[inline(always)]
    fn values(&self) -> &[S] {
        self.as_slice()
    }
    #[inline(always)]
    fn map_values<T: Real>(&self, f: impl FnMut(S) -> T) -> OMatrix<T, R, C> {
        self.map(f)
    }
}
