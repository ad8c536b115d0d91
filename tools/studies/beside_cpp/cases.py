"""The cases of the study: patterns judged by wall time whose commands take less than some 100 us."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from xebench.results.analysis.intervals import Interval

#: Intervals are far apart where their nearest ends differ by more than this factor.
FAR: Final = 1.15


class Case(NamedTuple):
    """A pattern at one size.

    Attributes:
        source: file of the programs in C++, without its ending; they are named `pattern_variant`.
        chapter, pattern: file and name of the pattern.
        parameters: its sizes and axes.
        given: names of those that the programs in C++ take, three at most.
        baseline: variant that the others are compared with.
        variants: variants to compare.
    """

    source: str
    chapter: str
    pattern: str
    parameters: Mapping[str, int]
    given: tuple[str, ...]
    baseline: str
    variants: tuple[str, ...]


_FIELDS: Final = {"blocks": 8, "work_group_size": 64}

CASES: Final = (
    Case(
        *("queues", "queues", "redundant_queue_construction", {"n": 1 << 20, "steps": 10, "work_group_size": 512}),
        *(("n", "steps"), "queue_each_step", ("one_queue", "queue_each_step_shared_context")),
    ),
    Case(
        *("queues", "queues", "multiple_queues", {"n": 1 << 12, "rounds": 10, "work": 1}),
        *(("n", "rounds", "work"), "default_queues", ("one_queue",)),
    ),
    Case(
        *("queues", "queues", "kernel_launch_latency", {"launches": 1000}),
        *(("launches",), "wait_for_each", ("wait_once",)),
    ),
    Case(
        *("buffers", "memory", "allocation_in_loop", {"n": 25, "steps": 1000}),
        *(("n", "steps"), "buffer_every_step", ("buffer_once",)),
    ),
    *(
        Case(
            *("buffers", "memory", "usm_vs_buffers"),
            {"n": 1 << 19, "steps": 3, "device_steps": 20, "work_group_size": 256, "stride": stride},
            *(("n", "steps", "stride"), "shared_memory", ("device_memory", "buffer_by_reference")),
        )
        for stride in (1, 1000, 200_000)
    ),
    Case(
        *("buffers", "transfers", "buffer_scopes", {"n": 1 << 17, "rounds": 10}),
        *(("n", "rounds"), "block_for_each_kernel", ("one_block",)),
    ),
    Case(
        *("buffers", "queues", "accessor_modes", {"n": 1 << 13, "rounds": 10, "work": 10}),
        *(("n", "rounds", "work"), "read_write_inputs", ("read_only_inputs",)),
    ),
    *(
        Case(
            *("transforms", "libraries", "fourier_buffers", {"n": n}),
            *(("n",), "kernel_puts_signals", ("buffers",)),
        )
        for n in (1 << 12, 1 << 16)
    ),
    Case(
        *("copies", "memory", "work_arrays", _FIELDS),
        *(("blocks",), "copied", ("allocated", "allocated_once")),
    ),
    *(
        Case(
            *("copies", "transfers", "resident_data", {**_FIELDS, "kernels": kernels}),
            *(("blocks", "kernels"), "scope_for_each", ("one_scope",)),
        )
        for kernels in (2, 20)
    ),
    Case(
        *("copies", "transfers", "copy_directions", _FIELDS),
        *(("blocks",), "both_ways", ("needed_ways",)),
    ),
)


def is_far(one: Interval, other: Interval) -> bool:
    """True if the intervals exclude one another by more than `FAR`."""
    return one.low > FAR * other.high or other.low > FAR * one.high
