#!/usr/bin/env bash
# Records what tells that copies of host memory are over after a fault (after_fault.cpp says how).
#
#     tests/gpu/after_fault.sh OUTPUT-FOLDER       -> tests/data/goldens/after_fault.txt
set -uo pipefail
out=$(realpath "$1")
cd "$(dirname "$0")"
program=$(mktemp)
include=$(dirname "$(find / -name cuda.h -path '*include*' 2>/dev/null | head -n 1)")
library=$(dirname "$(ldconfig -p | sed -nE 's/.*libcuda.so.1 .*=> //p' | head -n 1)")
ln -sf "$library/libcuda.so.1" /tmp/libcuda.so
g++ -O1 -std=c++17 -I"$include" after_fault.cpp -o "$program" -L/tmp -lcuda -lpthread || exit 1
gpus=$(nvidia-smi -L | wc -l)
{
    echo "# $(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c)"
    echo '# fault, tell, direction, memory, copies x MiB, device of fault > of copy, answers; written: of 4096 places'
    one() { timeout 60 "$program" "$@" || echo "$* ended with status $?"; }
    for fault in address misaligned trap_ shared_ pc; do
        one $fault none DtoH register 1 12288 0 0
        one $fault none HtoD register 1 12288 0 0
    done
    one address none DtoH register 12 2048 0 0
    one address none DtoH alloc 12 2048 0 0
    one trap_ none DtoH register 12 2048 0 0
    one address none DtoH pageable 1 4096 0 0
    one trap_ none DtoH pageable 1 4096 0 0
    for fault in address trap_; do
        one $fault copy DtoH register 1 12288 0 0
        one $fault copy HtoD register 1 12288 0 0
        one $fault copy DtoH pageable 1 4096 0 0
    done
    for memory in register pageable; do
        one late behind DtoH $memory 1 4096 0 0
        one late copy_behind DtoH $memory 1 4096 0 0
        one late copy_behind HtoD $memory 1 4096 0 0
    done
    for tell in context again query event callback host_function write_value flag_copy destroy reset release unregister \
        free_host free stream_destroy beside attribute retain create fault_in_other_context; do
        one address $tell DtoH register 12 2048 0 0
    done
    for tell in context callback host_function flag_copy destroy unregister; do
        one address $tell DtoH register 1 12288 0 0
        one trap_ $tell DtoH register 12 2048 0 0
    done
    if ((gpus > 1)); then
        for tell in none context destroy unregister; do
            one address $tell DtoH register 12 2048 0 1
            one trap_ $tell DtoH register 12 2048 0 1
        done
    fi
} 2>&1 | tee "$out/after_fault.txt"
