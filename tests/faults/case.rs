//! Reading a fault case and comparing with it.

use nalgebra::DMatrix;
use serde_json::Value;

use crate::support::compare::{norm, part};
use crate::support::numbers::{TINY, finite_or_special, list, number, rows};
use crate::support::probe::Probe;

/// One case of tests/data/cases.json.
pub struct Case {
    pub id: String,
    pub input: Value,
    pub expected: Value,
    relative: f64,
    absolute: f64,
    normwise: bool,
}

fn file() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cases.json");
    let text = std::fs::read_to_string(path).expect("the file of cases");
    serde_json::from_str(&text).expect("a list of cases")
}

/// All ids of the file.
pub fn ids() -> Vec<String> {
    file().iter().map(|c| c["id"].as_str().expect("an id").to_string()).collect()
}

/// The case with this id.
pub fn load(id: &str) -> Case {
    let all = file();
    let case = all.iter().find(|c| c["id"] == id).unwrap_or_else(|| panic!("no case {id}"));
    let tolerance = &case["tolerance"];
    Case {
        id: id.to_string(),
        input: case["input"].clone(),
        expected: case["expected"].clone(),
        relative: finite_or_special(&tolerance["rel"]),
        absolute: finite_or_special(&tolerance["abs"]),
        normwise: match tolerance["mode"].as_str() {
            Some("elem") => false,
            Some("norm") => true,
            other => panic!("{id}: no such mode of comparison: {other:?}"),
        },
    }
}

impl Case {
    /// A number of the input.
    pub fn number(&self, name: &str) -> f64 {
        finite_or_special(&self.input[name])
    }

    /// A number of the input, or `default` where the case does not give it.
    pub fn number_or(&self, name: &str, default: f64) -> f64 {
        self.input.get(name).map_or(default, finite_or_special)
    }

    /// The same case with the expected values of one part of the result.
    pub fn part(&self, name: &str) -> Case {
        Case {
            id: self.id.clone(),
            input: self.input.clone(),
            expected: self.expected[name].clone(),
            ..*self
        }
    }

    /// The same case with another expected value (see the table of policies).
    pub fn corrected(&self, name: &str, value: f64) -> Case {
        let mut expected = self.expected.clone();
        expected[name] = value.into();
        Case { id: self.id.clone(), input: self.input.clone(), expected, ..*self }
    }

    /// A matrix (rows of numbers) or column vector (numbers) of the input.
    pub fn matrix(&self, name: &str) -> DMatrix<f64> {
        matrix(&self.input[name])
    }

    /// Panics unless the numbers are within the tolerance of `want`: elementwise, or normwise against the largest norm.
    #[track_caller]
    pub fn close(&self, what: &str, got: &[f64], want: &[f64]) {
        assert_eq!(got.len(), want.len(), "{}: {what}: as many numbers as expected", self.id);
        let size = norm(want.iter());
        for (k, (&g, &w)) in got.iter().zip(want).enumerate() {
            let scale = if self.normwise { size } else { w.abs() };
            let ok = g == w
                || (g.is_nan() && w.is_nan())
                || (g.is_finite()
                    && w.is_finite()
                    && (g - w).abs() <= self.relative * scale + self.absolute + TINY);
            assert!(
                ok,
                "{}: {what}[{k}] is {g:e}, not {w:e} (tolerance {:e} relative, {:e} absolute)\n  got {got:?}\n  expected {want:?}",
                self.id, self.relative, self.absolute
            );
        }
    }

    /// `close` against a field of the expected values; nothing if the case has no such field.
    #[track_caller]
    pub fn field(&self, scalar: &str, name: &str, got: &[f64]) {
        let Some(want) = self.expected.get(name) else { return };
        let what = format!("{name} in {scalar}");
        if want.is_array() {
            // Nested lists are row-major; ours are columns.
            let want = matrix(want);
            self.close(&what, got, want.as_slice());
        } else {
            self.close(&what, got, &[number(want).expect("a number")]);
        }
    }

    /// Value and derivatives along the curve, with the alternatives that a convention allows.
    #[track_caller]
    pub fn curve(&self, scalar: &str, derivatives: &[f64]) {
        assert!(
            self.expected.get("f").is_some() && self.expected.get("df").is_some(),
            "{}: f and df",
            self.id
        );
        for (name, &got) in ["f", "df", "d2f", "d3f"].iter().zip(derivatives) {
            self.field(scalar, name, &[got]);
        }
        if let (Some(accepted), Some(first)) = (self.expected.get("accept_df"), derivatives.get(1)) {
            assert!(list(accepted).contains(first), "{}: df = {first} is no accepted convention", self.id);
        }
    }

