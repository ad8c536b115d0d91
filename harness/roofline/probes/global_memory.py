"""Bandwidth of device memory: STREAM's four kernels, reading alone, writing alone, and reads at random places.

Bytes are counted as STREAM does: what the kernel reads and writes, without the lines that a cache fetches because they
are written. J. D. McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers", 1995.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from harness.dpex import specialize
from harness.roofline import expected
from harness.roofline.bench import Bench, nd_range
from harness.roofline.expected import SCALE, stream_bytes, stream_inputs, stream_result
from harness.roofline.forms import RANDOM_FORMS, READ_FORMS, STREAM_FORMS
from harness.roofline.probes import global_memory_kernels
from harness.roofline.search import Form, Measurement, grown
from harness.roofline.sizes import power_of_two, whole_blocks

_FEWEST_READS = 1 << 22
_WRITTEN = np.float32(7)


class Group:
    """Three arrays, larger than the caches, for all probes."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def measure(self, name: str) -> Measurement:
        """Measure one probe."""
        return self._bench.search(self.forms(name))

    def forms(self, name: str) -> Iterator[Form]:
        """The forms of one probe."""
        of_probe = {"read": self._reads, "write": self._writes, "random_read": self._random_reads}
        return of_probe.get(name, partial(self._streams, name.removeprefix("stream_")))()

    @cached_property
    def _arrays(self) -> tuple[Any, Any, Any]:
        """Output and the two inputs; on fast devices enlarged until a kernel takes long enough."""
        bench = self._bench
        allocated = lru_cache(maxsize=1)(self._allocated)
        form = bench.likely(STREAM_FORMS)[0]
        elements = grown(
            whole_blocks(bench.array_bytes() // 4),
            whole_blocks(bench.largest_array_bytes // 4),
            lambda elements: bench.device_ns(self._stream("triad", *allocated(elements), *form)),
        )
        return allocated(elements)

    def _allocated(self, elements: int) -> tuple[Any, Any, Any]:
        a, b, c = (self._bench.session.alloc(elements, np.float32) for _ in range(3))
        for array, period in zip((b, c), stream_inputs(), strict=True):
            self._bench.write(array, period)
        return a, b, c

    def _stream(
        self, operation: str, a: Any, b: Any, c: Any, group: int, vectors: int, width: int
    ) -> Callable[[], Any]:
        kernel = specialize(global_memory_kernels.make_stream, operation=operation, width=width, vectors=vectors)
        space = nd_range(a.size // (width * vectors), group)
        return partial(self._bench.session.launch, kernel, space, a, b, c, np.float32(SCALE))

    def _streams(self, operation: str) -> Iterator[Form]:
        a, b, c = self._arrays
        amount, result = stream_bytes(operation, a.size), partial(stream_result, operation)
        for form in self._bench.likely(STREAM_FORMS):
            submit = self._stream(operation, a, b, c, *form)
            yield self._bench.form(_parameters(*form), amount, submit, a, result)
        if operation == "copy":
            submit = partial(self._bench.session.copy, a, b)
            yield self._bench.form({"command": "memcpy"}, amount, submit, a, result)

    def _writes(self) -> Iterator[Form]:
        a, _, _ = self._arrays
        session, result = self._bench.session, lambda: np.full(1, _WRITTEN)
        for group, vectors, width in self._bench.likely(STREAM_FORMS):
            kernel = specialize(global_memory_kernels.make_write, width=width, vectors=vectors)
            submit = partial(session.launch, kernel, nd_range(a.size // (width * vectors), group), a, _WRITTEN)
            yield self._bench.form(_parameters(group, vectors, width), a.nbytes, submit, a, result)
        yield self._bench.form({"command": "fill"}, a.nbytes, partial(session.fill, a, _WRITTEN), a, result)

    def _reads(self) -> Iterator[Form]:
        _, b, _ = self._arrays
        session = self._bench.session
        for group, vectors, width in self._bench.likely(READ_FORMS):
            sums = session.alloc(b.size // (width * vectors), np.float32)
            kernel = specialize(global_memory_kernels.make_read, width=width, vectors=vectors)
            submit = partial(session.launch, kernel, nd_range(sums.size, group), b, sums)
            result = partial(expected.read_sums, width, vectors, group)
            yield self._bench.form(_parameters(group, vectors, width), b.nbytes, submit, sums, result)

    def _random_reads(self) -> Iterator[Form]:
        bench = self._bench
        entries = power_of_two(bench.array_bytes() // 4)
        table = bench.memory.upload(np.arange(entries, dtype=np.uint32))
        forms = bench.likely(RANDOM_FORMS)
        count = grown(_FEWEST_READS, entries, lambda count: self._random_reader(table, count, *forms[0]).run())
        return (self._random_reader(table, count, *form) for form in forms)

    def _random_reader(self, table: Any, count: int, group: int, reads: int) -> Form:
        session, mask = self._bench.session, np.uint32(table.size - 1)
        sums = session.alloc(count // reads, np.uint32)
        kernel = specialize(global_memory_kernels.make_random_read, reads=reads)
        submit = partial(session.launch, kernel, nd_range(sums.size, group), table, sums, mask)
        result = partial(expected.random_sums, sums.size, reads, int(mask))
        return self._bench.form({"work-group": group, "reads": reads}, 4 * count, submit, sums, result, poison=0)


def _parameters(group: int, vectors: int, width: int) -> dict[str, int | str]:
    return {"work-group": group, "vectors": vectors, "width": width}
