#!/usr/bin/env bash
# Fetches NVIDIA's headers, of each release that the ABI test compares with: FOLDER/RELEASE/include/cuda.h.
#
# They come out of Python wheels, which are unpacked and not installed. "newest" is whatever is newest today.
set -euo pipefail
folder=$(mkdir -p "${1:?usage: headers.sh FOLDER}" && cd "$1" && pwd)

# Release and wheels; 11.7 is the oldest that can be had. cudaProfiler.h has a wheel of its own from 12.0 on.
releases='
11.7 nvidia-cuda-runtime-cu11==11.7.*
11.8 nvidia-cuda-runtime-cu11==11.8.*
12.0 nvidia-cuda-runtime-cu12==12.0.*
12.9 nvidia-cuda-runtime-cu12==12.9.* nvidia-cuda-profiler-api-cu12==12.9.*
13.0 nvidia-cuda-runtime==13.0.*
13.5 nvidia-cuda-runtime==13.5.* nvidia-cuda-profiler-api==13.5.*
newest nvidia-cuda-runtime nvidia-cuda-profiler-api
'

while read -r release wheels; do
    if [ -z "$release" ] || [ -e "$folder/$release/include/cuda.h" ]; then continue; fi
    private=$(mktemp -d)
    # shellcheck disable=SC2086 # several words
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --dest "$private/wheels" $wheels
    for wheel in "$private"/wheels/*.whl; do
        python3 -m zipfile -e "$wheel" "$private/unpacked"
    done
    mkdir -p "$private/include"
    for header in cuda.h cudaGL.h cudaProfiler.h; do
        find "$private/unpacked" -name "$header" -exec cp {} "$private/include" \;
    done
    [ -e "$private/include/cuda.h" ] || { echo "no cuda.h in: $wheels" >&2; exit 1; }
    rm -rf "${folder:?}/$release"
    mkdir -p "$folder/$release"
    mv "$private/include" "$folder/$release/include"
    rm -rf "$private"
done <<<"$releases"
