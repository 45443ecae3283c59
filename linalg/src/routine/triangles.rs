//! Solutions with a matrix that is given as a product of two triangles, `A = F G`. Two half steps, so that a lane of a
//! column costs O(n²) and `dA` is never formed:
//!
//! ```text
//! Y = G X      F Z = dB − dF Y      G dX = Z − dG X
//! ```
//!
//! Neither the tangents of the triangles nor those of the right-hand sides are copied as a whole: a block of columns at
//! a time.

use dualpack_core::Real;
use nalgebra::{DMatrixView, DMatrixViewMut};
use num_traits::{One, Zero};

use crate::error::Error;
use crate::factored::Factored;
use crate::flags::{Diag, Side, Trans, Uplo};
use crate::kernel::second::{self, Matrix, Shape, Sides};
use crate::kernel::{same, same_mut};
use crate::lanes::{
    Carver, Lanes, Part, gather_lanes, gather_primal, poison_overflow, scatter_lanes, scatter_primal,
};
use crate::routine::{Gemm, Trmm, Trsm};
use crate::scalar::{BaseOf, TangentBatch};
use crate::scratch::with_scratch;

/// `op` of a stored triangle.
#[derive(Clone, Copy)]
pub(crate) struct Triangle {
    pub(crate) uplo: Uplo,
    pub(crate) trans: Trans,
    pub(crate) diag: Diag,
}

/// Columns of a triangle whose tangents are copied at a time.
const BLOCK: usize = 32;

/// The scratch of [`pushforward`] for the tangents of a triangle of order `n`, in scalars.
pub(crate) fn block_scratch(n: usize, lanes: usize) -> usize {
    n * n.min(BLOCK) * lanes
}

/// `dB` becomes `dX`, where `a` holds the triangles `F` and `G`, `values` its primal; `y` is scratch of the shape of `X`,
/// `scratch` of [`block_scratch`] scalars.
pub(crate) fn pushforward<D: TangentBatch>(
    [f, g]: [Triangle; 2],
    a: DMatrixView<'_, D>,
    values: DMatrixView<'_, D::Primal>,
    x: DMatrixView<'_, D::Primal>,
    mut y: DMatrixViewMut<'_, D::Primal>,
    db: &mut Lanes<'_, D::Primal>,
    scratch: &mut [D::Primal],
) -> Result<(), Error> {
    let one = D::Primal::one();
    y.copy_from(&x);
    D::Primal::trmm(Side::Left, g.uplo, g.trans, g.diag, one, values, y.as_view_mut())?;
    for (t, known) in [(f, y.as_view()), (g, x)] {
        subtract(t, a, known, db, scratch)?;
        D::Primal::trsm(Side::Left, t.uplo, t.trans, t.diag, one, values, db.wide_mut())?;
    }
    Ok(())
}

/// `dB −= dF X`, block by block of `F`.
fn subtract<D: TangentBatch>(
    f: Triangle,
    a: DMatrixView<'_, D>,
    x: DMatrixView<'_, D::Primal>,
    db: &mut Lanes<'_, D::Primal>,
    scratch: &mut [D::Primal],
) -> Result<(), Error> {
    let (n, lanes, no, minus) = (a.nrows(), D::TANGENTS, Trans::NoTrans, -D::Primal::one());
    let part = if f.diag == Diag::Unit { Part::Strict(f.uplo) } else { Part::Triangle(f.uplo) };
    let stored_lower = f.uplo == Uplo::Lower;
    for from in (0..n).step_by(BLOCK) {
        let (width, rest) = (BLOCK.min(n - from), n - from);
        // Of a lower triangle a block of columns from the diagonal on, of an upper one a block of rows.
        let shape = |lower: bool| if lower { (rest, width) } else { (width, rest) };
        let (rows, cols) = shape(stored_lower != f.trans.swaps());
        let mut planes = Lanes::on(scratch, rows, lanes, cols);
        planes.tall_mut().fill(D::Primal::zero());
        gather_lanes(&a.view((from, from), shape(stored_lower)), part, f.trans, &mut planes);
        let known = x.rows(from, cols);
        if n <= BLOCK {
            return D::Primal::gemm(no, no, minus, planes.tall(), known, D::Primal::one(), db.tall_mut());
        }
        for k in 0..lanes {
            let mut lane = db.lane_mut(k);
            let target = lane.rows_mut(from, rows);
            D::Primal::gemm(no, no, minus, planes.lane(k), known, D::Primal::one(), target)?;
        }
    }
    Ok(())
}

/// Overwrites `b`, in which the right-hand sides have tangents, by the solution, where `solve` solves for the values. It
/// may change the order of their rows, and that of the rows of the right-hand sides before they are overwritten, so that
/// both are those of `F` and `G`.
pub(crate) fn solve<D: TangentBatch>(
    triangles: [Triangle; 2],
    a: DMatrixView<'_, D>,
    part: Part,
    b: &mut DMatrixViewMut<'_, D>,
    solve: impl FnOnce(
        DMatrixView<'_, D::Primal>,
        DMatrixViewMut<'_, D::Primal>,
        &mut DMatrixViewMut<'_, D>,
    ) -> Result<(), Error>,
) -> Result<(), Error> {
    let ((n, r), lanes) = (b.shape(), D::TANGENTS);
    let columns = columns::<D>(n, r);
    let len = n * n + n * r + n * columns * (1 + lanes) + block_scratch(n, lanes);
    with_scratch::<D::Primal, _>(len, |buffer| {
        let mut carve = Carver::new(buffer);
        let (mut values, mut x) = (carve.matrix(n, n), carve.matrix(n, r));
        let (y, db) = (carve.vector(n * columns), carve.vector(n * columns * lanes));
        let scratch = carve.vector(block_scratch(n, lanes));
        gather_primal(&a, part, &mut values);
        gather_primal(&b.as_view(), Part::All, &mut x);
        solve(values.as_view(), x.as_view_mut(), b)?;
        for from in (0..if n == 0 { 0 } else { r }).step_by(columns) {
            let count = columns.min(r - from);
            let (mut b, x) = (b.columns_mut(from, count), x.columns(from, count));
            let y = DMatrixViewMut::from_slice(y, n, count);
            if n <= LIMIT && D::interleaved_ref(a).is_some_and(|a| a.is_symmetric()) {
                scatter_primal(&x, Part::All, &mut b);
                pairs(triangles, a, values.as_view(), y, x, &mut b)?;
                continue;
            }
            // Before the primal is written: the first derivatives of `Dual2` are in both.
            let mut db = Lanes::on(db, n, lanes, count);
            gather_lanes(&b.as_view(), Part::All, Trans::NoTrans, &mut db);
            pushforward(triangles, a, values.as_view(), x, y, &mut db, scratch)?;
            scatter_primal(&x, Part::All, &mut b);
            scatter_lanes(&db, Part::All, &mut b);
        }
        poison_overflow(b);
        Ok(())
    })
}

