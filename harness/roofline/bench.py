"""What a probe sees of a device: its limits, its memory, and trustworthy times of what it submits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numba_dpex import kernel_api as kapi

from harness.analysis import metrics, timestamps
from harness.dpex import DpexError
from harness.errors import TooLarge, Unsupported
from harness.roofline import sizes
from harness.roofline.search import FULL, Candidate, Effort, Found, WrongResult, search
from harness.session.cache_flush import cache_bytes
from harness.session.device_memory import Array, DeviceMemory
from harness.session.session import Session
from harness.vocabulary import is_valid

#: The host's clock must confirm a time: it may see a kernel end so much later, in parts of its time and in ns.
LATE_PART = 0.2
LATE_NS = 500_000
#: What a form raises that a device lacks something for, and what one raises that it should run.
REFUSALS = (Unsupported, TooLarge)
FAILURES = (WrongResult, DpexError)


class Bench:
    """One device and how much effort to spend on it.

    Args:
        device: SYCL filter string.
        effort: how long to look for the best form.

    Attributes:
        session: its session.
        device: its ``dpctl.SyclDevice``.
        memory: for untimed transfers.
    """

    def __init__(self, device: str, effort: Effort = FULL) -> None:
        self.session = Session.on(device)
        self.device = self.session.device
        self.memory = DeviceMemory(self.session.queue)
        self.effort = effort
        self._last_end_ns: int | None = None

    @property
    def cache_bytes(self) -> int:
        """Its last-level cache."""
        return cache_bytes(self.device)

    @property
    def compute_units(self) -> int:
        """How many compute units it has; at least one."""
        return max(1, int(self.device.max_compute_units))

    @property
    def largest_array_bytes(self) -> int:
        """The largest array to ask for."""
        return sizes.largest_array_bytes(int(self.device.global_mem_size), int(self.device.max_mem_alloc_size))

    def array_bytes(self) -> int:
        """Size of an array that the caches do not hold; ``Unsupported`` if memory is too small for one."""
        return sizes.array_bytes(self.cache_bytes, self.largest_array_bytes, quick=not self.effort.all_forms)

    def work_groups(self, *wanted: int) -> list[int]:
        """Those sizes of work-groups that the device allows; the first alone in a quick look."""
        allowed = sizes.work_groups(wanted, int(self.device.max_work_group_size))
        return allowed if self.effort.all_forms else allowed[:1]

    def device_ns(self, submit: Callable[[], Any]) -> float:
        """Run once; the time during which its commands ran.

        Infinity if there were none, the events contradict one another, or the host waited much longer: a driver may
        stamp the start or the end of a kernel whose threads do not all run.
        """
        measured = self.session.measure(submit)
        events = [command.event_times() for command in measured.commands]
        flags = timestamps.flags(
            events,
            host_ns=measured.host_ns,
            resolution_ns=self.device.profiling_timer_resolution,
            earlier_end_ns=self._last_end_ns,
        )
        self._last_end_ns = max((event.end_ns for event in events), default=self._last_end_ns)
        busy_ns = metrics.union_ns(events)
        confirmed = busy_ns > 0 and measured.host_ns <= (1 + LATE_PART) * busy_ns + LATE_NS
        return busy_ns if confirmed and is_valid(flags, "device") else math.inf

    def host_ns(self, submit: Callable[[], Any]) -> float:
        """Run once; host time from the first call until everything is over."""
        return self.session.measure(submit).host_ns

    def search(self, candidates: Iterable[Candidate]) -> Found:
        """The best of the candidates; see :func:`harness.roofline.search.search`."""
        return search(candidates, self.effort, refusals=REFUSALS, failures=FAILURES)

    def zeros(self, elements: int, dtype: Any) -> Any:
        """A device array of zeros."""
        return self.memory.upload(np.zeros(elements, dtype))

    def poison(self, array: Any, value: Any) -> None:
        """Overwrite a device array with a value that no kernel writes there, and wait; by a plain copy."""
        self.memory.write(array, np.full(array.shape, value, array.dtype))


def nd_range(items: int, group: int) -> kapi.NdRange:
    """One dimension of ``items`` work-items in work-groups of ``group``."""
    return kapi.NdRange((items,), (group,))


def require_equal(found: Array, expected: Any, what: str) -> None:
    """Compare every element; ``expected`` is broadcast.

    Raises:
        WrongResult: they differ.
    """
    wrong = np.count_nonzero(found != expected)
    if wrong:
        raise WrongResult(f"{what}: {wrong} of {found.size} elements are wrong")
