//! Differentiated Cholesky factorization of large matrices: the tiles of [`recurrence`](super::recurrence) on copies of
//! the lower triangle, group by group of lanes, in which everything a tile reads lies side by side.

use std::marker::PhantomData;

use dualpack_core::Base;
use nalgebra::DMatrixView;

use super::recurrence::{Lanes, Panels, columns};
use super::rows::{self, Lane};
use super::simd::{Job, Machine, Simd, Task, machines};
use super::{Entries, Interleaved, Order};
use crate::scratch::with_uninit;

/// The tangents of `dL`, in place of the lower triangle of `dA`; `l` holds the factor. The values of `a` are neither
/// read nor written. `false`, and nothing done, if `a` is not of first order.
pub(crate) fn potrf<F: Base>(l: DMatrixView<'_, F>, a: Interleaved<'_, F>) -> bool {
    let (n, lanes) = (l.nrows(), a.lanes);
    if a.order != Order::First {
        return false;
    }
    assert!(l.ncols() == n && a.entries.rows == n && a.entries.cols == n);
    let (start, right) = (l.as_ptr().cast_mut(), l.strides().1);
    let l = Entries { start, rows: n, cols: n, down: 1, right };
    // Not inside of what is compiled for a kind of CPU: the closure would not be.
    with_uninit::<F, _>(scratch(n, lanes), |buffer| {
        let start = buffer.as_mut_ptr().cast::<F>();
        // SAFETY: `a` is made from an exclusive view of an n x n matrix whose entries are a value and `lanes` tangents,
        // `l` is n x n, and both live as long as the call, as does the buffer; a float is one of the two.
        unsafe {
            match l.cast::<f64>().zip(a.entries.cast::<f64>()) {
                Some((l, a)) => lanes_on(l, a, lanes, start.cast()),
                None => {
                    let both = l.cast::<f32>().zip(a.entries.cast::<f32>());
                    let (l, a) = both.expect("a float is f32 or f64");
                    lanes_on(l, a, lanes, start.cast());
                }
            }
        }
    });
    true
}

machines! {
    unsafe fn lanes_on<F>(l: Entries<F>, a: Entries<F>, lanes: usize, scratch: *mut F) => lanes_body
}

/// The most rows of a panel, and the most lanes of a group, of any kind of CPU.
const MOST: usize = 8;

/// The numbers that [`lanes_on`] needs beside the matrices: a triangle of lanes, one of values, and the reciprocals.
fn scratch(n: usize, lanes: usize) -> usize {
    let width = if lanes < FEW { 1 } else { lanes.next_multiple_of(MOST) };
    packed::<MOST>(n, width) + packed::<MOST>(n, 1) + n.next_multiple_of(MOST)
}

/// The numbers of a lower triangle of order `n` in panels of `P` rows, with `W` floats in each entry.
fn packed<const P: usize>(n: usize, width: usize) -> usize {
    let panels = n.div_ceil(P);
    panels * (panels + 1) / 2 * P * P * width
}

/// Such a triangle.
fn triangle<F, const P: usize>(start: *mut F, width: usize) -> Panels<F> {
    Panels { start, panel: 0, growth: P * P * width, down: width, right: P * width }
}

/// Fewer lanes than this do not fill a vector, but rows do.
const FEW: usize = 4;

/// # Safety
/// `l` and `a` are square matrices of one order, of which the lower triangles may be read, and written in `a`, whose
/// entries are a value and `lanes` tangents; as many numbers as [`scratch`] says may be written from `start` on.
#[inline(always)]
unsafe fn lanes_body<F: Base, C: Machine<F>, const P: usize>(
    l: Entries<F>,
    a: Entries<F>,
    lanes: usize,
    start: *mut F,
) {
    const { assert!(C::WIDEST <= MOST && P <= MOST) };
    // SAFETY: the contract.
    unsafe {
        match (lanes < FEW, C::WIDEST) {
            (true, 8) => C::call(&ByRows::<F, C, 8> { l, a, lanes, start, machine: PhantomData }),
            (true, _) => C::call(&ByRows::<F, C, 4> { l, a, lanes, start, machine: PhantomData }),
            (false, _) => by_lanes::<F, C, P>(l, a, lanes, start),
        }
    }
}

