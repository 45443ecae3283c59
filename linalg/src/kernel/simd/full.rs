//! Registers as such: all their lanes count, and some of them may be entries of a row side by side.

use std::array::from_fn;

use dualpack_core::Base;
use nalgebra::ComplexField;

use super::{Array, Simd};

/// Registers all of whose lanes are used, and what is done with entries of one matrix side by side in them.
pub(in crate::kernel) trait Full<F: Base>: Simd<F, Whole = Self> {
    const FULL: Self;
    /// How many columns of four accumulators fit the registers.
    const COLUMNS: usize;

    /// `x + y`
    ///
    /// # Safety
    /// See [`load`](Simd::load); so also for what follows.
    unsafe fn add(self, x: Self::V, y: Self::V) -> Self::V;

    /// `x - y`
    ///
    /// # Safety
    /// See [`add`](Full::add).
    unsafe fn sub(self, x: Self::V, y: Self::V) -> Self::V;

    /// `|x|`
    ///
    /// # Safety
    /// See [`add`](Full::add).
    unsafe fn abs(self, x: Self::V) -> Self::V;

    /// The first `count` lanes from memory, anything in the others.
    ///
    /// # Safety
    /// So many lanes may be read.
    #[inline(always)]
    unsafe fn load_part(self, start: *const F, count: usize) -> Self::V {
        // SAFETY: the contract; no register has more than eight lanes.
        unsafe {
            if count == Self::WIDTH {
                return self.load(start);
            }
            if count == 1 {
                return self.splat(start.read());
            }
            let mut some = [F::zero(); 8];
            for k in 0..count {
                some[k] = start.add(k).read();
            }
            self.load(some.as_ptr())
        }
    }

    /// The first `count` lanes into memory.
    ///
    /// # Safety
    /// So many lanes may be written.
    #[inline(always)]
    unsafe fn store_part(self, start: *mut F, count: usize, x: Self::V) {
        // SAFETY: as in `load_part`.
        unsafe {
            if count == Self::WIDTH {
                return self.store(start, x);
            }
            let mut some = [F::zero(); 8];
            self.store(some.as_mut_ptr(), x);
            for k in 0..count {
                start.add(k).write(some[k]);
            }
        }
    }

    /// The first lane.
    ///
    /// # Safety
    /// See [`add`](Full::add).
    #[inline(always)]
    unsafe fn first(self, x: Self::V) -> F {
        let mut all = [F::zero(); 8];
        // SAFETY: no register has more than eight lanes.
        unsafe { self.store(all.as_mut_ptr(), x) };
        all[0]
    }

    /// The lower half of the lanes and the upper one, each from its place in memory.
    ///
    /// # Safety
    /// Half of a register may be read at both places.
    unsafe fn load_halves(self, lower: *const F, upper: *const F) -> Self::V;

    /// The lower half of the lanes to one place in memory, then the upper half to another.
    ///
    /// # Safety
    /// Half of a register may be written at both places.
    unsafe fn store_halves(self, lower: *mut F, upper: *mut F, x: Self::V);

    /// Two numbers, one in the lower half of the lanes, the next one in the upper half.
    ///
    /// # Safety
    /// Two numbers may be read.
    unsafe fn splat_pair(self, start: *const F) -> Self::V;
}

impl<F: Base, const W: usize, const FUSED: bool> Full<F> for Array<W, FUSED> {
    const FULL: Self = Array;
    const COLUMNS: usize = 1;

    #[inline(always)]
    unsafe fn add(self, x: [F; W], y: [F; W]) -> [F; W] {
        from_fn(|k| x[k] + y[k])
    }

    #[inline(always)]
    unsafe fn sub(self, x: [F; W], y: [F; W]) -> [F; W] {
        from_fn(|k| x[k] - y[k])
    }

    #[inline(always)]
    unsafe fn abs(self, x: [F; W]) -> [F; W] {
        x.map(ComplexField::abs)
    }

    #[inline(always)]
    unsafe fn load_halves(self, lower: *const F, upper: *const F) -> [F; W] {
        // SAFETY: the contract.
        from_fn(|k| unsafe { if k < W / 2 { lower.add(k) } else { upper.add(k - W / 2) }.read() })
    }

