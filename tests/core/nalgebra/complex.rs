//! Complex matrices over our numbers: nalgebra's decompositions against differences of the run over `f64`.

use dualpack_core::{Dual, Real};
use nalgebra::{Complex, ComplexField, DMatrix, DVector, Schur};

use crate::support::differences;
use crate::support::matrices::Random;

type M<S> = DMatrix<Complex<S>>;

struct Algorithm {
    name: &'static str,
    hermitian: bool,
    plain: fn(M<f64>) -> Vec<f64>,
    dual: fn(M<Dual<f64>>) -> Vec<Dual<f64>>,
}

macro_rules! algorithms {
    ($($name:literal $hermitian:literal |$a:ident| $body:expr;)*) => { [ $( {
        fn run<S: Real>($a: M<S>) -> Vec<S> {
            $body
        }
        Algorithm { name: $name, hermitian: $hermitian, plain: run, dual: run }
    } ),* ] };
}

fn flat<S: Real>(m: &M<S>) -> Vec<S> {
    m.iter().flat_map(|z| [z.re, z.im]).collect()
}

fn sorted<S: Real>(mut v: Vec<S>) -> Vec<S> {
    v.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    v
}

#[test]
fn complex_decompositions_match_differences() {
    let algorithms = algorithms! {
        "Cholesky" true |a| flat(&a.cholesky().expect("positive definite").l());
        "LU solve and inverse" false |a| { let b = DVector::from_element(a.nrows(), Complex::new(S::one(), S::one())); let x = a.clone().lu().solve(&b).expect("regular"); [flat(&M::<S>::from_columns(&[x])), flat(&a.try_inverse().expect("regular"))].concat() };
        "determinant" false |a| { let d = a.determinant(); vec![d.re, d.im] };
        "QR" false |a| { let (q, r) = a.qr().unpack(); [flat(&q), flat(&r)].concat() };
        "Hermitian eigenvalues" true |a| sorted(a.symmetric_eigenvalues().iter().copied().collect());
        "Hermitian eigenvectors" true |a| { let e = a.symmetric_eigen(); flat(&e.recompose()) };
        "singular values" false |a| sorted(a.singular_values().iter().copied().collect());
        "SVD recomposed" false |a| flat(&a.svd(true, true).recompose().expect("both sides"));
        "Schur recomposed" false |a| { let (q, t) = Schur::new(a).unpack(); flat(&(&q * t * q.adjoint())) };
        "exponential" false |a| flat(&a.exp());
    };
    let mut random = Random::new(77);
    let mut matrix = |shift: f64| {
        M::<f64>::from_fn(3, 3, |i, j| {
            let d = if i == j { shift * (1.0 + i as f64) } else { 0.0 };
            Complex::new(random.signed() + d, random.signed())
        })
    };
    let (general, direction) = (matrix(2.0), matrix(0.0));
    for f in &algorithms {
        let (mut a, mut e) = (general.clone(), direction.clone());
        if f.hermitian {
            a = &a * a.adjoint() + M::<f64>::identity(3, 3);
            e = &e + e.adjoint();
        }
        let lifted = a.zip_map(&e, |a, e| Complex::new(Dual::new(a.re, [e.re]), Dual::new(a.im, [e.im])));
        let y = (f.dual)(lifted);
        let slope = differences::first(|t: f64| (f.plain)(&a + &e * Complex::from_real(t)), 0.02);
        let got: Vec<f64> = y.iter().map(|y| y.eps[0]).collect();
        let size = got.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        assert!(slope.distance(&got) <= 1e-9 * size, "{}: {got:?} {slope:?}", f.name);
        for (y, v) in y.iter().zip((f.plain)(a)) {
            assert!((y.value - v).abs() <= 1e-12 * (1.0 + v.abs()), "{}: {y} {v}", f.name);
        }
    }
}
