//! The tangents of products and triangular solves of small matrices, computed in place on interleaved lanes, in tiles
//! that stay in registers. Values come from the routines for plain floats, but for tiny matrices.

use std::any::{Any, TypeId};
use std::array::from_fn;
use std::mem::MaybeUninit;

use dualpack_core::Base;

use super::level3::reciprocal;
use super::simd::{Job, Machine, Simd, machines};
use super::{Entries, Interleaved, InterleavedRef, Order, packed};

/// Up to this many rows and columns the lanes are worked on where they are.
const LIMIT: usize = 64;

/// The same for lanes that do not fill a register; planes fill them with the rows of a matrix.
const FEW_LANES_LIMIT: usize = 16;

/// Whether a problem of these dimensions is for the kernels here.
pub(crate) fn is_small(lanes: usize, dimensions: &[usize]) -> bool {
    let limit = if lanes < 4 { FEW_LANES_LIMIT } else { LIMIT };
    dimensions.iter().all(|&n| n <= limit)
}

/// Up to this many rows and columns the values are computed here too: what else would it cost to copy them.
const TINY: usize = 12;

/// Whether a problem of these dimensions is for the kernels here, values and all.
#[inline(always)]
pub(crate) fn is_tiny(dimensions: &[usize]) -> bool {
    dimensions.iter().all(|&n| n <= TINY)
}

/// `dC = α (A dB + dA B) + β dC`, or without the last term, for matrices of the same number of lanes, and the values
/// likewise if `values`.
#[derive(Clone, Copy)]
pub(super) struct Product<F> {
    pub(super) a: Entries<F>,
    pub(super) b: Entries<F>,
    pub(super) c: Entries<F>,
    pub(super) lanes: usize,
    pub(super) alpha: F,
    pub(super) beta: Option<F>,
    values: bool,
}

/// An `R x S` tile of the product from entry `(i, j)` on, the lanes of `m` from `slot` on.
///
/// # Safety
/// The matrices may be read, `c` is exclusively borrowed; tile and lanes end inside; the CPU has the instructions of `M`.
#[inline(always)]
pub(super) unsafe fn tile<F: Base, M: Simd<F>, const R: usize, const S: usize>(
    m: M,
    p: &Product<F>,
    (i, j): (usize, usize),
    slot: usize,
) {
    // SAFETY: by the contract.
    unsafe {
        let zero = m.splat(F::zero());
        let mut sums = [[zero; S]; R];
        // There may be no entry.
        let mut a = p.a.start.wrapping_add(i * p.a.down);
        let mut b = p.b.start.wrapping_add(j * p.b.right);
        for _ in 0..p.a.cols {
            let value: [M::V; S] = from_fn(|s| m.splat(b.add(s * p.b.right).read()));
            let tangent: [M::V; S] = from_fn(|s| m.load(b.add(s * p.b.right + slot)));
            for r in 0..R {
                let row = a.add(r * p.a.down);
                let (x, dx) = (m.splat(row.read()), m.load(row.add(slot)));
                for s in 0..S {
                    sums[r][s] = m.plus(sums[r][s], x, tangent[s]);
                    sums[r][s] = m.plus(sums[r][s], value[s], dx);
                }
            }
            // Behind the last one these lie outside.
            (a, b) = (a.wrapping_add(p.a.right), b.wrapping_add(p.b.down));
        }
        for r in 0..R {
            for s in 0..S {
                let place = p.c.place(i + r, j + s).add(slot);
                let mut sum = m.times(sums[r][s], m.splat(p.alpha));
                if let Some(beta) = p.beta {
                    sum = m.plus(sum, m.splat(beta), m.load(place));
                }
                m.store(place, sum);
            }
        }
    }
}

