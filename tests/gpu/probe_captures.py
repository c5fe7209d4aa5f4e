"""Which error comes first while streams capture: the capture's or the arguments', and what the call makes of the capture."""

from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

import driver
from captured_calls import CALLS, IN_JOINED, LAST, RELAXED, World
from driver import call, check, new_stream
from probes import fact, family, probe

GLOBAL = 0

# How the capturing stream is made, in which mode it captures, which stream the call names, and whether a mistake has ended
# the capture before.
STATES = {
    "own": (1, RELAXED, "own", False),
    "own_ended": (1, RELAXED, "own", True),
    "own_global": (1, GLOBAL, "own", False),
    "legacy": (0, RELAXED, "legacy", False),
    "other_global": (1, GLOBAL, "other", False),
    "other_blocking": (0, RELAXED, "other", False),
}


@family(STATES)
def captured_call(state):
    """A fact says the call's code, what became of the capture (1 is active, 2 invalid), and the code of its end."""
    driver.start()
    flags, mode, named, is_ended = STATES[state]
    status, graph, worlds = c_int(), c_void_p(), []
    for label, act in (CALLS | (IN_JOINED if state == "own" else {}) | LAST).items():
        world, capturing = World(), new_stream(flags)
        # Kept, so that no later one has the same addresses.
        worlds.append(world)
        stream = {"own": capturing, "legacy": None, "other": new_stream(1)}[named]
        check("cuStreamBeginCapture_v2", capturing, mode)
        if is_ended:
            call("cuStreamQuery", capturing)
        world.capturing = capturing
        code = act(world, stream)
        if code == 0 and label == "cuStreamDestroy_v2" and stream is capturing:
            fact(label, code)
            continue
        check("cuStreamIsCapturing", capturing, byref(status))
        fact(label, f"{code} {status.value} {call('cuStreamEndCapture', capturing, byref(graph))}")
        if code == 0 and label in ("cuStreamBeginCapture_v2", "cuStreamBeginCaptureToGraph"):
            call("cuStreamEndCapture", stream, byref(graph))


@probe
def copies_between_contexts_of_which_one_captures():
    """The other context captures, in a stream that synchronizes with its legacy stream or not."""
    driver.start()
    contexts, memory = [c_void_p(), c_void_p()], []
    for context in contexts:
        check("cuCtxCreate_v2", byref(context), 0, 0)
        memory.append(c_uint64(driver.allocate(4096)))
    for flags in (0, 1):
        check("cuCtxSetCurrent", contexts[1])
        capturing, status, graph = new_stream(flags), c_int(), c_void_p()
        for to, of in ((0, 1), (1, 0), (0, 0)):
            check("cuCtxSetCurrent", contexts[1])
            check("cuStreamBeginCapture_v2", capturing, RELAXED)
            check("cuCtxSetCurrent", contexts[0])
            code = call("cuMemcpyPeer", memory[to], contexts[to], memory[of], contexts[of], c_size_t(16))
            check("cuStreamIsCapturing", capturing, byref(status))
            end = call("cuStreamEndCapture", capturing, byref(graph))
            fact(f"cuMemcpyPeer {of} to {to}, flags {flags}", f"{code} {status.value} {end}")
