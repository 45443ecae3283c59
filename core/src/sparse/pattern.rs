//! The positions of the entries of a sparse matrix.

/// The positions of the entries of a sparse matrix, column by column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    rows: usize,
    /// Column `j` holds the row indices `indices[offsets[j]..offsets[j + 1]]`, in order.
    offsets: Vec<usize>,
    indices: Vec<usize>,
}

impl Pattern {
    /// The `rows x columns` pattern with these entries `(i, j)`, in any order; repeated ones count once.
    ///
    /// # Panics
    /// If an entry lies outside.
    #[track_caller]
    pub fn new(rows: usize, columns: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut entries: Vec<(usize, usize)> = entries
            .into_iter()
            .map(|(i, j)| {
                assert!(i < rows && j < columns, "the entry ({i}, {j}) lies outside of {rows}x{columns}");
                (j, i)
            })
            .collect();
        entries.sort_unstable();
        entries.dedup();
        let mut offsets = vec![0; columns + 1];
        for &(j, _) in &entries {
            offsets[j + 1] += 1;
        }
        for j in 0..columns {
            offsets[j + 1] += offsets[j];
        }
        Self { rows, offsets, indices: entries.into_iter().map(|(_, i)| i).collect() }
    }

    /// How many rows.
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// How many columns.
    pub fn ncols(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many entries.
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }

    /// The rows of the entries of column `j`, in order.
    pub fn column(&self, j: usize) -> &[usize] {
        &self.indices[self.offsets[j]..self.offsets[j + 1]]
    }

    /// All entries `(i, j)`, column by column: the order in which evaluations store them.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.ncols()).flat_map(|j| self.column(j).iter().map(move |&i| (i, j)))
    }

    /// Where the entry `(i, j)` is stored.
    pub fn position(&self, i: usize, j: usize) -> Option<usize> {
        self.column(j).binary_search(&i).ok().map(|k| self.offsets[j] + k)
    }

    /// The pattern of the transpose.
    pub fn transpose(&self) -> Self {
        Self::new(self.ncols(), self.rows, self.entries().map(|(i, j)| (j, i)))
    }

    /// Whether it is square and every entry has its mirror image.
    pub fn is_symmetric(&self) -> bool {
        *self == self.transpose()
    }

    /// The matrix with these values, given in the order of [`entries`](Pattern::entries).
    ///
    /// # Panics
    /// If there are not as many values as entries.
    #[cfg(feature = "sparse")]
    #[track_caller]
    pub fn with_values<T: crate::Real>(&self, values: Vec<T>) -> nalgebra_sparse::CscMatrix<T> {
        crate::drive::point::expect_len("the list of values", values.len(), self.nnz());
        nalgebra_sparse::CscMatrix::try_from_csc_data(
            self.rows,
            self.ncols(),
            self.offsets.clone(),
            self.indices.clone(),
            values,
        )
        .expect("the offsets and indices of a pattern are in order")
    }
}
