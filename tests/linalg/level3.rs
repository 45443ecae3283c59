//! gemm, trsm, trmm and syrk, with tangents in the coefficients too.

use dualpack::{Diag, Dual, Error, Gemm, Lapack, Real, Side, Syrk, Trans, Trmm, Trsm, Uplo};
use nalgebra::{Complex, DMatrix, DMatrixView, DMatrixViewMut};

use crate::laws::{Part, Routine, check};
use crate::support::compare::{assert_close, assert_same_bits, part};
use crate::support::matrices::Random;

const TRANS: [Trans; 3] = [Trans::NoTrans, Trans::Trans, Trans::ConjTrans];

/// Operands α, A, B, β, C; the coefficients as 1 x 1 matrices.
struct GemmCase {
    ta: Trans,
    tb: Trans,
    m: usize,
    n: usize,
    k: usize,
}

impl Routine for GemmCase {
    fn name(&self) -> String {
        let GemmCase { ta, tb, m, n, k } = self;
        format!("gemm {ta:?} {tb:?} {m} x {n} x {k}")
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        let mut random = Random::new(14);
        let (a, b) = (self.ta.shape((self.m, self.k)), self.tb.shape((self.k, self.n)));
        vec![
            random.matrix(1, 1),
            random.matrix(a.0, a.1),
            random.matrix(b.0, b.1),
            random.matrix(1, 1),
            random.matrix(self.m, self.n),
        ]
    }
    fn outputs(&self) -> Vec<usize> {
        vec![4]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut x: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        let c = x.remove(4);
        T::gemm(self.ta, self.tb, x[0][(0, 0)], x[1].as_view(), x[2].as_view(), x[3][(0, 0)], c)
    }
}

/// Shapes on both sides of the limit between loops and the crate `gemm`, vectors among them.
#[test]
fn gemm_laws() {
    for ta in TRANS {
        for tb in TRANS {
            for (m, n, k) in
                [(0, 3, 2), (2, 3, 0), (1, 1, 1), (3, 4, 5), (13, 11, 9), (1, 30, 31), (40, 1, 33)]
            {
                check(&GemmCase { ta, tb, m, n, k });
            }
        }
    }
}

/// Operands α, A, B.
struct TriangularCase {
    solve: bool,
    side: Side,
    uplo: Uplo,
    trans: Trans,
    diag: Diag,
    m: usize,
    n: usize,
}

impl Routine for TriangularCase {
    fn name(&self) -> String {
        let TriangularCase { solve, side, uplo, trans, diag, m, n } = self;
        let routine = if *solve { "trsm" } else { "trmm" };
        format!("{routine} {side:?} {uplo:?} {trans:?} {diag:?} {m} x {n}")
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        let mut random = Random::new(15);
        let order = if self.side == Side::Left { self.m } else { self.n };
        let mut a = random.matrix(order, order) / order.max(1) as f64;
        a.iter_mut().step_by(order + 1).for_each(|d| *d += 1.5);
        vec![random.matrix(1, 1), a, random.matrix(self.m, self.n)]
    }
    fn part(&self, operand: usize) -> Part {
        match (operand, self.diag) {
            (1, Diag::NonUnit) => Part::Triangle(self.uplo),
            (1, Diag::Unit) => Part::Strict(self.uplo),
            _ => Part::All,
        }
    }
    fn outputs(&self) -> Vec<usize> {
        vec![2]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut x: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        let b = x.remove(2);
        let routine = if self.solve { T::trsm } else { T::trmm };
        routine(self.side, self.uplo, self.trans, self.diag, x[0][(0, 0)], x[1].as_view(), b)
    }
}

fn every_triangle(mut f: impl FnMut(Side, Uplo, Trans, Diag)) {
    for side in [Side::Left, Side::Right] {
        for uplo in [Uplo::Lower, Uplo::Upper] {
            for trans in TRANS {
                for diag in [Diag::NonUnit, Diag::Unit] {
                    f(side, uplo, trans, diag);
                }
            }
        }
    }
}

/// Orders on both sides of a block, single rows and columns, nothing at all.
#[test]
fn triangular_laws() {
    every_triangle(|side, uplo, trans, diag| {
        for solve in [false, true] {
            for (m, n) in [(0, 2), (2, 0), (1, 1), (5, 3), (1, 21), (21, 1), (19, 18)] {
                check(&TriangularCase { solve, side, uplo, trans, diag, m, n });
            }
        }
    });
}

