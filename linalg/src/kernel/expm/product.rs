//! Products and triangular solves of two kinds of small matrices, stored by rows: the values, or one lane, with the
//! entries of a row side by side in registers, and several lanes with the lanes of an entry side by side.
//!
//! Each entry of a result is computed by the same operations in the same order, whatever the kind.

use std::marker::PhantomData;

use dualpack_core::Base;
use num_traits::Zero;

use crate::kernel::simd::{Full, Simd, Task};

/// The float of a kind, and its registers.
pub(super) type Of<K> = <K as Kind>::F;
pub(super) type Register<K> = <<K as Kind>::S as Simd<Of<K>>>::V;

/// How matrices of order n lie in registers, a number of `columns` for each row. A plane is the matrix of the values, with
/// `ld` floats for each row.
pub(super) trait Kind: Copy {
    type F: Base;
    type S: Full<Self::F>;
    const S: Self::S = <Self::S as Full<Self::F>>::FULL;

    /// The order from which on tiles are tall and narrow, so that the columns that they run down stay in the cache.
    const TALL: usize = usize::MAX;

    /// Where column register `j` finds what it is multiplied with in a row of a plane, in floats.
    fn offset(j: usize) -> usize;

    /// Entry `k` of the row that begins at `f`.
    ///
    /// # Safety
    /// The row has that entry.
    unsafe fn entry(f: *const Register<Self>, k: usize) -> Register<Self>;

    /// What a column register meets of the row that begins at `b`, at its offset.
    ///
    /// # Safety
    /// The row has that column.
    unsafe fn plane(b: *const Of<Self>, offset: usize) -> Register<Self>;
}

/// A register for each entry, with a lane in each of its floats: n columns.
#[derive(Clone, Copy)]
pub(super) struct Side<F, S>(PhantomData<(F, S)>);

impl<F: Base, S: Full<F>> Kind for Side<F, S> {
    type F = F;
    type S = S;

    #[inline(always)]
    fn offset(j: usize) -> usize {
        j
    }
    #[inline(always)]
    unsafe fn entry(f: *const S::V, k: usize) -> S::V {
        // SAFETY: the contract.
        unsafe { f.add(k).read() }
    }
    #[inline(always)]
    unsafe fn plane(b: *const F, offset: usize) -> S::V {
        // SAFETY: the contract.
        unsafe { S::FULL.splat(b.add(offset).read()) }
    }
}

/// A register for two entries of a row, half as many lanes in each half: half of n columns, rounded up.
#[derive(Clone, Copy)]
pub(super) struct Pairs<F, S>(PhantomData<(F, S)>);

impl<F: Base, S: Full<F>> Kind for Pairs<F, S> {
    type F = F;
    type S = S;

    #[inline(always)]
    fn offset(j: usize) -> usize {
        2 * j
    }
    #[inline(always)]
    unsafe fn entry(f: *const S::V, k: usize) -> S::V {
        // SAFETY: the contract; the entry is a half of a register of the row.
        unsafe {
            let half = f.cast::<F>().add(k * (S::WIDTH / 2));
            S::FULL.load_halves(half, half)
        }
    }
    #[inline(always)]
    unsafe fn plane(b: *const F, offset: usize) -> S::V {
        // SAFETY: the contract; the row is filled up to an even number.
        unsafe { S::FULL.splat_pair(b.add(offset)) }
    }
}

/// A row in as few registers as hold it, filled up with zeros, as the rows of the planes are.
#[derive(Clone, Copy)]
pub(super) struct Row<F, S>(PhantomData<(F, S)>);

impl<F: Base, S: Full<F>> Kind for Row<F, S> {
    type F = F;
    type S = S;
    const TALL: usize = if S::COLUMNS >= 4 { 56 } else { usize::MAX };

    #[inline(always)]
    fn offset(j: usize) -> usize {
        j * S::WIDTH
    }
    #[inline(always)]
    unsafe fn entry(f: *const S::V, k: usize) -> S::V {
        // SAFETY: the contract; the entry is a float of the row.
        unsafe { S::FULL.splat(f.cast::<F>().add(k).read()) }
    }
    #[inline(always)]
    unsafe fn plane(b: *const F, offset: usize) -> S::V {
        // SAFETY: the contract; the row is filled up to full registers.
        unsafe { S::FULL.load(b.add(offset)) }
    }
}

