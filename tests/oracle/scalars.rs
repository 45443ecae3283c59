//! The scalar functions: one row each.

use dualpack::{Dual, Dual2, HyperDual, Real};
use serde_json::Value;

use super::case::{self, text};
use super::report::Report;
use crate::support::compare::same_bits;
use crate::support::numbers::{almost_overflows, excess, finite_or_special, number};

/// A function of K arguments (and a constant parameter) in every kind of number.
struct Function<const K: usize> {
    op: &'static str,
    /// By which method, where the library has several.
    via: &'static str,
    dual: fn([Dual<f64, K>; K], f64) -> Dual<f64, K>,
    hyper: fn([HyperDual<f64, K, K>; K], f64) -> HyperDual<f64, K, K>,
    symmetric: fn([Dual2<f64, K>; K], f64) -> Dual2<f64, K>,
    nested: fn([Dual<Dual<f64, K>, K>; K], f64) -> Dual<Dual<f64, K>, K>,
    triple: fn([Dual<Dual<Dual<f64, K>, K>, K>; K], f64) -> Dual<Dual<Dual<f64, K>, K>, K>,
}

macro_rules! functions {
    ($($op:literal $($via:literal)? ($($x:ident),+ $(; $p:ident)?) $body:expr;)*) => {
        [$(functions!(@one $op [$($via)?] ($($x),+) [$($p)?] $body)),*]
    };
    (@one $op:literal [$($via:literal)?] ($($x:ident),+) [] $body:expr) => {
        functions!(@one $op [$($via)?] ($($x),+) [_p] $body)
    };
    (@one $op:literal [$($via:literal)?] ($($x:ident),+) [$p:ident] $body:expr) => {
        Function {
            op: $op,
            via: concat!($($via)?),
            dual: |[$($x),+], $p| $body,
            hyper: |[$($x),+], $p| $body,
            symmetric: |[$($x),+], $p| $body,
            nested: |[$($x),+], $p| $body,
            triple: |[$($x),+], $p| $body,
        }
    };
}

fn unary() -> Vec<Function<1>> {
    Vec::from(functions! {
        "recip" (x) x.recip();
        "sqrt" (x) x.sqrt();
        "cbrt" (x) x.cbrt();
        "exp" (x) x.exp();
        "exp2" (x) x.exp2();
        "exp_m1" (x) x.exp_m1();
        "ln" (x) x.ln();
        "log2" (x) x.log2();
        "log10" (x) x.log10();
        "ln_1p" (x) x.ln_1p();
        "sin" (x) x.sin();
        "sin" "sin_cos" (x) x.sin_cos().0;
        "cos" (x) x.cos();
        "cos" "sin_cos" (x) x.sin_cos().1;
        "tan" (x) x.tan();
        "asin" (x) x.asin();
        "acos" (x) x.acos();
        "atan" (x) x.atan();
        "sinh" (x) x.sinh();
        "cosh" (x) x.cosh();
        "tanh" (x) x.tanh();
        "asinh" (x) x.asinh();
        "acosh" (x) x.acosh();
        "atanh" (x) x.atanh();
        "sinc" (x) x.sinc();
        "sinc_pi" (x) x.sinc_pi();
        "sph_j0" (x) x.sph_j0();
        "sph_j1" (x) x.sph_j1();
        "sph_j2" (x) x.sph_j2();
        "bessel_j0" (x) x.bessel_j0();
        "bessel_j1" (x) x.bessel_j1();
        "bessel_j2" (x) x.bessel_j2();
        "erf" (x) x.erf();
        "erfc" (x) x.erfc();
        "gamma" (x) x.gamma();
        "lgamma" (x) x.lgamma();
        "digamma" (x) x.digamma();
        "logistic" (x) x.logistic();
        "softplus" (x) x.softplus();
        "abs" (x) x.abs();
        "signum" (x) x.signum();
        "powi" (x; n) x.powi(n as i32);
        "powf" (x; p) x.powf(p);
        "powf" "powd with a constant" (x; p) x.powd(Real::from_base(p));
        "log" (x; b) x.log(b);
        "log" "log of a constant number" (x; b) x.log_of(Real::from_base(b));
    })
}

