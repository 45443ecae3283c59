//! Error functions and the derivatives of the Gaussian that they are the integral of.

#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// erf x = 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x.
pub(crate) fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// erfc x = 1 - erf x, with full relative accuracy in the right tail.
pub(crate) fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// d^n/dx^n exp(-x^2) = (-1)^n H_n(x) exp(-x^2), with Hermite's polynomials.
///
/// Rounding x^2 alone would cost x^2 ulps of the result, 700 of them in the tail of erfc, so the square is taken
/// as head + tail (Dekker's exact product) and the tail is applied afterwards.
pub(crate) fn gaussian(x: f64, n: u32) -> f64 {
    let a = x.abs();
    // Beyond, even with the polynomials of n < 70, nothing is left; infinite x ends here too.
    if a >= 36.0 {
        return 0.0;
    }
    let square = a * a;
    let c = 134_217_729.0 * a;
    let head = c - (c - a);
    let tail = a - head;
    let rest = ((head * head - square) + 2.0 * head * tail) + tail * tail;
    // Where exp alone would be subnormal, a factor exp(-600) waits until the polynomial has been applied.
    let held = if square > 700.0 { 600.0 } else { 0.0 };
    let y = (held - square).exp();
    let (polynomial, steps) = hermite(-x, n);
    let mut y = (y - y * rest) * polynomial;
    let early = steps.min(2);
    for _ in 0..early {
        y *= STEP;
    }
    if held > 0.0 {
        y *= (-held).exp();
    }
    for _ in early..steps {
        y *= STEP;
        if y.is_infinite() {
            break;
        }
    }
    y
}

/// 2^512: exact, and a polynomial that has grown so far is divided by it.
const STEP: f64 = f64::from_bits((1023 + 512) << 52);

/// H_{k+1} = 2x H_k - 2k H_{k-1}; H_2 has its zeros to full accuracy. Times a power of [`STEP`], the second number:
/// an infinite polynomial would leave inf - inf.
fn hermite(x: f64, n: u32) -> (f64, u32) {
    let twice = x + x;
    match n {
        0 => (1.0, 0),
        1 => (twice, 0),
        2 => (twice.mul_add(twice, -2.0), 0),
        _ => {
            let (mut low, mut high, mut steps) = (twice, twice.mul_add(twice, -2.0), 0);
            for k in 2..n {
                (low, high) = (high, twice * high - 2.0 * f64::from(k) * low);
                if high.abs() > STEP {
                    (low, high, steps) = (low / STEP, high / STEP, steps + 1);
                }
            }
            (high, steps)
        }
    }
}