/// The values of such a tile, `C ← α A B + β C`, by the operations of [`level3`](super::level3): the same bits.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
pub(super) unsafe fn values<F: Base, M: Simd<F, V = [F; 1]>, const R: usize, const S: usize>(
    one: M,
    p: &Product<F>,
    (i, j): (usize, usize),
) {
    // SAFETY: by the contract.
    unsafe {
        let mut sums = [[[F::zero()]; S]; R];
        // There may be no entry.
        let mut a = p.a.start.wrapping_add(i * p.a.down);
        let mut b = p.b.start.wrapping_add(j * p.b.right);
        for _ in 0..p.a.cols {
            let value: [F; S] = from_fn(|s| b.add(s * p.b.right).read());
            for r in 0..R {
                let x = a.add(r * p.a.down).read();
                for s in 0..S {
                    sums[r][s] = one.plus(sums[r][s], [value[s]], [x]);
                }
            }
            (a, b) = (a.wrapping_add(p.a.right), b.wrapping_add(p.b.down));
        }
        for r in 0..R {
            for s in 0..S {
                let place = p.c.place(i + r, j + s);
                let y = match p.beta {
                    None => F::zero(),
                    Some(beta) if beta == F::one() => place.read(),
                    Some(beta) => place.read() * beta,
                };
                place.write(one.plus([y], [p.alpha], sums[r][s])[0]);
            }
        }
    }
}

/// Calls `$tile` for tiles of four, two and one rows from `$i` to `$rows`, of `P` rows where these are fewer.
macro_rules! tiles {
    ($P:ident, $i:ident to $rows:expr, |$R:ident| $tile:expr) => {{
        let mut $i = 0;
        while $i < $rows {
            match $rows - $i {
                4.. if $P >= 4 => {
                    const $R: usize = 4;
                    $tile;
                    $i += $R;
                }
                2.. => {
                    const $R: usize = 2;
                    $tile;
                    $i += $R;
                }
                _ => {
                    const $R: usize = 1;
                    $tile;
                    $i += $R;
                }
            }
        }
    }};
}

pub(super) use tiles;

/// A job in tiles of `P` rows and columns at most.
struct Tiled<'a, T, const P: usize>(&'a T);

impl<F: Base, const P: usize> Job<F> for Tiled<'_, Product<F>, P> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        let (p, slot) = (self.0, 1 + lane);
        let (rows, columns) = (p.c.rows, p.c.cols);
        // SAFETY: the tiles end inside.
        unsafe {
            tiles!(P, j to columns, |S| tiles!(P, i to rows, |R| tile::<F, M, R, S>(m, p, (i, j), slot)));
        }
    }
}

/// # Safety
/// The matrices fit each other and have the lanes; they may be read, and `c` is exclusively borrowed; the CPU is that of
/// `C`.
#[inline(always)]
unsafe fn product_body<F: Base, C: Machine<F>, const P: usize>(p: &Product<F>) {
    let (rows, columns) = (p.c.rows, p.c.cols);
    if p.values && p.lanes == 1 && p.a.down == 2 && p.c.down == 2 {
        // SAFETY: the contract, and one lane in entries that follow each other.
        return unsafe { packed::product::<F, C, P>(p) };
    }
    // SAFETY: the contract; the tiles end inside.
    unsafe {
        C::each(p.lanes, &Tiled::<_, P>(p));
        if p.values {
            let one = C::ONE;
            tiles!(P, j to columns, |S| tiles!(P, i to rows, |R| values::<F, C::One, R, S>(one, p, (i, j))));
        }
    }
}

machines! {
    unsafe fn run_product<F>(p: &Product<F>) => product_body
}

