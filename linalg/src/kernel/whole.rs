//! The Cholesky factorization of matrices that fit the registers as a whole, by the operations of
//! [`recurrence`](super::recurrence): the same bits.

use std::array::from_fn;

use dualpack_core::Base;

use super::Entries;
use super::recurrence::root;
use super::simd::{Job, Machine, Simd};

/// The largest order.
pub(super) const WHOLE: usize = 4;

/// The factorization of order `N`, values and lanes. Returns 0, or the order of the first leading minor that is not
/// positive: then nothing was done.
///
/// # Safety
/// `a` may be read, `to` is exclusively borrowed; both are matrices of order `N` whose entries in the lower triangle are a
/// value and `lanes` tangents, and may be the same one; the CPU is that of `C`.
#[inline(always)]
pub(super) unsafe fn factor<F, C, const N: usize>(a: Entries<F>, to: Entries<F>, lanes: usize) -> usize
where
    F: Base,
    C: Machine<F>,
{
    let one = C::ONE;
    let mut inverses = [F::zero(); N];
    // SAFETY: entries of the lower triangle.
    unsafe {
        let mut l: [[F; N]; N] = from_fn(|i| from_fn(|j| if j <= i { a.value(i, j) } else { F::zero() }));
        for j in 0..N {
            let Some((pivot, inverse)) = root(l[j][j]) else {
                return j + 1;
            };
            (l[j][j], inverses[j]) = (pivot, inverse);
            for i in j + 1..N {
                l[i][j] *= inverse;
            }
            for t in j + 1..N {
                for i in t..N {
                    [l[i][t]] = one.minus([l[i][t]], [l[t][j]], [l[i][j]]);
                }
            }
        }
        C::each(lanes, &Whole { a, to, l, inverses });
        for j in 0..N {
            for i in j..N {
                to.store(i, j, 0, [l[i][j]]);
            }
        }
    }
    0
}

/// The lanes, where the factor is known.
struct Whole<F, const N: usize> {
    a: Entries<F>,
    to: Entries<F>,
    l: [[F; N]; N],
    inverses: [F; N],
}

impl<F: Base, const N: usize> Job<F> for Whole<F, N> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        // SAFETY: lanes of entries of the lower triangle.
        unsafe {
            let place = |a: &Entries<F>, i: usize, j: usize| a.place(i, j).add(1 + lane);
            let mut x = [[m.splat(F::zero()); N]; N];
            for i in 0..N {
                for j in 0..=i {
                    x[i][j] = m.load(place(&self.a, i, j));
                }
            }
            macro_rules! columns {
                ($($J:literal)*) => {$(
                    self.column::<M, $J>(m, &mut x);
                )*};
            }
            columns!(0 1 2 3);
            for j in 0..N {
                for i in j..N {
                    m.store(place(&self.to, i, j), x[i][j]);
                }
            }
        }
    }
}

impl<F: Base, const N: usize> Whole<F, N> {
    /// Column `J`, and its part in those right of it.
    ///
    /// # Safety
    /// The CPU has the instructions of `M`.
    #[inline(always)]
    unsafe fn column<M: Simd<F>, const J: usize>(&self, m: M, x: &mut [[M::V; N]; N]) {
        if J >= N {
            return;
        }
        let half = nalgebra::convert::<f64, F>(0.5);
        // SAFETY: the contract.
        unsafe {
            let l: [M::V; N] = from_fn(|i| m.splat(self.l[i][J]));
            x[J][J] = m.times(x[J][J], m.splat(self.inverses[J] * half));
            let (pivot, inverse) = (x[J][J], m.splat(self.inverses[J]));
            for i in J + 1..N {
                x[i][J] = m.times(m.minus(x[i][J], l[i], pivot), inverse);
            }
            for t in J + 1..N {
                for i in t..N {
                    x[i][t] = m.minus(x[i][t], l[t], x[i][J]);
                    x[i][t] = m.minus(x[i][t], l[i], x[t][J]);
                }
            }
        }
    }
}
