"""The instrument's own error in words: what no result of a run can be better than."""

from __future__ import annotations

import math
from collections.abc import Mapping
from string import Formatter
from typing import Any, Final

_SUBMISSION: Final = "submit to start {empty_kernel_queue_ns}"
#: What each sentence says, left out when a column of it was not measured; times come as text.
_PARTS: Final = (
    "{aa_speedup:.4f}x for a kernel against itself ({aa_low:.4f} to {aa_high:.4f})",
    "empty kernel {empty_kernel_ns} on the device, {empty_kernel_host_ns} on the host",
    _SUBMISSION,
    "launch {launch_overhead_ns}",
    "timer quantum {timer_quantum_ns}",
    "known lengths within {length_residual:.2%} of a line",
    "a sample costs {sample_overhead_ns} beside its commands, {ratio:.1f} times a plain loop's {bare_overhead_ns}",
)


def noise_floor(device: Mapping[str, Any]) -> str | None:
    """One line from a row of the table `devices`, of what was measured; None if nothing was.

    Args:
        device: The row, by column name.
    """
    numbers = {name: _number(device, name) for name in device} | {"ratio": overhead_ratio(device)}
    known = {
        name: _time(value) if name.endswith("_ns") else value for name, value in numbers.items() if value is not None
    }
    return "; ".join(_words(part, numbers).format_map(known) for part in _PARTS if _names(part) <= known.keys()) or None


def _words(part: str, numbers: Mapping[str, float | None]) -> str:
    """A sentence, or what is said in its place when the driver's times of submission cannot be true."""
    queue_ns, host_ns = numbers.get("empty_kernel_queue_ns"), numbers.get("empty_kernel_host_ns")
    if part != _SUBMISSION or queue_ns is None:
        return part
    # the host waited from before the submission until after the end
    untrue = queue_ns <= 0 or (host_ns is not None and queue_ns > host_ns)
    return "the driver gives no submission times" if untrue else part


def overhead_ratio(device: Mapping[str, Any]) -> float | None:
    """The overhead of a sample divided by that of a plain dpctl loop; None if it was not measured."""
    sample_ns, bare_ns = _number(device, "sample_overhead_ns"), _number(device, "bare_overhead_ns")
    return None if sample_ns is None or not bare_ns else sample_ns / bare_ns


def _names(part: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(part) if name}


def _number(device: Mapping[str, Any], name: str) -> float | None:
    value = device.get(name)
    try:
        number = math.nan if value is None else float(value)
    except (TypeError, ValueError):  # pandas' NA, text
        return None
    return None if math.isnan(number) else number


def _time(time_ns: float) -> str:
    return f"{time_ns:.0f} ns" if time_ns < 1000 else f"{time_ns / 1000:.3g} us"
