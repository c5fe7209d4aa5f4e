#!/usr/bin/env bash
# Writes to FILE what compute-sanitizer says of every planted bug, and of its corrected twin.
#
#     tests/gpu/sanitizer.sh FILE
#
# Each section is `== TOOL KERNEL` and what the sanitizer and the program printed.
set -uo pipefail
PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not on the PATH" >&2; exit 1; }
file=$(realpath "$1")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

watch() { # tool, source, kernel
    {
        echo "== $1 $3"
        timeout --kill-after=5 40 compute-sanitizer --tool "$1" --print-limit 3 --show-backtrace device \
            python3 tests/gpu/sanitizer_target.py "$2" "$3" 2>&1
        echo "status: $?"
    } >"$work/$1-$3.txt"
}

{
    echo "# $(compute-sanitizer --version | tail -n 1)"
    echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)"
} >"$file"

plan=(
    "memcheck bugs off_by_one" "memcheck bugs off_by_one_fixed"
    "memcheck faults oob_write" "memcheck faults oob_read" "memcheck faults misaligned_write"
    "memcheck faults null_write" "memcheck faults trap_if" "memcheck faults assert_below"
    "racecheck bugs race_shared" "racecheck bugs race_shared_fixed"
    "racecheck bugs race_global" "racecheck bugs race_global_fixed"
    "initcheck bugs uninitialized_global" "initcheck bugs uninitialized_global_fixed"
    "initcheck bugs uninitialized_shared" "initcheck bugs uninitialized_shared_fixed"
    "synccheck bugs divergent_barrier" "synccheck bugs divergent_barrier_fixed"
)
for run in "${plan[@]}"; do
    read -r tool source kernel <<<"$run"
    watch "$tool" "$source" "$kernel" &
    while (($(jobs -rp | wc -l) >= 6)); do wait -n; done
done
wait
for run in "${plan[@]}"; do
    read -r tool _ kernel <<<"$run"
    cat "$work/$tool-$kernel.txt"
done >>"$file"
