//! Scaling and squaring of small matrices: once for the values, then for groups of lanes. See `function/expm.rs` for the
//! formulas; the names are the same.

use std::mem::MaybeUninit;

use dualpack_core::Base;
use nalgebra::{ComplexField, convert, try_convert};
use num_traits::{One, Zero};

use super::MAX;
use super::level::Level;
use super::product::{Factors, Kind, Of, Order, Product, combine};
use super::vector::Vector;
use crate::function::degree::{Norms, QUICK_DOUBLE, QUICK_SINGLE, Quick, power_of_two, search};
use crate::function::pade::{C3, C5, C7, C9, C13};

/// The largest number of squarings.
pub(super) const SQUARINGS: usize = 8;

/// What the values have decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub degree: usize,
    pub squarings: usize,
}

/// The planes of the values, n rows of `ld` floats each: what the lanes need of the approximant, and at `squares` one
/// after the other, unless null, the approximant and its squares but for the last one, which is `r`. At first `a` is the matrix.
#[derive(Clone, Copy)]
pub(super) struct Planes<F> {
    pub ld: usize,
    /// Registers of a row.
    pub row: usize,
    pub a: *mut F,
    pub a2: *mut F,
    pub a4: *mut F,
    pub a6: *mut F,
    pub spare: *mut F,
    pub w: *mut F,
    pub w1: *mut F,
    pub z1: *mut F,
    pub y: *mut F,
    pub l: *mut F,
    pub u: *mut F,
    pub r: *mut F,
    pub squares: *mut F,
    pub inverses: *mut F,
    pub swaps: *mut u32,
}

/// How many planes there are besides those of the squares.
pub(super) const PLANES: usize = 12;

impl<F: Base> Planes<F> {
    #[inline(always)]
    fn factors(&self) -> Factors<F> {
        Factors { l: self.l, u: self.u, inverses: self.inverses, swaps: self.swaps }
    }
}

/// What a group of lanes needs: n rows of registers each. `e` holds the directions, and the derivatives in the end.
#[derive(Clone, Copy)]
pub(super) struct Work<V> {
    /// Registers of a row.
    pub columns: usize,
    pub e: *mut V,
    pub m2: *mut V,
    pub m4: *mut V,
    pub m6: *mut V,
    pub t: *mut V,
    pub dw: *mut V,
    pub dv: *mut V,
}

/// # Safety
/// As for [`product`](super::product::product), and the CPU has the instructions of the level.
#[inline(always)]
unsafe fn multiply<L: Level, O: Order, K: Kind, const LEFT: bool, const RIGHT: bool>(p: &Product<K>) {
    // SAFETY: the contract.
    unsafe {
        if O::TINY {
            O::product::<K, LEFT, RIGHT>(p);
        } else {
            L::product::<K, LEFT, RIGHT>(p);
        }
    }
}

#[inline(always)]
fn double<F: Base>(x: F) -> f64 {
    try_convert(x).unwrap_or(f64::NAN)
}

/// The sums of the moduli in the columns of a plane; `n` of them count.
///
/// # Safety
/// The plane has n rows of `row` registers, which are `ld` floats, with `ld <= MAX`; it may be read.
#[inline(always)]
unsafe fn column_sums<V: Vector, O: Order>(
    n: O,
    (ld, row): (usize, usize),
    a: *const V::Float,
) -> [MaybeUninit<V::Float>; MAX] {
    let mut sums = [MaybeUninit::uninit(); MAX];
    for j in (0..row).map(|j| j * V::WIDTH) {
        // SAFETY: the contract.
        unsafe {
            let mut sum = V::load(a.add(j)).abs();
            for i in 1..n.get() {
                sum = sum.add(V::load(a.add(i * ld + j)).abs());
            }
            sum.store(sums.as_mut_ptr().add(j).cast());
        }
    }
    sums
}

