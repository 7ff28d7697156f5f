#!/usr/bin/env bash
# From a fresh Debian 12 or Ubuntu 22.04 (or newer) to a picture: installs what is missing, builds, writes the demo
# scene and renders it. A second run installs nothing. Each step says what it does and how long that may take: the times
# are of two CPU cores without a graphics card.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=scripts/setup.sh
. scripts/setup.sh

out=out/demo
# What cargo builds into; the program is run from there, so that cargo runs once.
sunny16=${CARGO_TARGET_DIR:-target}/release/sunny16

# step NAME COMMAND...: says a step before it and how long it took after it.
step() {
    local name=$1 start=$SECONDS
    shift
    say "$name"
    "$@"
    say "done in $((SECONDS - start)) s"
}

render() { "$sunny16" render "$out/still_life.glb" --camera Hero "$@"; }

say "looking for what is missing: packages, Rust (minutes if something must be installed)"
setup demo

step "building: about seven minutes the first time, seconds later; cargo shows what it compiles" \
    cargo build --locked --release --bin sunny16 "${CARGO_FLAGS[@]}"

mkdir -p "$out"
step "writing the demo scene and its look to $out (seconds)" "$sunny16" demos still_life -o "$out"

step "rendering the camera 'Hero', 1280x720: half a minute, a second on a graphics card; the first run of all compiles
   shaders for another half minute" \
    render --size 1280x720 -o "$out/still_life.png" --times
step "rendering it in nits at 480x270, with all layers, to $out/raster.exr (ten seconds)" \
    render --size 480x270 -o "$out/raster.exr" --aov all --quiet
step "path tracing it at 480x270, 64 samples a pixel (half a minute)" \
    render --size 480x270 -o "$out/path.exr" --renderer path --spp 64
step "comparing the two (seconds)" \
    "$sunny16" compare "$out/raster.exr" "$out/path.exr" --max-flip 0.05 --html "$out/report.html"

# The window, where there is a screen to open it on. `SUNNY16_NO_WINDOW=1 ./demo.sh` leaves it out.
if [ -n "${DISPLAY:-}" ] && [ "${SUNNY16_NO_WINDOW:-}" != 1 ]; then
    say "opening the window; close it to go on"
    "$sunny16" view "$out/still_life.glb" --camera Hero
fi

cat <<TEXT

  $out/still_life.png        the picture, tone mapped for a display
  $out/raster.exr            the same in nits (32-bit float), with layers: albedo, normals, depth, light by part
  $out/report.html           it beside the path tracer's: opens in a browser, wipes, flickers, false colors
  $out/still_life.glb        the scene
  $out/still_life.look.toml  its camera dials; the numbers at its top say what a light meter reads

  Change a dial:   $sunny16 render $out/still_life.glb -o $out/darker.png --set camera.lens.f_stop=8
  Open the window: $sunny16 view $out/still_life.glb
  Read on:         README.md
TEXT