/// Operands α, A, β, C.
struct SyrkCase {
    uplo: Uplo,
    trans: Trans,
    n: usize,
    k: usize,
}

impl Routine for SyrkCase {
    fn name(&self) -> String {
        let SyrkCase { uplo, trans, n, k } = self;
        format!("syrk {uplo:?} {trans:?} {n} x {k}")
    }
    fn operands(&self) -> Vec<DMatrix<f64>> {
        let mut random = Random::new(16);
        let a = self.trans.shape((self.n, self.k));
        vec![random.matrix(1, 1), random.matrix(a.0, a.1), random.matrix(1, 1), random.matrix(self.n, self.n)]
    }
    fn part(&self, operand: usize) -> Part {
        if operand == 3 { Part::Triangle(self.uplo) } else { Part::All }
    }
    fn outputs(&self) -> Vec<usize> {
        vec![3]
    }
    fn call<T: Lapack + Real<Base = f64>>(&self, mut x: Vec<DMatrixViewMut<'_, T>>) -> Result<(), Error> {
        let c = x.remove(3);
        T::syrk(self.uplo, self.trans, x[0][(0, 0)], x[1].as_view(), x[2][(0, 0)], c)
    }
}

#[test]
fn syrk_laws() {
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for trans in TRANS {
            for (n, k) in [(0, 2), (2, 0), (1, 1), (5, 3), (18, 7), (35, 20)] {
                check(&SyrkCase { uplo, trans, n, k });
            }
        }
    }
}

fn op<T: Lapack>(trans: Trans, a: &DMatrix<T>) -> DMatrix<T> {
    match trans {
        Trans::NoTrans => a.clone(),
        Trans::Trans => a.transpose(),
        Trans::ConjTrans => a.adjoint(),
    }
}

/// Complex products beyond the small kernels, in both precisions: coefficients with and without real and imaginary
/// part, C by columns and by rows of a larger matrix, and β = 0 over an unreadable C.
#[test]
fn large_products_of_complex_numbers() {
    fn check<F: Real<Base = F> + From<f32>>(tolerance: F)
    where
        Complex<F>: Gemm,
    {
        let mut random = Random::new(23);
        let mut complex = |m: usize, n: usize| {
            let (re, im) = (random.matrix(m, n), random.matrix(m, n));
            DMatrix::from_fn(m, n, |i, j| [re[(i, j)], im[(i, j)]].map(|x| <F as From<f32>>::from(x as f32)))
                .map(|[re, im]| Complex::new(re, im))
        };
        let number = |re: f32, im: f32| Complex::new(<F as From<f32>>::from(re), <F as From<f32>>::from(im));
        let coefficients =
            [(1.0, 0.0), (-1.0, 0.0), (0.0, 2.0), (0.5, -1.5), (0.0, 0.0)].map(|(a, b)| number(a, b));
        for (m, n, k) in [(41, 38, 35), (1, 300, 200), (300, 1, 200), (200, 300, 1)] {
            for (ta, tb) in TRANS.iter().flat_map(|&ta| TRANS.map(|tb| (ta, tb))) {
                let ((ar, ac), (br, bc)) = (ta.shape((m, k)), tb.shape((k, n)));
                let (a, b, c) = (complex(ar, ac), complex(br, bc), complex(m + 3, n));
                let of = |t: Trans, x: &DMatrix<Complex<F>>| match t {
                    Trans::NoTrans => x.clone(),
                    Trans::Trans => x.transpose(),
                    Trans::ConjTrans => x.adjoint(),
                };
                let product = of(ta, &a) * of(tb, &b);
                for alpha in coefficients {
                    for beta in coefficients {
                        let mut got = c.clone();
                        if beta == number(0.0, 0.0) {
                            got.view_mut((2, 0), (m, n)).fill(number(f32::NAN, f32::NAN));
                        }
                        let view = got.view_mut((2, 0), (m, n));
                        Complex::<F>::gemm(ta, tb, alpha, a.as_view(), b.as_view(), beta, view).unwrap();
                        let want = &product * alpha + c.view((2, 0), (m, n)) * beta;
                        let norm = |x: &DMatrix<Complex<F>>| {
                            x.iter().fold(F::zero(), |s, z| s + z.re * z.re + z.im * z.im).sqrt()
                        };
                        let error = norm(&(got.view((2, 0), (m, n)) - &want));
                        assert!(
                            error <= tolerance * (F::one() + norm(&want)),
                            "{ta:?} {tb:?} {alpha} {beta}"
                        );
                        assert_eq!(got.rows(0, 2), c.rows(0, 2));
                        assert_eq!(got.rows(m + 2, 1), c.rows(m + 2, 1));
                    }
                }
            }
        }
    }
    check::<f64>(1e-14);
    check::<f32>(1e-5);
}

