//! Tracers: no function loses an operand, at any point; threads; the end of a trace; `covers`.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use dualpack::nalgebra::{ComplexField, SimdValue};
use dualpack::{
    Dual, Pattern, Real, SeparableHessian, SparseHessian, SparseJacobian, Tracer, gradient, hessian_pattern,
    jacobian_pattern, lift_taylor, logsumexp, norm,
};
use dualpack_core::registry;

const ODD: [f64; 11] =
    [0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e300, -1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

type T = Tracer<f64>;

#[test]
fn every_function_of_the_tables_keeps_its_operands() {
    let mut rows = 0;
    registry::unary::<T>(|name, samples, f| {
        rows += 1;
        for &x in samples.iter().chain(&ODD) {
            assert_eq!(jacobian_pattern(|x| f(x[0]), &[x]).nnz(), 1, "{name} at {x}");
            assert_eq!(hessian_pattern(|x| f(x[0]), &[x]).nnz(), 1, "{name} at {x}");
        }
    });
    registry::binary::<T>(|name, samples, f| {
        rows += 1;
        let odd = ODD.iter().flat_map(|&a| ODD.map(|b| (a, b)));
        for (a, b) in samples.iter().copied().chain(odd) {
            assert_eq!(jacobian_pattern(|x| f(x[0], x[1]), &[a, b]).nnz(), 2, "{name} at {a}, {b}");
        }
    });
    assert!(rows > 60);
}

#[test]
fn every_method_keeps_its_operands() {
    let functions: &[(&str, usize, fn(&[T; 3]) -> T)] = &[
        ("mul_add", 3, |x| x[0].mul_add(x[1], x[2])),
        ("clamp", 3, |x| x[0].clamp(x[1], x[2])),
        ("select", 2, |x| x[0].select(x[2] > 0.0, x[1])),
        ("logsumexp", 3, |x| logsumexp(x)),
        ("norm", 3, |x| norm(x)),
        ("powf", 2, |x| x[0].powf(x[1])),
        ("constant powf", 1, |x| x[0].powf(0.3)),
        ("powi", 1, |x| x[0].powi(1)),
        ("powi 0", 1, |x| x[0].powi(0)),
        ("log", 2, |x| x[0].log(x[1])),
        ("constant log", 1, |x| x[0].log(3.0)),
        ("sin_cos", 1, |x| x[0].sin_cos().1),
        ("sinh_cosh", 1, |x| x[0].sinh_cosh().0),
        ("to_exp", 1, |x| x[0].to_exp().0),
        ("abs_sub", 2, |x| num_traits::Signed::abs_sub(&x[0], &x[1])),
        ("%", 2, |x| x[0] % x[1]),
        ("product", 3, |x| x.iter().product()),
        ("empty product", 0, |x| x[..0].iter().product()),
        ("empty sum", 0, |x| x[..0].iter().sum()),
        ("* 0", 1, |x| x[0] * 0.0),
        ("0 /", 1, |x| 0.0 / x[0]),
        ("lift_taylor", 1, |x| lift_taylor(x[0], &[0.0; 3])),
    ];
    for a in ODD {
        for b in ODD {
            for c in [0.0, 1.0, f64::NAN] {
                for (name, inputs, f) in functions {
                    assert_eq!(jacobian_pattern(f, &[a, b, c]).nnz(), *inputs, "{name} at {a}, {b}, {c}");
                }
            }
        }
    }
    // Choices are linear pieces: no second derivative of their own. Nested numbers keep all operands too.
    let bends = |x: &[T; 3]| x[0].max(x[1]).min(x[2]).clamp(x[0], x[1]);
    assert_eq!(hessian_pattern(bends, &[1.0, 2.0, 3.0]).nnz(), 0);
    let gates = |x: &[Dual<T, 3>; 3]| (x[0] * x[0]).max(x[1] * x[1]).clamp(x[2], x[2]);
    for x in [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [0.0; 3]] {
        let p = jacobian_pattern(|x| gradient(gates, x).1, &x);
        assert!([0, 1].iter().all(|&i| p.position(i, i).is_some()), "{p:?}");
    }
}

#[test]
fn a_function_may_spread_its_work_over_threads() {
    fn ring<S: Real>(x: &[S]) -> Vec<S> {
        let n = x.len();
        let part = |i: usize| x[i] * x[(i + 1) % n] + x[i];
        let (left, right) = thread::scope(|scope| {
            let half = scope.spawn(|| (0..n / 2).map(part).collect::<Vec<_>>());
            ((n / 2..n).map(part).collect::<Vec<_>>(), half.join().unwrap())
        });
        [right, left].concat()
    }
    let want = Pattern::new(40, 40, (0..40).flat_map(|i| [(i, i), (i, (i + 1) % 40)]));
    // Traces at the same time do not disturb each other.
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(jacobian_pattern(ring, &[0.5; 40][..]), want)));
        }
    });
}

