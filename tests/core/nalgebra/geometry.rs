//! nalgebra's geometry with our numbers: right away from the branches on an angle of zero, and what to write there.

use dualpack_core::{Dual, HyperDual, Real};
use nalgebra::{
    ComplexField, Isometry2, Isometry3, Matrix3, Orthographic3, Perspective3, Point2, Point3, Quaternion,
    Rotation2, Rotation3, Similarity3, Translation3, Unit, UnitComplex, UnitDualQuaternion, UnitQuaternion,
    Vector2, Vector3,
};

use crate::support::differences;

/// A function of three parameters in every scalar.
struct Function {
    name: &'static str,
    plain: fn([f64; 3]) -> Vec<f64>,
    dual: fn([Dual<f64, 3>; 3]) -> Vec<Dual<f64, 3>>,
    nested: fn([Dual<Dual<f64>>; 3]) -> Vec<Dual<Dual<f64>>>,
}

macro_rules! functions {
    ($($name:literal |$p:ident| $body:expr;)*) => { [ $( {
        fn run<S: Real>($p: [S; 3]) -> Vec<S> {
            $body
        }
        Function { name: $name, plain: run, dual: run, nested: run }
    } ),* ] };
}

fn c<S: Real>(x: f64) -> S {
    nalgebra::convert(x)
}

fn axis<S: Real>(p: [S; 3]) -> Vector3<S> {
    Vector3::from(p)
}

fn entries<S: Real>(r: &Rotation3<S>) -> Vec<S> {
    r.matrix().iter().copied().collect()
}

fn coordinates<S: Real>(q: &UnitQuaternion<S>) -> Vec<S> {
    q.coords.iter().copied().collect()
}

fn other<S: Real>() -> Rotation3<S> {
    Rotation3::from_euler_angles(c(0.4), c(-0.7), c(1.1))
}

fn size(v: &[f64]) -> f64 {
    v.iter().fold(1.0, |m, x| m.max(x.abs()))
}

