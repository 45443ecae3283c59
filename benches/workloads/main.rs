//! The side-by-side table: derivatives by dualpack and by central differences on the same LAPACK, for the workloads
//! that automatic differentiation is judged by. `cargo bench --bench workloads -- --tsv FILE`; every result is checked,
//! and a wrong one fails the run.
//!
//! | | workload | what is computed |
//! |---|---|---|
//! | W1 | ba | residuals and 2 x 15 Jacobian of a reprojection, mean over 1000 observations |
//! | W2 | rosen, ackley | full gradient in chunks of N |
//! | W3 | chol | L = chol(A) |
//! | W4 | cholsolve | the sum of the entries of L⁻¹ X, L = chol(A Aᵀ + n I) |
//! | W5 | expm1, expm30 | exp(A), norm about 1 and about 30 |
//! | W6 | lusolve | A⁻¹ b, tangents of both |
//! | W8 | hess_rosen, hess_ackley, hess_logdet | full Hessian |
//!
//! `--only rate` compares the rate of the lane work with that of a product.
//!
//! Seeding and extraction are timed for W1, W2 and W8, for matrices only the copy of the input.

mod inputs;
mod matrices;
mod rate;
mod report;
mod scalars;
#[path = "../support/timing.rs"]
mod timing;

/// Has the allocator keep what is freed, as in a program that has run for a while. Otherwise it depends on what was
/// measured before whether each call pays for fresh pages, which doubles the time of some.
fn settle_allocator() {
    // A little less than the largest block that lifts the threshold of glibc for pages of their own, which is 32 MiB.
    std::hint::black_box(Vec::<u8>::with_capacity(31 << 20));
}

fn main() {
    settle_allocator();
    let mut report = report::Report::new(report::Options::from_args());
    scalars::run(&mut report);
    matrices::run(&mut report);
    rate::run(&report);
    report.finish().expect("cannot write the table");
    if !report.right {
        eprintln!("at least one result is wrong");
        std::process::exit(1);
    }
}
