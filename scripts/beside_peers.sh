#!/usr/bin/env bash
# Times a frame of one scene in Filament, Bevy and sunny16, in turns on the same machine, without
# shadows and with those of the sun, and prints medians and ratios (validation/peers/README.md).
#
#   scripts/beside_peers.sh [SCENE.glb [WIDTHxHEIGHT [TURNS]]]
#
# SCENE.json beside the scene has the camera (validation/peers/prepare.py). Without a scene, one of
# 49 balls, 16 point lights and a sun is generated (validation/bevy/scene.py).
#
#   PEERS="filament bevy"     the renderers beside ours; Bevy builds for a quarter of an hour
#   SUNNY16=PROGRAM           uses a program that is already built
#   FILAMENT_PYTHON=PYTHON    uses a Python that has filly 0.2.1; without it, a virtual
#                             environment is made in target/peers
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/peers.sh
. scripts/peers.sh

scene=${1:-}
size=${2:-640x360}
turns=${3:-3}
frames=20
read -ra peers <<<"${PEERS-filament bevy}"
[[ $size =~ ^[0-9]+x[0-9]+$ ]] || die "invalid size '$size': expected WIDTHxHEIGHT, e.g. 640x360"
[[ $turns =~ ^[1-9][0-9]*$ ]] || die "invalid number of turns '$turns': expected 1 or more"
have python3 || die "python3 is missing; install it"

work=out/peers
mkdir -p "$work"
if [ -z "$scene" ]; then
    scene=$work/balls.glb
    python3 validation/bevy/scene.py "$scene" points
fi
[ -f "$scene" ] || die "no scene $scene; name a GLB"
camera=${scene%.glb}.json
[ -f "$camera" ] || die "no $camera; write one with the camera (validation/peers/prepare.py)"
python3 validation/peers/prepare.py "$scene" "$camera" "$work/scene.glb"

setup_filament() {
    filament=${FILAMENT_PYTHON:-target/peers/bin/python}
    if [ -z "${FILAMENT_PYTHON:-}" ] && ! "$filament" -c 'import filly' 2>/dev/null; then
        say "installing filly 0.2.1 to target/peers"
        python3 -m venv target/peers ||
            die "python3 cannot make a virtual environment; install python3-venv"
        target/peers/bin/pip install --quiet --disable-pip-version-check filly==0.2.1 ||
            die "pip cannot install filly 0.2.1 (Linux x86-64, Python 3.10 or newer); check the" \
                "network, or set FILAMENT_PYTHON to a Python that has it"
    fi
    "$filament" -c 'import filly' 2>/dev/null || die "$filament has no package filly"
}

time_filament() {
    local shadows=()
    [ "$1" = none ] || shadows=(shadows)
    "$filament" validation/peers/filament.py "$scene" "$camera" "$size" "$frames" \
        "${shadows[@]}" 2>"$work/filament.log" | tail -n 1
}

time_bevy() {
    "$bevy" "$scene" "$size" "$frames" forward "shadows=$1" "camera=$camera_numbers" \
        2>"$work/bevy.log" | awk '$2 == "frame" { print $1 }'
}

time_sunny16() {
    local enabled=true
    [ "$1" != none ] || enabled=false
    # Direct light alone, as in the peers.
    "$program" bench "$work/scene.glb" --size "$size" --frames "$frames" --quality direct \
        --set "passes.shadows.enabled=$enabled" 2>"$work/sunny16.log" | sum_of_passes ''
}

camera_numbers=$(python3 -c '
import json, sys
camera = json.load(open(sys.argv[1]))["camera"]
print(",".join(str(x) for x in [*camera["eye"], *camera["target"], camera["vfov"]]))' "$camera")
build_sunny16
for peer in "${peers[@]}"; do
    case $peer in
    filament) setup_filament ;;
    bevy) build_bevy ;;
    *) die "unknown renderer '$peer' in PEERS: expected filament or bevy" ;;
    esac
done

times=$work/times.txt
: >"$times"
for ((turn = 1; turn <= turns; turn++)); do
    say "turn $turn of $turns, $size (ms on the device)"
    for shadows in none sun; do
        for renderer in "${peers[@]}" sunny16; do
            ms=$("time_$renderer" "$shadows" | tr -d ' ') ||
                die "$renderer failed; its messages are in $work/$renderer.log"
            [[ $ms =~ ^[0-9.]+$ ]] ||
                die "$renderer printed no time; its messages are in $work/$renderer.log"
            printf 'shadows: %s\t%s\t%s\n' "$shadows" "$renderer" "$ms" | tee -a "$times"
        done
    done
done
say "medians of $turns turns of $frames frames, $scene, $size"
python3 validation/peers/ratios.py "$times"
