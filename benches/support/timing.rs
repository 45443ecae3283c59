//! The clock of the benchmarks.

use std::hint::black_box;
use std::time::Instant;

/// The best mean over batches of at least 3 ms, in nanoseconds; about `budget_ns` are spent.
pub fn best<R>(budget_ns: f64, mut f: impl FnMut() -> R) -> f64 {
    let mut batch = |count: usize| {
        let start = Instant::now();
        (0..count).for_each(|_| drop(black_box(f())));
        start.elapsed().as_nanos() as f64 / count as f64
    };
    batch(1);
    let mut one = batch(1);
    if one < 1e6 {
        batch((2e6 / one.max(20.0)).min(1000.0) as usize);
        one = batch(4).max(1.0);
    }
    let count = ((3e6 / one) as usize).max(1);
    let (mut best, mut spent, mut rounds) = (f64::INFINITY, 0.0, 0);
    while rounds < 5 || spent < budget_ns {
        let mean = batch(count);
        best = best.min(mean);
        spent += mean * count as f64;
        rounds += 1;
        if rounds >= 2 && spent > 10.0 * budget_ns {
            break;
        }
    }
    best
}
