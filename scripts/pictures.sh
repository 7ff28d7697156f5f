#!/usr/bin/env bash
# Renders the pictures of the README and of docs/ anew; build first (cargo build --release --bins --examples).
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${CARGO_TARGET_DIR:-target}/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$bin/examples/still_life" "$work" >/dev/null
scene=$work/still_life.glb
mkdir -p docs/pictures
"$bin/sunny16" render "$scene" --camera Hero --size 1280x720 -o docs/pictures/still_life.png
"$bin/sunny16" render "$scene" --camera Hero --size 320x180 --quiet -o docs/pictures/aov.png \
    --aov base_color,normal,roughness,depth,direct_diffuse,direct_specular
rm docs/pictures/aov.png
"$bin/sunny16" meter "$scene" --camera Hero --size 480x270 --false-colour docs/pictures/false_colour.png \
    --waveform docs/pictures/waveform.png --histogram docs/pictures/histogram.png --zones docs/pictures/zones.png >/dev/null
for white in neutral incandescent shade; do
    "$bin/sunny16" render "$scene" --camera Hero --size 320x180 --quiet -o "docs/pictures/white_balance.$white.png" \
        --set camera.white_balance="$white"
done
"$bin/sunny16" render "$scene" --camera Hero --size 320x180 --quiet -o docs/pictures/white_balance.grey_card.png \
    --set camera.white_balance.grey_card=10%,60%
scripts/repack_png.py docs/pictures/*.png
