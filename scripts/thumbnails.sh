#!/bin/sh
# Makes assets/demos/NAME.jpg (640x360) of every demo scene, or of those named. It needs ImageMagick's convert.
set -eu
cd "$(dirname "$0")/.."
program=${SUNNY16:-target/release/sunny16}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p assets/demos
[ $# -gt 0 ] || set -- $("$program" demos | sed -n 's/^\([a-z_]*\)  *.*: .*/\1/p')
for name in "$@"; do
    case $name in
    petals) how="--time 2" ;;
    *) how="" ;;
    esac
    # shellcheck disable=SC2086
    "$program" render "builtin:$name" $how --size 640x360 -o "$work/$name.png"
    convert "$work/$name.png" -strip -quality 85 "assets/demos/$name.jpg"
done
