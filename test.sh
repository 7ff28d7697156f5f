#!/usr/bin/env bash
# Everything that must hold before a change goes in: format, lints, documentation, all tests. Installs what is missing
# like demo.sh, and the Vulkan validation layer. Needs no network where everything is there.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=scripts/setup.sh
. scripts/setup.sh

setup test

failed_checks=0

# Mesa's compiled shaders, for all tests and their children: drivers that draw on the CPU compile for most of a short run.
export MESA_SHADER_CACHE_DIR="${MESA_SHADER_CACHE_DIR:-$PWD/target/tmp/driver}"

check() {
    local name=$1 start=$SECONDS
    shift
    say "$name"
    if "$@"; then
        say "$name: ok ($((SECONDS - start)) s)"
    else
        say "$name: FAILED"
        failed_checks=$((failed_checks + 1))
    fi
}

# Lints and tests share the dev profile, so that dependencies are built once.
check scripts scripts/setup_test.sh
check format cargo fmt --all --check
check lints cargo clippy --locked --all-targets "${CARGO_FLAGS[@]}" -- -D warnings
check documentation env RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings" cargo doc --locked --no-deps "${CARGO_FLAGS[@]}"

# The cases of validation/ by the tests' build: its path tracer takes about 1.1 times as long as the release build's, which is
# less than building all anew, and its debug assertions are on.
raster=()
if [ "${SUNNY16_NO_GPU:-}" = 1 ]; then
    raster=(--no-raster)
fi
check "validation cases" cargo run --locked --quiet --bin sunny16 "${CARGO_FLAGS[@]}" -- validate --quiet "${raster[@]}"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_tests() { cargo test --locked --no-fail-fast "${CARGO_FLAGS[@]}" 2>&1 | tee "$log"; }
before=$failed_checks
check tests run_tests

summary=$(grep '^test result:' "$log" || true)
count() { sed -n "s/.* \([0-9]*\) $1;.*/\1/p" <<<"$summary" | awk '{ sum += $1 } END { print sum + 0 }'; }
passed=$(count passed)
failed=$(count failed)
# Tests that do not even build are a failure too; failed tests are counted one by one.
if [ "$failed_checks" -gt "$before" ] && [ "$failed" -gt 0 ]; then
    failed_checks=$before
fi
failed=$((failed + failed_checks))

printf '\n%s\n' "$summary"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
