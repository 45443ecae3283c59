//! The one bound of the library: [`Real`], and its innermost floats [`Base`].

use core::iter::{Product, Sum};
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Sub, SubAssign};

use nalgebra::RealField;
use wide::{f32x4, f32x16, f64x4, f64x8};

use crate::far::is_normal;
use crate::rules::{Elementary, Leaf};
use crate::shared;
use crate::special::{special, special_orders};

/// A row of the special functions as a provided method of [`Real`].
macro_rules! real_method {
    ([] $( $(#[$doc:meta])* $name:ident($x:ident $(, $p:ident: $pt:ty)*) $y:ident = $value:path => [$first:expr, $second:expr] on [$($s:expr),*]; )*) => {
        $(
            $(#[$doc])*
            #[inline]
            fn $name(self $(, $p: $pt)*) -> Self {
                Self::Fns::$name(self $(, $p)*)
            }
        )*
    };
}

/// The floats at the bottom of every number: `f32` and `f64`, nothing else.
///
/// The trait is closed in effect: [`Real::Fns`] can only be named inside this crate, and the operators that mix a
/// dual number with a plain float rely on no dual ever being a `Base`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plain float",
    label = "expected f32 or f64",
    note = "a number of an outer level, or of generic code, becomes a constant by `Dual::constant(x)`; `from` and `into` are for floats"
)]
pub trait Base: Real<Base = Self> + num_traits::FromPrimitive {}

/// A real scalar that functions can be written against once: a float or any (nested) dual number.
///
/// `S: Real` is the bound for generic user code. It brings nalgebra's
/// [`RealField`](nalgebra::RealField) and [`ComplexField`](nalgebra::ComplexField), so `x.sin()`, `x.powi(3)` and matrices of `S` work;
/// constants come from [`nalgebra::convert`] or [`Real::from_base`]. Under [`Real64`] literals stand on the right of an
/// operator, `x * 2.0`.
///
/// ```
/// use dualpack_core::{Dual, Real};
/// fn f<S: Real>(x: S) -> S {
///     x.sin() * x
/// }
/// let y = f(Dual::<f64>::variable(2.0, 0));
/// assert_eq!(y.value, f(2.0));
/// assert!((y.eps[0] - (2.0_f64.cos() * 2.0 + 2.0_f64.sin())).abs() < 1e-15);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar that dualpack can differentiate through",
    label = "expected f32, f64, Dual, HyperDual, Dual2 or a nesting of them",
    note = "integers: write `2.0`, not `2`; generic code: add the bound `S: Real`"
)]
pub trait Real: RealField + Copy + Sum + Product + for<'a> Sum<&'a Self> + for<'a> Product<&'a Self> {
    /// The innermost float.
    type Base: Base;

    /// Where the elementary functions of this scalar are written down.
    #[doc(hidden)]
    type Fns: Elementary<Self>;

    /// The highest derivative that a number of this type carries: 0 for floats, 1 for `Dual<f64>`, 2 for
    /// `HyperDual<f64>` and `Dual<Dual<f64>>`, ...
    const ORDER: usize;

    /// The constant `b`: all tangents are zero.
    fn from_base(b: Self::Base) -> Self;

    /// The innermost value.
    fn base(self) -> Self::Base;

    /// Whether every part, value and all tangents, is finite. (`is_finite` looks at the value only.)
    fn all_finite(self) -> bool;

    /// Whether every part of the two numbers is equal (`==` compares values only). `NaN` parts are equal to each
    /// other, and `0 == -0`.
    fn same(self, other: Self) -> bool;

    /// Whether every part agrees to a relative tolerance (`approx` compares values only): the value relative to the
    /// larger of the two, each tangent relative to the largest tangent of its family.
    ///
    /// ```
    /// use dualpack_core::{Dual, Real};
    /// let a = Dual::new(1.0, [1e3, 1e-9]);
    /// assert!(a.relative_eq_all(Dual::new(1.0, [1e3, 0.0]), 1e-10));
    /// assert!(!a.relative_eq_all(Dual::new(1.0, [1e3, 1.0]), 1e-10));
    /// ```
    fn relative_eq_all(self, other: Self, max_relative: Self::Base) -> bool;

