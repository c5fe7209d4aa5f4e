"""What a person sees on standard error whose program the software device cannot run: once, with the way out."""

import os
import re
import subprocess
import sys

PREFIX = "software CUDA device: "


def said(program, **environment):
    """The lines of the device when a program runs in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | environment, capture_output=True, text=True)
    return [line.removeprefix(PREFIX) for line in done.stderr.splitlines() if line.startswith(PREFIX)], done


RUNTIME = """
import ctypes, glob, os, nvidia
pattern = os.path.join(list(nvidia.__path__)[0], "cu13/lib/libcudart.so.*")
cudart = ctypes.CDLL(glob.glob(pattern)[0])
count = ctypes.c_int(-1)
for _ in range(2):
    code = cudart.cudaGetDeviceCount(ctypes.byref(count))
assert code != 0, "NVIDIA's runtime accepts this driver: the documentation says otherwise"
"""


def test_a_program_of_the_runtime():
    lines, done = said(RUNTIME)
    assert done.returncode == 0, done.stderr
    # It asks for several tables; the answer for its own one names it, once.
    about = [line for line in lines if line.startswith("cuGetExportTable answers CUDA_ERROR_NOT_SUPPORTED")]
    runtime = [line for line in about if "CUDA runtime" in line]
    assert len(runtime) == 1 and "Use the driver API" in runtime[0], done.stderr
    assert re.search(r"\S+/libcudart\.so\.\d+ has it", runtime[0]), done.stderr


SYNC = """
from cuda.core import Device
device = Device()
device.set_current()
device.sync()
"""


def test_sync_of_a_device_of_cuda_core():
    """It calls the runtime; the sync of a stream does not."""
    lines, done = said(SYNC)
    assert done.returncode != 0
    assert sum("Device.sync" in line for line in lines) == 1, done.stderr


TRITON = """
import importlib.util
spec = importlib.util.spec_from_file_location("kernels", {path!r})
kernels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kernels)
kernels.{call}
"""


def triton(call, **environment):
    path = os.path.join(os.path.dirname(__file__), "test_triton.py")
    return said(TRITON.format(path=path, call=call), **environment)


def test_triton_without_the_stand_in(tmp_path):
    lines, done = triton("test_add()", TRITON_CACHE_DIR=str(tmp_path),
                        TRITON_PTXAS_PATH="/not/there", TRITON_PTXAS_BLACKWELL_PATH="/not/there")
    assert done.returncode != 0
    assert len(lines) == 1 and "TRITON_PTXAS_PATH" in lines[0], done.stderr


def test_tensor_memory_and_the_setting_that_avoids_it():
    call = "check_matrices(128, 128, 64, 128)"
    lines, done = triton(call, CUPRUM_EMULATOR_COMPUTE_CAPABILITY="10.0")
    assert done.returncode != 0
    assert len(lines) == 1 and "tcgen05" in lines[0], done.stderr
    assert "CUPRUM_EMULATOR_COMPUTE_CAPABILITY=8.9" in lines[0]
    lines, done = triton(call, CUPRUM_EMULATOR_COMPUTE_CAPABILITY="8.9")
    assert done.returncode == 0 and not lines, done.stderr
