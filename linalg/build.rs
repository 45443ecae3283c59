//! Links the LAPACK that the features ask for: `system` (wins), else `netlib`, else nothing.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(hidden_lapack)");
    for name in ["DUALPACK_LAPACK_LIB", "DUALPACK_LAPACK_DIR", "FC"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    // Features are additive and two dependants may each ask for a provider, so both can be on.
    // Whoever names a system library wants that one.
    if feature("SYSTEM") {
        link_system();
    } else if feature("NETLIB") {
        find_fortran_runtime();
    } else {
        hide();
    }
}

/// The LAPACK may be an OpenBLAS in the program itself, whose symbols cannot be looked up.
fn hide() {
    println!("cargo:rustc-cfg=hidden_lapack");
}

fn feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

fn target_is(os: &str) -> bool {
    env::var("CARGO_CFG_TARGET_OS").is_ok_and(|target| target == os)
}

/// `DUALPACK_LAPACK_LIB` is a list of libraries, separated by commas, each as rustc's `-l` takes them
/// (`openblas`, `static=openblas`, `framework=Accelerate`); `DUALPACK_LAPACK_DIR` a search path in the
/// manner of `PATH`.
fn link_system() {
    if let Some(path) = env::var_os("DUALPACK_LAPACK_DIR") {
        for dir in env::split_paths(&path).filter(|dir| !dir.as_os_str().is_empty()) {
            if !dir.is_dir() {
                fail(&format!("DUALPACK_LAPACK_DIR names {}, which is not a directory", dir.display()));
            }
            println!("cargo:rustc-link-search=native={}", dir.display());
        }
    }
    let default = if target_is("macos") { "framework=Accelerate" } else { "openblas" };
    let wish = env::var("DUALPACK_LAPACK_LIB").unwrap_or_default();
    let wish = if wish.trim().is_empty() { default } else { &wish };
    for library in wish.split(',').map(str::trim).filter(|library| !library.is_empty()) {
        println!("cargo:rustc-link-lib={library}");
        if library.starts_with("static") {
            hide();
        }
    }
}

/// netlib-src builds the library in its own build script, which runs before this one and, without a Fortran
/// compiler or CMake, fails in its own words (README.md quotes them). It asks the linker for `-lgfortran`, but
/// that library lives in a directory of the compiler, where a linker that is not gfortran does not look.
fn find_fortran_runtime() {
    let name = if target_is("macos") { "libgfortran.dylib" } else { "libgfortran.so" };
    // FC is what CMake compiled with; it may be another compiler, which knows no libgfortran.
    let compilers = env::var("FC").ok().into_iter().chain(["gfortran".to_owned()]);
    let Some(library) = compilers.filter_map(|compiler| print_file_name(&compiler, name)).next() else {
        fail(
            "the bundled LAPACK needs gfortran and CMake: apt install gfortran cmake | dnf install gcc-gfortran \
             cmake | brew install gcc cmake; or link an installed LAPACK instead: --no-default-features \
             --features system",
        );
    };
    let dir = library.parent().unwrap_or(Path::new("."));
    println!("cargo:rustc-link-search=native={}", dir.display());
}

/// The path of `library` as the compiler sees it; a compiler that does not have it repeats the bare name.
fn print_file_name(compiler: &str, library: &str) -> Option<PathBuf> {
    let output = Command::new(compiler).arg(format!("-print-file-name={library}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (output.status.success() && path.is_absolute() && path.exists()).then_some(path)
}

fn fail(reason: &str) -> ! {
    println!("cargo::error={reason}");
    std::process::exit(1);
}
