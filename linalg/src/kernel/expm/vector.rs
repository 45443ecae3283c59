//! Registers of floats. The compiler splits arrays of eight doubles into two halves on CPUs where it takes the narrower
//! registers for the better choice; these are as wide as they say.
//!
//! Every operation does the same to each element, so that an element does not depend on the width.

use dualpack_core::Base;
use nalgebra::ComplexField;

/// `WIDTH` floats.
///
/// All methods are unsafe: the CPU must have the instructions of the type, and where a pointer is given, `WIDTH` floats
/// must be readable or writable there.
pub(super) trait Vector: Copy {
    type Float: Base;
    const WIDTH: usize;
    /// How many columns of four accumulators fit the registers.
    const COLUMNS: usize;

    unsafe fn splat(x: Self::Float) -> Self;
    unsafe fn load(from: *const Self::Float) -> Self;
    unsafe fn store(self, to: *mut Self::Float);
    /// `self * x + y`, rounded once where the CPU has that.
    unsafe fn mul_add(self, x: Self, y: Self) -> Self;
    /// `y - self * x`, rounded once where the CPU has that.
    unsafe fn subtract_from(self, x: Self, y: Self) -> Self;
    unsafe fn mul(self, x: Self) -> Self;
    unsafe fn add(self, x: Self) -> Self;
    unsafe fn sub(self, x: Self) -> Self;
    unsafe fn abs(self) -> Self;
}

/// An array, for any CPU; `FUSED` where it has fused multiply-add.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Array<F, const W: usize, const FUSED: bool>([F; W]);

impl<F: Base, const W: usize, const FUSED: bool> Vector for Array<F, W, FUSED> {
    type Float = F;
    const WIDTH: usize = W;
    const COLUMNS: usize = 1;

    #[inline(always)]
    unsafe fn splat(x: F) -> Self {
        Array([x; W])
    }
    #[inline(always)]
    unsafe fn load(from: *const F) -> Self {
        // SAFETY: the contract; floats need no more alignment than they have.
        Array(unsafe { from.cast::<[F; W]>().read() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut F) {
        // SAFETY: the contract.
        unsafe { to.cast::<[F; W]>().write(self.0) }
    }
    #[inline(always)]
    unsafe fn mul_add(self, x: Self, y: Self) -> Self {
        let (a, b, c) = (self.0, x.0, y.0);
        Array(std::array::from_fn(|k| {
            if FUSED { ComplexField::mul_add(a[k], b[k], c[k]) } else { a[k] * b[k] + c[k] }
        }))
    }
    #[inline(always)]
    unsafe fn subtract_from(self, x: Self, y: Self) -> Self {
        // SAFETY: as here.
        unsafe { Array(self.0.map(|x| -x)).mul_add(x, y) }
    }
    #[inline(always)]
    unsafe fn mul(self, x: Self) -> Self {
        Array(std::array::from_fn(|k| self.0[k] * x.0[k]))
    }
    #[inline(always)]
    unsafe fn add(self, x: Self) -> Self {
        Array(std::array::from_fn(|k| self.0[k] + x.0[k]))
    }
    #[inline(always)]
    unsafe fn sub(self, x: Self) -> Self {
        Array(std::array::from_fn(|k| self.0[k] - x.0[k]))
    }
    #[inline(always)]
    unsafe fn abs(self) -> Self {
        Array(self.0.map(ComplexField::abs))
    }
}

/// The registers of x86-64.
#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use std::arch::x86_64::*;

    use super::Vector;

    macro_rules! register {
        ($(#[$doc:meta])* $Name:ident($Register:ty) = $F:ty, $width:literal, $columns:literal:
         $splat:ident $load:ident $store:ident $fma:ident $fnma:ident $mul:ident $add:ident $sub:ident |$x:ident| $abs:expr) => {
            $(#[$doc])*
            #[derive(Clone, Copy)]
            #[repr(transparent)]
            pub(in super::super) struct $Name($Register);

            impl Vector for $Name {
                type Float = $F;
                const WIDTH: usize = $width;
                const COLUMNS: usize = $columns;

                #[inline(always)]
                unsafe fn splat(x: $F) -> Self {
                    // SAFETY: the CPU has the instruction, by the contract; so for all that follow.
                    $Name(unsafe { $splat(x) })
                }
                #[inline(always)]
                unsafe fn load(from: *const $F) -> Self {
                    // SAFETY: the contract; the load is an unaligned one.
                    $Name(unsafe { $load(from) })
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut $F) {
                    // SAFETY: the contract; the store is an unaligned one.
                    unsafe { $store(to, self.0) }
                }
                #[inline(always)]
                unsafe fn mul_add(self, x: Self, y: Self) -> Self {
                    // SAFETY: the contract.
                    $Name(unsafe { $fma(self.0, x.0, y.0) })
                }
                #[inline(always)]
                unsafe fn subtract_from(self, x: Self, y: Self) -> Self {
                    // SAFETY: the contract.
                    $Name(unsafe { $fnma(self.0, x.0, y.0) })
                }
                #[inline(always)]
                unsafe fn mul(self, x: Self) -> Self {
                    // SAFETY: the contract.
                    $Name(unsafe { $mul(self.0, x.0) })
                }
                #[inline(always)]
                unsafe fn add(self, x: Self) -> Self {
                    // SAFETY: the contract.
                    $Name(unsafe { $add(self.0, x.0) })
                }
                #[inline(always)]
                unsafe fn sub(self, x: Self) -> Self {
                    // SAFETY: the contract.
                    $Name(unsafe { $sub(self.0, x.0) })
                }
                #[inline(always)]
                unsafe fn abs(self) -> Self {
                    let $x = self.0;
                    // SAFETY: the contract.
                    $Name(unsafe { $abs })
                }
            }
        };
    }

    register! {
        /// Eight doubles; needs AVX-512F.
        D8(__m512d) = f64, 8, 4: _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_fmadd_pd _mm512_fnmadd_pd
        _mm512_mul_pd _mm512_add_pd _mm512_sub_pd |x| _mm512_abs_pd(x)
    }
    register! {
        /// Four doubles; needs AVX and FMA.
        D4(__m256d) = f64, 4, 2: _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_fmadd_pd _mm256_fnmadd_pd
        _mm256_mul_pd _mm256_add_pd _mm256_sub_pd |x| _mm256_andnot_pd(_mm256_set1_pd(-0.0), x)
    }
    register! {
        /// Eight singles; needs AVX and FMA.
        S8(__m256) = f32, 8, 2: _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_fmadd_ps _mm256_fnmadd_ps
        _mm256_mul_ps _mm256_add_ps _mm256_sub_ps |x| _mm256_andnot_ps(_mm256_set1_ps(-0.0), x)
    }
    register! {
        /// Four singles; needs FMA.
        S4(__m128) = f32, 4, 2: _mm_set1_ps _mm_loadu_ps _mm_storeu_ps _mm_fmadd_ps _mm_fnmadd_ps
        _mm_mul_ps _mm_add_ps _mm_sub_ps |x| _mm_andnot_ps(_mm_set1_ps(-0.0), x)
    }
}
