//! No heap where none is needed: scratch up to 32 KiB is on the stack, more comes from a workspace.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use dualpack::{Cholesky, Dual, LU, Potrf, Uplo, Workspace, expm};
use nalgebra::{DMatrix, SMatrix, SVector};
use support::matrices::Kind;

/// Counts the allocations of the current thread.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: `p` came from `alloc` above, that is from the system allocator.
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(f: impl FnOnce()) -> usize {
    let before = COUNT.get();
    f();
    COUNT.get() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
    assert_eq!(allocations(|| ()), 0);
}

fn static_size<T: dualpack::Lapack, const D: usize>(lift: impl Fn(f64) -> T) {
    let a = SMatrix::<T, D, D>::from_iterator(Kind::Spd.matrix(1, D).iter().map(|&x| lift(x)));
    let b = SVector::<T, D>::from_element(lift(1.0));
    let count = allocations(|| {
        let chol = Cholesky::new(a).unwrap();
        std::hint::black_box((chol.solve(&b).unwrap(), chol.ln_determinant()));
    });
    assert_eq!(count, 0, "{D} x {D}");
}

fn static_lu_and_exponential<T: dualpack::Lapack, const D: usize>(lift: impl Fn(f64) -> T)
where
    nalgebra::Const<D>: nalgebra::DimMin<nalgebra::Const<D>, Output = nalgebra::Const<D>>,
{
    let a = SMatrix::<T, D, D>::from_iterator(Kind::BadlyScaled.matrix(1, D).iter().map(|&x| lift(x)));
    let b = SVector::<T, D>::from_element(lift(1.0));
    let count = allocations(|| {
        let lu = LU::new(a).unwrap();
        std::hint::black_box((lu.solve(&b).unwrap(), lu.inverse().unwrap(), lu.determinant()));
        std::hint::black_box(expm(&a).unwrap());
    });
    assert_eq!(count, 0, "{D} x {D}");
}

#[test]
fn static_sizes_allocate_nothing() {
    static_size::<_, 3>(|x| x);
    static_size::<_, 3>(|x| Dual::<f64, 8>::new(x, [1.0; 8]));
    static_size::<_, 12>(|x| Dual::<f64, 8>::new(x, [1.0; 8]));
    static_size::<_, 6>(|x| {
        Dual::<Dual<f64, 4>, 4>::new(Dual::new(x, [1.0; 4]), [Dual::new(1.0, [0.0; 4]); 4])
    });
}

#[test]
fn lu_and_the_exponential_neither() {
    static_lu_and_exponential::<_, 3>(|x| x);
    static_lu_and_exponential::<_, 12>(|x| x);
    static_lu_and_exponential::<_, 3>(|x| Dual::<f64, 8>::new(x, [1.0; 8]));
    static_lu_and_exponential::<_, 6>(|x| Dual::<f64, 8>::new(x, [1.0; 8]));
}

/// 30 x 30 with 8 lanes needs 65 kB of scratch.
#[test]
fn a_workspace_serves_repeated_calls() {
    let a = Kind::Spd.matrix(1, 30).map(|x| Dual::<f64, 8>::new(x, [1.0; 8]));
    let mut workspace = Workspace::new();
    let mut l = a.clone();
    let mut call = |l: &mut DMatrix<_>| {
        l.copy_from(&a);
        workspace.run(|| Dual::potrf(Uplo::Lower, l.as_view_mut())).unwrap();
    };
    assert_ne!(allocations(|| call(&mut l)), 0);
    assert_eq!(allocations(|| call(&mut l)), 0);
}
