//! The determinant, as a polynomial.
//!
//! From the factors `P A = L U` it is the product of the pivots, and `d det A = det A tr(A⁻¹ dA)`. Where the last pivot
//! is tiny or zero its derivatives follow by the product rule from those of the factors: there the last pivot is not
//! divided by. A pivot that is tiny before the last one spoils the tangents of the pivots after it, by as much as it is
//! small. Then no pivot may be divided by at all: with the factors `P A Q = L D U` of the values alone, by complete pivoting, `L` and `U` unit triangular,
//!
//! ```text
//! det A = ± det(D + T)        T = L⁻¹ P dA Q U⁻¹
//!       = ± Σ_I  Π_(i ∉ I) d_i  det(T_II)
//! ```
//!
//! with all tangents of `A` in `dA`. The sum is over the subsets of at most as many indices as the scalar has orders,
//! since the product of more infinitesimals vanishes. It is exact at any rank.

use dualpack_core::Real;
use nalgebra::{DMatrixView, DMatrixViewMut, convert};
use num_traits::One;

use crate::function::pade::{exponent, modulus};
use crate::lapack::Lapack;
use crate::scalar::BaseOf;

/// How the derivatives are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Road {
    /// There are none.
    Value,
    /// `det A tr(A⁻¹ dA)`: O(n²) for each lane.
    Traces,
    /// The product of the pivots of the differentiated factors.
    Pivots,
    /// By expansion, or that of `D + T`.
    Complete,
}

/// The cheapest road on which all derivatives have the digits that they can have.
pub(crate) fn road<T: Lapack>(lu: &DMatrixView<'_, T::Native>) -> Road {
    let (n, order) = (lu.nrows(), <T::RealField as Real>::ORDER);
    if order == 0 {
        return Road::Value;
    }
    // So few terms that the expansion costs as much as the others, and it never cancels more than the result: the mixed
    // derivatives of a 2 x 2 determinant do not depend on the matrix, those of its pivots do.
    if (1..=3).contains(&n) {
        return Road::Complete;
    }
    let pivots = || (0..n).map(|i| modulus(lu[(i, i)]));
    let largest = pivots().fold(0.0, f64::max);
    // What is lost is the ratio in the first two derivatives, its square in the third, ...
    let threshold = match (size_of::<BaseOf<T>>() == 4, order) {
        (true, 1 | 2) => 2.0_f64.powi(-8),
        (true, _) => 2.0_f64.powi(-6),
        (false, 1 | 2) => 2.0_f64.powi(-16),
        (false, _) => 2.0_f64.powi(-10),
    };
    // Tangents are divided by powers of pivots, which may overflow.
    let tiny = if size_of::<BaseOf<T>>() == 4 { 2.0_f64.powi(-20) } else { 2.0_f64.powi(-200) };
    match pivots().position(|pivot| !(pivot > (threshold * largest).max(tiny) && pivot.is_finite())) {
        None => Road::Traces,
        // The last pivot of the factors is not divided by and may be anything.
        Some(i) if i + 1 == n => Road::Pivots,
        Some(_) => Road::Complete,
    }
}

