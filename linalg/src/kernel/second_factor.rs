//! The second derivatives of a Cholesky factor, on interleaved lanes of symmetric second order. From
//! `A_pq = L_pq Lᵀ + L L_pqᵀ + L_p L_qᵀ + L_q L_pᵀ` they solve what first derivatives do:
//!
//! ```text
//! L_pq Lᵀ + L L_pqᵀ = A_pq − L_p L_qᵀ − L_q L_pᵀ
//! ```
//!
//! so that the tiles of [`recurrence`](super::recurrence) compute them, after products on the right. The pairs are
//! computed in vectors that hold one with `q >= p`; what else is in them means nothing before and after.

use std::array::from_fn;

use dualpack_core::Base;

use super::Entries;
use super::cholesky::panels;
use super::recurrence::{LARGEST, Lanes, columns};
use super::simd::{Job, Machine, Simd, machines};

/// The second derivatives of a factor of order [`LARGEST`] at most, whose values and first derivatives are there.
///
/// # Safety
/// `a` is an exclusively borrowed square matrix whose entries in the lower triangle are a value, `lanes` first and
/// `lanes²` second derivatives.
pub(super) unsafe fn potrf<F: Base>(a: Entries<F>, lanes: usize) {
    assert!(a.rows <= LARGEST);
    // SAFETY: the contract is the caller's; a float is one of the two.
    unsafe {
        match a.cast::<f64>() {
            Some(a) => second_on(a, lanes),
            None => second_on(a.cast::<f32>().expect("a float is f32 or f64"), lanes),
        }
    }
}

machines! {
    unsafe fn second_on<F>(a: Entries<F>, lanes: usize) => second_body
}

/// # Safety
/// As for [`potrf`]; the CPU is that of `C`.
#[inline(always)]
unsafe fn second_body<F: Base, C: Machine<F>, const P: usize>(a: Entries<F>, lanes: usize) {
    let n = a.rows;
    let mut inverses = [F::zero(); LARGEST];
    let l = panels::<F, P>(a);
    // SAFETY: entries of the lower triangle.
    unsafe {
        for j in 0..n {
            inverses[j] = a.value(j, j).recip();
        }
        let f = Lanes { n, l, inverses: inverses.as_ptr(), d: l };
        for p in 0..lanes {
            C::each_apart(lanes, &Row::<F, P> { a, f, lanes, p });
        }
    }
}

/// The pairs of lane `p`.
struct Row<F, const P: usize> {
    a: Entries<F>,
    f: Lanes<F>,
    lanes: usize,
    p: usize,
}

impl<F: Base, const P: usize> Job<F> for Row<F, P> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        if lane + M::WIDTH <= self.p {
            return;
        }
        let n = self.f.n;
        // SAFETY: the tiles begin inside; the second derivatives lie behind the others in each entry.
        unsafe {
            for j in (0..n).step_by(P) {
                self.tile::<M, true>(m, lane, (j, j));
                for i in (j + P..n).step_by(P) {
                    self.tile::<M, false>(m, lane, (i, j));
                }
            }
            let mut f = self.f;
            f.d.start = f.d.start.add(self.slot(lane));
            for q in 0..n.div_ceil(P) {
                columns::<F, M, P>(m, f, q);
            }
        }
    }
}

impl<F: Base, const P: usize> Row<F, P> {
    /// The number of the second derivative of lanes `p` and `lane` in an entry.
    #[inline(always)]
    fn slot(&self, lane: usize) -> usize {
        1 + self.lanes + self.p * self.lanes + lane
    }

    /// Takes the products out of the tile of `P` x `P` entries from `first` on, or what of it lies inside.
    ///
    /// # Safety
    /// As for [`Job::run`]; `first` is in the lower triangle, a multiple of `P`.
    #[inline(always)]
    unsafe fn tile<M: Simd<F>, const DIAGONAL: bool>(&self, m: M, lane: usize, first: (usize, usize)) {
        let (a, last) = (self.a, self.f.n - 1);
        // Of rows and columns that are not there the last one is computed again.
        let (row, col) = (|r: usize| last.min(first.0 + r), |s: usize| last.min(first.1 + s));
        // SAFETY: entries of the lower triangle, in its diagonal tiles those with `s <= r`.
        unsafe {
            let target = |r: usize, s: usize| a.place(row(r), col(s)).add(self.slot(lane));
            let mut x: [[M::V; P]; P] = from_fn(|r| {
                from_fn(|s| if DIAGONAL && s > r { m.splat(F::zero()) } else { m.load(target(r, s)) })
            });
            let rows: [*const F; P] = from_fn(|r| a.place(row(r), 0).add(1).cast_const());
            let cols: [*const F; P] = from_fn(|s| a.place(col(s), 0).add(1).cast_const());
            let t = Tile { rows, cols, p: self.p, lane };
            for k in 0..first.1 {
                t.column::<M, 0, DIAGONAL>(m, k * a.right, &mut x);
            }
            macro_rules! columns {
                ($($C:literal)*) => {$(
                    if $C < P && first.1 + $C < self.f.n {
                        t.column::<M, $C, DIAGONAL>(m, (first.1 + $C) * a.right, &mut x);
                    }
                )*};
            }
            columns!(0 1 2 3);
            for r in 0..P {
                for s in 0..if DIAGONAL { r + 1 } else { P } {
                    if first.0 + r <= last && first.1 + s <= last {
                        m.store(target(r, s), x[r][s]);
                    }
                }
            }
        }
    }
}

/// Where the derivatives of the first entry of each row and column of a tile are, and which ones are meant.
struct Tile<F, const P: usize> {
    rows: [*const F; P],
    cols: [*const F; P],
    p: usize,
    lane: usize,
}

impl<F: Base, const P: usize> Tile<F, P> {
    /// `x_rs −= L_p(r) L_q(s) + L_q(r) L_p(s)` for the column of `L` that begins `at` floats behind the first one, which
    /// has entries for columns of the tile from number `C` on; and in a tile on the diagonal for these rows.
    ///
    /// # Safety
    /// These entries are in the lower triangle; the CPU has the instructions of `M`.
    #[inline(always)]
    unsafe fn column<M: Simd<F>, const C: usize, const DIAGONAL: bool>(
        &self,
        m: M,
        at: usize,
        x: &mut [[M::V; P]; P],
    ) {
        // SAFETY: the contract.
        unsafe {
            let group = |start: *const F| m.load(start.add(at + self.lane));
            let single = |start: *const F| m.splat(start.add(at + self.p).read());
            let nothing = m.splat(F::zero());
            let col_q: [M::V; P] = from_fn(|s| if s < C { nothing } else { group(self.cols[s]) });
            let col_p: [M::V; P] = from_fn(|s| if s < C { nothing } else { single(self.cols[s]) });
            for r in if DIAGONAL { C } else { 0 }..P {
                let (row_q, row_p) = (group(self.rows[r]), single(self.rows[r]));
                for s in C..P {
                    if !DIAGONAL || s <= r {
                        x[r][s] = m.minus(x[r][s], col_p[s], row_q);
                        x[r][s] = m.minus(x[r][s], row_p, col_q[s]);
                    }
                }
            }
        }
    }
}
