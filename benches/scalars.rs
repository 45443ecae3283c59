//! What one operation on numbers with tangents costs beside plain `f64`, num-dual and hyperdual, and the gradient of a
//! rational function of eight inputs. Compare the flags users build with:
//!
//! ```text
//! cargo bench --bench scalars --profile release                                         baseline CPU, no LTO
//! RUSTFLAGS="-C target-cpu=x86-64-v3" cargo bench --bench scalars --profile release
//! RUSTFLAGS="-C target-cpu=native" cargo bench --bench scalars                          LTO
//! ```

use std::hint::black_box;
use std::ops::{Add, Div, Mul, Sub};

use dualpack::{Dual, gradient};
use hyperdual::Hyperdual;
use num_dual::{Derivative, DualNum, DualSVec64};
use num_traits::Float;

#[path = "support/timing.rs"]
mod timing;

const X: [f64; 8] = [0.5, 1.25, -0.75, 2.0, 1.5, 0.3, -1.1, 0.9];

/// Two quotients of polynomials.
#[inline(always)]
fn rational<T>(x: &[T]) -> T
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T> + Add<f64, Output = T>,
{
    (x[0] * x[1] + x[2] * x[3] * x[4] - x[5]) / (x[6] * x[6] + x[7] * x[7] + 1.0)
        + (x[0] - x[7]) * (x[1] + x[6]) / (x[2] * x[5] + 2.5)
}

/// A number with all lanes filled.
fn ours<const N: usize>(value: f64) -> Dual<f64, N> {
    Dual::new(value, std::array::from_fn(|k| 0.1 * k as f64 - 0.3))
}

fn num_dual<const N: usize>(value: f64) -> DualSVec64<N> {
    DualSVec64::new(value, Derivative::some(ours::<N>(value).eps.into()))
}

/// hyperdual keeps the value in the first of its `M = N + 1` slots.
fn hyper<const M: usize>(value: f64) -> Hyperdual<f64, M> {
    let mut slots = [0.25; M];
    slots[0] = value;
    Hyperdual::from_slice(&slots)
}

/// Runs the measurements whose names contain the text given on the command line, all without one.
struct Bench {
    filter: String,
}

impl Bench {
    fn time<R>(&self, name: &str, f: impl FnMut() -> R) {
        if name.contains(&self.filter) {
            println!("{name:<28} {:>9.2} ns", timing::best(2e8, f));
        }
    }
}

/// One operation in four numbers; operands and result pass through memory, as in a loop over arrays.
macro_rules! operation {
    ($bench:ident, $name:literal, |$x:ident, $y:ident| $ours:expr, $num_dual:expr, $float:expr) => {
        let ($x, $y) = (1.3, 0.7);
        let (mut a, mut c) = ($x, $y);
        $bench.time(concat!($name, "/f64"), || {
            let ($x, $y) = (*black_box(&mut a), *black_box(&mut c));
            $float
        });
        operation!(@lanes $bench, $name, ours, "dualpack", |$x, $y| $ours; 1 4 8 16);
        operation!(@lanes $bench, $name, num_dual, "num-dual", |$x, $y| $num_dual; 1 4 8 16);
        operation!(@lanes $bench, $name, hyper, "hyperdual", |$x, $y| $float; 2 5 9 17);
    };
    (@lanes $bench:ident, $name:literal, $number:ident, $label:literal, |$x:ident, $y:ident| $op:expr; $($N:literal)*) => {$(
        let (mut a, mut c) = ($number::<$N>($x), $number::<$N>($y));
        let mut out = a;
        $bench.time(concat!($name, "/", $label, "/", $N), || {
            let ($x, $y) = (*black_box(&mut a), *black_box(&mut c));
            out = $op;
            black_box(&mut out);
        });
    )*};
}

fn operations(bench: &Bench) {
    operation!(bench, "mul", |x, y| x * y, x * y, x * y);
    operation!(bench, "add", |x, y| x + y, x + y, x + y);
    operation!(bench, "div", |x, y| x / y, x / y, x / y);
    operation!(bench, "exp", |x, _y| x.exp(), DualNum::exp(&x), Float::exp(x));
    operation!(bench, "sin", |x, _y| x.sin(), DualNum::sin(&x), Float::sin(x));
    operation!(bench, "powi", |x, _y| x.powi(5), DualNum::powi(&x, 5), Float::powi(x, 5));
}

fn gradients(bench: &Bench) {
    let mut y = 0.0;
    bench.time("rational/f64", || {
        y = rational(black_box(&X));
        black_box(&mut y);
    });
    let mut g = [0.0; 8];
    bench.time("rational/dualpack/gradient", || {
        g = gradient(|x: &[Dual<f64, 8>; 8]| rational(x), black_box(&X)).1;
        black_box(&mut g);
    });
    // Inputs with all lanes filled, so that nothing is known to be zero when the function is compiled.
    macro_rules! dense {
        ($number:ident, $label:literal; $($N:literal)*) => {$(
            let x = X.map($number::<$N>);
            let mut y = x[0];
            bench.time(concat!("rational/", $label, "/", $N), || {
                y = rational(black_box(&x));
                black_box(&mut y);
            });
        )*};
    }
    dense!(ours, "dualpack"; 8 16);
    dense!(num_dual, "num-dual"; 8 16);
    dense!(hyper, "hyperdual"; 9 17);
}

fn main() {
    // cargo passes `--bench`.
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let bench = Bench { filter };
    operations(&bench);
    gradients(&bench);
}
