#!/usr/bin/env bash
# What setup.sh decides on machines that are not this one; apt-get and rustup are replaced by functions that only say
# what they were asked for. Installs nothing.
# shellcheck disable=SC2016,SC2053 # the inner shell expands; expectations are patterns
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
expect() {
    local name=$1 wanted=$2 got=$3
    if [[ $got == $wanted ]]; then
        echo "ok      $name"
    else
        printf 'FAILED  %s\n  wanted: %s\n  got:    %s\n' "$name" "$wanted" "$got"
        failed=1
    fi
}

# Runs commands after sourcing setup.sh, in a shell of its own.
with_setup() { bash -euo pipefail -c ". scripts/setup.sh; $1" setup_test 2>&1 || true; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/full/pkgconfig" "$dir/merged/pkgconfig" "$dir/old/pkgconfig"
for lib in shaderc_combined glslang MachineIndependent GenericCodeGen OSDependent OGLCompiler SPIRV SPIRV-Tools-opt SPIRV-Tools; do
    touch "$dir/full/lib$lib.a" "$dir/old/lib$lib.a" "$dir/merged/lib$lib.a"
done
rm "$dir/merged/libOGLCompiler.a"
echo 'Version: 2023.2.1' | tee "$dir/full/pkgconfig/shaderc_combined.pc" >"$dir/merged/pkgconfig/shaderc_combined.pc"
echo 'Version: 2021.3' >"$dir/old/pkgconfig/shaderc_combined.pc"

show='setup_shaderc >/dev/null; echo "flags: ${CARGO_FLAGS[*]-}; dir: ${SHADERC_LIB_DIR-}"'
nothing_missing='have() { true; }'
expect "a complete, new shaderc is linked" "flags: ; dir: $dir/full" "$(SHADERC_LIB_DIR="$dir/full" with_setup "$show")"
for case in merged old; do
    expect "$case: shaderc is built from source" "flags: --no-default-features --features shaderc/build-from-source; *" \
        "$(SHADERC_LIB_DIR="$dir/$case" with_setup "$nothing_missing; $show")"
done
expect "the source build installs what it needs" "apt cmake ninja-build python3 git" "$(SHADERC_LIB_DIR="$dir/old" with_setup \
    'have() { false; }; apt_install() { echo "apt $*" >&3; }; setup_shaderc 3>&1 >/dev/null')"

expect "a fresh machine installs all packages in one go" \
    "apt build-essential libvulkan1 mesa-vulkan-drivers vulkan-validationlayers xvfb xdotool mmdebstrap libx11-xcb1 libxcursor1 libxi6 libxrandr2 libxkbcommon-x11-0 curl ca-certificates libshaderc-dev glslang-dev spirv-tools" \
    "$(SHADERC_LIB_DIR="$dir/merged" with_setup 'have() { [ "$1" = apt-get ]; }; is_installed() { false; }
        has_vulkan_loader() { false; }; has_vulkan_driver() { false; }; has_validation_layer() { false; }; has_window_libraries() { false; }
        apt_install() { echo "apt $*"; }; setup_packages test')"
expect "a complete machine installs nothing" "" "$(SHADERC_LIB_DIR="$dir/full" with_setup 'have() { true; }
        has_vulkan_loader() { true; }; has_vulkan_driver() { true; }; has_window_libraries() { true; }; has_rust() { true; }
        apt_install() { echo "apt $*"; }; setup_packages demo')"

expect "neither root nor sudo is one clear line" "*error: missing packages: a b; run as root or install sudo" \
    "$(with_setup 'id() { echo 1000; }; have() { [ "$1" = apt-get ]; }; apt_install a b')"
expect "no apt-get is one clear line" "*error: this is not Debian or Ubuntu*" "$(with_setup 'have() { false; }; apt_install a')"

expect "an older Rust does not do" "old" "$(with_setup 'have() { true; }; rustc() { echo "rustc 1.63.0 (x)"; }; has_rust && echo new || echo old')"
expect "a newer Rust does" "new" "$(with_setup 'have() { true; }; rustc() { echo "rustc 1.100.0 (x)"; }; has_rust && echo new || echo old')"
expect "no network for rustup is one clear line" "*the rustup installer could not be fetched*" \
    "$(CARGO_HOME="$dir" with_setup 'has_rust() { false; }; have() { [ "$1" = curl ]; }; curl() { false; }; setup_rust demo')"

# A script like test.sh, with lanes in the background, and a process beside it in the same group.
cat >"$dir/lanes" <<'SH'
#!/usr/bin/env bash
. scripts/setup.sh
trap 'stop_children $$; exit 143' TERM
lane() { local out; out=$(echo "$BASHPID" >>"$1"; sleep 60); }
both() { lane "$1" & lane "$1"; wait; }
both "$1" &
lane "$1" &
wait
SH
sleep 60 &
beside=$!
bash "$dir/lanes" "$dir/pids" &
lanes=$!
while [ "$(cat "$dir/pids" 2>/dev/null | wc -l)" -lt 3 ]; do sleep 0.05; done
kill -TERM "$lanes"
ended=0
wait "$lanes" || ended=$?
sleep 0.2
left=0
# Where nobody reaps them, they stay as zombies.
while read -r pid; do ! grep -qs '^State:[[:space:]]*[A-WY]' "/proc/$pid/status" || left=$((left + 1)); done <"$dir/pids"
expect "an ended script ends its lanes" "143, 0 of 3 left" "$ended, $left of $(wc -l <"$dir/pids") left"
expect "and no process beside it" "there" "$(kill -0 "$beside" 2>/dev/null && echo there)"
kill "$beside"

# demo.sh with a cargo that only notes what it is asked for and "builds" a program that does the same; nothing is set up.
demo=$dir/demo
mkdir -p "$demo/scripts" "$demo/bin"
cp demo.sh "$demo"
printf '%s\n' 'say() { printf "== %s\n" "$*"; }' 'setup() { CARGO_FLAGS=(); }' >"$demo/scripts/setup.sh"
cat >"$demo/bin/cargo" <<'SH'
#!/usr/bin/env bash
echo "cargo $*" >>"$NOTES"
mkdir -p "${CARGO_TARGET_DIR:-target}/release"
printf '%s\n' '#!/usr/bin/env bash' 'echo "program $*" >>"$NOTES"; ! [ "$1" = "${FAILS:-}" ]' >"${CARGO_TARGET_DIR:-target}/release/sunny16"
chmod +x "${CARGO_TARGET_DIR:-target}/release/sunny16"
SH
chmod +x "$demo/bin/cargo"
# run_demo NAME=VALUE...: its output, with what was noted in $demo/notes.
run_demo() {
    rm -f "$demo/notes"
    env -u CARGO_TARGET_DIR PATH="$demo/bin:$PATH" NOTES="$demo/notes" SUNNY16_NO_WINDOW=1 "$@" "$demo/demo.sh" 2>&1 || echo "failed"
}
for target in "$demo/target" "$dir/else where"; do
    said=$(run_demo CARGO_TARGET_DIR="$target")
    expect "the demo builds once, without dev-dependencies" "cargo build --locked --release --bin sunny16" "$(grep '^cargo' "$demo/notes")"
    expect "the demo runs what it built" "program demos still_life -o out/demo
program render out/demo/still_life.glb --camera Hero *" "$(grep '^program' "$demo/notes")"
    expect "the demo's program is in the target folder" "*$target/release/sunny16 view *" "$said"
done
said=$(run_demo)
expect "the demo builds to target by default" "*  Change a dial:   target/release/sunny16 render *" "$said"
expect "the demo announces each step" "$(grep -c . "$demo/notes")" "$(grep -c '^== done in' <<<"$said")"
expect "what fails ends the demo" "program demos*
failed" "$(run_demo FAILS=demos >"$dir/said"; grep '^program' "$demo/notes"; tail -n 1 "$dir/said")"

exit "$failed"