/// The plain routines against nalgebra's products, real and complex.
#[test]
fn products_of_floats() {
    let mut random = Random::new(17);
    let mut complex = |m: usize, n: usize| {
        let (re, im) = (random.matrix(m, n), random.matrix(m, n));
        DMatrix::from_fn(m, n, |i, j| Complex::new(re[(i, j)], im[(i, j)]))
    };
    let near = |a: &DMatrix<Complex<f64>>, b: &DMatrix<Complex<f64>>, what: &str| {
        assert!((a - b).norm() <= 1e-12 * b.norm().max(1.0), "{what}: {a} for {b}");
    };
    let (alpha, beta) = (Complex::new(0.5, -1.5), Complex::new(2.0, 0.25));
    for (m, n, k) in [(3, 4, 2), (19, 23, 17)] {
        for ta in TRANS {
            for tb in TRANS {
                let ((ar, ac), (br, bc)) = (ta.shape((m, k)), tb.shape((k, n)));
                let (a, b, c) = (complex(ar, ac), complex(br, bc), complex(m, n));
                let mut got = c.clone();
                Complex::<f64>::gemm(ta, tb, alpha, a.as_view(), b.as_view(), beta, got.as_view_mut())
                    .unwrap();
                near(&got, &(op(ta, &a) * op(tb, &b) * alpha + c * beta), "gemm");
            }
        }
    }
    every_triangle(|side, uplo, trans, diag| {
        for n in [4, 37] {
            let (m, a) = (n + 1, complex(n, n) / Complex::from(n as f64));
            let b = if side == Side::Left { complex(n, m) } else { complex(m, n) };
            let mut t = if uplo == Uplo::Lower { a.lower_triangle() } else { a.upper_triangle() };
            let shift = if diag == Diag::Unit {
                DMatrix::from_diagonal(&t.diagonal()) * Complex::from(-1.0)
            } else {
                DMatrix::zeros(n, n)
            };
            t = t + shift + DMatrix::identity(n, n);
            let mut stored = t.clone();
            if diag == Diag::Unit {
                stored.fill_diagonal(Complex::new(f64::NAN, f64::NAN));
            }
            let t = op(trans, &t);
            let expected = if side == Side::Left { &t * &b } else { &b * &t } * alpha;
            let mut got = b.clone();
            Complex::<f64>::trmm(side, uplo, trans, diag, alpha, stored.as_view(), got.as_view_mut())
                .unwrap();
            near(&got, &expected, "trmm");
            Complex::<f64>::trsm(side, uplo, trans, diag, alpha.inv(), stored.as_view(), got.as_view_mut())
                .unwrap();
            near(&got, &b, "trsm after trmm");
        }
    });
    for trans in TRANS {
        let (ar, ac) = trans.shape((20, 5));
        let (a, c) = (complex(ar, ac), complex(20, 20));
        let mut got = c.clone();
        Complex::<f64>::syrk(Uplo::Upper, trans, alpha, a.as_view(), beta, got.as_view_mut()).unwrap();
        let second = if trans == Trans::NoTrans { a.transpose() } else { a.clone() };
        let all = op(trans, &a) * second * alpha + &c * beta;
        let expected = all.upper_triangle() + c.lower_triangle() - DMatrix::from_diagonal(&c.diagonal());
        near(&got, &expected, "syrk");
    }
}