    /// The largest magnitude among all finite parts, 0 if none is.
    #[doc(hidden)]
    fn largest_part(self) -> Self::Base;

    /// Whether every part differs by at most `tolerance`; equal infinities and two `NaN`s agree.
    #[doc(hidden)]
    fn parts_near(self, other: Self, tolerance: Self::Base) -> bool;

    /// The product with strong zeros: `0` where `t == 0`, whatever `self` is, else `self * t`; componentwise in
    /// nested numbers.
    ///
    /// A tangent that is zero stays zero through a function whose derivative is infinite there, such as `sqrt` at 0.
    fn strong_mul(self, t: Self) -> Self;

    /// `self s t` with strong zeros in `s` and `t`: the curvature of a function with the second derivative `self`. No
    /// product of two leaves the range where that of all three is an ordinary number.
    #[doc(hidden)]
    fn strong_mul2(self, s: Self, t: Self) -> Self {
        let zero = Self::zero();
        if (s == zero && s.same(zero)) || (t == zero && t.same(zero)) {
            return zero;
        }
        match order(self.base(), s.base(), t.base()) {
            Order::First => self.strong_mul(s).strong_mul(t),
            Order::Second => self.strong_mul(t).strong_mul(s),
            Order::Last => self.strong_mul(s * t),
        }
    }

    /// `self s t`, as [`strong_mul2`](Real::strong_mul2), in every lane of `t`.
    #[doc(hidden)]
    #[inline(always)]
    fn lanes_strong2<const N: usize>(self, s: Self, t: &[Self; N]) -> [Self; N] {
        core::array::from_fn(|k| self.strong_mul2(s, t[k]))
    }

    /// Whether `(f s) t` is what [`strong_mul2`](Real::strong_mul2) gives for any two `s` and `t` of the lanes, of which
    /// `products` are those with `f`: none of them has left the range, and zero is only what has a factor zero.
    #[doc(hidden)]
    #[inline(always)]
    fn lanes_ordinary<const N: usize>(f: Self, products: &[Self; N], lanes: &[Self; N]) -> bool {
        let bases = products.iter().zip(lanes).map(|(p, t)| (p.base(), t.base()));
        bases.fold(true, |all, (p, t)| all & <Self::Base as Real>::lanes_ordinary(f.base(), &[p], &[t]))
    }

    /// The number with the innermost value `b` and the same tangents at every level.
    #[doc(hidden)]
    fn with_base(self, b: Self::Base) -> Self;

    /// `self`, which a comparison of values chose where it might have chosen `other`: a tracer of
    /// sparse structure depends on both, every other number is left as it is.
    #[doc(hidden)]
    #[inline(always)]
    fn beside(self, _other: Self) -> Self {
        self
    }

    /// `t` in lane `lane`, 0 in the others; all 0 beyond the last lane.
    #[doc(hidden)]
    #[inline(always)]
    fn lanes_seed<const N: usize>(lane: usize, t: Self) -> [Self; N] {
        core::array::from_fn(|k| if k == lane { t } else { Self::zero() })
    }

    /// Value and derivative of a function at this number; floats look them up where a driver repeats the same call.
    #[doc(hidden)]
    #[inline(always)]
    fn outcome(self, _function: u64, compute: impl FnOnce(Self) -> (Self, Self)) -> (Self, Self) {
        compute(self)
    }

    /// `a + b` in every lane.
    #[inline(always)]
    fn lanes_add<const N: usize>(a: &[Self; N], b: &[Self; N]) -> [Self; N] {
        core::array::from_fn(|k| a[k] + b[k])
    }

    /// `a - b` in every lane.
    #[inline(always)]
    fn lanes_sub<const N: usize>(a: &[Self; N], b: &[Self; N]) -> [Self; N] {
        core::array::from_fn(|k| a[k] - b[k])
    }

