# What compare_bevy.sh and beside_peers.sh share: builds of both programs, and their pass times.
# Sourced, not run, in the repository root.
# shellcheck shell=bash
# shellcheck source=scripts/setup.sh
. scripts/setup.sh

# Builds sunny16 in release mode, and sets `program`; the variable SUNNY16 names another program.
build_sunny16() {
    if [ -n "${SUNNY16:-}" ]; then
        have "$SUNNY16" || die "SUNNY16=$SUNNY16 is no program; name one, or unset it to build"
        program=$SUNNY16
        return
    fi
    setup demo
    say "building sunny16"
    cargo build --locked --release --bin sunny16 "${CARGO_FLAGS[@]}"
    program=${CARGO_TARGET_DIR:-target}/release/sunny16
}

# Builds Bevy and its program in release mode: a quarter of an hour on two cores.
build_bevy() {
    setup_rust demo
    say "building Bevy"
    cargo build --locked --release --manifest-path validation/bevy/Cargo.toml \
        --target-dir target/bevy || die "Bevy cannot be built; see the messages above"
    bevy=target/bevy/release/bevy_reflections
}

# sum_of_passes PATTERN: the sum in ms of the median times of the passes whose names match, from
# the table that `bench` prints.
sum_of_passes() {
    awk -v pattern="$1" '
        /median ms +p95 ms/ { table = 1; next }
        !table { next }
        # Rows of the table: two numbers and a name.
        $1 !~ /^[0-9.]+$/ || $2 !~ /^[0-9.]+$/ { table = 0; next }
        { name = $0; sub(/^ *[0-9.]+ +[0-9.]+ +/, "", name) }
        name !~ /host clock/ && name ~ pattern { sum += $1 }
        END { printf "%9.2f\n", sum }'
}
