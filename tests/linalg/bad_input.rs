//! No input may stop, abort or hang the process: NaN, infinities, wrong shapes, zero sizes, sizes beyond 32 bits,
//! views with odd strides.

use dualpack::{
    Balance, BalanceJob, Diag, Dual, Error, Expm, Gebak, Gebal, Gemm, Getrf, Getrs, Lapack, Potrf, Potrs,
    Real, Side, Trans, Trmm, Trsm, Trtrs, Uplo,
};
use nalgebra::{Const, DMatrix, DMatrixView, DMatrixViewMut, Dyn};

const N: Trans = Trans::NoTrans;

fn shape_error(result: Result<(), Error>) {
    assert!(matches!(result, Err(Error::Shape { .. })), "{result:?}");
}

/// NaN and infinities at every place that is read: the routine and the place are named, the operands left alone.
#[test]
fn not_finite() {
    fn all<T: Lapack + Real<Base = f64>>() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for uplo in [Uplo::Lower, Uplo::Upper] {
                let (row, col) = if uplo == Uplo::Lower { (3, 2) } else { (2, 3) };
                let mut a = DMatrix::<T>::identity(3, 3);
                a[(row - 1, col - 1)] = T::from_base(bad);
                let mut b = DMatrix::<T>::identity(3, 3);
                let at = |routine| Err(Error::NonFinite { routine, row, col });
                assert_eq!(T::potrf(uplo, a.clone().as_view_mut()), at("potrf"));
                assert_eq!(T::potri(uplo, a.clone().as_view_mut()), at("potri"));
                assert_eq!(T::potrs(uplo, a.as_view(), b.as_view_mut()), at("potrs"));
                assert_eq!(T::trtrs(uplo, N, Diag::NonUnit, a.as_view(), b.as_view_mut()), at("trtrs"));
                let good = DMatrix::<T>::identity(3, 3);
                assert_eq!(T::potrs(uplo, good.as_view(), a.as_view_mut()), at("potrs"));
                assert_eq!(T::trtrs(uplo, N, Diag::Unit, good.as_view(), a.as_view_mut()), at("trtrs"));
                assert!(b == good, "a refused call wrote to its operands");
            }
        }
    }
    all::<f64>();
    all::<Dual<f64, 2>>();
    all::<Dual<Dual<f64, 1>, 2>>();
}

#[test]
fn shapes() {
    fn all<T: Lapack>() {
        let m = |r, c| DMatrix::<T>::zeros(r, c);
        let (one, zero) = (T::one(), T::zero());
        let left = Side::Left;
        shape_error(T::potrf(Uplo::Lower, m(2, 3).as_view_mut()));
        shape_error(T::potri(Uplo::Lower, m(3, 2).as_view_mut()));
        shape_error(T::potrs(Uplo::Lower, m(2, 3).as_view(), m(2, 1).as_view_mut()));
        shape_error(T::potrs(Uplo::Lower, m(2, 2).as_view(), m(3, 1).as_view_mut()));
        shape_error(T::trtrs(Uplo::Lower, N, Diag::Unit, m(2, 2).as_view(), m(0, 1).as_view_mut()));
        shape_error(T::trsm(left, Uplo::Lower, N, Diag::Unit, one, m(2, 2).as_view(), m(3, 2).as_view_mut()));
        shape_error(T::trsm(
            Side::Right,
            Uplo::Lower,
            N,
            Diag::Unit,
            one,
            m(2, 2).as_view(),
            m(2, 3).as_view_mut(),
        ));
        shape_error(T::trmm(left, Uplo::Lower, N, Diag::Unit, one, m(2, 1).as_view(), m(2, 2).as_view_mut()));
        shape_error(T::gemm(N, N, one, m(2, 3).as_view(), m(2, 3).as_view(), zero, m(2, 3).as_view_mut()));
        shape_error(T::gemm(
            N,
            Trans::Trans,
            one,
            m(2, 3).as_view(),
            m(2, 3).as_view(),
            zero,
            m(2, 3).as_view_mut(),
        ));
        shape_error(T::syrk(Uplo::Lower, N, one, m(2, 3).as_view(), zero, m(3, 3).as_view_mut()));
        shape_error(T::syrk(Uplo::Lower, N, one, m(2, 3).as_view(), zero, m(2, 3).as_view_mut()));
    }
    all::<f32>();
    all::<f64>();
    all::<Dual<f32, 3>>();
    all::<nalgebra::Complex<f64>>();
    all::<nalgebra::Complex<Dual<f64, 1>>>();
}

