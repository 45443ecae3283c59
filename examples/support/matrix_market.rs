//! A square matrix of finite numbers from a Matrix Market file, or one line that says why not.

use std::fs::File;
use std::io::Read;
use std::panic;
use std::path::Path;

use dualpack::nalgebra::DMatrix;
use nalgebra_sparse::CooMatrix;
use nalgebra_sparse::io::{MatrixMarketError, MatrixMarketScalar, load_coo_from_matrix_market_str};

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
    // The format allows blank lines and comments anywhere; the reader does not.
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .enumerate()
        .filter(|(kept, (_, line))| *kept == 0 || !line.trim_start().starts_with('%'))
        .map(|(_, numbered)| numbered)
        .collect();
    // `%%MatrixMarket matrix coordinate real general`: the reader wants to be told the number type.
    let (_, header) = lines.first().ok_or("an empty file")?;
    if lines.len() == 1 && header.starts_with("%%") {
        return Err("nothing after the header".to_owned());
    }
    let matrix = match header.split_whitespace().nth(3).map(str::to_ascii_lowercase).as_deref() {
        Some("complex") => return Err("a complex matrix; this program differentiates real ones".to_owned()),
        Some("integer") => load(&lines, max_order, |entry: i128| entry as f64),
        Some("pattern") => load(&lines, max_order, |(): ()| 1.0),
        _ => load(&lines, max_order, |entry: f64| entry),
    }?;
    for (column, entries) in matrix.column_iter().enumerate() {
        if let Some(row) = entries.iter().position(|entry| !entry.is_finite()) {
            return Err(format!("entry ({}, {}) is {}", row + 1, column + 1, entries[row]));
        }
    }
    Ok(matrix)
}

fn load<T: MatrixMarketScalar>(
    lines: &[(usize, &str)],
    max_order: usize,
    number: impl Fn(T) -> f64,
) -> Result<DMatrix<f64>, String> {
    let text: String = lines.iter().flat_map(|(_, line)| [line, "\n"]).collect();
    // The reader unwraps integers that its grammar let through, so an index of thirty digits makes it panic.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let loaded = panic::catch_unwind(|| load_coo_from_matrix_market_str::<T>(&text));
    panic::set_hook(hook);
    let sparse = loaded
        .map_err(|_| "an index or a dimension is out of all proportion".to_owned())?
        .map_err(|error| one_line(&error, lines))?;

    // Before anything dense is made of it: the dimensions are only what the file claims.
    let (rows, columns) = (sparse.nrows(), sparse.ncols());
    if rows != columns {
        return Err(format!("{rows} x {columns}; both problems need a square matrix"));
    }
    if rows == 0 {
        return Err("0 x 0, there is nothing to differentiate".to_owned());
    }
    if rows > max_order {
        return Err(format!(
            "{rows} x {rows}; the full gradient has {rows}² entries, the limit is {max_order}²"
        ));
    }
    let (row_indices, column_indices, values) = sparse.disassemble();
    let values = values.into_iter().map(number).collect();
    let sparse = CooMatrix::try_from_triplets(rows, columns, row_indices, column_indices, values)
        .map_err(|error| error.to_string())?;
    Ok(DMatrix::from(&sparse))
}

/// The reader draws the place of a syntax error on five lines, `--> line:column` among them.
fn one_line(error: &MatrixMarketError, lines: &[(usize, &str)]) -> String {
    let words: Vec<&str> = error.message().split_whitespace().collect();
    let place = words.iter().skip_while(|&&word| word != "-->").nth(1);
    if let Some((line, column)) = place.and_then(|place| place.split_once(':'))
        && let Ok(line) = line.parse::<usize>()
    {
        // One past the last line: the file ends too early.
        let number = lines.get(line - 1).or(lines.last()).map_or(0, |(index, _)| index + 1);
        return format!("not in Matrix Market format at line {number}, column {column}");
    }
    words.join(" ").trim_end_matches('.').to_owned()
}
