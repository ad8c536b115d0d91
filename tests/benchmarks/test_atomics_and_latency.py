"""Patterns of atomics and of memory latency: what they claim, and the rings that they follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fake_device import GPU

from benchmarks.common import chase
from xebench.patterns.registry import discover
from xebench.records.claim import is_expected
from xebench.system.runtime import missing
from xebench.vocabulary import Status

INFOS = {info.name: info for info in discover() if info.chapter in {"atomics", "memory"}}


@pytest.mark.parametrize("lines", [1, 2, 61, 64])
def test_a_ring_visits_each_place_once_and_counts(lines: int) -> None:
    places = chase.side_by_side(lines) * 3
    ring = chase.ring(np.random.default_rng(1), places)
    at, visited, numbers = 0, [], []
    for _ in range(lines):
        visited.append(at)
        numbers.append(int(ring[at + 1]))
        at = int(ring[at])
    assert at == 0, "it is closed"
    assert sorted(visited) == list(places)
    assert [(number - numbers[0]) % lines for number in numbers] == list(range(lines))


def test_levels_of_memory_claim_an_order_and_no_figure_that_the_guide_does_not_print() -> None:
    claims = {
        (variant.name, claim.against): claim.strength
        for variant in INFOS["memory_latency_levels"].variants
        for claim in variant.claims
    }
    assert claims == {
        ("from_last_cache", "from_memory"): "implied",
        ("from_first_cache", "from_last_cache"): "implied",
        ("from_shared_local_memory", "from_memory"): "implied",
        ("from_shared_local_memory", "from_first_cache"): "implied",
    }


def test_a_device_that_says_it_has_no_atomics_in_host_memory_confirms_the_guide() -> None:
    (host,) = (variant for variant in INFOS["atomics_usm_kind"].variants if variant.name == "in_host_memory")
    aspects = tuple(aspect for aspect in GPU.aspects if aspect != "usm_atomic_host_allocations")
    without = replace(GPU, aspects=(*aspects, "usm_host_allocations"))
    reason = missing(without, ["usm_host", "usm_atomic_host"])
    assert is_expected(Status.SKIPPED, reason, host.claims)
    no_host_memory = missing(replace(without, aspects=aspects), ["usm_host", "usm_atomic_host"])
    assert not is_expected(Status.SKIPPED, no_host_memory, host.claims), "that says nothing of atomics"
