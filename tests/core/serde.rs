//! Serialization: every number there and back, to the bit.

use dualpack_core::{Dual, Dual2, HyperDual};
use serde::{Serialize, de::DeserializeOwned};

use super::parts::{Parts, every_number, tangent};

fn there_and_back<T: Parts + Serialize + DeserializeOwned>() {
    for value in [0.1, -0.0, 1e-310, f64::from(f32::MAX)] {
        let x = T::seeded(value, |k| tangent(k) / 3.0);
        let text = serde_json::to_string(&x).expect("numbers are finite");
        let y: T = serde_json::from_str(&text).expect("what was written");
        let (a, b) = (x.parts(), y.parts());
        assert!(a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()), "{text}");
        let tree = serde_json::to_value(x).expect("numbers are finite");
        assert!(serde_json::from_value::<T>(tree).expect("what was written").same(x));
    }
}

#[test]
fn every_number_survives() {
    every_number!(there_and_back);
    there_and_back::<Dual<f64, 0>>();
    there_and_back::<Dual<f64, 40>>();
    there_and_back::<HyperDual<f64, 0, 3>>();
    there_and_back::<HyperDual<f64, 3, 0>>();
    there_and_back::<HyperDual<f64, 2, 40>>();
    there_and_back::<Dual2<f64, 0>>();
    there_and_back::<Dual2<f64, 33>>();
    there_and_back::<Dual<Dual<f64, 40>, 2>>();
}

#[test]
fn the_format_is_plain() {
    let x = Dual::<f64, 2>::new(1.5, [2.0, -3.0]);
    assert_eq!(serde_json::to_string(&x).unwrap(), r#"{"value":1.5,"eps":[2.0,-3.0]}"#);
    let h = HyperDual::<f64, 1, 2>::new(1.0, [2.0], [3.0, 4.0], [[5.0, 6.0]]);
    assert_eq!(
        serde_json::to_string(&h).unwrap(),
        r#"{"value":1.0,"eps1":[2.0],"eps2":[3.0,4.0],"eps12":[[5.0,6.0]]}"#
    );
    let s = Dual2::<f64, 1>::new(1.0, [2.0], [[3.0]]);
    assert_eq!(serde_json::to_string(&s).unwrap(), r#"{"value":1.0,"grad":[2.0],"hess":[[3.0]]}"#);
    let nested = Dual::<Dual<f64>>::new(Dual::new(1.0, [2.0]), [Dual::new(3.0, [4.0])]);
    assert_eq!(
        serde_json::to_string(&nested).unwrap(),
        r#"{"value":{"value":1.0,"eps":[2.0]},"eps":[{"value":3.0,"eps":[4.0]}]}"#
    );
}

/// What is stored below the diagonal is not a part of the number, even where it is no number at all.
#[test]
fn symmetric_parts_are_written_from_the_upper_triangle() {
    let s = Dual2::<f64, 2>::new(1.0, [2.0, 3.0], [[4.0, 5.0], [f64::NAN, 6.0]]);
    let text = serde_json::to_string(&s).unwrap();
    assert_eq!(text, r#"{"value":1.0,"grad":[2.0,3.0],"hess":[[4.0,5.0],[5.0,6.0]]}"#);
    let back: Dual2<f64, 2> = serde_json::from_str(&text).unwrap();
    dualpack_core::assert_dual_eq!(back, s);
}

#[test]
fn the_number_of_lanes_must_fit() {
    let read = |text: &str| serde_json::from_str::<Dual<f64, 2>>(text).map(|x| x.value);
    let message = read(r#"{"value":1.0,"eps":[2.0]}"#).unwrap_err().to_string();
    assert!(message.contains("2 lanes"), "{message}");
    assert!(read(r#"{"value":1.0,"eps":[2.0,3.0,4.0]}"#).is_err());
    assert!(read(r#"{"value":1.0,"eps":[2.0,"x"]}"#).is_err());
    assert!(read(r#"{"value":1.0}"#).is_err());
    let rows = |text: &str| serde_json::from_str::<HyperDual<f64, 2, 1>>(text).is_ok();
    assert!(rows(r#"{"value":1.0,"eps1":[2.0,3.0],"eps2":[4.0],"eps12":[[5.0],[6.0]]}"#));
    assert!(!rows(r#"{"value":1.0,"eps1":[2.0,3.0],"eps2":[4.0],"eps12":[[5.0]]}"#));
}
