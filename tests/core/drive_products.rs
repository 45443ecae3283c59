//! Second derivatives without the whole Hessian, and the pushforwards, against Jacobian and Hessian.

use dualpack::nalgebra::{DMatrix, DVector, dmatrix, matrix, vector};
use dualpack::{
    Chunk, Dual, HyperDual, Real, directional, gradient, hessian, hvp, hvp_into, jacobian, jvp, jvp_batch,
    jvp_batch_into, jvp_into, laplacian, laplacian_into, linearize, nth_derivative, partial_hessian,
    partial_hessian_into, try_directional, try_hvp, try_jvp, try_jvp_batch, try_jvp_batch_into,
    try_laplacian, try_nth_derivative, try_partial_hessian, try_partial_hessian_into, try_vhv, vhv,
};

/// Every pair of inputs meets.
fn mixing<S: Real>(x: &[S]) -> S {
    let mut sum = S::zero();
    for i in 0..x.len() {
        for j in 0..=i {
            sum += (x[i] * x[j]).sin() * S::from_usize(i + 2 * j + 1).unwrap();
        }
    }
    sum
}

fn waves<S: Real>(x: &[S]) -> Vec<S> {
    (0..4).map(|k| x.iter().fold(S::from_i32(k).unwrap(), |s, &x| s + (s * x).cos())).collect()
}

fn sample(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.2 + 0.9 * (i as f64 * 0.7 + 0.1).sin()).collect()
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} against {b}");
}

fn near_all(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(&a, &b)| near(a, b));
}

#[test]
fn products_agree_with_the_hessian_at_every_length() {
    for n in 0..=17 {
        let (x, v) = (sample(n), (0..n).map(|i| 1.0 - 0.3 * i as f64).collect::<Vec<_>>());
        let (value, g, h) = hessian(mixing, &x);
        let hv = &h * DVector::from_column_slice(&v);
        let slope: f64 = g.iter().zip(&v).map(|(g, v)| g * v).sum();
        let curvature = hv.dot(&DVector::from_column_slice(&v));

        let (value1, g1, product) = hvp(mixing, &x, &v);
        assert_eq!(value1.to_bits(), value.to_bits());
        near_all(&g1, &g);
        near_all(&product, hv.as_slice());
        let (_, _, product) = hvp(mixing, Chunk::<3>::of(&x), &v);
        near_all(&product, hv.as_slice());
        let (mut g2, mut product2) = (vec![0.0; n], vec![0.0; n]);
        assert_eq!(hvp_into(mixing, &x, &v, &mut g2, &mut product2).to_bits(), value.to_bits());
        assert_eq!((g2, product2), (g1, hvp(mixing, &x, &v).2));

        let (value1, slope1, curvature1) = vhv(mixing, &x[..], &v);
        assert_eq!(value1.to_bits(), value.to_bits());
        near(slope1, slope);
        near(curvature1, curvature);
        near(directional(mixing, &x[..], &v).1, slope);

        let (value1, g1, laplace) = laplacian(mixing, &x);
        assert_eq!(value1.to_bits(), value.to_bits());
        near_all(&g1, &g);
        near(laplace, h.trace());
        let mut g1 = vec![0.0; n];
        near(laplacian_into(mixing, &x, &mut g1).1, h.trace());
        near_all(&g1, &g);
    }
}

#[test]
fn the_mixed_block_is_a_block_of_the_hessian() {
    let both = |x: &[f64], y: &[f64]| [x, y].concat();
    for (m, n) in [(0, 0), (0, 3), (5, 0), (1, 1), (3, 6), (9, 2), (10, 13)] {
        let z = sample(m + n);
        let (x, y) = z.split_at(m);
        let (value, g, h) = hessian(mixing, &both(x, y));
        let (value1, gx, gy, mixed) = partial_hessian(|x, y| mixing(&[x, y].concat()), x, y);
        assert_eq!(value1.to_bits(), value.to_bits());
        near_all(&both(&gx, &gy), &g);
        let (mut gx1, mut gy1, mut mixed1) = (vec![f64::NAN; m], vec![f64::NAN; n], DMatrix::zeros(m, n));
        let f = |x: &[HyperDual<f64, 8, 4>], y: &[_]| mixing(&[x, y].concat());
        assert_eq!(partial_hessian_into(f, x, y, &mut gx1, &mut gy1, &mut mixed1), value);
        assert_eq!((&gx1, &gy1, mixed1.as_slice()), (&gx, &gy, mixed.as_slice()));
        let e = try_partial_hessian_into(|_, _| Err(5), x, y, &mut gx1, &mut gy1, &mut mixed1);
        assert_eq!(e, Err(5));
        assert_eq!(mixed.shape(), (m, n));
        near_all(mixed.as_slice(), h.view((0, m), (m, n)).clone_owned().as_slice());
    }
    // Static sizes on one or both sides.
    let (_, gx, gy, h) = partial_hessian(|&[a, b], &[c]| a * b * c, &[2.0, 3.0], &[4.0]);
    assert_eq!((gx, gy, h), ([12.0, 8.0], [6.0], matrix![3.0; 2.0]));
    let (_, _, _, h) =
        partial_hessian(|x, y| x[0] * y.sum() * x[1], &vector![2.0, 3.0], &DVector::from_element(5, 1.0));
    assert_eq!(h, DMatrix::from_fn(2, 5, |i, _| [3.0, 2.0][i]).fixed_rows::<2>(0).clone_owned());
}

