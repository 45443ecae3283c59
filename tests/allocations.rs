//! No heap where none is needed: scratch up to 32 KiB is on the stack, more comes from a workspace.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use dualpack::{Cholesky, Dual, Dual2, HyperDual, LU, Potrf, Trans, Uplo, Workspace, expm};
use nalgebra::{DMatrix, SMatrix, SVector};
use support::matrices::Kind;

/// Counts the allocations of the current thread, and the bytes that it holds.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        HELD.set(HELD.get() + layout.size() as isize);
        PEAK.set(PEAK.get().max(HELD.get()));
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size() as isize);
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

/// The most bytes that `f` holds beyond what was there before.
fn peak(f: impl FnOnce()) -> usize {
    let before = HELD.get();
    PEAK.set(before);
    f();
    (PEAK.get() - before).unsigned_abs()
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
    assert_eq!(allocations(|| ()), 0);
    let blocks = || {
        drop(std::hint::black_box(vec![0_u8; 1000]));
        drop(std::hint::black_box((vec![0_u8; 300], vec![0_u8; 500])));
    };
    assert_eq!(peak(blocks), 1000);
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
    static_size::<_, 8>(|x| Dual2::<f64, 4>::variable(x, 1));
    static_size::<_, 6>(|x| HyperDual::<f64, 2, 2>::new(x, [1.0; 2], [1.0; 2], [[0.0; 2]; 2]));
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

/// Factors of dynamic size are kept with their tangents: then nothing is allocated but the result.
#[test]
fn factors_are_computed_once() {
    let a = Kind::BadlyScaled.matrix(1, 40).map(|x| Dual::<f64, 4>::new(x, [1.0; 4]));
    let lu = LU::new(a).unwrap();
    assert!(allocations(|| drop(std::hint::black_box(lu.l()))) > 1);
    assert_eq!(allocations(|| drop(std::hint::black_box(lu.u()))), 1);
    assert_eq!(allocations(|| drop(std::hint::black_box(lu.l()))), 1);
}

/// What the products pack their operands into, whatever the matrix.
const PACKING: usize = 64 * 1024;

/// Beside its operands a routine holds at most so many matrices of the size of its own.
fn bounded<T: dualpack::Lapack>(n: usize, most: f64, lift: impl Fn(f64) -> T) {
    let matrix = n * n * size_of::<T>();
    let check = |routine: &str, bytes: usize| {
        let matrices = bytes.saturating_sub(PACKING) as f64 / matrix as f64;
        assert!(matrices <= most, "{routine}, n = {n}, {} bytes each: {matrices} matrices", size_of::<T>());
    };
    let mut a = Kind::Spd.matrix(1, n).map(&lift);
    check("potrf", peak(|| T::potrf(Uplo::Lower, a.as_view_mut()).unwrap()));
    let mut b = Kind::Random.matrix(2, n).map(&lift);
    check("potrs", peak(|| T::potrs(Uplo::Lower, a.as_view(), b.as_view_mut()).unwrap()));
    let mut a = Kind::Spd.matrix(1, n).map(&lift);
    check("potrf, upper", peak(|| T::potrf(Uplo::Upper, a.as_view_mut()).unwrap()));
    check("potrs, upper", peak(|| T::potrs(Uplo::Upper, a.as_view(), b.as_view_mut()).unwrap()));
    let mut a = Kind::BadlyScaled.matrix(1, n).map(&lift);
    let mut ipiv = vec![0; n];
    check("getrf", peak(|| T::getrf(a.as_view_mut(), &mut ipiv).unwrap()));
    for trans in [Trans::NoTrans, Trans::Trans] {
        check("getrs", peak(|| T::getrs(trans, a.as_view(), &ipiv, b.as_view_mut()).unwrap()));
    }
}

#[test]
fn memory_is_bounded() {
    // The crate gemm keeps a buffer of about 2 MB for each thread, made at the first product that packs operands.
    bounded(65, f64::INFINITY, |x| Dual::<f64, 1>::new(x, [1.0]));
    for n in [65, 96, 192] {
        bounded(n, 0.0, |x| x);
        bounded(n, 3.0, |x| Dual::<f64, 1>::new(x, [1.0]));
        bounded(n, 3.0, |x| Dual::<f64, 8>::new(x, [1.0; 8]));
    }
    for n in [65, 128] {
        bounded(n, 3.0, |x| Dual::<f64, 16>::new(x, [1.0; 16]));
        bounded(n, 3.0, |x| HyperDual::<f64, 1, 1>::new(x, [1.0], [1.0], [[0.0]]));
        bounded(n, 3.0, |x| Dual2::<f64, 1>::variable(x, 0));
    }
    bounded(65, 3.0, |x| HyperDual::<f64, 4, 4>::new(x, [1.0; 4], [1.0; 4], [[0.0; 4]; 4]));
    bounded(65, 3.0, |x| HyperDual::<f64, 2, 7>::new(x, [1.0; 2], [1.0; 7], [[0.0; 7]; 2]));
    bounded(65, 3.0, |x| Dual2::<f64, 4>::variable(x, 0));
    bounded(96, 3.0, |x| Dual2::<f64, 3>::variable(x, 0));
}
