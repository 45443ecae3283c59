//! The calls into LAPACK: one checked wrapper per routine.
//!
//! [`Native`] holds the four versions (`d`, `s`, `z`, `c`) of each routine as function pointers of one signature;
//! the wrappers are generic over it. Nothing reaches LAPACK that it could mishandle: shapes, leading dimensions,
//! the 32-bit range and the finiteness of what is read are checked first, because the reference `xerbla` stops the
//! process, and some libraries hang or crash on an infinity.

use std::ffi::{c_char, c_int};
use std::mem::transmute;
use std::sync::OnceLock;

use dualpack_core::Real;
use nalgebra::{DMatrixView, DMatrixViewMut};
use num_complex::Complex;

use crate::error::Error;
use crate::flags::{BalanceJob, Diag, Side, Trans, Uplo};
use crate::scalar::{BaseOf, Scalar};
use crate::shape::{rows_of, square};

type Char = *const c_char;
type Int = *const c_int;
type IntMut = *mut c_int;

mod product;
mod stack;
pub(crate) use product::product;
use stack::with_room;

/// Declares, per routine, the signature as lapack-sys has it (`plain`) and the one that Fortran compilers use: one
/// more `usize` per CHARACTER argument, its length. A callee that does not expect them never looks at them; one
/// built by gfortran may use their stack slots.
macro_rules! signatures {
    ($($name:ident<$($T:ident),*>($($arg:ty),*) [$($len:ty),*];)*) => {
        mod plain {
            use super::{Char, Int, IntMut};
            $(pub type $name<$($T),*> = unsafe extern "C" fn($($arg),*);)*
        }
        mod full {
            use super::{Char, Int, IntMut};
            $(pub type $name<$($T),*> = unsafe extern "C" fn($($arg,)* $($len),*);)*
        }
    };
}

signatures! {
    Potrf<T>(Char, Int, *mut T, Int, IntMut) [usize];
    Potrs<T>(Char, Int, Int, *const T, Int, *mut T, Int, IntMut) [usize];
    Trtrs<T>(Char, Char, Char, Int, Int, *const T, Int, *mut T, Int, IntMut) [usize, usize, usize];
    Getrf<T>(Int, Int, *mut T, Int, IntMut, IntMut) [];
    Getrs<T>(Char, Int, Int, *const T, Int, Int, *mut T, Int, IntMut) [usize];
    Getri<T>(Int, *mut T, Int, Int, *mut T, Int, IntMut) [];
    Gebal<T, R>(Char, Int, *mut T, Int, IntMut, IntMut, *mut R, IntMut) [usize];
    Gebak<T, R>(Char, Char, Int, Int, Int, *const R, Int, *mut T, Int, IntMut) [usize, usize];
}

/// A scalar that LAPACK itself computes with: `f32`, `f64` and their complex numbers.
pub(crate) trait Native: Scalar + product::Multiply {
    const POTRF: full::Potrf<Self>;
    const POTRI: full::Potrf<Self>;
    const POTRS: full::Potrs<Self>;
    const TRTRS: full::Trtrs<Self>;
    const GETRF: full::Getrf<Self>;
    const GETRS: full::Getrs<Self>;
    const GETRI: full::Getri<Self>;
    const GEBAL: full::Gebal<Self, BaseOf<Self>>;
    const GEBAK: full::Gebak<Self, BaseOf<Self>>;
}

