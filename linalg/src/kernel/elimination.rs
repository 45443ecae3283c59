//! Gaussian elimination, differentiated, in tiles that stay in registers. With the rows of `dA` interchanged already,
//!
//! ```text
//! dU_ij =  dA_ij − Σ_k<i (L_ik dU_kj + dL_ik U_kj)
//! dL_ij = (dA_ij − Σ_k<j (U_kj dL_ik + dU_kj L_ik) − L_ij dU_jj) / U_jj
//! ```
//!
//! with `k` ascending and the terms in this order, whatever the tiles, the lanes, and the place of the numbers are: the
//! same bits everywhere. `L` and `Uᵀ` are two lower trapezoids, and what is said of one above is said of the other, but
//! for the last two steps of `L`; so the code is about *this* factor and the *other* one.

use dualpack_core::Base;

use super::simd::Simd;

/// Where a lower trapezoid is, in panels of `B` rows and whole blocks of `B` columns. Entry `(i, k)` of panel `i / B` is
/// at `(k * B + i % B) * width` behind the start of the panel. What is at an entry is one number, or the lanes of one
/// group.
#[derive(Clone, Copy)]
pub(super) struct Trapezoid<F> {
    pub(super) start: *mut F,
    /// Blocks in the longest panels.
    pub(super) blocks: usize,
}

/// The numbers in the panels above number `p` of a trapezoid, with `width` floats in each entry.
#[inline(always)]
pub(super) fn above<const B: usize>(blocks: usize, width: usize, p: usize) -> usize {
    let slope = p.min(blocks);
    (slope * (slope + 1) / 2 + (p - slope) * blocks) * B * B * width
}

impl<F> Trapezoid<F> {
    /// Column `k` of panel `p`.
    ///
    /// # Safety
    /// It lies inside the trapezoid.
    #[inline(always)]
    pub(super) unsafe fn at<const B: usize>(&self, width: usize, p: usize, k: usize) -> *mut F {
        // SAFETY: the contract.
        unsafe { self.start.add(above::<B>(self.blocks, width, p) + k * B * width) }
    }

    /// Entry `(i, k)`.
    ///
    /// # Safety
    /// It lies inside the trapezoid.
    #[inline(always)]
    pub(super) unsafe fn entry<const B: usize>(&self, width: usize, i: usize, k: usize) -> *mut F {
        // SAFETY: the contract.
        unsafe { self.at::<B>(width, i / B, k).add(i % B * width) }
    }
}

/// A factor, and lanes that become those of it: trapezoids of one shape.
#[derive(Clone, Copy)]
pub(super) struct Factor<F> {
    /// Panels.
    pub(super) panels: usize,
    pub(super) values: Trapezoid<F>,
    pub(super) lanes: Trapezoid<F>,
}

/// Both factors. The blocks on the diagonal are in both of them.
#[derive(Clone, Copy)]
pub(super) struct Factors<F> {
    pub(super) l: Factor<F>,
    /// Of `Uᵀ`.
    pub(super) u: Factor<F>,
    /// The reciprocals of the pivots, or zero where a division is needed. Behind the last pivot, one.
    pub(super) inverses: *const F,
}

/// Where panel `p` of this factor and panel `q` of the other one are, at some column. A vector holds the lanes of an
/// entry, or, if `ROWS`, the rows of a panel, of one lane.
#[derive(Clone, Copy)]
struct Places<F, const ROWS: bool, const B: usize> {
    values: *mut F,
    lanes: *mut F,
    other_values: *mut F,
    other_lanes: *mut F,
}

/// Floats in an entry.
#[inline(always)]
const fn width<F, M: Simd<F>, const ROWS: bool>() -> usize {
    if ROWS { 1 } else { M::WIDTH }
}

