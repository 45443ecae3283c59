//! The recurrence of [`recurrence`](super::recurrence) for few lanes: a vector holds neighbouring rows of one lane. The
//! same operations on each number, so the same bits.

use std::array::from_fn;

use dualpack_core::Base;

use super::recurrence::Panels;
use super::simd::Simd;

/// A factor with the reciprocals of its diagonal, and one lane that becomes that of the factor: lower triangles in panels
/// of `B` rows, filled up with zeros to whole blocks; the reciprocals are filled up with ones.
#[derive(Clone, Copy)]
pub(super) struct Lane<F> {
    /// Blocks in a row.
    pub(super) blocks: usize,
    pub(super) l: Panels<F>,
    pub(super) inverses: *const F,
    pub(super) d: Panels<F>,
}

/// All blocks.
///
/// # Safety
/// The places of `f` hold such triangles, `d` is exclusively borrowed, and the CPU has the instructions of `M`, which has
/// `B` lanes.
#[inline(always)]
pub(super) unsafe fn factor<F: Base, M: Simd<F>, const B: usize>(m: M, f: Lane<F>) {
    for q in 0..f.blocks {
        // SAFETY: the blocks are inside.
        unsafe {
            blocks::<F, M, 1, B, true>(m, f, q, q);
            let mut p = q + 1;
            while p + 2 <= f.blocks {
                blocks::<F, M, 2, B, false>(m, f, p, q);
                p += 2;
            }
            if p < f.blocks {
                blocks::<F, M, 1, B, false>(m, f, p, q);
            }
        }
    }
}

/// The `H` blocks from `(p, q)` on, where the columns left of them are done, and so is the block `(q, q)`.
///
/// # Safety
/// As for [`factor`]; the blocks are inside.
#[inline(always)]
unsafe fn blocks<F, M, const H: usize, const B: usize, const DIAGONAL: bool>(
    m: M,
    f: Lane<F>,
    p: usize,
    q: usize,
) where
    F: Base,
    M: Simd<F>,
{
    let first = q * B;
    // SAFETY: columns of panels, left of the diagonal or in a block on it, all of which are there as a whole.
    unsafe {
        let mut x = [[m.splat(F::zero()); B]; H];
        for h in 0..H {
            for c in 0..B {
                x[h][c] = m.load(f.d.at(p + h, first + c));
            }
        }
        let (lp, dp): ([*mut F; H], [*mut F; H]) =
            (from_fn(|h| f.l.at(p + h, 0)), from_fn(|h| f.d.at(p + h, 0)));
        let (lq, dq) = (f.l.at(q, 0), f.d.at(q, 0));
        for k in 0..first {
            let own: [M::V; H] = from_fn(|h| m.load(lp[h].add(k * B)));
            let tangent: [M::V; H] = from_fn(|h| m.load(dp[h].add(k * B)));
            for c in 0..B {
                let (l, d) = (m.splat(lq.add(k * B + c).read()), m.splat(dq.add(k * B + c).read()));
                for h in 0..H {
                    x[h][c] = m.minus(x[h][c], l, tangent[h]);
                    x[h][c] = m.minus(x[h][c], own[h], d);
                }
            }
        }
        macro_rules! columns {
            ($($C:literal)*) => {$(
                column::<F, M, H, B, $C, DIAGONAL>(m, f, (p, q), &mut x);
            )*};
        }
        columns!(0 1 2 3 4 5 6 7);
    }
}

/// What is left to do for column `C` of blocks, inside their own columns, and its part in those right of it.
///
/// # Safety
/// As for [`blocks`]; columns left of `C` are done.
#[inline(always)]
unsafe fn column<F, M, const H: usize, const B: usize, const C: usize, const DIAGONAL: bool>(
    m: M,
    f: Lane<F>,
    (p, q): (usize, usize),
    x: &mut [[M::V; B]; H],
) where
    F: Base,
    M: Simd<F>,
{
    if C >= B {
        return;
    }
    let at = q * B + C;
    // SAFETY: as in `blocks`.
    unsafe {
        let (l, d) = (f.l.at(q, at), f.d.at(q, at));
        let inverse = f.inverses.add(at).read();
        if DIAGONAL {
            m.store(d, x[0][C]);
        }
        let pivot = d.add(C).read();
        let pivot = if DIAGONAL { pivot * (inverse * nalgebra::convert::<f64, F>(0.5)) } else { pivot };
        let (pivots, inverses) = (m.splat(pivot), m.splat(inverse));
        let own: [M::V; H] = from_fn(|h| m.load(f.l.at(p + h, at)));
        for h in 0..H {
            x[h][C] = m.times(m.minus(x[h][C], own[h], pivots), inverses);
            m.store(f.d.at(p + h, at), x[h][C]);
        }
        if DIAGONAL {
            d.add(C).write(pivot);
        }
        for t in C + 1..B {
            let (l, d) = (m.splat(l.add(t).read()), m.splat(d.add(t).read()));
            for h in 0..H {
                x[h][t] = m.minus(x[h][t], l, x[h][C]);
                x[h][t] = m.minus(x[h][t], own[h], d);
            }
        }
    }
}
