#!/usr/bin/env bash
# Prints a hash of every demo's and every validation case's picture, by both renderers: a change that must not change a pixel
# prints the same before and after.
#
#   scripts/hash_images.sh >before; (change, build); scripts/hash_images.sh | diff before -
#   scripts/hash_images.sh PART...   only those whose names contain one of the parts
#
# Pictures are small and the path tracer's paths few: it is bits that count, not noise. They are EXRs in nits, so that nothing is
# hidden by eight bits. Hashes are those of one driver on one machine, and of the files: a change of their metadata (exposure,
# tier, kinds of light; docs/compare.md) changes them too.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$PWD/${SUNNY16:-target/release/sunny16}
[ -x "$program" ] || { echo "hash_images.sh: error: no program at $program; build it, or name one by SUNNY16" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wanted() {
    local name=$1 part
    shift
    [ $# -gt 0 ] || return 0
    for part in "$@"; do [[ $name != *"$part"* ]] || return 0; done
    return 1
}

# hash NAME ARGUMENT...: renders and prints the hash beside the name; a picture that fails is a line too, and the end's failure.
failed=0
hash() {
    local name=$1
    shift
    if "$program" render "$@" -o "$work/picture.exr" >/dev/null 2>"$work/messages"; then
        printf '%s  %s\n' "$(sha256sum <"$work/picture.exr" | cut -c 1-32)" "$name"
    else
        printf 'failed  %s\n' "$name"
        cat "$work/messages" >&2
        failed=1
    fi
    rm -f "$work/picture.exr"
}

for demo in $("$program" demos | sed -n 's/^\([a-z_]*\)  *.*: .*/\1/p'); do
    wanted "$demo" "$@" || continue
    hash "demo $demo, raster" "builtin:$demo" --size 160x90
    hash "demo $demo, path" "builtin:$demo" --size 64x36 --renderer path --spp 4
done

for case in validation/cases/*/case.toml; do
    folder=$(dirname "$case")
    name=$(basename "$folder")
    wanted "$name" "$@" || continue
    field() { sed -n "s/^$1 = \"\\(.*\\)\"\$/\\1/p" "$case" | head -n 1; }
    size=$(sed -n 's/^size = \[\([0-9]*\), \([0-9]*\)\]$/\1x\2/p' "$case")
    arguments=("$folder/$(field scene)" --camera "$(field camera)" --size "$size")
    [ -z "$(field look)" ] || arguments+=(--look "$folder/$(field look)")
    if grep -q '^raster = true$' "$case"; then hash "case $name, raster" "${arguments[@]}" --quality direct; fi
    hash "case $name, path" "${arguments[@]}" --renderer path --spp 4
done
exit "$failed"
