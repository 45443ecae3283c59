//! Differentiated LU factorization: the tiles of [`elimination`](super::elimination) on copies of the matrix, group by
//! group of lanes, in which everything a tile reads lies side by side. The copy interchanges the rows.

use std::marker::PhantomData;
use std::ops::Range;

use dualpack_core::Base;
use nalgebra::DMatrixView;

use super::elimination::{Factor, Factors, Trapezoid, above, eliminate};
use super::level3::reciprocal;
use super::simd::{Job, Machine, Simd, Task, machines};
use super::{Entries, Interleaved, Order};
use crate::scratch::with_uninit;

/// `A` becomes its factors, where `lu` holds their values, and `rows` the row of `A` that became row `i`. The values of
/// `A` are not read. `false`, and nothing done, if `a` has no lanes or is not of first order.
///
/// A pivot that is zero must be the last one of a matrix without rows below it.
pub(crate) fn getrf<F: Base>(lu: DMatrixView<'_, F>, rows: &[usize], a: Interleaved<'_, F>) -> bool {
    let ((m, n), lanes) = (lu.shape(), a.lanes);
    if a.order != Order::First || lanes == 0 {
        return false;
    }
    assert!((a.entries.rows, a.entries.cols) == (m, n) && rows.len() == m && rows.iter().all(|&i| i < m));
    if m == 0 || n == 0 {
        return true;
    }
    let (start, right) = (lu.as_ptr().cast_mut(), lu.strides().1);
    let lu = Entries { start, rows: m, cols: n, down: 1, right };
    with_uninit::<F, _>(room(m, n, lanes), |buffer| {
        let (buffer, a) = (buffer.as_mut_ptr().cast::<F>(), a.entries);
        // SAFETY: `a` is made from an exclusive view of an m x n matrix whose entries are a value and `lanes` tangents,
        // `lu` is m x n, and both live as long as the call; `rows` are m numbers of rows; the buffer is as long as it
        // must be; a float is one of the two.
        unsafe {
            match lu.cast::<f64>().zip(a.cast::<f64>()) {
                Some((lu, a)) => lanes_on(Elimination { lu, rows, a }, lanes, buffer.cast()),
                None => {
                    let both = lu.cast::<f32>().zip(a.cast::<f32>());
                    let (lu, a) = both.expect("a float is f32 or f64");
                    lanes_on(Elimination { lu, rows, a }, lanes, buffer.cast());
                }
            }
        }
    });
    true
}

machines! {
    unsafe fn lanes_on<F>(e: Elimination<'_, F>, lanes: usize, buffer: *mut F) => lanes_body
}

/// Fewer lanes than this do not fill a vector, but rows do.
const FEW: usize = 4;

/// The most lanes in a group, and rows in a panel.
const MOST: usize = 8;

/// Numbers in both trapezoids, in panels of `B` rows, of an m x n matrix.
fn numbers<const B: usize>(m: usize, n: usize) -> usize {
    let (down, right) = (m.div_ceil(B), n.div_ceil(B));
    let blocks = down.min(right);
    above::<B>(blocks, 1, down) + above::<B>(blocks, 1, right)
}

/// Floats that are enough for every kind of CPU: with smaller blocks there are not more numbers.
fn room(m: usize, n: usize, lanes: usize) -> usize {
    let width = if lanes < FEW { 1 } else { lanes.next_multiple_of(MOST) };
    numbers::<MOST>(m, n) * (width + 1) + m.min(n).next_multiple_of(MOST)
}

/// # Safety
/// `e.lu` and `e.a` are matrices of one shape, which may be read, and `a` be written, whose entries are a value and
/// `lanes` tangents; `e.rows` has a row of `a` for each row; the buffer is exclusively borrowed and as long as [`room`]
/// says.
#[inline(always)]
unsafe fn lanes_body<F: Base, C: Machine<F>, const P: usize>(
    e: Elimination<'_, F>,
    lanes: usize,
    buffer: *mut F,
) {
    const { assert!(C::WIDEST <= MOST && P <= MOST) };
    let rest = lanes % C::WIDEST;
    let few = if rest < FEW { rest } else { C::singles(lanes) };
    let many = lanes - few;
    // SAFETY: the contract.
    unsafe {
        if many > 0 {
            let room = e.room::<P>(buffer, C::WIDEST, many.div_ceil(C::WIDEST));
            // Column by column, so that all groups find it in the fastest cache.
            for j in 0..e.lu.cols {
                C::each(many, &CopyIn::<F, P> { e, room, j });
            }
            C::each_apart(many, &Eliminate::<F, P> { room });
            for j in 0..e.lu.cols {
                C::each(many, &CopyOut::<F, P> { e, room, j });
            }
        }
        if few > 0 {
            let few = many..lanes;
            match C::WIDEST {
                8 => C::call(&ByRows::<F, C, 8> { e, lanes: few, buffer, machine: PhantomData }),
                _ => C::call(&ByRows::<F, C, 4> { e, lanes: few, buffer, machine: PhantomData }),
            }
        }
    }
}

/// Values of the factors, rows in their order, and the matrix.
#[derive(Clone, Copy)]
struct Elimination<'a, F> {
    lu: Entries<F>,
    rows: &'a [usize],
    a: Entries<F>,
}

