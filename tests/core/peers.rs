//! What other crates were seen to get wrong, one test per call: value and derivatives by mathematics, not by us.

use dualpack_core::{Dual, Dual2, HyperDual};
use nalgebra::{ComplexField, DMatrix, Matrix2, RealField, Vector3, dmatrix};

type D = Dual<f64>;
type D3 = Dual<Dual<Dual<f64>>>;

fn v(x: f64) -> D {
    D::variable(x, 0)
}

fn third(x: f64) -> D3 {
    D3::variable(Dual::variable(Dual::variable(x, 0), 0), 0)
}

/// [f, f', f'', f''']
fn orders(y: D3) -> [f64; 4] {
    [y.value.value.value, y.value.value.eps[0], y.value.eps[0].eps[0], y.eps[0].eps[0].eps[0]]
}

#[track_caller]
fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 4e-15 * want.abs(), "{got:e}, not {want:e}");
}

/// num-dual: NaN value.
#[test]
fn powf_at_zero() {
    let y = v(0.0).powf(2.5);
    assert_eq!((y.value, y.eps), (0.0, [0.0]));
}

/// num-dual: inf and -inf.
#[test]
fn powi_of_small_numbers() {
    assert_eq!(v(1e-100).powi(-2).value, 1e200);
    near(v(1e-60).powi(-5).value, 1e300);
    near(v(1e-60).powi(-4).eps[0], -4e300);
}

/// num-dual: n(n-1)(n-2) overflows an i32.
#[test]
fn powi_with_large_exponents() {
    assert_eq!(orders(third(1.0).powi(2000)), [1.0, 2000.0, 3_998_000.0, 7_988_004_000.0]);
    assert_eq!(Dual2::<f64>::variable(1.0, 0).powi(50_000).hess, [[50_000.0 * 49_999.0]]);
}

/// num-dual: NaN. Others: 1 - tanh² has no digits left.
#[test]
fn tanh_far_out() {
    let y = v(1000.0).tanh();
    assert_eq!((y.value, y.eps), (1.0, [0.0]));
    near(v(-20.0).tanh().eps[0], 1.699_341_702_116_635_6e-17);
}

/// num-dual: NaN tangents.
#[test]
fn atan2_on_the_axes() {
    assert_eq!(D::constant(1.0).atan2(v(0.0)).eps, [-1.0]);
    assert_eq!(v(1.0).atan2(D::constant(0.0)).eps, [0.0]);
}

/// num-dual: inf and NaN.
#[test]
fn hypot_out_of_the_range_of_squares() {
    let y = v(3e200).hypot(D::constant(4e200));
    assert_eq!(y.value, 3e200_f64.hypot(4e200));
    near(y.eps[0], 0.6);
    let h = HyperDual::<f64>::variable(3e200, 0, 0).hypot(HyperDual::constant(4e200));
    near(h.eps12[0][0], 1.28e-201);
    assert_eq!(v(3e-200).hypot(D::constant(4e-200)).value, 3e-200_f64.hypot(4e-200));
}

/// num-dual: NaN tangents of constants.
#[test]
fn singular_points_of_constants() {
    let c = D::constant;
    for y in [
        c(0.0).sqrt(),
        c(0.0).cbrt(),
        c(1.0).asin(),
        c(-1.0).acos(),
        c(0.0).ln(),
        c(1.0).acosh(),
        c(1.0).atanh(),
    ] {
        assert_eq!(y.eps, [0.0], "{y}");
    }
    assert_eq!(D::constant(800.0).exp().eps, [0.0]);
}

/// num-dual and hyperdual: NaN through the logarithm of the base.
#[test]
fn complex_field_powf_of_a_negative_base() {
    let y = ComplexField::powf(v(-2.0), D::constant(2.0));
    assert_eq!((y.value, y.eps), (4.0, [-4.0]));
    let y = v(-2.0).powf(2.0);
    assert_eq!((y.value, y.eps), (4.0, [-4.0]));
}

/// num-dual: wrong digits and wrong signs near zero.
#[test]
fn spherical_bessel_functions_near_zero() {
    let y = v(1e-4).sph_j2();
    near(y.value, 6.666_666_661_904_762e-10);
    near(y.eps[0], 1.333_333_331_428_571_4e-5);
    let y = v(1e-5).sph_j2();
    near(y.value, 6.666_666_666_619_048e-12);
    near(y.eps[0], 1.333_333_333_314_285_7e-6);
    near(v(-2.0).sph_j0().value, 0.454_648_713_412_840_85);
    near(orders(third(1e-10).sph_j0())[2], -1.0 / 3.0);
    near(orders(third(0.0).sph_j1())[3], -0.2);
}

/// num-dual: -1.2e-8.
#[test]
fn bessel_j2_near_zero() {
    near(v(1e-8).bessel_j2().eps[0], 2.5e-9);
}

/// num-dual: a(1/b). ForwardDiff and others too.
#[test]
fn quotients_are_quotients() {
    assert_eq!((v(5.0) / D::constant(49.0)).value, 0.102_040_816_326_530_61);
    assert_eq!((v(5.0) / 49.0).value, 0.102_040_816_326_530_61);
}

