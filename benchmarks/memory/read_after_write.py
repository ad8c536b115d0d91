"""Do not read a cache line that was just written, if what is read lies elsewhere just as well."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common import chase

pattern = Pattern(
    name="read_after_write",
    catalogue=("read_after_write",),
    guide="Multi-GPU and Multi-Stack Architecture and Programming / GPU Memory System",
    lesson="A read of a line that was just written waits for the write: keep apart what is read and what is written.",
    # 2 MiB: more than a first cache, less than a GPU's last one
    presets={
        "smoke": {"lines": 61, "steps": 300},
        "default": {"lines": 1 << 14, "steps": 30_001},
        "guide": {"lines": 1 << 14, "steps": 100_001},
    },
    own_sizes="the guide has no program",
)

# The guide has about 150 cycles for a hit in the GPU's cache, and about 30 that a write to the same line adds: no times
# of programs, so no figure follows.
CLAIM = Claim("faster", on=("gpu",), strength="implied", source="G 16607 to 16608")
VISITED = 2  # the word of a line that says when it was visited


@kernel
def chase_and_note(item: kapi.NdItem, words, notes, end, steps):
    at = words[0]
    for k in range(steps):
        notes[np.uint32(at + np.uint32(VISITED))] = np.uint32(k)
        at = words[at]
    end[item.get_global_id(0)] = at


@kernel
def collect(item: kapi.Item, notes, visited):
    line = item.get_id(0)
    visited[line] = notes[line * chase.LINE + VISITED]


@pattern.problem
def one_ring(rng, lines, steps):
    if steps < lines:
        raise ValueError(f"steps={steps}: every line must be visited, so give at least {lines}")
    words = chase.ring(rng, chase.side_by_side(lines))
    return Problem(words=words, end=output(1, np.uint32), visited=output(lines, np.uint32))


@pattern.reference
def expected(p):
    numbers = p.words[1 :: chase.LINE]  # of each line, how many come before it
    order = np.argsort(numbers) * chase.LINE
    first = numbers[p.words[0] // chase.LINE]
    last_round = p.steps - 1 - np.arange(p.lines)  # the last visits, from the last one on
    visited = np.empty(p.lines, np.uint32)
    visited[order[(first + last_round) % p.lines] // chase.LINE] = last_round
    return {"visited": visited, "end": [order[(first + p.steps) % p.lines]]}


def run(session, p, words, notes):
    session.launch(chase_and_note, chase.ONE_ITEM, words, notes, p.end, p.steps)
    session.launch(collect, kapi.Range(p.lines), notes, p.visited)


@pattern.naive
def note_in_the_line(session, p):
    """The time of the visit is noted beside the link that is read next: a write and a read of one line."""
    both = session.alloc(p.words.shape, np.uint32)
    session.copy(both, p.words)
    return lambda: run(session, p, both, both)


@pattern.optimized(claim=CLAIM)
def note_elsewhere(session, p):
    """As many writes and reads; what is written lies in an array of its own."""
    notes = session.alloc(p.words.shape, np.uint32)
    return lambda: run(session, p, p.words, notes)
