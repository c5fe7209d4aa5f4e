#!/usr/bin/env bash
# Copies the sources of a crate as published, to run its own tests: a package that depends on it makes cargo fetch it.
#
#   crate.sh NAME VERSION FOLDER     FOLDER/NAME has them afterwards; if it had them before, nothing is done
set -euo pipefail
name=$1 version=$2 folder=$3
[[ ! -f $folder/stamp ]] || exit 0
rm -rf "$folder"
mkdir -p "$folder/fetch"
printf '[workspace]\n[package]\nname = "fetch"\nversion = "0.0.0"\n[lib]\npath = "empty.rs"\n[dependencies]\n%s = "=%s"\n' \
    "$name" "$version" >"$folder/fetch/Cargo.toml"
touch "$folder/fetch/empty.rs"
source=$(cargo metadata --quiet --format-version 1 --manifest-path "$folder/fetch/Cargo.toml" |
    python3 -c 'import json, sys; print(next(p["manifest_path"] for p in json.load(sys.stdin)["packages"] if p["name"] == sys.argv[1]))' "$name")
cp -r "$(dirname "$source")" "$folder/$name"
chmod -R u+w "$folder/$name"
printf '\n[workspace]\n' >>"$folder/$name/Cargo.toml"
touch "$folder/stamp"