/// The 1-norm of a plane; NaN or infinity if it has one.
///
/// # Safety
/// As for [`column_sums`].
#[inline(always)]
unsafe fn norm<V: Vector, O: Order>(n: O, shape: (usize, usize), a: *const V::Float) -> f64 {
    // SAFETY: the contract; n sums have been stored.
    unsafe {
        let sums = column_sums::<V, O>(n, shape, a);
        let mut norm = V::Float::zero();
        for j in 0..n.get() {
            let sum = sums[j].assume_init();
            // A NaN replaces what is there, and stays.
            norm = if sum <= norm { norm } else { sum };
        }
        double(norm)
    }
}

/// What the entries themselves say: the norm, and the norm of `|A|²` where that may matter; nothing for a matrix that is
/// not for this kernel, because it is not finite, triangular, or to be balanced.
///
/// # Safety
/// As for [`column_sums`].
#[inline(always)]
unsafe fn inspect<V: Vector, O: Order>(
    n: O,
    shape: (usize, usize),
    a: *const V::Float,
    quick: &Quick,
) -> Option<(f64, f64)> {
    let ld = shape.0;
    // SAFETY: the contract.
    let columns = unsafe { column_sums::<V, O>(n, shape, a) };
    let n = n.get();
    // SAFETY: n sums have been stored.
    let column = |j: usize| unsafe { columns[j].assume_init() };
    // SAFETY: the contract.
    let entry = |i: usize, j: usize| unsafe { a.add(i * ld + j).read() };
    let (mut total, mut norm) = (V::Float::zero(), V::Float::zero());
    for j in 0..n {
        total += column(j);
        norm = if column(j) > norm { column(j) } else { norm };
    }
    let limit = if size_of::<V::Float>() == 4 { 65536.0 } else { 1.8e19 };
    if double(total) > limit || double(total).is_nan() {
        return None;
    }
    if entry(0, n - 1).is_zero() || entry(n - 1, 0).is_zero() {
        let below = (0..n).any(|i| (0..i).any(|j| !entry(i, j).is_zero()));
        let above = (0..n).any(|j| (0..j).any(|i| !entry(i, j).is_zero()));
        if !(below && above) {
            return None;
        }
    }
    let norm = double(norm);
    if quick.degree(norm).is_some() {
        return Some((norm, 0.0));
    }
    // Balancing, by powers of two, leaves alone what has rows and columns of about the same size.
    let mut absolute = V::Float::zero();
    let four = convert::<f64, V::Float>(4.0);
    for k in 0..n {
        let (mut across, mut down, mut sum) = (V::Float::zero(), V::Float::zero(), V::Float::zero());
        for i in 0..n {
            let (x, y) = (entry(k, i), ComplexField::abs(entry(i, k)));
            across += x * x;
            down += y * y;
            sum += column(i) * y;
        }
        if !(across < four * down && down < four * across) {
            return None;
        }
        absolute = if sum > absolute { sum } else { absolute };
    }
    Some((norm, double(absolute)))
}

/// `X Y`, or `Z + X Y` if `ONTO`, of planes, into `z`.
///
/// # Safety
/// As for [`values`]; `z` is neither `x` nor `y`.
#[inline(always)]
unsafe fn times<L: Level, O: Order, K: Kind, const ONTO: bool>(
    n: O,
    (ld, row): (usize, usize),
    x: *mut Of<K>,
    y: *mut Of<K>,
    z: *mut Of<K>,
) {
    let (e, c) = (y.cast(), z.cast());
    let p = Product { n: n.get(), ld, columns: row, a: x, e, f: e, b: x, c, onto: ONTO };
    // SAFETY: the contract.
    unsafe { multiply::<L, O, K, true, false>(&p) }
}

