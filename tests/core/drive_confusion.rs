//! Perturbation confusion: drivers inside functions that are themselves differentiated. The inner point is lifted to
//! the outer number, so that the type keeps the two perturbations apart. (The trap is shown in the documentation of
//! `derivative`.)

use dualpack::nalgebra::{Matrix2, vector};
use dualpack::{Dual, Real, derivative, gradient, hessian, jacobian, second_derivative};

/// Siskind and Pearlmutter: d/dx [x · d/dy (x + y)] at 1 is 1. (Case S095.)
#[test]
fn s095_siskind_pearlmutter() {
    let outer = |x: Dual<f64>| x * derivative(|y| Dual::constant(x) + y, Dual::from(1.0)).1;
    assert_eq!(derivative(outer, 1.0), (1.0, 1.0));
}

/// d/dx [d/dy (x y) at y = x] at 5: the inner derivative is x itself. (Case S097.)
#[test]
fn s097_inner_point_depends_on_the_outer_variable() {
    let outer = |x: Dual<f64>| derivative(|y| Dual::constant(x) * y, x).1;
    assert_eq!(derivative(outer, 5.0), (5.0, 1.0));
}

/// ∂/∂u of ∂f/∂p for f = u1² u2² p² at u = (2, 3), p = 4. (Case S098.)
#[test]
fn s098_mixed_derivative() {
    let (value, g) = gradient(
        |u| derivative(|p| u.map(Dual::constant).product().powi(2) * p * p, Dual::from(4.0)).1,
        &vector![2.0, 3.0],
    );
    assert_eq!((value, g), (288.0, vector![288.0, 192.0]));
}

/// The case of ForwardDiff's ConfusionTest: a gradient of a function that differentiates another.
#[test]
fn a_gradient_within_a_gradient_is_a_row_of_the_hessian() {
    fn f<S: Real>(x: &[S; 2]) -> S {
        x[0].sin() * x[1].exp() + x[0] * x[1] * x[1]
    }
    let x: [f64; 2] = [0.7, -0.3];
    let (_, g, h) = hessian(f, &x);
    for k in 0..2 {
        let (value, row) = gradient(|x| gradient(f, x).1[k], &x);
        assert_eq!(value, g[k]);
        assert!((row[0] - h[(k, 0)]).abs() < 1e-15 && (row[1] - h[(k, 1)]).abs() < 1e-15);
    }
    // The Jacobian of the gradient, all at once.
    let (_, j) = jacobian(|x| gradient(f, x).1, &x);
    assert!((j - h).norm() < 1e-15);
    // The derivative of the determinant of a Jacobian.
    let (_, d) = derivative(
        |t| {
            let (_, j) = jacobian(|p| [p[0] * Dual::constant(t).sin(), p[1] * p[0]], &[t, t * t]);
            Matrix2::from(j).determinant()
        },
        0.5,
    );
    assert!((d - (0.5_f64.sin() + 0.5 * 0.5_f64.cos())).abs() < 1e-15);
}

/// Three levels: d/dx of x · d/dy [y · d/dz (x y z²)] at z = y = x: 2 x² y² z -> x · (4 x y z) with care at each level.
#[test]
fn three_levels() {
    fn innermost<S: Real>(x: S, y: S) -> S {
        derivative(|z| Dual::constant(x * y) * z * z, y).1
    }
    fn middle<S: Real>(x: S) -> S {
        derivative(|y| y * innermost(Dual::constant(x), y), x).1
    }
    // innermost = 2 x y², middle = d/dy (2 x y³) at y = x = 6 x³, outer = d/dx (6 x⁴) = 24 x³.
    let (value, d) = derivative(|x| x * middle(x), 2.0);
    assert_eq!((value, d), (96.0, 192.0));
    let (_, _, d2) = second_derivative(|x| x * middle(x), 2.0);
    assert_eq!(d2, 72.0 * 4.0);
}
