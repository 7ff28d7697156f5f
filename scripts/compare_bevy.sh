#!/usr/bin/env bash
# Times screen-space reflections beside Bevy's, on the same scene and driver, in turns
# (validation/measured/reflections.md, "Compared with Bevy"). Prints, in ms, Bevy's SSR and TAA
# passes by its own diagnostics, and the sum of our SSR passes for several settings. First builds
# Bevy in release mode: a quarter of an hour on two cores.
#
#   scripts/compare_bevy.sh [WIDTHxHEIGHT [TURNS]]
#
# SUNNY16=PROGRAM uses a program that is already built.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/peers.sh
. scripts/peers.sh

size=${1:-1280x720}
turns=${2:-3}
build_sunny16
build_bevy
mkdir -p out/bevy
python3 validation/bevy/scene.py out/bevy/spheres.glb

ours() {
    local sets=()
    for set in "$@"; do sets+=(--set "$set"); done
    "$program" bench out/bevy/spheres.glb --size "$size" --frames 10 --quality direct \
        --set camera.exposure.ev100=7.9 --set passes.ssr.enabled=true "${sets[@]}" |
        sum_of_passes '^ssr|copy to light with reflections'
}

half='passes.ssr.resolution="half"'
short=passes.ssr.max_history_frames=0
for ((turn = 1; turn <= turns; turn++)); do
    say "turn $turn of $turns, $size (ms)"
    "$bevy" out/bevy/spheres.glb "$size" 10 taa 2>/dev/null | grep -E 'render/(ssr|taa)$'
    printf '%s  ours, half, no history, 2 taps, 32 steps\n' \
        "$(ours "$half" "$short" passes.ssr.taps=2 passes.ssr.steps=32)"
    printf '%s  ours, half, 8 taps\n' "$(ours "$half" passes.ssr.taps=8)"
    printf '%s  ours, half\n' "$(ours "$half")"
    printf '%s  ours, one ray, no history\n' "$(ours "$short" passes.ssr.taps=1)"
    printf '%s  ours by default\n' "$(ours)"
done
