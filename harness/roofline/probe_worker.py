"""Measures probes in a process of its own: ``python -m harness.roofline.probe_worker DEVICE EFFORT NAME...``.

Prints one JSON list of results. A crash or a hang is seen by the parent, which asks again for the others.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import msgspec

from harness.children.ask import leave
from harness.errors import XebenchError
from harness.roofline.in_process import measure_probes
from harness.roofline.search import EFFORTS


def main(arguments: Sequence[str]) -> int:
    """Measure the probes named after the device and the effort (a name in ``search.EFFORTS``)."""
    device, effort, *names = arguments
    try:
        from harness import runtime

        runtime.load()
        from harness.roofline.bench import Bench
        from harness.session.session import Session

        print(msgspec.json.encode(measure_probes(Bench(Session.on(device), EFFORTS[effort]), names)).decode())
    except XebenchError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
