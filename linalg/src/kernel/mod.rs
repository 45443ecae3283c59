//! Kernels for small matrices: the lanes of an entry stay side by side, as the dual numbers store them, and are the
//! SIMD dimension. Each kernel is compiled for AVX-512 where that gains, for AVX2 with FMA and for the baseline; the CPU
//! decides at run time. Every lane is computed by the same operations whatever the other lanes are.
//!
//! - [`cholesky`]: factorization and solve on interleaved lanes, [`blocked`]: the factorization of large matrices,
//!   [`recurrence`] and [`rows`]: the tiles of both, [`whole`]: a matrix that is one tile, [`simd`]: what they are made of;
//! - [`second`]: symmetric second order of solutions, [`second_factor`]: of a Cholesky factor, [`logarithm`]: of `ln det`;
//! - [`expm`]: the exponential;
//! - [`lu`]: tiny systems by LU, values and lanes, [`getrf`]: the factors of larger matrices, in the tiles of
//!   [`elimination`];
//! - [`product`]: lanes of a matrix times values;
//! - [`tangents`]: products and triangular solves on interleaved lanes;
//! - [`packed`]: products with one lane;
//! - [`inline`]: the tiniest of all these, compiled into the caller;
//! - [`level3`]: products and triangular solves of plain scalars, too small for the crate `gemm`.

use std::any::TypeId;
use std::marker::PhantomData;

use dualpack_core::{Dual, Dual2, Real};
use nalgebra::{ComplexField, DMatrixView, DMatrixViewMut};

pub(crate) mod blocked;
pub(crate) mod cholesky;
mod elimination;
pub(crate) mod expm;
pub(crate) mod getrf;
pub(crate) mod inline;
pub(crate) mod level3;
pub(crate) mod logarithm;
pub(crate) mod lu;
mod packed;
pub(crate) mod product;
mod recurrence;
mod rows;
pub(crate) mod second;
mod second_factor;
mod simd;
pub(crate) mod tangents;
mod whole;

/// How the floats of an entry follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The value, then `lanes` tangents.
    First,
    /// The value, then `lanes` first derivatives, then `lanes x lanes` second ones, row by row, of which those on and
    /// right of the diagonal count.
    Symmetric,
}

/// A matrix of dual numbers seen as interleaved floats; see
/// [`TangentBatch::interleaved`](crate::TangentBatch::interleaved).
pub struct Interleaved<'a, F> {
    entries: Entries<F>,
    lanes: usize,
    order: Order,
    matrix: PhantomData<&'a mut F>,
}

/// The same, of a matrix that is only read.
#[derive(Clone, Copy)]
pub struct InterleavedRef<'a, F> {
    entries: Entries<F>,
    lanes: usize,
    order: Order,
    matrix: PhantomData<&'a F>,
}

impl<F> Interleaved<'_, F> {
    /// Whether an entry is a value and its tangents, nothing else.
    #[inline(always)]
    pub(crate) fn is_first_order(&self) -> bool {
        self.order == Order::First
    }
}

impl<F> InterleavedRef<'_, F> {
    /// Whether an entry is a value and its tangents, nothing else.
    pub(crate) fn is_first_order(&self) -> bool {
        self.order == Order::First
    }

    /// Whether an entry is a value with first and symmetric second derivatives.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.order == Order::Symmetric
    }
}

/// Where the floats of the entries are.
#[derive(Clone, Copy)]
struct Entries<F> {
    start: *mut F,
    rows: usize,
    cols: usize,
    /// Distances, in floats, from an entry to the one below it and to the one right of it.
    down: usize,
    right: usize,
}

impl<F: 'static> Entries<F> {
    /// The same entries, if `G` is the same type.
    #[inline(always)]
    fn cast<G: 'static>(self) -> Option<Entries<G>> {
        let Entries { start, rows, cols, down, right } = self;
        (TypeId::of::<F>() == TypeId::of::<G>()).then(|| Entries {
            start: start.cast(),
            rows,
            cols,
            down,
            right,
        })
    }
}

impl<F> Entries<F> {
    #[inline(always)]
    fn transposed(self) -> Self {
        Entries { rows: self.cols, cols: self.rows, down: self.right, right: self.down, ..self }
    }
}

impl<F: ComplexField + Copy> Entries<F> {
    /// The `W` floats from number `slot` on of entry `(i, j)`.
    ///
    /// # Safety
    /// The entry lies in the matrix, may be read, and has `slot + W` floats.
    #[inline(always)]
    unsafe fn load<const W: usize>(&self, i: usize, j: usize, slot: usize) -> [F; W] {
        // SAFETY: the entry is inside the matrix by the contract; floats need no more alignment than they have.
        unsafe { self.start.add(i * self.down + j * self.right + slot).cast::<[F; W]>().read() }
    }

