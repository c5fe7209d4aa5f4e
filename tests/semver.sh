#!/usr/bin/env bash
# Changes since a commit that break programs that use the crates below, by cargo-semver-checks.
#
#   semver.sh COMMIT
#
# Nothing is published yet, so that nothing is promised and CI does not ask. With the first release, its tag is the commit
# to compare with. The tool is built into `.cache/tools` the first time, from 300 crates, which takes many minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
commit=$(git rev-parse --verify "${1:?usage: semver.sh COMMIT}^{commit}")
tools=$PWD/.cache/tools
[ -x "$tools/bin/cargo-semver-checks" ] ||
    (cd / && CARGO_TARGET_DIR=$tools/target cargo install --locked --root "$tools" cargo-semver-checks && rm -rf "$tools/target")
# The derive has no interface but its name.
"$tools/bin/cargo-semver-checks" semver-checks --baseline-rev "$commit" \
    --package cuprum-sys --package cuprum-tracer --package cuprum-ptx --package cuprum-emulator --package cuprum
