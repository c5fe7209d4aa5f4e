#!/usr/bin/env bash
# Instructions of hot wrappers, counted by valgrind over a driver that does nothing: exact, whatever else the machine does.
#   benches/instructions.sh
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind > /dev/null || { echo "this needs valgrind" >&2; exit 1; }
cargo build --profile bench --quiet --package cuprum-benches --example instructions
program="${CARGO_TARGET_DIR:-target}/release/examples/instructions"

# Instructions of so many turns.
counted() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 | sed -n 's/.*Collected : *//p'
}

echo "| operation | instructions |"
echo "|---|--:|"
for operation in "push + pop, raw" "push + pop" "peer copy, queued, raw" "peer copy, queued" "pool alloc + free" \
    "shared pool alloc + free" "pinned pool alloc + free, 512 zeros"; do
    few=$(counted "$operation" 1000)
    many=$(counted "$operation" 11000)
    echo "| $operation | $(((many - few + 5000) / 10000)) |"
done
