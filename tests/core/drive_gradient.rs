//! `gradient`, `jacobian`, `hessian` in their plain forms: which calls infer, which shapes come out, chunks.

use dualpack::nalgebra::{
    DMatrix, DVector, Matrix2x3, OMatrix, SMatrix, SVector, U2, Vector2, Vector3, dmatrix, matrix, vector,
};
use dualpack::{
    Chunk, Dual, Dual64, HyperDual, Real, Real64, derivative, gradient, hessian, jacobian, jvp,
    second_derivative, try_gradient, try_hessian, try_jacobian,
};

fn rosenbrock<S: Real64>(x: &[S]) -> S {
    x.windows(2)
        .fold(S::zero(), |sum, w| sum + (w[1] - w[0] * w[0]).powi(2) * 100.0 + (w[0] - S::one()).powi(2))
}

/// By hand: ∇ and ∇² of `rosenbrock`.
fn rosenbrock_by_hand(x: &[f64]) -> (Vec<f64>, DMatrix<f64>) {
    let n = x.len();
    let (mut g, mut h) = (vec![0.0; n], DMatrix::zeros(n, n));
    for i in 0..n.saturating_sub(1) {
        let (a, b) = (x[i], x[i + 1]);
        g[i] += -400.0 * a * (b - a * a) + 2.0 * (a - 1.0);
        g[i + 1] += 200.0 * (b - a * a);
        h[(i, i)] += 1200.0 * a * a - 400.0 * b + 2.0;
        h[(i + 1, i + 1)] += 200.0;
        h[(i, i + 1)] -= 400.0 * a;
        h[(i + 1, i)] -= 400.0 * a;
    }
    (g, h)
}

fn sample(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.3 + 0.7 * (i as f64 * 1.3).sin()).collect()
}

