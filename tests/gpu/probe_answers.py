"""What the driver answers to calls that clients were seen to count on; probes.py says how probes work."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

import driver
from driver import call, check, new_stream
from probes import attempt, fact, probe

MIB = 1 << 20
COUNT = """.version 7.7
.target sm_75
.address_size 64
.visible .global .attribute(.managed) .align 8 .u64 managed;
.visible .global .align 8 .u64 plain;
.extern .shared .align 4 .b8 dynamic[];
// Adds one.
.visible .entry count(.param .u64 counter) {
    .reg .b64 %c; .reg .b32 %n;
    ld.param.u64 %c, [counter]; ld.global.u32 %n, [%c]; add.u32 %n, %n, 1; st.global.u32 [%c], %n; ret;
}
.visible .entry shared(.param .u64 counter) {
    .reg .b64 %c; .reg .b32 %n;
    ld.param.u64 %c, [counter]; st.shared.u32 [dynamic], 1; ld.shared.u32 %n, [dynamic]; st.global.u32 [%c], %n; ret;
}
"""


class KernelParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2."""
    _fields_ = [("function", c_void_p), ("dims", c_uint * 6), ("shared", c_uint), ("arguments", c_void_p),
                ("extra", c_void_p), ("kernel", c_void_p), ("context", c_void_p)]


class Location(ctypes.Structure):
    """CUmemLocation."""
    _fields_ = [("type", c_int), ("id", c_int)]


class PoolProperties(ctypes.Structure):
    """CUmemPoolProps."""
    _fields_ = [("type", c_int), ("handles", c_int), ("location", Location), ("security", c_void_p),
                ("size", c_size_t), ("rest", ctypes.c_ubyte * 56)]


def number(pointer):
    return int.from_bytes(driver.download(pointer, 4), "little")


def new_library(image=COUNT):
    library = c_void_p()
    check("cuLibraryLoadData", byref(library), image.encode(), None, None, 0, None, None, 0)
    return library


def kernel_of(library, name):
    kernel = c_void_p()
    check("cuLibraryGetKernel", byref(kernel), library, name)
    return kernel


@probe
def error_texts():
    """Names and texts of all codes; before initialization, as clients ask for them."""
    unknown = set()
    for code in range(1001):
        name, text = c_char_p(b"untouched"), c_char_p(b"untouched")
        answers = (call("cuGetErrorName", code, byref(name)), call("cuGetErrorString", code, byref(text)))
        texts = [value.decode() if value is not None else None for value in (name.value, text.value)]
        if any(answers):
            unknown.add((*answers, *texts))
        else:
            fact(f"{code}", texts)
    fact("codes that it does not know", sorted(unknown, key=str))


# Handles of kernels


def node_parameters(arguments, **fields):
    params = KernelParams(arguments=ctypes.cast(arguments, c_void_p), **fields)
    params.dims[:] = [1] * 6
    return params


@probe
def kernels_in_graphs():
    """A node of a graph from the handle of a kernel that belongs to no context."""
    _, context = driver.start()
    library, stream = new_library(), new_stream()
    kernel, function = kernel_of(library, b"count"), c_void_p()
    check("cuKernelGetFunction", byref(function), kernel)
    counter = driver.upload(bytes(4))
    value = c_uint64(counter)
    arguments = (c_void_p * 1)(ctypes.addressof(value))
    for label, fields in {
        "kernel": {"kernel": kernel.value}, "function": {"function": function.value},
        "kernel and context": {"kernel": kernel.value, "context": context.value},
        "function and context": {"function": function.value, "context": context.value},
        "both": {"function": function.value, "kernel": kernel.value},
        "kernel as function": {"function": kernel.value}, "function as kernel": {"kernel": function.value},
        "neither": {}, "context alone": {"context": context.value},
    }.items():
        graph, node, executable = c_void_p(), c_void_p(), c_void_p()
        check("cuGraphCreate", byref(graph), 0)
        params = node_parameters(arguments, **fields)
        if attempt(f"cuGraphAddKernelNode_v2 {label}", byref(node), graph, None, c_size_t(0), byref(params)):
            continue
        back = KernelParams()
        attempt(f"cuGraphKernelNodeGetParams_v2 {label}", node, byref(back))
        names = {function.value: "function", kernel.value: "kernel", context.value: "context", None: None}
        fact(f"parameters {label}", [names.get(at, "other") for at in (back.function, back.kernel, back.context)])
        attempt(f"cuGraphKernelNodeSetParams_v2 {label}", node, byref(params))
        attempt(f"cuGraphInstantiateWithFlags {label}", byref(executable), graph, c_uint64(0))
        attempt(f"cuGraphExecKernelNodeSetParams_v2 {label}", executable, node, byref(params))
        before = number(counter)
        attempt(f"cuGraphLaunch {label}", executable, stream)
        attempt(f"cuStreamSynchronize {label}", stream)
        fact(f"counted {label}", number(counter) - before)


