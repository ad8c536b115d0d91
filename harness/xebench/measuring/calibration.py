"""The calibration of a run before the first pattern: the device's roofs, and the instrument's own error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from typing import Final

from xebench.measuring.instrument import measure_instrument
from xebench.measuring.machine_monitor import LOAD_CHANGE, MachineMonitor
from xebench.measuring.roofline.catalogue import ROUTES, WORKING_SETS, level_name
from xebench.measuring.roofline.in_process import quick_result, quick_results
from xebench.measuring.roofline.levels import beyond_caches, cached_bytes, known_caches, measured_levels, named_levels
from xebench.measuring.roofline.results import ProbeResult, highest
from xebench.measuring.roofline.search import BRIEF, RUN
from xebench.measuring.session.cache_flush import Flusher, cache_bytes
from xebench.measuring.session.session import Session
from xebench.vocabulary import MIXES, DeviceClass, Roof

#: How much faster than a quick look memory may be: that tries few forms for a moment, and others of the same device
#: have been up to a third faster.
QUICK_LOOK_MISSES: Final = 4 / 3
#: Ends of a probe that leave a roof unknown which the device has.
_NO_ROOF: Final = ("failed", "undetermined")
#: A brief look measures every so manieth working set.
_BRIEF_STEP: Final = 2


def measure_roofs(session: Session, *, brief: bool = False) -> dict[str, float | str | None]:
    """Measure the device's roofs, and the instrument's own error.

    Args:
        session: on the device.
        brief: look for a moment only.

    Returns:
        Columns of the table ``devices``: the roofs, None where the device lacks something or computes wrong, and those
        of :func:`xebench.measuring.instrument.measure_instrument`.
    """
    device_class = DeviceClass.CPU if session.device.is_cpu else DeviceClass.GPU
    looked_at = [roof for roof in Roof if not (brief and roof in MIXES)]
    roofs = [roof.probes[0] for roof in looked_at]
    levels = [level_name(size) for size in WORKING_SETS[:: _BRIEF_STEP if brief else 1]]
    with closing(MachineMonitor(device_class)) as monitor:
        results = quick_results(session.device.filter_string, [*roofs, *levels, *ROUTES], BRIEF if brief else RUN)
        state, _ = monitor.observe()
    busy = device_class == DeviceClass.CPU and max(state["contended"] or 0, state["stolen"] or 0) > LOAD_CHANGE
    by_roof = {roof: results[roof.probes[0]] for roof in looked_at}
    by_name: dict[str, ProbeResult] = {roof: one for roof, one in by_roof.items() if one.probe not in ROUTES}
    by_name |= {route: results[route] for route in ROUTES}
    failures = [f"{name}: {result.reason}" for name, result in by_name.items() if result.status in _NO_ROOF]
    values = {name: result.value for name, result in results.items()}
    measured = measured_levels(values)
    memory_gbps = highest(Roof.BANDWIDTH, values)
    if memory_gbps is not None:
        memory_gbps = max(memory_gbps, beyond_caches(measured, cache_bytes(session.device)))
    caches = known_caches(device_class, int(session.device.global_mem_cache_size))
    return {
        **{roof.column: highest(roof, values) for roof in Roof},
        Roof.BANDWIDTH.column: memory_gbps,
        "bandwidth_levels": named_levels(measured, memory_gbps, caches),
        "link_roofs": json.dumps({route: values[route] for route in ROUTES}),
        "roofs_disturbed": _disturbed(by_roof, busy=busy),
        "roofs_from": "; ".join(["this run", *failures]),
        **measure_instrument(session),
    }


def _disturbed(results: Mapping[Roof, ProbeResult], *, busy: bool) -> str:
    """The roofs that may be too low: all of them when others used the cores."""
    # repeats of a copy differ on a quiet machine, too; a link whose halves differ has no roof
    told = {roof for roof, result in results.items() if busy or (roof is not Roof.HOST_LINK and result.disturbed)}
    return ", ".join(roof for roof, result in results.items() if result.value and roof in told)


def cold_limit_gbps(session: Session) -> float:
    """The bandwidth above which data did not come from the memory; 0 if unknown."""
    return QUICK_LOOK_MISSES * (quick_result(session.device.filter_string, Roof.BANDWIDTH.probes[0]).value or 0.0)


def make_flusher(session: Session) -> Flusher:
    """Make the kernel that empties the device's caches; measure their size where no driver reports it."""
    told = cache_bytes(session.device)
    return Flusher(session.queue, cold_limit_gbps(session), told or _measured_cache_bytes(session))


def _measured_cache_bytes(session: Session) -> int | None:
    memory = Roof.BANDWIDTH.probes[0]
    names = [memory, *map(level_name, WORKING_SETS)]
    results = quick_results(session.device.filter_string, names, BRIEF)
    measured = {name: result.value for name, result in results.items()}
    return cached_bytes(measured_levels(measured), measured[memory])
