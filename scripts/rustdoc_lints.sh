#!/usr/bin/env bash
# In the place of rustdoc for `cargo test --doc` (RUSTDOC): documents the crate with its lints, against the libraries that the
# tests' build has compiled. `cargo doc` would check all dependencies anew.
#
#   RUSTDOC=$PWD/scripts/rustdoc_lints.sh RUSTDOCFLAGS='-D warnings' cargo test --doc
set -euo pipefail

target=${CARGO_TARGET_DIR:-"$(dirname "${BASH_SOURCE[0]}")/../target"}
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    --test) ;;
    --test-args | --test-run-directory) shift ;;
    *) arguments+=("$1") ;;
    esac
    shift
done
exec "$(rustc --print sysroot)/bin/rustdoc" "${arguments[@]}" --out-dir "$target/doc"
