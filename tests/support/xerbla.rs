//! LAPACK's error handler, replaced for tests: print and abort.

use std::ffi::c_char;

/// Called by LAPACK with the routine's name and the number of the argument it rejects. The reference
/// version stops the process with exit code 0 and OpenBLAS's version returns to a routine that goes on;
/// both hide the fault, so the tests abort here.
///
/// # Safety
/// Called by LAPACK alone: `name` points to `length` bytes and `info` to one integer (both may be null).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xerbla_(name: *const c_char, info: *const i32, length: usize) {
    let routine = if name.is_null() {
        String::from("a routine")
    } else {
        // SAFETY: LAPACK passes a CHARACTER argument of `length` bytes; routine names are short, so a
        // caller that omits the length cannot make us read more than 32 bytes.
        let bytes = unsafe { std::slice::from_raw_parts(name.cast::<u8>(), length.min(32)) };
        String::from_utf8_lossy(bytes).trim().to_string()
    };
    // SAFETY: checked for null; LAPACK passes the address of an INTEGER.
    let argument = if info.is_null() { 0 } else { unsafe { *info } };
    eprintln!("xerbla: {routine} rejects argument {argument}: the library must never make such a call");
    std::process::abort();
}
