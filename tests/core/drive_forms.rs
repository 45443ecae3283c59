//! The three forms of the drivers, work spaces, blocks: buffers, shapes, errors, panics.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dualpack::nalgebra::{DMatrix, DVector, Matrix2x3, dmatrix, dvector, vector};
use dualpack::{
    BlockJacobian, Chunk, Dual64, Gradient, Hessian, Jacobian, Layout, Real, Stopped, derivative_into,
    gradient, gradient_into, hessian, hessian_into, jacobian, jacobian_blocks, jacobian_inplace,
    jacobian_into, second_derivative_into, try_derivative_into, try_gradient_into, try_hessian_into,
    try_jacobian_blocks, try_jacobian_inplace, try_jacobian_into, try_second_derivative_into,
};

fn value<S: Real>(x: &[S]) -> S {
    x.iter().enumerate().fold(S::one(), |p, (i, &x)| p * (x + S::from_usize(i).unwrap()).sin() + x)
}

fn values<S: Real>(x: &[S]) -> [S; 3] {
    [value(x), x.iter().fold(S::zero(), |s, &x| s + x * x), S::from_usize(7).unwrap()]
}

fn sample(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| 0.5 + (i as f64 + seed).sin()).collect()
}

/// The text of a panic.
fn panic_of(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("this panics");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast_ref::<&str>().expect("a panic with a text")).to_owned(),
    }
}

#[test]
fn into_buffers_is_what_is_returned() {
    for n in [0, 1, 8, 13] {
        let x = sample(n, 0.0);
        let (v, g) = gradient(value, &x);
        let mut g1 = vec![f64::NAN; n];
        assert_eq!((gradient_into(value, &x, &mut g1), &g1), (v, &g));
        assert_eq!(try_gradient_into(|x: &[_]| Ok::<_, ()>(value(x)), &x, &mut g1), Ok(v));

        let (y, j) = jacobian(values, &x);
        let (mut y1, mut j1) = ([f64::NAN; 3], DMatrix::from_element(3, n, f64::NAN));
        jacobian_into(values, &x, &mut y1, &mut j1);
        assert_eq!((y1, j1.as_slice()), (y, j.as_slice()));
        j1.fill(f64::NAN);
        try_jacobian_into(|x: &[_]| Ok::<_, ()>(values(x)), &x, &mut y1, &mut j1).unwrap();
        assert_eq!(j1.as_slice(), j.as_slice());
        let (mut y1, mut j1) = ([f64::NAN; 3], DMatrix::from_element(3, n, f64::NAN));
        jacobian_inplace(|y, x| y.copy_from_slice(&values(x)), &x, &mut y1, &mut j1);
        assert_eq!((y1, j1.as_slice()), (y, j.as_slice()));

        let (v, g, h) = hessian(value, &x);
        let (mut g1, mut h1) = (vec![f64::NAN; n], DMatrix::from_element(n, n, f64::NAN));
        assert_eq!(hessian_into(value, &x, &mut g1, &mut h1), v);
        assert_eq!((&g1, &h1), (&g, &h));
        h1.fill(f64::NAN);
        assert_eq!(try_hessian_into(|x: &[_]| Ok::<_, ()>(value(x)), &x, &mut g1, &mut h1), Ok(v));
        assert_eq!(h1, h);
    }
    let (mut y, mut dy, mut d2y) = ([0.0; 2], [0.0; 2], [0.0; 2]);
    derivative_into(|t| [t * t, t.recip()], 2.0, &mut y, &mut dy);
    assert_eq!((y, dy), ([4.0, 0.5], [4.0, -0.25]));
    second_derivative_into(|t| [t * t, t.recip()], 2.0, &mut y, &mut dy, &mut d2y);
    assert_eq!((y, dy, d2y), ([4.0, 0.5], [4.0, -0.25], [2.0, 0.25]));
    assert_eq!(try_derivative_into(|_| Err::<[Dual64; 2], _>(3), 2.0, &mut y, &mut dy), Err(3));
    assert_eq!(try_second_derivative_into(|t| Ok::<_, ()>([t, t]), 2.0, &mut y, &mut dy, &mut d2y), Ok(()));
    assert_eq!((y, dy, d2y), ([2.0; 2], [1.0; 2], [0.0; 2]));
}

