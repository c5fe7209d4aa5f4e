#!/usr/bin/env bash
# The C library, the plugin and the C programs on a machine that has an NVIDIA GPU and no Rust.
#
#     examples/python/gpu.sh pack         here: builds them into .gpu/python/ (after tests/gpu.sh pack, which empties .gpu/)
#     examples/python/gpu.sh run [FILE]   there, in a copy of the repository with .gpu/python/: runs them, and writes FILE
#                                         (default: .gpu/python/results.md). Needs python3 with NumPy.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/gpu/carry.sh
. tests/gpu/carry.sh
packed=.gpu/python

pack() {
    local target program
    cargo build --quiet --package cuprum-arrays --package cuprum-plugin --package cuprum-libcuda
    cargo build --quiet --package cuprum --example 16_without_a_driver
    target=$(readlink -f "${CARGO_TARGET_DIR:-target}")/debug
    rm -rf "$packed"
    mkdir -p "$packed"
    for program in libarrays.so libplugin.so examples/16_without_a_driver; do
        strip -o "$packed/$(basename "$program")" "$target/$program"
    done
    cc -std=c11 -D_POSIX_C_SOURCE=200809L examples/plugin/c/host.c -o "$packed/host" -ldl -lpthread
    cc -std=c11 -Iexamples/arrays/include examples/arrays/c/arrays.c -o "$packed/arrays" "$packed/libarrays.so" \
        -Wl,-rpath,'$ORIGIN'
    # Linked with the software device, whose name is that of the driver there.
    cc -std=c11 examples/arrays/c/driver.c -o "$packed/driver" "$target/libcuprum_libcuda.so"
    du -sh "$packed"
}

# Runs a program, and adds its row to the results: seconds, what it printed last, and how it ended.
record() { # NAME COMMAND...
    local name=$1 start=$EPOCHREALTIME status=0 said
    shift
    said=$(timeout --kill-after=5 300 "$@" 2>&1) || status=$?
    echo "$said"
    ((status == 0)) || failed=1
    awk -v OFS=' | ' -v name="$name" -v seconds="$(seconds_since "$start")" -v status="$status" \
        -v said="$(tail -n 1 <<<"$said")" \
        'BEGIN { print "| " name, sprintf("%.1f", seconds), said, (status == 0 ? "ok" : "**status " status "**") " |" }' >>"$results"
}

run() {
    results=${1:-$packed/results.md} failed=0
    export CUPRUM_DEVICE=${CUPRUM_DEVICE:-gpu} ARRAYS_LIBRARY=$PWD/$packed/libarrays.so PYTHONDONTWRITEBYTECODE=1
    {
        echo '# The C library, the plugin and C programs on a device'
        echo
        echo "- $(date -u '+%Y-%m-%d %H:%M UTC'), $(python3 --version)"
        if [ "$CUPRUM_DEVICE" = gpu ]; then gpus; else echo "- device: $CUPRUM_DEVICE"; fi
        echo
        echo '| program | seconds | its last line | verdict |'
        echo '|---|--:|---|---|'
    } >"$results"
    record 'Python: the interpreter cannot be crashed' python3 examples/arrays/python/test_arrays.py
    record 'C: the library' "$packed/arrays"
    record 'C: the driver API' "$packed/driver" kernels/vector_add.ptx
    record 'a plugin, loaded and unloaded' "$packed/host" "$PWD/$packed/libplugin.so" 20
    record 'an application without a driver' env CUPRUM_DRIVER=/nowhere/libcuda.so.1 "$packed/16_without_a_driver"
    record 'the same, with one' "$packed/16_without_a_driver"
    cat "$results"
    return "$failed"
}

command_of pack run -- "$@"
