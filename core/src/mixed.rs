//! Products of a matrix of floats and a matrix of dual numbers, in either order.

use nalgebra::{
    DefaultAllocator, Dim, Matrix, OMatrix, RawStorage, Storage,
    allocator::Allocator,
    constraint::{AreMultipliable, ShapeConstraint},
};

#[cfg(feature = "std")]
use crate::Tracer;
use crate::ops::numbers_and_tracer;
use crate::{Dual, Dual2, HyperDual, Real};

/// Scalars whose product is defined although they differ: a dual number and its base float.
pub trait MulAdd<Rhs>: Copy {
    /// The product's type.
    type Output: Real;
    /// `c + self * rhs`.
    fn mul_add_to(self, rhs: Rhs, c: Self::Output) -> Self::Output;
}

macro_rules! mul_add {
    ($Type:ident, $gen:tt, $arg:tt) => {
        mul_add!(f32, $Type, $gen, $arg);
        mul_add!(f64, $Type, $gen, $arg);
    };
    ($F:ident, $Type:ident, [$($gen:tt)*], [$($arg:ident),*]) => {
        impl<T: Real<Base = $F>, $($gen)*> MulAdd<$F> for $Type<T, $($arg),*> {
            type Output = Self;
            #[inline(always)]
            fn mul_add_to(self, rhs: $F, c: Self) -> Self {
                c + self * rhs
            }
        }
        impl<T: Real<Base = $F>, $($gen)*> MulAdd<$Type<T, $($arg),*>> for $F {
            type Output = $Type<T, $($arg),*>;
            #[inline(always)]
            fn mul_add_to(self, rhs: $Type<T, $($arg),*>, c: Self::Output) -> Self::Output {
                c + self * rhs
            }
        }
    };
}

numbers_and_tracer!(mul_add);

/// Matrix products of floats with dual numbers: `a.mul_mixed(&b)`, where nalgebra's `*` wants equal scalars.
///
/// Every tangent of a dual factor is multiplied; no entry is skipped because it is zero.
///
/// ```
/// use dualpack_core::{Dual, MulMixed, nalgebra::{dmatrix, dvector}};
/// let a = dmatrix![1.0, 2.0; 3.0, 4.0];
/// let x = dvector![Dual::<f64, 2>::variable(5.0, 0), Dual::variable(6.0, 1)];
/// let y = a.mul_mixed(&x);
/// assert_eq!((y[1].value, y[1].eps), (39.0, [3.0, 4.0]));
/// let back = a.map(Dual::<f64, 2>::constant).mul_mixed(&dvector![5.0, 6.0]);
/// assert_eq!(back[0].value, 17.0);
/// ```
pub trait MulMixed<Rhs> {
    /// The product's type.
    type Output;
    /// The matrix product `self * rhs`.
    ///
    /// # Panics
    /// If the inner dimensions differ.
    fn mul_mixed(&self, rhs: &Rhs) -> Self::Output;
}

impl<A, B, R1: Dim, C1: Dim, R2: Dim, C2: Dim, SA, SB> MulMixed<Matrix<B, R2, C2, SB>>
    for Matrix<A, R1, C1, SA>
where
    A: MulAdd<B> + nalgebra::Scalar,
    B: Copy + nalgebra::Scalar,
    SA: Storage<A, R1, C1>,
    SB: RawStorage<B, R2, C2>,
    DefaultAllocator: Allocator<R1, C2>,
    ShapeConstraint: AreMultipliable<R1, C1, R2, C2>,
{
    type Output = OMatrix<A::Output, R1, C2>;

    #[track_caller]
    fn mul_mixed(&self, rhs: &Matrix<B, R2, C2, SB>) -> Self::Output {
        let ((m, inner), (rows, n)) = (self.shape(), rhs.shape());
        assert_eq!(inner, rows, "mul_mixed: a {m} x {inner} matrix times a {rows} x {n} matrix");
        let (r, c) = (self.shape_generic().0, rhs.shape_generic().1);
        let mut out = OMatrix::from_element_generic(r, c, <A::Output as num_traits::Zero>::zero());
        for j in 0..n {
            for k in 0..inner {
                for i in 0..m {
                    out[(i, j)] = self[(i, k)].mul_add_to(rhs[(k, j)], out[(i, j)]);
                }
            }
        }
        out
    }
}