/// `C = A E + F B`, or one of the two terms, or added to `C`, for planes `A` and `B`.
pub(super) struct Product<K: Kind> {
    pub n: usize,
    /// Of the planes.
    pub ld: usize,
    /// Registers in the rows of the other matrices.
    pub columns: usize,
    pub a: *const Of<K>,
    pub e: *const Register<K>,
    pub f: *const Register<K>,
    pub b: *const Of<K>,
    pub c: *mut Register<K>,
    /// Whether to add to `C`.
    pub onto: bool,
}

/// `R` rows and `S` column registers from `(i, j)` on.
///
/// # Safety
/// As for [`product`], and the tile ends inside.
#[inline(always)]
unsafe fn tile<K: Kind, const R: usize, const S: usize, const LEFT: bool, const RIGHT: bool>(
    p: &Product<K>,
    n: usize,
    i: usize,
    j: usize,
) {
    let columns = p.columns;
    let mut offsets = [0; S];
    for s in 0..S {
        offsets[s] = K::offset(j + s);
    }
    // SAFETY: all indices are inside by the contract.
    unsafe {
        let zero = K::S.splat(Zero::zero());
        let mut sums = [[zero; S]; R];
        if p.onto {
            for r in 0..R {
                for s in 0..S {
                    sums[r][s] = p.c.add((i + r) * columns + j + s).read();
                }
            }
        }
        for k in 0..n {
            let (mut e, mut b) = ([zero; S], [zero; S]);
            for s in 0..S {
                if LEFT {
                    e[s] = p.e.add(k * columns + j + s).read();
                }
                if RIGHT {
                    b[s] = K::plane(p.b.add(k * p.ld), offsets[s]);
                }
            }
            for r in 0..R {
                if LEFT {
                    let a = K::S.splat(p.a.add((i + r) * p.ld + k).read());
                    for s in 0..S {
                        sums[r][s] = K::S.plus(sums[r][s], a, e[s]);
                    }
                }
                if RIGHT {
                    for s in 0..S {
                        let f = K::entry(p.f.add((i + r) * columns), k);
                        sums[r][s] = K::S.plus(sums[r][s], f, b[s]);
                    }
                }
            }
        }
        for r in 0..R {
            for s in 0..S {
                p.c.add((i + r) * columns + j + s).write(sums[r][s]);
            }
        }
    }
}

/// The rows from `i` on of `S` column registers from `j` on.
///
/// # Safety
/// As for [`product`], and the columns end inside.
#[inline(always)]
unsafe fn stripe<K: Kind, const S: usize, const LEFT: bool, const RIGHT: bool>(
    p: &Product<K>,
    n: usize,
    mut i: usize,
    j: usize,
) {
    // SAFETY: the tiles end at n.
    unsafe {
        while i + 4 <= n {
            tile::<K, 4, S, LEFT, RIGHT>(p, n, i, j);
            i += 4;
        }
        if i + 2 <= n {
            tile::<K, 2, S, LEFT, RIGHT>(p, n, i, j);
            i += 2;
        }
        if i < n {
            tile::<K, 1, S, LEFT, RIGHT>(p, n, i, j);
        }
    }
}

