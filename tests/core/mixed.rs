//! Products of float matrices with matrices of numbers.

use dualpack_core::{Dual, Dual2, HyperDual, MulMixed, assert_dual_eq};
use nalgebra::{DMatrix, DVector, Matrix2x3, Matrix3x2, Vector3};

use crate::support::matrices::Random;

#[test]
fn both_orders_equal_the_product_of_lifted_matrices() {
    let mut random = Random::new(11);
    let a = random.matrix(4, 3);
    let x = DMatrix::from_fn(3, 2, |_, _| Dual::<f64, 3>::new(random.signed(), [random.signed(), 0.0, 1.0]));
    let want = a.map(Dual::<f64, 3>::constant) * &x;
    let got = a.mul_mixed(&x);
    got.iter().zip(&want).for_each(|(g, w)| assert_dual_eq!(*g, *w, 1e-15));
    let want = x.transpose() * a.transpose().map(Dual::<f64, 3>::constant);
    let got = x.transpose().mul_mixed(&a.transpose());
    got.iter().zip(&want).for_each(|(g, w)| assert_dual_eq!(*g, *w, 1e-15));
}

#[test]
fn every_shape_of_number_and_storage() {
    let a = Matrix2x3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
    let h = Vector3::from_fn(|i, _| HyperDual::<f64>::variable(i as f64, 0, 0));
    let y = a.mul_mixed(&h);
    assert_eq!((y[1].value, y[1].eps1, y[1].eps12), (17.0, [15.0], [[0.0]]));
    let s = Vector3::from_fn(|i, _| Dual2::<f64, 3>::variable(i as f64, i));
    assert_eq!(a.mul_mixed(&s)[0].grad, [1.0, 2.0, 3.0]);
    let n = DVector::from_fn(3, |i, _| Dual::<Dual<f64>>::variable(Dual::variable(i as f64, 0), 0));
    assert_eq!(a.mul_mixed(&n)[1].eps[0].value, 15.0);
    let t = Matrix3x2::from_fn(|i, j| Dual::<f32>::variable((i + j) as f32, 0));
    let y = t.mul_mixed(&nalgebra::Vector2::new(1.0_f32, 2.0));
    assert_eq!((y[2].value, y[2].eps), (8.0, [3.0]));
    // A view, and no columns.
    let wide = DMatrix::from_element(3, 5, 1.0);
    assert_eq!(wide.columns(1, 3).mul_mixed(&n)[0].value.value, 3.0);
    assert_eq!(wide.mul_mixed(&DMatrix::<Dual<f64>>::zeros(5, 0)).shape(), (3, 0));
}

/// A zero entry is no reason to skip a tangent, and a NaN tangent is not hidden by a zero.
#[test]
fn zeros_are_multiplied() {
    let a = DMatrix::from_row_slice(1, 2, &[0.0, 1.0]);
    let x = DVector::from_vec(vec![Dual::<f64>::new(1.0, [f64::NAN]), Dual::new(0.0, [2.0])]);
    assert!(a.mul_mixed(&x)[0].eps[0].is_nan());
    let d = DMatrix::from_element(1, 1, Dual::<f64>::new(0.0, [3.0]));
    assert_eq!(d.mul_mixed(&DMatrix::from_element(1, 1, 2.0))[0].eps, [6.0]);
}

#[test]
#[should_panic(expected = "mul_mixed: a 2 x 3 matrix times a 2 x 1 matrix")]
fn shapes_are_checked() {
    DMatrix::from_element(2, 3, 1.0).mul_mixed(&DMatrix::from_element(2, 1, Dual::<f64>::constant(1.0)));
}
