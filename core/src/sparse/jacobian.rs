//! All entries of a sparse Jacobian in a few passes.

use core::ops::{ControlFlow, Range};

use super::coloring::Coloring;
use super::cover::{Weighted, component};
use super::pattern::Pattern;
use super::tracer::{Tracer, patterns_inplace};
use crate::drive::certain;
use crate::drive::point::{LANES, expect_len};
use crate::drive::progress::{Stopped, carry_on, finished};
use crate::seed::{chunk, fill, unseed};
use crate::{Dual, Real};

/// The sparse Jacobian of a function `f(y, x)` that writes its values into a slice, with `N` lanes a pass.
///
/// Structure and coloring are found once. An evaluation then takes ⌈colors/N⌉ passes, a number that depends on the
/// stencil and not on the size of the problem, and allocates nothing. `y` is zero on entry to `f`.
///
/// ```
/// use dualpack_core::{Real, SparseJacobian};
/// // The second difference on a periodic grid, and a reaction.
/// fn flow<S: Real>(y: &mut [S], x: &[S]) {
///     let n = x.len();
///     for i in 0..n {
///         y[i] = x[(i + n - 1) % n] - x[i] - x[i] + x[(i + 1) % n] + x[i].exp();
///     }
/// }
/// let x = vec![0.0; 30];
/// let mut jacobian = SparseJacobian::<f64>::trace(flow, &x, 30);
/// assert_eq!((jacobian.pattern().nnz(), jacobian.passes()), (90, 1));
/// let (mut y, mut entries) = (vec![0.0; 30], vec![0.0; 90]);
/// jacobian.evaluate(flow, &x, &mut y, &mut entries);
/// let (i, j) = jacobian.pattern().entries().nth(4).unwrap();
/// assert_eq!((i, j, entries[4]), (1, 1, -1.0));
/// ```
///
/// A panic in the function, or an error, leaves it usable.
#[derive(Clone, Debug)]
pub struct SparseJacobian<T, const N: usize = LANES> {
    pattern: Pattern,
    coloring: Coloring,
    /// For each entry the value and the color that it is read from.
    sources: Vec<(usize, usize)>,
    seeded: Vec<Dual<T, N>>,
    values: Vec<Dual<T, N>>,
}

impl<T: Real, const N: usize> SparseJacobian<T, N> {
    /// Finds the structure by running `f` once, at `x`, on [`Tracer`]s; `m` is the number of values.
    pub fn trace(f: impl FnOnce(&mut [Tracer<T>], &[Tracer<T>]), x: &[T], m: usize) -> Self {
        Self::new(patterns_inplace(f, x, m, false).0)
    }

    /// Finds the structure by running `f` with `NaN` in one lane for each input in turn, ⌈n/N⌉ passes: what becomes `NaN`
    /// depends on it.
    ///
    /// For functions that do not run on [`Tracer`]s, because they call LAPACK or are written for dual numbers alone. It
    /// sees what the tracer sees, except that `max`, `min`, `clamp` and `select` count the operand that is chosen only;
    /// and a factorization mixes all that goes into it.
    ///
    /// ```
    /// use dualpack_core::{Dual, SparseJacobian};
    /// let f = |y: &mut [Dual<f64, 8>], x: &[Dual<f64, 8>]| {
    ///     y[0] = x[0] * x[2];
    ///     y[1] = x[1].exp();
    /// };
    /// let jacobian = SparseJacobian::probe(f, &[1.0, 2.0, 0.0], 2);
    /// assert_eq!(jacobian.pattern().entries().collect::<Vec<_>>(), [(0, 0), (1, 1), (0, 2)]);
    /// ```
    pub fn probe(mut f: impl FnMut(&mut [Dual<T, N>], &[Dual<T, N>]), x: &[T], m: usize) -> Self {
        const { assert!(N > 0, "a pass needs at least one lane") };
        let (zero, nan, n) = (T::zero(), nalgebra::convert(f64::NAN), x.len());
        let mut seeded = vec![Dual::constant(zero); n];
        let mut values = vec![Dual::constant(zero); m];
        let mut entries = Vec::new();
        fill(x, &mut seeded);
        for start in (0..n).step_by(N) {
            let inputs = chunk(start, N, n);
            seeded[inputs.clone()].iter_mut().enumerate().for_each(|(lane, s)| s.eps[lane] = nan);
            values.fill(Dual::constant(zero));
            f(&mut values, &seeded);
            unseed(&mut seeded, inputs.clone());
            for (i, y) in values.iter().enumerate() {
                let touched = inputs.clone().zip(&y.eps).filter(|(_, t)| !t.same(zero));
                entries.extend(touched.map(|(j, _)| (i, j)));
            }
        }
        Self::new(Pattern::new(m, n, entries))
    }

