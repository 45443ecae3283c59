#!/bin/sh
# The features of the facade besides the LAPACK providers, separated by commas: what tests and clippy turn on.
set -eu
cd "$(dirname "$0")/.."
sed -n '/^\[features\]/,/^\[/s/^\([a-z][a-z0-9-]*\) *=.*/\1/p' Cargo.toml | grep -vxE 'default|netlib|system' | paste -sd, -
