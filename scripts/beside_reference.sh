#!/usr/bin/env bash
# Prints how far default stills are from the path tracer, one row of a table for each scene
# (validation/measured/quality.md).
#
#   scripts/beside_reference.sh [SCENE...]     a file, or builtin:NAME; default: all demos
#
#   SIZE=320x180 SPP=256   size, and samples a pixel of the references
#   OUT=out/beside         folder of the pictures; references that are there are used again, by
#                          name, size and samples: remove them where the scene has changed
#   SUNNY16=PROGRAM        uses a program that is already built
#   MORE="--quality final" further arguments of the rasterizer
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/peers.sh
. scripts/peers.sh

size=${SIZE:-320x180}
spp=${SPP:-256}
out=${OUT:-out/beside}
read -ra more <<<"${MORE:-}"
[[ $size =~ ^[0-9]+x[0-9]+$ ]] || die "invalid SIZE '$size': expected WIDTHxHEIGHT, e.g. 320x180"
[[ $spp =~ ^[1-9][0-9]*$ ]] || die "invalid SPP '$spp': expected 1 or more"
have python3 || die "python3 is missing; install it"
build_sunny16
mkdir -p "$out"
if [ $# -eq 0 ]; then
    mapfile -t demos < <("$program" demos | sed -n 's/^\([a-z_]*\)  *.*: .*/\1/p')
    set -- "${demos[@]/#/builtin:}"
fi

row() {
    python3 - "$1" "$2" "$3" <<'PYTHON'
import json, sys
name, seconds, file = sys.argv[1:]
numbers = json.load(open(file))["numbers"]
noise = json.load(open(file)).get("reference_noise") or {}
own = f'{noise["flip"]:.3f}' if "flip" in noise else "unknown"
print(f'| {name} | {float(seconds):.1f} | {numbers["flip"]["mean"]:.3f} | {own} '
      f'| {numbers["bias_trimmed"] * 100:+.1f} % | {numbers["block_rms_trimmed"] * 100:.1f} % |')
PYTHON
}

echo "| scene | time (s) | FLIP | FLIP of the reference's noise | bias, trimmed | blocks, trimmed |"
echo "|---|---|---|---|---|---|"
for scene in "$@"; do
    name=$(basename "${scene#builtin:}" .glb)
    reference=$out/$name.$size.$spp.exr
    [ -f "$reference" ] ||
        "$program" render "$scene" --size "$size" --renderer path --spp "$spp" --for-compare \
            --quiet -o "$reference"
    start=$(date +%s.%N)
    "$program" render "$scene" --size "$size" --for-compare --quiet "${more[@]}" \
        -o "$out/$name.raster.exr"
    seconds=$(python3 -c "print($(date +%s.%N) - $start)")
    "$program" compare "$out/$name.raster.exr" "$reference" --json "$out/$name.json" --quiet
    row "$name" "$seconds" "$out/$name.json"
done