#[test]
fn results_go_into_views_and_static_matrices() {
    let mut big = DMatrix::from_element(6, 6, -1.0);
    let mut y = [0.0; 2];
    jacobian_into(|&[a, b, c]| [a * b, b * c], &[2.0, 3.0, 4.0], &mut y, &mut big.view_mut((1, 2), (2, 3)));
    assert_eq!(big.view((1, 2), (2, 3)), dmatrix![3.0, 2.0, 0.0; 0.0, 4.0, 3.0]);
    assert_eq!(big.iter().filter(|&&e| e == -1.0).count(), 30);
    let mut j = Matrix2x3::zeros();
    jacobian_into(|x| [x[0] * x[1], x[1] * x[2]], &dvector![2.0, 3.0, 4.0], &mut y, &mut j);
    assert_eq!(j, Matrix2x3::new(3.0, 2.0, 0.0, 0.0, 4.0, 3.0));
}

#[test]
fn work_spaces_are_reused_for_other_points_and_functions() {
    for n in [0, 1, 8, 13] {
        let mut g = vec![0.0; n];
        let mut j = DMatrix::zeros(3, n);
        let mut h = DMatrix::zeros(n, n);
        let mut y = [0.0; 3];
        let mut gradient_space = Gradient::new(&sample(n, 9.0));
        let mut jacobian_space = Jacobian::new(Chunk::<3>::of(&sample(n, 9.0)));
        let mut hessian_space = Hessian::new(&sample(n, 9.0));
        for seed in [0.0, 1.0, 2.0] {
            let x = sample(n, seed);
            let v = gradient_space.evaluate(value, &x, &mut g);
            assert_eq!((v, g.clone()), gradient(value, &x));
            jacobian_space.evaluate(values, &x, &mut y, &mut j);
            assert_eq!((y, j.as_slice()), (jacobian(values, &x).0, jacobian(values, &x).1.as_slice()));
            jacobian_space.evaluate_inplace(|y, x| y.copy_from_slice(&values(x)), &x, &mut y, &mut j);
            assert_eq!((y, j.as_slice()), (jacobian(values, &x).0, jacobian(values, &x).1.as_slice()));
            let v = hessian_space.evaluate(value, &x, &mut g, &mut h);
            assert_eq!((v, g.clone(), h.clone()), hessian(value, &x));
            gradient_space.evaluate(|x| x.iter().copied().sum(), &x, &mut g);
            assert!(g.iter().all(|&g| g == 1.0));
        }
    }
}

#[test]
fn a_panic_or_an_error_leaves_the_work_space_usable() {
    let x = sample(11, 0.0);
    let (mut g, mut h, mut j, mut y) =
        (vec![0.0; 11], DMatrix::zeros(11, 11), DMatrix::zeros(3, 11), [0.0; 3]);
    let (mut gradient_space, mut jacobian_space, mut hessian_space) =
        (Gradient::new(&x), Jacobian::new(&x), Hessian::new(&x));
    for pass in 1..=2 {
        let mut calls = 0;
        let text = panic_of(|| {
            gradient_space.evaluate(
                |x| {
                    calls += 1;
                    assert!(calls < pass, "in pass {pass}");
                    x[0]
                },
                &x,
                &mut g,
            );
        });
        assert_eq!(text, format!("in pass {pass}"));
        assert_eq!((gradient_space.evaluate(value, &x, &mut g), g.clone()), gradient(value, &x));

        let mut calls = 0;
        let r = jacobian_space.try_evaluate_inplace(
            |y, x| {
                calls += 1;
                y[0] = x[3] * 5.0;
                if calls < pass { Ok(()) } else { Err(calls) }
            },
            &x,
            &mut y,
            &mut j,
        );
        assert_eq!(r, Err(pass));
        jacobian_space.evaluate(values, &x, &mut y, &mut j);
        assert_eq!((y, j.as_slice()), (jacobian(values, &x).0, jacobian(values, &x).1.as_slice()));

        let mut calls = 0;
        let r = hessian_space.try_evaluate(
            |x| {
                calls += 1;
                if calls <= pass { Ok(x[0] * x[5]) } else { Err(calls) }
            },
            &x,
            &mut g,
            &mut h,
        );
        assert_eq!(r, Err(pass + 1));
        let v = hessian_space.evaluate(value, &x, &mut g, &mut h);
        assert_eq!((v, g.clone(), h.clone()), hessian(value, &x));
    }
}