@probe
def kernel_attributes():
    """What kernel, function and the module's function say of dynamic shared memory and the carve-out."""
    device, _ = driver.start()
    counter, stream = driver.upload(bytes(4)), new_stream()

    def survey(label, handles):
        answers = {}
        for name, handle in handles.items():
            for attribute in (8, 9):
                value = c_int()
                if name == "kernel":
                    code = call("cuKernelGetAttribute", byref(value), attribute, handle, device)
                else:
                    code = call("cuFuncGetAttribute", byref(value), attribute, handle)
                answers[f"{name} {attribute}"] = value.value if code == 0 else f"code {code}"
        fact(f"attributes {label}", answers)
        for name, handle in handles.items():
            for size in (49152, 65536):
                code = driver.launch_code(
                    handle, (1, 1, 1), (1, 1, 1), [counter.to_bytes(8, "little")], size, stream)
                fact(f"launch of the {name} with {size} {label}", code)
        check("cuCtxSynchronize")

    for order in ("function first", "kernel first"):
        library = new_library()
        kernel, function, module, twin = kernel_of(library, b"shared"), c_void_p(), c_void_p(), c_void_p()
        if order == "kernel first":
            attempt(f"cuKernelSetAttribute 8 before, {order}", 8, 65536, kernel, device)
        check("cuKernelGetFunction", byref(function), kernel)
        check("cuLibraryGetModule", byref(module), library)
        check("cuModuleGetFunction", byref(twin), module, b"shared")
        fact(f"the module's function is the kernel's, {order}", twin.value == function.value)
        handles = {"kernel": kernel, "function": function}
        survey(f"at first, {order}", handles)
        attempt(f"cuKernelSetAttribute 8 to 65536, {order}", 8, 65536, kernel, device)
        attempt(f"cuKernelSetAttribute 9 to 50, {order}", 9, 50, kernel, device)
        survey(f"after the kernel's were set, {order}", handles)
        attempt(f"cuFuncSetAttribute 8 to 50000, {order}", function, 8, 50000)
        attempt(f"cuFuncSetAttribute 9 to 20, {order}", function, 9, 20)
        survey(f"after the function's were set, {order}", handles)
        attempt(f"cuKernelSetAttribute 8 to 1024, {order}", 8, 1024, kernel, device)
        survey(f"after the kernel's were set again, {order}", handles)
        attempt(f"cuKernelSetAttribute 8 too much, {order}", 8, 1 << 20, kernel, device)
        attempt(f"cuKernelSetAttribute 0, {order}", 0, 1, kernel, device)
        attempt(f"cuFuncSetAttribute 8 of the kernel to 2048, {order}", kernel, 8, 2048)
        survey(f"after it was set through a cast, {order}", handles)
    out, size = c_uint64(), c_size_t()
    for name, arguments in {
        "cuFuncGetAttribute": (byref(out), 0, kernel), "cuFuncSetCacheConfig": (kernel, 0),
        "cuFuncGetModule": (byref(out), kernel), "cuFuncGetName": (byref(out), kernel),
        "cuFuncGetParamInfo": (kernel, c_size_t(0), byref(size), byref(size)),
        "cuFuncGetParamCount": (kernel, byref(size)), "cuFuncIsLoaded": (byref(out), kernel),
        "cuFuncLoad": (kernel,),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor": (byref(out), kernel, 32, c_size_t(0)),
        "cuOccupancyAvailableDynamicSMemPerBlock": (byref(size), kernel, 1, 32),
    }.items():
        attempt(f"{name} of the kernel", *arguments)


