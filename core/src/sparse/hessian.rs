//! Sparse Hessians: of a sum of terms in a few passes, of any scalar function row by row.

use core::ops::ControlFlow;

use super::coloring::Coloring;
use super::cover::{Weighted, component};
use super::jacobian::star_sources;
use super::pattern::Pattern;
use super::tracer::{Tracer, hessian_pattern, patterns_inplace};
use crate::drive::certain;
use crate::drive::point::{BLOCK, LANES, expect_len};
use crate::drive::progress::{Stopped, carry_on, finished};
use crate::seed::{chunk, fill, unseed};
use crate::{HyperDual, Real};

/// The sparse Hessian of a sum of terms, `f(x) = Σ_k t_k(x)`, each of a few inputs: energies of particles, squared
/// residuals, discretised functionals. The function `t(y, x)` writes the terms into a slice, which is zero on entry.
///
/// No two inputs of one term share a color, so every second derivative of a term stands alone in its pair of lanes. An
/// evaluation takes k(k + 1)/2 passes for k = ⌈colors/N⌉, a number that depends on the terms and not on how many there
/// are.
///
/// ```
/// use dualpack_core::{Real, SeparableHessian};
/// // A chain of springs with quartic energy.
/// fn springs<S: Real>(t: &mut [S], x: &[S]) {
///     for (t, x) in t.iter_mut().zip(x.windows(2)) {
///         *t = (x[1] - x[0]).powi(4);
///     }
/// }
/// let x: Vec<f64> = (0..1000).map(|i| (i * i) as f64).collect();
/// let mut hessian = SeparableHessian::<f64>::trace(springs, &x, 999);
/// assert_eq!((hessian.pattern().nnz(), hessian.passes()), (2998, 1));
/// let (mut gradient, mut entries) = (vec![0.0; 1000], vec![0.0; 2998]);
/// hessian.evaluate(springs, &x, &mut gradient, &mut entries);
/// // 12 (x1 - x0)²
/// assert_eq!((entries[0], entries[1]), (12.0, -12.0));
/// ```
///
/// A panic in the function, or an error, leaves it usable.
#[derive(Clone, Debug)]
pub struct SeparableHessian<T, const N: usize = BLOCK> {
    terms: usize,
    pattern: Pattern,
    coloring: Coloring,
    /// (term, input) of every first derivative.
    first: Vec<(usize, usize)>,
    /// Term, colors of both inputs, positions of the entry and of its mirror image.
    second: Vec<[usize; 5]>,
    seeded: Vec<HyperDual<T, N, N>>,
    values: Vec<HyperDual<T, N, N>>,
}

impl<T: Real, const N: usize> SeparableHessian<T, N> {
    /// Finds the structure by running the function once, at `x`, on [`Tracer`]s; `terms` is the number of terms.
    pub fn trace(f: impl FnOnce(&mut [Tracer<T>], &[Tracer<T>]), x: &[T], terms: usize) -> Self {
        const { assert!(N > 0, "a pass needs at least one lane") };
        let (jacobian, pattern) = patterns_inplace(f, x, terms, true);
        let pattern = pattern.expect("asked for");
        let coloring = Coloring::of_columns(&jacobian);
        let by_term = jacobian.transpose();
        let mut second = Vec::new();
        for k in 0..terms {
            let inputs = by_term.column(k);
            for (a, &i) in inputs.iter().enumerate() {
                for &j in &inputs[a..] {
                    if let (Some(entry), Some(mirror)) = (pattern.position(i, j), pattern.position(j, i)) {
                        let (ci, cj) = (coloring.color(i), coloring.color(j));
                        second.push([k, ci.min(cj), ci.max(cj), entry, mirror]);
                    }
                }
            }
        }
        let zero = HyperDual::constant(T::zero());
        Self {
            terms,
            coloring,
            first: by_term.entries().map(|(i, k)| (k, i)).collect(),
            second,
            seeded: vec![zero; x.len()],
            values: vec![zero; terms],
            pattern,
        }
    }

    /// The structure: entries are stored in its order.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Which inputs share a lane.
    pub fn coloring(&self) -> &Coloring {
        &self.coloring
    }

    /// How often an evaluation calls the function.
    pub fn passes(&self) -> usize {
        let chunks = self.coloring.count().div_ceil(N).max(1);
        chunks * (chunks + 1) / 2
    }

    /// Writes the gradient and the entries of the Hessian of the sum at `x`, and returns the sum.
    ///
    /// # Panics
    /// If a slice has another length than the structure says.
    #[track_caller]
    pub fn evaluate(
        &mut self,
        mut f: impl FnMut(&mut [HyperDual<T, N, N>], &[HyperDual<T, N, N>]),
        x: &[T],
        gradient: &mut [T],
        entries: &mut [T],
    ) -> T {
        certain(finished(self.try_evaluate_with_progress(
            |y, x| {
                f(y, x);
                Ok(())
            },
            x,
            gradient,
            entries,
            carry_on,
        )))
    }

