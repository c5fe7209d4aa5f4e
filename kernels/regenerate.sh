#!/usr/bin/env bash
# Compiles kernels/*.cu to the committed PTX, or with --check fails if a committed file is not current.
#
# kernels/*.ptx come from the oldest NVRTC that pip still serves: PTX ISA 7.7 for compute_75 loads on every
# driver from R515 on and on every GPU from Turing on, and newer drivers and toolkits take it as well.
# kernels/corpus/*.ptx, the kernels of the engine's benchmark, come from the same compiler.
# kernels/dialect_100/*.ptx are a few of the same sources from the first compiler of the CUDA 13 line for
# compute_100, whose back end writes PTX differently; parsers are tested on both.
# Afterwards ptxas of that toolkit must accept every file. Needs python3 with pip; downloads go to .cache/.
set -euo pipefail
cd "$(dirname "$0")/.."

check=()
case "${1-}" in
    '') ;;
    --check) check=(--check) ;;
    *) echo "usage: kernels/regenerate.sh [--check]" >&2; exit 2 ;;
esac

fetch() { # package, version: prints the folder that holds the wheel unpacked
    sys/tests/fetch/wheel.sh .cache/wheels "$@"
}

compile() { # library, architecture, target folder, sources
    "${CARGO_TARGET_DIR:-target}/debug/cuprum-kernels-build" "${check[@]}" --nvrtc "$1" --arch "$2" --into "$3" "${@:4}"
}

# With the features of the tests, so that cargo does not compile cuprum once more.
cargo build --quiet --package cuprum-kernels-build --package cuprum-sys --features cuprum-sys/hook
pinned=$(fetch nvidia-cuda-nvrtc-cu11 11.7.99)
newer=$(fetch nvidia-cuda-nvrtc 13.0.88)
toolkit=$(fetch nvidia-cuda-nvcc 13.0.88)

compile "$pinned"/nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2 compute_75 kernels kernels/*.cu
compile "$pinned"/nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2 compute_75 kernels/corpus kernels/corpus/*.cu
compile "$newer"/nvidia/cu13/lib/libnvrtc.so.13 compute_100 kernels/dialect_100 \
    kernels/{fill,reduce_shuffle,matmul_tiled,histogram,mandelbrot,nbody,resize,faults,signatures}.cu

ptxas=$toolkit/nvidia/cu13/bin/ptxas
chmod +x "$ptxas"
for file in kernels/*.ptx kernels/corpus/*.ptx; do
    for architecture in sm_75 sm_90; do
        "$ptxas" --gpu-name "$architecture" --output-file /dev/null "$file"
    done
done
for file in kernels/dialect_100/*.ptx; do
    "$ptxas" --gpu-name sm_100 --output-file /dev/null "$file"
done
