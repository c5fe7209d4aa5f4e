#!/usr/bin/env bash
# Builds libcudart.so.12 and libcudart.so.13 and runs programs on them that know nothing of them: CUDA C++ built by NVIDIA's
# compiler with `-cudart shared`, Python through ctypes, and PyTorch, all on the software device. The compiler and its headers come
# from the package index into `.cache/wheels`.
#
# Needs python3 with pip, a C++ compiler, and the network at first.
set -euo pipefail
cd "$(dirname "$0")/../../.."
here=$PWD/emulator/cudart/clients
wheels=$PWD/.cache/wheels
release=13.0
step() { printf -- '-- %s (after %s s)\n' "$1" "$SECONDS"; }

step "NVIDIA's compiler"
toolkit=$PWD/.cache/cudart-toolkit-$release
stamp=$(cat "$here/run.sh")
if [[ ! -f $toolkit/stamp || $(<"$toolkit/stamp") != "$stamp" ]]; then
    rm -rf "$toolkit"
    mkdir -p "$toolkit"
    for package in nvidia-cuda-runtime==13.0.96 nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 \
        nvidia-cuda-cccl==13.0.85; do
        folder=$(sys/tests/fetch/wheel.sh "$wheels" "${package%%==*}" "${package##*==}")
        cp -r "$folder"/nvidia/cu13/. "$toolkit"
    done
    chmod +x "$toolkit"/bin/* "$toolkit"/nvvm/bin/*
    echo "$stamp" >"$toolkit/stamp"
fi

step "the libraries"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
library=$(emulator/libcuda/build.sh)
ln -s "$library" "$folder/libcuda.so.1"
emulator/cudart/link.sh "$folder" debug
# What nvcc links with is ours: NVIDIA's is not needed.
ln -s libcudart.so.13 "$folder/libcudart.so"
export LD_LIBRARY_PATH=$folder
nvcc() {
    "$toolkit/bin/nvcc" -std=c++17 -cudart shared -L"$folder" -L"$toolkit/lib" -gencode arch=compute_80,code=compute_80 \
        -I"$toolkit/include/cccl" "$@"
}
# Runs a program and looks at its last line.
says() { # what, program
    local last
    last=$("$folder/$2" 2>"$folder/errors" | tail -n 1) || true
    [[ $last == "$1" ]] || { printf '%s says %s instead of %s\n' "$2" "$last" "$1" >&2 && cat "$folder/errors" >&2 && exit 1; }
}

step "vector addition"
nvcc "$here/vector_add.cu" -o "$folder/vector_add"
says "right, cudaSuccess" vector_add
# With a default stream for each thread, calls have other names.
nvcc -default-stream per-thread "$here/vector_add.cu" -o "$folder/vector_add_per_thread"
says "right, cudaSuccess" vector_add_per_thread

step "machine code alone"
"$toolkit/bin/nvcc" -std=c++17 -cudart shared -L"$folder" -L"$toolkit/lib" -gencode arch=compute_80,code=sm_80 "$here/vector_add.cu" -o "$folder/machine_code"
says "WRONG, cudaErrorNoKernelImageForDevice" machine_code
grep -q "/machine_code has machine code .*code=compute_80" "$folder/errors"

step "two sources that call each other on the device"
nvcc -rdc=true "$here/relocatable_main.cu" "$here/relocatable_part.cu" -o "$folder/relocatable"
says "right, cudaSuccess" relocatable
printf '%s\n' "the function: 31" "the kernel: 1067" | diff - <("$folder/relocatable" | head -n 2)
# With machine code too, the compiler links that, and keeps the PTX of each source apart.
nvcc -gencode arch=compute_80,code=sm_80 -rdc=true "$here/relocatable_main.cu" "$here/relocatable_part.cu" -o "$folder/relocatable_both"
says "right, cudaSuccess" relocatable_both

step "kernels that launch kernels"
nvcc -rdc=true "$here/device_launches.cu" -o "$folder/device_launches" -lcudadevrt
"$here/device_launches.sh" "$folder/device_launches" >"$folder/answers" 2>"$folder/errors"
grep -q 'a launch by the kernel .* was refused: cudaErrorInvalidConfiguration, .* in blocks of .2048, 1, 1. threads' "$folder/errors"
grep -q 'the kernel .*order.* in a graph launched work for its end' "$folder/errors"
# Recorded on an H200 with CUDA 13.0 and driver 580, on 2026-11-28, by tests/gpu/device_launches.sh.
diff "$here/device_launches.expected" "$folder/answers"
for mode in async deferred; do
    CUPRUM_EMULATOR_MODE=$mode "$folder/device_launches" 2>"$folder/errors" | diff - <(head -n 12 "$folder/answers")
done

step "answers of the runtime, call by call"
nvcc -Wno-deprecated-declarations "$here/runtime.cu" -o "$folder/runtime"
"$folder/runtime" >"$folder/groups"
for mode in eager async deferred; do
    while read -r group; do
        CUPRUM_EMULATOR_MODE=$mode "$folder/runtime" "$group" 2>"$folder/errors" </dev/null ||
            { echo "$group ended with $?" >&2 && cat "$folder/errors" >&2 && exit 1; }
    done <"$folder/groups" | grep ' = ' >"$folder/answers"
done
# Recorded on an H200, where work goes on beside the host, as it does in the last of these modes, except for the last group.
{ grep '^[a-z 0-9]*: .* = ' tests/data/goldens/cudart.txt && cat "$here/runtime.expected"; } | diff - "$folder/answers"

step "nodes of graphs, textures and boxes, read back"
nvcc -rdc=true "$here/nodes.cu" -o "$folder/nodes"
for mode in eager async deferred; do
    CUPRUM_EMULATOR_DEVICES=2 CUPRUM_EMULATOR_MODE=$mode says "right, cudaSuccess" nodes
done

step "Thrust: sort, scan, reduction"
nvcc "$here/thrust.cu" -o "$folder/thrust"
says "right, cudaSuccess" thrust

step "a library that is opened and closed"
nvcc -shared -Xcompiler -fPIC "$here/opened.cu" -o "$folder/libopened.so"
for round in 1 2 3; do
    python3 "$here/open_and_close.py" "$folder/libopened.so" "$round"
done

step "Python through ctypes"
for major in 12 13; do
    CUDART=libcudart.so.$major python3 "$here/programs.py"
done
step "PyTorch, Triton, torchvision"
"$here/torch/torch.sh"
step "done"
