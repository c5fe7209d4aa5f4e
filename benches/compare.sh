#!/usr/bin/env bash
# Measures the same operations through C, cuprum, cudarc, PyCUDA, cuda.core and CuPy, in one run.
#
#     benches/compare.sh pack           here: builds what it can into .gpu/compare/ (after tests/gpu.sh pack, which empties
#                                       .gpu/), PyCUDA among it, for the python3 of the machine with the GPU
#     benches/compare.sh run FOLDER     there, in a copy of the repository with .gpu/compare/: writes FOLDER/compare.json.
#                                       Needs python3 with NumPy; CuPy is measured as it is installed there
#     benches/compare.sh record FILE    here: makes the table and the plot in benches/results of a compare.json
#     benches/compare.sh try            here: all but CuPy on the software device, where figures say nothing
#
# PACKED_PYTHON names a Python of the version there, with its headers (default: python3.12).
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/gpu/carry.sh
. tests/gpu/carry.sh
sources=benches/compare
packed=.gpu/compare
cache=$PWD/.cache/compare
toolkit=13.0
pycuda=2026.1
# What is carried as wheels: PyCUDA's needs, and cuda.core.
carried=(cuda-core==1.2.2 cuda-bindings==13.5.0 cuda-pathfinder mako markupsafe platformdirs pytools siphash24
    typing-extensions)

# Builds the programs into a folder, and adds what they need beside them.
programs() { # FOLDER LIBCUDA PROFILE
    local folder=$1 library=$2 profile=$3 program
    mkdir -p "$folder"
    sys/tests/fetch/headers.sh .cache/headers
    # With the build folder of the other programs that use cudarc.
    cargo build --quiet --profile "$profile" --manifest-path "$sources/Cargo.toml" --target-dir target/lines
    for program in with_cuprum with_cudarc; do
        strip -o "$folder/$program" "target/lines/${profile/dev/debug}/$program"
    done
    # Linked with the software device, which has the driver's name.
    cc -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -I ".cache/headers/$toolkit/include" "$sources/driver.c" \
        -o "$folder/driver" "$library"
    cp "$sources"/{measure,report,served,with_pycuda,with_cuda_core,with_cupy}.py "$sources/empty.ptx" kernels/saxpy.ptx \
        "$folder"
    git describe --always --dirty --abbrev=12 >"$folder/commit"
}

software_device() {
    emulator/libcuda/build.sh
}

# Wheels for the Python of the machine with the GPU. PyCUDA is there as source alone, and is built as it builds itself,
# but for cuRAND.
wheels() { # FOLDER LIBCUDA
    local folder=$1 library=$2 python=${PACKED_PYTHON:-python3.12} stamp pip
    stamp=$(echo "$pycuda" "${carried[@]}" && sed '/^wheels()/,/^}/!d' "$sources.sh" && "$python" --version)
    if ! [[ -f $cache/stamp && $(<"$cache/stamp") == "$stamp" ]]; then
        rm -rf "$cache"
        mkdir -p "$cache/link"
        "$python" -m venv "$cache/venv"
        pip=("$cache/venv/bin/python" -m pip --quiet --disable-pip-version-check)
        "${pip[@]}" install 'setuptools<81' wheel 'numpy>=2' "${carried[@]}"
        "${pip[@]}" download --no-deps --only-binary :all: --dest "$cache/wheels" "${carried[@]}" \
            "nvidia-cuda-profiler-api==$toolkit.*"
        "$cache/venv/bin/python" -m zipfile -e "$cache"/wheels/nvidia_cuda_profiler_api-*.whl "$cache/profiler"
        rm "$cache"/wheels/nvidia_cuda_profiler_api-*.whl
        mkdir "$cache/include"
        cp .cache/headers/$toolkit/include/*.h "$(find "$cache/profiler" -name cudaProfiler.h)" "$cache/include"
        ln -s "$library" "$cache/link/libcuda.so"
        (
            cd "$cache"
            "${pip[@]}" download --no-deps --no-build-isolation --no-binary pycuda "pycuda==$pycuda"
            tar -xzf "pycuda-$pycuda.tar.gz"
            cd "pycuda-$pycuda"
            ../venv/bin/python configure.py --no-cuda-enable-curand --cuda-inc-dir="$cache/include" \
                --cudadrv-lib-dir="$cache/link"
            "${pip[@]}" wheel --no-deps --no-build-isolation --wheel-dir "$cache/wheels" .
        )
        echo "$stamp" >"$cache/stamp"
    fi
    cp -r "$cache/wheels" "$folder/wheels"
}

pack() {
    local library
    library=$(software_device)
    rm -rf "$packed"
    programs "$packed" "$library" release
    wheels "$packed" "$library"
    du -sh "$packed"
}

run() {
    python3 "$packed/measure.py" "$@"
}

record() {
    python3 "$sources/report.py" "$1" benches/results
}

# With the clients of the software device (emulator/libcuda/clients/environment.sh).
try() {
    local library folder site python name
    rustfmt --edition 2024 --check "$sources"/src/*.rs "$sources"/src/bin/*.rs
    library=$(software_device)
    emulator/libcuda/clients/environment.sh "$library"
    folder=$(mktemp -d)
    # shellcheck disable=SC2064 # now
    trap "rm -rf '$folder'" EXIT
    programs "$folder/programs" "$library" dev
    # cudarc asks for the name without a version; PyCUDA is linked with cuRAND, which lies in a package.
    for name in libcuda.so libcuda.so.1; do ln -s "$library" "$folder/$name"; done
    site=$(echo "$PWD"/.cache/clients/venv/lib/python3*/site-packages)
    python=$PWD/.cache/clients/venv/bin/python
    LD_LIBRARY_PATH=$folder:$site/nvidia/cu13/lib "$python" "$folder/programs/measure.py" "$folder/results" \
        --rounds 4 --fewer 50 --without CuPy
    "$python" "$sources/report.py" --any-device "$folder/results/compare.json" "$folder/results"
    "$python" -m pytest --quiet -p no:cacheprovider "$sources/test_report.py"
}

command_of pack run record try -- "$@"
