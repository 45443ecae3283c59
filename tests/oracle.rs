//! The oracle runner: every case of tests/data/oracle/*.json (or of the folder that `DUALPACK_ORACLE_DIR` names,
//! same format) for every operation that exists, in every kind of scalar: value, first derivatives, mixed second
//! derivative. The numbers were made in multiprecision arithmetic; no double-precision library took part.
//!
//! A quantity passes when its error is at most `tol_hint` of its order. Where `tol_hint` exceeds 1e-6 normwise
//! stability promises next to nothing, so there the error must also be at most max(`tol_best`, 1e-6), unless the
//! `f64` value of LAPACK itself is off by more than `tol_best`: those cases are listed.
//!
//! Adding an operation: one row in oracle/scalars.rs or oracle/matrices.rs, one word less in `NOT_BUILT`.
//! `cargo test --test oracle -- --nocapture` prints the tables.

mod support;

mod oracle {
    pub mod case;
    pub mod gauge;
    pub mod matrices;
    pub mod report;
    pub mod scalars;
}

use oracle::{case, matrices, scalars};

/// Operations of the reference data that the library does not have yet.
#[rustfmt::skip] // one line per family
const NOT_BUILT: &[&str] = &[
    "sym_solve", "lstsq", "pinv",
    "qr", "eigh", "eig", "svd",
    "logm", "sqrtm", "cos_sin", "polar",
    "sylvester", "lyap_c", "lyap_d",
];

#[test]
fn every_operation_is_run_or_listed() {
    let mut run: Vec<&str> = scalars::operations().chain(matrices::operations()).collect();
    run.sort_unstable();
    run.dedup();
    let mut wrong = Vec::new();
    for op in case::operations() {
        let built = run.contains(&op.as_str());
        if built == NOT_BUILT.contains(&op.as_str()) {
            let state =
                if built { "run and yet listed as not built" } else { "neither run nor listed as not built" };
            wrong.push(format!("{op}: {state}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn scalars_meet_the_reference() {
    scalars::run().conclude();
}

#[test]
fn matrices_meet_the_reference() {
    matrices::run().conclude();
}
