//! Scaling and squaring of small matrices: once for the values, then for groups of lanes. See `function/expm.rs` for the
//! formulas; the names are the same.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use dualpack_core::Base;
use nalgebra::{ComplexField, convert, try_convert};

use super::MAX;
use super::product::{Factors, Kind, Multiplication, Product, Register, Row, Solution, combine};
use crate::function::degree::{Norms, QUICK_DOUBLE, QUICK_SINGLE, Quick, power_of_two, search};
use crate::function::pade::{C3, C5, C7, C9, C13};
use crate::kernel::simd::{Full, Machine, Simd, Task};

/// The largest number of squarings.
pub(super) const SQUARINGS: usize = 8;

/// What the values have decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub degree: usize,
    pub squarings: usize,
}

/// The planes of the values, n rows of `ld` floats each: what the lanes need of the approximant, and at `squares` one
/// after the other, unless null, half of the approximant and of its squares but for the last one, which is `r`. At first
/// `a` is the matrix.
#[derive(Clone, Copy)]
pub(super) struct Planes<F> {
    pub ld: usize,
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

#[inline(always)]
pub(super) fn double<F: Base>(x: F) -> f64 {
    try_convert(x).unwrap_or(f64::NAN)
}

/// The sums of the moduli in the columns of a plane.
///
/// # Safety
/// The plane has n rows of `ld` floats, which are full registers, with `ld <= MAX`; it may be read.
#[inline(always)]
unsafe fn column_sums<F: Base, S: Full<F>>(m: S, n: usize, ld: usize, a: *const F) -> [MaybeUninit<F>; MAX] {
    let mut sums = [MaybeUninit::uninit(); MAX];
    for j in (0..ld).step_by(S::WIDTH) {
        // SAFETY: the contract.
        unsafe {
            let mut sum = m.abs(m.load(a.add(j)));
            for i in 1..n {
                sum = m.add(sum, m.abs(m.load(a.add(i * ld + j))));
            }
            m.store(sums.as_mut_ptr().add(j).cast(), sum);
        }
    }
    sums
}

/// The largest of some sums of moduli; not a finite number if one of them is none.
#[inline(always)]
pub(super) fn largest<F: Base>(sums: impl Iterator<Item = F>) -> f64 {
    let (mut total, mut largest) = (F::zero(), F::zero());
    for sum in sums {
        total += sum;
        largest = if sum > largest { sum } else { largest };
    }
    // A comparison does not see NaN.
    let total = double(total);
    if total.is_finite() { double(largest) } else { total }
}

/// The 1-norm of a plane; not a finite number if an entry is none.
///
/// # Safety
/// As for [`column_sums`].
#[inline(always)]
unsafe fn norm<F: Base, S: Full<F>>(m: S, n: usize, ld: usize, a: *const F) -> f64 {
    // SAFETY: the contract; n sums have been stored.
    unsafe {
        let sums = column_sums(m, n, ld, a);
        largest((0..n).map(|j| sums[j].assume_init()))
    }
}

/// What the entries themselves say: the norm, and the norm of `|A|²` where that may matter; nothing for a matrix that is
/// not for this kernel, because it is not finite, triangular, or to be balanced.
///
/// # Safety
/// As for [`column_sums`].
#[inline(always)]
unsafe fn inspect<F: Base, S: Full<F>>(
    m: S,
    n: usize,
    ld: usize,
    a: *const F,
    quick: &Quick,
) -> Option<(f64, f64)> {
    // SAFETY: the contract.
    let columns = unsafe { column_sums(m, n, ld, a) };
    // SAFETY: n sums have been stored.
    let column = |j: usize| unsafe { columns[j].assume_init() };
    // SAFETY: the contract.
    let entry = |i: usize, j: usize| unsafe { a.add(i * ld + j).read() };
    let (mut total, mut norm) = (F::zero(), F::zero());
    for j in 0..n {
        total += column(j);
        norm = if column(j) > norm { column(j) } else { norm };
    }
    let limit = if size_of::<F>() == 4 { 65536.0 } else { 1.8e19 };
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
    let mut absolute = F::zero();
    let four = convert::<f64, F>(4.0);
    for k in 0..n {
        let (mut across, mut down, mut sum) = (F::zero(), F::zero(), F::zero());
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
/// As for [`Values`]; `z` is neither `x` nor `y`.
#[inline(always)]
unsafe fn times<F: Base, C: Machine<F>, const ONTO: bool>(
    n: usize,
    ld: usize,
    x: *mut F,
    y: *mut F,
    z: *mut F,
) {
    let (e, c, columns) = (y.cast(), z.cast(), ld / C::WIDEST);
    let p = Product::<Row<F, C::Wide>> { n, ld, columns, a: x, e, f: e, b: x, c, onto: ONTO };
    // SAFETY: the contract.
    unsafe { C::call(&Multiplication::<_, true, false>(&p)) }
}

/// From the matrix in `a` to its exponential in `r`; nothing if the matrix is not for this kernel.
pub(super) struct Values<'a, F, C> {
    pub n: usize,
    pub planes: &'a Planes<F>,
    pub machine: PhantomData<C>,
}

impl<F: Base, C: Machine<F>> Task for Values<'_, F, C> {
    type Output = Option<Choice>;

    /// # Safety
    /// The planes are exclusively borrowed, of the order n with rows of full registers, and `a` is filled up with zeros;
    /// `n <= MAX`.
    #[inline(always)]
    unsafe fn run(&self) -> Option<Choice> {
        // SAFETY: the contract.
        unsafe { values::<F, C>(self.n, self.planes) }
    }
}

/// # Safety
/// As for [`Values`].
#[inline(always)]
unsafe fn values<F: Base, C: Machine<F>>(n: usize, p: &Planes<F>) -> Option<Choice> {
    let quick = if size_of::<F>() == 4 { &QUICK_SINGLE } else { &QUICK_DOUBLE };
    let (m, ld) = (C::WIDE, p.ld);
    let columns = ld / C::WIDEST;
    let len = n * columns;
    let register = |x: *mut F| x.cast::<<C::Wide as Simd<F>>::V>();
    // SAFETY: all planes have n rows of `columns` registers, which are `ld` floats.
    unsafe {
        let (size, absolute) = inspect(m, n, ld, p.a, quick)?;
        times::<F, C, false>(n, ld, p.a, p.a, p.a2);
        let by_norm = quick.degree(size);
        if by_norm.is_none_or(|degree| degree >= 5) {
            times::<F, C, false>(n, ld, p.a2, p.a2, p.a4);
        }
        if by_norm.is_none_or(|degree| degree >= 7) {
            times::<F, C, false>(n, ld, p.a2, p.a4, p.a6);
        }
        let (degree, squarings) = match by_norm {
            Some(degree) => (degree, 0),
            None => {
                times::<F, C, false>(n, ld, p.a4, p.a4, p.spare);
                times::<F, C, false>(n, ld, p.a4, p.a6, p.y);
                let powers = [
                    size,
                    norm(m, n, ld, p.a2),
                    norm(m, n, ld, p.a4),
                    norm(m, n, ld, p.a6),
                    norm(m, n, ld, p.spare),
                    norm(m, n, ld, p.y),
                ];
                let norms = Norms { powers, absolute };
                match quick.degree_and_squarings(&norms) {
                    Some(choice) => choice,
                    None => {
                        let modulus =
                            |i: usize, j: usize| double(ComplexField::abs(p.a.add(i * ld + j).read()));
                        search(size_of::<F>() == 4, &norms, n, &modulus)
                    }
                }
            }
        };
        if squarings > SQUARINGS {
            return None;
        }
        if squarings > 0 {
            for (x, power) in [(p.a, 1), (p.a2, 2), (p.a4, 4), (p.a6, 6)] {
                let factor = convert::<f64, F>(power_of_two(-((power * squarings) as i32)));
                combine(m, len, [register(x)], [([factor], register(x))]);
            }
        }
        let (a2, a4, a6, a8) = (register(p.a2), register(p.a4), register(p.a6), register(p.spare));
        let (w, v) = (register(p.w), register(p.u));
        if degree == 9 {
            times::<F, C, false>(n, ld, p.a4, p.a4, p.spare);
        }
        sums(m, degree, len, [a2, a4, a6, a8], [w, v]);
        if degree == 13 {
            high_sums(m, len, [a2, a4, a6], [register(p.w1), register(p.z1)]);
            times::<F, C, true>(n, ld, p.a6, p.w1, p.w);
            times::<F, C, true>(n, ld, p.a6, p.z1, p.u);
        }
        add_to_diagonal(n, ld, p.w, convert(0.5));
        add_to_diagonal(n, ld, p.u, convert(1.0));
        // U into the spare plane, V − U into what becomes the triangle of the same letter.
        times::<F, C, false>(n, ld, p.a, p.w, p.spare);
        let u = register(p.spare);
        for at in 0..len {
            v.add(at).write(m.sub(v.add(at).read(), u.add(at).read()));
        }
        if !factor(m, n, p) {
            return None;
        }
        C::call(&Solution::<F, C::Wide> { n, factors: p.factors(), ld, columns, b: u, x: register(p.y) });
        let (y, r) = (register(p.y), register(p.r));
        for at in 0..len {
            r.add(at).write(m.add(y.add(at).read(), y.add(at).read()));
        }
        add_to_diagonal(n, ld, p.r, convert(1.0));
        let (mut r, mut next) = (p.r, p.spare);
        for k in 0..squarings {
            if !p.squares.is_null() {
                combine(m, len, [register(p.squares).add(k * len)], [([convert(0.5)], register(r))]);
            }
            times::<F, C, false>(n, ld, r, r, next);
            (r, next) = (next, r);
        }
        if r != p.r {
            std::ptr::copy_nonoverlapping(r, p.r, n * ld);
        }
        // An overflow is still there in the last square.
        if squarings > 0 && !norm(m, n, ld, p.r).is_finite() {
            return None;
        }
        Some(Choice { degree, squarings })
    }
}

/// # Safety
/// As for [`norm`], and the plane may be written.
#[inline(always)]
unsafe fn add_to_diagonal<F: Base>(n: usize, ld: usize, x: *mut F, c: F) {
    for i in 0..n {
        // SAFETY: the contract.
        unsafe { *x.add(i * ld + i) += c };
    }
}

/// `P Q = L U` of the plane `Q` in `p.u`, whose entries below the diagonal may be left with anything; `false` for a pivot
/// whose reciprocal might not be a number.
///
/// # Safety
/// As for [`Values`]; the rows consist of registers of `S`.
#[inline(always)]
unsafe fn factor<F: Base, S: Full<F>>(m: S, n: usize, p: &Planes<F>) -> bool {
    let ld = p.ld;
    let range = convert::<f64, F>(if size_of::<F>() == 4 { 1e15 } else { 1e150 });
    // SAFETY: all indices are below n; registers begin at multiples of their width and end inside the row.
    unsafe {
        let modulus = |i: usize, k: usize| ComplexField::abs(p.u.add(i * ld + k).read());
        let mut regular = true;
        for k in 0..n {
            let (mut largest, mut size) = (k, modulus(k, k));
            for i in k + 1..n {
                let next = modulus(i, k);
                (largest, size) = if next > size { (i, next) } else { (largest, size) };
            }
            if largest != k {
                for j in 0..k {
                    std::ptr::swap(p.l.add(k * ld + j), p.l.add(largest * ld + j));
                }
                for j in (k / S::WIDTH * S::WIDTH..ld).step_by(S::WIDTH) {
                    let (x, y) = (p.u.add(k * ld + j), p.u.add(largest * ld + j));
                    let (upper, lower) = (m.load(x), m.load(y));
                    m.store(x, lower);
                    m.store(y, upper);
                }
            }
            p.swaps.add(k).write(largest as u32);
            regular &= size < range && size * range > F::one();
            let inverse = F::one() / p.u.add(k * ld + k).read();
            p.inverses.add(k).write(inverse);
            let first = (k + 1) / S::WIDTH * S::WIDTH;
            for i in k + 1..n {
                let l = p.u.add(i * ld + k).read() * inverse;
                p.l.add(i * ld + k).write(l);
                let f = m.splat(l);
                for j in (first..ld).step_by(S::WIDTH) {
                    let (x, y) = (p.u.add(i * ld + j), m.load(p.u.add(k * ld + j)));
                    m.store(x, m.minus(m.load(x), f, y));
                }
            }
        }
        regular
    }
}

/// `A E + F B`, or `C + A E + F B` if `ONTO`, into `c`.
///
/// # Safety
/// As for [`Lanes`]; `c` is none of the others.
#[inline(always)]
unsafe fn two_sided<F: Base, C: Machine<F>, K: Kind<F = F>, const ONTO: bool>(
    n: usize,
    (ld, columns): (usize, usize),
    (a, e): (*mut F, *mut Register<K>),
    (f, b): (*mut Register<K>, *mut F),
    c: *mut Register<K>,
) {
    let p = Product::<K> { n, ld, columns, a, e, f, b, c, onto: ONTO };
    // SAFETY: the contract.
    unsafe { C::call(&Multiplication::<K, true, true>(&p)) }
}

/// The directions in `work.e` become the derivatives.
pub(super) struct Lanes<'a, F, C, K: Kind> {
    pub n: usize,
    pub planes: &'a Planes<F>,
    pub choice: Choice,
    pub work: &'a Work<Register<K>>,
    pub machine: PhantomData<C>,
}

