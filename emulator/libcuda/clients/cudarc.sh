#!/usr/bin/env bash
# Runs the unit tests of cudarc, the crate as published, on the software libcuda.so.1 that LD_LIBRARY_PATH leads to,
# except the tests in cudarc.txt. NVRTC comes from LD_LIBRARY_PATH too. Fails unless exactly $expected tests pass.
#
#   cudarc.sh          run.sh calls it with its environment
set -euo pipefail
version=0.19.10
expected=52
clients=$(cd "$(dirname "$0")" && pwd)
cache=$clients/../../../.cache/clients/cudarc-$version
features=std,driver,nvrtc,dynamic-loading,cuda-13000,f16

"$clients/crate.sh" cudarc "$version" "$cache"

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
