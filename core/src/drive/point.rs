//! What may be differentiated with respect to: the points that drivers accept.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::borrow::{Borrow, BorrowMut};
use core::fmt::Debug;

use nalgebra::allocator::Allocator;
use nalgebra::{Const, DefaultAllocator, Dim, Dyn, OMatrix};

use crate::seed::{FirstOrder, SecondOrder};
use crate::{Dual, Dual2, HyperDual, Real};

/// Lanes of a pass where the number of inputs is not known at compile time.
///
/// Eight lanes are two AVX registers (one of AVX-512): the point from which a wider number costs nearly in proportion,
/// while a narrower one repeats the undifferentiated work more often. [`Chunk`] chooses another width.
pub const LANES: usize = 8;

/// Rows and columns of a block of second derivatives where the number of inputs is not known at compile time.
pub const BLOCK: usize = 4;

/// A container of coordinates: slices, arrays, `Vec` and owned nalgebra vectors and matrices.
///
/// A function of a point takes the same container of dual numbers, [`With<Dual<..>>`](Point::With): `&[S]` for a
/// slice or a `Vec`, `&[S; D]` for an array, `&SVector<S, D>`, `&DVector<S>`, `&OMatrix<S, R, C>` for nalgebra's. A generic
/// function `f` of a slice is called from a closure there: `gradient(|x| f(x), &[1.0, 2.0])` for an array,
/// `gradient(|x| f(x.as_slice()), &vector)` for nalgebra's.
///
/// Coordinates are counted in storage order: matrices column by column (`vec` of the matrix), so that entry `(i, j)` of
/// an `r x c` matrix is coordinate `i + j r`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a point that can be differentiated with respect to",
    label = "expected a slice, an array, a `Vec` or an owned nalgebra vector or matrix of floats or dual numbers",
    note = "views: pass `&view.clone_owned()`; several arguments: put them in one vector, or use `jacobian_blocks`"
)]
pub trait Point {
    /// The scalar of the coordinates: a float, or a dual number where drivers are nested.
    type Scalar: Real;
    /// The number of coordinates, where the type knows it.
    type Dim: Dim;
    /// The same container of another scalar, as functions take it.
    type With<S: Real>: Point<Scalar = S, Dim = Self::Dim> + ?Sized + 'static;
    /// The same container of another scalar, owned.
    type Owned<S: Real>: BorrowMut<Self::With<S>> + Clone + Debug + 'static;
    /// The number that first derivatives run on by default.
    type First: FirstOrder<Inner = Self::Scalar>;
    /// The number that Hessians run on by default.
    type Second: SecondOrder<Inner = Self::Scalar>;
    /// The number with this point's directions as rows and `N` columns of second derivatives.
    type Rows<const N: usize>: SecondOrder<Inner = Self::Scalar>;
    /// The number with the directions of `X` as rows and this point's as columns.
    type Against<X: Point<Scalar = Self::Scalar> + ?Sized>: SecondOrder<Inner = Self::Scalar>;

    /// The number of coordinates.
    fn dim(&self) -> Self::Dim;
    /// Rows and columns; a vector, array or slice is one column.
    fn shape(&self) -> (usize, usize);
    /// The coordinates in storage order.
    fn coordinates(&self) -> &[Self::Scalar];
    /// The coordinates in storage order.
    fn coordinates_mut(&mut self) -> &mut [Self::Scalar];
    /// The container with `f` applied to each coordinate.
    fn map_coordinates<S: Real>(&self, f: impl FnMut(Self::Scalar) -> S) -> Self::Owned<S>;
}

impl<T: Real, const D: usize> Point for [T; D] {
    type Scalar = T;
    type Dim = Const<D>;
    type With<S: Real> = [S; D];
    type Owned<S: Real> = [S; D];
    type First = Dual<T, D>;
    type Second = Dual2<T, D>;
    type Rows<const N: usize> = HyperDual<T, D, N>;
    type Against<X: Point<Scalar = T> + ?Sized> = X::Rows<D>;

    #[inline(always)]
    fn dim(&self) -> Const<D> {
        Const
    }
    #[inline(always)]
    fn shape(&self) -> (usize, usize) {
        (D, 1)
    }
    #[inline(always)]
    fn coordinates(&self) -> &[T] {
        self
    }
    #[inline(always)]
    fn coordinates_mut(&mut self) -> &mut [T] {
        self
    }
    #[inline(always)]
    fn map_coordinates<S: Real>(&self, f: impl FnMut(T) -> S) -> [S; D] {
        self.map(f)
    }
}

