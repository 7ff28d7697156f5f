#!/usr/bin/env bash
# Builds packages of the program for Linux on x86-64 (docs/install.md). Needs what demo.sh installs, and dpkg-dev for the .deb.
#
#   scripts/package.sh [deb|tar|wheel|all] [--program FILE] [--out DIR]
#
#   --program FILE   packages this program in place of the release build, which is built otherwise; packages are then compressed
#                    at the lowest level, and the wheel's module is built in the profile dev, as the tests are
#   --out DIR        folder of the packages (default: target/packages)
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/setup.sh
. scripts/setup.sh

usage() { die "expected deb, tar, wheel or all, then --program FILE or --out DIR; got '$1'"; }

target=${CARGO_TARGET_DIR:-target}
kinds=() program='' out=$target/packages
while [ $# -gt 0 ]; do
    case $1 in
    deb | tar | wheel) kinds+=("$1") ;;
    all) kinds+=(deb tar wheel) ;;
    --program | --out)
        [ $# -ge 2 ] || die "$1 needs a value"
        if [ "$1" = --program ]; then program=$2; else out=$2; fi
        shift
        ;;
    *) usage "$1" ;;
    esac
    shift
done
[ ${#kinds[@]} -gt 0 ] || kinds=(deb tar wheel)

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
machine=$(uname -m)
[ "$machine" = x86_64 ] || die "packages are built for x86_64; this machine is $machine"

# Files have the time of the last commit: the same commit gives the same packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The license texts of all crates in the program, from the sources that cargo has downloaded.
third_party() {
    local registry name crate_version license folder file
    registry=${CARGO_HOME:-$HOME/.cargo}/registry/src
    cargo tree --locked -p sunny16 -p sunny16-python -e normal --target x86_64-unknown-linux-gnu --prefix none --format '{p}|{l}' |
        sed 's/ (\*)$//; s/ (proc-macro)//' | sort -u | grep -v '^sunny16' |
        while IFS='|' read -r crate license; do
            read -r name crate_version <<<"$crate"
            printf '\n======== %s %s: %s\n' "$name" "$crate_version" "$license"
            for folder in "$registry"/*/"$name-${crate_version#v}"; do
                for file in "$folder"/LICEN[CS]E* "$folder"/COPYING* "$folder"/UNLICENSE*; do
                    [ ! -f "$file" ] || { printf '\n---- %s\n' "$(basename "$file")" && cat "$file"; }
                done
            done
        done
}

# The manual page: the program's help, command by command, as it prints it.
manual() {
    local command escape='s/\\/\\e/g; s/^\([.'\'']\)/\\\&\1/; s/-/\\-/g'
    cat <<ROFF
.TH SUNNY16 1 "" "sunny16 $version" "User Commands"
.SH NAME
sunny16 \- real-time deferred renderer and look-dev tool
.SH SYNOPSIS
.B sunny16
.I COMMAND
[\fIARGUMENT\fR...]
.SH DESCRIPTION
.nf
$("$program" --help | sed "$escape")
.fi
ROFF
    "$program" --help | sed -n '/^Commands:/,/^Options:/s/^  \([a-z]\{1,\}\) .*/\1/p' | grep -v '^help$' |
        while read -r command; do
            printf '.SH "sunny16 %s"\n.nf\n%s\n.fi\n' "$command" "$("$program" "$command" --help | sed "$escape")"
        done
}

# stage DIR: the program and the files beside it, which it does not need to run.
stage() {
    local doc=$1/share/doc/sunny16
    install -D -m 755 "$program" "$1/bin/sunny16"
    strip "$1/bin/sunny16"
    install -d "$1/share/man/man1" "$doc"
    gzip -9n <"$work/sunny16.1" >"$1/share/man/man1/sunny16.1.gz"
    gzip -9n <"$work/third-party" >"$doc/third-party-licenses.txt.gz"
    gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
    install -m 644 LICENSE-MIT LICENSE-APACHE README.md "$doc"
    install -m 644 scripts/package/copyright "$doc/copyright"
    install -D -m 644 scripts/package/sunny16.desktop -t "$1/share/applications"
    install -D -m 644 scripts/package/sunny16.xml -t "$1/share/mime/packages"
}

# The sorted files of a folder as a reproducible tar archive on standard output.
archive() {
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$1" -c "$2"
}

build_tar() {
    local name=sunny16-$version-$machine-linux
    stage "$work/tar/$name"
    install -m 755 scripts/package/AppRun "$work/tar/$name/AppRun"
    ln -s AppRun "$work/tar/$name/sunny16"
    ln -s share/applications/sunny16.desktop "$work/tar/$name/sunny16.desktop"
    archive "$work/tar" "$name" | gzip -n "-$gzip_level" >"$out/$name.tar.gz"
    say "$out/$name.tar.gz ($(du -h "$out/$name.tar.gz" | cut -f 1))"
}

# The libraries that the program links, as the packages and versions that its symbols need. Those that it loads by name while it
# runs: the Vulkan loader for all pictures, the others for the window.
build_deb() {
    have dpkg-shlibdeps || apt_install dpkg-dev
    local root=$work/deb file=$out/sunny16_$version-1_amd64.deb linked
    stage "$root/usr"
    mkdir -p "$work/shlibs/debian" "$root/DEBIAN"
    printf 'Source: sunny16\n\nPackage: sunny16\nArchitecture: amd64\n' >"$work/shlibs/debian/control"
    linked=$(cd "$work/shlibs" && dpkg-shlibdeps -O "$root/usr/bin/sunny16" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
    [ -n "$linked" ] || die "dpkg-shlibdeps found no packages of the program's libraries"
    cat >"$root/DEBIAN/control" <<CONTROL
Package: sunny16
Version: $version-1
Architecture: amd64
Maintainer: The sunny16 authors <sunny16@localhost>
Section: graphics
Priority: optional
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f 1)
Depends: $linked, libvulkan1
Recommends: mesa-vulkan-drivers | vulkan-icd, $(IFS=,; sed 's/,/, /g' <<<"${WINDOW_PACKAGES[*]}")
Suggests: ffmpeg, vulkan-validationlayers
Description: real-time deferred renderer and look-dev tool
 Renders glTF scenes with lights in lumens, candela, lux and nits, and a camera
 with f-stop, shutter and ISO speed, by a Vulkan rasterizer or a path tracer.
 .
 The recommended packages hold a Vulkan driver, which is needed for all
 pictures of the rasterizer, and the libraries of the window.
CONTROL
    (cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    find "$root" -type d -exec chmod 755 {} +
    dpkg-deb --root-owner-group -Zxz "-z$xz_level" -b "$root" "$file" >/dev/null
    say "$file ($(du -h "$file" | cut -f 1))"
}

# The module and the program, which pip puts beside python. maturin comes from a virtual environment: Debian has none.
build_wheel() {
    local tools=$out/tools data=crates/python/sunny16.data
    if ! have maturin; then
        [ -x "$tools/bin/maturin" ] || python3 -m venv "$tools" || die "python3 -m venv failed; apt install python3-venv"
        [ -x "$tools/bin/maturin" ] || "$tools/bin/pip" install --quiet 'maturin>=1.9,<2' ||
            die "maturin could not be installed; check the network"
        PATH=$tools/bin:$PATH
    fi
    # Where setup.sh has not been run for a build, it tells how shaderc is linked.
    setup_shaderc
    rm -rf "$data"
    install -D -m 755 "$program" "$data/scripts/sunny16"
    strip "$data/scripts/sunny16"
    install -d "$data/data/share/doc/sunny16"
    install -m 644 LICENSE-MIT LICENSE-APACHE "$data/data/share/doc/sunny16"
    gzip -9n <"$work/third-party" >"$data/data/share/doc/sunny16/third-party-licenses.txt.gz"
    rm -f "$out"/sunny16-"$version"-*.whl
    maturin build --quiet --locked --profile "$profile" --manifest-path crates/python/Cargo.toml --out "$out" \
        "${CARGO_FLAGS[@]}" || die "maturin could not build the wheel"
    rm -rf "$data"
    say "$(ls "$out"/sunny16-"$version"-*.whl) ($(du -h "$out"/sunny16-"$version"-*.whl | cut -f 1))"
}

profile=dev gzip_level=1 xz_level=1
if [ -z "$program" ]; then
    profile=release gzip_level=9 xz_level=6
    setup demo
    say "building the release program: about seven minutes the first time"
    cargo build --locked --release --bin sunny16 "${CARGO_FLAGS[@]}"
    program=$target/release/sunny16
fi
[ -x "$program" ] || die "$program is not a program; omit --program to build it"
program=$(readlink -f "$program")
mkdir -p "$out"
out=$(readlink -f "$out")
manual >"$work/sunny16.1"
third_party >"$work/third-party"
for kind in "${kinds[@]}"; do "build_$kind"; done
