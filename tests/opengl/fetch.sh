#!/usr/bin/env bash
# Fetches Mesa's OpenGL in software, and what it needs, into FOLDER/usr/lib/x86_64-linux-gnu; nothing is installed.
#
# They are Debian 12's packages, downloaded with the machine's own apt client through a private configuration.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mkdir -p "${1:?usage: fetch.sh FOLDER}" && cd "$1" && pwd)
[ ! -e "$folder/complete" ] || exit 0

# shellcheck source=sys/tests/fetch/private_apt.sh
. "$here/../../sys/tests/fetch/private_apt.sh"
echo "deb [arch=amd64 $keys] $mirror bookworm main" >"$private/etc/sources.list"
# An empty list of what is installed: what the packages need is fetched with them, whatever the machine has.
: >"$private/status"
cat >>"$private/apt.conf" <<END
Dir::State::status "$private/status";
Debug::NoLocking "1";
END
private_apt update
private_apt --yes --download-only --no-install-recommends install libegl1 libegl-mesa0 libgl1-mesa-dri
# The machine's own C and C++ libraries serve, which its programs are built for.
rm -f "$private"/cache/archives/{libc6,libc-bin,libcrypt1,libgcc-s1,libstdc++6,gcc-12-base}_*.deb
for archive in "$private"/cache/archives/*.deb; do
    dpkg -x "$archive" "$folder"
done
[ -e "$folder/usr/lib/x86_64-linux-gnu/libEGL_mesa.so.0" ] || { echo "no OpenGL in the packages" >&2; exit 1; }
rm -rf "$folder/usr/share/doc" "$folder/usr/share/man"
touch "$folder/complete"