impl<F: Base, C: Machine<F>, K: Kind<F = F>> Task for Lanes<'_, F, C, K> {
    type Output = ();

    /// # Safety
    /// The planes are those that [`Values`] has filled; `work` is exclusively borrowed, n rows of registers each.
    #[inline(always)]
    unsafe fn run(&self) {
        // SAFETY: the contract.
        unsafe { lanes::<F, C, K>(self.n, self.planes, self.choice, self.work) }
    }
}

/// # Safety
/// As for [`Lanes`].
#[inline(always)]
unsafe fn lanes<F: Base, C: Machine<F>, K: Kind<F = F>>(
    n: usize,
    p: &Planes<F>,
    choice: Choice,
    work: &Work<Register<K>>,
) {
    let Work { columns, e, m2, m4, m6, t, dw, dv } = *work;
    let (m, shape, len) = (K::S, (p.ld, columns), n * columns);
    // SAFETY: the planes and the matrices of `work` have the sizes that the products ask for.
    unsafe {
        two_sided::<F, C, K, false>(n, shape, (p.a, e), (e, p.a), m2);
        if choice.degree >= 5 {
            two_sided::<F, C, K, false>(n, shape, (p.a2, m2), (m2, p.a2), m4);
        }
        if choice.degree >= 7 {
            two_sided::<F, C, K, false>(n, shape, (p.a4, m2), (m4, p.a2), m6);
        }
        if choice.degree == 9 {
            two_sided::<F, C, K, false>(n, shape, (p.a4, m4), (m4, p.a4), t);
        }
        sums(m, choice.degree, len, [m2, m4, m6, t], [dw, dv]);
        if choice.degree == 13 {
            high_sums(m, len, [m2, m4, m6], [t, m4]);
            two_sided::<F, C, K, true>(n, shape, (p.a6, t), (m6, p.w1), dw);
            two_sided::<F, C, K, true>(n, shape, (p.a6, m4), (m6, p.z1), dv);
        }
        // dU, dU − dV, and the right-hand side.
        two_sided::<F, C, K, false>(n, shape, (p.a, dw), (e, p.w), t);
        for at in 0..len {
            dv.add(at).write(m.sub(t.add(at).read(), dv.add(at).read()));
        }
        let y = p.y;
        let last = Product::<K> { n, ld: p.ld, columns, a: y, e: dv, f: dv, b: y, c: t, onto: true };
        C::call(&Multiplication::<K, false, true>(&last));
        C::call(&Solution::<F, K::S> { n, factors: p.factors(), ld: p.ld, columns, b: t, x: m2 });
        for at in 0..len {
            e.add(at).write(m.add(m2.add(at).read(), m2.add(at).read()));
        }
        let (mut derivative, mut next) = (e, m2);
        for k in 0..choice.squarings {
            let half = p.squares.add(k * n * p.ld);
            two_sided::<F, C, K, false>(n, shape, (half, derivative), (derivative, half), next);
            (derivative, next) = (next, derivative);
        }
        if derivative != e {
            std::ptr::copy_nonoverlapping(derivative, e, len);
        }
    }
}

