#!/bin/sh
# Installs what the bundled LAPACK is built with (gfortran, CMake, make); with `openblas` as argument also
# OpenBLAS, for the feature `system`. Installs only what is missing and says what it does; without root
# rights it names the command to run instead.
set -eu

want_openblas=no
for argument in "$@"; do
    case $argument in
        openblas) want_openblas=yes ;;
        *) echo "setup: unknown argument '$argument'; the only one is: openblas" >&2; exit 2 ;;
    esac
done

has() { command -v "$1" >/dev/null 2>&1; }

# A development package is there when the linker finds its library.
has_openblas() {
    object=$(mktemp -d) || return 1
    echo 'int main(void) { return 0; }' >"$object/main.c"
    status=0
    cc -o "$object/main" "$object/main.c" -lopenblas >/dev/null 2>&1 || status=1
    rm -rf "$object"
    return $status
}

# missing GFORTRAN CMAKE MAKE OPENBLAS: the packages to install, by the name each system gives them.
missing() {
    list=
    # FC may name another Fortran compiler; CMake honours it.
    has "${FC:-gfortran}" || list="$list $1"
    has cmake || list="$list $2"
    has make || list="$list $3"
    [ $want_openblas = no ] || has_openblas || list="$list $4"
    echo "$list"
}

as_root=
if [ "$(id -u)" != 0 ]; then as_root=sudo; fi

# can_become_root: root, or sudo without a password, or sudo with somebody there to type it.
can_become_root() {
    [ -z "$as_root" ] && return 0
    has sudo || return 1
    sudo -n true 2>/dev/null || [ -t 0 ]
}

# install COMMAND_LINE: runs it as root, or says exactly what to run.
install() {
    if can_become_root; then
        echo "setup: $1"
        $as_root sh -c "$1"
    else
        echo "setup: something is missing and installing it needs root rights. Run as root:" >&2
        echo "    $1" >&2
        echo "or link a LAPACK that is installed already: cargo ... --no-default-features --features system,num-dual" >&2
        exit 1
    fi
}

if ! has cargo; then
    echo "setup: cargo is not on the PATH; install Rust 1.89 or later (https://rustup.rs)" >&2
    exit 1
fi
if ! has cc; then
    echo "setup: no C compiler 'cc'; install one (Debian, Ubuntu: build-essential; Fedora: gcc; macOS: xcode-select --install)" >&2
    exit 1
fi

case $(uname -s) in
    Darwin)
        # gfortran comes with Homebrew's gcc; for `system` macOS has Accelerate.
        want_openblas=no
        packages=$(missing gcc cmake make "")
        [ -n "$packages" ] || exit 0
        if has brew; then
            echo "setup: brew install$packages"
            # shellcheck disable=SC2086
            brew install $packages
        else
            echo "setup: please install:$packages (with Homebrew: brew install$packages)" >&2
            exit 1
        fi
        ;;
    *)
        if has apt-get; then
            packages=$(missing gfortran cmake make libopenblas-dev)
            [ -n "$packages" ] || exit 0
            install "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends$packages"
        elif has dnf; then
            packages=$(missing gcc-gfortran cmake make openblas-devel)
            [ -n "$packages" ] || exit 0
            install "dnf install -y$packages"
        else
            packages=$(missing gfortran cmake make "OpenBLAS (development files)")
            [ -n "$packages" ] || exit 0
            echo "setup: neither apt-get nor dnf here; please install:$packages" >&2
            exit 1
        fi
        ;;
esac
