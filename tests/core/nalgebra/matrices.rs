//! Matrix arithmetic of nalgebra with our numbers.

use dualpack_core::{Dual, HyperDual, assert_dual_eq};
use nalgebra::{DMatrix, DVector, Matrix3, Rotation2, SMatrix, Vector3};

type D = Dual<f64, 2>;

fn d(value: f64, a: f64, b: f64) -> D {
    Dual::new(value, [a, b])
}

#[test]
fn products_transposes_norms() {
    let a = DMatrix::from_fn(3, 3, |i, j| d((i * 3 + j) as f64, 1.0, (i as f64) - (j as f64)));
    let b = &a * &a.transpose();
    for i in 0..3 {
        for j in 0..3 {
            let want: D = (0..3).map(|k| a[(i, k)] * a[(j, k)]).sum();
            assert_dual_eq!(b[(i, j)], want, 1e-15);
        }
    }
    let v = Vector3::new(d(3.0, 1.0, 0.0), d(4.0, 0.0, 1.0), d(0.0, 0.0, 0.0));
    assert_dual_eq!(v.norm(), d(5.0, 0.6, 0.8), 1e-15);
    assert_dual_eq!(v.norm_squared(), d(25.0, 6.0, 8.0), 1e-15);
    let u = v.normalize();
    assert_dual_eq!(u[0], d(0.6, 0.128, -0.096), 1e-14);
    assert_dual_eq!(v.dot(&u), d(5.0, 0.6, 0.8), 1e-15);
    assert_dual_eq!(a.trace(), a[(0, 0)] + a[(1, 1)] + a[(2, 2)]);
    assert_dual_eq!(v.lp_norm(1), d(7.0, 1.0, 1.0));
    assert_dual_eq!(v.amax(), d(4.0, 0.0, 1.0));
    assert_dual_eq!(a.max(), a[(2, 2)]);
    let parallel = v.cross(&u)[2];
    assert!(parallel.value.abs() < 1e-15 && parallel.eps.iter().all(|t| t.abs() < 1e-15), "{parallel}");
}

/// The norm of a zero vector: constants stay constants, a direction has no derivative (`norm` of dualpack says the
/// same); its square is smooth.
#[test]
fn norm_of_zero() {
    let zero = Vector3::from_element(Dual::<f64>::constant(0.0));
    assert_eq!(zero.norm().eps, [0.0]);
    let moving = Vector3::new(Dual::<f64>::variable(0.0, 0), 0.0.into(), 0.0.into());
    assert_eq!(moving.norm_squared().eps, [0.0]);
    let h = Vector3::new(HyperDual::<f64>::variable(0.0, 0, 0), 0.0.into(), 0.0.into());
    assert_eq!(h.norm_squared().eps12, [[2.0]]);
    // norm() squares first: 0 with tangent 0 under the root, so the direction is lost in nalgebra's own sqrt.
    assert_eq!(moving.norm().eps, [0.0]);
    assert!(dualpack_core::norm(moving.as_slice()).eps[0].is_nan());
    assert!(moving.normalize()[0].value.is_nan() && moving.normalize()[0].eps[0].is_nan());
}

/// nalgebra drops a term whose factor `is_zero`: a documented limit of the scalar, which cannot be seen from outside.
#[test]
fn axpy_and_gemv_skip_a_zero_factor() {
    let x = DVector::from_element(2, Dual::<f64>::constant(1.0));
    let mut y = DVector::from_element(2, Dual::<f64>::constant(3.0));
    y.axpy(Dual::constant(2.0), &x, Dual::variable(0.0, 0));
    assert_eq!((y[0].value, y[0].eps), (2.0, [0.0]), "true tangent: 3");
    let mut y = DVector::from_element(2, Dual::<f64>::constant(3.0));
    let a = DMatrix::from_element(2, 2, Dual::<f64>::constant(1.0));
    y.gemv(Dual::variable(0.0, 0), &a, &x, Dual::constant(1.0));
    // Multiplied out instead, nothing is lost.
    let y = &a * &x * Dual::<f64>::variable(0.0, 0)
        + DVector::from_element(2, Dual::constant(3.0)) * Dual::variable(0.0, 0);
    assert_eq!((y[0].value, y[0].eps), (0.0, [5.0]));
}

#[test]
fn static_and_dynamic_agree() {
    let f = |i: usize, j: usize| d(1.0 + ((i * 5 + j * 3) % 7) as f64, i as f64, j as f64);
    let s = SMatrix::<D, 4, 4>::from_fn(f);
    let m = DMatrix::from_fn(4, 4, f);
    assert_dual_eq!(s.determinant(), m.determinant(), 1e-13);
    let (si, mi) = (s.try_inverse().expect("regular"), m.try_inverse().expect("regular"));
    si.iter()
        .zip(&mi)
        .for_each(|(x, y)| assert!((x.value - y.value).abs() < 1e-13 && (x.eps[1] - y.eps[1]).abs() < 1e-12));
}

#[test]
fn homogeneous_transforms() {
    let r = Rotation2::new(Dual::<f64>::variable(0.5, 0));
    let x = r * nalgebra::Vector2::new(Dual::constant(1.0), Dual::constant(0.0));
    assert_dual_eq!(x[0], Dual::<f64>::variable(0.5, 0).cos());
    assert_dual_eq!(x[1], Dual::<f64>::variable(0.5, 0).sin());
    let m = Matrix3::new_rotation(Dual::<f64>::variable(0.5, 0));
    assert_dual_eq!(m[(1, 0)], Dual::<f64>::variable(0.5, 0).sin());
}
