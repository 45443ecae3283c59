//! num-dual beside dualpack: its generic code on our numbers, its numbers in our code, conversions.

use dualpack_core::{Dual, Dual2, HyperDual, Pattern, Real, SparseJacobian, assert_dual_eq, jacobian};
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

/// The drivers of num-dual, whose own numbers wrap ours: derivatives of derivatives.
#[test]
fn drivers_of_num_dual_run_over_our_numbers() {
    // num_dual::Dual<Dual<f64, 2>>: their derivative, ours inside.
    let x = Dual::<f64, 2>::new(0.7, [1.0, -2.0]);
    let (value, slope) = num_dual::first_derivative(model, x);
    let want = model(Dual::<Dual<f64, 2>>::variable(x, 0));
    assert_dual_eq!(value, want.value, 1e-14);
    assert_dual_eq!(slope, want.eps[0], 1e-12);

    let (value, slope, curvature) = num_dual::second_derivative(model, x);
    let want = model(HyperDual::<Dual<f64, 2>>::variable(x, 0, 0));
    assert_dual_eq!(value, want.value, 1e-14);
    assert_dual_eq!(slope, want.eps1[0], 1e-12);
    assert_dual_eq!(curvature, want.eps12[0][0], 1e-11);

    let v = nalgebra::SVector::<Dual<f64>, 2>::new(Dual::variable(3.0, 0), Dual::constant(4.0));
    let (value, gradient) = num_dual::gradient(|v| (v[0] * v[0] + v[1] * v[1]).sqrt(), &v);
    assert_dual_eq!(value, Dual::new(5.0, [0.6]), 1e-15);
    assert_dual_eq!(gradient[0], Dual::new(0.6, [0.128]), 1e-14);
    assert_dual_eq!(gradient[1], Dual::new(0.8, [-0.096]), 1e-14);
    let (_, _, hessian) = num_dual::hessian(|v| v[0] * v[0] * v[1], &v);
    assert_dual_eq!(hessian[(0, 1)], Dual::new(6.0, [2.0]));
    let (_, jacobian) = num_dual::jacobian(|v| nalgebra::SVector::from([v[0] * v[1], v[0] / v[1]]), &v);
    assert_dual_eq!(jacobian[(1, 1)], Dual::new(-3.0 / 16.0, [-1.0 / 16.0]), 1e-15);
}

/// Results in containers, extra arguments and implicit functions, as num-dual's documentation shows them.
#[test]
fn other_tools_of_num_dual() {
    fn fallible<D: DualNum<Primitive = f64> + Copy>(x: D) -> Result<D, String> {
        if x.re() > 0.0 { Ok(x.ln()) } else { Err("negative".to_owned()) }
    }
    let y = fallible(Dual::<f64>::variable(2.0, 0)).expect("positive");
    assert_eq!(y.eps, [0.5]);
    assert!(fallible(Dual::<f64>::variable(-2.0, 0)).is_err());

    fn implicit_sqrt<D: DualNum<Primitive = f64> + Copy>(x: D) -> D {
        num_dual::implicit_derivative(|s, x| s * s - x, x.re().sqrt(), &x)
    }
    let y = implicit_sqrt(Dual::<f64, 2>::new(25.0, [1.0, -2.0]));
    assert_dual_eq!(y, Dual::new(5.0, [0.1, -0.2]), 1e-15);
}

/// num-dual's own linear algebra with our numbers.
#[test]
fn linear_algebra_of_num_dual() {
    use nalgebra::{SMatrix, SVector};
    use num_dual::linalg::{LU, jacobi_eigenvalue};
    let d = |value: f64, t: f64| Dual::<f64>::new(value, [t]);
    let a = SMatrix::<Dual<f64>, 2, 2>::new(d(4.0, 1.0), d(1.0, 0.5), d(1.0, 0.5), d(3.0, -1.0));
    let b = SVector::<Dual<f64>, 2>::new(d(1.0, 0.0), d(2.0, 1.0));
    let lu = LU::new(a).expect("regular");
    let x = lu.solve(&b);
    let back = a * x - b;
    assert!(back.iter().all(|r| r.value.abs() < 1e-15 && r.eps[0].abs() < 1e-15));
    assert_dual_eq!(lu.determinant(), a.determinant(), 1e-14);
    let (w, _) = jacobi_eigenvalue(a, 200);
    assert_dual_eq!(w[0] + w[1], d(7.0, 0.0) + (a[(0, 0)] + a[(1, 1)] - d(7.0, 0.0)), 1e-14);
    assert_dual_eq!(w[0] * w[1], a.determinant(), 1e-14);
}

