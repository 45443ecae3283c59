//! Second derivatives without the whole Hessian: products with a vector, the trace, a block.

use core::borrow::BorrowMut;

use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, Dim, Matrix, OMatrix, StorageMut};
use num_traits::{One, Zero};

use super::certain;
use super::point::{At, BLOCK, Filled, Point, Seeded, expect_shape, slots, view};
use crate::seed::{SecondOrder, chunk, unseed};
use crate::{Dual2, Lift};

/// Value, gradient and the product of the Hessian with a vector: `(f(x), ∇f(x), ∇²f(x) v)`, in ⌈n/N⌉ passes.
///
/// ```
/// use dualpack_core::hvp;
/// let (value, gradient, product) = hvp(|x| x[0] * x[0] * x[1], &[3.0, 2.0], &[1.0, 10.0]);
/// assert_eq!((value, gradient), (18.0, [12.0, 9.0]));
/// // [[4, 6], [6, 0]] [1, 10]
/// assert_eq!(product, [64.0, 6.0]);
/// ```
///
/// # Panics
/// If `x` and `v` differ in shape.
#[inline]
#[track_caller]
pub fn hvp<P: At>(
    mut f: impl FnMut(&Seeded<P, P::Rows<1>>) -> P::Rows<1>,
    x: P,
    v: &Seeded<P, P::Scalar>,
) -> (P::Scalar, Filled<P, P::Scalar>, Filled<P, P::Scalar>) {
    certain(try_hvp(|x| Ok(f(x)), x, v))
}

/// [`hvp`] of a function that may fail: its error comes out unchanged.
///
/// # Panics
/// If `x` and `v` differ in shape.
#[inline]
#[track_caller]
pub fn try_hvp<P: At, E>(
    f: impl FnMut(&Seeded<P, P::Rows<1>>) -> Result<P::Rows<1>, E>,
    x: P,
    v: &Seeded<P, P::Scalar>,
) -> Result<(P::Scalar, Filled<P, P::Scalar>, Filled<P, P::Scalar>), E> {
    let mut gradient = x.point().map_coordinates(|_| P::Scalar::zero());
    let mut product = x.point().map_coordinates(|_| P::Scalar::zero());
    let value = try_hvp_into(f, x, v, gradient.borrow_mut(), product.borrow_mut())?;
    Ok((value, gradient, product))
}

/// [`hvp`] into containers of the shape of `x`; returns the value.
///
/// # Panics
/// If `x`, `v`, `gradient` and `product` differ in shape.
#[inline]
#[track_caller]
pub fn hvp_into<P: At>(
    mut f: impl FnMut(&Seeded<P, P::Rows<1>>) -> P::Rows<1>,
    x: P,
    v: &Seeded<P, P::Scalar>,
    gradient: &mut Seeded<P, P::Scalar>,
    product: &mut Seeded<P, P::Scalar>,
) -> P::Scalar {
    certain(try_hvp_into(|x| Ok(f(x)), x, v, gradient, product))
}

/// [`hvp_into`] of a function that may fail: its error comes out unchanged. Then the buffers hold some chunks of the new
/// and some of the old result.
///
/// # Panics
/// If `x`, `v`, `gradient` and `product` differ in shape.
#[inline]
#[track_caller]
pub fn try_hvp_into<P: At, E>(
    mut f: impl FnMut(&Seeded<P, P::Rows<1>>) -> Result<P::Rows<1>, E>,
    x: P,
    v: &Seeded<P, P::Scalar>,
    gradient: &mut Seeded<P, P::Scalar>,
    product: &mut Seeded<P, P::Scalar>,
) -> Result<P::Scalar, E> {
    let x = x.point();
    expect_shape("the direction", v.shape(), x.shape());
    expect_shape("the gradient", gradient.shape(), x.shape());
    expect_shape("the product", product.shape(), x.shape());
    let (gradient, product) = (gradient.coordinates_mut(), product.coordinates_mut());
    let n = gradient.len();
    let mut seeded = x.map_coordinates(P::Rows::<1>::from_inner);
    let along = |slots: &mut [P::Rows<1>]| {
        for (s, &t) in slots.iter_mut().zip(v.coordinates()) {
            s.seed_column(0, t);
        }
    };
    along(slots::<P::Point, _>(&mut seeded));
    let mut start = 0;
    loop {
        let rows = chunk(start, P::Rows::<1>::ROWS, n);
        for (lane, i) in rows.clone().enumerate() {
            slots::<P::Point, P::Rows<1>>(&mut seeded)[i].seed_row(lane);
        }
        let y = f(view::<P::Point, _>(&seeded))?;
        for (lane, i) in rows.clone().enumerate() {
            gradient[i] = y.row(lane);
            product[i] = y.mixed(lane, 0);
        }
        if rows.end == n {
            return Ok(y.inner());
        }
        unseed(slots::<P::Point, P::Rows<1>>(&mut seeded), rows.clone());
        along(slots::<P::Point, _>(&mut seeded));
        start = rows.end;
    }
}