    /// Gradient and Hessian (given as rows of a symmetric matrix).
    #[track_caller]
    pub fn gradient<const K: usize>(
        &self,
        scalar: &str,
        value: f64,
        first: [f64; K],
        second: Option<[[f64; K]; K]>,
    ) {
        self.field(scalar, "f", &[value]);
        let gradient = ["grad", "grad_yx"].into_iter().find(|name| self.expected.get(name).is_some());
        self.field(scalar, gradient.expect("a gradient"), &first);
        if let Some(second) = second {
            for hessian in ["hess", "hess_yx"] {
                self.field(scalar, hessian, second.as_flattened());
            }
        }
    }
}

/// Rows of numbers, or a list of numbers as one column.
pub fn matrix(v: &Value) -> DMatrix<f64> {
    let entries = v.as_array().unwrap_or_else(|| panic!("{v} is not a matrix"));
    if entries.first().is_some_and(Value::is_array) {
        rows(v)
    } else {
        let column = list(v);
        DMatrix::from_vec(column.len(), usize::from(!column.is_empty()), column)
    }
}

/// Runs a function of one variable along x + t dx in every kind of number and compares f, df, d2f, d3f.
macro_rules! along {
    ($case:expr, |$x:ident| $body:expr) => {{
        use dualpack::{Dual, Dual2, HyperDual};
        let case: &$crate::faults::case::Case = $case;
        let (x, dx) = (case.number_or("x", case.number_or("t", 0.0)), case.number_or("dx", 1.0));
        {
            let $x = Dual::<f64, 1> { value: x, eps: [dx] };
            let y = $body;
            case.curve("Dual", &[y.value, y.eps[0]]);
        }
        {
            // Lanes beside the one that matters: none may disturb the others.
            let $x = Dual::<f64, 5> { value: x, eps: [0.0, 0.0, dx, 0.0, 0.0] };
            let y = $body;
            case.curve("Dual<f64, 5>", &[y.value, y.eps[2]]);
        }
        {
            let $x = HyperDual::<f64, 1, 1> { value: x, eps1: [dx], eps2: [dx], eps12: [[0.0]] };
            let y = $body;
            case.curve("HyperDual", &[y.value, y.eps1[0], y.eps12[0][0]]);
            case.curve("HyperDual eps2", &[y.value, y.eps2[0], y.eps12[0][0]]);
        }
        {
            let $x = Dual2::<f64, 1> { value: x, grad: [dx], hess: [[0.0]] };
            let y = $body;
            case.curve("Dual2", &[y.value, y.grad[0], y.hessian(0, 0)]);
        }
        let nested = Dual::<Dual<f64, 1>, 1> {
            value: Dual { value: x, eps: [dx] },
            eps: [Dual { value: dx, eps: [0.0] }],
        };
        {
            let $x = nested;
            let y = $body;
            case.curve("nested Dual", &[y.value.value, y.eps[0].value, y.eps[0].eps[0]]);
        }
        {
            let $x =
                Dual::<Dual<Dual<f64, 1>, 1>, 1> { value: nested, eps: [Dual::constant(Dual::constant(dx))] };
            let y = $body;
            let third = y.eps[0].eps[0].eps[0];
            case.curve(
                "triple Dual",
                &[y.value.value.value, y.eps[0].value.value, y.eps[0].eps[0].value, third],
            );
        }
    }};
}

/// Runs a function of K variables, seeded with the unit directions, and compares value, gradient and Hessian.
macro_rules! at_point {
    ($case:expr, $point:expr, |$($x:ident),+| $body:expr) => {{
        use dualpack::{Dual, Dual2, HyperDual};
        const K: usize = [$(stringify!($x)),+].len();
        let case: &$crate::faults::case::Case = $case;
        let point: [f64; K] = $point;
        let unit = |i: usize| -> [f64; K] { std::array::from_fn(|k| if k == i { 1.0 } else { 0.0 }) };
        {
            let [$($x),+]: [Dual<f64, K>; K] = std::array::from_fn(|i| Dual { value: point[i], eps: unit(i) });
            let y = $body;
            case.gradient("Dual", y.value, y.eps, None);
        }
        {
            let [$($x),+]: [HyperDual<f64, K, K>; K] = std::array::from_fn(|i| HyperDual {
                value: point[i],
                eps1: unit(i),
                eps2: unit(i),
                eps12: [[0.0; K]; K],
            });
            let y = $body;
            case.gradient("HyperDual", y.value, y.eps1, Some(y.eps12));
            case.gradient("HyperDual eps2", y.value, y.eps2, Some(y.eps12));
        }
        {
            let [$($x),+]: [Dual2<f64, K>; K] =
                std::array::from_fn(|i| Dual2 { value: point[i], grad: unit(i), hess: [[0.0; K]; K] });
            let y = $body;
            let hessian = std::array::from_fn(|i| std::array::from_fn(|j| y.hessian(i, j)));
            case.gradient("Dual2", y.value, y.grad, Some(hessian));
        }
        {
            let [$($x),+]: [Dual<Dual<f64, K>, K>; K] = std::array::from_fn(|i| Dual {
                value: Dual { value: point[i], eps: unit(i) },
                eps: unit(i).map(Dual::constant),
            });
            let y = $body;
            case.gradient("nested Dual", y.value.value, y.eps.map(|e| e.value), Some(y.eps.map(|e| e.eps)));
        }
    }};
}

