//! Random numbers for quickcheck: every part varies, and shrinking keeps the tangents.

use dualpack_core::{Dual, Dual2, HyperDual, Real};
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult};

use super::parts::Parts;

fn all_parts_vary<T: Parts + Arbitrary>() {
    let mut g = Gen::new(50);
    let numbers: Vec<Vec<f64>> = (0..100).map(|_| T::arbitrary(&mut g).parts()).collect();
    for k in 0..numbers[0].len() {
        let first = numbers[0][k];
        assert!(numbers.iter().any(|x| x[k] != first && x[k] != 0.0), "part {k} never varies");
    }
    let x = T::seeded(1000.25, |k| k as f64);
    let mut shrunk = x.shrink().peekable();
    assert!(shrunk.peek().is_some());
    for y in shrunk.take(200) {
        let (x, y) = (x.parts(), y.parts());
        // Of a nested number the inner tangents belong to the value.
        assert!(x.last() == y.last() && x[0] != y[0], "{y:?}");
    }
}

#[test]
fn numbers_are_arbitrary_in_every_part() {
    all_parts_vary::<Dual<f64, 3>>();
    all_parts_vary::<Dual<f32, 1>>();
    all_parts_vary::<HyperDual<f64, 2, 2>>();
    all_parts_vary::<Dual2<f64, 2>>();
    all_parts_vary::<Dual<Dual<f64>, 2>>();
}

#[test]
fn laws_of_arithmetic_on_arbitrary_numbers() {
    type D = HyperDual<f64, 1, 2>;
    fn sums_commute(a: D, b: D) -> bool {
        (a + b).same(b + a) && (a - b).same(-(b - a)) && (-(-a)).same(a)
    }
    fn max_and_min_share(a: D, b: D) -> TestResult {
        if Real::is_nan(a) || Real::is_nan(b) {
            return TestResult::discard();
        }
        TestResult::from_bool((a.max(b) + a.min(b)).same(a + b))
    }
    fn order_is_of_values(a: D, b: D) -> bool {
        (a < b) == (a.value < b.value) && (a == b) == (a.value == b.value)
    }
    fn detached_is_constant(a: D) -> bool {
        let c = dualpack_core::detach(a);
        c.same(D::constant(a.value)) && a.exp().value.to_bits() == c.exp().value.to_bits()
    }
    QuickCheck::new().quickcheck(sums_commute as fn(D, D) -> bool);
    QuickCheck::new().quickcheck(max_and_min_share as fn(D, D) -> TestResult);
    QuickCheck::new().quickcheck(order_is_of_values as fn(D, D) -> bool);
    QuickCheck::new().quickcheck(detached_is_constant as fn(D) -> bool);
}