impl<F: Base, const ROWS: bool, const B: usize> Places<F, ROWS, B> {
    /// # Safety
    /// Column `k` of both panels is there.
    #[inline(always)]
    unsafe fn new<M: Simd<F>>(
        (this, other): (&Factor<F>, &Factor<F>),
        (p, q): (usize, usize),
        k: usize,
    ) -> Self {
        let width = width::<F, M, ROWS>();
        // SAFETY: the contract.
        unsafe {
            Places {
                values: this.values.at::<B>(1, p, k),
                lanes: this.lanes.at::<B>(width, p, k),
                other_values: other.values.at::<B>(1, q, k),
                other_lanes: other.lanes.at::<B>(width, q, k),
            }
        }
    }

    /// `k` columns to the right. Behind the last one nothing may be read.
    #[inline(always)]
    fn right<M: Simd<F>>(self, k: usize) -> Self {
        let width = width::<F, M, ROWS>();
        Places {
            values: self.values.wrapping_add(k * B),
            lanes: self.lanes.wrapping_add(k * B * width),
            other_values: self.other_values.wrapping_add(k * B),
            other_lanes: self.other_lanes.wrapping_add(k * B * width),
        }
    }

    /// The values of vector `h` of this factor.
    ///
    /// # Safety
    /// The column is there, the vector is in the panel, and the CPU has the instructions of `M`; likewise below.
    #[inline(always)]
    unsafe fn value<M: Simd<F>>(&self, m: M, h: usize) -> M::V {
        // SAFETY: the contract.
        unsafe { if ROWS { m.load(self.values) } else { m.splat(self.values.add(h).read()) } }
    }

    /// Vector `h` of this factor.
    ///
    /// # Safety
    /// As for [`value`](Places::value).
    #[inline(always)]
    unsafe fn lane<M: Simd<F>>(&self, m: M, h: usize) -> M::V {
        // SAFETY: the contract.
        unsafe { m.load(self.lanes.add(h * M::WIDTH)) }
    }

    /// The value in row `s` of the other factor.
    ///
    /// # Safety
    /// As for [`value`](Places::value).
    #[inline(always)]
    unsafe fn other_value<M: Simd<F>>(&self, m: M, s: usize) -> M::V {
        // SAFETY: the contract.
        unsafe { m.splat(self.other_values.add(s).read()) }
    }

    /// The lanes in row `s` of the other factor.
    ///
    /// # Safety
    /// As for [`value`](Places::value).
    #[inline(always)]
    unsafe fn other_lane<M: Simd<F>>(&self, m: M, s: usize) -> M::V {
        // SAFETY: the contract.
        unsafe {
            if ROWS {
                m.splat(self.other_lanes.add(s).read())
            } else {
                m.load(self.other_lanes.add(s * M::WIDTH))
            }
        }
    }
}

/// Has the cache fetch some numbers.
#[inline(always)]
pub(super) fn prefetch<F>(start: *const F, len: usize) {
    #[cfg(target_arch = "x86_64")]
    for e in (0..len).step_by(64 / size_of::<F>()) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: part of every x86-64; a hint that may be about any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(e).cast()) }
    }
}

/// What is done with a tile after sums.
const NOTHING: u8 = 0;
/// A solve with the block of `L` on the diagonal.
const UNIT: u8 = 1;
/// A solve with the block of `U` on the diagonal.
const PIVOTS: u8 = 2;

