//! Sparse Jacobians and Hessians against the dense ones; structure, colorings, passes and work on large grids.

use std::cell::Cell;
use std::ops::ControlFlow;

use dualpack::nalgebra::{ComplexField, DMatrix, RealField, dvector};
use dualpack::{
    Chunk, Coloring, Dual, HyperDual, Pattern, Real, SeparableHessian, SparseHessian, SparseJacobian,
    Stopped, Tracer, gradient, hessian, hessian_pattern, jacobian, jacobian_pattern, lift_n,
};

/// Bratu's equation on a line: u'' + λ exp(u).
fn bratu_1d<S: Real>(y: &mut [S], x: &[S]) {
    let n = x.len();
    for i in 0..n {
        let left = if i > 0 { x[i - 1] } else { S::zero() };
        let right = if i + 1 < n { x[i + 1] } else { S::zero() };
        y[i] = left - x[i] - x[i] + right + x[i].exp();
    }
}

/// Bratu's equation on a square of `side` points.
fn bratu_2d<S: Real>(side: usize, y: &mut [S], x: &[S]) {
    let at = |i: usize, j: usize| if i < side && j < side { x[i * side + j] } else { S::zero() };
    let four = S::from_i32(4).unwrap();
    for i in 0..side {
        for j in 0..side {
            let around = at(i.wrapping_sub(1), j) + at(i + 1, j) + at(i, j.wrapping_sub(1)) + at(i, j + 1);
            y[i * side + j] = around - at(i, j) * four + at(i, j).exp();
        }
    }
}

/// Bonds of an elastic chain with second neighbours: one term each.
fn chain_terms<S: Real>(t: &mut [S], x: &[S]) {
    for i in 0..x.len() - 2 {
        t[i] = (x[i] - x[i + 1]).powi(4) + (x[i + 2] * x[i]).sin();
    }
}

fn chain_energy<S: Real>(x: &[S]) -> S {
    let mut t = vec![S::zero(); x.len() - 2];
    chain_terms(&mut t, x);
    t.iter().fold(S::zero(), |sum, &t| sum + t)
}

fn sample(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.3 * (i as f64 * 0.37).sin()).collect()
}

fn dense(pattern: &Pattern, entries: &[f64]) -> DMatrix<f64> {
    let mut m = DMatrix::zeros(pattern.nrows(), pattern.ncols());
    pattern.entries().zip(entries).for_each(|(at, &v)| m[at] = v);
    m
}

#[test]
fn the_structure_is_found() {
    let pattern = jacobian_pattern(
        |x| {
            let constant = Tracer::from(2.0);
            vec![
                x[0] + x[1] * constant,
                constant,
                x[2].max(x[0]),
                x[3].atan2(x[1]) / x[2],
                if x[4] > 1.0 { x[4] } else { x[0] },
                -x[1].hypot(x[3]),
            ]
        },
        &sample(5),
    );
    let rows: Vec<Vec<usize>> = {
        let t = pattern.transpose();
        (0..6).map(|i| t.column(i).to_vec()).collect()
    };
    // Both operands of a maximum count; the branch of an `if` that is not taken leaves no trace.
    assert_eq!(rows[0], [0, 1]);
    assert!(rows[1].is_empty());
    assert_eq!(rows[2], [0, 2]);
    assert_eq!(rows[3], [1, 2, 3]);
    assert_eq!(rows[4], [0]);
    assert_eq!(rows[5], [1, 3]);

    // Linear parts leave no second derivative.
    let entries = |p: Pattern| p.entries().filter(|(i, j)| i <= j).collect::<Vec<_>>();
    let p =
        hessian_pattern(|x| x[0] + x[1] * x[2] + x[3] / Tracer::from(3.0) - (x[4] * 2.0).exp(), &sample(5));
    assert!(p.is_symmetric());
    assert_eq!(entries(p), [(1, 2), (4, 4)]);
    let p = hessian_pattern(|x| x[0] / x[1] + (x[2] - x[3]).powi(2), &sample(4));
    assert_eq!(entries(p), [(0, 1), (1, 1), (2, 2), (2, 3), (3, 3)]);
    // What does not reach the result does not count.
    let p = hessian_pattern(
        |x| {
            let _lost = x[0] * x[1];
            x[0] + x[1]
        },
        &sample(2),
    );
    assert_eq!(p.nnz(), 0);
    let p = hessian_pattern(|x| lift_n(&x[..2], 1.0, &[1.0, 1.0], |_, _| 1.0) + x[2], &[1.0, 2.0, 3.0][..]);
    assert_eq!(p.nnz(), 4);
    // nalgebra's algorithms run on tracers.
    let p = jacobian_pattern(|x| x.normalize(), &dvector![1.0, 2.0, 3.0]);
    assert_eq!(p.nnz(), 9);
    let p = jacobian_pattern(
        |m| m.clone().lu().determinant(),
        &DMatrix::from_fn(3, 3, |i, j| (i * j) as f64 + 1.5),
    );
    assert_eq!(p.nnz(), 9);
}

