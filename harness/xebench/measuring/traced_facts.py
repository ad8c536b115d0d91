"""Facts about one traced execution that reports remark on: what the host makes, allocates, moves and converts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from xebench.session.recorder import MeasuredSample


def traced_facts(measured: MeasuredSample) -> dict[str, Any]:
    """Work of an execution besides its kernels.

    Args:
        measured: the execution, with the calls of the host.

    Returns:
        ``making_ns``: host time in which kernels were compiled and built; ``allocations``: their number; ``moved``:
        bytes of copies by their route, and of fills; ``converted``: number of copies that change the type of the
        elements, by what they do. Zeros are left out.
    """
    made = [call for call in measured.calls if call.kind in ("compile", "build")]
    moved: Counter[str] = Counter()
    converted: Counter[str] = Counter()
    for event in measured.events:
        if event.kind in ("copy", "fill") and event.bytes:
            moved[f"copies {event.route}" if event.kind == "copy" else "fills"] += event.bytes
        elif event.kind == "library" and event.name.startswith("convert "):
            converted[event.name] += 1
    facts = {
        "making_ns": sum(call.submit_ended_host_ns - call.submit_began_host_ns for call in made),
        "allocations": sum(call.kind == "allocation" for call in measured.calls),
        "moved": dict(moved),
        "converted": dict(converted),
    }
    return {name: fact for name, fact in facts.items() if fact}
