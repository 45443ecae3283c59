//! Drivers: from a function to its derivative, gradient, Jacobian or Hessian.

use core::convert::Infallible;
use core::ops::Range;

use crate::seed::{FirstOrder, chunk, seed_chunk, unseed};
use crate::shared::Passes;
use point::{Point, slots, view};

#[cfg(feature = "alloc")]
pub(crate) mod blocks;
pub(crate) mod derivative;
pub(crate) mod gradient;
pub(crate) mod hessian;
pub(crate) mod jacobian;
pub(crate) mod jvp;
pub(crate) mod manifold;
pub(crate) mod nth;
#[cfg(feature = "rayon")]
pub(crate) mod parallel;
pub(crate) mod point;
pub(crate) mod products;
pub(crate) mod progress;
pub(crate) mod values;

/// The result of a driver whose function cannot fail.
#[inline(always)]
pub(crate) fn certain<T>(result: Result<T, Infallible>) -> T {
    match result {
        Ok(v) => v,
        Err(never) => match never {},
    }
}

/// The point `x` as the first pass of a first-order driver takes it: the first chunk seeded, the rest constant.
#[inline]
pub(crate) fn start<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>>(x: &X) -> X::Owned<S> {
    let mut next = 0;
    x.map_coordinates(|v| {
        let lane = next;
        next += 1;
        S::seeded(v, lane)
    })
}

/// All chunks of a first-order driver in turn: `step` evaluates the function at the seeded point and takes the lanes
/// of these inputs from the result. `seeded` has `n` coordinates and the first chunk seeded. Returns what the last
/// step does.
#[inline]
#[track_caller]
pub(crate) fn passes<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>, Y, E>(
    seeded: &mut X::Owned<S>,
    n: usize,
    mut step: impl FnMut(&X::With<S>, Range<usize>) -> Result<Y, E>,
) -> Result<Y, E> {
    let mut inputs = chunk(0, S::WIDTH, n);
    let passes = Passes::begin(inputs.end < n);
    loop {
        passes.next();
        let y = step(view::<X, S>(seeded), inputs.clone())?;
        if inputs.end == n {
            return Ok(y);
        }
        let next = chunk(inputs.end, S::WIDTH, n);
        unseed(slots::<X, S>(seeded), inputs);
        seed_chunk(slots::<X, S>(seeded), next.clone());
        inputs = next;
    }
}
