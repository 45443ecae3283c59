#!/usr/bin/env bash
# Formatting, then clippy, every warning an error. Nothing is linked and the bundled LAPACK is not built, so no Fortran
# compiler is needed. (`--all-features` would turn both LAPACK providers on and build the bundled one.)
set -euo pipefail
cd "$(dirname "$0")/.."

run() { echo "== $*"; "$@"; }
clippy() { run cargo clippy --no-default-features "$@" -- -D warnings; }

run cargo fmt --all --check

# Everything, tests, examples and benches included: with all features and with none.
features=$(scripts/features.sh)
clippy --workspace --all-targets --features "system,$features"
clippy --workspace --all-targets

# The libraries with each feature alone, so that none leans on another.
for feature in system ${features//,/ }; do
    clippy --workspace --lib --features "$feature"
done

# core by itself, where the runs above unite its features with what linalg asks for: with and without std.
clippy -p dualpack-core --lib --features std
clippy -p dualpack-core --lib --features libm
clippy -p dualpack-core --lib --features libm,alloc