@probe
def library_globals():
    """Variables of a library, with and without a context."""
    check("cuInit", 0)
    device, context, active, flags = c_int(), c_void_p(), c_int(), c_uint()
    check("cuDeviceGet", byref(device), 0)
    library, out, size = c_void_p(), c_uint64(), c_size_t()
    attempt("cuLibraryLoadData no context", byref(library), COUNT.encode(), None, None, 0, None, None, 0)
    first = None
    for label in ("no context", "primary context", "second context", "no context again"):
        if label == "primary context":
            check("cuDevicePrimaryCtxRetain", byref(context), device)
            check("cuCtxSetCurrent", context)
        elif label == "second context":
            check("cuCtxCreate_v2", byref(context), 0, device)
        elif label == "no context again":
            check("cuCtxSetCurrent", None)
        for name in ("managed", "plain", "absent"):
            out.value, size.value = 0, 0
            attempt(f"cuLibraryGetManaged {name}, {label}", byref(out), byref(size), library, name.encode())
            fact(f"size of {name}, {label}", size.value)
            if name == "managed" and out.value:
                first = first or out.value
                fact(f"managed is where it was first, {label}", out.value == first)
            attempt(f"cuLibraryGetGlobal {name}, {label}", byref(out), byref(size), library, name.encode())
        attempt(f"cuLibraryGetManaged size alone, {label}", None, byref(size), library, b"managed")
        attempt(f"cuLibraryGetModule {label}", byref(out), library)
        attempt(f"cuKernelGetFunction {label}", byref(out), kernel_of(library, b"count"))
        check("cuDevicePrimaryCtxGetState", device, byref(flags), byref(active))
        fact(f"primary context active, {label}", active.value)


def heavy(registers=100):
    """A kernel that needs many registers, since all its sums are alive at once."""
    names = [f"%f{at}" for at in range(registers)]
    loads = "".join(f"ld.volatile.global.f32 {name}, [%a+{4 * at}];\n" for at, name in enumerate(names))
    stores = "".join(
        f"fma.rn.f32 {name}, {name}, {names[at - 1]}, {names[at - 7]};\nst.volatile.global.f32 [%a+{4 * at}], {name};\n"
        for at, name in enumerate(names))
    return (".version 7.7\n.target sm_75\n.address_size 64\n.visible .entry heavy(.param .u64 a) {\n.reg .b64 %a;\n"
            f".reg .f32 %f<{registers}>;\nld.param.u64 %a, [a];\n{loads}{stores}ret;\n}}\n"
            ".visible .entry light() { ret; }\n")


@probe
def registers():
    """The options of the compiler that limit registers, and what the function then says."""
    driver.start()
    image, out, value = heavy().encode(), c_void_p(), c_int()

    def attributes(module, name):
        handle, found = driver.function(module, name), []
        for attribute in (4, 3):
            check("cuFuncGetAttribute", byref(value), attribute, handle)
            found.append(value.value)
        return found

    free = attributes(driver.load(heavy()), "heavy")
    fact("heavy needs more than 64 registers", free[0] > 64)
    fact("heavy spills nothing", free[1] == 0)
    for most in (0, 1, 8, 15, 16, 17, 24, 31, 32, 33, 40, 64, 255, 256, 1000):
        options, values = (c_int * 1)(0), (c_void_p * 1)(most)
        code = attempt(f"cuModuleLoadDataEx at most {most}", byref(out), image, 1, options, values)
        if code == 0:
            used, local = attributes(out, "heavy")
            light = attributes(out, "light")[0]
            fact(f"at most {most}", {"kept": used <= most, "as without": used == free[0], "spills": local > 0,
                                     "registers": used if used == most else None,
                                     "light kept": light <= most})
    for threads in (32, 128, 256, 512, 1024):
        options, values = (c_int * 1)(1), (c_void_p * 1)(threads)
        code = attempt(f"cuModuleLoadDataEx {threads} threads per block", byref(out), image, 1, options, values)
        used, local = attributes(out, "heavy")
        fact(f"{threads} threads per block", {"fits": used * threads <= 65536, "spills": local > 0,
                                              "as without": used == free[0], "written back": values[0]})


# The primary context


@probe
def primary_handle():
    """The primary context across resets and releases."""
    check("cuInit", 0)
    device, flags, active = c_int(), c_uint(), c_int()
    check("cuDeviceGet", byref(device), 0)
    first, out, identity = c_void_p(), c_void_p(), c_uint64()

    def state(label):
        check("cuDevicePrimaryCtxGetState", device, byref(flags), byref(active))
        attempt(f"cuCtxGetCurrent {label}", byref(out))
        current = {first.value: "first", None: None}.get(out.value, "another")
        attempt(f"cuCtxGetId {label}", first, byref(identity))
        attempt(f"cuCtxGetDevice {label}", byref(c_int()))
        attempt(f"cuCtxSynchronize {label}")
        attempt(f"cuMemAlloc_v2 {label}", byref(c_uint64()), 64)
        fact(f"state {label}", {"active": active.value, "current": current})

    check("cuDevicePrimaryCtxRetain", byref(first), device)
    attempt("cuCtxSetCurrent", first)
    check("cuCtxGetId", first, byref(identity))
    before = identity.value
    memory = driver.allocate(64)
    state("at first")
    attempt("cuDevicePrimaryCtxReset_v2", device)
    state("after the reset")
    attempt("cuMemFree_v2 of before the reset", memory)
    attempt("cuCtxSetCurrent after the reset", first)
    attempt("cuDevicePrimaryCtxRetain after the reset", byref(out), device)
    fact("the handle stays after a reset", out.value == first.value)
    attempt("cuCtxGetId again", first, byref(identity))
    fact("the id stays after a reset", identity.value == before)
    state("after the reset and a retain")
    attempt("cuCtxSetCurrent after the retain", out)
    attempt("cuMemFree_v2 of before the reset, later", memory)
    for times in (1, 2, 3):
        attempt(f"cuDevicePrimaryCtxRelease_v2 {times}", device)
    state("after the releases")
    attempt("cuCtxSetCurrent after the releases", first)
    attempt("cuCtxPushCurrent_v2 after the releases", first)
    attempt("cuDevicePrimaryCtxRetain after the releases", byref(out), device)
    fact("the handle stays after the releases", out.value == first.value)
    state("after the releases and a retain")
    attempt("cuCtxGetId once more", first, byref(identity))
    fact("the id stays after the releases", identity.value == before)


