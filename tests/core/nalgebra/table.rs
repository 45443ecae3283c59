//! Every decomposition of nalgebra with scalars of depth 0, 1 and 2, at every kind of matrix: the table of the
//! documentation, cell by cell.
//!
//! A cell is `ok` where the first derivative matches differences of the `f64` run and the second those of the first;
//! `ok1` where only the first does; `W` where it is finite and wrong, `N` where it is NaN or infinite, `P` where the algorithm panics, `none` where it
//! gives up as it does in `f64`, `-` where the result has no derivative.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dualpack_core::{Dual, Real};
use nalgebra::linalg::balancing::balance_parlett_reinsch;
use nalgebra::{DMatrix, DVector, LBLT, Matrix2, Matrix3, Schur, UDU};

use crate::support::matrices::Random;

type D1 = Dual<f64>;
type D2 = Dual<Dual<f64>>;

/// One algorithm for every scalar; the result flattened.
struct Algorithm {
    name: &'static str,
    /// What it is defined on: "any" square matrices, "symmetric" ones, positive "definite" ones.
    domain: &'static str,
    plain: fn(DMatrix<f64>) -> Option<Vec<f64>>,
    dual: fn(DMatrix<D1>) -> Option<Vec<D1>>,
    nested: fn(DMatrix<D2>) -> Option<Vec<D2>>,
}

macro_rules! algorithms {
    ($($name:literal $domain:literal |$a:ident| $body:expr;)*) => { vec![ $( {
        fn run<S: Real>($a: DMatrix<S>) -> Option<Vec<S>> {
            $body
        }
        Algorithm { name: $name, domain: $domain, plain: run, dual: run, nested: run }
    } ),* ] };
}

/// Entries of several matrices.
macro_rules! all {
    ($($m:expr),+) => { Some([$($m.iter().copied().collect::<Vec<S>>()),+].concat()) };
}

fn rhs<S: Real>(n: usize) -> DVector<S> {
    DVector::from_fn(n, |i, _| nalgebra::convert(1.0 + i as f64))
}

fn sorted<S: Real>(v: &DVector<S>) -> DVector<S> {
    let mut v: Vec<S> = v.iter().copied().collect();
    v.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    DVector::from_vec(v)
}

/// Σ_k k v_k v_k' over the columns in the order of `w`: the columns without their signs.
fn weighted<S: Real>(v: &DMatrix<S>, w: &DVector<S>) -> DMatrix<S> {
    let mut order: Vec<usize> = (0..w.len()).collect();
    order.sort_by(|&i, &j| w[i].partial_cmp(&w[j]).expect("numbers"));
    let mut sum = DMatrix::zeros(v.nrows(), v.nrows());
    for (k, &i) in order.iter().enumerate() {
        let weight: S = nalgebra::convert(1.0 + k as f64);
        sum += v.column(i) * v.column(i).transpose() * weight;
    }
    sum
}

fn matrix2<S: Real>(a: &DMatrix<S>) -> Matrix2<S> {
    a.fixed_view::<2, 2>(0, 0).into_owned()
}

fn matrix3<S: Real>(a: &DMatrix<S>) -> Matrix3<S> {
    a.fixed_view::<3, 3>(0, 0).into_owned()
}

