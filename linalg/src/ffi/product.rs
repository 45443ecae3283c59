//! The call into the crate `gemm`.

use nalgebra::{DMatrixView, DMatrixViewMut};

use super::Native;
use crate::flags::Trans;

/// `C = α op(A) op(B) + β C`, where `β = 0` overwrites `C` without reading it.
///
/// The shapes must fit; they are checked here only because memory safety hangs on them.
pub(crate) fn product<T: Native>(
    ta: Trans,
    tb: Trans,
    alpha: T,
    a: DMatrixView<'_, T>,
    b: DMatrixView<'_, T>,
    beta: T,
    mut c: DMatrixViewMut<'_, T>,
) {
    let (m, n) = c.shape();
    let (_, k) = ta.shape(a.shape());
    assert!(ta.shape(a.shape()) == (m, k) && tb.shape(b.shape()) == (k, n), "gemm: shapes do not fit");
    // Row and column stride of op(X).
    let strides = |x: &DMatrixView<'_, T>, t: Trans| {
        let (rs, cs) = x.strides();
        if t.swaps() { (cs as isize, rs as isize) } else { (rs as isize, cs as isize) }
    };
    let ((ars, acs), (brs, bcs)) = (strides(&a, ta), strides(&b, tb));
    let (crs, ccs) = c.strides();
    // SAFETY: op(A) is m x k and op(B) is k x n at the strides of their views, C is m x n at its own and exclusively
    // borrowed; `T` is one of the four types that the crate knows. A `dst` that is not read may hold anything.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            ccs as isize,
            crs as isize,
            beta != T::zero(),
            a.as_ptr(),
            acs,
            ars,
            b.as_ptr(),
            bcs,
            brs,
            beta,
            alpha,
            false,
            ta == Trans::ConjTrans,
            tb == Trans::ConjTrans,
            gemm::Parallelism::None,
        )
    }
}
