"""The SYCL runtime is loaded, and numba-dpex mended, before a test module imports dpctl."""

from typing import Any

import pytest

import xebench.dpex


@pytest.fixture(scope="session")
def queue() -> Any:
    """An out-of-order profiling queue of the default device."""
    import dpctl

    assert xebench.dpex
    return dpctl.SyclQueue(property="enable_profiling")
