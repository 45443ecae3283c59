//! LU factorization with partial pivoting, and the solution of a system, of tiny matrices: values by rows in registers
//! or on the stack, lanes interleaved. For floats and their duals alike, so that the values have the same bits.
//!
//! What is out of the ordinary is left to LAPACK: a pivot that is zero, tiny or infinite, an entry that is NaN or
//! infinite. The values alone decide that.

use dualpack_core::Base;
use nalgebra::{DMatrixView, DMatrixViewMut};

use super::{Entries, Interleaved, InterleavedRef, Order, dispatch, subtract};

/// Up to this order a front factors and solves here, where a call of LAPACK would cost more than its work.
pub(crate) const TINY: usize = 12;

/// The factors of a matrix of order up to `L`, whose rows are stored with `L` floats. The order is an argument of every
/// function, so that the compiler knows it where it is a constant.
struct Factors<F, const L: usize> {
    /// The diagonal and what is right of it; the rest is garbage.
    upper: [[F; L]; L],
    /// What is left of the diagonal; the rest is garbage.
    lower: [[F; L]; L],
    /// The reciprocals of the pivots.
    inverses: [F; L],
    /// The row of the matrix that became row `i`.
    rows: [usize; L],
}

/// Whether a number neither overflows nor loses digits when it or its reciprocal is multiplied by.
#[inline(always)]
fn is_ordinary<F: Base>(x: F) -> bool {
    // NaN compares false.
    let smallest = if size_of::<F>() == 4 { f32::MIN_POSITIVE.into() } else { f64::MIN_POSITIVE };
    let smallest = nalgebra::convert::<f64, F>(smallest);
    x.abs() >= smallest && x.abs() * smallest <= F::one()
}

/// Runs `$body` for the numbers `$k` from `$from` on and below `$to`, with one copy for each where the rows have so few
/// floats that all of a matrix, if it is indexed by constants, is in registers.
macro_rules! each {
    ($L:expr, $k:ident in $from:expr, $to:expr, $body:expr) => {
        match $L {
            0..=4 => each!(@copies $k, $from, $to, $body, 0 1 2 3),
            _ => for $k in $from..$to { $body },
        }
    };
    (outer $L:expr, $k:ident in $from:expr, $to:expr, $body:expr) => {
        match $L {
            0..=8 => each!(@copies $k, $from, $to, $body, 0 1 2 3 4 5 6 7),
            _ => for $k in $from..$to { $body },
        }
    };
    (outer $L:expr, $k:ident down $from:expr, $to:expr, $body:expr) => {
        match $L {
            0..=8 => each!(@copies $k, $from, $to, $body, 7 6 5 4 3 2 1 0),
            _ => for $k in ($from..$to).rev() { $body },
        }
    };
    (@copies $k:ident, $from:expr, $to:expr, $body:expr, $($number:literal)*) => {{
        $(if ($from..$to).contains(&$number) {
            let $k = $number;
            $body
        })*
    }};
}

impl<F: Base, const L: usize> Factors<F, L> {
    #[inline(always)]
    fn new() -> Self {
        Factors {
            upper: [[F::zero(); L]; L],
            lower: [[F::zero(); L]; L],
            inverses: [F::zero(); L],
            rows: std::array::from_fn(|i| i),
        }
    }

    /// Factors what `upper` holds, and writes the interchanges into `pivots`. `false` if a pivot is not ordinary; and a
    /// NaN or an infinity anywhere in the matrix or its factors reaches a pivot.
    #[inline(always)]
    fn factor<const FUSED: bool>(&mut self, n: usize, pivots: &mut [usize; L]) -> bool {
        let mut ordinary = true;
        each!(outer L, k in 0, n, {
            let (mut p, mut largest) = (k, self.upper[k][k].abs());
            each!(L, i in k + 1, n, {
                let size = self.upper[i][k].abs();
                if size > largest {
                    (p, largest) = (i, size);
                }
            });
            ordinary &= is_ordinary(largest);
            pivots[k] = p;
            if L <= 4 {
                // Without an index that the compiler does not know, and without a copy in memory.
                each!(L, i in k + 1, n, self.swap_if(i == p, k, i));
            } else if k != p {
                self.upper.swap(k, p);
                self.lower.swap(k, p);
                self.rows.swap(k, p);
            }
            let (inverse, row) = (F::one() / self.upper[k][k], self.upper[k]);
            self.inverses[k] = inverse;
            each!(L, i in k + 1, n, {
                let f = self.upper[i][k] * inverse;
                self.lower[i][k] = f;
                subtract::<F, L, FUSED>(&mut self.upper[i], f, &row);
            });
        });
        ordinary
    }

