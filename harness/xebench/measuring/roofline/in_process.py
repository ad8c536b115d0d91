"""Measure probes in this process: the worker of a run, or a child of ``xebench roofline``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from xebench.errors import TooLarge, Unsupported, describe_error, first_line
from xebench.measuring.roofline.catalogue import Probe, find_probe, grouped
from xebench.measuring.roofline.results import ProbeResult
from xebench.measuring.roofline.search import QUICK, Effort, Measurement, NoForm, Undetermined, WrongResult

if TYPE_CHECKING:
    from xebench.measuring.roofline.bench import Bench, ProbeGroup


#: What was looked at in this process, by device and probe.
_looked_at: dict[tuple[str, str], ProbeResult] = {}


def quick_results(device: str, probes: Iterable[str], effort: Effort = QUICK) -> dict[str, ProbeResult]:
    """A quick look at some probes, taken once in a process, on a session of its own: nothing of it shows in another.

    Args:
        device: SYCL filter string.
        probes: names in the catalogue.
        effort: for those that were not looked at yet.
    """
    names = list(dict.fromkeys(probes))
    if missing := [name for name in names if (device, name) not in _looked_at]:
        from xebench.measuring.roofline.bench import Bench
        from xebench.measuring.session.session import Session

        for result in measure_probes(Bench(Session.on(device), effort), missing):
            _looked_at[device, result.probe] = result
    return {name: _looked_at[device, name] for name in names}


def quick_result(device: str, probe: str) -> ProbeResult:
    """The same of one probe."""
    return quick_results(device, [probe])[probe]


def forget_results() -> None:
    """Measure every probe again, as another process would."""
    _looked_at.clear()


def measure_probes(bench: Bench, names: Sequence[str]) -> list[ProbeResult]:
    """A result for each name, whatever happens to its probe."""
    return measure_groups(
        lambda group: importlib.import_module(f"xebench.measuring.roofline.probes.{group}").Group(bench), names
    )


def measure_groups(make_group: Callable[[str], ProbeGroup], names: Sequence[str]) -> list[ProbeResult]:
    """The same with groups of one's own.

    Args:
        make_group: gives the object that measures the probes of a group, by the group's name.
        names: of probes.
    """
    results = []
    for name, members in grouped(names).items():
        group = make_group(name)
        results += [_measure(group, find_probe(member)) for member in members]
    return results


def _measure(group: ProbeGroup, probe: Probe) -> ProbeResult:
    try:
        return result_of(probe, group.measure(probe.name))
    except (Unsupported, TooLarge) as error:
        return ProbeResult(probe.name, "skipped", reason=first_line(error))
    except Undetermined as error:
        return ProbeResult(probe.name, "undetermined", reason=first_line(error))
    except (NoForm, WrongResult) as error:
        return ProbeResult(probe.name, "failed", reason=first_line(error))
    except Exception as error:
        return ProbeResult(probe.name, "failed", reason=describe_error(error))


def result_of(probe: Probe, measurement: Measurement) -> ProbeResult:
    """A rate is amount over time (bytes a ns are GB/s), a latency time over amount."""

    def value(time_ns: float) -> float:
        return measurement.amount / time_ns if probe.is_rate else time_ns / measurement.amount

    return ProbeResult(
        probe=probe.name,
        status="ok",
        value=value(measurement.best_ns),
        median=value(measurement.median_ns),
        samples=len(measurement.times_ns),
        best_ns=measurement.best_ns,
        form=measurement.form,
        rejected=measurement.rejected,
    )
