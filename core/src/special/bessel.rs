//! Bessel functions of integer order. libm's are a line of FreeBSD's, which holds a few ulps of the amplitude
//! sqrt(2/(pi x)) everywhere.

/// J_n(x).
pub(crate) fn bessel_jn(x: f64, n: i32) -> f64 {
    libm::jn(n, x)
}

/// Y_n(x); -inf at 0, NaN below.
pub(crate) fn bessel_yn(x: f64, n: i32) -> f64 {
    libm::yn(n, x)
}
