#!/usr/bin/env bash
# Builds the software device as a library, unless it is current, and prints its path. It has the features that the tests of
# the workspace have, so that cargo does not compile the device once more for it.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --quiet --package cuprum-libcuda --package cuprum-sys --features cuprum-sys/hook
readlink -f "${CARGO_TARGET_DIR:-target}/debug/libcuprum_libcuda.so"