/// How many right-hand sides are worked on at a time: an eighth of them, if that keeps products busy and is more than
/// what fits the stack.
fn columns<D: TangentBatch>(n: usize, r: usize) -> usize {
    const SMALL: usize = 16 * 1024;
    let bytes = n * (2 + D::TANGENTS) * size_of::<D::Primal>();
    let least = (SMALL / bytes.max(1)).max(16 / D::TANGENTS.max(1));
    r.div_ceil(8).max(least).min(r).max(1)
}

/// Up to this order each pair of lanes of symmetric second order is computed once.
const LIMIT: usize = 128;

/// The second derivatives of a solution for interleaved numbers of symmetric second order, where values and first
/// derivatives are in `b` already, and `x` holds them. `y` is scratch of the shape of `x`.
///
/// ```text
/// y = G x      F z_pq = b_pq − F_pq y − F_p y_q − F_q y_p      G x_pq = z_pq − G_pq x − G_p x_q − G_q x_p
/// ```
fn pairs<D: TangentBatch>(
    [f, g]: [Triangle; 2],
    a: DMatrixView<'_, D>,
    values: DMatrixView<'_, D::Primal>,
    mut y: DMatrixViewMut<'_, D::Primal>,
    x: DMatrixView<'_, D::Primal>,
    b: &mut DMatrixViewMut<'_, D>,
) -> Result<(), Error> {
    let ((n, r), lanes) = (x.shape(), D::TANGENTS);
    y.copy_from(&x);
    D::Primal::trmm(Side::Left, g.uplo, g.trans, g.diag, D::Primal::one(), values, y.as_view_mut())?;
    let (all, count) = (lanes * lanes, (lanes + lanes * lanes) / 2);
    with_scratch::<D, _>(n * r, |buffer| {
        let mut known = DMatrixViewMut::from_slice(buffer, n, r);
        scatter_primal(&y.as_view(), Part::All, &mut known);
        with_scratch::<BaseOf<D>, _>(n * (n + all + count), |buffer| {
            let (factor, buffer) = buffer.split_at_mut(n * n);
            let (square, packed) = buffer.split_at_mut(n * all);
            for j in 0..n {
                for i in Part::Triangle(f.uplo).rows(n, j).chain(Part::Triangle(g.uplo).rows(n, j)) {
                    factor[i + n * j] = a[(i, j)].real().base();
                }
            }
            let factor = same::<_, <D as Factored>::Native>(DMatrixView::from_slice(factor, n, n));
            let matrices = D::interleaved_ref(a).and_then(|a| {
                Some((
                    Matrix::new(a, f.trans.swaps(), f.shape())?,
                    Matrix::new(a, g.trans.swaps(), g.shape())?,
                ))
            });
            let known = D::interleaved(known.as_view_mut()).and_then(Sides::new);
            let sides = D::interleaved(b.as_view_mut()).and_then(Sides::new);
            let (Some(factor), Some((df, dg)), Some(known), Some(mut sides)) =
                (factor, matrices, known, sides)
            else {
                unreachable!("interleaved numbers of second order over floats");
            };
            // The pairs of a row lie side by side, as a column of what is solved for from the right.
            let solve = |t: Triangle, square: &mut [BaseOf<D>], packed: &mut [BaseOf<D>]| {
                second::pack(lanes, square, packed);
                let turned = if t.trans.swaps() { Trans::NoTrans } else { Trans::Trans };
                let side =
                    same_mut::<_, <D as Factored>::Native>(DMatrixViewMut::from_slice(packed, count, n));
                let side = side.expect("the same type as that of the factor");
                <D as Factored>::Native::trsm(
                    Side::Right,
                    t.uplo,
                    turned,
                    t.diag,
                    <D as Factored>::Native::one(),
                    factor,
                    side,
                )
            };
            for c in 0..r {
                sides.read_second(c, square);
                df.subtract_second(known.known(c), square);
                solve(f, square, packed)?;
                second::unpack(lanes, packed, square);
                dg.subtract_second(sides.known(c), square);
                solve(g, square, packed)?;
                sides.write_pairs(c, packed);
            }
            Ok(())
        })
    })
}

impl Triangle {
    /// The entries of `op` of it.
    fn shape(self) -> Shape {
        match ((self.uplo == Uplo::Lower) != self.trans.swaps(), self.diag == Diag::Unit) {
            (true, false) => Shape::Lower,
            (true, true) => Shape::StrictLower,
            (false, false) => Shape::Upper,
            (false, true) => Shape::StrictUpper,
        }
    }
}