macro_rules! natives {
    ($($T:ty as $raw:ty, $real:ty: $potrf:ident $potri:ident $potrs:ident $trtrs:ident $getrf:ident $getrs:ident
       $getri:ident $gebal:ident $gebak:ident;)*) => {$(
        // SAFETY (of every transmute): the first type is checked by the compiler against lapack-sys. The second
        // differs from it by the name of the complex struct (both `repr(C) { re, im }`) and by trailing `usize`
        // arguments, which the C calling conventions of all supported targets let a caller pass in excess.
        #[allow(clippy::undocumented_unsafe_blocks, clippy::useless_transmute, unnecessary_transmutes)]
        impl Native for $T {
            const POTRF: full::Potrf<$T> = unsafe { transmute(lapack_sys::$potrf as plain::Potrf<$raw>) };
            const POTRI: full::Potrf<$T> = unsafe { transmute(lapack_sys::$potri as plain::Potrf<$raw>) };
            const POTRS: full::Potrs<$T> = unsafe { transmute(lapack_sys::$potrs as plain::Potrs<$raw>) };
            const TRTRS: full::Trtrs<$T> = unsafe { transmute(lapack_sys::$trtrs as plain::Trtrs<$raw>) };
            const GETRF: full::Getrf<$T> = unsafe { transmute(lapack_sys::$getrf as plain::Getrf<$raw>) };
            const GETRS: full::Getrs<$T> = unsafe { transmute(lapack_sys::$getrs as plain::Getrs<$raw>) };
            const GETRI: full::Getri<$T> = unsafe { transmute(lapack_sys::$getri as plain::Getri<$raw>) };
            const GEBAL: full::Gebal<$T, $real> =
                unsafe { transmute(lapack_sys::$gebal as plain::Gebal<$raw, $real>) };
            const GEBAK: full::Gebak<$T, $real> =
                unsafe { transmute(lapack_sys::$gebak as plain::Gebak<$raw, $real>) };
        }
    )*};
}

natives! {
    f32 as f32, f32: spotrf_ spotri_ spotrs_ strtrs_ sgetrf_ sgetrs_ sgetri_ sgebal_ sgebak_;
    f64 as f64, f64: dpotrf_ dpotri_ dpotrs_ dtrtrs_ dgetrf_ dgetrs_ dgetri_ dgebal_ dgebak_;
    Complex<f32> as lapack_sys::c_float_complex, f32:
        cpotrf_ cpotri_ cpotrs_ ctrtrs_ cgetrf_ cgetrs_ cgetri_ cgebal_ cgebak_;
    Complex<f64> as lapack_sys::c_double_complex, f64:
        zpotrf_ zpotri_ zpotrs_ ztrtrs_ zgetrf_ zgetrs_ zgetri_ zgebal_ zgebak_;
}

/// Refuses a LAPACK with 64-bit integers, which would write past our `i32`s. Asked once, into buffers that are wide
/// enough for either.
fn provider(routine: &'static str) -> Result<(), Error> {
    static LP64: OnceLock<bool> = OnceLock::new();
    let lp64 = *LP64.get_or_init(|| {
        let mut version = [[-1 as c_int; 2]; 3];
        let [major, minor, patch] = &mut version;
        // SAFETY: each pointer is to 8 writable bytes, room for an integer of either width.
        unsafe { lapack_sys::ilaver_(major.as_mut_ptr(), minor.as_mut_ptr(), patch.as_mut_ptr()) };
        // A 32-bit library leaves the second half of each buffer alone.
        version.iter().all(|v| v[1] == -1)
    });
    if lp64 { Ok(()) } else { Err(Error::Provider { routine }) }
}

/// A dimension as LAPACK's integer.
fn int(routine: &'static str, dimension: usize) -> Result<c_int, Error> {
    c_int::try_from(dimension).map_err(|_| Error::TooLarge { routine, dimension })
}

/// Rows, columns and leading dimension of a view, as LAPACK wants them.
struct Layout {
    rows: c_int,
    cols: c_int,
    ld: c_int,
}

fn layout(routine: &'static str, (rows, cols): (usize, usize), stride: usize) -> Result<Layout, Error> {
    // The stride of a view with less than two columns or no rows is never used, and may be 0.
    let ld = if cols < 2 || rows == 0 { rows.max(1) } else { stride };
    if ld < rows {
        return Err(Error::Shape {
            routine,
            expected: "a view whose columns do not overlap",
            found: (rows, cols),
        });
    }
    Ok(Layout { rows: int(routine, rows)?, cols: int(routine, cols)?, ld: int(routine, ld)? })
}

