//! What examples/seeds.rs says to files that it cannot use: one line that names the file and the reason, exit code 2.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[path = "../examples/support/matrix_market.rs"]
mod matrix_market;

/// `parse` with the limit of these tests.
fn reason(text: &str) -> String {
    matrix_market::parse(text, 8).expect_err(text)
}

#[test]
fn every_format_is_read() {
    let cases = [
        (
            "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 2 2\n1 1 1.5\n% another\n2 1 -2e3\n",
            [1.5, -2e3, 0.0, 0.0],
        ),
        (
            "%%matrixmarket MATRIX Coordinate Real Symmetric\r\n2 2 2\r\n1 1 1\r\n2 1 3\r\n",
            [1.0, 3.0, 3.0, 0.0],
        ),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n", [0.0, 3.0, -3.0, 0.0]),
        ("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 -7\n", [0.0, 0.0, -7.0, 0.0]),
        ("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 2\n", [0.0, 0.0, 0.0, 1.0]),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", [1.0, 2.0, 3.0, 4.0]),
        ("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n", [1.0, 2.0, 2.0, 3.0]),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 2\n", [3.0, 0.0, 0.0, 0.0]),
    ];
    for (text, entries) in cases {
        assert_eq!(matrix_market::parse(text, 8).expect(text).as_slice(), entries, "{text}");
    }
}

/// Nobody leaves the rating system: the rows of the generator sum to zero.
#[test]
fn the_shipped_matrix_is_a_generator() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/sp_generator.mtx");
    let generator = matrix_market::read(&path, 8).expect("a file of the repository");
    assert_eq!(generator.shape(), (8, 8));
    assert!(generator.column_sum().amax() < 1e-15);
    assert!(generator.row(7).amax() == 0.0, "default is for ever");
    assert!((0..8).all(|i| (0..8).all(|j| i == j || generator[(i, j)] >= 0.0)));
}

#[test]
fn unusable_contents_have_a_reason() {
    let real = "%%MatrixMarket matrix coordinate real general\n";
    let cases = [
        (String::new(), "an empty file"),
        (" \n\n".to_owned(), "an empty file"),
        ("hello\n".to_owned(), "not in Matrix Market format at line 1, column 1"),
        (
            "%%MatrixMarket matrix coordinate quaternion general\n1 1 0\n".to_owned(),
            "not in Matrix Market format at line 1, column 34",
        ),
        (
            "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n".to_owned(),
            "a complex matrix; this program differentiates real ones",
        ),
        (
            "%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n".to_owned(),
            "a real matrix is symmetric, not hermitian",
        ),
        (format!("{real}2 2 1\n1 1 x\n"), "not in Matrix Market format at line 3, column 5"),
        (format!("{real}% comment\n\n2 2 1\n1 1 x\n"), "not in Matrix Market format at line 5, column 5"),
        (format!("{real}% comment\n"), "nothing after the header"),
        (format!("{real}2 2 1\n1 1 1d5\n"), "not in Matrix Market format at line 3, column 5"),
        (format!("{real}2 2 2\n1 1 1\n"), "1 entries instead of 2"),
        (format!("{real}2 2 1\n3 1 1\n"), "line 3: 3 is no row or column of 2"),
        (format!("{real}2 2 1\n0 1 1\n"), "line 3: 0 is no row or column of 2"),
        (format!("{real}2 2 1\n1 1 1 2\n"), "not in Matrix Market format at line 3, column 7"),
        (format!("{real}2 2\n"), "not in Matrix Market format at line 2, column 4"),
        (format!("{real}2 2 1\n1 1\n"), "not in Matrix Market format at line 3, column 4"),
        (format!("{real}2 2 1\n1 1 1\n2 2 1\n"), "2 entries instead of 1"),
        (
            "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n".to_owned(),
            "line 3: in the triangle that the symmetry fills",
        ),
        (
            "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n".to_owned(),
            "line 3: in the triangle that the symmetry fills",
        ),
        (
            "%%MatrixMarket matrix array pattern general\n1 1\n1\n".to_owned(),
            "an array has entries, no pattern",
        ),
        ("%%MatrixMarket matrix array real skew-symmetric\n2 2\n1\n1\n".to_owned(), "2 entries instead of 1"),
        (format!("{real}2 3 0\n"), "2 x 3; both problems need a square matrix"),
        (format!("{real}0 0 0\n"), "0 x 0, there is nothing to differentiate"),
        (format!("{real}9 9 0\n"), "9 x 9; the full gradient has 9² entries, the limit is 8²"),
        (format!("{real}2 2 1\n2 1 NaN\n"), "entry (2, 1) is NaN"),
        (format!("{real}2 2 1\n2 1 -inf\n"), "entry (2, 1) is -inf"),
        (format!("{real}2 2 1\n2 1 1e999\n"), "entry (2, 1) is inf"),
        (
            format!("{real}1000000000000 1000000000000 0\n"),
            "1000000000000 x 1000000000000; the full gradient has 1000000000000² entries, the limit is 8²",
        ),
        (format!("{real}99999999999999999999999 1 0\n"), "an index or a dimension is out of all proportion"),
        (
            format!("{real}2 2 1\n99999999999999999999999 1 1\n"),
            "an index or a dimension is out of all proportion",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(reason(&text), expected, "{text}");
    }
}

/// Dimensions are only what the file claims: there is a reason, in one line.
#[test]
fn dimensions_whose_product_overflows() {
    for text in [
        "%%MatrixMarket matrix array real general\n4294967296 4294967296\n",
        "%%MatrixMarket matrix array real skew-symmetric\n0 0\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n4294967296 4294967296 1\n",
    ] {
        let reason = reason(text);
        assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}");
    }
}

