#!/usr/bin/env bash
# Instructions of one launch of each kernel of the bench, counted by valgrind. Two runs differ by 0.3 % at most, whatever
# else the machine does.
#
#   counts.sh                  prints the counts of all modes
#   counts.sh --record         writes them to counts.txt
#   counts.sh --check [TEXT]   compares them, of all kernels or of those with this text in their title
#
# The check fails if a kernel takes more than 1.15 times the instructions recorded. A fall of speed by 20 % is 1.25 times,
# if instructions take as long as before.
# Needs valgrind, or apt-get to fetch it into .cache/. The processor that valgrind shows has AVX2 and no AVX-512. Another
# compiler may change the counts by some percent.
set -euo pipefail
cd "$(dirname "$0")/../../.."
if ! command -v valgrind >/dev/null; then
    # From the packages of a Debian or Ubuntu, unpacked and not installed.
    unpacked=$PWD/.cache/valgrind
    if [[ ! -d $unpacked ]]; then
        packages=$(mktemp -d)
        (cd "$packages" && apt-get -q=2 -o APT::Sandbox::User="$(id -un)" download valgrind)
        dpkg -x "$packages"/valgrind_*.deb "$unpacked"
        rm -r "$packages"
    fi
    export PATH=$unpacked/usr/bin:$PATH VALGRIND_LIB=$unpacked/usr/libexec/valgrind
fi
part=${2-}
recorded=emulator/engine/benches/counts.txt
most=1.15

program=$(cargo bench --quiet -p cuprum-engine --features compile --bench kernels --no-run --message-format=json |
    jq -r 'select(.target.name == "kernels" and .executable).executable')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Prints mode, count and title of each kernel. Each dump has the count of one call. Two options cannot share a pattern.
# Code for whole warps takes long to make under valgrind, so only kernels with shuffles are counted with it.
counts() {
    local of=$part
    if [[ $1 == warps ]]; then of=shuffle; fi
    mkdir "$folder/$1"
    CUPRUM_EMULATOR_EXECUTION=$1 valgrind --quiet --tool=callgrind --callgrind-out-file="$folder/$1/out" \
        --toggle-collect='*::counted_launch' --dump-after=kernels::beside::count::counted_launch \
        "$program" --count "$of" >"$folder/$1/titles"
    local number=0 title
    while IFS= read -r title; do
        number=$((number + 1))
        if [[ $title != *"$part"* ]]; then continue; fi
        printf '%s\t%s\t%s\n' "$1" "$(sed -n 's/^\(totals\|summary\): *//p' "$folder/$1/out.$number" | head -1)" "$title"
    done < <(sed -n 's/^counted //p' "$folder/$1/titles")
}
# Valgrind uses one core, and what else runs does not change a count.
modes=(vector compiled quads octets warps)
running=()
for mode in "${modes[@]}"; do
    counts "$mode" >"$folder/$mode.counts" &
    running+=($!)
done
for one in "${running[@]}"; do wait "$one"; done
for mode in "${modes[@]}"; do cat "$folder/$mode.counts"; done >"$folder/counts"

case "${1-}" in
    '') cat "$folder/counts" ;;
    --record) cp "$folder/counts" "$recorded" ;;
    --check)
        awk -F '\t' -v most=$most -v part="$part" '
            NR == FNR { old[$1 "\t" $3] = $2; next }
            { key = $1 "\t" $3; seen[key] = 1 }
            !(key in old) { print $1 ", " $3 ": not recorded"; bad = 1; next }
            $2 > most * old[key] { printf "%s, %s: %d instructions, %.2f times the recorded\n", $1, $3, $2, $2 / old[key]; bad = 1 }
            $2 * most < old[key] { printf "%s, %s: only %.2f of the recorded: record it anew\n", $1, $3, $2 / old[key] }
            END { for (key in old) if (index(key, part) && !(key in seen)) { print key ": recorded, but it did not run"; bad = 1 }; exit bad }
        ' "$recorded" "$folder/counts" ;;
    *) echo "usage: counts.sh [--record | --check [TEXT]]" >&2; exit 2 ;;
esac
