"""Rings through memory in random order: each read says where the next one is, so that no two can overlap."""

import numpy as np

from xebench import kernel
from xebench import kernel_api as kapi

LINE_BYTES = 128  # of which a ring has one element: no less than a cache line of the devices that we know
LINE = LINE_BYTES // 4
ONE_ITEM = kapi.NdRange((1,), (1,))


def ring(rng, places):
    """Unsigned words: at each place the next one's index, and after it how many come before it in the ring.

    The type is unsigned, so that no step has to ask whether an index is negative.
    """
    order = rng.permutation(places).astype(np.uint32)
    words = np.zeros(int(places.max()) + LINE, np.uint32)
    words[order] = np.roll(order, -1)
    words[order + 1] = np.arange(order.size)
    return words


def side_by_side(lines):
    """Places in neighbouring cache lines."""
    return np.arange(lines) * LINE


@kernel
def chase(item: kapi.NdItem, words, position, travelled, steps, lines, modulus):
    start = position[0]
    at = start
    for _ in range(steps):
        at = words[at]
    # the next sample goes on where this one stops: what it reads of a long ring is not in the caches yet
    position[0] = at
    # 32 bits are enough, and a remainder of unsigned numbers asks for no sign
    travelled[item.get_global_id(0)] = np.uint32(words[at + 1] + lines - words[start + 1]) % modulus


def chaser(session, words, steps, travelled, lines, modulus):
    """One work-item takes ``steps`` through a ring of ``lines``; ``travelled`` is how many it took, by the modulus."""
    position = session.alloc(1, np.uint32)
    session.copy(position, np.zeros(1, np.uint32))  # every ring has a place at 0
    counts = np.uint32(lines), np.uint32(modulus)
    return lambda: session.launch(chase, ONE_ITEM, words, position, travelled, steps, *counts)
