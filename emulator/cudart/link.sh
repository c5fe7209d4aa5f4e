#!/usr/bin/env bash
# Builds libcudart.so.12 and libcudart.so.13 into FOLDER: the names of exports.tsv, each with the library's own name as its
# version, as programs that were linked with NVIDIA's library ask for them.
#
#   link.sh FOLDER [release|debug]
set -euo pipefail
folder=$(mkdir -p "${1:?usage: link.sh FOLDER [release|debug]}" && cd "$1" && pwd)
profile=${2:-release}
cd "$(dirname "$0")"

# Unoptimized, it is of the tests, and has their features, as in libcuda/build.sh.
options=(--package cuprum-sys --features cuprum-sys/hook)
[[ $profile == debug ]] || options=(--profile "$profile")
cargo build --quiet --package cuprum-cudart "${options[@]}"
root=$(dirname "$(cargo locate-project --workspace --message-format plain)")
archive=${CARGO_TARGET_DIR:-$root/target}/$profile/libcuprum_cudart.a

private=$(mktemp -d)
trap 'rm -rf "$private"' EXIT
for major in 12 13; do
    library=libcudart.so.$major
    # Name and symbol of what this library has; a name that is another symbol becomes that symbol's second name.
    awk -F '\t' -v column=$((major - 10)) '!/^#/ && $column != "-" { print $1, $column }' exports.tsv >"$private/names"
    {
        echo "$library {"
        echo "global:"
        awk '{ print $1 ";" }' "$private/names"
        echo "local: *;"
        echo "};"
    } >"$private/versions"
    awk '$1 != $2 { print "-Wl,--defsym=" $1 "=" $2 }' "$private/names" >"$private/second-names"
    echo "-Wl,--defsym=cuprum_release=cuprum_release_$major" >>"$private/second-names"
    # Threads call back into it after a program has closed it.
    cc -shared -o "$private/$library" -Wl,-soname,"$library" -Wl,-z,nodelete -Wl,--gc-sections \
        -Wl,--version-script="$private/versions" -Wl,--no-undefined-version -Wl,--no-undefined @"$private/second-names" \
        -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -lpthread -ldl -lm -lgcc_s -lc
    mv "$private/$library" "$folder/$library"
done