    #[inline(always)]
    fn swap_if(&mut self, condition: bool, i: usize, k: usize) {
        fn pair<T: Copy>(condition: bool, (x, y): (T, T)) -> (T, T) {
            if condition { (y, x) } else { (x, y) }
        }
        for j in 0..L {
            (self.upper[i][j], self.upper[k][j]) = pair(condition, (self.upper[i][j], self.upper[k][j]));
            (self.lower[i][j], self.lower[k][j]) = pair(condition, (self.lower[i][j], self.lower[k][j]));
        }
        (self.rows[i], self.rows[k]) = pair(condition, (self.rows[i], self.rows[k]));
    }

    /// `U⁻¹ L⁻¹ y`, in `W` lanes.
    #[inline(always)]
    fn substitute<const W: usize, const FUSED: bool>(&self, n: usize, y: &mut [[F; W]; L]) {
        each!(outer L, k in 0, n, {
            let known = y[k];
            each!(L, i in k + 1, n, subtract::<F, W, FUSED>(&mut y[i], self.lower[i][k], &known));
        });
        each!(outer L, k down 0, n, {
            let known = y[k].map(|y| y * self.inverses[k]);
            y[k] = known;
            each!(L, i in 0, k, subtract::<F, W, FUSED>(&mut y[i], self.upper[i][k], &known));
        });
    }

    /// The lanes of column `c` of the right-hand side, `W` from `slot` on, become those of the solution `x`.
    ///
    /// # Safety
    /// `a` is n x n and `b` has n rows and column `c`; their entries have `slot + W` floats, those of `b` are exclusively
    /// borrowed.
    #[inline(always)]
    unsafe fn lanes<const W: usize, const FUSED: bool>(
        &self,
        n: usize,
        a: Entries<F>,
        b: Entries<F>,
        c: usize,
        slot: usize,
        x: &[[F; 1]; L],
    ) {
        let mut y = [[F::zero(); W]; L];
        // SAFETY: rows and columns below n, and `c`.
        unsafe {
            each!(outer L, i in 0, n, {
                let row = self.rows[i];
                let mut sum = b.load(row, c, slot);
                each!(L, j in 0, n, subtract::<F, W, FUSED>(&mut sum, x[j][0], &a.load(row, j, slot)));
                y[i] = sum;
            });
            self.substitute::<W, FUSED>(n, &mut y);
            each!(L, i in 0, n, b.store(i, c, slot, y[i]));
        }
    }

    /// The solution for the values of column `c` of the right-hand side, and whether it is finite; it is not if an entry
    /// of the factors is not.
    ///
    /// # Safety
    /// `b` has n rows and column `c`, and may be read.
    #[inline(always)]
    unsafe fn values<const FUSED: bool>(&self, n: usize, b: Entries<F>, c: usize) -> ([[F; 1]; L], bool) {
        let mut x = [[F::zero(); 1]; L];
        // SAFETY: a row below n.
        each!(L, i in 0, n, x[i] = [unsafe { b.value(self.rows[i], c) }]);
        self.substitute::<1, FUSED>(n, &mut x);
        // Zero, or NaN.
        let mut sum = F::zero();
        each!(L, i in 0, n, sum += x[i][0] * F::zero());
        (x, sum == F::zero())
    }

    /// All columns and lanes of the right-hand side become those of the solution. `false`, and nothing done, if a value of
    /// it is not finite.
    ///
    /// # Safety
    /// As for [`lanes`](Factors::lanes), for all columns and lanes.
    #[inline(always)]
    unsafe fn solve<const FUSED: bool>(&self, n: usize, a: Entries<F>, b: Entries<F>, lanes: usize) -> bool {
        // SAFETY: the columns of `b`; the groups end at the last lane.
        unsafe {
            for c in 1..b.cols {
                if !self.values::<FUSED>(n, b, c).1 {
                    return false;
                }
            }
            for c in 0..b.cols {
                let (x, finite) = self.values::<FUSED>(n, b, c);
                if !finite {
                    return false;
                }
                let mut slot = 1;
                while slot <= lanes {
                    match lanes + 1 - slot {
                        8.. => (self.lanes::<8, FUSED>(n, a, b, c, slot, &x), slot += 8).1,
                        4.. => (self.lanes::<4, FUSED>(n, a, b, c, slot, &x), slot += 4).1,
                        _ => (self.lanes::<1, FUSED>(n, a, b, c, slot, &x), slot += 1).1,
                    }
                }
                each!(L, i in 0, n, b.store(i, c, 0, x[i]));
            }
        }
        true
    }
}