#[test]
fn shapes_that_do_not_match_are_named() {
    let x = sample(3, 0.0);
    let (mut g, mut j, mut y) = (vec![0.0; 3], DMatrix::zeros(3, 3), [0.0; 3]);
    let mut space = Gradient::new(&x);
    let text = panic_of(|| {
        space.evaluate(value, &sample(4, 0.0), &mut g);
    });
    assert_eq!(text, "the point is 4x1, expected 3x1");
    let text = panic_of(|| {
        space.evaluate(value, &x, &mut [0.0; 2]);
    });
    assert_eq!(text, "the gradient is 2x1, expected 3x1");
    let text = panic_of(|| jacobian_into(values, &x, &mut y, &mut DMatrix::zeros(3, 4)));
    assert_eq!(text, "the Jacobian is 3x4, expected 3x3");
    let text = panic_of(|| jacobian_into(|x| [x[0]], &x, &mut y, &mut j));
    assert_eq!(text, "the buffer of values has 3 entries, expected 1");
    let text = panic_of(|| {
        hessian_into(value, &x, &mut g, &mut DMatrix::zeros(2, 3));
    });
    assert_eq!(text, "the Hessian is 2x3, expected 3x3");
    let text = panic_of(|| {
        gradient_into(|m| m.trace(), &dmatrix![1.0, 2.0; 3.0, 4.0], &mut DMatrix::zeros(4, 1));
    });
    assert_eq!(text, "the gradient is 4x1, expected 2x2");
    let text = panic_of(|| {
        derivative_into(|t| [t, t], 1.0, &mut [0.0], &mut [0.0, 0.0]);
    });
    assert_eq!(text, "the buffer has 1 entries, expected 2");
    let text = panic_of(|| {
        let x: &[f64] = &[1.0];
        jacobian_blocks(|_, _| (), &[x], &mut [0.0], &mut [Some(&mut [0.0, 0.0])], Layout::RowMajor);
    });
    assert_eq!(text, "a Jacobian has 2 entries, expected 1");
}

#[test]
fn progress_is_reported_and_can_cancel() {
    let x = sample(18, 0.0);
    let (mut g, mut h) = (vec![0.0; 18], DMatrix::zeros(18, 18));
    let mut space = Hessian::new(&x);
    let mut reports = Vec::new();
    let v = space.try_evaluate_with_progress(
        |x| Ok::<_, ()>(value(x)),
        &x,
        &mut g,
        &mut h,
        |fraction| {
            reports.push(fraction);
            ControlFlow::Continue(())
        },
    );
    assert_eq!((v.unwrap(), g.clone(), h.clone()), hessian(value, &x));
    // Five chunks of four: fifteen blocks.
    assert_eq!(reports, (1..=15).map(|k| k as f64 / 15.0).collect::<Vec<_>>());
    let mut calls = 0;
    let r = space.try_evaluate_with_progress(
        |x| {
            calls += 1;
            Ok::<_, ()>(value(x))
        },
        &x,
        &mut g,
        &mut h,
        |fraction| if fraction < 0.5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) },
    );
    assert_eq!((r, calls), (Err(Stopped::Cancelled), 8));
    let r =
        space.try_evaluate_with_progress(|_| Err("no"), &x, &mut g, &mut h, |_| ControlFlow::Continue(()));
    assert_eq!(r, Err(Stopped::Function("no")));
    assert_eq!(Stopped::Function("no").to_string(), "no");
    assert!(Stopped::<&str>::Cancelled.to_string().contains("cancelled"));
}

#[test]
fn what_a_function_leaves_alone_is_zero() {
    let (mut y, mut j) = (vec![f64::NAN; 2], DMatrix::from_element(2, 9, f64::NAN));
    let mut calls = 0;
    jacobian_inplace(
        |y, x| {
            calls += 1;
            y[0] += x[0];
            if calls == 1 {
                y[1] = x[1];
            }
        },
        &sample(9, 0.0),
        &mut y,
        &mut j,
    );
    // The second pass left y[1] alone, so its last chunk, and the value, are zero.
    assert_eq!(y, [sample(9, 0.0)[0], 0.0]);
    assert_eq!((j[(0, 0)], j[(1, 1)], j[(0, 8)], j[(1, 8)]), (1.0, 1.0, 0.0, 0.0));
    let r = try_jacobian_inplace(|_, _| Err(1), &sample(9, 0.0), &mut y, &mut j);
    assert_eq!(r, Err(1));
}

