//! The recurrence of the Cholesky factorization, differentiated, in tiles that stay in registers:
//!
//! ```text
//! dL_ij = (dA_ij − Σ_k<j (L_jk dL_ik + L_ik dL_jk) − L_ij dL_jj) / L_jj,   half of it where i = j
//! ```
//!
//! with `k` ascending, whatever the tiles, the lanes, and the place of the numbers are: the same bits everywhere.

use std::array::from_fn;
use std::mem::MaybeUninit;

use dualpack_core::Base;

use super::Entries;
use super::simd::{Machine, Simd};

/// Where the lower triangle of a matrix is, in panels of `P` rows: entry `(i, j)` at `i % P * down + j * right` behind
/// the start of panel `p = i / P`, which is at `p * panel + p (p + 1) / 2 * growth`. What is at an entry is one value, or
/// the lanes of one group.
#[derive(Clone, Copy)]
pub(super) struct Panels<F> {
    pub(super) start: *mut F,
    pub(super) panel: usize,
    pub(super) growth: usize,
    pub(super) down: usize,
    pub(super) right: usize,
}

impl<F> Panels<F> {
    /// Column `j` of panel `p`.
    ///
    /// # Safety
    /// It lies inside the matrix.
    #[inline(always)]
    pub(super) unsafe fn at(&self, p: usize, j: usize) -> *mut F {
        // SAFETY: the contract.
        unsafe { self.start.add(p * self.panel + p * (p + 1) / 2 * self.growth + j * self.right) }
    }
}

/// A factor `L` with the reciprocals of its diagonal, and lanes that become those of `L`.
#[derive(Clone, Copy)]
pub(super) struct Lanes<F> {
    pub(super) n: usize,
    pub(super) l: Panels<F>,
    pub(super) inverses: *const F,
    pub(super) d: Panels<F>,
}

/// Tile `(p, q)` of `R x S` entries of the lanes, where the columns left of it are done, and so is the tile `(q, q)`.
/// Of a tile on the diagonal the lower triangle is meant.
///
/// # Safety
/// The places of `f` hold lower triangles of order `f.n` in panels of `P` rows, `d` is exclusively borrowed, the tile
/// lies inside, `R <= P`, `S <= P`, and the CPU has the instructions of `M`.
#[inline(always)]
unsafe fn tile<F, M, const P: usize, const R: usize, const S: usize, const DIAGONAL: bool>(
    m: M,
    f: Lanes<F>,
    p: usize,
    q: usize,
) where
    F: Base,
    M: Simd<F>,
{
    let first = q * P;
    let reached = |r: usize, s: usize| !DIAGONAL || s <= r;
    // SAFETY: entries of the rows of the two panels, left of the diagonal or on it.
    unsafe {
        let (mut a, mut b) = (f.d.at(p, 0), f.d.at(q, 0));
        let (mut la, mut lb) = (f.l.at(p, 0), f.l.at(q, 0));
        let (down, across) = (f.d.down, f.l.down);
        let target = f.d.at(p, first);
        let mut x = [[m.splat(F::zero()); S]; R];
        for r in 0..R {
            for s in 0..S {
                if reached(r, s) {
                    x[r][s] = m.load(target.add(r * down + s * f.d.right));
                }
            }
        }
        for _ in 0..first {
            let left: [M::V; S] = from_fn(|s| m.splat(lb.add(s * across).read()));
            let tangent: [M::V; S] = from_fn(|s| m.load(b.add(s * down)));
            for r in 0..R {
                let (l, t) = (m.splat(la.add(r * across).read()), m.load(a.add(r * down)));
                for s in 0..S {
                    if reached(r, s) {
                        x[r][s] = m.minus(x[r][s], left[s], t);
                        x[r][s] = m.minus(x[r][s], l, tangent[s]);
                    }
                }
            }
            (a, b) = (a.add(f.d.right), b.add(f.d.right));
            (la, lb) = (la.add(f.l.right), lb.add(f.l.right));
        }
        let t = Tile { f, first, target, b, la, lb };
        t.column::<M, R, S, 0, DIAGONAL>(m, &mut x);
        t.column::<M, R, S, 1, DIAGONAL>(m, &mut x);
        t.column::<M, R, S, 2, DIAGONAL>(m, &mut x);
        t.column::<M, R, S, 3, DIAGONAL>(m, &mut x);
    }
}

/// A tile of which only what lies inside its own columns is left to do: these begin at number `first` of the matrix, at
/// `b` and `lb` for the rows of the tile on the diagonal, at `target` and `la` for its own rows.
struct Tile<F> {
    f: Lanes<F>,
    first: usize,
    target: *mut F,
    b: *mut F,
    la: *mut F,
    lb: *mut F,
}

