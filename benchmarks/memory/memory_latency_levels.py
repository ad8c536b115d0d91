"""How long one read takes that must be waited for: from shared local memory, a near cache, the last one, and memory."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

from ..common import chase
from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="memory_latency_levels",
    catalogue=("E81", "memory_latency_levels"),
    guide="Multi-GPU and Multi-Stack Architecture and Programming / GPU Memory System, Memory latency table",
    lesson="The further away the data lie, the longer a read takes: what is read again belongs into a near memory.",
    # ``near`` fits the first cache and the shared local memory of every device that we know; ``far`` is more than a
    # first cache and less than a GPU's last one (a CPU's third); ``memory`` is several times the last one.
    presets={
        "smoke": {"near": 1 << 12, "far": 1 << 14, "memory": 1 << 16, "steps": 300},
        "default": {
            "near": 1 << 14,
            "far": 1 << 21,
            "memory": fit(1 << 27, per_cache_byte=4),
            "steps": {"cpu": 20_001, "gpu": 30_001},
        },
        "guide": {"near": 1 << 14, "far": 1 << 21, "memory": fit(1 << 27, per_cache_byte=4), "steps": 100_001},
    },
    own_sizes="the guide has a table and no program",
)

# The guide prints cycles, some of them as ranges (G 16629 to 16632). They are no times without the clock at which the
# device ran meanwhile, so only their order is claimed. Time of a read here: a sample's time divided by ``steps``.


def faster(against=""):
    return Claim("faster", against=against, on=("gpu",), strength="implied", source="G 16629 to 16632")


FILLING = kapi.NdRange((32,), (32,))  # a line each fills shared local memory in a fraction of one item's time


@kernel
def chase_in_slm(item: kapi.NdItem, words, travelled, ring, steps, modulus):
    lane = item.get_local_id(0)
    for k in range(lane * chase.LINE, ring.shape[0], item.get_local_range(0) * chase.LINE):
        ring[k] = words[k]
    kapi.group_barrier(item.get_group())
    if lane == 0:
        start = np.uint32(0)
        at = start
        for _ in range(steps):
            at = ring[at]
        travelled[0] = (words[at + 1] + modulus - words[start + 1]) % modulus


@pattern.problem
def rings(rng, near, far, memory, steps):
    if near % chase.LINE_BYTES or far % near or memory % near:
        raise ValueError(f"near={near} must be a multiple of {chase.LINE_BYTES}; far={far}, memory={memory} of near")
    sizes = {"near_ring": near, "far_ring": far, "memory_ring": memory}
    made = {name: chase.ring(rng, chase.side_by_side(size // chase.LINE_BYTES)) for name, size in sizes.items()}
    return Problem(**made, travelled=output(1, np.int32))


@pattern.reference
def expected(p):
    return {"travelled": [p.steps % (p.near // chase.LINE_BYTES)]}


def chaser(session, p, words, size):
    return chase.chaser(session, words, p.steps, p.travelled, size // chase.LINE_BYTES, p.near // chase.LINE_BYTES)


@pattern.naive
def from_memory(session, p):
    """A ring that no cache holds: a sample reads lines that were not read for a long time."""
    return chaser(session, p, p.memory_ring, p.memory)


@pattern.intermediate(claim=faster())
def from_last_cache(session, p):
    """A ring of 2 MiB, too large for a first cache."""
    return chaser(session, p, p.far_ring, p.far)


@pattern.intermediate(claim=faster(against="from_last_cache"))
def from_first_cache(session, p):
    """A ring of 16 KiB, read again and again."""
    return chaser(session, p, p.near_ring, p.near)


@pattern.optimized(claim=(faster(), faster(against="from_first_cache")))
def from_shared_local_memory(session, p):
    """The same 16 KiB, brought to shared local memory by 32 work-items first."""
    ring = kapi.LocalAccessor(p.near // 4, np.uint32)
    lines = p.near // chase.LINE_BYTES
    return lambda: session.launch(chase_in_slm, FILLING, p.near_ring, p.travelled, ring, p.steps, lines)


in_opencl(pattern, from_last_cache)