/// Which entries of a matrix a routine reads.
#[derive(Clone, Copy, PartialEq)]
enum Read {
    All,
    Triangle(Uplo),
    Strict(Uplo),
}

/// The first entry, in column order, that the routine reads and that is not finite is an error.
fn finite<T: Native>(routine: &'static str, a: &DMatrixView<'_, T>, read: Read) -> Result<(), Error> {
    let (m, n) = a.shape();
    // A matrix without rows may have any number of columns.
    for j in 0..if m == 0 { 0 } else { n } {
        let (from, to) = match read {
            Read::All => (0, m),
            Read::Triangle(Uplo::Lower) => (j.min(m), m),
            Read::Triangle(Uplo::Upper) => (0, m.min(j + 1)),
            Read::Strict(Uplo::Lower) => (m.min(j + 1), m),
            Read::Strict(Uplo::Upper) => (0, j.min(m)),
        };
        let column = a.column(j);
        let read = &column.as_slice()[from..to];
        // All of them before the first one, several at a time.
        if read.iter().fold(true, |finite, x| finite & x.value_is_finite()) {
            continue;
        }
        if let Some(i) = read.iter().position(|x| !x.value_is_finite()) {
            return Err(Error::NonFinite { routine, row: from + i + 1, col: j + 1 });
        }
    }
    Ok(())
}

/// LAPACK's own argument check found a fault that ours let through.
fn argument(routine: &'static str, info: c_int) {
    debug_assert!(info >= 0, "{routine}: LAPACK refused argument {}", -info);
}

/// Cholesky factorization of one triangle in place.
pub(crate) fn potrf<T: Native>(uplo: Uplo, mut a: DMatrixViewMut<'_, T>) -> Result<(), Error> {
    const ROUTINE: &str = "potrf";
    let n = square(ROUTINE, a.shape())?;
    let l = layout(ROUTINE, a.shape(), a.strides().1)?;
    finite(ROUTINE, &a.as_view(), Read::Triangle(uplo))?;
    provider(ROUTINE)?;
    let mut info = 0;
    // SAFETY: `a` is exclusively borrowed and has `cols` columns of `rows` entries, `ld >= max(1, rows)` apart.
    with_room(|| unsafe { T::POTRF(&(uplo as c_char), &l.rows, a.as_mut_ptr(), &l.ld, &mut info, 1) });
    argument(ROUTINE, info);
    if info > 0 {
        return Err(Error::NotPositiveDefinite { routine: ROUTINE, minor: info as usize });
    }
    // OpenBLAS reports success when an overflow on the way has made a pivot NaN.
    match (0..n).find(|&j| !a[(j, j)].value_is_finite()) {
        Some(j) => Err(Error::NotPositiveDefinite { routine: ROUTINE, minor: j + 1 }),
        None => Ok(()),
    }
}

/// Solves with a Cholesky factor, in place of `b`.
pub(crate) fn potrs<T: Native>(
    uplo: Uplo,
    a: DMatrixView<'_, T>,
    mut b: DMatrixViewMut<'_, T>,
) -> Result<(), Error> {
    const ROUTINE: &str = "potrs";
    let n = square(ROUTINE, a.shape())?;
    rows_of(ROUTINE, n, b.shape())?;
    let l = layout(ROUTINE, a.shape(), a.strides().1)?;
    let r = layout(ROUTINE, b.shape(), b.strides().1)?;
    finite(ROUTINE, &a, Read::Triangle(uplo))?;
    finite(ROUTINE, &b.as_view(), Read::All)?;
    provider(ROUTINE)?;
    let mut info = 0;
    // SAFETY: both views have the shapes and leading dimensions that are passed; `b` is exclusively borrowed, so the
    // two do not overlap.
    unsafe {
        T::POTRS(&(uplo as c_char), &l.rows, &r.cols, a.as_ptr(), &l.ld, b.as_mut_ptr(), &r.ld, &mut info, 1)
    };
    argument(ROUTINE, info);
    Ok(())
}

