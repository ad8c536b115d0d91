"""Bandwidth of device memory: STREAM's four kernels, reading alone, writing alone, and reads at random places.

Bytes are counted as STREAM does: what the kernel reads and writes, without the lines that a cache fetches because they
are written. J. D. McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers", 1995.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from harness.dpex import specialize
from harness.roofline import expected
from harness.roofline.bench import ProbeGroup, nd_range
from harness.roofline.expected import SCALE, stream_bytes, stream_inputs, stream_result
from harness.roofline.forms import RANDOM_FORMS, READ_FORMS, STREAM_FORMS
from harness.roofline.probes import global_memory_kernels
from harness.roofline.search import Form, Measurement, grown
from harness.roofline.sizes import power_of_two, whole_blocks

_FEWEST_READS = 1 << 22
#: On fast devices, filling larger arrays takes longer than a quick look may.
_QUICK_GROWTH = 4
_WRITTEN = np.float32(7)


class Group(ProbeGroup):
    """Three arrays, larger than the caches, for all probes."""

    def measure(self, name: str) -> Measurement:
        """Measure one probe."""
        return self._bench.search(self.forms(name))

    def forms(self, name: str) -> Iterator[Form]:
        """The forms of one probe."""
        if name.startswith("stream_"):
            return self._streams(name.removeprefix("stream_"))
        return {"read": self._reads, "write": self._writes, "random_read": self._random_reads}[name]()

    # ---- three arrays of one size, each made when it is first used ---------------------------------------------------

    @cached_property
    def _b(self) -> Any:
        """The first input; on fast devices enlarged until reading it takes long enough."""
        bench = self._bench
        allocated = lru_cache(maxsize=1)(self._input)
        form = bench.likely(READ_FORMS)[0]
        start, most = (whole_blocks(size // 4) for size in (bench.array_bytes(), bench.largest_array_bytes))
        elements = grown(
            start,
            min(most, _QUICK_GROWTH * start) if bench.effort.quick else most,
            lambda elements: 3 * self._reader(allocated(elements, 0), *form).run(),  # as long as a triad takes
        )
        return allocated(elements, 0)

    @cached_property
    def _c(self) -> Any:
        """The second input."""
        return self._input(self._b.size, 1)

    @cached_property
    def _a(self) -> Any:
        """The output."""
        return self._bench.session.alloc(self._b.size, np.float32)

    def _input(self, elements: int, number: int) -> Any:
        array = self._bench.session.alloc(elements, np.float32)
        self._bench.write(array, stream_inputs()[number])
        return array

    # ---- forms ------------------------------------------------------------------------------------------------------

    def _streams(self, operation: str) -> Iterator[Form]:
        a, b, c, session = self._a, self._b, self._c, self._bench.session
        amount, result = stream_bytes(operation, a.size), partial(stream_result, operation)
        for group, vectors, width in self._bench.likely(STREAM_FORMS):
            kernel = specialize(global_memory_kernels.make_stream, operation=operation, width=width, vectors=vectors)
            space = nd_range(a.size // (width * vectors), group)
            submit = partial(session.launch, kernel, space, a, b, c, np.float32(SCALE))
            yield self._bench.form(_parameters(group, vectors, width), amount, submit, a, result)
        if operation == "copy":
            yield self._bench.form({"command": "memcpy"}, amount, partial(session.copy, a, b), a, result)

    def _writes(self) -> Iterator[Form]:
        a, session, result = self._a, self._bench.session, partial(np.full, 1, _WRITTEN)
        for group, vectors, width in self._bench.likely(STREAM_FORMS):
            kernel = specialize(global_memory_kernels.make_write, width=width, vectors=vectors)
            submit = partial(session.launch, kernel, nd_range(a.size // (width * vectors), group), a, _WRITTEN)
            yield self._bench.form(_parameters(group, vectors, width), a.nbytes, submit, a, result)
        yield self._bench.form({"command": "fill"}, a.nbytes, partial(session.fill, a, _WRITTEN), a, result)

    def _reads(self) -> Iterator[Form]:
        return (self._reader(self._b, *form) for form in self._bench.likely(READ_FORMS))

    def _reader(self, b: Any, group: int, vectors: int, width: int) -> Form:
        session = self._bench.session
        sums = session.alloc(b.size // (width * vectors), np.float32)
        kernel = specialize(global_memory_kernels.make_read, width=width, vectors=vectors)
        submit = partial(session.launch, kernel, nd_range(sums.size, group), b, sums)
        result = partial(expected.read_sums, width, vectors, group)
        return self._bench.form(_parameters(group, vectors, width), b.nbytes, submit, sums, result)

    def _random_reads(self) -> Iterator[Form]:
        bench = self._bench
        entries = power_of_two(bench.array_bytes() // 4)
        table = bench.memory.upload(np.arange(entries, dtype=np.uint32))
        return bench.grown(RANDOM_FORMS, _FEWEST_READS, entries, partial(self._random_reader, table))

    def _random_reader(self, table: Any, count: int, form: tuple[int, int]) -> Form:
        group, reads = form
        session, mask = self._bench.session, np.uint32(table.size - 1)
        sums = session.alloc(count // reads, np.uint32)
        kernel = specialize(global_memory_kernels.make_random_read, reads=reads)
        submit = partial(session.launch, kernel, nd_range(sums.size, group), table, sums, mask)
        result = partial(expected.random_sums, sums.size, reads, int(mask))
        return self._bench.form({"work-group": group, "reads": reads}, 4 * count, submit, sums, result, poison=0)


def _parameters(group: int, vectors: int, width: int) -> dict[str, int | str]:
    return {"work-group": group, "vectors": vectors, "width": width}
