#!/usr/bin/env bash
# Fetches one of NVIDIA's wheels, unpacks it without installing it, and prints the folder: FOLDER/PACKAGE-VERSION.
# What is there already is kept.
set -euo pipefail
usage='usage: wheel.sh FOLDER PACKAGE VERSION'
folder=$(mkdir -p "${1:?$usage}" && cd "$1" && pwd)/${2:?$usage}-${3:?$usage}

if [[ ! -d $folder ]]; then
    private=$(mktemp -d "$folder.XXXXXX")
    trap 'rm -rf "$private"' EXIT
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --dest "$private" "$2==$3" >&2
    python3 -m zipfile --extract "$private"/*.whl "$private"
    rm "$private"/*.whl
    # Another process may have been faster.
    mv -T "$private" "$folder" 2>/dev/null || [[ -d $folder ]]
fi
echo "$folder"
