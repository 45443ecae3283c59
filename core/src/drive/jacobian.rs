//! The Jacobian of a vector-valued function, a chunk of columns at a time.

use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, Dim, OMatrix};
use num_traits::{One, Zero};

use super::certain;
use super::point::{At, DimOf, Point, Seeded, slots, view};
use super::values::Values;
use crate::Lift;
use crate::seed::{FirstOrder, chunk, seed_chunk};

/// Value and Jacobian of a function: `(f(x), J)` with `J[(i, j)] = ∂f_i/∂x_j`, an `m x n` matrix.
///
/// `J` is static where the types know both sizes, and dynamic in the others. Matrices count column by column, as points
/// and as values: `J = ∂vec(F)/∂vec(X)`, where entry `(i, j)` of a matrix with `r` rows stands at `i + j r`.
/// `n` inputs take ⌈n/N⌉ passes of `N` lanes, see [`Chunk`](crate::Chunk); with no inputs the function is evaluated
/// once.
///
/// ```
/// use dualpack_core::jacobian;
/// use dualpack_core::nalgebra::{Matrix2x3, matrix, vector};
/// // Polar to Cartesian.
/// let (xy, j) = jacobian(|p| vector![p[0] * p[1].cos(), p[0] * p[1].sin()], &vector![2.0, 0.0]);
/// assert_eq!((xy, j), (vector![2.0, 0.0], matrix![1.0, 0.0; 0.0, 2.0]));
/// // The Jacobian of a linear map is its matrix.
/// let a: Matrix2x3<f64> = matrix![1.0, 2.0, 3.0; 4.0, 5.0, 6.0];
/// let (_, j) = jacobian(|x| a.map(|a| a.into()) * x, &vector![1.0, 1.0, 1.0]);
/// assert_eq!(j, a);
/// ```
///
/// # Panics
/// If the function returns another number of values in a later chunk than in the first.
#[inline]
#[track_caller]
pub fn jacobian<P: At, Y: Values<Scalar = P::First>>(
    mut f: impl FnMut(&Seeded<P, P::First>) -> Y,
    x: P,
) -> (Y::With<P::Scalar>, OMatrix<P::Scalar, Y::Dim, DimOf<P>>)
where
    DefaultAllocator: Allocator<Y::Dim, DimOf<P>>,
{
    certain(try_jacobian(|x| Ok(f(x)), x))
}

/// [`jacobian`] of a function that may fail: its error comes out unchanged.
#[inline]
#[track_caller]
pub fn try_jacobian<P: At, Y: Values<Scalar = P::First>, E>(
    mut f: impl FnMut(&Seeded<P, P::First>) -> Result<Y, E>,
    x: P,
) -> Result<(Y::With<P::Scalar>, OMatrix<P::Scalar, Y::Dim, DimOf<P>>), E>
where
    DefaultAllocator: Allocator<Y::Dim, DimOf<P>>,
{
    let x = x.point();
    let n = x.dim();
    let mut seeded = x.map_coordinates(P::First::from_inner);
    let mut jacobian = None;
    let y = passes::<P::Point, P::First, Y, E>(&mut f, &mut seeded, n.value(), |y, lane, j| {
        let jacobian = jacobian.get_or_insert_with(|| OMatrix::zeros_generic(y.dim(), n));
        for (slot, y) in jacobian.column_mut(j).iter_mut().zip(y.values()) {
            *slot = y.tangents()[lane];
        }
    })?;
    let jacobian = jacobian.unwrap_or_else(|| OMatrix::zeros_generic(y.dim(), n));
    Ok((y.map_values(|y| y.inner()), jacobian))
}

/// All chunks in turn; `column(y, k, j)` takes lane `k` of the values as column `j`.
#[inline]
#[track_caller]
fn passes<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>, Y: Values<Scalar = S>, E>(
    f: &mut impl FnMut(&X::With<S>) -> Result<Y, E>,
    seeded: &mut X::Owned<S>,
    n: usize,
    mut column: impl FnMut(&Y, usize, usize),
) -> Result<Y, E> {
    let mut start = 0;
    let mut shape = None;
    loop {
        let inputs = chunk(start, S::WIDTH, n);
        seed_chunk(slots::<X, S>(seeded), inputs.clone(), S::Inner::one());
        let y = f(view::<X, S>(seeded))?;
        same_shape(*shape.get_or_insert(y.shape()), y.shape());
        for (lane, j) in inputs.clone().enumerate() {
            column(&y, lane, j);
        }
        if inputs.end == n {
            return Ok(y);
        }
        seed_chunk(slots::<X, S>(seeded), inputs.clone(), S::Inner::zero());
        start = inputs.end;
    }
}

/// A function must return the same number of values in every pass.
#[inline]
#[track_caller]
fn same_shape(first: (usize, usize), now: (usize, usize)) {
    assert!(
        first == now,
        "the function returned {}x{} values in the first pass and {}x{} in a later one",
        first.0,
        first.1,
        now.0,
        now.1
    );
}
