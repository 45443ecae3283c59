//! Kernels for small matrices: the lanes of an entry stay side by side, as the dual numbers store them, and are the
//! SIMD dimension. Each kernel is compiled for AVX-512, for AVX2 with FMA and for the baseline; the CPU decides at
//! run time. Every lane is computed by the same operations whatever the other lanes are.

use std::any::TypeId;
use std::marker::PhantomData;

use dualpack_core::{Base, Dual, Dual2, Real};
use nalgebra::DMatrixViewMut;

use crate::flags::Uplo;

/// Up to this order the interleaved Cholesky recurrence is used.
pub(crate) const POTRF_LIMIT: usize = 24;

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
    start: *mut F,
    rows: usize,
    /// Distances, in floats, from an entry to the one below it and to the one right of it.
    down: usize,
    right: usize,
    lanes: usize,
    order: Order,
    matrix: PhantomData<&'a mut F>,
}

/// A matrix of `Dual` over a plain float; `None` over anything else.
pub(crate) fn dual<T: Real, const N: usize>(
    mut a: DMatrixViewMut<'_, Dual<T, N>>,
) -> Option<Interleaved<'_, T::Base>> {
    let flat = TypeId::of::<T>() == TypeId::of::<T::Base>();
    flat.then(|| Interleaved {
        // `Dual` is `repr(C)` with the fields `value: T, eps: [T; N]`, and `T` is the float itself.
        start: a.as_mut_ptr().cast(),
        rows: a.nrows(),
        down: 1 + N,
        right: (1 + N) * a.strides().1,
        lanes: N,
        order: Order::First,
        matrix: PhantomData,
    })
}

/// A matrix of `Dual2` over a plain float; `None` over anything else.
pub(crate) fn dual2<T: Real, const N: usize>(
    mut a: DMatrixViewMut<'_, Dual2<T, N>>,
) -> Option<Interleaved<'_, T::Base>> {
    let flat = TypeId::of::<T>() == TypeId::of::<T::Base>();
    flat.then(|| Interleaved {
        // `Dual2` is `repr(C)` with the fields `value: T, grad: [T; N], hess: [[T; N]; N]`.
        start: a.as_mut_ptr().cast(),
        rows: a.nrows(),
        down: 1 + N + N * N,
        right: (1 + N + N * N) * a.strides().1,
        lanes: N,
        order: Order::Symmetric,
        matrix: PhantomData,
    })
}

/// A square matrix whose lower triangle is worked on; an upper one is its transpose.
#[derive(Clone, Copy)]
struct Lower<F> {
    start: *mut F,
    n: usize,
    down: usize,
    right: usize,
}

impl<F: Base> Lower<F> {
    /// The `W` floats from number `slot` on of entry `(i, j)`.
    ///
    /// # Safety
    /// `i, j < n`, the entry lies in the triangle, and has `slot + W` floats.
    #[inline(always)]
    unsafe fn load<const W: usize>(&self, i: usize, j: usize, slot: usize) -> [F; W] {
        // SAFETY: the entry is inside the matrix by the contract; floats need no more alignment than they have.
        unsafe { self.start.add(i * self.down + j * self.right + slot).cast::<[F; W]>().read() }
    }

    /// Writes what [`load`](Lower::load) reads.
    ///
    /// # Safety
    /// As for `load`.
    #[inline(always)]
    unsafe fn store<const W: usize>(&self, i: usize, j: usize, slot: usize, x: [F; W]) {
        // SAFETY: as in `load`; the matrix is exclusively borrowed by the `Interleaved` that this came from.
        unsafe { self.start.add(i * self.down + j * self.right + slot).cast::<[F; W]>().write(x) }
    }

    /// The value of an entry.
    ///
    /// # Safety
    /// As for `load`.
    #[inline(always)]
    unsafe fn value(&self, i: usize, j: usize) -> F {
        // SAFETY: slot 0 of an entry of the triangle.
        unsafe { self.load::<1>(i, j, 0)[0] }
    }
}

/// `y - f x` in every lane, rounded once where `FUSED`.
#[inline(always)]
fn subtract<F: Base, const W: usize, const FUSED: bool>(y: &mut [F; W], f: F, x: &[F; W]) {
    for k in 0..W {
        y[k] = if FUSED { (-f).mul_add(x[k], y[k]) } else { y[k] - f * x[k] };
    }
}

/// The differentiated recurrence, `W` lanes from `slot` on, where the values hold `L` already:
/// `dL_ij = (dA_ij − Σ_k<j (dL_ik L_jk + L_ik dL_jk) − L_ij dL_jj) / L_jj`.
///
/// # Safety
/// `a` describes a matrix of which every entry of the lower triangle has `slot + W` floats.
#[inline(always)]
unsafe fn potrf_first<F: Base, const W: usize, const FUSED: bool>(a: Lower<F>, slot: usize) {
    for j in 0..a.n {
        // SAFETY: all indices are below n, in the lower triangle.
        unsafe {
            let pivot = a.value(j, j);
            let mut d: [F; W] = a.load(j, j, slot);
            for k in 0..j {
                let l = a.value(j, k);
                subtract::<F, W, FUSED>(&mut d, l + l, &a.load(j, k, slot));
            }
            let d = d.map(|x| x / (pivot + pivot));
            a.store(j, j, slot, d);
            for i in j + 1..a.n {
                let mut x: [F; W] = a.load(i, j, slot);
                for k in 0..j {
                    subtract::<F, W, FUSED>(&mut x, a.value(j, k), &a.load(i, k, slot));
                    subtract::<F, W, FUSED>(&mut x, a.value(i, k), &a.load(j, k, slot));
                }
                subtract::<F, W, FUSED>(&mut x, a.value(i, j), &d);
                a.store(i, j, slot, x.map(|x| x / pivot));
            }
        }
    }
}

