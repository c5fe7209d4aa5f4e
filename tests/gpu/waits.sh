#!/usr/bin/env bash
# Records which calls wait for queued work, and for whose (waits.cpp says how).
#
#     tests/gpu/waits.sh OUTPUT-FOLDER       -> tests/data/goldens/waits.txt
set -uo pipefail
out=$(realpath "$1")
cd "$(dirname "$0")"
program=$(mktemp)
include=${CUDA_INCLUDE:-$(dirname "$(find / -name cuda.h -path '*include*' 2>/dev/null | head -n 1)")}
library=$(dirname "$(ldconfig -p | sed -nE 's/.*libcuda.so.1 .*=> //p' | head -n 1)")
ln -sf "$library/libcuda.so.1" /tmp/libcuda.so
g++ -O1 -std=c++17 -I"$include" ${VULKAN_INCLUDE:+-I"$VULKAN_INCLUDE"} waits.cpp -o "$program" -L/tmp -lcuda -ldl -lpthread || exit 1
{
    echo "# $(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c)"
    one() { timeout 30 "$program" "$@" || echo "$* ended with status $?"; }
    for call in cuMemFree cuMemUnmap cuMemRelease cuMemSetAccess_none cuMemSetAccess_read cuMemFreeAsync cuMemFreeAsync_trim \
        cuMemFree_of_pool cuMemPoolDestroy cuIpcCloseMemHandle cuMemFree_of_external cuDestroyExternalMemory \
        cuGraphicsUnmapResources cuGraphicsUnregisterResource unmap_and_unregister; do
        for work in own peer_kernel peer_copy; do one "$call" "$work"; done
    done
    for call in cuMemFree_of_target cuMemFree_elsewhere cuCtxSynchronize 'cuStreamSynchronize(NULL)' cuMemAlloc cuMemcpyDtoH \
        cuMemcpyDtoD; do
        one "$call" peer_copy
    done
    for work in dtod_copy push_copy; do one cuMemFree "$work"; one cuMemFree_of_target "$work"; done
    for call in cuMemFreeHost cuMemHostUnregister; do
        for work in own peer_kernel host_copy; do one "$call" "$work"; done
    done
    for call in cuArrayDestroy cuMipmappedArrayDestroy; do
        for work in own peer_copy; do one "$call" "$work"; done
    done
    for call in beside_capture_free beside_capture_wait; do
        for work in own copies_to_host; do one "$call" "$work"; done
    done
    for call in cuModuleUnload cuLibraryUnload cuMemFree_of_managed; do
        for work in own peer_kernel; do one "$call" "$work"; done
    done
    for call in cuCtxDisablePeerAccess cuCtxDestroy cuDevicePrimaryCtxRelease; do
        for work in peer_kernel peer_copy; do one "$call" "$work"; done
    done
    for copy in peer dtod any rows unified; do
        for by in by_source by_target; do
            one "copy_$copy" "$by"
            [[ $copy == dtod || $copy == any || $copy == unified ]] || one "copy_${copy}_without" "$by"
        done
    done
    for copy in peer dtod; do
        for by in by_source by_target; do
            for after in free_source free_target null_of_source null_of_target context_of_source context_of_target \
                event_of_source event_of_target; do
                one "sync_${copy}_$by" "$after"
            done
        done
    done
    for update in update_params update_enabled update_whole update_params_disabled update_whole_disabled update_params_body \
        update_enabled_body update_whole_body update_removed; do
        one "$update" own
    done
    one release_in_callback own
} 2>&1 | tee "$out/waits.txt"
