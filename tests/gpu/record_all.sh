#!/usr/bin/env bash
# Records most answers of real hardware that tests compare with, on a machine with an NVIDIA GPU, python3 and numpy.
# CONTRIBUTING.md lists the others.
#
#     tests/gpu/record_all.sh OUTPUT-FOLDER
#
# kernels.txt  results of every kernel            -> tests/data/goldens/
# opcodes.txt  results of every PTX form          -> tests/data/goldens/
# textures.txt results of every texture case   -> tests/data/goldens/
# tensor_core.txt sums of matrix products -> tests/data/goldens/
# device_launches.expected  launches by kernels -> emulator/cudart/clients/
# driver.json  answers to mistakes and edge cases -> tests/data/goldens/
# sanitizer.txt  what compute-sanitizer says of the planted bugs -> tests/data/goldens/
# log.txt      what the scripts printed
set -uo pipefail
out=$(realpath "$1")
cd "$(dirname "$0")"
failed=()

part() { # name, seconds, command
    local start=$SECONDS
    timeout --kill-after=5 "$2" "${@:3}" >>"$out/log.txt" 2>&1 || failed+=("$1 (status $?)")
    echo "$1: $((SECONDS - start)) s"
}

part kernels 60 python3 record.py "$out"
part opcodes 120 python3 probe_opcodes.py "$out/opcodes.txt"
part textures 60 python3 record_textures.py "$out/textures.txt"
part tensor_core 60 sh -c 'python3 tensor_core.py >"$1"' - "$out/tensor_core.txt"
part device_launches 120 sh -c './device_launches.sh >"$1"' - "$out/device_launches.expected"
part driver 180 python3 probe_driver.py "$out/driver.json"
part sanitizer 120 ./sanitizer.sh "$out/sanitizer.txt"
ls -l "$out"
tail -n 100 "$out/log.txt"
if ((${#failed[@]})); then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