/// Every type, at an ordinary point.
#[test]
fn types_of_geometry_match_differences() {
    let functions = functions! {
        "Rotation3 from an axis-angle" |p| entries(&Rotation3::new(axis(p)));
        "Rotation3 from an axis and an angle" |p| entries(&Rotation3::from_axis_angle(&Unit::new_normalize(axis(p)), p[0] * p[1]));
        "Rotation3 from Euler angles" |p| entries(&Rotation3::from_euler_angles(p[0], p[1], p[2]));
        "Rotation3, its log" |p| Rotation3::new(axis(p)).scaled_axis().iter().copied().collect();
        "Rotation3, its Euler angles" |p| { let (r, s, t) = Rotation3::new(axis(p)).euler_angles(); vec![r, s, t] };
        "Rotation3, axis and angle" |p| { let (a, t) = Rotation3::new(axis(p)).axis_angle().expect("not the identity"); vec![a[0], a[1], a[2], t] };
        "Rotation3 slerp" |p| entries(&Rotation3::new(axis(p)).slerp(&other(), p[0]));
        "Rotation3 power" |p| entries(&Rotation3::new(axis(p)).powf(p[1]));
        "Rotation3 between vectors" |p| entries(&Rotation3::rotation_between(&axis(p), &Vector3::new(c(1.0), c(2.0), c(-0.5))).expect("not opposite"));
        "Rotation3 look at" |p| entries(&Rotation3::look_at_rh(&axis(p), &Vector3::y()));
        "Rotation3 from a matrix" |p| entries(&Rotation3::from_matrix(&(Matrix3::identity() + axis(p).cross_matrix())));
        "UnitQuaternion from an axis-angle" |p| coordinates(&UnitQuaternion::new(axis(p)));
        "UnitQuaternion, its log" |p| UnitQuaternion::new(axis(p)).scaled_axis().iter().copied().collect();
        "UnitQuaternion, its angle" |p| vec![UnitQuaternion::new(axis(p)).angle()];
        "UnitQuaternion slerp" |p| coordinates(&UnitQuaternion::new(axis(p)).slerp(&UnitQuaternion::from_rotation_matrix(&other()), p[0]));
        "UnitQuaternion power" |p| coordinates(&UnitQuaternion::new(axis(p)).powf(p[2]));
        "UnitQuaternion from a rotation" |p| coordinates(&UnitQuaternion::from_rotation_matrix(&Rotation3::new(axis(p))));
        "UnitQuaternion on a vector" |p| (UnitQuaternion::new(axis(p)) * axis(p).yxz()).iter().copied().collect();
        "Quaternion exp and ln" |p| { let q = Quaternion::new(p[0], p[1], p[2], c(0.3)); [q.exp(), q.ln(), q.powf(p[0])].iter().flat_map(|q| q.coords.iter().copied().collect::<Vec<_>>()).collect() };
        "Rotation2" |p| Rotation2::new(p[0]).slerp(&Rotation2::new(p[1]), p[2]).matrix().iter().copied().collect();
        "Rotation2 between vectors" |p| vec![Rotation2::rotation_between(&Vector2::new(p[0], p[1]), &Vector2::new(p[1], p[2])).angle()];
        "UnitComplex" |p| { let z = UnitComplex::new(p[0]).powf(p[1]) * UnitComplex::new(p[2]); vec![z.re, z.im, z.angle()] };
        "Isometry2" |p| { let q = Isometry2::new(Vector2::new(p[0], p[1]), p[2]) * Point2::new(p[1], p[2]); vec![q.x, q.y] };
        "Isometry3, its inverse and interpolation" |p| {
            let m = Isometry3::new(axis(p).zyx(), axis(p));
            let q = m.lerp_slerp(&m.inverse(), p[0]) * Point3::new(p[2], p[0], p[1]);
            vec![q.x, q.y, q.z]
        };
        "Isometry3 look at" |p| { let q = Isometry3::look_at_rh(&Point3::from(axis(p)), &Point3::origin(), &Vector3::y()) * Point3::new(c(1.0), c(2.0), c(3.0)); vec![q.x, q.y, q.z] };
        "Similarity3" |p| { let q = Similarity3::new(axis(p), axis(p).zyx(), p[0] + c(2.0)).inverse() * Point3::new(c(1.0), c(2.0), c(3.0)); vec![q.x, q.y, q.z] };
        "Translation3" |p| { let q = Translation3::from(axis(p)).inverse() * Point3::new(p[1], p[0], p[2]); vec![q.x, q.y, q.z] };
        "UnitDualQuaternion" |p| { let q = UnitDualQuaternion::from_isometry(&Isometry3::new(axis(p).zyx(), axis(p))) * Point3::new(p[2], p[0], p[1]); vec![q.x, q.y, q.z] };
        "UnitDualQuaternion sclerp" |p| {
            let a = UnitDualQuaternion::from_isometry(&Isometry3::new(axis(p).zyx(), axis(p)));
            let b = UnitDualQuaternion::from_isometry(&Isometry3::new(axis(p), axis(p).yxz()));
            let q = a.sclerp(&b, p[0]) * Point3::new(p[2], p[0], p[1]);
            vec![q.x, q.y, q.z]
        };
        "Perspective3" |p| { let q = Perspective3::new(p[0] + c(1.5), p[1] + c(2.0), c(0.1), c(10.0)).project_point(&Point3::new(p[0], p[1], p[2] - c(3.0))); vec![q.x, q.y, q.z] };
        "Orthographic3" |p| { let q = Orthographic3::new(p[0], p[0] + c(2.0), p[1], p[1] + c(2.0), c(0.1), c(10.0)).project_point(&Point3::from(axis(p))); vec![q.x, q.y, q.z] };
    };
    let at = [0.3, -0.5, 0.8];
    for f in &functions {
        let value = (f.plain)(at);
        let y = (f.dual)(std::array::from_fn(|k| Dual::variable(at[k], k)));
        assert_eq!(y.len(), value.len());
        for (y, v) in y.iter().zip(&value) {
            assert!((y.value - v).abs() <= 1e-14 * (1.0 + v.abs()), "{}: {y} {v}", f.name);
        }
        for k in 0..3 {
            let along = |t: f64| {
                let mut p = at;
                p[k] += t;
                (f.plain)(p)
            };
            let got: Vec<f64> = y.iter().map(|y| y.eps[k]).collect();
            let slope = differences::first(along, 0.02);
            let what = format!("{}, parameter {k}", f.name);
            assert!(slope.distance(&got) <= 1e-10 * size(&got), "{what}: {got:?} {slope:?}");
            let curvature: Vec<f64> = {
                let mut p = at.map(Dual::<Dual<f64>>::from);
                p[k] = Dual::variable(Dual::variable(at[k], 0), 0);
                (f.nested)(p).iter().map(|y| y.eps[0].eps[0]).collect()
            };
            let second = differences::second(along, 0.05);
            assert!(
                second.distance(&curvature) <= 1e-6 * size(&curvature),
                "{what}: {curvature:?} {second:?}"
            );
        }
    }
}

