//! From a matrix of duals to planes and back: the only place that knows both.
//!
//! A rule works on the *primal plane*, an ordinary matrix, and on the [`Lanes`], one tangent matrix per lane in one
//! buffer. Their index order is (row, lane, column), which makes two ordinary matrices of the same memory:
//!
//! ```text
//! wide:  m x (N n), columns (lane, column):   op(A) [dB_1 dB_2 ...]   is one product or solve for all lanes
//! tall:  (m N) x n, rows (row, lane):         [dA_1; dA_2; ...] op(B) is one product or solve for all lanes
//! ```

use std::ops::Range;

use nalgebra::{ComplexField, Const, DMatrixView, DMatrixViewMut, Dyn};

use crate::flags::{Trans, Uplo};
use crate::lapack::Lapack;
use crate::routine::Parts;
use crate::scalar::{BaseOf, TangentBatch};

/// The part of a matrix that an operand consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Every entry.
    All,
    /// A triangle with its diagonal; the rest is zero.
    Triangle(Uplo),
    /// A triangle without its diagonal; the rest is zero.
    Strict(Uplo),
}

impl Part {
    /// The rows of column `j` that belong to the part, in a matrix of `m` rows.
    pub(crate) fn rows(self, m: usize, j: usize) -> Range<usize> {
        match self {
            Part::All => 0..m,
            Part::Triangle(Uplo::Lower) => j.min(m)..m,
            Part::Triangle(Uplo::Upper) => 0..m.min(j + 1),
            Part::Strict(Uplo::Lower) => m.min(j + 1)..m,
            Part::Strict(Uplo::Upper) => 0..j.min(m),
        }
    }
}

/// Cuts one scratch buffer into matrices.
pub(crate) struct Carver<'a, P> {
    rest: &'a mut [P],
}

impl<'a, P: Lapack> Carver<'a, P> {
    pub(crate) fn new(buffer: &'a mut [P]) -> Self {
        Carver { rest: buffer }
    }

    fn take(&mut self, len: usize) -> &'a mut [P] {
        let (taken, rest) = std::mem::take(&mut self.rest).split_at_mut(len);
        self.rest = rest;
        taken
    }

    /// A matrix of zeros.
    pub(crate) fn matrix(&mut self, rows: usize, cols: usize) -> DMatrixViewMut<'a, P> {
        DMatrixViewMut::from_slice(self.take(rows * cols), rows, cols)
    }

    /// Zeros.
    pub(crate) fn vector(&mut self, len: usize) -> &'a mut [P] {
        self.take(len)
    }

    /// Lanes of zeros.
    pub(crate) fn lanes(&mut self, rows: usize, lanes: usize, cols: usize) -> Lanes<'a, P> {
        Lanes { data: self.take(volume(rows, lanes, cols)), rows, lanes, cols }
    }
}

/// The number of entries. A matrix without entries may have any number of rows or of columns, so that two of the
/// factors alone may be out of range; where they wrap around, all operands do so alike and none has an entry.
fn volume(rows: usize, lanes: usize, cols: usize) -> usize {
    if rows == 0 || lanes == 0 || cols == 0 { 0 } else { rows * lanes * cols }
}

/// One `rows x cols` matrix per lane; entry `(i, j)` of lane `k` lies at `i + rows (k + lanes j)`.
pub(crate) struct Lanes<'a, P> {
    data: &'a mut [P],
    rows: usize,
    lanes: usize,
    cols: usize,
}

impl<'a, P: Lapack> Lanes<'a, P> {
    /// Lanes on the first part of a buffer, with what is in it.
    pub(crate) fn on(buffer: &'a mut [P], rows: usize, lanes: usize, cols: usize) -> Self {
        Lanes { data: &mut buffer[..volume(rows, lanes, cols)], rows, lanes, cols }
    }

    pub(crate) fn count(&self) -> usize {
        self.lanes
    }

