"""Writes the PTX of the kernels here as their compilers emit it, or with --check compares it. regenerate.sh runs this."""

import os
import pathlib
import subprocess
import sys
import tempfile

# Without the debugging information, which has the folders of this machine.
os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()

import numba_kernels
import taichi_kernels
import triton_kernels

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent


def nvcc():
    """kernels/corpus/tables.cu by nvcc of the packages."""
    from nvidia import cu13

    toolkit = pathlib.Path(list(cu13.__path__)[0])
    command = [toolkit / "bin/nvcc", "--ptx", "--gpu-architecture=compute_90", "-o", "-", ROOT / "kernels/corpus/tables.cu"]
    version = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=True).stdout
    release = next(line for line in version.splitlines() if "release" in line).rsplit(", ", 1)[1]
    ptx = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    yield "nvcc_tables", f"nvcc {release}; kernels/corpus/tables.cu for compute_90", ptx


def main():
    check = sys.argv[1:] == ["--check"]
    stale = 0
    for tool in [nvcc, triton_kernels.generate, numba_kernels.generate, taichi_kernels.generate]:
        for name, description, ptx in tool():
            header = f"// Compiled by kernels/clients/regenerate.sh; do not edit.\n// compiler: {description}\n"
            path = HERE / f"{name}.ptx"
            wanted = header + ptx.strip() + "\n"
            if not check:
                path.write_text(wanted)
            elif not path.exists() or path.read_text() != wanted:
                print(f"{path} is not what its source compiles to: run kernels/clients/regenerate.sh", file=sys.stderr)
                stale += 1
    sys.exit(stale > 0)


main()
