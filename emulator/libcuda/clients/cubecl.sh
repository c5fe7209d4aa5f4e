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

# A package that depends on it makes cargo fetch it; the tests run in a copy of its sources.
if [[ ! -f $cache/stamp ]]; then
    rm -rf "$cache"
    mkdir -p "$cache/fetch"
    printf '[workspace]\n[package]\nname = "fetch"\nversion = "0.0.0"\n[lib]\npath = "empty.rs"\n[dependencies]\ncubecl-cuda = "=%s"\n' \
        "$version" >"$cache/fetch/Cargo.toml"
    touch "$cache/fetch/empty.rs"
    source=$(cargo metadata --quiet --format-version 1 --manifest-path "$cache/fetch/Cargo.toml" |
        python3 -c 'import json, sys; print(next(p["manifest_path"] for p in json.load(sys.stdin)["packages"] if p["name"] == "cubecl-cuda"))')
    cp -r "$(dirname "$source")" "$cache/cubecl-cuda"
    chmod -R u+w "$cache/cubecl-cuda"
    printf '\n[workspace]\n' >>"$cache/cubecl-cuda/Cargo.toml"
    touch "$cache/stamp"
fi

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
failed=$(tac <<<"$said" | sed '/^failures:$/q' | sed -n 's/^    \(tests::[^ ]*\)$/\1/p')
passed=$(sed -n 's/^test result: [A-Za-z]*\. \([0-9]*\) passed.*/\1/p' <<<"$said")
wrong=$(grep -vFf <(names failed) <<<"$failed" || true)
echo "cubecl-cuda $version: ${passed:-no} tests passed, $(wc -w <<<"$failed") fail with a reason"
[[ $passed == "$expected" && -z $wrong ]] || { echo "$said"; printf 'expected %s, and no failure of\n%s\n' "$expected" "$wrong"; exit 1; }
