//! What the fronts share: owned matrices of static or dynamic size as the views that the routines take.

use nalgebra::allocator::Allocator;
use nalgebra::{DMatrixView, DMatrixViewMut, DefaultAllocator, Dim, Dyn, OMatrix};

use crate::scalar::Scalar;

/// The whole matrix, to be read.
#[inline(always)]
pub(crate) fn view<T: Scalar, R: Dim, C: Dim>(a: &OMatrix<T, R, C>) -> DMatrixView<'_, T>
where
    DefaultAllocator: Allocator<R, C>,
{
    let (m, n) = a.shape();
    DMatrixView::from_slice_generic(a.as_slice(), Dyn(m), Dyn(n))
}

/// The whole matrix, to be written.
#[inline(always)]
pub(crate) fn view_mut<T: Scalar, R: Dim, C: Dim>(a: &mut OMatrix<T, R, C>) -> DMatrixViewMut<'_, T>
where
    DefaultAllocator: Allocator<R, C>,
{
    let (m, n) = a.shape();
    DMatrixViewMut::from_slice_generic(a.as_mut_slice(), Dyn(m), Dyn(n))
}
