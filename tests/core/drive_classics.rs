//! Classics of the field: Speelpenning's product, the Helmholtz energy of a mixed fluid (Griewank and Walther,
//! Evaluating Derivatives, sections 1 and 4), the reprojection error of bundle adjustment (ADBench).

use dualpack::nalgebra::{DMatrix, Vector3};
use dualpack::{Chunk, Hessian, Layout, Real64, gradient, hessian, hvp, jacobian, jacobian_blocks};

use crate::support::differences::first;

/// `x` with coordinate `i` moved by `t`.
fn moved(x: &[f64], i: usize, t: f64) -> Vec<f64> {
    let mut x = x.to_vec();
    x[i] += t;
    x
}

fn helmholtz<S: Real64>(x: &[S]) -> S {
    let n = x.len();
    let (rt, root8, root2) = (1.3, 8.0_f64.sqrt(), 2.0_f64.sqrt());
    let b = |i: usize| 0.3 / (n as f64 + i as f64);
    let a = |i: usize, j: usize| 1.0 / (1.0 + i as f64 + j as f64);
    let bx = (0..n).fold(S::zero(), |s, i| s + x[i] * b(i));
    let entropy = (0..n).fold(S::zero(), |s, i| s + x[i] * (x[i] / (S::one() - bx)).ln()) * rt;
    let mut quadratic = S::zero();
    for i in 0..n {
        for j in 0..n {
            quadratic += x[i] * x[j] * a(i, j);
        }
    }
    let ratio = (bx * (1.0 + root2) + 1.0) / (bx * (1.0 - root2) + 1.0);
    entropy - quadratic / (bx * root8) * ratio.ln()
}

fn amounts(n: usize) -> Vec<f64> {
    (0..n).map(|i| (1.0 + (i % 3) as f64) / (2.0 * n as f64)).collect()
}

#[test]
fn speelpenning() {
    for n in [1, 5, 23] {
        let x: Vec<f64> = (1..=n).map(|i| i as f64 / (1.0 + i as f64)).collect();
        let (value, g) = gradient(|x| x.iter().copied().product(), &x);
        // The product telescopes to 1/(n + 1).
        assert!((value - 1.0 / (n as f64 + 1.0)).abs() < 1e-15);
        for i in 0..n {
            assert!((g[i] - value / x[i]).abs() <= 1e-14 * g[i]);
        }
        let (_, _, h) = hessian(|x| x.iter().copied().product(), &x);
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let want = if i == j { 0.0 } else { value / (x[i] * x[j]) };
            assert!((h[(i, j)] - want).abs() <= 1e-14 * value / (x[i] * x[j]));
        }
    }
    // A zero factor is no special case: the derivatives are the products of the others.
    let (value, g) = gradient(|x| x.iter().copied().product(), &[2.0, 0.0, 3.0]);
    assert_eq!((value, g), (0.0, [0.0, 6.0, 0.0]));
}

#[test]
fn helmholtz_energy() {
    for n in [2, 7, 18] {
        let x = amounts(n);
        let (value, g) = gradient(helmholtz, &x);
        assert_eq!(value.to_bits(), helmholtz(&x).to_bits());
        for i in 0..n {
            let slope = first(|t| helmholtz(&moved(&x, i, t)), 0.1 * x[i]);
            assert!(slope.distance(&g[i]) <= 1e-11 * (1.0 + g[i].abs()));
        }
        // The Hessian against differences of the gradient, and symmetric to the bit.
        let (mut g1, mut h) = (vec![0.0; n], DMatrix::zeros(n, n));
        let mut space = Hessian::new(&x);
        space.evaluate(helmholtz, &x, &mut g1, &mut h);
        assert_eq!(h, h.transpose());
        for i in 0..n {
            let row = first(|t| gradient(helmholtz, &moved(&x, i, t)).1, 0.1 * x[i]);
            assert!(row.distance(&h.row(i).transpose()) <= 1e-11 * h.amax());
        }
        // Chunked = unchunked to the bit.
        assert_eq!(hessian(helmholtz, Chunk::<1>::of(&x)).2, h);
        let v: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
        let (_, _, product) = hvp(helmholtz, &x, &v);
        for i in 0..n {
            let want: f64 = (0..n).map(|j| h[(i, j)] * v[j]).sum();
            assert!((product[i] - want).abs() <= 1e-12 * h.amax());
        }
    }
}

/// The projection of a point by a camera: rotation vector, center, focal length, principal point, radial distortion.
fn reproject<S: Real64>(camera: &[S], point: &[S], weight: S, seen: [f64; 2]) -> [S; 2] {
    let vector = |s: &[S]| Vector3::new(s[0], s[1], s[2]);
    let (axis, moved) = (vector(&camera[0..3]), vector(point) - vector(&camera[3..6]));
    // Rodrigues, by the cardinal functions: smooth at no rotation.
    let angle = axis.dot(&axis).sqrt();
    let half = angle * 0.5;
    let turned = moved * angle.cos()
        + axis.cross(&moved) * angle.sinc()
        + axis * (axis.dot(&moved) * half.sinc() * half.sinc() * 0.5);
    let (u, v) = (turned.x / turned.z, turned.y / turned.z);
    let r2 = u * u + v * v;
    let scale = r2 * camera[9] + r2 * r2 * camera[10] + 1.0;
    let project = |u: S, c: S| u * scale * camera[6] + c;
    [
        (project(u, camera[7]) - S::from_base(seen[0])) * weight,
        (project(v, camera[8]) - S::from_base(seen[1])) * weight,
    ]
}

#[test]
fn bundle_adjustment() {
    let camera = [0.1, -0.2, 0.3, 0.5, -1.0, -4.0, 520.0, 320.0, 240.0, -0.05, 0.01];
    let (point, weight, seen) = ([0.7, 0.4, 2.0], 0.8, [300.0, 200.0]);
    let all: Vec<f64> = [&camera[..], &point, &[weight]].concat();
    let residuals = |x: &[f64], k: usize| reproject(&x[..11], &x[11..14], x[14], seen)[k];
    let (r, j) = jacobian(|x| reproject(&x[..11], &x[11..14], x[14], seen), &all);
    for k in 0..2 {
        assert_eq!(r[k], residuals(&all, k));
        for i in 0..15 {
            let slope = first(|t| residuals(&moved(&all, i, t), k), 0.01 * all[i].abs());
            assert!(slope.distance(&j[(k, i)]) <= 1e-11 * (1.0 + j.amax()));
        }
    }
    // By blocks, row by row, the weight held constant.
    let (mut r1, mut by_camera, mut by_point) = ([0.0; 2], [0.0; 22], [0.0; 6]);
    jacobian_blocks(
        |x, r| r.copy_from_slice(&reproject(&x[0], &x[1], x[2][0], seen)),
        &[&camera, &point, &[weight]],
        &mut r1,
        &mut [Some(&mut by_camera), Some(&mut by_point), None],
        Layout::RowMajor,
    );
    assert_eq!(r1, r);
    for k in 0..2 {
        assert!((0..11).all(|i| by_camera[11 * k + i] == j[(k, i)]));
        assert!((0..3).all(|i| by_point[3 * k + i] == j[(k, 11 + i)]));
    }
}
