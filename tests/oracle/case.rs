//! Reading the reference files.

use nalgebra::DMatrix;
use serde_json::Value;
use std::path::PathBuf;

use crate::support::numbers::list;

/// The folder with the reference files.
pub fn folder() -> PathBuf {
    std::env::var_os("DUALPACK_ORACLE_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle"), PathBuf::from)
}

/// All cases of all files, file by file in alphabetical order.
pub fn all() -> Vec<Value> {
    let folder = folder();
    let listing = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = listing
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no reference file in {}", folder.display());
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        match parsed.get("cases").and_then(Value::as_array) {
            Some(list) if !list.is_empty() => cases.extend(list.iter().cloned()),
            _ => panic!("{}: no cases", file.display()),
        }
    }
    cases
}

/// The names of all operations that occur.
pub fn operations() -> Vec<String> {
    let mut names: Vec<String> = all().iter().map(|c| text(c, "op").to_string()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A text field.
pub fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_else(|| panic!("case {}: no text in {field:?}", case["id"]))
}

/// A matrix of the case: `part` is `case["inputs"]`, `case["value"]`, ...; its shape stands in `case["shapes"]`.
/// (ilo, ihi are plain numbers.)
pub fn matrix(case: &Value, part: &Value, name: &str) -> DMatrix<f64> {
    let entries = &part[name];
    if entries.is_number() {
        return DMatrix::from_element(1, 1, entries.as_f64().expect("a double"));
    }
    let shape = list(&case["shapes"][name]);
    DMatrix::from_vec(shape[0] as usize, shape[1] as usize, list(entries))
}
