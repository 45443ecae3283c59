//! What the instruction sets offer, and the kernels compiled for each of them.

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use dualpack_core::Base;
use num_traits::Zero;

use super::chain::{Choice, PLANES, Planes, SQUARINGS, Work, lanes, values};
use super::product::{Dynamic, Fixed, Kind, Product, Row, Rows, Side, product};
#[cfg(target_arch = "x86_64")]
use super::vector::x86::{D4, D8, S4, S8};
use super::vector::{Array, Vector};
use super::{Layout, Piece};
use crate::kernel::{Entries, compiled};

/// An instruction set, for one of the floats.
pub(super) trait Level: Copy {
    type Float: Base;
    type One: Vector<Float = Self::Float>;
    /// Four lanes.
    type Few: Vector<Float = Self::Float>;
    /// As many lanes as a register has, at most eight.
    type Group: Vector<Float = Self::Float>;

    /// [`product`], not inlined.
    ///
    /// # Safety
    /// As for `product`, and the CPU has the instructions.
    unsafe fn product<K: Kind, const LEFT: bool, const RIGHT: bool>(p: &Product<K>);
}

/// The instruction sets that the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    Avx512,
    Avx2,
    Any,
}

impl Set {
    /// The best one of this CPU.
    #[inline]
    pub(super) fn detect() -> Set {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return if is_x86_feature_detected!("avx512f") { Set::Avx512 } else { Set::Avx2 };
            }
        }
        Set::Any
    }

    /// `WIDTH` of [`Level::Group`].
    pub(super) fn group<F: Base>(self) -> usize {
        match (self, size_of::<F>()) {
            (Set::Avx512, _) | (Set::Avx2, 4) => 8,
            _ => 4,
        }
    }
}

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

/// Any CPU.
#[derive(Clone, Copy)]
struct Portable<F>(PhantomData<F>);

/// Whether the baseline that this crate is compiled for has fused multiply-add.
const FUSED: bool = cfg!(target_feature = "fma");

impl<F: Base> Level for Portable<F> {
    type Float = F;
    type One = Array<F, 1, FUSED>;
    type Few = Array<F, 4, FUSED>;
    type Group = Array<F, 4, FUSED>;

    unsafe fn product<K: Kind, const LEFT: bool, const RIGHT: bool>(p: &Product<K>) {
        // SAFETY: the contract.
        unsafe { product::<K, LEFT, RIGHT>(p, p.n) }
    }
}

/// Writes a level of x86-64 for a float, and the function that runs a job on it.
macro_rules! level {
    ($run:ident $Level:ident $features:literal $F:ty, $Few:ty, $Group:ty, $body:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[derive(Clone, Copy)]
        struct $Level;

        #[cfg(target_arch = "x86_64")]
        impl Level for $Level {
            type Float = $F;
            type One = Array<$F, 1, true>;
            type Few = $Few;
            type Group = $Group;

            #[inline(always)]
            unsafe fn product<K: Kind, const LEFT: bool, const RIGHT: bool>(p: &Product<K>) {
                #[target_feature(enable = $features)]
                unsafe fn compiled<K: Kind, const LEFT: bool, const RIGHT: bool>(p: &Product<K>) {
                    // SAFETY: the contract.
                    unsafe { product::<K, LEFT, RIGHT>(p, p.n) }
                }
                // SAFETY: the contract.
                unsafe { compiled::<K, LEFT, RIGHT>(p) }
            }
        }

        /// The job on one level.
        ///
        /// # Safety
        /// As for [`run`], and the CPU has the instructions.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $run(job: &Job<$F>) -> Option<Choice> {
            // SAFETY: the contract.
            unsafe { $body::<$Level>(job) }
        }
    };
}

level!(doubles_avx512 DoublesAvx512 "avx512f" f64, D4, D8, all);
level!(doubles_avx2 DoublesAvx2 "avx2,fma" f64, D4, D4, all);
level!(singles_avx2 SinglesAvx2 "avx2,fma" f32, S4, S8, dynamic);

compiled!(run<F>(&Job<F>) -> Option<Choice>);