/// Value, slope and curvature along `v`: `(f(x), ∇f(x) . v, v . ∇²f(x) v)`, in one pass.
///
/// ```
/// use dualpack_core::vhv;
/// // Slope and curvature for a line search.
/// assert_eq!(vhv(|x| x[0] * x[0] * x[1], &[3.0, 2.0], &[1.0, 10.0]), (18.0, 102.0, 124.0));
/// ```
///
/// # Panics
/// If `x` and `v` differ in shape.
#[inline]
#[track_caller]
pub fn vhv<X: Point + ?Sized>(
    mut f: impl FnMut(&X::With<Dual2<X::Scalar>>) -> Dual2<X::Scalar>,
    x: &X,
    v: &X::With<X::Scalar>,
) -> (X::Scalar, X::Scalar, X::Scalar) {
    certain(try_vhv(|x| Ok(f(x)), x, v))
}

/// [`vhv`] of a function that may fail: its error comes out unchanged.
///
/// # Panics
/// If `x` and `v` differ in shape.
#[inline]
#[track_caller]
pub fn try_vhv<X: Point + ?Sized, E>(
    mut f: impl FnMut(&X::With<Dual2<X::Scalar>>) -> Result<Dual2<X::Scalar>, E>,
    x: &X,
    v: &X::With<X::Scalar>,
) -> Result<(X::Scalar, X::Scalar, X::Scalar), E> {
    expect_shape("the direction", v.shape(), x.shape());
    let mut seeded = x.map_coordinates(Dual2::<_, 1>::constant);
    for (s, &v) in slots::<X, _>(&mut seeded).iter_mut().zip(v.coordinates()) {
        s.grad = [v];
    }
    let y = f(view::<X, _>(&seeded))?;
    Ok((y.value, y.grad[0], y.hess[0][0]))
}

/// Value, gradient and Laplacian: `(f(x), ∇f(x), Σ ∂²f/∂x_i²)`, in ⌈n/4⌉ passes.
///
/// ```
/// use dualpack_core::{laplacian, nalgebra::vector};
/// // 1/r is harmonic in space.
/// let (_, _, laplace): (f64, _, _) = laplacian(|r| r.norm_squared().sqrt().recip(), &vector![1.0, 2.0, -2.0]);
/// assert!(laplace.abs() < 1e-16);
/// ```
#[inline]
pub fn laplacian<X: Point + ?Sized>(
    mut f: impl FnMut(&X::With<Dual2<X::Scalar, BLOCK>>) -> Dual2<X::Scalar, BLOCK>,
    x: &X,
) -> (X::Scalar, X::Owned<X::Scalar>, X::Scalar) {
    certain(try_laplacian(|x| Ok(f(x)), x))
}

/// [`laplacian`] of a function that may fail: its error comes out unchanged.
#[inline]
pub fn try_laplacian<X: Point + ?Sized, E>(
    f: impl FnMut(&X::With<Dual2<X::Scalar, BLOCK>>) -> Result<Dual2<X::Scalar, BLOCK>, E>,
    x: &X,
) -> Result<(X::Scalar, X::Owned<X::Scalar>, X::Scalar), E> {
    let mut gradient = x.map_coordinates(|_| X::Scalar::zero());
    let (value, laplace) =
        try_laplacian_into(f, x, BorrowMut::<X::With<X::Scalar>>::borrow_mut(&mut gradient))?;
    Ok((value, gradient, laplace))
}