/// One triangle of the inverse, in place of the Cholesky factor.
pub(crate) fn potri<T: Native>(uplo: Uplo, mut a: DMatrixViewMut<'_, T>) -> Result<(), Error> {
    const ROUTINE: &str = "potri";
    square(ROUTINE, a.shape())?;
    let l = layout(ROUTINE, a.shape(), a.strides().1)?;
    finite(ROUTINE, &a.as_view(), Read::Triangle(uplo))?;
    provider(ROUTINE)?;
    let mut info = 0;
    // SAFETY: as in `potrf`.
    with_room(|| unsafe { T::POTRI(&(uplo as c_char), &l.rows, a.as_mut_ptr(), &l.ld, &mut info, 1) });
    argument(ROUTINE, info);
    if info > 0 {
        return Err(Error::Singular { routine: ROUTINE, pivot: info as usize });
    }
    Ok(())
}

/// Solves `op(A) X = B` with a triangular `A`, in place of `b`.
pub(crate) fn trtrs<T: Native>(
    uplo: Uplo,
    trans: Trans,
    diag: Diag,
    a: DMatrixView<'_, T>,
    mut b: DMatrixViewMut<'_, T>,
) -> Result<(), Error> {
    const ROUTINE: &str = "trtrs";
    let n = square(ROUTINE, a.shape())?;
    rows_of(ROUTINE, n, b.shape())?;
    let l = layout(ROUTINE, a.shape(), a.strides().1)?;
    let r = layout(ROUTINE, b.shape(), b.strides().1)?;
    finite(ROUTINE, &a, if diag == Diag::Unit { Read::Strict(uplo) } else { Read::Triangle(uplo) })?;
    finite(ROUTINE, &b.as_view(), Read::All)?;
    provider(ROUTINE)?;
    let mut info = 0;
    // SAFETY: as in `potrs`.
    unsafe {
        T::TRTRS(
            &(uplo as c_char),
            &(trans as c_char),
            &(diag as c_char),
            &l.rows,
            &r.cols,
            a.as_ptr(),
            &l.ld,
            b.as_mut_ptr(),
            &r.ld,
            &mut info,
            1,
            1,
            1,
        )
    };
    argument(ROUTINE, info);
    if info > 0 {
        return Err(Error::Singular { routine: ROUTINE, pivot: info as usize });
    }
    Ok(())
}

/// LU factorization with partial pivoting, in place; `ipiv` is 1-based.
pub(crate) fn getrf<T: Native>(mut a: DMatrixViewMut<'_, T>, ipiv: &mut [i32]) -> Result<(), Error> {
    const ROUTINE: &str = "getrf";
    let l = layout(ROUTINE, a.shape(), a.strides().1)?;
    pivots(ROUTINE, a.nrows().min(a.ncols()), ipiv)?;
    finite(ROUTINE, &a.as_view(), Read::All)?;
    provider(ROUTINE)?;
    let mut info = 0;
    // SAFETY: `a` as in `potrf`; `ipiv` holds min(m, n) integers.
    with_room(|| unsafe { T::GETRF(&l.rows, &l.cols, a.as_mut_ptr(), &l.ld, ipiv.as_mut_ptr(), &mut info) });
    argument(ROUTINE, info);
    if info > 0 {
        return Err(Error::Singular { routine: ROUTINE, pivot: info as usize });
    }
    Ok(())
}

fn pivots(routine: &'static str, count: usize, ipiv: &[i32]) -> Result<(), Error> {
    if ipiv.len() == count {
        Ok(())
    } else {
        Err(Error::Shape { routine, expected: "min(m, n) pivots", found: (ipiv.len(), 1) })
    }
}

