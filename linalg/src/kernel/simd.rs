//! Vectors of explicit width. LLVM prefers 256 bits even where 512 are twice as fast, so the kernels whose speed is that
//! of the multiplications say what they want.

use std::marker::PhantomData;

use dualpack_core::Base;
use nalgebra::ComplexField;

mod full;

pub(super) use full::Full;

/// A few lanes side by side, and what the kernels do with them. Every operation is the same in each lane.
pub(super) trait Simd<F>: Copy {
    type V: Copy;
    /// The same with all of its lanes, of which a part is used.
    type Whole: Simd<F, V = Self::V>;

    /// Lanes of `Whole`.
    const WIDTH: usize;

    fn whole(self) -> Self::Whole;

    /// # Safety
    /// The lanes from `start` on may be read; the CPU has the instructions of this type. The latter also holds below.
    unsafe fn load(self, start: *const F) -> Self::V;

    /// # Safety
    /// The lanes from `start` on may be written.
    unsafe fn store(self, start: *mut F, x: Self::V);

    /// One number in all lanes.
    ///
    /// # Safety
    /// See [`load`](Simd::load).
    unsafe fn splat(self, x: F) -> Self::V;

    /// `y - f x`
    ///
    /// # Safety
    /// See [`load`](Simd::load).
    unsafe fn minus(self, y: Self::V, f: Self::V, x: Self::V) -> Self::V;

    /// `y + f x`
    ///
    /// # Safety
    /// See [`load`](Simd::load).
    unsafe fn plus(self, y: Self::V, f: Self::V, x: Self::V) -> Self::V;

    /// `x / f`
    ///
    /// # Safety
    /// See [`load`](Simd::load).
    unsafe fn over(self, x: Self::V, f: Self::V) -> Self::V;

    /// `x f`
    ///
    /// # Safety
    /// See [`load`](Simd::load).
    unsafe fn times(self, x: Self::V, f: Self::V) -> Self::V;

    /// The two numbers at `start`, repeated.
    ///
    /// # Safety
    /// They may be read; see [`load`](Simd::load).
    unsafe fn pairs(self, start: *const F) -> Self::V;

    /// Each number with an even index, also in place of the one after it.
    ///
    /// # Safety
    /// See [`load`](Simd::load).
    unsafe fn evens(self, x: Self::V) -> Self::V;

    /// The numbers of `x` with an even index, those of `y` with an odd one.
    ///
    /// # Safety
    /// See [`load`](Simd::load).
    unsafe fn merge(self, x: Self::V, y: Self::V) -> Self::V;
}

/// `W` lanes without instructions of a certain CPU; `y - f x` is rounded once where `FUSED`.
#[derive(Clone, Copy)]
pub(super) struct Array<const W: usize, const FUSED: bool>;

impl<F: ComplexField + Copy, const W: usize, const FUSED: bool> Simd<F> for Array<W, FUSED> {
    type V = [F; W];
    type Whole = Self;
    const WIDTH: usize = W;

    #[inline(always)]
    fn whole(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn load(self, start: *const F) -> [F; W] {
        // SAFETY: the contract; an array needs no more alignment than its entries.
        unsafe { start.cast::<[F; W]>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, start: *mut F, x: [F; W]) {
        // SAFETY: as in `load`.
        unsafe { start.cast::<[F; W]>().write(x) }
    }

    #[inline(always)]
    unsafe fn splat(self, x: F) -> [F; W] {
        [x; W]
    }

    #[inline(always)]
    unsafe fn minus(self, mut y: [F; W], f: [F; W], x: [F; W]) -> [F; W] {
        for k in 0..W {
            y[k] = if FUSED { (-f[k]).mul_add(x[k], y[k]) } else { y[k] - f[k] * x[k] };
        }
        y
    }

    #[inline(always)]
    unsafe fn plus(self, mut y: [F; W], f: [F; W], x: [F; W]) -> [F; W] {
        for k in 0..W {
            y[k] = if FUSED { f[k].mul_add(x[k], y[k]) } else { y[k] + f[k] * x[k] };
        }
        y
    }

    #[inline(always)]
    unsafe fn over(self, mut x: [F; W], f: [F; W]) -> [F; W] {
        for k in 0..W {
            x[k] /= f[k];
        }
        x
    }

    #[inline(always)]
    unsafe fn times(self, mut x: [F; W], f: [F; W]) -> [F; W] {
        for k in 0..W {
            x[k] *= f[k];
        }
        x
    }

    #[inline(always)]
    unsafe fn pairs(self, start: *const F) -> [F; W] {
        // SAFETY: one of the two numbers of the contract.
        std::array::from_fn(|k| unsafe { start.add(k % 2).read() })
    }

    #[inline(always)]
    unsafe fn evens(self, x: [F; W]) -> [F; W] {
        std::array::from_fn(|k| x[k - k % 2])
    }

    #[inline(always)]
    unsafe fn merge(self, x: [F; W], y: [F; W]) -> [F; W] {
        std::array::from_fn(|k| if k % 2 == 0 { x[k] } else { y[k] })
    }
}

/// What is done with each group of lanes.
pub(super) trait Job<F> {
    /// # Safety
    /// The lanes of `m` from number `lane` on are lanes of the matrices that the job is about, and the CPU has the
    /// instructions of `M`.
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize);
}

/// A piece of work that is a function of its own. The compiler takes much longer for one large function than for its
/// parts: what is inlined into a kernel is optimised together.
pub(super) trait Task {
    type Output;

