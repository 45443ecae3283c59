//! Differentiated Cholesky factorization of large matrices, in place, on interleaved lanes.
//!
//! The floats of a matrix of `Dual<F, N>` are, as they lie, an ordinary matrix of `(N + 1) m` rows: entry after entry,
//! lane after lane. So `dL_K L_DKᵀ`, for all lanes, is one product without any copying; the values come along as one
//! more lane, which is garbage meanwhile and written again at the end. The other term, `L_K dL_DKᵀ`, is for every row
//! `j` of `dL_DK` the product of its lanes, `N x k`, with `L_Kᵀ`.

use dualpack_core::Base;
use nalgebra::DMatrixView;

use super::cholesky::potrf_any;
use super::level3::{BLOCK as TILE, Place, Sizes, Tile, solve_right_any, update};
use super::{Entries, Interleaved, Order};
use crate::scratch::with_scratch;

/// Width of a block of columns.
const BLOCK: usize = 24;

/// The tangents of `dL`, in place of the lower triangle of `dA`; `l` holds the factor. The values of `a` are left as
/// garbage in the lower triangle, the upper one is not touched. `false`, and nothing done, if `a` is not of first order.
pub(crate) fn potrf<F: Base>(l: DMatrixView<'_, F>, a: Interleaved<'_, F>) -> bool {
    let (n, lanes) = (l.nrows(), a.lanes);
    if a.order != Order::First {
        return false;
    }
    assert!(l.ncols() == n && a.entries.rows == n && a.entries.cols == n);
    let factor = Place { start: l.as_ptr(), down: 1, right: l.strides().1 };
    for from in (0..n).step_by(BLOCK) {
        let columns = Columns { a: a.entries, l: factor, n, lanes, from, to: n.min(from + BLOCK) };
        // SAFETY: `a` is made from an exclusive view of an n x n matrix whose entries are a value and `lanes` tangents,
        // `l` is n x n and lives as long.
        unsafe {
            columns.diagonal();
            if columns.to < n {
                columns.below();
            }
        }
    }
    true
}

/// A block of columns, `from..to`, of an n x n matrix.
struct Columns<F> {
    a: Entries<F>,
    l: Place<F>,
    n: usize,
    lanes: usize,
    from: usize,
    to: usize,
}

impl<F: Base> Columns<F> {
    fn width(&self) -> usize {
        self.to - self.from
    }

    /// The floats from number `slot` of entry `(i, j)` on, as a matrix whose rows are floats.
    ///
    /// # Safety
    /// The entry lies in the matrix.
    unsafe fn floats(&self, i: usize, j: usize, slot: usize) -> Place<F> {
        let offset = i * self.a.down + j * self.a.right + slot;
        // SAFETY: inside the matrix by the contract.
        Place { start: unsafe { self.a.start.add(offset) }, down: 1, right: self.a.right }
    }

    /// `L` from `(i, 0)` on, transposed.
    ///
    /// # Safety
    /// `i < n`.
    unsafe fn factor_transposed(&self, i: usize) -> Place<F> {
        // SAFETY: inside the factor by the contract.
        Place { start: unsafe { self.l.start.add(i) }, down: self.l.right, right: 1 }
    }

    /// The diagonal block of `dA` becomes that of `dL`, beside the matrix, whose upper triangle is not to be touched.
    ///
    /// # Safety
    /// As in [`potrf`]: exclusive use of the matrix, in these shapes.
    unsafe fn diagonal(&self) {
        let (w, from, width, lanes) = (self.width(), self.from, self.a.down, self.lanes);
        with_scratch::<F, _>(w * w * width, |buffer| {
            let block =
                Entries { start: buffer.as_mut_ptr(), rows: w, cols: w, down: width, right: width * w };
            for j in 0..w {
                // SAFETY: the lower triangle of the block's column j, `w - j` entries, in both.
                unsafe {
                    let source = self.floats(from + j, from + j, 0).start;
                    let target = block.start.add(j * (block.down + block.right));
                    target.copy_from_nonoverlapping(source, (w - j) * width);
                }
            }
            // SAFETY: products of blocks inside the three matrices; the scratch overlaps neither.
            unsafe {
                let right = self.factor_transposed(from);
                let target = Place { start: block.start.cast_const(), down: 1, right: block.right };
                let sizes = Sizes { m: w * width, n: w, k: from };
                update((self.floats(from, 0, 0), right, target), sizes);
                for j in 0..w {
                    let start = block.start.add(j * (block.down + block.right) + 1).cast_const();
                    let target = Place { start, down: 1, right: block.down };
                    let sizes = Sizes { m: lanes, n: w - j, k: from };
                    update((self.floats(from + j, 0, 1), self.factor_transposed(from + j), target), sizes);
                }
                for j in 0..w {
                    for i in j..w {
                        block.store(i, j, 0, [self.l.at(from + i, from + j)]);
                    }
                }
                potrf_any(block, lanes, Order::First);
            }
            for j in 0..w {
                // SAFETY: as above, the other way.
                unsafe {
                    let target = self.floats(from + j, from + j, 0).start.cast_mut();
                    let source = block.start.add(j * (block.down + block.right));
                    target.copy_from_nonoverlapping(source, (w - j) * width);
                }
            }
        });
    }

    /// The rows below, where the diagonal block is done.
    ///
    /// # Safety
    /// As for [`diagonal`](Columns::diagonal), and there are rows below.
    unsafe fn below(&self) {
        let (w, from, to, width) = (self.width(), self.from, self.to, self.a.down);
        let rows = self.n - to;
        // SAFETY: blocks inside the matrices; those that are read lie left of those that are written, or in the rows
        // of the diagonal block.
        unsafe {
            let sizes = Sizes { m: rows * width, n: w, k: from };
            update((self.floats(to, 0, 0), self.factor_transposed(from), self.floats(to, from, 0)), sizes);
            for j in 0..w {
                let target = Place { right: width, ..self.floats(to, from + j, 1) };
                let sizes = Sizes { m: self.lanes, n: rows, k: from + j + 1 };
                update((self.floats(from + j, 0, 1), self.factor_transposed(to), target), sizes);
            }
            // X L_Jᵀ = dA_J, tile by tile.
            for first in (from..to).step_by(TILE) {
                let last = to.min(first + TILE);
                let target = self.floats(to, first, 0);
                let right = Place {
                    start: self.l.start.add(first + from * self.l.right),
                    down: self.l.right,
                    right: 1,
                };
                let sizes = Sizes { m: rows * width, n: last - first, k: first - from };
                update((self.floats(to, from, 0), right, target), sizes);
                let mut tile: Tile<F> = [[F::zero(); TILE]; TILE];
                for j in first..last {
                    for i in first..=j {
                        tile[j - first][i - first] = self.l.at(j, i);
                    }
                }
                solve_right_any(target, rows * width, last - first, false, &tile);
            }
        }
    }
}
