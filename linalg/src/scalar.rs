//! The scalars of the linear algebra: [`Scalar`], and how a number with tangents comes apart: [`TangentBatch`].

use dualpack_core::{Dual, Dual2, HyperDual, Real};
use nalgebra::{ComplexField, DMatrixView, DMatrixViewMut};
use num_complex::Complex;

use crate::kernel::{self, Interleaved, InterleavedRef};
use crate::lapack::Lapack;

/// The float at the bottom of a scalar: `f32` or `f64`.
pub type BaseOf<T> = <<T as ComplexField>::RealField as Real>::Base;

/// A real or complex number over a real scalar of dualpack: floats, duals, and `Complex` of them.
pub trait Scalar: ComplexField<RealField: Real> + Copy {
    /// Whether the innermost value (both parts of a complex one) is finite. Tangents are not looked at.
    fn value_is_finite(self) -> bool {
        self.real().base().is_finite() && self.imaginary().base().is_finite()
    }
}

impl<T: ComplexField<RealField: Real> + Copy> Scalar for T {}

/// A number that is a primal and a batch of tangent lanes over it: what a LAPACK rule needs to know about a dual
/// number.
///
/// `HyperDual<T, M, N>` comes apart as `M` lanes over `Dual<T, N>`, `Complex<Dual<T, N>>` as `N` lanes over
/// `Complex<T>`. A type that implements this has every routine of [`Lapack`] by the rules of this crate.
// This, not `Lapack`, is the bound that the compiler reports as missing where `Lapack` is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar with LAPACK routines",
    label = "expected f32, f64, Complex of them, or a dual number over them",
    note = "in generic code write the bound `T: Lapack`, or `T: Lapack + Real`, instead of `T: Real` or `T: ComplexField`",
    note = "num-dual's Dual, DualSVec and HyperDual need the feature `num-dual`; its DualDVec is not Copy and has no rules"
)]
pub trait TangentBatch: Scalar {
    /// The scalar that the primal problem is solved in; itself a dual number in nested types.
    type Primal: Lapack<RealField: Real<Base = BaseOf<Self>>>;

    /// How many tangent lanes a number carries. (Not called `LANES`: that is simba's constant of every scalar.)
    const TANGENTS: usize;

    /// The undifferentiated part.
    fn primal(&self) -> Self::Primal;

    /// The tangent in lane `k < TANGENTS`.
    fn lane(&self, k: usize) -> Self::Primal;

    /// Replaces the undifferentiated part.
    fn set_primal(&mut self, primal: Self::Primal);

    /// Replaces the tangent in lane `k < TANGENTS`.
    fn set_lane(&mut self, k: usize, lane: Self::Primal);

