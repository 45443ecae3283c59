//! N lanes are N runs with one lane, bit for bit: whatever chunk a gradient is computed in, it is the same gradient.

use dualpack_core::registry;
use dualpack_core::{Dual, Dual2, HyperDual, Real};

use super::parts::{POINTS, Parts};
use crate::support::compare::same_bits;
use crate::support::matrices::Random;

/// Two-argument things that are not in the tables: operators, mixed operands, chains of them.
fn operations<S: Real>() -> Vec<(&'static str, fn(S, S) -> S)> {
    vec![
        ("add", |a, b| a + b),
        ("sub", |a, b| a - b),
        ("mul", |a, b| a * b),
        ("div", |a, b| a / b),
        ("rem", |a, b| a % b),
        ("assign", |mut a, b| {
            a += b;
            a *= b;
            a -= b * b;
            a /= b;
            a
        }),
        ("mul_add", |a, b| a.mul_add(b, a)),
        ("polynomial", |a, b| ((a * b - a) * a + b) * (a - b) + a * a * a),
        ("rational", |a, b| (a * a + b) / (b * b * a + a) - b / a),
        ("functions", |a, b| (a * b).sin() * a.exp() / (b * b + a.cosh()).sqrt()),
        ("powers", |a, b| a.powi(3) - b.powi(-2) + a.abs().powf(b)),
    ]
}

#[track_caller]
fn same(name: &str, at: [f64; 2], got: &[f64], want: &[f64]) {
    for (k, (x, y)) in got.iter().zip(want).enumerate() {
        assert!(same_bits(*x, *y), "{name} at {at:?}: part {k} of {got:?} and {want:?}");
    }
}

/// Every function of two arguments in `Wide` beside the same in `Narrow`, which `narrow` cuts from it.
fn compare<Wide: Parts, Narrow: Parts>(narrow: impl Fn(Wide, usize) -> Narrow, pieces: usize) {
    let mut random = Random::new(17);
    let number = |random: &mut Random, x: f64| {
        let zero = random.below(4);
        Wide::seeded(x, |k| if k % 4 == zero { 0.0 } else { random.signed() * 3.0 })
    };
    let mut small = Vec::new();
    registry::unary::<Narrow>(|_, _, f| small.push(f));
    let mut rows = small.into_iter();
    registry::unary::<Wide>(|name, samples, f| {
        let g = rows.next().expect("the same rows");
        for &x in samples.iter().chain(POINTS) {
            let a = number(&mut random, x);
            let y = f(a);
            for k in 0..pieces {
                same(name, [x, 0.0], &narrow(y, k).parts(), &g(narrow(a, k)).parts());
            }
        }
    });
    let mut both: Vec<(&str, fn(Wide, Wide) -> Wide, fn(Narrow, Narrow) -> Narrow)> =
        operations().into_iter().zip(operations()).map(|((name, f), (_, g))| (name, f, g)).collect();
    let mut small = Vec::new();
    registry::binary::<Narrow>(|_, _, f| small.push(f));
    let mut rows = small.into_iter();
    registry::binary::<Wide>(|name, _, f| both.push((name, f, rows.next().expect("the same rows"))));
    let points = [0.3, -1.7, 2.5, 1e-3, 40.0, 0.0, 1.0, -2.0, 1e-310, 3e200];
    for (name, f, g) in both {
        for x in points {
            for y in points {
                let (a, b) = (number(&mut random, x), number(&mut random, y));
                let c = f(a, b);
                for k in 0..pieces {
                    let want = g(narrow(a, k), narrow(b, k));
                    same(name, [x, y], &narrow(c, k).parts(), &want.parts());
                }
            }
        }
    }
}

macro_rules! dual_lanes {
    ($($name:ident $F:ident $N:literal;)*) => { $(
        #[test]
        fn $name() {
            compare::<Dual<$F, $N>, Dual<$F, 1>>(|x, k| Dual::new(x.value, [x.eps[k]]), $N);
        }
    )* };
}

dual_lanes! {
    dual_with_3_lanes f64 3;
    dual_with_4_lanes f64 4;
    dual_with_5_lanes f64 5;
    dual_with_8_lanes f64 8;
    dual_with_15_lanes f64 15;
    dual_with_16_lanes f64 16;
    dual_with_3_lanes_in_single_precision f32 3;
    dual_with_15_lanes_in_single_precision f32 15;
}

#[test]
fn hyper_dual_with_3_by_5_lanes() {
    compare::<HyperDual<f64, 3, 5>, HyperDual<f64, 1, 1>>(
        |x, k| {
            let (i, j) = (k / 5, k % 5);
            HyperDual::new(x.value, [x.eps1[i]], [x.eps2[j]], [[x.eps12[i][j]]])
        },
        15,
    );
}

#[test]
fn dual2_with_5_directions() {
    // A pair of directions is the smallest piece that has a mixed derivative.
    compare::<Dual2<f64, 5>, Dual2<f64, 2>>(
        |x, k| {
            let (i, j) = [(0, 1), (0, 4), (1, 3), (2, 4), (3, 4)][k];
            Dual2::new(x.value, [x.grad[i], x.grad[j]], [[x.hess[i][i], x.hess[i][j]], [0.0, x.hess[j][j]]])
        },
        5,
    );
}

#[test]
fn nested_duals_with_5_by_3_lanes() {
    compare::<Dual<Dual<f64, 3>, 5>, Dual<Dual<f64, 1>, 1>>(
        |x, k| {
            let (outer, inner) = (k / 3, k % 3);
            let cut = |d: Dual<f64, 3>| Dual::new(d.value, [d.eps[inner]]);
            Dual::new(cut(x.value), [cut(x.eps[outer])])
        },
        15,
    );
}

/// Products with plain floats take their own road through the lanes.
#[test]
fn mixed_operands() {
    fn run<const N: usize>(x: Dual<f64, N>, s: f64) -> [Dual<f64, N>; 12] {
        let mut y = x;
        y *= s;
        y += s;
        y /= s;
        y -= s;
        y %= s;
        [x + s, s + x, x - s, s - x, x * s, s * x, x / s, s / x, x % s, s % x, y, x.powf(s)]
    }
    let mut random = Random::new(3);
    for s in [0.3, -2.0, 7.0, 1e-310, 1e308] {
        let x = Dual::<f64, 7>::seeded(1.7, |_| random.signed());
        let wide = run(x, s);
        for k in 0..7 {
            for (i, want) in run(Dual::new(x.value, [x.eps[k]]), s).iter().enumerate() {
                let got = [wide[i].value, wide[i].eps[k]];
                same(&format!("mixed operation {i}"), [x.value, s], &got, &want.parts());
            }
        }
    }
}