    /// Where the floats from number `slot` on of entry `(i, j)` are.
    ///
    /// # Safety
    /// The entry lies in the matrix and has that many floats.
    #[inline(always)]
    unsafe fn at(&self, i: usize, j: usize, slot: usize) -> *mut F {
        // SAFETY: the contract.
        unsafe { self.start.add(i * self.down + j * self.right + slot) }
    }

    /// The matrix whose values are the tangents of lane `k`, which must be there if there is an entry.
    #[inline(always)]
    fn tangents(self, k: usize) -> Self {
        Entries { start: self.start.wrapping_add(1 + k), ..self }
    }

    /// Writes what [`load`](Entries::load) reads.
    ///
    /// # Safety
    /// As for `load`, and the matrix is exclusively borrowed.
    #[inline(always)]
    unsafe fn store<const W: usize>(&self, i: usize, j: usize, slot: usize, x: [F; W]) {
        // SAFETY: as in `load`.
        unsafe { self.start.add(i * self.down + j * self.right + slot).cast::<[F; W]>().write(x) }
    }

    /// Where an entry is.
    ///
    /// # Safety
    /// It lies in the matrix.
    #[inline(always)]
    unsafe fn place(&self, i: usize, j: usize) -> *mut F {
        // SAFETY: the contract.
        unsafe { self.start.add(i * self.down + j * self.right) }
    }

    /// Makes the lanes NaN where a value is not finite.
    ///
    /// # Safety
    /// The entries are a value and `lanes` tangents, and exclusively borrowed.
    unsafe fn poison_overflow(&self, lanes: usize) {
        for j in 0..self.cols {
            for i in 0..self.rows {
                // SAFETY: an entry of the matrix, and its tangents.
                unsafe {
                    if !self.value(i, j).is_finite() {
                        (1..1 + lanes).for_each(|k| self.at(i, j, k).write(nalgebra::convert(f64::NAN)));
                    }
                }
            }
        }
    }

    /// The value of an entry.
    ///
    /// # Safety
    /// As for `load`.
    #[inline(always)]
    unsafe fn value(&self, i: usize, j: usize) -> F {
        // SAFETY: slot 0 of an entry.
        unsafe { self.load::<1>(i, j, 0)[0] }
    }
}

/// `y - f x` in every lane, rounded once where `FUSED`.
#[inline(always)]
fn subtract<F: ComplexField + Copy, const W: usize, const FUSED: bool>(y: &mut [F; W], f: F, x: &[F; W]) {
    for k in 0..W {
        y[k] = if FUSED { (-f).mul_add(x[k], y[k]) } else { y[k] - f * x[k] };
    }
}

/// Compiles a kernel for both floats in this crate. Functions that are never inlined are shared with the crates that
/// depend on the one that has compiled them; any other generic function would be compiled again in each of those, and
/// the kernels take longer than what they are called from.
macro_rules! compiled {
    ($name:ident<$F:ident>($($ty:ty),*) $(-> $out:ty)?) => {
        $crate::kernel::compiled!(@for f32 $name<$F>($($ty),*) $(-> $out)?);
        $crate::kernel::compiled!(@for f64 $name<$F>($($ty),*) $(-> $out)?);
    };
    (@for $float:ident $name:ident<$F:ident>($($ty:ty),*) $(-> $out:ty)?) => {
        #[allow(dead_code)]
        const _: () = {
            type $F = $float;
            static COMPILED: unsafe fn($($ty),*) $(-> $out)? = $name::<$F>;
        };
    };
}
use compiled;

