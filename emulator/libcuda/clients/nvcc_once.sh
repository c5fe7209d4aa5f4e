#!/usr/bin/env bash
# Compiles each source once: PyCUDA's tests compile many kernels again, each in a context of its own. PyCUDA's own cache
# would preprocess each source to look it up, which takes a third as long as to compile it.
#
#   KEPT=FOLDER REAL_NVCC=NVCC nvcc_once.sh OPTIONS... kernel.cu -o kernel.cubin     any other call goes through
set -euo pipefail
[[ $* == *" kernel.cu -o kernel.cubin" ]] || exec "$REAL_NVCC" "$@"
kept=$KEPT/$({ echo "$*" && cat kernel.cu; } | sha256sum | cut -d ' ' -f 1)
if [[ -f $kept ]]; then
    cp "$kept" kernel.cubin
    exit
fi
said=$("$REAL_NVCC" "$@" 2>&1) || { code=$? && echo "$said" >&2 && exit "$code"; }
echo -n "$said" >&2
# A warning is to be said each time.
[[ -n $said ]] || cp kernel.cubin "$kept"
