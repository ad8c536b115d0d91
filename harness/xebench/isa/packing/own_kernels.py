"""The kernels of the harness itself: all run here, since they are few and small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from xebench.measuring.device_numbers import DeviceNumbers
from xebench.measuring.doctor.self_test_kernels import run_checks
from xebench.measuring.input_check import Sums
from xebench.measuring.instrument import measure_instrument
from xebench.measuring.random_numbers import LARGE_BYTES, Numbers
from xebench.measuring.roofline.bench import Bench
from xebench.measuring.roofline.catalogue import PROBES
from xebench.measuring.roofline.in_process import measure_probes
from xebench.measuring.roofline.search import Effort
from xebench.measuring.session.cache_flush import Flusher
from xebench.measuring.session.session import Session

#: Every form of every probe once.
ONCE: Final = Effort(screening=1, finalists=1, patience=1, patience_s=0.0, confirmations=1, most_s=0.0)


def collect_own_kernels(device: str) -> Iterator[str]:
    """Run the self-test, the probes of the roofline and what a worker runs beside patterns; a line for what fails.

    Args:
        device: SYCL filter string of one that has doubles, local memory and work-groups of 4096.
    """
    yield from run_checks(device)
    session = Session.on(device)
    measure_instrument(session)
    Flusher(session.queue)
    Numbers(np.random.Philox(0), DeviceNumbers(session.queue)).random(LARGE_BYTES, np.float32)
    for dtype in (np.int32, np.int16, np.int8):
        Sums(session.queue)(session.alloc(7, dtype))
    for result in measure_probes(Bench(session, ONCE), [probe.name for probe in PROBES]):
        if result.status == "failed":
            yield f"{result.probe}: {result.reason}"
