//! The work on one matrix: values, then lanes piece by piece, compiled for each kind of CPU.

use std::any::TypeId;
use std::marker::PhantomData;

use dualpack_core::Base;

use super::chain::{Choice, Lanes, PLANES, Planes, Values, Work};
use super::product::{Kind, Pairs, Register, Row, Side};
use super::{Form, Layout, Piece};
use crate::kernel::Entries;
use crate::kernel::simd::{Full, Machine, machines};

/// A matrix to be overwritten by its exponential, and its tangents by the derivatives; if there is a choice, only the
/// latter, and the planes are those of an earlier job.
pub(super) struct Job<F> {
    pub a: Entries<F>,
    pub layout: Layout,
    pub choice: Option<Choice>,
    /// `layout.planes()` floats.
    pub planes: *mut F,
    /// `layout.work()` floats.
    pub work: *mut F,
}

/// Runs a job; nothing for a matrix that is not for this kernel, of which lanes and values are left alone.
///
/// # Safety
/// The memory of the job is exclusively borrowed and as large as its layout says.
pub(super) unsafe fn run<F: Base>(job: &Job<F>) -> Option<Choice> {
    let job = std::ptr::from_ref(job);
    // SAFETY: a float is one of the two, and the cast is from a type to itself; the rest is the contract.
    unsafe {
        if TypeId::of::<F>() == TypeId::of::<f64>() {
            run_on::<f64>(&*job.cast())
        } else {
            run_on::<f32>(&*job.cast())
        }
    }
}

machines! {
    unsafe fn run_on<F>(job: &Job<F>) -> Option<Choice> => body
}

/// How many floats the widest register has.
pub(super) fn widest<F: Base>() -> usize {
    // SAFETY: the question has no conditions.
    unsafe {
        if TypeId::of::<F>() == TypeId::of::<f64>() {
            width_on(PhantomData::<f64>)
        } else {
            width_on(PhantomData::<f32>)
        }
    }
}

machines! {
    unsafe fn width_on<F>(float: PhantomData<F>) -> usize => width
}

/// # Safety
/// None.
unsafe fn width<F: Base, C: Machine<F>, const P: usize>(_: PhantomData<F>) -> usize {
    C::WIDEST
}

/// # Safety
/// As for [`run`], and the CPU is of this kind.
#[inline(always)]
unsafe fn body<F: Base, C: Machine<F>, const P: usize>(job: &Job<F>) -> Option<Choice> {
    let Layout { n, ld, .. } = job.layout;
    let plane = n * ld;
    // SAFETY: the scratch has room for the planes, the squares, the reciprocals and indices of MAX rows, and the work of
    // a group.
    unsafe {
        let [a, a2, a4, a6, spare, w, w1, z1, y, l, u, r] =
            std::array::from_fn::<_, PLANES, _>(|k| job.planes.wrapping_add(k * plane));
        let squares = job.planes.add(PLANES * plane);
        let (squares, inverses) = if job.layout.squares == 0 {
            (std::ptr::null_mut(), squares)
        } else {
            (squares, squares.add(job.layout.squares * plane))
        };
        // An index takes no more room than a float.
        let swaps = inverses.add(n).cast();
        let p = Planes { ld, a, a2, a4, a6, spare, w, w1, z1, y, l, u, r, squares, inverses, swaps };
        let choice = match job.choice {
            Some(choice) => choice,
            None => {
                load_values(job.a, n, ld, p.a);
                let choice = C::call(&Values::<F, C> { n, planes: &p, machine: PhantomData })?;
                store_values(p.r, n, ld, job.a);
                choice
            }
        };
        let mut first = 0;
        while let Some(piece) = job.layout.piece(first) {
            match piece.form {
                Form::Row => {
                    let work = carved::<F, Row<F, C::Wide>>(n, ld / C::WIDEST, job.work);
                    load_values(job.a.tangents(first), n, ld, work.e.cast());
                    derive::<F, C, Row<F, C::Wide>>(n, &p, choice, &work);
                    store_values(work.e.cast(), n, ld, job.a.tangents(first));
                }
                Form::Pairs => {
                    let work = carved::<F, Pairs<F, C::Wide>>(n, n.div_ceil(2), job.work);
                    load_pairs(C::WIDE, job.a, n, piece, work.e);
                    derive::<F, C, Pairs<F, C::Wide>>(n, &p, choice, &work);
                    store_pairs(C::WIDE, work.e, n, piece, job.a);
                }
                Form::Side => {
                    let work = carved::<F, Side<F, C::Wide>>(n, n, job.work);
                    load_lanes(C::WIDE, job.a, n, piece, work.e);
                    derive::<F, C, Side<F, C::Wide>>(n, &p, choice, &work);
                    store_lanes(C::WIDE, work.e, n, piece, job.a);
                }
            }
            first += piece.count;
        }
        Some(choice)
    }
}

/// # Safety
/// As for [`Lanes`].
#[inline(always)]
unsafe fn derive<F: Base, C: Machine<F>, K: Kind<F = F>>(
    n: usize,
    planes: &Planes<F>,
    choice: Choice,
    work: &Work<Register<K>>,
) {
    // SAFETY: the contract.
    unsafe { C::call(&Lanes::<F, C, K> { n, planes, choice, work, machine: PhantomData }) }
}