/// Pivots that come from a caller must point into the matrix: LAPACK follows them unchecked.
fn pivots_within(routine: &'static str, n: usize, ipiv: &[i32]) -> Result<(), Error> {
    pivots(routine, n, ipiv)?;
    match ipiv.iter().position(|&p| p < 1 || p as usize > n) {
        Some(k) => Err(Error::Shape { routine, expected: "pivots between 1 and n", found: (k + 1, 1) }),
        None => Ok(()),
    }
}

/// Solves with an LU factorization, in place of `b`. Division by an exactly zero pivot is an error here.
pub(crate) fn getrs<T: Native>(
    trans: Trans,
    a: DMatrixView<'_, T>,
    ipiv: &[i32],
    mut b: DMatrixViewMut<'_, T>,
) -> Result<(), Error> {
    const ROUTINE: &str = "getrs";
    let n = square(ROUTINE, a.shape())?;
    rows_of(ROUTINE, n, b.shape())?;
    pivots_within(ROUTINE, n, ipiv)?;
    let l = layout(ROUTINE, a.shape(), a.strides().1)?;
    let r = layout(ROUTINE, b.shape(), b.strides().1)?;
    finite(ROUTINE, &a, Read::All)?;
    finite(ROUTINE, &b.as_view(), Read::All)?;
    zero_pivot(ROUTINE, &a)?;
    provider(ROUTINE)?;
    let mut info = 0;
    // SAFETY: as in `potrs`; the n pivots lie between 1 and n.
    unsafe {
        T::GETRS(
            &(trans as c_char),
            &l.rows,
            &r.cols,
            a.as_ptr(),
            &l.ld,
            ipiv.as_ptr(),
            b.as_mut_ptr(),
            &r.ld,
            &mut info,
            1,
        )
    };
    argument(ROUTINE, info);
    Ok(())
}

fn zero_pivot<T: Native>(routine: &'static str, a: &DMatrixView<'_, T>) -> Result<(), Error> {
    match (0..a.nrows()).find(|&j| a[(j, j)] == T::zero()) {
        Some(j) => Err(Error::Singular { routine, pivot: j + 1 }),
        None => Ok(()),
    }
}

/// The inverse, in place of the LU factorization.
pub(crate) fn getri<T: Native>(mut a: DMatrixViewMut<'_, T>, ipiv: &[i32]) -> Result<(), Error> {
    const ROUTINE: &str = "getri";
    let n = square(ROUTINE, a.shape())?;
    pivots_within(ROUTINE, n, ipiv)?;
    let l = layout(ROUTINE, a.shape(), a.strides().1)?;
    finite(ROUTINE, &a.as_view(), Read::All)?;
    zero_pivot(ROUTINE, &a.as_view())?;
    provider(ROUTINE)?;
    let mut info = 0;
    let mut query = T::zero();
    // SAFETY: with lwork = -1 only `work[0]` and `info` are written.
    unsafe { T::GETRI(&l.rows, a.as_mut_ptr(), &l.ld, ipiv.as_ptr(), &mut query, &-1, &mut info) };
    argument(ROUTINE, info);
    let lwork = work_size(ROUTINE, n, query)?;
    crate::scratch::with_scratch::<T, _>(lwork as usize, |work| {
        // SAFETY: `a` as in `potrf`, pivots as in `getrs`, `work` holds `lwork` entries.
        with_room(|| unsafe {
            T::GETRI(&l.rows, a.as_mut_ptr(), &l.ld, ipiv.as_ptr(), work.as_mut_ptr(), &lwork, &mut info)
        });
    });
    argument(ROUTINE, info);
    if info > 0 {
        return Err(Error::Singular { routine: ROUTINE, pivot: info as usize });
    }
    Ok(())
}

