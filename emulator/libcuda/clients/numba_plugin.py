"""What the configuration of Numba-CUDA's tests has that its package leaves out: one fixture. And patience: programs that
its tests start may take ten times as long, because they share their cores with the rest of CI."""

import functools
import subprocess

import pytest

run = subprocess.run


@functools.wraps(run)
def run_patiently(*args, timeout=None, **named):
    return run(*args, timeout=timeout and 10 * timeout, **named)


def pytest_configure():
    subprocess.run = run_patiently


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    request.cls._dump_failed_filechecks = False
