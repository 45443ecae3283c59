//! The tangents of products and triangular solves of small matrices, computed in place on interleaved lanes. Values are
//! read, never written: they come from the routines for plain floats.

use nalgebra::ComplexField;

use super::{Entries, Interleaved, InterleavedRef, Order, dispatch, subtract};

/// Up to this many rows and columns the lanes are worked on where they are.
const LIMIT: usize = 32;

/// The same for lanes that do not fill a register; planes fill them with the rows of a matrix.
const FEW_LANES_LIMIT: usize = 16;

/// Whether a problem of these dimensions is for the kernels here.
pub(crate) fn is_small(lanes: usize, dimensions: &[usize]) -> bool {
    let limit = if lanes < 4 { FEW_LANES_LIMIT } else { LIMIT };
    dimensions.iter().all(|&n| n <= limit)
}

trait Float: ComplexField + Copy {}
impl<F: ComplexField + Copy> Float for F {}

/// `y + f x` in every lane, rounded once where `FUSED`.
#[inline(always)]
fn add<F: Float, const W: usize, const FUSED: bool>(y: &mut [F; W], f: F, x: &[F; W]) {
    for k in 0..W {
        y[k] = if FUSED { f.mul_add(x[k], y[k]) } else { y[k] + f * x[k] };
    }
}

/// Runs `$body` with the width and the first slot of each group of eight, four, and single lanes.
macro_rules! groups {
    ($lanes:expr, |$W:ident, $slot:ident| $body:expr) => {{
        let mut $slot = 1;
        while $slot <= $lanes {
            match $lanes + 1 - $slot {
                8.. => {
                    const $W: usize = 8;
                    $body;
                    $slot += $W;
                }
                4.. => {
                    const $W: usize = 4;
                    $body;
                    $slot += $W;
                }
                _ => {
                    const $W: usize = 1;
                    $body;
                    $slot += $W;
                }
            }
        }
    }};
}

/// `dC = α (A dB + dA B) + β dC`, or without the last term, for matrices of the same number of lanes.
#[derive(Clone, Copy)]
struct Product<F> {
    a: Entries<F>,
    b: Entries<F>,
    c: Entries<F>,
    lanes: usize,
    alpha: F,
    beta: Option<F>,
}

/// An `R x S` tile of the product from entry `(i, j)` on, `W` lanes from `slot` on.
///
/// # Safety
/// The matrices may be read, `c` is exclusively borrowed; tile and lanes end inside.
#[inline(always)]
unsafe fn tile<F: Float, const R: usize, const S: usize, const W: usize, const FUSED: bool>(
    p: Product<F>,
    i: usize,
    j: usize,
    slot: usize,
) {
    let mut sums = [[[F::zero(); W]; S]; R];
    // SAFETY: by the contract.
    unsafe {
        for k in 0..p.a.cols {
            let (b, db): ([F; S], [[F; W]; S]) = (
                std::array::from_fn(|s| p.b.value(k, j + s)),
                std::array::from_fn(|s| p.b.load(k, j + s, slot)),
            );
            for r in 0..R {
                let (a, da) = (p.a.value(i + r, k), p.a.load::<W>(i + r, k, slot));
                for s in 0..S {
                    add::<F, W, FUSED>(&mut sums[r][s], a, &db[s]);
                    add::<F, W, FUSED>(&mut sums[r][s], b[s], &da);
                }
            }
        }
        for r in 0..R {
            for s in 0..S {
                let mut sum = sums[r][s].map(|x| p.alpha * x);
                if let Some(beta) = p.beta {
                    add::<F, W, FUSED>(&mut sum, beta, &p.c.load(i + r, j + s, slot));
                }
                p.c.store(i + r, j + s, slot, sum);
            }
        }
    }
}

/// All tiles.
///
/// # Safety
/// The matrices fit each other and have the lanes; they may be read, and `c` is exclusively borrowed.
#[inline(always)]
unsafe fn tiles<F: Float, const FUSED: bool>(p: Product<F>) {
    let (m, n) = (p.c.rows, p.c.cols);
    groups!(p.lanes, |W, slot| for j in (0..n).step_by(2) {
        // SAFETY: the tiles end inside.
        unsafe {
            let mut i = 0;
            while i < m {
                match (m - i, n - j) {
                    (4.., 2..) => (tile::<F, 4, 2, W, FUSED>(p, i, j, slot), i += 4).1,
                    (4.., _) => (tile::<F, 4, 1, W, FUSED>(p, i, j, slot), i += 4).1,
                    (_, 2..) => (tile::<F, 1, 2, W, FUSED>(p, i, j, slot), i += 1).1,
                    _ => (tile::<F, 1, 1, W, FUSED>(p, i, j, slot), i += 1).1,
                }
            }
        }
    });
}

dispatch! {
    /// See [`tiles`].
    ///
    /// # Safety
    /// As for [`tiles`].
    unsafe fn run_product<F: Float>(p: Product<F>) => tiles
}

