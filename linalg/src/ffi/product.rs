//! The calls into the product kernels of the crate `gemm`: those of `f32` and `f64`.
//!
//! They are named one by one, and complex products are made of real ones on the real and imaginary parts where they
//! lie: the kernels for complex numbers and for half floats would take longer to compile than the rest of the crate,
//! and do the same multiplications.

use gemm_common::Parallelism;
use nalgebra::{DMatrixView, DMatrixViewMut};
use num_complex::Complex;
use num_traits::Zero;

use super::Native;
use crate::flags::Trans;

/// Where the entries of a matrix are: `(i, j)` at `i * down + j * right`.
#[derive(Clone, Copy)]
pub(crate) struct Entries<P> {
    pub(crate) start: P,
    pub(crate) down: usize,
    pub(crate) right: usize,
}

/// Rows and columns of the product, and the length of the sums.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
}

/// A scalar whose products the crate `gemm` computes, or those of its parts.
pub(crate) trait Multiply: Copy {
    /// `C = β C + α A B`, where `conj` says which of A and B are conjugated and `β = 0` overwrites C without reading it.
    ///
    /// # Safety
    /// The entries of A (m x k), B (k x n) and C (m x n) may be read, those of C be written and are exclusively
    /// borrowed. With `β = 0` they may hold anything.
    unsafe fn multiply(
        sizes: Sizes,
        alpha: Self,
        a: Entries<*const Self>,
        b: Entries<*const Self>,
        conj: (bool, bool),
        beta: Self,
        c: Entries<*mut Self>,
    );
}

macro_rules! multiply {
    ($($F:ident $kernels:ident;)*) => { $(
        impl Multiply for $F {
            unsafe fn multiply(
                Sizes { m, n, k }: Sizes,
                alpha: $F,
                a: Entries<*const $F>,
                b: Entries<*const $F>,
                _conj: (bool, bool),
                beta: $F,
                c: Entries<*mut $F>,
            ) {
                let stride = |s: usize| s as isize;
                // The kernels want C by columns: else Cᵀ = Bᵀ Aᵀ.
                if c.right < c.down {
                    let turned = |x: Entries<*const $F>| Entries { start: x.start, down: x.right, right: x.down };
                    let c = Entries { start: c.start, down: c.right, right: c.down };
                    // SAFETY: the same entries.
                    return unsafe {
                        Self::multiply(Sizes { m: n, n: m, k }, alpha, turned(b), turned(a), (false, false), beta, c)
                    };
                }
                // SAFETY: the contract; the sizes and strides are those of the entries.
                unsafe {
                    $kernels::gemm::$F::get_gemm_fn()(
                        m,
                        n,
                        k,
                        c.start,
                        stride(c.right),
                        stride(c.down),
                        beta != 0.0,
                        a.start,
                        stride(a.right),
                        stride(a.down),
                        b.start,
                        stride(b.right),
                        stride(b.down),
                        beta,
                        alpha,
                        false,
                        false,
                        false,
                        Parallelism::None,
                    )
                }
            }
        }

        impl Multiply for Complex<$F> {
            unsafe fn multiply(
                sizes: Sizes,
                alpha: Self,
                a: Entries<*const Self>,
                b: Entries<*const Self>,
                (conj_a, conj_b): (bool, bool),
                beta: Self,
                c: Entries<*mut Self>,
            ) {
                for j in 0..sizes.n {
                    for i in 0..sizes.m {
                        // SAFETY: entry (i, j) of C; only written to where β is zero.
                        unsafe {
                            let entry = c.start.add(i * c.down + j * c.right);
                            entry.write(if beta.is_zero() { beta } else { beta * entry.read() });
                        }
                    }
                }
                // The real (0) or imaginary (1) parts.
                let part = |x: Entries<*const Self>, part: usize| Entries {
                    // SAFETY: a complex number is its real and its imaginary part in a row.
                    start: unsafe { x.start.cast::<$F>().add(part) },
                    down: 2 * x.down,
                    right: 2 * x.right,
                };
                let sign = |conj: bool, part: usize| if conj && part == 1 { -1.0 } else { 1.0 };
                for (p, q) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    // A_p B_q is a real part of A B but for i^(p + q), and α times that is a part of the result.
                    let s = sign(conj_a, p) * sign(conj_b, q);
                    let unit = [Self::new(s, 0.0), Self::new(0.0, s), Self::new(-s, 0.0)][p + q];
                    let factor = alpha * unit;
                    for (to, factor) in [(0, factor.re), (1, factor.im)] {
                        if factor != 0.0 {
                            let c = part(Entries { start: c.start.cast_const(), down: c.down, right: c.right }, to);
                            let c = Entries { start: c.start.cast_mut(), down: c.down, right: c.right };
                            // SAFETY: the contract, for the parts; C was written above.
                            unsafe {
                                $F::multiply(sizes, factor, part(a, p), part(b, q), (false, false), 1.0, c);
                            }
                        }
                    }
                }
            }
        }
    )* };
}

multiply! {
    f32 gemm_f32;
    f64 gemm_f64;
}

/// `C = α op(A) op(B) + β C`, where `β = 0` overwrites `C` without reading it.
///
/// The shapes must fit; they are checked here only because memory safety hangs on them.
pub(crate) fn product<T: Native>(
    ta: Trans,
    tb: Trans,
    alpha: T,
    a: DMatrixView<'_, T>,
    b: DMatrixView<'_, T>,
    beta: T,
    mut c: DMatrixViewMut<'_, T>,
) {
    let (m, n) = c.shape();
    let (_, k) = ta.shape(a.shape());
    assert!(ta.shape(a.shape()) == (m, k) && tb.shape(b.shape()) == (k, n), "gemm: shapes do not fit");
    let entries = |x: &DMatrixView<'_, T>, t: Trans| {
        let (down, right) = x.strides();
        let (down, right) = if t.swaps() { (right, down) } else { (down, right) };
        Entries { start: x.as_ptr(), down, right }
    };
    let (down, right) = c.strides();
    let conj = (ta == Trans::ConjTrans, tb == Trans::ConjTrans);
    let (a, b, c) = (entries(&a, ta), entries(&b, tb), Entries { start: c.as_mut_ptr(), down, right });
    // SAFETY: op(A) is m x k and op(B) is k x n at the strides of their views, C is m x n at its own and exclusively
    // borrowed.
    unsafe { T::multiply(Sizes { m, n, k }, alpha, a, b, conj, beta, c) }
}
