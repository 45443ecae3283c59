//! Jacobians by parameter blocks, as bundle adjusters and Ceres' cost functions want them.

use alloc::vec::Vec;
use core::ops::{Index, Range};

use super::certain;
use super::point::{LANES, expect_len};
use crate::seed::chunk;
use crate::{Dual, Real};

/// The order of the entries of a matrix in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Entry `(i, j)` of an `m x n` matrix at `i n + j`: Ceres, C.
    RowMajor,
    /// Entry `(i, j)` of an `m x n` matrix at `i + j m`: nalgebra, LAPACK.
    ColumnMajor,
}

/// The parameter blocks as the function sees them: `x[b][i]` is coordinate `i` of block `b`.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a, S> {
    coordinates: &'a [S],
    ends: &'a [usize],
}

impl<'a, S> Blocks<'a, S> {
    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// The blocks in turn.
    pub fn iter(&self) -> impl Iterator<Item = &'a [S]> + use<'a, S> {
        let this = Blocks { coordinates: self.coordinates, ends: self.ends };
        (0..self.ends.len()).map(move |b| &this.coordinates[range(this.ends, b)])
    }
}

impl<S> Index<usize> for Blocks<'_, S> {
    type Output = [S];
    #[inline]
    #[track_caller]
    fn index(&self, b: usize) -> &[S] {
        &self.coordinates[range(self.ends, b)]
    }
}

#[inline]
#[track_caller]
fn range(ends: &[usize], b: usize) -> Range<usize> {
    let end = ends[b];
    let start = if b == 0 { 0 } else { ends[b - 1] };
    start..end
}

