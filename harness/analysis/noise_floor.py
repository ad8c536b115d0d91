"""The instrument's own error in words: what no result of a run can be better than."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def noise_floor(device: Mapping[str, Any]) -> str | None:
    """One line from a row of the table `devices`, of what was measured; None if nothing was.

    Args:
        device: The row, by column name.
    """
    parts = [
        _part(device, "{aa_speedup:.4f}x for a kernel against itself ({aa_low:.4f} to {aa_high:.4f})"),
        _part(device, "empty kernel {empty_kernel_ns} on the device, {empty_kernel_host_ns} on the host"),
        _part(device, "submit to start {empty_kernel_queue_ns}"),
        _part(device, "launch {launch_overhead_ns}"),
        _part(device, "timer quantum {timer_quantum_ns}"),
        _part(device, "known lengths within {length_residual:.2%} of a line"),
        _part(
            {**device, "ratio": overhead_ratio(device)},
            "a sample costs {sample_overhead_ns} beside its commands, {ratio:.1f} times "
            "a plain loop's {bare_overhead_ns}",
        ),
    ]
    return "; ".join(part for part in parts if part) or None


def overhead_ratio(device: Mapping[str, Any]) -> float | None:
    """How many times a plain dpctl loop's overhead a sample has; None if it was not measured."""
    sample_ns, bare_ns = _number(device, "sample_overhead_ns"), _number(device, "bare_overhead_ns")
    return None if sample_ns is None or not bare_ns else sample_ns / bare_ns


class _Measured(dict[str, Any]):
    """Columns for `str.format_map`: times as text, and a KeyError for what was not measured."""

    def __init__(self, device: Mapping[str, Any]) -> None:
        super().__init__()
        self._device = device

    def __missing__(self, name: str) -> Any:
        value = _number(self._device, name)
        if value is None:
            raise KeyError(name)
        return _time(value) if name.endswith("_ns") else value


def _part(device: Mapping[str, Any], text: str) -> str:
    try:
        return text.format_map(_Measured(device))
    except KeyError:
        return ""


def _number(device: Mapping[str, Any], name: str) -> float | None:
    value = device.get(name)
    try:
        number = math.nan if value is None else float(value)
    except TypeError:  # pandas' NA
        return None
    return None if math.isnan(number) else number


def _time(time_ns: float) -> str:
    return f"{time_ns:.0f} ns" if time_ns < 1000 else f"{time_ns / 1000:.3g} us"
