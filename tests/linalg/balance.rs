use dualpack::{Dual, Error, HyperDual, balance};
use nalgebra::{DMatrix, Matrix3};

use crate::support::compare::{assert_same_bits, part};
use crate::support::matrices::{Kind, Random};

/// A P D = P D B, exactly, with tangents; `pushforward` is the tangent of `B`.
#[test]
fn front() {
    for seed in 0..50 {
        let n = 2 + seed as usize % 7;
        let (a, da) = (Kind::Unbalanced.matrix(seed, n), Random::new(seed).matrix(n, n));
        let d = balance(&a.zip_map(&da, |x, t| Dual::new(x, [t]))).unwrap();
        let float = balance(&a).unwrap();
        assert_eq!(float.balance, d.balance);
        assert_same_bits(&part(&d.matrix, |x| x.value), &float.matrix, "value");
        let t = float.transformation();
        assert_eq!(&a * &t, &t * &float.matrix, "seed {seed}");
        assert_eq!(part(&d.transformation(), |x| x.eps[0]), DMatrix::zeros(n, n));
        let db = float.pushforward(&da).unwrap();
        assert_same_bits(&part(&d.matrix, |x| x.eps[0]), &db, "pushforward");
        assert_eq!(&da * &t, &t * &db, "seed {seed}");
    }
}

#[test]
fn static_sizes_and_second_order() {
    let a = Matrix3::new(1.0, 0.0, 0.0001, 1.0, 1.0, 0.01, 10000.0, 100.0, 1.0);
    let h = a.map(|x| HyperDual::new(x, [1.0], [2.0], [[3.0]]));
    let (float, balanced) = (balance(&a).unwrap(), balance(&h).unwrap());
    let t = float.transformation();
    let ones = Matrix3::from_element(1.0);
    let expected = float.pushforward(&ones).unwrap();
    assert_eq!(t * expected, ones * t);
    for (x, e) in balanced.matrix.iter().zip(expected.iter()) {
        assert_eq!((x.eps1[0], x.eps2[0], x.eps12[0][0]), (*e, 2.0 * e, 3.0 * e));
    }
}

#[test]
fn bad_input() {
    assert!(matches!(balance(&DMatrix::<f64>::zeros(2, 3)), Err(Error::Shape { .. })));
    let nan = DMatrix::from_element(2, 2, f64::NAN);
    assert_eq!(balance(&nan).unwrap_err(), Error::NonFinite { routine: "gebal", row: 1, col: 1 });
    let balanced = balance(&DMatrix::<f64>::identity(2, 2)).unwrap();
    assert!(matches!(balanced.pushforward(&DMatrix::zeros(2, 4)), Err(Error::Shape { .. })));
    assert_eq!(balance(&DMatrix::<f64>::zeros(0, 0)).unwrap().matrix.len(), 0);
}
