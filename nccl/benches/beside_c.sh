#!/usr/bin/env bash
# Compares the time of all-reduces with the same calls from C, on a machine with a GPU, nvcc and NCCL (or PyTorch, which brings
# NCCL). Needs no Rust there: EXAMPLE is the program that
# `cargo build --release -p cuprum-nccl --example bandwidth` makes.
#
#     nccl/benches/beside_c.sh EXAMPLE [MOST_BYTES]        prints a table as Markdown
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
example=$1 most=${2:-1073741824}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

library=${CUPRUM_NCCL:-$(python3 -c 'import nvidia.nccl as nccl; print(nccl.__path__[0] + "/lib/libnccl.so.2")')}
folder=$(dirname "$library")
nvcc -std=c++20 -O2 -I "$folder/../include" -o "$work/c" "$here/all_reduce.cu" \
    -L "$folder" -l:libnccl.so.2 -Xlinker "-rpath,$folder"

# Rounds of the two take turns, so that a change of the machine's clock meets both.
for round in 1 2 3; do
    CUPRUM_DEVICE=gpu CUPRUM_NCCL=$library "$example" "$most" >"$work/cuprum.$round"
    "$work/c" "$most" >"$work/c.$round"
done
nvidia-smi --query-gpu=index,name,driver_version --format=csv,noheader | sed 's/^/- GPU /'
echo
echo '| bytes | C, µs | cuprum, µs | ratio |'
echo '| ---: | ---: | ---: | ---: |'
awk -F'\t' '
    /^#/ { next }
    { which = FILENAME ~ /cuprum\.[0-9]$/ ? "cuprum" : "c" }
    !(($1, which) in least) || $2 < least[$1, which] { least[$1, which] = $2 }
    which == "c" && !($1 in seen) { seen[$1] = 1; order[++count] = $1 }
    END {
        for (at = 1; at <= count; ++at) {
            bytes = order[at]
            printf "| %d | %.2f | %.2f | %.3f |\n", bytes, least[bytes, "c"], least[bytes, "cuprum"],
                least[bytes, "cuprum"] / least[bytes, "c"]
        }
    }' "$work"/c.? "$work"/cuprum.?