/// Runs the example, which `cargo test` builds beside the tests.
fn seeds(arguments: &[&str]) -> Output {
    let test = std::env::current_exe().expect("a test binary has a path");
    let directory = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    let example = directory.join("examples").join("seeds").with_extension(std::env::consts::EXE_EXTENSION);
    Command::new(&example).args(arguments).output().unwrap_or_else(|error| {
        panic!("{}: {error}; build it: cargo build --example seeds", example.display())
    })
}

/// A file with the given contents, under a name of its own.
fn file(name: &str, contents: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, contents).expect("the directory for temporary files is writable");
    path
}

#[track_caller]
fn assert_refused(arguments: &[&str], expected: &str) {
    let output = seeds(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_bad_file_is_one_line_and_exit_code_2() {
    let missing = "no/such/file.mtx";
    assert_refused(&["--matrix", missing], "no/such/file.mtx: No such file");
    assert_refused(&["--matrix", env!("CARGO_MANIFEST_DIR")], "directory");
    let binary = file("binary.mtx", b"%%MatrixMarket matrix \xff\xfe");
    assert_refused(&["--matrix", binary.to_str().expect("UTF-8")], "binary.mtx: ");
    let wide = file("wide.mtx", b"%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    assert_refused(
        &["--matrix", wide.to_str().expect("UTF-8")],
        "wide.mtx: 2 x 3; both problems need a square matrix",
    );
    // Finite itself, but A A' is not.
    let huge = file("huge.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1e200\n");
    assert_refused(&["--matrix", huge.to_str().expect("UTF-8")], "huge.mtx: ");
}

#[test]
fn a_bad_command_line_is_one_line_and_exit_code_2() {
    assert_refused(&["--matrix"], "missing argument for option '--matrix'");
    assert_refused(&["--colour"], "--matrix FILE");
    assert_refused(&["file.mtx"], "--matrix FILE");
}

/// The functions of this matrix bend within a step of the differences, so that these are wrong.
#[test]
fn a_deviation_ends_with_exit_code_1() {
    let steep = file("steep.mtx", b"%%MatrixMarket matrix array real general\n2 2\n-1e6\n-1e6\n-1e6\n-1e6\n");
    let output = seeds(&["--matrix", steep.to_str().expect("UTF-8")]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains("deviates from central differences by more than 1e-5"), "{message}");
}

#[test]
fn the_main_job_runs_on_a_small_matrix() {
    let small = file("small.mtx", b"%%MatrixMarket matrix array real general\n2 2\n0.5\n0\n1\n0.5\n");
    let output = seeds(&["--matrix", small.to_str().expect("UTF-8")]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let numbers = |beginning: &str| -> Vec<f64> {
        let lines = text.lines().map(str::trim).filter(|line| line.starts_with(beginning));
        lines.filter_map(|line| line.split_whitespace().last()?.parse().ok()).collect()
    };
    // A = [0.5, 1; 0, 0.5], A A' + I = [2.25, 0.5; 0.5, 1.25] with determinant 41/16; X has the row sums 11/6, 13/12.
    // The columns of the inverse sum to (12, 28) / 41.
    let values = numbers("value");
    assert_eq!(values.len(), 2, "{text}");
    assert!((values[0] - (12.0 * 11.0 / 6.0 + 28.0 * 13.0 / 12.0) / 41.0).abs() < 1e-14, "{text}");
    // exp([t, 1; 0, t]) = e^t [1, 1; 0, 1], so h = 3 e^t.
    assert!((values[1] - 3.0 * 0.5_f64.exp()).abs() < 1e-14, "{text}");
    let deviations = [numbers("dual numbers"), numbers("pushforward")].concat();
    assert_eq!(deviations.len(), 4, "{text}");
    assert!(deviations.iter().all(|deviation| (0.0..1e-8).contains(deviation)), "{text}");
}
