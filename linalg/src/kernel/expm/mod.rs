//! The exponential of a small matrix and its first derivatives, without calls between the steps: registers along the
//! lanes, or along the rows where there are few lanes. Matrices that need more thought than a few norms (triangular, not
//! balanced, strongly nonnormal, enormous ones, overflow) are left to `function/expm.rs`; the values alone decide.

mod chain;
mod level;
mod product;
mod vector;

use std::mem::MaybeUninit;

use dualpack_core::Base;

use super::{Entries, Interleaved, InterleavedRef, Order};
use crate::scratch::with_uninit;
use chain::{Choice, PLANES, SQUARINGS};
use level::{Job, Set, TINY, run};

/// The largest order.
pub(crate) const MAX: usize = 128;

/// Up to this order lanes go side by side; beyond it they are worked on one by one, in the cache.
const SIDE: usize = 48;

/// How a matrix of order n and its lanes are laid out.
#[derive(Clone, Copy, Debug)]
struct Layout {
    n: usize,
    lanes: usize,
    set: Set,
    /// Lanes in a group.
    group: usize,
    /// Whether the order is known to the compiler.
    tiny: bool,
    /// How many squares are kept for the lanes.
    squares: usize,
    /// Floats from a row of a plane to the next one.
    ld: usize,
}

/// Some of the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    first: usize,
    count: usize,
    /// How many floats an entry has, those of lanes that are not there too; 0 for lanes in rows.
    width: usize,
}

impl Layout {
    fn new<F: Base>(n: usize, lanes: usize) -> Layout {
        let set = Set::detect();
        let group = set.group::<F>();
        let tiny = n <= TINY && set != Set::Any && size_of::<F>() == 8;
        let ld = if tiny { n } else { n.next_multiple_of(group) };
        let squares = if lanes == 0 { 0 } else { SQUARINGS };
        Layout { n, lanes, set, group, tiny, squares, ld }
    }

    /// The lanes from `first` on: full groups, and the rest in the way that takes the fewest operations.
    #[inline(always)]
    fn piece(&self, first: usize) -> Option<Piece> {
        let rest = self.lanes.checked_sub(first).filter(|&rest| rest > 0)?;
        let (width, most) = match rest {
            1 if self.tiny => (1, 1),
            2..=4 if self.tiny => (4, 4),
            _ if self.tiny || (2 * rest > self.group && self.n <= SIDE) => (self.group, self.group),
            _ if self.ld == self.group => (0, self.group / 2),
            _ => (0, 1),
        };
        Some(Piece { first, count: rest.min(most), width })
    }

    /// The same for planes that are kept for any number of lanes.
    fn kept<F: Base>(n: usize, lanes: usize) -> Layout {
        let layout = Layout::new::<F>(n, lanes);
        let ld = n.next_multiple_of(layout.group);
        Layout { tiny: false, squares: SQUARINGS, ld, ..layout }
    }

    /// The floats that [`Job`] needs for the planes.
    fn planes(&self) -> usize {
        if self.tiny { 0 } else { (PLANES + self.squares) * self.n * self.ld + 2 * self.n }
    }

    /// The floats that it needs for the work on a group of lanes.
    fn work(&self) -> usize {
        // The first piece is the largest one.
        let row = self.piece(0).map_or(0, |piece| match piece.width {
            0 => piece.count * self.ld,
            width => self.n * width,
        });
        if self.tiny { 0 } else { 7 * self.n * row }
    }
}

/// Whether a matrix of this order may be for this kernel.
pub(crate) fn is_small(n: usize) -> bool {
    (2..=MAX).contains(&n)
}

/// Overwrites a matrix by its exponential and the tangents by its derivatives; `false`, and nothing done, if it is not
/// for this kernel.
#[inline]
pub(crate) fn exponential<F: Base>(matrix: Interleaved<'_, F>) -> bool {
    let Interleaved { entries: a, lanes, order, .. } = matrix;
    if order != Order::First || a.rows != a.cols || !is_small(a.rows) {
        return false;
    }
    let layout = Layout::new::<F>(a.rows, lanes);
    let run = |planes: *mut F, work: *mut F| {
        // SAFETY: `a` is an exclusively borrowed square matrix of entries with a value and `lanes` tangents, and the
        // memory as large as asked for; the CPU has been looked at.
        unsafe { run(&Job { a, layout, choice: None, planes, work }).is_some() }
    };
    if layout.tiny {
        return run(std::ptr::null_mut(), std::ptr::null_mut());
    }
    with_uninit(layout.planes(), |planes: &mut [MaybeUninit<F>]| {
        with_uninit(layout.work(), |work: &mut [MaybeUninit<F>]| {
            run(planes.as_mut_ptr().cast(), work.as_mut_ptr().cast())
        })
    })
}

/// What the derivatives of the exponential of a small matrix need, for directions that come later.
#[derive(Clone, Debug)]
pub(crate) struct Record<F> {
    n: usize,
    choice: Choice,
    planes: Vec<F>,
}

impl<F: Base> Record<F> {
    /// That of a matrix without lanes; nothing if it is not for this kernel.
    pub(crate) fn new(matrix: InterleavedRef<'_, F>) -> Option<Record<F>> {
        let (mut a, n) = (matrix.entries, matrix.entries.rows);
        if matrix.lanes != 0 || a.rows != a.cols || !is_small(n) {
            return None;
        }
        let layout = Layout::kept::<F>(n, 0);
        with_uninit(layout.planes() + n * n, |memory: &mut [MaybeUninit<F>]| {
            let planes = memory.as_mut_ptr().cast::<F>();
            // SAFETY: the job overwrites a copy of the matrix, which lies behind the planes; the CPU has been looked at.
            // The planes that the degree does not need are zero in the record.
            unsafe {
                let copy = planes.add(layout.planes());
                for k in 0..n * n {
                    copy.add(k).write(a.value(k % n, k / n));
                }
                planes.write_bytes(0, layout.planes());
                a = Entries { start: copy, rows: n, cols: n, down: 1, right: n };
                let choice = run(&Job { a, layout, choice: None, planes, work: std::ptr::null_mut() })?;
                let planes = std::slice::from_raw_parts(planes, layout.planes()).to_vec();
                Some(Record { n, choice, planes })
            }
        })
    }

    /// The directions in the lanes of a matrix, whose values do not count, become the derivatives.
    pub(crate) fn pushforward(&self, matrix: Interleaved<'_, F>) {
        let Interleaved { entries: a, lanes, order, .. } = matrix;
        assert!(order == Order::First && (a.rows, a.cols) == (self.n, self.n));
        let layout = Layout::kept::<F>(self.n, lanes);
        assert!(self.planes.len() == layout.planes());
        // The registers want their alignment.
        with_uninit(layout.planes(), |planes: &mut [MaybeUninit<F>]| {
            with_uninit(layout.work(), |work: &mut [MaybeUninit<F>]| {
                let (planes, work) = (planes.as_mut_ptr().cast(), work.as_mut_ptr().cast());
                // SAFETY: the planes are those of a job with the same order and instruction set; `a` is an exclusively
                // borrowed square matrix of entries with `lanes` tangents.
                unsafe {
                    std::ptr::copy_nonoverlapping(self.planes.as_ptr(), planes, self.planes.len());
                    run(&Job { a, layout, choice: Some(self.choice), planes, work });
                }
            });
        });
    }
}
