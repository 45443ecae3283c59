//! The matrix operations: one row per operation and road.

use dualpack::{
    Balance, BalanceJob, Cholesky, Dual, Dual2, Error, Exponential, HyperDual, LU, Lapack, Side, Trans, Uplo,
    balance, expm,
};
use nalgebra::DMatrix;
use serde_json::Value;
use std::collections::BTreeMap;

use super::case::{self, matrix, text};
use super::gauge::{Gauge, Outputs};
use super::report::Report;
use crate::support::compare::{norm, part, relative_error, same_bits};
use crate::support::numbers::list;
use crate::support::probe::Probe;

/// A scalar that the matrix operations run on.
trait Number: Probe + Lapack {}
impl<S: Probe + Lapack> Number for S {}

/// The arguments of a case, seeded with its directions.
struct Input<'a, S> {
    case: &'a Value,
    matrices: BTreeMap<String, DMatrix<S>>,
}

impl<S: Number> Input<'_, S> {
    fn get(&self, name: &str) -> DMatrix<S> {
        self.matrices[name].clone()
    }
    fn a(&self) -> DMatrix<S> {
        self.get("A")
    }
}

type Outcome<S> = Result<Vec<(&'static str, DMatrix<S>)>, Error>;

fn one<S: Number>(x: S) -> DMatrix<S> {
    DMatrix::from_element(1, 1, x)
}

// Cholesky.

fn cholesky<S: Number>(x: &Input<S>) -> Outcome<S> {
    Ok(vec![("L", Cholesky::new(x.a())?.l())])
}

fn potrf_lower<S: Number>(x: &Input<S>) -> Outcome<S> {
    let mut a = x.a();
    S::potrf(Uplo::Lower, a.as_view_mut())?;
    Ok(vec![("L", a.lower_triangle())])
}

fn potrf_upper<S: Number>(x: &Input<S>) -> Outcome<S> {
    let mut a = x.a();
    S::potrf(Uplo::Upper, a.as_view_mut())?;
    Ok(vec![("L", a.upper_triangle().transpose())])
}

fn chol_solve<S: Number>(x: &Input<S>) -> Outcome<S> {
    Ok(vec![("X", Cholesky::new(x.a())?.solve(&x.get("B"))?)])
}

fn potrs<S: Number>(x: &Input<S>) -> Outcome<S> {
    let (mut a, mut b) = (x.a(), x.get("B"));
    S::potrf(Uplo::Upper, a.as_view_mut())?;
    S::potrs(Uplo::Upper, a.as_view(), b.as_view_mut())?;
    Ok(vec![("X", b)])
}

fn logdet_spd<S: Number>(x: &Input<S>) -> Outcome<S> {
    Ok(vec![("logabsdet", one(Cholesky::new(x.a())?.ln_determinant()))])
}

// LU.

fn inverse<S: Number>(x: &Input<S>) -> Outcome<S> {
    Ok(vec![("Ainv", LU::new(x.a())?.inverse()?)])
}

fn det<S: Number>(x: &Input<S>) -> Outcome<S> {
    Ok(vec![("det", one(LU::new(x.a())?.determinant()))])
}

fn logdet<S: Number>(x: &Input<S>) -> Outcome<S> {
    Ok(vec![("logabsdet", one(LU::new(x.a())?.ln_abs_determinant()?))])
}

fn lu_solve<S: Number>(x: &Input<S>) -> Outcome<S> {
    Ok(vec![("X", LU::new(x.a())?.solve(&x.get("B"))?)])
}

fn getri<S: Number>(x: &Input<S>) -> Outcome<S> {
    let mut a = x.a();
    let mut ipiv = vec![0; a.nrows()];
    S::getrf(a.as_view_mut(), &mut ipiv)?;
    S::getri(a.as_view_mut(), &ipiv)?;
    Ok(vec![("Ainv", a)])
}

fn getrs<S: Number>(x: &Input<S>) -> Outcome<S> {
    let (mut a, mut b) = (x.a(), x.get("B"));
    let mut ipiv = vec![0; a.nrows()];
    S::getrf(a.as_view_mut(), &mut ipiv)?;
    S::getrs(Trans::NoTrans, a.as_view(), &ipiv, b.as_view_mut())?;
    Ok(vec![("X", b)])
}

fn getrs_transposed<S: Number>(x: &Input<S>) -> Outcome<S> {
    let (mut a, mut b) = (x.a().transpose(), x.get("B"));
    let mut ipiv = vec![0; a.nrows()];
    S::getrf(a.as_view_mut(), &mut ipiv)?;
    S::getrs(Trans::Trans, a.as_view(), &ipiv, b.as_view_mut())?;
    Ok(vec![("X", b)])
}

// Balancing and the exponential.

fn job(case: &Value) -> BalanceJob {
    match text(case, "job") {
        "N" => BalanceJob::None,
        "P" => BalanceJob::Permute,
        "S" => BalanceJob::Scale,
        "B" => BalanceJob::Both,
        other => panic!("no such job: {other}"),
    }
}

fn gebal<S: Number>(x: &Input<S>) -> Outcome<S> {
    let mut a = x.a();
    let balance = S::gebal(job(x.case), a.as_view_mut())?;
    let scale = DMatrix::from_iterator(a.nrows(), 1, balance.scale.iter().map(|&s| S::from_base(s)));
    let index = |i: usize| one(S::from_base(i as f64));
    Ok(vec![("B", a), ("scale", scale), ("ilo", index(balance.ilo)), ("ihi", index(balance.ihi))])
}

fn balanced<S: Number>(x: &Input<S>) -> Outcome<S> {
    // The front knows one job.
    if job(x.case) != BalanceJob::Both {
        return gebal(x);
    }
    let balanced = balance(&x.a())?;
    let scale = balanced.balance.scale.iter().map(|&s| S::from_base(s));
    let scale = DMatrix::from_iterator(balanced.matrix.nrows(), 1, scale);
    let index = |i: usize| one(S::from_base(i as f64));
    let (ilo, ihi) = (index(balanced.balance.ilo), index(balanced.balance.ihi));
    Ok(vec![("B", balanced.matrix), ("scale", scale), ("ilo", ilo), ("ihi", ihi)])
}

fn gebak<S: Number>(x: &Input<S>) -> Outcome<S> {
    let mut v = x.get("V");
    let index = |name: &str| x.case[name].as_u64().expect("an index") as usize;
    let balance = Balance { ilo: index("ilo"), ihi: index("ihi"), scale: list(&x.case["inputs"]["scale"]) };
    let side = if text(x.case, "side") == "R" { Side::Right } else { Side::Left };
    S::gebak(job(x.case), side, &balance, v.as_view_mut())?;
    Ok(vec![("V", v)])
}

fn exponential<S: Number>(x: &Input<S>) -> Outcome<S> {
    Ok(vec![("E", expm(&x.a())?)])
}

fn expm_in_place<S: Number>(x: &Input<S>) -> Outcome<S> {
    let mut a = x.a();
    S::expm(a.as_view_mut())?;
    Ok(vec![("E", a)])
}

/// The value and the derivatives along the case's directions that a factorization of the plain matrix gives.
fn pushed(case: &Value, output: &'static str, f: fn(&DMatrix<f64>, &DMatrix<f64>) -> Pushed) -> Vec<Found> {
    let a = matrix(case, &case["inputs"], "A");
    let directions = case["directions"].as_array().expect("directions");
    let mut da = DMatrix::zeros(a.nrows(), a.ncols() * directions.len());
    for (k, d) in directions.iter().enumerate() {
        da.columns_mut(k * a.ncols(), a.ncols()).copy_from(&matrix(case, d, "A"));
    }
    let result = f(&a, &da).map_err(|e| e.to_string()).map(|(value, d)| {
        let width = value.ncols();
        let lane = |k: usize| vec![(output, d.columns(k * width, width).into_owned())];
        Parts { first: (0..directions.len()).map(lane).collect(), value: vec![(output, value)], mixed: None }
    });
    vec![Found { scalar: f64::NAME, result }]
}

type Pushed = Result<(DMatrix<f64>, DMatrix<f64>), Error>;

fn cholesky_pushed(a: &DMatrix<f64>, da: &DMatrix<f64>) -> Pushed {
    let cholesky = Cholesky::new(a.clone())?;
    Ok((cholesky.l(), cholesky.pushforward(da)?))
}

fn exponential_pushed(a: &DMatrix<f64>, da: &DMatrix<f64>) -> Pushed {
    let exponential = Exponential::new(a)?;
    Ok((exponential.value().clone(), exponential.pushforward(da)?))
}

/// One operation by one road.
struct Road {
    op: &'static str,
    via: &'static str,
    gauge: Gauge,
    run: fn(&Value) -> Vec<Found>,
}

macro_rules! roads {
    ($($op:literal $via:literal $gauge:expr, $f:ident;)*) => {
        vec![$(Road {
            op: $op,
            via: $via,
            gauge: $gauge,
            // The plain floats first: their values are what the others are compared with.
            run: |case| vec![
                evaluate::<f64>(case, $f),
                evaluate::<Dual<f64, 3>>(case, $f),
                evaluate::<HyperDual<f64, 1, 1>>(case, $f),
                evaluate::<Dual2<f64, 2>>(case, $f),
                evaluate::<Dual<Dual<f64, 1>, 1>>(case, $f),
            ],
        }),*]
    };
}

fn roads() -> Vec<Road> {
    let mut roads = roads! {
        "cholesky" "Cholesky::l" Gauge::None, cholesky;
        "cholesky" "potrf(Lower)" Gauge::None, potrf_lower;
        "cholesky" "potrf(Upper)" Gauge::None, potrf_upper;
        "chol_solve" "Cholesky::solve" Gauge::None, chol_solve;
        "chol_solve" "potrs" Gauge::None, potrs;
        "logdet_spd" "Cholesky::ln_determinant" Gauge::None, logdet_spd;
        "inverse" "getri" Gauge::None, getri;
        "inverse" "LU::inverse" Gauge::None, inverse;
        "det" "LU::determinant" Gauge::None, det;
        "logdet" "LU::ln_abs_determinant" Gauge::None, logdet;
        "lu_solve" "LU::solve" Gauge::None, lu_solve;
        "lu_solve" "getrs" Gauge::None, getrs;
        "lu_solve" "getrs(Trans)" Gauge::None, getrs_transposed;
        "gebal" "gebal" Gauge::None, gebal;
        "gebal" "balance" Gauge::None, balanced;
        "gebak" "gebak" Gauge::None, gebak;
        "expm" "expm" Gauge::None, exponential;
        "expm" "T::expm in place" Gauge::None, expm_in_place;
    };
    let pushforward = |op, run| Road { op, via: "pushforward of the f64 front", gauge: Gauge::None, run };
    roads.push(pushforward("cholesky", |case| pushed(case, "L", cholesky_pushed)));
    roads.push(pushforward("expm", |case| pushed(case, "E", exponential_pushed)));
    roads
}

/// The operations that this file runs.
pub fn operations() -> impl Iterator<Item = &'static str> {
    roads().into_iter().map(|r| r.op)
}

