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
dualpack-core = { path = "$PWD/core", default-features = false, features = ["libm", "serde", "bytemuck"] }

[profile.dev]
panic = "abort"

[workspace]
TOML
cat >"$crate/lib.rs" <<'RUST'
#![no_std]
use dualpack_core::{Dual, Dual2, HyperDual, Real};
use dualpack_core::nalgebra::Matrix3;

fn model<S: Real>(x: S) -> S {
    x.sin() * x.exp() + (x * x + S::one()).sqrt().ln() + x.erf() - x.powi(3).tanh()
}

/// A derivative of every kind of number.
#[unsafe(no_mangle)]
pub extern "C" fn slopes(x: f64) -> f64 {
    let first = model(Dual::<f64, 3>::variable(x, 0)).eps[0];
    let mixed = model(HyperDual::<f64>::variable(x, 0, 0)).eps12[0][0];
    let second = model(Dual2::<f64>::variable(x, 0)).hessian(0, 0);
    let nested = model(Dual::<Dual<f64>>::variable(Dual::variable(x, 0), 0)).eps[0].eps[0];
    let single = model(Dual::<f32>::variable(x as f32, 0)).eps[0];
    let matrix = Matrix3::from_diagonal_element(Dual::<f64>::variable(x, 0)).determinant().eps[0];
    first + mixed + second + nested + f64::from(single) + matrix
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
RUST
echo "== dualpack-core without std"
cargo build --manifest-path "$crate/Cargo.toml" --target-dir "${CARGO_TARGET_DIR:-target}/no_std"
# The same for a bare-metal target, where its standard library is installed (rustup target add thumbv7em-none-eabihf).
bare=thumbv7em-none-eabihf
if [ -d "$(rustc --print sysroot)/lib/rustlib/$bare" ]; then
    cargo build --manifest-path "$crate/Cargo.toml" --target "$bare" --target-dir "${CARGO_TARGET_DIR:-target}/no_std"
fi
echo "dualpack-core builds without std"