/// Dimensions beyond 32 bits, of matrices without entries: an error before LAPACK sees them truncated.
#[test]
fn too_large() {
    let cols = (1_usize << 32) + 1;
    let mut b = DMatrix::<f64>::from_vec(0, cols, vec![]);
    let a = DMatrix::<f64>::zeros(0, 0);
    assert_eq!(
        f64::potrs(Uplo::Lower, a.as_view(), b.as_view_mut()),
        Err(Error::TooLarge { routine: "potrs", dimension: cols })
    );
    assert_eq!(
        f64::trtrs(Uplo::Lower, N, Diag::Unit, a.as_view(), b.as_view_mut()),
        Err(Error::TooLarge { routine: "trtrs", dimension: cols })
    );
    let mut b = DMatrix::<Dual<f64, 4>>::from_vec(0, cols, vec![]);
    let a = DMatrix::<Dual<f64, 4>>::zeros(0, 0);
    assert!(matches!(
        Dual::potrs(Uplo::Lower, a.as_view(), b.as_view_mut()),
        Err(Error::TooLarge { routine: "potrs", .. })
    ));
    let (mut ipiv, rows) = ([], cols);
    let mut wide = DMatrix::<f64>::from_vec(0, cols, vec![]);
    let too_large = |routine| Err(Error::TooLarge { routine, dimension: cols });
    assert_eq!(f64::getrf(wide.as_view_mut(), &mut ipiv), too_large("getrf"));
    let mut tall = DMatrix::<f64>::from_vec(rows, 0, vec![]);
    assert_eq!(f64::getrf(tall.as_view_mut(), &mut ipiv), too_large("getrf"));
    let a0 = DMatrix::<f64>::zeros(0, 0);
    assert_eq!(f64::getrs(N, a0.as_view(), &ipiv, wide.as_view_mut()), too_large("getrs"));
    let none = Balance { ilo: 1, ihi: 0, scale: vec![] };
    assert_eq!(f64::gebak(BalanceJob::Both, Side::Right, &none, wide.as_view_mut()), too_large("gebak"));
    shape_error(f64::expm(wide.as_view_mut()));
    shape_error(f64::gebal(BalanceJob::Both, tall.as_view_mut()).map(|_| ()));
    let mut wide = DMatrix::<Dual<f64, 4>>::from_vec(0, cols, vec![]);
    assert_eq!(Dual::getrf(wide.as_view_mut(), &mut ipiv), too_large("getrf"));
    assert_eq!(Dual::getrs(N, a.as_view(), &ipiv, wide.as_view_mut()), too_large("getrs"));
    assert_eq!(
        Dual::<f64, 4>::gebak(BalanceJob::Both, Side::Right, &none, wide.as_view_mut()),
        too_large("gebak")
    );
    // A square whose number of entries does not fit 32 bits: one column repeated, the check of the shape comes first.
    let column = vec![1.0; 70_000];
    let square: DMatrixView<'_, f64> =
        DMatrixView::from_slice_with_strides_generic(&column, Dyn(70_000), Dyn(70_000), Const::<1>, Dyn(0));
    let mut b = DMatrix::zeros(70_000, 1);
    shape_error(f64::potrs(Uplo::Lower, square, b.as_view_mut()));
    shape_error(f64::getrs(N, square, &vec![1; 70_000], b.as_view_mut()));
    let column = vec![Dual::<f64, 4>::constant(1.0); 70_000];
    let square: DMatrixView<'_, Dual<f64, 4>> =
        DMatrixView::from_slice_with_strides_generic(&column, Dyn(70_000), Dyn(70_000), Const::<1>, Dyn(0));
    shape_error(Dual::getrs(N, square, &vec![1; 70_000], b.map(Dual::constant).as_view_mut()));
}

