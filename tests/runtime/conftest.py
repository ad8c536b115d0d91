"""What is said of the pinned stack is said on both."""

from __future__ import annotations

import pytest

from xebench.system.runtime import stack
from xebench.system.runtime.stack import Stack


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that is to have the pinned stack, whatever it has."""
    monkeypatch.setattr(stack, "stack", lambda: Stack.PINNED)