#[test]
fn a_number_from_a_trace_that_is_over_is_refused() {
    let kept = Cell::new(Tracer::from(0.0));
    jacobian_pattern(
        |x| {
            kept.set(x[0] * x[1]);
            x[0]
        },
        &[1.0, 2.0],
    );
    let refused = |f: &dyn Fn(&[T; 2]) -> T| {
        let panic = catch_unwind(AssertUnwindSafe(|| jacobian_pattern(f, &[1.0, 2.0]))).unwrap_err();
        let message = panic.downcast_ref::<&str>().expect("a message");
        assert!(message.contains("after the end of the trace"), "{message}");
    };
    refused(&|x| x[0] + kept.get());
    refused(&|_| kept.get());
    refused(&|_| kept.get().exp());
    assert!(catch_unwind(AssertUnwindSafe(|| kept.get().inputs())).is_err());
    // The arena works on.
    assert_eq!(jacobian_pattern(|x| x[1] * 2.0, &[1.0, 2.0]).entries().collect::<Vec<_>>(), [(0, 1)]);
}

/// Upwind differences: an `if` decides which neighbour counts.
fn upwind<S: Real>(y: &mut [S], x: &[S]) {
    for i in 1..x.len() - 1 {
        y[i] = x[i] * if x[i] > S::zero() { x[i] - x[i - 1] } else { x[i + 1] - x[i] };
    }
}

/// The same by `select`, for one term of a sum.
fn selected<S: Real<Base = f64> + SimdValue<SimdBool = bool>>(y: &mut [S], x: &[S]) {
    for i in 1..x.len() - 1 {
        y[i] = x[i] * (x[i] - x[i - 1]).select(x[i] > S::zero(), x[i + 1] - x[i]);
    }
}

fn sum<S: Real>(f: impl Fn(&mut [S], &[S]), x: &[S]) -> S {
    let mut y = vec![S::zero(); x.len()];
    f(&mut y, x);
    y.iter().sum()
}

#[test]
fn a_structure_that_misses_an_entry_is_noticed() {
    let n = 12;
    let up: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64).sin().abs()).collect();
    let turned = |at: usize| {
        let mut x = up.clone();
        x[at] = -x[at];
        x
    };
    let mut jacobian = SparseJacobian::<f64>::trace(upwind, &up, n);
    let mut terms = SeparableHessian::<f64>::trace(upwind, &up, n);
    let mut whole = SparseHessian::<f64>::trace(|x| sum(upwind, x), &up);
    assert!(jacobian.covers(upwind, &up));
    assert!(terms.covers(upwind, &up));
    assert!(whole.covers(|x| sum(upwind, x), &up));
    for at in 1..n - 1 {
        let x = turned(at);
        assert!(!jacobian.covers(upwind, &x));
        assert!(!terms.covers(upwind, &x));
        // The pair of neighbours stands in the Hessian because of the next term, except for the last.
        assert_eq!(whole.covers(|x| sum(upwind, x), &x), at < n - 2);
    }
    // A choice that keeps both branches needs no second look.
    let mut jacobian = SparseJacobian::<f64>::trace(selected, &up, n);
    let mut terms = SeparableHessian::<f64>::trace(selected, &up, n);
    for at in 1..n - 1 {
        assert!(jacobian.covers(selected, &turned(at)));
        assert!(terms.covers(selected, &turned(at)));
    }

    // Any entry that is taken out of a structure, and a structure that is taken for symmetric.
    let entries: Vec<_> = jacobian.pattern().entries().collect();
    for k in 0..entries.len() {
        let rest = entries.iter().enumerate().filter(|&(other, _)| other != k).map(|(_, &e)| e);
        let mut short = SparseJacobian::<f64>::new(Pattern::new(n, n, rest));
        let x = turned(if entries[k].1 > entries[k].0 { entries[k].0 } else { 0 });
        assert!(!short.covers(upwind, &x), "without {:?}", entries[k]);
    }
    let both = Pattern::new(n, n, entries.iter().flat_map(|&(i, j)| [(i, j), (j, i)]));
    assert!(!SparseJacobian::<f64>::symmetric(both.clone()).covers(upwind, &up));
    assert!(SparseJacobian::<f64>::new(both).covers(upwind, &up));

    // Rounding is no entry: sin² + cos² has derivative 1e-17. NaN agrees with NaN.
    let unit = |y: &mut [Dual<f64, 8>], x: &[Dual<f64, 8>]| {
        y[0] = x[0].sin() * x[0].sin() + x[0].cos() * x[0].cos();
        y[1] = x[1].sqrt();
    };
    let mut jacobian = SparseJacobian::<f64>::new(Pattern::new(2, 2, [(0, 0), (1, 1)]));
    assert!(jacobian.covers(unit, &[0.7, 2.0]) && jacobian.covers(unit, &[0.7, -2.0]));
    let mut empty = SparseJacobian::<f64>::new(Pattern::new(0, 0, []));
    assert!(empty.covers(|_, _| (), &[]));
    // Single precision.
    let mut single = SparseJacobian::<f32>::trace(upwind, &[1.0, 2.0, 3.0, 4.0], 4);
    assert!(single.covers(upwind, &[4.0, 2.0, 3.0, 1.0]) && !single.covers(upwind, &[1.0, 2.0, -3.0, 1.0]));
}

