#!/usr/bin/env bash
# Proves that dualpack-core builds without the standard library: a program with its own panic handler does not
# compile as soon as anything in its dependency tree links std (two `panic_impl`), on any host, with no
# second target installed.
set -euo pipefail
cd "$(dirname "$0")/.."

crate=$(mktemp -d)
trap 'rm -rf "$crate"' EXIT
cat >"$crate/Cargo.toml" <<TOML
[package]
name = "no-std-check"
version = "0.0.0"
edition = "2024"

[lib]
path = "lib.rs"
crate-type = ["staticlib"]

[dependencies]
dualpack-core = { path = "$PWD/core", default-features = false, features = ["libm"] }

[profile.dev]
panic = "abort"

[workspace]
TOML
cat >"$crate/lib.rs" <<'RUST'
#![no_std]
use dualpack_core::Dual;

/// d/dx sin(x).
#[unsafe(no_mangle)]
pub extern "C" fn slope_of_sin(x: f64) -> f64 {
    let y: Dual<f64, 1> = Dual::variable(x, 0).sin();
    y.eps[0]
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
RUST
echo "== dualpack-core without std"
cargo build --manifest-path "$crate/Cargo.toml" --target-dir "${CARGO_TARGET_DIR:-target}/no_std"
echo "dualpack-core builds without std"