/// nalgebra branches on an angle of zero and returns the identity: the value is right, the tangent is lost. No scalar
/// can prevent that.
#[test]
fn limits_at_angle_zero() {
    let v = Vector3::from_fn(|k, _| Dual::<f64, 3>::variable(0.0, k));
    let silent = |x: &[Dual<f64, 3>]| x.iter().all(|x| x.eps == [0.0; 3]);
    assert!(silent(Rotation3::new(v).matrix().as_slice()), "true: the generators");
    assert!(silent(UnitQuaternion::new(v).coords.as_slice()), "true: half the generators");
    let generator = Matrix3::identity() + v.cross_matrix();
    let r = Rotation3::from_matrix_unchecked(generator);
    assert!(silent(r.scaled_axis().as_slice()), "true: the direction itself");
    let q =
        UnitQuaternion::new_unchecked(Quaternion::from_parts(Dual::constant(1.0), v * Dual::constant(0.5)));
    assert!(silent(q.scaled_axis().as_slice()), "true: the direction itself");
    let start = UnitQuaternion::identity();
    assert!(
        silent(start.slerp(&q, Dual::constant(0.5)).coords.as_slice()),
        "true: a quarter of the direction"
    );
}

/// What to write instead: functions of the squared angle, which is smooth at zero.
#[test]
fn rotations_from_the_squared_angle() {
    /// exp of a rotation vector as a quaternion: (cos(t/2), sinc(t/2)/2 v), both even in t.
    fn exp<S: Real>(v: Vector3<S>) -> Quaternion<S> {
        let z = v.norm_squared() * c(0.25);
        // cos(sqrt z) and sin(sqrt z)/sqrt z by their series below 1, where sqrt has no derivative at 0.
        let series = |odd: f64| {
            (1..14).rev().fold(S::one(), |sum, k| {
                let k = 2.0 * k as f64 + odd;
                S::one() - z * sum * c(1.0 / (k * (k - 1.0)))
            })
        };
        let (cos, sinc) = if z < S::one() {
            (series(0.0), series(1.0))
        } else {
            (ComplexField::cos(ComplexField::sqrt(z)), ComplexField::sinc(ComplexField::sqrt(z)))
        };
        Quaternion::from_parts(cos, v * (sinc * c(0.5)))
    }
    // Away from zero it is nalgebra's.
    let v = Vector3::new(0.3, -0.5, 0.8);
    assert!((exp(v) - UnitQuaternion::new(v).into_inner()).norm() < 1e-15);
    let v = Vector3::new(1.3, -2.5, 0.8);
    assert!((exp(v) - UnitQuaternion::new(v).into_inner()).norm() < 1e-15);
    // At zero it has first and second derivatives: -1/4 on the diagonal of the scalar part.
    let v = Vector3::from_fn(|k, _| {
        let mut x = HyperDual::<f64, 3, 3>::constant(0.0);
        (x.eps1[k], x.eps2[k]) = (1.0, 1.0);
        x
    });
    let q = exp(v);
    assert_eq!(q.i.eps1, [0.5, 0.0, 0.0]);
    for i in 0..3 {
        for j in 0..3 {
            assert_eq!(q.w.eps12[i][j], if i == j { -0.25 } else { 0.0 });
        }
    }
}