/// Makes `$name` out of `$body`, whose last parameter says whether to use fused multiply-add: compiled three times,
/// chosen at run time; twice for single precision, and where AVX2 is said to be enough, because registers of 512 bits made
/// the kernel slower.
macro_rules! dispatch {
    (@avx512) => { true };
    (@avx512 avx2) => { false };
    ($(#[$doc:meta])* $vis:vis unsafe fn $name:ident<$T:ident: $bound:path>($($arg:ident: $ty:ty),* $(,)?) $(-> $out:ty)? => $body:ident $(, $enough:ident is enough)?) => {
        $crate::kernel::compiled!($name<$T>($($ty),*) $(-> $out)?);

        $(#[$doc])*
        #[inline(never)]
        $vis unsafe fn $name<$T: $bound>($($arg: $ty),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                unsafe fn avx512<$T: $bound>($($arg: $ty),*) $(-> $out)? {
                    // SAFETY: the contract is the caller's.
                    unsafe { $body::<$T, true>($($arg),*) }
                }
                #[target_feature(enable = "avx2,fma")]
                unsafe fn avx2<$T: $bound>($($arg: $ty),*) $(-> $out)? {
                    // SAFETY: the contract is the caller's.
                    unsafe { $body::<$T, true>($($arg),*) }
                }
                // Eight singles are half an AVX-512 register.
                if const {
                    size_of::<<$T as nalgebra::ComplexField>::RealField>() > 4
                        && $crate::kernel::dispatch!(@avx512 $($enough)?)
                } && is_x86_feature_detected!("avx512f")
                {
                    // SAFETY: the CPU has the feature; the rest of the contract is the caller's.
                    return unsafe { avx512($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the CPU has both features; the rest of the contract is the caller's.
                    return unsafe { avx2($($arg),*) };
                }
            }
            // SAFETY: the contract is the caller's.
            unsafe { $body::<$T, { cfg!(target_feature = "fma") }>($($arg),*) }
        }
    };
}
use dispatch;

/// A matrix of `P` as a matrix of `F`, if the two are the same type.
pub(crate) fn same<P: nalgebra::Scalar, F: nalgebra::Scalar>(
    a: DMatrixView<'_, P>,
) -> Option<DMatrixView<'_, F>> {
    // SAFETY: source and target are the same type.
    (TypeId::of::<P>() == TypeId::of::<F>()).then(|| unsafe { std::mem::transmute_copy(&a) })
}

/// [`same`], to be written.
pub(crate) fn same_mut<P: nalgebra::Scalar, F: nalgebra::Scalar>(
    a: DMatrixViewMut<'_, P>,
) -> Option<DMatrixViewMut<'_, F>> {
    // SAFETY: source and target are the same type, and the source is given up.
    (TypeId::of::<P>() == TypeId::of::<F>()).then(|| unsafe { std::mem::transmute_copy(&a) })
}

/// A matrix of plain floats, as one without lanes.
#[inline(always)]
pub(crate) fn floats_mut<F: Real<Base = F>>(mut a: DMatrixViewMut<'_, F>) -> Interleaved<'_, F> {
    let ((rows, cols), right) = (a.shape(), a.strides().1);
    let entries = Entries { start: a.as_mut_ptr(), rows, cols, down: 1, right };
    Interleaved { entries, lanes: 0, order: Order::First, matrix: PhantomData }
}

/// A buffer of rows x cols entries, by columns, of a value and its lanes each.
pub(crate) fn buffer_mut<F: Real<Base = F>>(
    a: &mut [F],
    rows: usize,
    cols: usize,
    lanes: usize,
) -> Interleaved<'_, F> {
    assert!(a.len() == rows * cols * (1 + lanes));
    let entries = Entries { start: a.as_mut_ptr(), rows, cols, down: 1 + lanes, right: (1 + lanes) * rows };
    Interleaved { entries, lanes, order: Order::First, matrix: PhantomData }
}

/// The same, of a matrix that is only read.
#[inline(always)]
pub(crate) fn floats<F: Real<Base = F>>(a: DMatrixView<'_, F>) -> InterleavedRef<'_, F> {
    let ((rows, cols), right) = (a.shape(), a.strides().1);
    let entries = Entries { start: a.as_ptr().cast_mut(), rows, cols, down: 1, right };
    InterleavedRef { entries, lanes: 0, order: Order::First, matrix: PhantomData }
}

/// Entries of `width` floats each, of a matrix over a plain float; `None` over anything else.
#[inline(always)]
fn entries<T: Real, D: nalgebra::Scalar>(a: &DMatrixView<'_, D>, width: usize) -> Option<Entries<T::Base>> {
    let flat = TypeId::of::<T>() == TypeId::of::<T::Base>() && size_of::<D>() == width * size_of::<T::Base>();
    flat.then(|| Entries {
        start: a.as_ptr().cast::<T::Base>().cast_mut(),
        rows: a.nrows(),
        cols: a.ncols(),
        down: width,
        right: width * a.strides().1,
    })
}

/// The number types that are `repr(C)` and consist of floats alone, with their `Order`: `Dual` is `value: T,
/// eps: [T; N]`, `Dual2` is `value: T, grad: [T; N], hess: [[T; N]; N]`.
macro_rules! interleaved {
    ($($Type:ident $read:ident $write:ident $order:ident |$N:ident| $width:expr;)*) => {$(
        /// A matrix over a plain float, to be written; `None` over anything else.
        #[inline(always)]
        pub(crate) fn $write<T: Real, const $N: usize>(
            mut a: DMatrixViewMut<'_, $Type<T, $N>>,
        ) -> Option<Interleaved<'_, T::Base>> {
            let entries = Entries { start: a.as_mut_ptr().cast(), ..entries::<T, _>(&a.as_view(), $width)? };
            Some(Interleaved { entries, lanes: $N, order: Order::$order, matrix: PhantomData })
        }

        /// A matrix over a plain float, to be read; `None` over anything else.
        #[inline(always)]
        pub(crate) fn $read<T: Real, const $N: usize>(
            a: DMatrixView<'_, $Type<T, $N>>,
        ) -> Option<InterleavedRef<'_, T::Base>> {
            let entries = entries::<T, _>(&a, $width)?;
            Some(InterleavedRef { entries, lanes: $N, order: Order::$order, matrix: PhantomData })
        }
    )*};
}

interleaved! {
    Dual dual dual_mut First |N| 1 + N;
    Dual2 dual2 dual2_mut Symmetric |N| 1 + N + N * N;
}
