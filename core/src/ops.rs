//! The operators of all dual numbers, by one macro over the arithmetic that each type states once.

use core::iter::{Product, Sum};
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

#[cfg(feature = "std")]
use crate::Tracer;
use crate::{Base, Dual, Dual2, HyperDual, Real};

/// The arithmetic of one dual type on references; the operators forward here.
pub(crate) trait Arith: Sized {
    /// The scalar of the parts.
    type Part;
    fn add(a: &Self, b: &Self) -> Self;
    fn sub(a: &Self, b: &Self) -> Self;
    fn mul(a: &Self, b: &Self) -> Self;
    fn div(a: &Self, b: &Self) -> Self;
    fn neg(a: &Self) -> Self;
    fn scale(a: &Self, s: Self::Part) -> Self;
    fn unscale(a: &Self, s: Self::Part) -> Self;
    fn shift(a: &Self, s: Self::Part) -> Self;
}

/// Calls `$emit!` once for each dual type with its const parameters.
macro_rules! numbers {
    ($emit:ident) => {
        $emit!(Dual, [const N: usize], [N]);
        $emit!(HyperDual, [const M: usize, const N: usize], [M, N]);
        $emit!(Dual2, [const N: usize], [N]);
    };
}
pub(crate) use numbers;

/// The dual types, and the tracer of sparse structure, which computes like one and is laid out like none.
macro_rules! numbers_and_tracer {
    ($emit:ident) => {
        $crate::ops::numbers!($emit);
        #[cfg(feature = "std")]
        $emit!(Tracer, [], []);
    };
}
pub(crate) use numbers_and_tracer;

/// One binary operator in its owned, borrowed and assigning forms.
macro_rules! operator {
    ($Type:ident, [$($gen:tt)*], [$($arg:ident),*], $Op:ident, $op:ident, $OpAssign:ident, $op_assign:ident, |$a:ident, $b:ident| $body:expr) => {
        impl<T: Real, $($gen)*> $Op for $Type<T, $($arg),*> {
            type Output = Self;
            #[inline(always)]
            fn $op(self, other: Self) -> Self {
                let ($a, $b) = (&self, &other);
                $body
            }
        }
        impl<T: Real, $($gen)*> $Op<&$Type<T, $($arg),*>> for $Type<T, $($arg),*> {
            type Output = Self;
            #[inline(always)]
            fn $op(self, other: &Self) -> Self {
                let ($a, $b) = (&self, other);
                $body
            }
        }
        impl<T: Real, $($gen)*> $Op<$Type<T, $($arg),*>> for &$Type<T, $($arg),*> {
            type Output = $Type<T, $($arg),*>;
            #[inline(always)]
            fn $op(self, other: $Type<T, $($arg),*>) -> Self::Output {
                let ($a, $b) = (self, &other);
                $body
            }
        }
        impl<T: Real, $($gen)*> $Op for &$Type<T, $($arg),*> {
            type Output = $Type<T, $($arg),*>;
            #[inline(always)]
            fn $op(self, other: Self) -> Self::Output {
                let ($a, $b) = (self, other);
                $body
            }
        }
        impl<T: Real, $($gen)*> $OpAssign for $Type<T, $($arg),*> {
            #[inline(always)]
            fn $op_assign(&mut self, other: Self) {
                *self = { let ($a, $b) = (&*self, &other); $body };
            }
        }
        impl<T: Real, $($gen)*> $OpAssign<&$Type<T, $($arg),*>> for $Type<T, $($arg),*> {
            #[inline(always)]
            fn $op_assign(&mut self, other: &Self) {
                *self = { let ($a, $b) = (&*self, other); $body };
            }
        }
    };
}

/// One operator with the base float on the right.
macro_rules! base_operator {
    ($Type:ident, [$($gen:tt)*], [$($arg:ident),*], $Op:ident, $op:ident, $OpAssign:ident, $op_assign:ident, |$a:ident, $s:ident| $body:expr) => {
        impl<T: Real<Base = F>, F: Base, $($gen)*> $Op<F> for $Type<T, $($arg),*> {
            type Output = Self;
            #[inline(always)]
            fn $op(self, other: F) -> Self {
                let ($a, $s) = (&self, T::from_base(other));
                $body
            }
        }
        impl<'r, T: Real<Base = F>, F: Base, $($gen)*> $Op<F> for &'r $Type<T, $($arg),*> {
            type Output = $Type<T, $($arg),*>;
            #[inline(always)]
            fn $op(self, other: F) -> Self::Output {
                let ($a, $s) = (self, T::from_base(other));
                $body
            }
        }
        impl<T: Real<Base = F>, F: Base, $($gen)*> $OpAssign<F> for $Type<T, $($arg),*> {
            #[inline(always)]
            fn $op_assign(&mut self, other: F) {
                *self = { let ($a, $s) = (&*self, T::from_base(other)); $body };
            }
        }
    };
}

