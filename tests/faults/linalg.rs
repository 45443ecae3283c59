//! The matrix cases: one function per operation.

use dualpack::{BalanceJob, Cholesky, Diag, Dual, Dual2, Error, LU, Lapack, Side, Trans, Uplo, expm};
use nalgebra::{DMatrix, dmatrix};

use super::case::{Case, Curve, Outcome, matrix};
use crate::support::compare::{part, same_bits};
use crate::support::numbers::list;
use crate::support::probe::Probe;

trait Number: Probe + Lapack {}
impl<S: Probe + Lapack> Number for S {}

/// A 1 x 1 matrix, so that numbers compare like matrices.
fn one<S: Number>(x: S) -> DMatrix<S> {
    DMatrix::from_element(1, 1, x)
}

fn potrf<S: Lapack>(uplo: Uplo, mut a: DMatrix<S>) -> DMatrix<S> {
    S::potrf(uplo, a.as_view_mut()).expect("a positive definite matrix");
    a
}

/// The upper triangle of A and of all its tangents is NaN.
pub fn cholesky_lower(c: &Case) {
    fn run<S: Number>(x: &Curve<S>) -> Outcome<S> {
        let a = x.matrix("A");
        assert!(a[(0, 1)].base().is_nan());
        let factored = potrf(Uplo::Lower, a.clone());
        assert!(factored[(0, 1)].base().is_nan(), "the unread triangle is not written");
        let front = Cholesky::new(a)?.l();
        for (p, q) in front.lower_triangle().iter().zip(factored.lower_triangle().iter()) {
            assert!(same_bits(p.base(), q.base()));
        }
        Ok(vec![("L", front)])
    }
    in_every_scalar!(c, run);
}

/// sum(U) of A = U^T U with respect to the entries that are read: a11, a12, a22.
pub fn gradient_of_upper_cholesky(c: &Case) {
    let a = c.matrix("A");
    at_point!(c, [a[(0, 0)], a[(0, 1)], a[(1, 1)]], |x, y, z| {
        let u = potrf(Uplo::Upper, dmatrix![x, y; y * f64::NAN, z]);
        u[(0, 0)] + u[(0, 1)] + u[(1, 1)]
    });
    // The unread entry has no influence: its lane stays zero.
    let u = potrf(Uplo::Upper, DMatrix::from_fn(2, 2, |i, j| Dual::<f64, 4>::variable(a[(i, j)], 2 * j + i)));
    let sum = u[(0, 0)] + u[(0, 1)] + u[(1, 1)];
    c.field("Dual<f64, 4>", "grad_a21", &[sum.eps[1]]);
}

/// One lane per entry that is read.
pub fn jacobian_of_lower_cholesky(c: &Case) {
    let a = c.matrix("A");
    let entries = [("a11", 0, 0), ("a21", 1, 0), ("a22", 1, 1), ("a31", 2, 0), ("a32", 2, 1), ("a33", 2, 2)];
    let seeded =
        DMatrix::from_fn(3, 3, |i, j| match entries.iter().position(|&(_, r, s)| (r, s) == (i, j)) {
            Some(k) => Dual::<f64, 6>::variable(a[(i, j)], k),
            None => Dual { value: f64::NAN, eps: [f64::NAN; 6] },
        });
    let l = Cholesky::new(seeded).expect("a positive definite matrix").l();
    c.field("Dual<f64, 6>", "L", part(&l, |x| x.value).as_slice());
    for (k, (name, ..)) in entries.iter().enumerate() {
        let want = matrix(&c.expected["dL_by_entry"][name]);
        c.close(name, part(&l, |x| x.eps[k]).as_slice(), want.as_slice());
    }
}

/// sum((L L^T)^-1) for L = [[t + 1, 0], [1, 2]].
pub fn sum_of_inverse_from_factor(c: &Case) {
    fn run<S: Number>(x: &Curve<S>) -> Outcome<S> {
        let t = Curve::<S>::parameter(x.case.number("t"), 1.0);
        let poison = t * S::from_base(f64::NAN);
        let mut a = dmatrix![t + S::one(), poison; S::one(), S::from_base(2.0)];
        S::potri(Uplo::Lower, a.as_view_mut())?;
        Ok(vec![("f", one(a[(0, 0)] + a[(1, 0)] + a[(1, 0)] + a[(1, 1)]))])
    }
    in_every_scalar!(c, run);
}

