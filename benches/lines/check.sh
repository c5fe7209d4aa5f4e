#!/usr/bin/env bash
# Checks that the Rust programs are formatted as rustfmt does by itself, that all compile, that those of one subject print
# the same, on the software `libcuda.so.1`, and that cuprum's are no longer than cudarc's. Then prints the table. Fetches
# cudarc; PyCUDA, with the NVRTC and the `nvcc` for what is compiled at run time, is that of
# `emulator/libcuda/clients/environment.sh`.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
clients=$root/.cache/clients

rustfmt --edition 2024 --check programs/*/*.rs
cargo build --quiet --target-dir "$root/target/lines"
library=$("$root/emulator/libcuda/build.sh")
"$root/emulator/libcuda/clients/environment.sh" "$library"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
toolkit=$(echo "$clients"/venv/lib/python3*/site-packages)/nvidia/cu13
# cudarc asks for the names without a version.
for name in libcuda.so libcuda.so.1; do ln -s "$library" "$folder/$name"; done
ln -s "$toolkit/lib/libnvrtc.so.13" "$folder/libnvrtc.so"
# PyCUDA is linked with cuRAND, which lies in a package, and calls the `nvcc` that it finds.
export LD_LIBRARY_PATH=$folder:$toolkit/lib PATH=$clients/toolkit/bin:$PATH CUPRUM_NVCC=$toolkit/bin/nvcc
export PYCUDA_DISABLE_CACHE=1

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
python3 count.py --check
if [ "$(grep '^|' README.md)" != "$(python3 count.py)" ]; then
    echo "the table of README.md says something else" >&2
    exit 1
fi
