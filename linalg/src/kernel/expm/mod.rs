//! The exponential of a small matrix and its first derivatives, without calls between the steps: registers along the
//! lanes, or along the rows where there are few lanes. Matrices that need more thought than a few norms (triangular, not
//! balanced, strongly nonnormal, enormous ones, overflow) are left to `function/expm.rs`; the values alone decide.

mod chain;
mod level;
mod product;
mod vector;

use std::mem::MaybeUninit;

use dualpack_core::Base;

use super::{Interleaved, Order};
use crate::scratch::with_uninit;
use chain::{PLANES, SQUARINGS};
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
        Layout { n, lanes, set, group, tiny, ld }
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

    /// The floats that [`Job`] needs for the planes, those of the squares if there are lanes.
    fn planes(&self) -> usize {
        let squares = if self.lanes == 0 { 0 } else { SQUARINGS };
        if self.tiny { 0 } else { (PLANES + squares) * self.n * self.ld + 2 * self.n }
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
        unsafe { run(&Job { a, layout, planes, work }).is_some() }
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
