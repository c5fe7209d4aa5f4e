#!/usr/bin/env bash
# Compiles the kernels of this folder, which are written for Triton, Numba and Taichi, and kernels/corpus/tables.cu by
# nvcc, to the committed PTX; or with --check fails if a committed file is not current.
#
#   regenerate.sh [--check]
#
# PYTHON names an interpreter that has the packages of emulator/libcuda/clients/requirements.txt; else the environment of
# the clients' tests is used, and made where it is missing. Taichi compiles only for a device: it gets the software one.
# Needs a C++ compiler, which nvcc calls.
set -euo pipefail
cd "$(dirname "$0")/../.."
case "${1-}" in
    '' | --check) ;;
    *) echo "usage: kernels/clients/regenerate.sh [--check]" >&2; exit 2 ;;
esac

library=$(emulator/libcuda/build.sh)
if [[ -z ${PYTHON-} ]]; then
    emulator/libcuda/clients/environment.sh "$library"
    PYTHON=.cache/clients/venv/bin/python
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$library" "$folder/libcuda.so"
ln -s "$library" "$folder/libcuda.so.1"
PYTHONDONTWRITEBYTECODE=1 TMPDIR=$folder LD_LIBRARY_PATH=$folder "$PYTHON" kernels/clients/generate.py "$@"
