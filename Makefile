# Two commands do everything on a machine with Rust, a C compiler and make:
#   make demo    the two seed problems, end to end          make test    all tests, doctests included
# Both first install what the bundled LAPACK is built with (gfortran, CMake), and share its build.
# PROVIDER=system links an installed LAPACK instead (OpenBLAS, see README.md): no Fortran, no LAPACK build.

PROVIDER ?= netlib
ifeq ($(PROVIDER),system)
FEATURES := --no-default-features --features system,num-dual
SETUP := openblas
else ifeq ($(PROVIDER),netlib)
FEATURES :=
SETUP :=
else
$(error PROVIDER is netlib or system, not '$(PROVIDER)')
endif

# A shell that was open when rustup was installed does not have it on its path yet.
export PATH := $(PATH):$(HOME)/.cargo/bin

.PHONY: help demo test lint doc bench setup

help:
	@echo "make demo    solve the two seed problems; ARGS='--matrix FILE' takes a matrix of yours"
	@echo "make test    run all tests and check that they ran"
	@echo "make lint    formatting and clippy, all feature sets"
	@echo "make doc     build the documentation"
	@echo "make bench   run the benchmarks"
	@echo "PROVIDER=system links OpenBLAS instead of building the bundled LAPACK"

setup:
	@scripts/setup.sh $(SETUP)

demo: setup
	cargo run --release $(FEATURES) --example seeds -- $(ARGS)

test: setup
	scripts/test.sh --release --workspace $(FEATURES) --features "$$(scripts/features.sh)"

lint:
	scripts/lint.sh

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --no-default-features --features "$$(scripts/features.sh)"

bench: setup
	cargo bench $(FEATURES)