    /// `rows x (lanes cols)`: all lanes as columns.
    pub(crate) fn wide(&self) -> DMatrixView<'_, P> {
        DMatrixView::from_slice(self.data, self.rows, self.lanes.wrapping_mul(self.cols))
    }

    /// [`wide`](Lanes::wide), to be written.
    pub(crate) fn wide_mut(&mut self) -> DMatrixViewMut<'_, P> {
        DMatrixViewMut::from_slice(self.data, self.rows, self.lanes.wrapping_mul(self.cols))
    }

    /// `(rows lanes) x cols`: all lanes as rows.
    pub(crate) fn tall(&self) -> DMatrixView<'_, P> {
        DMatrixView::from_slice(self.data, self.rows.wrapping_mul(self.lanes), self.cols)
    }

    /// [`tall`](Lanes::tall), to be written.
    pub(crate) fn tall_mut(&mut self) -> DMatrixViewMut<'_, P> {
        DMatrixViewMut::from_slice(self.data, self.rows.wrapping_mul(self.lanes), self.cols)
    }

    /// Lane `k` as a matrix.
    pub(crate) fn lane(&self, k: usize) -> DMatrixView<'_, P> {
        let (rows, cols, ld) = (Dyn(self.rows), Dyn(self.cols), Dyn(self.rows.wrapping_mul(self.lanes)));
        let start = k.saturating_mul(self.rows).min(self.data.len());
        DMatrixView::from_slice_with_strides_generic(&self.data[start..], rows, cols, Const::<1>, ld)
    }

    /// [`lane`](Lanes::lane), to be written.
    pub(crate) fn lane_mut(&mut self, k: usize) -> DMatrixViewMut<'_, P> {
        let (rows, cols, ld) = (Dyn(self.rows), Dyn(self.cols), Dyn(self.rows.wrapping_mul(self.lanes)));
        let start = k.saturating_mul(self.rows).min(self.data.len());
        DMatrixViewMut::from_slice_with_strides_generic(&mut self.data[start..], rows, cols, Const::<1>, ld)
    }

    /// Multiplies every entry by `f`.
    pub(crate) fn scale(&mut self, f: P) {
        // A factor of exactly one leaves infinities and NaN in inner tangents where they are.
        if !(f - P::one()).all_zero() {
            self.data.iter_mut().for_each(|x| *x *= f);
        }
    }

    /// `dX_k += f_k Y` for the lanes `k` that have a factor.
    pub(crate) fn add_lane_multiples(&mut self, f: impl Fn(usize) -> Option<P>, y: &DMatrixView<'_, P>) {
        for k in 0..self.lanes {
            if let Some(f) = f(k) {
                for j in columns((self.rows, self.cols)) {
                    let to = self.column_mut(k, j).iter_mut();
                    to.zip(y.column(j).iter()).for_each(|(x, &y)| *x += f * y);
                }
            }
        }
    }

    /// `Σ c X`, with the coefficients applied to every part of the entries.
    pub(crate) fn combine(&mut self, terms: &[(BaseOf<P>, &Lanes<'_, P>)]) {
        self.data.fill(P::zero());
        for (c, x) in terms {
            self.data.iter_mut().zip(x.data.iter()).for_each(|(y, &x)| *y += x.times(*c));
        }
    }

    /// Column `j` of lane `k`.
    pub(crate) fn column(&self, k: usize, j: usize) -> &[P] {
        let start = self.rows * (k + self.lanes * j);
        &self.data[start..start + self.rows]
    }

    /// [`column`](Lanes::column), to be written.
    pub(crate) fn column_mut(&mut self, k: usize, j: usize) -> &mut [P] {
        let start = self.rows * (k + self.lanes * j);
        &mut self.data[start..start + self.rows]
    }

    /// Columns `p < j` of lane `k`, the second one to be written.
    pub(crate) fn column_pair_mut(&mut self, k: usize, p: usize, j: usize) -> (&[P], &mut [P]) {
        let (first, second) = (self.rows * (k + self.lanes * p), self.rows * (k + self.lanes * j));
        let (before, after) = self.data.split_at_mut(second);
        (&before[first..first + self.rows], &mut after[..self.rows])
    }

    /// Entry `(i, j)` of lane `k`.
    pub(crate) fn at(&self, k: usize, i: usize, j: usize) -> P {
        self.column(k, j)[i]
    }

    /// Entry `(i, j)` of lane `k`, to be written.
    pub(crate) fn at_mut(&mut self, k: usize, i: usize, j: usize) -> &mut P {
        &mut self.column_mut(k, j)[i]
    }
}

/// The columns to walk through: none where a column has no entries, however many there are.
fn columns((rows, cols): (usize, usize)) -> Range<usize> {
    0..if rows == 0 { 0 } else { cols }
}

/// The part of every column in strips of rows that fit the cache with all their lanes.
fn strips(shape: (usize, usize), part: Part) -> impl Iterator<Item = (usize, Range<usize>)> {
    const ROWS: usize = 32;
    columns(shape).flat_map(move |j| {
        let rows = part.rows(shape.0, j);
        rows.clone().step_by(ROWS).map(move |from| (j, from..rows.end.min(from + ROWS)))
    })
}

/// Copies the values of a part of `a`, as stored, into `out`; the rest of `out` is left alone.
pub(crate) fn gather_primal<D: TangentBatch>(
    a: &DMatrixView<'_, D>,
    part: Part,
    out: &mut DMatrixViewMut<'_, D::Primal>,
) {
    for j in columns(a.shape()) {
        let rows = part.rows(a.nrows(), j);
        let (from, mut to) = (a.column(j), out.column_mut(j));
        let (from, to) = (&from.as_slice()[rows.clone()], &mut to.as_mut_slice()[rows]);
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from.primal());
    }
}