/// Every matrix case of the reference.
pub fn run() -> Report {
    let mut report = Report::new("Matrix operations");
    let cases = case::all();
    for road in roads() {
        let row = format!("{} by {}", road.op, road.via);
        for case in cases.iter().filter(|c| c["op"] == road.op) {
            report.case(&row);
            check(case, &row, road.gauge, (road.run)(case), &mut report);
        }
    }
    report
}

/// What one kind of number found: the values, the first derivatives along the directions, the mixed second one.
struct Found {
    scalar: &'static str,
    result: Result<Parts, String>,
}

struct Parts {
    value: Outputs,
    first: Vec<Outputs>,
    mixed: Option<Outputs>,
}

fn evaluate<S: Number>(case: &Value, f: fn(&Input<S>) -> Outcome<S>) -> Found {
    let directions = case["directions"].as_array().expect("directions");
    let mut matrices = BTreeMap::new();
    for name in case["inputs"].as_object().expect("inputs").keys() {
        let value = matrix(case, &case["inputs"], name);
        // Some inputs have no directions: the scale of gebak is a constant.
        let tangent =
            |k: usize| directions.get(k).filter(|d| d.get(name).is_some()).map(|d| matrix(case, d, name));
        let tangents: [Option<DMatrix<f64>>; 3] = std::array::from_fn(tangent);
        let seeded = DMatrix::from_fn(value.nrows(), value.ncols(), |i, j| {
            let first = tangents.each_ref().map(|t| t.as_ref().map_or(0.0, |t| t[(i, j)]));
            S::lift(value[(i, j)], first, 0.0)
        });
        matrices.insert(name.clone(), seeded);
    }
    let result = f(&Input { case, matrices }).map_err(|e| e.to_string()).map(|outputs| {
        let read = |get: &dyn Fn(S) -> f64| -> Outputs {
            outputs.iter().map(|(name, m)| (*name, part(m, |x| get(*x)))).collect()
        };
        let probe = S::lift(0.0, [0.0; 3], 0.0);
        let carried = (0..directions.len()).take_while(|&k| probe.first(k).is_some());
        Parts {
            value: read(&|x| x.base()),
            first: carried.map(|k| read(&|x| x.first(k).expect("carried"))).collect(),
            mixed: probe.mixed().map(|_| read(&|x| x.mixed().expect("carried"))),
        }
    });
    Found { scalar: S::NAME, result }
}

