"""The commands of a sample, and the host calls of a traced execution."""

from __future__ import annotations

from typing import NamedTuple


class EventTimes(NamedTuple):
    """One event of a sample, a command that a device ran; times in ns of the device's clock.

    ``submit_ns`` is None where the driver gives none (seen: copies into pageable host memory on OpenCL).
    ``kind`` is kernel, copy, fill, barrier or library; ``queue`` numbers the session's queues from 0.
    ``bytes`` and ``route`` are of a copy or a fill. ``clock`` numbers the devices' clocks: 0 is that of the session's
    own device and its sub-devices. Times of two clocks cannot be compared. ``mpi_rank`` submitted it; None where there
    are no ranks. Times of the host's clock are known of a traced execution alone: ``submit_began_host_ns`` and
    ``submit_ended_host_ns`` of the call that submitted the command, by the host's ``thread``, and ``over_host_ns``,
    when the host had waited for it.
    """

    submit_ns: int | None
    start_ns: int
    end_ns: int
    kind: str = "kernel"
    name: str = ""
    queue: int = 0
    bytes: int | None = None
    route: str | None = None
    clock: int = 0
    mpi_rank: int | None = None
    submit_began_host_ns: int | None = None
    submit_ended_host_ns: int | None = None
    over_host_ns: int | None = None
    thread: int | None = None

    @property
    def submitted_ns(self) -> int:
        """The time of submission; a missing one counts as the start."""
        return self.start_ns if self.submit_ns is None else self.submit_ns


class HostCall(NamedTuple):
    """A host call in a traced execution that submits nothing; times in ns of the host's clock.

    ``kind`` is execution (all of it), wait, allocation, queue, compile or build.
    ``thread`` numbers the threads that called: 0 is the one that runs the variant.
    """

    submit_began_host_ns: int
    submit_ended_host_ns: int
    kind: str
    name: str
    thread: int = 0
    mpi_rank: int | None = None
