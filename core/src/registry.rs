//! Every row of the tables as function pointers with its sample points, for tests that walk all functions.

use crate::kinks::{kinks, kinks2, remainders};
use crate::rules::{Elementary, Leaf, Lifted, binary, elementary};
use crate::special::special;
use crate::{Dual, Dual2, HyperDual, Real};

/// The name under which the passes of a driver share the results of a row.
pub use crate::shared::id;

/// One level of duals.
pub type D1 = Dual<f64, 1>;
/// Two levels of duals.
pub type D2 = Dual<D1, 1>;
/// Three levels of duals.
pub type D3 = Dual<D2, 1>;
/// A hyper-dual number.
pub type H = HyperDual<f64, 1, 1>;
/// A symmetric second-order number.
pub type S = Dual2<f64, 1>;

/// A function of one variable in every scalar type.
#[allow(missing_docs)]
pub struct Unary {
    pub name: &'static str,
    /// Points inside the domain, away from kinks.
    pub samples: &'static [f64],
    pub f64: fn(f64) -> f64,
    pub f32: fn(f32) -> f32,
    pub dual: fn(D1) -> D1,
    pub nested: fn(D2) -> D2,
    pub triple: fn(D3) -> D3,
    pub hyper: fn(H) -> H,
    pub dual2: fn(S) -> S,
}

/// A function of two variables in every scalar type.
#[allow(missing_docs)]
pub struct Binary {
    pub name: &'static str,
    /// Points inside the domain, away from kinks.
    pub samples: &'static [(f64, f64)],
    pub f64: fn(f64, f64) -> f64,
    pub f32: fn(f32, f32) -> f32,
    pub dual: fn(D1, D1) -> D1,
    pub nested: fn(D2, D2) -> D2,
    pub hyper: fn(H, H) -> H,
    pub dual2: fn(S, S) -> S,
}

macro_rules! entries {
    ([$CONST:ident] $( $(#[$doc:meta])* $name:ident($x:ident) $y:ident = $value:path => [$first:expr, $second:expr] on [$($s:expr),*]; )*) => {
        const $CONST: &[Unary] = &[ $( Unary {
            name: stringify!($name),
            samples: &[$($s),*],
            f64: <Leaf as Elementary<f64>>::$name,
            f32: <Leaf as Elementary<f32>>::$name,
            dual: <Lifted as Elementary<D1>>::$name,
            nested: <Lifted as Elementary<D2>>::$name,
            triple: <Lifted as Elementary<D3>>::$name,
            hyper: <Lifted as Elementary<H>>::$name,
            dual2: <Lifted as Elementary<S>>::$name,
        } ),* ];
    };
}

macro_rules! entries2 {
    ([$CONST:ident] $( $(#[$doc:meta])* $name:ident($a:ident, $b:ident) $y:ident = $value:path => $first:expr, $second:expr, on [$($s:expr),*]; )*) => {
        const $CONST: &[Binary] = &[ $( Binary {
            name: stringify!($name),
            samples: &[$($s),*],
            f64: <Leaf as Elementary<f64>>::$name,
            f32: <Leaf as Elementary<f32>>::$name,
            dual: <Lifted as Elementary<D1>>::$name,
            nested: <Lifted as Elementary<D2>>::$name,
            hyper: <Lifted as Elementary<H>>::$name,
            dual2: <Lifted as Elementary<S>>::$name,
        } ),* ];
    };
}

elementary!(entries ELEMENTARY);
kinks!(entries KINKS);
special!(entries SPECIAL);
binary!(entries2 SMOOTH2);
kinks2!(entries2 KINKS2);
remainders!(entries2 REMAINDERS);

/// All functions of one variable.
pub const UNARY: &[&[Unary]] = &[ELEMENTARY, KINKS, SPECIAL];

/// All functions of two variables.
pub const BINARY: &[&[Binary]] = &[SMOOTH2, KINKS2, REMAINDERS];

macro_rules! visits {
    ([$visit:ident, $T:ident] $( $(#[$doc:meta])* $name:ident($x:ident) $y:ident = $value:path => [$first:expr, $second:expr] on [$($s:expr),*]; )*) => {
        $( $visit(stringify!($name), &[$($s),*], <$T::Fns as Elementary<$T>>::$name); )*
    };
}

macro_rules! visits2 {
    ([$visit:ident, $T:ident] $( $(#[$doc:meta])* $name:ident($a:ident, $b:ident) $y:ident = $value:path => $first:expr, $second:expr, on [$($s:expr),*]; )*) => {
        $( $visit(stringify!($name), &[$($s),*], <$T::Fns as Elementary<$T>>::$name); )*
    };
}

/// Calls `visit` with the name, the sample points and the function of every row of one variable, in any scalar.
pub fn unary<T: Real>(mut visit: impl FnMut(&'static str, &'static [f64], fn(T) -> T)) {
    elementary!(visits visit, T);
    kinks!(visits visit, T);
    special!(visits visit, T);
}

/// Calls `visit` with the name, the sample points and the function of every row of two variables, in any scalar.
pub fn binary<T: Real>(mut visit: impl FnMut(&'static str, &'static [(f64, f64)], fn(T, T) -> T)) {
    binary!(visits2 visit, T);
    kinks2!(visits2 visit, T);
    remainders!(visits2 visit, T);
}
