//! Timing, checking, and the two output formats.

use crate::timing;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

/// What to run and where the results go.
pub struct Options {
    pub only: Option<Vec<String>>,
    pub n: Option<Vec<usize>>,
    pub lanes: Option<Vec<usize>>,
    pub peers: Vec<String>,
    budget_ns: f64,
    tsv: Option<PathBuf>,
    raw: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments behind `cargo bench --bench workloads --`.
    pub fn from_args() -> Options {
        let mut options = Options {
            only: None,
            n: None,
            lanes: None,
            peers: vec!["dualpack".into(), "fd-openblas".into()],
            budget_ns: 120e6,
            tsv: None,
            raw: None,
        };
        let mut args = std::env::args().skip(1);
        while let Some(name) = args.next() {
            if name == "--bench" {
                continue; // cargo's own
            }
            let Some(value) = args.next() else { usage(&format!("{name} needs a value")) };
            let words = || value.split(',').map(String::from).collect::<Vec<_>>();
            let numbers =
                || words().iter().map(|w| w.parse().unwrap_or_else(|_| usage(w))).collect::<Vec<usize>>();
            match name.as_str() {
                "--only" => options.only = Some(words()),
                "--n" => options.n = Some(numbers()),
                "--lanes" => options.lanes = Some(numbers()),
                "--peers" => options.peers = words(),
                "--budget-ms" => {
                    let ms: f64 = value.parse().unwrap_or_else(|_| usage(&value));
                    options.budget_ns = 1e6 * ms;
                }
                "--tsv" => options.tsv = Some(value.into()),
                "--peer-raw" => options.raw = Some(value.into()),
                _ => usage(&name),
            }
        }
        options
    }
}

fn usage(wrong: &str) -> ! {
    eprintln!(
        "workloads: {wrong}?\n\
         --only W3,W5 or chol,expm1    --n 3,6    --lanes 8,16    --peers dualpack,fd-openblas,num-dual\n\
         --budget-ms 120    --tsv FILE    --peer-raw DIR (writes DIR/raw/dualpack.tsv and DIR/dump/)"
    );
    std::process::exit(2)
}

/// One cell of the table: a workload at one size and lane count, its exact result, and who is measured.
pub struct Cell<'a> {
    pub workload: &'a str,
    pub n: usize,
    pub lanes: usize,
    pub values: Vec<f64>,
    pub tangents: Vec<Vec<f64>>,
}

/// A measured result.
pub struct Outcome {
    pub ns: f64,
    pub values: Vec<f64>,
    pub tangents: Vec<Vec<f64>>,
}

pub struct Report {
    pub options: Options,
    table: Vec<String>,
    raw: Vec<String>,
    /// Whether every result was right so far.
    pub right: bool,
}

impl Report {
    pub fn new(options: Options) -> Report {
        println!("{:<12} {:<12} {:>5} {:>5} {:>14} {:>10}", "workload", "peer", "n", "N", "ns", "error");
        Report { options, table: Vec::new(), raw: Vec::new(), right: true }
    }

    /// Whether a workload, known by its number and its name, is asked for at this size and lane count.
    pub fn wants(&self, number: &str, name: &str, n: usize, lanes: usize) -> bool {
        let listed = |list: &Option<Vec<usize>>, x| list.as_ref().is_none_or(|l| l.contains(&x));
        let named = |l: &Vec<String>| l.iter().any(|w| w == number || w == name);
        self.options.only.as_ref().is_none_or(named)
            && listed(&self.options.n, n)
            && listed(&self.options.lanes, lanes)
    }

    pub fn wants_peer(&self, peer: &str) -> bool {
        self.options.peers.iter().any(|p| p == peer)
    }

    /// The time of one call in nanoseconds.
    pub fn time<R>(&self, f: impl FnMut() -> R) -> f64 {
        timing::best(self.options.budget_ns, f)
    }

