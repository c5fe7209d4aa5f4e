#!/usr/bin/env bash
# Runs the unit tests of cudarc, the crate as published, on the software libcuda.so.1 that LD_LIBRARY_PATH leads to,
# except the tests in cudarc.txt. NVRTC comes from LD_LIBRARY_PATH too. Fails unless exactly $expected tests pass.
#
#   cudarc.sh          run.sh calls it with its environment
set -euo pipefail
version=0.19.10
expected=53
clients=$(cd "$(dirname "$0")" && pwd)
cache=$clients/../../../.cache/clients/cudarc-$version
features=std,driver,nvrtc,dynamic-loading,cuda-13000,f16

# A package that depends on it makes cargo fetch it; the tests run in a copy of its sources.
if [[ ! -f $cache/stamp ]]; then
    rm -rf "$cache"
    mkdir -p "$cache/fetch"
    printf '[workspace]\n[package]\nname = "fetch"\nversion = "0.0.0"\n[lib]\npath = "empty.rs"\n[dependencies]\ncudarc = "=%s"\n' \
        "$version" >"$cache/fetch/Cargo.toml"
    touch "$cache/fetch/empty.rs"
    cargo fetch --quiet --manifest-path "$cache/fetch/Cargo.toml"
    source=$(cargo metadata --format-version 1 --manifest-path "$cache/fetch/Cargo.toml" --features cudarc/cuda-13000 |
        python3 -c 'import json, sys; print(next(p["manifest_path"] for p in json.load(sys.stdin)["packages"] if p["name"] == "cudarc"))')
    cp -r "$(dirname "$source")" "$cache/cudarc"
    chmod -R u+w "$cache/cudarc"
    printf '\n[workspace]\n' >>"$cache/cudarc/Cargo.toml"
    touch "$cache/stamp"
fi

left_out=()
while read -r test _; do
    left_out+=(--skip "$test")
done < <(grep -v '^#' "$clients/cudarc.txt")

cd "$cache/cudarc"
mode=async
tests() { CUPRUM_EMULATOR_MODE=$mode CUPRUM_EMULATOR_DEVICES=2 cargo test --quiet --lib --no-default-features --features "$features" -- "$@"; }
passed=0
count() {
    local said
    said=$(tests "$@") || { echo "$said"; exit 1; }
    passed=$((passed + $(sed -n 's/^test result: ok. \([0-9]*\) passed.*/\1/p' <<<"$said")))
}
count "${left_out[@]}"
# Tests that need two devices, or a process of their own. One relies on a launch that returns before its kernel fails.
for test in $(tests --ignored --list 2>/dev/null | sed -n 's/: test$//p'); do
    [[ $test == *device_side_assert ]] && mode=deferred || mode=async
    count --ignored --exact "$test"
done
echo "cudarc $version: $passed tests passed"
[[ $passed == "$expected" ]] || { echo "expected $expected"; exit 1; }
