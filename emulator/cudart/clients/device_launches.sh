#!/usr/bin/env bash
# Prints the answers of device_launches.cu, built as PROGRAM: the orders of work, then each question in a process of its
# own, since an answer may be that the context ends.
#
#   device_launches.sh PROGRAM
set -euo pipefail
orders=$("$1")
echo "$orders"
for question in $(seq 0 $(($(head -n 1 <<<"$orders") - 1))); do
    "$1" "$question"
done
