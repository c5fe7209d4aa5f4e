#!/bin/sh
# Runs the client programs of this folder, unmodified packages from PyPI, on the software device.
#
#   run.sh LIBCUDA [PYTHON]
#
# LIBCUDA is the built library (target/debug/libcuprum_libcuda.so). PYTHON needs the packages
# cuda-bindings, cuda-core, nvidia-cuda-nvrtc and numpy.
set -eu

library=$(readlink -f "$1")
python=${2:-python3}
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$library" "$folder/libcuda.so.1"
for client in cuda_bindings cuda_core; do
    LD_LIBRARY_PATH=$folder "$python" "$here/$client.py"
done