/// Runs a job; nothing for a matrix that is not for this kernel, of which lanes and values are left alone.
///
/// # Safety
/// The memory of the job is exclusively borrowed and as large as its layout says, and the CPU has the instruction set
/// of the layout.
#[inline(never)]
pub(super) unsafe fn run<F: Base>(job: &Job<F>) -> Option<Choice> {
    // SAFETY: the casts are from a type to itself; the rest is the contract.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            let (doubles, singles) = (std::ptr::from_ref(job).cast(), std::ptr::from_ref(job).cast());
            let double = TypeId::of::<F>() == TypeId::of::<f64>();
            match job.layout.set {
                Set::Avx512 if double => return doubles_avx512(&*doubles),
                Set::Avx2 if double => return doubles_avx2(&*doubles),
                // Eight singles are half an AVX-512 register.
                Set::Avx512 | Set::Avx2 => return singles_avx2(&*singles),
                Set::Any => {}
            }
        }
        dynamic::<Portable<F>>(job)
    }
}

/// The job, with the smallest orders known to the compiler; so for double precision alone, because the code is long.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn all<L: Level>(job: &Job<L::Float>) -> Option<Choice> {
    // SAFETY: the contract.
    unsafe {
        match job.layout.n {
            2 if job.layout.tiny => tiny::<L, 2>(job),
            3 if job.layout.tiny => tiny::<L, 3>(job),
            _ => dynamic::<L>(job),
        }
    }
}

/// The largest order that is known to the compiler.
pub(super) const TINY: usize = 3;

/// Memory for a matrix of such an order.
type Tiny<T> = MaybeUninit<[T; TINY * TINY]>;

/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn tiny<L: Level, const M: usize>(job: &Job<L::Float>) -> Option<Choice> {
    let mut memory: [Tiny<L::Float>; PLANES] = [Tiny::uninit(); PLANES];
    let mut squares: [Tiny<L::Float>; SQUARINGS] = [Tiny::uninit(); SQUARINGS];
    let (mut inverses, mut swaps) =
        ([MaybeUninit::<L::Float>::uninit(); M], [MaybeUninit::<u32>::uninit(); M]);
    let [a, a2, a4, a6, spare, w, w1, z1, y, l, u, r] =
        memory.each_mut().map(|m| m.as_mut_ptr().cast::<L::Float>());
    let (squares, inverses, swaps) =
        (squares.as_mut_ptr().cast(), inverses.as_mut_ptr().cast(), swaps.as_mut_ptr().cast());
    let p = Planes { ld: M, row: M, a, a2, a4, a6, spare, w, w1, z1, y, l, u, r, squares, inverses, swaps };
    // SAFETY: the planes are ours and hold M² floats; the squares lie M² floats apart in memory for more.
    unsafe {
        load_values(job.a, M, (M, M), a);
        let choice = values::<L, Fixed<M>, Side<L::One>>(Fixed, &p)?;
        let mut first = 0;
        while let Some(piece) = job.layout.piece(first) {
            match piece.width {
                8 => tiny_lanes::<L, L::Group, M>(job.a, &p, choice, piece),
                4 => tiny_lanes::<L, L::Few, M>(job.a, &p, choice, piece),
                _ => tiny_lanes::<L, L::One, M>(job.a, &p, choice, piece),
            }
            first += piece.count;
        }
        store_values(p.r, M, M, job.a);
        Some(choice)
    }
}

/// # Safety
/// As for [`run`], with the planes of the values; the piece is one of the matrix.
#[inline(always)]
unsafe fn tiny_lanes<L: Level, V: Vector<Float = L::Float>, const M: usize>(
    a: Entries<L::Float>,
    p: &Planes<L::Float>,
    choice: Choice,
    piece: Piece,
) {
    let mut memory: [Tiny<V>; 7] = [Tiny::uninit(); 7];
    let [e, m2, m4, m6, t, dw, dv] = memory.each_mut().map(|m| m.as_mut_ptr().cast::<V>());
    // SAFETY: the work is ours, and large enough.
    unsafe {
        load_lanes(a, M, piece, e);
        lanes::<L, Fixed<M>, Side<V>>(Fixed, p, choice, &Work { columns: M, e, m2, m4, m6, t, dw, dv });
        store_lanes(e, M, piece, a);
    }
}

