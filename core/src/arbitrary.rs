//! `quickcheck`: numbers with arbitrary parts; shrinking keeps the tangents.

use quickcheck::{Arbitrary, Gen};

use crate::{Dual, Dual2, HyperDual, Real};

impl<T: Real + Arbitrary, const N: usize> Arbitrary for Dual<T, N> {
    fn arbitrary(g: &mut Gen) -> Self {
        Self { value: T::arbitrary(g), eps: core::array::from_fn(|_| T::arbitrary(g)) }
    }
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let x = *self;
        Box::new(x.value.shrink().map(move |value| Self { value, ..x }))
    }
}

impl<T: Real + Arbitrary, const M: usize, const N: usize> Arbitrary for HyperDual<T, M, N> {
    fn arbitrary(g: &mut Gen) -> Self {
        Self {
            value: T::arbitrary(g),
            eps1: core::array::from_fn(|_| T::arbitrary(g)),
            eps2: core::array::from_fn(|_| T::arbitrary(g)),
            eps12: core::array::from_fn(|_| core::array::from_fn(|_| T::arbitrary(g))),
        }
    }
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let x = *self;
        Box::new(x.value.shrink().map(move |value| Self { value, ..x }))
    }
}

impl<T: Real + Arbitrary, const N: usize> Arbitrary for Dual2<T, N> {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut x = Self::constant(T::arbitrary(g));
        x.grad = core::array::from_fn(|_| T::arbitrary(g));
        for i in 0..N {
            for j in i..N {
                x.hess[i][j] = T::arbitrary(g);
            }
        }
        x
    }
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let x = *self;
        Box::new(x.value.shrink().map(move |value| Self { value, ..x }))
    }
}
