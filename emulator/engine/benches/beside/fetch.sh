#!/usr/bin/env bash
# Fetches what the emulator is measured beside into .cache/beside/, once: PoCL, Debian's OpenCL for processors, as
# packages that are unpacked and not installed, and Numba, whose CUDA simulator runs on any machine, as wheels.
#
# Needs a Debian with apt, python3 with pip, and a C compiler, which PoCL links its kernels with.
set -euo pipefail
cd "$(dirname "$0")/../../../.."
mkdir -p .cache/beside
folder=$PWD/.cache/beside

fetch_pocl() {
    local into=$folder/pocl.part packages name
    mkdir -p "$into/packages"
    mapfile -t packages < <(
        apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
            --no-enhances pocl-opencl-icd |
            grep -E '^lib(pocl|clang-cpp|llvm|hwloc|z3|edit|bsd|md)[0-9t-]' | grep -v -e -dev)
    (cd "$into/packages" && apt-get -q=2 -o APT::Sandbox::User="$(id -un)" download \
        "${packages[@]}" ocl-icd-libopencl1)
    for package in "$into"/packages/*.deb; do
        dpkg -x "$package" "$into"
    done
    rm -r "$into/packages"
    # What PoCL needs lies where the loader of programs does not look: the benchmark loads it in this order.
    library() { (cd "$into" && ls usr/lib/*/"$1"* | head -n 1); }
    for name in libmd.so libbsd.so libedit.so libz3.so libhwloc.so libLLVM libclang-cpp.so libOpenCL.so; do
        library "$name"
    done >"$into/libraries"
    echo "$folder/pocl/$(library libpocl.so)" >"$into/pocl.icd"
    mv "$into" "$folder/pocl"
}

fetch_numba() {
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$folder/numba.part" numba
    mv "$folder/numba.part" "$folder/numba"
}

for what in pocl numba; do
    if [[ ! -d $folder/$what ]]; then
        rm -rf "$folder/$what.part"
        "fetch_$what"
    fi
done
du -sh "$folder"/*
