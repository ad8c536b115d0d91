"""What is said of the pinned stack is said on both."""

from __future__ import annotations

import pytest

from xebench.runtime import stack
from xebench.runtime.stack import Stack


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that is to have the pinned stack, whatever it has."""
    monkeypatch.setattr(stack, "stack", lambda: Stack.PINNED)