#[test]
fn traces_within_traces_and_after_panics() {
    let p = jacobian_pattern(
        |x: &[Tracer<f64>; 3]| {
            let inner = jacobian_pattern(
                |z| [z[1] * x[2].value, z[0] + Tracer::constant(x[0]).value.value],
                &[1.0, 2.0],
            );
            assert_eq!(inner.entries().collect::<Vec<_>>(), [(1, 0), (0, 1)]);
            // A nested number: constants of the outer trace.
            let nested = jacobian_pattern(|z| z[0] * Tracer::constant(x[1]), &[x[2], x[0]]);
            assert_eq!(nested.entries().collect::<Vec<_>>(), [(0, 0)]);
            x[0] * x[1]
        },
        &[1.0, 2.0, 3.0],
    );
    assert_eq!(p.entries().collect::<Vec<_>>(), [(0, 0), (0, 1)]);
    let failed = std::panic::catch_unwind(|| {
        jacobian_pattern(|x| if x[0] * x[1] > 0.0 { panic!() } else { x[0] }, &[1.0; 2])
    });
    assert!(failed.is_err());
    assert_eq!(jacobian_pattern(|x| x[1] * 2.0, &[1.0, 2.0]).entries().collect::<Vec<_>>(), [(0, 1)]);
    fn generic<S: Real>(x: &[S; 2]) -> S {
        let (s, c) = ComplexField::sin_cos(x[0]);
        RealField::max(s, c) * x[1].sqrt()
    }
    assert_eq!(jacobian_pattern(generic, &[1.0, 2.0]).nnz(), 2);
    assert_eq!(Tracer::constant(1.5).to_string(), "1.5");
}

#[test]
fn colorings_are_valid() {
    let pseudo = |k: usize| (k.wrapping_mul(2654435761) >> 7) % 100;
    for n in [1, 2, 9, 30] {
        let entries: Vec<_> = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).collect();
        let p = Pattern::new(n, n, entries.iter().copied().filter(|&(i, j)| pseudo(i * 31 + j * 57) < 12));
        let coloring = Coloring::of_columns(&p);
        let by_row = p.transpose();
        for i in 0..n {
            let mut seen: Vec<_> = by_row.column(i).iter().map(|&j| coloring.color(j)).collect();
            seen.sort_unstable();
            seen.windows(2).for_each(|w| assert_ne!(w[0], w[1]));
        }
        let s = Pattern::new(n, n, p.entries().flat_map(|(i, j)| [(i, j), (j, i), (i, i)]));
        let star = Coloring::star(&s);
        let next = |v: usize| s.column(v).iter().copied().filter(move |&w| w != v);
        for a in 0..n {
            for b in next(a) {
                assert_ne!(star.color(a), star.color(b));
                for c in next(b).filter(|&c| c != a && star.color(c) == star.color(a)) {
                    assert!(
                        next(c).all(|d| d == b || star.color(d) != star.color(b)),
                        "a path of two colors"
                    );
                }
            }
        }
        assert!(star.count() <= Coloring::of_columns(&s).count());
    }
    // A tridiagonal matrix: three colors by columns; an arrow: n by columns, two as a star.
    let tri = Pattern::new(
        50,
        50,
        (0..50_usize).flat_map(|i| (i.saturating_sub(1)..(i + 2).min(50)).map(move |j| (i, j))),
    );
    assert_eq!(Coloring::of_columns(&tri).count(), 3);
    let arrow = Pattern::new(50, 50, (0..50).flat_map(|i| [(i, i), (0, i), (i, 0)]));
    assert_eq!((Coloring::of_columns(&arrow).count(), Coloring::star(&arrow).count()), (50, 2));
}

