"""Finish on the device what was begun there: add up partial sums with a second kernel, not on the host."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="intermediates_on_device",
    catalogue=("E68",),
    guide="Host/Device Coordination / Bandwidth Between Host and Device",
    lesson="Intermediate results stay on the device, even if the kernel that finishes them uses little of it.",
    # the chapter says it of accelerators behind a link; of this example that it "might" hold on some
    claim=Claim("faster", on=("gpu",), strength="implied", source="G 7739 to 7803"),
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": 1 << 20},
        "guide": {"n": 10 << 20},  # of the guide's published program
    },
    metric="wall",
    state="cold",  # the guide flushes the caches between its runs
)

CHUNKS = 16  # of a compute unit; the guide has the native vector width there (G 7753), which some drivers say is 1


@kernel
def sum_chunk(item: kapi.Item, x, partials, chunk):
    i = item.get_id(0)
    total = np.float32(0)
    for k in range(i * chunk, min((i + 1) * chunk, x.shape[0])):
        total += x[k]
    partials[i] = total


@kernel
def sum_all(item: kapi.Item, partials, total):
    result = np.float32(0)
    for k in range(partials.shape[0]):
        result += partials[k]
    total[item.get_id(0)] = result


@pattern.problem
def zeros_and_ones(rng, n):
    # their sums are exact in float32 up to 2**24
    x = rng.integers(0, 2, n, dtype=np.uint8).astype(np.float32)
    return Problem(x=x, total=output(1, np.float32, host=True), bytes_moved=4 * n, operations=n)


@pattern.reference
def expected(p):
    return {"total": [p.x.sum(dtype=np.float64)]}


def first_kernel(session, p):
    """Chunks for every compute unit, few enough that one work-item can add their sums.

    As in the guide it reads the whole array on both sides, so it takes most of the time and hides much of the lesson.
    """
    items = session.device.max_compute_units * CHUNKS
    partials = session.alloc(items, np.float32)
    return partials, lambda: session.launch(sum_chunk, kapi.Range(items), p.x, partials, ceil_div(p.n, items))


@pattern.naive
def partials_to_host(session, p):
    """The partial sums come to the host, which adds them."""
    partials, run_first = first_kernel(session, p)
    host = np.empty(partials.shape, np.float32)

    def timed():
        run_first()
        session.copy(host, partials)
        session.wait()
        p.total[0] = host.sum()

    return timed


@pattern.optimized
def second_kernel(session, p):
    """A second kernel of one work-item adds the partial sums; the host gets one number."""
    partials, run_first = first_kernel(session, p)
    total = session.alloc(1, np.float32)

    def timed():
        run_first()
        session.launch(sum_all, kapi.Range(1), partials, total)
        session.copy(p.total, total)

    return timed
