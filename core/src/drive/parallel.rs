//! The chunks of a driver spread over the threads of rayon's pool.
//!
//! Chunk boundaries are those of the serial drivers and every number is put in its place by one thread: results are
//! the same to the bit, whatever the number of threads.

use core::borrow::BorrowMut;

use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, Dim, OMatrix};
use num_traits::Zero;
use rayon::prelude::*;

use super::certain;
use super::hessian::{seed_block, store_block};
use super::jacobian::{columns, same_count};
use super::point::{At, DimOf, Filled, Point, Seeded, slots, view};
use super::values::Values;
use crate::Lift;
use crate::seed::{FirstOrder, SecondOrder, chunk, extract, seed_chunk, unseed};

/// [`gradient`](crate::gradient) on rayon's threads, bit for bit the same.
///
/// ```
/// use dualpack_core::{gradient, par_gradient};
/// let x = vec![0.5; 100];
/// let f = |x: &[_]| x.iter().copied().sum::<dualpack_core::Dual64<8>>().sin();
/// assert_eq!(par_gradient(f, &x), gradient(f, &x));
/// ```
pub fn par_gradient<P: At>(
    f: impl Fn(&Seeded<P, P::First>) -> P::First + Sync,
    x: P,
) -> (P::Scalar, Filled<P, P::Scalar>)
where
    P::Point: Sync,
{
    certain(try_par_gradient(|x| Ok(f(x)), x))
}

/// [`par_gradient`] of a function that may fail: the error of the first chunk that has one comes out unchanged.
pub fn try_par_gradient<P: At, E: Send>(
    f: impl Fn(&Seeded<P, P::First>) -> Result<P::First, E> + Sync,
    x: P,
) -> Result<(P::Scalar, Filled<P, P::Scalar>), E>
where
    P::Point: Sync,
{
    let x = x.point();
    let mut gradient = x.map_coordinates(|_| P::Scalar::zero());
    let g: &mut [P::Scalar] = BorrowMut::<Seeded<P, P::Scalar>>::borrow_mut(&mut gradient).coordinates_mut();
    let mut value = P::Scalar::zero();
    for (k, y) in chunks::<P::Point, P::First, _, E>(f, x).into_iter().enumerate() {
        let y = y?;
        extract(&y, k * P::First::WIDTH, g);
        value = y.inner();
    }
    Ok((value, gradient))
}

/// [`jacobian`](crate::jacobian) on rayon's threads, bit for bit the same.
///
/// # Panics
/// If the function returns another number of values in a later chunk than in the first.
#[track_caller]
pub fn par_jacobian<P: At, Y: Values<Scalar = P::First> + Send>(
    f: impl Fn(&Seeded<P, P::First>) -> Y + Sync,
    x: P,
) -> (Y::With<P::Scalar>, OMatrix<P::Scalar, Y::Dim, DimOf<P>>)
where
    P::Point: Sync,
    DefaultAllocator: Allocator<Y::Dim, DimOf<P>>,
{
    certain(try_par_jacobian(|x| Ok(f(x)), x))
}

/// [`par_jacobian`] of a function that may fail: the error of the first chunk that has one comes out unchanged.
///
/// # Panics
/// If the function returns another number of values in a later chunk than in the first.
#[track_caller]
pub fn try_par_jacobian<P: At, Y: Values<Scalar = P::First> + Send, E: Send>(
    f: impl Fn(&Seeded<P, P::First>) -> Result<Y, E> + Sync,
    x: P,
) -> Result<(Y::With<P::Scalar>, OMatrix<P::Scalar, Y::Dim, DimOf<P>>), E>
where
    P::Point: Sync,
    DefaultAllocator: Allocator<Y::Dim, DimOf<P>>,
{
    let x = x.point();
    let n = x.dim();
    let mut jacobian = None;
    let mut last = None;
    for (k, y) in chunks::<P::Point, P::First, Y, E>(f, x).into_iter().enumerate() {
        let y = y?;
        let j = jacobian.get_or_insert_with(|| OMatrix::zeros_generic(y.dim(), n));
        same_count(j.nrows(), y.values().len());
        columns(j, y.values(), chunk(k * P::First::WIDTH, P::First::WIDTH, n.value()));
        last = Some(y.map_values(|y| y.inner()));
    }
    Ok((last.expect("there was a pass"), jacobian.expect("there was a pass")))
}

