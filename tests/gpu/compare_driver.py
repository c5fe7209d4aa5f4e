"""Compares two records of probe_driver.py: what a real driver answers, and what the emulator answers.

    python3 tests/gpu/compare_driver.py RECORDED.json MEASURED.json

Prints every difference that is not intended, and every intended one that is no longer there; fails if there is any.
"""

import collections
import fnmatch
import json
import pathlib
import sys

Intended = collections.namedtuple("Intended", "probe label answers reason by_machine", defaults=[False])
ANY = None

# Probe and label may be patterns; answers are those that the emulator may give. What depends on the machine that the
# emulator runs on may also agree.
CONTAINED = "on hardware a fault ends CUDA for the whole process, here for its context"
WRONG_OBJECT = "hardware reads on with the wrong object or what is left of one; here the kernel is stopped"
ABORTS = "hardware takes a destroyed context and then aborts the process; the emulator refuses it"
EARLY = "returns before the kernel ends"
IMPLICIT = "hardware waits for the device, which nothing promises"
ANY_BLOCK = "the estimate of registers lets blocks of any size run without the option"
LUCK = "a greater one by luck of what lies before"
NEWER = "a code of CUDA 13.1 or later"
# Attributes that hardware has and the emulator does not; emulator/README.md explains them.
DIRECT = "no other device reads or writes memory of the emulator"
MISSING = {
    32: "memory without errors",
    34: "a place of its own on the bus",
    96: "deprecated since CUDA 11.3",
    107: "no compressed memory",
    108: "no cache",
    **dict.fromkeys((110, 116, 117, 118, 124), DIRECT),
    112: "sparse arrays are not supported",
    121: "arrays without memory are not supported",
    128: "no machine beside this one",
    129: "no functions for host and device at once",
    139: "no vendor",
    140: "no vendor",
}
INTENDED = [
    Intended("recover_by_*", "cuDevicePrimaryCtxRetain", [0], CONTAINED),
    Intended("recover_by_primary_reset.*", "primary retained and set again", [0], CONTAINED),
    Intended("recover_by_primary_release.*", "primary after release and retain", [0], CONTAINED),
    Intended("recover_by_new_context.*", "*bystander*", [0], CONTAINED),
    Intended("recover_by_new_context.*", "cuCtxCreate_v2 *", [0], CONTAINED),
    Intended("recover_by_new_context.*", "new context *", [0], CONTAINED),
    Intended("dead.context_set_current", "cuCtxSetCurrent", [709], ABORTS),
    Intended("dead.context_push", "cuCtxPushCurrent_v2", [709], ABORTS),
    Intended("dead.context_*", "cuCtxSynchronize*", [0], ABORTS),
    Intended("dead.stream_launch", "cuLaunchKernel", [400], "an invalid handle, as in calls in which hardware crashes"),
    Intended("launch_arguments.extra_short", "cuLaunchKernel", [1], "hardware reads beyond the client's buffer"),
    Intended("launch_limits", "cuLaunchCooperativeKernel 100 blocks", [720], "fewer multiprocessors", True),
    Intended("registered_page.*", "*", [700, "no answer"], "hardware maps whole pages, of which a program may use its part"),
    Intended("memory_limits", "cuMemAlloc_v2 total bytes", [0], "a context takes no device memory", True),
    Intended("memory_limits", "distances of allocations *", ANY, "pages in hardware, guard space here"),
    Intended("memory_limits", "alignment of each", ANY, "pages in hardware, guard space here"),
    Intended("memory_limits", "cuPointerGetAttribute 5 *", ANY, "no tokens for other devices on the bus"),
    Intended("memory_limits", "cuPointerGetAttribute 15 *", ANY, "no other devices on the bus"),
    Intended("memory_limits", "cuPointerGetAttribute 18 *", ANY, "a mapping is as long as its allocation"),
    Intended("current_none_after_pop", "current after destroy", ANY, "the address of a context"),
    *(Intended("attributes", f"attribute {number}", [0], reason) for number, reason in MISSING.items()),
    Intended("attributes", "short name", ["Sof"], "another device"),
    Intended("modules", "load elf magic and garbage", [209], "machine code is refused before it is read"),
    Intended("captured_call.own*", "cuMemset* nowhere", ["1 1 0"], "hardware looks at addresses when the graph runs"),
    Intended("captured_call.own*", "cuStream*Value32_v2 nowhere", ["1 1 0"], "hardware looks at addresses when the graph runs"),
    Intended("registers", "heavy needs more than 64 registers", [False], ANY_BLOCK),
    Intended("registers", "1024 threads per block", ANY, ANY_BLOCK),
    Intended("registers", "at most 64", ANY, ANY_BLOCK),
    Intended("link.internal kernels of one name", "*", [0, 5], "hardware mixes the kernels and cannot run them"),
    Intended("link.wrong PTX and a missing function", "cuLinkComplete", [300], "an unknown error on hardware"),
    Intended("link.target too new", "cuLinkComplete", [300], "an unknown error on hardware"),
    Intended("capture_edges", "cuStreamIsCapturing destroyed", [400], "as other calls with a destroyed stream, in which hardware crashes"),
    Intended("forked_child", "* in the child", [3], "hardware crashes in the child"),
    Intended("array_shapes", "*format bc1*", ANY, "compressed formats are not supported"),
    Intended("array_shapes", "*sparse*", ANY, "sparse arrays are not supported"),
    Intended("array_shapes", "*deferred*", ANY, "arrays without memory are not supported"),
    Intended("array_shapes", "*far too large*", ANY, "less memory", True),
    Intended("texture_widths", "cuDeviceGetTexture1DLinearMaxWidth 176 3", [[801, 0]], "no formats of video"),
    Intended("texture_descriptions", "*: resource", ANY, "hardware leaves what does not count as it was"),
    Intended("texture_descriptions", "*: sampling", ANY, "hardware does not write the border color"),
    Intended("object_kernel.*_of_0", "*", [700, "no answer"], WRONG_OBJECT),
    Intended("object_kernel.*_destroyed", "*", [700, "no answer"], WRONG_OBJECT),
    Intended("object_kernel.tex_of_surface", "*", [700, "no answer"], WRONG_OBJECT),
    Intended("object_kernel.suld_of_texture", "*", [700, "no answer"], WRONG_OBJECT),
    Intended("object_kernel.suld_?d_of_plane", "result", ANY, "axes that are not seen are at zero here"),
    Intended("object_kernel.istypep_*", "result", [1, 4], "hardware knows no kind; PTX documents these answers"),
    Intended("texture_references", "*", [218, 801], "texture references are refused"),
    Intended("objects_beside_a_kernel.*", "cuModuleLoadData", [[0, EARLY, 0]], IMPLICIT),
    Intended("objects_beside_a_kernel.*", "cuCtxSetLimit stack", [[0, EARLY, 0]], IMPLICIT),
    Intended("reads_that_nothing_orders", "cuMemcpyHtoD_v2 pageable*", [[0, False, "new", False, 0]], "by timing", True),
    Intended("kernel_attributes", "cuFuncGetParamCount of the kernel", [400], "a function of CUDA 13.1 or later"),
    Intended("graph_allocation.*", "memory of graphs is in use after all", [False], "nothing is kept for later graphs"),
    Intended("fresh_memory", "*", ["what was there"], "nothing promises the zeros of pages that were free as a whole"),
    Intended("primary_handle", "cuMemFree_v2 of before the reset, later", [1], "freed addresses are not given again"),
    *(Intended("error_texts", code, ANY, NEWER) for code in ("47", "227", "917", "918", "919")),
    Intended("alignment", "cuMemAlloc_v2 *", [[0, 512]], LUCK),
    Intended("alignment", "cuMemAllocPitch_v2 *", [[0, 512], [0, 4096]], LUCK),
    Intended("alignment", "cuMemAllocManaged *", [[0, 4096]], "host pages of its own"),
    Intended("alignment", "cuMemAllocHost_v2 *", [[0, 4096]], "host pages of its own"),
]
# Labels whose content is a code and a log; the log's words differ.
WITH_LOG = "load "