#[cfg(feature = "alloc")]
macro_rules! slice_point {
    ($Self:ty) => {
        impl<T: Real> Point for $Self {
            type Scalar = T;
            type Dim = Dyn;
            type With<S: Real> = [S];
            type Owned<S: Real> = Vec<S>;
            type First = Dual<T, LANES>;
            type Second = HyperDual<T, BLOCK, BLOCK>;
            type Rows<const N: usize> = HyperDual<T, LANES, N>;
            type Against<X: Point<Scalar = T> + ?Sized> = X::Rows<BLOCK>;

            #[inline(always)]
            fn dim(&self) -> Dyn {
                Dyn(self.len())
            }
            #[inline(always)]
            fn shape(&self) -> (usize, usize) {
                (self.len(), 1)
            }
            #[inline(always)]
            fn coordinates(&self) -> &[T] {
                self
            }
            #[inline(always)]
            fn coordinates_mut(&mut self) -> &mut [T] {
                self
            }
            #[inline]
            fn map_coordinates<S: Real>(&self, f: impl FnMut(T) -> S) -> Vec<S> {
                self.iter().copied().map(f).collect()
            }
        }
    };
}

#[cfg(feature = "alloc")]
slice_point!([T]);
#[cfg(feature = "alloc")]
slice_point!(Vec<T>);

impl<T: Real, R: Dim, C: Dim> Point for OMatrix<T, R, C>
where
    DefaultAllocator: Allocator<R, C>,
    (R, C): Shape,
{
    type Scalar = T;
    type Dim = <(R, C) as Shape>::Flat;
    type With<S: Real> = OMatrix<S, R, C>;
    type Owned<S: Real> = OMatrix<S, R, C>;
    type First = <(R, C) as Shape>::First<T>;
    type Second = <(R, C) as Shape>::Second<T>;
    type Rows<const N: usize> = <(R, C) as Shape>::Rows<T, N>;
    type Against<X: Point<Scalar = T> + ?Sized> = <(R, C) as Shape>::Against<X>;

    #[inline(always)]
    fn dim(&self) -> Self::Dim {
        Dim::from_usize(self.len())
    }
    #[inline(always)]
    fn shape(&self) -> (usize, usize) {
        OMatrix::shape(self)
    }
    #[inline(always)]
    fn coordinates(&self) -> &[T] {
        self.as_slice()
    }
    #[inline(always)]
    fn coordinates_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
    #[inline(always)]
    fn map_coordinates<S: Real>(&self, f: impl FnMut(T) -> S) -> OMatrix<S, R, C> {
        self.map(f)
    }
}

/// What the dimensions of a nalgebra matrix say about it as a list of numbers.
///
/// Columns are dynamic or at most 32.
#[diagnostic::on_unimplemented(
    message = "matrices of the dimensions `{Self}` are not supported by the drivers",
    label = "columns must be `Dyn` or at most 32",
    note = "wider: use a dynamic matrix, or the transpose; generic code: add the bound `(Const<R>, Const<C>): Shape`"
)]
pub trait Shape {
    /// The number of entries, where it is known: columns only, as products of dimensions are not types.
    type Flat: Dim;
    /// [`Point::First`].
    type First<T: Real>: FirstOrder<Inner = T>;
    /// [`Point::Second`].
    type Second<T: Real>: SecondOrder<Inner = T>;
    /// [`Point::Rows`].
    type Rows<T: Real, const N: usize>: SecondOrder<Inner = T>;
    /// [`Point::Against`].
    type Against<X: Point + ?Sized>: SecondOrder<Inner = X::Scalar>;
}

impl<const D: usize> Shape for (Const<D>, Const<1>) {
    type Flat = Const<D>;
    type First<T: Real> = Dual<T, D>;
    type Second<T: Real> = Dual2<T, D>;
    type Rows<T: Real, const N: usize> = HyperDual<T, D, N>;
    type Against<X: Point + ?Sized> = X::Rows<D>;
}

macro_rules! chunked_shapes {
    ($([$($gen:tt)*] $R:ty, $C:ty;)*) => { $(
        impl<$($gen)*> Shape for ($R, $C) {
            type Flat = Dyn;
            type First<T: Real> = Dual<T, LANES>;
            type Second<T: Real> = HyperDual<T, BLOCK, BLOCK>;
            type Rows<T: Real, const N: usize> = HyperDual<T, LANES, N>;
            type Against<X: Point + ?Sized> = X::Rows<BLOCK>;
        }
    )* };
}

macro_rules! static_columns {
    ($($c:literal)*) => { chunked_shapes! { $( [R: Dim] R, Const<$c>; )* } };
}

chunked_shapes! {
    [] Dyn, Const<1>;
    [R: Dim] R, Dyn;
}
static_columns!(0 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);

