//! Products and triangular solves of two kinds of small matrices, stored by rows: the values, or one lane, with the
//! entries of a row side by side in registers, and several lanes with the lanes of an entry side by side.
//!
//! Each entry of a result is computed by the same operations in the same order, whatever the kind.

use std::marker::PhantomData;

use num_traits::Zero;

use super::vector::Vector;

/// The order of a matrix: known to the compiler, so that loops are unrolled, or not.
pub(super) trait Order: Copy {
    /// Whether it is known.
    const TINY: bool;

    fn get(self) -> usize;

    /// The whole product as one tile, of an order that is known.
    ///
    /// # Safety
    /// As for [`product`].
    unsafe fn product<K: Kind, const LEFT: bool, const RIGHT: bool>(p: &Product<K>);

    /// The whole of [`solve`] as one stripe, likewise.
    ///
    /// # Safety
    /// As for [`solve`].
    unsafe fn solve<V: Vector>(self, lu: &Factors<V::Float>, shape: (usize, usize), b: *mut V, x: *mut V);
}

#[derive(Clone, Copy)]
pub(super) struct Fixed<const M: usize>;

#[derive(Clone, Copy)]
pub(super) struct Dynamic(pub usize);

impl<const M: usize> Order for Fixed<M> {
    const TINY: bool = true;

    #[inline(always)]
    fn get(self) -> usize {
        M
    }
    #[inline(always)]
    unsafe fn product<K: Kind, const LEFT: bool, const RIGHT: bool>(p: &Product<K>) {
        // SAFETY: the contract.
        unsafe { tile::<K, M, M, LEFT, RIGHT>(p, M, 0, 0) }
    }
    #[inline(always)]
    unsafe fn solve<V: Vector>(self, lu: &Factors<V::Float>, shape: (usize, usize), b: *mut V, x: *mut V) {
        // SAFETY: the contract.
        unsafe { stripe_of_solution::<Self, V, M>(self, lu, shape, 0, b, x) }
    }
}

impl Order for Dynamic {
    const TINY: bool = false;

    #[inline(always)]
    fn get(self) -> usize {
        self.0
    }
    #[inline(always)]
    unsafe fn product<K: Kind, const LEFT: bool, const RIGHT: bool>(p: &Product<K>) {
        // SAFETY: the contract.
        unsafe { product::<K, LEFT, RIGHT>(p, p.n) }
    }
    #[inline(always)]
    unsafe fn solve<V: Vector>(self, lu: &Factors<V::Float>, shape: (usize, usize), b: *mut V, x: *mut V) {
        // SAFETY: the contract.
        unsafe { solve(self, lu, shape, b, x) }
    }
}

/// The float of a kind.
pub(super) type Of<K> = <<K as Kind>::V as Vector>::Float;

/// How matrices of order n lie in registers of type `V`, a number of `columns` for each row. A plane is the matrix of
/// the values, with `ld` floats for each row.
pub(super) trait Kind: Copy {
    type V: Vector;

    /// The order from which on tiles are tall and narrow, so that the columns that they run down stay in the cache.
    const TALL: usize = usize::MAX;

    /// Where column register `j` finds what it is multiplied with, in floats: in a row of a plane, and in a row of its own
    /// matrix, where its lane begins.
    fn offsets(j: usize) -> (usize, usize);

    /// Entry `k` of the row that begins at `f`, of the lane at the second one of the offsets.
    ///
    /// # Safety
    /// The row has that entry.
    unsafe fn entry(f: *const Self::V, offset: usize, k: usize) -> Self::V;

    /// What a column register meets of the row that begins at `b`, at the first one of the offsets.
    ///
    /// # Safety
    /// The row has that column.
    unsafe fn plane(b: *const Of<Self>, offset: usize) -> Self::V;
}

/// A register for each entry, with a lane in each of its floats: n columns.
#[derive(Clone, Copy)]
pub(super) struct Side<V>(PhantomData<V>);

impl<V: Vector> Kind for Side<V> {
    type V = V;

    #[inline(always)]
    fn offsets(j: usize) -> (usize, usize) {
        (j, 0)
    }
    #[inline(always)]
    unsafe fn entry(f: *const V, _: usize, k: usize) -> V {
        // SAFETY: the contract.
        unsafe { f.add(k).read() }
    }
    #[inline(always)]
    unsafe fn plane(b: *const V::Float, offset: usize) -> V {
        // SAFETY: the contract.
        unsafe { V::splat(b.add(offset).read()) }
    }
}

