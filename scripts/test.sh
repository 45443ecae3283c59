#!/usr/bin/env bash
# Runs `cargo test ARGUMENTS` and checks that the tests really ran.
#
# An exit code of 0 is not enough: the reference LAPACK answers a bad argument by stopping the process with
# exit code 0, and such a run looks green. So every test binary that cargo built must have been run, every
# announced `running N tests` must be followed by a `test result:` that accounts for all N, and the total
# must not fall below the number in scripts/expected-tests.
#
# usage: scripts/test.sh [ARGUMENT of cargo test]...
set -euo pipefail
cd "$(dirname "$0")/.."

# Plain text to parse; OpenBLAS's own threads would fight with those of the tests.
export CARGO_TERM_COLOR=never OPENBLAS_NUM_THREADS=1

expected=$(grep -v '^#' scripts/expected-tests)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

echo "== cargo test $*"
# The list of binaries comes from a run of its own (`Executable unittests src/lib.rs (target/...)`).
cargo test "$@" --no-run 2>&1 | tee "$log.built"
status=0
cargo test "$@" --no-fail-fast 2>&1 | tee "$log" || status=$?

awk -v expected="$expected" -v status="$status" '
    function complain(text) { print "check: " text; bad++ }
    function close_group() {
        if (announced >= 0) complain(binary ": announced " announced " tests and never reported a result")
        announced = -1
    }
    function close_binary() {
        close_group()
        if (binary != "" && !groups) complain(binary ": ran without a word")
        groups = 0
    }
    BEGIN { announced = -1 }
    # First file: what was built.
    NR == FNR { if ($1 == "Executable") { built[$NF] = $0; binaries++ } next }
    # Second file: what ran.
    $1 == "Running" && $NF ~ /^\(.*\)$/ { close_binary(); binary = $2 " " $3 " " $NF; ran[$NF] = 1; next }
    $1 == "Doc-tests"                   { close_binary(); binary = $0; sub(/^ +/, "", binary); docs++; next }
    /^running [0-9]+ tests?$/           { close_group(); announced = $2; groups++; next }
    # test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
    # (a test that prints without a newline may push this behind its own text)
    match($0, /test result: (ok|FAILED)\. [0-9]+ passed; [0-9]+ failed; [0-9]+ ignored; [0-9]+ measured;/) {
        split(substr($0, RSTART, RLENGTH), word, " ")
        if (announced < 0) complain(binary ": a result without an announcement")
        if (announced != word[4] + word[6] + word[8] + word[10])
            complain(binary ": announced " announced " tests, accounted for " word[4] + word[6] + word[8] + word[10])
        if (word[3] != "ok.") complain(binary ": " $0)
        announced = -1
        passed += word[4]; failed += word[6]; ignored += word[8]
    }
    END {
        close_binary()
        for (path in built) if (!(path in ran)) complain("never ran: " built[path])
        if (!binaries) complain("cargo named no test binary")
        if (!docs) complain("no doctests ran")
        if (passed < expected)
            complain(passed " tests passed, scripts/expected-tests asks for at least " expected)
        if (status != 0 && !failed) complain("cargo test ended with status " status)
        print passed + 0 " passed, " failed + (bad && !failed ? 1 : 0) " failed, " ignored + 0 " skipped"
        exit (bad > 0 || status != 0)
    }' "$log.built" "$log"
