//! The determinant, as a polynomial.
//!
//! From the factors `P A = L U` it is the product of the pivots, and its derivatives follow by the product rule: the
//! last pivot is never divided by, so that this holds for a last pivot that is zero. A pivot that is tiny before the
//! last one spoils the tangents of the pivots after it, by as much as it is small. Complete pivoting puts all tiny ones
//! last, where what has been divided by them is multiplied by them again; a block of exact zeros that is left needs no
//! division at all.

use dualpack_core::Real;
use nalgebra::{DMatrixView, DMatrixViewMut};

use crate::function::pade::modulus;
use crate::lapack::Lapack;
use crate::scalar::BaseOf;

/// Whether the product of the pivots has all derivatives only with fewer digits than it could.
pub(crate) fn loses_digits<T: Lapack>(lu: &DMatrixView<'_, T>) -> bool {
    let n = lu.nrows();
    if <T::RealField as Real>::ORDER == 0 {
        return false;
    }
    // So few terms that the expansion costs as much as the product, and it never cancels more than the result: the
    // mixed derivatives of a 2 x 2 determinant do not depend on the matrix, those of its pivots do.
    if n == 2 || n == 3 {
        return true;
    }
    let pivots = || (0..n).map(|i| modulus(lu[(i, i)]));
    let largest = pivots().fold(0.0, f64::max);
    let threshold = if size_of::<BaseOf<T>>() == 4 { 2.0_f64.powi(-12) } else { 2.0_f64.powi(-26) };
    // The last pivot may be anything.
    pivots().take(n.saturating_sub(1)).any(|pivot| pivot <= threshold * largest)
}

/// `Π x(i)`, large and small factors in turns: it overflows or underflows on the way only if it does in the end, or
/// if the factors leave no choice.
pub(crate) fn product<T: Lapack>(n: usize, x: impl Fn(usize) -> T) -> T {
    let is_large = |i: &usize| modulus(x(*i)) >= 1.0;
    let (mut large, mut small) = ((0..n).filter(is_large), (0..n).filter(|i| !is_large(i)));
    let mut product = T::one();
    loop {
        let next = if modulus(product) >= 1.0 {
            small.next().or_else(|| large.next())
        } else {
            large.next().or_else(|| small.next())
        };
        match next {
            Some(i) => product *= x(i),
            None => return product,
        }
    }
}

/// The determinant with all its derivatives, by expansion up to order 3, else by elimination with complete pivoting, in
/// place. Pivots are chosen by values.
pub(crate) fn complete<T: Lapack>(mut a: DMatrixViewMut<'_, T>) -> T {
    let n = a.nrows();
    if n <= 3 {
        return expand(&a.as_view(), 0, 0);
    }
    let mut odd = false;
    let mut rank = n;
    for k in 0..n {
        let (mut at, mut largest) = ((k, k), 0.0);
        for (i, j) in (k..n).flat_map(|j| (k..n).map(move |i| (i, j))) {
            if modulus(a[(i, j)]) > largest {
                (at, largest) = ((i, j), modulus(a[(i, j)]));
            }
        }
        if largest < f64::MIN_POSITIVE {
            rank = k;
            break;
        }
        odd ^= (at.0 != k) ^ (at.1 != k);
        a.swap_rows(k, at.0);
        a.swap_columns(k, at.1);
        for i in k + 1..n {
            let factor = a[(i, k)] / a[(k, k)];
            for j in k + 1..n {
                let x = a[(k, j)];
                a[(i, j)] -= factor * x;
            }
        }
    }
    let pivots = product(rank, |i| a[(i, i)]);
    let left = n - rank;
    // A product of more infinitesimals than the scalar has orders vanishes.
    let rest = if left > <T::RealField as Real>::ORDER {
        T::zero()
    } else {
        expand(&a.view((rank, rank), (left, left)).as_view(), 0, 0)
    };
    if odd { -(pivots * rest) } else { pivots * rest }
}

/// The minor of the rows from `row` on and the columns that are not in the set `used`, by expansion along `row`: no
/// division, for the few rows that are left.
fn expand<T: Lapack>(a: &DMatrixView<'_, T>, row: usize, used: u32) -> T {
    let n = a.nrows();
    if row == n {
        return T::one();
    }
    let mut sum = T::zero();
    let mut odd = false;
    for j in (0..n).filter(|j| used & (1 << j) == 0) {
        let term = a[(row, j)] * expand(a, row + 1, used | 1 << j);
        sum = if odd { sum - term } else { sum + term };
        odd = !odd;
    }
    sum
}
