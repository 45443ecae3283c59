//! Symmetric second order of solutions, on interleaved lanes: what is taken out of right-hand sides.
//!
//! ```text
//! A x_p  = b_p − A_p x
//! A x_pq = b_pq − A_pq x − A_p x_q − A_q x_p
//! ```
//!
//! The pairs `p, q` are computed in vectors that hold one with `q >= p`; what else is in them means nothing.

use std::array::from_fn;
use std::marker::PhantomData;

use dualpack_core::Base;

use super::simd::{Job, Machine, Simd, machines};
use super::{Entries, Interleaved, InterleavedRef, Order};

/// Rows of second derivatives that are worked on at a time.
const ROWS: usize = 4;

/// Which entries a square matrix has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    All,
    /// The lower triangle stands for the whole.
    Symmetric,
    /// One triangle.
    Lower,
    Upper,
    /// One triangle without its diagonal.
    StrictLower,
    StrictUpper,
}

impl Shape {
    /// The columns of row `i`, from one to the one before the other, of a matrix of order `n`.
    #[inline(always)]
    fn columns(self, n: usize, i: usize) -> (usize, usize) {
        match self {
            Shape::All | Shape::Symmetric => (0, n),
            Shape::Lower => (0, i + 1),
            Shape::Upper => (i, n),
            Shape::StrictLower => (0, i),
            Shape::StrictUpper => (i + 1, n),
        }
    }
}

/// A matrix whose products are taken out of right-hand sides.
#[derive(Clone, Copy)]
struct Products<F> {
    a: Entries<F>,
    lanes: usize,
    shape: Shape,
    /// The solution, a number for each column at a distance of `x_step`.
    x: *const F,
    x_step: usize,
    /// Its first derivatives, `lanes` for each column.
    first: *const F,
    first_step: usize,
    /// The first row of second derivatives, and what is computed: `lanes²` numbers for each row of `a`.
    p: usize,
    y: *mut F,
    /// The entry that is worked on: a row, and columns from here on.
    row: usize,
    columns: (usize, usize),
}

impl<F: Base> Products<F> {
    /// The same, if `G` is the same type.
    fn cast<G: 'static>(self) -> Option<Products<G>> {
        let Products { a, lanes, shape, x, x_step, first, first_step, p, y, row, columns } = self;
        let (x, first, y) = (x.cast(), first.cast(), y.cast());
        let a = a.cast::<G>()?;
        Some(Products { a, lanes, shape, x, x_step, first, first_step, p, y, row, columns })
    }

    /// Where entry `(row, j)` is.
    ///
    /// # Safety
    /// It lies in the matrix.
    #[inline(always)]
    unsafe fn entry(&self, j: usize) -> *const F {
        let i = self.row;
        let turned = self.shape == Shape::Symmetric && i < j;
        // SAFETY: the contract.
        unsafe { if turned { self.a.place(j, i) } else { self.a.place(i, j) } }
    }

    /// The value of the solution for column `j`.
    ///
    /// # Safety
    /// There is such a column.
    #[inline(always)]
    unsafe fn value(&self, j: usize) -> F {
        // SAFETY: the contract.
        unsafe { self.x.add(j * self.x_step).read() }
    }

    /// Calls `f` for every row, with columns of it, a few at a time.
    #[inline(always)]
    fn each_row(mut self, mut f: impl FnMut(Self)) {
        let n = self.a.rows;
        for from in (0..n).step_by(COLUMNS) {
            for row in 0..n {
                let (first, end) = self.shape.columns(n, row);
                self.row = row;
                self.columns = (from.max(first), end.min(from + COLUMNS));
                if self.columns.0 < self.columns.1 {
                    f(self);
                }
            }
        }
    }
}

/// Columns that are worked on at a time, in the order in which they lie in memory.
const COLUMNS: usize = 8;

/// `R` rows of `y_pq −= A_pq x + A_p x_q + A_q x_p`.
struct Pairs<F, const R: usize>(Products<F>);

impl<F: Base, const R: usize> Job<F> for Pairs<F, R> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        let c @ Products { lanes, p, .. } = self.0;
        if lane + M::WIDTH <= p {
            return;
        }
        // SAFETY: entries of the matrix, lanes inside of them, of the solution, and of the result.
        unsafe {
            let y = c.y.add((c.row * lanes + p) * lanes + lane);
            let mut sums: [M::V; R] = from_fn(|r| m.load(y.add(r * lanes)));
            for j in c.columns.0..c.columns.1 {
                let (entry, first) = (c.entry(j), c.first.add(j * c.first_step));
                let (x, xq, aq) = (m.splat(c.value(j)), m.load(first.add(lane)), m.load(entry.add(1 + lane)));
                for r in 0..R {
                    let apq = m.load(entry.add(1 + lanes + (p + r) * lanes + lane));
                    sums[r] = m.minus(sums[r], x, apq);
                    sums[r] = m.minus(sums[r], m.splat(entry.add(1 + p + r).read()), xq);
                    sums[r] = m.minus(sums[r], m.splat(first.add(p + r).read()), aq);
                }
            }
            for r in 0..R {
                m.store(y.add(r * lanes), sums[r]);
            }
        }
    }
}