/// Runs `$body` for a number of rows that the compiler knows where it is usual, and with the length of rows that fits.
/// Not so for single precision, because the code is long, and in one copy only for CPUs that nothing is compiled for.
macro_rules! sized {
    ($F:ty, $FUSED:ident, $n:expr, |$m:ident, $L:ident| $body:expr) => {
        if cfg!(target_arch = "x86_64") && !$FUSED {
            sized!(@call $n, 12, $m, $L, $body)
        } else if const { size_of::<$F>() == 4 } {
            match $n {
                n @ 0..=4 => sized!(@call n, 4, $m, $L, $body),
                6 => sized!(@call 6, 8, $m, $L, $body),
                n => sized!(@call n, 12, $m, $L, $body),
            }
        } else {
            match $n {
                2 => sized!(@call 2, 4, $m, $L, $body),
                3 => sized!(@call 3, 4, $m, $L, $body),
                4 => sized!(@call 4, 4, $m, $L, $body),
                6 => sized!(@call 6, 8, $m, $L, $body),
                n @ 0..=8 => sized!(@call n, 8, $m, $L, $body),
                n => sized!(@call n, 12, $m, $L, $body),
            }
        }
    };
    (@call $n:expr, $len:literal, $m:ident, $L:ident, $body:expr) => {{
        const $L: usize = $len;
        let $m = $n;
        $body
    }};
}

/// Factors and solves. `false`, and nothing done, for what is left to LAPACK.
///
/// # Safety
/// `a` is square of order up to `TINY` and `b` has as many rows; their entries are a value and `lanes` tangents, those of
/// `b` exclusively borrowed.
#[inline(always)]
unsafe fn system_body<F: Base, const FUSED: bool>(a: Entries<F>, b: Entries<F>, lanes: usize) -> bool {
    // SAFETY: the contract.
    sized!(F, FUSED, a.rows, |n, L| unsafe {
        let mut factors = Factors::<F, L>::new();
        each!(outer L, i in 0, n, {
            factors.upper[i] = std::array::from_fn(|j| if j < n { a.value(i, j) } else { F::zero() })
        });
        factors.factor::<FUSED>(n, &mut [0; L]) && factors.solve::<FUSED>(n, a, b, lanes)
    })
}

dispatch! {
    unsafe fn system_any<F: Base>(a: Entries<F>, b: Entries<F>, lanes: usize) -> bool => system_body, avx2 is enough
}

/// `B ← A⁻¹ B`, values and lanes. `false`, and nothing done, if the matrices are not tiny, not of first order, do not fit
/// each other, or are left to LAPACK.
pub(crate) fn system<F: Base>(a: InterleavedRef<'_, F>, b: Interleaved<'_, F>) -> bool {
    if !fits(a.entries, b.entries) || [a.order, b.order] != [Order::First; 2] || a.lanes != b.lanes {
        return false;
    }
    // SAFETY: the views that the two were made from are alive, `b`'s is exclusive; shapes and lanes fit.
    unsafe { system_any(a.entries, b.entries, b.lanes) }
}

fn fits<F>(a: Entries<F>, b: Entries<F>) -> bool {
    a.rows <= TINY && a.rows == a.cols && a.rows == b.rows
}