    /// Checks one result and adds its row. `tolerance` bounds the error of the tangents.
    pub fn add(&mut self, cell: &Cell, peer: &str, outcome: &Outcome, tolerance: f64, note: &str) {
        let Cell { workload, n, lanes, .. } = *cell;
        let error = error(cell, outcome);
        let wrong = error.is_nan() || error > tolerance;
        self.right &= !wrong;
        let verdict = if wrong { "WRONG DERIVATIVE" } else { "" };
        println!("{workload:<12} {peer:<12} {n:>5} {lanes:>5} {:>14.1} {error:>10.1e} {verdict}", outcome.ns);
        let notes = [verdict, note].iter().filter(|s| !s.is_empty()).copied().collect::<Vec<_>>().join("; ");
        self.table.push(format!("{workload}\t{peer}\t{n}\t{lanes}\t{:.1}\t{error:.1e}\t{notes}", outcome.ns));
        if let Some(root) = self.options.raw.clone() {
            let file = format!("{peer}__{workload}_{n}_{lanes}.bin");
            let numbers = outcome.values.iter().chain(outcome.tangents.iter().flatten());
            let bytes: Vec<u8> = numbers.flat_map(|x| x.to_le_bytes()).collect();
            fs::create_dir_all(root.join("dump")).expect("cannot make the dump directory");
            fs::write(root.join("dump").join(&file), bytes).expect("cannot write a dump");
            self.raw.push(format!("{workload}\t{peer}\t{n}\t{lanes}\t{:.2}\t{file}\t{note}", outcome.ns));
        }
    }

    /// Writes the files that were asked for.
    pub fn finish(&self) -> io::Result<()> {
        if let Some(path) = &self.options.tsv {
            let mut file = File::create(path)?;
            writeln!(file, "workload\tpeer\tn\tN\tns_per_call\tmax_rel_err_vs_reference\tnote")?;
            self.table.iter().try_for_each(|row| writeln!(file, "{row}"))?;
        }
        if let Some(root) = &self.options.raw {
            fs::create_dir_all(root.join("raw"))?;
            let mut file = File::create(root.join("raw").join("dualpack.tsv"))?;
            self.raw.iter().try_for_each(|row| writeln!(file, "{row}"))?;
        }
        Ok(())
    }
}

/// The largest difference to the reference, relative to the largest entry: of the values, and of each lane; of all
/// lanes together where the result is one number.
fn error(cell: &Cell, got: &Outcome) -> f64 {
    let single = cell.values.len() == 1;
    let flat = |lanes: &[Vec<f64>]| lanes.iter().flatten().copied().collect::<Vec<f64>>();
    let mut errors = vec![distance(&got.values, &cell.values)];
    if single {
        errors.push(distance(&flat(&got.tangents), &flat(&cell.tangents)));
    } else {
        errors.extend(got.tangents.iter().zip(&cell.tangents).map(|(g, r)| distance(g, r)));
    }
    errors.into_iter().fold(0.0, |worst, e| if e.is_nan() || e > worst { e } else { worst })
}

fn distance(got: &[f64], reference: &[f64]) -> f64 {
    assert_eq!(got.len(), reference.len(), "a result has another shape than its reference");
    let scale = reference.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let off = got.iter().zip(reference).map(|(g, r)| (g - r).abs());
    // Not max(): a NaN must stay.
    off.fold(0.0, |m, d| if d <= m { m } else { d }) / scale
}

/// The derivative of `f` at `x` in direction `dx` by central differences of order eight.
pub fn differences(f: &dyn Fn(&[f64]) -> Vec<f64>, x: &[f64], dx: &[f64]) -> Vec<f64> {
    let size = |v: &[f64]| v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    // A power of two, so that h is exact.
    let h = (size(x).clamp(0.5, 2.0) / size(dx) / 256.0).log2().round().exp2();
    let at = |t: f64| f(&x.iter().zip(dx).map(|(x, d)| x + t * d).collect::<Vec<_>>());
    let mut sum: Vec<f64> = Vec::new();
    for (i, w) in [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0].into_iter().enumerate() {
        let t = h * (i + 1) as f64;
        let (p, m) = (at(t), at(-t));
        sum.resize(p.len(), 0.0);
        (0..p.len()).for_each(|e| sum[e] += w * (p[e] - m[e]) / h);
    }
    sum
}

/// The derivatives in the first `lanes` directions by central differences with two evaluations each: what a user
/// without automatic differentiation does. Values come first.
pub fn plain_differences(
    f: &dyn Fn(&[f64]) -> Vec<f64>,
    x: &[f64],
    dx: &[Vec<f64>],
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let value = f(x);
    let mut moved = x.to_vec();
    let lanes = dx.iter().map(|dx| {
        let h = 6e-6;
        moved.iter_mut().zip(x.iter().zip(dx)).for_each(|(m, (x, d))| *m = x + h * d);
        let mut p = f(&moved);
        moved.iter_mut().zip(x.iter().zip(dx)).for_each(|(m, (x, d))| *m = x - h * d);
        let m = f(&moved);
        p.iter_mut().zip(&m).for_each(|(p, m)| *p = (*p - m) / (2.0 * h));
        p
    });
    let lanes = lanes.collect();
    (value, lanes)
}