/// Group by group of lanes.
///
/// # Safety
/// As for [`lanes_body`].
#[inline(always)]
unsafe fn by_lanes<F: Base, C: Machine<F>, const P: usize>(
    l: Entries<F>,
    a: Entries<F>,
    lanes: usize,
    start: *mut F,
) {
    let n = l.rows;
    // The lanes come first, so that they begin with a cache line.
    let (lanes_len, values) = (packed::<P>(n, lanes.next_multiple_of(C::WIDEST)), packed::<P>(n, 1));
    // SAFETY: three parts of the scratch; all indices lie in the lower triangles of order n.
    unsafe {
        let (l_start, inverses) = (start.add(lanes_len), start.add(lanes_len + values));
        let factor = triangle::<F, P>(l_start, 1);
        each::<F, P>(l, factor, |source, target| target.write(source.read()));
        for k in 0..n {
            inverses.add(k).write(l.value(k, k).recip());
        }
        let copies = Copies { a, len: values, start };
        // Few columns at a time, so that all groups find them in a cache.
        for q in 0..n.div_ceil(P) {
            C::each(lanes, &CopyIn::<F, P> { copies, q });
        }
        C::each_apart(lanes, &Group::<F, P> { copies, l: factor, inverses });
        for q in 0..n.div_ceil(P) {
            C::each(lanes, &CopyOut::<F, P> { copies, q });
        }
    }
}

/// Lane by lane, in vectors of `B` rows.
///
/// # Safety
/// As for [`lanes_body`].
#[inline(always)]
unsafe fn by_rows<F: Base, C: Machine<F>, const B: usize>(
    l: Entries<F>,
    a: Entries<F>,
    lanes: usize,
    start: *mut F,
) {
    let n = l.rows;
    let (blocks, len) = (n.div_ceil(B), packed::<B>(n, 1));
    // SAFETY: three parts of the scratch; all indices lie in the lower triangles of order n.
    unsafe {
        let (l_start, inverses) = (start.add(len), start.add(2 * len));
        let (d, factor) = (triangle::<F, B>(start, 1), triangle::<F, B>(l_start, 1));
        padded::<F, B>(l, factor);
        for k in 0..blocks * B {
            inverses.add(k).write(if k < n { l.value(k, k).recip() } else { F::one() });
        }
        for lane in 0..lanes {
            let own = Entries { start: a.start.add(1 + lane), ..a };
            padded::<F, B>(own, d);
            rows::factor::<F, C::Wide, B>(C::WIDE, Lane { blocks, l: factor, inverses, d });
            each::<F, B>(own, d, |source, target| source.write(target.read()));
        }
    }
}

/// [`by_rows`] as a [`Task`] of the machine `C`.
struct ByRows<F, C, const B: usize> {
    l: Entries<F>,
    a: Entries<F>,
    lanes: usize,
    start: *mut F,
    machine: PhantomData<C>,
}

impl<F: Base, C: Machine<F>, const B: usize> Task for ByRows<F, C, B> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(&self) {
        // SAFETY: the contract.
        unsafe { by_rows::<F, C, B>(self.l, self.a, self.lanes, self.start) }
    }
}

/// Copies a lower triangle, with zeros in what it does not reach of the blocks.
///
/// # Safety
/// As for [`each`].
#[inline(always)]
unsafe fn padded<F: Base, const B: usize>(a: Entries<F>, copy: Panels<F>) {
    let blocks = a.rows.div_ceil(B);
    // SAFETY: the blocks on the diagonal, and the last panel.
    unsafe {
        for p in 0..blocks {
            let from = if p + 1 < blocks { p * B } else { 0 };
            for k in from..(p + 1) * B {
                let column = copy.at(p, k);
                (0..B).for_each(|i| column.add(i).write(F::zero()));
            }
        }
        each::<F, B>(a, copy, |source, target| target.write(source.read()));
    }
}