/// A row in as few registers as hold it, filled up with zeros, as the rows of the planes are.
#[derive(Clone, Copy)]
pub(super) struct Row<V>(PhantomData<V>);

impl<V: Vector> Kind for Row<V> {
    type V = V;
    const TALL: usize = if V::COLUMNS >= 4 { 56 } else { usize::MAX };

    #[inline(always)]
    fn offsets(j: usize) -> (usize, usize) {
        (j * V::WIDTH, 0)
    }
    #[inline(always)]
    unsafe fn entry(f: *const V, _: usize, k: usize) -> V {
        // SAFETY: the contract; the entry is a float of the row.
        unsafe { V::splat(f.cast::<V::Float>().add(k).read()) }
    }
    #[inline(always)]
    unsafe fn plane(b: *const V::Float, offset: usize) -> V {
        // SAFETY: the contract; the row is filled up to full registers.
        unsafe { V::load(b.add(offset)) }
    }
}

/// The rows of several lanes after each other, of one register each: more to do at the same time than with [`Row`].
#[derive(Clone, Copy)]
pub(super) struct Rows<V>(PhantomData<V>);

impl<V: Vector> Kind for Rows<V> {
    type V = V;

    #[inline(always)]
    fn offsets(j: usize) -> (usize, usize) {
        (0, j * V::WIDTH)
    }
    #[inline(always)]
    unsafe fn entry(f: *const V, offset: usize, k: usize) -> V {
        // SAFETY: the contract; the entry is a float of the row of the lane.
        unsafe { V::splat(f.cast::<V::Float>().add(offset + k).read()) }
    }
    #[inline(always)]
    unsafe fn plane(b: *const V::Float, _: usize) -> V {
        // SAFETY: the contract; the row is one full register.
        unsafe { V::load(b) }
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
    pub e: *const K::V,
    pub f: *const K::V,
    pub b: *const Of<K>,
    pub c: *mut K::V,
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
    let mut offsets = [(0, 0); S];
    for s in 0..S {
        offsets[s] = K::offsets(j + s);
    }
    // SAFETY: all indices are inside by the contract.
    unsafe {
        let zero = K::V::splat(Zero::zero());
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
                    b[s] = K::plane(p.b.add(k * p.ld), offsets[s].0);
                }
            }
            for r in 0..R {
                if LEFT {
                    let a = K::V::splat(p.a.add((i + r) * p.ld + k).read());
                    for s in 0..S {
                        sums[r][s] = a.mul_add(e[s], sums[r][s]);
                    }
                }
                if RIGHT {
                    for s in 0..S {
                        let f = K::entry(p.f.add((i + r) * columns), offsets[s].1, k);
                        sums[r][s] = f.mul_add(b[s], sums[r][s]);
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
pub(super) unsafe fn product<K: Kind, const LEFT: bool, const RIGHT: bool>(p: &Product<K>, n: usize) {
    let columns = p.columns;
    let mut j = 0;
    // SAFETY: the stripes end at the last column.
    unsafe {
        while n >= K::TALL && j + 2 <= columns {
            let mut i = 0;
            while i + 8 <= n {
                tile::<K, 8, 2, LEFT, RIGHT>(p, n, i, j);
                i += 8;
            }
            stripe::<K, 2, LEFT, RIGHT>(p, n, i, j);
            j += 2;
        }
        while K::V::COLUMNS >= 4 && j + 4 <= columns {
            stripe::<K, 4, LEFT, RIGHT>(p, n, 0, j);
            j += 4;
        }
        while K::V::COLUMNS >= 2 && j + 2 <= columns {
            stripe::<K, 2, LEFT, RIGHT>(p, n, 0, j);
            j += 2;
        }
        while j < columns {
            stripe::<K, 1, LEFT, RIGHT>(p, n, 0, j);
            j += 1;
        }
    }
}

/// What solves with `V − U`: `P (V − U) = L U`, planes both, the reciprocals of the pivots, and for each `k` the row that
/// was swapped with row k; of an order known to the compiler as bits, since there may be several.
pub(super) struct Factors<F> {
    pub l: *const F,
    pub u: *const F,
    pub inverses: *const F,
    pub swaps: *const u32,
}

/// `X = (V − U)⁻¹ B`, in `S` column registers from `j` on.
///
/// # Safety
/// As for [`solve`], and the columns end inside.
#[inline(always)]
unsafe fn stripe_of_solution<O: Order, V: Vector, const S: usize>(
    order: O,
    lu: &Factors<V::Float>,
    (ld, columns): (usize, usize),
    j: usize,
    b: *mut V,
    x: *mut V,
) {
    let n = order.get();
    // SAFETY: rows and columns are inside by the contract.
    unsafe {
        let row = |x: *mut V, i: usize| x.wrapping_add(i * columns + j);
        for k in 0..n {
            let swapped = lu.swaps.add(k).read() as usize;
            let swap = |i: usize| {
                for s in 0..S {
                    let (upper, lower) = (row(b, k).add(s).read(), row(b, i).add(s).read());
                    row(b, k).add(s).write(lower);
                    row(b, i).add(s).write(upper);
                }
            };
            if !O::TINY {
                if swapped != k {
                    swap(swapped);
                }
            } else if swapped != 0 {
                for i in 0..n {
                    if swapped & (1 << i) != 0 {
                        swap(i);
                    }
                }
            }
        }
        for i in 0..n {
            let mut sum = [row(b, i).read(); S];
            for s in 1..S {
                sum[s] = row(b, i).add(s).read();
            }
            for k in 0..if O::TINY { n } else { i } {
                if k < i {
                    let l = V::splat(lu.l.add(i * ld + k).read());
                    for s in 0..S {
                        sum[s] = l.subtract_from(row(x, k).add(s).read(), sum[s]);
                    }
                }
            }
            for s in 0..S {
                row(x, i).add(s).write(sum[s]);
            }
        }
        for back in 0..n {
            let i = n - 1 - back;
            let mut sum = [row(x, i).read(); S];
            for s in 1..S {
                sum[s] = row(x, i).add(s).read();
            }
            for back in 0..if O::TINY { n } else { back } {
                let k = n - 1 - back;
                if k > i {
                    let u = V::splat(lu.u.add(i * ld + k).read());
                    for s in 0..S {
                        sum[s] = u.subtract_from(row(x, k).add(s).read(), sum[s]);
                    }
                }
            }
            let inverse = V::splat(lu.inverses.add(i).read());
            for s in 0..S {
                row(x, i).add(s).write(sum[s].mul(inverse));
            }
        }
    }
}

/// `X = (V − U)⁻¹ B`, which also interchanges the rows of `B`.
///
/// # Safety
/// The factors are those of a matrix of order n with rows of `ld` floats; `b` and `x` are exclusively borrowed, have n
/// rows of `columns` registers and do not overlap.
#[inline(always)]
unsafe fn solve<V: Vector>(n: Dynamic, lu: &Factors<V::Float>, shape: (usize, usize), b: *mut V, x: *mut V) {
    let columns = shape.1;
    let mut j = 0;
    // SAFETY: the stripes end at the last column.
    unsafe {
        // One column after the other is one long chain of operations that wait for each other: as many at a time as
        // there are registers.
        if V::COLUMNS >= 4 {
            while j + 8 <= columns {
                stripe_of_solution::<Dynamic, V, 8>(n, lu, shape, j, b, x);
                j += 8;
            }
            if j + 6 <= columns {
                stripe_of_solution::<Dynamic, V, 6>(n, lu, shape, j, b, x);
                j += 6;
            }
        }
        while j + 4 <= columns {
            stripe_of_solution::<Dynamic, V, 4>(n, lu, shape, j, b, x);
            j += 4;
        }
        while j + 2 <= columns {
            stripe_of_solution::<Dynamic, V, 2>(n, lu, shape, j, b, x);
            j += 2;
        }
        if j < columns {
            stripe_of_solution::<Dynamic, V, 1>(n, lu, shape, j, b, x);
        }
    }
}

/// `Σ c X` over the first `len` registers.
///
/// # Safety
/// All matrices have that many registers, those of the terms readable and `out` writable; `out` may be one of them.
#[inline(always)]
pub(super) unsafe fn combine<V: Vector, const T: usize>(
    len: usize,
    out: *mut V,
    terms: [(V::Float, *const V); T],
) {
    // SAFETY: the contract.
    unsafe {
        let mut factors = [V::splat(terms[0].0); T];
        for t in 1..T {
            factors[t] = V::splat(terms[t].0);
        }
        for at in 0..len {
            let mut sum = factors[0].mul(terms[0].1.add(at).read());
            for t in 1..T {
                sum = factors[t].mul_add(terms[t].1.add(at).read(), sum);
            }
            out.add(at).write(sum);
        }
    }
}
