#!/usr/bin/env bash
# Everything that must hold before a change goes in: format, lints, documentation, all tests, the cases of validation/.
# Installs what is missing like demo.sh, and the Vulkan validation layer. Needs no network where everything is there.
#
#   ./test.sh          what continuous integration runs
#   ./test.sh --long   also the tests that take minutes each, and packages of the release build with the Python module
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=scripts/setup.sh
. scripts/setup.sh

case "${1:-}" in
"") ;;
--long) export SUNNY16_LONG=1 ;;
*) die "unknown argument '$1'; the only one is --long" ;;
esac

setup test

# Mesa's compiled shaders, for all tests and their children: drivers that draw on the CPU compile for most of a short run.
export MESA_SHADER_CACHE_DIR="${MESA_SHADER_CACHE_DIR:-$PWD/target/tmp/driver}"

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# An interrupt does not reach what runs in the background.
trap 'stop_children $$; exit 130' INT
trap 'stop_children $$; exit 143' TERM
touch "$logs/times"

# check NAME COMMAND...: runs it, notes its time, the processor time of its children, and whether it failed.
check() {
    local name=$1 start=$SECONDS verdict=ok used=$logs/used.$BASHPID TIMEFORMAT='%U %S'
    shift
    say "$name"
    { time "$@" 2>&3 3>&-; } 3>&2 2>"$used" || verdict=FAILED
    used=$(awk '{ printf "%d", $1 + $2 + 0.5 }' "$used")
    printf '%5d s %5d s  %-22s %s\n' $((SECONDS - start)) "$used" "$name" "$verdict" >>"$logs/times"
    say "$name: $verdict ($((SECONDS - start)) s)"
}

failed_checks() { grep -c ' FAILED$' "$logs/times" || true; }

# lane NAME COMMAND...: a check beside other lanes, whose output is printed at once when it ends.
lane() {
    local out
    out=$(check "$@" 2>&1)
    { flock 9; printf '%s\n' "$out"; } 9>"$logs/lock"
}

# ended PID NAME: waits for a lane. One that ends early leaves checks out, and counts as a failed check.
ended() { wait "$1" || printf '%5d s %5d s  %-22s FAILED\n' "$SECONDS" 0 "$2" >>"$logs/times"; }

# Beside rustc, or where the distribution has it.
clippy_driver=$(rustc --print sysroot)/bin/clippy-driver
[ -x "$clippy_driver" ] || clippy_driver=$(command -v clippy-driver) || die "clippy-driver is missing; install clippy"

# A command of cargo whose compiler for the crates of the workspace is Clippy's driver, as below `cargo clippy`: it lints what it
# compiles. `cargo clippy` would check all dependencies a second time, which takes minutes, and the crates too. Cargo keeps what the
# driver compiled apart from the work of plain builds.
linted() {
    RUSTC_WORKSPACE_WRAPPER=$clippy_driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ "$@"
}

# A lint ends it like any other error.
build() {
    linted cargo test --locked --no-run --lib --bins --tests "${CARGO_FLAGS[@]}" 2>&1 | tee "$logs/build"
}

# The program of a test target, as the build named it: "unittests src/lib.rs" or "tests/gpu/main.rs".
program() { sed -n "s|^ *Executable $1 (\(.*\))\$|\1|p" "$logs/build"; }

# tests NAME TARGET [ARGUMENT...]: runs a target's tests. Time per test is printed by an option that the stable test harness
# takes only with RUSTC_BOOTSTRAP; it changes nothing else.
tests() {
    local name=$1 program
    program=$(program "$2")
    [ -n "$program" ] || return 1
    RUSTC_BOOTSTRAP=1 "$program" -Zunstable-options --report-time "${@:3}" 2>&1 | tee "$logs/tests.$name"
}

# Tests on the device. Most draw so little that Mesa's CPU driver compiles for longer than it draws: they take less without its
# optimizer and with short vectors, of which it compiles fewer lanes (docs.mesa3d.org/envvars.html). Those that draw long, by the
# start of their names, keep both. Other drivers do not read the variables, and Mesa's cache does not tell the vectors apart.
LONG_DRAWS=(anti_aliasing::moving_camera anti_aliasing::still_view averaging:: blended:: direct_budget:: frame::clustered_lights
    gi:: gi_probes:: gi_scenes:: lens_ghosts:: shadows::penumbra water::)
gpu_tests() {
    tests gpu_long "tests/gpu/main.rs" "${LONG_DRAWS[@]}"
}
quick_gpu_tests() {
    local skipped=() name
    for name in "${LONG_DRAWS[@]}"; do skipped+=(--skip "$name"); done
    compiling_little tests gpu "tests/gpu/main.rs" "${skipped[@]}"
}
# Runs of the program draw one small picture each.
cli_tests() { compiling_little tests cli "tests/cli/main.rs"; }
compiling_little() {
    GALLIVM_PERF=nopt LP_NATIVE_VECTOR_WIDTH=128 MESA_SHADER_CACHE_DIR="$MESA_SHADER_CACHE_DIR.short" "$@"
}

# What the tests need not: examples, with --long the Python module, and documentation, by the libraries of the tests.
rest_of_lints() {
    linted checked_rest >"$logs/lints" 2>&1 || { cat "$logs/lints"; false; }
}
checked_rest() {
    cargo build --locked --examples "${CARGO_FLAGS[@]}" &&
        { [ "${SUNNY16_LONG:-}" != 1 ] || cargo clippy --locked -p sunny16-python "${CARGO_FLAGS[@]}" -- -D warnings; } &&
        RUSTDOC="$PWD/scripts/rustdoc_lints.sh" RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings" \
            cargo test --locked --doc --no-fail-fast "${CARGO_FLAGS[@]}"
}

