//! Tiny matrices in code that is compiled into the caller. Where the order is a constant there, neither a call nor a
//! choice at run time is left of a routine, which would cost more than the work.
//!
//! The operations are those of the kernels that are chosen at run time, so the bits are the same, and only where they
//! are is anything done here: see [`SAME_BITS`]. A program that is not compiled for fused operations takes the calls.

use std::mem::MaybeUninit;

use dualpack_core::Base;

use super::simd::{Here, Job, Machine, SAME_BITS, Simd};
use super::tangents::{self, Product, Solve};
use super::{Entries, Interleaved, InterleavedRef, Order, whole};

/// Calls `$f` with the order as a constant, if it is tiny; otherwise `$none`.
macro_rules! ordered {
    ($n:expr, |$N:ident| $f:expr, $none:expr) => {
        match $n {
            2 => {
                const $N: usize = 2;
                $f
            }
            3 => {
                const $N: usize = 3;
                $f
            }
            _ => $none,
        }
    };
}

/// Whether a problem whose dimensions are all `n` is for the functions here.
#[inline(always)]
pub(crate) fn is_for_inline(n: usize) -> bool {
    SAME_BITS && ordered!(n, |_N| true, false)
}

/// Runs `$body`, generic over the float, for the one that `$p` is of.
macro_rules! float {
    ($p:expr, |$q:ident| $body:expr) => {
        match $p.cast::<f64>() {
            Some($q) => $body,
            None => {
                let $q = $p.cast::<f32>().expect("a float is f32 or f64");
                $body
            }
        }
    };
}

/// The Cholesky factor of the lower triangle of `a`, value and lanes, in place of that of `to`, or of `to` in its own
/// place: whether the matrix is positive definite; if not, nothing is done. `None`, and nothing done either, if the matrix
/// is not tiny and of first order.
#[inline(always)]
pub(crate) fn factor<F: Base>(a: Option<InterleavedRef<'_, F>>, to: Interleaved<'_, F>) -> Option<bool> {
    let (lanes, to_order, to) = (to.lanes, to.order, to.entries);
    let (order, a_lanes, a) = a.map_or((to_order, lanes, to), |a| (a.order, a.lanes, a.entries));
    let n = to.rows;
    let fits = to.cols == n && a.rows == n && a.cols == n && a_lanes == lanes;
    if !fits || order != Order::First || to_order != Order::First || !is_for_inline(n) {
        return None;
    }
    let both = Pair { a, to };
    // SAFETY: `to` is made from an exclusive view, `a` from one that may be read or the same one, both of entries of one
    // type with the same number of lanes; they are of order `n`.
    float!(both, |p| unsafe {
        ordered!(n, |N| Some(whole::factor::<_, Here, N>(p.a, p.to, lanes) == 0), None)
    })
}

struct Pair<F> {
    a: Entries<F>,
    to: Entries<F>,
}

impl<F: Base> Pair<F> {
    #[inline(always)]
    fn cast<G: Base>(&self) -> Option<Pair<G>> {
        Some(Pair { a: self.a.cast()?, to: self.to.cast()? })
    }
}

/// The lanes of a problem that is one tile.
struct Tile<'a, P, const N: usize>(&'a P);

impl<F: Base, const N: usize> Job<F> for Tile<'_, Product<F>, N> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        // SAFETY: the tile is the whole matrix.
        unsafe { tangents::tile::<F, M, N, N>(m, self.0, (0, 0), 1 + lane) }
    }
}

impl<F: Base, const N: usize> Job<F> for Tile<'_, Solve<F>, N> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        // SAFETY: as above.
        unsafe { tangents::unknowns::<F, M, N, N>(m, self.0, (0, 0), 1 + lane) }
    }
}

/// [`tangents::product`] of square matrices that [`is_for_inline`], values and all; the lanes are NaN where a value is not
/// finite. `false`, and nothing done, unless they are of first order.
#[inline(always)]
pub(crate) fn product<F: Base>(
    a: (InterleavedRef<'_, F>, bool),
    b: (InterleavedRef<'_, F>, bool),
    c: Interleaved<'_, F>,
    factors: (F, Option<F>),
) -> bool {
    let Some(p) = Product::new(a, b, c, factors, true) else { return false };
    let n = p.c.rows;
    if p.c.cols != n || p.a.cols != n {
        return false;
    }
    // SAFETY: the operands are borrowed matrices of one scalar type and of order `n`, `c` exclusively.
    float!(p, |p| unsafe { ordered!(n, |N| whole_product::<_, Here, N>(&p), false) })
}

/// # Safety
/// As for [`tangents::tile`]; the matrices are of order `N`.
#[inline(always)]
unsafe fn whole_product<F: Base, C: Machine<F>, const N: usize>(p: &Product<F>) -> bool {
    // SAFETY: the contract.
    unsafe {
        let mut p = *p;
        p.a.cols = N;
        C::each(p.lanes, &Tile::<_, N>(&p));
        tangents::values::<F, C::One, N, N>(C::ONE, &p, (0, 0));
        C::each(p.lanes, &Poison::<_, N>(|i, j| p.c.place(i, j)));
    }
    true
}

/// Makes the lanes NaN where a value is not finite, for the matrix of order `N` whose entries are at these places.
struct Poison<P, const N: usize>(P);

impl<F: Base, P: Fn(usize, usize) -> *mut F, const N: usize> Job<F> for Poison<P, N> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        // SAFETY: entries of the matrix.
        unsafe {
            for j in 0..N {
                for i in 0..N {
                    let entry = self.0(i, j);
                    if !entry.read().is_finite() {
                        m.store(entry.add(1 + lane), m.splat(nalgebra::convert(f64::NAN)));
                    }
                }
            }
        }
    }
}

/// [`tangents::solve`] for a triangle and as many right-hand sides, of an order that [`is_for_inline`], values and all;
/// the lanes are NaN where a value is not finite. `false`, and nothing done, unless the matrices are of first order.
#[inline(always)]
pub(crate) fn solve<F: Base>(
    right: bool,
    lower: bool,
    a: (InterleavedRef<'_, F>, bool),
    unit: bool,
    x: Interleaved<'_, F>,
) -> bool {
    let Some(p) = Solve::new(right, lower, a, unit, x, true) else { return false };
    if p.rows != p.columns {
        return false;
    }
    // SAFETY: both are borrowed matrices of one scalar type and of one order, `x` exclusively.
    float!(p, |p| unsafe { ordered!(p.rows, |N| whole_solve::<_, Here, N>(&p), false) })
}

/// # Safety
/// As for [`tangents::unknowns`]; the matrices are of order `N`.
#[inline(always)]
unsafe fn whole_solve<F: Base, C: Machine<F>, const N: usize>(p: &Solve<F>) -> bool {
    // SAFETY: the contract.
    unsafe {
        let mut room = [const { MaybeUninit::uninit() }; N];
        let mut p = *p;
        tangents::invert(&mut p, &mut room);
        let p = &p;
        tangents::value_unknowns::<F, C::One, N, N>(C::ONE, p, (0, 0));
        C::each(p.lanes, &Tile::<_, N>(p));
        C::each(p.lanes, &Poison::<_, N>(|i, j| p.x.place(i, j)));
    }
    true
}
