use dualpack::{Dual, Potrf, Uplo, Workspace};
use nalgebra::DMatrix;

use crate::support::matrices::Kind;

/// An upper 60 x 60 factor with 8 lanes needs 250 kB of planes: with a workspace they are kept from call to call.
#[test]
fn a_workspace_keeps_its_memory() {
    let a = Kind::Spd.matrix(1, 60).map(|x| Dual::<f64, 8>::new(x, [1.0; 8]));
    let factor = |a: &DMatrix<Dual<f64, 8>>| {
        let mut l = a.clone();
        Dual::potrf(Uplo::Upper, l.as_view_mut()).unwrap();
        l
    };
    let plain = factor(&a);
    let mut workspace = Workspace::new();
    assert_eq!(workspace.bytes(), 0);
    let kept = workspace.run(|| factor(&a));
    let bytes = workspace.bytes();
    assert!(bytes >= 60 * 60 * 9 * 8, "{bytes}");
    assert!(plain.iter().zip(kept.iter()).all(|(x, y)| x.value == y.value && x.eps == y.eps));
    workspace.run(|| {
        factor(&a);
        // An inner workspace takes over and hands back.
        let mut inner = Workspace::new();
        inner.run(|| factor(&a));
        assert!(inner.bytes() > 0);
        factor(&a);
    });
    assert_eq!(workspace.bytes(), bytes);
}

/// After a panic inside `run` the workspace is whole and the thread's former one is back.
#[test]
fn a_panic_leaves_the_workspace_usable() {
    let mut workspace = Workspace::new();
    let caught =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| workspace.run(|| panic!("on purpose"))));
    assert!(caught.is_err());
    let a = Kind::Spd.matrix(1, 80);
    let mut l = a.map(|x| Dual::<f64, 8>::new(x, [1.0; 8]));
    workspace.run(|| Dual::potrf(Uplo::Upper, l.as_view_mut())).unwrap();
    assert!(workspace.bytes() > 0);
}
