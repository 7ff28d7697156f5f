#!/bin/sh
# Makes all references again: remake.sh PYTHON [CASE...], from the repository's root; PYTHON has requirements.txt installed.
set -eu
python=$1
shift
[ $# -gt 0 ] || set -- validation/cases/*
here=$(dirname "$0")
for case in "$@"; do
    if grep -q '^file = "mitsuba.exr"' "$case/case.toml"; then "$python" "$here/mitsuba_case.py" "$case"; fi
    if grep -q '^file = "cycles.exr"' "$case/case.toml"; then "$python" "$here/cycles_case.py" "$case"; fi
done
"$python" "$here/referees.py" validation/cases
