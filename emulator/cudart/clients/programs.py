"""Programs that use the runtime through ctypes, good ones and those of `examples/troubles`, each in a process of its own.

    LD_LIBRARY_PATH=... CUDART=libcudart.so.12 python3 programs.py        runs all, and looks at what each says
    ... python3 programs.py NAME                                          runs one
"""

import atexit
import ctypes
import os
import subprocess
import sys
import threading

from runtime import alloc, call, cudart, kernel, launch, name_of, to_device, to_host

N = 256
Floats, Ints = ctypes.c_float * N, ctypes.c_uint32 * N


def vector_add():
    a, b, out = Floats(*range(N)), Floats(*[2.0 * i for i in range(N)]), Floats()
    device = [alloc(ctypes.sizeof(a)) for _ in range(3)]
    to_device(device[0], a)
    to_device(device[1], b)
    launch(kernel("vector_add.ptx", "vector_add"), 1, N, *device, ctypes.c_uint32(N))
    to_host(out, device[2])
    assert list(out) == [3.0 * i for i in range(N)]
    for address in device:
        call("cudaFree", address)
    print("right")


def at_exit():
    """The interpreter ends in its own order: the context goes first, and what was made in it afterwards."""

    class Image:
        def __init__(self):
            self.address = alloc(1 << 20)

        def __del__(self):
            code = cudart.cudaFree(self.address)
            if code != 0:
                print("a clean-up operation failed:", name_of(code))

    atexit.register(lambda: cudart.cudaDeviceReset())
    global image
    image = Image()
    print("the work is done")


def left_alive():
    """Nothing is given back: memory, a stream with work, an event, a captured graph."""
    stream, event, graph, exec = (ctypes.c_void_p() for _ in range(4))
    memory = alloc(4096)
    call("cudaStreamCreate", ctypes.byref(stream))
    call("cudaEventCreate", ctypes.byref(event))
    call("cudaStreamBeginCapture", stream, 1)
    call("cudaMemsetAsync", memory, 1, ctypes.c_size_t(4096), stream)
    call("cudaStreamEndCapture", stream, ctypes.byref(graph))
    call("cudaGraphInstantiate", ctypes.byref(exec), graph, ctypes.c_ulonglong(0))
    call("cudaGraphLaunch", exec, stream)
    call("cudaEventRecord", event, stream)
    print("the work is done")


def out_of_bounds():
    data = alloc(N * 4)
    launch(kernel("bugs.ptx", "off_by_one"), 2, N, data, ctypes.c_uint32(N))
    code = cudart.cudaDeviceSynchronize()
    print("cudaDeviceSynchronize:", name_of(code))
    print("cudaMalloc:", name_of(cudart.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(16))))


def not_checked():
    """A launch that cannot be, of which the program does not look at the answer."""
    out = Ints()
    data = alloc(ctypes.sizeof(out))
    launch(kernel("vector_add.ptx", "vector_add"), 1, 4096, data, data, data, ctypes.c_uint32(N), check=False)
    print("last error:", name_of(cudart.cudaGetLastError()))
    print("last error:", name_of(cudart.cudaGetLastError()))


def device_memory():
    """Memory of the device, which the host follows the address of."""
    ctypes.c_float.from_address(alloc(64).value).value


def threads():
    """Threads that each use the device, with errors of their own."""
    wrong = []

    def work(number):
        host, back = Ints(*[number] * N), Ints()
        for _ in range(20):
            memory = alloc(ctypes.sizeof(host))
            to_device(memory, host)
            to_host(back, memory)
            call("cudaFree", memory)
            if list(back) != [number] * N:
                wrong.append(number)
        cudart.cudaSetDevice(100 + number)
        if name_of(cudart.cudaGetLastError()) != "cudaErrorInvalidDevice":
            wrong.append(number)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong and cudart.cudaGetLastError() == 0
    print("right")


def fork():
    """A child that was forked after the first call cannot use the device, and ends in peace."""
    memory = alloc(64)
    child = os.fork()
    if child == 0:
        code = cudart.cudaFree(memory)
        print("in the child:", name_of(code), flush=True)
        os._exit(0) if code else os._exit(1)
    _, status = os.waitpid(child, 0)
    call("cudaFree", memory)
    print("the child ends with", status)


