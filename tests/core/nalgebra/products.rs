//! Products are long enough here to reach the blocked kernels of nalgebra.

use dualpack_core::{Dual, Dual2, HyperDual, Real};
use nalgebra::DMatrix;

use crate::support::matrices::Random;

/// The tangent of A B is dA B + A dB, at a size where `f64` itself takes another road.
fn product_rule<S: Real<Base = f64>>(make: impl Fn(f64, f64) -> S, tangent: impl Fn(S) -> f64) {
    let mut random = Random::new(5);
    let [a, da, b, db] = [(); 4].map(|()| random.matrix(24, 24));
    let x = a.zip_map(&da, &make);
    let y = b.zip_map(&db, &make);
    let product = x * y;
    let want = &da * &b + &a * &db;
    let value = &a * &b;
    for (k, z) in product.iter().enumerate() {
        assert!((z.base() - value[k]).abs() < 1e-13);
        assert!((tangent(*z) - want[k]).abs() < 1e-13, "{z}");
    }
}

#[test]
fn every_scalar_obeys_the_product_rule() {
    product_rule(|a, t| Dual::<f64, 3>::new(a, [0.0, t, 1.0]), |z| z.eps[1]);
    product_rule(|a, t| HyperDual::<f64, 1, 2>::new(a, [1.0], [0.5, t], [[0.0; 2]]), |z| z.eps2[1]);
    product_rule(|a, t| Dual2::<f64, 2>::new(a, [t, 1.0], [[0.0; 2]; 2]), |z| z.grad[0]);
    product_rule(|a, t| Dual::<Dual<f64>>::new(Dual::constant(a), [Dual::constant(t)]), |z| z.eps[0].value);
}

#[test]
fn sums_of_matrices_of_numbers() {
    let a = DMatrix::from_fn(3, 2, |i, j| Dual::<f64>::new(i as f64, [j as f64]));
    let total: Dual<f64> = a.iter().sum();
    assert_eq!((total.value, total.eps, a.sum().eps), (6.0, [3.0], [3.0]));
    assert_eq!(a.row_sum()[1].eps, [3.0]);
    assert_eq!((a.mean().value, a.mean().eps), (1.0, [0.5]));
}
