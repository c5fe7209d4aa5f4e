#!/usr/bin/env bash
# Fetches the header of each NCCL release that the ABI test compares with, and the names that its library exports:
# FOLDER/RELEASE/nccl.h and FOLDER/RELEASE/exports. What is there already is kept.
#
# They come out of Python wheels of some hundred megabytes each, which are unpacked and not installed; the libraries are not
# kept. "newest" is whatever is newest today.
set -euo pipefail
folder=$(mkdir -p "${1:?usage: releases.sh FOLDER}" && cd "$1" && pwd)

# 2.18 is the oldest that the crate promises to work with. The others are the first of the releases that added functions.
releases='
2.18.1 nvidia-nccl-cu12==2.18.1
2.19.3 nvidia-nccl-cu12==2.19.3
2.22.3 nvidia-nccl-cu12==2.22.3
2.23.4 nvidia-nccl-cu12==2.23.4
2.27.3 nvidia-nccl-cu12==2.27.3
2.28.3 nvidia-nccl-cu13==2.28.3
newest nvidia-nccl-cu13
'

while read -r release wheel; do
    if [[ -z $release || -e $folder/$release/exports ]]; then continue; fi
    private=$(mktemp -d "$folder/$release.XXXXXX")
    trap 'rm -rf "$private"' EXIT
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --dest "$private/wheel" "$wheel"
    python3 -m zipfile -e "$private"/wheel/*.whl "$private/unpacked"
    mkdir "$private/kept"
    cp "$private/unpacked/nvidia/nccl/include/nccl.h" "$private/kept/nccl.h"
    nm --dynamic --defined-only "$private/unpacked/nvidia/nccl/lib/libnccl.so.2" |
        awk '$3 ~ /^nccl[A-Z]/ { print $3 }' | sort -u >"$private/kept/exports"
    rm -rf "${folder:?}/$release"
    mv "$private/kept" "$folder/$release"
    rm -rf "$private"
done <<<"$releases"
