//! The one error type of the linear algebra: every variant names the routine, the place and the way out.

use std::fmt;

/// Why a routine did not return a result. Indices are 1-based, as LAPACK counts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The operands do not fit together.
    Shape {
        /// The routine, by its LAPACK root or the name of the front.
        routine: &'static str,
        /// What was expected, in words.
        expected: &'static str,
        /// Rows and columns found in the operand that does not fit.
        found: (usize, usize),
    },
    /// The part of a matrix that the routine reads holds NaN or an infinity (in the primal; tangents may hold them).
    NonFinite {
        /// The routine.
        routine: &'static str,
        /// Row of the first such entry.
        row: usize,
        /// Column of the first such entry.
        col: usize,
    },
    /// A Cholesky factorization met a leading minor that is not positive.
    NotPositiveDefinite {
        /// The routine.
        routine: &'static str,
        /// Order of the first leading minor that is not positive definite.
        minor: usize,
    },
    /// A pivot or a diagonal entry that has to be divided by is exactly zero.
    Singular {
        /// The routine.
        routine: &'static str,
        /// Index of the first zero pivot.
        pivot: usize,
    },
    /// An iteration did not converge.
    NoConvergence {
        /// The routine.
        routine: &'static str,
        /// LAPACK's info code: how many entries did not converge.
        info: usize,
    },
    /// The value exists but its derivative does not.
    DerivativeUndefined {
        /// The routine.
        routine: &'static str,
        /// First index of the pair that is too close.
        i: usize,
        /// Second index of the pair.
        j: usize,
        /// The gap between the two.
        gap: f64,
        /// The gap below which the derivative counts as undefined.
        tol: f64,
    },
    /// A Jacobian from the caller is not that of the equations at the solution, or is singular to rounding.
    WrongJacobian {
        /// The routine.
        routine: &'static str,
        /// The first unknown, counted from 1, whose derivatives it does not settle.
        unknown: usize,
    },
    /// A dimension does not fit the 32-bit integers of the LAPACK interface.
    TooLarge {
        /// The routine.
        routine: &'static str,
        /// The dimension that does not fit.
        dimension: usize,
    },
    /// The linked LAPACK cannot be called safely: it uses 64-bit integers.
    Provider {
        /// The routine that was to be called.
        routine: &'static str,
    },
}

impl Error {
    /// The routine that failed.
    pub fn routine(&self) -> &'static str {
        match *self {
            Error::Shape { routine, .. }
            | Error::NonFinite { routine, .. }
            | Error::NotPositiveDefinite { routine, .. }
            | Error::Singular { routine, .. }
            | Error::NoConvergence { routine, .. }
            | Error::DerivativeUndefined { routine, .. }
            | Error::WrongJacobian { routine, .. }
            | Error::TooLarge { routine, .. }
            | Error::Provider { routine } => routine,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::Shape { routine, expected, found: (m, n) } => {
                write!(f, "{routine}: expected {expected}, found {m} x {n}")
            }
            Error::NonFinite { routine, row, col } => {
                write!(
                    f,
                    "{routine}: entry ({row}, {col}), counted from 1, is NaN or infinite; clean the input before the call"
                )
            }
            Error::NotPositiveDefinite { routine, minor } => write!(
                f,
                "{routine}: the leading minor of order {minor} is not positive; \
                 the matrix is not positive definite: add a multiple of the identity, or use LU"
            ),
            Error::Singular { routine, pivot } => write!(
                f,
                "{routine}: pivot {pivot}, counted from 1, is exactly zero; the matrix is singular: use a least-squares solution"
            ),
            Error::NoConvergence { routine, info } => {
                write!(f, "{routine}: the iteration did not converge (info = {info}); rescale the input")
            }
            Error::DerivativeUndefined { routine, i, j, gap, tol } => write!(
                f,
                "{routine}: the derivative does not exist, {i} and {j} are only {gap:e} apart (limit {tol:e}); \
                 differentiate what is smooth there: a sum or a function over the whole cluster"
            ),
            Error::WrongJacobian { routine, unknown } => write!(
                f,
                "{routine}: the given Jacobian does not settle the derivatives of unknown {unknown}, counted from 1: \
                 evaluate it at the solution, or let `implicit` do it"
            ),
            Error::TooLarge { routine, dimension } => {
                write!(f, "{routine}: {dimension} does not fit the 32-bit integers of LAPACK")
            }
            Error::Provider { routine } => write!(
                f,
                "{routine}: the linked LAPACK uses 64-bit integers (ILP64); link an LP64 build, \
                 or use the feature `netlib`"
            ),
        }
    }
}

impl std::error::Error for Error {}