impl<F: Base> Tile<F> {
    /// Column `C`, and its part in those right of it. Columns are told apart by a type argument so that everything stays
    /// in registers.
    ///
    /// # Safety
    /// As for [`tile`]; columns left of `C` are done.
    #[inline(always)]
    unsafe fn column<M, const R: usize, const S: usize, const C: usize, const DIAGONAL: bool>(
        &self,
        m: M,
        x: &mut [[M::V; S]; R],
    ) where
        M: Simd<F>,
    {
        if C >= S {
            return;
        }
        let Tile { f, first, target, b, la, lb } = *self;
        let (down, right, across) = (f.d.down, f.d.right, f.l.down);
        // SAFETY: entries of the tile and of the tile on the diagonal.
        unsafe {
            let value = |base: *mut F, r: usize| m.splat(base.add(r * across + C * f.l.right).read());
            let inverse = f.inverses.add(first + C).read();
            if DIAGONAL {
                x[C][C] = m.times(x[C][C], m.splat(inverse * nalgebra::convert::<f64, F>(0.5)));
                m.store(target.add(C * (down + right)), x[C][C]);
            }
            let pivot = if DIAGONAL { x[C][C] } else { m.load(b.add(C * (down + right))) };
            let inverses = m.splat(inverse);
            // What is above the diagonal may never have been written.
            let own: [M::V; R] = from_fn(|r| if DIAGONAL && r <= C { inverses } else { value(la, r) });
            for r in if DIAGONAL { C + 1 } else { 0 }..R {
                x[r][C] = m.times(m.minus(x[r][C], own[r], pivot), inverses);
                m.store(target.add(r * down + C * right), x[r][C]);
            }
            for t in C + 1..S {
                let l = value(lb, t);
                let tangent = if DIAGONAL { x[t][C] } else { m.load(b.add(t * down + C * right)) };
                for r in if DIAGONAL { t } else { 0 }..R {
                    x[r][t] = m.minus(x[r][t], l, x[r][C]);
                    x[r][t] = m.minus(x[r][t], own[r], tangent);
                }
            }
        }
    }
}

/// The panel of columns `q`, where those left of it are done.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
pub(super) unsafe fn columns<F: Base, M: Simd<F>, const P: usize>(m: M, f: Lanes<F>, q: usize) {
    let (whole, rest) = (f.n / P, f.n % P);
    // SAFETY: the tiles end inside.
    unsafe {
        if q < whole {
            tile::<F, M, P, P, P, true>(m, f, q, q);
            for p in q + 1..whole {
                tile::<F, M, P, P, P, false>(m, f, p, q);
            }
            match rest {
                1 => tile::<F, M, P, 1, P, false>(m, f, whole, q),
                2 => tile::<F, M, P, 2, P, false>(m, f, whole, q),
                3 => tile::<F, M, P, 3, P, false>(m, f, whole, q),
                _ => {}
            }
        } else {
            match rest {
                1 => tile::<F, M, P, 1, 1, true>(m, f, q, q),
                2 => tile::<F, M, P, 2, 2, true>(m, f, q, q),
                _ => tile::<F, M, P, 3, 3, true>(m, f, q, q),
            }
        }
    }
}

/// `√d` and its reciprocal, of a positive and finite number.
#[inline(always)]
pub(super) fn root<F: Base>(d: F) -> Option<(F, F)> {
    let pivot = d.sqrt();
    let moderate = |e: f64| nalgebra::convert::<f64, F>(e);
    let (least, most) = if size_of::<F>() == 4 { (1e-36, 1e36) } else { (1e-300, 1e300) };
    if d > moderate(least) && d < moderate(most) {
        // The root and this division run side by side: what the next pivot waits for is ready sooner.
        return Some((pivot, pivot * d.recip()));
    }
    // The reciprocal of a root neither overflows nor underflows. NaN is not positive either.
    (d.is_finite() && d > F::zero()).then(|| (pivot, pivot.recip()))
}

/// Rows and columns of a tile of values.
pub(super) const VALUES: usize = 4;

/// The largest order of [`Values`], a multiple of [`VALUES`].
pub(super) const LARGEST: usize = 24;

/// The factor itself, column by column at a distance of `across`, and the reciprocals of its diagonal; at first,
/// nothing.
pub(super) struct Values<F> {
    plane: [MaybeUninit<F>; LARGEST * LARGEST],
    inverses: [MaybeUninit<F>; LARGEST],
    across: usize,
}

impl<F: Base> Values<F> {
    /// Room for order `n <= LARGEST`.
    #[inline(always)]
    pub(super) fn new(n: usize) -> Self {
        assert!(n <= LARGEST);
        let (plane, inverses) = ([const { MaybeUninit::uninit() }; _], [const { MaybeUninit::uninit() }; _]);
        Values { plane, inverses, across: n.next_multiple_of(VALUES) }
    }

    /// The factor, in panels of `P` rows.
    pub(super) fn panels<const P: usize>(&self) -> Panels<F> {
        let start = self.plane.as_ptr().cast::<F>().cast_mut();
        Panels { start, panel: P, growth: 0, down: 1, right: self.across }
    }