    /// # Safety
    /// That of the work, and the CPU has the instructions that it is made for.
    unsafe fn run(&self) -> Self::Output;
}

/// A job whose groups are functions of their own.
struct Apart<'a, C, J> {
    job: &'a J,
    machine: PhantomData<C>,
}

impl<F: Base, C: Machine<F>, J: Job<F>> Job<F> for Apart<'_, C, J> {
    #[inline(always)]
    unsafe fn run<M: Simd<F>>(&self, m: M, lane: usize) {
        // SAFETY: the contract.
        unsafe { C::call(&Group { job: self.job, m, lane, float: PhantomData }) }
    }
}

/// What a job does with a group of lanes.
struct Group<'a, F, J, M> {
    job: &'a J,
    m: M,
    lane: usize,
    float: PhantomData<F>,
}

impl<F: Base, J: Job<F>, M: Simd<F>> Task for Group<'_, F, J, M> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(&self) {
        // SAFETY: the contract.
        unsafe { self.job.run(self.m, self.lane) }
    }
}

/// How a kind of CPU works on lanes.
pub(super) trait Machine<F: Base>: Copy {
    /// Whether multiplications and additions are fused.
    const FUSED: bool;
    /// The widest group, and its lanes.
    type Wide: Full<F>;
    const WIDE: Self::Wide;
    const WIDEST: usize;
    /// One number.
    type One: Full<F, V = [F; 1]>;
    const ONE: Self::One;
    /// Two numbers.
    type Two: Simd<F>;
    const TWO: Self::Two;
    /// Four numbers.
    type Four: Full<F>;
    const FOUR: Self::Four;

    /// Runs a job for all lanes, group by group.
    ///
    /// # Safety
    /// As for [`Job::run`], for `lanes` lanes; the CPU is of this kind.
    unsafe fn each<J: Job<F>>(lanes: usize, job: &J);

    /// [`each`](Machine::each), with a function for each kind of group.
    ///
    /// # Safety
    /// As for `each`.
    #[inline(always)]
    unsafe fn each_apart<J: Job<F>>(lanes: usize, job: &J) {
        // SAFETY: the contract.
        unsafe { Self::each(lanes, &Apart::<Self, J> { job, machine: PhantomData }) }
    }

    /// How many lanes at the end [`each`](Machine::each) takes one by one.
    #[inline(always)]
    fn singles(lanes: usize) -> usize {
        lanes % 4
    }

    /// Runs a task, not inlined.
    ///
    /// # Safety
    /// As for [`Task::run`]; the CPU is of this kind.
    unsafe fn call<T: Task>(task: &T) -> T::Output;
}

/// Nothing but what the compiler was told about the CPU, fused where `FUSED`.
#[derive(Clone, Copy)]
pub(super) struct Portable<const FUSED: bool>;

impl<F: Base, const FUSED: bool> Machine<F> for Portable<FUSED> {
    const FUSED: bool = FUSED;
    type Wide = Array<4, FUSED>;
    const WIDE: Array<4, FUSED> = Array;
    const WIDEST: usize = 4;
    type One = Array<1, FUSED>;
    const ONE: Array<1, FUSED> = Array;
    type Two = Array<2, FUSED>;
    const TWO: Array<2, FUSED> = Array;
    type Four = Array<4, FUSED>;
    const FOUR: Array<4, FUSED> = Array;

    #[inline(always)]
    unsafe fn each<J: Job<F>>(lanes: usize, job: &J) {
        let mut lane = 0;
        while lane < lanes {
            // SAFETY: the groups end at `lanes`.
            unsafe {
                match lanes - lane {
                    4.. => (job.run(Array::<4, FUSED>, lane), lane += 4).1,
                    _ => (job.run(Array::<1, FUSED>, lane), lane += 1).1,
                }
            }
        }
    }

