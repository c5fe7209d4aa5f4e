"""Numba-CUDA, unmodified, under `pytest --cuda-software`. Run by examples/python/run.sh with an interpreter that has it,
which finds the package on its path."""

import os
import subprocess
import sys

NUMBA = """
import numpy as np
from numba import cuda

@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]

@cuda.jit
def too_far(out):
    i = cuda.grid(1)
    out[i] = 1

def test_sum():
    a = np.arange(1000, dtype=np.float32)
    out = np.zeros_like(a)
    add[4, 256](a, a, out)
    assert (out == 2 * a).all()

def test_a_guard_that_is_missing():
    out = cuda.device_array(1000, dtype=np.int32)
    too_far[4, 256](out)
"""


def test_a_missing_guard_is_found(tmp_path):
    (tmp_path / "test_kernels.py").write_text(NUMBA)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUPRUM_")}
    environment["NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"] = "0"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--cuda-software", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    said = done.stdout + done.stderr
    assert "1 failed, 1 passed" in said, said
    assert "out-of-bounds access in kernel" in said and "too_far" in said, said
    assert "software CUDA device: reported 1 fault of a kernel" in said, said