/// [`hessian`](crate::hessian) on rayon's threads, bit for bit the same.
pub fn par_hessian<P: At>(
    f: impl Fn(&Seeded<P, P::Second>) -> P::Second + Sync,
    x: P,
) -> (P::Scalar, Filled<P, P::Scalar>, OMatrix<P::Scalar, DimOf<P>, DimOf<P>>)
where
    P::Point: Sync,
    DefaultAllocator: Allocator<DimOf<P>, DimOf<P>>,
{
    certain(try_par_hessian(|x| Ok(f(x)), x))
}

/// [`par_hessian`] of a function that may fail: the error of the first block that has one comes out unchanged.
pub fn try_par_hessian<P: At, E: Send>(
    f: impl Fn(&Seeded<P, P::Second>) -> Result<P::Second, E> + Sync,
    x: P,
) -> Result<(P::Scalar, Filled<P, P::Scalar>, OMatrix<P::Scalar, DimOf<P>, DimOf<P>>), E>
where
    P::Point: Sync,
    DefaultAllocator: Allocator<DimOf<P>, DimOf<P>>,
{
    let x = x.point();
    let (n, width) = (x.coordinates().len(), P::Second::ROWS);
    let count = n.div_ceil(width.max(1)).max(1);
    let starts = |k: usize| k * width;
    let blocks: Vec<(usize, usize)> = (0..count).flat_map(|r| (r..count).map(move |c| (r, c))).collect();
    let results: Vec<Result<P::Second, E>> = blocks
        .par_iter()
        .map_init(
            || x.map_coordinates(P::Second::from_inner),
            |seeded, &(r, c)| {
                let (rows, columns) = (chunk(starts(r), width, n), chunk(starts(c), width, n));
                seed_block(slots::<P::Point, P::Second>(seeded), &rows, &columns);
                let y = f(view::<P::Point, _>(seeded));
                unseed(slots::<P::Point, P::Second>(seeded), rows);
                unseed(slots::<P::Point, P::Second>(seeded), columns);
                y
            },
        )
        .collect();
    let mut gradient = x.map_coordinates(|_| P::Scalar::zero());
    let mut hessian = OMatrix::zeros_generic(x.dim(), x.dim());
    let mut value = P::Scalar::zero();
    for (&(r, c), y) in blocks.iter().zip(results) {
        let y = y?;
        let (rows, columns) = (chunk(starts(r), width, n), chunk(starts(c), width, n));
        store_block(&y, &rows, &columns, slots::<P::Point, P::Scalar>(&mut gradient), &mut hessian);
        value = y.inner();
    }
    Ok((value, gradient, hessian))
}

/// The results of all chunks, in order.
fn chunks<X: Point + ?Sized + Sync, S: FirstOrder<Inner = X::Scalar>, Y: Send, E: Send>(
    f: impl Fn(&X::With<S>) -> Result<Y, E> + Sync,
    x: &X,
) -> Vec<Result<Y, E>> {
    let n = x.coordinates().len();
    (0..n.div_ceil(S::WIDTH.max(1)).max(1))
        .into_par_iter()
        .map_init(
            || x.map_coordinates(S::from_inner),
            |seeded, k| {
                let inputs = chunk(k * S::WIDTH, S::WIDTH, n);
                seed_chunk(slots::<X, S>(seeded), inputs.clone());
                let y = f(view::<X, S>(seeded));
                unseed(slots::<X, S>(seeded), inputs);
                y
            },
        )
        .collect()
}
