"""Use all of a cache line that was fetched: single bytes from random places waste 63 of its 64."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="byte_gathers",
    catalogue=("byte_gathers",),
    guide="Analyzing Performance / Intel Advisor, GPU Roofline: theory",
    lesson="Memory is fetched in lines of 64 bytes: put together what is read together, above all small objects.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "lines": 1 << 12},
        # a table larger than the last cache, and enough bytes to read of it
        "default": {
            "n": {"cpu": 1 << 20, "gpu": fit(1 << 22, per_lane=32)},
            "lines": {"cpu": fit(1 << 20, per_cache_byte=2 / 64), "gpu": fit(1 << 20, per_cache_byte=4 / 64)},
        },
        "guide": {"n": 1 << 22, "lines": 1 << 22},
    },
    own_sizes="the guide has no program",
    axes={"work_group_size": (256,)},
)

LINE_BYTES = 64


@kernel
def gather(item: kapi.NdItem, table, places, found):
    i = item.get_global_id(0)
    if i < found.shape[0]:
        found[i] = table[places[i]]


@pattern.problem
def random_bytes(rng, n, lines):
    if n > lines * LINE_BYTES:
        raise ValueError(f"n={n}: the table has {lines * LINE_BYTES} bytes, so give no more")
    apart = lines * LINE_BYTES // n  # no byte is read twice
    table = rng.integers(0, 256, lines * LINE_BYTES, dtype=np.uint8)
    return Problem(
        table=table,
        places=rng.permutation(np.arange(n) * apart + rng.integers(0, apart, n)).astype(np.int32),
        found=output(n, np.uint8),
        bytes_moved=(4 + 1 + 1) * n,
    )


@pattern.reference
def expected(p):
    return {"found": p.table[p.places]}


def gather_from(session, p, work_group_size, table, places):
    groups = ceil_div(p.n, work_group_size)
    session.launch(gather, kapi.NdRange((groups * work_group_size,), (work_group_size,)), table, places, p.found)


@pattern.naive
def bytes_at_random(session, p, work_group_size):
    """Each byte lies in a line of which nothing else is read soon."""
    gather_from(session, p, work_group_size, p.table, p.places)


def moved(session, p, where):
    """A table of the same size in which byte ``where[i]`` is what item ``i`` wants, and these places."""
    table = np.zeros(p.table.size, np.uint8)
    table[where] = p.host.table[p.host.places]
    on_device, places = session.alloc(table.size, np.uint8), session.alloc(p.n, np.int32)
    session.copy(on_device, table)
    session.copy(places, where.astype(np.int32))
    return on_device, places


@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 21453"))
def whole_lines_at_random(session, p, work_group_size):
    """What 64 neighbours read lies in one line; where that line lies is as random as before."""
    i = np.arange(p.n)
    lines = np.random.default_rng(0).permutation(p.lines)
    table, places = moved(session, p, lines[i // LINE_BYTES] * LINE_BYTES + i % LINE_BYTES)
    return lambda: gather_from(session, p, work_group_size, table, places)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 21453"))
def bytes_in_order(session, p, work_group_size):
    """What neighbours read lies side by side."""
    table, places = moved(session, p, np.arange(p.n))
    return lambda: gather_from(session, p, work_group_size, table, places)


in_opencl(pattern, bytes_at_random)