/// From the matrix in `p.a` to its exponential in `p.r`; nothing if the matrix is not for this kernel.
///
/// # Safety
/// The planes are exclusively borrowed, of the order n with rows as `K` has them, and `a` is filled up with zeros;
/// `n <= MAX`.
#[inline(always)]
pub(super) unsafe fn values<L, O, K>(n: O, p: &Planes<Of<K>>) -> Option<Choice>
where
    L: Level,
    O: Order,
    K: Kind<V: Vector<Float = L::Float>>,
{
    let quick = if size_of::<Of<K>>() == 4 { &QUICK_SINGLE } else { &QUICK_DOUBLE };
    let (ld, shape) = (p.ld, (p.ld, p.row));
    let len = n.get() * p.row;
    let register = |x: *mut Of<K>| x.cast::<K::V>();
    // SAFETY: all planes have n rows of `columns` registers, which are `ld` floats.
    unsafe {
        let (size, absolute) = inspect::<K::V, O>(n, shape, p.a, quick)?;
        times::<L, O, K, false>(n, shape, p.a, p.a, p.a2);
        let by_norm = quick.degree(size);
        if by_norm.is_none_or(|degree| degree >= 5) {
            times::<L, O, K, false>(n, shape, p.a2, p.a2, p.a4);
        }
        if by_norm.is_none_or(|degree| degree >= 7) {
            times::<L, O, K, false>(n, shape, p.a2, p.a4, p.a6);
        }
        let (degree, squarings) = match by_norm {
            Some(degree) => (degree, 0),
            None => {
                times::<L, O, K, false>(n, shape, p.a4, p.a4, p.spare);
                times::<L, O, K, false>(n, shape, p.a4, p.a6, p.y);
                let powers = [
                    size,
                    norm::<K::V, O>(n, shape, p.a2),
                    norm::<K::V, O>(n, shape, p.a4),
                    norm::<K::V, O>(n, shape, p.a6),
                    norm::<K::V, O>(n, shape, p.spare),
                    norm::<K::V, O>(n, shape, p.y),
                ];
                let norms = Norms { powers, absolute };
                match quick.degree_and_squarings(&norms) {
                    Some(choice) => choice,
                    None => {
                        let modulus =
                            |i: usize, j: usize| double(ComplexField::abs(p.a.add(i * ld + j).read()));
                        search(size_of::<Of<K>>() == 4, &norms, n.get(), &modulus)
                    }
                }
            }
        };
        if squarings > SQUARINGS {
            return None;
        }
        if squarings > 0 {
            for (x, power) in [(p.a, 1), (p.a2, 2), (p.a4, 4), (p.a6, 6)] {
                let factor = convert::<f64, Of<K>>(power_of_two(-((power * squarings) as i32)));
                combine(len, register(x), [(factor, register(x))]);
            }
        }
        let (a2, a4, a6, a8) = (register(p.a2), register(p.a4), register(p.a6), register(p.spare));
        let (w, v) = (register(p.w), register(p.u));
        macro_rules! both {
            ($c:ident, $($odd:literal $even:literal $x:ident),+) => {
                combine(len, w, [$((convert($c[$odd]), $x.cast_const())),+]);
                combine(len, v, [$((convert($c[$even]), $x.cast_const())),+]);
            };
        }
        match degree {
            3 => {
                both!(C3, 3 2 a2);
            }
            5 => {
                both!(C5, 5 4 a4, 3 2 a2);
            }
            7 => {
                both!(C7, 7 6 a6, 5 4 a4, 3 2 a2);
            }
            9 => {
                times::<L, O, K, false>(n, shape, p.a4, p.a4, p.spare);
                both!(C9, 9 8 a8, 7 6 a6, 5 4 a4, 3 2 a2);
            }
            _ => {
                let (w1, z1) = (register(p.w1), register(p.z1));
                combine(len, w1, [(convert(C13[13]), a6), (convert(C13[11]), a4), (convert(C13[9]), a2)]);
                combine(len, z1, [(convert(C13[12]), a6), (convert(C13[10]), a4), (convert(C13[8]), a2)]);
                both!(C13, 7 6 a6, 5 4 a4, 3 2 a2);
                times::<L, O, K, true>(n, shape, p.a6, p.w1, p.w);
                times::<L, O, K, true>(n, shape, p.a6, p.z1, p.u);
            }
        }
        add_to_diagonal(n, ld, p.w, convert(0.5));
        add_to_diagonal(n, ld, p.u, convert(1.0));
        // U into the spare plane, V − U into what becomes the triangle of the same letter.
        times::<L, O, K, false>(n, shape, p.a, p.w, p.spare);
        let u = register(p.spare);
        for at in 0..len {
            v.add(at).write(v.add(at).read().sub(u.add(at).read()));
        }
        if !factor::<L::One, K::V, O>(n, p) {
            return None;
        }
        n.solve(&p.factors(), shape, u, register(p.y));
        let (y, r) = (register(p.y), register(p.r));
        for at in 0..len {
            r.add(at).write(y.add(at).read().add(y.add(at).read()));
        }
        add_to_diagonal(n, ld, p.r, convert(1.0));
        let square = register(p.squares);
        for k in 0..squarings {
            for at in 0..if p.squares.is_null() { 0 } else { len } {
                square.add(k * len + at).write(r.add(at).read());
            }
            times::<L, O, K, false>(n, shape, p.r, p.r, p.spare);
            for at in 0..len {
                r.add(at).write(u.add(at).read());
            }
        }
        // An overflow is still there in the last square.
        if squarings > 0 && !norm::<K::V, O>(n, shape, p.r).is_finite() {
            return None;
        }
        Some(Choice { degree, squarings })
    }
}

