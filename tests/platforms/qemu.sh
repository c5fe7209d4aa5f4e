#!/usr/bin/env bash
# Runs a program of aarch64 Linux under the qemu that `fetch.sh` has fetched.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)/.cache/platforms/aarch64
unset LD_LIBRARY_PATH
exec "$root/usr/bin/qemu-aarch64-static" -L "$root/usr/aarch64-linux-gnu" "$@"