/// `dC ← α (op(A) dB + dA op(B)) + β dC`, where `ta` and `tb` say which operands are transposed and `β = None` does not
/// read `C`; the values too if `values`. `false`, and nothing done, unless all entries are values with first-order
/// tangents.
pub(crate) fn product<F: Base>(
    (a, ta): (InterleavedRef<'_, F>, bool),
    (b, tb): (InterleavedRef<'_, F>, bool),
    c: Interleaved<'_, F>,
    (alpha, beta): (F, Option<F>),
    values: bool,
) -> bool {
    let Some(p) = Product::new((a, ta), (b, tb), c, (alpha, beta), values) else { return false };
    // SAFETY: the operands are borrowed matrices of one scalar type, `c` exclusively; the shapes have been checked. A
    // float is one of the two.
    unsafe {
        match p.cast::<f64>() {
            Some(p) => run_product(&p),
            None => run_product(&p.cast::<f32>().expect("a float is f32 or f64")),
        }
    }
    true
}

/// [`product`] of matrices that [`is_tiny`], values and all; the lanes are NaN where a value is not finite.
#[inline(never)]
pub(crate) fn tiny_product<F: Base>(
    a: (InterleavedRef<'_, F>, bool),
    b: (InterleavedRef<'_, F>, bool),
    c: Interleaved<'_, F>,
    factors: (F, Option<F>),
) -> bool {
    let (entries, lanes) = (c.entries, c.lanes);
    let done = product(a, b, c, factors, true);
    if done {
        // SAFETY: the matrix is exclusively borrowed, and has these lanes: it is of first order.
        unsafe { entries.poison_overflow(lanes) };
    }
    done
}

impl<F: Base> Product<F> {
    /// See [`product`]; `None` unless all entries are values with first-order tangents.
    #[inline(always)]
    pub(super) fn new(
        (a, ta): (InterleavedRef<'_, F>, bool),
        (b, tb): (InterleavedRef<'_, F>, bool),
        c: Interleaved<'_, F>,
        (alpha, beta): (F, Option<F>),
        values: bool,
    ) -> Option<Self> {
        if a.order != Order::First || b.order != Order::First || c.order != Order::First {
            return None;
        }
        let (lanes, shared) = (c.lanes, (a.lanes, b.lanes));
        let turned = |x: Entries<F>, trans| if trans { x.transposed() } else { x };
        let (a, b, c) = (turned(a.entries, ta), turned(b.entries, tb), c.entries);
        assert!(a.rows == c.rows && b.cols == c.cols && a.cols == b.rows && shared == (lanes, lanes));
        Some(Product { a, b, c, lanes, alpha, beta, values })
    }

    #[inline(always)]
    pub(super) fn cast<G: Base>(&self) -> Option<Product<G>> {
        let (a, b, c) = (self.a.cast()?, self.b.cast()?, self.c.cast()?);
        let beta = match self.beta {
            Some(beta) => Some(same_float(beta)?),
            None => None,
        };
        Some(Product {
            a,
            b,
            c,
            alpha: same_float(self.alpha)?,
            beta,
            lanes: self.lanes,
            values: self.values,
        })
    }
}

#[inline(always)]
fn same_float<F: Base, G: Base>(x: F) -> Option<G> {
    (&x as &dyn Any).downcast_ref::<G>().copied()
}

/// A lower triangle `T` and right-hand sides: `dX = T⁻¹ (dB − dT X)`, where the values of `x` are `X` already, or become
/// that first if `values`, and its lanes come in as those of the right-hand sides. An upper triangle comes in from its end, with negative strides.
#[derive(Clone, Copy)]
pub(super) struct Solve<F> {
    t: Signed<F>,
    pub(super) x: Signed<F>,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) lanes: usize,
    unit: bool,
    values: bool,
    /// The reciprocals of the diagonal, unless that is taken as one; NaN where divisions stay divisions.
    pub(super) inverses: *const F,
}

/// Where the entries of a matrix are, whose strides may be negative.
#[derive(Clone, Copy)]
pub(super) struct Signed<F> {
    start: *mut F,
    down: isize,
    right: isize,
}

impl<F: 'static> Signed<F> {
    /// The rows, and the columns too if `both`, in reverse order if `reversed`.
    #[inline(always)]
    fn new(a: Entries<F>, reversed: bool, both: bool) -> Self {
        let (down, right) = (a.down as isize, a.right as isize);
        if !reversed || a.rows == 0 || (both && a.cols == 0) {
            return Signed { start: a.start, down, right };
        }
        let end = (a.rows - 1) * a.down + if both { (a.cols - 1) * a.right } else { 0 };
        // The last entry, or the last of the first column: inside.
        Signed { start: a.start.wrapping_add(end), down: -down, right: if both { -right } else { right } }
    }

    #[inline(always)]
    fn cast<G: 'static>(self) -> Option<Signed<G>> {
        let Signed { start, down, right } = self;
        (TypeId::of::<F>() == TypeId::of::<G>()).then(|| Signed { start: start.cast(), down, right })
    }

    /// # Safety
    /// Entry `(i, j)` lies in the matrix.
    #[inline(always)]
    pub(super) unsafe fn place(&self, i: usize, j: usize) -> *mut F {
        // SAFETY: the contract.
        unsafe { self.start.offset(i as isize * self.down + j as isize * self.right) }
    }
}

/// `R` rows from `i` on of `S` right-hand sides from `j` on, the lanes of `m` from `slot` on, where the rows before are
/// done.
///
/// # Safety
/// The triangle may be read, `x` is exclusively borrowed; rows, columns and lanes end inside; the CPU has the
/// instructions of `M`.
#[inline(always)]
pub(super) unsafe fn unknowns<F: Base, M: Simd<F>, const R: usize, const S: usize>(
    m: M,
    p: &Solve<F>,
    (i, j): (usize, usize),
    slot: usize,
) {
    // SAFETY: by the contract; of `t` the triangle is read.
    unsafe {
        let mut x = [[m.splat(F::zero()); S]; R];
        for r in 0..R {
            for s in 0..S {
                x[r][s] = m.load(p.x.place(i + r, j + s).add(slot));
            }
        }
        for k in 0..i {
            let value: [M::V; S] = from_fn(|s| m.splat(p.x.place(k, j + s).read()));
            let tangent: [M::V; S] = from_fn(|s| m.load(p.x.place(k, j + s).add(slot)));
            for r in 0..R {
                let row = p.t.place(i + r, k);
                let (t, dt) = (m.splat(row.read()), m.load(row.add(slot)));
                for s in 0..S {
                    x[r][s] = m.minus(x[r][s], t, tangent[s]);
                    x[r][s] = m.minus(x[r][s], value[s], dt);
                }
            }
        }
        unknown::<F, M, R, S, 0>(m, p, (i, j), slot, &mut x);
        unknown::<F, M, R, S, 1>(m, p, (i, j), slot, &mut x);
        unknown::<F, M, R, S, 2>(m, p, (i, j), slot, &mut x);
        unknown::<F, M, R, S, 3>(m, p, (i, j), slot, &mut x);
    }
}

/// Row `K` of a tile, and its part in the rows after it.
///
/// # Safety
/// As for [`unknowns`].
#[inline(always)]
unsafe fn unknown<F: Base, M: Simd<F>, const R: usize, const S: usize, const K: usize>(
    m: M,
    p: &Solve<F>,
    (i, j): (usize, usize),
    slot: usize,
    x: &mut [[M::V; S]; R],
) {
    if K >= R {
        return;
    }
    // SAFETY: by the contract.
    unsafe {
        let value: [M::V; S] = from_fn(|s| m.splat(p.x.place(i + K, j + s).read()));
        if !p.unit {
            let place = p.t.place(i + K, i + K);
            let (t, dt) = (place.read(), m.load(place.add(slot)));
            for s in 0..S {
                x[K][s] = m.minus(x[K][s], value[s], dt);
            }
            let inverse = p.inverses.add(i + K).read();
            if inverse.is_nan() {
                (0..S).for_each(|s| x[K][s] = m.over(x[K][s], m.splat(t)));
            } else {
                (0..S).for_each(|s| x[K][s] = m.times(x[K][s], m.splat(inverse)));
            }
        }
        for s in 0..S {
            m.store(p.x.place(i + K, j + s).add(slot), x[K][s]);
        }
        for r in K + 1..R {
            let row = p.t.place(i + r, i + K);
            let (t, dt) = (m.splat(row.read()), m.load(row.add(slot)));
            for s in 0..S {
                x[r][s] = m.minus(x[r][s], t, x[K][s]);
                x[r][s] = m.minus(x[r][s], value[s], dt);
            }
        }
    }
}

/// The values of `R` unknowns of `S` right-hand sides, by the operations of [`level3`](super::level3): the same bits.
///
/// # Safety
/// As for [`unknowns`].
#[inline(always)]
pub(super) unsafe fn value_unknowns<F: Base, M: Simd<F, V = [F; 1]>, const R: usize, const S: usize>(
    one: M,
    p: &Solve<F>,
    (i, j): (usize, usize),
) {
    // SAFETY: by the contract; of `t` the triangle is read.
    unsafe {
        let mut x: [[F; S]; R] = from_fn(|r| from_fn(|s| p.x.place(i + r, j + s).read()));
        for k in 0..i {
            let known: [F; S] = from_fn(|s| p.x.place(k, j + s).read());
            for r in 0..R {
                let t = p.t.place(i + r, k).read();
                for s in 0..S {
                    x[r][s] = one.minus([x[r][s]], [t], [known[s]])[0];
                }
            }
        }
        for k in 0..R {
            if !p.unit {
                let inverse = p.inverses.add(i + k).read();
                if inverse.is_nan() {
                    let t = p.t.place(i + k, i + k).read();
                    x[k].iter_mut().for_each(|x| *x /= t);
                } else {
                    x[k].iter_mut().for_each(|x| *x *= inverse);
                }
            }
            for s in 0..S {
                p.x.place(i + k, j + s).write(x[k][s]);
            }
            for r in k + 1..R {
                let t = p.t.place(i + r, i + k).read();
                for s in 0..S {
                    x[r][s] = one.minus([x[r][s]], [t], [x[k][s]])[0];
                }
            }
        }
    }
}

impl<F: Base, const P: usize> Job<F> for Tiled<'_, Solve<F>, P> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        let (p, slot) = (self.0, 1 + lane);
        let (rows, columns) = (p.rows, p.columns);
        // SAFETY: the tiles end inside; those of a column come from the first row on.
        unsafe {
            tiles!(P, j to columns, |S| tiles!(P, i to rows, |R| unknowns::<F, M, R, S>(m, p, (i, j), slot)));
        }
    }
}

/// The reciprocals of the diagonal, in `room`.
///
/// # Safety
/// The triangle may be read and is not larger than the room.
#[inline(always)]
pub(super) unsafe fn invert<F: Base, const N: usize>(p: &mut Solve<F>, room: &mut [MaybeUninit<F>; N]) {
    if !p.unit {
        for i in 0..p.rows {
            // SAFETY: the diagonal belongs to the triangle, and is no longer than the room.
            unsafe {
                let inverse = reciprocal(p.t.place(i, i).read());
                let inverse = inverse.unwrap_or(nalgebra::convert(f64::NAN));
                room.get_unchecked_mut(i).write(inverse);
            }
        }
    }
    p.inverses = room.as_ptr().cast();
}

/// # Safety
/// The matrices fit each other and have the lanes; the triangle may be read, and `x` is exclusively borrowed; the CPU is
/// that of `C`.
#[inline(always)]
unsafe fn solve_body<F: Base, C: Machine<F>, const P: usize>(p: &Solve<F>) {
    let (rows, columns) = (p.rows, p.columns);
    let mut room = [const { MaybeUninit::uninit() }; LIMIT];
    let mut p = *p;
    // SAFETY: the contract; `Solve::new` compared the sizes.
    unsafe { invert(&mut p, &mut room) };
    let p = &p;
    // SAFETY: the contract; the tiles end inside, and come in order.
    unsafe {
        if p.values {
            let one = C::ONE;
            tiles!(P, j to columns, |S| tiles!(P, i to rows, |R| value_unknowns::<F, C::One, R, S>(one, p, (i, j))));
        }
        C::each(p.lanes, &Tiled::<_, P>(p));
    }
}

machines! {
    unsafe fn run_solve<F>(p: &Solve<F>) => solve_body
}

/// The lanes of `x`, those of the right-hand sides, become those of the solution of `T X = B`, or of `X T = B` if
/// `right`, where `T` is the lower or upper triangle of `a` or of its transpose, and the values of `x` are the solution
/// already; or become it if `values`, for which `T` must be lower triangular on the left or upper triangular on the right.
/// `false`, and nothing done, unless all entries are values with first-order tangents.
pub(crate) fn solve<F: Base>(
    right: bool,
    lower: bool,
    (a, transposed): (InterleavedRef<'_, F>, bool),
    unit: bool,
    x: Interleaved<'_, F>,
    values: bool,
) -> bool {
    let Some(p) = Solve::new(right, lower, (a, transposed), unit, x, values) else { return false };
    // SAFETY: both are borrowed matrices of one scalar type, `x` exclusively; the shapes have been checked. A float is
    // one of the two.
    unsafe {
        match p.cast::<f64>() {
            Some(p) => run_solve(&p),
            None => run_solve(&p.cast::<f32>().expect("a float is f32 or f64")),
        }
    }
    true
}

/// [`solve`] of a problem that [`is_tiny`], values and all; the lanes are NaN where a value is not finite.
#[inline(never)]
pub(crate) fn tiny_solve<F: Base>(
    right: bool,
    lower: bool,
    a: (InterleavedRef<'_, F>, bool),
    unit: bool,
    x: Interleaved<'_, F>,
) -> bool {
    let (entries, lanes) = (x.entries, x.lanes);
    let done = solve(right, lower, a, unit, x, true);
    if done {
        // SAFETY: as in `tiny_product`.
        unsafe { entries.poison_overflow(lanes) };
    }
    done
}

impl<F: Base> Solve<F> {
    /// See [`solve`]; `None` unless all entries are values with first-order tangents.
    #[inline(always)]
    pub(super) fn new(
        right: bool,
        lower: bool,
        (a, transposed): (InterleavedRef<'_, F>, bool),
        unit: bool,
        x: Interleaved<'_, F>,
        values: bool,
    ) -> Option<Self> {
        if a.order != Order::First || x.order != Order::First {
            return None;
        }
        assert!(a.lanes == x.lanes);
        let (mut t, mut own) = (a.entries, x.entries);
        // X T = B is Tᵀ Xᵀ = Bᵀ.
        if transposed != right {
            t = t.transposed();
        }
        if right {
            own = own.transposed();
        }
        let lower = lower != (transposed != right);
        assert!(t.rows == t.cols && t.rows == own.rows && t.rows <= LIMIT && (lower || !values));
        let (rows, columns) = (own.rows, own.cols);
        let (t, own) = (Signed::new(t, !lower, true), Signed::new(own, !lower, false));
        let inverses = std::ptr::null();
        Some(Solve { t, x: own, rows, columns, lanes: x.lanes, unit, values, inverses })
    }

    #[inline(always)]
    pub(super) fn cast<G: Base>(self) -> Option<Solve<G>> {
        let Solve { t, x, rows, columns, lanes, unit, values, inverses } = self;
        let inverses = inverses.cast();
        Some(Solve { t: t.cast()?, x: x.cast()?, rows, columns, lanes, unit, values, inverses })
    }
}