#[test]
fn entries_are_those_of_the_dense_jacobian() {
    fn check<const N: usize>(
        x: &[f64],
        m: usize,
        f: impl Fn(&mut [Dual<f64, N>], &[Dual<f64, N>]),
        p: Pattern,
    ) {
        let mut sparse = SparseJacobian::<f64, N>::new(p);
        let (mut y, mut entries) = (vec![f64::NAN; m], vec![f64::NAN; sparse.pattern().nnz()]);
        sparse.evaluate(&f, x, &mut y, &mut entries);
        let (y0, j0) = jacobian(
            |x| {
                let mut y = vec![Dual::constant(0.0); m];
                f(&mut y, x);
                y
            },
            Chunk::<N>::of(x),
        );
        assert_eq!(y, y0);
        assert_eq!(dense(sparse.pattern(), &entries), j0);
    }
    for n in [1, 2, 3, 17] {
        let x = sample(n);
        let p = SparseJacobian::<f64>::trace(bratu_1d, &x, n).pattern().clone();
        check::<1>(&x, n, bratu_1d, p.clone());
        check::<2>(&x, n, bratu_1d, p.clone());
        check::<8>(&x, n, bratu_1d, p.clone());
        // The Jacobian is symmetric: fewer colors, the same entries.
        let mut sparse = SparseJacobian::<f64>::symmetric(p.clone());
        let (mut y, mut entries) = (vec![0.0; n], vec![0.0; p.nnz()]);
        sparse.evaluate(bratu_1d, &x, &mut y, &mut entries);
        let mut plain = vec![0.0; p.nnz()];
        SparseJacobian::<f64>::new(p).evaluate(bratu_1d, &x, &mut y, &mut plain);
        assert_eq!(entries, plain);
    }
    let x = sample(49);
    let p = SparseJacobian::<f64>::trace(|y, x| bratu_2d(7, y, x), &x, 49).pattern().clone();
    check::<3>(&x, 49, |y, x| bratu_2d(7, y, x), p.clone());
    // Nothing at all.
    let mut empty = SparseJacobian::<f64>::trace(|_, _| (), &[], 0);
    assert_eq!(empty.passes(), 1);
    empty.evaluate(|_, _| (), &[], &mut [], &mut []);
}