    /// [`evaluate`](Self::evaluate) for a function that may fail, reporting to `progress` after each pass the fraction of
    /// the passes done; `ControlFlow::Break(())` ends it with [`Stopped::Cancelled`]. After that, or an error, gradient and
    /// entries are unfinished.
    ///
    /// # Panics
    /// If a slice has another length than the structure says.
    #[track_caller]
    pub fn try_evaluate_with_progress<E>(
        &mut self,
        mut f: impl FnMut(&mut [HyperDual<T, N, N>], &[HyperDual<T, N, N>]) -> Result<(), E>,
        x: &[T],
        gradient: &mut [T],
        entries: &mut [T],
        mut progress: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<T, Stopped<E>> {
        expect_len("the point", x.len(), self.pattern.ncols());
        expect_len("the gradient", gradient.len(), x.len());
        expect_len("the buffer of entries", entries.len(), self.pattern.nnz());
        gradient.fill(T::zero());
        entries.fill(T::zero());
        let colors = self.coloring.count();
        let (total, mut done) = (self.passes(), 0);
        for row in (0..colors.max(1)).step_by(N) {
            for column in (row..colors.max(1)).step_by(N) {
                let (rows, columns) = (chunk(row, N, colors), chunk(column, N, colors));
                fill(x, &mut self.seeded);
                for (j, s) in self.seeded.iter_mut().enumerate() {
                    let color = self.coloring.color(j);
                    if rows.contains(&color) {
                        s.eps1[color - row] = T::one();
                    }
                    if columns.contains(&color) {
                        s.eps2[color - column] = T::one();
                    }
                }
                self.values.fill(HyperDual::constant(T::zero()));
                f(&mut self.values, &self.seeded).map_err(Stopped::Function)?;
                if row == column {
                    for &(k, i) in &self.first {
                        let color = self.coloring.color(i);
                        if rows.contains(&color) {
                            gradient[i] += self.values[k].eps1[color - row];
                        }
                    }
                }
                for &[k, low, high, entry, mirror] in &self.second {
                    if rows.contains(&low) && columns.contains(&high) {
                        entries[entry] += self.values[k].eps12[low - row][high - column];
                        entries[mirror] = entries[entry];
                    }
                }
                done += 1;
                if progress(done as f64 / total as f64).is_break() {
                    return Err(Stopped::Cancelled);
                }
            }
        }
        Ok(self.values[..self.terms].iter().fold(T::zero(), |sum, t| sum + t.value))
    }

    /// Whether the structure holds at `x`: the second derivative along two fixed directions, one more pass, must be what
    /// the entries make of it.
    ///
    /// See [`SparseJacobian::covers`](crate::SparseJacobian::covers) for when to ask. An entry that is smaller than half of
    /// the digits of the largest term of the sum passes unseen.
    ///
    /// # Panics
    /// If `x` has another length than the structure says.
    #[track_caller]
    pub fn covers(
        &mut self,
        mut f: impl FnMut(&mut [HyperDual<T, N, N>], &[HyperDual<T, N, N>]),
        x: &[T],
    ) -> bool {
        let (mut gradient, mut entries) = (vec![T::zero(); x.len()], vec![T::zero(); self.pattern.nnz()]);
        let value = self.evaluate(&mut f, x, &mut gradient, &mut entries);
        let mut slope = Weighted::beside(value);
        gradient.iter().enumerate().for_each(|(i, &g)| slope.add(g * component(0, i)));
        let mut curvature = Weighted::beside(value);
        for ((i, j), &entry) in self.pattern.entries().zip(&entries) {
            curvature.add(entry * component(0, i) * component(1, j));
        }
        fill(x, &mut self.seeded);
        for (j, s) in self.seeded.iter_mut().enumerate() {
            s.eps1[0] = component(0, j);
            s.eps2[0] = component(1, j);
        }
        self.values.fill(HyperDual::constant(T::zero()));
        f(&mut self.values, &self.seeded);
        let sum = self.values.iter().fold(HyperDual::<T, N, N>::constant(T::zero()), |sum, t| sum + t);
        slope.agrees(sum.eps1[0]) && curvature.agrees(sum.eps12[0][0])
    }

    /// Value, gradient and Hessian of the sum at `x`, the Hessian as a matrix of `nalgebra-sparse`.
    ///
    /// # Panics
    /// If `x` has another length than the structure says.
    #[cfg(feature = "sparse")]
    #[track_caller]
    pub fn hessian(
        &mut self,
        f: impl FnMut(&mut [HyperDual<T, N, N>], &[HyperDual<T, N, N>]),
        x: &[T],
    ) -> (T, Vec<T>, nalgebra_sparse::CscMatrix<T>) {
        let (mut gradient, mut entries) = (vec![T::zero(); x.len()], vec![T::zero(); self.pattern.nnz()]);
        let value = self.evaluate(f, x, &mut gradient, &mut entries);
        (value, gradient, self.pattern.with_values(entries))
    }
}

/// The sparse Hessian of any scalar function, by rows: `N` inputs as rows and `N` colors as columns of each pass,
/// ⌈n/N⌉ ⌈colors/N⌉ passes.
///
/// A scalar result has room for `N x N` second derivatives a pass and no more, so the work grows as n². Where the
/// function is a sum of terms, [`SeparableHessian`] is the way; where its gradient is written by hand,
/// [`SparseJacobian::symmetric`](crate::SparseJacobian::symmetric) is.
///
/// A panic in the function, or an error, leaves it usable.
#[derive(Clone, Debug)]
pub struct SparseHessian<T, const N: usize = LANES> {
    pattern: Pattern,
    coloring: Coloring,
    /// The entries that are read from row `i`: `(color, position)`.
    by_row: Vec<Vec<(usize, usize)>>,
    seeded: Vec<HyperDual<T, N, N>>,
}

impl<T: Real, const N: usize> SparseHessian<T, N> {
    /// Finds the structure by running `f` once, at `x`, on [`Tracer`]s.
    pub fn trace(f: impl FnOnce(&[Tracer<T>]) -> Tracer<T>, x: &[T]) -> Self {
        Self::new(hessian_pattern(f, x))
    }

