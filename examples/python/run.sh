#!/usr/bin/env bash
# Runs the Python examples on the software device, with NumPy of the environment that the clients of the software
# libcuda.so.1 have (emulator/libcuda/clients/run.sh makes it), or of PYTHON.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-.cache/clients/venv/bin/python}
cargo build --quiet --package cuprum-test-interop
library=$(readlink -f "${CARGO_TARGET_DIR:-target}/debug/libcuprum_test_interop.so")
for mode in eager async; do
    # What Python ignores in a destructor it tells on standard error.
    said=$(CUPRUM_DEVICE=${CUPRUM_DEVICE-emulator} CUPRUM_EMULATOR_MODE=$mode "$python" examples/python/dlpack.py "$library" 2>&1)
    echo "$said"
    grep -q "^NumPy: both ways, without a copy$" <<<"$said"
    if grep -q Traceback <<<"$said"; then exit 1; fi
done
