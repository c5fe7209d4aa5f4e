"""Common mistakes in the use of the C library do not crash the interpreter.

    ARRAYS_LIBRARY=.../libarrays.so python3 -m pytest test_arrays.py     or, without pytest:     python3 test_arrays.py
"""

import contextlib
import ctypes
import gc
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import arrays
from arrays import Array, Error, c


@contextlib.contextmanager
def refused(code, words=""):
    try:
        yield
    except Error as error:
        assert error.code == code and words in str(error), (error.code, str(error))
    else:
        raise AssertionError("it was not refused")


def floats(n=1000):
    return np.arange(n, dtype=np.float32)


def test_sums():
    assert (arrays.add(floats(), 2 * floats()) == 3 * floats()).all()
    a, b = Array(floats()), Array(2 * floats())
    assert ((a + b).numpy() == 3 * floats()).all()
    assert ((a + a).numpy() == 2 * floats()).all()
    for kind in ["f4", "f8", "i4"]:
        assert (Array(np.arange(77, dtype=kind)).numpy() == np.arange(77, dtype=kind)).all()
    assert len(a) == 1000 and arrays.device()


def test_nothing_is_a_number_of_elements_too():
    empty = Array(floats(0))
    assert len(empty) == 0 and (empty + empty).numpy().size == 0 and arrays.add([], []).size == 0


def test_double_free():
    a = Array(floats())
    a.free()
    for _ in range(3):
        with refused(arrays.NO_ARRAY, "was freed"):
            a.free()


def test_use_after_free():
    a, b = Array(floats()), Array(floats())
    b.free()
    for use in [lambda: a + b, lambda: b + a, b.numpy, lambda: b.assign(floats()), lambda: len(b)]:
        with refused(arrays.NO_ARRAY, "was freed"):
            use()
    # No later array gets its number.
    more = [Array(floats(8)) for _ in range(100)]
    assert b.number not in [other.number for other in more]
    with refused(arrays.NO_ARRAY):
        b.numpy()
    assert ((a + a).numpy() == 2 * floats()).all()


def test_wrong_sizes_and_types():
    a = Array(floats(10))
    with refused(arrays.WRONG_LENGTH, "10 elements, not 11"):
        a.assign(floats(11))
    with refused(arrays.WRONG_LENGTH):
        a.assign(floats(9))
    with refused(arrays.WRONG_LENGTH):
        a + Array(floats(11))
    with refused(arrays.WRONG_TYPE):
        a.assign(np.zeros(10))
    with refused(arrays.WRONG_TYPE):
        a + Array(np.zeros(10, dtype="i4"))
    with refused(arrays.WRONG_TYPE):
        Array(np.zeros(10)) + Array(np.zeros(10))
    for strange in [np.zeros(4, dtype="c8"), np.zeros((2, 2), dtype="f4"), np.array(["a"]), object(), None]:
        try:
            Array(strange)
        except TypeError:
            continue
        raise AssertionError(f"{strange!r} was taken")
    # A strided view is copied into contiguous memory; an unaligned one is not an array of floats.
    assert (Array(floats(20)[::2]).numpy() == floats(20)[::2]).all()
    crooked = np.frombuffer(bytearray(4 * 10 + 1), dtype=np.uint8)[1:].view("f4")
    with refused(arrays.INVALID, "aligned"):
        arrays.check(c.arrays_copy_in(a.number, 1, crooked.ctypes.data, 10))