/// Takes the share of columns `from..to` out of the tile in panel `p` and block of columns `q`, `H` vectors by `B`
/// columns; then does `THEN` with it.
///
/// # Safety
/// The trapezoids hold the tile, `this.lanes` is exclusively borrowed; columns `from..to` of panel `p` of this factor and
/// of panel `q` of the other one are done, and for a solve block `(q, q)` is. `M` has the instructions of the CPU, and `B`
/// lanes and `H = 1` if `ROWS`, else `H = B`.
#[inline(always)]
unsafe fn tile<F, M, const ROWS: bool, const H: usize, const B: usize, const THEN: u8>(
    m: M,
    factors: (&Factor<F>, &Factor<F>),
    inverses: *const F,
    (p, q): (usize, usize),
    (from, to): (usize, usize),
) where
    F: Base,
    M: Simd<F>,
{
    // SAFETY: entries of the panels.
    unsafe {
        let own = Places::<F, ROWS, B>::new::<M>(factors, (p, q), q * B);
        let across = B * width::<F, M, ROWS>();
        // The next tile.
        if THEN == NOTHING && p + 1 < factors.0.panels {
            prefetch(factors.0.lanes.at::<B>(width::<F, M, ROWS>(), p + 1, q * B), B * across);
        }
        let zero = m.splat(F::zero());
        let mut x = [[zero; B]; H];
        for h in 0..H {
            for s in 0..B {
                x[h][s] = m.load(own.lanes.add(h * M::WIDTH + s * across));
            }
        }
        let mut at = Places::<F, ROWS, B>::new::<M>(factors, (p, q), from);
        for _ in from..to {
            let (mut values, mut lanes) = ([zero; B], [zero; B]);
            for s in 0..B {
                (values[s], lanes[s]) = (at.other_value(m, s), at.other_lane(m, s));
            }
            for h in 0..H {
                let (value, lane) = (at.value(m, h), at.lane(m, h));
                for s in 0..B {
                    x[h][s] = m.minus(x[h][s], values[s], lane);
                    x[h][s] = m.minus(x[h][s], value, lanes[s]);
                }
            }
            at = at.right::<M>(1);
        }
        if THEN != NOTHING {
            let t = Solve { at: own, inverses: inverses.add(q * B) };
            macro_rules! columns {
                ($($C:literal)*) => {$(t.column::<M, H, $C, THEN>(m, &mut x);)*};
            }
            columns!(0 1 2 3 4 5 6 7);
        }
        for h in 0..H {
            for s in 0..B {
                m.store(own.lanes.add(h * M::WIDTH + s * across), x[h][s]);
            }
        }
    }
}

/// The solution of a tile with a block on the diagonal, which begins at `at`, as do the pivots at `inverses`.
struct Solve<F, const ROWS: bool, const B: usize> {
    at: Places<F, ROWS, B>,
    inverses: *const F,
}

impl<F: Base, const ROWS: bool, const B: usize> Solve<F, ROWS, B> {
    /// Column `C`, and its part in those right of it. Columns are told apart by a type argument so that everything stays
    /// in registers.
    ///
    /// # Safety
    /// As for [`tile`]; columns left of `C` are done.
    #[inline(always)]
    unsafe fn column<M, const H: usize, const C: usize, const THEN: u8>(&self, m: M, x: &mut [[M::V; B]; H])
    where
        M: Simd<F>,
    {
        if C >= B {
            return;
        }
        let at = self.at.right::<M>(C);
        // SAFETY: column C of the block on the diagonal and of the tile.
        unsafe {
            if THEN == PIVOTS {
                let (pivot, own) = (at.other_value(m, C), at.other_lane(m, C));
                let inverse = self.inverses.add(C).read();
                let inverses = m.splat(inverse);
                for h in 0..H {
                    let y = m.minus(x[h][C], at.value(m, h), own);
                    x[h][C] = if inverse.is_zero() { m.over(y, pivot) } else { m.times(y, inverses) };
                }
            }
            for s in C + 1..B {
                let (value, lane) = (at.other_value(m, s), at.other_lane(m, s));
                for h in 0..H {
                    x[h][s] = m.minus(x[h][s], value, x[h][C]);
                    x[h][s] = m.minus(x[h][s], at.value(m, h), lane);
                }
            }
        }
    }
}

