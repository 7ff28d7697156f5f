#!/usr/bin/env bash
# From a fresh Debian 12 or Ubuntu 22.04 (or newer) to a picture: installs what is missing, builds, writes the demo
# scene and renders it. A second run installs nothing.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=scripts/setup.sh
. scripts/setup.sh

out=out/demo

setup demo

say "building"
start=$SECONDS
cargo build --locked --release --bin sunny16 --example still_life "${CARGO_FLAGS[@]}"
say "built in $((SECONDS - start)) s"

sunny16() { cargo run --locked --quiet --release --bin sunny16 "${CARGO_FLAGS[@]}" -- "$@"; }

mkdir -p "$out"
say "writing the scene and its look"
cargo run --locked --quiet --release --example still_life "${CARGO_FLAGS[@]}" -- "$out"

say "rendering the camera 'Hero'"
start=$SECONDS
sunny16 render "$out/still_life.glb" --camera Hero --size 1280x720 -o "$out/still_life.png" --aa-samples 16 --times
sunny16 render "$out/still_life.glb" --camera Hero --size 1280x720 -o "$out/still_life.exr" --aov all --quiet
say "both files rendered and written in $((SECONDS - start)) s"

say "the same by the path tracer, and the two beside each other"
start=$SECONDS
# Direct light alone is what both renderers know; then all light, of which the raster renderer lacks the reflected.
sunny16 render "$out/still_life.glb" --camera Hero --size 640x360 -o "$out/raster.exr" --quiet
sunny16 render "$out/still_life.glb" --camera Hero --size 640x360 -o "$out/path_direct.exr" --renderer path --bounces 1 --spp 64 --quiet
sunny16 render "$out/still_life.glb" --camera Hero --size 640x360 -o "$out/path.exr" --renderer path --spp 64
sunny16 compare "$out/raster.exr" "$out/path_direct.exr" --html "$out/report_direct.html"
sunny16 compare "$out/raster.exr" "$out/path.exr" --html "$out/report.html"
say "traced and compared in $((SECONDS - start)) s"

# The window, where there is a screen to open it on. `SUNNY16_NO_WINDOW=1 ./demo.sh` leaves it out.
if [ -n "${DISPLAY:-}" ] && [ "${SUNNY16_NO_WINDOW:-}" != 1 ]; then
    say "opening the window; close it to go on"
    sunny16 view "$out/still_life.glb" --camera Hero
fi

cat <<TEXT

  $out/still_life.png        the picture, tone mapped for a display, of 16 samples a pixel
  $out/still_life.exr        the same in nits (32-bit float), with layers: albedo, normals, depth, light by part
  $out/report_direct.html    direct light beside the path tracer's: opens in a browser, wipes, flickers, false colours
  $out/report.html           beside all light: what is missing is reflected light: off until --set gi.enabled=true
  $out/still_life.glb        the scene
  $out/still_life.look.toml  its camera dials; the numbers at its top say what a light meter reads

  Change a dial:   ${CARGO_TARGET_DIR:-target}/release/sunny16 render $out/still_life.glb -o $out/darker.png --set camera.lens.f_stop=8
  Open the window: ${CARGO_TARGET_DIR:-target}/release/sunny16 view $out/still_life.glb
  Read on:         README.md
TEXT