/// [`laplacian`] with the gradient into a container of the shape of `x`; returns value and Laplacian.
///
/// # Panics
/// If `x` and `gradient` differ in shape.
#[inline]
#[track_caller]
pub fn laplacian_into<X: Point + ?Sized>(
    mut f: impl FnMut(&X::With<Dual2<X::Scalar, BLOCK>>) -> Dual2<X::Scalar, BLOCK>,
    x: &X,
    gradient: &mut X::With<X::Scalar>,
) -> (X::Scalar, X::Scalar) {
    certain(try_laplacian_into(|x| Ok(f(x)), x, gradient))
}

/// [`laplacian_into`] of a function that may fail: its error comes out unchanged. Then `gradient` holds some chunks of
/// the new and some of the old gradient.
///
/// # Panics
/// If `x` and `gradient` differ in shape.
#[inline]
#[track_caller]
pub fn try_laplacian_into<X: Point + ?Sized, E>(
    mut f: impl FnMut(&X::With<Dual2<X::Scalar, BLOCK>>) -> Result<Dual2<X::Scalar, BLOCK>, E>,
    x: &X,
    gradient: &mut X::With<X::Scalar>,
) -> Result<(X::Scalar, X::Scalar), E> {
    expect_shape("the gradient", gradient.shape(), x.shape());
    let gradient = gradient.coordinates_mut();
    let n = gradient.len();
    let mut seeded = x.map_coordinates(Dual2::<_, BLOCK>::constant);
    let mut laplace = X::Scalar::zero();
    let mut start = 0;
    loop {
        let inputs = chunk(start, BLOCK, n);
        for (lane, i) in inputs.clone().enumerate() {
            slots::<X, Dual2<_, BLOCK>>(&mut seeded)[i].seed_row(lane);
        }
        let y = f(view::<X, _>(&seeded))?;
        for (lane, i) in inputs.clone().enumerate() {
            gradient[i] = y.grad[lane];
            laplace += y.hess[lane][lane];
        }
        if inputs.end == n {
            return Ok((y.value, laplace));
        }
        unseed(slots::<X, Dual2<_, BLOCK>>(&mut seeded), inputs.clone());
        start = inputs.end;
    }
}

/// Value, both gradients and the mixed block of the Hessian of a function of two points:
/// `(f(x, y), ∂f/∂x, ∂f/∂y, H)` with `H[(i, j)] = ∂²f/∂x_i∂y_j`.
///
/// ```
/// use dualpack_core::partial_hessian;
/// use dualpack_core::nalgebra::{matrix, vector};
/// let (value, gx, gy, h) = partial_hessian(|x, y| x[0] * y[0] * y[1], &vector![2.0], &vector![3.0, 4.0]);
/// assert_eq!((value, gx, gy), (24.0, vector![12.0], vector![8.0, 6.0]));
/// assert_eq!(h, matrix![4.0, 3.0]);
/// ```
#[inline]
pub fn partial_hessian<X: Point + ?Sized, Y: Point<Scalar = X::Scalar> + ?Sized>(
    mut f: impl FnMut(&X::With<Y::Against<X>>, &Y::With<Y::Against<X>>) -> Y::Against<X>,
    x: &X,
    y: &Y,
) -> (X::Scalar, X::Owned<X::Scalar>, Y::Owned<X::Scalar>, OMatrix<X::Scalar, X::Dim, Y::Dim>)
where
    DefaultAllocator: Allocator<X::Dim, Y::Dim>,
{
    certain(try_partial_hessian(|x, y| Ok(f(x, y)), x, y))
}

/// [`partial_hessian`] of a function that may fail: its error comes out unchanged.
#[inline]
pub fn try_partial_hessian<X: Point + ?Sized, Y: Point<Scalar = X::Scalar> + ?Sized, E>(
    f: impl FnMut(&X::With<Y::Against<X>>, &Y::With<Y::Against<X>>) -> Result<Y::Against<X>, E>,
    x: &X,
    y: &Y,
) -> Result<(X::Scalar, X::Owned<X::Scalar>, Y::Owned<X::Scalar>, OMatrix<X::Scalar, X::Dim, Y::Dim>), E>
where
    DefaultAllocator: Allocator<X::Dim, Y::Dim>,
{
    let mut gx = x.map_coordinates(|_| X::Scalar::zero());
    let mut gy = y.map_coordinates(|_| X::Scalar::zero());
    let mut mixed = OMatrix::zeros_generic(x.dim(), y.dim());
    let value = try_partial_hessian_into(
        f,
        x,
        y,
        BorrowMut::<X::With<X::Scalar>>::borrow_mut(&mut gx),
        BorrowMut::<Y::With<X::Scalar>>::borrow_mut(&mut gy),
        &mut mixed,
    )?;
    Ok((value, gx, gy, mixed))
}