impl<F: Base> Elimination<'_, F> {
    /// Lane by lane, in vectors of `B` rows.
    ///
    /// # Safety
    /// As for [`lanes_body`].
    #[inline(always)]
    unsafe fn by_rows<C: Machine<F>, const B: usize>(self, lanes: Range<usize>, buffer: *mut F) {
        // SAFETY: the contract; a vector has `B` numbers.
        unsafe {
            let room = self.room::<B>(buffer, 1, 1);
            let f = room.factors::<B>(1, 0);
            for lane in lanes {
                fill_up::<F, B>((self.lu.rows, self.lu.cols), &f, (f.l.lanes, f.u.lanes), 1);
                (0..self.lu.cols).for_each(|j| self.copy_in::<_, B>(C::ONE, lane, &f, j));
                eliminate::<F, C::Wide, C::One, true, 1, B>(C::WIDE, C::ONE, &f);
                (0..self.lu.cols).for_each(|j| self.copy_out::<_, B>(C::ONE, lane, &f, j));
            }
        }
    }

    /// The buffer, with the values of the factors, and room for some groups of `width` lanes.
    ///
    /// # Safety
    /// As for [`lanes_body`].
    #[inline(always)]
    unsafe fn room<const B: usize>(self, buffer: *mut F, width: usize, groups: usize) -> Room<F> {
        let (rows, cols) = (self.lu.rows, self.lu.cols);
        let (down, right) = (rows.div_ceil(B), cols.div_ceil(B));
        let (blocks, steps, len) = (down.min(right), rows.min(cols), numbers::<B>(rows, cols));
        // SAFETY: three parts of the buffer, entries of the matrix and of the trapezoids. The lanes come first, so that
        // they begin with a cache line.
        unsafe {
            let values = buffer.add(len * width * groups);
            let room = Room { down, right, blocks, len, values, inverses: values.add(len), lanes: buffer };
            let f = room.factors::<B>(1, 0);
            let (l, u) = (f.l.values, f.u.values);
            fill_up::<F, B>((rows, cols), &f, (l, u), 1);
            for j in 0..cols {
                for i in 0..rows.min(j / B * B + B) {
                    u.entry::<B>(1, j, i).write(self.lu.value(i, j));
                }
                for i in j / B * B..rows {
                    l.entry::<B>(1, i, j).write(self.lu.value(i, j));
                }
            }
            for k in 0..blocks * B {
                // Where a reciprocal is inexact, zero asks for a division.
                let inverse = if k < steps { reciprocal(self.lu.value(k, k)) } else { Some(F::one()) };
                room.inverses.add(k).write(inverse.unwrap_or(F::zero()));
            }
            room
        }
    }

    /// Column `j` of the lanes of `m` from number `lane` on, rows interchanged.
    ///
    /// # Safety
    /// As for [`lanes_body`]; `f` has room for them, and the CPU the instructions of `M`.
    #[inline(always)]
    unsafe fn copy_in<M: Simd<F>, const B: usize>(self, m: M, lane: usize, f: &Factors<F>, j: usize) {
        let (whole, width, rows, block) = (m.whole(), M::WIDTH, self.lu.rows, j / B * B);
        // SAFETY: entries of the matrix and of the trapezoids.
        unsafe {
            let column = self.a.at(0, j, 1 + lane);
            let to = f.u.lanes.entry::<B>(width, j, 0);
            for i in 0..rows.min(block + B) {
                whole.store(to.add(i * B * width), m.load(column.add(self.rows[i] * self.a.down)));
            }
            for start in (block..rows).step_by(B) {
                let to = f.l.lanes.entry::<B>(width, start, j);
                for i in start..rows.min(start + B) {
                    whole.store(to.add((i - start) * width), m.load(column.add(self.rows[i] * self.a.down)));
                }
            }
        }
    }

    /// Column `j` of the lanes of the factors, and the values beside lane 0.
    ///
    /// # Safety
    /// As for [`copy_in`](Elimination::copy_in), after all columns.
    #[inline(always)]
    unsafe fn copy_out<M: Simd<F>, const B: usize>(self, m: M, lane: usize, f: &Factors<F>, j: usize) {
        let (whole, width, rows, block) = (m.whole(), M::WIDTH, self.lu.rows, j / B * B);
        // SAFETY: entries of the matrices and of the trapezoids.
        unsafe {
            let column = self.a.at(0, j, 1 + lane);
            let from = f.u.lanes.entry::<B>(width, j, 0);
            for i in 0..rows.min(j + 1) {
                m.store(column.add(i * self.a.down), whole.load(from.add(i * B * width)));
            }
            for start in (block..rows).step_by(B) {
                let from = f.l.lanes.entry::<B>(width, start, j);
                for i in start.max(j + 1)..rows.min(start + B) {
                    m.store(column.add(i * self.a.down), whole.load(from.add((i - start) * width)));
                }
            }
            for i in if lane == 0 { 0..rows } else { 0..0 } {
                self.a.store(i, j, 0, [self.lu.value(i, j)]);
            }
        }
    }
}