/// Copies the lanes of `op` of a part of `a` into `out`, whose shape is that of `op(A)`; entries outside the part are
/// left alone (zero in fresh scratch).
pub(crate) fn gather_lanes<D: TangentBatch>(
    a: &DMatrixView<'_, D>,
    part: Part,
    trans: Trans,
    out: &mut Lanes<'_, D::Primal>,
) {
    for (j, rows) in strips(a.shape(), part) {
        let from = a.column(j);
        let from = from.as_slice();
        for k in 0..D::TANGENTS {
            match trans {
                Trans::NoTrans => {
                    let to = &mut out.column_mut(k, j)[rows.clone()];
                    to.iter_mut().zip(&from[rows.clone()]).for_each(|(to, from)| *to = from.lane(k));
                }
                Trans::Trans => rows.clone().for_each(|i| *out.at_mut(k, j, i) = from[i].lane(k)),
                Trans::ConjTrans => {
                    rows.clone().for_each(|i| *out.at_mut(k, j, i) = from[i].lane(k).conjugate());
                }
            }
        }
    }
}

/// The real part, as the scalar itself.
pub(crate) fn real<P: Lapack>(x: P) -> P {
    P::from_real(x.real())
}

/// Writes the values of a part of `out`; the rest of `out` is left alone.
pub(crate) fn scatter_primal<D: TangentBatch>(
    from: &DMatrixView<'_, D::Primal>,
    part: Part,
    out: &mut DMatrixViewMut<'_, D>,
) {
    for j in columns(out.shape()) {
        let rows = part.rows(out.nrows(), j);
        let (from, mut to) = (from.column(j), out.column_mut(j));
        let (from, to) = (&from.as_slice()[rows.clone()], &mut to.as_mut_slice()[rows]);
        to.iter_mut().zip(from).for_each(|(to, &from)| to.set_primal(from));
    }
}

/// Writes the tangents of a part of `out`; the rest of `out` is left alone.
pub(crate) fn scatter_lanes<D: TangentBatch>(
    from: &Lanes<'_, D::Primal>,
    part: Part,
    out: &mut DMatrixViewMut<'_, D>,
) {
    scatter_lanes_of(from, part, Trans::NoTrans, out);
}

/// Writes `op` of the lanes as the tangents of a part of `out`: what undoes [`gather_lanes`].
pub(crate) fn scatter_lanes_of<D: TangentBatch>(
    from: &Lanes<'_, D::Primal>,
    part: Part,
    trans: Trans,
    out: &mut DMatrixViewMut<'_, D>,
) {
    for (j, rows) in strips(out.shape(), part) {
        let mut to = out.column_mut(j);
        let to = to.as_mut_slice();
        for k in 0..D::TANGENTS {
            match trans {
                Trans::NoTrans => {
                    let from = &from.column(k, j)[rows.clone()];
                    to[rows.clone()].iter_mut().zip(from).for_each(|(to, &from)| to.set_lane(k, from));
                }
                Trans::Trans => rows.clone().for_each(|i| to[i].set_lane(k, from.at(k, j, i))),
                Trans::ConjTrans => {
                    rows.clone().for_each(|i| to[i].set_lane(k, from.at(k, j, i).conjugate()))
                }
            }
        }
    }
}

/// Makes every tangent of a part NaN: what a failed primal leaves.
pub(crate) fn poison_lanes<D: TangentBatch>(part: Part, out: &mut DMatrixViewMut<'_, D>) {
    let nan = D::Primal::all_nan();
    for j in columns(out.shape()) {
        let rows = part.rows(out.nrows(), j);
        let to = &mut out.column_mut(j);
        for i in rows {
            (0..D::TANGENTS).for_each(|k| to[i].set_lane(k, nan));
        }
    }
}

/// Makes every tangent of an entry NaN whose value has overflowed: no derivative is left of it.
pub(crate) fn poison_overflow<D: TangentBatch>(out: &mut DMatrixViewMut<'_, D>) {
    poison_overflow_in(Part::All, out);
}

/// [`poison_overflow`] in a part of a matrix.
pub(crate) fn poison_overflow_in<D: TangentBatch>(part: Part, out: &mut DMatrixViewMut<'_, D>) {
    for j in columns(out.shape()) {
        let rows = part.rows(out.nrows(), j);
        for x in out.column_mut(j).as_mut_slice()[rows].iter_mut().filter(|x| !x.value_is_finite()) {
            (0..D::TANGENTS).for_each(|k| x.set_lane(k, D::Primal::all_nan()));
        }
    }
}

/// The tangent of a coefficient in lane `k`, unless it is zero in every part.
pub(crate) fn coefficient<D: TangentBatch>(x: D) -> impl Fn(usize) -> Option<D::Primal> {
    move |k| Some(x.lane(k)).filter(|t| !t.all_zero())
}

/// Whether a coefficient has no tangent at all.
#[inline(always)]
pub(crate) fn is_constant<D: TangentBatch>(x: &D) -> bool {
    // Written out: the compiler sees through a constant at once, and keeps it, and all around it, in registers. Of a loop
    // it would make a comparison of memory first.
    let zero = |k: usize| k >= D::TANGENTS || x.lane(k).all_zero();
    let first = zero(0) & zero(1) & zero(2) & zero(3) & zero(4) & zero(5) & zero(6) & zero(7);
    let second = zero(8) & zero(9) & zero(10) & zero(11) & zero(12) & zero(13) & zero(14) & zero(15);
    first & second && (16..D::TANGENTS).all(|k| x.lane(k).all_zero())
}
