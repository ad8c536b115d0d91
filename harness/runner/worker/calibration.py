"""What a run knows of its device before the first pattern: the roofs, and the instrument's own error."""

from __future__ import annotations

from harness.roofline.in_process import quick_result
from harness.runner.worker.instrument import measure_instrument
from harness.session.session import Session
from harness.vocabulary import Roof

#: How much faster than a quick look memory may be: that tries one form for a moment, and others of the same device have
#: been up to a third faster.
QUICK_LOOK_MISSES = 4 / 3


def measure_roofs(session: Session) -> dict[str, float | str | None]:
    """Measure the device's roofs, and the instrument's own error.

    Returns:
        Columns of the table ``devices``: the roofs, None where the device lacks something or computes wrong, and those
        of :func:`harness.runner.worker.instrument.measure_instrument`.
    """
    device = session.device.filter_string
    results = {roof: quick_result(device, roof.probes[0]) for roof in Roof}
    failures = [f"{roof}: {result.reason}" for roof, result in results.items() if result.status == "failed"]
    return {
        **{roof.column: result.value for roof, result in results.items()},
        "roofs_from": "; ".join(["this run", *failures]),
        **measure_instrument(session),
    }


def cold_limit_gbps(session: Session) -> float:
    """The bandwidth above which data did not come from the memory; 0 if it is not known."""
    return QUICK_LOOK_MISSES * (quick_result(session.device.filter_string, Roof.BANDWIDTH.probes[0]).value or 0.0)
