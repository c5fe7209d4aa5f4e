#!/usr/bin/env bash
# Runs the unit tests of cubecl-cuda, the crate as published, on the software libcuda.so.1 that LD_LIBRARY_PATH leads to,
# with those that the crate itself ignores. NVRTC comes from LD_LIBRARY_PATH too, and its headers from CUDA_PATH. Fails
# unless exactly $expected tests pass and cubecl.txt lists each of the others.
#
#   cubecl.sh          run.sh calls it with its environment
set -euo pipefail
# The last version that compiles with NVRTC: the next ones download LLVM, from no registry.
version=0.10.0
expected=663
clients=$(cd "$(dirname "$0")" && pwd)
cache=$clients/../../../.cache/clients/cubecl-cuda-$version

"$clients/crate.sh" cubecl-cuda "$version" "$cache"

names() { sed -n "s/^\([^# ]*\)  *$1 .*/\1/p" "$clients/cubecl.txt"; }
left_out=()
for test in $(names left-out); do
    left_out+=(--skip "$test")
done

# The versions of its dependencies are those of the lock file that the package brings.
cd "$cache/cubecl-cuda"
export CARGO_PROFILE_DEV_DEBUG=0
cargo test --quiet --locked --lib --no-run
said=$(cargo test --quiet --locked --lib -- --include-ignored "${left_out[@]}" 2>&1) || true
# The last list of the output names the tests that failed.
failed=$(awk '/^failures:$/ { list = "" } /^    tests::[^ ]*$/ { list = list $1 "\n" } END { printf "%s", list }' <<<"$said")
passed=$(sed -n 's/^test result: [A-Za-z]*\. \([0-9]*\) passed.*/\1/p' <<<"$said")
wrong=$(grep -vFf <(names failed) <<<"$failed" || true)
echo "cubecl-cuda $version: ${passed:-no} tests passed, $(wc -w <<<"$failed") fail with a reason"
[[ $passed == "$expected" && -z $wrong ]] || { echo "$said"; printf 'expected %s, and no failure of\n%s\n' "$expected" "$wrong"; exit 1; }
