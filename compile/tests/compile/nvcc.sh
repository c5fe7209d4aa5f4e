#!/bin/sh
# Stands in for nvcc: tells its version, writes down its arguments in $NVCC_LOG, "compiles" a source to itself, and
# refuses one that has the word "refused". Asked to preprocess, it puts $NVCC_HOST in the place of __VERSION__, as the
# host's compiler puts its own, unless $NVCC_HOST is "none".
set -eu
case $1 in
    --version)
        echo "nvcc: NVIDIA (R) Cuda compiler driver"
        echo "Cuda compilation tools, release 12.4, V12.4.131"
        exit ;;
    --list-gpu-arch)
        printf 'compute_50\ncompute_75\ncompute_90\n'
        exit ;;
    -E)
        for text in "$@"; do :; done
        [ "${NVCC_HOST-}" != none ] || { echo "nvcc fatal: Failed to preprocess host compiler properties." >&2; exit 1; }
        echo "# 1 \"$text\""
        sed "s/__VERSION__/\"${NVCC_HOST-12.2.0}\"/" "$text"
        exit ;;
esac
[ -z "${NVCC_LOG-}" ] || printf '%s\n' "$@" >"$NVCC_LOG"
output=
headers=
while [ $# -gt 1 ]; do
    case $1 in
        --output-file) output=$2 ;;
        -I) headers=$2 ;;
    esac
    shift
done
if grep -q refused "$1"; then
    echo "$headers/a.h(1): note: here"
    echo "$1(3): error: identifier \"x\" is undefined" >&2
    exit 2
fi
if grep -q writes-nothing "$1"; then exit; fi
cat "$1" >"$output"
[ ! -d "$headers" ] || (cd "$headers" && find . -type f -exec sed 's|^|// |' {} + >>"$output")
echo "$1(1): warning #1-D: a warning"