fn triangular_and_orthogonal() -> Vec<Algorithm> {
    algorithms! {
        "Cholesky" "definite" |a| { let c = a.cholesky()?; all!(c.l()) };
        "Cholesky solve, inverse" "definite" |a| { let c = a.cholesky()?; all!(c.solve(&rhs(c.l().nrows())), c.inverse()) };
        "UDU" "definite" |a| { let c = UDU::new(a)?; all!(c.u, c.d) };
        "LBLT solve" "symmetric" |a| { let n = a.nrows(); let b = rhs(n); all!(LBLT::new(a).solve(&b)?) };
        "LU" "any" |a| { let (_, l, u) = a.lu().unpack(); all!(l, u) };
        "LU solve" "any" |a| { let n = a.nrows(); all!(a.lu().solve(&rhs(n))?) };
        "determinant" "any" |a| Some(vec![a.determinant(), matrix2(&a).determinant(), matrix3(&a).determinant()]);
        "inverse" "any" |a| all!(a.try_inverse()?);
        "power" "any" |a| all!(a.pow(3));
        "full pivoting LU, P' L U Q'" "any" |a| { let (p, l, u, q) = a.full_piv_lu().unpack(); let mut b = l * u; p.inv_permute_rows(&mut b); q.inv_permute_columns(&mut b); all!(b) };
        "QR" "any" |a| { let (q, r) = a.qr().unpack(); all!(q, r) };
        "QR, Q R" "any" |a| { let (q, r) = a.qr().unpack(); all!(q * r) };
        "column pivoting QR, Q R P'" "any" |a| { let (q, r, p) = a.col_piv_qr().unpack(); let mut b = q * r; p.inv_permute_columns(&mut b); all!(b) };
    }
}

fn condensed() -> Vec<Algorithm> {
    algorithms! {
        "Hessenberg" "any" |a| { let (q, h) = a.hessenberg().unpack(); all!(q, h) };
        "Hessenberg, Q H Q'" "any" |a| { let (q, h) = a.hessenberg().unpack(); all!(&q * h * q.transpose()) };
        "bidiagonal, U B V'" "any" |a| { let (u, d, v) = a.bidiagonalize().unpack(); all!(u * d * v) };
        "symmetric tridiagonal, Q T Q'" "symmetric" |a| all!(a.symmetric_tridiagonalize().recompose());
        "balance_parlett_reinsch" "any" |a| { let mut b = a; let d = balance_parlett_reinsch(&mut b); all!(b, d) };
        "exp" "any" |a| all!(a.exp());
        "exp of a large matrix" "any" |a| { let s: S = nalgebra::convert(4.0); all!((a * s).exp()) };
    }
}

fn spectral() -> Vec<Algorithm> {
    algorithms! {
        "SymmetricEigen values" "symmetric" |a| all!(sorted(&a.symmetric_eigenvalues()));
        "SymmetricEigen vectors" "symmetric" |a| { let e = a.try_symmetric_eigen(S::default_epsilon(), 1000)?; all!(weighted(&e.eigenvectors, &e.eigenvalues)) };
        "SymmetricEigen, V L V'" "symmetric" |a| all!(a.try_symmetric_eigen(S::default_epsilon(), 1000)?.recompose());
        "Schur, Q T Q'" "any" |a| { let (q, t) = Schur::try_new(a, S::default_epsilon(), 1000)?.unpack(); all!(&q * t * q.transpose()) };
        "eigenvalues" "any" |a| all!(sorted(&Schur::try_new(a, S::default_epsilon(), 1000)?.eigenvalues()?));
        "complex eigenvalues" "any" |a| {
            // Symmetric functions of the conjugate pairs: the order does not matter.
            let w = Schur::try_new(a, S::default_epsilon(), 1000)?.complex_eigenvalues();
            let (mut sum, mut squares, mut moduli) = (S::zero(), S::zero(), S::zero());
            for w in w.iter() {
                sum += w.re;
                squares += w.re * w.re - w.im * w.im;
                moduli += w.re * w.re + w.im * w.im;
            }
            Some(vec![sum, squares, moduli])
        };
    }
}

fn singular() -> Vec<Algorithm> {
    algorithms! {
        "SVD values" "any" |a| all!(sorted(&a.singular_values()));
        "SVD, U S V'" "any" |a| all!(a.try_svd(true, true, S::default_epsilon(), 1000)?.recompose().ok()?);
        "pseudo_inverse" "any" |a| all!(a.pseudo_inverse(nalgebra::convert(1e-9)).ok()?);
        "polar" "any" |a| { let (p, u) = a.svd(true, true).to_polar()?; all!(p, u) };
        "SVD 2 x 2 static, U S V'" "any" |a| all!(matrix2(&a).svd(true, true).recompose().ok()?);
        "SVD 3 x 3 static, U S V'" "any" |a| all!(matrix3(&a).svd(true, true).recompose().ok()?);
    }
}

