"""Probes of device memory and its caches: bandwidth by access and by working set."""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from numba_sycl import device_func, kernel, specialize, vector
from numba_sycl import kernel_api as kapi
from xebench.errors import Unsupported
from xebench.roofs import forms as expected
from xebench.roofs.bench import ProbeGroup, nd_range
from xebench.roofs.catalogue import WORKING_SETS, level_name
from xebench.roofs.forms import (
    AGAIN_FORM,
    READ_FORMS,
    SCALE,
    STREAM_FORMS,
    stream_bytes,
    stream_inputs,
    stream_result,
)
from xebench.roofs.search import (
    AGAIN_BLOCK_BYTES,
    MOST_PASSES,
    Form,
    Measurement,
    far_shift,
    grown,
    grown_array_bytes,
    next_power_of_two,
    require_working_set,
    whole_blocks,
)


@device_func
def _copy(x: Any, y: Any, scale: Any) -> Any:
    return x


@device_func
def _triad(x: Any, y: Any, scale: Any) -> Any:
    return x + scale * y


_OPERATIONS = {"copy": _copy, "triad": _triad}


def make_stream(operation: str, width: int, vectors: int) -> Any:
    """``a = operation(b, c)``; an input that the operation does not use is never read."""
    combine = _OPERATIONS[operation]

    @kernel(restrict=True, fast_math=True)
    def stream(item: kapi.NdItem, a: Any, b: Any, c: Any, scale: Any) -> None:
        step = item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + item.get_local_id(0)
        for _ in range(vectors):
            a[i] = combine(b[i], c[i], scale)
            i += step

    @kernel(restrict=True, fast_math=True)
    def stream4(item: kapi.NdItem, a: Any, b: Any, c: Any, scale: Any) -> None:
        step = 4 * item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + 4 * item.get_local_id(0)
        for _ in range(vectors):
            p, q, r, s = vector.load4(b, i)
            t, u, v, w = vector.load4(c, i)
            vector.store4(a, i, combine(p, t, scale), combine(q, u, scale), combine(r, v, scale), combine(s, w, scale))
            i += step

    return stream if width == 1 else stream4


def make_write(width: int, vectors: int) -> Any:
    """``a = value``."""

    @kernel
    def write(item: kapi.NdItem, a: Any, value: Any) -> None:
        step = item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + item.get_local_id(0)
        for _ in range(vectors):
            a[i] = value
            i += step

    @kernel
    def write4(item: kapi.NdItem, a: Any, value: Any) -> None:
        step = 4 * item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + 4 * item.get_local_id(0)
        for _ in range(vectors):
            vector.store4(a, i, value, value, value, value)
            i += step

    return write if width == 1 else write4


def make_read(width: int, vectors: int) -> Any:
    """Each work-item sums its elements in four sums that do not wait for one another; ``vectors``: a multiple of 4.

    It writes its sum where that is above a number: all do when they are verified, none while reads alone are timed.
    """

    @kernel(restrict=True)
    def read(item: kapi.NdItem, b: Any, sums: Any, above: Any) -> None:
        step = item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + item.get_local_id(0)
        p = q = r = s = np.float32(0)
        for _ in range(0, vectors, 4):
            p += b[i]
            q += b[i + step]
            r += b[i + 2 * step]
            s += b[i + 3 * step]
            i += 4 * step
        total = p + q + r + s
        if total > above:
            sums[item.get_global_id(0)] = total

    @kernel(restrict=True)
    def read4(item: kapi.NdItem, b: Any, sums: Any, above: Any) -> None:
        step = 4 * item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + 4 * item.get_local_id(0)
        p = q = r = s = np.float32(0)
        for _ in range(vectors):
            t, u, v, w = vector.load4(b, i)
            p, q, r, s = p + t, q + u, r + v, s + w
            i += step
        total = p + q + r + s
        if total > above:
            sums[item.get_global_id(0)] = total

    return read if width == 1 else read4


def make_read_again(vectors: int) -> Any:
    """Each work-item sums ``vectors`` elements of one block after another, in four sums; a multiple of 4.

    From pass to pass a work-group goes on to the block that is ``shift`` further, so that all of them read all of the
    working set. The numbers of blocks and passes are known at run time only, so that no read can be left out. Indices
    are unsigned, so that none is tested for being negative: compilers make vectors of reads only then.
    """
    per_item, two, three, four = (np.uint64(number) for number in (vectors, 2, 3, 4))

    @kernel(restrict=True)
    def read_again(item: kapi.NdItem, b: Any, sums: Any, passes: Any, mask: Any, shift: Any) -> None:
        step = np.uint64(item.get_local_range(0))
        block = np.uint64(item.get_group().get_group_id(0))
        first = np.uint64(item.get_local_id(0))
        p = q = r = s = np.float32(0)
        for _ in range(passes):
            i = (block & mask) * step * per_item + first
            for _ in range(0, vectors, 4):
                p += b[i]
                q += b[i + step]
                r += b[i + two * step]
                s += b[i + three * step]
                i += four * step
            block += shift
        sums[item.get_global_id(0)] = p + q + r + s

    return read_again


_WRITTEN = np.float32(7)
#: Above every sum of the reading kernel; no sum is 0.
_ABOVE_ALL = np.float32(1 << 100)

_WORKING_SETS = {level_name(size): size for size in WORKING_SETS}
#: Share of a roof's patience for each of the many levels.
_LEVEL_PATIENCE = 0.25
#: Work-groups of each compute unit that read a working set, so that small ones keep the whole device busy.
_READERS_PER_UNIT = 8