    /// The matrix as interleaved floats, for the kernels that keep the lanes of an entry side by side in a register;
    /// `None` for types that are not laid out like that. A routine asks for this before it splits into planes.
    fn interleaved(_a: DMatrixViewMut<'_, Self>) -> Option<Interleaved<'_, BaseOf<Self>>> {
        None
    }

    /// [`interleaved`](TangentBatch::interleaved), for an operand that is only read.
    fn interleaved_ref(_a: DMatrixView<'_, Self>) -> Option<InterleavedRef<'_, BaseOf<Self>>> {
        None
    }
}

impl<T: Real + Lapack, const N: usize> TangentBatch for Dual<T, N> {
    type Primal = T;
    const TANGENTS: usize = N;

    #[inline]
    fn primal(&self) -> T {
        self.value
    }
    #[inline]
    fn lane(&self, k: usize) -> T {
        self.eps[k]
    }
    #[inline]
    fn set_primal(&mut self, primal: T) {
        self.value = primal;
    }
    #[inline]
    fn set_lane(&mut self, k: usize, lane: T) {
        self.eps[k] = lane;
    }
    #[inline(always)]
    fn interleaved(a: DMatrixViewMut<'_, Self>) -> Option<Interleaved<'_, BaseOf<Self>>> {
        kernel::dual_mut(a)
    }
    #[inline(always)]
    fn interleaved_ref(a: DMatrixView<'_, Self>) -> Option<InterleavedRef<'_, BaseOf<Self>>> {
        kernel::dual(a)
    }
}

impl<T: Real + Lapack, const M: usize, const N: usize> TangentBatch for HyperDual<T, M, N> {
    type Primal = Dual<T, N>;
    const TANGENTS: usize = M;

    #[inline]
    fn primal(&self) -> Dual<T, N> {
        Dual::new(self.value, self.eps2)
    }
    #[inline]
    fn lane(&self, k: usize) -> Dual<T, N> {
        Dual::new(self.eps1[k], self.eps12[k])
    }
    #[inline]
    fn set_primal(&mut self, primal: Dual<T, N>) {
        self.value = primal.value;
        self.eps2 = primal.eps;
    }
    #[inline]
    fn set_lane(&mut self, k: usize, lane: Dual<T, N>) {
        self.eps1[k] = lane.value;
        self.eps12[k] = lane.eps;
    }
}

/// `N` lanes over `Dual<T, N>`, each with the full row of second derivatives; the kernels for interleaved floats
/// compute each pair once.
impl<T: Real + Lapack, const N: usize> TangentBatch for Dual2<T, N> {
    type Primal = Dual<T, N>;
    const TANGENTS: usize = N;

    #[inline]
    fn primal(&self) -> Dual<T, N> {
        Dual::new(self.value, self.grad)
    }
    #[inline]
    fn lane(&self, k: usize) -> Dual<T, N> {
        Dual::new(self.grad[k], std::array::from_fn(|j| self.hessian(k, j)))
    }
    #[inline]
    fn set_primal(&mut self, primal: Dual<T, N>) {
        self.value = primal.value;
        self.grad = primal.eps;
    }
    #[inline]
    fn set_lane(&mut self, k: usize, lane: Dual<T, N>) {
        self.grad[k] = lane.value;
        self.hess[k][k..].copy_from_slice(&lane.eps[k..]);
    }
    #[inline(always)]
    fn interleaved(a: DMatrixViewMut<'_, Self>) -> Option<Interleaved<'_, BaseOf<Self>>> {
        kernel::dual2_mut(a)
    }
    #[inline(always)]
    fn interleaved_ref(a: DMatrixView<'_, Self>) -> Option<InterleavedRef<'_, BaseOf<Self>>> {
        kernel::dual2(a)
    }
}

/// A complex number of duals is a batch of complex numbers, over the complex of what the duals are batches over.
macro_rules! complex {
    ($([$($generics:tt)*] $D:ty;)*) => {$(
        impl<$($generics)*> TangentBatch for Complex<$D>
        where
            $D: Real + TangentBatch<Primal: Real<Base = BaseOf<$D>>>,
            Complex<<$D as TangentBatch>::Primal>: Lapack<RealField = <$D as TangentBatch>::Primal>,
            Complex<$D>: Scalar<RealField = $D>,
        {
            type Primal = Complex<<$D as TangentBatch>::Primal>;
            const TANGENTS: usize = <$D as TangentBatch>::TANGENTS;

            #[inline]
            fn primal(&self) -> Self::Primal {
                Complex::new(self.re.primal(), self.im.primal())
            }
            #[inline]
            fn lane(&self, k: usize) -> Self::Primal {
                Complex::new(self.re.lane(k), self.im.lane(k))
            }
            #[inline]
            fn set_primal(&mut self, primal: Self::Primal) {
                self.re.set_primal(primal.re);
                self.im.set_primal(primal.im);
            }
            #[inline]
            fn set_lane(&mut self, k: usize, lane: Self::Primal) {
                self.re.set_lane(k, lane.re);
                self.im.set_lane(k, lane.im);
            }
        }
    )*};
}

complex! {
    [T: Real + Lapack, const N: usize] Dual<T, N>;
    [T: Real + Lapack, const M: usize, const N: usize] HyperDual<T, M, N>;
    [T: Real + Lapack, const N: usize] Dual2<T, N>;
}