/// # Safety
/// As for [`norm`], and the plane may be written.
#[inline(always)]
unsafe fn add_to_diagonal<F: Base, O: Order>(n: O, ld: usize, x: *mut F, c: F) {
    for i in 0..n.get() {
        // SAFETY: the contract.
        unsafe { *x.add(i * ld + i) += c };
    }
}

/// `P Q = L U` of the plane `Q` in `p.u`, whose entries below the diagonal may be left with anything; `false` for a pivot
/// whose reciprocal might not be a number.
///
/// # Safety
/// As for [`values`]; `One` is a register of one float, and the rows consist of registers of type `V`.
#[inline(always)]
unsafe fn factor<One, V, O>(n: O, p: &Planes<V::Float>) -> bool
where
    One: Vector<Float = V::Float>,
    V: Vector,
    O: Order,
{
    let ld = p.ld;
    let range = convert::<f64, V::Float>(if size_of::<V::Float>() == 4 { 1e15 } else { 1e150 });
    // SAFETY: all indices are below n; registers begin at multiples of their width and end inside the row.
    unsafe {
        let modulus = |i: usize, k: usize| ComplexField::abs(p.u.add(i * ld + k).read());
        let swap = |i: usize, k: usize| {
            for j in 0..n.get() {
                let plane = if j < k { p.l } else { p.u };
                let (x, y) = (plane.add(i * ld + j).read(), plane.add(k * ld + j).read());
                plane.add(i * ld + j).write(y);
                plane.add(k * ld + j).write(x);
            }
        };
        let mut regular = true;
        for k in 0..n.get() {
            // Of an order known to the compiler the loops have known lengths and indices: rows with a larger entry are
            // swapped with row k at once.
            let mut swapped = 0;
            if O::TINY {
                for i in 0..n.get() {
                    if i > k && modulus(i, k) > modulus(k, k) {
                        swapped |= 1 << i;
                        swap(i, k);
                    }
                }
            } else {
                let mut largest = k;
                for i in k + 1..n.get() {
                    if modulus(i, k) > modulus(largest, k) {
                        largest = i;
                    }
                }
                if largest != k {
                    swap(largest, k);
                }
                swapped = largest as u32;
            }
            p.swaps.add(k).write(swapped);
            let pivot = p.u.add(k * ld + k).read();
            let size = ComplexField::abs(pivot);
            regular &= size < range && size * range > V::Float::one();
            let inverse = V::Float::one() / pivot;
            p.inverses.add(k).write(inverse);
            for i in (if O::TINY { 0 } else { k + 1 })..n.get() {
                if i <= k {
                    continue;
                }
                let l = p.u.add(i * ld + k).read() * inverse;
                p.l.add(i * ld + k).write(l);
                if O::TINY {
                    for j in 0..n.get() {
                        if j > k {
                            let x = p.u.add(i * ld + j);
                            let y = One::load(p.u.add(k * ld + j));
                            One::splat(l).subtract_from(y, One::load(x)).store(x);
                        }
                    }
                } else {
                    for j in (k + 1) / V::WIDTH..p.row {
                        let x = p.u.add(i * ld + j * V::WIDTH);
                        let y = V::load(p.u.add(k * ld + j * V::WIDTH));
                        V::splat(l).subtract_from(y, V::load(x)).store(x);
                    }
                }
            }
        }
        regular
    }
}

