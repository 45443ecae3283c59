//! num-dual beside dualpack: its generic code on our numbers, its numbers in our code, conversions.

use dualpack_core::{Dual, Dual2, HyperDual, Real, assert_dual_eq};
use num_dual::{BesselDual, DualNum, DualStruct};

/// A function as users of num-dual write it.
fn model<D: DualNum<Primitive = f64> + Copy>(x: D) -> D {
    (x.powi(3) * 2.0 + x.sqrt()).ln() / (x.recip() + 1.0) - x.sin_cos().0 * x.powf(1.5) + x.sph_j2()
}

/// The same in `f64`, without num-dual.
fn model_f64(x: f64) -> f64 {
    use dualpack_core::Real;
    (x.powi(3) * 2.0 + x.sqrt()).ln() / (x.recip() + 1.0) - x.sin() * x.powf(1.5) + Real::sph_j2(x)
}

fn near(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * b.abs(), "{a} {b}");
}

#[test]
fn functions_written_for_num_dual_run_on_all_our_numbers() {
    let x = 0.7;
    let h = 1e-3;
    let first = (8.0 * (model_f64(x + h) - model_f64(x - h))
        - (model_f64(x + 2.0 * h) - model_f64(x - 2.0 * h)))
        / (12.0 * h);
    let d = model(Dual::<f64, 3>::new(x, [1.0, 0.0, -2.0]));
    near(d.value, model_f64(x), 1e-15);
    near(d.eps[0], first, 1e-9);
    assert_eq!(d.eps[1], 0.0);
    near(d.eps[2], -2.0 * first, 1e-9);

    // Second order three ways.
    let theirs = model(num_dual::HyperDual::new(x, 1.0, 1.0, 0.0));
    let hyper = model(HyperDual::<f64, 1, 1>::variable(x, 0, 0));
    let symmetric = model(Dual2::<f64, 1>::variable(x, 0));
    let nested = model(Dual::<Dual<f64>>::variable(Dual::variable(x, 0), 0));
    near(hyper.eps12[0][0], theirs.eps1eps2, 1e-11);
    near(symmetric.hess[0][0], theirs.eps1eps2, 1e-11);
    near(nested.eps[0].eps[0], theirs.eps1eps2, 1e-11);
    // The constants of the trait.
    assert_eq!(<Dual<Dual<f64>> as DualNum>::NDERIV, 2);
    assert_eq!(nested.re(), nested.value.value);
    assert_dual_eq!(DualNum::scale(d, &2.0), d * 2.0);
}

#[test]
fn the_bessel_trait_of_num_dual_and_our_methods_agree() {
    // The inherent method wins; the trait's own formula is still there by its full name.
    let x = Dual::<f64, 1>::variable(2.5, 0);
    let (ours, theirs) = (x.bessel_j1(), BesselDual::bessel_j1(x));
    near(ours.value, theirs.value, 1e-14);
    near(ours.eps[0], theirs.eps[0], 1e-13);
}

#[test]
fn conversions_keep_every_part() {
    let d = Dual::new(1.5, [2.5]);
    let n: num_dual::Dual64 = d.into();
    assert_eq!((n.re, n.eps), (1.5, 2.5));
    assert_dual_eq!(Dual::from(n), d);

    let v = Dual::new(1.5, [2.5, -1.0, 0.25]);
    let n: num_dual::DualSVec64<3> = v.into();
    assert_dual_eq!(Dual::<f64, 3>::from(n), v);
    // A derivative that num-dual does not store is zero.
    assert_dual_eq!(Dual::<f64, 3>::from(num_dual::DualSVec64::<3>::from_re(1.5)), Dual::constant(1.5));

    let h = HyperDual::<f64, 1, 1>::new(1.0, [2.0], [3.0], [[4.0]]);
    let n: num_dual::HyperDual64 = h.into();
    assert_eq!((n.re, n.eps1, n.eps2, n.eps1eps2), (1.0, 2.0, 3.0, 4.0));
    assert_dual_eq!(HyperDual::from(n), h);

    let s = Dual2::<f64, 1>::new(1.0, [2.0], [[4.0]]);
    let n: num_dual::Dual2_64 = s.into();
    assert_eq!((n.re, n.v1, n.v2), (1.0, 2.0, 4.0));
    assert_dual_eq!(Dual2::from(n), s);
}

/// A function of ours.
fn energy<S: Real>(x: S) -> S {
    x * x + x.gamma() - S::from_base(nalgebra::convert(0.5)) * x.erf()
}

#[test]
fn numbers_of_num_dual_are_real() {
    let x = 1.25;
    let want = energy(Dual::<f64, 1>::variable(x, 0));
    let got = energy(num_dual::Dual64::new(x, 1.0));
    assert_dual_eq!(Dual::from(got), want, 1e-15);
    let got = energy(num_dual::DualSVec64::<2>::from(Dual::new(x, [1.0, -2.0])));
    assert_dual_eq!(Dual::<f64, 2>::from(got), energy(Dual::new(x, [1.0, -2.0])), 1e-15);
    let got = energy(num_dual::HyperDual64::new(x, 1.0, 1.0, 0.0));
    assert_dual_eq!(HyperDual::from(got), energy(HyperDual::variable(x, 0, 0)), 1e-15);
    let got = energy(num_dual::Dual2_64::new(x, 1.0, 0.0));
    assert_dual_eq!(Dual2::from(got), energy(Dual2::variable(x, 0)), 1e-15);
    assert!(!Real::all_finite(num_dual::Dual64::new(1.0, f64::NAN)));
    assert_eq!(<num_dual::HyperDual64 as Real>::ORDER, 2);
}
