#!/usr/bin/env bash
# Checks that the Rust programs are formatted as rustfmt does by itself, that all compile, and that those of one subject
# print the same, on the software `libcuda.so.1`. Then prints the table. Fetches cudarc; PyCUDA is that of
# `emulator/libcuda/clients/environment.sh`.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
clients=$root/.cache/clients

rustfmt --edition 2024 --check programs/*/*.rs
cargo build --quiet --target-dir "$root/target/lines"
(cd "$root" && cargo build --quiet -p cuprum-libcuda)
library=$(readlink -f "$root/target/debug/libcuprum_libcuda.so")
"$root/emulator/libcuda/clients/environment.sh" "$library"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# cudarc asks for the name without a version.
for name in libcuda.so libcuda.so.1; do ln -s "$library" "$folder/$name"; done
# PyCUDA is linked with cuRAND, which lies in a package.
export LD_LIBRARY_PATH=$folder:$(echo "$clients"/venv/lib/python3*/site-packages)/nvidia/cu13/lib

for subject in programs/*/; do
    subject=$(basename "$subject")
    expected=$("$root/target/lines/debug/$subject-cuprum")
    [ -n "$expected" ] || { echo "$subject: cuprum prints nothing" >&2; exit 1; }
    others=("$root/target/lines/debug/$subject-cudarc" "$clients/venv/bin/python programs/$subject/with_pycuda.py")
    for other in "${others[@]}"; do
        # shellcheck disable=SC2086 # a program and its argument
        [ "$($other)" = "$expected" ] || { echo "$other prints something else than:"; echo "$expected"; exit 1; } >&2
    done
done
python3 count.py
if [ "$(grep '^|' README.md)" != "$(python3 count.py)" ]; then
    echo "the table of README.md says something else" >&2
    exit 1
fi
