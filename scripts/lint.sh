#!/usr/bin/env bash
# Formatting, then clippy for each feature set, every warning an error. Nothing is linked and the bundled LAPACK
# is not built, so no Fortran compiler is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

run() { echo "== $*"; "$@"; }

run cargo fmt --all --check

# `--all-features` would turn both LAPACK providers on and build the bundled one.
sets=("" "num-dual" "system" "system,num-dual")
# Each optional feature of the facade alone, so that none leans on another.
while read -r feature; do
    sets+=("$feature" "num-dual,$feature")
done < <(sed -n '/^\[features\]/,/^\[/s/^\([a-z][a-z0-9-]*\) *=.*/\1/p' Cargo.toml | grep -vxE 'default|netlib|system|num-dual' || true)
for set in "${sets[@]}"; do
    run cargo clippy --workspace --all-targets --no-default-features --features "$set" -- -D warnings
done

# core by itself: with std, without, and with each of its features, which the workspace runs above unite.
sets=("std" "std,num-dual")
while read -r feature; do
    sets+=("std,$feature")
done < <(sed -n '/^\[features\]/,/^\[/s/^\([a-z][a-z0-9-]*\) *=.*/\1/p' core/Cargo.toml | grep -vxE 'default|std|num-dual|libm' || true)
for set in "${sets[@]}"; do
    run cargo clippy -p dualpack-core --all-targets --no-default-features --features "$set" -- -D warnings
done
# Its tests need std; without it the library alone is looked at.
run cargo clippy -p dualpack-core --lib --no-default-features --features libm -- -D warnings
