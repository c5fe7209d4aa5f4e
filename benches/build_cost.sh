#!/usr/bin/env bash
# What it costs to have the driver API: to build it, to ship it, to open it. Beside cudarc, in the same run.
#
# Prints Markdown tables. Needs the network (cudarc, a driver package) and takes a few minutes. Each number is
# the least of several runs, since other load on the machine only ever adds. `results/build_cost.md` is a
# recorded run.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
driver=555.58.02
build_runs=${BUILD_RUNS:-3}
open_runs=${OPEN_RUNS:-30}
export CARGO_BUILD_JOBS=${JOBS:-2}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$root/sys/tests/fetch/drivers.sh" "$root/.cache/drivers"
mkdir "$work/lib"
for name in libcuda.so.1 libcuda.so; do # cudarc asks for the second name first
    ln -s "$root/.cache/drivers/$driver/libcuda.so.$driver" "$work/lib/$name"
done

# A program `with-SUBJECT` that depends on one thing; its source comes from standard input.
program() { # SUBJECT DEPENDENCY
    local folder=$work/with-$1
    mkdir -p "$folder/src"
    cat >"$folder/src/main.rs"
    printf '%s\n' '[package]' "name = \"with-$1\"" 'edition = "2024"' '[dependencies]' "$2" \
        '[profile.release]' 'strip = true' '[workspace]' >"$folder/Cargo.toml"
    (cd "$folder" && cargo fetch --quiet)
}

# Each prints the microseconds from nothing to a driver that has said its version.
start='let start = std::time::Instant::now();'
stop='println!("{}", start.elapsed().as_nanos() as f64 / 1000.0);'
program nothing '' <<END
fn main() { $start $stop }
END
program libloading 'libloading = "0.8"' <<END
use libloading::os::unix::*;
fn main() {
    $start
    let library = unsafe { Library::open(Some("libcuda.so.1"), RTLD_NOW | RTLD_LOCAL) }.unwrap();
    $stop
    std::mem::forget(library);
}
END
program cuprum-sys "cuprum-sys = { path = \"$root/sys\" }" <<END
fn main() {
    $start
    let library = cuprum_sys::Library::open().unwrap();
    assert_eq!(library.version().as_raw(), 12050);
    $stop
}
END
program again "cuprum-sys = { path = \"$root/sys\" }" <<END
fn main() {
    let library = cuprum_sys::Library::open().unwrap();
    $start
    assert_eq!(cuprum_sys::Library::open().unwrap(), library);
    $stop
}
END
program cuprum "cuprum = { path = \"$root\" }" <<END
use cuprum as _;
fn main() {}
END
features='"std", "driver", "dynamic-loading", "cuda-13000"'
cudarc="cudarc = { version = \"0.19\", default-features = false, features = [$features] }"
program cudarc "$cudarc" <<END
fn main() {
    $start
    let mut version = 0;
    unsafe { cudarc::driver::sys::cuDriverGetVersion(&mut version) }.result().unwrap();
    assert_eq!(version, 12050);
    $stop
}
END

# The same two programs, each with what a program of some size calls.
functions='cuInit cuDeviceGet cuDeviceGetCount cuDeviceGetName cuDeviceGetAttribute cuDeviceTotalMem_v2
    cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease_v2 cuCtxSetCurrent cuCtxGetCurrent cuCtxSynchronize
    cuModuleLoad cuModuleLoadData cuModuleUnload cuModuleGetFunction cuModuleGetGlobal_v2 cuMemGetInfo_v2
    cuMemAlloc_v2 cuMemFree_v2 cuMemAllocHost_v2 cuMemFreeHost cuMemHostAlloc cuMemAllocManaged cuMemAllocAsync
    cuMemFreeAsync cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemcpyDtoD_v2 cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2
    cuMemcpyDtoDAsync_v2 cuMemsetD8_v2 cuMemsetD8Async cuStreamCreate cuStreamDestroy_v2 cuStreamSynchronize
    cuStreamWaitEvent cuEventCreate cuEventRecord cuEventSynchronize cuEventDestroy_v2 cuFuncSetAttribute
    cuFuncGetAttribute cuLaunchKernel cuLaunchCooperativeKernel cuLaunchHostFunc cuGraphLaunch cuGraphDestroy
    cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize'
use_all() { # PREFIX: takes the address of each function
    for function in $functions; do echo "std::hint::black_box($1$function as *const ());"; done
}
program cuprum-sys-50 "cuprum-sys = { path = \"$root/sys\" }" <<END
fn main() {
    $start
    let fns = cuprum_sys::Library::open().unwrap().fns();
    $(use_all fns.)
    $stop
}
END
program cudarc-50 "$cudarc" <<END
fn main() {
    $start
    $(use_all cudarc::driver::sys::)
    $stop
}
END

least() { sort -g | head -n 1; }

build() { # SUBJECT FLAGS...: builds the subject and all below it, not the program
    local subject=$1
    shift
    (cd "$work/with-$subject" && CARGO_TARGET_DIR="$work/target" cargo build --quiet --offline -p "$subject" "$@")
}

cold_seconds() { # SUBJECT FLAGS...: by the clock, and of the processor, which other load disturbs less
    local TIMEFORMAT='%R %U %S'
    for _ in $(seq "$build_runs"); do
        rm -rf "$work/target"
        { time build "$@" 2>/dev/null; } 2>&1
    done | awk '{ cpu = $2 + $3
        if (NR == 1 || $1 < clock) clock = $1
        if (NR == 1 || cpu < least) least = cpu
    } END { printf "%.1f (%.1f)", clock, least }'
}

crates() { # SUBJECT: how many crates are compiled, itself included
    (cd "$work/with-$1" && cargo tree --quiet --offline --prefix none -e normal,build -p "$1") |
        sed 's/ (\*)$//' | sort -u | wc -l
}

release_program() { # SUBJECT: the path of its stripped release program
    (cd "$work/with-$1" && CARGO_TARGET_DIR="$work/release" cargo build --quiet --offline --release)
    echo "$work/release/release/with-$1"
}

open_microseconds() { # PROGRAM
    for _ in $(seq "$open_runs"); do LD_LIBRARY_PATH="$work/lib" "$1"; done | least
}

bytes() { stat -c %s "$1"; }

nothing=$(bytes "$(release_program nothing)")
echo "$(rustc --version | cut -d ' ' -f 1,2), $(nproc) cores, cargo jobs: $CARGO_BUILD_JOBS, driver $driver, $(date -u +%Y-%m-%d)"
echo
echo '| | cold build, s (of processor time) | cold release build, s | crates compiled |'
echo '|---|---|---|---|'
for subject in cuprum-sys cuprum cudarc; do
    echo "| $subject | $(cold_seconds "$subject") | $(cold_seconds "$subject" --release) | $(crates "$subject") |"
done
echo
echo '| a program that opens the driver and asks its version | stripped, KiB more than an empty one | the same with 50 functions | from nothing to the answer, µs | functions resolved |'
echo '|---|---|---|---|---|'
more() { # SUBJECT: KiB
    awk "BEGIN { printf \"%.0f\", ($(bytes "$(release_program "$1")") - $nothing) / 1024 }"
}
row() { # SUBJECT WITH_50 RESOLVED
    echo "| $1 | $(more "$1") | $2 | $(open_microseconds "$(release_program "$1")") | $3 |"
}
row libloading '' 'none: opens only'
row cuprum-sys "$(more cuprum-sys-50)" all
row cudarc "$(more cudarc-50)" 'one: each when first called'
echo
echo "cuprum-sys, opened again (the library is mapped, every function is looked up anew): $(open_microseconds "$(release_program again)") µs"
