"""Set-up of the package's tests, which run without xebench too: ``pytest -c tests/numba_sycl/alone.ini``."""

from __future__ import annotations

import importlib.util
from typing import Any

import optional
import pytest
from hypothesis import settings

import numba_sycl
from numba_sycl.stacks import is_current

# what property tests check does not depend on the machine's speed
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

if importlib.util.find_spec("xebench"):
    import xebench.dpex  # noqa: F401  (where numba-dpex is, it compiles kernels by xebench alone)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("numba_sycl")
    group.addoption("--kernels", type=int, default=40, help="how many random kernels are compiled and compared")
    group.addoption("--kernels-seed", type=int, default=1, help="of the random kernels")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if is_current() and item.get_closest_marker("numba_dpex"):
        pytest.skip("of numba-dpex, which is not here")
    optional.skip_without(item)


@pytest.fixture(scope="session")
def queue() -> Any:
    """An out-of-order profiling queue of the default device."""
    import dpctl

    assert numba_sycl
    return dpctl.SyclQueue(property="enable_profiling")
