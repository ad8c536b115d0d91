"""A device's clock beside the host's: what was true is found, within the uncertainty that is told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from xebench.results.timeline import Seen, align

#: Of commands: from the host's call to the start, the run, and from the end until the host knew; in ns.
COMMANDS = some.lists(some.tuples(*[some.integers(1, 50_000)] * 3), min_size=1, max_size=20)
GAP_NS = 100_000


def seen(commands: list[tuple[int, int, int]], offset: int, drift: float = 0.0) -> list[Seen]:
    """Commands one after the other on a device whose clock is ``offset`` and more ahead of the host's."""

    def on_device(host: int) -> int:
        return host + offset + round(drift * (host - begin))

    begin = now = 10**12
    found = []
    for before, ran, after in commands:
        start, end = now + before, now + before + ran
        found.append(Seen(on_device(start), on_device(end), now, end + after))
        now = end + after + GAP_NS
    return found


@given(COMMANDS, some.integers(10**6, 10**18))
def test_the_true_offset_lies_within_the_uncertainty(commands: list[tuple[int, int, int]], offset: int) -> None:
    found = align(seen(commands, offset))
    assert found.is_consistent and found.drift == 0
    assert abs(found.offset_ns + offset) <= found.uncertainty_ns + 1
    # half of the shortest ways there and back
    ways = min(before for before, _, _ in commands), min(after for _, _, after in commands)
    assert found.uncertainty_ns == sum(ways) / 2


@given(COMMANDS)
def test_a_device_with_the_hosts_clock_is_left_as_it_is(commands: list[tuple[int, int, int]]) -> None:
    found = align(seen(commands, 0))
    assert (found.offset_ns, found.drift, found.uncertainty_ns) == (0, 0, 0)


def test_clocks_that_run_apart_are_laid_side_by_side() -> None:
    drift = -0.0016  # a period of 52.08 ns that is taken for 52
    commands = seen([(3000, 20_000, 2000)] * 200, 7 * 10**15, drift)
    found = align(commands)
    assert found.is_consistent and abs(found.drift + drift) < 1e-4
    for each in commands:
        start = found.on_host(each.start_ns)
        assert each.began_host_ns <= start <= found.on_host(each.end_ns) <= each.over_host_ns
        assert abs(start - each.began_host_ns - 3000) <= found.uncertainty_ns


def test_times_that_contradict_each_other_are_told() -> None:
    one = Seen(10**9, 10**9 + 1000, 5000, 9000)
    other = Seen(10**9 + 10, 10**9 + 1010, 2 * 10**9, 2 * 10**9 + 3000)
    found = align([one, other])
    assert not found.is_consistent and found.uncertainty_ns > 9 * 10**8
