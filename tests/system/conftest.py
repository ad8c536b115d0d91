"""What is said of the pinned stack is said on both."""

from __future__ import annotations

import pytest

from numba_sycl import stacks
from numba_sycl.stacks import Stack


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that is to have the pinned stack, whatever it has."""
    monkeypatch.setattr(stacks, "stack", lambda: Stack.PINNED)
