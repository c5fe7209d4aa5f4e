#!/usr/bin/env bash
# Fetches the seven real drivers that the tests open: FOLDER/VERSION/libcuda.so.1 for each.
#
# They are Debian's packages, downloaded with the machine's own apt client through a private configuration
# (the machine's Debian mirror, more suites, the non-free component), unpacked, never installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mkdir -p "${1:?usage: drivers.sh FOLDER}" && cd "$1" && pwd)

# Driver version and the packages that hold its files. 390 and 418 need a second library beside them.
drivers='
340.108 libnvidia-legacy-340xx-cuda1
390.157 libnvidia-legacy-390xx-cuda1 libnvidia-legacy-390xx-fatbinaryloader
418.226.00 libnvidia-tesla-418-cuda1 libnvidia-tesla-418-fatbinaryloader
470.256.02 libnvidia-tesla-470-cuda1
535.261.03 libcuda1
550.163.01 libcuda1
555.58.02 libcuda1
'
suites='bullseye bookworm trixie sid experimental'

missing=$(while read -r version packages; do
    [ -z "$version" ] || [ -e "$folder/$version/libcuda.so.1" ] || echo "$version $packages"
done <<<"$drivers")
[ -n "$missing" ] || exit 0

# shellcheck source=sys/tests/fetch/private_apt.sh
. "$here/private_apt.sh"
for suite in $suites; do
    echo "deb [arch=amd64 $keys] $mirror $suite non-free"
done >"$private/etc/sources.list"
private_apt update

while read -r version packages; do
    unpacked="$private/$version"
    mkdir -p "$unpacked"
    for package in $packages; do
        (cd "$unpacked" && private_apt download "$package=$version*")
    done
    for archive in "$unpacked"/*.deb; do
        dpkg -x "$archive" "$unpacked"
    done
    mkdir -p "$folder/$version.part"
    find "$unpacked" -type f -name '*.so.*' -exec cp {} "$folder/$version.part" \;
    ln -sf "libcuda.so.$version" "$folder/$version.part/libcuda.so.1"
    [ -e "$folder/$version.part/libcuda.so.1" ] || { echo "no libcuda.so.$version in: $packages" >&2; exit 1; }
    rm -rf "${folder:?}/$version"
    mv "$folder/$version.part" "$folder/$version"
done <<<"$missing"