/// [`Elimination::by_rows`] as a [`Task`] of the machine `C`.
struct ByRows<'a, F, C, const B: usize> {
    e: Elimination<'a, F>,
    lanes: Range<usize>,
    buffer: *mut F,
    machine: PhantomData<C>,
}

impl<F: Base, C: Machine<F>, const B: usize> Task for ByRows<'_, F, C, B> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(&self) {
        // SAFETY: the contract.
        unsafe { self.e.by_rows::<C, B>(self.lanes.clone(), self.buffer) }
    }
}

/// Copies column `j` of a group of lanes.
struct CopyIn<'a, F, const P: usize> {
    e: Elimination<'a, F>,
    room: Room<F>,
    j: usize,
}

impl<F: Base, const P: usize> Job<F> for CopyIn<'_, F, P> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        // SAFETY: the lanes are those of the matrix; the room is for whole groups.
        unsafe {
            let (f, shape) = (self.room.factors::<P>(M::WIDTH, lane), (self.e.lu.rows, self.e.lu.cols));
            if self.j == 0 {
                fill_up::<F, P>(shape, &f, (f.l.lanes, f.u.lanes), M::WIDTH);
            }
            self.e.copy_in::<M, P>(m, lane, &f, self.j);
        }
    }
}

/// The elimination of a group of lanes, which are there.
struct Eliminate<F, const P: usize> {
    room: Room<F>,
}

impl<F: Base, const P: usize> Job<F> for Eliminate<F, P> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        if M::WIDTH == 1 {
            unreachable!("single lanes are worked on in vectors of rows");
        }
        let (whole, f) = (m.whole(), self.room.factors::<P>(M::WIDTH, lane));
        // SAFETY: the trapezoids are there.
        unsafe { eliminate::<F, M::Whole, M::Whole, false, P, P>(whole, whole, &f) }
    }
}

/// Copies column `j` of a group of lanes back.
struct CopyOut<'a, F, const P: usize> {
    e: Elimination<'a, F>,
    room: Room<F>,
    j: usize,
}

impl<F: Base, const P: usize> Job<F> for CopyOut<'_, F, P> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        // SAFETY: the lanes are those of the matrix, and their factors are there.
        unsafe { self.e.copy_out::<M, P>(m, lane, &self.room.factors::<P>(M::WIDTH, lane), self.j) }
    }
}

/// The values of both factors, in blocks, and room for lanes.
#[derive(Clone, Copy)]
struct Room<F> {
    /// Panels of `L`, of `Uᵀ`, and blocks in the longest of them.
    down: usize,
    right: usize,
    blocks: usize,
    /// Numbers in both.
    len: usize,
    values: *mut F,
    inverses: *mut F,
    lanes: *mut F,
}

impl<F: Base> Room<F> {
    /// For `width` lanes from number `lane` on.
    #[inline(always)]
    fn factors<const B: usize>(&self, width: usize, lane: usize) -> Factors<F> {
        let Room { down, right, blocks, .. } = *self;
        let both = |start: *mut F, width: usize| {
            let second = start.wrapping_add(above::<B>(blocks, width, down));
            (Trapezoid { start, blocks }, Trapezoid { start: second, blocks })
        };
        let lanes = both(self.lanes.wrapping_add(self.len * lane), width);
        let values = both(self.values, 1);
        Factors {
            l: Factor { panels: down, values: values.0, lanes: lanes.0 },
            u: Factor { panels: right, values: values.1, lanes: lanes.1 },
            inverses: self.inverses,
        }
    }
}

/// Writes zeros around an m x n matrix where it does not fill the blocks, and maybe where it does.
///
/// # Safety
/// `l` and `u` are trapezoids like those of `f`, with `width` floats in each entry, exclusively borrowed.
#[inline(always)]
unsafe fn fill_up<F: Base, const B: usize>(
    (m, n): (usize, usize),
    f: &Factors<F>,
    (l, u): (Trapezoid<F>, Trapezoid<F>),
    width: usize,
) {
    for (x, panels, rows, columns) in [(l, f.l.panels, m, n), (u, f.u.panels, n, m)] {
        let zeros = |p: usize, columns: Range<usize>| {
            for k in columns {
                // SAFETY: column k of the panel.
                unsafe {
                    let start = x.at::<B>(width, p, k);
                    (0..B * width).for_each(|e| start.add(e).write(F::zero()));
                }
            }
        };
        if rows % B != 0 {
            zeros(panels - 1, 0..panels.min(x.blocks) * B);
        }
        if columns < x.blocks * B {
            (x.blocks - 1..panels).for_each(|p| zeros(p, columns..x.blocks * B));
        }
    }
}
