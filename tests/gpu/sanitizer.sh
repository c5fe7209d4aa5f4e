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
    local tool=(--tool "$1")
    [[ $1 != leakcheck ]] || tool=(--tool memcheck --leak-check full)
    {
        echo "== $1 $3"
        timeout --kill-after=5 40 compute-sanitizer "${tool[@]}" --print-limit 3 --show-backtrace device \
            python3 tests/gpu/sanitizer_target.py "$2" "$3" 2>&1
        echo "status: $?"
    } >"$work/$1-$3.txt"
}

{
    echo "# $(compute-sanitizer --version | tail -n 1)"
    echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)"
} >"$file"

plan=()
add() { # tool, source, kernels with a corrected twin
    for kernel in "${@:3}"; do plan+=("$1 $2 $kernel" "$1 $2 ${kernel}_fixed"); done
}
add memcheck bugs off_by_one shared_overflow
for kernel in oob_write oob_read misaligned_write null_write trap_if assert_below; do
    plan+=("memcheck faults $kernel")
done
add memcheck host freed
add leakcheck host leaked
add racecheck bugs race_shared race_global race_warp race_war race_waw race_same_store race_message \
    race_last_block race_lock race_grid
add initcheck bugs uninitialized_global uninitialized_shared uninitialized_local
add synccheck bugs divergent_barrier exited_barrier wrong_mask inactive_shuffle
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
