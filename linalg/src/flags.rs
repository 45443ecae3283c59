//! LAPACK's option letters as enums: the discriminant is the letter, so a wrong one cannot be written.

/// Which triangle of a matrix a routine reads and writes. The other one may hold anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Uplo {
    /// The lower triangle, diagonal included.
    Lower = b'L',
    /// The upper triangle, diagonal included.
    Upper = b'U',
}

impl Uplo {
    /// The triangle that a transposition turns this one into.
    pub fn flip(self) -> Uplo {
        match self {
            Uplo::Lower => Uplo::Upper,
            Uplo::Upper => Uplo::Lower,
        }
    }
}

/// The side on which a triangular or transforming matrix stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Side {
    /// `op(A) B`, or left eigenvectors.
    Left = b'L',
    /// `B op(A)`, or right eigenvectors.
    Right = b'R',
}

/// The operation `op` applied to a matrix operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Trans {
    /// `op(A) = A`
    NoTrans = b'N',
    /// `op(A) = Aᵀ`
    Trans = b'T',
    /// `op(A) = Aᴴ`, the same as `Aᵀ` for real scalars.
    ConjTrans = b'C',
}

impl Trans {
    /// Whether `op` exchanges rows and columns.
    #[inline]
    pub fn swaps(self) -> bool {
        self != Trans::NoTrans
    }

    /// The shape of `op(A)` for an `A` of this shape.
    #[inline]
    pub fn shape(self, (rows, cols): (usize, usize)) -> (usize, usize) {
        if self.swaps() { (cols, rows) } else { (rows, cols) }
    }
}

/// Whether the diagonal of a triangular matrix is stored or taken as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Diag {
    /// The stored diagonal counts.
    NonUnit = b'N',
    /// The diagonal is one; what is stored there is not read.
    Unit = b'U',
}

/// What balancing may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BalanceJob {
    /// Nothing: `ilo = 1`, `ihi = n`, all scales 1.
    None = b'N',
    /// Permute rows and columns to isolate eigenvalues.
    Permute = b'P',
    /// Scale by powers of two.
    Scale = b'S',
    /// Permute, then scale.
    Both = b'B',
}