    /// `-a` in every lane.
    #[inline(always)]
    fn lanes_neg<const N: usize>(a: &[Self; N]) -> [Self; N] {
        core::array::from_fn(|k| -a[k])
    }

    /// `a s` in every lane.
    #[inline(always)]
    fn lanes_scale<const N: usize>(a: &[Self; N], s: Self) -> [Self; N] {
        core::array::from_fn(|k| a[k] * s)
    }

    /// `a / s` in every lane.
    #[inline(always)]
    fn lanes_unscale<const N: usize>(a: &[Self; N], s: Self) -> [Self; N] {
        core::array::from_fn(|k| a[k] / s)
    }

    /// `a s + b t` in every lane.
    #[inline(always)]
    fn lanes_axpby<const N: usize>(a: &[Self; N], s: Self, b: &[Self; N], t: Self) -> [Self; N] {
        core::array::from_fn(|k| a[k] * s + b[k] * t)
    }

    /// `a + b t` in every lane.
    #[inline(always)]
    fn lanes_add_scaled<const N: usize>(a: &[Self; N], b: &[Self; N], t: Self) -> [Self; N] {
        core::array::from_fn(|k| a[k] + b[k] * t)
    }

    /// `f t`, with strong zeros, in every lane.
    #[inline(always)]
    fn lanes_strong<const N: usize>(f: Self, t: &[Self; N]) -> [Self; N] {
        core::array::from_fn(|k| f.strong_mul(t[k]))
    }

    /// The tangents of a function with value `y` and derivative `f`: `f t` with strong zeros in every lane, `NaN` where
    /// the value is.
    #[doc(hidden)]
    #[inline(always)]
    fn lanes_chain<const N: usize>(y: Self, f: Self, t: &[Self; N]) -> [Self; N] {
        if y.is_nan() { [y; N] } else { Self::lanes_strong(f, t) }
    }

    /// `f t`, with strong zeros of the one tangent `t`, for a factor in every lane.
    #[doc(hidden)]
    #[inline(always)]
    fn lanes_strong_in<const N: usize>(f: &[Self; N], t: Self) -> [Self; N] {
        core::array::from_fn(|k| f[k].strong_mul(t))
    }

    /// Whether the value is `NaN`; tangents are not looked at.
    #[inline(always)]
    fn is_nan(self) -> bool {
        let b = self.base();
        b.partial_cmp(&b).is_none()
    }

    /// The sum of no numbers, as the standard library has it for floats: adding it changes no bit, not even of -0.
    #[doc(hidden)]
    fn empty_sum() -> Self {
        Self::from_base(core::iter::empty::<Self::Base>().sum())
    }

    special!(real_method);
    special_orders!(real_method);
}

/// [`Real`] over `f64`, with the plain operators `x + 1.0`, `x *= 2.0`, `x < 1.0`, ... in generic code; `S::from(2.0) * x`
/// where the constant stands on the left.
///
/// ```
/// use dualpack_core::{Dual, Real64};
/// fn f<S: Real64>(x: S) -> S {
///     if x > 1.0 { x * x * 0.5 - 1.0 } else { S::from(0.5) * x }
/// }
/// assert_eq!(f(Dual::<f64>::variable(3.0, 0)).eps, [3.0]);
/// assert_eq!(f(Dual::<f64>::variable(0.0, 0)).eps, [0.5]);
/// ```
pub trait Real64:
    Real<Base = f64>
    + From<f64>
    + PartialOrd<f64>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign<f64>
    + SubAssign<f64>
    + MulAssign<f64>
    + DivAssign<f64>
{
}

impl<T> Real64 for T where
    T: Real<Base = f64>
        + From<f64>
        + PartialOrd<f64>
        + Add<f64, Output = T>
        + Sub<f64, Output = T>
        + Mul<f64, Output = T>
        + Div<f64, Output = T>
        + AddAssign<f64>
        + SubAssign<f64>
        + MulAssign<f64>
        + DivAssign<f64>
{
}