    #[inline(always)]
    unsafe fn store_halves(self, lower: *mut F, upper: *mut F, x: [F; W]) {
        for (k, x) in x.into_iter().enumerate() {
            // SAFETY: the contract.
            unsafe { if k < W / 2 { lower.add(k) } else { upper.add(k - W / 2) }.write(x) };
        }
    }

    #[inline(always)]
    unsafe fn splat_pair(self, start: *const F) -> [F; W] {
        // SAFETY: the contract.
        from_fn(|k| unsafe { start.add(k / (W / 2)).read() })
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Full;
    use crate::kernel::simd::x86::{Eight, Four};

    macro_rules! full {
        ($($Type:ident $F:ident $V:ident $COLUMNS:literal: $add:ident $sub:ident
           |$x:ident, $y:ident| $abs:expr, $pair:expr;
           |$lower:ident, $upper:ident| $load:expr, $store:expr;)*) => {$(
            impl Full<$F> for $Type {
                const FULL: $Type = $Type;
                const COLUMNS: usize = $COLUMNS;

                #[inline(always)]
                unsafe fn add(self, x: $V, y: $V) -> $V {
                    // SAFETY: the contract.
                    unsafe { $add(x, y) }
                }

                #[inline(always)]
                unsafe fn sub(self, x: $V, y: $V) -> $V {
                    // SAFETY: the contract.
                    unsafe { $sub(x, y) }
                }

                #[inline(always)]
                unsafe fn abs(self, $x: $V) -> $V {
                    // SAFETY: the contract.
                    unsafe { $abs }
                }

                #[inline(always)]
                unsafe fn load_halves(self, $lower: *const $F, $upper: *const $F) -> $V {
                    // SAFETY: the contract; the loads are unaligned ones.
                    unsafe { $load }
                }

                #[inline(always)]
                unsafe fn store_halves(self, $lower: *mut $F, $upper: *mut $F, $x: $V) {
                    // SAFETY: the contract; the stores are unaligned ones.
                    unsafe { $store };
                }

                #[inline(always)]
                unsafe fn splat_pair(self, start: *const $F) -> $V {
                    // SAFETY: the contract.
                    let ($x, $y) = unsafe { (start.read(), start.add(1).read()) };
                    // SAFETY: the contract.
                    unsafe { $pair }
                }
            }
        )*};
    }

    full! {
        Eight f64 __m512d 4: _mm512_add_pd _mm512_sub_pd
            |x, y| _mm512_abs_pd(x), _mm512_mask_blend_pd(0xf0, _mm512_set1_pd(x), _mm512_set1_pd(y));
            |lower, upper| _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(lower)), _mm256_loadu_pd(upper), 1),
            (
                _mm256_storeu_pd(lower, _mm512_castpd512_pd256(x)),
                _mm256_storeu_pd(upper, _mm512_extractf64x4_pd(x, 1)),
            );
        Four f64 __m256d 2: _mm256_add_pd _mm256_sub_pd
            |x, y| _mm256_andnot_pd(_mm256_set1_pd(-0.0), x),
            _mm256_blend_pd(_mm256_set1_pd(x), _mm256_set1_pd(y), 0b1100);
            |lower, upper| _mm256_set_m128d(_mm_loadu_pd(upper), _mm_loadu_pd(lower)),
            _mm256_storeu2_m128d(upper, lower, x);
        Eight f32 __m256 2: _mm256_add_ps _mm256_sub_ps
            |x, y| _mm256_andnot_ps(_mm256_set1_ps(-0.0), x),
            _mm256_blend_ps(_mm256_set1_ps(x), _mm256_set1_ps(y), 0xf0);
            |lower, upper| _mm256_set_m128(_mm_loadu_ps(upper), _mm_loadu_ps(lower)),
            _mm256_storeu2_m128(upper, lower, x);
        Four f32 __m128 2: _mm_add_ps _mm_sub_ps
            |x, y| _mm_andnot_ps(_mm_set1_ps(-0.0), x), _mm_set_ps(y, y, x, x);
            |lower, upper| _mm_set_ps(upper.add(1).read(), upper.read(), lower.add(1).read(), lower.read()),
            {
                let mut all = [0.0; 4];
                _mm_storeu_ps(all.as_mut_ptr(), x);
                lower.cast::<[f32; 2]>().write([all[0], all[1]]);
                upper.cast::<[f32; 2]>().write([all[2], all[3]]);
            };
    }
}
