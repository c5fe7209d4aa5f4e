#!/usr/bin/env bash
# Fetches the unmodified clients from the package index into .cache/clients, and builds PyCUDA there from its sdist,
# against the software device's libcuda.so and the headers of NVIDIA's wheels. What is there already is kept.
#
#   environment.sh LIBCUDA     LIBCUDA: the built library (target/debug/libcuprum_libcuda.so)
#
# Leaves in .cache/clients:
#   venv/     all packages
#   pycuda/   PyCUDA's sdist, which has its tests
#   toolkit/  NVIDIA's compiler in the folders that PyCUDA looks for, with our nvcc before theirs
# Needs python3 with pip and venv, and a C++ compiler.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
library=$(readlink -f "$1")
pycuda=2026.1
cache=$here/../../../.cache/clients

# Two things decide what is in the folder: these files and the interpreter.
stamp=$(cat "$here/environment.sh" "$here/requirements.txt" && python3 --version)
if [[ -f $cache/stamp && $(<"$cache/stamp") == "$stamp" ]]; then
    exit
fi
rm -rf "$cache"
mkdir -p "$cache"
cd "$cache"

python3 -m venv venv
pip() { venv/bin/python -m pip --quiet --disable-pip-version-check "$@"; }
pip install --requirement "$here/requirements.txt"

# Its headers; what else it asks for serves its generators.
pip install --no-deps nvidia-cutlass==4.2.0.0

# It makes machine code of PTX, and the others link PTX with the driver where it is not there.
pip uninstall --yes nvidia-nvjitlink

cuda=$(echo "$PWD"/venv/lib/python3*/site-packages/nvidia/cu13)
chmod +x "$cuda"/bin/* "$cuda"/nvvm/bin/*
mkdir -p toolkit/bin
ln -s "$here/../bin/nvcc" toolkit/bin/nvcc
ln -s "$cuda/lib" toolkit/lib64
ln -s libcurand.so.10 "$cuda/lib/libcurand.so"

mkdir link
ln -s "$library" link/libcuda.so
pip download --no-deps --no-build-isolation --no-binary pycuda "pycuda==$pycuda"
tar -xzf "pycuda-$pycuda.tar.gz"
mv "pycuda-$pycuda" pycuda
cd pycuda
# Unoptimized, since nobody waits for its host code.
PATH=$cache/toolkit/bin:$PATH ../venv/bin/python configure.py --cxxflags=-O0 --cuda-inc-dir="$cuda/include" \
    --cudadrv-lib-dir="$cache/link" --cudart-lib-dir="$cuda/lib" --curand-lib-dir="$cuda/lib"
cd ..
pip install --no-deps --no-build-isolation ./pycuda

echo "$stamp" >stamp
