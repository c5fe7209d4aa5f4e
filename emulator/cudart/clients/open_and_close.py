"""Opens a library with a kernel, uses it, closes it, and opens it again: its variable begins anew each time.

    open_and_close.py LIBRARY TIMES
"""

import _ctypes
import ctypes
import sys

library, times = sys.argv[1], int(sys.argv[2])
for _ in range(times):
    opened = ctypes.CDLL(library)
    assert [opened.next() for _ in range(3)] == [1, 2, 3]
    _ctypes.dlclose(opened._handle)
print(f"opened {times} times: right")