/// The recurrence differentiated twice, for the pairs of lane `p` with the `W` lanes from `q` on, where values and
/// first derivatives of `L` are there already.
///
/// # Safety
/// As for [`potrf_first`], with the floats of [`Order::Symmetric`] for `lanes` lanes, `p < lanes`, `q + W <= lanes`.
#[inline(always)]
unsafe fn potrf_second<F: Base, const W: usize, const FUSED: bool>(
    a: Lower<F>,
    lanes: usize,
    p: usize,
    q: usize,
) {
    let (gp, gq, slot) = (1 + p, 1 + q, 1 + lanes + lanes * p + q);
    for j in 0..a.n {
        // SAFETY: all indices are below n, in the lower triangle; the three slots lie inside an entry.
        unsafe {
            let pivot = a.value(j, j);
            let (pj, qj): ([F; 1], [F; W]) = (a.load(j, j, gp), a.load(j, j, gq));
            let mut h: [F; W] = a.load(j, j, slot);
            for k in 0..j {
                let (l, [g]) = (a.value(j, k), a.load::<1>(j, k, gp));
                subtract::<F, W, FUSED>(&mut h, l + l, &a.load(j, k, slot));
                subtract::<F, W, FUSED>(&mut h, g + g, &a.load(j, k, gq));
            }
            subtract::<F, W, FUSED>(&mut h, pj[0] + pj[0], &qj);
            let h = h.map(|x| x / (pivot + pivot));
            a.store(j, j, slot, h);
            for i in j + 1..a.n {
                let mut x: [F; W] = a.load(i, j, slot);
                for k in 0..j {
                    subtract::<F, W, FUSED>(&mut x, a.value(j, k), &a.load(i, k, slot));
                    subtract::<F, W, FUSED>(&mut x, a.value(i, k), &a.load(j, k, slot));
                    subtract::<F, W, FUSED>(&mut x, a.load::<1>(i, k, gp)[0], &a.load(j, k, gq));
                    subtract::<F, W, FUSED>(&mut x, a.load::<1>(j, k, gp)[0], &a.load(i, k, gq));
                }
                subtract::<F, W, FUSED>(&mut x, a.value(i, j), &h);
                subtract::<F, W, FUSED>(&mut x, a.load::<1>(i, j, gp)[0], &qj);
                subtract::<F, W, FUSED>(&mut x, pj[0], &a.load(i, j, gq));
                a.store(i, j, slot, x.map(|x| x / pivot));
            }
        }
    }
}

/// All lanes, in groups of eight, four and one. Of [`Order::Symmetric`] only the second derivatives are computed: the
/// values and first derivatives of the factor are there already, from the primal, which is a dual number.
///
/// # Safety
/// `a` describes the lower triangle of a matrix of entries of that order.
#[inline(always)]
unsafe fn potrf_lanes<F: Base, const FUSED: bool>(a: Lower<F>, lanes: usize, order: Order) {
    // SAFETY: the groups end at `lanes`.
    unsafe {
        let mut k = 0;
        while order == Order::First && k < lanes {
            match lanes - k {
                8.. => (potrf_first::<F, 8, FUSED>(a, 1 + k), k += 8).1,
                4.. => (potrf_first::<F, 4, FUSED>(a, 1 + k), k += 4).1,
                _ => (potrf_first::<F, 1, FUSED>(a, 1 + k), k += 1).1,
            }
        }
        if order == Order::Symmetric {
            for p in 0..lanes {
                let mut q = p;
                while q < lanes {
                    match lanes - q {
                        8.. => (potrf_second::<F, 8, FUSED>(a, lanes, p, q), q += 8).1,
                        4.. => (potrf_second::<F, 4, FUSED>(a, lanes, p, q), q += 4).1,
                        _ => (potrf_second::<F, 1, FUSED>(a, lanes, p, q), q += 1).1,
                    }
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn potrf_avx512<F: Base>(a: Lower<F>, lanes: usize, order: Order) {
    // SAFETY: the caller's contract is the same.
    unsafe { potrf_lanes::<F, true>(a, lanes, order) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn potrf_avx2<F: Base>(a: Lower<F>, lanes: usize, order: Order) {
    // SAFETY: the caller's contract is the same.
    unsafe { potrf_lanes::<F, true>(a, lanes, order) }
}

/// The tangents of a Cholesky factor, in place of those of the matrix, where the primal parts hold those of the factor
/// already (of `Dual2`: values and first derivatives).
pub(crate) fn potrf<F: Base>(uplo: Uplo, matrix: Interleaved<'_, F>) {
    let Interleaved { start, rows: n, down, right, lanes, order, .. } = matrix;
    // A = Uᵀ U is the factorization of the transpose.
    let (down, right) = if uplo == Uplo::Lower { (down, right) } else { (right, down) };
    let a = Lower { start, n, down, right };
    // SAFETY (all three): `Interleaved` is made from an exclusive view of a square matrix whose entries consist of
    // the floats that `order` and `lanes` say; the CPU has been asked for the features.
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: see above.
            return unsafe { potrf_avx512(a, lanes, order) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: see above.
            return unsafe { potrf_avx2(a, lanes, order) };
        }
    }
    // SAFETY: see above.
    unsafe { potrf_lanes::<F, { cfg!(target_feature = "fma") }>(a, lanes, order) }
}