/// The inputs of a matrix case along A + t dA + t^2/2 d2A.
pub struct Curve<'a, S> {
    pub case: &'a Case,
    marker: std::marker::PhantomData<S>,
}

impl<'a, S: Probe> Curve<'a, S> {
    pub fn new(case: &'a Case) -> Self {
        Curve { case, marker: std::marker::PhantomData }
    }

    /// The input `name` with `d{name}` and `d2{name}`, zero where the case does not give them.
    pub fn matrix(&self, name: &str) -> DMatrix<S> {
        let value = self.case.matrix(name);
        let optional = |name: String| match self.case.input.get(&name) {
            Some(word) if word == "identity" => Some(DMatrix::identity(value.nrows(), value.ncols())),
            given => given.map(matrix),
        };
        let (d, d2) = (optional(format!("d{name}")), optional(format!("d2{name}")));
        DMatrix::from_fn(value.nrows(), value.ncols(), |i, j| {
            let at = |m: &Option<DMatrix<f64>>| m.as_ref().map_or(0.0, |m| m[(i, j)]);
            S::lift(value[(i, j)], [at(&d); 3], at(&d2))
        })
    }

    /// A scalar parameter x + t dx.
    pub fn parameter(x: f64, dx: f64) -> S {
        S::lift(x, [dx; 3], 0.0)
    }
}

/// Results of a matrix case, by the names of its expected values.
pub type Outcome<S> = Result<Vec<(&'static str, DMatrix<S>)>, Box<dyn std::error::Error>>;

/// Compares `name`, `d{name}` and `d2{name}`.
#[track_caller]
pub fn compare<S: Probe + nalgebra::Scalar>(case: &Case, outcome: Outcome<S>) {
    let outputs = outcome.unwrap_or_else(|e| panic!("{} in {}: {e}", case.id, S::NAME));
    for (name, m) in outputs {
        assert!(case.expected.get(name).is_some(), "{}: nothing is expected of {name}", case.id);
        case.field(S::NAME, name, part(&m, |x| x.base()).as_slice());
        for k in 0..3 {
            if S::lift(0.0, [0.0; 3], 0.0).first(k).is_some() {
                let lane = part(&m, |x| x.first(k).expect("carried"));
                case.field(S::NAME, &format!("d{name}"), lane.as_slice());
            }
        }
        if S::lift(0.0, [0.0; 3], 0.0).mixed().is_some() {
            case.field(S::NAME, &format!("d2{name}"), part(&m, |x| x.mixed().expect("carried")).as_slice());
        }
    }
}

/// Runs `f::<S>(&Curve<S>) -> Outcome<S>` in every kind of number.
macro_rules! in_every_scalar {
    ($case:expr, $f:ident) => {{
        use dualpack::{Dual, Dual2, HyperDual};
        use $crate::faults::case::{Curve, compare};
        compare::<f64>($case, $f(&Curve::new($case)));
        compare::<Dual<f64, 3>>($case, $f(&Curve::new($case)));
        compare::<HyperDual<f64, 1, 1>>($case, $f(&Curve::new($case)));
        compare::<Dual2<f64, 2>>($case, $f(&Curve::new($case)));
        compare::<Dual<Dual<f64, 1>, 1>>($case, $f(&Curve::new($case)));
    }};
}

#[test]
#[should_panic(expected = "df in Dual")]
fn a_wrong_derivative_fails() {
    load("S085").curve("Dual", &[6.0, 5.1, 2.0]); // x^2 - x at 3 has the slope 5
}

#[test]
#[should_panic(expected = "d2f in HyperDual")]
fn a_nan_fails() {
    load("S085").curve("HyperDual", &[6.0, 5.0, f64::NAN]);
}
