#!/usr/bin/env bash
# Builds, checks and runs on what this machine is not: the oldest compiler that is promised, Windows and aarch64 Linux.
# All of it with Rust 1.85, from Debian's packages, which are fetched into `.cache/platforms` and not installed.
#
#     tests/platforms.sh oldest      the libraries but nccl, tracer, cudarc build, with all features but `hook`, `compile`
#     tests/platforms.sh windows     tests and examples run under wine, the software device is loaded as nvcuda.dll
#     tests/platforms.sh aarch64     tests and examples run under qemu
#     tests/platforms.sh checked     the crates are checked for Windows (msvc) and macOS, where nothing is run
#     tests/platforms.sh             all of these, as CI does
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD/.cache/platforms
tests/platforms/fetch.sh "$root"

# Lints of an older compiler are not those that the code is written by.
export RUSTFLAGS=--cap-lints=warn CARGO_TARGET_DIR=$PWD/target/platforms CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0
# The compiler takes its own library anew, and the nightly flag for that.
export RUSTC_BOOTSTRAP=1
crates=(-p cuprum-sys -p cuprum-derive -p cuprum -p cuprum-compile -p cuprum-dlpack -p cuprum-ptx -p cuprum-engine -p cuprum-emulator)
features=derive,half,bytemuck,num-complex

# What finds its libraries beside it, so that no program started by it does by accident.
old_cargo() {
    env -u RUSTUP_TOOLCHAIN \
        LD_LIBRARY_PATH="$root/rust/usr/lib/x86_64-linux-gnu:$root/rust/lib/x86_64-linux-gnu:$root/aarch64/usr/lib/x86_64-linux-gnu" \
        PATH="$root/rust/usr/bin:$root/windows/usr/bin:$PATH" cargo --locked "$@"
}

oldest() {
    old_cargo --version
    # None of it runs, so nothing is gained by optimizing it.
    local plain=() crate
    for crate in ptx engine emulator; do
        plain+=(--config "profile.dev.package.cuprum-$crate.opt-level=0")
    done
    old_cargo build "${plain[@]}" "${crates[@]}" --features "$(printf 'cuprum/%s,' ${features//,/ })cuprum-compile/cache,cuprum-dlpack/half,cuprum-dlpack/num-complex"
}

# Tests that are not for the platform.
skipped=()
# Some programs of tests, and some of the numbered examples that need no compiler, second device or file of NVIDIA's.
programs() { # ARGUMENTS OF CARGO...
    old_cargo test "$@" -p cuprum-sys -p cuprum --lib --test table --test resolver --test objects \
        --test swallowed -- "${skipped[@]}" | tee "$CARGO_TARGET_DIR/said"
    if grep -q 'test result: ok. 0 passed' "$CARGO_TARGET_DIR/said"; then
        echo "one of these has no test for this platform" >&2
        exit 1
    fi
    local name
    for name in 01_vector_add 02_find_the_fault 03_struct 04_pool 05_global 06_libraries 08_requests 09_futures; do
        CUPRUM_DEVICE=emulator old_cargo run --quiet "$@" -p cuprum --example "$name" >"$CARGO_TARGET_DIR/said"
        echo "$name: $(tail -n 1 "$CARGO_TARGET_DIR/said")"
    done
}

windows() {
    local target=x86_64-pc-windows-gnu std
    std=$root/rust/usr/lib/rustlib
    # Objects that frame a program, which are not in the library's source package compiled.
    mkdir -p "$std/$target/lib"
    local object
    for object in rsbegin rsend; do
        LD_LIBRARY_PATH="$root/rust/usr/lib/x86_64-linux-gnu" "$root/rust/usr/bin/rustc" --target "$target" --emit=obj \
            -o "$std/$target/lib/$object.o" "$std/src/rust/library/rtstartup/$object.rs"
    done
    local gcc=$root/windows/usr/bin/x86_64-w64-mingw32-gcc-win32
    mkdir -p "$CARGO_TARGET_DIR/wine"
    # Wine 8 lacks a library of random numbers that Rust's asks for.
    cat >"$CARGO_TARGET_DIR/wine/random.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
C
    "$gcc" -shared -o "$CARGO_TARGET_DIR/wine/bcryptprimitives.dll" "$CARGO_TARGET_DIR/wine/random.c" -ladvapi32
    export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$gcc CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=$PWD/tests/platforms/wine.sh
    # Destructors of thread-locals run under the loader's lock there: one that waits for a thread waits for ever once another
    # thread begins or ends.
    skipped=(--skip worker::a_thread_may_keep_a_worker_until_it_ends)
    local build=(-Zbuild-std=std,panic_unwind,test --target "$target")
    programs "${build[@]}"

    # The software device as nvcuda.dll: the loader's success, and not only its failure.
    # With the features of the tests, so that the device is not compiled again.
    old_cargo build "${build[@]}" -p cuprum-libcuda -p cuprum-sys --features cuprum-sys/hook
    old_cargo build "${build[@]}" -p cuprum-sys --example driver_info
    local folder=$CARGO_TARGET_DIR/$target/debug said=$CARGO_TARGET_DIR/said
    local system=$CARGO_TARGET_DIR/wine/prefix/drive_c/windows/system32
    rm -f "$system/nvcuda.dll"
    tests/platforms/wine.sh "$folder/examples/driver_info.exe" 2>&1 | tee "$said" || true
    grep -q 'no CUDA driver could be loaded: nvcuda.dll' "$said"
    cp "$folder/cuprum_libcuda.dll" "$system/nvcuda.dll"
    tests/platforms/wine.sh "$folder/examples/driver_info.exe" | tee "$said"
    rm "$system/nvcuda.dll"
    grep -q 'driver: .*nvcuda.dll, CUDA' "$said"
}

aarch64() {
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$root/aarch64/usr/bin/aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS="--cap-lints=warn -Clink-arg=--sysroot=$root/aarch64"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$PWD/tests/platforms/qemu.sh
    unset RUSTFLAGS
    # It limits the address space of its process, which qemu keeps from the program.
    skipped=(--skip worker::processes::a_thread_that_cannot_be_started_is_an_error)
    programs --target aarch64-unknown-linux-gnu
    # The handler of signals reads registers of this processor.
    old_cargo test --target aarch64-unknown-linux-gnu -p cuprum-emulator --test driver host_access::
}

checked() {
    local target
    for target in x86_64-pc-windows-msvc aarch64-apple-darwin; do
        echo "$target:"
        old_cargo check -Zbuild-std=std,panic_abort --target "$target" "${crates[@]}"
    done
}

case ${1:-all} in
oldest | windows | aarch64 | checked) (eval "$1") ;;
all) for part in oldest checked aarch64 windows; do
    echo "== $part (after $SECONDS s)"
    ("$part")
done ;;
*)
    sed -n '2,9p' "$0" >&2
    exit 2
    ;;
esac