/// A leading dimension beyond 32 bits: two columns, four billion apart, that share one small buffer cannot exist; a
/// view of one column may claim any stride, which is then not used.
#[test]
fn strides() {
    let mut data = vec![2.0; 4];
    let column: DMatrixViewMut<'_, f64> =
        DMatrixViewMut::from_slice_with_strides_generic(&mut data, Dyn(1), Dyn(1), Const::<1>, Dyn(0));
    f64::potrf(Uplo::Lower, column).unwrap();
    assert_eq!(data[0], 2.0_f64.sqrt());
    // Overlapping columns are refused where LAPACK would be given an impossible leading dimension.
    let overlapping: DMatrixView<'_, f64> =
        DMatrixView::from_slice_with_strides_generic(&data, Dyn(2), Dyn(2), Const::<1>, Dyn(1));
    let mut b = DMatrix::zeros(2, 1);
    shape_error(f64::potrs(Uplo::Lower, overlapping, b.as_view_mut()));
    shape_error(f64::trtrs(Uplo::Lower, N, Diag::NonUnit, overlapping, b.as_view_mut()));
    let data = data.iter().map(|&x| Dual::<f64, 2>::constant(x)).collect::<Vec<_>>();
    let overlapping: DMatrixView<'_, Dual<f64, 2>> =
        DMatrixView::from_slice_with_strides_generic(&data, Dyn(2), Dyn(2), Const::<1>, Dyn(1));
    let mut b = DMatrix::zeros(2, 1);
    shape_error(Dual::potrs(Uplo::Lower, overlapping, b.as_view_mut()));
    shape_error(Dual::trtrs(Uplo::Lower, N, Diag::NonUnit, overlapping, b.as_view_mut()));
}

/// Row-strided views do not convert to what the routines take: nalgebra panics, as the guide says.
#[test]
#[should_panic]
fn row_strided_views_are_refused_by_nalgebra() {
    let mut a = DMatrix::<f64>::identity(4, 4);
    let mut view = a.view_with_steps_mut((0, 0), (2, 2), (1, 1));
    let converted: DMatrixViewMut<'_, f64> = (&mut view).into();
    f64::potrf(Uplo::Lower, converted).unwrap();
}

/// Overflow on the way is an indefinite matrix, not a factor with NaN.
#[test]
fn overflow() {
    let mut a = DMatrix::from_row_slice(2, 2, &[1e-300, 0.0, 1e200, 1e300]);
    assert_eq!(
        f64::potrf(Uplo::Lower, a.as_view_mut()),
        Err(Error::NotPositiveDefinite { routine: "potrf", minor: 2 })
    );
    let mut a = DMatrix::from_row_slice(3, 3, &[1e-300, 0.0, 0.0, 1e200, 1e300, 0.0, 1e200, -1e200, 1e300]);
    assert!(matches!(f64::potrf(Uplo::Lower, a.as_view_mut()), Err(Error::NotPositiveDefinite { .. })));
}

/// Unsolvable unchecked triangular systems follow IEEE.
#[test]
fn trsm_divides_by_zero() {
    let a = DMatrix::<f64>::zeros(2, 2);
    let mut b = DMatrix::from_element(2, 1, 1.0);
    f64::trsm(Side::Left, Uplo::Lower, N, Diag::NonUnit, 1.0, a.as_view(), b.as_view_mut()).unwrap();
    assert!(b[0].is_infinite() && b[1].is_nan());
}

