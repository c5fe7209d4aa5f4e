"""What the configuration of Numba-CUDA's tests has that its package leaves out: one fixture."""

import pytest


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    request.cls._dump_failed_filechecks = False