/// `A E + F B`, or `C + A E + F B` if `ONTO`, into `c`.
///
/// # Safety
/// As for [`lanes`]; `c` is none of the others.
#[inline(always)]
unsafe fn two_sided<L: Level, O: Order, K: Kind, const ONTO: bool>(
    n: O,
    (ld, columns): (usize, usize),
    (a, e): (*mut Of<K>, *mut K::V),
    (f, b): (*mut K::V, *mut Of<K>),
    c: *mut K::V,
) {
    let p = Product { n: n.get(), ld, columns, a, e, f, b, c, onto: ONTO };
    // SAFETY: the contract.
    unsafe { multiply::<L, O, K, true, true>(&p) }
}

/// The directions in `work.e` become the derivatives.
///
/// # Safety
/// The planes are those that [`values`] has filled; `work` is exclusively borrowed, n rows of registers each.
#[inline(always)]
pub(super) unsafe fn lanes<L: Level, O: Order, K: Kind>(
    n: O,
    p: &Planes<Of<K>>,
    choice: Choice,
    work: &Work<K::V>,
) {
    let Work { columns, e, m2, m4, m6, t, dw, dv } = *work;
    let shape = (p.ld, columns);
    let len = n.get() * columns;
    // SAFETY: the planes and the matrices of `work` have the sizes that the products ask for.
    unsafe {
        two_sided::<L, O, K, false>(n, shape, (p.a, e), (e, p.a), m2);
        if choice.degree >= 5 {
            two_sided::<L, O, K, false>(n, shape, (p.a2, m2), (m2, p.a2), m4);
        }
        if choice.degree >= 7 {
            two_sided::<L, O, K, false>(n, shape, (p.a4, m2), (m4, p.a2), m6);
        }
        macro_rules! both {
            ($c:ident, $($odd:literal $even:literal $x:ident),+) => {
                combine(len, dw, [$((convert($c[$odd]), $x.cast_const())),+]);
                combine(len, dv, [$((convert($c[$even]), $x.cast_const())),+]);
            };
        }
        match choice.degree {
            3 => {
                both!(C3, 3 2 m2);
            }
            5 => {
                both!(C5, 5 4 m4, 3 2 m2);
            }
            7 => {
                both!(C7, 7 6 m6, 5 4 m4, 3 2 m2);
            }
            9 => {
                two_sided::<L, O, K, false>(n, shape, (p.a4, m4), (m4, p.a4), t);
                both!(C9, 9 8 t, 7 6 m6, 5 4 m4, 3 2 m2);
            }
            _ => {
                both!(C13, 7 6 m6, 5 4 m4, 3 2 m2);
                combine(len, t, [(convert(C13[13]), m6), (convert(C13[11]), m4), (convert(C13[9]), m2)]);
                two_sided::<L, O, K, true>(n, shape, (p.a6, t), (m6, p.w1), dw);
                combine(len, t, [(convert(C13[12]), m6), (convert(C13[10]), m4), (convert(C13[8]), m2)]);
                two_sided::<L, O, K, true>(n, shape, (p.a6, t), (m6, p.z1), dv);
            }
        }
        // dU, dU − dV, and the right-hand side.
        two_sided::<L, O, K, false>(n, shape, (p.a, dw), (e, p.w), t);
        for at in 0..len {
            dv.add(at).write(t.add(at).read().sub(dv.add(at).read()));
        }
        let y = p.y;
        let last = Product { n: n.get(), ld: p.ld, columns, a: y, e: dv, f: dv, b: y, c: t, onto: true };
        multiply::<L, O, K, false, true>(&last);
        n.solve(&p.factors(), shape, t, m2);
        for at in 0..len {
            e.add(at).write(m2.add(at).read().add(m2.add(at).read()));
        }
        let half = convert::<f64, Of<K>>(0.5);
        for k in 0..choice.squarings {
            let r = p.squares.add(k * n.get() * p.ld);
            two_sided::<L, O, K, false>(n, shape, (r, e), (e, r), m2);
            combine(len, e, [(half, m2)]);
        }
    }
}