fn binary() -> Vec<Function<2>> {
    Vec::from(functions! {
        "powd" (x, y) x.powd(y);
        "atan2" (y, x) y.atan2(x);
        "hypot" (x, y) x.hypot(y);
        "max" (x, y) x.max(y);
        "min" (x, y) x.min(y);
        "rem" (x, y) x % y;
    })
}

fn ternary() -> Vec<Function<3>> {
    Vec::from(functions! {
        "mul_add" (x, y, z) x.mul_add(y, z);
    })
}

/// The operations that this file runs.
pub fn operations() -> impl Iterator<Item = &'static str> {
    let names = |v: &[&'static str]| v.to_vec();
    let one: Vec<_> = unary().iter().map(|f| f.op).collect();
    let two: Vec<_> = binary().iter().map(|f| f.op).collect();
    let three: Vec<_> = ternary().iter().map(|f| f.op).collect();
    [names(&one), names(&two), names(&three)].concat().into_iter()
}

/// Every scalar case of the reference.
pub fn run() -> Report {
    let mut report = Report::new("Scalar functions");
    let cases = case::all();
    let cases: Vec<&Value> = cases.iter().filter(|c| c.get("x").is_some()).collect();
    run_family(&unary(), &cases, &mut report);
    run_family(&binary(), &cases, &mut report);
    run_family(&ternary(), &cases, &mut report);
    report
}

fn run_family<const K: usize>(functions: &[Function<K>], cases: &[&Value], report: &mut Report) {
    for function in functions {
        let row = [function.op, if function.via.is_empty() { "" } else { " as " }, function.via].concat();
        for case in cases.iter().filter(|c| c["op"] == function.op) {
            report.case(&row);
            function.check(case, &row, report);
        }
    }
}

/// What one kind of number found.
struct Found<const K: usize> {
    scalar: &'static str,
    value: f64,
    first: [f64; K],
    second: Option<[[f64; K]; K]>,
    third: Option<f64>,
}

impl<const K: usize> Function<K> {
    /// The function at `x`, seeded with the unit directions, in every kind of number.
    fn evaluate(&self, x: [f64; K], parameter: f64) -> Vec<Found<K>> {
        type Two<const K: usize> = Dual<Dual<f64, K>, K>;
        let unit = |i: usize| std::array::from_fn(|k| if k == i { 1.0 } else { 0.0 });
        let dual = |i: usize| Dual::<f64, K> { value: x[i], eps: unit(i) };
        let constants = |i: usize| unit(i).map(Dual::<f64, K>::constant);
        let nested = |i: usize| Two { value: dual(i), eps: constants(i) };
        let triple = |i: usize| Dual::<Two<K>, K> { value: nested(i), eps: constants(i).map(Two::constant) };

        let d = (self.dual)(std::array::from_fn(dual), parameter);
        let h = (self.hyper)(
            std::array::from_fn(|i| HyperDual {
                value: x[i],
                eps1: unit(i),
                eps2: unit(i),
                eps12: [[0.0; K]; K],
            }),
            parameter,
        );
        let s = (self.symmetric)(
            std::array::from_fn(|i| Dual2 { value: x[i], grad: unit(i), hess: [[0.0; K]; K] }),
            parameter,
        );
        let n = (self.nested)(std::array::from_fn(nested), parameter);
        let t = (self.triple)(std::array::from_fn(triple), parameter);
        vec![
            Found { scalar: "Dual", value: d.value, first: d.eps, second: None, third: None },
            Found { scalar: "HyperDual", value: h.value, first: h.eps1, second: Some(h.eps12), third: None },
            Found {
                scalar: "HyperDual eps2",
                value: h.value,
                first: h.eps2,
                second: Some(h.eps12),
                third: None,
            },
            Found {
                scalar: "Dual2",
                value: s.value,
                first: s.grad,
                second: Some(std::array::from_fn(|i| std::array::from_fn(|j| s.hessian(i, j)))),
                third: None,
            },
            Found {
                scalar: "Dual<Dual>",
                value: n.value.value,
                first: n.eps.map(|e| e.value),
                second: Some(n.eps.map(|e| e.eps)),
                third: None,
            },
            Found {
                scalar: "Dual<Dual<Dual>>",
                value: t.value.value.value,
                first: t.eps.map(|e| e.value.value),
                second: Some(t.eps.map(|e| e.eps.map(|e| e.value))),
                third: (K == 1).then(|| t.eps[0].eps[0].eps[0]),
            },
        ]
    }

