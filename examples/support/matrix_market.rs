//! A square matrix of finite numbers from a Matrix Market file, or one line that says why not.

use std::fs::File;
use std::io::Read;
use std::num::IntErrorKind;
use std::path::Path;

use dualpack::nalgebra::DMatrix;

/// No file that fits the limit on the order is longer, unless it is mostly blanks.
const MAX_BYTES: u64 = 16 << 20;

/// Reads the `coordinate` and `array` forms, `real`, `integer` and `pattern` (ones), with every symmetry. Entries given
/// twice are added up.
///
/// # Errors
///
/// The reason in one line, without the name of the file.
pub fn read(path: &Path, max_order: usize) -> Result<DMatrix<f64>, String> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_BYTES {
        return Err(format!("longer than {} MiB", MAX_BYTES >> 20));
    }
    parse(&text, max_order)
}

/// As [`read`], from text.
///
/// # Errors
///
/// The reason in one line.
pub fn parse(text: &str, max_order: usize) -> Result<DMatrix<f64>, String> {
    let lines = text.lines().zip(1..).map(|(text, number)| Line { number, text });
    let mut lines = lines.filter(|line| !line.text.trim().is_empty());
    let header = lines.next().ok_or("an empty file")?;
    header.split().next().map_or(Ok(0), |magic| magic.one_of(&["%%MatrixMarket"]))?;
    let [_, object, form, field, symmetry] = header.words()?;
    object.one_of(&["matrix"])?;
    let coordinate = form.one_of(&["coordinate", "array"])? == 0;
    let number: fn(Word<'_>) -> Result<f64, String> =
        match field.one_of(&["real", "integer", "complex", "pattern"])? {
            0 => |word| word.text.parse().map_err(|_| word.unexpected()),
            1 => |word| word.text.parse::<i128>().map(|x| x as f64).map_err(|_| word.unexpected()),
            2 => return Err("a complex matrix; this program differentiates real ones".to_owned()),
            _ if coordinate => |_| Ok(1.0),
            _ => return Err("an array has entries, no pattern".to_owned()),
        };
    let pattern = field.text.eq_ignore_ascii_case("pattern");
    // What stands above the diagonal for an entry below it.
    let mirrored = match symmetry.one_of(&["general", "symmetric", "skew-symmetric", "hermitian"])? {
        0 => None,
        1 => Some(1.0),
        2 => Some(-1.0),
        _ => return Err("a real matrix is symmetric, not hermitian".to_owned()),
    };

    let mut lines = lines.filter(|line| !line.text.trim_start().starts_with('%'));
    let sizes = lines.next().ok_or("nothing after the header")?;
    let (rows, columns, count) = if coordinate {
        let [rows, columns, count] = sizes.words()?;
        (rows.index()?, columns.index()?, Some(count.index()?))
    } else {
        let [rows, columns] = sizes.words()?;
        (rows.index()?, columns.index()?, None)
    };
    // Before anything dense is made of it: the dimensions are only what the file claims.
    if rows != columns {
        return Err(format!("{rows} x {columns}; both problems need a square matrix"));
    }
    let n = rows;
    if n == 0 {
        return Err("0 x 0, there is nothing to differentiate".to_owned());
    }
    if n > max_order {
        return Err(format!("{n} x {n}; the full gradient has {n}² entries, the limit is {max_order}²"));
    }

    let mut matrix = DMatrix::<f64>::zeros(n, n);
    let mut add = |i: usize, j: usize, x: f64| {
        matrix[(i, j)] += x;
        if let Some(sign) = mirrored.filter(|_| i != j) {
            matrix[(j, i)] += sign * x;
        }
    };
    // The first row of a column, by the symmetry.
    let first = |j: usize| mirrored.map_or(0, |sign| if sign < 0.0 { j + 1 } else { j });
    let mut given = 0;
    let expected = count.unwrap_or_else(|| (0..n).map(|j| n - first(j)).sum());
    if coordinate {
        for line in lines {
            let [i, j, x] = if pattern { line.words().map(|[i, j]| [i, j, j]) } else { line.words() }?;
            let x = number(x)?;
            let (i, j) = (i.index_below(n)?, j.index_below(n)?);
            if i < first(j) {
                return Err(format!("line {}: in the triangle that the symmetry fills", line.number));
            }
            add(i, j, x);
            given += 1;
        }
    } else {
        let mut places = (0..n).flat_map(|j| (first(j)..n).map(move |i| (i, j)));
        for line in lines {
            let [x] = line.words()?;
            let x = number(x)?;
            if let Some((i, j)) = places.next() {
                add(i, j, x);
            }
            given += 1;
        }
    }
    if given != expected {
        return Err(format!("{given} entries instead of {expected}"));
    }
    for (column, entries) in matrix.column_iter().enumerate() {
        if let Some(row) = entries.iter().position(|entry| !entry.is_finite()) {
            return Err(format!("entry ({}, {}) is {}", row + 1, column + 1, entries[row]));
        }
    }
    Ok(matrix)
}

/// A line of the file, counted from one.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn split(self) -> impl Iterator<Item = Word<'a>> {
        self.text.split_whitespace().map(move |text| Word { line: self, text })
    }

    /// Its words, of which there must be so many.
    fn words<const K: usize>(self) -> Result<[Word<'a>; K], String> {
        let mut words = self.split();
        let end = Word { line: self, text: &self.text[self.text.trim_end().len()..] };
        let mut found = [end; K];
        for word in &mut found {
            *word = words.next().ok_or_else(|| end.unexpected())?;
        }
        words.next().map_or(Ok(found), |surplus| Err(surplus.unexpected()))
    }
}

/// A word of a line, whose text is a part of the line's.
#[derive(Clone, Copy)]
struct Word<'a> {
    line: Line<'a>,
    text: &'a str,
}

impl Word<'_> {
    fn unexpected(self) -> String {
        let before = self.text.as_ptr() as usize - self.line.text.as_ptr() as usize;
        let column = self.line.text[..before].chars().count() + 1;
        format!("not in Matrix Market format at line {}, column {column}", self.line.number)
    }

    /// The position among the words that may stand here; capitals do not count.
    fn one_of(self, words: &[&str]) -> Result<usize, String> {
        let found = words.iter().position(|word| word.eq_ignore_ascii_case(self.text));
        found.ok_or_else(|| self.unexpected())
    }

    fn index(self) -> Result<usize, String> {
        self.text.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow => "an index or a dimension is out of all proportion".to_owned(),
            _ => self.unexpected(),
        })
    }

    /// The same from 1 to `n`, counted from zero.
    fn index_below(self, n: usize) -> Result<usize, String> {
        match self.index()? {
            index if (1..=n).contains(&index) => Ok(index - 1),
            index => Err(format!("line {}: {index} is no row or column of {n}", self.line.number)),
        }
    }
}
