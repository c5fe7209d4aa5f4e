#!/usr/bin/env bash
# Runs programs that know nothing of the software device on it, as libcuda.so.1: an example of our own crate, and from
# the package index, unmodified, cuda-python's two packages, Triton, CUTLASS, Taichi, Quadrants and Halide with programs
# of ours, and PyCUDA and Numba-CUDA with their own tests, each compared with a list (own_tests.py), and the crates
# cudarc and cubecl-cuda with theirs (cudarc.sh, cubecl.sh).
#
#   run.sh                 what CI runs; of Numba's tests the part at the end of this file
#   run.sh numba FILE...   other tests of Numba's, for example cudapy/test_math.py; `.` for all, half an hour
set -euo pipefail
cd "$(dirname "$0")/../../.."
clients=$PWD/emulator/libcuda/clients
cache=$PWD/.cache/clients

library=$(emulator/libcuda/build.sh)
"$clients/environment.sh" "$library"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$library" "$folder/libcuda.so.1"
# Taichi and Quadrants ask for the name without a version.
ln -s "$library" "$folder/libcuda.so"
export PYTHONDONTWRITEBYTECODE=1 TMPDIR=$folder
python=$cache/venv/bin/python
site=$(echo "$cache"/venv/lib/python3*/site-packages)
# PyCUDA is linked with cuRAND, which lies in a package.
export LD_LIBRARY_PATH=$folder:$site/nvidia/cu13/lib
step() { printf -- '-- %s (after %s s)\n' "$1" "$SECONDS"; }
programs() { (cd "$clients" && "$python" -m pytest --quiet -p no:cacheprovider "$@"); }

# Runs a client's own tests. As many must pass as the README states in the client's row.
counted() {
    local client=$1 count
    "${@:2}" | tee "$folder/$client"
    count=$(sed -n 's/.*: \([0-9]*\) tests passed.*/\1/p' "$folder/$client")
    grep -q "^| $client .*\b${count:-no}\b.* pass" emulator/README.md ||
        { echo "emulator/README.md states another number for $client than $count"; exit 1; }
}

# The tests lie in a package that stands for numba.cuda, which is where they import themselves from.
numba() {
    step "Numba-CUDA's own tests"
    local tests=$site/numba_cuda/numba/cuda/tests
    # Benchmarks need a plugin, and PyTorch or CuPy.
    (cd "$folder" && PYTHONPATH=$clients NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS=0 \
        "$python" "$clients/own_tests.py" "$clients/numba.txt" -p numba_plugin --rootdir="$tests" \
        --import-mode=importlib -o consider_namespace_packages=true -o "pythonpath=$site/numba_cuda" \
        --ignore="$tests/benchmarks" "${@/#/$tests/}")
}
if [[ ${1-} == numba ]]; then
    numba "${@:2}"
    exit
fi

step "an example of ours"
cargo run --quiet --example 01_vector_add | tee "$folder/example"
grep -q '^software driver libcuda.so.1, ' "$folder/example"

step "cuda.bindings and cuda.core"
# Whatever the driver's order of work, the results are the same.
for mode in eager async deferred; do
    CUPRUM_EMULATOR_MODE=$mode programs test_cuda_bindings.py test_cuda_core.py test_cuda_core_objects.py
done

step "Triton, Taichi, Quadrants, Halide, and what is said to programs that cannot run"
ptxas=$PWD/emulator/libcuda/bin/ptxas
# Triton takes the first below compute capability 10.0, the second from there on.
TRITON_PTXAS_PATH=$ptxas TRITON_PTXAS_BLACKWELL_PATH=$ptxas TRITON_CACHE_DIR=$folder/triton TRITON_DEFAULT_FP_FUSION=1 \
    programs test_triton.py test_triton_hopper.py test_messages.py
programs test_taichi.py
programs test_quadrants.py
programs test_halide.py

step "CUTLASS"
programs test_cutlass.py

step "PyCUDA's own tests, on one core beside those of Numba-CUDA on the other"
mkdir "$folder/kept"
PATH=$cache/toolkit/bin:$PATH PYCUDA_DISABLE_CACHE=1 CUPRUM_NVCC=$clients/nvcc_once.sh \
    REAL_NVCC=$site/nvidia/cu13/bin/nvcc KEPT=$folder/kept \
    counted PyCUDA "$python" "$clients/own_tests.py" "$clients/pycuda.txt" --rootdir="$cache/pycuda/test" "$cache/pycuda/test" \
    >"$folder/pycuda.log" 2>&1 &
pycuda=$!

counted Numba-CUDA numba cudadrv nrt cudapy/test_{atomics,array,array_args,array_methods,array_reductions,blackscholes,boolean}.py \
    cudapy/test_{complex,constmem,const_string,cooperative_groups,warp_ops,sync,sm}.py \
    doc_examples/test_{cg,cpointer,cpu_gpu_compat,ffi,globals,laplace,matmul,montecarlo,reduction,ufunc,vecadd}.py
step "the result of PyCUDA's"
wait "$pycuda" || { cat "$folder/pycuda.log" && exit 1; }
cat "$folder/pycuda.log"
step "cudarc's own tests"
counted cudarc "$clients/cudarc.sh"
step "cubecl-cuda's own tests"
CUDA_PATH=$site/nvidia/cu13 counted cubecl-cuda "$clients/cubecl.sh"
step "done"