fn check(case: &Value, row: &str, gauge: Gauge, found: Vec<Found>, report: &mut Report) {
    let id = text(case, "id");
    let mut plain: Option<Outputs> = None;
    let mut reference: Option<Reference> = None;
    for Found { scalar, result } in found {
        let mut parts = match result {
            Ok(parts) => parts,
            Err(error) => {
                report.fail(row, id, format!("{scalar}: {error}"));
                continue;
            }
        };
        let plain = plain.get_or_insert_with(|| parts.value.clone());
        for ((name, ours), (_, float)) in parts.value.iter().zip(plain.iter()) {
            if let Some(k) = (0..ours.len()).find(|&k| !same_bits(ours[k], float[k])) {
                let (x, y) = (ours[k], float[k]);
                report.fail(
                    row,
                    id,
                    format!("{scalar}: value of {name}[{k}] is {x:e}, with f64 it is {y:e}"),
                );
            }
        }
        // The f64 run comes first: it alone decides which version of LAPACK this is and how good its values are.
        let reference = reference.get_or_insert_with(|| Reference::new(case, &parts.value));
        let factors = gauge.factors(&parts.value, &reference.value);
        for outputs in [&mut parts.value].into_iter().chain(&mut parts.first).chain(&mut parts.mixed) {
            gauge.apply(&factors, outputs);
        }
        if scalar == f64::NAME {
            reference.judge_lapack(&parts.value);
            if reference.lapack_is_off && reference.hint.iter().any(|&hint| hint > 1e-6) {
                report.note(row, id, "LAPACK's own f64 value is off by more than tol_best");
            }
        }
        let mut quantity = |order: usize, what: &str, ours: &Outputs, wanted: &Outputs| {
            for (name, want) in wanted {
                let Some((_, got)) = ours.iter().find(|(n, _)| n == name) else {
                    report.fail(row, id, format!("{scalar}: no output {name}"));
                    continue;
                };
                if got.shape() != want.shape() {
                    report.fail(
                        row,
                        id,
                        format!("{scalar}: {name} is {:?}, not {:?}", got.shape(), want.shape()),
                    );
                    continue;
                }
                let error = reference.error(name, got, want);
                report.record(row, id, order, reference.excess(order, error), || {
                    format!("{scalar}: {what} of {name} has the relative error {error:.2e}")
                });
            }
        };
        quantity(0, "value", &parts.value, &reference.value);
        for (k, ours) in parts.first.iter().enumerate() {
            quantity(1, &format!("derivative {}", k + 1), ours, &reference.first[k]);
        }
        if let Some(ours) = &parts.mixed {
            quantity(2, "mixed derivative", ours, &reference.mixed);
        }
    }
}