/// Two weighted solves from given factors that move with t.
pub fn weighted_solves_from_factors(c: &Case) {
    fn run<S: Number>(x: &Curve<S>) -> Outcome<S> {
        let t = Curve::<S>::parameter(x.case.number("t"), 1.0);
        let k = |v: f64| S::from_base(v);
        let poison = t * k(f64::NAN);
        let factors = [
            (dmatrix![k(2.0), poison; t, k(3.0)], x.case.matrix("w1")),
            (dmatrix![k(3.0), poison; t + t + S::one(), k(2.0)], x.case.matrix("w2")),
        ];
        let mut sum = S::zero();
        for (l, weights) in factors {
            let mut b = x.matrix("B");
            S::potrs(Uplo::Lower, l.as_view(), b.as_view_mut())?;
            for (w, &y) in weights.iter().zip(b.iter()) {
                sum += k(*w) * y;
            }
        }
        Ok(vec![("f", one(sum))])
    }
    in_every_scalar!(c, run);
}

/// Powers by nalgebra's own multiplication.
pub fn matrix_power(c: &Case) {
    fn run<S: Number>(x: &Curve<S>) -> Outcome<S> {
        Ok(vec![("f", x.matrix("A").pow(x.case.number("k") as u32))])
    }
    in_every_scalar!(c, run);
}

/// L x = b with a unit diagonal: diagonal and upper triangle hold NaN.
pub fn unit_triangular_solve(c: &Case) {
    fn trtrs<S: Number>(x: &Curve<S>) -> Outcome<S> {
        let mut b = x.matrix("b");
        S::trtrs(Uplo::Lower, Trans::NoTrans, Diag::Unit, x.matrix("L").as_view(), b.as_view_mut())?;
        Ok(vec![("x", b)])
    }
    fn trsm<S: Number>(x: &Curve<S>) -> Outcome<S> {
        let mut b = x.matrix("b");
        let l = x.matrix("L");
        S::trsm(Side::Left, Uplo::Lower, Trans::NoTrans, Diag::Unit, S::one(), l.as_view(), b.as_view_mut())?;
        Ok(vec![("x", b)])
    }
    in_every_scalar!(c, trtrs);
    in_every_scalar!(c, trsm);
}

/// A x = b by getrf and getrs and by the front.
pub fn solve(c: &Case) {
    fn routine<S: Number>(x: &Curve<S>) -> Outcome<S> {
        let (mut a, mut b) = (x.matrix("A"), x.matrix("b"));
        let mut ipiv = vec![0; a.nrows()];
        S::getrf(a.as_view_mut(), &mut ipiv)?;
        S::getrs(Trans::NoTrans, a.as_view(), &ipiv, b.as_view_mut())?;
        Ok(vec![("f", b)])
    }
    fn front<S: Number>(x: &Curve<S>) -> Outcome<S> {
        Ok(vec![("f", LU::new(x.matrix("A"))?.solve(&x.matrix("b"))?)])
    }
    in_every_scalar!(c, routine);
    in_every_scalar!(c, front);
}

/// P A = L U with the rows in the order that the case gives; singular and tall ones too.
pub fn lu(c: &Case) {
    fn run<S: Number>(x: &Curve<S>) -> Outcome<S> {
        let mut a = x.matrix("A");
        let (m, n) = a.shape();
        let k = m.min(n);
        let mut ipiv = vec![0; k];
        match S::getrf(a.as_view_mut(), &mut ipiv) {
            Err(Error::Singular { pivot: 2, .. }) if x.case.id == "L022" => {}
            outcome => {
                assert_ne!(x.case.id, "L022", "a zero pivot is reported");
                outcome?;
            }
        }
        let mut rows: Vec<usize> = (0..m).collect();
        for (i, &p) in ipiv.iter().enumerate() {
            rows.swap(i, p as usize - 1);
        }
        let rows: Vec<f64> = rows.into_iter().map(|r| r as f64).collect();
        assert_eq!(rows, list(&x.case.input["perm_rows"]));
        let l = DMatrix::from_fn(m, k, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => S::zero(),
            std::cmp::Ordering::Equal => S::one(),
            std::cmp::Ordering::Greater => a[(i, j)],
        });
        Ok(vec![("L", l), ("U", a.rows(0, k).upper_triangle())])
    }
    in_every_scalar!(c, run);
}

