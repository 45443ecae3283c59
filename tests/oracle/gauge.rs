//! Signs and phases that only a convention fixes: the runner aligns the reference to ours, the library never does.
//!
//! One factor per vector, of modulus 1, chosen from the values alone and then held fixed for all derivatives.

use nalgebra::DMatrix;
use num_complex::Complex;

/// Which outputs of an operation share the factors.
#[derive(Clone, Copy, Debug)]
pub enum Gauge {
    /// Everything is determined.
    None,
    /// Columns of these outputs, the first decides (eigenvectors; V and U of the SVD).
    Columns(&'static [&'static str]),
    /// Columns of the first output, rows of the second (Q and R).
    ColumnsRows(&'static str, &'static str),
    /// Complex columns: real and imaginary part.
    Complex(&'static str, &'static str),
}

/// Named matrices: what an operation returns, or one derivative of it.
pub type Outputs = Vec<(&'static str, DMatrix<f64>)>;

fn find<'a>(outputs: &'a Outputs, name: &str) -> &'a DMatrix<f64> {
    &outputs.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no output {name}")).1
}

fn find_mut<'a>(outputs: &'a mut Outputs, name: &str) -> &'a mut DMatrix<f64> {
    &mut outputs.iter_mut().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no output {name}")).1
}

impl Gauge {
    /// The factors, one per vector, that turn `ours` into `reference`.
    pub fn factors(self, ours: &Outputs, reference: &Outputs) -> Vec<Complex<f64>> {
        let sign = |a: &DMatrix<f64>, b: &DMatrix<f64>| -> Vec<Complex<f64>> {
            let columns = a.ncols().min(b.ncols());
            (0..columns)
                .map(|j| Complex::new(if a.column(j).dot(&b.column(j)) < 0.0 { -1.0 } else { 1.0 }, 0.0))
                .collect()
        };
        match self {
            Gauge::None => Vec::new(),
            Gauge::Columns(names) => sign(find(ours, names[0]), find(reference, names[0])),
            Gauge::ColumnsRows(columns, _) => sign(find(ours, columns), find(reference, columns)),
            Gauge::Complex(re, im) => {
                let (a, b) = (find(ours, re), find(ours, im));
                let (c, d) = (find(reference, re), find(reference, im));
                (0..a.ncols())
                    .map(|j| {
                        // <ours, reference>
                        let inner = Complex::new(
                            a.column(j).dot(&c.column(j)) + b.column(j).dot(&d.column(j)),
                            a.column(j).dot(&d.column(j)) - b.column(j).dot(&c.column(j)),
                        );
                        if inner.norm() > 0.0 { inner / inner.norm() } else { Complex::new(1.0, 0.0) }
                    })
                    .collect()
            }
        }
    }

    /// Multiplies the vectors of `ours` (values or one derivative) by the factors.
    pub fn apply(self, factors: &[Complex<f64>], ours: &mut Outputs) {
        match self {
            Gauge::None => {}
            Gauge::Columns(names) => {
                for name in names {
                    for (mut column, f) in find_mut(ours, name).column_iter_mut().zip(factors) {
                        column *= f.re;
                    }
                }
            }
            Gauge::ColumnsRows(columns, rows) => {
                Gauge::Columns(&[]).apply(factors, ours);
                for (mut column, f) in find_mut(ours, columns).column_iter_mut().zip(factors) {
                    column *= f.re;
                }
                for (mut row, f) in find_mut(ours, rows).row_iter_mut().zip(factors) {
                    row *= f.re;
                }
            }
            Gauge::Complex(re, im) => {
                let (a, b) = (find(ours, re).clone(), find(ours, im).clone());
                for (j, f) in factors.iter().enumerate() {
                    find_mut(ours, re).set_column(j, &(a.column(j) * f.re - b.column(j) * f.im));
                    find_mut(ours, im).set_column(j, &(a.column(j) * f.im + b.column(j) * f.re));
                }
            }
        }
    }
}

#[test]
fn flipped_vectors_are_turned_back() {
    let q = DMatrix::from_row_slice(2, 2, &[0.6, 0.8, -0.8, 0.6]);
    let r = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 0.0, 3.0]);
    let reference: Outputs = vec![("Q", q.clone()), ("R", r.clone())];
    let flip = DMatrix::from_diagonal(&nalgebra::dvector![1.0, -1.0]);
    let mut ours: Outputs = vec![("Q", &q * &flip), ("R", &flip * &r)];
    let gauge = Gauge::ColumnsRows("Q", "R");
    let factors = gauge.factors(&ours, &reference);
    gauge.apply(&factors, &mut ours);
    assert_eq!(ours, reference);

    let reference: Outputs = vec![("V", q.clone()), ("U", r.clone())];
    let mut ours: Outputs = vec![("V", &q * &flip), ("U", &r * &flip)];
    let gauge = Gauge::Columns(&["V", "U"]);
    let factors = gauge.factors(&ours, &reference);
    gauge.apply(&factors, &mut ours);
    assert_eq!(ours, reference);

    // A phase: multiply by i, that is (a, b) -> (-b, a).
    let reference: Outputs = vec![("V_re", q.clone()), ("V_im", r.clone())];
    let mut ours: Outputs = vec![("V_re", -&r), ("V_im", q.clone())];
    let gauge = Gauge::Complex("V_re", "V_im");
    let factors = gauge.factors(&ours, &reference);
    gauge.apply(&factors, &mut ours);
    assert!((&ours[0].1 - &q).norm() < 1e-15 && (&ours[1].1 - &r).norm() < 1e-15);
}