/// The right numbers of a case and how exactly they must be met.
struct Reference {
    value: Outputs,
    first: Vec<Outputs>,
    mixed: Outputs,
    hint: Vec<f64>,
    best: Option<Vec<f64>>,
    lapack_is_off: bool,
}

impl Reference {
    fn new(case: &Value, ours: &Outputs) -> Self {
        let named = |part: &Value| -> Outputs {
            // Names live as long as the outputs of the road, which are the same ones.
            let name = |key: &str| ours.iter().map(|(n, _)| *n).find(|n| *n == key);
            part.as_object()
                .expect("named matrices")
                .keys()
                .map(|key| {
                    (
                        name(key).unwrap_or_else(|| panic!("the road returns no {key}")),
                        matrix(case, part, key),
                    )
                })
                .collect()
        };
        let mut reference = Reference {
            value: named(&case["value"]),
            first: case["d1"].as_array().expect("first derivatives").iter().map(named).collect(),
            mixed: named(&case["d12"]),
            hint: list(&case["tol_hint"]),
            best: case.get("tol_best").map(list),
            lapack_is_off: false,
        };
        // dgebal of LAPACK before 3.12 sometimes chooses other interchanges, as valid.
        if let Some(older) = case.get("netlib_3_11").filter(|v| v.is_object()) {
            let older = named(older);
            let discrete = |outputs: &Outputs| -> Outputs {
                outputs.iter().filter(|(n, _)| *n != "B").cloned().collect()
            };
            if discrete(&older) == discrete(ours) {
                let directions = case["directions"].as_array().expect("directions");
                reference.first = directions
                    .iter()
                    .map(|d| vec![("B", similarity(matrix(case, d, "A"), &older))])
                    .collect();
                reference.value = older;
            }
        }
        reference
    }

