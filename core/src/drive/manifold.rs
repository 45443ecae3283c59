//! Points on manifolds: rotations and rigid motions, moved from the right by a small motion of the body.
//!
//! A rotation has three degrees of freedom and four or nine numbers. Its derivative is taken with respect to a
//! rotation vector δ that acts on the right, `R(δ) = R exp([δ]ₓ)`, at δ = 0: exact at every rotation, the identity
//! included, where a parametrisation by an angle and an axis breaks down. [`exp_so3`](crate::exp_so3) and
//! [`log_so3`](crate::log_so3) are the maps between δ and rotations.

use nalgebra::{Isometry3, Quaternion, Rotation3, Translation3, Unit, UnitQuaternion, Vector3};

use crate::{Dual, Real};

/// The rotation `q exp(δ)` with the three components of δ as lanes 0, 1, 2 (further lanes are zero): δ turns in the
/// frame that `q` maps from, by the right-hand rule.
///
/// The tangent is `q (0, δ/2)`, exact in first order. Take logarithms of rotations by [`log_so3`](crate::log_so3):
/// nalgebra's `scaled_axis` loses all tangents at the identity, where residuals vanish.
///
/// ```
/// use dualpack_core::seed_so3;
/// use dualpack_core::nalgebra::{Matrix3, UnitQuaternion, Vector3, vector};
/// // d/dδ of q exp(δ) p = -R [p]ₓ.
/// let (q, p) = (UnitQuaternion::from_euler_angles(0.1, 0.2, 0.3), vector![1.0, 2.0, 3.0]);
/// let turned = seed_so3::<_, 3>(&q) * p.map(|p| p.into());
/// let j = Matrix3::from_fn(|i, k| turned[i].eps[k]);
/// assert!((j + q.to_rotation_matrix() * p.cross_matrix()).norm() < 1e-15);
/// ```
///
/// # Panics
/// Does not compile with fewer than three lanes.
pub fn seed_so3<T: Real, const N: usize>(q: &UnitQuaternion<T>) -> UnitQuaternion<Dual<T, N>> {
    const { assert!(N >= 3, "a rotation has three degrees of freedom: use at least three lanes") };
    seed_rotation_at(q, 0)
}

/// The rotation matrix `R exp([δ]ₓ)` with the three components of δ as lanes 0, 1, 2, see [`seed_so3`]: the tangent in
/// lane k is `R [e_k]ₓ`.
pub fn seed_rotation<T: Real, const N: usize>(r: &Rotation3<T>) -> Rotation3<Dual<T, N>> {
    const { assert!(N >= 3, "a rotation has three degrees of freedom: use at least three lanes") };
    let mut m = r.matrix().map(Dual::constant);
    for k in 0..3 {
        let mut axis = Vector3::zeros();
        axis[k] = T::one();
        let tangent = r.matrix() * axis.cross_matrix();
        for (m, t) in m.iter_mut().zip(tangent.iter()) {
            m.eps[k] = *t;
        }
    }
    Rotation3::from_matrix_unchecked(m)
}

/// The rigid motion `g exp(ξ)` with the six components of ξ = (ρ, δ) as lanes: 0, 1, 2 move along the axes of the body
/// frame, 3, 4, 5 turn about them.
///
/// At ξ = 0 the tangents are `R ρ` for the translation and those of [`seed_so3`] for the rotation.
///
/// ```
/// use dualpack_core::seed_se3;
/// use dualpack_core::nalgebra::{Isometry3, Point3, vector};
/// let g = Isometry3::new(vector![1.0, 2.0, 3.0], vector![0.0, 0.0, 0.0]);
/// let moved = seed_se3::<_, 6>(&g) * Point3::new(1.0, 0.0, 0.0).map(|p| p.into());
/// // The identity rotation is no special case. δz turns the x axis towards y.
/// assert_eq!(moved.y.value, 2.0);
/// assert_eq!(moved.y.eps, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
/// ```
///
/// # Panics
/// Does not compile with fewer than six lanes.
pub fn seed_se3<T: Real, const N: usize>(g: &Isometry3<T>) -> Isometry3<Dual<T, N>> {
    const { assert!(N >= 6, "a rigid motion has six degrees of freedom: use at least six lanes") };
    let r = g.rotation.to_rotation_matrix();
    let mut t = g.translation.vector.map(Dual::constant);
    for i in 0..3 {
        for k in 0..3 {
            t[i].eps[k] = r[(i, k)];
        }
    }
    Isometry3::from_parts(Translation3::from(t), seed_rotation_at(&g.rotation, 3))
}

/// Tangent in lane `at + k`: q (0, e_k/2).
fn seed_rotation_at<T: Real, const N: usize>(q: &UnitQuaternion<T>, at: usize) -> UnitQuaternion<Dual<T, N>> {
    let half: T = nalgebra::convert(0.5);
    let mut coords = q.coords.map(Dual::constant);
    for k in 0..3 {
        let mut axis = Vector3::zeros();
        axis[k] = half;
        let tangent = q.quaternion() * Quaternion::from_imag(axis);
        for (c, t) in coords.iter_mut().zip(tangent.coords.iter()) {
            c.eps[at + k] = *t;
        }
    }
    Unit::new_unchecked(Quaternion::from(coords))
}