/// The product.
///
/// # Safety
/// The planes have n rows of `ld` floats, the other matrices n rows of `columns` registers; those of the terms there
/// are may be read, `c` may be written and overlaps none of them.
#[inline(always)]
unsafe fn product<K: Kind, const LEFT: bool, const RIGHT: bool>(p: &Product<K>) {
    let (n, columns, most) = (p.n, p.columns, <K::S as Full<K::F>>::COLUMNS);
    let mut j = 0;
    // SAFETY: the stripes end at the last column.
    unsafe {
        // Four at a time, but for the threes that would leave one or two of six.
        while most >= 4 && (columns - j == 3 || columns - j == 6 || (n >= K::TALL && columns - j >= 3)) {
            tall::<K, 3, LEFT, RIGHT>(p, n, j);
            j += 3;
        }
        while most >= 4 && j + 4 <= columns {
            stripe::<K, 4, LEFT, RIGHT>(p, n, 0, j);
            j += 4;
        }
        while most >= 2 && j + 2 <= columns {
            stripe::<K, 2, LEFT, RIGHT>(p, n, 0, j);
            j += 2;
        }
        while j < columns {
            stripe::<K, 1, LEFT, RIGHT>(p, n, 0, j);
            j += 1;
        }
    }
}

/// `S` columns in tiles of eight rows, as many as there are.
///
/// # Safety
/// As for [`product`], and the columns end inside.
#[inline(always)]
unsafe fn tall<K: Kind, const S: usize, const LEFT: bool, const RIGHT: bool>(
    p: &Product<K>,
    n: usize,
    j: usize,
) {
    // SAFETY: the tiles end at n.
    unsafe {
        let mut i = 0;
        while i + 8 <= n {
            tile::<K, 8, S, LEFT, RIGHT>(p, n, i, j);
            i += 8;
        }
        stripe::<K, S, LEFT, RIGHT>(p, n, i, j);
    }
}

/// A product as a [`Task`].
pub(super) struct Multiplication<'a, K: Kind, const LEFT: bool, const RIGHT: bool>(pub &'a Product<K>);

impl<K: Kind, const LEFT: bool, const RIGHT: bool> Task for Multiplication<'_, K, LEFT, RIGHT> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(&self) {
        // SAFETY: the contract is that of `product`.
        unsafe { product::<K, LEFT, RIGHT>(self.0) }
    }
}

/// What solves with `V − U`: `P (V − U) = L U`, planes both, the reciprocals of the pivots, and for each `k` the row that
/// was swapped with row k.
#[derive(Clone, Copy)]
pub(super) struct Factors<F> {
    pub l: *const F,
    pub u: *const F,
    pub inverses: *const F,
    pub swaps: *const u32,
}

/// `X = (V − U)⁻¹ B`, where `B` is left with its rows interchanged, as a [`Task`].
pub(super) struct Solution<F: Base, S: Full<F>> {
    pub n: usize,
    pub factors: Factors<F>,
    /// Floats in a row of the factors, and registers in one of the matrices.
    pub ld: usize,
    pub columns: usize,
    pub b: *mut S::V,
    pub x: *mut S::V,
}

impl<F: Base, S: Full<F>> Solution<F, S> {
    /// Row `i` of a matrix from column `j` on.
    #[inline(always)]
    fn row(&self, x: *mut S::V, i: usize, j: usize) -> *mut S::V {
        x.wrapping_add(i * self.columns + j)
    }

    /// `R` rows from `i` on of `C` columns from `j` on, of the right-hand side (`FORWARD`) or the solution of the lower
    /// triangle, less the rows of `X` that are known times their entries of a factor, from the outermost one on. Then the
    /// rows among each other.
    ///
    /// # Safety
    /// As for [`run`](Task::run), and all that is inside; the known rows are solved for.
    #[inline(always)]
    unsafe fn block<const R: usize, const C: usize, const FORWARD: bool>(&self, i: usize, j: usize) {
        let (m, n) = (S::FULL, self.n);
        // SAFETY: the contract.
        unsafe {
            let zero = m.splat(F::zero());
            let mut sums = [[zero; C]; R];
            let (from, factor) = if FORWARD { (self.b, self.factors.l) } else { (self.x, self.factors.u) };
            for r in 0..R {
                for c in 0..C {
                    sums[r][c] = self.row(from, i + r, j).add(c).read();
                }
            }
            let known = if FORWARD { i } else { n - i - R };
            for at in 0..known {
                let k = if FORWARD { at } else { n - 1 - at };
                let mut x = [zero; C];
                for c in 0..C {
                    x[c] = self.row(self.x, k, j).add(c).read();
                }
                for r in 0..R {
                    let f = m.splat(factor.add((i + r) * self.ld + k).read());
                    for c in 0..C {
                        sums[r][c] = m.minus(sums[r][c], f, x[c]);
                    }
                }
            }
            for at in 0..R {
                let r = if FORWARD { at } else { R - 1 - at };
                if !FORWARD {
                    let inverse = m.splat(self.factors.inverses.add(i + r).read());
                    for c in 0..C {
                        sums[r][c] = m.times(sums[r][c], inverse);
                    }
                }
                let x = sums[r];
                for c in 0..C {
                    self.row(self.x, i + r, j).add(c).write(x[c]);
                }
                for later in at + 1..R {
                    let q = if FORWARD { later } else { R - 1 - later };
                    let f = m.splat(factor.add((i + q) * self.ld + i + r).read());
                    for c in 0..C {
                        sums[q][c] = m.minus(sums[q][c], f, x[c]);
                    }
                }
            }
        }
    }

