# What demo.sh and test.sh need before they build: system packages, a Rust toolchain, a way to link shaderc.
# Sourced, not run. Everything that is already there is left alone, so that a second run asks for nothing.
#
#   setup demo|test   installs what is missing; sets CARGO_FLAGS, the flags for every cargo command that builds
# shellcheck shell=bash disable=SC2034 # CARGO_FLAGS is read by the scripts that source this one

# The libraries that build.rs links beside libstdc++, and the oldest shaderc that knows Vulkan 1.3.
SHADERC_LIBS=(shaderc_combined glslang MachineIndependent GenericCodeGen OSDependent OGLCompiler SPIRV SPIRV-Tools-opt SPIRV-Tools)
SHADERC_PACKAGES=(libshaderc-dev glslang-dev spirv-tools)
SHADERC_SOURCE_PACKAGES=(cmake ninja-build python3 git)
SHADERC_OLDEST=2022.1

# What windows load when they open.
WINDOW_LIBS=(libX11-xcb.so.1 libXcursor.so.1 libXi.so.6 libXrandr.so.2 libxkbcommon-x11.so.0)
WINDOW_PACKAGES=(libx11-xcb1 libxcursor1 libxi6 libxrandr2 libxkbcommon-x11-0)

CARGO_FLAGS=()

say() { printf '== %s\n' "$*"; }

