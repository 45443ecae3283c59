//! Every number as the list of its parts, and numbers from parts: what the laws are stated in.

use dualpack_core::{Dual, Dual2, HyperDual, Real};

/// The parts of a number in a fixed order, value first. Of a symmetric second-order part the upper triangle.
pub trait Parts: Real {
    fn write(&self, out: &mut Vec<f64>);
    fn read(parts: &mut impl Iterator<Item = f64>) -> Self;

    fn parts(&self) -> Vec<f64> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// `value`, and tangents from `tangent(k)`, k = 1, 2, ...
    fn seeded(value: f64, tangent: impl FnMut(usize) -> f64) -> Self {
        Self::read(&mut std::iter::once(value).chain((1..).map(tangent)))
    }

    /// A constant: no part but the value.
    fn fixed(value: f64) -> Self {
        Self::seeded(value, |_| 0.0)
    }
}

macro_rules! floats {
    ($($F:ident)*) => { $(
        impl Parts for $F {
                    fn write(&self, out: &mut Vec<f64>) {
                out.push(f64::from(*self));
            }
            fn read(parts: &mut impl Iterator<Item = f64>) -> Self {
                parts.next().expect("as many parts as the number has") as $F
            }
        }
    )* };
}

floats!(f32 f64);

impl<T: Parts, const N: usize> Parts for Dual<T, N> {
    fn write(&self, out: &mut Vec<f64>) {
        self.value.write(out);
        self.eps.iter().for_each(|t| t.write(out));
    }
    fn read(parts: &mut impl Iterator<Item = f64>) -> Self {
        Self::new(T::read(parts), std::array::from_fn(|_| T::read(parts)))
    }
}

impl<T: Parts, const M: usize, const N: usize> Parts for HyperDual<T, M, N> {
    fn write(&self, out: &mut Vec<f64>) {
        self.value.write(out);
        self.eps1.iter().chain(&self.eps2).for_each(|t| t.write(out));
        self.eps12.iter().flatten().for_each(|t| t.write(out));
    }
    fn read(parts: &mut impl Iterator<Item = f64>) -> Self {
        Self::new(
            T::read(parts),
            std::array::from_fn(|_| T::read(parts)),
            std::array::from_fn(|_| T::read(parts)),
            std::array::from_fn(|_| std::array::from_fn(|_| T::read(parts))),
        )
    }
}

impl<T: Parts, const N: usize> Parts for Dual2<T, N> {
    fn write(&self, out: &mut Vec<f64>) {
        self.value.write(out);
        self.grad.iter().for_each(|t| t.write(out));
        (0..N).for_each(|i| self.hess[i][i..].iter().for_each(|t| t.write(out)));
    }
    fn read(parts: &mut impl Iterator<Item = f64>) -> Self {
        let mut x = Self::constant(T::read(parts));
        x.grad = std::array::from_fn(|_| T::read(parts));
        (0..N).for_each(|i| (i..N).for_each(|j| x.hess[i][j] = T::read(parts)));
        x
    }
}

/// Arguments where something may go wrong, and some ordinary ones.
pub const POINTS: &[f64] = &[
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e-310,
    1e-200,
    -1e-200,
    1e-8,
    -1e-8,
    0.1,
    0.3,
    -0.3,
    0.5,
    0.75,
    -0.75,
    1.0,
    -1.0,
    0.999_999_999_999_999_9,
    1.000_000_000_000_000_2,
    1.25,
    1.5,
    -1.5,
    2.0,
    -2.0,
    2.5,
    3.0,
    -7.25,
    17.25,
    100.0,
    170.5,
    -745.5,
    709.5,
    710.5,
    1e10,
    -1e10,
    1e200,
    -1e200,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Calls `$check::<T>()` for one type of every shape.
macro_rules! every_number {
    ($check:ident) => {
        $check::<dualpack_core::Dual<f64, 1>>();
        $check::<dualpack_core::Dual<f64, 3>>();
        $check::<dualpack_core::Dual<f64, 5>>();
        $check::<dualpack_core::HyperDual<f64, 1, 1>>();
        $check::<dualpack_core::HyperDual<f64, 2, 3>>();
        $check::<dualpack_core::Dual2<f64, 1>>();
        $check::<dualpack_core::Dual2<f64, 3>>();
        $check::<dualpack_core::Dual<dualpack_core::Dual<f64, 2>, 3>>();
        $check::<dualpack_core::Dual<dualpack_core::HyperDual<f64, 1, 1>, 1>>();
        $check::<dualpack_core::HyperDual<dualpack_core::Dual<f64, 1>, 1, 2>>();
        $check::<dualpack_core::Dual2<dualpack_core::Dual<f64, 1>, 2>>();
        $check::<dualpack_core::Dual<dualpack_core::Dual<dualpack_core::Dual<f64>>>>();
        $check::<dualpack_core::Dual<f32, 3>>();
        $check::<dualpack_core::HyperDual<f32, 1, 2>>();
        $check::<dualpack_core::Dual2<f32, 2>>();
    };
}
pub(crate) use every_number;

/// Ordinary tangents, all different, none zero.
pub fn tangent(k: usize) -> f64 {
    [0.75, -1.5, 2.25, 0.5, -0.625, 1.125, -2.0][k % 7] + k as f64 / 64.0
}
