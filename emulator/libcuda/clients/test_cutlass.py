"""CUTLASS on the software device: its headers are compiled by NVIDIA's compiler, its kernel is loaded as PTX."""

import os
import subprocess
import sysconfig

import pytest

SITE = sysconfig.get_paths()["purelib"]
CUDA = os.path.join(SITE, "nvidia", "cu13")
CUTLASS = os.path.join(SITE, "cutlass_library", "source")
HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program and its kernel, which take some 40 seconds to compile."""
    folder = tmp_path_factory.mktemp("cutlass")
    include = [os.path.join(CUTLASS, "include"), os.path.join(CUTLASS, "tools", "util", "include"),
               os.path.join(CUDA, "include"), os.path.join(CUDA, "include", "cccl")]
    libraries = [os.path.join(CUDA, "lib"), os.environ["LD_LIBRARY_PATH"].split(":")[0]]
    # CUTLASS asks the runtime for functions of the driver, or calls them.
    subprocess.run([os.path.join(CUDA, "bin", "nvcc"), "-std=c++17", "-w", "-O1", "--expt-relaxed-constexpr",
                    "-DORDER=RowMajor", "-DCUTLASS_ENABLE_DIRECT_CUDA_DRIVER_CALL=1",
                    "-gencode", "arch=compute_90a,code=compute_90a", "--keep", "--keep-dir", str(folder),
                    *(f"-I{path}" for path in include), *(f"-L{path}" for path in libraries),
                    os.path.join(HERE, "cutlass_product.cu"), "-o", str(folder / "program"), "-lcuda"], check=True)
    return [str(folder / "program"), str(folder / "cutlass_product.ptx")]


@pytest.mark.parametrize("seed", [None, "1", "2"])
def test_product(program, seed):
    """Exact, and whatever the order: with a seed, copies and products end as late as they may."""
    environment = dict(os.environ, CUPRUM_EMULATOR_COMPUTE_CAPABILITY="9.0")
    if seed:
        environment["CUPRUM_EMULATOR_SEED"] = seed
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 of 61440 are wrong" in done.stdout
    with open(program[1]) as kernel:
        text = kernel.read()
    for opcode in ["wgmma.mma_async", "multicast::cluster", "setmaxnreg", "mbarrier.try_wait", "cp.async.bulk.tensor"]:
        assert opcode in text, opcode
