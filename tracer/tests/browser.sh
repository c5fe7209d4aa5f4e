#!/usr/bin/env bash
# The page of a traced program in a headless browser, which comes with a package of Node's registry and is kept in
# `.cache/browser` (70 MB). Needs Node 20 and a C compiler.
#
#   browser.sh [SCREENSHOT]
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tracer/tests
cache=$PWD/.cache/browser
packages=(@sparticuz/chromium@153.0.0 puppeteer-core@25.16.0)

if [[ ! -f $cache/stamp || $(<"$cache/stamp") != "${packages[*]}" ]]; then
    rm -rf "$cache"
    mkdir -p "$cache"
    echo '{ "private": true }' >"$cache/package.json"
    npm install --prefix "$cache" --silent --no-audit --no-fund --ignore-scripts "${packages[@]}"
    echo "${packages[*]}" >"$cache/stamp"
fi

cargo build --quiet -p cuprum-libcuda -p cuprum-tracer
cargo build --quiet -p cuprum-cli
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -O1 -pthread -o "$folder/client" "$here/client.c" -ldl
"${CARGO_TARGET_DIR:-target}/debug/cuprum" trace --software --output "$folder/trace" -- "$folder/client" dlsym return
# Packages are looked for beside the script.
cp "$here/page.mjs" "$cache/page.mjs"
TMPDIR=$folder node "$cache/page.mjs" "$folder/trace.html" "$@"
