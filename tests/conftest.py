"""Shared set-up: tests marked ``device`` run on a SYCL device, which the runtime room makes loadable."""

import pytest
from hypothesis import settings

# what property tests check does not depend on the machine's speed
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture(autouse=True)
def _sycl_runtime(request: pytest.FixtureRequest) -> None:
    """Load the SYCL runtime before a device test imports dpctl."""
    if request.node.get_closest_marker("device"):
        from harness import runtime

        runtime.load()