/// [`partial_hessian`] into the caller's buffers: the gradients into containers of the shapes of `x` and `y`, the
/// mixed block into any nalgebra matrix or view; returns the value.
///
/// # Panics
/// If a gradient differs in shape from its point or `mixed` is not `m x n`.
#[inline]
#[track_caller]
pub fn partial_hessian_into<X: Point + ?Sized, Y: Point<Scalar = X::Scalar> + ?Sized, R: Dim, C: Dim, B>(
    mut f: impl FnMut(&X::With<Y::Against<X>>, &Y::With<Y::Against<X>>) -> Y::Against<X>,
    x: &X,
    y: &Y,
    gx: &mut X::With<X::Scalar>,
    gy: &mut Y::With<X::Scalar>,
    mixed: &mut Matrix<X::Scalar, R, C, B>,
) -> X::Scalar
where
    B: StorageMut<X::Scalar, R, C>,
{
    certain(try_partial_hessian_into(|x, y| Ok(f(x, y)), x, y, gx, gy, mixed))
}

/// [`partial_hessian_into`] of a function that may fail: its error comes out unchanged. Then the buffers hold some blocks
/// of the new and some of the old result.
///
/// # Panics
/// If a gradient differs in shape from its point or `mixed` is not `m x n`.
#[inline]
#[track_caller]
pub fn try_partial_hessian_into<
    X: Point + ?Sized,
    Y: Point<Scalar = X::Scalar> + ?Sized,
    E,
    R: Dim,
    C: Dim,
    B,
>(
    mut f: impl FnMut(&X::With<Y::Against<X>>, &Y::With<Y::Against<X>>) -> Result<Y::Against<X>, E>,
    x: &X,
    y: &Y,
    gx: &mut X::With<X::Scalar>,
    gy: &mut Y::With<X::Scalar>,
    mixed: &mut Matrix<X::Scalar, R, C, B>,
) -> Result<X::Scalar, E>
where
    B: StorageMut<X::Scalar, R, C>,
{
    type S<X, Y> = <Y as Point>::Against<X>;
    let (m, n) = (x.coordinates().len(), y.coordinates().len());
    expect_shape("the gradient in x", gx.shape(), x.shape());
    expect_shape("the gradient in y", gy.shape(), y.shape());
    expect_shape("the mixed block", mixed.shape(), (m, n));
    let (gx, gy) = (gx.coordinates_mut(), gy.coordinates_mut());
    let (mut xs, mut ys) =
        (x.map_coordinates(S::<X, Y>::from_inner), y.map_coordinates(S::<X, Y>::from_inner));
    let mut row_start = 0;
    loop {
        let rows = chunk(row_start, S::<X, Y>::ROWS, m);
        for (lane, i) in rows.clone().enumerate() {
            slots::<X, S<X, Y>>(&mut xs)[i].seed_row(lane);
        }
        let mut column_start = 0;
        let value = loop {
            let columns = chunk(column_start, S::<X, Y>::COLUMNS, n);
            for (lane, j) in columns.clone().enumerate() {
                slots::<Y, S<X, Y>>(&mut ys)[j].seed_column(lane, X::Scalar::one());
            }
            let out = f(view::<X, _>(&xs), view::<Y, _>(&ys))?;
            for (a, i) in rows.clone().enumerate() {
                gx[i] = out.row(a);
                for (b, j) in columns.clone().enumerate() {
                    mixed[(i, j)] = out.mixed(a, b);
                }
            }
            for (b, j) in columns.clone().enumerate() {
                gy[j] = out.column(b);
            }
            unseed(slots::<Y, S<X, Y>>(&mut ys), columns.clone());
            if columns.end == n {
                break out.inner();
            }
            column_start = columns.end;
        };
        if rows.end == m {
            return Ok(value);
        }
        unseed(slots::<X, S<X, Y>>(&mut xs), rows.clone());
        row_start = rows.end;
    }
}