/// Residuals and their Jacobians by parameter block.
///
/// `f(x, r)` reads block `b` as `x[b]` and writes its residuals into `r`, which is zero on entry. The values go into
/// `residuals`, and for each block `b` the `m x n_b` matrix ∂r/∂x_b into `jacobians[b]`, in the given [`Layout`]. `None`
/// holds a block constant: no lane is spent on it. Lanes are filled across blocks: ⌈n/8⌉ passes for `n` free coordinates
/// in all, one if none is free.
///
/// ```
/// use dualpack_core::{Layout, jacobian_blocks};
/// // A point seen by a camera that may only shift: r = (X - t)/Z - observed.
/// let (point, shift, observed) = ([2.0, 1.0, 4.0], [0.5, 0.0], [0.3, 0.2]);
/// let (mut r, mut by_point) = ([0.0; 2], [0.0; 6]);
/// jacobian_blocks(
///     |x, r| {
///         for k in 0..2 {
///             r[k] = (x[0][k] - x[1][k]) / x[0][2] - observed[k];
///         }
///     },
///     &[&point, &shift],
///     &mut r,
///     &mut [Some(&mut by_point), None],
///     Layout::RowMajor,
/// );
/// assert_eq!(by_point, [0.25, 0.0, -1.5 / 16.0, 0.0, 0.25, -1.0 / 16.0]);
/// ```
///
/// # Panics
/// If `blocks` and `jacobians` differ in number, or a Jacobian does not have `m n_b` entries.
#[track_caller]
pub fn jacobian_blocks<T: Real>(
    f: impl FnMut(Blocks<'_, Dual<T, LANES>>, &mut [Dual<T, LANES>]),
    blocks: &[&[T]],
    residuals: &mut [T],
    jacobians: &mut [Option<&mut [T]>],
    layout: Layout,
) {
    BlockJacobian::new().evaluate(f, blocks, residuals, jacobians, layout);
}

/// [`jacobian_blocks`] of a function that may fail: its error comes out unchanged. Then the Jacobians hold some columns
/// of the new and some of the old result, and the residuals are as they were.
///
/// # Panics
/// As [`jacobian_blocks`].
#[track_caller]
pub fn try_jacobian_blocks<T: Real, E>(
    f: impl FnMut(Blocks<'_, Dual<T, LANES>>, &mut [Dual<T, LANES>]) -> Result<(), E>,
    blocks: &[&[T]],
    residuals: &mut [T],
    jacobians: &mut [Option<&mut [T]>],
    layout: Layout,
) -> Result<(), E> {
    BlockJacobian::new().try_evaluate(f, blocks, residuals, jacobians, layout)
}

/// The work space of [`jacobian_blocks`], with `N` lanes: evaluations allocate only where an earlier one was smaller.
///
/// A panic in the function, or an error, leaves the work space usable.
#[derive(Clone, Debug)]
pub struct BlockJacobian<T, const N: usize = LANES> {
    seeded: Vec<Dual<T, N>>,
    values: Vec<Dual<T, N>>,
    ends: Vec<usize>,
    /// Block and column of each free coordinate, and where it stands in `seeded`.
    free: Vec<(usize, usize, usize)>,
}

impl<T: Real, const N: usize> Default for BlockJacobian<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real, const N: usize> BlockJacobian<T, N> {
    /// An empty work space, good for blocks of any size.
    pub fn new() -> Self {
        const { assert!(N > 0, "a chunk needs at least one lane") };
        Self { seeded: Vec::new(), values: Vec::new(), ends: Vec::new(), free: Vec::new() }
    }

    /// As [`jacobian_blocks`].
    ///
    /// # Panics
    /// As [`jacobian_blocks`].
    #[track_caller]
    pub fn evaluate(
        &mut self,
        mut f: impl FnMut(Blocks<'_, Dual<T, N>>, &mut [Dual<T, N>]),
        blocks: &[&[T]],
        residuals: &mut [T],
        jacobians: &mut [Option<&mut [T]>],
        layout: Layout,
    ) {
        certain(self.try_evaluate(
            |x, r| {
                f(x, r);
                Ok(())
            },
            blocks,
            residuals,
            jacobians,
            layout,
        ));
    }

    /// As [`try_jacobian_blocks`].
    ///
    /// # Panics
    /// As [`jacobian_blocks`].
    #[track_caller]
    pub fn try_evaluate<E>(
        &mut self,
        mut f: impl FnMut(Blocks<'_, Dual<T, N>>, &mut [Dual<T, N>]) -> Result<(), E>,
        blocks: &[&[T]],
        residuals: &mut [T],
        jacobians: &mut [Option<&mut [T]>],
        layout: Layout,
    ) -> Result<(), E> {
        let m = residuals.len();
        expect_len("the list of Jacobians", jacobians.len(), blocks.len());
        self.seeded.clear();
        self.ends.clear();
        self.free.clear();
        for (b, (block, jacobian)) in blocks.iter().zip(&*jacobians).enumerate() {
            if let Some(jacobian) = jacobian {
                expect_len("a Jacobian", jacobian.len(), m * block.len());
                let start = self.seeded.len();
                self.free.extend((0..block.len()).map(|j| (b, j, start + j)));
            }
            self.seeded.extend(block.iter().map(|&v| Dual::constant(v)));
            self.ends.push(self.seeded.len());
        }
        self.values.resize(m, Dual::constant(T::zero()));
        let mut start = 0;
        loop {
            let lanes = &self.free[chunk(start, N, self.free.len())];
            for (lane, &(_, _, at)) in lanes.iter().enumerate() {
                self.seeded[at].eps[lane] = T::one();
            }
            self.values.fill(Dual::constant(T::zero()));
            f(Blocks { coordinates: &self.seeded, ends: &self.ends }, &mut self.values)?;
            for (lane, &(b, j, at)) in lanes.iter().enumerate() {
                self.seeded[at].eps[lane] = T::zero();
                let Some(jacobian) = &mut jacobians[b] else { continue };
                for (i, r) in self.values.iter().enumerate() {
                    let at = match layout {
                        Layout::RowMajor => i * blocks[b].len() + j,
                        Layout::ColumnMajor => i + j * m,
                    };
                    jacobian[at] = r.eps[lane];
                }
            }
            start += lanes.len();
            if start == self.free.len() {
                break;
            }
        }
        for (r, v) in residuals.iter_mut().zip(&self.values) {
            *r = v.value;
        }
        Ok(())
    }
}
