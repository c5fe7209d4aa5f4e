#!/usr/bin/env bash
# Fetches what `tests/platforms.sh` builds and runs with, and unpacks it; nothing is installed:
# FOLDER/rust     the oldest compiler that is promised, with its library for aarch64 and the library's source
# FOLDER/windows  a linker for Windows, and wine
# FOLDER/aarch64  a linker for aarch64, its C library, and qemu
#
# They are Debian 12's packages, downloaded with the machine's own apt client through a private configuration.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mkdir -p "${1:?usage: fetch.sh FOLDER}" && cd "$1" && pwd)
rust='1.85.*'
[ ! -e "$folder/complete" ] || exit 0

# shellcheck source=sys/tests/fetch/private_apt.sh
. "$here/../../sys/tests/fetch/private_apt.sh"
echo "deb [$keys] $mirror bookworm main" >"$private/etc/sources.list"
# An empty list of what is installed: what the packages need is fetched with them, whatever the machine has.
: >"$private/status"
cat >>"$private/apt.conf" <<END
Dir::State::status "$private/status";
APT::Architectures { "amd64"; "arm64"; };
END
private_apt update

# unpack ROOM [PATTERN...]: everything downloaded goes to the room; of a source package, only what matches.
unpack() {
    local room="$folder/$1"
    mkdir -p "$room"
    for archive in "$private"/download/*.deb; do
        case $archive in
        */rust-web-src_*)
            dpkg --fsys-tarfile "$archive" |
                tar x -C "$room" --wildcards './usr/src/rustc-*/library/*' './usr/lib/rustlib/src/*'
            ;;
        *) dpkg -x "$archive" "$room" ;;
        esac
    done
    rm -rf "$private/download"
}
download() {
    mkdir -p "$private/download"
    (cd "$private/download" && private_apt download "$@")
}

download "rustc-web=$rust" "cargo-web=$rust" "libstd-rust-web-dev=$rust" libstd-rust-web-1.85 "rust-web-src=$rust" \
    libllvm19 libpcre3 libhttp-parser2.9 "libstd-rust-web-dev:arm64=$rust" libstd-rust-web-1.85:arm64
unpack rust

download binutils-aarch64-linux-gnu gcc-12-aarch64-linux-gnu gcc-aarch64-linux-gnu gcc-12-aarch64-linux-gnu-base \
    cpp-12-aarch64-linux-gnu libgcc-12-dev-arm64-cross libgcc-s1-arm64-cross libc6-arm64-cross libc6-dev-arm64-cross \
    linux-libc-dev-arm64-cross qemu-user-static
unpack aarch64

download binutils-mingw-w64-x86-64 gcc-mingw-w64-base gcc-mingw-w64-x86-64-win32 gcc-mingw-w64-x86-64-win32-runtime \
    mingw-w64-common mingw-w64-x86-64-dev libz-mingw-w64
unpack windows
# Wine with the libraries that it cannot start without.
download wine64 libwine libunwind8 libfreetype6 libpng16-16 libbrotli1
unpack windows
wine="$folder/windows/usr/lib"
# A script with a fixed path stands before the server.
ln -sf wineserver64 "$wine/wine/wineserver"
cp "$folder/windows/usr/x86_64-w64-mingw32/lib/zlib1.dll" "$wine/x86_64-linux-gnu/wine/x86_64-windows/"
touch "$folder/complete"