fn bits(v: &[f64]) -> Vec<u64> {
    v.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn calls_that_infer() {
    let captured = 2.0;
    // Static, arrays, dynamic, slices, matrices: nothing annotated.
    let (_, g): (f64, Vector2<f64>) = gradient(|v| v[0].sin() * captured + v[1], &vector![0.0, 1.0]);
    assert_eq!(g, vector![2.0, 1.0]);
    let (_, g): (f64, [f64; 3]) = gradient(|&[a, b, c]| a * b * c, &[2.0, 3.0, 4.0]);
    assert_eq!(g, [12.0, 8.0, 6.0]);
    let (_, g): (f64, DVector<f64>) =
        gradient(|v| v.norm_squared().sqrt(), &DVector::from_vec(vec![3.0, 4.0]));
    assert!((g - DVector::from_vec(vec![0.6, 0.8])).norm() < 1e-15);
    let (_, g): (f64, Vec<f64>) = gradient(|v| v.iter().map(|v| v.powi(2)).sum(), &[1.0, 2.0][..]);
    assert_eq!(g, [2.0, 4.0]);
    let (_, g): (f64, DMatrix<f64>) = gradient(|m| m.trace(), &dmatrix![1.0, 2.0; 3.0, 4.0]);
    assert_eq!(g, DMatrix::identity(2, 2));
    let (_, g): (f64, Matrix2x3<f64>) = gradient(|m| m[(1, 2)] * m[(0, 0)], &Matrix2x3::from_element(3.0));
    assert_eq!(g, matrix![3.0, 0.0, 0.0; 0.0, 0.0, 3.0]);
    // Annotated.
    gradient(|v: &DVector<Dual<f64, 8>>| v[0], &DVector::from_element(1, 1.0));
    gradient(|v: &DVector<Dual64<4>>| v[0], Chunk::<4>::of(&DVector::from_element(1, 1.0)));
    // Generic functions, with and without turbofish.
    gradient(rosenbrock, &sample(3));
    gradient(rosenbrock::<Dual<f64, 8>>, &sample(3));
    gradient(rosenbrock, Chunk::<2>::of(&sample(3)[..]));
    hessian(rosenbrock, &sample(3));
    hessian(rosenbrock::<HyperDual<f64, 2, 2>>, Chunk::<2>::of(&sample(3)));
    // Single precision.
    let (_, g): (f32, Vec<f32>) = gradient(|v| v[0] * 2.0, &vec![1.0_f32]);
    assert_eq!(g, [2.0]);
    // A literal.
    assert_eq!(derivative(|x| x.exp(), 0.0), (1.0, 1.0));
    assert_eq!(second_derivative(|x| x * x * x, 2.0), (8.0, 12.0, 12.0));
}

/// The point of a driver may have any number of dimensions known to the caller only.
fn squared_norm_gradient<const D: usize>(x: &SVector<f64, D>) -> SVector<f64, D> {
    gradient(|v| v.norm_squared(), x).1
}

#[test]
fn drivers_work_inside_functions_that_are_generic_in_the_dimension() {
    assert_eq!(squared_norm_gradient(&vector![1.0, 2.0, 3.0]), vector![2.0, 4.0, 6.0]);
    assert_eq!(squared_norm_gradient(&SVector::<f64, 0>::zeros()), SVector::<f64, 0>::zeros());
}

#[test]
fn gradient_and_hessian_match_the_formulas_at_every_length() {
    for n in 0..=19 {
        let x = sample(n);
        let (g0, h0) = rosenbrock_by_hand(&x);
        let (value, g) = gradient(rosenbrock, &x);
        assert_eq!(value.to_bits(), rosenbrock(&x).to_bits(), "n = {n}");
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
        assert!(g.iter().zip(&g0).all(|(&a, &b)| close(a, b)), "n = {n}: {g:?} {g0:?}");
        let (value2, g2, h) = hessian(rosenbrock, &x);
        assert_eq!(value2.to_bits(), value.to_bits());
        assert!(g2.iter().zip(&g0).all(|(&a, &b)| close(a, b)), "n = {n}");
        assert_eq!(h.shape(), (n, n));
        assert!(h.iter().zip(h0.iter()).all(|(&a, &b)| close(a, b)), "n = {n}: {h} {h0}");
        assert_eq!(bits(h.as_slice()), bits(h.transpose().as_slice()), "symmetric to the bit");
    }
}

#[test]
fn chunked_is_unchunked_to_the_bit() {
    fn check<const N: usize>(x: &[f64], g: &[f64], j: &DMatrix<f64>, h: &DMatrix<f64>) {
        let chunked = gradient(rosenbrock, Chunk::<N>::of(x)).1;
        assert_eq!(bits(&chunked), bits(g), "N = {N}");
        let chunked = jacobian(squares, Chunk::<N>::of(x)).1;
        assert_eq!(bits(chunked.as_slice()), bits(j.as_slice()), "N = {N}");
        let chunked = hessian(dense, Chunk::<N>::of(x)).2;
        assert_eq!(bits(chunked.as_slice()), bits(h.as_slice()), "N = {N}");
    }
    fn squares<S: Real>(x: &[S]) -> Vec<S> {
        (0..5).map(|i| x.iter().fold(S::one(), |p, &x| p * (x + S::from_i64(i).unwrap()).sin())).collect()
    }
    fn dense<S: Real>(x: &[S]) -> S {
        x.iter().fold(S::one(), |p, &x| p * x.exp())
    }
    for n in [1, 2, 7, 11] {
        let x = sample(n);
        let g = gradient(rosenbrock, Chunk::<1>::of(&x)).1;
        let j = jacobian(squares, Chunk::<1>::of(&x)).1;
        let h = hessian(dense, Chunk::<1>::of(&x)).2;
        // Every second derivative of `dense` is a product of the others.
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let others = (0..n).filter(|&k| k != i && k != j).map(|k| x[k].exp()).product::<f64>();
            let want = others * x[i].exp() * if i == j { 1.0 } else { x[j].exp() };
            assert!((h[(i, j)] - want).abs() <= 1e-14 * want, "({i}, {j})");
        }
        check::<2>(&x, &g, &j, &h);
        check::<3>(&x, &g, &j, &h);
        check::<4>(&x, &g, &j, &h);
        check::<8>(&x, &g, &j, &h);
        check::<11>(&x, &g, &j, &h);
        check::<16>(&x, &g, &j, &h);
    }
}

#[test]
fn the_jacobian_of_a_linear_map_is_its_matrix() {
    for (m, n) in [(0, 0), (0, 3), (3, 0), (1, 1), (4, 9), (9, 4), (3, 17)] {
        let a = DMatrix::from_fn(m, n, |i, j| ((3 * i + 7 * j) % 11) as f64 - 5.0);
        let x = DVector::from_vec(sample(n));
        let (y, j) = jacobian(|x| a.map(|a| a.into()) * x, &x);
        assert_eq!((j.shape(), y.len()), ((m, n), m));
        assert_eq!(j, a);
        assert!((y - &a * &x).norm() < 1e-12);
    }
    let a: SMatrix<f64, 4, 3> = SMatrix::from_fn(|i, j| (i * 3 + j) as f64);
    let (_, j): (_, SMatrix<f64, 4, 3>) = jacobian(|x| a.map(Dual::from) * x, &vector![1.0, 2.0, 3.0]);
    assert_eq!(j, a);
}

