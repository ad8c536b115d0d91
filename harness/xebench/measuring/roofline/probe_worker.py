"""Measures probes in a process of its own: ``python -m xebench.measuring.roofline.probe_worker DEVICE EFFORT NAME...``.

Prints one JSON list of results. A crash or a hang is seen by the parent, which asks again for the others.
"""

from __future__ import annotations

from typing import Any

import msgspec

from xebench.measuring.roofline.bench import measure_probes
from xebench.measuring.roofline.search import EFFORTS
from xebench.system import runtime
from xebench.system.children.process import answer


def results(arguments: list[str]) -> Any:
    """Measure the probes named after the device and the effort (a name in ``search.EFFORTS``)."""
    device, effort, *names = arguments
    runtime.load()
    from xebench.measuring.roofline.bench import Bench
    from xebench.measuring.session.session import Session

    return msgspec.to_builtins(measure_probes(Bench(Session.on(device), EFFORTS[effort]), names))


if __name__ == "__main__":
    answer(results)