# Memory


@probe
def alignment():
    """Which powers of two divide all addresses of some allocations of a size, with small ones between them."""
    driver.start()
    stream = new_stream()

    def pitched(out, size):
        return call("cuMemAllocPitch_v2", byref(out), byref(c_size_t()), 4096, size // 4096 or 1, 4)

    makers = {
        "cuMemAlloc_v2": lambda out, size: call("cuMemAlloc_v2", byref(out), size),
        "cuMemAllocPitch_v2": pitched,
        "cuMemAllocManaged": lambda out, size: call("cuMemAllocManaged", byref(out), size, 1),
        "cuMemAllocHost_v2": lambda out, size: call("cuMemAllocHost_v2", byref(out), size),
        "cuMemAllocAsync": lambda out, size: call("cuMemAllocAsync", byref(out), size, stream),
    }
    for name, make in makers.items():
        for size in (1, 600, 5000, 65536, 100_000, 512 << 10, MIB - 512, MIB - 1, MIB, MIB + 1, 3 * MIB // 2, 2 * MIB,
                     3 * MIB):
            addresses = []
            for _ in range(5):
                out = c_uint64()
                make(c_uint64(), 1)
                code = make(out, size)
                addresses.append(out.value)
            divides = [power for power in (512, 4096, 65536, 2 * MIB) if all(at % power == 0 for at in addresses)]
            fact(f"{name} {size}", [code, max(divides, default=0)])


@probe
def pools_by_location():
    """Default and current pools of devices, hosts and managed memory."""
    device, _ = driver.start()
    own, out, stream = c_void_p(), c_void_p(), new_stream()
    check("cuDeviceGetDefaultMemPool", byref(own), device)
    if not hasattr(driver.cuda, "cuMemGetMemPool"):
        return fact("cuMemGetMemPool", "absent")
    pools = {own.value: "the device's", None: None}
    for kind in range(6):
        for identity in (0, 1, -1):
            for memory in range(4):
                location = Location(kind, identity)
                for name in ("cuMemGetDefaultMemPool", "cuMemGetMemPool"):
                    out.value = None
                    code = call(name, byref(out), byref(location), memory)
                    known = pools.setdefault(out.value, f"location {kind} {identity} of memory {memory}")
                    fact(f"{name} location {kind} {identity} memory {memory}", [code, known])
    for handle, name in pools.items():
        if handle is None:
            continue
        memory, word = c_uint64(), c_uint()
        if attempt(f"cuMemAllocFromPoolAsync {name}", byref(memory), c_size_t(4096), c_void_p(handle), stream) == 0:
            check("cuStreamSynchronize", stream)
            answers = []
            for attribute in (2, 8, 9):
                code = call("cuPointerGetAttribute", byref(word), attribute, memory.value)
                answers.append([code, word.value])
            fact(f"memory type, managed, ordinal of {name}", answers)
            attempt(f"cuMemFreeAsync {name}", memory.value, stream)
        attempt(f"cuMemPoolDestroy {name}", c_void_p(handle))
    for kind, identity, memory in ((1, 0, 1), (2, 0, 1), (3, 0, 1), (1, 0, 2), (2, 0, 2), (0, 0, 2), (0, 0, 1)):
        properties = PoolProperties(memory, 0, Location(kind, identity))
        out.value = None
        label = f"location {kind} {identity} memory {memory}"
        if attempt(f"cuMemPoolCreate {label}", byref(out), byref(properties)) == 0:
            location = Location(kind, identity)
            attempt(f"cuMemSetMemPool {label}", byref(location), memory, out)
            attempt(f"cuMemPoolDestroy {label}", out)