# With --long alone: nine tenths of the paths of all cases. Others of their kind always run: a room (cornell_metal; tests/gpu/
# gi_scenes.rs has the light room), a furnace at another angle, a sphere in a sphere, grids under sun and sky; area lights are also
# held by tests/gpu/area_lights*.rs, circles of confusion by src/reference/tests_film.rs and camera.rs, glass and its dispersion by
# src/reference/tests_glass.rs and tests/gpu/extended_materials.rs. Volumes with all bounces are held by --long alone.
LONG_CASES=(cornell_area cornell_point depth_of_field furnace_0 furnace_60 grid_area_light grid_area_light_full grid_sky_full
    grid_sun_full hollow_sphere light_room material_dispersion material_transmission volume_cloud_full volume_haze_full)

# The cases by the tests' build: its path tracer takes about 1.1 times as long as the release build's, which is less than
# building all again, and its debug assertions are on.
validation() {
    local raster=() cases=() folder
    [ "${SUNNY16_NO_GPU:-}" != 1 ] || raster=(--no-raster)
    if [ "${SUNNY16_LONG:-}" != 1 ]; then
        for folder in validation/cases/*/; do
            [[ " ${LONG_CASES[*]} " == *" $(basename "$folder") "* ]] || cases+=("$(basename "$folder")")
        done
    fi
    "${CARGO_TARGET_DIR:-target}/debug/sunny16" validate --quiet "${raster[@]}" "${cases[@]}"
}

# Packages of the tests' build, which takes nothing to compile: they hold the packaging, not the program's speed. The release build
# and the Python module with --long alone.
packages() {
    if [ "$(id -u)" -ne 0 ] || ! unshare --net --mount true 2>/dev/null; then
        say "left out: a bare root needs the rights of root for chroot and unshare; run scripts/test_packages.sh as root"
    elif [ "${SUNNY16_LONG:-}" = 1 ]; then
        scripts/test_packages.sh
    else
        compiling_little scripts/test_packages.sh --no-wheel --program "${CARGO_TARGET_DIR:-target}/debug/sunny16"
    fi
}

# What counts frames of the window or measures its waits. The test under X11 mostly waits: it runs beside them.
PACED=(governor:: look_changes:: pace:: start:: interaction::closing_does_not_wait window::window_stays_responsive)
paced_viewer_tests() {
    lane "tests of viewer, X11" tests viewer_x11 "tests/viewer/main.rs" x11:: &
    local x11=$!
    lane "tests of viewer, paced" tests viewer_paced "tests/viewer/main.rs" "${PACED[@]}"
    ended "$x11" "lane of X11"
}
viewer_tests() {
    local skipped=() name
    for name in x11:: "${PACED[@]}"; do skipped+=(--skip "$name"); done
    tests viewer "tests/viewer/main.rs" "${skipped[@]}"
}

# Beside the paced tests, which wait and leave processors idle: gentle work leaves them the processor when they have to run.
gentle() {
    renice -n 19 "$BASHPID" >/dev/null
    "$@"
}
gentle_lane() {
    lane "examples and docs" gentle rest_of_lints
    lane "unit tests, core" gentle tests core "unittests ../../src/core.rs"
}

# Two lanes: what one leaves of the processors, in waits, serial parts and ends, the other takes.
host_lane() {
    lane "validation cases" validation
    lane "packages" packages
    lane "unit tests" tests lib "unittests src/lib.rs"
    lane "tests of cpu" tests cpu "tests/cpu/main.rs"
    lane "tests of validation" tests validation "tests/validation/main.rs"
    # The other lane has more to do.
    lane "tests of cli" cli_tests
}
device_lane() {
    lane "tests of viewer, other" viewer_tests
    lane "tests of gpu, long" gpu_tests
    lane "tests of gpu, quick" quick_gpu_tests
}

check scripts scripts/setup_test.sh
check format cargo fmt --all --check
check build build
if [ "$(failed_checks)" -eq 0 ]; then
    say "tests of viewer, paced, and a gentle lane"
    gentle_lane &
    gentle=$!
    paced_viewer_tests
    say "all other tests, in two lanes"
    host_lane &
    host=$!
    device_lane &
    device=$!
    ended "$gentle" "gentle lane"
    ended "$host" "lane of the host"
    ended "$device" "lane of the device"
fi

summary=$(cat "$logs"/tests.* 2>/dev/null | grep '^test result:' || true)
count() { sed -n "s/.* \([0-9]*\) $1;.*/\1/p" <<<"$summary" | awk '{ sum += $1 } END { print sum + 0 }'; }
passed=$(count passed)
failed=$(count failed)
# Failed tests are counted one by one, any other failed check as one.
broken_programs=$(grep -c 'FAILED' <<<"$summary" || true)
failed=$((failed + $(failed_checks) - broken_programs))

printf '\nThe slowest tests:\n'
sed -n 's/^test \(.*\) \.\.\. ok <\(.*\)s>$/\2 \1/p' "$logs"/tests.* 2>/dev/null | sort -rn |
    awk 'NR <= 20 { printf "%7.1f s  %s\n", $1, $2 }' # Reads to the end: pipefail fails a sort whose reader has gone.
printf '\nWhere the time went (of the clock, of the processors):\n'
cat "$logs/times"
awk -v clock="$SECONDS" '{ used += $3 } END { printf "%5d s %5d s  in all\n", clock, used }' "$logs/times"
printf '\n%s\n' "$summary"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
