#!/usr/bin/env bash
# Compares our libcudart.so.13 with NVIDIA's on a GPU: the same programs, linked once, run with each, and their answers call
# by call. The machine needs nvcc of CUDA 13 and no Rust.
#
#     tests/gpu/cudart.sh pack FOLDER          here: our library, stripped, into FOLDER (2 MiB), to be carried along
#     tests/gpu/cudart.sh run FOLDER OUTPUT    there, in a copy of the repository
#
# OUTPUT gets
#   cudart.txt        what NVIDIA's library answers                    -> tests/data/goldens/
#   cudart_ours.txt   what ours answers on the same driver
#   cudart_diff.txt   lines that differ: empty is the aim
#   log.txt           what went wrong on the way
set -uo pipefail
command=${1:?usage: cudart.sh pack FOLDER | run FOLDER OUTPUT}
folder=$(mkdir -p "$2" && realpath "$2")
cd "$(dirname "$0")/../.."
programs=$PWD/emulator/cudart/clients

if [[ $command == pack ]]; then
    emulator/cudart/link.sh "$folder" release
    strip --strip-unneeded "$folder"/libcudart.so.1[23]
    ls -l "$folder"
    exit
fi

out=$(mkdir -p "$3" && realpath "$3")
exec 2>"$out/log.txt"
nvcc=${NVCC:-$(command -v nvcc || ls -d /usr/local/cuda*/bin/nvcc | tail -n 1)}
toolkit=$(dirname "$(dirname "$(realpath "$nvcc")")")
theirs=$(dirname "$(find "$toolkit/" /usr/lib /usr/local -name 'libcudart.so.13*' 2>/dev/null | head -n 1)")
[[ -e $theirs/libcudart.so.13 && -e $folder/libcudart.so.13 ]] || { echo "a library is missing" | tee /dev/stderr && exit 1; }
private=$(mktemp -d)
trap 'rm -rf "$private"' EXIT
build() { # NAME SOURCE...: PTX only, so that both libraries load the same
    "$nvcc" -std=c++17 -cudart shared -L"$theirs" -gencode arch=compute_80,code=compute_80 "${@:2}" -o "$private/$1" >&2
}
with() { # LIBRARIES PROGRAM ARGUMENT...
    LD_LIBRARY_PATH=$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} timeout 120 "$private/$2" "${@:3}" ||
        echo "$2 ended with status $?"
}
record() { # LIBRARIES
    echo "# $(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c)"
    with "$1" runtime | grep -v hazards | while read -r group; do with "$1" runtime "$group" </dev/null; done
    for program in vector_add vector_add_per_thread relocatable thrust; do
        echo "$program: $(with "$1" "$program" | tail -n 1)"
    done
}

build runtime -Wno-deprecated-declarations "$programs/runtime.cu"
build vector_add "$programs/vector_add.cu"
build vector_add_per_thread -default-stream per-thread "$programs/vector_add.cu"
build relocatable -rdc=true "$programs/relocatable_main.cu" "$programs/relocatable_part.cu"
build thrust -I"$toolkit/include/cccl" "$programs/thrust.cu"
record "$theirs" >"$out/cudart.txt"
record "$folder" >"$out/cudart_ours.txt"
diff "$out/cudart.txt" "$out/cudart_ours.txt" >"$out/cudart_diff.txt"
echo "$(wc -l <"$out/cudart.txt") answers; lines that differ: $(grep -c '^[<>]' "$out/cudart_diff.txt")"
grep -c . "$out/log.txt" | sed 's/^/lines in the log: /'
