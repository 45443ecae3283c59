//! Seeding and extraction: inputs get unit lanes, results give their lanes back.
//!
//! The drivers do this for you. Use it directly where a function does not fit them.
//!
//! ```
//! use dualpack_core::{Dual, extract, seed};
//! let x = [1.0, 2.0, 3.0];
//! let mut d = [Dual::<f64, 2>::constant(0.0); 3];
//! // Inputs 1 and 2 get the lanes 0 and 1.
//! seed(&x, 1, &mut d);
//! let y = d[0] * d[1] * d[2];
//! let mut gradient = [0.0; 3];
//! extract(&y, 1, &mut gradient);
//! assert_eq!(gradient, [0.0, 3.0, 2.0]);
//! ```

use core::ops::Range;

use crate::{Dual, Dual2, HyperDual, Lift, Real};

/// A first-order number seen as its tangent lanes: [`Dual`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not carry one batch of first-order tangents",
    note = "drivers of first derivatives run on `Dual<T, N>`"
)]
pub trait FirstOrder: Lift {
    /// How many lanes there are.
    const WIDTH: usize;
    /// The number `value` as the independent variable of `lane`: tangent 1 there, 0 elsewhere; a constant where there is
    /// no such lane.
    fn seeded(value: Self::Inner, lane: usize) -> Self;
    /// [`seeded`](FirstOrder::seeded) with the tangent `t`, for lanes and tangents known only at run time.
    #[doc(hidden)]
    fn seeded_with(value: Self::Inner, lane: usize, t: Self::Inner) -> Self;
    /// The tangents, one per lane.
    fn tangents(&self) -> &[Self::Inner];
    /// Copies the first tangents into `out`, as many as there is room for.
    ///
    /// # Panics
    /// If there are fewer lanes than that.
    fn store_tangents(&self, out: &mut [Self::Inner]);
    /// The tangents, one per lane.
    fn tangents_mut(&mut self) -> &mut [Self::Inner];
}

impl<T: Real, const N: usize> FirstOrder for Dual<T, N> {
    const WIDTH: usize = N;
    #[inline(always)]
    fn seeded(value: T, lane: usize) -> Self {
        Self { value, eps: core::array::from_fn(|k| if k == lane { T::one() } else { T::zero() }) }
    }
    #[inline(always)]
    fn seeded_with(value: T, lane: usize, t: T) -> Self {
        Self { value, eps: T::lanes_seed(lane, t) }
    }
    #[inline(always)]
    fn tangents(&self) -> &[T] {
        &self.eps
    }
    #[inline(always)]
    fn store_tangents(&self, out: &mut [T]) {
        if out.len() == N
            && let Some(out) = out.first_chunk_mut()
        {
            // The usual case apart: vectors from registers, no call that copies any length.
            *out = self.eps;
        } else {
            out.copy_from_slice(&self.eps[..out.len()]);
        }
    }
    #[inline(always)]
    fn tangents_mut(&mut self) -> &mut [T] {
        &mut self.eps
    }
}

/// A second-order number seen as a block of second derivatives: [`HyperDual<T, M, N>`](HyperDual) with two families of
/// directions, [`Dual2`] with one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not carry a block of second derivatives",
    note = "drivers of second derivatives run on `HyperDual<T, M, N>` or `Dual2<T, N>`"
)]
pub trait SecondOrder: Lift {
    /// Rows of the block.
    const ROWS: usize;
    /// Columns of the block.
    const COLUMNS: usize;
    /// Whether rows and columns are one family of directions, so that only diagonal blocks can be asked for.
    const SYMMETRIC: bool;
    /// Makes this number the independent variable of row `i`.
    fn seed_row(&mut self, i: usize);
    /// Makes `t` the tangent of this number in column `j`.
    fn seed_column(&mut self, j: usize, t: Self::Inner);
    /// The first derivative in the direction of row `i`.
    fn row(&self, i: usize) -> Self::Inner;
    /// The first derivative in the direction of column `j`.
    fn column(&self, j: usize) -> Self::Inner;
    /// The second derivative in the directions of row `i` and column `j`; `j >= i` where the type is symmetric.
    fn mixed(&self, i: usize, j: usize) -> Self::Inner;
}

