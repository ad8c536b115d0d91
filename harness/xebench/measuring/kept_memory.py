"""Memory that a variant allocated and holds between its samples: set back before it is checked.

What its preparation wrote is put back, and the rest is spoilt. A variant that copies results of an earlier sample, or
finds there that it has computed them, has nothing to copy or find.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import dpctl.memory
import numpy as np

from xebench.measuring.kept_arrays import has_bits
from xebench.measuring.session.device_memory import memory_of, spoil
from xebench.system.sycl_types import Array


class KeptMemory:
    """The memory of one preparation of a variant."""

    def __init__(self) -> None:
        self._prepared: list[tuple[weakref.ref[Any], Any]] = []
        self._others: list[weakref.ref[Any]] = []

    def prepared(self, allocations: Sequence[weakref.ref[Any]], *, written: bool) -> None:
        """Take note of what a preparation allocated, when it is over.

        Args:
            allocations: of the session.
            written: whether the preparation submitted commands or read data; else device memory holds its poison.
        """
        for allocation, memory in _in_use(allocations):
            if written or memory.get_usm_type() != "device":
                self._prepared.append((allocation, _copy(memory)))
            else:
                self._others.append(allocation)

    def add(self, allocations: Sequence[weakref.ref[Any]]) -> None:
        """Take note of what was allocated later, and is in use still."""
        self._others = [allocation for allocation in (*self._others, *allocations) if allocation() is not None]

    def set_back(self) -> None:
        """Have memory hold what it held when the preparation was over, and a poison where that wrote nothing."""
        for allocation, contents in self._prepared:
            for _, memory in _in_use([allocation]):
                _write(memory, contents)
        for _, memory in _in_use(self._others):
            spoil(memory)

    def had(self, result: Array) -> bool:
        """True if the preparation had written exactly these elements."""
        return any(_has(contents, result) for _, contents in self._prepared)

    def spoil(self, result: Array) -> None:
        """Overwrite what the preparation had written where it is exactly these elements."""
        ready = [allocation for allocation, contents in self._prepared if _has(contents, result)]
        for _, memory in _in_use(ready):
            spoil(memory)

    def rewrite(self) -> None:
        """Write what it holds, so that caches are as after :meth:`set_back`."""
        for _, memory in _in_use([*(allocation for allocation, _ in self._prepared), *self._others]):
            _write(memory, _copy(memory))


def _copy(memory: Any) -> Any:
    """Copy memory: within the device if it is there, else on the host, which may be far away."""
    if memory.get_usm_type() == "device":
        with suppress(dpctl.memory.USMAllocationError):
            copy = dpctl.memory.MemoryUSMDevice(memory.nbytes, queue=memory.sycl_queue)
            copy.copy_from_device(memory)
            return copy
    return memory.copy_to_host()


def _write(memory: Any, contents: Any) -> None:
    if isinstance(contents, np.ndarray):
        memory.copy_from_host(contents)
    else:
        memory.copy_from_device(contents)


def _has(contents: Any, result: Array) -> bool:
    if contents.nbytes != result.nbytes:
        return False
    return has_bits(contents if isinstance(contents, np.ndarray) else contents.copy_to_host(), result)


def _in_use(allocations: Sequence[weakref.ref[Any]]) -> Iterator[tuple[weakref.ref[Any], Any]]:
    for allocation in allocations:
        if (memory := memory_of(allocation)) is not None:
            yield allocation, memory