/// `x y + z`, fused where the target fuses in hardware: the scalar tail must round as the vector body does, or N
/// lanes would differ from N runs with one lane.
macro_rules! muladd {
    ($x:expr, $y:expr, $z:expr) => {
        if cfg!(any(target_feature = "fma", all(target_arch = "aarch64", target_feature = "neon"))) {
            num_traits::Float::mul_add($x, $y, $z)
        } else {
            $x * $y + $z
        }
    };
}

/// Runs `$body` on whole vectors of lanes (bound as `wide` vectors, like the scalars behind `with`), `$tail` on the
/// rest. Vectors of 512 bits only where the target has them: the compiler does not make them from narrower ones.
macro_rules! chunked {
    ($Wide:ident $w:literal, $Narrow:ident $n:literal; $N:ident; $($v:ident <- $src:expr),+; with $($s:ident),*; $body:expr; $tail:expr) => {{
        let mut out = [0.0; $N];
        let mut done = 0;
        if cfg!(target_feature = "avx512f") {
            chunked!(@stage $Wide $w; out done $N; $($v <- $src),+; $($s),*; $body);
        }
        chunked!(@stage $Narrow $n; out done $N; $($v <- $src),+; $($s),*; $body);
        for k in done..$N {
            $(let $v = $src[k];)+
            out[k] = $tail;
        }
        out
    }};
    (@stage $V:ident $w:literal; $out:ident $done:ident $N:ident; $($v:ident <- $src:expr),+; $($s:ident),*; $body:expr) => {
        let whole = ($N - $done) / $w;
        {
            $(let $s = $V::splat($s);)*
            for k in 0..whole {
                $(let $v = $V::from($src[$done..].as_chunks::<$w>().0[k]);)+
                $out[$done..].as_chunks_mut::<$w>().0[k] = $body.to_array();
            }
        }
        $done += whole * $w;
    };
}

/// [`Real::largest_part`] of a family of parts.
pub(crate) fn largest<'a, T: Real>(parts: impl IntoIterator<Item = &'a T>) -> T::Base {
    parts.into_iter().fold(T::zero().base(), |largest, part| {
        let size = part.largest_part();
        if size <= largest { largest } else { size }
    })
}

/// Whether two families of parts agree relative to their largest finite part.
pub(crate) fn family_eq<'a, T: Real>(
    a: impl IntoIterator<Item = &'a T> + Clone,
    b: impl IntoIterator<Item = &'a T> + Clone,
    max_relative: T::Base,
) -> bool {
    let (x, y) = (largest(a.clone()), largest(b.clone()));
    let scale = if x < y { y } else { x };
    a.into_iter().zip(b).all(|(a, b)| a.parts_near(*b, max_relative * scale))
}

/// Which two of three factors f, s, t are multiplied first.
enum Order {
    /// f s
    First,
    /// f t
    Second,
    /// s t
    Last,
}

/// The first pair whose product is an ordinary number: if f s t is one, there is such a pair, and the third factor
/// does not lead out of the range either. Zeros and what is not finite keep their order.
fn order<F: Base>(f: F, s: F, t: F) -> Order {
    let zero = F::zero();
    let regular = |x: F| x != zero && x.is_finite();
    if !(regular(f) && regular(s) && regular(t)) || is_normal(f * s) {
        Order::First
    } else if is_normal(f * t) {
        Order::Second
    } else if is_normal(s * t) {
        Order::Last
    } else {
        Order::First
    }
}

/// [`Real::lanes_strong2`] where f s is not an ordinary number.
#[cold]
#[inline(never)]
fn strong2<F: Base>(f: F, s: F, t: &mut [F]) {
    t.iter_mut().for_each(|t| *t = f.strong_mul2(s, *t));
}

/// Lanes that begin on a cache line.
#[repr(align(64))]
struct Aligned<T>(T);