/// The work of a piece with `columns` registers for a row.
#[inline(always)]
fn carved<F: Base, K: Kind<F = F>>(n: usize, columns: usize, work: *mut F) -> Work<Register<K>> {
    let at = |k: usize| work.cast::<Register<K>>().wrapping_add(k * n * columns);
    Work { columns, e: at(0), m2: at(1), m4: at(2), m6: at(3), t: at(4), dw: at(5), dv: at(6) }
}

/// Columns that are copied together: the rows of a plane want whole lines, the columns of the matrix are far apart.
const BLOCK: usize = 8;

/// The values of a matrix, as a plane with `ld` floats in a row.
///
/// # Safety
/// `a` is of order n and may be read, `to` has room for n such rows.
#[inline(always)]
unsafe fn load_values<F: Base>(a: Entries<F>, n: usize, ld: usize, to: *mut F) {
    for first in (0..n).step_by(BLOCK) {
        for i in 0..n {
            for j in first..n.min(first + BLOCK) {
                // SAFETY: the contract.
                unsafe { to.add(i * ld + j).write(a.value(i, j)) };
            }
        }
    }
    for i in 0..n {
        for j in n..ld {
            // SAFETY: the contract.
            unsafe { to.add(i * ld + j).write(F::zero()) };
        }
    }
}

/// The other way.
///
/// # Safety
/// As for [`load_values`], and `a` is exclusively borrowed.
#[inline(always)]
unsafe fn store_values<F: Base>(from: *const F, n: usize, ld: usize, a: Entries<F>) {
    for first in (0..n).step_by(BLOCK) {
        for i in 0..n {
            for j in first..n.min(first + BLOCK) {
                // SAFETY: the contract.
                unsafe { a.store(i, j, 0, [from.add(i * ld + j).read()]) };
            }
        }
    }
}

/// The lanes of a piece, a register for each entry.
///
/// # Safety
/// `a` is of order n, has the lanes and may be read, `to` holds n² registers.
#[inline(always)]
unsafe fn load_lanes<F: Base, S: Full<F>>(m: S, a: Entries<F>, n: usize, piece: Piece, to: *mut S::V) {
    for i in 0..n {
        for j in 0..n {
            // SAFETY: the contract; a piece has lanes that are there.
            unsafe { to.add(i * n + j).write(m.load_part(a.at(i, j, 1 + piece.first), piece.count)) };
        }
    }
}

/// The other way.
///
/// # Safety
/// As for [`load_lanes`], and `a` is exclusively borrowed.
#[inline(always)]
unsafe fn store_lanes<F: Base, S: Full<F>>(m: S, from: *const S::V, n: usize, piece: Piece, a: Entries<F>) {
    for i in 0..n {
        for j in 0..n {
            // SAFETY: the contract; a piece has lanes that are there.
            unsafe { m.store_part(a.at(i, j, 1 + piece.first), piece.count, from.add(i * n + j).read()) };
        }
    }
}

/// The lanes of a piece, a register for two entries of a row, and zeros for lanes and an entry that are not there.
///
/// # Safety
/// `a` is of order n, has the lanes and may be read, `to` holds n rows of half as many registers, rounded up.
#[inline(always)]
unsafe fn load_pairs<F: Base, S: Full<F>>(m: S, a: Entries<F>, n: usize, piece: Piece, to: *mut S::V) {
    let (columns, slot, zeros) = (n.div_ceil(2), 1 + piece.first, [F::zero(); 8]);
    for i in 0..n {
        for c in 0..columns {
            // SAFETY: the contract; a piece has lanes that are there.
            unsafe {
                let lower = a.at(i, 2 * c, slot).cast_const();
                let there = 2 * c + 1 < n;
                let upper = if there { a.at(i, 2 * c + 1, slot) } else { zeros.as_ptr() };
                let x = if piece.count == S::WIDTH / 2 {
                    m.load_halves(lower, upper)
                } else {
                    let mut some = [F::zero(); 8];
                    for lane in 0..piece.count {
                        some[lane] = lower.add(lane).read();
                        some[S::WIDTH / 2 + lane] = upper.add(lane).read();
                    }
                    m.load(some.as_ptr())
                };
                to.add(i * columns + c).write(x);
            }
        }
    }
}

/// The other way.
///
/// # Safety
/// As for [`load_pairs`], and `a` is exclusively borrowed.
#[inline(always)]
unsafe fn store_pairs<F: Base, S: Full<F>>(m: S, from: *const S::V, n: usize, piece: Piece, a: Entries<F>) {
    let (columns, slot) = (n.div_ceil(2), 1 + piece.first);
    let mut nowhere = [F::zero(); 8];
    for i in 0..n {
        for c in 0..columns {
            // SAFETY: the contract; a piece has lanes that are there.
            unsafe {
                let (x, lower) = (from.add(i * columns + c).read(), a.at(i, 2 * c, slot));
                let there = 2 * c + 1 < n;
                let upper = if there { a.at(i, 2 * c + 1, slot) } else { nowhere.as_mut_ptr() };
                if piece.count == S::WIDTH / 2 {
                    m.store_halves(lower, upper, x);
                } else {
                    let mut some = [F::zero(); 8];
                    m.store(some.as_mut_ptr(), x);
                    for lane in 0..piece.count {
                        lower.add(lane).write(some[lane]);
                        upper.add(lane).write(some[S::WIDTH / 2 + lane]);
                    }
                }
            }
        }
    }
}
