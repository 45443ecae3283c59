//! Higher derivatives of functions of one variable, by nesting.

use num_traits::One;

use super::certain;
use crate::{Dual, Real};

/// The order of a derivative at the type level, see [`nth_derivative`].
#[derive(Clone, Copy, Debug)]
pub struct Order<const K: usize>;

/// The nested number that carries the derivatives of order `K` and below: `K` times `Dual<..>` around `T`.
#[diagnostic::on_unimplemented(
    message = "derivatives of this order are not provided",
    note = "orders 1 to 6 are; the cost doubles with each"
)]
pub trait Nest<T: Real> {
    /// The number.
    type Number: Real<Base = T::Base>;
    /// The independent variable, with tangent 1 at every level.
    fn variable(x: T) -> Self::Number;
    /// The `k`-th derivative.
    fn part(y: Self::Number, k: usize) -> T;
}

impl<T: Real> Nest<T> for Order<0> {
    type Number = T;
    #[inline(always)]
    fn variable(x: T) -> T {
        x
    }
    #[inline(always)]
    fn part(y: T, _: usize) -> T {
        y
    }
}

macro_rules! nest {
    ($($k:literal over $below:literal)*) => { $(
        impl<T: Real> Nest<T> for Order<$k> {
            type Number = Dual<<Order<$below> as Nest<T>>::Number>;
            #[inline(always)]
            fn variable(x: T) -> Self::Number {
                Dual::new(<Order<$below> as Nest<T>>::variable(x), [One::one()])
            }
            #[inline(always)]
            fn part(y: Self::Number, k: usize) -> T {
                match k {
                    0 => <Order<$below> as Nest<T>>::part(y.value, 0),
                    k => <Order<$below> as Nest<T>>::part(y.eps[0], k - 1),
                }
            }
        }
    )* };
}

nest! { 1 over 0  2 over 1  3 over 2  4 over 3  5 over 4  6 over 5 }

/// Value and the derivatives of orders 1 to `K` of a function of one variable: `(f(x), [f'(x), f''(x), ..])`, for `K`
/// up to 6.
///
/// The function runs on `K` nested dual numbers. The cost doubles with each order; for two orders
/// [`second_derivative`](crate::second_derivative) is faster.
///
/// ```
/// use dualpack_core::nth_derivative;
/// let (y, d) = nth_derivative::<4, f64>(|x| x.powi(4), 2.0);
/// assert_eq!((y, d), (16.0, [32.0, 48.0, 48.0, 24.0]));
/// ```
#[inline]
pub fn nth_derivative<const K: usize, T: Real>(
    mut f: impl FnMut(<Order<K> as Nest<T>>::Number) -> <Order<K> as Nest<T>>::Number,
    x: T,
) -> (T, [T; K])
where
    Order<K>: Nest<T>,
{
    certain(try_nth_derivative::<K, T, _>(|x| Ok(f(x)), x))
}

/// [`nth_derivative`] of a function that may fail: its error comes out unchanged.
#[inline]
pub fn try_nth_derivative<const K: usize, T: Real, E>(
    f: impl FnOnce(<Order<K> as Nest<T>>::Number) -> Result<<Order<K> as Nest<T>>::Number, E>,
    x: T,
) -> Result<(T, [T; K]), E>
where
    Order<K>: Nest<T>,
{
    let y = f(<Order<K> as Nest<T>>::variable(x))?;
    let part = |k| <Order<K> as Nest<T>>::part(y, k);
    Ok((part(0), core::array::from_fn(|k| part(k + 1))))
}
