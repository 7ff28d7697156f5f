#!/usr/bin/env bash
# Installs the packages of scripts/package.sh in a bare root of Debian 12, without network or compilers, and renders. Prints the
# seconds from nothing installed to the first picture. Needs root (chroot, unshare) and mmdebstrap. The root and the packages that
# sunny16 depends on are downloaded once, to target/packaging.
#
#   scripts/test_packages.sh [--program FILE] [--no-wheel]
#
#   --program FILE   packages this program in place of the release build, and renders smaller pictures
#   --no-wheel       leaves out the wheel, whose module compiles for minutes
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/setup.sh
. scripts/setup.sh

kinds=(all) program=() size=320x180
while [ $# -gt 0 ]; do
    case $1 in
    --program)
        [ $# -ge 2 ] || die "--program needs a value"
        program=(--program "$2") size=160x90
        shift
        ;;
    --no-wheel) kinds=(deb tar) ;;
    *) die "unknown argument '$1'; expected --program FILE or --no-wheel" ;;
    esac
    shift
done
[ "$(id -u)" -eq 0 ] || die "chroot needs root; run as root"
have mmdebstrap || apt_install mmdebstrap

store=${CARGO_TARGET_DIR:-target}/packaging
mkdir -p "$store"
store=$(readlink -f "$store")
packages=$store/packages
base=$store/base
work=$(mktemp -d -p "$store")
root=$work/root
trap 'rm -rf "$work"' EXIT

# A root of the essential packages and apt, by the sources of this machine if it runs the same release.
make_base() {
    local sources=()
    if (. /etc/os-release && [ "$ID:${VERSION_CODENAME:-}" = debian:bookworm ]); then
        for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
            [ ! -s "$file" ] || sources+=("$file")
        done
    fi
    say "making a bare root of Debian 12 in $base (a minute, once)"
    rm -rf "$base" "$base.new"
    mmdebstrap --quiet --variant=minbase --skip=cleanup/apt/lists bookworm "$base.new" "${sources[@]}"
    mv "$base.new" "$base"
}

# in_root ROOT COMMAND...: runs a command in a root, without network, with two settings of Mesa alone from the host's environment.
in_root() {
    local where=$1
    shift
    # shellcheck disable=SC2016 # expanded by the inner shell
    env -i ${GALLIVM_PERF:+GALLIVM_PERF="$GALLIVM_PERF"} ${LP_NATIVE_VECTOR_WIDTH:+LP_NATIVE_VECTOR_WIDTH="$LP_NATIVE_VECTOR_WIDTH"} \
        HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        unshare --net --mount sh -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' in_root "$where" "$@"
}

# Packages that the .deb depends on and recommends, into the root's cache; from the network only where they are missing.
download() {
    local fetch=(chroot "$base" apt-get install -qq -y --download-only "/tmp/$(basename "$deb")")
    [ "${kinds[*]}" != all ] || fetch+=(python3-venv)
    cp "$deb" "$base/tmp/"
    if ! "${fetch[@]}" >/dev/null 2>&1; then
        chroot "$base" apt-get update -qq
        "${fetch[@]}" >/dev/null
    fi
    rm -f "$base/tmp/"*.deb
    if [ "${kinds[*]}" = all ] && ! compgen -G "$store/wheels/numpy-*.whl" >/dev/null; then
        [ -x "$store/pip/bin/pip" ] || python3 -m venv "$store/pip" || die "python3 -m venv failed; apt install python3-venv"
        # For the Python of Debian 12, which need not be this machine's.
        "$store/pip/bin/pip" download --quiet --only-binary=:all: --python-version 3.11 --implementation cp \
            --platform manylinux_2_27_x86_64 --platform manylinux2014_x86_64 -d "$store/wheels" numpy ||
            die "numpy could not be downloaded; check the network"
    fi
}

# fails_with STATUS TEXT COMMAND...: the command exits with the status and prints the text.
fails_with() {
    local status=0 wanted=$1 text=$2 said
    shift 2
    said=$("$@" 2>&1) || status=$?
    [ "$status" -eq "$wanted" ] || die "'$*' exits with $status, expected $wanted; it printed: $said"
    [[ $said == *"$text"* ]] || die "'$*' does not print '$text' but: $said"
}

say "building the packages"
rm -f "$packages"/sunny16*
scripts/package.sh "${kinds[@]}" --out "$packages" "${program[@]}"
deb=$(ls "$packages"/sunny16_*.deb)
archive=$(ls "$packages"/sunny16-*-linux.tar.gz)
[ -d "$base" ] || make_base
say "downloading what the packages depend on (once)"
download