    fn judge_lapack(&mut self, value: &Outputs) {
        let Some(best) = &self.best else { return };
        let error = |(name, want): &(&'static str, DMatrix<f64>)| {
            value.iter().find(|(n, _)| n == name).map_or(0.0, |(_, got)| self.error(name, got, want))
        };
        self.lapack_is_off = self.value.iter().map(error).any(|e| e > best[0]);
    }

    /// Normwise relative error; where the reference is zero, relative to the norm of the value.
    fn error(&self, name: &str, got: &DMatrix<f64>, want: &DMatrix<f64>) -> f64 {
        let error = relative_error(got, want);
        if norm(want.iter()) > 0.0 {
            return error;
        }
        let value = self.value.iter().find(|(n, _)| *n == name).map_or(0.0, |(_, v)| norm(v.iter()));
        if value > 0.0 { error / value } else { error }
    }

    /// The error in units of the tolerance.
    fn excess(&self, order: usize, error: f64) -> f64 {
        if error == 0.0 {
            return 0.0;
        }
        let hint = self.hint[order];
        match &self.best {
            Some(best) if hint > 1e-6 && !self.lapack_is_off => error / hint.min(best[order].max(1e-6)),
            _ => error / hint,
        }
    }
}

/// D^-1 P^T X P D as LAPACK's scale, ilo, ihi describe it: interchanges n..ihi+1, then 1..ilo-1, then the scaling.
fn similarity(mut x: DMatrix<f64>, balance: &Outputs) -> DMatrix<f64> {
    let get = |name: &str| &balance.iter().find(|(n, _)| *n == name).expect("an output of gebal").1;
    let (scale, ilo, ihi) = (get("scale"), get("ilo")[0] as usize, get("ihi")[0] as usize);
    for j in (ihi..x.nrows()).rev().chain(0..ilo.saturating_sub(1)) {
        let k = scale[j] as usize - 1;
        x.swap_rows(j, k);
        x.swap_columns(j, k);
    }
    for j in ilo.saturating_sub(1)..ihi {
        x.row_mut(j).unscale_mut(scale[j]);
        x.column_mut(j).scale_mut(scale[j]);
    }
    x
}