/// Its Jacobi rotations look at the value alone: an off-diagonal entry of value 0 is not rotated, tangent or not. A
/// documented limit.
#[test]
fn jacobi_eigenvectors_of_a_diagonal_matrix_lose_their_tangent() {
    let d = |value: f64, t: f64| Dual::<f64>::new(value, [t]);
    let a = nalgebra::Matrix2::new(d(1.0, 3.0), d(0.0, 1.0), d(0.0, 1.0), d(3.0, -1.0));
    let (w, v) = num_dual::linalg::jacobi_eigenvalue(a, 200);
    assert_eq!((w[0].eps, w[1].eps), ([3.0], [-1.0]));
    assert!(v.iter().all(|v| v.eps == [0.0]), "true: E_ij / (w_j - w_i) = ±1/2 off the diagonal");
}

/// One bound is enough on either side; both together compile as well.
#[test]
fn code_with_both_bounds() {
    fn both<S: Real<Base = f64> + DualNum<Primitive = f64>>(x: S) -> S {
        // By value nalgebra's method, on a reference num-dual's: both are one body for our numbers.
        let y = &x;
        x.sqrt() + y.sqrt() * x.exp() - DualNum::powf(y, 1.5)
    }
    fn ours<S: Real>(x: S) -> S {
        x.sqrt() + x.sqrt() * x.exp() - x.powf(nalgebra::convert(1.5))
    }
    let x = Dual::<f64, 2>::new(0.7, [1.0, -2.0]);
    assert_dual_eq!(both(x), ours(x), 1e-15);
    let x = Dual::<Dual<f64>>::variable(Dual::variable(0.7, 0), 0);
    assert_dual_eq!(both(x), ours(x), 1e-14);
}

/// Our drivers take functions written for num-dual.
#[test]
fn our_drivers_take_functions_over_dual_num() {
    fn rosenbrock<D: DualNum<Primitive = f64> + Copy>(x: &[D]) -> D {
        (-x[0] + 1.0).powi(2) + (x[1] - x[0] * x[0]).powi(2) * 100.0
    }
    let (value, gradient) = dualpack_core::gradient(rosenbrock, &vec![1.0, 2.0]);
    assert_eq!(value, 100.0);
    assert_eq!(gradient, vec![-400.0, 200.0]);
}

/// Singular points, where num-dual's own numbers have NaN: the same generic code on ours.
#[test]
fn generic_code_is_right_where_num_dual_is_not() {
    fn f<D: DualNum<Primitive = f64> + Copy>(x: D) -> [D; 4] {
        [x.powf(2.5), x.powi(2).sqrt(), x.tanh(), x.atan2(D::from(1.0))]
    }
    let [a, b, c, d] = f(Dual::<f64>::variable(0.0, 0));
    assert_eq!((a.value, a.eps, b.eps, c.eps, d.eps), (0.0, [0.0], [0.0], [1.0], [1.0]));
    assert_eq!(DualNum::tanh(&Dual::<f64>::variable(1000.0, 0)).value, 1.0);
}

#[test]
fn functions_written_for_num_dual_can_be_traced() {
    // Neighbours in a row, in num-dual's words.
    fn row<D: DualNum<Primitive = f64> + Copy>(y: &mut [D], x: &[D]) {
        for i in 1..x.len() {
            y[i] = model(x[i]) * x[i - 1].powi(2) - x[i].atan2(x[i - 1]).powd(x[i])
                + x[i].mul_add(x[i - 1], x[i]);
        }
    }
    let x: Vec<f64> = (0..9).map(|i| 0.5 + 0.1 * f64::from(i)).collect();
    let mut sparse = SparseJacobian::<f64>::trace(row, &x, 9);
    let want = (1..9).flat_map(|i| [(i, i - 1), (i, i)]);
    assert_eq!(*sparse.pattern(), Pattern::new(9, 9, want));
    let (mut y, mut entries) = (vec![0.0; 9], vec![0.0; 16]);
    sparse.evaluate(row, &x, &mut y, &mut entries);
    let dense = jacobian(
        |x: &[_]| {
            let mut y = vec![Dual::constant(0.0); 9];
            row(&mut y, x);
            y
        },
        &x,
    );
    assert_eq!(dense.0, y);
    assert!(sparse.pattern().entries().zip(&entries).all(|(at, &e)| dense.1[at] == e));
    assert!(sparse.covers(row, &x));
}