    /// `C` columns from `j` on.
    ///
    /// # Safety
    /// As for [`run`](Task::run), and the columns end inside.
    #[inline(always)]
    unsafe fn stripe<const C: usize>(&self, j: usize) {
        let n = self.n;
        // SAFETY: rows and columns are inside by the contract.
        unsafe {
            for k in 0..n {
                let swapped = self.factors.swaps.add(k).read() as usize;
                if swapped != k {
                    for c in 0..C {
                        std::ptr::swap(self.row(self.b, k, j).add(c), self.row(self.b, swapped, j).add(c));
                    }
                }
            }
            let mut i = 0;
            while i + 4 <= n {
                self.block::<4, C, true>(i, j);
                i += 4;
            }
            while i < n {
                self.block::<1, C, true>(i, j);
                i += 1;
            }
            while i >= 4 {
                i -= 4;
                self.block::<4, C, false>(i, j);
            }
            while i > 0 {
                i -= 1;
                self.block::<1, C, false>(i, j);
            }
        }
    }
}

impl<F: Base, S: Full<F>> Task for Solution<F, S> {
    type Output = ();

    /// # Safety
    /// The factors are those of a matrix of order n with rows of `ld` floats; `b` and `x` are exclusively borrowed, have n
    /// rows of `columns` registers and do not overlap.
    #[inline(always)]
    unsafe fn run(&self) {
        let mut j = 0;
        // SAFETY: the stripes end at the last column.
        unsafe {
            while S::COLUMNS >= 4 && j + 4 <= self.columns {
                self.stripe::<4>(j);
                j += 4;
            }
            if S::COLUMNS >= 4 && j + 3 <= self.columns {
                self.stripe::<3>(j);
                j += 3;
            }
            while j + 2 <= self.columns {
                self.stripe::<2>(j);
                j += 2;
            }
            if j < self.columns {
                self.stripe::<1>(j);
            }
        }
    }
}

/// Sums `Σ c X` of the same matrices, with different factors each, over the first `len` registers.
///
/// # Safety
/// All matrices have that many registers, those of the terms readable and those of `outs` writable, which may be some of
/// the terms.
#[inline(always)]
pub(super) unsafe fn combine<F: Base, S: Full<F>, const T: usize, const U: usize>(
    m: S,
    len: usize,
    outs: [*mut S::V; U],
    terms: [([F; U], *const S::V); T],
) {
    // SAFETY: the contract.
    unsafe {
        let mut factors = [[m.splat(F::zero()); U]; T];
        for t in 0..T {
            for u in 0..U {
                factors[t][u] = m.splat(terms[t].0[u]);
            }
        }
        for at in 0..len {
            let x = terms[0].1.add(at).read();
            let mut sums = [x; U];
            for u in 0..U {
                sums[u] = m.times(factors[0][u], x);
            }
            for t in 1..T {
                let x = terms[t].1.add(at).read();
                for u in 0..U {
                    sums[u] = m.plus(sums[u], factors[t][u], x);
                }
            }
            for u in 0..U {
                outs[u].add(at).write(sums[u]);
            }
        }
    }
}
