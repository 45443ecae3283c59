//! Numbers as slices of floats.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use dualpack_core::{Dual, Dual2, HyperDual, Real};
use nalgebra::DMatrix;

/// No padding: a number is as large as its floats, and an array of numbers is their floats in order.
fn layout<T: Real + Pod>(floats: usize) {
    assert_eq!(size_of::<T>(), floats * size_of::<f64>());
    assert_eq!(align_of::<T>(), align_of::<f64>());
    let numbers = vec![T::zeroed(); 3];
    assert!(numbers.iter().all(|x| x.same(T::zero())));
    assert_eq!(cast_slice::<T, f64>(&numbers).len(), 3 * floats);
}

#[test]
fn numbers_are_their_floats() {
    layout::<Dual<f64, 0>>(1);
    layout::<Dual<f64, 1>>(2);
    layout::<Dual<f64, 15>>(16);
    layout::<HyperDual<f64, 2, 3>>(12);
    layout::<HyperDual<f64, 0, 3>>(4);
    layout::<Dual2<f64, 3>>(13);
    layout::<Dual<Dual<f64, 2>, 3>>(12);
    layout::<Dual2<Dual<f64>, 2>>(14);
}

#[test]
fn casts_of_slices() {
    let mut a = DMatrix::from_fn(2, 2, |i, j| Dual::<f64, 2>::new((i + 2 * j) as f64, [10.0, 20.0]));
    let floats: &[f64] = cast_slice(a.as_slice());
    assert_eq!(floats, [0.0, 10.0, 20.0, 1.0, 10.0, 20.0, 2.0, 10.0, 20.0, 3.0, 10.0, 20.0]);
    let back: &[Dual<f64, 2>] = cast_slice(floats);
    assert!(back[3].same(Dual::new(3.0, [10.0, 20.0])));
    cast_slice_mut::<Dual<f64, 2>, f64>(a.as_mut_slice())[4] = -1.0;
    assert_eq!(a[(1, 0)].eps, [-1.0, 20.0]);
    let h = [HyperDual::<f32, 1, 2>::new(1.0, [2.0], [3.0, 4.0], [[5.0, 6.0]])];
    assert_eq!(cast_slice::<_, f32>(&h), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let bytes: &[u8] = cast_slice(&h);
    assert_eq!(bytes.len(), 24);
}
