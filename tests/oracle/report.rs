//! Collecting errors and printing the table.

use std::collections::BTreeMap;

/// How far one operation, by one road, is from the reference.
#[derive(Default)]
struct Row {
    cases: usize,
    quantities: usize,
    failures: usize,
    /// Worst error in units of the tolerance, per order, with the case it occurs in.
    worst: [(f64, String); 4],
}

/// One run over many cases.
#[derive(Default)]
pub struct Report {
    title: &'static str,
    rows: BTreeMap<String, Row>,
    failures: Vec<String>,
    notes: Vec<String>,
}

impl Report {
    pub fn new(title: &'static str) -> Self {
        Report { title, ..Self::default() }
    }

    /// Counts a case of an operation.
    pub fn case(&mut self, row: &str) {
        self.rows.entry(row.to_string()).or_default().cases += 1;
    }

    /// Records one quantity: `excess` is its error in units of the tolerance, `order` 0..=3 that of the derivative.
    pub fn record(
        &mut self,
        row: &str,
        id: &str,
        order: usize,
        excess: f64,
        message: impl FnOnce() -> String,
    ) {
        let entry = self.rows.entry(row.to_string()).or_default();
        entry.quantities += 1;
        let worst = &mut entry.worst[order];
        if worst.1.is_empty() || excess > worst.0 {
            *worst = (excess, id.to_string());
        }
        if excess.is_nan() || excess > 1.0 {
            entry.failures += 1;
            self.failures.push(format!("{row}, {id}: {} ({excess:.3e} of the tolerance)", message()));
        }
    }

    /// A failure without a number: an error where a result is due.
    pub fn fail(&mut self, row: &str, id: &str, message: String) {
        self.rows.entry(row.to_string()).or_default().failures += 1;
        self.failures.push(format!("{row}, {id}: {message}"));
    }

    /// Something to be listed that is no failure.
    pub fn note(&mut self, row: &str, id: &str, message: &str) {
        self.notes.push(format!("{row}, {id}: {message}"));
    }

    /// Prints the table, then panics with all failures if there are any.
    #[track_caller]
    pub fn conclude(self) {
        let width = self.rows.keys().map(String::len).max().unwrap_or(0).max(9);
        println!("\n{}: worst error in units of the tolerance, and its case", self.title);
        println!(
            "{:width$} {:>5} {:>6} {:>5}  {:30} {:30} {:30} third",
            "operation", "cases", "checks", "fail", "value", "first", "second"
        );
        for (name, row) in &self.rows {
            let cell = |(worst, id): &(f64, String)| {
                if id.is_empty() { String::from("-") } else { format!("{worst:8.2e} {id}") }
            };
            let [value, first, second, third] = row.worst.each_ref().map(cell);
            println!(
                "{name:width$} {:5} {:6} {:5}  {value:30} {first:30} {second:30} {third}",
                row.cases, row.quantities, row.failures
            );
        }
        for note in &self.notes {
            println!("  listed: {note}");
        }
        assert!(self.failures.is_empty(), "{} failures\n{}", self.failures.len(), self.failures.join("\n"));
    }
}

#[test]
fn failures_are_counted() {
    let mut report = Report::new("self-test");
    report.case("op");
    report.record("op", "a", 0, 0.5, || unreachable!());
    report.record("op", "b", 0, f64::NAN, || String::from("no number"));
    report.record("op", "c", 1, 1.5, || String::from("too far"));
    assert_eq!((report.failures.len(), report.rows["op"].failures, report.rows["op"].quantities), (2, 2, 3));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| report.conclude()));
    assert!(outcome.is_err(), "a report with failures must not pass");
}