/// A β that is zero in all parts overwrites whatever is there; one with a tangent counts.
#[test]
fn a_zero_beta_overwrites() {
    let a = DMatrix::from_element(2, 2, Dual::<f64, 1>::new(1.0, [1.0]));
    let mut c = DMatrix::from_element(2, 2, Dual::<f64, 1>::new(f64::NAN, [f64::NAN]));
    let (one, zero) = (Dual::from_base(1.0), Dual::from_base(0.0));
    Dual::gemm(Trans::NoTrans, Trans::NoTrans, one, a.as_view(), a.as_view(), zero, c.as_view_mut()).unwrap();
    assert!(c.iter().all(|x| x.value == 2.0 && x.eps == [4.0]), "{c}");
    let beta = Dual::new(0.0, [1.0]);
    Dual::gemm(Trans::NoTrans, Trans::NoTrans, one, a.as_view(), a.as_view(), beta, c.as_view_mut()).unwrap();
    assert!(c.iter().all(|x| x.value == 2.0 && x.eps == [4.0 + 2.0]), "{c}");
    // The same one level further down: β is zero but for an inner tangent.
    type Nested = Dual<Dual<f64, 1>, 1>;
    let a = DMatrix::from_element(1, 1, Nested::from_base(3.0));
    let mut c = DMatrix::from_element(1, 1, Nested::from_base(5.0));
    let beta = Nested::new(Dual::new(0.0, [1.0]), [Dual::new(0.0, [0.0])]);
    let one = Nested::from_base(1.0);
    Nested::gemm(Trans::NoTrans, Trans::NoTrans, one, a.as_view(), a.as_view(), beta, c.as_view_mut())
        .unwrap();
    assert_eq!((c[(0, 0)].value.value, c[(0, 0)].value.eps), (9.0, [5.0]));
    let mut c = DMatrix::from_element(3, 3, f64::NAN);
    let a = DMatrix::identity(3, 3);
    f64::syrk(Uplo::Lower, Trans::NoTrans, 1.0, a.as_view(), 0.0, c.as_view_mut()).unwrap();
    assert_same_bits(&c.lower_triangle(), &a, "syrk over NaN");
}

/// Where β is zero but has a tangent, the values of `C` count and its tangents do not, at every size.
#[test]
fn tangents_under_a_zero_factor() {
    for n in [1, 2, 3, 5, 14, 17, 40, 70] {
        let a = DMatrix::from_diagonal_element(n, n, Dual::<f64, 1>::new(1.0, [2.0]));
        let mut c = DMatrix::from_element(n, n, Dual::<f64, 1>::new(3.0, [f64::NAN]));
        let (one, beta) = (Dual::constant(1.0), Dual::new(0.0, [1.0]));
        Dual::gemm(Trans::NoTrans, Trans::NoTrans, one, a.as_view(), a.as_view(), beta, c.as_view_mut())
            .unwrap();
        let right = |i, j| if i == j { Dual::new(1.0, [7.0]) } else { Dual::new(0.0, [3.0]) };
        assert!(c == DMatrix::from_fn(n, n, right), "{n}");
        assert!(c.iter().enumerate().all(|(e, x)| x.eps == right(e % n, e / n).eps), "{n}: {}", c[0]);
    }
}

/// Read-only views may overlap: a row repeated by a stride of zero is a matrix like any other for products.
#[test]
fn overlapping_operands() {
    let column = [1.0, 2.0, 3.0];
    let a: DMatrixView<'_, f64> = DMatrixView::from_slice_with_strides_generic(
        &column,
        nalgebra::Dyn(3),
        nalgebra::Dyn(4),
        nalgebra::Const::<1>,
        nalgebra::Dyn(0),
    );
    let mut c = DMatrix::zeros(4, 4);
    f64::gemm(Trans::Trans, Trans::NoTrans, 1.0, a, a, 0.0, c.as_view_mut()).unwrap();
    assert_eq!(c, DMatrix::from_element(4, 4, 14.0));
}

/// Zeros in the primal do not switch off tangents.
#[test]
fn zeros_carry_tangents() {
    let zero = DMatrix::from_element(20, 20, Dual::<f64, 1>::new(0.0, [1.0]));
    let ones = DMatrix::from_element(20, 20, Dual::<f64, 1>::from_base(1.0));
    let (one, nothing) = (Dual::from_base(1.0), Dual::from_base(0.0));
    let mut c = zero.clone();
    Dual::gemm(Trans::NoTrans, Trans::NoTrans, one, zero.as_view(), ones.as_view(), nothing, c.as_view_mut())
        .unwrap();
    assert!(c.iter().all(|x| x.value == 0.0 && x.eps == [20.0]));
    let mut b = zero.clone();
    let identity = DMatrix::identity(20, 20);
    Dual::trsm(
        Side::Left,
        Uplo::Lower,
        Trans::NoTrans,
        Diag::NonUnit,
        one,
        identity.as_view(),
        b.as_view_mut(),
    )
    .unwrap();
    assert_close(&part(&b, |x| x.eps[0]), &DMatrix::from_element(20, 20, 1.0), 0.0, "trsm of zeros");
}