/// What the even powers, or their derivatives, contribute to `W` and `V` without a product; the eighth counts for degree 9
/// alone, and only those that the degree has are read.
///
/// # Safety
/// As for [`combine`].
#[inline(always)]
unsafe fn sums<F: Base, S: Full<F>>(
    m: S,
    degree: usize,
    len: usize,
    [x2, x4, x6, x8]: [*mut S::V; 4],
    to: [*mut S::V; 2],
) {
    macro_rules! both {
        ($c:ident, $($odd:literal $even:literal $x:ident),+) => {
            combine(m, len, to, [$(([convert($c[$odd]), convert($c[$even])], $x.cast_const())),+])
        };
    }
    // SAFETY: the contract.
    unsafe {
        match degree {
            3 => both!(C3, 3 2 x2),
            5 => both!(C5, 5 4 x4, 3 2 x2),
            7 => both!(C7, 7 6 x6, 5 4 x4, 3 2 x2),
            9 => both!(C9, 9 8 x8, 7 6 x6, 5 4 x4, 3 2 x2),
            _ => both!(C13, 7 6 x6, 5 4 x4, 3 2 x2),
        }
    }
}

/// What `A⁶` is multiplied with in `W` and `V` of degree 13.
///
/// # Safety
/// As for [`combine`].
#[inline(always)]
unsafe fn high_sums<F: Base, S: Full<F>>(m: S, len: usize, [x2, x4, x6]: [*mut S::V; 3], to: [*mut S::V; 2]) {
    let c = |k: usize| [convert::<f64, F>(C13[k]), convert(C13[k - 1])];
    // SAFETY: the contract.
    unsafe { combine(m, len, to, [(c(13), x6.cast_const()), (c(11), x4), (c(9), x2)]) }
}
