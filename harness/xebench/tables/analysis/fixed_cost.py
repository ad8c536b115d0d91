"""The fixed cost of kernels: does a pair compare two short kernels, or mostly what every kernel costs?

Each launch costs the device a time that no amount of work explains, about that of an empty kernel or twice as much. It
is in both sides of a speed-up and draws it towards 1: kernels of 10 us of which one does twice the work of the other
measured 1.7 to 1.8 times on a GPU whose empty kernel takes 2.9 us.
"""

from __future__ import annotations

from typing import Final

from xebench.tables.analysis.judgement import LARGER_PRESET
from xebench.tables.analysis.rows import Row
from xebench.vocabulary import Metric

#: Times of an empty kernel from which the fixed cost is no remark worth: it is 10 % of the shorter side there.
FEW: Final = 10.0


def with_fixed_cost(pair: Row, empty_kernel_ns: float | None) -> Row:
    """A row of the table `pairs` with `times_empty_kernel`, and a remark in its reason where that is few.

    Args:
        pair: the row; only times on the device's clock are compared with an empty kernel's.
        empty_kernel_ns: device time of an empty kernel; None where it was not measured.
    """
    if pair["metric"] != Metric.DEVICE or pair["variant_ns"] is None or not empty_kernel_ns:
        return {**pair, "times_empty_kernel": None}
    times = float(min(pair["baseline_ns"], pair["variant_ns"])) / empty_kernel_ns
    remark = (
        f"; times are only {times:.1f} times an empty kernel's ({empty_kernel_ns / 1000:.2g} us): fixed cost is in the "
        f"ratio; {LARGER_PRESET}"
    )
    return {**pair, "times_empty_kernel": times, "reason": pair["reason"] + (remark if times < FEW else "")}
