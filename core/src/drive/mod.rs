//! Drivers: from a function to its derivative, gradient, Jacobian or Hessian.

use core::convert::Infallible;
use core::ops::Range;

use num_traits::{One, Zero};

use crate::seed::{FirstOrder, chunk, seed_chunk};
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

/// All chunks of a first-order driver in turn: `step` evaluates the function at the seeded point and takes the lanes
/// of these inputs from the result. `seeded` holds `n` constants. Returns what the last step does.
#[inline]
#[track_caller]
pub(crate) fn passes<X: Point + ?Sized, S: FirstOrder<Inner = X::Scalar>, Y, E>(
    seeded: &mut X::Owned<S>,
    n: usize,
    mut step: impl FnMut(&X::With<S>, Range<usize>) -> Result<Y, E>,
) -> Result<Y, E> {
    let mut start = 0;
    loop {
        let inputs = chunk(start, S::WIDTH, n);
        seed_chunk(slots::<X, S>(seeded), inputs.clone(), S::Inner::one());
        let y = step(view::<X, S>(seeded), inputs.clone())?;
        if inputs.end == n {
            return Ok(y);
        }
        seed_chunk(slots::<X, S>(seeded), inputs.clone(), S::Inner::zero());
        start = inputs.end;
    }
}