/// `dC ← α (op(A) dB + dA op(B)) + β dC`, where `ta` and `tb` say which operands are transposed and `β = None` does not
/// read `C`. `false`, and nothing done, unless all entries are values with first-order tangents.
pub(crate) fn product<F: ComplexField + Copy>(
    (a, ta): (InterleavedRef<'_, F>, bool),
    (b, tb): (InterleavedRef<'_, F>, bool),
    c: Interleaved<'_, F>,
    alpha: F,
    beta: Option<F>,
) -> bool {
    if [a.order, b.order, c.order] != [Order::First; 3] {
        return false;
    }
    let lanes = c.lanes;
    let turned = |x: Entries<F>, trans| if trans { x.transposed() } else { x };
    let (a, b, c) = (turned(a.entries, ta), turned(b.entries, tb), c.entries);
    assert!(a.rows == c.rows && b.cols == c.cols && a.cols == b.rows);
    // SAFETY: the operands are borrowed matrices of one scalar type, `c` exclusively; the shapes have been checked.
    unsafe { run_product(Product { a, b, c, lanes, alpha, beta }) };
    true
}

/// A triangle `T` and right-hand sides: `dX = T⁻¹ (dB − dT X)`, where the values of `x` are `X` already and its lanes
/// come in as those of the right-hand sides.
#[derive(Clone, Copy)]
struct Solve<F> {
    t: Entries<F>,
    x: Entries<F>,
    lanes: usize,
    lower: bool,
    unit: bool,
}

/// `S` right-hand sides from column `j` on, `W` lanes from `slot` on.
///
/// # Safety
/// The triangle may be read, `x` is exclusively borrowed; columns and lanes end inside.
#[inline(always)]
unsafe fn columns<F: Float, const S: usize, const W: usize, const FUSED: bool>(
    p: Solve<F>,
    j: usize,
    slot: usize,
) {
    let n = p.t.rows;
    for step in 0..n {
        let i = if p.lower { step } else { n - 1 - step };
        let known = if p.lower { 0..i } else { i + 1..n };
        // SAFETY: by the contract; of `t` the triangle is read.
        unsafe {
            let mut sums: [[F; W]; S] = std::array::from_fn(|s| p.x.load(i, j + s, slot));
            for k in known {
                let (t, dt) = (p.t.value(i, k), p.t.load::<W>(i, k, slot));
                for s in 0..S {
                    subtract::<F, W, FUSED>(&mut sums[s], t, &p.x.load(k, j + s, slot));
                    subtract::<F, W, FUSED>(&mut sums[s], p.x.value(k, j + s), &dt);
                }
            }
            if !p.unit {
                let (t, dt) = (p.t.value(i, i), p.t.load::<W>(i, i, slot));
                for s in 0..S {
                    subtract::<F, W, FUSED>(&mut sums[s], p.x.value(i, j + s), &dt);
                    sums[s] = sums[s].map(|x| x / t);
                }
            }
            for s in 0..S {
                p.x.store(i, j + s, slot, sums[s]);
            }
        }
    }
}

/// All right-hand sides.
///
/// # Safety
/// As for [`columns`], for all columns and lanes.
#[inline(always)]
unsafe fn all_columns<F: Float, const FUSED: bool>(p: Solve<F>) {
    groups!(p.lanes, |W, slot| {
        let mut j = 0;
        while j < p.x.cols {
            // SAFETY: the columns end inside.
            unsafe {
                match p.x.cols - j {
                    4.. => (columns::<F, 4, W, FUSED>(p, j, slot), j += 4).1,
                    _ => (columns::<F, 1, W, FUSED>(p, j, slot), j += 1).1,
                }
            }
        }
    });
}

dispatch! {
    /// See [`all_columns`].
    ///
    /// # Safety
    /// As for [`all_columns`].
    unsafe fn run_solve<F: Float>(p: Solve<F>) => all_columns
}

/// The lanes of `x`, those of the right-hand sides, become those of the solution of `T X = B`, or of `X T = B` if
/// `right`, where `T` is the lower or upper triangle of `a` or of its transpose, and the values of `x` are the solution
/// already. `false`, and nothing done, unless all entries are values with first-order tangents.
pub(crate) fn solve<F: ComplexField + Copy>(
    right: bool,
    lower: bool,
    (a, transposed): (InterleavedRef<'_, F>, bool),
    unit: bool,
    x: Interleaved<'_, F>,
) -> bool {
    if [a.order, x.order] != [Order::First; 2] {
        return false;
    }
    let (mut t, mut lanes) = (a.entries, x.entries);
    // X T = B is Tᵀ Xᵀ = Bᵀ.
    if transposed != right {
        t = t.transposed();
    }
    if right {
        lanes = lanes.transposed();
    }
    let lower = lower != (transposed != right);
    assert!(t.rows == t.cols && t.rows == lanes.rows);
    // SAFETY: both are borrowed matrices of one scalar type, `x` exclusively; the shapes have been checked.
    unsafe { run_solve(Solve { t, x: lanes, lanes: x.lanes, lower, unit }) };
    true
}
