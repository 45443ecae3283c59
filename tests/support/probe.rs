//! Every scalar type seeded and read alike: `x = value + first[0] e1 + first[1] e2 (+ first[2] e3) + mixed e1 e2`.

use dualpack::{Dual, Dual2, HyperDual, Real};

/// `Dual` with three lanes, `HyperDual`, `Dual2` and nested `Dual`: what a runner instantiates.
pub trait Probe: Real<Base = f64> {
    /// How reports call this type.
    const NAME: &'static str;

    /// The number with these first derivatives and mixed second derivative, as far as the type carries them.
    fn lift(value: f64, first: [f64; 3], mixed: f64) -> Self;

    /// The k-th first derivative, if the type carries it.
    fn first(self, k: usize) -> Option<f64>;

    /// The mixed second derivative along directions 0 and 1, if the type carries it.
    fn mixed(self) -> Option<f64>;
}

impl Probe for f64 {
    const NAME: &'static str = "f64";
    fn lift(value: f64, _: [f64; 3], _: f64) -> Self {
        value
    }
    fn first(self, _: usize) -> Option<f64> {
        None
    }
    fn mixed(self) -> Option<f64> {
        None
    }
}

impl Probe for Dual<f64, 3> {
    const NAME: &'static str = "Dual<f64, 3>";
    fn lift(value: f64, first: [f64; 3], _: f64) -> Self {
        Dual { value, eps: first }
    }
    fn first(self, k: usize) -> Option<f64> {
        Some(self.eps[k])
    }
    fn mixed(self) -> Option<f64> {
        None
    }
}

impl Probe for HyperDual<f64, 1, 1> {
    const NAME: &'static str = "HyperDual<f64, 1, 1>";
    fn lift(value: f64, first: [f64; 3], mixed: f64) -> Self {
        HyperDual { value, eps1: [first[0]], eps2: [first[1]], eps12: [[mixed]] }
    }
    fn first(self, k: usize) -> Option<f64> {
        [self.eps1[0], self.eps2[0]].get(k).copied()
    }
    fn mixed(self) -> Option<f64> {
        Some(self.eps12[0][0])
    }
}

impl Probe for Dual<Dual<f64, 1>, 1> {
    const NAME: &'static str = "Dual<Dual<f64, 1>, 1>";
    fn lift(value: f64, first: [f64; 3], mixed: f64) -> Self {
        Dual { value: Dual { value, eps: [first[1]] }, eps: [Dual { value: first[0], eps: [mixed] }] }
    }
    fn first(self, k: usize) -> Option<f64> {
        [self.eps[0].value, self.value.eps[0]].get(k).copied()
    }
    fn mixed(self) -> Option<f64> {
        Some(self.eps[0].eps[0])
    }
}

impl Probe for Dual2<f64, 2> {
    const NAME: &'static str = "Dual2<f64, 2>";
    fn lift(value: f64, first: [f64; 3], mixed: f64) -> Self {
        // The pure second derivatives of the argument along e1 and along e2 are zero.
        Dual2 { value, grad: [first[0], first[1]], hess: [[0.0, mixed], [mixed, 0.0]] }
    }
    fn first(self, k: usize) -> Option<f64> {
        self.grad.get(k).copied()
    }
    fn mixed(self) -> Option<f64> {
        Some(self.hessian(0, 1))
    }
}
