//! Drivers with a work space, and drivers of static points, allocate nothing: counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicIsize, Ordering};

use dualpack::nalgebra::{DMatrix, DVector, Matrix3, vector};
use dualpack::{
    BlockJacobian, Gradient, Hessian, Jacobian, Real, Tracer, derivative, gradient, hessian, hvp, jacobian,
    jacobian_pattern, jvp, laplacian, linearize, partial_hessian, second_derivative, vhv,
};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Bytes that are allocated, by all threads.
static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: every call is forwarded unchanged to the system allocator; counting touches no memory of the allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|a| a.set(a.get() + 1));
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises are those of `System.alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises are those of `System.dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<T>(f: impl FnOnce() -> T) -> (usize, T) {
    let before = ALLOCATIONS.with(Cell::get);
    let out = f();
    (ALLOCATIONS.with(Cell::get) - before, out)
}

fn norm<S: Real>(x: &[S]) -> S {
    x.iter().fold(S::one(), |s, &x| s + x * x).sqrt()
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| vec![1.0; 3]).0, 1);
    // Without a work space: the seeded point and the gradient.
    assert_eq!(allocations(|| gradient(norm, &vec![1.0; 20])).0, 3);
}

#[test]
fn work_spaces_allocate_once() {
    let x = vec![0.5; 37];
    let (mut g, mut y) = (vec![0.0; 37], vec![0.0; 5]);
    let (mut h, mut j) = (DMatrix::zeros(37, 37), DMatrix::zeros(5, 37));
    let mut space = Gradient::new(&x);
    assert_eq!(allocations(|| space.evaluate(norm, &x, &mut g)).0, 0);
    let mut space = Hessian::new(&x);
    assert_eq!(allocations(|| space.evaluate(norm, &x, &mut g, &mut h)).0, 0);
    let mut space = Jacobian::new(&x);
    assert_eq!(allocations(|| space.evaluate(|x| [norm(x); 5], &x, &mut y, &mut j)).0, 0);
    let mut in_place =
        || allocations(|| space.evaluate_inplace(|y, x| y.fill(norm(x)), &x, &mut y, &mut j)).0;
    assert_eq!((in_place(), in_place()), (1, 0));
    let (n, mut linear) = {
        let (_, linear) = linearize(|x: &[_]| [norm(x); 5], &x[..]);
        (0, linear)
    };
    assert_eq!(allocations(|| linear.apply_into(&x, &mut y)).0, n);

    let points = DVector::from_element(37, 0.5);
    let mut grad = DVector::zeros(37);
    let mut space = Gradient::new(&points);
    assert_eq!(allocations(|| space.evaluate(|x| x.norm_squared(), &points, &mut grad)).0, 0);

    let (a, b) = ([1.0; 9], [2.0; 4]);
    let (mut ja, mut jb) = ([0.0; 18], [0.0; 8]);
    let mut space = BlockJacobian::<f64>::new();
    let mut blocks = || {
        allocations(|| {
            space.evaluate(
                |x, r| {
                    r[0] = norm(&x[0]);
                    r[1] = norm(&x[1]) * r[0];
                },
                &[&a, &b],
                &mut y[..2],
                &mut [Some(&mut ja), Some(&mut jb)],
                dualpack::Layout::RowMajor,
            );
        })
        .0
    };
    assert!(blocks() > 0);
    assert_eq!(blocks(), 0);
}

/// What the passes of a driver share is kept in memory of the thread: allocated once.
#[test]
fn shared_values_are_recorded_in_memory_that_stays() {
    fn waves<S: Real>(x: &[S]) -> S {
        x.iter().fold(S::one(), |s, &x| s + x.sin())
    }
    let x = vec![0.5; 37];
    let mut g = vec![0.0; 37];
    let mut space = Gradient::new(&x);
    let mut evaluate = || allocations(|| space.evaluate(waves, &x, &mut g)).0;
    assert!(evaluate() > 0);
    assert_eq!(evaluate(), 0);
    // One pass shares nothing.
    let once = || allocations(|| gradient(|x| waves(x), &[0.5; 8])).0;
    assert_eq!(std::thread::scope(|s| s.spawn(once).join().unwrap()), 0);
}

#[test]
fn static_points_never_allocate() {
    let x = vector![1.0, 2.0, 3.0];
    let a = [1.0, 2.0, 3.0];
    let m = Matrix3::<f64>::identity();
    assert_eq!(allocations(|| derivative(|t| [t.sin(), t.cos()], 0.5)).0, 0);
    assert_eq!(allocations(|| second_derivative(|t| t.sin(), 0.5)).0, 0);
    assert_eq!(allocations(|| gradient(|x| x.norm(), &x)).0, 0);
    assert_eq!(allocations(|| gradient(|x| norm(x), &a)).0, 0);
    assert_eq!(allocations(|| gradient(|m| m.determinant(), &m)).0, 0);
    assert_eq!(allocations(|| hessian(|x| x.norm(), &x)).0, 0);
    assert_eq!(allocations(|| jacobian(|x| x.cross(&vector![x[1], x[2], x[0]]), &x)).0, 0);
    assert_eq!(allocations(|| jvp(|x| x.normalize(), &x, &x)).0, 0);
    assert_eq!(allocations(|| hvp(|x| x.norm(), &x, &x)).0, 0);
    assert_eq!(allocations(|| vhv(|x| x.norm(), &x, &x)).0, 0);
    assert_eq!(allocations(|| laplacian(|x| x.norm(), &x)).0, 0);
    assert_eq!(allocations(|| partial_hessian(|x, y| x.dot(y), &x, &x)).0, 0);
}

/// The memory of a trace goes with it, whatever other traces are running: inside of another one, and on two threads where
/// there is always one that runs.
#[test]
fn traces_give_their_memory_back() {
    // A trace of a hundred thousand operations keeps more than a megabyte.
    const ROUNDS: usize = 24;
    const BOUND: isize = 12 << 20;
    fn long(x: &[Tracer<f64>; 2]) -> Tracer<f64> {
        (0..100_000).fold(x[0], |y, _| y + x[1])
    }
    let before = LIVE.load(Ordering::Relaxed);
    let grown = || LIVE.load(Ordering::Relaxed) - before;
    jacobian_pattern(
        |x: &[Tracer<f64>; 1]| {
            for _ in 0..ROUNDS {
                assert_eq!(jacobian_pattern(|z| long(z) * x[0], &[1.0, 2.0]).nnz(), 2);
                assert!(grown() < BOUND, "{} bytes", grown());
            }
            x[0]
        },
        &[1.0],
    );

    let (meeting, largest) = (Barrier::new(2), AtomicIsize::new(0));
    let rounds = |first: bool| {
        for round in 0..ROUNDS {
            let f = |x: &[Tracer<f64>; 2]| {
                // The first thread waits for the second one to begin its trace, and the other way round.
                if !first || round > 0 {
                    meeting.wait();
                }
                let y = long(x);
                meeting.wait();
                y
            };
            jacobian_pattern(f, &[1.0, 2.0]);
            // No assertion here: the other thread would wait for this one.
            largest.fetch_max(grown(), Ordering::Relaxed);
        }
        if first {
            meeting.wait();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| rounds(true));
        scope.spawn(|| rounds(false));
    });
    let largest = largest.into_inner();
    assert!(largest < BOUND, "{largest} bytes");
}
