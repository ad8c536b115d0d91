"""Memory of random sizes that moves what is allocated after it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from xebench.errors import TooLarge

pytestmark = pytest.mark.device  # importing the room loads dpctl


def queue(memory_bytes: int) -> Any:
    return SimpleNamespace(sycl_device=SimpleNamespace(global_mem_size=memory_bytes))


@pytest.mark.parametrize(("memory_bytes", "most_bytes"), [(80 << 30, 2 << 20), (1 << 30, 256 << 10)])
def test_sizes_are_random_and_a_small_part_of_the_memory(
    memory_bytes: int, most_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xebench.measuring import spacers

    sizes: list[int] = []
    monkeypatch.setattr(spacers, "allocate", lambda size, *_: sizes.append(size))
    held = spacers.Spacers(queue(memory_bytes))
    for _ in range(50):
        held.add()
    assert len(set(sizes)) > 100 and max(sizes) < most_bytes + 4096
    assert all(size % 64 == 0 for size in sizes), "no array lies across a line of the cache that lay in one before"
    assert min(sizes) < 64 << 10 < max(sizes)


def test_a_full_device_goes_without(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.measuring import spacers

    def full(*_: Any) -> None:
        raise TooLarge("no")

    monkeypatch.setattr(spacers, "allocate", full)
    held = spacers.Spacers(queue(1 << 30))
    held.add()
    held.clear()


def test_scratch_of_two_variants_lies_elsewhere_in_each_instance(tmp_path: Any) -> None:
    from family_kit import measure
    from pattern_copies import write_pattern

    from xebench.measuring.prepare import find_pattern

    write_pattern(tmp_path / "placed.py", PLACED)
    done = measure(tmp_path / "placed.py", "placed", min_instances=6, max_blocks=60, budget_s=20.0)
    assert {case["status"] for case in done.cases.values()} == {"ok"}
    variants = find_pattern(str(tmp_path / "placed.py"), "placed").variants
    apart = [b - a for a, b in variants["one"].function.__globals__["places"]]
    assert len(apart) >= 6 and len(set(apart)) > len(apart) / 2


PLACED = """
import numpy as np
from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi
from .kernels import double

sizes = {"n": 1 << 15}
pattern = Pattern("placed", guide="none", lesson="Scratch.", presets={"smoke": sizes, "default": sizes}, metric="wall")
pattern.problem(lambda rng, n: Problem(x=rng.random(n).astype(np.float32), y=output(n, np.float32)))
pattern.reference(lambda p: {"y": 2 * p.x})
latest, places = {}, []

def prepared(name, session, p):
    scratch = session.alloc(p.n, np.float32)
    latest[name] = scratch.usm_data._pointer
    if len(latest) == 2:
        places.append((latest["one"], latest["other"]))
        latest.clear()

    def sample():
        session.launch(double, kapi.Range(p.n), p.x, scratch)
        session.copy(p.y, scratch)

    return sample

@pattern.naive
def one(session, p):
    return prepared("one", session, p)

@pattern.optimized
def other(session, p):
    return prepared("other", session, p)
"""
