#!/usr/bin/env bash
# Runs programs that know nothing of the software device on it, as libcuda.so.1: an example of our own crate, and from
# the package index, unmodified, cuda-python's two packages with programs of ours, and PyCUDA with its own tests.
set -euo pipefail
cd "$(dirname "$0")/../../.."
clients=emulator/libcuda/clients
cache=$PWD/.cache/clients

cargo build --quiet --package cuprum-libcuda
library=$(readlink -f "${CARGO_TARGET_DIR:-target}/debug/libcuprum_libcuda.so")
"$clients/environment.sh" "$library"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$library" "$folder/libcuda.so.1"
export LD_LIBRARY_PATH=$folder PYTHONDONTWRITEBYTECODE=1
python=$cache/venv/bin/python

CUPRUM_DEVICE=gpu cargo run --quiet --example 01_vector_add

# Whatever the driver's order of work, the results are the same.
for mode in eager async deferred; do
    CUPRUM_EMULATOR_MODE=$mode "$python" -m pytest --quiet -p no:cacheprovider "$clients"
done

export PATH=$cache/toolkit/bin:$PATH PYCUDA_DISABLE_CACHE=1 TMPDIR=$folder
CUPRUM_NVCC=$(echo "$cache"/venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc)
export CUPRUM_NVCC
"$python" "$clients/pycuda_tests.py" "$cache/pycuda/test/test_driver.py"
