//! What the compiler says about the common mistakes: each case must fail, with a message that names the way out.
//!
//! The cases are compiled by rustc against the crates that this test was built with; parts of the messages are
//! compared, those that are ours (the rest belongs to the compiler and changes).

use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest library of this name among the dependencies of this test.
fn library(deps: &Path, name: &str) -> PathBuf {
    let prefix = format!("lib{name}-");
    deps.read_dir()
        .expect("the directory of this test is readable")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let file = path.file_name().and_then(|f| f.to_str()).unwrap_or("");
            file.starts_with(&prefix) && file.ends_with(".rlib")
        })
        .max_by_key(|path| path.metadata().and_then(|m| m.modified()).expect("libraries have a time"))
        .unwrap_or_else(|| panic!("no lib{name} in {}", deps.display()))
}

/// What rustc says about a function body; `None` where it compiles.
fn compile(name: &str, body: &str) -> Option<String> {
    let test = std::env::current_exe().expect("this test has a path");
    let deps = test.parent().expect("it lies in a directory");
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("diagnostics-{name}"));
    std::fs::create_dir_all(&out).unwrap();
    let source = out.join("case.rs");
    let prelude = "#![allow(unused)]\nuse dualpack_core::*;\nuse dualpack_core::nalgebra::{DMatrix, DVector, dvector, vector};\n";
    std::fs::write(&source, format!("{prelude}fn main() {{\n{body}\n}}\n")).unwrap();
    let output = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()))
        .args(["--edition", "2024", "--emit", "metadata", "--crate-name", "case", "--color", "never"])
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("--extern")
        .arg(format!("dualpack_core={}", library(deps, "dualpack_core").display()))
        .arg("--extern")
        .arg(format!("dualpack={}", library(deps, "dualpack").display()))
        .arg("--out-dir")
        .arg(&out)
        .arg(&source)
        .output()
        .expect("rustc runs");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[track_caller]
fn says(name: &str, body: &str, parts: &[&str]) {
    let text = compile(name, body).unwrap_or_else(|| panic!("{name} compiles"));
    for part in parts {
        assert!(text.contains(part), "{name}: `{part}` is missing in\n{text}");
    }
}

#[test]
fn a_right_call_compiles() {
    let text = compile("right", "let (_, g) = gradient(|x| x[0] * x[1], &[1.0, 2.0]); let _: [f64; 2] = g;");
    assert_eq!(text, None);
}

#[test]
fn a_point_by_value() {
    says(
        "by-value",
        "gradient(|x| x[0], vec![1.0]);",
        &[
            "`Vec<{float}>` does not say where to differentiate",
            "pass the point by reference: `&x`, or `Chunk::<4>::of(&x)`",
        ],
    );
}

#[test]
fn a_point_of_integers() {
    says(
        "integers",
        "gradient(|x: &[_]| x[0], &vec![1_i32, 2]);",
        &["`i32` is not a scalar that dualpack can differentiate through"],
    );
}

#[test]
fn a_view_as_a_point() {
    says(
        "view",
        "let v = dvector![1.0, 2.0, 3.0]; gradient(|x: &DVector<_>| x[0], &v.rows(0, 2));",
        &["expected `ViewStorage<", "found `VecStorage<"],
    );
}

#[test]
fn a_container_that_is_none() {
    says(
        "map",
        "gradient(|x| x, &std::collections::BTreeMap::<u8, f64>::new());",
        &["is not a point that can be differentiated with respect to", "pass `&view.clone_owned()`"],
    );
}

#[test]
fn a_tuple_as_a_result() {
    says(
        "tuple",
        "jacobian(|x| (x[0], x[1]), &[1.0, 2.0]);",
        &["is not a result that can be differentiated", "tuples: return one vector"],
    );
}

#[test]
fn a_function_of_floats() {
    says(
        "floats",
        "fn f(x: &[f64]) -> f64 { x[0] } gradient(f, &vec![1.0]);",
        &["expected `[f64]`, found `[Dual<", ", 8>]`"],
    );
}

#[test]
fn lanes_that_do_not_match() {
    says(
        "lanes",
        "gradient(|x: &DVector<Dual<f64, 4>>| x[0], &dvector![1.0]);",
        &["type mismatch in closure arguments", "Dual<_, 8>", "Dual<_, 4>"],
    );
}

#[test]
fn an_order_that_is_not_there() {
    says(
        "order",
        "nth_derivative::<7, f64>(|x| x, 1.0);",
        &["derivatives of this order are not provided", "orders 1 to 6 are"],
    );
}

#[test]
fn an_inner_function_that_was_not_lifted() {
    // The perturbations of both drivers would be confused: a type error instead.
    says(
        "confusion",
        "derivative(|x: Dual64| x * derivative(|y| x + y, Dual::from(1.0)).1, 1.0);",
        &["type mismatch resolving `<Dual<f64> as Values>::Scalar == Dual<Dual<"],
    );
}

#[test]
fn an_outer_number_that_is_not_a_float() {
    says(
        "lift",
        "fn f<S: Real>(x: S) -> Dual<S> { Dual::from(x) }",
        &["`S` is not a plain float", "becomes a constant by `Dual::constant(x)`"],
    );
}

#[test]
fn a_generic_function_of_slices_at_an_array() {
    let f = "fn f<S: Real>(x: &[S]) -> S { x[0] * x[1] }";
    says(
        "slice",
        &format!("{f} gradient(f, &[1.0, 2.0]);"),
        &["expected `[Dual<{float}, 2>]`, found `[Dual<{float}, 2>; 2]`"],
    );
    let calls = "gradient(|x| f(x), &[1.0, 2.0]); gradient(|x| f(x.as_slice()), &vector![1.0, 2.0]);";
    assert_eq!(compile("slice-right", &format!("{f} {calls}")), None);
}

#[test]
fn a_tracer_through_lapack() {
    says(
        "tracer",
        "fn f<S: Real + dualpack::Lapack>(x: &[S]) -> S { x[0] } jacobian_pattern(f, &vec![1.0]);",
        &["is not a scalar with LAPACK routines", "is found by `SparseJacobian::probe`"],
    );
}

#[test]
fn a_closure_where_every_scalar_is_needed() {
    says(
        "closure",
        "let p = [Dual64::<1>::variable(1.0, 0)];
        dualpack::implicit(&|x: &[Dual64], p: &[Dual64]| vec![x[0] - p[0]], &[1.0], &p);",
        &["does not implement `Equations`", "with closures there is `implicit_with`"],
    );
}

#[test]
fn too_many_static_columns() {
    says(
        "columns",
        "gradient(|x| x[(0, 0)], &dualpack_core::nalgebra::SMatrix::<f64, 3, 40>::zeros());",
        &["are not supported by the drivers", "columns must be `Dyn` or at most 32"],
    );
}
