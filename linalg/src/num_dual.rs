//! The rules for the numbers of num-dual: `Dual`, `DualSVec`, `HyperDual` and `Dual2` over floats. (`DualDVec` is not
//! `Copy` and has none: use chunks of lanes.)

use dualpack_core::{Dual, Real};
use nalgebra::SVector;
use num_dual::{Derivative, DualNum};

use crate::lapack::Lapack;
use crate::scalar::TangentBatch;

impl<F: Real<Base = F> + Lapack> TangentBatch for num_dual::Dual<F>
where
    Self: Real<Base = F>,
{
    type Primal = F;
    const TANGENTS: usize = 1;

    #[inline]
    fn primal(&self) -> F {
        self.re
    }
    #[inline]
    fn lane(&self, _: usize) -> F {
        self.eps
    }
    #[inline]
    fn set_primal(&mut self, primal: F) {
        self.re = primal;
    }
    #[inline]
    fn set_lane(&mut self, _: usize, lane: F) {
        self.eps = lane;
    }
}

impl<F: Real<Base = F> + Lapack + DualNum, const N: usize> TangentBatch for num_dual::DualSVec<F, N>
where
    Self: Real<Base = F>,
{
    type Primal = F;
    const TANGENTS: usize = N;

    #[inline]
    fn primal(&self) -> F {
        self.re
    }
    #[inline]
    fn lane(&self, k: usize) -> F {
        // An absent derivative is zero.
        self.eps.0.map_or(F::zero(), |eps| eps[k])
    }
    #[inline]
    fn set_primal(&mut self, primal: F) {
        self.re = primal;
    }
    #[inline]
    fn set_lane(&mut self, k: usize, lane: F) {
        let mut eps = self.eps.0.unwrap_or_else(SVector::zeros);
        eps[k] = lane;
        self.eps = Derivative::some(eps);
    }
}

/// One lane over a dual number with one lane.
macro_rules! second_order {
    ($($Type:ident { $first:ident, $second:ident, $mixed:ident })*) => {$(
        impl<F: Real<Base = F> + Lapack> TangentBatch for num_dual::$Type<F>
        where
            Self: Real<Base = F>,
        {
            type Primal = Dual<F, 1>;
            const TANGENTS: usize = 1;

            #[inline]
            fn primal(&self) -> Dual<F, 1> {
                Dual::new(self.re, [self.$second])
            }
            #[inline]
            fn lane(&self, _: usize) -> Dual<F, 1> {
                Dual::new(self.$first, [self.$mixed])
            }
            #[inline]
            fn set_primal(&mut self, primal: Dual<F, 1>) {
                self.re = primal.value;
                self.$second = primal.eps[0];
            }
            #[inline]
            fn set_lane(&mut self, _: usize, lane: Dual<F, 1>) {
                self.$first = lane.value;
                self.$mixed = lane.eps[0];
            }
        }
    )*};
}

second_order! {
    HyperDual { eps1, eps2, eps1eps2 }
    Dual2 { v1, v1, v2 }
}
