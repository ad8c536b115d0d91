"""What a worker is doing right now, readable by its manager even after the worker was killed.

A message would wake the manager on another core in the middle of a measurement; a byte of shared memory does not.
"""

from __future__ import annotations

import mmap
import os

STAGES = ("idle", "problem", "reference", "prepare", "check", "sample", "recheck")
_NOBODY = 255


class Beacon:
    """Two bytes shared by descriptor: the index of the variant and of the stage."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, mmap.PAGESIZE)

    @classmethod
    def create(cls) -> Beacon:
        """A new beacon; its descriptor can be passed to a child process."""
        descriptor = os.memfd_create("xebench-beacon")
        os.ftruncate(descriptor, mmap.PAGESIZE)
        beacon = cls(descriptor)
        beacon.show(None, "idle")
        return beacon

    def show(self, variant: int | None, stage: str) -> None:
        """Say which variant (its index in the request) is in which stage."""
        self._memory[0] = _NOBODY if variant is None else variant
        self._memory[1] = STAGES.index(stage)

    def read(self) -> tuple[int | None, str]:
        """What was shown last."""
        variant = self._memory[0]
        return (None if variant == _NOBODY else variant), STAGES[self._memory[1]]

    def close(self) -> None:
        """Release the shared memory."""
        self._memory.close()
        os.close(self.descriptor)
