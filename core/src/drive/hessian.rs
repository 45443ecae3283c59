//! The Hessian of a function of many variables, by blocks of second derivatives.

use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, OMatrix};
use num_traits::Zero;

use super::certain;
use super::point::{At, DimOf, Filled, Point, Seeded, slots, view};
use crate::Lift;
use crate::seed::{SecondOrder, chunk};

/// Value, gradient and Hessian of a function: `(f(x), ∇f(x), ∇²f(x))`, the Hessian an `n x n` matrix that is
/// symmetric to the bit.
///
/// Inputs whose number the type knows take one pass of [`Dual2`](crate::Dual2). Others take blocks of `N x N` second
/// derivatives, of which only those on and above the diagonal are evaluated: k(k + 1)/2 passes for k = ⌈n/N⌉, about
/// n²/(2N²). See [`Chunk`](crate::Chunk) for `N`, [`gradient`](crate::gradient) for the points.
///
/// ```
/// use dualpack_core::hessian;
/// use dualpack_core::nalgebra::{matrix, vector};
/// // Rosenbrock's function at its minimum.
/// let (value, gradient, hessian) = hessian(
///     |x| (x[0] - 1.0).powi(2) + (x[1] - x[0] * x[0]).powi(2) * 100.0,
///     &vector![1.0, 1.0],
/// );
/// assert_eq!((value, gradient), (0.0, vector![0.0, 0.0]));
/// assert_eq!(hessian, matrix![802.0, -400.0; -400.0, 200.0]);
/// ```
#[inline]
pub fn hessian<P: At>(
    mut f: impl FnMut(&Seeded<P, P::Second>) -> P::Second,
    x: P,
) -> (P::Scalar, Filled<P, P::Scalar>, OMatrix<P::Scalar, DimOf<P>, DimOf<P>>)
where
    DefaultAllocator: Allocator<DimOf<P>, DimOf<P>>,
{
    certain(try_hessian(|x| Ok(f(x)), x))
}

/// [`hessian`] of a function that may fail: its error comes out unchanged.
#[inline]
pub fn try_hessian<P: At, E>(
    mut f: impl FnMut(&Seeded<P, P::Second>) -> Result<P::Second, E>,
    x: P,
) -> Result<(P::Scalar, Filled<P, P::Scalar>, OMatrix<P::Scalar, DimOf<P>, DimOf<P>>), E>
where
    DefaultAllocator: Allocator<DimOf<P>, DimOf<P>>,
{
    let x = x.point();
    let n = x.dim();
    let mut seeded = x.map_coordinates(P::Second::from_inner);
    let mut gradient = x.map_coordinates(|_| P::Scalar::zero());
    let mut hessian = OMatrix::zeros_generic(n, n);
    let value = passes::<P::Point, P::Second, E>(
        &mut f,
        &mut seeded,
        slots::<P::Point, _>(&mut gradient),
        |i, j, h| hessian[(i, j)] = h,
    )?;
    Ok((value, gradient, hessian))
}

/// All blocks on and above the diagonal; `entry(i, j, h)` takes both triangles from the one computed value.
#[inline]
fn passes<X: Point + ?Sized, S: SecondOrder<Inner = X::Scalar>, E>(
    f: &mut impl FnMut(&X::With<S>) -> Result<S, E>,
    seeded: &mut X::Owned<S>,
    gradient: &mut [X::Scalar],
    mut entry: impl FnMut(usize, usize, X::Scalar),
) -> Result<X::Scalar, E> {
    let n = gradient.len();
    debug_assert!(!S::SYMMETRIC || S::WIDTH >= n, "one family of directions has diagonal blocks only");
    let mut row_start = 0;
    loop {
        let rows = chunk(row_start, S::WIDTH, n);
        let mut column_start = row_start;
        let value = loop {
            let columns = chunk(column_start, S::WIDTH, n);
            let slots = slots::<X, S>(seeded);
            for (lane, i) in rows.clone().enumerate() {
                slots[i].seed_row(lane);
            }
            for (lane, j) in columns.clone().enumerate() {
                slots[j].seed_column(lane);
            }
            let y = f(view::<X, S>(seeded))?;
            let diagonal = column_start == row_start;
            for (a, i) in rows.clone().enumerate() {
                if diagonal {
                    gradient[i] = y.first(a);
                }
                for (b, j) in columns.clone().enumerate().skip(if diagonal { a } else { 0 }) {
                    let h = y.mixed(a, b);
                    entry(i, j, h);
                    entry(j, i, h);
                }
            }
            unseed(self::slots::<X, S>(seeded), &columns);
            if columns.end == n {
                break y.inner();
            }
            column_start = columns.end;
        };
        if rows.end == n {
            return Ok(value);
        }
        unseed(slots::<X, S>(seeded), &rows);
        row_start = rows.end;
    }
}

/// Back to constants.
#[inline]
fn unseed<S: Lift>(slots: &mut [S], inputs: &core::ops::Range<usize>) {
    for x in &mut slots[inputs.clone()] {
        *x = S::from_inner(x.inner());
    }
}