#[test]
fn pushforwards_are_products_with_the_jacobian() {
    for n in [0, 1, 5, 12] {
        let (x, v) = (sample(n), DVector::from_fn(n, |i, _| 0.5 - i as f64));
        let (y, j) = jacobian(waves, &x);
        let (y1, dy) = jvp(waves, &x[..], v.as_slice());
        assert_eq!(y1, y);
        near_all(&dy, (&j * &v).as_slice());
        let (mut y2, mut dy2) = ([0.0; 4], [0.0; 4]);
        jvp_into(waves, &x[..], v.as_slice(), &mut y2, &mut dy2);
        assert_eq!((&y2[..], &dy2[..]), (&y[..], &dy[..]));
        let (y3, mut linear) = linearize(waves, &x[..]);
        assert_eq!(y3, y);
        assert_eq!(linear.apply(v.as_slice()), dy);
        linear.apply_into(v.as_slice(), &mut dy2);
        assert_eq!(&dy2[..], &dy[..]);
        for k in [0, 1, 8, 11] {
            let directions = DMatrix::from_fn(n, k, |i, c| ((i * 3 + c * 5) % 7) as f64 - 3.0);
            let (y4, batch) = jvp_batch(waves, &x, &directions);
            assert_eq!((y4, batch.shape()), (y.clone(), (4, k)));
            near_all(batch.as_slice(), (&j * &directions).as_slice());
            let (_, narrow) = jvp_batch(waves, Chunk::<3>::of(&x), &directions);
            assert_eq!(narrow, batch);
            let (mut y5, mut batch5) = ([f64::NAN; 4], DMatrix::from_element(4, k, f64::NAN));
            jvp_batch_into(waves, &x, &directions, &mut y5, &mut batch5);
            assert_eq!((&y5[..], batch5.as_slice()), (&y[..], batch.as_slice()));
            let e = try_jvp_batch_into(|_| Err::<[_; 4], _>(5), &x, &directions, &mut y5, &mut batch5);
            assert_eq!(e, Err(5));
        }
    }
}

#[test]
fn derivatives_up_to_the_sixth_order() {
    let (y, d) = nth_derivative::<6, f64>(|x| x.powi(5), 2.0);
    assert_eq!((y, d), (32.0, [80.0, 160.0, 240.0, 240.0, 120.0, 0.0]));
    let (y, d) = nth_derivative::<4, _>(|x| x.sin(), 0.3_f64);
    let (s, c) = 0.3_f64.sin_cos();
    assert_eq!(y, s);
    near_all(&d, &[c, -s, -c, s]);
    assert_eq!(nth_derivative::<0, _>(|x: f64| x * 3.0, 2.0), (6.0, []));
    // Runge's function: f'''' at 0 is 24 · 25².
    let (_, d) = nth_derivative::<4, _>(|x| (x * x * 25.0 + 1.0).recip(), 0.0);
    near_all(&d, &[0.0, -50.0, 0.0, 15000.0]);
    // Of a dual number: the fifth derivative, one lane.
    let (_, d) = nth_derivative::<4, _>(|x| x.exp() * x, Dual::<f64, 1>::variable(1.0, 0));
    near(d[3].eps[0], 6.0 * 1.0_f64.exp());
}

#[test]
fn errors_come_out_unchanged() {
    let x = sample(9);
    let e = "no".to_owned();
    assert_eq!(try_hvp(|_: &[_]| Err(e.clone()), &x, &x).unwrap_err(), "no");
    assert_eq!(try_vhv(|_| Err(e.clone()), &x[..], &x).unwrap_err(), "no");
    assert_eq!(try_laplacian(|_| Err(e.clone()), &x).unwrap_err(), "no");
    assert_eq!(try_partial_hessian(|_, _| Err(e.clone()), &x, &x).unwrap_err(), "no");
    assert_eq!(try_directional(|_| Err(e.clone()), &x[..], &x).unwrap_err(), "no");
    assert_eq!(try_jvp::<_, [_; 2], _>(|_| Err(e.clone()), &x[..], &x).unwrap_err(), "no");
    let directions = DMatrix::<f64>::identity(9, 2);
    assert_eq!(
        try_jvp_batch::<_, [_; 2], _, _, _, _>(|_| Err(e.clone()), &x, &directions).unwrap_err(),
        "no"
    );
    assert_eq!(try_nth_derivative::<3, f64, _>(|_| Err(e.clone()), 1.0).unwrap_err(), "no");
    assert_eq!(try_nth_derivative::<2, f64, ()>(|x| Ok(x * x), 3.0), Ok((9.0, [6.0, 2.0])));
}

#[test]
fn matrices_as_points_of_products() {
    // f = tr(X X'): ∇f = 2X, H = 2I.
    let x = dmatrix![1.0, 2.0, 3.0; 4.0, 5.0, 6.0];
    let v = dmatrix![0.0, 1.0, 0.0; -1.0, 0.0, 2.0];
    let f = |x: &DMatrix<_>| x.norm_squared();
    let (value, g, product) = hvp(f, &x, &v);
    assert_eq!((value, g, product), (91.0, &x * 2.0, &v * 2.0));
    assert_eq!(laplacian(|x| x.norm_squared(), &x).2, 12.0);
    assert_eq!(gradient(|x| x.norm_squared(), &x).1, &x * 2.0);
}