class GlobalMemory(ProbeGroup):
    """Bandwidth: STREAM's copy and triad, reading and writing on arrays larger than the caches, and working sets.

    Bytes are counted as STREAM does: what the kernel reads and writes, without the lines that a cache fetches because
    they are written (J. D. McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers",
    1995).
    """

    def measure(self, name: str) -> Measurement:
        """Measure one probe."""
        if name in _WORKING_SETS:
            return self._bench.search([self._reads_again(_WORKING_SETS[name])], _LEVEL_PATIENCE)
        return self._bench.search(self.forms(name))

    def forms(self, name: str) -> Iterator[Form]:
        """The forms of one probe."""
        if name.startswith("stream_"):
            return self._streams(name.removeprefix("stream_"))
        return {"read": self._reads, "write": self._writes}[name]()

    #: Result of the last measured working set.
    _read_bytes = 0

    # ---- three arrays of one size, each made when it is first used ---------------------------------------------------

    @cached_property
    def _b(self) -> Any:
        """The first input; on fast devices enlarged until reading it takes long enough."""
        bench = self._bench
        allocated = lru_cache(maxsize=1)(self._input)
        form = bench.fitting(READ_FORMS)[-1]  # suits large GPUs, which alone need more
        start_bytes = bench.array_bytes()
        most_bytes = grown_array_bytes(start_bytes, bench.largest_array_bytes)
        elements = grown(
            whole_blocks(start_bytes // 4),
            whole_blocks(most_bytes // 4),
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
        if operation == "copy":
            yield self._bench.form({"command": "memcpy"}, amount, partial(session.copy, a, b), a, result)
        for group, vectors, width in self._bench.fitting(STREAM_FORMS):
            kernel = specialize(make_stream, operation=operation, width=width, vectors=vectors)
            space = nd_range(a.size // (width * vectors), group)
            submit = partial(session.launch, kernel, space, a, b, c, np.float32(SCALE))
            yield self._bench.form(_parameters(group, vectors, width), amount, submit, a, result)

    def _writes(self) -> Iterator[Form]:
        a, session, result = self._a, self._bench.session, partial(np.full, 1, _WRITTEN)
        yield self._bench.form({"command": "fill"}, a.nbytes, partial(session.fill, a, _WRITTEN), a, result)
        for group, vectors, width in self._bench.fitting(STREAM_FORMS):
            kernel = specialize(make_write, width=width, vectors=vectors)
            submit = partial(session.launch, kernel, nd_range(a.size // (width * vectors), group), a, _WRITTEN)
            yield self._bench.form(_parameters(group, vectors, width), a.nbytes, submit, a, result)

    def _reads(self) -> Iterator[Form]:
        return (self._reader(self._b, *form) for form in self._bench.fitting(READ_FORMS))

    def _reader(self, b: Any, group: int, vectors: int, width: int) -> Form:
        session = self._bench.session
        sums = session.alloc(b.size // (width * vectors), np.float32)
        kernel = specialize(make_read, width=width, vectors=vectors)
        submit = partial(session.launch, kernel, nd_range(sums.size, group), b, sums)
        result = partial(expected.read_sums, width, vectors, group)
        none, all_sums = partial(submit, _ABOVE_ALL), partial(submit, np.float32(0))
        return self._bench.form(
            _parameters(group, vectors, width), b.nbytes, none, sums, result, submit_verified=all_sums
        )

    # ---- working sets, in as many work-groups as keep the device busy -----------------------------------------------

    @cached_property
    def _read_again(self) -> Any:
        """An array with every working set: the first input, or a smaller one where none may exceed the caches."""
        try:
            return self._b
        except Unsupported:
            return self._input(whole_blocks(min(WORKING_SETS[-1], self._bench.largest_array_bytes) // 4), 0)

    def _reads_again(self, working_set_bytes: int) -> Form:
        bench = self._bench
        require_working_set(working_set_bytes, bench.cache_bytes, self._read_again.nbytes)
        make = partial(self._again, working_set_bytes, *AGAIN_FORM[bench.device.is_cpu])
        # a larger set is no faster than the last one
        start = max(1, self._read_bytes // (2 * working_set_bytes))
        passes = grown(start, MOST_PASSES, lambda passes: make(passes).run())
        self._read_bytes = passes * working_set_bytes
        return make(passes)

    def _again(self, working_set_bytes: int, group: int, vectors: int, passes: int) -> Form:
        session, blocks = self._bench.session, working_set_bytes // AGAIN_BLOCK_BYTES
        groups = max(blocks, next_power_of_two(_READERS_PER_UNIT * self._bench.compute_units))
        sums = session.alloc(groups * group, np.float32)
        kernel = specialize(make_read_again, vectors=vectors)
        counts = tuple(np.uint64(number) for number in (passes, blocks - 1, far_shift(blocks)))
        submit = partial(session.launch, kernel, nd_range(sums.size, group), self._read_again, sums, *counts)
        amount = groups * passes * AGAIN_BLOCK_BYTES
        return self._bench.form(
            {"work-group": group, "vectors": vectors, "passes": passes},
            amount,
            submit,
            sums,
            lambda: np.float32(passes) * expected.read_sums(1, vectors, group),
        )


def _parameters(group: int, vectors: int, width: int) -> dict[str, int | str]:
    return {"work-group": group, "vectors": vectors, "width": width}