    #[inline(never)]
    unsafe fn call<T: Task>(task: &T) -> T::Output {
        // SAFETY: the contract.
        unsafe { task.run() }
    }
}

/// `f32` and `f64`, with what runs them fastest on each kind of CPU.
pub(super) trait Float: Base {
    #[cfg(target_arch = "x86_64")]
    type Avx512: Machine<Self>;
    #[cfg(target_arch = "x86_64")]
    type Avx2: Machine<Self>;
}

#[cfg(target_arch = "x86_64")]
impl Float for f64 {
    type Avx512 = x86::Avx512;
    type Avx2 = x86::Avx2;
}

#[cfg(target_arch = "x86_64")]
impl Float for f32 {
    type Avx512 = x86::Avx512;
    type Avx2 = x86::Avx2;
}

#[cfg(not(target_arch = "x86_64"))]
impl Float for f64 {}

#[cfg(not(target_arch = "x86_64"))]
impl Float for f32 {}

/// The machine that the program is compiled for.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
pub(super) type Here = x86::Avx512;
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx2",
    target_feature = "fma",
    not(all(target_feature = "avx512f", target_feature = "avx512vl"))
))]
pub(super) type Here = x86::Avx2;
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx2", target_feature = "fma")))]
pub(super) type Here = Portable<{ cfg!(target_feature = "fma") }>;

/// Whether code for [`Here`] computes the same bits as what is chosen at run time: not where the CPU may fuse what the
/// program was not compiled to fuse.
pub(super) const SAME_BITS: bool = cfg!(not(target_arch = "x86_64"))
    || cfg!(all(target_arch = "x86_64", target_feature = "avx2", target_feature = "fma"));