/// The determinant without its value, from the pivots `pivot(i)`, their sign, and `ln det A` without its value: the
/// exponential of that is `det A` up to a constant factor.
pub(crate) fn from_traces<T: Lapack>(n: usize, pivot: impl Fn(usize) -> T::Native, odd: bool, ln: T) -> T {
    let mut size = Scaled { x: T::Native::one(), exponent: 0 };
    (0..n).for_each(|i| size = size.times(pivot(i)));
    let constant = T::from_native(if odd { -size.x } else { size.x });
    scaled(constant * ln.exp(), size.exponent)
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

/// The determinant with all its derivatives, by expansion up to order 3, else by that of `D + T`, in place. Its
/// innermost value is only roughly right.
pub(crate) fn complete<T: Lapack>(mut a: DMatrixViewMut<'_, T>) -> T {
    let n = a.nrows();
    if n <= 3 {
        return expand_small(&a.as_view());
    }
    let constant = |x: T| T::zero().with_value_of(x);
    let mut odd = false;
    let mut rank = n;
    for k in 0..n {
        let (mut at, mut largest) = ((k, k), 0.0);
        for (i, j) in (k..n).flat_map(|j| (k..n).map(move |i| (i, j))) {
            if modulus(a[(i, j)]) > largest {
                (at, largest) = ((i, j), modulus(a[(i, j)]));
            }
        }
        if largest == 0.0 {
            rank = k;
            break;
        }
        odd ^= (at.0 != k) ^ (at.1 != k);
        a.swap_rows(k, at.0);
        a.swap_columns(k, at.1);
        let pivot = constant(a[(k, k)]);
        for i in k + 1..n {
            // At most one in absolute value, however tiny the pivot is.
            let factor = constant(a[(i, k)]).divided_by(pivot);
            for j in 0..n {
                let x = a[(k, j)];
                a[(i, j)] -= factor * x;
            }
            a[(i, k)] = a[(i, k)].with_value_of(T::zero());
        }
    }
    for k in 0..rank {
        let pivot = constant(a[(k, k)]);
        for j in k + 1..n {
            let factor = constant(a[(k, j)]).divided_by(pivot);
            for i in 0..n {
                let x = a[(i, k)];
                a[(i, j)] -= factor * x;
            }
        }
    }
    let mut sum = Subsets { a: a.as_view(), sum: T::zero() };
    sum.visit(0, Scaled { x: T::Native::one(), exponent: 0 }, &mut [0; ORDERS], 0);
    if odd { -sum.sum } else { sum.sum }
}

/// The highest order of derivatives that is computed; numbers nested deeper do not compile.
const ORDERS: usize = 16;

/// `x 2^exponent`, where `x` stays clear of overflow and underflow.
#[derive(Clone, Copy)]
struct Scaled<T> {
    x: T,
    exponent: i64,
}

impl<T: Lapack> Scaled<T> {
    fn times(self, factor: T) -> Self {
        let size = modulus(factor);
        if size == 0.0 {
            return Scaled { x: T::zero(), exponent: 0 };
        }
        let e = i64::from(exponent(size));
        let x = self.x * scaled(factor, -e);
        let f = i64::from(exponent(modulus(x)));
        Scaled { x: scaled(x, -f), exponent: self.exponent + e + f }
    }
}

/// `x 2^e`, in steps that an `f32` can hold.
fn scaled<T: Lapack>(mut x: T, mut e: i64) -> T {
    // Beyond this everything has overflowed or vanished.
    e = e.clamp(-5000, 5000);
    while e != 0 {
        let step = e.clamp(-100, 100);
        x = x.times(convert(2.0_f64.powi(step as i32)));
        e -= step;
    }
    x
}

/// The determinant of a matrix of order at most 3. Where rows, or columns, are far apart in size, the largest and the
/// smallest are multiplied first: the products of the expansion then leave the range of floats only if they do in the end.
fn expand_small<T: Lapack>(a: &DMatrixView<'_, T>) -> T {
    let n = a.nrows();
    if n < 3 {
        return expand(n, &|i, j| a[(i, j)], 0, 0);
    }
    let sizes = |by: fn(usize, usize) -> (usize, usize)| {
        [0, 1, 2].map(|i| (0..3).map(|j| modulus(a[by(i, j)])).fold(0.0, f64::max))
    };
    let spread = |sizes: &[f64; 3]| {
        let [x, y, z] = sizes.map(exponent);
        x.max(y).max(z) - x.min(y).min(z)
    };
    let (rows, columns) = (sizes(|i, j| (i, j)), sizes(|i, j| (j, i)));
    let by_rows = spread(&rows) >= spread(&columns);
    let sizes = if by_rows { rows } else { columns };
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| sizes[i].total_cmp(&sizes[j]));
    let [least, middle, most] = order;
    let order = [middle, least, most];
    let det = expand(3, &|i, j| if by_rows { a[(order[i], j)] } else { a[(j, order[i])] }, 0, 0);
    let odd = (order[0] > order[1]) ^ (order[0] > order[2]) ^ (order[1] > order[2]);
    if odd { -det } else { det }
}

/// The sum over subsets, where `D` and `T` are the values and the tangents of one matrix.
struct Subsets<'a, T: Lapack> {
    a: DMatrixView<'a, T>,
    sum: T,
}

impl<T: Lapack> Subsets<'_, T> {
    /// All ways to choose among the indices from `from` on, after `size` chosen ones; `product` is that of the values
    /// that were passed over.
    fn visit(
        &mut self,
        from: usize,
        mut product: Scaled<T::Native>,
        chosen: &mut [usize; ORDERS],
        size: usize,
    ) {
        const { assert!(<T::RealField as Real>::ORDER <= ORDERS, "numbers are nested too deep for determinants") };
        let a = self.a;
        for i in from..a.nrows() {
            if size < <T::RealField as Real>::ORDER {
                chosen[size] = i;
                self.visit(i + 1, product, chosen, size + 1);
            }
            product = product.times(a[(i, i)].native());
            if modulus(product.x) == 0.0 {
                return;
            }
        }
        let tangents = |r: usize, c: usize| a[(chosen[r], chosen[c])].with_value_of(T::zero());
        self.sum += scaled(T::from_native(product.x) * expand(size, &tangents, 0, 0), product.exponent);
    }
}

/// The minor of the rows from `row` on and the columns that are not in the set `used`, of the n x n matrix with the
/// entries `a(i, j)`, by expansion along `row`: no division, for the few rows that are left.
fn expand<T: Lapack>(n: usize, a: &impl Fn(usize, usize) -> T, row: usize, used: u32) -> T {
    if row == n {
        return T::one();
    }
    let mut sum = T::zero();
    let mut odd = false;
    for j in (0..n).filter(|j| used & (1 << j) == 0) {
        let term = a(row, j) * expand(n, a, row + 1, used | 1 << j);
        sum = if odd { sum - term } else { sum + term };
        odd = !odd;
    }
    sum
}