/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn dynamic<L: Level>(job: &Job<L::Float>) -> Option<Choice> {
    let Layout { n, ld, .. } = job.layout;
    let (order, plane) = (Dynamic(n), n * ld);
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
        let row = ld / L::Group::WIDTH;
        let p = Planes { ld, row, a, a2, a4, a6, spare, w, w1, z1, y, l, u, r, squares, inverses, swaps };
        let choice = match job.choice {
            Some(choice) => choice,
            None => {
                load_values(job.a, n, (ld, ld), p.a);
                let choice = values::<L, Dynamic, Row<L::Group>>(order, &p)?;
                store_values(p.r, n, ld, job.a);
                choice
            }
        };
        let mut first = 0;
        while let Some(piece) = job.layout.piece(first) {
            if piece.width == 0 {
                let work = carved::<L::Group>(n, row * piece.count, job.work);
                for k in 0..piece.count {
                    let e = work.e.add(k * row).cast();
                    load_values(job.a.tangents(first + k), n, (ld, piece.count * ld), e);
                }
                if piece.count > 1 {
                    lanes::<L, _, Rows<L::Group>>(order, &p, choice, &work);
                } else {
                    lanes::<L, _, Row<L::Group>>(order, &p, choice, &work);
                }
                for k in 0..piece.count {
                    let e = work.e.add(k * row).cast::<L::Float>();
                    store_values(e, n, piece.count * ld, job.a.tangents(first + k));
                }
            } else {
                let work = carved::<L::Group>(n, n, job.work);
                load_lanes(job.a, n, piece, work.e);
                lanes::<L, _, Side<L::Group>>(order, &p, choice, &work);
                store_lanes(work.e, n, piece, job.a);
            }
            first += piece.count;
        }
        Some(choice)
    }
}

/// The work of a group with `columns` registers for a row.
#[inline(always)]
fn carved<V: Vector>(n: usize, columns: usize, work: *mut V::Float) -> Work<V> {
    let at = |k: usize| work.cast::<V>().wrapping_add(k * n * columns);
    Work { columns, e: at(0), m2: at(1), m4: at(2), m6: at(3), t: at(4), dw: at(5), dv: at(6) }
}

/// The values of a matrix, as a plane with `ld` floats in a row and `stride` from one row to the next.
///
/// # Safety
/// `a` is of order n and may be read, `to` has room for n such rows.
#[inline(always)]
unsafe fn load_values<F: Base>(a: Entries<F>, n: usize, (ld, stride): (usize, usize), to: *mut F) {
    for j in 0..ld {
        for i in 0..n {
            // SAFETY: the contract.
            unsafe { to.add(i * stride + j).write(if j < n { a.value(i, j) } else { F::zero() }) };
        }
    }
}

/// The other way.
///
/// # Safety
/// As for [`load_values`], and `a` is exclusively borrowed.
#[inline(always)]
unsafe fn store_values<F: Base>(from: *const F, n: usize, stride: usize, a: Entries<F>) {
    for j in 0..n {
        for i in 0..n {
            // SAFETY: the contract.
            unsafe { a.store(i, j, 0, [from.add(i * stride + j).read()]) };
        }
    }
}

/// The lanes of a piece, a register for each entry, and zeros for lanes that are not there.
///
/// # Safety
/// `a` is of order n, has the lanes and may be read, `to` holds n² registers of the width of the piece.
#[inline(always)]
unsafe fn load_lanes<V: Vector>(a: Entries<V::Float>, n: usize, piece: Piece, to: *mut V) {
    let slot = 1 + piece.first;
    // SAFETY: the contract; a piece has lanes that are there.
    unsafe {
        for j in 0..n {
            for i in 0..n {
                let from = a.at(i, j, slot);
                if piece.count == V::WIDTH {
                    to.add(i * n + j).write(V::load(from));
                } else {
                    let mut few = [V::Float::zero(); 8];
                    for lane in 0..piece.count {
                        few[lane] = from.add(lane).read();
                    }
                    to.add(i * n + j).write(V::load(few.as_ptr()));
                }
            }
        }
    }
}

/// The other way.
///
/// # Safety
/// As for [`load_lanes`], and `a` is exclusively borrowed.
#[inline(always)]
unsafe fn store_lanes<V: Vector>(from: *const V, n: usize, piece: Piece, a: Entries<V::Float>) {
    let slot = 1 + piece.first;
    // SAFETY: the contract; a piece has lanes that are there.
    unsafe {
        for j in 0..n {
            for i in 0..n {
                let (x, to) = (from.add(i * n + j).read(), a.at(i, j, slot));
                if piece.count == V::WIDTH {
                    x.store(to);
                } else {
                    let mut few = [V::Float::zero(); 8];
                    x.store(few.as_mut_ptr());
                    for lane in 0..piece.count {
                        to.add(lane).write(few[lane]);
                    }
                }
            }
        }
    }
}