const KINDS: [&str; 8] = ["random", "identity", "diagonal", "repeated", "block", "upper", "zero", "rank 1"];

/// A matrix and a direction of the kind, in the domain; `None` where the domain has no such matrix.
fn sample(kind: &str, domain: &str) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
    const N: usize = 4;
    let mut random = Random::new(2024);
    let diagonal = |d: [f64; N]| DMatrix::from_diagonal(&DVector::from_row_slice(&d));
    // Well conditioned, with real eigenvalues that are well apart.
    let c = DMatrix::identity(N, N) + random.matrix(N, N) * 0.5;
    let x = &c * diagonal([0.7, 1.9, 3.1, 4.4]) * c.clone().try_inverse()?;
    let (mut e, q) = (random.matrix(N, N), random.orthogonal(N));
    let mut a = match kind {
        "random" => x.clone(),
        "identity" => DMatrix::identity(N, N),
        "diagonal" => diagonal([1.0, 2.0, 3.0, 4.0]),
        "repeated" => &q * diagonal([1.0, 1.0, 2.0, 3.0]) * q.transpose(),
        "block" => x.map_with_location(|i, j, v| if i / 2 == j / 2 { v } else { 0.0 }),
        "upper" => x.upper_triangle(),
        "zero" => DMatrix::zeros(N, N),
        _ => x.column(0) * x.row(1),
    };
    if kind == "repeated" && domain == "any" {
        // Not symmetric, but with the same spectrum.
        a = &c * a * c.clone().try_inverse()?;
    }
    if domain != "any" {
        if kind == "upper" {
            return None;
        }
        a = match kind {
            "rank 1" => x.column(0) * x.column(0).transpose(),
            _ => (&a + a.transpose()) * 0.5,
        };
        e = (&e + e.transpose()) * 0.5;
    }
    if domain == "definite" && (kind == "random" || kind == "block") {
        a = &a * a.transpose() + DMatrix::identity(N, N);
    }
    Some((a, e))
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
}

/// (f(t) - f(-t))/2t extrapolated, unless the two sides differ.
fn slope(f: &dyn Fn(f64) -> Option<Vec<f64>>) -> Option<Vec<f64>> {
    let at = |t: f64| f(t).filter(|v| v.iter().all(|x| x.is_finite()));
    let combine = |a: &[f64], b: &[f64], s: f64, t: f64| -> Vec<f64> {
        a.iter().zip(b).map(|(x, y)| s * x + t * y).collect()
    };
    let h = 1e-3;
    let central = |h: f64| Some(combine(&at(h)?, &at(-h)?, 0.5 / h, -0.5 / h));
    let (d1, d2) = (central(h)?, central(h / 2.0)?);
    let d = combine(&d2, &d1, 4.0 / 3.0, -1.0 / 3.0);
    let scale = 1.0 + largest(&d);
    // A kink or a jump shows in the one-sided differences, or in no convergence at all.
    let (base, small) = (at(0.0)?, 1e-6);
    let right = combine(&at(small)?, &base, 1.0 / small, -1.0 / small);
    let left = combine(&base, &at(-small)?, 1.0 / small, -1.0 / small);
    let smooth = distance(&right, &left) < 1e-2 * scale && distance(&d1, &d2) < 1e-2 * scale;
    smooth.then_some(d)
}

