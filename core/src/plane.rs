//! Functions of a point in the plane: atan2 and hypot. Quotients by the radius come first, so that no square of a
//! coordinate overflows or underflows.

use crate::Real;

/// θ = atan2(y, x): [x/r², -y/r²].
pub(crate) fn atan2_first<T: Real>(y: T, x: T) -> [T; 2] {
    let r = y.hypot(x);
    [x / r / r, -(y / r / r)]
}

/// [θ_yy, θ_yx, θ_xx] = [-2xy, y² - x², 2xy]/r⁴.
pub(crate) fn atan2_second<T: Real>(y: T, x: T) -> [T; 3] {
    let r = y.hypot(x);
    let xy = (x / r) * (y / r) / r / r;
    let mixed = ((y - x) / r) * ((y + x) / r) / r / r;
    [-(xy + xy), mixed, xy + xy]
}

/// [a/h, b/h].
pub(crate) fn hypot_first<T: Real>(a: T, b: T, h: T) -> [T; 2] {
    [a / h, b / h]
}

/// [b², -ab, a²]/h³.
pub(crate) fn hypot_second<T: Real>(a: T, b: T, h: T) -> [T; 3] {
    let (a, b) = (a / h, b / h);
    [b * b / h, -(a * b / h), a * a / h]
}