/// Where the copies of the lanes are, `len` floats for each lane.
#[derive(Clone, Copy)]
struct Copies<F> {
    a: Entries<F>,
    len: usize,
    start: *mut F,
}

impl<F: Base> Copies<F> {
    /// The lanes from number `lane` on in the matrix, and their copy, `width` lanes in each entry.
    #[inline(always)]
    fn of<const P: usize>(&self, lane: usize, width: usize) -> (Entries<F>, Panels<F>) {
        let lanes = Entries { start: self.a.start.wrapping_add(1 + lane), ..self.a };
        (lanes, triangle::<F, P>(self.start.wrapping_add(self.len * lane), width))
    }
}

/// Copies panel `q` of the columns of a group of lanes.
struct CopyIn<F, const P: usize> {
    copies: Copies<F>,
    q: usize,
}

impl<F: Base, const P: usize> Job<F> for CopyIn<F, P> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        let (whole, (a, d)) = (m.whole(), self.copies.of::<P>(lane, M::WIDTH));
        // SAFETY: entries of the lower triangle; the copy has room for whole groups.
        unsafe { each_of::<F, P>(self.q, a, d, |source, target| whole.store(target, m.load(source))) };
    }
}

/// Copies such a panel back.
struct CopyOut<F, const P: usize> {
    copies: Copies<F>,
    q: usize,
}

impl<F: Base, const P: usize> Job<F> for CopyOut<F, P> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        let (whole, (a, d)) = (m.whole(), self.copies.of::<P>(lane, M::WIDTH));
        // SAFETY: as in `CopyIn`.
        unsafe { each_of::<F, P>(self.q, a, d, |source, target| m.store(source, whole.load(target))) };
    }
}

/// What is done with the copy of a group of lanes.
struct Group<F, const P: usize> {
    copies: Copies<F>,
    l: Panels<F>,
    inverses: *const F,
}

impl<F: Base, const P: usize> Job<F> for Group<F, P> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        let (whole, (a, d)) = (m.whole(), self.copies.of::<P>(lane, M::WIDTH));
        let f = Lanes { n: a.rows, l: self.l, inverses: self.inverses, d };
        for q in 0..a.rows.div_ceil(P) {
            // SAFETY: the copies are triangles of the order of the matrix.
            unsafe { columns::<F, M::Whole, P>(whole, f, q) };
        }
    }
}

/// Calls `f` with the places of each entry of a lower triangle, in the matrix `a` and in the copy.
///
/// # Safety
/// `copy` is a triangle of the order of the square matrix `a`.
#[inline(always)]
unsafe fn each<F: Base, const P: usize>(a: Entries<F>, copy: Panels<F>, mut f: impl FnMut(*mut F, *mut F)) {
    for q in 0..a.rows.div_ceil(P) {
        // SAFETY: the contract.
        unsafe { each_of::<F, P>(q, a, copy, &mut f) };
    }
}

/// [`each`] in the panel of columns `q`.
///
/// # Safety
/// As for `each`, and there is such a panel.
#[inline(always)]
unsafe fn each_of<F: Base, const P: usize>(
    q: usize,
    a: Entries<F>,
    copy: Panels<F>,
    mut f: impl FnMut(*mut F, *mut F),
) {
    let n = a.rows;
    for k in q * P..n.min(q * P + P) {
        for p in q..n.div_ceil(P) {
            // SAFETY: rows of the panel from the diagonal on, below n.
            unsafe {
                let (mut source, mut target) = (a.start.add(p * P * a.down + k * a.right), copy.at(p, k));
                let rows = P.min(n - p * P);
                let above = k.saturating_sub(p * P);
                (source, target) = (source.add(above * a.down), target.add(above * copy.down));
                for _ in above..rows {
                    f(source, target);
                    // Behind the last one these may lie outside.
                    (source, target) = (source.wrapping_add(a.down), target.wrapping_add(copy.down));
                }
            }
        }
    }
}
