"""What is said of the pinned stack is said on both."""

from __future__ import annotations

import pytest

from xebench.system.runtime import packages
from xebench.system.runtime.packages import Stack


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that is to have the pinned stack, whatever it has."""
    monkeypatch.setattr(packages, "stack", lambda: Stack.PINNED)
