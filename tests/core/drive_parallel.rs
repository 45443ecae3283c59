//! Drivers on rayon's threads: the same bits as the serial ones, with any number of threads.

use dualpack::nalgebra::{DMatrix, DVector};
use dualpack::{
    Chunk, Dual64, HyperDual64, Real, SparseHessian, SparseJacobian, gradient, hessian, jacobian,
    par_gradient, par_hessian, par_jacobian, try_par_gradient, try_par_hessian, try_par_jacobian,
};

fn f<S: Real>(x: &[S]) -> S {
    x.windows(2).fold(S::zero(), |sum, w| (sum + w[0] * w[1].exp()).sin())
        + x.iter().fold(S::one(), |p, &x| p * x)
}

fn stencil<S: Real>(y: &mut [S], x: &[S]) {
    for i in 0..y.len() {
        y[i] = x[i] * x[(i + 1) % x.len()].sin() + x[(i + 3) % x.len()];
    }
}

fn bits<'a>(v: impl IntoIterator<Item = &'a f64>) -> Vec<u64> {
    v.into_iter().map(|v| v.to_bits()).collect()
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for n in [0, 1, 8, 37] {
            let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            pool.install(|| {
                let (v, g) = gradient(f, &x);
                let (v1, g1) = par_gradient(f, &x);
                assert_eq!((v.to_bits(), bits(&g)), (v1.to_bits(), bits(&g1)));
                let g1 = par_gradient(f, Chunk::<3>::of(&x)).1;
                assert_eq!(bits(&g), bits(&g1));
                let values = |x: &DVector<Dual64<8>>| vec![f(x.as_slice()), x.sum(), f(x.as_slice())];
                let point = DVector::from_column_slice(&x);
                let (y, j) = jacobian(values, &point);
                let (y1, j1) = par_jacobian(values, &point);
                assert_eq!((bits(&y), bits(&j)), (bits(&y1), bits(&j1)));
                let (v, g, h) = hessian(f, &x);
                let (v1, g1, h1) = par_hessian(f, &x);
                assert_eq!((v.to_bits(), bits(&g), bits(&h)), (v1.to_bits(), bits(&g1), bits(&h1)));
            });
        }
        let x: Vec<f64> = (0..50).map(|i| (i as f64).sin()).collect();
        pool.install(|| {
            let mut sparse = SparseJacobian::<f64, 1>::trace(stencil, &x, 50);
            let nnz = sparse.pattern().nnz();
            let (mut y, mut e, mut y1, mut e1) =
                (vec![0.0; 50], vec![0.0; nnz], vec![0.0; 50], vec![0.0; nnz]);
            sparse.evaluate(stencil, &x, &mut y, &mut e);
            sparse.par_evaluate(stencil, &x, &mut y1, &mut e1);
            assert_eq!((bits(&y), bits(&e)), (bits(&y1), bits(&e1)));
            let energy = |x: &[HyperDual64<2, 2>]| {
                x.windows(3).map(|w| (w[0] * w[2]).sin() * w[1]).sum::<HyperDual64<2, 2>>()
            };
            let mut sparse = SparseHessian::<f64, 2>::trace(
                |x| x.windows(3).map(|w| (w[0] * w[2]).sin() * w[1]).sum(),
                &x,
            );
            let nnz = sparse.pattern().nnz();
            let (mut g, mut e, mut g1, mut e1) =
                (vec![0.0; 50], vec![0.0; nnz], vec![0.0; 50], vec![0.0; nnz]);
            let v = sparse.evaluate(energy, &x, &mut g, &mut e);
            let v1 = sparse.par_evaluate(energy, &x, &mut g1, &mut e1);
            assert_eq!((v.to_bits(), bits(&g), bits(&e)), (v1.to_bits(), bits(&g1), bits(&e1)));
        });
    }
}

#[test]
fn the_first_error_comes_out() {
    let x = vec![1.0; 40];
    // Chunks fail from the third on: the error is that of the third, whichever thread is faster.
    let failing = |x: &[Dual64<8>]| match x.iter().position(|x| x.eps != [0.0; 8]) {
        Some(i) if i >= 16 => Err(i),
        _ => Ok(x[0]),
    };
    assert_eq!(try_par_gradient(failing, &x), Err(16));
    assert_eq!(try_par_jacobian(|x: &[_]| failing(x).map(|y| [y]), &x).unwrap_err(), 16);
    assert_eq!(try_par_hessian(|_: &[_]| Err("no"), &x), Err("no"));
    assert_eq!(try_par_gradient(|x: &[Dual64<8>]| Ok::<_, ()>(x[0]), &x).unwrap().1[0], 1.0);
    let (_, j) = try_par_jacobian(|x: &[Dual64<8>]| Ok::<_, ()>([x[0], x[39]]), &x).unwrap();
    assert_eq!(j.shape(), (2, 40));
    let (_, _, h) = try_par_hessian(|x: &[HyperDual64<4, 4>]| Ok::<_, ()>(x[0] * x[39]), &x).unwrap();
    assert_eq!((h[(0, 39)], h.sum()), (1.0, 2.0));
    assert_eq!(DMatrix::from(h).transpose()[(0, 39)], 1.0);
}
