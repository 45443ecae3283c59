//! Seeds on manifolds, against differences along the exponential map.

use dualpack::nalgebra::{
    Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3, Vector6, vector,
};
use dualpack::{
    Dual, Dual2, Dual2_64, Dual64, Real, exp_so3, jacobian, log_so3, seed_rotation, seed_se3, seed_so3,
};

fn rotations() -> Vec<UnitQuaternion<f64>> {
    vec![
        UnitQuaternion::identity(),
        UnitQuaternion::from_scaled_axis(vector![1e-9, -2e-9, 1e-10]),
        UnitQuaternion::from_euler_angles(0.3, -1.2, 2.0),
        // By pi, and the antipode of the identity.
        UnitQuaternion::from_scaled_axis(vector![0.0, std::f64::consts::PI, 0.0]),
        UnitQuaternion::new_unchecked(-UnitQuaternion::<f64>::identity().into_inner()),
    ]
}

fn exp(d: Vector3<f64>) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(d)
}

/// Central differences along unit vectors, extrapolated once.
fn differences<const N: usize>(f: impl Fn(usize, f64) -> Vector3<f64>) -> [Vector3<f64>; N] {
    std::array::from_fn(|k| {
        let d = |h: f64| (f(k, h) - f(k, -h)) / (2.0 * h);
        (d(1e-3) * 4.0 - d(2e-3)) / 3.0
    })
}

#[test]
fn rotations_move_by_the_exponential_on_the_right() {
    let p = vector![0.3, -2.0, 1.5];
    for q in rotations() {
        let want: [_; 3] = differences(|k, h| q * exp(Vector3::ith(k, h)) * p);
        let turned = seed_so3::<_, 3>(&q) * p.map(Dual::from);
        let turned_matrix = seed_rotation::<_, 3>(&q.to_rotation_matrix()) * p.map(Dual::from);
        let formula = -(q.to_rotation_matrix().into_inner() * p.cross_matrix());
        for k in 0..3 {
            assert!((turned.map(|t| t.eps[k]) - want[k]).norm() < 1e-11, "{q}, lane {k}");
            assert!((turned.map(|t| t.eps[k]) - formula.column(k)).norm() < 1e-15 * 10.0);
            assert!((turned_matrix.map(|t| t.eps[k]) - formula.column(k)).norm() < 1e-15 * 10.0);
        }
        assert!((turned.map(|t| t.value) - q * p).norm() < 1e-15);
        // The tangent stays on the sphere: |q|² is constant.
        let norm = seed_so3::<_, 3>(&q).coords.norm_squared();
        assert!(norm.eps.iter().all(|e| e.abs() < 1e-16));
    }
}

#[test]
fn motions_move_in_the_body_frame() {
    let p = Point3::new(0.3, -2.0, 1.5);
    for q in rotations() {
        let g = Isometry3::from_parts(Translation3::new(1.0, -2.0, 0.5), q);
        let want: [_; 6] = differences(|k, h| {
            let xi = Vector6::ith(k, h);
            // The exponential up to second order in ρ x δ, which a central difference does not see.
            let step = Isometry3::from_parts(
                Translation3::from(xi.fixed_rows::<3>(0).clone_owned()),
                exp(xi.fixed_rows::<3>(3).clone_owned()),
            );
            (g * step * p).coords
        });
        let moved = seed_se3::<_, 6>(&g) * p.map(Dual::from);
        for k in 0..6 {
            assert!((moved.coords.map(|t| t.eps[k]) - want[k]).norm() < 1e-11, "{q}, lane {k}");
        }
    }
}

/// The logarithm of a rotation near the identity, generic: its derivative at the identity is the identity.
#[test]
fn the_identity_is_no_special_case() {
    let q: UnitQuaternion<Dual64<3>> = seed_so3(&UnitQuaternion::identity());
    let j = Matrix3::from_fn(|i, k| (q.imag()[i] + q.imag()[i]).eps[k]);
    assert_eq!(j, Matrix3::identity());
    assert_eq!(q.w.eps, [0.0; 3]);
}

