//! Interoperability with num-dual: its trait for our numbers, ours for its numbers, conversions both ways.
//!
//! Code generic over `D: num_dual::DualNum` runs on our numbers and tracers unchanged; num-dual's `Dual`, `HyperDual`,
//! `Dual2` and `DualSVec` are [`Real`] and get the LAPACK rules. The library's own functions, and the methods of
//! [`Real`], go through our tables; what generic code calls through nalgebra's traits or `DualNum`, `x.tanh()`, is
//! num-dual's own. `DualDVec` is not `Copy` and stays outside: any number of directions goes through chunks of lanes.

use nalgebra::SVector;
use num_dual::{Derivative, DualNum, DualNumFloat, DualStruct, Mappable};

use crate::kinks::{kinks, kinks2, remainders};
use crate::ops::numbers_and_tracer;
use crate::rules::{Elementary, Lifted, binary, elementary, parametric};
use crate::special::{special, special_orders};
use crate::{Dual, Dual2, HyperDual, Real, Tracer};

macro_rules! methods_by_ref {
    ($($name:ident)*) => { $( #[inline] fn $name(&self) -> Self { Self::$name(*self) } )* };
}

macro_rules! dual_num {
    ($Type:ident, [$($gen:tt)*], [$($arg:ident),*]) => {
        impl<T: Real + DualNum<Primitive = <T as Real>::Base>, $($gen)*> DualNum for $Type<T, $($arg),*>
        where
            <T as Real>::Base: DualNumFloat,
        {
            type Primitive = <T as Real>::Base;
            const NDERIV: usize = <Self as Real>::ORDER;
            type InnerDual = T;

            #[inline]
            fn from_re(re: T) -> Self {
                Self::constant(re)
            }
            #[inline]
            fn scale(self, factor: &T) -> Self {
                crate::ops::Arith::scale(&self, *factor)
            }
            #[inline]
            fn mul_add(&self, a: Self, b: Self) -> Self {
                Self::mul_add(*self, a, b)
            }
            #[inline]
            fn powi(&self, n: i32) -> Self {
                Self::powi(*self, n)
            }
            #[inline]
            fn powf(&self, n: <T as Real>::Base) -> Self {
                Self::powf(*self, n)
            }
            #[inline]
            fn powd(&self, exp: Self) -> Self {
                Self::powd(*self, exp)
            }
            #[inline]
            fn log(&self, base: <T as Real>::Base) -> Self {
                Self::log(*self, base)
            }
            #[inline]
            fn sin_cos(&self) -> (Self, Self) {
                Self::sin_cos(*self)
            }
            #[inline]
            fn atan2(&self, other: Self) -> Self {
                Self::atan2(*self, other)
            }
            methods_by_ref!(recip sqrt cbrt exp exp2 exp_m1 ln log2 log10 ln_1p sin cos tan asin acos atan sinh cosh
                tanh asinh acosh atanh sph_j0 sph_j1 sph_j2);
        }

        impl<T: Real + DualStruct<Real = <T as Real>::Base>, $($gen)*> DualStruct for $Type<T, $($arg),*>
        where
            <T as Real>::Base: DualNumFloat,
        {
            type Real = <T as Real>::Base;
            type Inner = T;
            #[inline]
            fn re(&self) -> Self::Real {
                self.base()
            }
            #[inline]
            fn from_inner(inner: &T) -> Self {
                Self::constant(*inner)
            }
        }

        impl<T: Real, $($gen)*> Mappable<Self> for $Type<T, $($arg),*> {
            type Output<O> = O;
            #[inline]
            fn map_dual<Map: Fn(Self) -> O, O>(self, f: Map) -> O {
                f(self)
            }
        }
    };
}

numbers_and_tracer!(dual_num);

impl<T: Real> From<num_dual::Dual<T>> for Dual<T, 1> {
    #[inline]
    fn from(x: num_dual::Dual<T>) -> Self {
        Self { value: x.re, eps: [x.eps] }
    }
}

impl<T: Real> From<Dual<T, 1>> for num_dual::Dual<T> {
    #[inline]
    fn from(x: Dual<T, 1>) -> Self {
        Self::new(x.value, x.eps[0])
    }
}

impl<T: Real + DualNum, const N: usize> From<num_dual::DualSVec<T, N>> for Dual<T, N> {
    #[inline]
    fn from(x: num_dual::DualSVec<T, N>) -> Self {
        // An absent derivative is zero.
        let eps = x.eps.0.map_or([T::zero(); N], |v| v.data.0[0]);
        Self { value: x.re, eps }
    }
}

impl<T: Real + DualNum, const N: usize> From<Dual<T, N>> for num_dual::DualSVec<T, N> {
    #[inline]
    fn from(x: Dual<T, N>) -> Self {
        Self::new(x.value, Derivative::some(SVector::from(x.eps)))
    }
}

impl<T: Real> From<num_dual::HyperDual<T>> for HyperDual<T, 1, 1> {
    #[inline]
    fn from(x: num_dual::HyperDual<T>) -> Self {
        Self { value: x.re, eps1: [x.eps1], eps2: [x.eps2], eps12: [[x.eps1eps2]] }
    }
}

impl<T: Real> From<HyperDual<T, 1, 1>> for num_dual::HyperDual<T> {
    #[inline]
    fn from(x: HyperDual<T, 1, 1>) -> Self {
        Self::new(x.value, x.eps1[0], x.eps2[0], x.eps12[0][0])
    }
}

impl<T: Real> From<num_dual::Dual2<T>> for Dual2<T, 1> {
    #[inline]
    fn from(x: num_dual::Dual2<T>) -> Self {
        Self { value: x.re, grad: [x.v1], hess: [[x.v2]] }
    }
}

impl<T: Real> From<Dual2<T, 1>> for num_dual::Dual2<T> {
    #[inline]
    fn from(x: Dual2<T, 1>) -> Self {
        Self::new(x.value, x.grad[0], x.hess[0][0])
    }
}

/// Functions of num-dual's numbers: there and back through ours.
#[doc(hidden)]
pub struct Foreign;

macro_rules! foreign_real {
    ($F:ident, [$($gen:tt)*], $Type:ty, $Ours:ty, $order:expr) => {
        impl<$($gen)*> Real for $Type {
            type Base = $F;
            type Fns = Foreign;
            const ORDER: usize = $order;
            #[inline]
            fn from_base(b: $F) -> Self {
                <$Ours>::constant(b).into()
            }
            #[inline]
            fn base(self) -> $F {
                self.re
            }
            fn with_base(self, b: $F) -> Self {
                <$Ours>::from(self).with_base(b).into()
            }
            fn all_finite(self) -> bool {
                <$Ours>::from(self).all_finite()
            }
            fn same(self, other: Self) -> bool {
                <$Ours>::from(self).same(other.into())
            }
            fn relative_eq_all(self, other: Self, max_relative: $F) -> bool {
                <$Ours>::from(self).relative_eq_all(other.into(), max_relative)
            }
            fn largest_part(self) -> $F {
                <$Ours>::from(self).largest_part()
            }
            fn parts_near(self, other: Self, tolerance: $F) -> bool {
                <$Ours>::from(self).parts_near(other.into(), tolerance)
            }
            fn strong_mul(self, t: Self) -> Self {
                <$Ours>::from(self).strong_mul(t.into()).into()
            }
        }
    };
}

foreign_real!(f64, [], num_dual::Dual<f64>, Dual<f64, 1>, 1);
foreign_real!(f32, [], num_dual::Dual<f32>, Dual<f32, 1>, 1);
foreign_real!(f64, [], num_dual::HyperDual<f64>, HyperDual<f64, 1, 1>, 2);
foreign_real!(f32, [], num_dual::HyperDual<f32>, HyperDual<f32, 1, 1>, 2);
foreign_real!(f64, [], num_dual::Dual2<f64>, Dual2<f64, 1>, 2);
foreign_real!(f32, [], num_dual::Dual2<f32>, Dual2<f32, 1>, 2);
foreign_real!(f64, [const N: usize], num_dual::DualSVec<f64, N>, Dual<f64, N>, 1);
foreign_real!(f32, [const N: usize], num_dual::DualSVec<f32, N>, Dual<f32, N>, 1);

/// A foreign number and the number of ours that it converts to.
trait Mirror: Real + Into<Self::Ours> + From<Self::Ours> {
    type Ours: crate::Lift<Base = Self::Base>;
}

macro_rules! mirrors {
    ($([$($gen:tt)*] $Type:ty => $Ours:ty;)*) => { $( impl<$($gen)*> Mirror for $Type { type Ours = $Ours; } )* };
}

mirrors! {
    [] num_dual::Dual<f64> => Dual<f64, 1>;
    [] num_dual::Dual<f32> => Dual<f32, 1>;
    [] num_dual::HyperDual<f64> => HyperDual<f64, 1, 1>;
    [] num_dual::HyperDual<f32> => HyperDual<f32, 1, 1>;
    [] num_dual::Dual2<f64> => Dual2<f64, 1>;
    [] num_dual::Dual2<f32> => Dual2<f32, 1>;
    [const N: usize] num_dual::DualSVec<f64, N> => Dual<f64, N>;
    [const N: usize] num_dual::DualSVec<f32, N> => Dual<f32, N>;
}

macro_rules! foreign {
    ([] $( $(#[$doc:meta])* $name:ident($x:ident $(, $p:ident: $pt:ty)*) $y:ident = $value:path => [$first:expr, $second:expr] on [$($s:expr),*]; )*) => {
        $(
            #[inline]
            fn $name($x: T $(, $p: $pt)*) -> T {
                <Lifted as Elementary<T::Ours>>::$name($x.into() $(, $p)*).into()
            }
        )*
    };
}

macro_rules! foreign2 {
    ([] $( $(#[$doc:meta])* $name:ident($a:ident, $b:ident) $y:ident = $value:path => $first:expr, $second:expr, on [$($s:expr),*]; )*) => {
        $(
            #[inline]
            fn $name($a: T, $b: T) -> T {
                <Lifted as Elementary<T::Ours>>::$name($a.into(), $b.into()).into()
            }
        )*
    };
}

impl<T: Mirror> Elementary<T> for Foreign {
    elementary!(foreign);
    parametric!(foreign);
    kinks!(foreign);
    special!(foreign);
    special_orders!(foreign);
    binary!(foreign2);
    kinks2!(foreign2);
    remainders!(foreign2);
}