def test_nonsense_from_c():
    number, size = ctypes.c_uint64(), ctypes.c_size_t()
    a, data = Array(floats(10)), floats(10)
    huge = 2**64 - 1
    for wrong in [0, 1 << 40, huge, a.number + 10**6]:
        assert c.arrays_free(wrong) == arrays.NO_ARRAY
        assert c.arrays_add(wrong, a.number, a.number) != arrays.OK
        assert c.arrays_len(wrong, ctypes.byref(size)) == arrays.NO_ARRAY
        assert c.arrays_copy_out(wrong, 1, data.ctypes.data, 10) == arrays.NO_ARRAY
    assert c.arrays_alloc(1, 10, None) == arrays.INVALID
    assert c.arrays_alloc(99, 10, ctypes.byref(number)) == arrays.INVALID
    for many in [huge, huge // 4, 1 << 60, 1 << 45]:
        assert c.arrays_alloc(1, many, ctypes.byref(number)) == arrays.DEVICE, many
    assert number.value == 0
    assert c.arrays_len(a.number, None) == arrays.INVALID
    assert c.arrays_copy_in(a.number, 1, None, 10) == arrays.INVALID
    assert c.arrays_copy_out(a.number, 1, None, 10) == arrays.INVALID
    assert c.arrays_add(a.number, a.number, a.number) == arrays.INVALID
    assert c.add_arrays(None, None, None, 10) == arrays.INVALID
    assert c.add_arrays(data.ctypes.data, data.ctypes.data, data.ctypes.data, huge) == arrays.INVALID
    pointer = data.ctypes.data
    assert c.add_arrays(pointer, pointer, pointer, 10) == arrays.INVALID and "overlap" in arrays.last_error()
    assert c.add_arrays(pointer, pointer, pointer + 16, 6) == arrays.INVALID
    assert c.arrays_device(None, 10) == arrays.INVALID
    short = ctypes.create_string_buffer(b"xxxxxxxxx", 9)
    assert c.arrays_last_error(short, 4) > 4 and short.raw[3:] == b"\0xxxxx"
    assert c.arrays_last_error(None, 100) > 4 and c.arrays_last_error(short, 0) > 4
    assert (a.numpy() == floats(10)).all()


def test_random_calls():
    """Calls any function in any order with valid and invalid numbers; the library still works afterwards."""
    dice, live, seen = random.Random(1), {}, [0]
    data = floats(64)
    for _ in range(3000):
        pick = dice.choice(seen)
        match dice.randrange(5):
            case 0:
                number = ctypes.c_uint64()
                length = dice.choice([0, 1, 63, 64])
                assert c.arrays_alloc(1, length, ctypes.byref(number)) == arrays.OK
                live[number.value] = length
                seen.append(number.value)
            case 1:
                assert (c.arrays_free(pick) == arrays.OK) == (live.pop(pick, None) is not None)
            case 2:
                fits = live.get(pick) == 64
                assert (c.arrays_copy_in(pick, 1, data.ctypes.data, 64) == arrays.OK) == fits
            case 3:
                fits = live.get(pick) == 63
                assert (c.arrays_copy_out(pick, 1, data.ctypes.data, 63) == arrays.OK) == fits
            case 4:
                others = [dice.choice(seen) for _ in range(2)]
                fits = pick not in others and pick in live and all(live.get(it) == live[pick] for it in others)
                assert (c.arrays_add(*others, pick) == arrays.OK) == fits
    for number in live:
        assert c.arrays_free(number) == arrays.OK


def test_threads():
    """Some threads use arrays that others free."""
    shared, wrong = [Array(floats()) for _ in range(20)], []

    def work(seed):
        dice = random.Random(seed)
        for _ in range(100):
            a, b = dice.choice(shared), dice.choice(shared)
            try:
                if dice.random() < 0.05:
                    a.free()
                else:
                    total = (a + b).numpy()
                    if not (total == 2 * floats()).all():
                        wrong.append(total)
            except Error as error:
                if error.code != arrays.NO_ARRAY:
                    wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[:3]


def test_errors_are_those_of_the_thread():
    c.arrays_free(12345678)
    here, there = arrays.last_error(), []
    thread = threading.Thread(target=lambda: there.append((arrays.last_error(), c.arrays_alloc(99, 1, None), arrays.last_error())))
    thread.start()
    thread.join()
    assert "12345678" in here and arrays.last_error() == here
    assert there[0][0] == "" and "null" in there[0][2]


def test_garbage():
    for _ in range(200):
        Array(floats(4))
    ring = [Array(floats(4))]
    ring.append(ring)
    del ring
    gc.collect()


# --- ends of processes ---------------------------------------------------------------------------------------


def child(program, *, during=None, code=0):
    """Runs a program in a separate interpreter, which must end with this code and print no error."""
    head = "import arrays, numpy as np, os, sys, threading, time, ctypes, atexit\nfrom arrays import Array, Error, c\n"
    # Python 3.12 warns about a fork in a process with threads, and a driver has threads.
    command = [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-X", "faulthandler", "-c", head + program]
    environment = os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parent)}
    started = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        if during:
            during(started)
        out, err = started.communicate(timeout=120)
    finally:
        started.kill()
    assert started.returncode == code, f"{started.returncode}\n{out}\n{err}"
    words = [line for line in err.splitlines() if line]
    return out, words


LEAKED = "leaked = [Array(np.ones(1000, dtype='f4')) for _ in range(50)]\nmodule_level = leaked[0] + leaked[1]\n"