    /// For a Jacobian of known structure.
    pub fn new(pattern: Pattern) -> Self {
        let coloring = Coloring::of_columns(&pattern);
        let sources = pattern.entries().map(|(i, j)| (i, coloring.color(j))).collect();
        Self::with(pattern, coloring, sources)
    }

    /// For a Jacobian that is known to be symmetric, as that of a gradient: fewer colors, by star coloring.
    ///
    /// # Panics
    /// If the pattern is not symmetric.
    #[track_caller]
    pub fn symmetric(pattern: Pattern) -> Self {
        let coloring = Coloring::star(&pattern);
        let sources = star_sources(&pattern, &coloring);
        Self::with(pattern, coloring, sources)
    }

    fn with(pattern: Pattern, coloring: Coloring, sources: Vec<(usize, usize)>) -> Self {
        const { assert!(N > 0, "a pass needs at least one lane") };
        let seeded = vec![Dual::constant(T::zero()); pattern.ncols()];
        let values = vec![Dual::constant(T::zero()); pattern.nrows()];
        Self { pattern, coloring, sources, seeded, values }
    }

    /// The structure: entries are stored in its order.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Which columns share a lane.
    pub fn coloring(&self) -> &Coloring {
        &self.coloring
    }

    /// How often an evaluation calls the function.
    pub fn passes(&self) -> usize {
        self.coloring.count().div_ceil(N).max(1)
    }

    /// Writes the values at `x` into `y` and the entries of the Jacobian into `entries`, in the order of the pattern.
    ///
    /// # Panics
    /// If a slice has another length than the structure says.
    #[track_caller]
    pub fn evaluate(
        &mut self,
        mut f: impl FnMut(&mut [Dual<T, N>], &[Dual<T, N>]),
        x: &[T],
        y: &mut [T],
        entries: &mut [T],
    ) {
        certain(self.try_evaluate(
            |y, x| {
                f(y, x);
                Ok(())
            },
            x,
            y,
            entries,
        ));
    }

    /// [`evaluate`](Self::evaluate) for a function that may fail: its error comes out unchanged. Then `entries` holds some
    /// of the new and some of the old entries, and `y` is as it was.
    ///
    /// # Panics
    /// If a slice has another length than the structure says.
    #[track_caller]
    pub fn try_evaluate<E>(
        &mut self,
        f: impl FnMut(&mut [Dual<T, N>], &[Dual<T, N>]) -> Result<(), E>,
        x: &[T],
        y: &mut [T],
        entries: &mut [T],
    ) -> Result<(), E> {
        finished(self.try_evaluate_with_progress(f, x, y, entries, carry_on))
    }

