#!/usr/bin/env bash
# 25 kinds of operations of TensorFlow's wheel from the package index on the software device, each compared with the CPU. By
# command, not in CI: it fetches 700 MB, which become 2.1 GB in .cache/tensorflow. 20 seconds after that.
#
#   tensorflow.sh [KIND...]
#
# Needs python3 with pip and venv, a C compiler, and NVIDIA's compiler, which run.sh fetches, for its library of functions.
#
# TensorFlow looks for a device only if it can initialize NVIDIA's management library, and uses it only if it can open cuBLAS,
# cuDNN, cuFFT, cuSOLVER and cuSPARSE. NVIDIA's would refuse the device, so empty libraries stand in for them here.
set -euo pipefail
cd "$(dirname "$0")/../../../.."
here=$PWD/emulator/cudart/clients/tensorflow
cache=$PWD/.cache/tensorflow
toolkit=$PWD/.cache/cudart-toolkit-13.0
[[ -d $toolkit/nvvm/libdevice ]] || { echo "tensorflow.sh: emulator/cudart/clients/run.sh fetches NVIDIA's compiler first" >&2 && exit 1; }
if [[ ! -f $cache/stamp || $(<"$cache/stamp") != "$(cat "$here/tensorflow.sh")" ]]; then
    rm -rf "$cache"
    mkdir -p "$cache/tmp"
    python3 -m venv "$cache/venv"
    TMPDIR=$cache/tmp "$cache/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir tensorflow==2.21.0
    rm -rf "$cache/tmp"
    cat "$here/tensorflow.sh" >"$cache/stamp"
fi

target=$(readlink -f "${CARGO_TARGET_DIR:-target}")/debug
emulator/libcuda/build.sh >/dev/null
cargo build --quiet --package cuprum-cli
emulator/cudart/link.sh "$target" debug

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -shared -fPIC "$here/nvml.c" -o "$folder/libnvidia-ml.so.1"
for library in cublas.so.12 cublasLt.so.12 cudnn.so.9 cufft.so.11 cusolver.so.11 cusparse.so.12; do
    cc -shared -fPIC -x c /dev/null -o "$folder/lib$library"
done
# XLA takes the functions of the device from here. Its assembler passes PTX on.
mkdir -p "$folder/bin" "$folder/nvvm"
ln -s "$PWD/emulator/libcuda/bin/ptxas" "$folder/bin/ptxas"
ln -s "$toolkit/nvvm/libdevice" "$folder/nvvm/libdevice"

PATH=$cache/venv/bin:$PATH LD_LIBRARY_PATH=$folder TF_CPP_MIN_LOG_LEVEL=3 XLA_FLAGS=--xla_gpu_cuda_data_dir=$folder \
    PYTHONDONTWRITEBYTECODE=1 "$target/cuprum" run --library "$target/libcuprum_libcuda.so" -- python "$here/operations.py" "$@"