die() {
    printf '%s: error: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# The processes that a process has started, and theirs.
below() {
    local child
    for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
        below "$child"
        printf '%s\n' "$child"
    done
}

# Ends the processes below one, and no others of its group.
stop_children() {
    local started
    mapfile -t started < <(below "$1")
    kill "${started[@]}" 2>/dev/null || true
}

have() { command -v "$1" >/dev/null 2>&1; }

# at_least 1.95.0 1.90: the first version is not older than the second.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

apt_install() {
    have apt-get || die "this is not Debian or Ubuntu; install by hand what these packages hold: $*"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || die "missing packages: $*; run as root or install sudo"
        as_root=(sudo)
    fi
    say "installing $*"
    "${as_root[@]}" apt-get update -qq || die "apt-get update failed; check the network"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
        die "apt-get could not install $*"
}

# grep reads to the end: with -q the writer would die of its closed pipe, and pipefail would call that a failure.
has_vulkan_loader() { { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep 'libvulkan\.so\.1 ' >/dev/null; }

has_window_libraries() {
    local lib there
    there=$(ldconfig -p 2>/dev/null || /sbin/ldconfig -p)
    for lib in "${WINDOW_LIBS[@]}"; do
        [[ $there == *"$lib "* ]] || return 1
    done
}

# A driver of any kind will do: a vendor's counts as much as Mesa's.
has_vulkan_driver() {
    [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] ||
        compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null || compgen -G '/etc/vulkan/icd.d/*.json' >/dev/null
}

has_validation_layer() {
    local dir
    for dir in /usr/share/vulkan /usr/local/share/vulkan /etc/vulkan "$HOME/.local/share/vulkan"; do
        [ -e "$dir/explicit_layer.d/VkLayer_khronos_validation.json" ] && return 0
    done
    [ -n "${VK_LAYER_PATH:-}" ] && [ -e "$VK_LAYER_PATH/VkLayer_khronos_validation.json" ]
}

# Where the distribution keeps static libraries.
library_dir() {
    [ -n "${SHADERC_LIB_DIR:-}" ] && { printf '%s' "$SHADERC_LIB_DIR"; return; }
    printf '/usr/lib/%s-linux-gnu' "$(uname -m)"
}

# The distribution's shaderc can be linked: each library is there and it is new enough. Newer glslang has merged some of
# the libraries, so that this fails there, as it does with the shaderc of older releases.
can_link_shaderc() {
    local dir=$1 lib version
    for lib in "${SHADERC_LIBS[@]}"; do
        [ -e "$dir/lib$lib.a" ] || return 1
    done
    version=$(sed -n 's/^Version: *//p' "$dir/pkgconfig/shaderc_combined.pc" 2>/dev/null)
    at_least "${version#v}" "$SHADERC_OLDEST"
}

missing_packages() {
    local package
    for package in "$@"; do
        is_installed "$package" || printf '%s\n' "$package"
    done
}

setup_packages() {
    local kind=$1 wanted=()
    have c++ && have cc || wanted+=(build-essential)
    has_vulkan_loader || wanted+=(libvulkan1)
    has_vulkan_driver || wanted+=(mesa-vulkan-drivers)
    if [ "$kind" = test ]; then
        has_validation_layer || wanted+=(vulkan-validationlayers)
        have Xvfb || wanted+=(xvfb)
        have xdotool || wanted+=(xdotool)
        # A bare root of Debian for the packages, which only root can enter.
        [ "$(id -u)" -ne 0 ] || have mmdebstrap || wanted+=(mmdebstrap)
    fi
    if [ "$kind" = test ] || [ -n "${DISPLAY:-}" ]; then
        has_window_libraries || wanted+=("${WINDOW_PACKAGES[@]}")
    fi
    if ! has_rust && ! have curl; then
        wanted+=(curl ca-certificates)
    fi
    # Where the libraries are complete nobody needs to know which package they came from.
    if ! can_link_shaderc "$(library_dir)" && have apt-get; then
        mapfile -t -O "${#wanted[@]}" wanted < <(missing_packages "${SHADERC_PACKAGES[@]}")
    fi
    [ "${#wanted[@]}" -eq 0 ] || apt_install "${wanted[@]}"
}

setup_shaderc() {
    local dir
    dir=$(library_dir)
    if can_link_shaderc "$dir"; then
        # .cargo/config.toml names Debian's directory on x86-64; other machines have another.
        export SHADERC_LIB_DIR=$dir
        return
    fi
    say "the distribution's shaderc cannot be linked: it is built from source (several minutes, once)"
    local wanted=()
    have cmake || wanted+=("${SHADERC_SOURCE_PACKAGES[0]}")
    have ninja || have make || wanted+=("${SHADERC_SOURCE_PACKAGES[1]}")
    have python3 || wanted+=("${SHADERC_SOURCE_PACKAGES[2]}")
    have git || wanted+=("${SHADERC_SOURCE_PACKAGES[3]}")
    [ "${#wanted[@]}" -eq 0 ] || apt_install "${wanted[@]}"
    CARGO_FLAGS=(--no-default-features --features shaderc/build-from-source)
}

rust_wanted() { sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml; }

has_rust() {
    have cargo && have rustc && at_least "$(rustc --version 2>/dev/null | cut -d ' ' -f 2)" "$(rust_wanted)"
}

setup_rust() {
    # A toolchain of the user's own goes before the distribution's, which is often older.
    if ! has_rust && [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
        PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    fi
    if ! has_rust; then
        say "installing Rust (at least $(rust_wanted)) with rustup to your home directory"
        if have rustup; then
            rustup toolchain install stable --profile minimal --component rustfmt --component clippy ||
                die "rustup could not install a toolchain; check the network"
            export RUSTUP_TOOLCHAIN=stable
        else
            have curl || apt_install curl ca-certificates
            local script
            script=$(mktemp)
            curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs -o "$script" ||
                die "the rustup installer could not be fetched; check the network, or install Rust $(rust_wanted) or newer"
            RUSTUP_INIT_SKIP_PATH_CHECK=yes sh "$script" -y --no-modify-path --profile minimal \
                --default-toolchain stable --component rustfmt --component clippy || die "rustup failed"
            rm -f "$script"
            PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
        fi
        export PATH
        hash -r
        has_rust || die "Rust $(rust_wanted) or newer is needed; $(rustc --version 2>/dev/null || echo none) was found"
    fi
    [ "$1" = test ] || return 0
    if ! cargo fmt --version >/dev/null 2>&1 || ! cargo clippy --version >/dev/null 2>&1; then
        have rustup || die "cargo fmt and cargo clippy are missing; install rustfmt and clippy"
        rustup component add rustfmt clippy || die "rustup could not add rustfmt and clippy"
    fi
}

setup() {
    setup_packages "$1"
    setup_rust "$1"
    setup_shaderc
}