pub fn expm_curve(c: &Case) {
    fn run<S: Number>(x: &Curve<S>) -> Outcome<S> {
        Ok(vec![("f", expm(&x.matrix("A"))?)])
    }
    in_every_scalar!(c, run);
}

/// sum(sin(expm(X))): gradient and Hessian in the four entries, by rows.
pub fn hessian_through_expm(c: &Case) {
    let a = c.matrix("X");
    at_point!(c, [a[(0, 0)], a[(0, 1)], a[(1, 0)], a[(1, 1)]], |p, q, r, s| {
        let e = expm(&dmatrix![p, q; r, s]).expect("an exponential");
        e[(0, 0)].sin() + e[(0, 1)].sin() + e[(1, 0)].sin() + e[(1, 1)].sin()
    });
}

/// B = T^-1 A T and dB = T^-1 dA T, exactly, with T as gebak makes it from the identity.
pub fn balancing(c: &Case) {
    fn run<S: Number>(x: &Curve<S>) -> Outcome<S> {
        let mut a = x.matrix("A");
        let original = a.clone();
        let n = a.nrows();
        let balance = S::gebal(BalanceJob::Both, a.as_view_mut())?;
        let mut t = DMatrix::<S>::identity(n, n);
        S::gebak(BalanceJob::Both, Side::Right, &balance, t.as_view_mut())?;
        // A T = T B: products with one non-zero entry per row and column, powers of two, so every bit is right.
        let residual = &original * &t - &t * &a;
        for r in residual.iter() {
            let parts = (0..3).filter_map(|k| r.first(k)).chain(r.mixed()).chain([r.base()]);
            assert!(parts.into_iter().all(|d| d == 0.0), "A T = T B holds exactly, derivatives included");
        }
        // T is locally constant.
        assert!(t.iter().all(|x| (0..3).filter_map(|k| x.first(k)).chain(x.mixed()).all(|d| d == 0.0)));
        // Powers of two and, where several rows can be isolated, the order of the interchanges depend on the version of
        // LAPACK. Where T is the recorded one, so is B.
        let values = part(&t, |x| x.base());
        match x.case.expected.get("T").map(matrix) {
            Some(recorded) if recorded == values => Ok(vec![("B", a), ("T", t)]),
            _ => {
                let powers_of_two = |x: &f64| *x == 0.0 || (x.log2() == x.log2().round() && *x > 0.0);
                assert!(values.iter().all(powers_of_two), "T = P D: {values}");
                Ok(Vec::new())
            }
        }
    }
    in_every_scalar!(c, run);
}

/// det and ln |det| of small families in t.
pub fn determinant_of_family(c: &Case) {
    fn det<S: Number>(x: &Curve<S>) -> Outcome<S> {
        let t = Curve::<S>::parameter(x.case.number("t"), 1.0);
        let k = |v: f64| S::from_base(v);
        let a = dmatrix![t + k(2.0), k(1.0); k(1.0), t + t + k(3.0)];
        Ok(vec![("f", one(LU::new(a)?.determinant()))])
    }
    fn ln_det<S: Number>(x: &Curve<S>) -> Outcome<S> {
        let t = Curve::<S>::parameter(x.case.number("t"), 1.0);
        let k = |v: f64| S::from_base(v);
        let a = dmatrix![t + k(2.0), k(1.0); k(1.0), k(3.0)];
        Ok(vec![("f", one(LU::new(a)?.ln_abs_determinant()?))])
    }
    if c.id == "L009" {
        in_every_scalar!(c, det);
    } else {
        in_every_scalar!(c, ln_det);
    }
}