#[test]
fn jacobians_by_block() {
    let blocks = [sample(5, 0.0), sample(0, 1.0), sample(9, 2.0), sample(3, 3.0)];
    let all: Vec<f64> = blocks.concat();
    let views: Vec<&[f64]> = blocks.iter().map(|b| &b[..]).collect();
    let (y, j) = jacobian(values, &all);
    let j = DMatrix::from_column_slice(3, 17, j.as_slice());
    let mut space = BlockJacobian::<f64, 4>::new();
    for layout in [Layout::RowMajor, Layout::ColumnMajor] {
        for held in [None, Some(0), Some(2)] {
            let mut out: Vec<Vec<f64>> = blocks.iter().map(|b| vec![f64::NAN; 3 * b.len()]).collect();
            let mut r = [f64::NAN; 3];
            let mut calls = 0;
            {
                let mut slots: Vec<Option<&mut [f64]>> = out
                    .iter_mut()
                    .enumerate()
                    .map(|(b, o)| (held != Some(b)).then_some(&mut o[..]))
                    .collect();
                space.evaluate(
                    |x, r| {
                        calls += 1;
                        assert_eq!((x.len(), x.is_empty(), x[2].len(), x.iter().count()), (4, false, 9, 4));
                        let joined: Vec<_> = x.iter().flatten().copied().collect();
                        r.copy_from_slice(&values(&joined));
                    },
                    &views,
                    &mut r,
                    &mut slots,
                    layout,
                );
            }
            let free = 17 - held.map_or(0, |b| blocks[b].len());
            assert_eq!((r, calls), (y, free.div_ceil(4)));
            let mut column = 0;
            for (b, block) in blocks.iter().enumerate() {
                let want = j.columns(column, block.len()).clone_owned();
                column += block.len();
                if held == Some(b) {
                    assert!(out[b].iter().all(|v| v.is_nan()));
                    continue;
                }
                let got = match layout {
                    Layout::RowMajor => DMatrix::from_row_slice(3, block.len(), &out[b]),
                    Layout::ColumnMajor => DMatrix::from_column_slice(3, block.len(), &out[b]),
                };
                assert_eq!(got, want);
            }
        }
    }
    let x: &[f64] = &[1.0];
    assert_eq!(try_jacobian_blocks(|_, _| Err(5), &[x], &mut [0.0], &mut [None], Layout::RowMajor), Err(5));
}

#[test]
fn work_spaces_for_nalgebra_points() {
    let x: DVector<f64> = dvector![1.0, 2.0, 3.0];
    let mut space = Gradient::new(&x);
    let mut g = DVector::zeros(3);
    assert_eq!(space.evaluate(|x| x.norm_squared(), &x, &mut g), 14.0);
    assert_eq!(g, &x * 2.0);
    let x = vector![1.0, 2.0, 3.0];
    let mut space = Jacobian::new(&x);
    let (mut y, mut j) = ([0.0; 2], Matrix2x3::zeros());
    space.evaluate(|x| vector![x.sum(), x[0] * x[2]], &x, &mut y, &mut j);
    assert_eq!((y, j), ([6.0, 3.0], Matrix2x3::new(1.0, 1.0, 1.0, 3.0, 0.0, 1.0)));
}

/// Fails after `done` calls.
fn failing(done: usize) -> impl FnMut() -> Result<(), &'static str> {
    let mut calls = 0;
    move || {
        calls += 1;
        if calls > done { Err("no") } else { Ok(()) }
    }
}

/// Errors halfway: finished chunks are new, the others are what stood there, and values come last where the docs say so.
#[test]
fn an_error_leaves_buffers_as_documented() {
    let (n, old) = (20, f64::NEG_INFINITY);
    let x = sample(n, 0.0);
    let (want_g, want_j) = (gradient(value, &x).1, jacobian(values, &x).1);
    for done in 0..3 {
        let check = |got: &dyn Fn(usize) -> f64, want: &dyn Fn(usize) -> f64| {
            (0..n).for_each(|j| assert_eq!(got(j), if j < 8 * done { want(j) } else { old }));
        };
        let (mut g, mut step) = (vec![old; n], failing(done));
        let failed = Gradient::new(&x).try_evaluate(|x: &[_]| step().map(|()| value(x)), &x, &mut g);
        assert_eq!(failed, Err("no"));
        check(&|j| g[j], &|j| want_g[j]);

        let (mut y, mut j, mut step) = ([old; 3], DMatrix::from_element(3, n, old), failing(done));
        let failed = Jacobian::new(&x).try_evaluate_inplace(
            |y, x| {
                y.copy_from_slice(&values(x));
                step()
            },
            &x,
            &mut y,
            &mut j,
        );
        assert_eq!((failed, y), (Err("no"), [old; 3]));
        check(&|k| j[(0, k)], &|k| want_j[(0, k)]);

        let (mut r, mut jacobian, mut step) = ([old; 1], vec![old; n], failing(done));
        let failed = BlockJacobian::<f64>::default().clone().try_evaluate(
            |x, r| {
                r[0] = value(&x[0]);
                step()
            },
            &[&x],
            &mut r,
            &mut [Some(&mut jacobian)],
            Layout::RowMajor,
        );
        assert_eq!((failed, r), (Err("no"), [old]));
        check(&|k| jacobian[k], &|k| want_g[k]);
    }
}