/// `y_p −= A_p x`.
struct Single<F>(Products<F>);

impl<F: Base> Job<F> for Single<F> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        let c = self.0;
        // SAFETY: entries of the matrix, lanes inside of them and of the result.
        unsafe {
            let y = c.y.add(c.row * c.lanes + lane);
            let mut sum = m.load(y);
            for j in c.columns.0..c.columns.1 {
                sum = m.minus(sum, m.splat(c.value(j)), m.load(c.entry(j).add(1 + lane)));
            }
            m.store(y, sum);
        }
    }
}

machines! {
    unsafe fn first_on<F>(c: Products<F>) => first_body
}

/// # Safety
/// The parts of `c` fit each other, its result is exclusively borrowed; the CPU is that of `C`.
#[inline(always)]
unsafe fn first_body<F: Base, C: Machine<F>, const P: usize>(c: Products<F>) {
    // SAFETY: rows and columns are inside.
    c.each_row(|c| unsafe { C::each(c.lanes, &Single(c)) });
}

machines! {
    unsafe fn second_on<F>(c: Products<F>) => second_body
}

/// # Safety
/// As for [`first_body`].
#[inline(always)]
unsafe fn second_body<F: Base, C: Machine<F>, const P: usize>(c: Products<F>) {
    c.each_row(|mut c| {
        for p in (0..c.lanes).step_by(ROWS) {
            c.p = p;
            // SAFETY: rows and columns are inside, and so are the rows of second derivatives.
            unsafe {
                match c.lanes - p {
                    1 => C::each(c.lanes, &Pairs::<F, 1>(c)),
                    2 => C::each(c.lanes, &Pairs::<F, 2>(c)),
                    3 => C::each(c.lanes, &Pairs::<F, 3>(c)),
                    _ => C::each(c.lanes, &Pairs::<F, ROWS>(c)),
                }
            }
        }
    });
}

/// A solution and its first derivatives, of one right-hand side.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a, F> {
    x: *const F,
    x_step: usize,
    first: *const F,
    first_step: usize,
    rows: usize,
    lanes: usize,
    numbers: PhantomData<&'a F>,
}

impl<'a, F: Base> Known<'a, F> {
    /// `x` has a number for each row, `first` as many first derivatives as there are lanes.
    pub(crate) fn new(x: &'a [F], first: &'a [F]) -> Self {
        let (rows, lanes) = (x.len(), first.len() / x.len().max(1));
        let (x, first) = (x.as_ptr(), first.as_ptr());
        Known { x, x_step: 1, first, first_step: lanes, rows, lanes, numbers: PhantomData }
    }

    /// Column `c` of a matrix.
    pub(crate) fn column(of: &'a Interleaved<'_, F>, c: usize) -> Self {
        let (entries, lanes) = (of.entries, of.lanes);
        assert!(c < entries.cols);
        let x = entries.start.wrapping_add(c * entries.right).cast_const();
        let (first, step, rows) = (x.wrapping_add(1), entries.down, entries.rows);
        Known { x, x_step: step, first, first_step: step, rows, lanes, numbers: PhantomData }
    }
}

/// A square matrix of symmetric second order.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a, F> {
    a: InterleavedRef<'a, F>,
    shape: Shape,
}

impl<'a, F: Base> Matrix<'a, F> {
    /// `op(A)`, with entries of the shape `shape`. `None` unless it is of symmetric second order.
    pub(crate) fn new(a: InterleavedRef<'a, F>, transposed: bool, shape: Shape) -> Option<Self> {
        if a.order != Order::Symmetric {
            return None;
        }
        assert!(a.entries.rows == a.entries.cols);
        let entries = if transposed { a.entries.transposed() } else { a.entries };
        Some(Matrix { a: InterleavedRef { entries, ..a }, shape })
    }

    /// `y_p −= A_p x`: `lanes` numbers for each row.
    pub(crate) fn subtract_first(&self, x: &[F], y: &mut [F]) {
        assert!(y.len() == self.a.entries.rows * self.a.lanes);
        self.run(Known { lanes: self.a.lanes, ..Known::new(x, &[]) }, y, false);
    }

    /// `y_pq −= A_pq x + A_p x_q + A_q x_p`: `lanes²` numbers for each row, of which those on and right of the diagonal
    /// count.
    pub(crate) fn subtract_second(&self, x: Known<'_, F>, y: &mut [F]) {
        assert!(y.len() == self.a.entries.rows * self.a.lanes * self.a.lanes);
        self.run(x, y, true);
    }