    fn check(&self, case: &Value, row: &str, report: &mut Report) {
        let id = text(case, "id");
        let arguments: Vec<f64> =
            case["x"].as_array().expect("arguments").iter().map(finite_or_special).collect();
        let x: [f64; K] = arguments.try_into().expect("as many arguments as the function has");
        let parameter = case.get("param").map_or(0.0, finite_or_special);
        let found = self.evaluate(x, parameter);
        for f in &found {
            let label = |what: &str| format!("{} {what} at {x:?}", f.scalar);
            if !same_bits(f.value, found[0].value) {
                report.fail(
                    row,
                    id,
                    format!("{} {:e} differs from Dual's {:e}", label("value"), f.value, found[0].value),
                );
            }
            Judge { case, row, id, x: x[0] }.quantity(report, 0, "value", f.value, label);
            if number(&case["value"]).is_some_and(f64::is_nan) && f.value.is_nan() {
                continue; // outside the domain there is nothing more to say
            }
            for i in 0..K {
                Judge { case, row, id, x: x[0] }.quantity(report, 1, &field::<K>(&[i]), f.first[i], label);
                for j in 0..K {
                    if let Some(second) = f.second {
                        let name = field::<K>(&[i.min(j), i.max(j)]);
                        Judge { case, row, id, x: x[0] }.quantity(report, 2, &name, second[i][j], label);
                    }
                }
            }
            if let Some(third) = f.third {
                Judge { case, row, id, x: x[0] }.quantity(report, 3, &field::<K>(&[0, 0, 0]), third, label);
            }
        }
    }
}

/// The reference's name of a derivative: "d1", "d2", "d3" for one argument, "a", "ab", ... for more.
fn field<const K: usize>(arguments: &[usize]) -> String {
    if K == 1 {
        format!("d{}", arguments.len())
    } else {
        arguments.iter().map(|&i| ['a', 'b', 'c'][i]).collect()
    }
}

struct Judge<'a> {
    case: &'a Value,
    row: &'a str,
    id: &'a str,
    x: f64,
}

impl Judge<'_> {
    fn quantity(
        &self,
        report: &mut Report,
        order: usize,
        name: &str,
        got: f64,
        label: impl Fn(&str) -> String,
    ) {
        let case = self.case;
        let reference = match name {
            "value" => &case["value"],
            "d1" | "d2" | "d3" => &case["d"][order - 1],
            partial => &case["d"][partial],
        };
        let Some(want) = number(reference) else { return };
        let relative = finite_or_special(&case["tol_hint"][order]);
        let scale = case.get("abs_scale").map_or(0.0, finite_or_special);
        let mut error = excess(got, want, relative, scale);
        if let Some(exact) = case.get("exact").and_then(|e| e[name].as_str())
            && almost_overflows(got, exact, relative)
        {
            error = 0.0;
        }
        if self.row == "sqrt" && self.x == 0.0 && self.x.is_sign_negative() && order > 0 && got.is_infinite()
        {
            error = 0.0; // 1/(2 sqrt(-0)) is -inf in IEEE arithmetic, +inf from the side where sqrt is real
        }
        report
            .record(self.row, self.id, order, error, || format!("{} is {got:e}, not {want:e}", label(name)));
        // The sign of a zero: significant in the value, not in a derivative, and free in a tie of max and min.
        let free = matches!(self.row, "max" | "min") || relative * scale > 0.0;
        if name == "value"
            && got == 0.0
            && want == 0.0
            && got.is_sign_negative() != want.is_sign_negative()
            && !free
        {
            report.fail(
                self.row,
                self.id,
                format!("{} is {got:?}, not {want:?}", label("sign of the value")),
            );
        }
    }
}