/// Where to differentiate: `&x` for any [`Point`], with the default number of lanes, or [`Chunk::of`] to choose it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say where to differentiate",
    label = "expected a reference to a point",
    note = "pass the point by reference: `&x`, or `Chunk::<4>::of(&x)` to choose the number of lanes"
)]
pub trait At: Copy {
    /// The container of the coordinates.
    type Point: Point<Scalar = Self::Scalar> + ?Sized;
    /// The scalar of the coordinates.
    type Scalar: Real;
    /// The number that first derivatives run on.
    type First: FirstOrder<Inner = Self::Scalar>;
    /// The number that Hessians run on.
    type Second: SecondOrder<Inner = Self::Scalar>;
    /// The number with this point's directions as rows and `N` columns of second derivatives.
    type Rows<const N: usize>: SecondOrder<Inner = Self::Scalar>;
    /// The point.
    fn point(&self) -> &Self::Point;
}

impl<X: Point + ?Sized> At for &X {
    type Point = X;
    type Scalar = X::Scalar;
    type First = X::First;
    type Second = X::Second;
    type Rows<const N: usize> = X::Rows<N>;
    #[inline(always)]
    fn point(&self) -> &X {
        self
    }
}

/// Chooses the number of lanes of a pass: `gradient(f, Chunk::<16>::of(&x))`.
///
/// Without it, inputs whose number the type knows (`[T; D]`, `SVector<T, D>`) run in one pass with as many lanes as
/// inputs: right up to a dozen or two; above, choose a chunk. All others run in chunks of [`LANES`], Hessians in blocks
/// of [`BLOCK`] by [`BLOCK`].
///
/// ```
/// use dualpack_core::{Chunk, gradient};
/// let x = vec![1.0; 100];
/// let (value, g) = gradient(|x| x.iter().map(|x| x.sin()).sum(), Chunk::<16>::of(&x));
/// # let _: f64 = value;
/// assert_eq!(g[99], 1.0_f64.cos());
/// ```
///
/// Vector registers hold 4 or 8 floats: where the number of inputs is just below a multiple of them, a chunk of that
/// multiple is faster, with the same results. The lanes in excess stay zero. (Stable Rust has no way to round up the `D`
/// of `[T; D]` in a type, so this is not the default.)
///
/// ```
/// use dualpack_core::{Chunk, gradient};
/// let x = [0.5; 15];
/// let norm = |x: &[dualpack_core::Dual<f64, 16>; 15]| x.iter().map(|x| x * x).sum();
/// let (value, g) = gradient(norm, Chunk::<16>::of(&x));
/// assert_eq!((value, g[14]), (3.75, 1.0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Chunk<const N: usize>;

impl<const N: usize> Chunk<N> {
    /// The point `x`, to be differentiated in chunks of `N` inputs.
    #[inline]
    pub fn of<X: Point + ?Sized>(x: &X) -> Chunked<'_, X, N> {
        const { assert!(N > 0, "a chunk needs at least one lane") };
        Chunked(x)
    }
}

/// A point with a chosen number of lanes; made by [`Chunk::of`].
#[derive(Debug)]
pub struct Chunked<'a, X: ?Sized, const N: usize>(&'a X);

impl<X: ?Sized, const N: usize> Clone for Chunked<'_, X, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<X: ?Sized, const N: usize> Copy for Chunked<'_, X, N> {}

impl<X: Point + ?Sized, const N: usize> At for Chunked<'_, X, N> {
    type Point = X;
    type Scalar = X::Scalar;
    type First = Dual<X::Scalar, N>;
    type Second = HyperDual<X::Scalar, N, N>;
    type Rows<const M: usize> = HyperDual<X::Scalar, N, M>;
    #[inline(always)]
    fn point(&self) -> &X {
        self.0
    }
}

/// The container of `P` filled with `S`, as the function of a driver takes it.
pub type Seeded<P, S> = <<P as At>::Point as Point>::With<S>;

/// The container of `P` filled with `S`, owned.
pub type Filled<P, S> = <<P as At>::Point as Point>::Owned<S>;

/// The number of coordinates of `P`, where the type knows it.
pub type DimOf<P> = <<P as At>::Point as Point>::Dim;

/// `owned.borrow()` at the one type that is meant.
#[inline(always)]
pub(crate) fn view<X: Point + ?Sized, S: Real>(owned: &X::Owned<S>) -> &X::With<S> {
    owned.borrow()
}

/// The coordinates of an owned container.
#[inline(always)]
pub(crate) fn slots<X: Point + ?Sized, S: Real>(owned: &mut X::Owned<S>) -> &mut [S] {
    owned.borrow_mut().coordinates_mut()
}

/// Points of one workspace have one shape.
#[inline(always)]
#[track_caller]
pub(crate) fn expect_shape(what: &str, got: (usize, usize), want: (usize, usize)) {
    if got != want {
        mismatch(what, got, want);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn mismatch(what: &str, got: (usize, usize), want: (usize, usize)) -> ! {
    panic!("{what} is {}x{}, expected {}x{}", got.0, got.1, want.0, want.1)
}

/// Buffers have the length of what goes into them.
#[inline(always)]
#[track_caller]
pub(crate) fn expect_len(what: &str, got: usize, want: usize) {
    assert!(got == want, "{what} has {got} entries, expected {want}");
}