/// The workspace to pass: not less than documented, and the query's answer rounded up, since an `f32` cannot hold
/// every integer.
fn work_size<T: Native>(routine: &'static str, documented: usize, query: T) -> Result<c_int, Error> {
    let asked: f64 = nalgebra::try_convert(query.real().base()).unwrap_or(0.0);
    let asked = if size_of::<BaseOf<T>>() == 4 { asked * (1.0 + 1.0 / 8_388_608.0) } else { asked };
    int(routine, (asked.ceil() as usize).max(documented).max(1))
}

/// Balances in place; returns `(ilo, ihi)`, 1-based, and fills `scale`.
pub(crate) fn gebal<T: Native>(
    job: BalanceJob,
    mut a: DMatrixViewMut<'_, T>,
    scale: &mut [BaseOf<T>],
) -> Result<(usize, usize), Error> {
    const ROUTINE: &str = "gebal";
    let n = square(ROUTINE, a.shape())?;
    if scale.len() != n {
        return Err(Error::Shape { routine: ROUTINE, expected: "n scales", found: (scale.len(), 1) });
    }
    let l = layout(ROUTINE, a.shape(), a.strides().1)?;
    if job != BalanceJob::None {
        finite(ROUTINE, &a.as_view(), Read::All)?;
    }
    provider(ROUTINE)?;
    let (mut ilo, mut ihi, mut info) = (1, 0, 0);
    // SAFETY: `a` as in `potrf`; `scale` holds n entries.
    unsafe {
        T::GEBAL(
            &(job as c_char),
            &l.rows,
            a.as_mut_ptr(),
            &l.ld,
            &mut ilo,
            &mut ihi,
            scale.as_mut_ptr(),
            &mut info,
            1,
        )
    };
    argument(ROUTINE, info);
    Ok((ilo as usize, ihi as usize))
}

/// Transforms eigenvectors of the balanced matrix back, in place of `v`.
pub(crate) fn gebak<T: Native>(
    job: BalanceJob,
    side: Side,
    (ilo, ihi): (usize, usize),
    scale: &[BaseOf<T>],
    mut v: DMatrixViewMut<'_, T>,
) -> Result<(), Error> {
    const ROUTINE: &str = "gebak";
    let n = scale.len();
    rows_of(ROUTINE, n, v.shape())?;
    let r = layout(ROUTINE, v.shape(), v.strides().1)?;
    let bounds = if n == 0 { (ilo, ihi) == (1, 0) } else { 1 <= ilo && ilo <= ihi && ihi <= n };
    if !bounds {
        return Err(Error::Shape { routine: ROUTINE, expected: "1 <= ilo <= ihi <= n", found: (ilo, ihi) });
    }
    let permutes = matches!(job, BalanceJob::Permute | BalanceJob::Both);
    for (k, &s) in scale.iter().enumerate() {
        let s: f64 = nalgebra::try_convert(s).unwrap_or(f64::NAN);
        // Outside ilo..=ihi `scale` holds the row to interchange with: LAPACK follows it unchecked.
        let inside = k + 1 >= ilo && k < ihi;
        if !(s.is_finite() && (inside || !permutes || (s >= 1.0 && s <= n as f64))) {
            return Err(Error::Shape {
                routine: ROUTINE,
                expected: "a scale that gebal returned",
                found: (k + 1, 1),
            });
        }
    }
    finite(ROUTINE, &v.as_view(), Read::All)?;
    provider(ROUTINE)?;
    let (ilo, ihi, mut info) = (int(ROUTINE, ilo)?, int(ROUTINE, ihi)?, 0);
    // SAFETY: `v` as in `potrf`; `scale` holds n entries, those that are read as indices lie between 1 and n.
    unsafe {
        T::GEBAK(
            &(job as c_char),
            &(side as c_char),
            &r.rows,
            &ilo,
            &ihi,
            scale.as_ptr(),
            &r.cols,
            v.as_mut_ptr(),
            &r.ld,
            &mut info,
            1,
            1,
        )
    };
    argument(ROUTINE, info);
    Ok(())
}