#[test]
fn entries_are_those_of_the_dense_hessian() {
    for n in [3, 4, 9, 20] {
        let x = sample(n);
        let (value, g, h) = hessian(chain_energy, &x);
        let near = |a: &DMatrix<f64>, b: &DMatrix<f64>| {
            assert!((a - b).amax() <= 1e-14 * (1.0 + b.amax()), "{a} {b}")
        };

        fn terms<const N: usize>(x: &[f64]) -> (f64, Vec<f64>, DMatrix<f64>, usize) {
            let mut sparse = SeparableHessian::<f64, N>::trace(chain_terms, x, x.len() - 2);
            let (mut g, mut entries) = (vec![f64::NAN; x.len()], vec![f64::NAN; sparse.pattern().nnz()]);
            let value = sparse.evaluate(chain_terms, x, &mut g, &mut entries);
            (value, g, dense(sparse.pattern(), &entries), sparse.passes())
        }
        let wide = terms::<4>(&x);
        let narrow = terms::<2>(&x);
        assert_eq!((wide.0, wide.3, narrow.3), (value, 1, 3));
        near(&wide.2, &h);
        assert_eq!((&wide.1, &wide.2), (&narrow.1, &narrow.2), "chunked to the bit");
        assert_eq!(wide.2, wide.2.transpose());
        assert!(wide.1.iter().zip(&g).all(|(a, b)| (a - b).abs() < 1e-14));

        let mut sparse = SparseHessian::<f64, 4>::trace(chain_energy, &x);
        let (mut g1, mut entries) = (vec![f64::NAN; n], vec![f64::NAN; sparse.pattern().nnz()]);
        let mut calls = 0;
        let v = sparse.evaluate(
            |x| {
                calls += 1;
                chain_energy(x)
            },
            &x,
            &mut g1,
            &mut entries,
        );
        assert_eq!((v, calls), (value, sparse.passes()));
        near(&dense(sparse.pattern(), &entries), &h);
        assert_eq!(dense(sparse.pattern(), &entries), dense(sparse.pattern(), &entries).transpose());
        assert_eq!(g1, gradient(chain_energy, &x).1);
        // Two columns at a time: more colors than lanes.
        let mut sparse = SparseHessian::<f64, 2>::trace(chain_energy, &x);
        sparse.evaluate(chain_energy, &x, &mut g1, &mut entries);
        near(&dense(sparse.pattern(), &entries), &h);
    }
}

/// A 1-D and a 2-D grid, small and with 10^5 unknowns: as many passes, and as many evaluations of the stencil for each
/// unknown.
#[test]
fn the_work_for_each_unknown_does_not_grow() {
    let stencils = Cell::new(0_usize);
    fn line<S: Real>(count: &Cell<usize>, y: &mut [S], x: &[S]) {
        count.set(count.get() + x.len());
        bratu_1d(y, x);
    }
    fn square<S: Real>(count: &Cell<usize>, side: usize, y: &mut [S], x: &[S]) {
        count.set(count.get() + x.len());
        bratu_2d(side, y, x);
    }
    let mut work = Vec::new();
    for n in [400, 100_000] {
        let x = sample(n);
        stencils.set(0);
        let mut sparse = SparseJacobian::<f64>::trace(|y, x| line(&stencils, y, x), &x, n);
        let (mut y, mut entries) = (vec![0.0; n], vec![0.0; sparse.pattern().nnz()]);
        sparse.evaluate(|y, x| line(&stencils, y, x), &x, &mut y, &mut entries);
        assert_eq!((sparse.pattern().nnz(), sparse.coloring().count()), (3 * n - 2, 3));
        // By hand: the matrix of the stencil.
        for ((i, j), &e) in sparse.pattern().entries().zip(&entries) {
            assert_eq!(e, if i == j { -2.0 + x[i].exp() } else { 1.0 });
        }
        work.push((sparse.passes(), stencils.get() / n));
    }
    assert_eq!(work[0], work[1]);
    let mut work = Vec::new();
    for side in [20, 317] {
        let n = side * side;
        let x = sample(n);
        stencils.set(0);
        let mut sparse = SparseJacobian::<f64>::trace(|y, x| square(&stencils, side, y, x), &x, n);
        let (mut y, mut entries) = (vec![0.0; n], vec![0.0; sparse.pattern().nnz()]);
        sparse.evaluate(|y, x| square(&stencils, side, y, x), &x, &mut y, &mut entries);
        assert_eq!(sparse.pattern().nnz(), 5 * n - 4 * side);
        for ((i, j), &e) in sparse.pattern().entries().zip(&entries) {
            assert_eq!(e, if i == j { -4.0 + x[i].exp() } else { 1.0 });
        }
        work.push((sparse.passes(), stencils.get() / n));
    }
    assert_eq!(work[0], work[1]);
    // A Hessian of 10^5 inputs, as a sum of terms.
    let mut work = Vec::new();
    for n in [400, 100_000] {
        let x = sample(n);
        let mut sparse = SeparableHessian::<f64>::trace(chain_terms, &x, n - 2);
        let (mut g, mut entries) = (vec![0.0; n], vec![0.0; sparse.pattern().nnz()]);
        let mut calls = 0;
        sparse.evaluate(
            |t, x| {
                calls += 1;
                chain_terms(t, x);
            },
            &x,
            &mut g,
            &mut entries,
        );
        let at = |i, j| entries[sparse.pattern().position(i, j).unwrap()];
        let (i, d) = (n / 2, |a: usize| 12.0 * (x[a] - x[a + 1]).powi(2));
        assert!((at(i, i + 1) + d(i)).abs() < 1e-13);
        work.push((calls, sparse.passes(), sparse.coloring().count()));
    }
    assert_eq!(work[0], work[1]);
}

