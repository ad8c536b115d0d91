"""A driver without a clock: what it refuses is told apart from other refusals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import dpctl
import pytest

from numba_sycl import events


class FakeQueue:
    """A queue of a driver that takes commands only with some properties."""

    def __init__(self, taken: bool) -> None:
        self.taken = taken

    def memcpy_async(self, *_arguments: Any) -> Any:
        if not self.taken:
            raise RuntimeError("refused")
        return SimpleNamespace(wait=lambda: None)


@pytest.mark.parametrize(
    ("profiling", "taken_without", "taken_with", "lacks"),
    [
        (True, True, False, True),
        (True, True, True, False),
        (True, False, False, False),  # something else is wrong
        (False, True, False, False),  # the queue asks for no times
    ],
)
def test_a_driver_lacks_a_clock_if_profiling_alone_is_refused(
    monkeypatch: pytest.MonkeyPatch, profiling: bool, taken_without: bool, taken_with: bool, lacks: bool
) -> None:
    queues = {("in_order",): FakeQueue(taken_without), ("in_order", "enable_profiling"): FakeQueue(taken_with)}
    monkeypatch.setattr(dpctl, "SyclQueue", lambda _context, _device, property: queues[tuple(property)])
    queue = SimpleNamespace(has_enable_profiling=profiling, sycl_context=None, sycl_device=None)
    assert events.lacks_clock(queue) is lacks


@pytest.mark.device
def test_the_device_here_has_a_clock(queue: Any) -> None:
    assert not events.lacks_clock(queue)
