//! The drivers against the reference digits of tests/data: derivatives of one variable to third order, gradients and
//! Hessians of two, and directional, gradient, `jvp` and Hessian products through a Cholesky factorization.

use std::path::Path;

use dualpack::nalgebra::DMatrix;
use dualpack::{
    Cholesky, Lapack, Real, derivative, directional, gradient, hessian, hvp, nth_derivative,
    second_derivative,
};
use serde_json::Value;

use crate::support::numbers::{excess, list, number};

fn cases(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let data: Value = serde_json::from_str(&text).expect("the reference data is JSON");
    data["cases"].as_array().expect("a list of cases").clone()
}

/// Whether `got` meets the reference, where the reference is a finite number (what happens at singular points is the
/// business of the numbers, not of the drivers).
#[track_caller]
fn meet(case: &Value, what: &str, got: f64, want: &Value, order: usize) {
    let Some(want) = number(want).filter(|w| w.is_finite()) else { return };
    let tolerance = case["tol_hint"][order].as_f64().expect("a tolerance for each order");
    let scale = case["abs_scale"].as_f64().unwrap_or(0.0);
    let excess = excess(got, want, tolerance, scale);
    assert!(excess <= 1.0, "{}: {what} is {got:e}, not {want:e} ({excess:.2} tolerances)", case["id"]);
}

/// All cases of a function of one variable through the three drivers; returns how many there were.
macro_rules! one_variable {
    ($cases:expr, $($f:ident)*) => {{
        let mut count = 0;
        for case in $cases.iter().filter(|case| case.get("exact").is_none()) {
            let x = number(&case["x"][0]).filter(|x| x.is_finite());
            match (case["op"].as_str(), x) {
                $((Some(stringify!($f)), Some(x)) => {
                    count += 1;
                    let (y, d) = derivative(|x| x.$f(), x);
                    meet(case, "the value", y, &case["value"], 0);
                    meet(case, "f' of derivative", d, &case["d"][0], 1);
                    let (_, first, second) = second_derivative(|x| x.$f(), x);
                    meet(case, "f' of second_derivative", first, &case["d"][0], 1);
                    meet(case, "f'' of second_derivative", second, &case["d"][1], 2);
                    let (_, all) = nth_derivative::<3, f64>(|x| x.$f(), x);
                    (0..3).for_each(|k| meet(case, "nth_derivative", all[k], &case["d"][k], k + 1));
                })*
                _ => {}
            }
        }
        count
    }};
}

#[test]
fn functions_of_one_variable() {
    let cases = cases("scalar.json");
    let count = one_variable!(cases, exp exp_m1 ln ln_1p sin cos tan atan sinh cosh tanh asinh erf gamma logistic softplus);
    assert!(count > 200, "only {count} cases");
}

#[test]
fn functions_of_two_variables() {
    let mut count = 0;
    for case in cases("scalar.json").iter().filter(|case| case.get("exact").is_none()) {
        let f = match case["op"].as_str() {
            Some("hypot") => 0,
            Some("atan2") => 1,
            _ => continue,
        };
        let Some(x) = case["x"]
            .as_array()
            .and_then(|x| x.iter().map(|x| number(x).filter(|x| x.is_finite())).collect::<Option<Vec<_>>>())
        else {
            continue;
        };
        count += 1;
        let (d, point) = (&case["d"], [x[0], x[1]]);
        let (value, g) = gradient(|x| if f == 0 { x[0].hypot(x[1]) } else { x[0].atan2(x[1]) }, &point);
        let (_, _, h) = hessian(|x| if f == 0 { x[0].hypot(x[1]) } else { x[0].atan2(x[1]) }, &point);
        meet(case, "the value", value, &case["value"], 0);
        meet(case, "f_a", g[0], &d["a"], 1);
        meet(case, "f_b", g[1], &d["b"], 1);
        meet(case, "f_aa", h[(0, 0)], &d["aa"], 2);
        meet(case, "f_ab", h[(0, 1)], &d["ab"], 2);
        meet(case, "f_bb", h[(1, 1)], &d["bb"], 2);
        assert_eq!(h[(0, 1)].to_bits(), h[(1, 0)].to_bits());
    }
    assert!(count > 10, "only {count} cases");
}

fn ln_determinant<S: Lapack + Real>(a: &DMatrix<S>) -> S {
    Cholesky::new(a.clone()).expect("the reference matrices are positive definite").ln_determinant()
}

#[test]
fn a_matrix_function_through_cholesky() {
    let mut count = 0;
    for case in cases("cholesky.json").iter().filter(|case| case["op"] == "logdet_spd") {
        count += 1;
        let n = case["n"].as_u64().expect("an order") as usize;
        let matrix = |v: &Value| DMatrix::from_vec(n, n, list(v));
        let a = matrix(&case["inputs"]["A"]);
        let directions: Vec<_> =
            case["directions"].as_array().expect("directions").iter().map(|d| matrix(&d["A"])).collect();
        // The factorization reads the lower triangle: so do its gradient and Hessian.
        let (_, g) = gradient(ln_determinant, &a);
        let entry = |v: &Value| list(v)[0];
        let tolerance = |order: usize| {
            let [hint, best] =
                ["tol_hint", "tol_best"].map(|key| case[key][order].as_f64().expect("a tolerance"));
            if hint > 1e-6 { best.max(1e-6).min(hint) } else { hint }
        };
        let check = |what: &str, got: f64, want: f64, scale: f64, order: usize| {
            let error = (got - want).abs() / want.abs().max(scale);
            assert!(error <= tolerance(order), "{}: {what} is {got:e}, not {want:e}", case["id"]);
        };
        for (k, direction) in directions.iter().enumerate() {
            let want = entry(&case["d1"][k]["logabsdet"]);
            let (_, slope) = directional(ln_determinant, &a, direction);
            // The terms of the sum may cancel: their size is what the reference's own tolerance is relative to.
            let size = g.zip_map(direction, |g, d| (g * d).abs()).sum();
            check("directional", slope, want, size, 1);
            check("the gradient", g.dot(direction), want, size, 1);
        }
        let (_, _, product) = hvp(ln_determinant, &a, &directions[1]);
        let size = product.zip_map(&directions[0], |p, d| (p * d).abs()).sum();
        check("hvp", product.dot(&directions[0]), entry(&case["d12"]["logabsdet"]), size, 2);
    }
    assert!(count > 10, "only {count} cases");
}
