//! The passes of a driver share the results of elementary functions: every number is what it would be without.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dualpack_core::registry;
use dualpack_core::{Chunk, Dual, HyperDual, Real, gradient, hessian, jacobian};

use super::parts::{POINTS, Parts};
use crate::support::compare::same_bits;

/// Samples of all rows, special points, and repetitions, which a record by position must not confuse.
fn points(samples: &[f64]) -> Vec<f64> {
    let mut x: Vec<f64> = samples.iter().chain(POINTS).chain(samples).copied().collect();
    x.extend([f64::NAN, f64::INFINITY, 0.0, -0.0, 0.5, 0.5]);
    x
}

fn check<F: Parts<Base = F> + dualpack_core::Base, const N: usize>()
where
    Dual<F, N>: Parts<Base = F>,
{
    registry::unary::<Dual<F, N>>(|name, samples, f| {
        let x: Vec<F> = points(samples).iter().map(|&x| F::fixed(x)).collect();
        let (y, j) = jacobian(
            |x: &[Dual<F, N>]| -> Vec<_> { x.iter().map(|&x| f(x)).collect() },
            Chunk::<N>::of(&x[..]),
        );
        for (i, &at) in x.iter().enumerate() {
            let want = f(Dual::variable(at, i % N));
            let got = [y[i], j[(i, i)]].map(|part| part.parts()[0]);
            let want = [want.value, want.eps[i % N]].map(|part| part.parts()[0]);
            assert!(
                same_bits(got[0], want[0]) && same_bits(got[1], want[1]),
                "{name} at {at}: {got:?}, {want:?}"
            );
        }
    });
}

#[test]
fn every_function_in_every_pass_is_the_function_alone() {
    check::<f64, 1>();
    check::<f64, 3>();
    check::<f64, 8>();
    check::<f32, 2>();
}

/// Rows are told apart by a hash of their name, to which the size of the float is added.
#[test]
fn no_two_rows_share_a_name() {
    let rows = registry::UNARY.iter().copied().flatten();
    let mut ids: Vec<u64> =
        rows.flat_map(|row| [4, 8].map(|size| registry::id(row.name).wrapping_add(size))).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn second_derivatives_too() {
    registry::unary::<HyperDual<f64, 2, 2>>(|name, samples, f| {
        let sum = |x: &[HyperDual<f64, 2, 2>]| x.iter().map(|&x| f(x)).sum::<HyperDual<_, 2, 2>>();
        let (_, g, h) = hessian(sum, Chunk::<2>::of(samples));
        for (i, &at) in samples.iter().enumerate() {
            let want = f(HyperDual::variable(at, i % 2, i % 2));
            assert!((g[i] - want.eps1[i % 2]).abs() <= 1e-15 * g[i].abs(), "{name} at {at}");
            let want = want.eps12[i % 2][i % 2];
            assert!((h[(i, i)] - want).abs() <= 1e-15 * want.abs(), "{name} at {at}");
        }
    });
}

/// A function that takes another path in every pass: other functions of the same arguments, other arguments, more and
/// fewer calls.
#[test]
fn a_function_may_change_its_path() {
    type D = Dual<f64, 2>;
    fn path(pass: usize, x: &[D]) -> D {
        let each = |f: fn(D) -> D| x.iter().map(|&x| f(x)).sum::<D>();
        match pass {
            0 => each(D::sin) + each(D::exp),
            1 => each(D::cos) + each(D::exp),
            2 => each(D::sin),
            3 => each(|x| x.exp() * x.sin() + x.ln_1p()) + each(D::sin),
            _ => each(|x| (x + 1.0).sin()) + each(D::exp),
        }
    }
    let x: Vec<f64> = (0..10).map(|i| 0.1 + 0.2 * f64::from(i)).collect();
    let mut pass = 0;
    let (value, g) = gradient(
        |x: &[D]| {
            pass += 1;
            path(pass - 1, x)
        },
        Chunk::<2>::of(&x[..]),
    );
    assert_eq!(pass, 5);
    for chunk in 0..5 {
        let seeded: Vec<D> = x
            .iter()
            .enumerate()
            .map(|(i, &x)| if i / 2 == chunk { D::variable(x, i % 2) } else { x.into() })
            .collect();
        let want = path(chunk, &seeded);
        assert_eq!([g[2 * chunk], g[2 * chunk + 1]].map(f64::to_bits), want.eps.map(f64::to_bits));
        if chunk == 4 {
            assert_eq!(value.to_bits(), want.value.to_bits());
        }
    }
}

/// Drivers inside a driver, and drivers after one that ended in a panic.
#[test]
fn nested_and_abandoned_drivers() {
    fn inner<S: Real>(x: &[S]) -> S {
        x.iter().fold(S::one(), |p, &x| p * x.exp()).sin()
    }
    /// The sum of a gradient in chunks, as a function to differentiate.
    fn outer<S: Real>(x: &[S]) -> S {
        gradient(inner, Chunk::<2>::of(x)).1.into_iter().sum()
    }
    let x = [0.1_f64, 0.4, -0.3, 0.2, 0.7];
    let narrow = gradient(outer, Chunk::<1>::of(&x[..])).1;
    let whole = gradient(|x| outer(x), &x).1;
    assert_eq!(narrow.iter().map(|g| g.to_bits()).collect::<Vec<_>>(), whole.map(f64::to_bits));

    let mut pass = 0;
    let abandoned = catch_unwind(AssertUnwindSafe(|| {
        gradient(
            |x: &[Dual<f64, 1>]| {
                pass += 1;
                assert!(pass < 3, "the third pass fails");
                inner(x)
            },
            Chunk::<1>::of(&x[..]),
        )
    }));
    assert!(abandoned.is_err());
    // Outside of drivers, the same calls at other points.
    for shift in [0.0, 0.25] {
        let y = inner(&x.map(|x| Dual::<f64, 1>::variable(x + shift, 0)));
        let slope = x.iter().map(|x| x + shift).sum::<f64>().exp();
        assert!((y.eps[0] - 5.0 * slope * slope.cos()).abs() < 1e-13 * slope);
    }
}