def test_exit_with_everything_leaked():
    for end, code in [("", 0), ("sys.exit(3)", 3), ("os._exit(4)", 4), ("threading.Thread(target=lambda: leaked[0] + leaked[1]).start()", 0)]:
        out, err = child(LEAKED + end, code=code)
        assert not err, err
    # Even if objects are not destroyed in order.
    keep = "sys.kept = leaked; c.kept = module_level; atexit.register(lambda: print((leaked[2] + leaked[3]).numpy()[0]))"
    out, err = child(LEAKED + keep)
    assert out == "2.0\n" and not err, (out, err)


def test_exit_by_an_exception_and_by_a_signal():
    out, err = child(LEAKED + "raise KeyError('mine')", code=1)
    assert err[-1] == "KeyError: 'mine'", err
    out, err = child(LEAKED + "os.kill(os.getpid(), 15)", code=-signal.SIGTERM)
    assert not err, err


def test_exit_with_threads_at_work():
    work = LEAKED + """
def work():
    while True:
        (leaked[0] + leaked[1]).numpy()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(5):
        out, err = child(work)
        assert not err, err


def test_fork():
    """The child gets an error, may end in any way, and does not affect its parent, with any thread holding a lock."""
    out, err = child(LEAKED + """
busy = True
def work():
    while busy:
        leaked[0] + leaked[1]
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for end in ["leave", "exit", "clean"] * 4:
    process = os.fork()
    if process == 0:
        for use in [leaked[2].numpy, leaked[2].free, lambda: leaked[0] + leaked[1], lambda: Array(np.ones(3, dtype='f4'))]:
            try:
                use()
            except Error as error:
                assert error.code == arrays.FORKED, error.code
            else:
                os._exit(9)
        if end == "leave": os._exit(0)
        if end == "clean": leaked.clear()
        threads.clear()
        sys.exit(0)
    assert os.waitpid(process, 0)[1] == 0, end
busy = False
for thread in threads: thread.join()
print((leaked[0] + leaked[1]).numpy()[0])
""")
    assert out == "2.0\n", (out, err)


def test_a_fork_before_the_first_use_works_on_both_sides():
    out, err = child("""
process = os.fork()
assert (Array(np.ones(3, dtype='f4')).numpy() == 1).all()
if process: assert os.waitpid(process, 0)[1] == 0
""")
    assert not err, err


def test_the_library_may_be_closed():
    """The handlers that it registered with the process still exist, or were removed with it."""
    out, err = child(LEAKED + """
import _ctypes
is_software = "Software CUDA device" in arrays.device()
_ctypes.dlclose(c._handle)
# The software device has threads and signal handlers, so a library that embeds it stays loaded.
assert not is_software or "libarrays.so" in open("/proc/self/maps").read()
process = os.fork()
if process == 0: os._exit(0)
assert os.waitpid(process, 0)[1] == 0
# The remaining objects are not used any more.
for array in leaked: array.number = 0
Array.__del__ = lambda self: None
""")
    assert not err, err


def test_an_interrupted_loop():
    """Ctrl+C at any moment raises an exception between two calls, and the library continues to work."""
    loop = LEAKED + """
import signal
def interrupt(*_):
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt
interrupts, armed = 0, False
signal.signal(signal.SIGINT, interrupt)
print("ready", flush=True)
while interrupts < 10:
    try:
        while True:
            # A new one each time, because an exception in a destructor is lost.
            armed = True
            total = leaked[0] + leaked[1]
            total.numpy()
            total.free()
    except KeyboardInterrupt:
        interrupts += 1
assert ((leaked[0] + leaked[1]).numpy() == 2).all()
print("done", flush=True)
time.sleep(60)
"""

    def interrupt(process):
        assert process.stdout.readline() == "ready\n"
        done = threading.Thread(target=lambda: process.stdout.readline())
        done.start()
        while done.is_alive():
            process.send_signal(signal.SIGINT)
            done.join(0.05)
        process.send_signal(signal.SIGTERM)

    # Any message is Python's, about an interrupt in a destructor.
    child(loop, during=interrupt, code=-signal.SIGTERM)


if __name__ == "__main__":
    tests = [(name, test) for name, test in sorted(globals().items()) if name.startswith("test_")]
    print(arrays.device())
    for name, test in tests:
        start = time.monotonic()
        test()
        print(f"{name}: ok, {time.monotonic() - start:.1f} s", flush=True)
    print(f"{len(tests)} tests passed")
