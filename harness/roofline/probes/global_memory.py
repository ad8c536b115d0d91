"""Bandwidth of device memory: STREAM's four kernels, reading alone, writing alone, and reads at random places.

Bytes are counted as STREAM does: what the kernel reads and writes, without the lines that a cache fetches because they
are written. J. D. McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers", 1995.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import starmap
from typing import Any

import numpy as np

from harness.dpex import specialize
from harness.roofline import expected
from harness.roofline.bench import Bench, nd_range, require_equal
from harness.roofline.expected import PERIOD, SCALE, stream_bytes, stream_inputs, stream_result
from harness.roofline.forms import RANDOM_FORMS, READ_FORMS, STREAM_FORMS
from harness.roofline.probes import global_memory_kernels
from harness.roofline.search import Candidate, Found, grown
from harness.roofline.sizes import power_of_two, whole_blocks
from harness.session.device_memory import Array

_POISON = -1.0

_FEWEST_READS = 1 << 22


class Group:
    """Three arrays, larger than the caches, for all probes."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def measure(self, name: str) -> Found:
        """Measure one probe."""
        return self._bench.search(self.candidates(name))

    def candidates(self, name: str) -> Iterator[Candidate]:
        """The forms of one probe."""
        if name == "read":
            return self._reads()
        if name == "write":
            return self._writes()
        if name == "random_read":
            return self._random_reads()
        return self._streams(name.removeprefix("stream_"))

    @cached_property
    def _arrays(self) -> tuple[Any, Any, Any]:
        """Output and the two inputs; on fast devices enlarged until a kernel takes long enough."""
        bench = self._bench

        def triad_ns(elements: int) -> float:
            a, b, c = (bench.zeros(elements, np.float32) for _ in range(3))
            submit = self._stream("triad", a, b, c, *self._forms(STREAM_FORMS)[0])
            return bench.device_ns(submit)

        most = whole_blocks(bench.largest_array_bytes // 4)
        elements = grown(whole_blocks(bench.array_bytes() // 4), most, bench.effort.shortest_ns, triad_ns)
        inputs = (np.tile(one, elements // PERIOD) for one in stream_inputs())
        b, c = map(bench.memory.upload, inputs)
        return bench.zeros(elements, np.float32), b, c

    def _forms(self, forms: tuple[tuple[int, int, int], ...]) -> list[tuple[int, int, int]]:
        largest = int(self._bench.device.max_work_group_size)
        allowed = [form for form in forms if form[2] <= largest]
        return allowed if self._bench.effort.all_forms else allowed[:2]

    def _stream(
        self, operation: str, a: Any, b: Any, c: Any, width: int, vectors: int, group: int
    ) -> Callable[[], Any]:
        kernel = specialize(global_memory_kernels.make_stream, operation=operation, width=width, vectors=vectors)
        space = nd_range(a.size // (width * vectors), group)
        return partial(self._bench.session.launch, kernel, space, a, b, c, np.float32(SCALE))

    def _streams(self, operation: str) -> Iterator[Candidate]:
        a, b, c = self._arrays
        amount = stream_bytes(operation, a.size)
        for form in self._forms(STREAM_FORMS):
            yield self._writer(_form(*form), amount, self._stream(operation, a, b, c, *form), stream_result(operation))
        if operation == "copy":
            copy = partial(self._bench.session.copy, a, b)
            yield self._writer({"command": "memcpy"}, amount, copy, stream_result(operation))

    def _writes(self) -> Iterator[Candidate]:
        a, _, _ = self._arrays
        session, value = self._bench.session, np.float32(7)
        for width, vectors, group in self._forms(STREAM_FORMS):
            kernel = specialize(global_memory_kernels.make_write, width=width, vectors=vectors)
            submit = partial(session.launch, kernel, nd_range(a.size // (width * vectors), group), a, value)
            yield self._writer(_form(width, vectors, group), a.nbytes, submit, np.full(PERIOD, value))
        yield self._writer({"command": "fill"}, a.nbytes, partial(session.fill, a, value), np.full(PERIOD, value))

    def _writer(self, form: dict[str, int | str], amount: int, submit: Callable[[], Any], period: Array) -> Candidate:
        """A form that writes the whole first array, with a known period."""
        bench = self._bench
        a, _, _ = self._arrays

        def verify() -> None:
            bench.poison(a, _POISON)
            submit().wait()
            require_equal(bench.memory.read(a).reshape(-1, PERIOD), period, "what was written")

        return Candidate(form, amount, partial(bench.device_ns, submit), verify)

    def _reads(self) -> Iterator[Candidate]:
        _, b, _ = self._arrays
        return starmap(partial(self._reader, b), self._forms(READ_FORMS))

    def _reader(self, b: Any, width: int, vectors: int, group: int) -> Candidate:
        bench = self._bench
        items = b.size // (width * vectors)
        sums = bench.zeros(items, np.float32)
        kernel = specialize(global_memory_kernels.make_read, width=width, vectors=vectors)
        submit = partial(bench.session.launch, kernel, nd_range(items, group), b, sums)

        def verify() -> None:
            bench.poison(sums, _POISON)
            submit().wait()
            require_equal(bench.memory.read(sums).reshape(-1, group), expected.read_sums(width, vectors, group), "sums")

        return Candidate(_form(width, vectors, group), b.nbytes, partial(bench.device_ns, submit), verify)

    def _random_reads(self) -> Iterator[Candidate]:
        bench = self._bench
        entries = power_of_two(bench.array_bytes() // 4)
        table = bench.memory.upload(np.arange(entries, dtype=np.uint32))
        forms = [form for form in RANDOM_FORMS if form[0] in bench.work_groups(form[0])]
        count = grown(
            _FEWEST_READS,
            entries,
            bench.effort.shortest_ns,
            lambda reads: self._random_reader(table, reads, *forms[0]).run(),
        )
        for form in forms if bench.effort.all_forms else forms[:1]:
            yield self._random_reader(table, count, *form)

    def _random_reader(self, table: Any, count: int, group: int, reads: int) -> Candidate:
        bench = self._bench
        items, mask = count // reads, np.uint32(table.size - 1)
        sums = bench.zeros(items, np.uint32)
        kernel = specialize(global_memory_kernels.make_random_read, reads=reads)
        submit = partial(bench.session.launch, kernel, nd_range(items, group), table, sums, mask)

        def verify() -> None:
            bench.poison(sums, 0)
            submit().wait()
            require_equal(bench.memory.read(sums), expected.random_sums(items, reads, int(mask)), "sums")

        form = {"work-group": group, "reads": reads}
        return Candidate(form, 4 * count, partial(bench.device_ns, submit), verify)


def _form(width: int, vectors: int, group: int) -> dict[str, int | str]:
    return {"work-group": group, "vectors": vectors, "width": width}