impl<T: Real, const M: usize, const N: usize> SecondOrder for HyperDual<T, M, N> {
    const ROWS: usize = M;
    const COLUMNS: usize = N;
    const SYMMETRIC: bool = false;
    #[inline(always)]
    fn seed_row(&mut self, i: usize) {
        self.eps1[i] = T::one();
    }
    #[inline(always)]
    fn seed_column(&mut self, j: usize, t: T) {
        self.eps2[j] = t;
    }
    #[inline(always)]
    fn row(&self, i: usize) -> T {
        self.eps1[i]
    }
    #[inline(always)]
    fn column(&self, j: usize) -> T {
        self.eps2[j]
    }
    #[inline(always)]
    fn mixed(&self, i: usize, j: usize) -> T {
        self.eps12[i][j]
    }
}

impl<T: Real, const N: usize> SecondOrder for Dual2<T, N> {
    const ROWS: usize = N;
    const COLUMNS: usize = N;
    const SYMMETRIC: bool = true;
    #[inline(always)]
    fn seed_row(&mut self, i: usize) {
        self.grad[i] = T::one();
    }
    #[inline(always)]
    fn seed_column(&mut self, j: usize, t: T) {
        self.grad[j] = t;
    }
    #[inline(always)]
    fn row(&self, i: usize) -> T {
        self.grad[i]
    }
    #[inline(always)]
    fn column(&self, j: usize) -> T {
        self.grad[j]
    }
    #[inline(always)]
    fn mixed(&self, i: usize, j: usize) -> T {
        self.hess[i][j]
    }
}

/// The inputs of the chunk that begins at `start`: `width` of them, fewer at the end.
#[inline]
pub fn chunk(start: usize, width: usize, len: usize) -> Range<usize> {
    start..start.saturating_add(width).min(len)
}

/// Fills `out` with the point `x`: inputs `start`, `start + 1`, ... get the unit lanes 0, 1, ..., as many as there are
/// lanes; all others are constants.
///
/// # Panics
/// If `x` and `out` differ in length.
#[inline]
#[track_caller]
pub fn seed<S: FirstOrder>(x: &[S::Inner], start: usize, out: &mut [S]) {
    same_length(x.len(), out.len());
    let one = opaque_one::<S::Inner>();
    for (k, (d, &v)) in out.iter_mut().zip(x).enumerate() {
        *d = S::seeded_with(v, k.wrapping_sub(start), one);
    }
}

/// Reads the chunk of a gradient that begins at input `start` from the lanes of `y`.
///
/// # Panics
/// If `start` is beyond the end of `gradient`.
#[inline]
#[track_caller]
pub fn extract<S: FirstOrder>(y: &S, start: usize, gradient: &mut [S::Inner]) {
    let n = gradient.len();
    assert!(start <= n, "a chunk that begins at input {start} of a gradient with {n} entries");
    let inputs = chunk(start, S::WIDTH, gradient.len());
    y.store_tangents(&mut gradient[inputs]);
}

/// Fills `out` with constants.
#[inline]
#[track_caller]
pub(crate) fn fill<S: Lift>(x: &[S::Inner], out: &mut [S]) {
    same_length(x.len(), out.len());
    for (d, &v) in out.iter_mut().zip(x) {
        *d = S::from_inner(v);
    }
}

#[inline(always)]
#[track_caller]
fn same_length(point: usize, buffer: usize) {
    assert_eq!(point, buffer, "the point has {point} coordinates, the buffer {buffer}");
}

/// 1, which the compiler cannot know: it would drop the product and copy the lanes by narrower moves.
#[inline(always)]
fn opaque_one<T: Real>() -> T {
    core::hint::black_box(T::one())
}

/// The k-th input of the chunk becomes the variable of lane k.
#[inline(always)]
pub(crate) fn seed_chunk<S: FirstOrder>(out: &mut [S], inputs: Range<usize>) {
    let one = opaque_one::<S::Inner>();
    for (lane, x) in out[inputs].iter_mut().enumerate() {
        *x = S::seeded_with(x.inner(), lane, one);
    }
}

/// Back to constants.
#[inline(always)]
pub(crate) fn unseed<S: Lift>(slots: &mut [S], inputs: Range<usize>) {
    for x in &mut slots[inputs] {
        *x = S::from_inner(x.inner());
    }
}