/// Makes `$name` out of `$body`, which is generic over the float, the [`Machine`], and the height of its panels:
/// compiled for every kind of CPU, chosen at run time.
///
/// What `$body` is made of has to be inlined into it: a closure that is not, such as one that allocates memory or one in
/// another (`from_fn` in `from_fn`), is compiled for the baseline, where each vector operation is a call.
macro_rules! machines {
    ($(#[$doc:meta])* $vis:vis unsafe fn $name:ident<$F:ident>($($arg:ident: $ty:ty),* $(,)?) $(-> $out:ty)? => $body:ident) => {
        $crate::kernel::compiled!($name<$F>($($ty),*) $(-> $out)?);

        $(#[$doc])*
        #[inline(never)]
        $vis unsafe fn $name<$F: $crate::kernel::simd::Float>($($arg: $ty),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512vl,avx2,fma")]
                unsafe fn avx512<$F: $crate::kernel::simd::Float>($($arg: $ty),*) $(-> $out)? {
                    // SAFETY: the contract is the caller's.
                    unsafe { $body::<$F, $F::Avx512, 4>($($arg),*) }
                }
                #[target_feature(enable = "avx2,fma")]
                unsafe fn avx2<$F: $crate::kernel::simd::Float>($($arg: $ty),*) $(-> $out)? {
                    // SAFETY: the contract is the caller's.
                    unsafe { $body::<$F, $F::Avx2, 2>($($arg),*) }
                }
                // Eight singles are half a register of AVX-512, and all of one of AVX2: a third copy of every kernel would
                // cost more time of the compiler than it gains.
                if const { size_of::<$F>() > 4 }
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                {
                    // SAFETY: the CPU has the features, of which AVX2 and FMA are parts; the rest of the contract is the
                    // caller's.
                    return unsafe { avx512($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the CPU has both features; the rest of the contract is the caller's.
                    return unsafe { avx2($($arg),*) };
                }
            }
            // SAFETY: the contract is the caller's.
            unsafe { $body::<$F, $crate::kernel::simd::Portable<{ cfg!(target_feature = "fma") }>, 2>($($arg),*) }
        }
    };
}
pub(super) use machines;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use dualpack_core::Base;

    use super::{Array, Full, Job, Machine, Simd, Task};

    /// Eight lanes of AVX-512 for `f64`, of AVX for `f32`.
    #[derive(Clone, Copy)]
    pub struct Eight;

    /// Four lanes of AVX for `f64`, of SSE for `f32`.
    #[derive(Clone, Copy)]
    pub struct Four;

    /// The first one to seven lanes of eight, with AVX-512; zero in the others.
    #[derive(Clone, Copy)]
    pub struct Part(__mmask8);

    /// A CPU with AVX-512.
    #[derive(Clone, Copy)]
    pub struct Avx512;

    /// A CPU with AVX2 and FMA.
    #[derive(Clone, Copy)]
    pub struct Avx2;

    impl<F: Base> Machine<F> for Avx512
    where
        Eight: Full<F>,
        Four: Full<F>,
        Part: Simd<F>,
    {
        const FUSED: bool = true;
        type Wide = Eight;
        const WIDE: Eight = Eight;
        const WIDEST: usize = 8;
        type One = Array<1, true>;
        const ONE: Array<1, true> = Array;
        type Two = Array<2, true>;
        const TWO: Array<2, true> = Array;
        type Four = Four;
        const FOUR: Four = Four;

        #[inline(always)]
        unsafe fn each<J: Job<F>>(lanes: usize, job: &J) {
            let mut lane = 0;
            // SAFETY: the groups end at `lanes`.
            unsafe {
                while lanes - lane >= 8 {
                    job.run(Eight, lane);
                    lane += 8;
                }
                match lanes - lane {
                    0 => {}
                    // What a masked store wrote is slow to load again.
                    1 => job.run(Array::<1, true>, lane),
                    4 => job.run(Four, lane),
                    rest => job.run(Part((1 << rest) - 1), lane),
                }
            }
        }

        #[inline(always)]
        fn singles(lanes: usize) -> usize {
            if lanes % 8 == 1 { 1 } else { 0 }
        }

        #[inline(always)]
        unsafe fn call<T: Task>(task: &T) -> T::Output {
            #[target_feature(enable = "avx512f,avx512vl,avx2,fma")]
            #[inline(never)]
            unsafe fn compiled<T: Task>(task: &T) -> T::Output {
                // SAFETY: the contract.
                unsafe { task.run() }
            }
            // SAFETY: the contract.
            unsafe { compiled(task) }
        }
    }

    macro_rules! avx2 {
        ($F:ident $Wide:ident $WIDEST:literal) => {
            impl Machine<$F> for Avx2 {
                const FUSED: bool = true;
                type Wide = $Wide;
                const WIDE: $Wide = $Wide;
                const WIDEST: usize = $WIDEST;
                type One = Array<1, true>;
                const ONE: Array<1, true> = Array;
                type Two = Array<2, true>;
                const TWO: Array<2, true> = Array;
                type Four = Four;
                const FOUR: Four = Four;

                #[inline(always)]
                unsafe fn each<J: Job<$F>>(lanes: usize, job: &J) {
                    let mut lane = 0;
                    while lane < lanes {
                        // SAFETY: the groups end at `lanes`.
                        unsafe {
                            if lanes - lane >= $WIDEST {
                                job.run($Wide, lane);
                                lane += $WIDEST;
                            } else if lanes - lane >= 4 {
                                job.run(Four, lane);
                                lane += 4;
                            } else {
                                job.run(Array::<1, true>, lane);
                                lane += 1;
                            }
                        }
                    }
                }

                #[inline(always)]
                unsafe fn call<T: Task>(task: &T) -> T::Output {
                    #[target_feature(enable = "avx2,fma")]
                    #[inline(never)]
                    unsafe fn compiled<T: Task>(task: &T) -> T::Output {
                        // SAFETY: the contract.
                        unsafe { task.run() }
                    }
                    // SAFETY: the contract.
                    unsafe { compiled(task) }
                }
            }
        };
    }
    avx2!(f64 Four 4);
    avx2!(f32 Eight 8);

    macro_rules! vectors {
        ($($Type:ident $F:ident $V:ident $Whole:ident $WIDTH:literal |$self:ident, $start:ident, $x:ident| $load:expr, $store:expr;
           $splat:ident $minus:ident $plus:ident $over:ident $times:ident $evens:ident;
           |$two:ident| $pairs:expr, |$even:ident, $odd:ident| $merge:expr)*) => {$(
            impl Simd<$F> for $Type {
                type V = $V;
                type Whole = $Whole;
                const WIDTH: usize = $WIDTH;

                #[inline(always)]
                fn whole(self) -> $Whole {
                    $Whole
                }

                #[inline(always)]
                unsafe fn load($self, $start: *const $F) -> $V {
                    // SAFETY: the contract.
                    unsafe { $load }
                }

                #[inline(always)]
                unsafe fn store($self, $start: *mut $F, $x: $V) {
                    // SAFETY: the contract.
                    unsafe { $store }
                }

                #[inline(always)]
                unsafe fn splat(self, x: $F) -> $V {
                    // SAFETY: the contract.
                    unsafe { $splat(x) }
                }

                #[inline(always)]
                unsafe fn minus(self, y: $V, f: $V, x: $V) -> $V {
                    // SAFETY: the contract.
                    unsafe { $minus(f, x, y) }
                }

                #[inline(always)]
                unsafe fn plus(self, y: $V, f: $V, x: $V) -> $V {
                    // SAFETY: the contract.
                    unsafe { $plus(f, x, y) }
                }

                #[inline(always)]
                unsafe fn over(self, x: $V, f: $V) -> $V {
                    // SAFETY: the contract.
                    unsafe { $over(x, f) }
                }

                #[inline(always)]
                unsafe fn times(self, x: $V, f: $V) -> $V {
                    // SAFETY: the contract.
                    unsafe { $times(x, f) }
                }

                #[inline(always)]
                unsafe fn pairs(self, $two: *const $F) -> $V {
                    // SAFETY: the contract.
                    unsafe { $pairs }
                }

                #[inline(always)]
                unsafe fn evens(self, x: $V) -> $V {
                    // SAFETY: the contract.
                    unsafe { $evens(x) }
                }

                #[inline(always)]
                unsafe fn merge(self, $even: $V, $odd: $V) -> $V {
                    // SAFETY: the contract.
                    unsafe { $merge }
                }
            }
        )*};
    }

    vectors! {
        Eight f64 __m512d Eight 8 |self, start, x| _mm512_loadu_pd(start), _mm512_storeu_pd(start, x);
            _mm512_set1_pd _mm512_fnmadd_pd _mm512_fmadd_pd _mm512_div_pd _mm512_mul_pd _mm512_movedup_pd;
            |two| _mm512_castps_pd(_mm512_broadcast_f32x4(_mm_loadu_ps(two.cast()))), |even, odd| _mm512_mask_blend_pd(0xaa, even, odd)
        Part f64 __m512d Eight 8 |self, start, x|
            _mm512_maskz_loadu_pd(self.0, start), _mm512_mask_storeu_pd(start, self.0, x);
            _mm512_set1_pd _mm512_fnmadd_pd _mm512_fmadd_pd _mm512_div_pd _mm512_mul_pd _mm512_movedup_pd;
            |two| _mm512_castps_pd(_mm512_broadcast_f32x4(_mm_loadu_ps(two.cast()))), |even, odd| _mm512_mask_blend_pd(0xaa, even, odd)
        Four f64 __m256d Four 4 |self, start, x| _mm256_loadu_pd(start), _mm256_storeu_pd(start, x);
            _mm256_set1_pd _mm256_fnmadd_pd _mm256_fmadd_pd _mm256_div_pd _mm256_mul_pd _mm256_movedup_pd;
            |two| _mm256_broadcast_pd(&two.cast::<__m128d>().read_unaligned()), |even, odd| _mm256_blend_pd::<0b1010>(even, odd)
        Eight f32 __m256 Eight 8 |self, start, x| _mm256_loadu_ps(start), _mm256_storeu_ps(start, x);
            _mm256_set1_ps _mm256_fnmadd_ps _mm256_fmadd_ps _mm256_div_ps _mm256_mul_ps _mm256_moveldup_ps;
            |two| _mm256_castpd_ps(_mm256_set1_pd(two.cast::<f64>().read_unaligned())), |even, odd| _mm256_blend_ps::<0xaa>(even, odd)
        Part f32 __m256 Eight 8 |self, start, x|
            _mm512_castps512_ps256(_mm512_maskz_loadu_ps(self.0 as __mmask16, start)),
            _mm512_mask_storeu_ps(start, self.0 as __mmask16, _mm512_castps256_ps512(x));
            _mm256_set1_ps _mm256_fnmadd_ps _mm256_fmadd_ps _mm256_div_ps _mm256_mul_ps _mm256_moveldup_ps;
            |two| _mm256_castpd_ps(_mm256_set1_pd(two.cast::<f64>().read_unaligned())), |even, odd| _mm256_blend_ps::<0xaa>(even, odd)
        Four f32 __m128 Four 4 |self, start, x| _mm_loadu_ps(start), _mm_storeu_ps(start, x);
            _mm_set1_ps _mm_fnmadd_ps _mm_fmadd_ps _mm_div_ps _mm_mul_ps _mm_moveldup_ps;
            |two| _mm_castpd_ps(_mm_set1_pd(two.cast::<f64>().read_unaligned())), |even, odd| _mm_blend_ps::<0b1010>(even, odd)
    }
}
