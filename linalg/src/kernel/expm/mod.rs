//! The exponential of a small matrix and its first derivatives, without calls between the steps: registers along the
//! lanes, or along the rows where there are few lanes; the smallest orders stay in registers ([`tiny`]). Matrices that
//! need more thought than a few norms (triangular, not balanced, strongly nonnormal, enormous ones, overflow) are left to
//! `function/expm.rs`; the values alone decide.

mod chain;
mod level;
mod product;
mod tiny;

use std::mem::MaybeUninit;

use dualpack_core::Base;

use super::{Entries, Interleaved, InterleavedRef, Order};
use crate::scratch::with_uninit;
use chain::{Choice, PLANES, SQUARINGS};
use level::{Job, run, widest};

/// The largest order. Where registers have eight doubles products in this layout are faster than those on planes up to
/// here, elsewhere up to [`FEWER`].
const MAX: usize = 256;

/// The largest order on other CPUs, and of single precision.
const FEWER: usize = 128;

/// Up to this order lanes go side by side; beyond it they are worked on one by one, in the cache.
const SIDE: usize = 48;

/// Up to this order half a register of lanes goes side by side too.
const PAIRS: usize = 24;

/// How a matrix of order n and its lanes are laid out.
#[derive(Clone, Copy, Debug)]
struct Layout {
    n: usize,
    lanes: usize,
    /// Floats in a register.
    width: usize,
    /// How many squares are kept for the lanes.
    squares: usize,
    /// Floats from a row of a plane to the next one.
    ld: usize,
}

/// How lanes lie in registers: the kinds of `product.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Row,
    Pairs,
    Side,
}

/// Some of the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    first: usize,
    count: usize,
    form: Form,
}

impl Layout {
    fn new<F: Base>(n: usize, lanes: usize) -> Layout {
        let width = widest::<F>();
        Layout {
            n,
            lanes,
            width,
            squares: if lanes == 0 { 0 } else { SQUARINGS },
            ld: n.next_multiple_of(width),
        }
    }

    /// The lanes from `first` on: full groups, and the rest in the way that takes the fewest operations.
    #[inline(always)]
    fn piece(&self, first: usize) -> Option<Piece> {
        let rest = self.lanes.checked_sub(first).filter(|&rest| rest > 0)?;
        let (form, most) = if 2 * rest > self.width && self.n <= SIDE {
            (Form::Side, self.width)
        } else if rest > 1 && self.n <= PAIRS {
            (Form::Pairs, self.width / 2)
        } else {
            (Form::Row, 1)
        };
        Some(Piece { first, count: rest.min(most), form })
    }

    /// The same for planes that are kept for any number of lanes.
    fn kept<F: Base>(n: usize, lanes: usize) -> Layout {
        Layout { squares: SQUARINGS, ..Layout::new::<F>(n, lanes) }
    }

    /// The floats that [`Job`] needs for the planes.
    fn planes(&self) -> usize {
        (PLANES + self.squares) * self.n * self.ld + 2 * self.n
    }

    /// The floats that it needs for the work on a piece of the lanes.
    fn work(&self) -> usize {
        // The first piece is the largest one.
        let row = self.piece(0).map_or(0, |piece| match piece.form {
            Form::Row => self.ld,
            Form::Pairs => self.n.div_ceil(2) * self.width,
            Form::Side => self.n * self.width,
        });
        7 * self.n * row
    }
}

/// Whether a matrix of this order may be for this kernel.
pub(crate) fn is_small<F: Base>(n: usize) -> bool {
    (2..=FEWER).contains(&n) || (n > FEWER && n <= MAX && size_of::<F>() == 8 && widest::<F>() == 8)
}

/// Overwrites a matrix by its exponential and the tangents by its derivatives; `false`, and nothing done, if it is not
/// for this kernel.
#[inline]
pub(crate) fn exponential<F: Base>(matrix: Interleaved<'_, F>) -> bool {
    let Interleaved { entries: a, lanes, order, .. } = matrix;
    if order != Order::First || a.rows != a.cols || !is_small::<F>(a.rows) {
        return false;
    }
    // SAFETY: `a` is an exclusively borrowed square matrix of entries with a value and `lanes` tangents.
    unsafe {
        match a.cast::<f64>() {
            Some(a) => (a.rows <= tiny::MAX && tiny::exponential(a, lanes)) || in_scratch(a, lanes),
            None => {
                let a = a.cast::<f32>().expect("a float is f32 or f64");
                (a.rows <= tiny::MAX && tiny::exponential(a, lanes)) || in_scratch(a, lanes)
            }
        }
    }
}

/// The kernel for all orders. Not inlined, because its scratch would be memory of the caller.
///
/// # Safety
/// `a` is an exclusively borrowed square matrix of entries with a value and `lanes` tangents.
#[inline(never)]
unsafe fn in_scratch<F: Base>(a: Entries<F>, lanes: usize) -> bool {
    let layout = Layout::new::<F>(a.rows, lanes);
    with_uninit(layout.planes(), |planes: &mut [MaybeUninit<F>]| {
        with_uninit(layout.work(), |work: &mut [MaybeUninit<F>]| {
            let (planes, work) = (planes.as_mut_ptr().cast(), work.as_mut_ptr().cast());
            // SAFETY: the contract; the memory is as large as asked for.
            unsafe { run(&Job { a, layout, choice: None, planes, work }).is_some() }
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
        if matrix.lanes != 0 || a.rows != a.cols || !is_small::<F>(n) {
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