def answer_of(label, content):
    if label.startswith(WITH_LOG) and isinstance(content, list):
        return content[0]
    return content


def differences(recorded, measured):
    for probe, theirs in recorded.items():
        if probe.startswith("provenance"):
            continue
        ours = measured.get(probe, {})
        crashed = str(theirs.get("ended", "")).startswith("exit status")
        for label in dict.fromkeys([*theirs, *ours]):
            if label == "standard error" or crashed and (label == "ended" or label not in theirs):
                continue
            pair = [answer_of(label, facts.get(label, "no answer")) for facts in (theirs, ours)]
            if (probe, label) == ("attributes", "cuDeviceGetAttribute"):
                yield from missing(probe, *pair)
                continue
            if pair[0] != pair[1]:
                yield probe, label, *pair


def missing(probe, theirs, ours):
    """The attributes that are zero on the emulator alone. Limits and sizes are another device's."""
    for number, value in theirs.items():
        if isinstance(value, int) and value != 0 and ours[number] == 0:
            yield probe, f"attribute {number}", value, ours[number]


def intention(probe, label, ours):
    for entry in INTENDED:
        if fnmatch.fnmatchcase(probe, entry.probe) and fnmatch.fnmatchcase(label, entry.label):
            if entry.answers is ANY or ours in entry.answers:
                return entry
    return None


def main(recorded_path, measured_path):
    recorded, measured = (json.loads(pathlib.Path(path).read_text()) for path in (recorded_path, measured_path))
    met, wrong = [], 0
    for probe, label, theirs, ours in differences(recorded, measured):
        entry = intention(probe, label, ours)
        met.append(entry)
        if entry is None:
            wrong += 1
            print(f"{probe}: {label}: {ours}, recorded {theirs}")
    for entry in INTENDED:
        if entry not in met and not entry.by_machine:
            wrong += 1
            print(f"{entry.probe}: {entry.label}: no longer differs; take it out of the list")
    facts = sum(len(answers) for probe, answers in recorded.items() if not probe.startswith("provenance"))
    print(f"{facts} recorded facts, {len(met)} differences, {wrong} of them not intended")
    return wrong == 0


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
