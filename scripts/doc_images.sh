#!/usr/bin/env bash
# Renders the pictures of the README and of docs/ anew; build first (cargo build --release).
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-${CARGO_TARGET_DIR:-target}/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$bin/sunny16" demos still_life -o "$work" >/dev/null
scene=$work/still_life.glb
mkdir -p docs/pictures
"$bin/sunny16" render "$scene" --camera Hero --size 1280x720 -o docs/pictures/still_life.png
"$bin/sunny16" render "$scene" --camera Hero --size 320x180 --quiet -o docs/pictures/aov.png \
    --aov base_color,normal,roughness,direct_diffuse,direct_specular,indirect_diffuse
rm docs/pictures/aov.png
"$bin/sunny16" meter "$scene" --camera Hero --size 480x270 --false-color docs/pictures/false_color.png \
    --waveform docs/pictures/waveform.png --histogram docs/pictures/histogram.png --zones docs/pictures/zones.png >/dev/null
for white in neutral incandescent shade; do
    "$bin/sunny16" render "$scene" --camera Hero --size 320x180 --quiet -o "docs/pictures/white_balance.$white.png" \
        --set camera.white_balance="$white"
done
"$bin/sunny16" render "$scene" --camera Hero --size 320x180 --quiet -o docs/pictures/white_balance.gray_card.png \
    --set camera.white_balance.gray_card=10%,60%
scripts/repack_png.py docs/pictures/*.png

# Below: ImageMagick's convert joins small pictures. Two thousand lumens of a spot, by three conventions (docs/photometry.md).
shot() { "$bin/sunny16" render "$@" --quiet; }
key=(--set lights.Key.lumens=2000 --set camera.exposure.ev100=7.26)
for light in $("$bin/sunny16" inspect "$scene" | sed -n "s/^ *light [0-9]* '\([^']*\)'.*/\1/p" | grep -v '^Key$' | tr ' ' '\001'); do
    key+=(--set "lights.${light//$'\001'/ }.enabled=false")
done
for flux in exact apex-cone phi-over-pi; do
    shot "$scene" --camera Hero --size 240x135 -o "$work/spot.$flux.png" "${key[@]}" --set lights.Key.spot_flux=$flux
done
convert "$work"/spot.{exact,apex-cone,phi-over-pi}.png +append -strip -quality 88 docs/pictures/spot_flux.jpg

# Shadow maps beside rays (docs/shadow-maps.md).
for method in maps traced; do
    shot "$scene" --camera Hero --size 320x180 -o "$work/shadows.$method.png" --quality direct --set passes.shadows.method=$method
done
convert "$work"/shadows.{maps,traced}.png +append -strip -quality 88 docs/pictures/shadow_maps.jpg

# Four stops more light from 0.2 s on, less again from 0.9 s on: pictures at 0, 1/6, ... s (docs/metering.md).
scripts/light_step.py "$scene" "$work/step.glb" 16 0.2 0.9
"$bin/sunny16" render "$work/step.glb" --camera Hero --size 160x90 -o "$work/step.png" -v --frames 10 --fps 6 \
    --set camera.exposure.mode=auto | grep 'at EV100'
convert "$work"/step.000{0,1,2,3,4}.png +append "$work/above.png"
convert "$work"/step.000{5,6,7,8,9}.png +append "$work/below.png"
convert "$work"/{above,below}.png -append -strip -quality 88 docs/pictures/auto_exposure.jpg

# Focus at infinity and near, by the imaging equation and through a zoom (docs/camera-effects.md).
still=(--camera Hero --size 240x160 --set effects.depth_of_field.enabled=false)
for focus in infinity 0.45; do
    shot "$scene" "${still[@]}" -o "$work/thin.$focus.png" --set camera.lens.focal_length=50 --set camera.lens.focus=$focus
done
for focus in infinity 3; do
    shot "$scene" "${still[@]}" -o "$work/zoom.$focus.png" --set camera.lens.prescription=builtin:canon-70-200-f2.8 \
        --set camera.lens.focal_length=70 --set camera.lens.focus=$focus
done
convert "$work"/{thin.infinity,thin.0.45,zoom.infinity,zoom.3}.png +append -strip -quality 88 docs/pictures/breathing.jpg
