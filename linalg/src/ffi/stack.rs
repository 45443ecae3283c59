//! Room on the stack for a LAPACK that computes on several threads.
//!
//! The parallel LU factorization of OpenBLAS keeps, at each level of its recursion, a table of `MAX_CPU_NUMBER` x
//! `MAX_CPU_NUMBER` cache lines of jobs on the stack of its caller: 0.5 MiB with the 64 threads that Debian builds for,
//! 2 MiB with 128, and five to ten levels from order 100 to 10 000. A thread of Rust has 2 MiB, the main thread mostly
//! 8. The table is touched here and there, so that an overrun can step over the guard page and write into what lies
//! below: it need not crash, it can return wrong numbers.

/// What a call may need: 15 levels of the tables of a library built for 256 threads. Pages that are not touched cost
/// nothing.
const ROOM: usize = if cfg!(target_pointer_width = "64") { 128 << 20 } else { 16 << 20 };

/// Runs `call`, a factorization by LAPACK, on a stack that is large enough for it: where the provider has threads and
/// the stack of the caller is short, on one of its own (a few microseconds).
pub(super) fn with_room<R>(call: impl FnOnce() -> R) -> R {
    if provider_threads() > 1 { stacker::maybe_grow(ROOM, ROOM, call) } else { call() }
}

/// How many threads the provider may use, where it is an OpenBLAS; any other library leaves the caller's stack alone.
#[cfg(unix)]
fn provider_threads() -> usize {
    use std::ffi::c_int;
    use std::sync::OnceLock;

    type Threads = unsafe extern "C" fn() -> c_int;
    static THREADS: OnceLock<Option<Threads>> = OnceLock::new();
    // SAFETY: the name is a C string. A symbol of this name is a function of OpenBLAS of this signature.
    let threads = THREADS.get_or_init(|| unsafe {
        let symbol = libc::dlsym(libc::RTLD_DEFAULT, c"openblas_get_num_threads".as_ptr());
        std::mem::transmute::<*mut libc::c_void, Option<Threads>>(symbol)
    });
    match threads {
        // SAFETY: the function reads a number; it has no conditions.
        Some(threads) => usize::try_from(unsafe { threads() }).unwrap_or(1),
        // The symbols of a library that is linked statically are not there to be found.
        None if cfg!(hidden_lapack) => usize::MAX,
        None => 1,
    }
}

/// Nobody to ask.
#[cfg(not(unix))]
fn provider_threads() -> usize {
    usize::MAX
}