    pub(super) fn inverses(&self) -> *const F {
        self.inverses.as_ptr().cast()
    }

    /// Where entry `(i, j)` is.
    ///
    /// # Safety
    /// `i` and `j` are below the order, rounded up to a multiple of four.
    #[inline(always)]
    pub(super) unsafe fn at(&mut self, i: usize, j: usize) -> *mut F {
        // SAFETY: inside the plane by the contract.
        unsafe { self.plane.as_mut_ptr().cast::<F>().add(j * self.across + i) }
    }

    /// The tile of order `R` on the diagonal at `first`, where the columns left of it are done. Returns 0, or the order
    /// of the first leading minor that is not positive.
    ///
    /// # Safety
    /// `a` is a matrix of order `first + R` at least, which may be read; that order is the one there is room for.
    #[inline(always)]
    unsafe fn diagonal<const R: usize, const FUSED: bool>(&mut self, a: Entries<F>, first: usize) -> usize {
        let minus = |y: F, f: F, x: F| if FUSED { (-f).mul_add(x, y) } else { y - f * x };
        // SAFETY: the indices are in the lower triangle, and the columns that are read have been written.
        unsafe {
            let mut x: [[F; R]; R] =
                from_fn(|r| from_fn(|s| if s <= r { a.value(first + r, first + s) } else { F::zero() }));
            for k in 0..first {
                let column = self.at(first, k);
                let l: [F; R] = from_fn(|r| column.add(r).read());
                for r in 0..R {
                    for s in 0..r + 1 {
                        x[r][s] = minus(x[r][s], l[s], l[r]);
                    }
                }
            }
            for s in 0..R {
                let Some((pivot, inverse)) = root(x[s][s]) else {
                    return first + s + 1;
                };
                self.inverses.as_mut_ptr().cast::<F>().add(first + s).write(inverse);
                let column = self.at(first, first + s);
                column.add(s).write(pivot);
                for r in s + 1..R {
                    x[r][s] *= inverse;
                    column.add(r).write(x[r][s]);
                }
                for t in s + 1..R {
                    for r in t..R {
                        x[r][t] = minus(x[r][t], x[t][s], x[r][s]);
                    }
                }
            }
        }
        0
    }

    /// The tile of rows from `i` on below that tile, which is a whole one; of the rows, those of `a` are there.
    ///
    /// # Safety
    /// As for [`diagonal`](Values::diagonal), with `i` below the order, a multiple of four, and `M` has four lanes.
    #[inline(always)]
    unsafe fn below<M: Simd<F>>(&mut self, m: M, a: Entries<F>, (i, first): (usize, usize)) {
        let n = a.rows;
        // SAFETY: the indices are in the lower triangle, but for rows in the room behind the last one; the columns that
        // are read have been written in all of these rows.
        unsafe {
            let mut x: [M::V; VALUES] = from_fn(|s| {
                let value = |r: usize| if i + r < n { a.value(i + r, first + s) } else { F::zero() };
                m.load([value(0), value(1), value(2), value(3)].as_ptr())
            });
            for k in 0..first {
                let y = m.load(self.at(i, k));
                for s in 0..VALUES {
                    x[s] = m.minus(x[s], m.splat(self.at(first + s, k).read()), y);
                }
            }
            for s in 0..VALUES {
                x[s] = m.times(x[s], m.splat(self.inverses().add(first + s).read()));
                m.store(self.at(i, first + s), x[s]);
                for t in s + 1..VALUES {
                    x[t] = m.minus(x[t], m.splat(self.at(first + t, first + s).read()), x[s]);
                }
            }
        }
    }

    /// [`VALUES`] columns from `first` on, of which those left of the order are there. Returns what
    /// [`diagonal`](Values::diagonal) does.
    ///
    /// # Safety
    /// The matrix `a` is of the order that there is room for and may be read; `first` is below it and a multiple of
    /// four; columns left of it are done; the CPU is that of `C`.
    #[inline(always)]
    pub(super) unsafe fn columns<C: Machine<F>>(&mut self, a: Entries<F>, first: usize) -> usize {
        // SAFETY: the tiles end inside.
        unsafe {
            macro_rules! diagonal {
                ($R:expr) => {
                    if C::FUSED {
                        self.diagonal::<$R, true>(a, first)
                    } else {
                        self.diagonal::<$R, false>(a, first)
                    }
                };
            }
            let minor = match a.rows - first {
                1 => diagonal!(1),
                2 => diagonal!(2),
                3 => diagonal!(3),
                _ => diagonal!(4),
            };
            if minor == 0 {
                let mut i = first + VALUES;
                while i < a.rows {
                    self.below(C::FOUR, a, (i, first));
                    i += VALUES;
                }
            }
            minor
        }
    }
}
