"""Tests of the numba-dpex extension: the SYCL runtime is loaded before a test module imports dpctl."""

from typing import Any

import pytest

from xebench.system.runtime import load

load()


@pytest.fixture(scope="session")
def queue() -> Any:
    """An out-of-order profiling queue of the default device."""
    import dpctl

    return dpctl.SyclQueue(property="enable_profiling")
