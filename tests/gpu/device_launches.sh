#!/usr/bin/env bash
# Records how kernels launch kernels, on a GPU of compute capability 9.0 with nvcc.
#
#     tests/gpu/device_launches.sh >emulator/cudart/clients/device_launches.expected
set -euo pipefail
clients=$(cd "$(dirname "$0")/../../emulator/cudart/clients" && pwd)
program=$(mktemp -d)/device_launches
trap 'rm -r "$(dirname "$program")"' EXIT
nvcc -rdc=true -arch=sm_90 "$clients/device_launches.cu" -o "$program" -lcudadevrt >&2
"$clients/device_launches.sh" "$program"