    /// [`try_evaluate`](Self::try_evaluate) that reports to `progress` after each pass the fraction of the passes done;
    /// `ControlFlow::Break(())` ends it with [`Stopped::Cancelled`], the buffers as after an error.
    ///
    /// # Panics
    /// If a slice has another length than the structure says.
    #[track_caller]
    pub fn try_evaluate_with_progress<E>(
        &mut self,
        mut f: impl FnMut(&mut [Dual<T, N>], &[Dual<T, N>]) -> Result<(), E>,
        x: &[T],
        y: &mut [T],
        entries: &mut [T],
        mut progress: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<(), Stopped<E>> {
        self.expect_lengths(x, y, entries);
        let passes = self.passes();
        for pass in 0..passes {
            let colors = chunk(pass * N, N, self.coloring.count());
            seed_colors(&mut self.seeded, x, &self.coloring, &colors);
            self.values.fill(Dual::constant(T::zero()));
            f(&mut self.values, &self.seeded).map_err(Stopped::Function)?;
            for (entry, &(i, color)) in entries.iter_mut().zip(&self.sources) {
                if colors.contains(&color) {
                    *entry = self.values[i].eps[color - colors.start];
                }
            }
            if progress((pass + 1) as f64 / passes as f64).is_break() {
                return Err(Stopped::Cancelled);
            }
        }
        for (y, v) in y.iter_mut().zip(&self.values) {
            *y = v.value;
        }
        Ok(())
    }

    /// [`evaluate`](Self::evaluate) on rayon's threads, a pass each, bit for bit the same.
    ///
    /// # Panics
    /// If a slice has another length than the structure says.
    #[cfg(feature = "rayon")]
    #[track_caller]
    pub fn par_evaluate(
        &self,
        f: impl Fn(&mut [Dual<T, N>], &[Dual<T, N>]) + Sync,
        x: &[T],
        y: &mut [T],
        entries: &mut [T],
    ) {
        use rayon::prelude::*;
        self.expect_lengths(x, y, entries);
        let results: Vec<Vec<Dual<T, N>>> = (0..self.passes())
            .into_par_iter()
            .map(|pass| {
                let colors = chunk(pass * N, N, self.coloring.count());
                let mut seeded = vec![Dual::constant(T::zero()); x.len()];
                seed_colors(&mut seeded, x, &self.coloring, &colors);
                let mut values = vec![Dual::constant(T::zero()); y.len()];
                f(&mut values, &seeded);
                values
            })
            .collect();
        for (entry, &(i, color)) in entries.iter_mut().zip(&self.sources) {
            *entry = results[color / N][i].eps[color % N];
        }
        for (y, v) in y.iter_mut().zip(&results[0]) {
            *y = v.value;
        }
    }

    /// Whether the structure holds at `x`: the derivative along a fixed direction, one more pass, must be what the entries
    /// make of it.
    ///
    /// [`trace`](Self::trace) finds the structure of the branches that are taken at one point, and a structure given by
    /// hand may be wrong. A missing entry makes others wrong, and nothing tells. So ask where it may have changed. An
    /// entry that is smaller than half of the digits of the others of its row, or of the value, passes unseen.
    ///
    /// ```
    /// use dualpack_core::{Real, SparseJacobian};
    /// // Upwind differences: which neighbour counts depends on the sign.
    /// fn upwind<S: Real>(y: &mut [S], x: &[S]) {
    ///     for i in 1..x.len() - 1 {
    ///         y[i] = x[i] * if x[i] > S::zero() { x[i] - x[i - 1] } else { x[i + 1] - x[i] };
    ///     }
    /// }
    /// let mut jacobian = SparseJacobian::<f64>::trace(upwind, &[1.0, 2.0, 3.0, 4.0], 4);
    /// assert!(jacobian.covers(upwind, &[4.0, 3.0, 2.0, 1.0]));
    /// assert!(!jacobian.covers(upwind, &[1.0, 2.0, -3.0, 4.0]));
    /// ```
    ///
    /// # Panics
    /// If `x` has another length than the structure says.
    #[track_caller]
    pub fn covers(&mut self, mut f: impl FnMut(&mut [Dual<T, N>], &[Dual<T, N>]), x: &[T]) -> bool {
        let mut y = vec![T::zero(); self.pattern.nrows()];
        let mut entries = vec![T::zero(); self.pattern.nnz()];
        self.evaluate(&mut f, x, &mut y, &mut entries);
        let mut along: Vec<_> = y.iter().map(|&y| Weighted::beside(y)).collect();
        for ((i, j), &entry) in self.pattern.entries().zip(&entries) {
            along[i].add(entry * component(0, j));
        }
        fill(x, &mut self.seeded);
        for (j, s) in self.seeded.iter_mut().enumerate() {
            s.eps[0] = component(0, j);
        }
        self.values.fill(Dual::constant(T::zero()));
        f(&mut self.values, &self.seeded);
        self.values.iter().zip(along).all(|(v, along)| along.agrees(v.eps[0]))
    }

    #[track_caller]
    fn expect_lengths(&self, x: &[T], y: &[T], entries: &[T]) {
        expect_len("the point", x.len(), self.pattern.ncols());
        expect_len("the buffer of values", y.len(), self.pattern.nrows());
        expect_len("the buffer of entries", entries.len(), self.pattern.nnz());
    }

    /// Values and Jacobian at `x`, as a matrix of `nalgebra-sparse`.
    ///
    /// # Panics
    /// If `x` has another length than the structure says.
    #[cfg(feature = "sparse")]
    #[track_caller]
    pub fn jacobian(
        &mut self,
        f: impl FnMut(&mut [Dual<T, N>], &[Dual<T, N>]),
        x: &[T],
    ) -> (Vec<T>, nalgebra_sparse::CscMatrix<T>) {
        let (mut y, mut entries) =
            (vec![T::zero(); self.pattern.nrows()], vec![T::zero(); self.pattern.nnz()]);
        self.evaluate(f, x, &mut y, &mut entries);
        (y, self.pattern.with_values(entries))
    }
}

/// The point with one lane for each of these colors.
pub(super) fn seed_colors<T: Real, const N: usize>(
    seeded: &mut [Dual<T, N>],
    x: &[T],
    coloring: &Coloring,
    colors: &Range<usize>,
) {
    fill(x, seeded);
    for (j, s) in seeded.iter_mut().enumerate() {
        let color = coloring.color(j);
        if colors.contains(&color) {
            s.eps[color - colors.start] = T::one();
        }
    }
}

/// From which row and color each entry of a symmetric matrix can be read: its own row if no other column of its color
/// meets it, else that of its mirror image.
pub(super) fn star_sources(pattern: &Pattern, coloring: &Coloring) -> Vec<(usize, usize)> {
    let alone = |i: usize, j: usize| {
        pattern.column(i).iter().filter(|&&k| coloring.color(k) == coloring.color(j)).count() == 1
    };
    pattern
        .entries()
        .map(|(i, j)| if alone(i, j) { (i, coloring.color(j)) } else { (j, coloring.color(i)) })
        .collect()
}
