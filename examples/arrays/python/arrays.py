"""Device arrays for Python: a ctypes wrapper of the C library of this example.

    cargo build --release -p cuprum-arrays
    PYTHONPATH=examples/arrays/python ARRAYS_LIBRARY=target/release/libarrays.so python3

    >>> import numpy, arrays
    >>> arrays.add([1, 2, 3], [10, 20, 30])
    array([11., 22., 33.], dtype=float32)
    >>> x = arrays.Array(numpy.ones(4, dtype="f4"))
    >>> (x + x).numpy()
    array([2., 2., 2., 2.], dtype=float32)

An error of the library becomes an exception. Freeing an object twice, using it after that, forgetting it, sharing it
between threads or leaving it to a forked child does not crash the interpreter.
"""

import ctypes
import os

import numpy as np

OK, INVALID, NO_ARRAY, WRONG_TYPE, WRONG_LENGTH, DEVICE, FORKED, BUG = range(8)
ELEMENTS = {np.dtype("f4"): 1, np.dtype("f8"): 2, np.dtype("i4"): 3}


class Error(Exception):
    """An error of the library: `code`, and its message."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def _declared(path):
    library = ctypes.CDLL(path)
    number, size, pointer = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p
    for name, arguments in {
        "arrays_alloc": [ctypes.c_int32, size, ctypes.POINTER(number)],
        "arrays_free": [number],
        "arrays_len": [number, ctypes.POINTER(size)],
        "arrays_copy_in": [number, ctypes.c_int32, pointer, size],
        "arrays_copy_out": [number, ctypes.c_int32, pointer, size],
        "arrays_add": [number, number, number],
        "add_arrays": [pointer, pointer, pointer, size],
        "arrays_device": [ctypes.c_char_p, size],
    }.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, ctypes.c_int32
    library.arrays_last_error.argtypes, library.arrays_last_error.restype = [ctypes.c_char_p, size], size
    return library


#: The library itself, for direct calls of C.
c = _declared(os.environ["ARRAYS_LIBRARY"])


def last_error():
    """Returns the message of this thread's last error."""
    text = ctypes.create_string_buffer(c.arrays_last_error(None, 0))
    c.arrays_last_error(text, len(text))
    return text.value.decode()


def check(code):
    if code != OK:
        raise Error(code, last_error())


def device():
    """Returns the name of the device."""
    text = ctypes.create_string_buffer(512)
    check(c.arrays_device(text, len(text)))
    return text.value.decode()


def add(a, b):
    """Returns the sum of two host arrays, computed on the device."""
    a, b = (np.ascontiguousarray(x, dtype=np.float32) for x in (a, b))
    if a.shape != b.shape:
        raise ValueError(f"shapes {a.shape} and {b.shape} differ")
    total = np.empty_like(a)
    check(c.add_arrays(a.ctypes.data, b.ctypes.data, total.ctypes.data, total.size))
    return total


class Array:
    """A one-dimensional device array, with a copy of the given elements."""

    def __init__(self, host):
        self.number = 0
        host = np.ascontiguousarray(host)
        if host.dtype not in ELEMENTS or host.ndim != 1:
            raise TypeError(f"an array of {host.ndim} dimensions of {host.dtype} is not served")
        self.dtype = host.dtype
        number = ctypes.c_uint64()
        check(c.arrays_alloc(ELEMENTS[host.dtype], host.size, ctypes.byref(number)))
        self.number = number.value
        self.assign(host)

    def __len__(self):
        size = ctypes.c_size_t()
        check(c.arrays_len(self.number, ctypes.byref(size)))
        return size.value

    def assign(self, host):
        """Copies host elements of the same number and type to the array."""
        host = np.ascontiguousarray(host)
        if host.dtype not in ELEMENTS:
            raise TypeError(f"elements of {host.dtype} are not served")
        check(c.arrays_copy_in(self.number, ELEMENTS[host.dtype], host.ctypes.data, host.size))

    def numpy(self):
        """Copies the elements to the host."""
        host = np.empty(len(self), dtype=self.dtype)
        check(c.arrays_copy_out(self.number, ELEMENTS[self.dtype], host.ctypes.data, host.size))
        return host

    def __add__(self, other):
        total = Array(np.zeros(len(self), dtype=self.dtype))
        check(c.arrays_add(self.number, other.number, total.number))
        return total

    def free(self):
        """Frees it now. Otherwise the garbage collector frees it."""
        check(c.arrays_free(self.number))

    def __del__(self):
        # Already freed, never allocated, or owned by the parent after a fork: the error cannot be reported.
        c.arrays_free(self.number)
