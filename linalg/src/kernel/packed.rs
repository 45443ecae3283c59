//! Products of small matrices with one lane: a vector holds whole entries, value and tangent, of neighbouring rows.

use dualpack_core::Base;

use super::simd::{Machine, Simd};
use super::tangents::{Product, tiles};

/// Rows of the product from entry `(i, j)` on, values and their one lane, as many as fit the vectors of `m`, of `S` columns:
/// the operations of [`tangents`](super::tangents), so the same bits.
///
/// # Safety
/// The matrices of `p` fit each other and may be read, `c` is exclusively borrowed; entries are a value and one tangent, and
/// follow each other in a column of `a` and of `c`; rows and columns end inside; the CPU has the instructions of `M`.
#[inline(always)]
unsafe fn tile<F: Base, M: Simd<F>, const S: usize>(m: M, p: &Product<F>, (i, j): (usize, usize)) {
    // SAFETY: by the contract.
    unsafe {
        let zero = m.splat(F::zero());
        let mut sums = [zero; S];
        // There may be no entry.
        let mut a = p.a.start.wrapping_add(i * p.a.down);
        let mut b = p.b.start.wrapping_add(j * p.b.right);
        for _ in 0..p.a.cols {
            let x = m.load(a);
            let value = m.evens(x);
            for s in 0..S {
                let right = b.add(s * p.b.right);
                sums[s] = m.plus(sums[s], value, m.pairs(right));
                sums[s] = m.merge(sums[s], m.plus(sums[s], m.splat(right.read()), x));
            }
            (a, b) = (a.wrapping_add(p.a.right), b.wrapping_add(p.b.down));
        }
        let alpha = m.splat(p.alpha);
        for s in 0..S {
            let place = p.c.place(i, j + s);
            let (value, lane) = match p.beta {
                None => (zero, m.times(sums[s], alpha)),
                Some(beta) => {
                    let (y, factor) = (m.load(place), m.splat(beta));
                    let value = if beta == F::one() { y } else { m.times(y, factor) };
                    (value, m.plus(m.times(sums[s], alpha), factor, y))
                }
            };
            m.store(place, m.merge(m.plus(value, alpha, sums[s]), lane));
        }
    }
}

/// All columns of the rows from `i` on that fit the vectors of `m`; the number of these rows.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
unsafe fn rows<F: Base, M: Simd<F>, const P: usize>(m: M, p: &Product<F>, i: usize) -> usize {
    // SAFETY: the tiles end inside.
    unsafe {
        tiles!(P, j to p.c.cols, |S| tile::<F, M, S>(m, p, (i, j)));
    }
    M::WIDTH / 2
}

/// The whole product, values and lanes, in tiles of `P` columns at most.
///
/// # Safety
/// As for [`tile`]; the CPU is that of `C`.
#[inline(always)]
pub(super) unsafe fn product<F: Base, C: Machine<F>, const P: usize>(p: &Product<F>) {
    let mut i = 0;
    while i < p.c.rows {
        // SAFETY: the rows end inside.
        i += unsafe {
            match p.c.rows - i {
                4.. if C::WIDEST == 8 => rows::<F, C::Wide, P>(C::WIDE, p, i),
                2.. => rows::<F, C::Four, P>(C::FOUR, p, i),
                _ => rows::<F, C::Two, P>(C::TWO, p, i),
            }
        };
    }
}