    /// For a Hessian of known structure.
    ///
    /// # Panics
    /// If the pattern is not symmetric.
    #[track_caller]
    pub fn new(pattern: Pattern) -> Self {
        const { assert!(N > 0, "a pass needs at least one lane") };
        let coloring = Coloring::star(&pattern);
        let mut by_row = vec![Vec::new(); pattern.ncols()];
        for (position, (i, color)) in star_sources(&pattern, &coloring).into_iter().enumerate() {
            by_row[i].push((color, position));
        }
        let seeded = vec![HyperDual::constant(T::zero()); pattern.ncols()];
        Self { pattern, coloring, by_row, seeded }
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
        self.pattern.ncols().div_ceil(N).max(1) * self.coloring.count().div_ceil(N).max(1)
    }

    /// Writes gradient and entries at `x` and returns the value.
    ///
    /// # Panics
    /// If a slice has another length than the structure says.
    #[track_caller]
    pub fn evaluate(
        &mut self,
        mut f: impl FnMut(&[HyperDual<T, N, N>]) -> HyperDual<T, N, N>,
        x: &[T],
        gradient: &mut [T],
        entries: &mut [T],
    ) -> T {
        certain(finished(self.try_evaluate_with_progress(|x| Ok(f(x)), x, gradient, entries, carry_on)))
    }

