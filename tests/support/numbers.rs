//! The reference numbers of tests/data: JSON numbers, and strings for what JSON cannot say.

use nalgebra::DMatrix;
use serde_json::Value;

/// A few units of the smallest subnormal: the absolute error that any result may have.
pub const TINY: f64 = 4.0 * 5e-324;

/// A number, "inf", "-inf" or "nan"; `None` for "undefined" (the quantity does not exist).
pub fn number(v: &Value) -> Option<f64> {
    match v {
        Value::Number(x) => x.as_f64(),
        Value::String(s) if s == "undefined" => None,
        Value::String(s) => {
            Some(s.parse().unwrap_or_else(|_| panic!("{s:?} in the test data is not a number")))
        }
        other => panic!("{other} in the test data is not a number"),
    }
}

/// A number that must exist.
pub fn finite_or_special(v: &Value) -> f64 {
    number(v).unwrap_or_else(|| panic!("a number was expected, not {v}"))
}

/// All numbers of a list.
pub fn list(v: &Value) -> Vec<f64> {
    v.as_array().unwrap_or_else(|| panic!("{v} is not a list")).iter().map(finite_or_special).collect()
}

/// A matrix given by its rows (the fault cases).
pub fn rows(v: &Value) -> DMatrix<f64> {
    let rows: Vec<Vec<f64>> =
        v.as_array().unwrap_or_else(|| panic!("{v} is not a list of rows")).iter().map(list).collect();
    let columns = rows.first().map_or(0, Vec::len);
    assert!(rows.iter().all(|r| r.len() == columns), "rows of different lengths");
    DMatrix::from_fn(rows.len(), columns, |i, j| rows[i][j])
}

/// Error of `got` in units of the tolerance `relative * max(|want|, scale)` (plus a few subnormals);
/// at most 1 passes. NaN must meet NaN and an infinity itself.
pub fn excess(got: f64, want: f64, relative: f64, scale: f64) -> f64 {
    if want.is_nan() || got.is_nan() {
        return if want.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == want {
        return 0.0;
    }
    if got.is_infinite() && want.abs() >= f64::MAX * (1.0 - relative) && got.signum() == want.signum() {
        return 1.0; // within the tolerance the true value overflows
    }
    if got.is_infinite() || want.is_infinite() {
        return f64::INFINITY;
    }
    (got - want).abs() / (relative * want.abs().max(scale) + TINY)
}

/// Whether a finite `got` is right where the true value, `exact` with 20 digits, overflows by less than
/// the tolerance.
pub fn almost_overflows(got: f64, exact: &str, relative: f64) -> bool {
    let (mantissa, exponent) = exact.split_once('e').unwrap_or((exact, "0"));
    let (Ok(mantissa), Ok(exponent)) = (mantissa.parse::<f64>(), exponent.parse::<i32>()) else {
        panic!("{exact:?} in the test data is not a number");
    };
    exponent == 308
        && mantissa.abs() <= f64::MAX / 1e308 * (1.0 + relative)
        && mantissa.signum() == got.signum()
        && got.abs() >= f64::MAX * (1.0 - 2.0 * relative)
}
