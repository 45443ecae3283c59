//! The shape checks that all routines share.

use nalgebra::DMatrixView;

use crate::error::Error;

/// The order of a square matrix.
#[inline(always)]
pub(crate) fn square(routine: &'static str, shape: (usize, usize)) -> Result<usize, Error> {
    if shape.0 == shape.1 {
        Ok(shape.0)
    } else {
        Err(Error::Shape { routine, expected: "a square matrix", found: shape })
    }
}

/// The columns of a view that is only read may overlap, which LAPACK has no leading dimension for.
#[inline(always)]
pub(crate) fn columns_apart<T>(routine: &'static str, a: &DMatrixView<'_, T>) -> Result<(), Error> {
    let (m, n) = a.shape();
    if n < 2 || a.strides().1 >= m {
        Ok(())
    } else {
        Err(Error::Shape { routine, expected: "a view whose columns do not overlap", found: (m, n) })
    }
}

/// A right-hand side has as many rows as the matrix.
#[inline(always)]
pub(crate) fn rows_of(routine: &'static str, n: usize, b: (usize, usize)) -> Result<(), Error> {
    fits(routine, "as many rows as the matrix has", n, b.0, b)
}

/// `want == have`, where both are dimensions of operands and `found` is the shape of the operand to blame.
#[inline(always)]
pub(crate) fn fits(
    routine: &'static str,
    expected: &'static str,
    want: usize,
    have: usize,
    found: (usize, usize),
) -> Result<(), Error> {
    if want == have { Ok(()) } else { Err(Error::Shape { routine, expected, found }) }
}