/// The lanes after `f`, which is not inlined: in line, the compiler would merge the lanes of the usual and the unusual
/// case into other vectors, and the usual case would pay for it.
///
/// An aligned variable whose address goes to a function makes the compiler align the whole frame, and with it the
/// vectors that the caller keeps there across a call of the mathematical library: half of them would straddle two
/// cache lines.
#[inline(always)]
fn outlined<F: Base, const N: usize>(t: &[F; N], f: impl FnOnce(&mut [F])) -> [F; N] {
    let mut out = Aligned(*t);
    f(&mut out.0);
    out.0
}

#[cold]
#[inline(never)]
fn quotient<F: Base>(x: &mut [F], s: F) {
    x.iter_mut().for_each(|x| *x /= s);
}

#[cold]
#[inline(never)]
fn strong<F: Base>(f: F, t: &mut [F]) {
    t.iter_mut().for_each(|t| *t = f.strong_mul(*t));
}

/// [`strong`], and `NaN` in every lane where the value is.
#[cold]
#[inline(never)]
fn strong_chain<F: Base>(y: F, f: F, t: &mut [F]) {
    if Real::is_nan(y) { t.fill(y) } else { strong(f, t) }
}

macro_rules! base {
    ($F:ident, $($V:tt)+) => {
        impl Base for $F {}

        impl Real for $F {
            type Base = $F;
            type Fns = Leaf;
            const ORDER: usize = 0;

            #[inline(always)]
            fn from_base(b: $F) -> $F {
                b
            }
            #[inline(always)]
            fn base(self) -> $F {
                self
            }
            #[inline(always)]
            fn all_finite(self) -> bool {
                self.is_finite()
            }
            #[inline]
            fn same(self, other: $F) -> bool {
                self == other || (self.is_nan() && other.is_nan())
            }
            fn relative_eq_all(self, other: $F, max_relative: $F) -> bool {
                self.parts_near(other, max_relative * self.largest_part().max(other.largest_part()))
            }
            #[inline]
            fn largest_part(self) -> $F {
                if self.is_finite() { self.abs() } else { 0.0 }
            }
            fn parts_near(self, other: $F, tolerance: $F) -> bool {
                self.same(other) || (self - other).abs() <= tolerance
            }
            #[inline(always)]
            fn strong_mul(self, t: $F) -> $F {
                if t == 0.0 { 0.0 } else { self * t }
            }
            #[inline]
            fn strong_mul2(self, s: $F, t: $F) -> $F {
                if s == 0.0 || t == 0.0 {
                    // The zero of the plain product, with its sign, where it is one.
                    let zero = self * s * t;
                    return if zero == 0.0 { zero } else { 0.0 };
                }
                match order(self, s, t) {
                    Order::First => self * s * t,
                    Order::Second => self * t * s,
                    Order::Last => s * t * self,
                }
            }
            #[inline(always)]
            fn lanes_strong2<const N: usize>(self, s: $F, t: &[$F; N]) -> [$F; N] {
                let product = self * s;
                if product.is_normal() {
                    return Self::lanes_scale(t, product);
                }
                // A tangent that is zero, as of a constant, is common; so is a function without curvature.
                if s == 0.0 {
                    return [0.0; N];
                }
                if self == 0.0 {
                    return Self::lanes_scale(t, product);
                }
                outlined(t, |t| strong2(self, s, t))
            }
            #[inline(always)]
            fn lanes_ordinary<const N: usize>(f: $F, products: &[$F; N], lanes: &[$F; N]) -> bool {
                if f == 0.0 {
                    return products.iter().all(|p| p.is_finite());
                }
                // As numbers, not as booleans: these are compared in vectors.
                let bits = |k: usize| {
                    let (size, t) = (products[k].abs(), lanes[k]);
                    let normal = ($F::MIN_POSITIVE..=$F::MAX).contains(&size);
                    u64::from(!(normal | (t == 0.0)))
                };
                (0..N).fold(0, |unusual, k| unusual | bits(k)) == 0
            }
            #[inline(always)]
            fn with_base(self, b: $F) -> $F {
                b
            }
            #[inline(always)]
            fn outcome(self, function: u64, compute: impl FnOnce($F) -> ($F, $F)) -> ($F, $F) {
                #[inline(never)]
                fn recorded(function: u64, x: $F, compute: impl FnOnce($F) -> ($F, $F)) -> ($F, $F) {
                    let [y, first] = shared::outcome(function.wrapping_add(size_of::<$F>() as u64), x.to_bits().into(), || {
                        let (y, first) = compute(x);
                        [y.to_bits().into(), first.to_bits().into()]
                    });
                    ($F::from_bits(y as _), $F::from_bits(first as _))
                }
                if shared::active() { recorded(function, self, compute) } else { compute(self) }
            }
            #[inline(always)]
            fn lanes_seed<const N: usize>(lane: usize, t: $F) -> [$F; N] {
                // N zeros, 1, zeros: the lanes are a window of N of them.
                let table = const {
                    let mut table = [[0.0; N]; 2];
                    if N > 0 {
                        table[1][0] = 1.0;
                    }
                    &{ table }
                };
                let window = table.as_flattened()[N - lane.min(N)..].first_chunk().expect("N entries follow");
                // Through vectors of lanes: after stores of single lanes, the first read of a whole vector waits until
                // all of them have left the store buffer.
                Self::lanes_scale(window, t)
            }
            #[inline(always)]
            fn lanes_add<const N: usize>(a: &[$F; N], b: &[$F; N]) -> [$F; N] {
                chunked!($($V)+; N; x <- a, y <- b; with; x + y; x + y)
            }
            #[inline(always)]
            fn lanes_sub<const N: usize>(a: &[$F; N], b: &[$F; N]) -> [$F; N] {
                chunked!($($V)+; N; x <- a, y <- b; with; x - y; x - y)
            }
            #[inline(always)]
            fn lanes_neg<const N: usize>(a: &[$F; N]) -> [$F; N] {
                chunked!($($V)+; N; x <- a; with; -x; -x)
            }
            #[inline(always)]
            fn lanes_scale<const N: usize>(a: &[$F; N], s: $F) -> [$F; N] {
                chunked!($($V)+; N; x <- a; with s; x * s; x * s)
            }
            #[inline(always)]
            fn lanes_unscale<const N: usize>(a: &[$F; N], s: $F) -> [$F; N] {
                // One division instead of N. Where the reciprocal is subnormal, infinite or zero it has lost digits.
                let r = 1.0 / s;
                if r.is_normal() {
                    return Self::lanes_scale(a, r);
                }
                outlined(a, |x| quotient(x, s))
            }
            #[inline(always)]
            fn lanes_axpby<const N: usize>(a: &[$F; N], s: $F, b: &[$F; N], t: $F) -> [$F; N] {
                chunked!($($V)+; N; x <- a, y <- b; with s, t; x.mul_add(s, y * t); muladd!(x, s, y * t))
            }
            #[inline(always)]
            fn lanes_add_scaled<const N: usize>(a: &[$F; N], b: &[$F; N], t: $F) -> [$F; N] {
                chunked!($($V)+; N; x <- a, y <- b; with t; y.mul_add(t, x); muladd!(y, t, x))
            }
            #[inline(always)]
            fn lanes_strong<const N: usize>(f: $F, t: &[$F; N]) -> [$F; N] {
                // A finite factor leaves zeros alone.
                if f.is_finite() {
                    return Self::lanes_scale(t, f);
                }
                outlined(t, |t| strong(f, t))
            }
            #[inline(always)]
            fn lanes_chain<const N: usize>(y: $F, f: $F, t: &[$F; N]) -> [$F; N] {
                // Zero where both are finite. The test needs both, so the compiler sees the function beside its
                // derivative: one call for sine and cosine.
                if muladd!(f, 0.0, y * 0.0) == 0.0 {
                    return Self::lanes_scale(t, f);
                }
                outlined(t, |t| strong_chain(y, f, t))
            }
        }
    };
}

base!(f32, f32x16 16, f32x4 4);
base!(f64, f64x8 8, f64x4 4);