#[test]
fn matrices_count_column_by_column() {
    // Y = A X: vec(Y) = (I ⊗ A) vec(X).
    let a = dmatrix![1.0, 2.0; 3.0, 4.0; 5.0, 6.0];
    let x = dmatrix![0.5, -1.0, 2.0; 1.5, 0.0, 3.0];
    let (y, j) = jacobian(|x| a.map(|a| a.into()) * x, &x);
    assert_eq!(y, &a * &x);
    assert_eq!(j, DMatrix::identity(3, 3).kronecker(&a));
    // The transpose of a static matrix is a permutation of its entries.
    let (y, j) = jacobian(|x| x.transpose(), &matrix![1.0, 2.0, 3.0; 4.0, 5.0, 6.0]);
    assert_eq!(y, matrix![1.0, 4.0; 2.0, 5.0; 3.0, 6.0]);
    for (k, column) in j.column_iter().enumerate() {
        // Entry (i, c) of X is coordinate i + 2c, and entry (c, i) of the result.
        let (i, c) = (k % 2, k / 2);
        assert_eq!(column[c + 3 * i], 1.0);
        assert_eq!(column.sum(), 1.0);
    }
}

#[test]
fn arrays_and_numbers_as_results() {
    let (y, j): ([f64; 2], OMatrix<f64, U2, U2>) = jacobian(|&[a, b]| [a * b, a + b], &[2.0, 3.0]);
    assert_eq!((y, j), ([6.0, 5.0], matrix![3.0, 2.0; 1.0, 1.0]));
    let (y, j) = jacobian(|v| v[0] * v[1], &vector![2.0, 3.0]);
    assert_eq!((y, j), (6.0, matrix![3.0, 2.0]));
    let (y, dy) = jvp(|v: &Vector3<Dual64>| v.sum(), &vector![1.0, 2.0, 3.0], &vector![1.0, 10.0, 100.0]);
    assert_eq!((y, dy), (6.0, 111.0));
}

#[test]
fn errors_come_out_unchanged() {
    let mut calls = 0;
    let failing = |v: &[Dual64<2>]| {
        calls += 1;
        if calls < 3 { Ok(v[0]) } else { Err(format!("pass {calls}")) }
    };
    assert_eq!(try_gradient(failing, Chunk::<2>::of(&sample(9))), Err("pass 3".to_owned()));
    let r = try_jacobian(|v: &[Dual64<8>]| if v[0] > 0.0 { Ok([v[0]]) } else { Err(7) }, &vec![-1.0]);
    assert_eq!(r.map(|r| r.0), Err(7));
    let r = try_hessian(|v: &[HyperDual<f64, 4, 4>]| if v[0] > 0.0 { Ok(v[0]) } else { Err(7) }, &vec![1.0]);
    assert_eq!(r.unwrap().1, [1.0]);
}

#[test]
#[should_panic(expected = "returned 1 values in the first pass and 2 in a later one")]
fn a_function_that_changes_its_length_is_caught() {
    let mut calls = 0;
    jacobian(
        |v| {
            calls += 1;
            vec![v[0]; calls]
        },
        &sample(9),
    );
}

#[test]
#[should_panic(expected = "the direction is 3x1, expected 2x1")]
fn a_direction_of_another_length_is_caught() {
    jvp(|v: &[Dual64]| v[0], &[1.0, 2.0][..], &[1.0; 3]);
}

#[test]
fn nan_at_the_point_gives_nan() {
    let (value, g) = gradient(|v| v[0] * v[1], &[f64::NAN, 1.0]);
    assert!(value.is_nan() && g[0].is_nan() && g[1].is_nan());
}

#[test]
fn passes_are_counted() {
    let mut calls = 0;
    gradient(
        |v| {
            calls += 1;
            v[0]
        },
        &sample(17),
    );
    assert_eq!(calls, 3);
    // k(k + 1)/2 blocks of 4 x 4: k = 5.
    calls = 0;
    hessian(
        |v| {
            calls += 1;
            v[0]
        },
        &sample(17),
    );
    assert_eq!(calls, 15);
    calls = 0;
    jacobian(
        |_| {
            calls += 1;
            [Dual::constant(1.0)]
        },
        &Vec::<f64>::new(),
    );
    assert_eq!(calls, 1);
}

#[test]
#[should_panic(expected = "a chunk that begins at input 4 of a gradient with 3 entries")]
fn a_chunk_beyond_the_end_is_refused() {
    // At the end there is nothing to read.
    let y = Dual::<f64, 2>::new(1.0, [2.0, 3.0]);
    let mut gradient = [0.0; 3];
    dualpack::extract(&y, 3, &mut gradient);
    assert_eq!(gradient, [0.0; 3]);
    dualpack::extract(&y, 2, &mut gradient);
    assert_eq!(gradient, [0.0, 0.0, 2.0]);
    dualpack::extract(&y, 4, &mut gradient);
}
