"""The calculator's order of a pattern's variants is that of the guide's claims on them, for three GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pytest
from optional import needs

from xebench.isa.asked_gpu import asked_gpu
from xebench.isa.collect import collect
from xebench.isa.launch_occupancy import WHOLE_GROUPS, KernelOccupancy, occupancies
from xebench.isa.ocloc import find_compiler
from xebench.patterns.conditions import mark_not_asked
from xebench.patterns.plan import Family, build_plan
from xebench.patterns.problem import Room
from xebench.patterns.registry import discover, select
from xebench.records.claim import Claim
from xebench.system.gpus import GpuParameters, find_gpu
from xebench.vocabulary import DeviceClass, find_baseline

pytestmark = [pytest.mark.device, pytest.mark.slow, needs("ocloc")]

GPUS: Final = ("pvc", "a770", "tgllp")

#: What a claim of time rests on, where that is not the occupancy.
OTHER_CAUSES: Final[Mapping[tuple[str, str], str]] = {
    ("work_group_choice", "eight_threads_a_group"): "rounds of dispatch",
    ("work_group_choice", "largest_group"): "rounds of dispatch",
    ("collapse_loops", "four_loops same as three_loops"): "the guide's times: neither fills its GPU",
}


@dataclass(frozen=True)
class Chapter:
    """The launches of the guide's chapter on occupancy on one GPU."""

    gpu: GpuParameters
    families: list[Family]
    launches: dict[tuple[str, str, str], KernelOccupancy]

    def average(self, family: Family, variant: str) -> float:
        """The mean occupancy of a launch over its waves."""
        occupancy = self.launches[family.pattern.name, family.axes_json(), variant].occupancy
        assert occupancy is not None, (family.title(), variant)
        return occupancy.average_device_occupancy

    def claims(self) -> Iterator[tuple[Family, str, str, Claim]]:
        """Every claim of time that is asked on the GPU: its family, both variants, and the claim."""
        for family in self.families:
            baseline = find_baseline(family.pattern.variants, role=lambda variant: variant.role)
            assert baseline is not None
            for variant in family.pattern.variants:
                for claim in mark_not_asked(family.claims(variant, DeviceClass.GPU), self.gpu):
                    if claim.of_time and not claim.not_asked:
                        yield family, variant.name, claim.against or baseline.name, claim


@pytest.fixture(scope="module", params=GPUS)
def chapter(request: pytest.FixtureRequest) -> Chapter:
    gpu = find_gpu(request.param)
    limits = asked_gpu([gpu])
    patterns = select(discover(), ["occupancy"])
    # as little work as the kernels can have; the launches are the same
    plan = build_plan(patterns, "default", {"rounds": [1], "steps": [16]})
    families = [family.on(DeviceClass.GPU, limits.sub_group_sizes, Room(limits.lanes)) for family in plan]
    found = occupancies(collect(families, limits).launches, gpu, find_compiler(None))
    return Chapter(gpu, families, {(one.launch.pattern, one.launch.axes, one.launch.variant): one for one in found})


def test_the_calculator_has_the_order_of_the_claims(chapter: Chapter) -> None:
    asked = set()
    for family, variant, against, claim in chapter.claims():
        name = family.pattern.name
        if {(name, variant), (name, f"{variant} {claim.word} as {against}")} & OTHER_CAUSES.keys():
            continue
        own, other = (chapter.average(family, one) for one in (variant, against))
        assert (own > other) if claim.word == "faster" else (own < other), (family.title(), variant, against)
        asked.add(name)
    # the lesson on the sub-group's width claims registers, and that on the driver's choice rounds of dispatch
    others = {"sub_group_width", "work_group_choice"}
    assert asked == {family.pattern.name for family in chapter.families} - others


def test_one_work_group_size_is_as_full_as_another_but_for_parts_of_one(chapter: Chapter) -> None:
    (family,) = (family for family in chapter.families if family.pattern.name == "work_group_choice")
    for variant in ("one_thread_a_group", "eight_threads_a_group", "largest_group"):
        one = chapter.launches["work_group_choice", family.axes_json(), variant]
        assert one.occupancy is not None
        assert one.occupancy.xe_core_occupancy == 1 or WHOLE_GROUPS in one.assumed


def test_four_collapsed_loops_are_fuller_than_three(chapter: Chapter) -> None:
    (family,) = (family for family in chapter.families if family.pattern.name == "collapse_loops")
    assert 0.5 > chapter.average(family, "three_loops") < chapter.average(family, "four_loops")