/// Factors `a` in place as LAPACK would, with `pivots` counted from zero. `false`, with `a` as it was, for what is left to
/// LAPACK.
///
/// # Safety
/// `a` is square of order up to `TINY`, exclusively borrowed.
#[inline(always)]
unsafe fn factor_body<F: Base, const FUSED: bool>(a: Entries<F>, pivots: &mut [usize; TINY]) -> bool {
    // SAFETY: rows and columns below n.
    sized!(F, FUSED, a.rows, |n, L| unsafe {
        let (mut factors, mut interchanges) = (Factors::<F, L>::new(), [0; L]);
        each!(outer L, i in 0, n, {
            factors.upper[i] = std::array::from_fn(|j| if j < n { a.value(i, j) } else { F::zero() })
        });
        let ordinary = factors.factor::<FUSED>(n, &mut interchanges);
        if ordinary {
            pivots[..n].copy_from_slice(&interchanges[..n]);
            for i in 0..n {
                for j in 0..n {
                    a.store(i, j, 0, [if i > j { factors.lower[i][j] } else { factors.upper[i][j] }]);
                }
            }
        }
        ordinary
    })
}

dispatch! {
    unsafe fn factor_any<F: Base>(a: Entries<F>, pivots: &mut [usize; TINY]) -> bool => factor_body, avx2 is enough
}

/// The LU factorization of a tiny square matrix, in place, with pivots counted from one. `false`, and nothing done, if it
/// is not tiny or is left to LAPACK.
pub(crate) fn factor<F: Base>(mut a: DMatrixViewMut<'_, F>, ipiv: &mut [i32]) -> bool {
    let n = a.nrows();
    if n > TINY || a.ncols() != n || ipiv.len() != n {
        return false;
    }
    let mut pivots = [0; TINY];
    let entries = super::floats_mut(a.as_view_mut()).entries;
    // SAFETY: `a` is exclusively borrowed, square and tiny.
    let done = unsafe { factor_any(entries, &mut pivots) };
    if done {
        ipiv.iter_mut().zip(pivots).for_each(|(to, p)| *to = p as i32 + 1);
    }
    done
}

/// Solves with factors that are there. `false`, and nothing done, for what is left to LAPACK.
///
/// # Safety
/// As for [`system_body`]; `lu` has the shape of `a`, and `rows` the numbers of its rows in the order of the factors.
#[inline(always)]
unsafe fn solve_body<F: Base, const FUSED: bool>(
    lu: Entries<F>,
    rows: &[usize; TINY],
    a: Entries<F>,
    b: Entries<F>,
    lanes: usize,
) -> bool {
    // SAFETY: the contract.
    sized!(F, FUSED, lu.rows, |n, L| unsafe {
        let mut factors = Factors::<F, L>::new();
        let mut ordinary = true;
        for i in 0..n {
            for j in 0..n {
                let x = lu.value(i, j);
                (factors.upper[i][j], factors.lower[i][j]) = (x, x);
            }
            ordinary &= is_ordinary(factors.upper[i][i]);
            factors.inverses[i] = F::one() / factors.upper[i][i];
            factors.rows[i] = rows[i];
        }
        ordinary && factors.solve::<FUSED>(n, a, b, lanes)
    })
}

dispatch! {
    unsafe fn solve_any<F: Base>(
        lu: Entries<F>, rows: &[usize; TINY], a: Entries<F>, b: Entries<F>, lanes: usize,
    ) -> bool => solve_body, avx2 is enough
}

/// `B ← A⁻¹ B`, values and lanes, by the factors `lu` and interchanges `ipiv`, counted from one. `false`, and nothing
/// done, as for [`system`].
pub(crate) fn solve<F: Base>(
    lu: DMatrixView<'_, F>,
    ipiv: &[i32],
    a: InterleavedRef<'_, F>,
    b: Interleaved<'_, F>,
) -> bool {
    let n = lu.nrows();
    // Of floats only the factors are read.
    let shapes = fits(super::floats(lu).entries, b.entries) && (b.lanes == 0 || fits(a.entries, b.entries));
    if !shapes || [a.order, b.order] != [Order::First; 2] || a.lanes != b.lanes {
        return false;
    }
    let mut rows: [usize; TINY] = std::array::from_fn(|i| i);
    for (k, &p) in ipiv.iter().enumerate() {
        match usize::try_from(p) {
            Ok(p) if (1..=n).contains(&p) && k < n => rows.swap(k, p - 1),
            _ => return false,
        }
    }
    // SAFETY: the views that these were made from are alive, `b`'s is exclusive; shapes and lanes fit, and `rows` is a
    // permutation of the numbers below n, followed by those up to `TINY`.
    unsafe { solve_any(super::floats(lu).entries, &rows, a.entries, b.entries, b.lanes) }
}
