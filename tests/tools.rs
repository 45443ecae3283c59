//! The test tools, tested: a tool that lets everything pass would make every other test worthless.

mod support;

use dualpack_linalg as _; // links LAPACK
use nalgebra::DMatrix;
use serde_json::Value;
use support::compare::{norm, relative_error, same_bits, ulps};
use support::differences::{first, mixed, second};
use support::matrices::Kind;
use support::numbers::{almost_overflows, excess, list, number};

#[test]
fn norms_and_distances() {
    assert!((norm(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 4e-16);
    assert!((norm(&[3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 4e-16);
    assert_eq!(norm(&[0.0, 5e-324]), 5e-324);
    assert!(norm(&[f64::NAN, 1.0]).is_nan());
    assert_eq!(ulps(1.0, 1.0 + f64::EPSILON), 1);
    assert_eq!(ulps(-5e-324, 5e-324), 2);
    assert!(!same_bits(0.0, -0.0) && same_bits(f64::NAN, -f64::NAN));
    let a = DMatrix::from_row_slice(1, 2, &[1.0, f64::NAN]);
    assert_eq!(relative_error(&a, &DMatrix::from_row_slice(1, 2, &[1.0, 2.0])), f64::INFINITY);
}

#[test]
fn reading_and_judging() {
    let v: Value = serde_json::from_str(r#"[5e-324, "inf", "-inf", "nan", -0.0, 0.1, 1]"#).unwrap();
    let x = list(&v);
    assert_eq!((x[0], x[1], x[2], x[5], x[6]), (5e-324, f64::INFINITY, f64::NEG_INFINITY, 0.1, 1.0));
    assert!(x[3].is_nan() && x[4].is_sign_negative());
    assert_eq!(number(&Value::from("undefined")), None);
    // Every digit counts: the reader must round as the compiler does.
    let v: Value =
        serde_json::from_str("[2.2250738585072014e-308, 8.988465674311579e307, 0.30000000000000004]")
            .unwrap();
    assert_eq!(list(&v), [f64::MIN_POSITIVE, 8.988465674311579e307, 0.1 + 0.2]);

    assert_eq!(excess(f64::NAN, f64::NAN, 0.0, 0.0), 0.0);
    assert_eq!(excess(1.0, f64::NAN, 1.0, 0.0), f64::INFINITY);
    assert_eq!(excess(f64::NAN, 1.0, 1.0, 0.0), f64::INFINITY);
    assert_eq!(excess(f64::INFINITY, 1e300, 1e-15, 0.0), f64::INFINITY);
    assert!((excess(1.0 + 2e-15, 1.0, 1e-15, 0.0) - 2.0).abs() < 0.3);
    assert!(excess(1e-16, 0.0, 1e-15, 1.0) < 0.2 && excess(1e-16, 0.0, 1e-15, 0.0) > 1e6);
    assert!(excess(1.5e-323, 5e-324, 1e-15, 0.0) <= 1.0);
    assert!(almost_overflows(f64::MAX, "1.7976931348623157e+308", 1e-15));
    assert!(!almost_overflows(f64::MAX, "3.03e+308", 1e-15));
    assert!(!almost_overflows(f64::MAX, "-1.79769313486231581e+308", 1e-15));
}

#[test]
fn estimates_hold_what_they_promise() {
    let slope = first(|t| (1.0 + t).sin(), 0.3);
    assert!(slope.error < 1e-11, "{slope:?}");
    slope.assert_contains(&1.0_f64.cos(), "sin'");
    second(|t| (1.0 + t).exp(), 0.3).assert_contains(&1.0_f64.exp(), "exp''");
    let cross = mixed(|s, t| vec![(1.0 + s).powf(2.0 + t), s * t], 0.2);
    assert!(cross.error < 1e-8, "{cross:?}");
    cross.assert_contains(&vec![1.0, 1.0], "d2 x^y / dx dy at (1, 2)"); // x^(y-1) (1 + y ln x) = 1
    // A wrong derivative is found, and so is a function that has none.
    assert!(slope.distance(&(1.0_f64.cos() + 1e-8)) > 10.0 * slope.error);
    assert!(first(|t: f64| if t > 0.0 { 1.0 } else { 0.0 }, 0.1).error > 0.1);
    assert!(first(|_| f64::NAN, 0.1).error.is_infinite());
}

#[test]
fn kinds_are_what_they_say() {
    for kind in Kind::ALL {
        for n in [0, 1, 2, 3, 5, 8] {
            let a = kind.matrix(7, n);
            assert_eq!(a.shape(), (n, n));
            assert!(a.iter().all(|x| x.is_finite()), "{kind:?} {n}");
            assert_eq!(a, kind.matrix(7, n), "{kind:?}: the same seed, the same matrix");
            if n >= 5 {
                assert_ne!(a, kind.matrix(8, n), "{kind:?} {n}: another seed, another matrix");
            }
        }
    }
    let spectrum = |k: Kind| {
        let mut w: Vec<f64> = k.matrix(3, 6).symmetric_eigenvalues().iter().copied().collect();
        w.sort_by(f64::total_cmp);
        w
    };
    assert!(spectrum(Kind::Spd)[0] > 0.9);
    assert!((spectrum(Kind::NearSingularSpd)[0] / 1e-8 - 1.0).abs() < 1e-4);
    let w = spectrum(Kind::Indefinite);
    assert!(w[2] < -0.9 && w[3] > 0.9);
    let w = spectrum(Kind::Clustered);
    assert!((w[1] - w[0] - 1e-10).abs() < 1e-13 && w[2] - w[1] > 0.9);
    let s = Kind::NearSingular.matrix(3, 6).singular_values();
    assert!((s[0] / s[5] / 1e10).log10().abs() < 0.5);
    let q = Kind::Generator.matrix(3, 6);
    assert!((0..6).all(|i| q.row(i).sum().abs() < 1e-15));
    // (J - 2 I)^n = 0 exactly, (J - 2 I)^(n-1) is not.
    let nilpotent = Kind::Jordan.matrix(3, 5) - DMatrix::identity(5, 5) * 2.0;
    assert!(nilpotent.pow(5).iter().all(|&x| x == 0.0) && nilpotent.pow(4).iter().any(|&x| x != 0.0));
}

/// `xerbla_` of the test binaries replaces LAPACK's: a rejected argument must end the process with a failure.
/// The call is made in a child process, this test itself with a variable set.
#[test]
fn a_rejected_argument_aborts() {
    unsafe extern "C" {
        fn dpotrf_(
            uplo: *const u8,
            n: *const i32,
            a: *mut f64,
            lda: *const i32,
            info: *mut i32,
            length: usize,
        );
    }
    const CHILD: &str = "DUALPACK_TEST_REJECTED_ARGUMENT";
    if std::env::var_os(CHILD).is_some() {
        let (n, mut a, mut info) = (1, [4.0], 0);
        // SAFETY: the arguments have the types of DPOTRF; with the illegal UPLO 'X' it reads no matrix.
        unsafe { dpotrf_(b"X".as_ptr(), &n, a.as_mut_ptr(), &n, &mut info, 1) };
        println!("the call came back with info = {info}");
        return;
    }
    let myself = std::env::current_exe().expect("this program");
    let child = std::process::Command::new(myself)
        .args(["--exact", "a_rejected_argument_aborts", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("a child process");
    let text = [child.stdout.as_slice(), child.stderr.as_slice()].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(!child.status.success(), "an illegal argument went unnoticed: {text}");
    assert!(text.contains("xerbla: DPOTRF rejects argument 1"), "{text}");
}
