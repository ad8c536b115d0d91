"""Facts about one traced execution that reports remark on: launches, and what the host makes, moves and does itself."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from xebench.records.events import HostCall
from xebench.session.recorder import MeasuredSample

#: Longest look-up of a known kernel, in ns: one takes 10 to 20 us, and one of a kernel that was made again 1 ms.
FOUND_NS: Final = 100_000


def traced_facts(measured: MeasuredSample) -> dict[str, Any]:
    """Work of an execution, beside the times of its kernels.

    Args:
        measured: the execution, with the calls of the host.

    Returns:
        ``making_ns``: host time in which kernels were compiled and built; ``own_ns``: host time outside of all calls
        that submit, wait, allocate or make kernels; ``allocations``: their number; ``launches``: number of launches and
        of their work-items, by kernel; ``moved``: bytes of copies by their route, and of fills; ``converted``: number
        of copies that change the type of the elements, by what they do. Zeros are left out.
    """
    made = [call for call in measured.calls if call.kind in ("compile", "build") and not _is_known(call)]
    moved: Counter[str] = Counter()
    converted: Counter[str] = Counter()
    for event in measured.events:
        if event.kind in ("copy", "fill") and event.bytes:
            moved[f"copies {event.route}" if event.kind == "copy" else "fills"] += event.bytes
        elif event.kind == "library" and event.name.startswith("convert "):
            converted[event.name] += 1
    facts = {
        "making_ns": sum(call.submit_ended_host_ns - call.submit_began_host_ns for call in made),
        "own_ns": _own_ns(measured),
        "allocations": sum(call.kind == "allocation" for call in measured.calls),
        "launches": {name: list(counts) for name, counts in measured.launches.items()},
        "moved": dict(moved),
        "converted": dict(converted),
    }
    return {name: fact for name, fact in facts.items() if fact}


def _is_known(call: HostCall) -> bool:
    """True if a call looks a known kernel up; one that was made again, of equal code, takes far longer to find."""
    took_ns = call.submit_ended_host_ns - call.submit_began_host_ns
    return call.name.startswith("find compiled ") and took_ns < FOUND_NS


def _own_ns(measured: MeasuredSample) -> int:
    """Time of the variant's thread in none of its recorded calls; 0 if it was not traced, and of ranks, which spend it
    in MPI, waiting for each other.
    """
    if any(event.mpi_rank is not None for event in measured.events):
        return 0
    whole = [call for call in measured.calls if call.kind == "execution"]
    spans = [
        (c.submit_began_host_ns, c.submit_ended_host_ns) for c in measured.calls if c not in whole and not c.thread
    ]
    spans += [(e.submit_began_host_ns or 0, e.submit_ended_host_ns or 0) for e in measured.events if not e.thread]
    own_ns = 0
    for call in whole:
        at = call.submit_began_host_ns
        for began, ended in sorted(spans):
            own_ns += max(0, began - at)
            at = max(at, ended)
        own_ns += max(0, call.submit_ended_host_ns - at)
    return own_ns
