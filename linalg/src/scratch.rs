//! Scratch memory: on the stack up to 32 KiB per nesting level, beyond that from a [`Workspace`] or the heap.

use std::cell::RefCell;
use std::mem::MaybeUninit;

use num_traits::Zero;

const STACK: usize = 32 * 1024;

/// One cache line, the unit and the alignment of every buffer.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([MaybeUninit<u8>; 64]);

#[repr(C, align(64))]
struct Stack(MaybeUninit<[u8; STACK]>);

thread_local! {
    /// The buffers of the workspace in use, the one for the outermost level last; `None` without a workspace.
    static POOL: RefCell<Option<Vec<Vec<Line>>>> = const { RefCell::new(None) };
}

/// Scratch memory that is kept between calls.
///
/// Routines take their scratch from the stack as long as it fits 32 KiB. Larger matrices need the heap; inside
/// [`Workspace::run`] they use the memory of the workspace, so that a call repeated with the same sizes allocates no
/// scratch. (Large products pack their operands into buffers of their own, which the crate `gemm` allocates: one of about
/// 2 MB for each thread, which it keeps, and small ones.)
///
/// Beside its operands and those buffers, a factorization or a solve of dual numbers of first or second order holds at
/// most three matrices of the size of its own.
///
/// ```
/// use dualpack_linalg::Workspace;
/// let mut workspace = Workspace::new();
/// for step in 0..3 {
///     let sum = workspace.run(|| step + 1); // calls of routines and fronts go here
///     assert_eq!(sum, step + 1);
/// }
/// ```
#[derive(Default)]
pub struct Workspace {
    buffers: Vec<Vec<Line>>,
}

impl Workspace {
    /// An empty workspace; it grows to what the calls inside [`run`](Workspace::run) need.
    pub fn new() -> Workspace {
        Workspace::default()
    }

    /// Runs `f` with this workspace as the scratch memory of the current thread. Inside another `run` the inner
    /// workspace is used until its `run` ends.
    pub fn run<R>(&mut self, f: impl FnOnce() -> R) -> R {
        /// Puts the outer pool back and keeps our buffers, also when `f` panics.
        struct Restore<'a> {
            workspace: &'a mut Workspace,
            outer: Option<Vec<Vec<Line>>>,
        }
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                let ours = POOL.replace(self.outer.take());
                self.workspace.buffers = ours.unwrap_or_default();
            }
        }
        let outer = POOL.replace(Some(std::mem::take(&mut self.buffers)));
        let _restore = Restore { workspace: self, outer };
        f()
    }

    /// The memory held, in bytes.
    pub fn bytes(&self) -> usize {
        self.buffers.iter().map(|b| b.capacity() * size_of::<Line>()).sum()
    }
}

/// Calls `f` with `len` scalars of scratch, all zero.
pub(crate) fn with_scratch<P: Copy + Zero, R>(len: usize, f: impl FnOnce(&mut [P]) -> R) -> R {
    with_uninit(len, |buffer: &mut [MaybeUninit<P>]| {
        for x in buffer.iter_mut() {
            x.write(P::zero());
        }
        // SAFETY: every scalar has been written.
        f(unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr().cast(), buffer.len()) })
    })
}

/// Calls `f` with room for `len` scalars.
pub(crate) fn with_uninit<P: Copy, R>(len: usize, f: impl FnOnce(&mut [MaybeUninit<P>]) -> R) -> R {
    let bytes = len.checked_mul(size_of::<P>()).expect("scratch size overflows the address space");
    if align_of::<P>() > align_of::<Line>() {
        return f(&mut vec![MaybeUninit::uninit(); len]);
    }
    if bytes <= STACK {
        let mut stack = Stack(MaybeUninit::uninit());
        // SAFETY: `stack` is ours, `STACK` bytes long, and outlives the call of `f`.
        return f(unsafe { room(stack.0.as_mut_ptr().cast(), STACK, len) });
    }
    let lines = bytes.div_ceil(size_of::<Line>());
    // Nested calls pop further buffers: the same sequence of calls meets the same buffers again.
    let pooled = POOL.with_borrow_mut(|pool| pool.as_mut().map(|p| p.pop().unwrap_or_default()));
    let keep = pooled.is_some();
    let mut buffer = pooled.unwrap_or_default();
    if buffer.len() < lines {
        buffer.clear();
        buffer.resize(lines, Line([MaybeUninit::uninit(); 64]));
    }
    // SAFETY: `buffer` is ours, holds that many bytes, and is not touched until `f` has returned.
    let result = f(unsafe { room(buffer.as_mut_ptr().cast(), buffer.len() * size_of::<Line>(), len) });
    if keep {
        POOL.with_borrow_mut(|pool| {
            if let Some(p) = pool.as_mut() {
                p.push(buffer);
            }
        });
    }
    result
}

/// The first `len` scalars of the `bytes` bytes at `start`.
///
/// # Safety
/// The block must be writable and must not be used otherwise while the result lives.
unsafe fn room<'a, P: Copy>(start: *mut u8, bytes: usize, len: usize) -> &'a mut [MaybeUninit<P>] {
    assert!(len * size_of::<P>() <= bytes && start.addr().is_multiple_of(align_of::<P>()));
    // SAFETY: `len` aligned scalars, which need not be initialised, inside one block, by the assertion; the caller
    // leaves it to the result.
    unsafe { std::slice::from_raw_parts_mut(start.cast(), len) }
}