/// One operator with the base float on the left; each float by name, because of the orphan rule.
macro_rules! left_operator {
    ($F:ident, $Type:ident, [$($gen:tt)*], [$($arg:ident),*], $Op:ident, $op:ident, |$s:ident, $b:ident| $body:expr) => {
        impl<T: Real<Base = $F>, $($gen)*> $Op<$Type<T, $($arg),*>> for $F {
            type Output = $Type<T, $($arg),*>;
            #[inline(always)]
            fn $op(self, other: $Type<T, $($arg),*>) -> Self::Output {
                let ($s, $b) = (T::from_base(self), &other);
                $body
            }
        }
        impl<'r, T: Real<Base = $F>, $($gen)*> $Op<&'r $Type<T, $($arg),*>> for $F {
            type Output = $Type<T, $($arg),*>;
            #[inline(always)]
            fn $op(self, other: &'r $Type<T, $($arg),*>) -> Self::Output {
                let ($s, $b) = (T::from_base(self), other);
                $body
            }
        }
    };
}

macro_rules! operators {
    ($Type:ident, $gen:tt, $arg:tt) => {
        operator!($Type, $gen, $arg, Add, add, AddAssign, add_assign, |a, b| Arith::add(a, b));
        operator!($Type, $gen, $arg, Sub, sub, SubAssign, sub_assign, |a, b| Arith::sub(a, b));
        operator!($Type, $gen, $arg, Mul, mul, MulAssign, mul_assign, |a, b| Arith::mul(a, b));
        operator!($Type, $gen, $arg, Div, div, DivAssign, div_assign, |a, b| Arith::div(a, b));
        operator!($Type, $gen, $arg, Rem, rem, RemAssign, rem_assign, |a, b| a.rem_(*b));
        base_operator!($Type, $gen, $arg, Add, add, AddAssign, add_assign, |a, s| Arith::shift(a, s));
        base_operator!($Type, $gen, $arg, Sub, sub, SubAssign, sub_assign, |a, s| Arith::shift(a, -s));
        base_operator!($Type, $gen, $arg, Mul, mul, MulAssign, mul_assign, |a, s| Arith::scale(a, s));
        base_operator!($Type, $gen, $arg, Div, div, DivAssign, div_assign, |a, s| Arith::unscale(a, s));
        base_operator!($Type, $gen, $arg, Rem, rem, RemAssign, rem_assign, |a, s| a.rem_($Type::constant(s)));
        left_operators!(f32, $Type, $gen, $arg);
        left_operators!(f64, $Type, $gen, $arg);
        others!($Type, $gen, $arg);
    };
}

macro_rules! left_operators {
    ($F:ident, $Type:ident, $gen:tt, $arg:tt) => {
        left_operator!($F, $Type, $gen, $arg, Add, add, |s, b| Arith::shift(b, s));
        left_operator!($F, $Type, $gen, $arg, Sub, sub, |s, b| {
            // Not -(b - s): at equality that would be -0.
            let d = Arith::neg(b);
            $Type { value: s - b.value, ..d }
        });
        left_operator!($F, $Type, $gen, $arg, Mul, mul, |s, b| Arith::scale(b, s));
        left_operator!($F, $Type, $gen, $arg, Div, div, |s, b| Arith::div(&$Type::constant(s), b));
        left_operator!($F, $Type, $gen, $arg, Rem, rem, |s, b| $Type::constant(s).rem_(*b));
    };
}

macro_rules! others {
    ($Type:ident, [$($gen:tt)*], [$($arg:ident),*]) => {
        impl<T: Real, $($gen)*> $Type<T, $($arg),*> {
            #[inline(always)]
            fn rem_(self, b: Self) -> Self {
                <<Self as Real>::Fns as crate::rules::Elementary<Self>>::rem(self, b)
            }
        }
        impl<T: Real, $($gen)*> Neg for $Type<T, $($arg),*> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Arith::neg(&self)
            }
        }
        impl<T: Real, $($gen)*> Neg for &$Type<T, $($arg),*> {
            type Output = $Type<T, $($arg),*>;
            #[inline(always)]
            fn neg(self) -> Self::Output {
                Arith::neg(self)
            }
        }
        impl<T: Real, $($gen)*> Sum for $Type<T, $($arg),*> {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::constant(T::empty_sum()), |a, b| a + b)
            }
        }
        impl<'r, T: Real, $($gen)*> Sum<&'r $Type<T, $($arg),*>> for $Type<T, $($arg),*> {
            fn sum<I: Iterator<Item = &'r Self>>(iter: I) -> Self {
                iter.fold(Self::constant(T::empty_sum()), |a, b| a + b)
            }
        }
        impl<T: Real, $($gen)*> Product for $Type<T, $($arg),*> {
            fn product<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::constant(T::one()), |a, b| a * b)
            }
        }
        impl<'r, T: Real, $($gen)*> Product<&'r $Type<T, $($arg),*>> for $Type<T, $($arg),*> {
            fn product<I: Iterator<Item = &'r Self>>(iter: I) -> Self {
                iter.fold(Self::constant(T::one()), |a, b| a * b)
            }
        }
        impl<T: Real, $($gen)*> num_traits::Inv for $Type<T, $($arg),*> {
            type Output = Self;
            #[inline]
            fn inv(self) -> Self {
                self.recip()
            }
        }
    };
}

numbers_and_tracer!(operators);
