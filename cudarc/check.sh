#!/usr/bin/env bash
# Builds the bridge to cudarc and its examples, which need a GPU to run, and tests it on the software libcuda.so.1.
set -euo pipefail
cd "$(dirname "$0")"
# The build folder of the other programs that use cudarc.
target=../target/lines
cargo fmt --check
cargo clippy --quiet --target-dir "$target" --features cublas --all-targets -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --target-dir "$target" --no-deps
library=$(../emulator/libcuda/build.sh)
mkdir -p "$target/libcuda"
ln -sf "$library" "$target/libcuda/libcuda.so.1"
export LD_LIBRARY_PATH=$PWD/$target/libcuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
for mode in eager deferred; do
    CUPRUM_EMULATOR_MODE=$mode cargo test --quiet --target-dir "$target"
done
