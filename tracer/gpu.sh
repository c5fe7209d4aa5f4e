#!/usr/bin/env bash
# Takes `cuprum trace` to a machine that has an NVIDIA GPU and no Rust.
#
#     tracer/gpu.sh pack           here: builds it and what it is tried on into .gpu-trace/, which git ignores
#     tracer/gpu.sh run [FOLDER]   there: traces examples, a C program and the Python packages that are installed, and
#                                  leaves timelines, and results.md, in FOLDER (default: .gpu-trace/results)
#
# `run` fails if a traced program fails, or if its timeline lacks the kernel that it launched.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/gpu/carry.sh
. tests/gpu/carry.sh
packed=.gpu-trace

pack() {
    rm -rf "$packed"
    mkdir "$packed"
    cargo build --quiet --release -p cuprum-tracer
    cargo build --quiet --release -p cuprum-cli
    cargo build --quiet --release -p cuprum --example 01_vector_add --example 07_overlap
    cc -O1 -pthread -o "$packed/client" tracer/tests/client.c -ldl
    local file
    for file in cuprum cuprum-trace-library examples/01_vector_add examples/07_overlap; do
        pack_program "target/release/$file" "$packed/$(basename "$file")"
    done
    git describe --always --dirty --abbrev=12 >"$packed/commit"
    du -sh "$packed"
}

# Traces a program, and says what is in its timeline. A kernel is wanted whose name has a part.
traced() { # NAME KERNEL PROGRAM...
    local name=$1 kernel=$2 status=0
    shift 2
    for times in "" --device-times; do
        status=0
        echo "--- $name $times"
        # shellcheck disable=SC2086
        timeout 150 "$work/cuprum" trace $times --output "$out/$name$times" -- "$@" >"$out/$name$times.log" 2>&1 || status=$?
        grep '^cuprum trace\|^  ' "$out/$name$times.log" | head -n 12 || true
        python3 - "$out/$name$times.json" "$kernel" "$name $times" "$status" >>"$out/results.md" <<'PYTHON' || failed=1
import json, sys
path, kernel, name, status = sys.argv[1:]
try:
    events = json.load(open(path))["traceEvents"]
except OSError:
    events = []
calls = [event for event in events if event.get("cat") == "driver"]
work = [event for event in events if event.get("cat") in ("kernel", "copy", "fill", "other")]
kernels = [event for event in work if event["cat"] == "kernel"]
measured = sum("measured on" in event["args"]["time"] for event in work)
named = sum("without a known name" not in event["name"] for event in kernels)
lanes = sum(event["name"] == "thread_name" and event["pid"] >= 1 << 32 for event in events)
good = status == "0" and any(kernel in event["name"] for event in kernels)
print(f"| {name} | {len(calls)} | {lanes} | {len(work)} | {measured} | {len(kernels)} | {named} | {'ok' if good else '**failed, status ' + status + '**'} |")
sys.exit(not good)
PYTHON
    done
}

run() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -p "${1:-$packed/results}"
    out=$(cd "${1:-$packed/results}" && pwd)
    failed=0
    for file in "$packed"/*.xz; do
        unpack "$file" >"$work/$(basename "$file" .xz)"
        chmod +x "$work/$(basename "$file" .xz)"
    done
    cp "$packed/client" "$work/client"
    {
        echo "# cuprum trace on a GPU"
        echo
        echo "- commit: $(cat "$packed/commit")"
        gpus
        echo
        echo '| program | calls | streams | pieces of work | measured | kernels | with their names | |'
        echo '|---|--:|--:|--:|--:|--:|--:|---|'
    } >"$out/results.md"
    traced example_01 vector_add env CUPRUM_DEVICE=gpu "$work/01_vector_add"
    traced example_07 "" env CUPRUM_DEVICE=gpu "$work/07_overlap"
    traced client twice "$work/client" query return
    # What ends a process loses nothing.
    "$work/cuprum" trace --output "$out/crash" -- "$work/client" dlsym crash >"$out/crash.log" 2>&1 && failed=1
    grep -q '"name":"twice"' "$out/crash.json" || { echo 'the crash lost calls' >>"$out/results.md"; failed=1; }
    if python3 -c 'import cupy' 2>/dev/null; then
        traced cupy "" python3 -c '
import cupy
a = cupy.arange(1 << 20, dtype=cupy.float32)
stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    for _ in range(20):
        b = cupy.sqrt(a) * 2 + a
    total = float(b.sum().get())
stream.synchronize()
print(total)'
    else
        echo '| cupy | | | | | | | not installed |' >>"$out/results.md"
    fi
    if python3 -c 'import torch' 2>/dev/null; then
        traced torch "" python3 -c '
import torch
a = torch.randn(1024, 1024, device="cuda")
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    b = torch.relu(a @ a)
for _ in range(20):
    a = torch.tanh(a) + 1
torch.cuda.synchronize()
print(float(b.sum()), float(a.sum()))'
    else
        echo '| torch | | | | | | | not installed |' >>"$out/results.md"
    fi
    {
        echo
        echo 'Nanoseconds of a call that does nothing (`cuDriverGetVersion`), and of an asynchronous copy of no byte:'
        echo
        echo "- alone: $("$work/client" dlsym cost 200000 | paste -sd ' ')"
        echo "- traced: $("$work/cuprum" trace --output "$work/cost" -- "$work/client" dlsym cost 200000 2>/dev/null | paste -sd ' ')"
    } >>"$out/results.md"
    cat "$out/results.md"
    return $failed
}

command_of pack run -- "$@"
