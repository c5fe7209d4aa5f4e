"""The commands of action.yml and Containerfile, each run in a fresh environment. Workflows and images themselves need a
forge and a container engine; CI has neither."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]


@pytest.fixture
def shell(tmp_path):
    """Runs a command line in bash, with an empty environment of Python first in the path."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    path = f"{tmp_path}/venv/bin:{os.environ['PATH']}"

    def run(line, **more):
        variables = os.environ | {"PATH": path, "CUDA_SOFTWARE_PROFILE": "dev"} | more
        done = subprocess.run(["bash", "-euc", line], env=variables, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"

    return run


def test_the_steps_of_the_action_install_a_driver_that_starts(shell):
    lines = re.findall(r"^ +run: (.*)$", (PACKAGE / "action.yml").read_text(), re.MULTILINE)
    assert len(lines) == 2 and "cuInit" in lines[1]
    for line in lines:
        shell(line, GITHUB_ACTION_PATH=str(PACKAGE))


def test_the_wheel_of_the_image_installs_a_driver_that_starts(shell, tmp_path):
    text = (PACKAGE / "Containerfile").read_text()
    lines = [line for line in re.findall(r"^RUN (.*)$", text, re.MULTILINE) if "--no-index" in line]
    assert [line.split()[3] for line in lines] == ["wheel", "install"]
    for line in lines:
        shell(line.replace("/wheels", str(tmp_path / "wheels")).replace("/cuprum/", f"{ROOT}/"))
    shell("cuda-software --quiet -- python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(\"libcuda.so.1\").cuInit(0))'")
