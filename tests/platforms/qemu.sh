#!/usr/bin/env bash
# Runs a program of aarch64 Linux under the qemu that `fetch.sh` has fetched.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)/.cache/platforms/aarch64
unset LD_LIBRARY_PATH
# What a test starts once more it starts by this.
CUPRUM_TEST_RUNNER=$(realpath "$0")
export CUPRUM_TEST_RUNNER
# This qemu keeps a note of each page of an address range, of which the software device reserves the largest that it gets.
exec "$root/usr/bin/qemu-aarch64-static" -R 32G -L "$root/usr/aarch64-linux-gnu" "$@"