def two_devices():
    """A thread for each device, and a copy from one to the other."""
    memory, wrong = {}, []

    def work(number):
        call("cudaSetDevice", number)
        device = ctypes.c_int(-1)
        call("cudaGetDevice", ctypes.byref(device))
        memory[number] = alloc(N * 4)
        to_device(memory[number], Ints(*[number + 5] * N))
        out = alloc(N * 4)
        launch(kernel("vector_add.ptx", "vector_add"), 1, N, out, out, out, ctypes.c_uint32(N))
        call("cudaDeviceSynchronize")
        if device.value != number:
            wrong.append(number)

    for number in range(2):
        worker = threading.Thread(target=work, args=(number,))
        worker.start()
        worker.join()
    back, attributes = Ints(), (ctypes.c_int * 22)()
    call("cudaMemcpyPeer", memory[1], 1, memory[0], 0, ctypes.c_size_t(N * 4))
    call("cudaSetDevice", 1)
    to_host(back, memory[1])
    call("cudaPointerGetAttributes", attributes, memory[1])
    call("cudaDeviceReset")

    def without_a_choice():
        device = ctypes.c_int(-1)
        call("cudaGetDevice", ctypes.byref(device))
        alloc(64)
        if device.value != 1:
            wrong.append("without a choice")

    call("cudaSetValidDevices", (ctypes.c_int * 2)(1, 0), 2)
    worker = threading.Thread(target=without_a_choice)
    worker.start()
    worker.join()
    call("cudaSetDevice", 0)
    to_host(back, memory[0])
    print("right" if not wrong and list(back) == [5] * N and attributes[1] == 1 else f"{wrong} {list(back)}")


def without_a_driver():
    count = ctypes.c_int(-1)
    code = cudart.cudaGetDeviceCount(ctypes.byref(count))
    version = ctypes.c_int(-1)
    call("cudaDriverGetVersion", ctypes.byref(version))
    print(name_of(code), count.value, version.value)
    print(cudart.cudaGetErrorString(code).decode())


def not_built():
    code = cudart.cudaGetExportTable(ctypes.byref(ctypes.c_void_p()), (ctypes.c_char * 16)())
    print(name_of(code), name_of(cudart.cudaGetLastError()))


def versions():
    version, device = ctypes.c_int(), ctypes.c_int()
    call("cudaRuntimeGetVersion", ctypes.byref(version))
    call("cudaDriverGetVersion", ctypes.byref(device))
    properties = ctypes.create_string_buffer(b"\xee" * 4096, 4096)
    call("cudaGetDeviceProperties", properties, 0)
    written = len(properties.raw.rstrip(b"\xee"))
    print(version.value // 1000, device.value >= 12000, properties.value.decode(), "properties:", written)


# Variables of the environment that a program needs.
ENVIRONMENT = {
    two_devices: {"CUPRUM_EMULATOR_DEVICES": "2"},
    without_a_driver: {"CUPRUM_DRIVER": "/nowhere/libcuda.so.1"},
}

# The plain name has the layout of CUDA 11 up to CUDA 12.
IS_12 = "so.12" in os.environ.get("CUDART", "")
VERSIONS = f"{12 if IS_12 else 13} True Software CUDA device properties: {728 if IS_12 else 1008}"
# CUDA 13 leaves the shape of a launch to the driver.
TOO_LARGE = "cudaErrorInvalidConfiguration" if IS_12 else "cudaErrorInvalidValue"

# Each program: how it ends, what it prints, and a part of what the device or the library says.
EXPECTED = {
    vector_add: (0, "right", ""),
    at_exit: (0, "the work is done\na clean-up operation failed: cudaErrorInvalidValue", ""),
    left_alive: (0, "the work is done", ""),
    out_of_bounds: (0, "cudaDeviceSynchronize: cudaErrorIllegalAddress\ncudaMalloc: cudaErrorIllegalAddress", "off_by_one"),
    not_checked: (0, f"last error: {TOO_LARGE}\nlast error: cudaSuccess", ""),
    device_memory: (-11, "", "the host read"),
    threads: (0, "right", ""),
    fork: (0, "in the child: cudaErrorInitializationError\nthe child ends with 0", ""),
    two_devices: (0, "right", ""),
    without_a_driver: (
        0,
        "cudaErrorInsufficientDriver 0 0\nthere is no CUDA driver, or it is older than 12.0",
        "",
    ),
    not_built: (0, "cudaErrorNotSupported cudaErrorNotSupported", "cudaGetExportTable is not built"),
    versions: (0, VERSIONS, ""),
}


def main():
    wrong = 0
    for program, (code, out, err) in EXPECTED.items():
        command = [sys.executable, __file__, program.__name__]
        environment = os.environ | ENVIRONMENT.get(program, {})
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
        if (done.returncode, done.stdout.strip()) != (code, out) or err not in done.stderr:
            wrong += 1
            print(f"{program.__name__}: ends with {done.returncode}\n{done.stdout}\n{done.stderr}")
    assert not wrong, f"{wrong} of {len(EXPECTED)} programs do something else"
    print(f"{len(EXPECTED)} programs through ctypes: right")


if __name__ == "__main__":
    globals()[sys.argv[1]]() if len(sys.argv) > 1 else main()