    /// [`evaluate`](Self::evaluate) for a function that may fail, reporting to `progress` after each pass the fraction of
    /// the passes done; `ControlFlow::Break(())` ends it with [`Stopped::Cancelled`]. After that, or an error, gradient and
    /// entries are unfinished.
    ///
    /// # Panics
    /// If a slice has another length than the structure says.
    #[track_caller]
    pub fn try_evaluate_with_progress<E>(
        &mut self,
        mut f: impl FnMut(&[HyperDual<T, N, N>]) -> Result<HyperDual<T, N, N>, E>,
        x: &[T],
        gradient: &mut [T],
        entries: &mut [T],
        mut progress: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<T, Stopped<E>> {
        let n = self.pattern.ncols();
        expect_len("the point", x.len(), n);
        expect_len("the gradient", gradient.len(), n);
        expect_len("the buffer of entries", entries.len(), self.pattern.nnz());
        let colors = self.coloring.count();
        let (total, mut done) = (self.passes(), 0);
        let mut value = T::zero();
        for column in (0..colors.max(1)).step_by(N) {
            let columns = chunk(column, N, colors);
            fill(x, &mut self.seeded);
            let color_of = |j: usize| Some(self.coloring.color(j)).filter(|c| columns.contains(c));
            for (j, s) in self.seeded.iter_mut().enumerate() {
                if let Some(color) = color_of(j) {
                    s.eps2[color - column] = T::one();
                }
            }
            for row in (0..n.max(1)).step_by(N) {
                let rows = chunk(row, N, n);
                for (lane, i) in rows.clone().enumerate() {
                    self.seeded[i].eps1[lane] = T::one();
                }
                let y = f(&self.seeded).map_err(Stopped::Function)?;
                value = y.value;
                for (lane, i) in rows.clone().enumerate() {
                    gradient[i] = y.eps1[lane];
                    for &(color, position) in &self.by_row[i] {
                        if columns.contains(&color) {
                            entries[position] = y.eps12[lane][color - column];
                        }
                    }
                }
                unseed(&mut self.seeded, rows.clone());
                for j in rows {
                    if let Some(color) = color_of(j) {
                        self.seeded[j].eps2[color - column] = T::one();
                    }
                }
                done += 1;
                if progress(done as f64 / total as f64).is_break() {
                    return Err(Stopped::Cancelled);
                }
            }
        }
        Ok(value)
    }

    /// [`evaluate`](Self::evaluate) on rayon's threads, a block of rows each, bit for bit the same.
    ///
    /// # Panics
    /// If a slice has another length than the structure says.
    #[cfg(feature = "rayon")]
    #[track_caller]
    pub fn par_evaluate(
        &self,
        f: impl Fn(&[HyperDual<T, N, N>]) -> HyperDual<T, N, N> + Sync,
        x: &[T],
        gradient: &mut [T],
        entries: &mut [T],
    ) -> T {
        use rayon::prelude::*;
        let n = self.pattern.ncols();
        expect_len("the point", x.len(), n);
        expect_len("the gradient", gradient.len(), n);
        expect_len("the buffer of entries", entries.len(), self.pattern.nnz());
        let colors = self.coloring.count();
        let mut value = T::zero();
        for column in (0..colors.max(1)).step_by(N) {
            let columns = chunk(column, N, colors);
            let seed = |i: usize, s: &mut HyperDual<T, N, N>| {
                *s = HyperDual::constant(x[i]);
                let color = self.coloring.color(i);
                if columns.contains(&color) {
                    s.eps2[color - column] = T::one();
                }
            };
            let results: Vec<HyperDual<T, N, N>> = (0..n.div_ceil(N).max(1))
                .into_par_iter()
                .map_init(
                    || {
                        let mut seeded = self.seeded.clone();
                        seeded.iter_mut().enumerate().for_each(|(i, s)| seed(i, s));
                        seeded
                    },
                    |seeded, k| {
                        let rows = chunk(k * N, N, n);
                        for (lane, i) in rows.clone().enumerate() {
                            seeded[i].eps1[lane] = T::one();
                        }
                        let y = f(seeded);
                        rows.for_each(|i| seed(i, &mut seeded[i]));
                        y
                    },
                )
                .collect();
            for (i, g) in gradient.iter_mut().enumerate() {
                let y = &results[i / N];
                *g = y.eps1[i % N];
                for &(color, position) in &self.by_row[i] {
                    if columns.contains(&color) {
                        entries[position] = y.eps12[i % N][color - column];
                    }
                }
            }
            value = results[results.len() - 1].value;
        }
        value
    }

    /// Whether the structure holds at `x`: the second derivative along two fixed directions, one more pass, must be what
    /// the entries make of it.
    ///
    /// See [`SparseJacobian::covers`](crate::SparseJacobian::covers) for when to ask. An entry that is smaller than half of
    /// the digits of the largest passes unseen.
    ///
    /// # Panics
    /// If `x` has another length than the structure says.
    #[track_caller]
    pub fn covers(
        &mut self,
        mut f: impl FnMut(&[HyperDual<T, N, N>]) -> HyperDual<T, N, N>,
        x: &[T],
    ) -> bool {
        let (mut gradient, mut entries) = (vec![T::zero(); x.len()], vec![T::zero(); self.pattern.nnz()]);
        let value = self.evaluate(&mut f, x, &mut gradient, &mut entries);
        let mut curvature = Weighted::beside(value);
        for ((i, j), &entry) in self.pattern.entries().zip(&entries) {
            curvature.add(entry * component(0, i) * component(1, j));
        }
        fill(x, &mut self.seeded);
        for (j, s) in self.seeded.iter_mut().enumerate() {
            s.eps1[0] = component(0, j);
            s.eps2[0] = component(1, j);
        }
        curvature.agrees(f(&self.seeded).eps12[0][0])
    }

    /// Value, gradient and Hessian at `x`, the Hessian as a matrix of `nalgebra-sparse`.
    ///
    /// # Panics
    /// If `x` has another length than the structure says.
    #[cfg(feature = "sparse")]
    #[track_caller]
    pub fn hessian(
        &mut self,
        f: impl FnMut(&[HyperDual<T, N, N>]) -> HyperDual<T, N, N>,
        x: &[T],
    ) -> (T, Vec<T>, nalgebra_sparse::CscMatrix<T>) {
        let (mut gradient, mut entries) = (vec![T::zero(); x.len()], vec![T::zero(); self.pattern.nnz()]);
        let value = self.evaluate(f, x, &mut gradient, &mut entries);
        (value, gradient, self.pattern.with_values(entries))
    }
}