#[test]
fn progress_cancellation_errors_and_shapes() {
    let x = sample(12);
    let mut sparse = SparseJacobian::<f64, 1>::trace(bratu_1d, &x, 12);
    let (mut y, mut entries) = (vec![0.0; 12], vec![0.0; 34]);
    let mut reports = Vec::new();
    sparse
        .try_evaluate_with_progress(
            |y, x| {
                bratu_1d(y, x);
                Ok::<_, ()>(())
            },
            &x,
            &mut y,
            &mut entries,
            |fraction| {
                reports.push(fraction);
                ControlFlow::Continue(())
            },
        )
        .unwrap();
    assert_eq!(reports, [1.0 / 3.0, 2.0 / 3.0, 1.0]);
    let r = sparse.try_evaluate_with_progress(
        |_, _| Ok::<_, ()>(()),
        &x,
        &mut y,
        &mut entries,
        |_| ControlFlow::Break(()),
    );
    assert_eq!(r, Err(Stopped::Cancelled));
    assert_eq!(sparse.try_evaluate(|_, _| Err("no"), &x, &mut y, &mut entries), Err("no"));

    let mut hessian = SparseHessian::<f64>::trace(chain_energy, &x);
    let (mut g, mut entries) = (vec![0.0; 12], vec![0.0; hessian.pattern().nnz()]);
    let r = hessian.try_evaluate_with_progress(
        |_| Ok::<HyperDual<f64, 8, 8>, ()>(HyperDual::constant(1.0)),
        &x,
        &mut g,
        &mut entries,
        |_| ControlFlow::Break(()),
    );
    assert_eq!(r, Err(Stopped::Cancelled));
    let mut hessian = SeparableHessian::<f64>::trace(chain_terms, &x, 10);
    let r = hessian.try_evaluate_with_progress(
        |_, _| Err("no"),
        &x,
        &mut g,
        &mut entries,
        |_| ControlFlow::Continue(()),
    );
    assert_eq!(r, Err(Stopped::Function("no")));
    let wrong =
        std::panic::catch_unwind(move || hessian.evaluate(chain_terms, &x, &mut [0.0; 3], &mut entries));
    assert_eq!(*wrong.unwrap_err().downcast::<String>().unwrap(), "the gradient has 3 entries, expected 12");
}

#[cfg(feature = "sparse")]
#[test]
fn results_are_matrices_of_nalgebra_sparse() {
    let x = sample(30);
    let mut sparse = SparseJacobian::<f64>::trace(bratu_1d, &x, 30);
    let (_, j) = sparse.jacobian(bratu_1d, &x);
    assert_eq!((j.nrows(), j.ncols(), j.nnz()), (30, 30, 88));
    assert_eq!(DMatrix::from(&j)[(3, 4)], 1.0);
    let mut sparse = SeparableHessian::<f64>::trace(chain_terms, &x, 28);
    let (value, g, h) = sparse.hessian(chain_terms, &x);
    let (value0, g0, h0) = hessian(chain_energy, &x);
    assert_eq!(value, value0);
    assert!((DMatrix::from(&h) - &h0).amax() < 1e-14 && (dvector![g[7]] - dvector![g0[7]]).amax() < 1e-14);
    let (_, _, h) = SparseHessian::<f64>::trace(chain_energy, &x).hessian(chain_energy, &x);
    assert!((DMatrix::from(&h) - &h0).amax() < 1e-14);
}