/// All first and second derivatives of the determinant of a singular matrix.
pub fn gradient_of_singular_determinant(c: &Case) {
    fn run<const K: usize>(c: &Case) {
        let a = c.matrix("A");
        let n = a.nrows();
        let det = LU::new(DMatrix::from_fn(n, n, |i, j| Dual::<f64, K>::variable(a[(i, j)], i * n + j)))
            .expect("singular is no failure")
            .determinant();
        c.field("Dual", "f", &[det.value]);
        // Lane i n + j: rows of the gradient, which the file gives by rows too.
        let gradient = matrix(&c.expected["grad"]).transpose();
        c.close("gradient", &det.eps, gradient.as_slice());
        let det = LU::new(DMatrix::from_fn(n, n, |i, j| Dual2::<f64, K>::variable(a[(i, j)], i * n + j)))
            .expect("singular is no failure")
            .determinant();
        c.close("gradient in Dual2", &det.grad, gradient.as_slice());
        c.field("Dual2", "hess_11_22", &[det.hessian(0, K - 1)]);
        if n == 2 {
            c.field("Dual2", "hess_12_21", &[det.hessian(1, 2)]);
        }
        for i in 0..K {
            for j in i..K {
                c.field("Dual2", "d2f_any_direction", &[det.hessian(i, j)]);
            }
        }
    }
    if c.id == "L012" { run::<4>(c) } else { run::<16>(c) }
}

pub fn determinant(c: &Case) {
    fn run<S: Number>(x: &Curve<S>) -> Outcome<S> {
        Ok(vec![("f", one(LU::new(x.matrix("A"))?.determinant()))])
    }
    in_every_scalar!(c, run);
}

/// 0 x 0.
pub fn empty(c: &Case) {
    fn run<S: Number>(c: &Case) {
        let a = DMatrix::<S>::zeros(0, 0);
        let lu = LU::new(a.clone()).expect("an empty matrix is regular");
        let cholesky = Cholesky::new(a.clone()).expect("an empty matrix is positive definite");
        for det in [lu.determinant(), cholesky.determinant()] {
            c.field(S::NAME, "det", &[det.base()]);
            assert!((0..3).filter_map(|k| det.first(k)).chain(det.mixed()).all(|d| d == 0.0));
        }
        c.field(S::NAME, "logdet", &[lu.ln_abs_determinant().expect("a regular matrix").base()]);
        c.field(S::NAME, "logdet", &[cholesky.ln_determinant().base()]);
        let shape = |m: DMatrix<S>| [m.nrows() as f64, m.ncols() as f64];
        c.field(S::NAME, "inverse_shape", &shape(lu.inverse().expect("an inverse")));
        c.field(S::NAME, "inverse_shape", &shape(cholesky.inverse()));
        c.field(S::NAME, "expm_shape", &shape(expm(&a).expect("an exponential")));
        for columns in [0, 2] {
            let b = DMatrix::<S>::zeros(0, columns);
            assert_eq!(lu.solve(&b).expect("a solution").shape(), (0, columns));
        }
    }
    run::<f64>(c);
    run::<Dual<f64, 3>>(c);
    run::<Dual<Dual<f64, 1>, 1>>(c);
}

/// tridiag(-1, a, -1) x = 1 of order 1000.
pub fn solve_large_tridiagonal(c: &Case) {
    let n = c.number("n") as usize;
    let diagonal = Dual::<f64, 1> { value: c.number("a"), eps: [c.number("da")] };
    let a = DMatrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
        0 => diagonal,
        1 => Dual::constant(-1.0),
        _ => Dual::constant(0.0),
    });
    let ones = DMatrix::from_element(n, 1, Dual::<f64, 1>::constant(1.0));
    let lu = LU::new(a.clone()).expect("a regular matrix").solve(&ones).expect("a solution");
    let cholesky = Cholesky::new(a).expect("a positive definite matrix").solve(&ones).expect("a solution");
    for (name, x) in [("LU", lu), ("Cholesky", cholesky)] {
        let at: Vec<usize> = list(&c.input["entries"]).iter().map(|&k| k as usize - 1).collect();
        let pick = |read: fn(&Dual<f64, 1>) -> f64| -> Vec<f64> { at.iter().map(|&k| read(&x[k])).collect() };
        c.field(name, "x", &pick(|x| x.value));
        c.field(name, "dx", &pick(|x| x.eps[0]));
    }
}

/// The inverse of an indefinite symmetric matrix, both triangles.
pub fn symmetric_inverse(c: &Case) {
    fn run<S: Number>(x: &Curve<S>) -> Outcome<S> {
        Ok(vec![("f", LU::new(x.matrix("A"))?.inverse()?)])
    }
    in_every_scalar!(c, run);
}
