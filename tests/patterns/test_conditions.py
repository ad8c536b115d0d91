"""Of which devices a claim is made; and that each of the suite's can be asked of a machine that there is."""

from __future__ import annotations

from typing import Any

import pytest

from xebench.patterns.conditions import fault, mark_not_asked
from xebench.patterns.plan import build_plan
from xebench.patterns.registry import discover
from xebench.records.claim import Claim

MAX: dict[str, Any] = {
    "name": "Intel(R) Data Center GPU Max 1550",
    "sub_group_sizes": "16,32",
    "local_memory_bytes": 128 << 10,
}
HALF_MAX: dict[str, Any] = {
    "name": "Intel(R) Data Center GPU Max 1100",
    "sub_group_sizes": "16,32",
    "local_memory_bytes": 128 << 10,
}
ARC: dict[str, Any] = {
    "name": "Intel(R) Arc(TM) A770 Graphics",
    "sub_group_sizes": "8,16,32",
    "local_memory_bytes": 64 << 10,
}
IRIS: dict[str, Any] = {
    "name": "Intel(R) Iris(R) Xe Graphics",
    "sub_group_sizes": "8,16,32",
    "local_memory_bytes": 64 << 10,
}
OTHER: dict[str, Any] = {"name": "NVIDIA H200", "sub_group_sizes": None}


@pytest.mark.parametrize(
    ("condition", "asked", "not_asked"),
    [
        ("stacks=2", [MAX], [HALF_MAX, ARC, IRIS, OTHER]),
        ("native_float_atomics=0", [IRIS], [MAX, ARC, OTHER]),
        ("threads_per_core=112", [IRIS], [MAX, ARC, OTHER]),
        ("sub_group_size=8", [ARC, IRIS], [MAX, OTHER]),
        ("local_memory_kib=64", [ARC, IRIS], [MAX, OTHER]),
    ],
)
def test_a_claim_is_asked_of_the_devices_that_it_is_made_of(
    condition: str, asked: list[dict[str, Any]], not_asked: list[dict[str, Any]]
) -> None:
    claim = Claim("faster", requires=(condition,))
    for device in (*asked, *not_asked):
        (here,) = mark_not_asked([claim], device)
        assert bool(here.not_asked) == (device in not_asked), device
        assert not here.not_asked or condition in here.not_asked


def test_the_reason_says_what_the_device_has() -> None:
    claim = Claim("faster", requires=("threads_per_core=112",))
    reasons = [mark_not_asked([claim], device)[0].not_asked for device in (MAX, OTHER)]
    assert reasons[0].startswith("threads_per_core here: 64;") and reasons[1].startswith(
        "threads_per_core here: not known;"
    )


@pytest.mark.parametrize("condition", ["stacks", "stacks=two", "cores=2", ""])
def test_a_condition_that_nothing_answers_is_a_mistake_of_the_file(condition: str) -> None:
    assert "equals sign and a whole number" in str(fault(Claim("faster", requires=(condition,))))


def test_every_claim_can_be_asked_of_a_gpu_that_there_is() -> None:
    said = [(info.name, claim) for info in discover() for variant in info.variants for claim in variant.claims]
    machines = (MAX, HALF_MAX, ARC, IRIS)
    unasked = [
        (name, claim.requires)
        for name, claim in said
        if all(mark_not_asked([claim], one)[0].not_asked for one in machines)
    ]
    assert said and not unasked


def test_every_claim_is_made_at_a_point_that_a_run_measures() -> None:
    """By default, on a machine that it is made of: else it is never asked, unless somebody sets that axis."""
    unmeasured = []
    for info in discover():
        for claim in (claim for variant in info.variants for claim in variant.claims if claim.where):
            asked = [one for one in (MAX, ARC, IRIS) if not mark_not_asked([claim], one)[0].not_asked]
            sizes = [[int(size) for size in one["sub_group_sizes"].split(",")] for one in asked]
            planned = [each for preset in info.presets for each in build_plan([info], preset)]
            points = [each.on("gpu", offered).parameters for each in planned for offered in sizes]
            if not any(map(claim.is_said_at, points)):
                unmeasured.append((info.name, claim.where))
    assert not unmeasured


def test_what_is_claimed_of_stacks_says_how_the_driver_is_to_show_them() -> None:
    """The driver's default, FLAT, makes each stack a device of its own."""
    for info in discover():
        for variant in info.variants:
            of_stacks = any(name.startswith("stacks=") for claim in variant.claims for name in claim.requires)
            assert not of_stacks or "ZE_FLAT_DEVICE_HIERARCHY" in info.environment, (info.name, variant.name)
