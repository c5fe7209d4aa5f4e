#!/usr/bin/env bash
# PyTorch's wheel from the package index, with Triton, on the software device, as its users start it: 24 tests, four of them of
# faults that are found at their lines, ten of torch.compile, one of an extension that NVIDIA's compiler builds; 16 of PyTorch's
# own operators, which the package of emulator/python computes on the CPU; and 7 of torchvision's kernels and 51 of bitsandbytes',
# whose wheels have PTX for compute capability 12.0 alone.
#
#   torch.sh [OPTIONS OF PYTEST...]
#
# Fetches 3 GB, which become 6 in .cache/torch. Needs python3 with pip and venv, a C++ compiler, and NVIDIA's compiler, which
# run.sh fetches.
set -euo pipefail
cd "$(dirname "$0")/../../../.."
here=$PWD/emulator/cudart/clients/torch
cache=$PWD/.cache/torch
toolkit=$PWD/.cache/cudart-toolkit-13.0
[[ -x $toolkit/bin/nvcc ]] || { echo "torch.sh: emulator/cudart/clients/run.sh fetches NVIDIA's compiler first" >&2 && exit 1; }
if [[ ! -f $cache/stamp || $(<"$cache/stamp") != "$(cat "$here/torch.sh")" ]]; then
    rm -rf "$cache"
    mkdir -p "$cache/tmp"
    python3 -m venv "$cache/venv"
    TMPDIR=$cache/tmp "$cache/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-compile \
        torch==2.15.0 torchvision==0.29.2 bitsandbytes==0.50.2 numpy pytest ninja
    rm -rf "$cache/tmp"
    cat "$here/torch.sh" >"$cache/stamp"
fi

target=$(readlink -f "${CARGO_TARGET_DIR:-target}")/debug
emulator/libcuda/build.sh >/dev/null
cargo build --quiet --package cuprum-cli
emulator/cudart/link.sh "$target" debug

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# An extension is linked with the name without a version.
ln -s "$target/libcudart.so.13" "$folder/libcudart.so"
export LIBRARY_PATH=$folder CUDA_HOME=$toolkit TORCH_CUDA_ARCH_LIST=8.0+PTX MAX_JOBS=2
# Bytecode of the modules that are imported, two of five, and none of it beside our files.
export PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$cache/bytecode
export TRITON_DEFAULT_FP_FUSION=1 TRITON_CACHE_DIR=$folder/triton TORCHINDUCTOR_CACHE_DIR=$folder/inductor
export PYTHONPATH=$PWD/emulator/python
cd "$here"
on_the_device() { # options of cuprum, files, options of pytest
    PATH=$cache/venv/bin:$PATH "$target/cuprum" run $1 --library "$target/libcuprum_libcuda.so" -- \
        python -m pytest --quiet --tb=short --show-capture=stderr -p no:cacheprovider $2 "${@:3}"
}
on_the_device "" "test_torch.py test_operators_on_cpu.py" "$@"
on_the_device "--capability 12.0" "test_torchvision.py test_bitsandbytes.py" "$@"
