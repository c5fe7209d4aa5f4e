"""What the driver answers about graphs: flags, memory that graphs allocate, ends of captures."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

import driver
from driver import check
from probe_answers import COUNT, new_stream, node_parameters
from probes import attempt, fact, family, probe


@probe
def graph_flags():
    """Which flags go together, of graphs with nodes of several kinds."""
    _, context = driver.start()
    module = driver.load(COUNT)
    function, counter = driver.function(module, "count"), driver.upload(bytes(4))
    value, stream = c_uint64(counter), new_stream()
    arguments = (c_void_p * 1)(ctypes.addressof(value))
    host = ctypes.CFUNCTYPE(None, c_void_p)(lambda _: None)
    host_params = (c_void_p * 2)(ctypes.cast(host, c_void_p), None)
    params, out = node_parameters(arguments, function=function.value), c_uint64()
    kinds = ("kernel", "empty", "host", "no_nodes", "allocation")
    for kind in kinds:
        graph, node, executable = c_void_p(), c_void_p(), c_void_p()
        if kind == "allocation":
            check("cuStreamBeginCapture_v2", stream, 2)
            check("cuMemAllocAsync", byref(out), 4096, stream)
            check("cuMemFreeAsync", out.value, stream)
            check("cuStreamEndCapture", stream, byref(graph))
        else:
            check("cuGraphCreate", byref(graph), 0)
        if kind == "kernel":
            check("cuGraphAddKernelNode_v2", byref(node), graph, None, c_size_t(0), byref(params))
        elif kind == "empty":
            check("cuGraphAddEmptyNode", byref(node), graph, None, c_size_t(0))
        elif kind == "host":
            check("cuGraphAddHostNode", byref(node), graph, None, c_size_t(0), host_params)
        for flags in range(17):
            code = attempt(f"cuGraphInstantiateWithFlags {kind} {flags}", byref(executable), graph, c_uint64(flags))
            if code == 0:
                back = c_uint64()
                attempt(f"cuGraphExecGetFlags {kind} {flags}", executable, byref(back))
                fact(f"flags {kind} {flags}", back.value)
                attempt(f"cuGraphLaunch {kind} {flags}", executable, stream)
                check("cuStreamSynchronize", stream)
                attempt(f"cuGraphExecDestroy {kind} {flags}", executable)


def allocating_graph(stream, size=4096):
    """A graph that allocates memory, fills it and leaves it."""
    graph, memory = c_void_p(), c_uint64()
    check("cuStreamBeginCapture_v2", stream, 2)
    check("cuMemAllocAsync", byref(memory), size, stream)
    check("cuMemsetD8Async", memory.value, 7, size, stream)
    check("cuStreamEndCapture", stream, byref(graph))
    return graph, memory.value


@family(["cuMemFree_v2", "cuMemFreeAsync", "not_freed", "auto_free", "other_graph"])
def graph_allocation(how):
    """Memory of an allocation node, and how it is freed before the graph is launched again."""
    driver.start()
    stream, executable = new_stream(), c_void_p()
    graph, memory = allocating_graph(stream)
    flags = 1 if how == "auto_free" else 0
    check("cuGraphInstantiateWithFlags", byref(executable), graph, c_uint64(flags))
    free_graph, free_executable = c_void_p(), c_void_p()
    if how == "other_graph":
        check("cuStreamBeginCapture_v2", stream, 2)
        check("cuMemFreeAsync", memory, stream)
        check("cuStreamEndCapture", stream, byref(free_graph))
        check("cuGraphInstantiateWithFlags", byref(free_executable), free_graph, c_uint64(0))
    attempt("cuMemFree_v2 before the first launch", memory)
    used = c_uint64()

    def note_used(label):
        check("cuDeviceGetGraphMemAttribute", 0, 0, byref(used))
        fact(f"memory of graphs is in use {label}", used.value > 0)

    note_used("before the first launch")
    for turn in (1, 2, 3):
        attempt(f"cuGraphLaunch {turn}", executable, stream)
        attempt(f"cuStreamSynchronize {turn}", stream)
        back = ctypes.create_string_buffer(16)
        attempt(f"cuMemcpyDtoH_v2 {turn}", back, memory, 16)
        fact(f"content {turn}", back.raw == b"\7" * 16)
        note_used(f"after launch {turn}")
        if how == "cuMemFree_v2":
            attempt(f"cuMemFree_v2 {turn}", memory)
            attempt(f"cuMemFree_v2 again {turn}", memory)
        elif how == "cuMemFreeAsync":
            attempt(f"cuMemFreeAsync {turn}", memory, stream)
        elif how == "other_graph":
            attempt(f"cuGraphLaunch free {turn}", free_executable, stream)
        attempt(f"cuStreamSynchronize after the free {turn}", stream)
        note_used(f"after the free {turn}")
        if how != "cuMemFree_v2":
            attempt(f"cuMemcpyDtoH_v2 after the free {turn}", back, memory, 16)
    attempt("cuGraphExecDestroy", executable)
    attempt("cuGraphDestroy", graph)
    attempt("cuCtxSynchronize")
    note_used("after all")
    attempt("cuMemcpyDtoH_v2 after all", ctypes.create_string_buffer(16), memory, 16)


@probe
def end_of_capture():
    """The end of a capture without a place for the graph."""
    driver.start()
    stream, graph, status = new_stream(), c_void_p(), c_int()
    memory = driver.allocate(64)
    for kind in ("to a graph", "plain"):
        if kind == "to a graph":
            check("cuGraphCreate", byref(graph), 0)
            check("cuStreamBeginCaptureToGraph", stream, graph, None, None, c_size_t(0), 2)
        else:
            check("cuStreamBeginCapture_v2", stream, 2)
        check("cuMemsetD8Async", memory, 1, 64, stream)
        attempt(f"cuStreamEndCapture null {kind}", stream, None)
        attempt(f"cuStreamIsCapturing {kind}", stream, byref(status))
        fact(f"status {kind}", status.value)
        if status.value:
            attempt(f"cuStreamEndCapture {kind}", stream, byref(c_void_p()))
        if kind == "to a graph":
            nodes = c_size_t()
            attempt("cuGraphGetNodes", graph, None, byref(nodes))
            fact("nodes", nodes.value)