/// A matrix without entries may have any number of rows or columns, and lanes multiply that.
#[test]
fn empty_and_endless() {
    type D = Dual<f64, 3>;
    let endless = usize::MAX / 2;
    let matrix = DMatrix::<D>::zeros;
    let (no, one) = (Trans::NoTrans, D::constant(1.0));
    let (empty, tall, wide) = (matrix(0, 0), matrix(endless, 0), matrix(0, endless));
    for (a, b, mut c) in
        [(&tall, &empty, tall.clone()), (&empty, &wide, wide.clone()), (&wide, &tall, empty.clone())]
    {
        D::gemm(no, no, one, a.as_view(), b.as_view(), one, c.as_view_mut()).unwrap();
    }
    for (side, mut b) in [(Side::Left, wide.clone()), (Side::Right, tall.clone())] {
        D::trsm(side, Uplo::Lower, no, Diag::Unit, one, empty.as_view(), b.as_view_mut()).unwrap();
        D::trmm(side, Uplo::Lower, no, Diag::Unit, one, empty.as_view(), b.as_view_mut()).unwrap();
    }
    for mut a in [tall, wide] {
        assert!(matches!(D::getrf(a.as_view_mut(), &mut []), Err(Error::TooLarge { .. })));
    }
}

/// A value that is not finite has no finite tangent, in the routines that do not refuse it and where it overflows.
#[test]
fn no_finite_tangent_of_a_lost_value() {
    type D = Dual<f64, 2>;
    let lost = |x: &DMatrix<D>, what: &str| {
        let mut found = false;
        for x in x.iter().filter(|x| !x.value.is_finite()) {
            assert!(x.eps.iter().all(|e| e.is_nan()), "{what}: {x}");
            found = true;
        }
        assert!(found, "{what}: nothing to see");
    };
    let one = D::constant(1.0);
    for n in [1, 2, 5, 40] {
        let a = DMatrix::from_fn(n, n, |i, j| D::new(if i == j { 2.0 } else { 0.1 }, [0.5, -1.0]));
        for bad in [f64::NAN, f64::INFINITY] {
            let mut b = DMatrix::from_element(n, 2, D::new(1.0, [1.0, 0.0]));
            b[(n - 1, 1)].value = bad;
            for (uplo, diag) in [(Uplo::Lower, Diag::Unit), (Uplo::Upper, Diag::NonUnit)] {
                let mut x = b.clone();
                D::trsm(Side::Left, uplo, N, diag, one, a.as_view(), x.as_view_mut()).unwrap();
                lost(&x, "trsm");
                let mut x = b.clone();
                D::trmm(Side::Left, uplo, N, diag, one, a.as_view(), x.as_view_mut()).unwrap();
                lost(&x, "trmm");
            }
            let mut c = b.clone();
            D::gemm(N, N, one, a.as_view(), b.as_view(), one, c.as_view_mut()).unwrap();
            lost(&c, "gemm");
        }
        let huge = DMatrix::from_element(n, 1, D::new(1e200, [1.0, 0.0]));
        let mut c = DMatrix::from_element(n, n, D::constant(0.0));
        D::gemm(N, Trans::Trans, one, huge.as_view(), huge.as_view(), one, c.as_view_mut()).unwrap();
        lost(&c, "gemm");
        let tiny = DMatrix::from_diagonal_element(n, n, D::constant(1e-200));
        let mut x = huge.clone();
        D::potrs(Uplo::Lower, tiny.as_view(), x.as_view_mut()).unwrap();
        lost(&x, "potrs");
        let mut x = huge * D::constant(1e100);
        D::trtrs(Uplo::Lower, N, Diag::NonUnit, tiny.as_view(), x.as_view_mut()).unwrap();
        lost(&x, "trtrs");
    }
}
