#!/usr/bin/env bash
# Runs a program of Windows under the wine that `fetch.sh` has fetched, with what it lacks beside the program.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$root/target/platforms/wine
export WINEPREFIX=$folder/prefix WINEARCH=win64 WINEDEBUG=-all
export LD_LIBRARY_PATH=$root/.cache/platforms/windows/usr/lib/x86_64-linux-gnu
wine=$root/.cache/platforms/windows/usr/lib/wine/wine64
[ -e "$WINEPREFIX/complete" ] || { "$wine" wineboot -i >"$folder/boot.log" 2>&1 && touch "$WINEPREFIX/complete"; }
cp -n "$folder/bcryptprimitives.dll" "$(dirname "$1")/"
exec "$wine" "$@"