/// A `NaN` in a lane must reach all that depends on it, through every function: what a probe sees is what a tracer sees.
#[test]
fn a_probe_finds_what_a_tracer_finds() {
    type D = Dual<f64, 2>;
    let pattern = |f: &dyn Fn(&[D]) -> D, x: &[f64]| {
        SparseJacobian::<f64, 2>::probe(|y, x| y[0] = f(x), x, 1).pattern().clone()
    };
    registry::unary::<D>(|name, samples, f| {
        for &x in samples.iter().chain(&ODD[..8]) {
            assert_eq!(pattern(&|x| f(x[0]), &[x]).nnz(), 1, "{name} at {x}");
        }
    });
    registry::binary::<D>(|name, samples, f| {
        let inputs = if ["max", "min", "copysign"].contains(&name) { 1 } else { 2 };
        for &(a, b) in samples {
            assert_eq!(pattern(&|x| f(x[0], x[1]), &[a, b]).nnz(), inputs, "{name} at {a}, {b}");
        }
    });
    // The kink of copysign at 0 is that of abs: derivative 0, but an entry.
    let signed = |y: &mut [D], x: &[D]| y[0] = x[0].copysign(x[1]);
    let mut jacobian = SparseJacobian::<f64, 2>::probe(signed, &[0.0, 1.0], 1);
    assert_eq!(jacobian.pattern(), &Pattern::new(1, 2, [(0, 0)]));
    assert!(jacobian.covers(signed, &[2.0, 1.0]));
    assert_eq!(pattern(&|x| x[0] * 0.0 + 0.0 * x[2], &[1.0, 2.0, 0.0]).nnz(), 2);
    assert_eq!(pattern(&|x| x.iter().product(), &[0.0; 5]).nnz(), 5);
    assert_eq!(pattern(&|_| D::constant(1.0), &[0.0; 5]).nnz(), 0);
    assert_eq!(SparseJacobian::<f64>::probe(|_, _| (), &[], 3).pattern(), &Pattern::new(3, 0, []));

    // Every width, every length; nested numbers.
    fn widths<const N: usize>(n: usize) {
        let x: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64).sin()).collect();
        let traced = SparseJacobian::<f64, N>::trace(upwind, &x, n);
        assert_eq!(SparseJacobian::<f64, N>::probe(upwind, &x, n).pattern(), traced.pattern());
        let nested: Vec<Dual<f64>> = x.iter().map(|&x| Dual::constant(x)).collect();
        assert_eq!(SparseJacobian::<Dual<f64>, N>::probe(upwind, &nested, n).pattern(), traced.pattern());
    }
    for n in [2, 7, 8, 9, 17] {
        widths::<1>(n);
        widths::<3>(n);
        widths::<8>(n);
    }
}

/// Traces in traces: each sees its own inputs, numbers of the outer one made inside the inner one stay, and a number of the
/// inner one is refused when that is over, though the outer one runs.
#[test]
fn traces_inside_of_traces() {
    let x = [1.0, 2.0, 3.0];
    let outer = jacobian_pattern(
        |x| {
            let (mut kept, mut lost) = (x[0], None);
            for _ in 0..3 {
                let inner = hessian_pattern(
                    |z| {
                        kept += x[1] * x[1];
                        let y: Tracer<f64> = z[0] * x[2] + z[1] * z[1] * kept;
                        lost = Some(y);
                        assert_eq!(y.inputs(), [0, 1]);
                        y
                    },
                    &[1.0, 2.0],
                );
                assert_eq!(inner.entries().collect::<Vec<_>>(), [(1, 1)]);
            }
            assert_eq!(kept.inputs(), [0, 1]);
            let lost = lost.expect("the inner function ran");
            let refused = catch_unwind(|| lost.inputs()).expect_err("the inner trace is over");
            let message = refused.downcast_ref::<&str>().expect("a message");
            assert!(message.contains("after the end of the trace"), "{message}");
            [kept, x[2]]
        },
        &x,
    );
    assert_eq!(outer.entries().collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 2)]);
}