/// Block `q` on the diagonal, where everything left of it and above it has been accounted for, in both factors.
///
/// # Safety
/// The trapezoids hold it and are exclusively borrowed; their entries have `M::WIDTH` lanes. `M` has the instructions of
/// the CPU.
#[inline(always)]
unsafe fn corner<F: Base, M: Simd<F>, const B: usize>(m: M, f: &Factors<F>, q: usize) {
    let width = M::WIDTH;
    // SAFETY: entries of the two blocks.
    unsafe {
        let (l, dl) = (f.l.values.at::<B>(1, q, q * B), f.l.lanes.at::<B>(width, q, q * B));
        let (u, du) = (f.u.values.at::<B>(1, q, q * B), f.u.lanes.at::<B>(width, q, q * B));
        // Entry (i, k) of L, entry (k, i) of U.
        let value = |x: *mut F, i: usize, k: usize| x.add(k * B + i).read();
        let place = |x: *mut F, i: usize, k: usize| x.add((k * B + i) * width);
        for k in 0..B {
            let inverse = f.inverses.add(q * B + k).read();
            let (pivot, own) = (m.splat(value(u, k, k)), m.load(place(du, k, k)));
            for i in k + 1..B {
                let y = m.minus(m.load(place(dl, i, k)), m.splat(value(l, i, k)), own);
                let y = if inverse.is_zero() { m.over(y, pivot) } else { m.times(y, m.splat(inverse)) };
                m.store(place(dl, i, k), y);
            }
            for i in k + 1..B {
                let (l_ik, dl_ik) = (m.splat(value(l, i, k)), m.load(place(dl, i, k)));
                for j in k + 1..B {
                    let (u_kj, du_kj) = (m.splat(value(u, j, k)), m.load(place(du, j, k)));
                    if i > j {
                        let x = m.minus(m.load(place(dl, i, j)), u_kj, dl_ik);
                        m.store(place(dl, i, j), m.minus(x, l_ik, du_kj));
                    } else {
                        let x = m.minus(m.load(place(du, j, i)), l_ik, du_kj);
                        m.store(place(du, j, i), m.minus(x, u_kj, dl_ik));
                    }
                }
            }
        }
    }
}

/// Columns that are worked on at a time: their part of a panel stays in the fastest cache.
const DEPTH: usize = 64;

/// The lanes of both factors in place of those of the matrix; `one` works on the lanes of an entry.
///
/// # Safety
/// The trapezoids of `f` are those of an elimination, with whole blocks and as many pivots, those of the lanes exclusively
/// borrowed. `M` and `O` have the instructions of the CPU; `O` has as many lanes as entries have; so has `M`, and `H = B`,
/// unless `ROWS`: then it has `B` and `H = 1`.
#[inline(always)]
pub(super) unsafe fn eliminate<F, M, O, const ROWS: bool, const H: usize, const B: usize>(
    m: M,
    one: O,
    f: &Factors<F>,
) where
    F: Base,
    M: Simd<F>,
    O: Simd<F>,
{
    let (blocks, lu, ul) = (f.l.lanes.blocks, (&f.l, &f.u), (&f.u, &f.l));
    for start in (0..blocks).step_by(DEPTH / B) {
        let (end, from) = (blocks.min(start + DEPTH / B), start * B);
        // SAFETY: all tiles are inside; what they need is done.
        unsafe {
            for q in start..end {
                let known = (from, q * B);
                tile::<F, M, ROWS, H, B, NOTHING>(m, lu, f.inverses, (q, q), known);
                tile::<F, M, ROWS, H, B, NOTHING>(m, ul, f.inverses, (q, q), known);
                corner::<F, O, B>(one, f, q);
                for p in q + 1..f.l.panels {
                    tile::<F, M, ROWS, H, B, PIVOTS>(m, lu, f.inverses, (p, q), known);
                }
                for p in q + 1..f.u.panels {
                    tile::<F, M, ROWS, H, B, UNIT>(m, ul, f.inverses, (p, q), known);
                }
            }
            let known = (from, end * B);
            for q in end..blocks {
                for p in q..f.l.panels {
                    tile::<F, M, ROWS, H, B, NOTHING>(m, lu, f.inverses, (p, q), known);
                }
                for p in q..f.u.panels {
                    tile::<F, M, ROWS, H, B, NOTHING>(m, ul, f.inverses, (p, q), known);
                }
            }
        }
    }
}
