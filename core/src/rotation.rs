//! Exponential and logarithm of rotations, smooth at the identity.
//!
//! nalgebra's return the identity, or zero, at an angle of exactly zero without looking at the axis, and the tangent is
//! lost at the one place where filters and optimisers linearise. What is smooth there are functions of the squared
//! angle: power series near zero, and closed forms away from it.

use nalgebra::{Quaternion, Unit, UnitQuaternion, Vector3, convert};

use crate::Real;

/// The rotation about the axis δ by the angle |δ|: nalgebra's `UnitQuaternion::from_scaled_axis` with all derivatives
/// at δ = 0, where that one has none.
///
/// ```text
/// q = (cos √z, δ/2 · sin √z / √z),   z = |δ|²/4
/// ```
///
/// ```
/// use dualpack_core::{exp_so3, jacobian};
/// use dualpack_core::nalgebra::{Vector3, vector};
/// // Turning p by a small δ moves it by δ × p.
/// let p = vector![1.0, 2.0, 3.0];
/// let (_, j) = jacobian(|d| exp_so3(d) * p.map(|p| p.into()), &Vector3::zeros());
/// assert_eq!(j, -p.cross_matrix());
/// ```
pub fn exp_so3<T: Real>(delta: &Vector3<T>) -> UnitQuaternion<T> {
    let half = delta * convert::<f64, T>(0.5);
    let z = half.norm_squared();
    let (cos, sinc) = if z < convert(0.25) {
        // Σ (-z)^k / (2k)! and Σ (-z)^k / (2k + 1)!
        let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
        (series(-z, |k| 1.0 / factorial(2 * k)), series(-z, |k| 1.0 / factorial(2 * k + 1)))
    } else {
        let r = z.sqrt();
        (r.cos(), r.sin() / r)
    };
    Unit::new_unchecked(Quaternion::from_parts(cos, half * sinc))
}

/// The rotation vector of `q`, of length π at most: nalgebra's `scaled_axis` with all derivatives at the identity, where
/// that one has none.
///
/// ```text
/// δ = 2 v atan2(|v|, w) / |v| = (2 v / w) · atan √u / √u,   u = |v|²/w²
/// ```
///
/// `q` and `-q` are one rotation; the one with w >= 0 counts. At half a turn, w = 0, the logarithm jumps; the derivative
/// there is that of the branch taken.
///
/// ```
/// use dualpack_core::{log_so3, nalgebra::{Matrix3, UnitQuaternion}, seed_so3};
/// // The residual log(measured⁻¹ q exp(δ)) of a pose that agrees with its measurement.
/// let q = UnitQuaternion::from_euler_angles(0.1, 0.2, 0.3);
/// let residual = log_so3(&(q.inverse().cast() * seed_so3::<_, 3>(&q)));
/// let j = Matrix3::from_fn(|i, k| residual[i].eps[k]);
/// assert!((j - Matrix3::identity()).norm() < 1e-15);
/// ```
pub fn log_so3<T: Real>(q: &UnitQuaternion<T>) -> Vector3<T> {
    let (w, v) = if q.w < T::zero() { (-q.w, -q.imag()) } else { (q.w, q.imag()) };
    let (s, two) = (v.norm_squared(), convert::<f64, T>(2.0));
    if s < w * w * convert(0.01) {
        // Σ (-u)^k / (2k + 1)
        v * (two / w * series(-s / (w * w), |k| 1.0 / (2 * k + 1) as f64))
    } else {
        let r = s.sqrt();
        v * (two * r.atan2(w) / r)
    }
}

/// Σ c(k) x^k: at |x| <= 1/4 and the coefficients above the first term left out is below rounding, also after six
/// derivatives.
fn series<T: Real>(x: T, c: impl Fn(usize) -> f64) -> T {
    (0..16).rev().fold(T::zero(), |sum, k| sum * x + convert(c(k)))
}