    fn run(&self, known: Known<'_, F>, y: &mut [F], second: bool) {
        let (a, lanes) = (self.a.entries, self.a.lanes);
        assert!(known.rows == a.rows && (known.lanes == lanes || a.rows == 0));
        let Known { x, x_step, first, first_step, .. } = known;
        let (y, shape, columns) = (y.as_mut_ptr(), self.shape, (0, 0));
        let c = Products { a, lanes, shape, x, x_step, first, first_step, p: 0, y, row: 0, columns };
        // SAFETY: `a` is a borrowed matrix of such entries; the solution and the result, which has been checked by the
        // callers, fit it.
        unsafe {
            match c.cast::<f64>() {
                Some(c) if second => second_on(c),
                Some(c) => first_on(c),
                None => {
                    let c = c.cast::<f32>().expect("a float is f32 or f64");
                    if second { second_on(c) } else { first_on(c) }
                }
            }
        }
    }
}

/// Right-hand sides, or solutions, of symmetric second order.
pub(crate) struct Sides<'a, F>(Interleaved<'a, F>);

impl<'a, F: Base> Sides<'a, F> {
    /// `None` unless it is of symmetric second order.
    pub(crate) fn new(b: Interleaved<'a, F>) -> Option<Self> {
        (b.order == Order::Symmetric).then_some(Sides(b))
    }

    /// The values and first derivatives of column `c`.
    pub(crate) fn known(&self, c: usize) -> Known<'_, F> {
        Known::column(&self.0, c)
    }

    /// The numbers of entry `(i, c)`.
    fn entry(&self, i: usize, c: usize) -> &[F] {
        let Interleaved { entries, lanes, .. } = self.0;
        assert!(i < entries.rows && c < entries.cols);
        // SAFETY: an entry of a borrowed matrix, with that many numbers.
        unsafe { std::slice::from_raw_parts(entries.place(i, c), 1 + lanes + lanes * lanes) }
    }

    /// The same, to be written.
    fn entry_mut(&mut self, i: usize, c: usize) -> &mut [F] {
        let Interleaved { entries, lanes, .. } = self.0;
        assert!(i < entries.rows && c < entries.cols);
        // SAFETY: an entry of an exclusively borrowed matrix, with that many numbers.
        unsafe { std::slice::from_raw_parts_mut(entries.place(i, c), 1 + lanes + lanes * lanes) }
    }

    /// Copies the first derivatives of column `c`.
    pub(crate) fn read_first(&self, c: usize, to: &mut [F]) {
        let lanes = self.0.lanes;
        for (i, to) in to.chunks_exact_mut(lanes.max(1)).enumerate() {
            to.copy_from_slice(&self.entry(i, c)[1..1 + lanes]);
        }
    }

    /// Copies the second derivatives of column `c`.
    pub(crate) fn read_second(&self, c: usize, to: &mut [F]) {
        let lanes = self.0.lanes;
        for (i, to) in to.chunks_exact_mut((lanes * lanes).max(1)).enumerate() {
            to.copy_from_slice(&self.entry(i, c)[1 + lanes..]);
        }
    }

    /// Writes column `c`: `x` and its first derivatives.
    pub(crate) fn write_first(&mut self, c: usize, x: &[F], first: &[F]) {
        let lanes = self.0.lanes;
        for (i, &x) in x.iter().enumerate() {
            let entry = self.entry_mut(i, c);
            entry[0] = x;
            entry[1..1 + lanes].copy_from_slice(&first[i * lanes..][..lanes]);
        }
    }

    /// Writes the second derivatives of column `c`, of which there are the pairs that count.
    pub(crate) fn write_pairs(&mut self, c: usize, pairs: &[F]) {
        let lanes = self.0.lanes;
        for (i, pairs) in pairs.chunks_exact(((lanes + lanes * lanes) / 2).max(1)).enumerate() {
            unpack(lanes, pairs, &mut self.entry_mut(i, c)[1 + lanes..]);
        }
    }
}

/// The pairs that count of a row of right-hand sides, from all.
pub(crate) fn pack<F: Copy>(lanes: usize, all: &[F], pairs: &mut [F]) {
    let rows = all.chunks_exact(lanes.max(1)).enumerate();
    let kept = rows.flat_map(|(row, entries)| &entries[row % lanes..]);
    pairs.iter_mut().zip(kept).for_each(|(to, &from)| *to = from);
}

/// Writes the pairs that count.
pub(crate) fn unpack<F: Copy>(lanes: usize, pairs: &[F], all: &mut [F]) {
    let rows = all.chunks_exact_mut(lanes.max(1)).enumerate();
    let kept = rows.flat_map(|(row, entries)| &mut entries[row % lanes..]);
    kept.zip(pairs).for_each(|(to, &from)| *to = from);
}