fn classify(algorithm: &Algorithm, kind: &str) -> &'static str {
    let Some((a, e)) = sample(kind, algorithm.domain) else { return "-" };
    let plain = |t: f64| (algorithm.plain)(&a + &e * t);
    let dual = |t: f64| {
        let number = a.zip_map(&e, |a, e| D1::new(a + t * e, [e]));
        (algorithm.dual)(number)
    };
    let nested = || {
        let number = a.zip_map(&e, |a, e| D2::new(D1::new(a, [e]), [D1::new(e, [0.0])]));
        (algorithm.nested)(number)
    };
    let Ok(first) = catch_unwind(AssertUnwindSafe(|| dual(0.0))) else { return "P" };
    let Some(first) = first else { return if plain(0.0).is_none() { "none" } else { "W" } };
    let value = plain(0.0).expect("as with duals");
    let values: Vec<f64> = first.iter().map(|x| x.value).collect();
    assert!(
        distance(&values, &value) <= 1e-12 * largest(&value) || values.iter().any(|x| x.is_nan()),
        "{} at {kind}: the value is not that of f64",
        algorithm.name
    );
    let first: Vec<f64> = first.iter().map(|x| x.eps[0]).collect();
    let Some(want) = slope(&plain) else { return "-" };
    if first.iter().any(|x| !x.is_finite()) {
        return "N";
    }
    let scale = 1.0 + largest(&want);
    if distance(&first, &want) > 1e-7 * scale {
        return "W";
    }
    let parts = |t: f64| Some(dual(t)?.iter().map(|x| x.eps[0]).collect());
    let Some(want) = slope(&parts) else { return "ok1" };
    let Ok(Some(second)) = catch_unwind(AssertUnwindSafe(nested)) else { return "ok1" };
    let second: Vec<f64> = second.iter().map(|x| x.eps[0].eps[0]).collect();
    let scale = 1.0 + largest(&want);
    if second.iter().all(|x| x.is_finite()) && distance(&second, &want) <= 1e-6 * scale {
        "ok"
    } else {
        "ok1"
    }
}

/// The rows of the documentation: name and cells.
fn documented() -> Vec<(String, Vec<String>)> {
    let text = include_str!("../../../core/src/limits.md");
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| nalgebra"));
    rows.map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        (cells.next().expect("a name"), cells.take(KINDS.len()).collect())
    })
    .collect()
}

#[track_caller]
fn check(algorithms: &[Algorithm]) {
    let documented = documented();
    let mut wrong = String::new();
    for algorithm in algorithms {
        let found = KINDS.map(|kind| classify(algorithm, kind));
        let row = documented.iter().find(|(name, _)| name == algorithm.name);
        if row.is_none_or(|(_, cells)| *cells != found) {
            wrong += &format!("| {} | {} |\n", algorithm.name, found.join(" | "));
        }
    }
    assert!(wrong.is_empty(), "rows of core/src/limits.md that are now, at {KINDS:?}:\n{wrong}");
}

#[test]
fn triangular_and_orthogonal_factors() {
    check(&triangular_and_orthogonal());
}

#[test]
fn condensed_forms_and_exponentials() {
    check(&condensed());
}

#[test]
fn eigenvalues_and_vectors() {
    check(&spectral());
}

#[test]
fn singular_values_and_vectors() {
    check(&singular());
}

#[test]
fn every_row_of_the_documentation_is_checked() {
    let all = [triangular_and_orthogonal(), condensed(), spectral(), singular()];
    let names: Vec<&str> = all.iter().flatten().map(|a| a.name).collect();
    let documented: Vec<String> = documented().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, documented);
}

/// Close to a diagonal matrix the deflation of the algorithm still drops what the tangent needs.
#[test]
fn near_a_diagonal_matrix_it_is_no_better() {
    let mut random = Random::new(9);
    let (shift, e) = (random.symmetric(4), random.symmetric(4));
    let diagonal = DMatrix::from_diagonal(&DVector::from_row_slice(&[1.0, 2.0, 3.0, 4.0]));
    // V L V' is the matrix itself: its tangent is e.
    let error = |s: f64| {
        let a = &diagonal + &shift * s;
        let number = a.zip_map(&e, |a, e| D1::new(a, [e]));
        let back = number.symmetric_eigen().recompose();
        back.zip_fold(&e, 0.0_f64, |m, x, e| m.max((x.eps[0] - e).abs()))
    };
    assert!(error(1e-2) < 1e-11 && error(1e-12) > 1e-5, "{:e} {:e}", error(1e-2), error(1e-12));
}
