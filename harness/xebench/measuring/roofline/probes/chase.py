"""Latency of a read that must wait for the one before: one work-item follows a ring through lines in random order."""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from xebench.dpex import kernel
from xebench.dpex import kernel_api as kapi
from xebench.measuring.roofline.bench import ProbeGroup, nd_range
from xebench.measuring.roofline.catalogue import FOOTPRINTS, chase_name
from xebench.measuring.roofline.forms import LINE_BYTES, PER_LINE, ring_of, ring_order
from xebench.measuring.roofline.search import Form, Measurement, chase_steps, check_footprint


@kernel
def _chase(item: kapi.NdItem, ring: Any, position: Any, steps: Any) -> None:
    # the type is unsigned, so that no step has to ask whether the index is negative
    at = position[0]
    for _ in range(steps):
        at = ring[at]
    position[0] = at


class Group(ProbeGroup):
    """A ring for each footprint."""

    def measure(self, name: str) -> Measurement:
        """Measure one footprint."""
        bench = self._bench
        footprint = next(size for size in FOOTPRINTS if chase_name(size) == name)
        check_footprint(footprint, bench.cache_bytes, bench.largest_array_bytes)
        return bench.search([self._form(footprint)])

    def _form(self, footprint_bytes: int) -> Form:
        bench = self._bench
        lines = footprint_bytes // LINE_BYTES
        order = ring_order(lines, seed=footprint_bytes)
        ring = bench.memory.upload(ring_of(order))
        start = order[:1] * np.uint32(PER_LINE)
        position = bench.memory.upload(start)
        steps = chase_steps(lines, fewest=1 << 14, most=1 << 16) if bench.effort.quick else chase_steps(lines)
        last = order[steps % lines : steps % lines + 1] * np.uint32(PER_LINE)
        # each run goes on where the last one stopped: it never meets what the last one left in a cache
        submit = partial(bench.session.launch, _chase, nd_range(1, 1), ring, position, np.int32(steps))
        return bench.form({"steps": steps}, steps, submit, position, lambda: last, poison=start)