#[test]
fn more_lanes_and_nested_numbers() {
    let q = UnitQuaternion::from_euler_angles(0.3, -1.2, 2.0);
    let wide = seed_so3::<_, 8>(&q);
    assert!(wide.coords.iter().all(|c| c.eps[3..] == [0.0; 5]));
    // Second order: seeds of an already seeded rotation. Mixed parts of q exp(a) exp(b) p: R [e_i]ₓ [e_j]ₓ p.
    let nested: UnitQuaternion<Dual<Dual64<3>, 3>> = seed_so3(&seed_so3::<_, 3>(&q));
    let p = vector![0.3, -2.0, 1.5];
    let turned = nested * p.map(|p| Dual::constant(Dual::constant(p)));
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let cross = |k| Vector3::ith(k, 1.0).cross_matrix();
        let want = Rotation3::from(q) * (cross(i) * cross(j) * p);
        assert!((turned.map(|t| t.eps[j].eps[i]) - want).norm() < 1e-14, "({i}, {j})");
    }
    fn in_any_scalar<S: Real>(q: &UnitQuaternion<S>) -> S {
        q.angle()
    }
    assert!((in_any_scalar(&wide).value - q.angle()).abs() < 1e-15);
}

/// Rotation vectors on either side of where the formulas change, at zero and next to half a turn.
fn rotation_vectors() -> [Vector3<f64>; 7] {
    let axis = vector![2.0, -1.0, 2.0] / 3.0;
    [0.0, 1e-160, 1e-5, 0.19, 0.21, 1.01, 3.1].map(|angle| axis * angle)
}

#[test]
fn exponential_and_logarithm_of_rotations_have_the_values_of_nalgebra() {
    for d in rotation_vectors() {
        let q = exp_so3(&d);
        assert!((q.coords - UnitQuaternion::from_scaled_axis(d).coords).norm() < 1e-15, "{d}");
        assert!((log_so3(&q) - d).norm() <= 1e-14 * d.norm(), "{d}");
        assert_eq!(log_so3(&UnitQuaternion::new_unchecked(-q.into_inner())), log_so3(&q));
    }
    assert!(exp_so3(&vector![f64::NAN, 0.0, 0.0]).coords.iter().all(|c| c.is_nan()));
}

#[test]
fn exponential_of_rotations_against_differences() {
    for d in rotation_vectors() {
        let (_, j) = jacobian(|d| exp_so3(d).coords, &d);
        let imag: [_; 3] = differences(|k, h| exp(d + Vector3::ith(k, h)).imag());
        let real: [_; 3] = differences(|k, h| Vector3::ith(0, exp(d + Vector3::ith(k, h)).w));
        for k in 0..3 {
            assert!((j.fixed_view::<3, 1>(0, k) - imag[k]).norm() < 1e-11, "{d}, axis {k}");
            assert!((j[(3, k)] - real[k].x).abs() < 1e-11, "{d}, axis {k}");
        }
    }
}

/// log exp δ = δ: the Jacobian is the identity, the second derivatives vanish, and so do the third.
#[test]
fn logarithm_inverts_exponential_at_every_order() {
    for d in rotation_vectors() {
        let x: [Dual<Dual2_64<3>, 3>; 3] =
            std::array::from_fn(|k| Dual::variable(Dual2::variable(d[k], k), k));
        let y = log_so3(&exp_so3(&Vector3::from(x)));
        for i in 0..3 {
            for a in 0..3 {
                let unit = f64::from(u8::from(a == i));
                assert!((y[i].value.grad[a] - unit).abs() < 1e-12, "{d}");
                assert!((y[i].eps[a].value - unit).abs() < 1e-12, "{d}");
                for b in 0..3 {
                    assert!(y[i].value.hessian(a, b).abs() < 1e-11, "{d}");
                    assert!(y[i].eps[a].grad[b].abs() < 1e-11, "{d}");
                    assert!((0..3).all(|c| y[i].eps[a].hessian(b, c).abs() < 1e-9), "{d}");
                }
            }
        }
    }
}