say "tarball without a Vulkan loader, and without a driver"
cp -a "$base" "$root"
for compiler in cc gcc c++ g++ clang rustc ld; do
    ! in_root "$root" sh -c "command -v $compiler" >/dev/null || die "the bare root has a compiler, $compiler"
done
mkdir -p "$root/opt" "$root/srv/elsewhere"
tar -xzf "$archive" -C "$root/opt"
folder=/opt/$(basename "$archive" .tar.gz)
ln -s "$folder/sunny16" "$root/usr/local/bin/sunny16"
first=(render builtin:still_life --size 160x90 --quality draft -o /tmp/picture.png)
fails_with 6 "no Vulkan loader found" in_root "$root" sunny16 "${first[@]}"
fails_with 6 "apt install libvulkan1 mesa-vulkan-drivers" in_root "$root" sunny16 "${first[@]}"
: >"$root/srv/libstdc++.so.6"
fails_with 6 "apt install libstdc++6 libgcc-s1" in_root "$root" env LD_LIBRARY_PATH=/srv sunny16 --version
in_root "$root" apt-get install -qq -y --no-download --no-install-recommends libvulkan1 >/dev/null 2>&1
fails_with 6 "apt install mesa-vulkan-drivers" in_root "$root" sunny16 "${first[@]}"
# What needs no device works without one: demos, and the path tracer.
in_root "$root" sh -c 'cd /srv/elsewhere && sunny16 demos still_life -o . && sunny16 inspect still_life.glb' >/dev/null
in_root "$root" sunny16 render builtin:still_life --renderer path --spp 4 --size 160x90 -o /tmp/path.exr --quiet
rm -rf "$root"

say "the .deb, from nothing installed to the first picture"
cp -a "$base" "$root"
cp "$deb" "$root/tmp/"
begun=$(date +%s.%N)
# The local file counts as a download, which apt refuses with --no-download; there is no network in any case.
in_root "$root" apt-get install -qq -y -o Dpkg::Use-Pty=0 "/tmp/$(basename "$deb")" >"$work/log" 2>&1 ||
    { cat "$work/log"; die "apt-get install failed"; }
installed=$(date +%s.%N)
in_root "$root" sunny16 render builtin:still_life -o /tmp/first.png --size "$size"
now=$(date +%s.%N)
awk -v a="$begun" -v b="$installed" -v c="$now" \
    'BEGIN { printf "== first picture after %.1f s: %.1f s to install, %.1f s to render\n", c - a, b - a, c - b }'

# The path tracer's picture is the reference: light, exposure and view are right, not only the format.
in_root "$root" sunny16 render builtin:still_life -o /tmp/first.path.png --size "$size" --renderer path --spp 64 --quiet
in_root "$root" sunny16 compare /tmp/first.png /tmp/first.path.png --max-flip 0.08 --quiet
[ -s "$root/usr/share/man/man1/sunny16.1.gz" ] || die "the manual page is not installed"

say "the tarball's launcher, through a link and from another folder"
tar -xzf "$archive" -C "$root/opt"
ln -s "$folder/AppRun" "$root/usr/local/bin/portable"
in_root "$root" sh -c "cd /srv && portable render builtin:still_life --size $size -o again.png --quiet && cmp again.png /tmp/first.png"
in_root "$root" apt-get purge -qq -y sunny16 >/dev/null 2>&1
[ ! -e "$root/usr/bin/sunny16" ] || die "the program is still there after apt-get purge"

test_wheel() {
    say "the wheel, in a virtual environment"
    in_root "$root" apt-get install -qq -y --no-download --no-install-recommends -o Dpkg::Use-Pty=0 python3-venv >"$work/log" 2>&1 ||
        { cat "$work/log"; die "apt-get install python3-venv failed"; }
    mkdir -p "$root/opt/wheels" "$root/opt/sunny16/crates/python" "$root/opt/sunny16/docs"
    cp "$packages"/sunny16-*.whl "$store"/wheels/numpy-*.whl "$root/opt/wheels/"
    # The tests also run the example of the documentation.
    cp -r crates/python/tests "$root/opt/sunny16/crates/python/"
    cp docs/python.md "$root/opt/sunny16/docs/"
    in_root "$root" python3 -m venv /opt/python
    in_root "$root" /opt/python/bin/pip install --quiet --no-index --find-links /opt/wheels sunny16
    in_root "$root" /opt/python/bin/sunny16 --version
    in_root "$root" env ${SUNNY16_LONG:+SUNNY16_LONG="$SUNNY16_LONG"} SUNNY16=/opt/python/bin/sunny16 \
        /opt/python/bin/python -m unittest discover -v -s /opt/sunny16/crates/python/tests
}
[ "${kinds[*]}" != all ] || test_wheel
say "packages: ok"