/// num-dual panics (not implemented there); ad_trait: 2.
#[test]
fn remainder_has_the_sign_of_the_dividend() {
    assert_eq!((v(5.0) % 3.0).value, 2.0);
    assert_eq!((v(-7.0) % D::constant(3.0)).value, -1.0);
}

/// simba's default body, not overridden: 0.
#[test]
fn sinc_has_curvature_at_zero() {
    near(orders(third(0.0).sinc())[2], -1.0 / 3.0);
}

/// num-dual: unimplemented.
#[test]
fn floor_and_its_kin_exist() {
    assert_eq!(
        (v(2.5).floor().value, v(2.5).ceil().value, v(2.5).round().value, v(-2.5).trunc().value),
        (2.0, 3.0, 3.0, -2.0)
    );
    // autodiff keeps dx through floor, ceil and round.
    assert_eq!((v(2.5).floor().eps, v(2.5).ceil().eps, v(2.5).round().eps), ([0.0], [0.0], [0.0]));
}

/// num-dual: one symbol for two derivatives; truth 1.
#[test]
fn perturbations_are_not_confused() {
    let x = v(1.0);
    let inner = Dual::<D>::variable(D::constant(1.0), 0);
    let y = x * (Dual::<D>::constant(x) + inner).eps[0];
    assert_eq!(y.eps, [1.0]);
}

/// ad_trait: sqrt'(0) = 50, because 0 is replaced by 1e-4.
#[test]
fn sqrt_is_not_smoothed() {
    assert_eq!(v(0.0).sqrt().eps, [f64::INFINITY]);
}

/// ad_trait: NaN, 0, 0 and the wrong seed.
#[test]
fn small_arguments_and_negative_roots() {
    assert_eq!(v(-8.0).cbrt().value, -2.0);
    near(v(-8.0).cbrt().eps[0], 1.0 / 12.0);
    assert_eq!(v(1e-17).ln_1p().value, 1e-17);
    assert_eq!(v(1e-17).exp_m1().value, 1e-17);
    assert_eq!(D::new(2.5, [3.0]).fract().eps, [3.0]);
}

/// ad_trait panics (not implemented there).
#[test]
fn argument_exists() {
    assert_eq!(ComplexField::argument(v(-2.0)).value, std::f64::consts::PI);
}

/// ad_trait and autodiff: Some(NaN).
#[test]
fn try_sqrt_of_a_negative_number_is_none() {
    assert!(ComplexField::try_sqrt(v(-1.0)).is_none());
    let indefinite = dmatrix![v(1.0), v(2.0); v(2.0), v(1.0)];
    assert!(indefinite.cholesky().is_none());
}

/// ad_trait: always panics. num-dual: panics above a norm of 2.1 ("called ceil() on a dual number").
#[test]
fn nalgebra_exp_of_large_matrices() {
    let a: DMatrix<D> = dmatrix![v(1.0), 4.0.into(); 0.0.into(), 3.0.into()];
    let e = a.exp();
    near(e[(0, 0)].value, 1.0_f64.exp());
    assert!((e[(0, 0)].eps[0] / 1.0_f64.exp() - 1.0).abs() < 1e-13);
    assert!((e[(1, 1)].eps[0]).abs() < 1e-12);
}

/// autodiff: the tangent of the sign.
#[test]
fn copysign_keeps_the_tangent_of_the_magnitude() {
    assert_eq!(RealField::copysign(D::new(3.0, [1.0]), D::new(-2.0, [7.0])).eps, [-1.0]);
}

/// hyperdual: 1/6.
#[test]
fn cbrt_at_eight() {
    near(v(8.0).cbrt().eps[0], 1.0 / 12.0);
}

/// hyperdual: NaN.
#[test]
fn zero_to_the_zero() {
    let y = v(0.0).powi(0);
    assert_eq!((y.value, y.eps), (1.0, [0.0]));
}

/// hyperdual: divides by the square of the divisor.
#[test]
fn division_by_tiny_numbers() {
    let y = v(1e-160) / D::constant(1e-160);
    assert_eq!((y.value, y.eps), (1.0, [1e160]));
}

/// num-dual, on nalgebra: NaN where f64 has a number.
#[test]
fn norm_of_a_zero_vector_of_constants() {
    let zero = Vector3::from_element(D::constant(0.0));
    assert_eq!((zero.norm().value, zero.norm().eps), (0.0, [0.0]));
    assert!(zero.normalize()[0].value.is_nan(), "as in f64");
}

/// nalgebra's 2 x 2 eigenvalues ask try_sqrt of a discriminant of 0: a number with any tangent has a root there.
#[test]
fn eigenvalues_of_a_double_eigenvalue_exist() {
    let a = Matrix2::new(v(2.0), 0.0.into(), 0.0.into(), 2.0.into());
    assert!(a.map(|x| x.value).eigenvalues().is_some() && a.eigenvalues().is_some());
}
